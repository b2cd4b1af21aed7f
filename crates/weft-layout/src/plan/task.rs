//! What a plan is for, and plans that nobody has followed yet.
//!
//! Who chooses among many layouts asks what each movement would cost, and makes few of them. Planning
//! is cheap; to follow a plan that moves by index, or combines, is not. So a plan can be asked for as
//! a [`Draft`], which tells its price and no step, and becomes a [`Plan`] when the witness accepts it.

use super::{
    Direction, PlanError, choose,
    fold::reduce::{self, Order},
    fold::scan,
    followed,
    indexed::gather,
    indexed::histogram,
};
use crate::{
    family::slice,
    layout::Layout,
    machine::Machine,
    step::{Cost, Plan},
    witness,
};

/// What a plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task<'a> {
    /// As [`convert`](super::convert()) does it.
    Convert {
        /// Where the tensor is.
        from: &'a Layout,
        /// Where it is wanted.
        to: &'a Layout,
        /// The width of its elements.
        element_bits: u32,
    },
    /// As [`reduce`](super::reduce()) does it.
    Reduce {
        /// Where the operands are.
        layout: &'a Layout,
        /// The axis that goes away.
        dim: usize,
        /// The widths of the operands.
        element_bits: &'a [u32],
    },
    /// As [`scan`](super::scan()) does it.
    Scan {
        /// Where the operands are, and the results.
        layout: &'a Layout,
        /// The axis.
        dim: usize,
        /// The widths of the operands.
        element_bits: &'a [u32],
        /// From which end.
        direction: Direction,
    },
    /// As [`gather`](super::gather()) does it.
    Gather {
        /// Where the tensor is.
        source: &'a Layout,
        /// Where the indices are, and the result.
        result: &'a Layout,
        /// The axis of the indices.
        dim: usize,
        /// The width of the elements.
        element_bits: u32,
        /// The width of the indices.
        index_bits: u32,
    },
    /// As [`histogram`](super::histogram()) does it.
    Histogram {
        /// Where the numbers are.
        source: &'a Layout,
        /// Where the counts go.
        result: &'a Layout,
        /// The width of the numbers.
        element_bits: u32,
        /// Whether a mask says which numbers count.
        masked: bool,
    },
}

/// A plan whose price is known, and which the witness has not followed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft(Plan);

impl Draft {
    /// What the plan costs a warp.
    pub fn cost(&self) -> &Cost {
        &self.0.cost
    }

    /// The bytes of shared memory that it works in.
    pub fn scratch_bytes(&self) -> u64 {
        self.0.scratch_bytes
    }

    /// The plan, once the witness has accepted it for `task`.
    ///
    /// Fails with what the witness found where the plan does something else.
    pub fn checked(self, task: &Task<'_>) -> Result<Plan, PlanError> {
        let Draft(plan) = self;
        match *task {
            Task::Convert { from, to, .. } => followed(&plan, from, to)?,
            Task::Reduce { layout, dim, .. } => {
                reduce::followed(&plan, layout, dim, &slice(layout, dim)?)?;
            }
            Task::Scan { layout, dim, direction, .. } => {
                scan::followed(&plan, layout, dim, direction)?;
            }
            Task::Gather { source, result, dim, .. } => {
                gather::followed(&plan, source, result, dim)?;
            }
            Task::Histogram { source, result, .. } => histogram::followed(&plan, source, result)?,
        }
        Ok(plan)
    }
}

impl Task<'_> {
    /// The cheapest plan, not yet followed; fails as the function does that plans the task.
    pub fn draft(&self, machine: &Machine) -> Result<Draft, PlanError> {
        let plan = match *self {
            Task::Convert { from, to, element_bits } => choose(from, to, element_bits, machine),
            Task::Reduce { layout, dim, element_bits } => {
                let result = slice(layout, dim)?;
                reduce::choose(layout, dim, element_bits, Order::Any, &result, machine)
            }
            Task::Scan { layout, dim, element_bits, direction } => {
                scan::choose(layout, dim, element_bits, direction, machine)
            }
            Task::Gather { source, result, dim, element_bits, index_bits } => {
                gather::choose(source, result, dim, (element_bits, index_bits), machine)
            }
            Task::Histogram { source, result, element_bits, masked } => {
                histogram::choose(source, result, element_bits, masked, machine)
            }
        };
        let plan = plan?;
        // What is too large to be followed later is no plan now.
        witness::check_size(&plan, self.source().outs().total_bits())?;
        Ok(Draft(plan))
    }

    /// Where the first input is.
    fn source(&self) -> &Layout {
        match *self {
            Task::Convert { from: source, .. }
            | Task::Reduce { layout: source, .. }
            | Task::Scan { layout: source, .. }
            | Task::Gather { source, .. }
            | Task::Histogram { source, .. } => source,
        }
    }

    /// The cheapest plan, which the witness has accepted.
    pub fn plan(&self, machine: &Machine) -> Result<Plan, PlanError> {
        self.draft(machine)?.checked(self)
    }
}
