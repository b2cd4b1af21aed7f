//! What accesses take on a given memory layout, and how they move on it.

use alloc::vec::Vec;

use super::{
    demand::{Demand, Placed, Taken},
    forms::Slot,
    problem::{Problem, SwizzleError, Use},
    task::{Task, power},
};
use crate::{f2::Matrix, layout::Layout, space::Space};

/// A problem that memory layouts are held against.
pub struct Meter<'m> {
    task: Task<'m>,
    outs: Space,
}

impl<'m> Meter<'m> {
    /// The meter of a problem; what the problem says of fixed elements plays no part.
    pub fn new(problem: &Problem<'m>) -> Result<Meter<'m>, SwizzleError> {
        let first = problem.accesses.first().ok_or(SwizzleError::NoAccess)?;
        Ok(Meter { task: Task::new(problem)?, outs: first.layout.outs().clone() })
    }

    /// The elements at the offset bits, in coordinates.
    fn columns(&self, memory: &Layout) -> Result<Matrix, SwizzleError> {
        if memory.outs() != &self.outs {
            return Err(SwizzleError::NotMemory);
        }
        self.task.columns(memory)
    }

    /// What the accesses take on a memory layout: weighted wavefronts of one warp, and each access
    /// with the best vectors that the layout allows.
    ///
    /// Fails when the layout is none from `offset` to what the buffer holds.
    pub fn measure(&self, memory: &Layout) -> Result<(u64, Vec<Use>), SwizzleError> {
        priced(&self.task, &self.columns(memory)?)
    }

    /// How each access moves on a memory layout, in the order of the problem.
    ///
    /// Fails as [`measure`](Meter::measure) does.
    pub fn moves(&self, memory: &Layout) -> Result<Vec<Move>, SwizzleError> {
        let task = &self.task;
        let found = found(task, &self.columns(memory)?)?;
        let offsets = found.columns.inverse().map_err(crate::LayoutError::from)?;
        let uses = uses(task, &found.taken, 1);
        let each = task.demands.iter().zip(&found.taken).zip(uses);
        let moves = each.map(|((demand, taken), use_)| {
            let way = demand.way(taken.way);
            let placed = Placed::new(&demand.side, &offsets);
            let rows = placed.rows(way, demand.row);
            let row = |&offset: &u64| task.element(found.columns.apply(offset));
            let rows: Vec<u64> = rows.iter().map(row).collect();
            let along = found.columns.columns().iter().map(|&column| task.element(column));
            let registers =
                way.low.iter().zip(along).chain(way.rows.iter().zip(rows.iter().copied()));
            let registers = registers.filter(|(slot, _)| **slot == Slot::Register);
            Move { taken: use_, word: registers.map(|(_, element)| element).collect(), rows }
        });
        Ok(moves.collect())
    }
}

/// How one access moves on a memory layout; elements are places of the tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// By which instruction, and what it takes in one round.
    pub taken: Use,
    /// The elements that walk through a vector, or through what one lane has of a matrix: sums of
    /// registers, the lowest bit first.
    pub word: Vec<u64>,
    /// The elements at the bits of the number of a row of a matrix: row `r` of the matrix that begins
    /// with element `x` lies at the offset of `x` and of those at the bits of `r`.
    /// Nothing for a vector.
    pub rows: Vec<u64>,
}

/// A memory layout, the elements at its offset bits, and what the accesses take on it.
pub(super) struct Found {
    pub(super) total: u64,
    pub(super) instructions: u64,
    pub(super) columns: Matrix,
    pub(super) taken: Vec<Taken>,
}

/// What the accesses take when these elements are at the offset bits, over all rounds.
pub(super) fn priced(task: &Task<'_>, columns: &Matrix) -> Result<(u64, Vec<Use>), SwizzleError> {
    let found = found(task, columns)?;
    let rounds = power(task.rounds.len() as u32);
    Ok((found.total.saturating_mul(rounds), uses(task, &found.taken, rounds)))
}

fn uses(task: &Task<'_>, taken: &[Taken], rounds: u64) -> Vec<Use> {
    let each = taken.iter().zip(&task.demands);
    each.map(|(taken, demand)| {
        let way = demand.way(taken.way);
        Use {
            form: way.form,
            bytes: 1 << way.width_log2(task.bytes_log2),
            instructions: way.instructions().saturating_mul(rounds),
            wavefronts: taken.wavefronts.saturating_mul(rounds),
            floor: demand.floor().saturating_mul(rounds),
        }
    })
    .collect()
}

/// What the accesses take when these elements are at the offset bits, in one round.
pub(super) fn found(task: &Task<'_>, columns: &Matrix) -> Result<Found, SwizzleError> {
    let offsets = columns.inverse().map_err(crate::LayoutError::from)?;
    let taken: Vec<Taken> =
        task.demands.iter().map(|demand| demand.taken(task, &offsets)).collect::<Result<_, _>>()?;
    let sum = |part: fn(&Taken, &Demand<'_>) -> u64| {
        let parts = taken.iter().zip(&task.demands);
        parts.fold(0_u64, |sum, (t, d)| sum.saturating_add(part(t, d).saturating_mul(d.weight)))
    };
    let total = sum(|taken, _| taken.wavefronts);
    let instructions = sum(|taken, demand| demand.way(taken.way).instructions());
    Ok(Found { total, instructions, columns: *columns, taken })
}
