//! Homes: in which layout each tensor value lives, and in which each memory operation runs.
//!
//! Three kinds of value:
//!
//! * *Free* values are cheap functions of constants, ranges and scalars: masks, offsets, pointers.
//!   They have no home; whoever needs one computes it in the layout that it is needed in.
//! * *Shape operations* (`trans`, `reshape`, `expand_dims`, `broadcast`) move nothing: asked for a
//!   layout, they ask their operand for the one before them (theorem 9.3 of the paper, backward).
//! * Everything else has a *home*. Values that an element-wise operation, a loop or an `if` ties
//!   together share one; they form a *class*.
//!
//! A class that a reduction defines takes what the reduction leaves: the operand's layout without the
//! axis. Every other takes the layout of its heaviest *anchor*: an access to memory asks for the
//! layout that coalesces it, weighed by the bytes it moves, a matrix product for a square of results
//! in each thread. A class without an anchor takes what a shape operation gives: its operand's layout
//! carried forward.
//!
//! A memory operation then runs either in its class's home or in its own coalesced layout with a
//! conversion, whichever costs less. Nothing here depends on a layout's name.
//!
//! Where the program says itself how its tensors lie (TTGIR does), that is obeyed: every home is the
//! given one (`given`), and nothing is chosen.

mod access;
mod classes;
mod encode;
mod given;
mod layouts;
mod product;
mod shape;
mod solve;

pub use access::AccessShape;
pub use classes::definitions;
pub use encode::encode;
pub use layouts::{LayoutId, Layouts, Plans};
pub use product::{Candidate, Matrix, Product, candidates};
pub use shape::{is_elementwise, is_shape_op, operand_layout, result_layout};

use crate::axis::AxisFacts;
use crate::id::IdMap;
use crate::tile::{Kernel, Misplaced, OpId, OpKind, Value};
use weft_layout::family::Blocked;
use weft_layout::machine::Machine;
use weft_layout::{LayoutError, plan};

/// Why a class has its home.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The heaviest anchor is this operation, with this weight in bytes; others weighed so much.
    Anchor {
        /// The operation.
        op: OpId,
        /// Its weight.
        weight: u64,
        /// The weight of the anchors that asked for another layout.
        against: u64,
    },
    /// It follows from the layout of an operand of the operation that defines it.
    Follows(OpId),
    /// Nothing asked for any: the default for the shape.
    Default,
    /// The program says it.
    Given,
}

/// The decisions.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Every layout that is mentioned.
    pub layouts: Layouts,
    /// The plans made while deciding.
    pub plans: Plans,
    home: IdMap<Value, Option<LayoutId>>,
    given: IdMap<Value, Option<LayoutId>>,
    free: IdMap<Value, bool>,
    runs_in: IdMap<OpId, Option<LayoutId>>,
    products: IdMap<OpId, Option<Product>>,
    reasons: IdMap<Value, Option<Reason>>,
}

/// What the block of a kernel looks like, and the machine it runs on.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// Warps in the block: a power of two.
    pub warps: u32,
}

/// Decides every home: as the program says, where it does, else by the anchors.
pub fn run(
    kernel: &Kernel,
    facts: &AxisFacts,
    block: Block<'_>,
) -> Result<Assignment, AssignError> {
    match given::homes(kernel, block)? {
        Some(assignment) => Ok(assignment),
        None => solve::run(kernel, facts, block),
    }
}

/// Why no layout could be found; never happens for a verified kernel within the machine's limits.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AssignError {
    /// The layout algebra refused.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A layout of a family could not be made.
    #[error(transparent)]
    Family(#[from] weft_layout::family::FamilyError),
    /// An access could not be counted.
    #[error(transparent)]
    Access(#[from] weft_layout::access::AccessError),
    /// A conversion could not be planned.
    #[error(transparent)]
    Plan(#[from] plan::PlanError),
    /// No algorithm is known for a function of a type.
    #[error("`{function}` of {dtype} is not compiled: no algorithm for it is here; cast to f32")]
    NoAlgorithm {
        /// The function.
        function: String,
        /// The type.
        dtype: crate::dtype::DType,
    },
    /// The program's own layout does not fit the block.
    #[error("{name} of type {ty}: {misplaced}")]
    Given {
        /// The value.
        name: String,
        /// Its type.
        ty: String,
        /// What is wrong.
        misplaced: Box<Misplaced>,
    },
    /// The program gives layouts to some of its tensors only.
    #[error("{name} has no layout of its own, and other tensors of the program have one")]
    NotGiven {
        /// The value.
        name: String,
    },
    /// More shared memory is allocated than addresses reach.
    #[error("{name} takes {bytes} bytes of shared memory; a kernel may have {most}")]
    SharedMemory {
        /// What is allocated.
        name: String,
        /// Its size.
        bytes: u64,
        /// What all together may take.
        most: u64,
    },
    /// A plan does not fit the program.
    #[error(transparent)]
    Movement(#[from] crate::movement::Misfit),
}

impl From<weft_layout::SpaceError> for AssignError {
    fn from(error: weft_layout::SpaceError) -> Self {
        AssignError::Layout(error.into())
    }
}

impl Assignment {
    /// The layout that a value lives in: none for scalars, free values and shape operations.
    pub fn home(&self, value: Value) -> Option<LayoutId> {
        self.home[value]
    }

    /// The layout that the program gives to a tensor, free or not, if it gives any.
    pub fn given(&self, value: Value) -> Option<LayoutId> {
        self.given[value]
    }

    /// A layout that a value can be asked for in at no price: its home, the layout that the program
    /// gives it, or, through shape operations, what its operand's home gives; the default for its shape
    /// where it is free.
    pub fn anywhere(
        &mut self,
        kernel: &Kernel,
        definitions: &IdMap<Value, Option<OpId>>,
        block: Block<'_>,
        value: Value,
    ) -> Result<LayoutId, AssignError> {
        if let Some(known) = self.home[value].or(self.given[value]) {
            return Ok(known);
        }
        let shape = &kernel.ty(value).shape;
        if let Some(id) = definitions[value]
            && !self.free[value]
        {
            let op = &kernel.ops[id];
            // What is repeated may be spread over the threads instead.
            if is_shape_op(&op.kind) && op.kind != OpKind::Broadcast {
                let below = self.anywhere(kernel, definitions, block, op.operands[0])?;
                let layout = result_layout(&op.kind, self.layouts.get(below), shape)?;
                return Ok(self.layouts.intern(layout));
            }
        }
        let ones = vec![1; shape.len()];
        let order: Vec<usize> = (0..shape.len()).rev().collect();
        let (lanes, warps) = (block.machine.lanes().into(), block.warps.into());
        let blocked = Blocked::for_memory(shape, &ones, &order, lanes, warps)?;
        Ok(self.layouts.intern(blocked.layout(shape)?))
    }

    /// Whether a value is computed wherever it is needed.
    pub fn is_free(&self, value: Value) -> bool {
        self.free[value]
    }

    /// The layout in which a load, store or atomic runs.
    pub fn runs_in(&self, op: OpId) -> Option<LayoutId> {
        self.runs_in[op]
    }

    /// How a matrix product is computed: by multiply-adds where nothing was decided.
    pub fn product(&self, op: OpId) -> &Product {
        self.products[op].as_ref().unwrap_or(&Product::Multiply)
    }

    /// Why a value has its home.
    pub fn reason(&self, value: Value) -> Option<&Reason> {
        self.reasons[value].as_ref()
    }
}
#[cfg(test)]
mod tests;
