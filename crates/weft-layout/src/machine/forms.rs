//! The instructions beyond plain accesses that move data between lanes, as data.

use alloc::borrow::Cow;

use super::Kind;

/// An instruction that moves small matrices between shared memory and the registers of a warp.
///
/// A matrix lies in memory as rows of consecutive bytes, the address of each given by one lane; the
/// instruction deals it out over lanes and registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixMove {
    /// The mnemonic without count and transposition, for example `ldmatrix.m8n8.b16`.
    pub name: Cow<'static, str>,
    /// Whether it reads or writes memory.
    pub kind: Kind,
    /// The bits of an element.
    pub element_bits: u32,
    /// The rows of one matrix: so many lanes give addresses.
    pub rows: u32,
    /// The bytes of a row; rows are aligned to them.
    pub row_bytes: u32,
    /// How many matrices one instruction can move.
    pub matrices: Cow<'static, [u32]>,
    /// Whether it transposes each matrix on the way.
    pub transposes: Transposes,
    /// Whether only code for the architecture alone may use it (targets with the suffix `a`).
    pub architecture_specific: bool,
}

/// Whether a [`MatrixMove`] transposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transposes {
    /// The program chooses.
    Either,
    /// It always does.
    Always,
}

/// An instruction that exchanges 32-bit registers between the lanes of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shuffle {
    /// The mnemonic.
    pub name: Cow<'static, str>,
    /// Which lane a lane can read.
    pub reach: Reach,
    /// What it keeps busy.
    pub pipe: Pipe,
}

/// Which lane a lane reads in a [`Shuffle`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Any lane of the warp, each lane its own choice.
    Any,
    /// The lane that differs by a mask within these bits, the same mask for all lanes.
    Within(u64),
    /// The lane that differs by one of these masks.
    Masks(Cow<'static, [u64]>),
    /// Of two registers at once: the first one's lanes with this bit set change places with the
    /// second one's lanes with the bit clear.
    Swap(u64),
}

/// What an instruction keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pipe {
    /// The pipe of shared memory; [`Prices::shuffle`](super::Prices::shuffle) is its price.
    Memory,
    /// The arithmetic pipe; [`Prices::alu`](super::Prices::alu) is its price.
    Arithmetic,
}
