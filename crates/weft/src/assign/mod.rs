//! Chooses the *home* of each tensor value, and the layout in which each operation runs for which that matters.
//!
//! A [`Home`] is in registers, in a layout of registers, lanes and warps, or in shared memory, in the buffers that
//! the program allocates. Which of the two it is, the program says: `factors` and `pipeline` have put into memory
//! what belongs there. Homes in registers are chosen together; those in memory then follow from who fills and reads
//! them (`buffers`).
//!
//! Four kinds of value in registers:
//!
//! * *Free* values are cheap functions of constants, ranges and scalars: masks, offsets, pointers.
//!   They have no home; each user computes them in the layout that it needs.
//! * *Shape operations* (`trans`, `reshape`, `expand_dims`, `broadcast`) move nothing: asked for a
//!   layout, they ask their operand for the one before them (theorem 9.3 of the paper, backward).
//! * *Recomputed* values take a few cheap operations on tensors that are smaller in bytes (a load widened to
//!   `f32`, a row added to each row) and have several users. Moving their operands costs less than moving
//!   them. With one user such a value has a home, which may be the layout of that user.
//! * Everything else has a *home*. Values that an element-wise operation, a loop or an `if` ties
//!   together share one (`regions`).
//!
//! Which layout each home is, and in which each access, reduction, scan, gather and product runs, is one
//! partitioned boolean quadratic problem: `problem` states what flows where, `candidates` gives each
//! unit the layouts that it may take, `price` asks real plans what movements cost, times the rounds of
//! loops, and `pbqp` solves. `choose` iterates: it solves with lower bounds on prices, plans what was
//! chosen, and solves again, until every chosen price is that of a plan. Nothing here depends on a
//! layout's name: layouts of different families that hold the same elements in the same threads are
//! equal, and moving between layouts that differ by the order of registers costs nothing.
//!
//! `greedy` makes the choice that Triton's passes make, for comparison at the same prices (`spent`); `review`
//! says what the next best of each decision costs; `pins` are homes that the user fixes.
//!
//! Where the program gives the layouts of its tensors (TTGIR does), every home is the given one (`given`),
//! and nothing is chosen.

mod access;
mod anchors;
mod boxes;
mod buffers;
mod candidates;
mod carry;
mod choose;
mod classes;
mod encode;
mod folded;
mod given;
mod greedy;
mod home;
mod layouts;
mod near;
mod pbqp;
mod pins;
mod price;
mod problem;
mod product;
mod regions;
mod review;
mod shape;
mod spent;
mod trips;

pub use access::{AccessShape, Gap};
pub(crate) use boxes::{Boxes, Copied, boxes, copied, maps};
pub use choose::Total;
pub use encode::encode;
pub use home::{Buffers, Home};
pub use layouts::{LayoutId, Layouts, Plans, Task};
pub(crate) use near::readable_axes;
pub use pins::Pin;
pub use product::{
    Candidate, Matrix, Product, Warpgroup, candidates, multiplies_scaled, warpgroup_instruction,
};
pub use review::{Judged, Review};
pub use shape::{is_elementwise, is_shape_op, operand_layout, result_layout};
pub use spent::{Spent, spent};
pub use trips::Trips;

use crate::axis::AxisFacts;
use crate::budget::{Budget, Overrun};
use crate::id::IdMap;
use crate::tile::{Encoding, Kernel, Misplaced, Op, OpId, OpKind, Type, Value};
use std::sync::Arc;
use weft_layout::family::{Blocked, FamilyError};
use weft_layout::machine::Machine;
use weft_layout::{LayoutError, plan};

/// Why a value has its home.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Everything together costs least so.
    Cheapest,
    /// The program says it.
    Given,
}

/// Where each value of a kernel lives, and where its operations run.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Every layout that is mentioned.
    pub layouts: Layouts,
    /// The plans made while deciding.
    pub plans: Plans,
    home: IdMap<Value, Option<Home>>,
    given: IdMap<Value, Option<LayoutId>>,
    free: IdMap<Value, bool>,
    runs_in: IdMap<OpId, Option<LayoutId>>,
    source_in: IdMap<OpId, Option<LayoutId>>,
    ahead: IdMap<OpId, Vec<(Value, LayoutId)>>,
    products: IdMap<OpId, Option<Product>>,
    reason: Reason,
    total: Option<Total>,
}

impl Assignment {
    /// An assignment in which nothing is decided.
    fn empty(free: IdMap<Value, bool>, reason: Reason) -> Self {
        Self {
            layouts: Layouts::default(),
            plans: Plans::default(),
            home: IdMap::default(),
            given: IdMap::default(),
            free,
            runs_in: IdMap::default(),
            source_in: IdMap::default(),
            ahead: IdMap::default(),
            products: IdMap::default(),
            reason,
            total: None,
        }
    }
}

/// What the block of a kernel looks like, and the machine it runs on.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The machine that the block runs on.
    pub machine: &'a Machine,
    /// Warps in the block: a power of two.
    pub warps: u32,
    /// What a byte of shared memory costs, in hundredths of a cycle of the block, beside what is done in
    /// it: nothing, unless there is too little.
    pub shared_byte: u64,
    /// How much work may be done.
    pub budget: &'a Budget,
}

/// Decides every home: as the program says, where it does, else as costs least with what is pinned.
pub fn run(
    kernel: &Kernel,
    facts: &AxisFacts,
    block: Block<'_>,
    pins: &[Pin],
) -> Result<Assignment, AssignError> {
    settled(kernel, facts, block, pins).map(|(assignment, _)| assignment)
}

/// The same, with the pins under which the homes were chosen: those that are given, and the pointers that copies take
/// where memory says in which layout these run. Carried pointers would move there in each round.
fn settled(
    kernel: &Kernel,
    facts: &AxisFacts,
    block: Block<'_>,
    pins: &[Pin],
) -> Result<(Assignment, Vec<Pin>), AssignError> {
    let mut assignment = match (given::homes(kernel, block)?, pins.first()) {
        (Some(_), Some(pin)) => {
            return Err(AssignError::PinnedTwice {
                name: kernel.value_name(pin.value),
                other: "its type in the text".into(),
            });
        }
        (Some(assignment), None) => assignment,
        (None, _) => choose::run(kernel, facts, block, pins)?,
    };
    let mut all = pins.to_vec();
    for copy in buffers::place(kernel, facts, &mut assignment, block)? {
        let value = kernel.ops[copy].operands[0];
        let (home, place) = (assignment.registers(value), assignment.runs_in(copy));
        if let (Some(home), Some(place)) = (home, place)
            && home != place
        {
            all.push(Pin { value, layout: assignment.layouts.get(place).clone() });
        }
    }
    if all.len() == pins.len() {
        return Ok((assignment, all));
    }
    match choose::run(kernel, facts, block, &all) {
        Ok(mut again) => {
            buffers::place(kernel, facts, &mut again, block)?;
            Ok((again, all))
        }
        // Several copies, or the caller, want one pointer in several layouts.
        Err(AssignError::PinnedTwice { .. }) => Ok((assignment, pins.to_vec())),
        Err(error) => Err(error),
    }
}

/// What speaks for each decision; nothing where the program itself decides.
pub fn review(
    kernel: &Kernel,
    facts: &AxisFacts,
    block: Block<'_>,
    pins: &[Pin],
) -> Result<Option<Review>, AssignError> {
    match given::homes(kernel, block)? {
        Some(_) => Ok(None),
        None if block.machine.direct_copy_bytes().is_some() => {
            let (_, pins) = settled(kernel, facts, block, pins)?;
            review::run(kernel, facts, block, &pins).map(Some)
        }
        None => review::run(kernel, facts, block, pins).map(Some),
    }
}

/// Decides every home as Triton does, to be compared with: the heaviest anchor of a class wins, and
/// whoever needs another layout converts.
pub fn greedy(
    kernel: &Kernel,
    facts: &AxisFacts,
    block: Block<'_>,
) -> Result<Assignment, AssignError> {
    let mut assignment = match given::homes(kernel, block)? {
        Some(assignment) => assignment,
        None => greedy::run(kernel, facts, block)?,
    };
    buffers::place(kernel, facts, &mut assignment, block)?;
    Ok(assignment)
}

/// Why no layout could be found; never happens for a verified kernel within the machine's limits.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AssignError {
    /// The layout algebra refused.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A layout of a family could not be made.
    #[error(transparent)]
    Family(#[from] FamilyError),
    /// An access could not be counted.
    #[error(transparent)]
    Access(#[from] weft_layout::access::AccessError),
    /// A conversion could not be planned.
    #[error(transparent)]
    Plan(#[from] plan::PlanError),
    /// The program's own layout does not fit the block.
    #[error("{name} of type {ty}: {misplaced}")]
    Given {
        /// The name of the value.
        name: String,
        /// Its type.
        ty: String,
        /// What is wrong with its layout.
        misplaced: Box<Misplaced>,
    },
    /// The program gives layouts to some of its tensors only.
    #[error("{name} has no layout of its own, and other tensors of the program have one")]
    NotGiven {
        /// The name of the value.
        name: String,
    },
    /// A pin is on a value without a home.
    #[error(
        "{name} has no home that could be pinned: it is made wherever it is needed; pin one of {known}"
    )]
    Homeless {
        /// The name of the value.
        name: String,
        /// Values with homes, one for each home, with commas.
        known: String,
    },
    /// A product of numbers with scales has no instruction, and was not written as one of widened factors.
    #[error("{name} is a product of numbers with scales, and {machine} has no instruction for it")]
    NoScaled {
        /// The name of the value.
        name: String,
        /// The machine.
        machine: String,
    },
    /// A product of warpgroups has layouts that are not those of the instruction.
    #[error(
        "{name} is a product of warpgroups, but no such instruction leaves it in the layout of its type; \
         it would be `#ttg.nvidia_mma` of version 3"
    )]
    NoWarpgroup {
        /// The name of the value.
        name: String,
    },
    /// Matrix units cannot read a factor where the program says that it lies.
    #[error("{name} of type {ty} cannot be read by a product of warpgroups: {reason}")]
    NoOperand {
        /// The name of the factor.
        name: String,
        /// Its type.
        ty: String,
        /// What is in the way.
        reason: String,
    },
    /// No copies of boxes fill the buffers that blocks come to.
    #[error("{name} cannot be a tensor map: {reason}")]
    NoBox {
        /// The name of the descriptor.
        name: String,
        /// What is in the way.
        reason: String,
    },
    /// Two homes are asked for where there is one.
    #[error("{name} is pinned to another layout than {other}, with which it shares its home")]
    PinnedTwice {
        /// The name of the value.
        name: String,
        /// What says something else.
        other: String,
    },
    /// More shared memory is allocated than addresses reach.
    #[error("{name} takes {bytes} bytes of shared memory; a kernel may have {most}")]
    SharedMemory {
        /// The name of what is allocated.
        name: String,
        /// How many bytes it takes.
        bytes: u64,
        /// What all together may take.
        most: u64,
    },
    /// A loop or an `if` carries parts of buffers that begin at different places.
    #[error(
        "{name} is a part of a buffer that begins at another element from round to round or branch to \
         branch; carry the buffer, and take the part where it is used"
    )]
    CarriedPart {
        /// The name of what a loop carries.
        name: String,
    },
    /// Matrix units cannot read a buffer.
    #[error(transparent)]
    Operand(#[from] plan::operand::Refused),
    /// A plan does not fit the program.
    #[error(transparent)]
    Movement(#[from] crate::movement::Misfit),
    /// It takes more work than is allowed, or nobody wants it any more.
    #[error(transparent)]
    Overrun(#[from] Overrun),
}

impl From<weft_layout::SpaceError> for AssignError {
    fn from(error: weft_layout::SpaceError) -> Self {
        AssignError::Layout(error.into())
    }
}

impl Assignment {
    /// Where a value lives: scalars, free values and the results of shape operations have no home.
    pub fn home(&self, value: Value) -> Option<&Home> {
        self.home[value].as_ref()
    }

    /// The layout of the registers that a value lives in, if it does.
    pub fn registers(&self, value: Value) -> Option<LayoutId> {
        self.home(value)?.registers()
    }

    /// The shared memory that a value lives in; an error where it does not, which no verified program has.
    pub fn buffers(&self, value: Value) -> Result<&Arc<Buffers>, AssignError> {
        let buffers = self.home(value).and_then(Home::shared);
        buffers.ok_or(AssignError::Family(FamilyError::NoOffsets))
    }

    /// The type of a value, with the layout of the shared memory that it lives in, if it does.
    pub(crate) fn placed(&self, kernel: &Kernel, value: Value) -> Type {
        let ty = kernel.ty(value).clone();
        match self.home(value).and_then(Home::shared) {
            Some(buffers) => ty.with_encoding(Encoding::Shared(Arc::new(buffers.memory.clone()))),
            None => ty,
        }
    }

    /// Lets a value live in registers, or nowhere.
    fn set_registers(&mut self, value: Value, layout: Option<LayoutId>) {
        self.home.set(value, layout.map(Home::Registers));
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
        let mut at = value;
        // The operations between what has a place and the value, the value's own first.
        let mut path = Vec::new();
        let mut layout = loop {
            if let Some(known) = self.registers(at).or(self.given[at]) {
                break known;
            }
            let defining = definitions[at].filter(|_| !self.free[at]).map(|id| &kernel.ops[id]);
            // What is repeated may be spread over the threads instead.
            let renames = |op: &&Op| is_shape_op(&op.kind) && op.kind != OpKind::Broadcast;
            if let Some(op) = defining.filter(renames) {
                path.push((op, at));
                at = op.operands[0];
                continue;
            }
            // What is made again where it is needed lies where what it is made from does.
            let is_held = |value: &&Value| kernel.ty(**value).is_tensor() && !self.free[**value];
            let elementwise = defining.filter(|op| is_elementwise(&op.kind));
            if let Some(&held) = elementwise.and_then(|op| op.operands.iter().find(is_held)) {
                at = held;
                continue;
            }
            let shape = &kernel.ty(at).shape;
            let ones = vec![1; shape.len()];
            let order: Vec<usize> = (0..shape.len()).rev().collect();
            let (lanes, warps) = (block.machine.lanes().into(), block.warps.into());
            let blocked = Blocked::for_memory(shape, &ones, &order, lanes, warps)?;
            break self.layouts.intern(blocked.layout(shape)?);
        };
        for (op, result) in path.into_iter().rev() {
            let shape = &kernel.ty(result).shape;
            let above = result_layout(&op.kind, self.layouts.get(layout), shape)?;
            layout = self.layouts.intern(above);
        }
        Ok(layout)
    }

    /// Decides where asynchronous copies run whose pointers are made again where they are needed.
    pub(crate) fn settle_copies(
        &mut self,
        kernel: &Kernel,
        block: Block<'_>,
    ) -> Result<(), AssignError> {
        let definitions = kernel.definitions();
        for (id, op) in kernel.ops.iter() {
            let OpKind::AsyncCopy(step) = op.kind else { continue };
            let Some(begun) = step.begun(&op.operands) else { continue };
            if self.runs_in[id].is_none() && self.given[begun.pointers].is_none() {
                let place = self.anywhere(kernel, &definitions, block, begun.pointers)?;
                self.runs_in.set(id, Some(place));
            }
        }
        Ok(())
    }

    /// Whether a value is computed wherever it is needed.
    pub fn is_free(&self, value: Value) -> bool {
        self.free[value]
    }

    /// The layout in which an access to memory, a reduction, a scan, a gather, a histogram or a matrix
    /// product runs: that of its operands, of a gather's indices, of a product's sum.
    pub fn runs_in(&self, op: OpId) -> Option<LayoutId> {
        self.runs_in[op]
    }

    /// How a matrix product is computed: by multiply-adds where nothing was decided.
    pub fn product(&self, op: OpId) -> &Product {
        self.products[op].as_ref().unwrap_or(&Product::Multiply)
    }

    /// The layout in which a gather takes its source.
    pub fn source_in(&self, op: OpId) -> Option<LayoutId> {
        self.source_in[op]
    }

    /// What moves before a loop, because its rounds need it: values and the layouts that they move to.
    pub fn ahead(&self, op: OpId) -> &[(Value, LayoutId)] {
        &self.ahead[op]
    }

    /// What all movements, accesses and arithmetic that depend on homes cost, and what no choice goes
    /// below; nothing where nothing was chosen.
    pub fn total(&self) -> Option<Total> {
        self.total
    }

    /// Why values have their homes.
    pub fn reason(&self) -> Reason {
        self.reason
    }
}
#[cfg(test)]
mod tests;
