//! Copies past the registers in PTX, which CUDA's text has as assembly.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use crate::lane::AsyncCopy;

/// How a step of asynchronous copies is written.
pub(super) enum Step {
    /// An instruction with a place in shared memory, a place in global memory, and how many bytes are copied; perhaps
    /// also how many of these are read, the others being zeros.
    Copy {
        name: String,
        bytes: u32,
        /// Added to the place in shared memory.
        offset: i32,
    },
    /// An instruction that is all of it.
    Whole(String),
}

/// The instruction for a step.
pub(super) fn step(op: AsyncCopy) -> Step {
    match op {
        AsyncCopy::Begin { bytes, offset, run: _, predicated: _, filled: _ } => {
            // Only whole lines of 16 bytes may pass by the first cache.
            let operator = if bytes == 16 { "cg" } else { "ca" };
            Step::Copy { name: format!("cp.async.{operator}.shared.global"), bytes, offset }
        }
        AsyncCopy::Commit => Step::Whole("cp.async.commit_group".into()),
        AsyncCopy::Wait { pending, copies: _ } => {
            Step::Whole(format!("cp.async.wait_group {pending}"))
        }
    }
}
