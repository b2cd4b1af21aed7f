//! How accesses move on a memory layout: which elements walk along a vector or a row, and which count
//! the rows of a matrix.

use alloc::vec::Vec;

use super::{
    demand::Placed,
    forms::Slot,
    problem::{SwizzleError, Use},
    search::{Meter, found, uses},
};
use crate::layout::Layout;

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

impl Meter<'_> {
    /// How each access moves on a memory layout, in the order of the problem.
    ///
    /// Fails as [`measure`](Meter::measure) does.
    pub fn moves(&self, memory: &Layout) -> Result<Vec<Move>, SwizzleError> {
        let task = self.task();
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
