//! Small passes over the lane program.
//!
//! Each keeps the program's meaning, and asks the table of effects ([`crate::lane::effects`]) what an operation
//! does to memory, control and other threads. In the order of [`PASSES`]:
//!
//! * [`expand`] writes the program anew through the builder, which folds constants and shares equal
//!   operations, and turns each F2-linear map into shifts and masks; narrow numbers that only
//!   move from load to store are loaded and stored as words; a multiplication for the low half of a product
//!   and one for the high half become one;
//! * [`sweep`] removes dead code;
//! * [`mod@derive`] lets a loop carry one of several values that differ by constants;
//! * [`hoist`] moves loop-invariant operations out of loops, and adds up there what rounds add in steps;
//! * [`distances`] lets a loop carry how far the pointers of its asynchronous copies have come;
//! * [`unswitch`] writes short loops a second time without the predicates of loads that no round changes;
//! * [`expand`] and [`sweep`] run again, on what these made equal or dead; remainders whose quotients nothing else uses
//!   are operations of their own;
//! * [`sink`] moves loads from shared memory and conversions to wider numbers down to their first use, and the
//!   steps of a loop to its end, so that fewer registers are live, and what awaits global memory behind roots and
//!   divisions that do not need it;
//! * [`order`] puts operations in an order in which fewer registers are live, where those of the source do not fit;
//! * [`guards`] asks the predicates of many accesses at once;
//! * [`merge_barriers`] merges the barriers of two movements through scratch memory;
//! * [`reload`] loads again in each round of a loop what registers cannot keep through it;
//! * [`double_buffer`] double-buffers scratch memory in loops;
//! * [`barriers`] puts a barrier where scratch memory is written again after reads;
//! * [`redundant_barriers`] removes barriers that order nothing;
//! * [`pack`] reuses shared memory that is no longer needed, behind an extra barrier where that lets more blocks
//!   run;
//! * [`waits`] counts the copies that may be under way at a wait, on machines that know no groups of them;
//! * [`turns`] lets two warpgroups take turns at the matrix units.
//!
//! Each checks for cancellation at least once for every list of operations, and at every operation where it does
//! more than look at it.
//!
//! [`ordered`] changes nothing: it says what each remaining barrier is for. Nor does [`abreast`], by which printers ask
//! for how many blocks there must be room. [`order::sparing`] and [`park::parked`]
//! change a finished program for callers that have asked an assembler how many registers it takes.

pub mod abreast;
pub mod double_buffer;
pub mod barriers;
pub mod derive;
pub mod distances;
pub mod expand;
pub mod guards;
mod halves;
pub mod hoist;
pub mod redundant_barriers;
pub mod merge_barriers;
pub mod order;
pub mod ordered;
pub mod pack;
pub mod park;
mod pieces;
mod rests;
pub(crate) mod registers;
pub mod reload;
pub mod sink;
pub mod sweep;
pub mod turns;
pub mod unswitch;
pub mod waits;
mod words;

use crate::budget::Stop;
use crate::lane::Program;

/// A pass: its name and what it does.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The name, as `--dump-after` takes it.
    pub name: &'static str,
    /// The pass. One that is stopped comes to its end soon: what it then gives may be no program, and whoever
    /// stopped it does not look at it.
    pub run: fn(Program, &Stop) -> Program,
}

/// What all passes make of a program.
pub fn run(program: Program) -> Program {
    PASSES.iter().fold(program, |program, pass| (pass.run)(program, &Stop::default()))
}

/// Every pass, in the order in which they run.
pub const PASSES: [Pass; 19] = [
    Pass { name: "expand", run: expand::run_until },
    Pass { name: "trim", run: sweep::run_until },
    Pass { name: "derive", run: derive::run_until },
    Pass { name: "hoist", run: hoist::run_until },
    Pass { name: "distances", run: distances::run_until },
    Pass { name: "unswitch", run: unswitch::run_until },
    Pass { name: "share", run: expand::share_until },
    Pass { name: "sweep", run: sweep::run_until },
    Pass { name: "sink", run: sink::run_until },
    Pass { name: "order", run: order::run_until },
    Pass { name: "guards", run: guards::run_until },
    Pass { name: "merge_barriers", run: merge_barriers::run_until },
    Pass { name: "reload", run: reload::run_until },
    Pass { name: "double_buffer", run: double_buffer::run_until },
    Pass { name: "barriers", run: barriers::run_until },
    Pass { name: "redundant_barriers", run: redundant_barriers::run_until },
    Pass { name: "pack", run: pack::run_until },
    Pass { name: "waits", run: waits::run_until },
    Pass { name: "turns", run: turns::run_until },
];

#[cfg(test)]
mod tests;
