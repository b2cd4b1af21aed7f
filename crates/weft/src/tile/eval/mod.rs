//! The reference evaluator: what a tile program computes, from the definitions alone.
//!
//! It knows no layouts, no threads and no lowering. A value is the list of its elements' raw bits in
//! row-major order, an operation is the loop that its definition in [`tile`](super) describes, and a
//! launch is its instances taking turns. Whatever a compiled program computes is held against this.
//!
//! # What is chosen where the definition leaves a choice
//!
//! * **Reductions** fold a balanced tree over the bits of the index, bit 0 first: eight elements
//!   become `((x0∘x1)∘(x2∘x3))∘((x4∘x5)∘(x6∘x7))`, the element of the lower index always on the left.
//!   A compiled program folds in the order of its layouts, so that a float sum may differ from this
//!   one by rounding.
//! * **Scans** fold one element after the other, what was folded so far on the left.
//! * **Matrix products** start from `c` and go through `k` upward, `acc = fma(a, b, acc)` in the type
//!   of `c`, to which `a` and `b` are first converted exactly. Tensor cores group differently.
//!   Of numbers with scales each is the exact product of both.
//! * **Stores** of one operation are done in row-major order: where two elements have one address, the
//!   later one stays. **Atomics** happen element by element in that order.
//! * **Masked-off** elements of an atomic, elements of a load outside of memory, what a `gather` finds
//!   outside of its axis, and `poison` are zero.
//! * A **truth value** in memory is the low bit of its byte.
//! * **Prints** go through their operands, and through the elements of each in row-major order. An
//!   **assertion** that does not hold is reported, and the run goes on.
//!
//! Beside each element goes a bound: how far a compiled program's may be from it, given these choices and
//! the operations that GPUs compute approximately ([`bounds`]). [`compare`] holds two buffers to the
//! bounds of what was stored ([`Report::bounds`]).
//!
//! # Instances that wait for one another
//!
//! Every instance is a machine of its own: a stack of frames over the structured regions, which can
//! be left and resumed at every loop's back edge. Instances run in turns, in order of their index, the
//! x axis fastest; in its turn an instance runs until it takes a back edge or ends. So a spin lock is
//! released by its holder while the others spin. When a state of all instances comes back without a
//! change of memory in between, nothing will ever change: a deadlock, reported with the loops.
//!
//! Only some instances are resident at a time, as on a GPU, because each holds its tensors; but when
//! the residents only wait, further ones are started, so that a deadlock is one of the whole grid.

mod access;
pub mod bounds;
mod compare;
mod descriptor;
mod dot;
mod scaled;
mod elements;
mod instance;
mod local;
mod phases;
mod pure;
mod reduction;
mod report;
mod scan;
mod schedule;
mod sums;
#[cfg(test)]
mod tests;
mod world;

pub use bounds::{BufferBounds, MemoryBounds};
pub use compare::{Agreement, Mismatch, compare};
pub use local::LocalFault;
pub use sums::{Sum, Sums};

use super::{Kernel, OpId, Value};
use crate::budget::Stop;
use crate::format::Printed;
use crate::location::Loc;
use crate::memory::{Memory, OutOfRange};
use crate::scalar::Undefined;

/// The most elements that a tensor may have here.
pub const MAX_ELEMENTS: u64 = 1 << 24;

/// How a run is bounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How many operations all instances together may execute; one on a tensor counts as one.
    pub max_steps: u64,
    /// How many bytes the values of all instances that run may take.
    pub max_bytes: u64,
    /// Whether bounds leave room for a product that is fused with the sum that takes it: so that they
    /// hold of the program that [`fuse`](crate::fuse) makes of this one, too.
    pub contraction: bool,
}

impl Default for Options {
    /// A hundred million operations, of the program as it is.
    fn default() -> Self {
        Self { max_steps: 100_000_000, max_bytes: u64::MAX, contraction: false }
    }
}

/// What a finished run has to tell, besides the memory it left.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// The program's faults that did not end the run: one entry for each faulty operation, in order of
    /// first occurrence.
    pub findings: Vec<Finding>,
    /// The operations of the text whose results Triton IR leaves open for operands that they had, in the
    /// same form. What was computed there is what Weft's programs compute.
    pub undefined: Vec<Finding>,
    /// The assertions that did not hold; the run went on.
    pub failures: Vec<Failure>,
    /// How far a compiled program's memory may be from the one that was left.
    pub bounds: MemoryBounds,
    /// The float sums of atomics that stand in memory at the end.
    pub sums: Sums,
    /// The lines that were printed.
    pub printed: Printed,
    /// How many operations were executed.
    pub steps: u64,
    /// How many instances ran.
    pub instances: u64,
}

/// An assertion that did not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The operation that asserts it.
    pub op: OpId,
    /// What was said to hold.
    pub message: String,
    /// Where it came from.
    pub loc: Loc,
    /// The first instance: its index along each grid axis.
    pub instance: [u32; 3],
    /// Its first element that is false, in row-major order.
    pub element: u64,
    /// How many elements were false, over all instances.
    pub count: u64,
}

/// An operation that did what it must not. Loads and atomics outside of memory gave zero, and nothing was
/// written there.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The operation that did it.
    pub op: OpId,
    /// The name of the operation.
    pub name: String,
    /// Where it came from.
    pub loc: Loc,
    /// The instance that did it first: its index along each grid axis.
    pub instance: [u32; 3],
    /// Which element of the operation did it first, in row-major order.
    pub element: u64,
    /// What was wrong first.
    pub fault: Fault,
    /// How many elements of this operation were wrong, over all instances.
    pub count: u64,
}

/// What is wrong with an element.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// It is outside of global memory.
    Outside(OutOfRange),
    /// It is written to a buffer that may only be read.
    ReadOnly {
        /// The name of the buffer.
        buffer: String,
        /// The first byte of the element in the buffer.
        offset: usize,
    },
    /// It is one of shared memory.
    Local(LocalFault),
    /// It is computed from operands that the operation has no meaning for.
    Undefined(Undefined),
}

impl core::fmt::Display for Finding {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { op: _, name, loc: _, instance: [x, y, z], element, fault, count } = self;
        match fault {
            Fault::Outside(access) => write!(f, "{name} outside of memory: {access}")?,
            Fault::ReadOnly { buffer, offset } => {
                write!(f, "{name} to byte {offset} of `{buffer}`, which is read-only")?;
            }
            Fault::Undefined(undefined) => write!(f, "{name} {undefined}")?,
            Fault::Local(LocalFault::Unwritten) => {
                write!(f, "{name} of shared memory that nothing has written")?;
            }
            Fault::Local(LocalFault::InFlight) => {
                write!(f, "{name} of shared memory to which an asynchronous copy is under way")?;
            }
            Fault::Local(LocalFault::Outside) => {
                write!(f, "{name} of a buffer of shared memory that does not exist")?;
            }
        }
        write!(f, " (element {element} of instance {x},{y},{z}")?;
        match count {
            1 => f.write_str(")"),
            _ => {
                let what = if let Fault::Undefined(_) = fault { "elements" } else { "accesses" };
                write!(f, ", the first of {count} {what})")
            }
        }
    }
}

/// Why a run did not come to its end.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EvalError {
    /// The arguments do not fit the kernel.
    #[error("the kernel has {expected} arguments, but {given} were given")]
    Arguments {
        /// How many parameters the kernel has.
        expected: usize,
        /// How many arguments were given.
        given: usize,
    },
    /// A tensor is too large to be held element by element.
    #[error("{name} of type {ty} has more than {MAX_ELEMENTS} elements")]
    TooLarge {
        /// The value that is the tensor.
        value: Value,
        /// The name of the value, with its `%`.
        name: String,
        /// The type of the tensor, as it prints.
        ty: String,
    },
    /// The program breaks a rule of its form, which a verified program does not.
    #[error("{op}: {reason}")]
    Malformed {
        /// The name of the operation.
        op: String,
        /// Where it came from.
        loc: Loc,
        /// The rule, in words.
        reason: String,
    },
    /// Every instance that is left waits in a loop, and nothing changes any more.
    #[error("deadlock: {}", describe(.waiting))]
    Deadlock {
        /// The loops, in order of the first instance that waits in each.
        waiting: Vec<Waiting>,
    },
    /// The run took more operations than it was given.
    #[error("the run was ended after {limit} operations, in {op}")]
    StepLimit {
        /// How many operations it was given.
        limit: u64,
        /// The name of the operation that would have been next.
        op: String,
        /// Where it came from.
        loc: Loc,
    },
    /// The run would hold more memory than it may.
    #[error("the run takes more than {limit} bytes of memory, in {op}")]
    Memory {
        /// How many bytes it may hold: [`Options::max_bytes`].
        limit: u64,
        /// The name of the operation that would have been next.
        op: String,
        /// Where it came from.
        loc: Loc,
    },
    /// Nobody wants the result any more.
    #[error("the run was stopped")]
    Stopped,
}

/// A loop in which instances wait for what never happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The loop, `for` or `while`: of several nested ones, the outermost that goes round.
    pub op: OpId,
    /// Where it came from.
    pub loc: Loc,
    /// The first instance that waits there.
    pub instance: [u32; 3],
    /// How many wait there.
    pub instances: u64,
}

fn describe(waiting: &[Waiting]) -> String {
    let instances: u64 = waiting.iter().map(|waiting| waiting.instances).sum();
    let [x, y, z] = waiting.first().map_or([0; 3], |waiting| waiting.instance);
    match instances {
        1 => format!("instance {x},{y},{z} goes round a loop in which nothing changes any more"),
        _ => format!(
            "{instances} instances (the first is {x},{y},{z}) go round loops in which nothing \
             changes any more"
        ),
    }
}

impl EvalError {
    /// The place in the user's source that the error is about, if it is about one.
    pub fn loc(&self) -> Option<Loc> {
        match self {
            EvalError::Arguments { .. } | EvalError::TooLarge { .. } | EvalError::Stopped => None,
            EvalError::Malformed { loc, .. }
            | EvalError::StepLimit { loc, .. }
            | EvalError::Memory { loc, .. } => Some(*loc),
            EvalError::Deadlock { waiting } => waiting.first().map(|waiting| waiting.loc),
        }
    }
}

/// Runs every instance of `grid` to its end.
///
/// `args` are the raw bits of the kernel's arguments, pointers as addresses of `memory`, which holds
/// the results afterwards (and what was written until then after an error).
pub fn run(
    kernel: &Kernel,
    grid: [u32; 3],
    args: &[u64],
    memory: &mut Memory,
    options: Options,
) -> Result<Report, EvalError> {
    run_until(kernel, grid, args, memory, options, &Stop::default())
}

/// As [`run`], until that is set.
pub fn run_until(
    kernel: &Kernel,
    grid: [u32; 3],
    args: &[u64],
    memory: &mut Memory,
    options: Options,
    stop: &Stop,
) -> Result<Report, EvalError> {
    schedule::run(kernel, grid, args, memory, options, stop)
}
