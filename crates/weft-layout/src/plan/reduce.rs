//! Reductions along one axis.

use alloc::vec::Vec;

use super::PlanError;
use crate::{layout::Layout, machine::Machine, step::Plan};

/// A reduction and where it leaves its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// The steps.
    pub plan: Plan,
    /// The layout of the result.
    pub result: Layout,
}

/// TODO
pub fn reduce(
    layout: &Layout,
    dim: usize,
    element_bits: &[u32],
    machine: &Machine,
) -> Result<Reduction, PlanError> {
    let _ = (layout, dim, element_bits, machine, Vec::<u8>::new());
    Err(PlanError::TooLarge)
}
