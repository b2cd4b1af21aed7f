//! Small passes over the lane program.
//!
//! Each keeps the program's meaning, and asks the table of effects ([`crate::lane::effects`]) what an operation
//! does to memory, control and other threads. In the order of [`PASSES`]:
//!
//! * [`expand`] writes the program anew through the builder, which folds constants and shares equal
//!   operations, and turns each F2-linear map into shifts and masks; narrow numbers that only
//!   move from load to store are loaded and stored as words; products of which both halves are used
//!   are one product;
//! * [`sweep`] removes what nobody uses;
//! * [`mod@derive`] lets loops carry one value for all that differ from it by constants;
//! * [`hoist`] takes out of loops what does not change in them;
//! * [`expand`] and [`sweep`] again share and remove what that brought together;
//! * [`sink`] lets loads from shared memory wait for their first use, and steps of a loop for its end, so that fewer
//!   registers live;
//! * [`meet`] lets two movements through scratch memory wait at one barrier;
//! * [`alternate`] gives scratch memory two halves that the rounds of a loop use by turns;
//! * [`barriers`] puts a barrier where scratch memory is written again after reads;
//! * [`idle`] removes barriers that order nothing;
//! * [`pack`] lets shared memory that is no longer needed be used again, behind a barrier of its own where that
//!   lets more blocks run.
//!
//! What takes time that grows faster than the program, or a microsecond an operation, asks on its way whether
//! the program is still wanted; the others are done within a tenth of a second at any size that is allowed.
//!
//! [`ordered`] changes nothing: it says what each barrier that is left is there for.

pub mod alternate;
pub mod barriers;
pub mod derive;
pub mod expand;
mod halves;
pub mod hoist;
pub mod idle;
pub mod meet;
pub mod ordered;
pub mod pack;
mod pieces;
pub mod sink;
pub mod sweep;
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
pub const PASSES: [Pass; 12] = [
    Pass { name: "expand", run: expand::run_until },
    Pass { name: "trim", run: sweep::run_until },
    Pass { name: "derive", run: |program, _| derive::run(program) },
    Pass { name: "hoist", run: |program, _| hoist::run(program) },
    Pass { name: "share", run: expand::run_until },
    Pass { name: "sweep", run: sweep::run_until },
    Pass { name: "sink", run: |program, _| sink::run(program) },
    Pass { name: "meet", run: meet::run_until },
    Pass { name: "alternate", run: alternate::run_until },
    Pass { name: "barriers", run: |program, _| barriers::run(program) },
    Pass { name: "idle", run: |program, _| idle::run(program) },
    Pass { name: "pack", run: |program, _| pack::run(program) },
];

#[cfg(test)]
mod tests;
