//! What one memory instruction of a warp costs: the rank law.
//!
//! Lane addresses of a linear layout form a linear map, so the words that a warp touches form a
//! subspace, and counting conflicts is comparing two ranks.
//! With `W` the word addresses and `B` the banks (the low bits of `W`) of the lanes that the
//! hardware serves together,
//!
//! ```text
//! wavefronts a phase = 2^(rank W - rank B)
//! ```
//!
//! because each bank is asked for equally many distinct words, and equal words are served once.
//! A constant exclusive-or (a base, a register) changes neither rank.
//! The law corrects lemma 9.4 of the paper: it restricts lanes to one phase and counts words, not
//! elements, and so it covers vectors, copies and elements narrower than a word.

use core::fmt;

use crate::{
    f2::{Echelon, low_mask, ones},
    machine::{MAX_ACCESS_LOG2, Machine},
};

/// Whether an access reads or writes memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
}

/// How many passes over the banks one access takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wavefronts {
    /// The wavefronts that this access takes.
    pub actual: u32,
    /// The wavefronts of an access of the same words without conflicts.
    pub ideal: u32,
    /// Two lanes that are served together and ask one bank for different words; present exactly
    /// when there is a conflict.
    pub witness: Option<(u32, u32)>,
}

/// How many sectors of global memory one access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sectors {
    /// The sectors that this access touches.
    pub actual: u64,
    /// The sectors of as many distinct bytes laid out without gaps.
    pub ideal: u64,
}

/// The wavefronts of one access of shared memory.
///
/// `columns[i]` is what lane bit `i` contributes to the byte address, by exclusive-or; `bytes` is
/// the width of each lane's access; lanes with a bit in `idle` take no part.
/// Fails when the access is not legal on the machine.
pub fn wavefronts(
    machine: &Machine,
    kind: Kind,
    columns: &[u64],
    bytes: u32,
    idle: u64,
) -> Result<Wavefronts, AccessError> {
    let width = check(machine, columns, bytes, machine.shared_vector_bytes)?;
    let lanes = low_mask(machine.lanes_log2) & !idle;
    let address = |lane: u64| ones(lane & lanes).fold(0, |sum, bit| sum ^ columns[bit as usize]);
    let copies = ones(lanes).filter(|&bit| columns[bit as usize] == 0).fold(0, |m, b| m | 1 << b);
    let merged = kind == Kind::Load && machine.phases.merges(width, copies);
    let phase = machine.phases.subspace(if merged { width - 1 } else { width });

    let word = machine.bank_bytes_log2;
    let banks = low_mask(machine.banks_log2);
    // Words and banks that one phase touches; combinations remember the lanes.
    let (mut words, mut bank) = (Echelon::new(), Echelon::new());
    let mut witness = None;
    let within = (word..width).map(|bit| (0, 1 << (bit - word)));
    // Idle lanes contribute nothing, so that their part of the phase has address zero.
    let across = phase.basis().map(|lane| (lane & lanes, address(lane) >> word));
    for (lane, address) in within.chain(across) {
        if words.grows(address) {
            // A combination that is new as a word and zero as a bank is a conflict.
            if let Some(conflict) = bank.insert(address & banks, lane) {
                witness = witness.or(Some((0, conflict as u32)));
            }
        }
    }
    let ideal_ways = words.rank().saturating_sub(machine.banks_log2);
    let served = phase.basis().filter(|&lane| lane & lanes != 0).count() as u32;
    let phases = lanes.count_ones().saturating_sub(served);
    Ok(Wavefronts {
        actual: power(phases + words.rank() - bank.rank()),
        ideal: power(phases + ideal_ways),
        witness,
    })
}

/// The sectors that one access of global memory touches, when its base is aligned to a sector.
///
/// The arguments are those of [`wavefronts`].
pub fn sectors(
    machine: &Machine,
    columns: &[u64],
    bytes: u32,
    idle: u64,
) -> Result<Sectors, AccessError> {
    let width = check(machine, columns, bytes, machine.global_vector_bytes)?;
    let lanes = low_mask(machine.lanes_log2) & !idle;
    let sector = machine.sector_bytes.max(1).ilog2();
    let addresses = || {
        let across = ones(lanes).map(|bit| columns[bit as usize]);
        across.chain((0..width).map(|bit| 1 << bit))
    };
    let touched = Echelon::of(addresses().map(|address| address >> sector)).rank();
    let distinct = Echelon::of(addresses()).rank();
    Ok(Sectors {
        actual: 1 << touched.min(63),
        ideal: 1 << distinct.saturating_sub(sector).min(63),
    })
}

/// 2^`exponent`, at most the largest `u32`.
fn power(exponent: u32) -> u32 {
    1_u32.checked_shl(exponent).unwrap_or(u32::MAX)
}

/// Checks an access and returns the logarithm of its width.
fn check(machine: &Machine, columns: &[u64], bytes: u32, widest: u32) -> Result<u32, AccessError> {
    if columns.len() != machine.lanes_log2 as usize {
        let (expected, found) = (machine.lanes_log2, columns.len());
        return Err(AccessError::Lanes { expected, found });
    }
    if !bytes.is_power_of_two() || bytes > widest {
        return Err(AccessError::Width { bytes, widest });
    }
    let misaligned = columns.iter().position(|column| column & u64::from(bytes - 1) != 0);
    if let Some(lane_bit) = misaligned {
        return Err(AccessError::Misaligned { lane_bit: lane_bit as u32, bytes });
    }
    Ok(bytes.ilog2())
}

/// Why an access is not legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessError {
    /// There is not one address column for each lane bit.
    Lanes {
        /// The lane bits of the machine.
        expected: u32,
        /// The columns given.
        found: usize,
    },
    /// The machine has no access of this width.
    Width {
        /// The bytes asked for.
        bytes: u32,
        /// The most that it can.
        widest: u32,
    },
    /// The address of a lane is not a multiple of the width.
    Misaligned {
        /// The lane bit whose column is at fault.
        lane_bit: u32,
        /// The width in bytes.
        bytes: u32,
    },
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessError::Lanes { expected, found } => {
                write!(f, "an address needs {expected} lane columns, {found} are given")
            }
            AccessError::Width { bytes, widest } => write!(
                f,
                "an access of {bytes} bytes is not possible; a power of two up to {widest} is"
            ),
            AccessError::Misaligned { lane_bit, bytes } => write!(
                f,
                "lane bit {lane_bit} moves the address by less than the {bytes} bytes of the access"
            ),
        }
    }
}

impl core::error::Error for AccessError {}

/// The logarithm of the widest access that `machine` has for shared memory.
pub(crate) fn widest_shared_log2(machine: &Machine) -> u32 {
    machine.shared_vector_bytes.max(1).ilog2().min(MAX_ACCESS_LOG2)
}
