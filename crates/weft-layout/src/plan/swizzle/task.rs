//! A problem in coordinates: the elements that the buffer holds in one round.

use alloc::vec::Vec;

use super::{
    demand::{Allowed, Demand},
    pair::Side,
    problem::{Access, Problem, SwizzleError},
};
use crate::{
    access::Kind,
    f2::{Echelon, Matrix, Subspace, extract_bits, parity},
    layout::Layout,
    machine::{MAX_ACCESS_LOG2, Machine},
    space::{BLOCK, LANE, OFFSET, REGISTER, WARP},
    stop::Stop,
};

/// The most accesses of a problem.
const MAX_ACCESSES: usize = 64;

/// The most accesses of several problems on one buffer, over all of them.
const MAX_JOINT_ACCESSES: usize = 256;

/// A problem in coordinates on the elements of one round.
pub(super) struct Task<'m> {
    /// The logarithm of the bytes of an element.
    pub(super) bytes_log2: u32,
    /// The coordinates: offset bits.
    pub(super) bits: u32,
    /// The logarithm of the elements of one word; at most `bits`.
    pub(super) word: u32,
    /// The logarithm of the elements of the longest row over all banks that an access sees.
    pub(super) row: u32,
    /// The same of the shortest row; on most machines all are equal.
    pub(super) short_row: u32,
    pub(super) demands: Vec<Demand<'m>>,
    /// The elements that a vector steps along, which are fixed.
    pub(super) vector: Vec<u64>,
    bank: Vec<u64>,
    pub(super) block: Vec<u64>,
    /// The elements of the tensor at the coordinates.
    span: Subspace,
    /// The masks whose parities are the round of an element.
    pub(super) rounds: Vec<u64>,
    /// Whether the answer is still wanted: a search that is stopped leaves the rest out.
    pub(super) stop: Stop,
}

impl<'m> Task<'m> {
    pub(super) fn new(problem: &Problem<'m>) -> Result<Task<'m>, SwizzleError> {
        let machine = problem.machine;
        let bytes_log2 = match problem.element_bits {
            bits @ 1..=64 => bits.next_power_of_two().max(8).ilog2() - 3,
            bits => return Err(SwizzleError::ElementBits(bits)),
        };
        let first = problem.accesses.first().ok_or(SwizzleError::NoAccess)?;
        if problem.accesses.len() > MAX_ACCESSES {
            let accesses = problem.accesses.len();
            return Err(SwizzleError::TooMany { accesses, most: MAX_ACCESSES });
        }
        let mut stored = Echelon::new();
        let mut all = Echelon::new();
        for (index, access) in problem.accesses.iter().enumerate() {
            if access.layout.outs() != first.layout.outs() {
                return Err(SwizzleError::Tensor { access: index });
            }
            let known = [REGISTER, LANE, WARP, BLOCK];
            let unknown = access.layout.ins().labels().find(|label| !known.contains(label));
            if let Some(label) = unknown {
                return Err(SwizzleError::UnknownAxis { access: index, label });
            }
            let lanes = access.layout.in_bits(LANE);
            if lanes != machine.lanes_log2 {
                let machine = machine.lanes_log2;
                return Err(SwizzleError::Lanes { access: index, layout: lanes, machine });
            }
            for column in columns(access) {
                all.grows(column);
                if access.kind == Kind::Store {
                    stored.grows(column);
                }
            }
        }
        if stored.rank() > 0 {
            for (index, access) in problem.accesses.iter().enumerate() {
                let missing = columns(access).find(|&column| stored.reduce(column, 0).0 != 0);
                if let Some(element) = missing {
                    return Err(SwizzleError::NotStored { access: index, element });
                }
            }
        }
        let whole = Subspace::spanned_by(all.vectors());
        let bytes = |bits: u32| power(bits.saturating_add(bytes_log2));
        let own = machine.shared_bytes_per_block;
        let available = problem.scratch_bytes.map_or(own, |bytes| bytes.min(own));
        let needed = bytes(whole.dim());
        let excess = (0..=whole.dim()).find(|&excess| bytes(whole.dim() - excess) <= available);
        let rounds = (excess.and_then(|excess| rounds(problem, &whole, excess)))
            .ok_or(SwizzleError::Scratch { needed, available })?;
        let span = rounds.iter().fold(whole, |span, &mask| even(&span, mask));
        let demands = (problem.accesses.iter().enumerate())
            .map(|(index, access)| demand(machine, index, access, bytes_log2, &span, &rounds))
            .collect::<Result<Vec<Demand<'m>>, _>>()?;
        let rows = || demands.iter().map(|demand| demand.row);
        let mut task = Task {
            bytes_log2,
            bits: span.dim(),
            word: machine.bank_bytes_log2.saturating_sub(bytes_log2).min(span.dim()),
            row: rows().max().unwrap_or(0),
            short_row: rows().min().unwrap_or(0),
            demands,
            vector: Vec::new(),
            bank: Vec::new(),
            block: Vec::new(),
            span,
            rounds,
            stop: problem.stop.clone(),
        };
        task.fix(problem)?;
        Ok(task)
    }

    /// The accesses of all problems on one buffer, with what the first one has fixed.
    pub(super) fn joint(problems: &[Problem<'m>]) -> Result<Task<'m>, SwizzleError> {
        let accesses = problems.iter().map(|problem| problem.accesses.len()).sum();
        if accesses > MAX_JOINT_ACCESSES {
            return Err(SwizzleError::TooMany { accesses, most: MAX_JOINT_ACCESSES });
        }
        let tasks = problems.iter().map(Task::new).collect::<Result<Vec<Task<'m>>, _>>()?;
        let mut tasks = tasks.into_iter();
        let mut all = tasks.next().ok_or(SwizzleError::NoAccess)?;
        for (index, task) in tasks.enumerate() {
            let whole = all.rounds.is_empty() && task.rounds.is_empty();
            if !whole || task.span != all.span || task.bytes_log2 != all.bytes_log2 {
                return Err(SwizzleError::OtherBuffer { problem: index + 1 });
            }
            all.word = all.word.max(task.word);
            all.row = all.row.max(task.row);
            all.short_row = all.short_row.min(task.short_row);
            all.demands.extend(task.demands);
        }
        Ok(all)
    }

    /// Takes the fixed elements over.
    fn fix(&mut self, problem: &Problem<'_>) -> Result<(), SwizzleError> {
        let fixed = &problem.fixed;
        let mut echelon = Echelon::new();
        let mut take = |elements: &[u64]| -> Result<Vec<u64>, SwizzleError> {
            let take = |&element: &u64| {
                let new = self.span.contains(element) && echelon.grows(element);
                let coordinates = extract_bits(element, self.span.leads());
                new.then_some(coordinates).ok_or(SwizzleError::FixedElement { element })
            };
            elements.iter().map(take).collect()
        };
        let (vector, bank, block) = (take(&fixed.vector)?, take(&fixed.bank)?, take(&fixed.block)?);
        let counted = |elements: &[u64], bits: u32| {
            let found = elements.len();
            let fits = found <= bits as usize;
            if fits { Ok(()) } else { Err(SwizzleError::FixedCount { bits, found }) }
        };
        let vectors = MAX_ACCESS_LOG2.saturating_sub(self.bytes_log2).min(self.bits);
        counted(&vector, vectors)?;
        let below = self.word.max(vector.len() as u32);
        let banks = self.short_row.min(self.bits).saturating_sub(below);
        counted(&bank, banks)?;
        counted(&block, self.segments())?;
        (self.vector, self.bank, self.block) = (vector, bank, block);
        Ok(())
    }

    /// The offset bits above one row over all banks.
    pub(super) fn segments(&self) -> u32 {
        self.bits.saturating_sub(self.row)
    }

    /// The fixed elements at vector and bank bits, each with its offset bit.
    pub(super) fn low_fixed(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let banks = (self.word as usize).max(self.vector.len());
        let bank = self.bank.iter().enumerate().map(move |(bit, &v)| (banks + bit, v));
        self.vector.iter().copied().enumerate().chain(bank)
    }

    /// The fixed elements at bank bits from `bit` on.
    pub(super) fn bank_from(&self, bit: usize) -> Vec<u64> {
        self.low_fixed().filter(|fixed| fixed.0 >= bit).map(|fixed| fixed.1).collect()
    }

    /// The coordinates at the offset bits of a memory layout of what the buffer holds.
    pub(super) fn columns(&self, memory: &Layout) -> Result<Matrix, SwizzleError> {
        let columns = memory.columns(OFFSET);
        let fits = memory.is_injective()
            && columns.len() == self.bits as usize
            && columns.iter().all(|&column| self.span.contains(column));
        if !fits {
            return Err(SwizzleError::NotMemory);
        }
        let columns = columns.iter().map(|&column| extract_bits(column, self.span.leads()));
        Ok(Matrix::from_columns(self.bits, columns).map_err(crate::LayoutError::from)?)
    }

    /// The element of the tensor at these coordinates.
    pub(super) fn element(&self, coordinates: u64) -> u64 {
        let basis = self.span.basis().enumerate();
        basis.filter(|(bit, _)| coordinates >> bit & 1 == 1).fold(0, |sum, (_, v)| sum ^ v)
    }
}

/// What the block 0 of an access holds, column by column.
fn columns(access: &Access) -> impl Iterator<Item = u64> + '_ {
    [REGISTER, LANE, WARP].into_iter().flat_map(|label| access.layout.columns(label)).copied()
}

/// The elements of a space with even parity under a mask.
fn even(space: &Subspace, mask: u64) -> Subspace {
    let odd = |vector: &u64| parity(vector & mask);
    let Some(pivot) = space.basis().find(odd) else { return *space };
    let shifted = space.basis().map(|v| if odd(&v) { v ^ pivot } else { v });
    Subspace::spanned_by(shifted)
}

/// Masks that cut the elements into 2^`excess` rounds: even on all threads, so that each round is
/// the same registers of every thread, and independent on the registers of each access.
fn rounds(problem: &Problem<'_>, whole: &Subspace, excess: u32) -> Option<Vec<u64>> {
    let threads = |access: &Access| [LANE, WARP].map(|label| access.layout.columns(label)).concat();
    let threads = problem.accesses.iter().flat_map(threads);
    let fixed = &problem.fixed;
    let fixed = fixed.vector.iter().chain(&fixed.bank).chain(&fixed.block).copied();
    let avoided = Subspace::spanned_by(threads.chain(fixed));
    let bits = 64 - whole.leads().leading_zeros();
    let mut own: Vec<(Subspace, Echelon)> = (problem.accesses.iter())
        .map(|access| {
            let held = Subspace::from_vectors(access.layout.columns(REGISTER));
            (held, Echelon::new())
        })
        .collect();
    let masks = avoided.annihilator(bits);
    // The highest masks first: low elements stay together as vectors.
    let masks: Vec<u64> = masks.basis().collect();
    let mut chosen = Vec::new();
    for &mask in masks.iter().rev() {
        if chosen.len() as u32 == excess {
            break;
        }
        // What a mask does to the registers: its parities on their basis.
        let effect = |held: &Subspace| {
            let basis = held.basis().enumerate();
            basis.fold(0, |sum, (bit, v)| sum | u64::from(parity(v & mask)) << bit)
        };
        if own.iter().all(|(held, seen)| seen.reduce(effect(held), 0).0 != 0) {
            for (held, seen) in &mut own {
                seen.grows(effect(held));
            }
            chosen.push(mask);
        }
    }
    (chosen.len() as u32 == excess).then_some(chosen)
}

fn demand<'m>(
    machine: &'m Machine,
    index: usize,
    access: &Access,
    bytes_log2: u32,
    span: &Subspace,
    rounds: &[u64],
) -> Result<Demand<'m>, SwizzleError> {
    let widest = access.widest_bytes.unwrap_or(machine.shared_vector_bytes);
    if !widest.is_power_of_two() || widest.ilog2() < bytes_log2 {
        return Err(SwizzleError::Width { access: index, bytes: widest });
    }
    let most = machine.shared_vector_bytes.max(1).ilog2().min(MAX_ACCESS_LOG2);
    let coordinates = |label| -> Vec<u64> {
        let mut columns = access.layout.columns(label).to_vec();
        if label == REGISTER {
            for &mask in rounds {
                // Of the registers with odd parity the first one chooses the round.
                let odd = columns.iter().position(|column| parity(column & mask));
                if let Some(pivot) = odd.map(|odd| columns.remove(odd)) {
                    for column in columns.iter_mut().filter(|column| parity(**column & mask)) {
                        *column ^= pivot;
                    }
                }
            }
        }
        columns.iter().map(|&column| extract_bits(column, span.leads())).collect()
    };
    let side = Side {
        registers: coordinates(REGISTER),
        lanes: coordinates(LANE),
        warps: coordinates(WARP),
    };
    let allowed = Allowed {
        weight: access.weight,
        widest_log2: widest.ilog2().min(most),
        matrices: access.matrix_moves,
    };
    Ok(Demand::new(machine, access.kind, side, bytes_log2, allowed))
}

/// 2^`exponent`, at most the largest `u64`.
pub(super) fn power(exponent: u32) -> u64 {
    1_u64.checked_shl(exponent).unwrap_or(u64::MAX)
}
