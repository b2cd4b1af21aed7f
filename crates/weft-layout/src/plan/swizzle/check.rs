//! The check of a solved swizzle: it knows the rank law and dimensions, and nothing of the solver.

use alloc::vec::Vec;
use core::fmt;

use super::problem::{Access, Certificate, Problem, Solved};
use crate::{
    access::{AccessError, Kind, wavefronts},
    f2::{Echelon, Matrix, Subspace, low_mask, ones, parity},
    space::{LANE, OFFSET, REGISTER, WARP},
};

/// What is known of a memory layout whose numbers are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// No memory layout takes fewer wavefronts, by counting dimensions.
    Optimal,
    /// None does, by a search that solving the problem again repeats.
    Exhausted,
    /// Fewer wavefronts are not excluded, but never fewer than the bound.
    Gap,
}

/// What is wrong with a solved swizzle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckError {
    /// The memory layout is none: it has other inputs than an offset, or holds an element twice.
    Memory,
    /// The memory does not hold what an access moves.
    Outside {
        /// Which access.
        access: usize,
    },
    /// There is not one use for each access.
    Uses,
    /// The vectors of an access are not in its registers, or not aligned.
    Vector {
        /// Which access.
        access: usize,
    },
    /// An access takes another number of wavefronts or instructions.
    Wavefronts {
        /// Which access.
        access: usize,
        /// Instructions and wavefronts by the rank law.
        expected: (u64, u64),
    },
    /// The sum of all accesses is another one.
    Total(u64),
    /// Dimensions give another bound.
    Bound(u64),
    /// An access is not legal on the machine.
    Access(AccessError),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Memory => {
                f.write_str("the memory layout does not give each offset an element")
            }
            CheckError::Outside { access } => {
                write!(f, "the memory does not hold what access {access} moves")
            }
            CheckError::Uses => f.write_str("there is not one use for each access"),
            CheckError::Vector { access } => {
                write!(f, "the vectors of access {access} are not aligned in its registers")
            }
            CheckError::Wavefronts { access, expected: (instructions, wavefronts) } => write!(
                f,
                "access {access} takes {instructions} instructions and {wavefronts} wavefronts"
            ),
            CheckError::Total(total) => write!(f, "the accesses take {total} wavefronts in all"),
            CheckError::Bound(bound) => write!(f, "dimensions give the bound {bound}"),
            CheckError::Access(error) => write!(f, "an access is not legal: {error}"),
        }
    }
}

impl core::error::Error for CheckError {}

/// Recomputes what the accesses take on the memory layout, and the bound from the dimensions that
/// the certificate names.
pub fn check(problem: &Problem<'_>, solved: &Solved) -> Result<Verdict, CheckError> {
    let memory = &solved.memory;
    if !memory.is_injective() || memory.ins().labels().ne([OFFSET]) {
        return Err(CheckError::Memory);
    }
    let sides: Vec<Columns<'_>> =
        problem.accesses.iter().map(|access| Columns::of(access, solved)).collect();
    if solved.uses.len() != sides.len() {
        return Err(CheckError::Uses);
    }
    let rounds = 1_u64.checked_shl(solved.rounds.len() as u32).unwrap_or(u64::MAX);
    let mut total = 0_u64;
    for (index, (side, used)) in sides.iter().zip(&solved.uses).enumerate() {
        let expected = side.taken(problem, memory.matrix(), index, used.bytes)?;
        let expected = (expected.0.saturating_mul(rounds), expected.1.saturating_mul(rounds));
        if expected != (used.instructions, used.wavefronts) {
            return Err(CheckError::Wavefronts { access: index, expected });
        }
        total = total.saturating_add(expected.1.saturating_mul(side.access.weight));
    }
    if total != solved.total {
        return Err(CheckError::Total(total));
    }
    let bound = match solved.certificate {
        Certificate::Exhausted { .. } if solved.bound == total => return Ok(Verdict::Exhausted),
        Certificate::Floors => sum(&sides, |side| (0..=4).map(|v| side.least(problem, v)).min()),
        _ => least_of_all(problem, &sides, &mut Vec::new()),
    };
    match bound.saturating_mul(rounds) {
        bound if bound != solved.bound => Err(CheckError::Bound(bound)),
        bound => Ok(if bound == total { Verdict::Optimal } else { Verdict::Gap }),
    }
}

fn sum<'a>(sides: &[Columns<'a>], of: impl Fn(&Columns<'a>) -> Option<u64>) -> u64 {
    let each = sides.iter().map(|s| of(s).unwrap_or(u64::MAX).saturating_mul(s.access.weight));
    each.fold(0, u64::saturating_add)
}

/// The least sum over all widths that leave room for vectors.
fn least_of_all(problem: &Problem<'_>, sides: &[Columns<'_>], widths: &mut Vec<u32>) -> u64 {
    if !has_room(sides, widths) {
        return u64::MAX;
    }
    if widths.len() == sides.len() {
        let each = sides.iter().zip(&*widths);
        return each.fold(0, |sum: u64, (side, &width)| {
            let least = side.least(problem, width);
            sum.saturating_add(least.saturating_mul(side.access.weight))
        });
    }
    let mut least = u64::MAX;
    let side = sides.get(widths.len());
    let possible = |width: &u32| side.is_some_and(|side| side.least(problem, *width) < u64::MAX);
    for width in (0..=4).filter(possible) {
        widths.push(width);
        least = least.min(least_of_all(problem, sides, widths));
        widths.pop();
    }
    least
}

/// Whether for each `t` the registers that the accesses of 2^t and more elements share have `t`
/// dimensions beside all their threads.
fn has_room(sides: &[Columns<'_>], widths: &[u32]) -> bool {
    (1..=4).all(|t| {
        let wide: Vec<&Columns<'_>> =
            sides.iter().zip(widths).filter(|(_, w)| **w >= t).map(|(side, _)| side).collect();
        let Some(first) = wide.first() else { return true };
        let own = wide.iter().fold(first.own(), |own, side| own.intersection(&side.own()));
        let threads = wide.iter().flat_map(|side| side.lanes.iter().chain(&side.warps)).copied();
        let threads = Subspace::spanned_by(threads);
        own.dim() - own.intersection(&threads).dim() >= t
    })
}

fn element_bytes(problem: &Problem<'_>) -> u32 {
    problem.element_bits.clamp(8, 64).next_power_of_two() / 8
}

/// The columns of an access in one round; of a store only those that write something new.
struct Columns<'a> {
    access: &'a Access,
    registers: Vec<u64>,
    lanes: Vec<u64>,
    warps: Vec<u64>,
    idle: u64,
}

impl<'a> Columns<'a> {
    fn of(access: &'a Access, solved: &Solved) -> Columns<'a> {
        let layout = &access.layout;
        let mut registers = layout.columns(REGISTER).to_vec();
        for &mask in &solved.rounds {
            let odd = |column: &u64| parity(column & mask);
            let pivot = registers.iter().copied().find(odd).unwrap_or(0);
            registers.iter_mut().filter(|column| odd(column)).for_each(|column| *column ^= pivot);
        }
        let (mut lanes, mut warps) = (layout.columns(LANE).to_vec(), layout.columns(WARP).to_vec());
        let (mut seen, mut idle) = (Echelon::new(), 0);
        if access.kind == Kind::Store {
            let keep = |column: &mut u64| {
                let new = seen.grows(*column);
                *column = if new { *column } else { 0 };
                new
            };
            let kept: Vec<bool> = lanes.iter_mut().chain(&mut warps).map(keep).collect();
            let lanes = kept.iter().take(lanes.len()).enumerate();
            idle = lanes.filter(|lane| !lane.1).fold(0, |mask, (bit, _)| mask | 1 << bit);
        }
        registers.retain(|&column| seen.grows(column));
        Columns { access, registers, lanes, warps, idle }
    }

    fn own(&self) -> Subspace {
        Subspace::from_vectors(&self.registers)
    }

    /// Instructions and wavefronts of a warp, with vectors of `width` bytes.
    fn taken(
        &self,
        problem: &Problem<'_>,
        memory: &Matrix,
        access: usize,
        width: u32,
    ) -> Result<(u64, u64), CheckError> {
        let offsets = |columns: &[u64]| -> Result<Vec<u64>, CheckError> {
            let columns = Matrix::new(memory.rows(), columns).ok();
            let solution = columns.and_then(|columns| memory.solve(&columns).ok());
            Ok(solution.ok_or(CheckError::Outside { access })?.columns().to_vec())
        };
        let (lanes, warps) = (offsets(&self.lanes)?, offsets(&self.warps)?);
        let held = Subspace::from_vectors(&offsets(&self.registers)?);
        let bytes = element_bytes(problem);
        let vector = width / bytes;
        let legal = vector.is_power_of_two()
            && vector * bytes == width
            && (0..vector.trailing_zeros()).all(|bit| held.contains(1 << bit))
            && lanes.iter().chain(&warps).all(|offset| offset & u64::from(vector - 1) == 0);
        if !legal {
            return Err(CheckError::Vector { access });
        }
        let addresses: Vec<u64> = lanes.iter().map(|lane| lane * u64::from(bytes)).collect();
        let kind = self.access.kind;
        let one = wavefronts(problem.machine, kind, &addresses, width, self.idle)
            .map_err(CheckError::Access)?;
        let instructions = 1 << (held.dim() - vector.trailing_zeros());
        Ok((instructions, instructions * u64::from(one.actual)))
    }

    /// The least wavefronts of a warp with vectors of 2^`vector` elements: every phase touches at
    /// least its lanes and their vectors, and a wavefront serves one row.
    fn least(&self, problem: &Problem<'_>, vector: u32) -> u64 {
        let machine = problem.machine;
        let bytes = element_bytes(problem) << vector;
        let widest = self.access.widest_bytes.unwrap_or(u32::MAX).min(machine.shared_vector_bytes);
        if bytes > widest || vector > self.own().dim() {
            return u64::MAX;
        }
        let lanes = low_mask(machine.lanes_log2) & !self.idle;
        let column = |bit: u32| self.lanes.get(bit as usize).copied().unwrap_or(0);
        let copies = ones(lanes).filter(|&bit| column(bit) == 0).fold(0, |mask, b| mask | 1 << b);
        let width = bytes.ilog2();
        let together = machine.phases.served(self.access.kind, width, copies);
        let together = together.intersection(&Subspace::of_bits(lanes));
        let element = |lane: u64| ones(lane).fold(0, |sum, bit| sum ^ column(bit));
        let touched = Subspace::spanned_by(together.basis().map(element)).dim() + width;
        let phases = lanes.count_ones() - together.dim();
        let row = machine.banks_log2_of(self.access.kind) + machine.bank_bytes_log2;
        let turns = touched.saturating_sub(row);
        1_u64.checked_shl(self.own().dim() - vector + phases + turns).unwrap_or(u64::MAX)
    }
}
