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
//! Padding carries, so that padded memory has no ranks: [`count_wavefronts`] counts.
//! [`conflicts`] applies both to a whole tensor in registers; [`Transfer`] shows one instruction of it
//! at a time, and [`Folds`] holds law and count against each other over a family of memories.
//! A *wavefront* is one pass over the banks for the lanes of one instruction of one warp that are served
//! together. Every count of this crate counts these, over the same lanes: all lanes load what they hold,
//! and each element is stored once, by the thread that holds it first in the order of the layout's bits.
//! Counts of a whole tensor are sums over the warps that take part ([`conflicts`]), or are one warp's
//! ([`Transfer`], [`Folds`] and [`plan::swizzle`](crate::plan::swizzle())).
//! The law corrects lemma 9.4 of the paper: it restricts lanes to one phase and counts words, not
//! elements, and so it covers vectors, copies and elements narrower than a word.

mod error;
mod serve;
mod count;
mod fit;
mod tensor;
mod transfer;
mod folds;

use alloc::vec::Vec;

use crate::{
    f2::{Echelon, Subspace, low_mask, ones},
    machine::{MAX_ACCESS_LOG2, Machine, MatrixMove},
};

pub use crate::machine::Kind;
pub use count::count_wavefronts;
pub use error::{AccessError, ConflictsError};
pub use fit::Memory;
pub use folds::{Counted, Counter, Folds};
pub use serve::{Asker, Phase, Word, serve};
pub use tensor::{Conflict, Conflicts, conflicts};
pub use transfer::{Law, Transfer};

/// How many passes over the banks one access takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wavefronts {
    /// The wavefronts that this access takes.
    pub actual: u32,
    /// The wavefronts of an access of the same words without conflicts.
    pub ideal: u32,
    /// Two words of one bank; present exactly when there is a conflict.
    pub witness: Option<Collision>,
}

/// Two lanes that are served together and ask one bank for different words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Collision {
    /// The numbers of the two lanes in their warp.
    pub lanes: [u32; 2],
    /// Which word of its vector collides, for each of them.
    pub words: [u32; 2],
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
    let width = check(machine, columns, bytes, widest_shared(machine))?;
    let address = |lane: u64| ones(lane).fold(0, |sum, bit| sum ^ columns[bit as usize]);
    let phase = together(machine, kind, columns, width, idle);
    let across: Vec<(u64, u64)> = phase.basis().map(|lane| (lane, address(lane))).collect();
    let acting = (low_mask(machine.lanes_log2) & !idle).count_ones();
    let phases = acting.saturating_sub(phase.dim());
    Ok(served_together(machine, kind, &across, width).times(phases))
}

/// The lanes that one phase of an access serves, as differences; there is a column for each lane bit.
fn together(machine: &Machine, kind: Kind, columns: &[u64], width: u32, idle: u64) -> Subspace {
    let lanes = low_mask(machine.lanes_log2) & !idle;
    let copies = ones(lanes).filter(|&bit| columns[bit as usize] == 0).fold(0, |m, b| m | 1 << b);
    // A phase is a coset, and what it has of the acting lanes is one too, or nothing.
    let phase = machine.phases.served(kind, width, copies);
    if phase.basis().any(|lane| lane & !lanes != 0) {
        return phase.intersection(&Subspace::of_bits(lanes));
    }
    phase
}

/// The wavefronts of one matrix move: `rows[i]` is what bit `i` of the number of a row contributes
/// to its byte address, by exclusive-or.
///
/// The lanes that give the addresses of 8 rows are served together; a move of several matrices
/// takes this for each.
/// Collisions count rows as lanes.
/// Fails when a row is not aligned, or their number is not that of the instruction.
///
/// ```
/// use weft_layout::{Machine, access::matrix_wavefronts, machine::Kind};
///
/// let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
/// let ldmatrix = machine.matrix_moves.iter().find(|m| m.kind == Kind::Load).ok_or("none")?;
/// // Rows of 64 bytes: every other row begins in the same bank.
/// assert_eq!(matrix_wavefronts(machine, ldmatrix, &[64, 128, 256])?.actual, 4);
/// assert_eq!(matrix_wavefronts(machine, ldmatrix, &[64, 128 | 16, 256 | 32])?.actual, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn matrix_wavefronts(
    machine: &Machine,
    instruction: &MatrixMove,
    rows: &[u64],
) -> Result<Wavefronts, AccessError> {
    let expected = instruction.rows.max(1).ilog2();
    if rows.len() != expected as usize {
        return Err(AccessError::Rows { expected, found: rows.len() });
    }
    let bytes = instruction.row_bytes;
    let width = check_width(bytes, 1 << MAX_ACCESS_LOG2)?;
    let misaligned = rows.iter().position(|row| row & u64::from(bytes - 1) != 0);
    if let Some(row_bit) = misaligned {
        return Err(AccessError::MisalignedRow { row_bit: row_bit as u32, bytes });
    }
    let together = rows.len().min(ROWS_TOGETHER);
    let across: Vec<(u64, u64)> =
        rows.iter().take(together).enumerate().map(|(bit, &row)| (1 << bit, row)).collect();
    let one = served_together(machine, instruction.kind, &across, width);
    Ok(one.times((rows.len() - together) as u32))
}

/// The logarithm of the rows of a matrix that are served together: 128 bytes.
const ROWS_TOGETHER: usize = 3;

/// The rank law for one phase: `across` has the lanes that are served together, as differences, and
/// what each contributes to the byte address.
fn served_together(machine: &Machine, kind: Kind, across: &[(u64, u64)], width: u32) -> Wavefronts {
    let word = machine.bank_bytes_log2;
    let banks = low_mask(machine.banks_log2_of(kind));
    // Words and banks that one phase touches; combinations remember the word of a vector, above it
    // the lanes.
    let (mut words, mut bank) = (Echelon::new(), Echelon::new());
    let mut witness = None;
    let within = (word..width).map(|bit| (1 << (bit - word), 1 << (bit - word)));
    let across = across.iter().map(|&(lane, address)| (lane << LANES_FROM, address >> word));
    for (combination, address) in within.chain(across) {
        if words.grows(address) {
            // A combination that is new as a word and zero as a bank is a conflict.
            if let Some(conflict) = bank.insert(address & banks, combination) {
                witness = witness.or(Some(Collision {
                    lanes: [0, (conflict >> LANES_FROM) as u32],
                    words: [0, (conflict & low_mask(LANES_FROM)) as u32],
                }));
            }
        }
    }
    let ideal = words.rank().saturating_sub(machine.banks_log2_of(kind));
    let actual = words.rank() - bank.rank();
    let witness = witness.filter(|_| actual > ideal);
    Wavefronts { actual: power(actual), ideal: power(ideal), witness }
}

impl Wavefronts {
    /// Those of 2^`log2` phases like this one.
    fn times(self, log2: u32) -> Wavefronts {
        let all = |one: u32| one.saturating_mul(power(log2));
        Wavefronts { actual: all(self.actual), ideal: all(self.ideal), ..self }
    }
}

/// Where the lanes begin in what is remembered of a conflict: above the words of any vector.
const LANES_FROM: u32 = MAX_ACCESS_LOG2;

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

/// The sectors that one access of global memory touches, counted over its addresses.
///
/// This is for addresses that are no linear function of the lane, as those of rows whose length is no
/// power of two; for the others [`sectors`] gives the same numbers.
/// The arguments are those of [`count_wavefronts`], but addresses may be multiples of anything.
///
/// ```
/// use weft_layout::{Machine, access::count_sectors};
///
/// // The first element of each of 32 rows of three floats.
/// let firsts: Vec<_> = (0..32).map(|row| Some(12 * row)).collect();
/// let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
/// assert_eq!(count_sectors(machine, &firsts, 4)?.actual, 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn count_sectors(
    machine: &Machine,
    addresses: &[Option<u64>],
    bytes: u32,
) -> Result<Sectors, AccessError> {
    let expected = machine.lanes();
    if addresses.len() != expected as usize {
        return Err(AccessError::Addresses { expected, found: addresses.len() });
    }
    check_width(bytes, machine.global_vector_bytes)?;
    let mut sorted: Vec<u64> = addresses.iter().flatten().copied().collect();
    sorted.sort_unstable();
    let size = u64::from(machine.sector_bytes.max(1));
    // The first byte and the first sector that no address before has touched.
    let (mut byte, mut sector) = (0, 0);
    let (mut distinct, mut touched) = (0_u64, 0);
    for address in sorted {
        let last = address.saturating_add(u64::from(bytes - 1));
        distinct += (last + 1).saturating_sub(address.max(byte));
        touched += (last / size + 1).saturating_sub((address / size).max(sector));
        (byte, sector) = (last + 1, last / size + 1);
    }
    Ok(Sectors { actual: touched, ideal: distinct.div_ceil(size) })
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
    let width = check_width(bytes, widest)?;
    let misaligned = columns.iter().position(|column| column & u64::from(bytes - 1) != 0);
    if let Some(lane_bit) = misaligned {
        return Err(AccessError::Misaligned { lane_bit: lane_bit as u32, bytes });
    }
    Ok(width)
}

/// Checks the width of an access and returns its logarithm.
fn check_width(bytes: u32, widest: u32) -> Result<u32, AccessError> {
    let possible = bytes.is_power_of_two() && bytes <= widest;
    if possible { Ok(bytes.ilog2()) } else { Err(AccessError::Width { bytes, widest }) }
}

/// The most bytes of one lane in one access of shared memory.
fn widest_shared(machine: &Machine) -> u32 {
    machine.shared_vector_bytes.min(1 << MAX_ACCESS_LOG2)
}

/// The logarithm of the widest access that `machine` has for shared memory.
pub(crate) fn widest_shared_log2(machine: &Machine) -> u32 {
    widest_shared(machine).max(1).ilog2()
}
