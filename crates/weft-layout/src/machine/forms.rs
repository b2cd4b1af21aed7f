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

impl MatrixMove {
    /// Whether it moves matrices of this form, `count` at a time.
    pub fn moves(&self, kind: Kind, matrix: Matrix, count: u32) -> bool {
        self.kind == kind
            && self.element_bits == matrix.element_bits
            && self.rows == matrix.rows
            && self.row_bytes == Matrix::ROW_BYTES
            && (matrix.transposed || self.transposes == Transposes::Either)
            && self.matrices.contains(&count)
    }
}

/// Which bytes of a small matrix each lane gets from a [`MatrixMove`], or gives to it.
///
/// The source is the PTX ISA, `ldmatrix` and `stmatrix`; the forms for bytes are those that CUTLASS
/// describes for Blackwell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matrix {
    /// The bits of an element, 16 or 8.
    pub element_bits: u32,
    /// The rows in memory, 8 or 16; each has [`Matrix::ROW_BYTES`] bytes.
    pub rows: u32,
    /// Whether the matrix is transposed on the way.
    pub transposed: bool,
}

impl Matrix {
    /// The bytes of a row.
    pub const ROW_BYTES: u32 = 16;

    /// Eight rows of eight halves, each row dealt to four lanes.
    pub const ROWS: Matrix = Matrix { element_bits: 16, rows: 8, transposed: false };

    /// Eight rows of eight halves, each column dealt to four lanes.
    pub const COLUMNS: Matrix = Matrix { element_bits: 16, rows: 8, transposed: true };

    /// The 32-bit words of one matrix in each lane of a warp of 32.
    pub fn words(self) -> u32 {
        (self.rows / 8).max(1)
    }

    /// Row and byte in the row of what a lane holds as byte `byte` of its words.
    ///
    /// `None` when there is no such form. The map is linear over F₂.
    pub fn place(self, lane: u64, byte: u64) -> Option<(u64, u64)> {
        let (quad, group, word, byte) = (lane % 4, lane / 4 % 8, byte / 4, byte % 4);
        match (self.element_bits, self.rows, self.transposed) {
            (16, 8, false) => Some((group, 4 * quad + byte)),
            (16, 8, true) => Some((2 * quad + byte / 2, 2 * group + byte % 2)),
            (8, 8, true) => Some((2 * quad + byte % 2, group + 8 * (byte / 2))),
            (8, 16, true) => Some((4 * quad + byte, group + 8 * word)),
            _ => None,
        }
    }
}

/// Whether a [`MatrixMove`] transposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transposes {
    /// The program chooses, instruction by instruction.
    Either,
    /// The instruction always does.
    Always,
}

/// An instruction that exchanges 32-bit registers between the lanes of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shuffle {
    /// The mnemonic, as the vendor's assembler spells it.
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
