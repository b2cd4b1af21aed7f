//! How much work may be done for one request, and whether it is still wanted.
//!
//! Callers give a [`Budget`], which is checked at the heads of the loops that take time and memory. There is
//! no clock here: a caller that has one, or that learns that nobody waits any more, sets the [`Stop`].
//!
//! ```
//! use weft::budget::{Budget, Overrun};
//!
//! let budget = Budget::default();
//! assert_eq!(budget.check(), Ok(()));
//! budget.stop.set();
//! assert_eq!(budget.check(), Err(Overrun::Stopped));
//! ```

use crate::location::Loc;
use core::fmt;
pub use weft_layout::stop::Stop;

/// Limits of the work for one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most elements of one tensor for each thread of a block.
    pub elements: u64,
    /// The most operations that one thread's program may have before the passes over it.
    pub operations: u64,
    /// The most bytes of a text that is printed. Of a text that is read, too, where these are more than 64 MiB, which
    /// are read in any case.
    pub text_bytes: u64,
    /// The most warp instructions that a simulation may run.
    pub instructions: u64,
    /// The most bytes that a run holds: its buffers in all their copies, and what the reference evaluator or
    /// the simulator keeps.
    pub memory_bytes: u64,
    /// The most milliseconds. Nothing here has a clock: whoever has one sets the [`Stop`] then.
    pub milliseconds: u64,
}

impl Default for Limits {
    /// Far above what a GPU is good for: a thread has 255 registers, and its code is a few thousand
    /// operations long. There is no limit of time.
    fn default() -> Self {
        Self {
            elements: 1 << 12,
            operations: 1 << 18,
            text_bytes: 1 << 26,
            instructions: 1 << 32,
            memory_bytes: 1 << 30,
            milliseconds: u64::MAX,
        }
    }
}

/// One of the [`Limits`], by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The limit [`Limits::elements`].
    Elements,
    /// The limit [`Limits::operations`].
    Operations,
    /// The limit [`Limits::text_bytes`].
    TextBytes,
    /// The limit [`Limits::instructions`].
    Instructions,
    /// The limit [`Limits::memory_bytes`].
    MemoryBytes,
}

impl Limit {
    /// The name under which it is raised.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Elements => "elements",
            Limit::Operations => "operations",
            Limit::TextBytes => "text_bytes",
            Limit::Instructions => "instructions",
            Limit::MemoryBytes => "memory_bytes",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Elements => "elements of a tensor for each thread",
            Limit::Operations => "operations for each thread",
            Limit::TextBytes => "bytes of text",
            Limit::Instructions => "simulated warp instructions",
            Limit::MemoryBytes => "bytes of memory",
        })
    }
}

/// Why work was given up.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Overrun {
    /// Nobody wants it any more.
    #[error("it was stopped")]
    Stopped,
    /// It would take more than is allowed.
    #[error("{what} has more than {most} {limit}")]
    Limit {
        /// The limit that was met.
        limit: Limit,
        /// What is too large.
        what: String,
        /// How much it allows.
        most: u64,
        /// The place in the source where it was met.
        loc: Loc,
    },
}

/// How far something is written.
///
/// Whoever writes asks at every operation, and leaves out the rest once they are reached; what is then
/// written is nothing to look at. So the loops around need no way out of their own.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Whether it shall end.
    pub stop: Stop,
    /// The most that is written: operations, or bytes.
    pub most: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { stop: Stop::default(), most: u64::MAX }
    }
}

impl Bounds {
    /// Bounds that only the stop sets.
    pub fn until(stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..Self::default() }
    }

    /// Whether no more is to be written behind so much.
    pub fn are_reached(&self, written: usize) -> bool {
        self.stop.is_set() || written as u64 > self.most
    }
}

/// Limits, and whether the work is still wanted.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// How much work may be done.
    pub limits: Limits,
    /// Whether it shall end.
    pub stop: Stop,
}

impl Budget {
    /// An error where the work shall end.
    pub fn check(&self) -> Result<(), Overrun> {
        if self.stop.is_set() { Err(Overrun::Stopped) } else { Ok(()) }
    }
}
