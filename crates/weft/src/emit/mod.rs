//! Printers: one lane program, three texts, the same meaning.
//!
//! A printer takes a verified [`Program`](crate::lane::Program) and a target, and gives the text or the
//! first thing that it cannot say there. What the operations mean is written once, in
//! [`lane`](crate::lane) and [`scalar`](crate::scalar); a printer explains only how its language is
//! made to say it. Printers know nothing of tiles, layouts or plans.

mod comment;
mod copies;
mod truth;
mod c;
#[cfg(test)]
mod tests;

pub mod ptx;
pub mod cuda;
pub mod hip;

use crate::location::Loc;
use thiserror::Error;

/// An operation that a printer cannot express for a target.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{target} has no `{operation}`: {reason}")]
pub struct Unsupported {
    /// The operation with its types, as the lane text spells them.
    pub operation: String,
    /// The target's name.
    pub target: &'static str,
    /// What is missing, and what would be possible instead.
    pub reason: String,
    /// Where the operation came from.
    pub loc: Loc,
}
