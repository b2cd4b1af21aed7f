//! What homes cost in the program that they led to.

use super::anchors::Anchors;
use super::trips::Trips;
use super::{AssignError, Assignment, Block};
use crate::axis::AxisFacts;
use crate::tile::{Kernel, OpId};
use weft_layout::step::Plan;

/// What a program costs that homes decide on, in hundredths of a cycle of the whole block, over all rounds of
/// loops (16 where their number is not known).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spent {
    /// Conversions, reductions, scans, gathers and histograms, by their plans.
    pub movements: u64,
    /// Accesses to global memory: their instructions, and the sectors that these touch.
    pub accesses: u64,
    /// Element-wise arithmetic, and loads of shared memory.
    pub work: u64,
}

impl Spent {
    /// The sum of all parts, in hundredths of a cycle.
    pub fn total(self) -> u64 {
        self.movements.saturating_add(self.accesses).saturating_add(self.work)
    }
}

impl core::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.movements = self.movements.saturating_add(other.movements);
        self.accesses = self.accesses.saturating_add(other.accesses);
        self.work = self.work.saturating_add(other.work);
    }
}

/// What the movements that were written for operations cost, the kernel's accesses, and other work of
/// operations, of which a warp's price is given: operation by operation, an operation perhaps several times.
pub fn spent<'p>(
    kernel: &Kernel,
    facts: &AxisFacts,
    assignment: &Assignment,
    block: Block<'_>,
    movements: impl Iterator<Item = (OpId, &'p Plan)>,
    work: &[(OpId, u64)],
) -> Result<Vec<(OpId, Spent)>, AssignError> {
    let trips = Trips::of(kernel);
    let anchors = Anchors { kernel, facts, block };
    let all = |op: OpId, price: u64| {
        price.saturating_mul(block.warps.into()).saturating_mul(trips.of_op(op))
    };
    let none = Spent::default();
    let moved =
        movements.map(|(op, plan)| (op, Spent { movements: all(op, plan.cost.total), ..none }));
    let mut spent: Vec<(OpId, Spent)> = moved.collect();
    spent.extend(work.iter().map(|&(op, price)| (op, Spent { work: all(op, price), ..none })));
    let mut accesses = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        if let Some(place) = assignment.runs_in(id).filter(|_| op.kind.by_pointers().is_some()) {
            accesses.push((id, place));
        }
    });
    for (id, place) in accesses {
        let each = anchors.access_cost(&assignment.layouts, id, place)?;
        spent.push((id, Spent { accesses: each.saturating_mul(trips.of_op(id)), ..none }));
    }
    Ok(spent)
}
