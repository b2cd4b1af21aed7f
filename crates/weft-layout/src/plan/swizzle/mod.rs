//! Swizzles: where in shared memory each element goes, so that every access of it moves whole
//! vectors without bank conflicts.
//!
//! An offset is cut into a vector part, a bank part and a segment part (one segment is one row over
//! all banks).
//! What an access costs depends on a few subspaces of the tensor alone: the span `S` of the elements
//! at the segment bits, the span of those inside one word, and that of each vector.
//! So a swizzle is a choice of subspaces, and the matrix is written down afterwards.
//!
//! [`solve`] takes any number of weighted accesses, each by vectors or by matrix moves, and returns a
//! memory layout with a lower bound; [`check`] recomputes both from the definition and shares nothing with the solver.
//! [`portable`] asks the same of several machines at once, [`best_of`] of a few memory layouts.
//! [`swizzle()`] is the construction of section 9.2 of the paper for one writer and one reader, fast
//! enough for the planner; [`Replay`] has its seven steps one by one.

mod among;
mod bound;
mod check;
mod demand;
mod forms;
mod frame;
mod meter;
mod pair;
mod portable;
mod problem;
mod replay;
mod search;
mod segments;
mod task;
mod vectors;
mod verdict;

pub use among::best_of;
pub use check::check;
pub use meter::{Meter, Move};
pub(super) use pair::{Arranged, Phases, arrange, fill_word, phase, vector_part};
pub use pair::{Preference, Side, Swizzle, swizzle};
pub use portable::{Portability, Portable, portable};
pub use problem::{Access, Certificate, Fixed, Problem, Solved, SwizzleError, Use};
pub use replay::{Replay, replay};
pub use search::solve;
pub use verdict::{CheckError, Verdict};
