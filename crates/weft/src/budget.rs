//! How much work may be done for one request, and whether it is still wanted.
//!
//! A [`Budget`] is given from above and asked at the heads of the loops in which time and memory go. There
//! is no clock here: whoever has one, or hears that nobody waits any more, sets the [`Stop`].
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
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Limits of the work for one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most elements of one tensor for each thread of a block.
    pub elements: u64,
    /// The most operations that one thread's program may have before the passes over it.
    pub operations: u64,
    /// The most bytes of a text that is printed.
    pub text_bytes: u64,
    /// The most warp instructions that a simulation may run.
    pub instructions: u64,
}

impl Default for Limits {
    /// Far above what a GPU is good for: a thread has 255 registers, and its code is a few thousand
    /// operations long.
    fn default() -> Self {
        Self { elements: 1 << 12, operations: 1 << 18, text_bytes: 1 << 26, instructions: 1 << 32 }
    }
}

/// One of [`Limits`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// [`Limits::elements`].
    Elements,
    /// [`Limits::operations`].
    Operations,
    /// [`Limits::text_bytes`].
    TextBytes,
}

impl Limit {
    /// The name under which it is raised.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Elements => "elements",
            Limit::Operations => "operations",
            Limit::TextBytes => "text_bytes",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Elements => "elements of a tensor for each thread",
            Limit::Operations => "operations for each thread",
            Limit::TextBytes => "bytes of text",
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
        /// Which limit.
        limit: Limit,
        /// What is too large.
        what: String,
        /// The limit's value.
        most: u64,
        /// The place in the source where it was met.
        loc: Loc,
    },
}

/// A flag that is set from another thread; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Has the work end at the next loop that asks.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work shall end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
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
