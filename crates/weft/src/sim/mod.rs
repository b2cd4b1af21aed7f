//! The simulator: runs a lane program over a whole grid, lane by lane, and counts from addresses.
//!
//! Given a program, arguments and buffers, [`run`] computes what every thread computes, and tells
//!
//! * what it cost: instructions, sectors of global memory, wavefronts of shared memory, each counted
//!   by brute force from the addresses of every warp instruction (the rules: `count`);
//! * what was wrong with it: races, accesses outside memory, reads of what nobody wrote, deadlocks,
//!   lanes that diverge where they must not. Each [`Finding`] names the operation and the threads.
//!
//! The meaning of a lane program is in [`crate::lane`]; the simulator adds nothing to it. It sees no
//! layouts, plans or costs, so that it can disagree with the planner that made the program.
//!
//! # How it runs
//!
//! The program becomes flat code (`program`); each warp is a machine of its own with a position, a
//! mask of active lanes and registers (`warp`). Warps take turns (`schedule`): one runs until it
//! waits at a barrier, ends, or has gone round a loop often enough, then the next one runs, and so on
//! over the resident blocks, always in the same order, so that a run gives the same report every time.
//!
//! # What is a race
//!
//! Two accesses to a byte by different threads, at least one a write, that nothing orders: no barrier
//! between them, and no release by the one seen by an acquire of the other (`clock`, `shadow`). It does
//! not matter in which order the simulator happened to run them. Two atomics never race, unless they
//! are of different blocks and one is atomic only among its own block; volatile accesses count as
//! relaxed atomics.
//!
//! Stores of one value to one byte of global memory leave the same bytes in any order. Whether lanes of one
//! instruction do so or blocks of the grid, that is no race but a note ([`Report::notes`]), unless
//! [`Options::equal_stores`] makes it one. A read that nothing orders with one of them races with it, except
//! by lanes that stored together. In shared memory, which the compiler fills, only lanes of one instruction
//! may store the same.
//!
//! # Products in flight
//!
//! A product of a warpgroup reads its factors through another proxy, at any time between its operation and the
//! wait of each warp. Findings are: bytes that were written through the generic proxy with no fence between
//! proxies on the way (`proxies`), that nothing wrote, or that are written before the wait, or after it by a
//! warp that nothing orders behind it; warps of a warpgroup that do not take the same steps with the same
//! operands (`products`). [`Options::timing`] says when the factors are read.
//!
//! # Bulk copies
//!
//! A bulk copy moves its bytes at any time until its mbarrier's phase is over, or its group was waited for
//! ([`Options::timing`]). Findings, whenever it does: bytes that are touched by a thread that has not waited, or
//! that the copy touches while others may (`transfers`); no fence between proxies after an access through the generic one; an
//! mbarrier that nobody initialised, or whose phases do not add up (`phases`); a block that ends with a copy
//! under way.
//!
//! # Deadlock
//!
//! When in a whole turn over the warps no byte of memory changed, nobody ended and every warp that
//! ran came back to the same place with the same carried values, or when over any number of turns
//! without a change all warps and all shared memory come back to what they were before (`watch`), then
//! the run can make no more progress: that is reported, with the places where warps wait. A loop
//! whose state keeps changing is ended by [`Options::max_steps`].
//!
//! # Limits
//!
//! * Blocks have at most 32 warps, warps at most 64 lanes.
//! * An acquire or release by one lane counts for its whole warp; so does an arrival at an mbarrier or a wait there,
//!   while a fence between proxies counts where all lanes pass it.
//! * Groups of bulk copies belong to a warp, as if one lane issued all of them.
//! * Beside a byte's newest accesses at most 16 unordered older ones are remembered (`shadow`), so
//!   that a race with one of very many earlier readers may go unreported. What is reported is a race.
//! * Whether a condition is the same in all warps of a block is not checked by itself; warps that
//!   differ meet at different barriers, or wait for each other for ever, and that is reported.
//!
//! ```
//! use weft::dtype::DType;
//! use weft::lane::{Access, Builder, IdKind, Param, Space};
//! use weft::memory::{Buffer, Memory};
//! use weft::scalar::{Binary, Cast};
//! use weft::sim::{self, Launch, Machine, Options};
//!
//! // Every thread of two blocks stores its number.
//! let mut build = Builder::new("iota", 1, 5);
//! let out = build.param(Param {
//!     name: "out".into(),
//!     dtype: DType::I64,
//!     pointee: Some(DType::I32),
//!     divisibility: 16,
//! });
//! let (block, lane) = (build.id(IdKind::Block(0)), build.id(IdKind::Lane));
//! let lanes = build.i32(32);
//! let base = build.binary(Binary::Mul, block, lanes);
//! let index = build.binary(Binary::Add, base, lane);
//! let four = build.i32(4);
//! let offset = build.binary(Binary::Mul, index, four);
//! let offset = build.cast(Cast::ExtU, offset, DType::I64);
//! let address = build.binary(Binary::Add, out, offset);
//! build.store(Space::Global, Access::default(), address, None, &[index]);
//! let program = build.finish();
//!
//! let mut memory = Memory::default();
//! let bytes = vec![0; 256];
//! let buffer = Buffer { name: "out".into(), bytes, dtype: DType::I32, initialised: false };
//! let address = memory.push(buffer);
//! let machine = Machine::nvidia();
//! let launch = Launch {
//!     program: &program,
//!     grid: [2, 1, 1],
//!     args: &[address],
//!     machine: &machine,
//!     options: Options::default(),
//! };
//! let report = sim::run(&launch, &mut memory).unwrap();
//! assert!(report.is_clean());
//! assert_eq!((report.global.sectors, report.global.ideal_sectors), (8, 8));
//! assert_eq!(memory.read(address + 4 * 63, 4), Ok(63));
//! ```

mod act;
mod clock;
mod compute;
mod count;
#[cfg(test)]
mod fuzz;
mod machine;
mod memory_access;
mod multiply;
mod scaled;
mod program;
mod report;
mod room;
mod rows;
mod schedule;
mod shadow;
#[cfg(test)]
mod tests;
mod warp;
mod warpgroup;
mod watch;

pub use machine::{Machine, Phases};
pub use report::{
    AccessCount, AccessKind, Actor, Finding, FindingKind, GlobalTraffic, Report, SharedTraffic,
};

use crate::lane::{self, Program};
use crate::location::Loc;
use crate::memory::Memory;
use core::ops::ControlFlow;
use schedule::Ended;
use thiserror::Error;

/// What to run, and on what.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The program that each thread runs.
    pub program: &'a Program,
    /// Blocks along each grid axis.
    pub grid: [u32; 3],
    /// The arguments' raw bits, in the order of the program's parameters; a pointer is an address in
    /// the run's [`Memory`].
    pub args: &'a [u64],
    /// The machine whose shared memory and sectors are counted.
    pub machine: &'a Machine,
    /// The limits of the run, and what counts as a fault.
    pub options: Options,
}

/// Limits of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How many warp instructions may run before the run is given up.
    pub max_steps: u64,
    /// How many bytes blocks that run, and what is remembered of each byte that was touched, may take.
    pub max_bytes: u64,
    /// How many different findings are kept.
    pub max_findings: usize,
    /// When products in flight read shared memory, and bulk copies move their bytes.
    pub timing: Timing,
    /// What stores of the same value to one byte of global memory are that nothing orders.
    pub equal_stores: EqualStores,
}

/// What stores of one value to one byte of global memory are, by whichever threads, with nothing that orders
/// them: lanes of one instruction, warps of a block, blocks of the grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EqualStores {
    /// No fault, since the byte holds the same in any order, but a note ([`Report::notes`]).
    #[default]
    Note,
    /// A race, as two stores of different values are.
    Race,
}

/// When what runs on by itself does what it may do at any time: a right program gives the same either way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Timing {
    /// As soon as it has begun.
    #[default]
    Earliest,
    /// Where it is waited for, and nothing else can go on.
    Latest,
    /// Some time between, and warps take turns in another order, as this number has it.
    Random(u64),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_steps: 1 << 32,
            max_bytes: u64::MAX,
            max_findings: 64,
            timing: Timing::default(),
            equal_stores: EqualStores::default(),
        }
    }
}

/// Why a launch was refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SimError {
    /// Arguments and parameters differ in number.
    #[error("`{name}` takes {expected} arguments, and {found} were given")]
    Arguments {
        /// The name of the program.
        name: String,
        /// How many parameters the program has.
        expected: usize,
        /// The arguments of the launch.
        found: usize,
    },
    /// The program breaks a rule of the lane program.
    #[error("`{name}` is no valid lane program: {}", .errors.join("; "))]
    Invalid {
        /// The name of the program.
        name: String,
        /// What the verifier said.
        errors: Vec<String>,
    },
    /// The blocks are not of a size that is simulated.
    #[error(
        "blocks of {warps} warps of 2^{lanes_log2} lanes: the simulator runs 1 to 32 warps of at most 64 lanes"
    )]
    BlockSize {
        /// Warps in a block.
        warps: u32,
        /// log2 of the lanes in a warp.
        lanes_log2: u32,
    },
    /// The grid has more blocks than can be told apart.
    #[error("a grid of {x} x {y} x {z} blocks is more than the simulator counts (2^31)")]
    Grid {
        /// How many blocks there are along x.
        x: u32,
        /// How many blocks there are along y.
        y: u32,
        /// How many blocks there are along z.
        z: u32,
    },
    /// The program has assembly whose meaning is not known.
    #[error("`{text}` is assembly that is not read, so that only a GPU of NVIDIA's can run it")]
    Assembly {
        /// The text of the assembly.
        text: String,
    },
    /// Whoever watched the run ended it.
    #[error("the run of `{name}` was stopped")]
    Stopped {
        /// The name of the program.
        name: String,
    },
    /// The run would hold more memory than it may.
    #[error("the simulation of `{name}` takes more than {limit} bytes of memory")]
    Memory {
        /// The name of the program.
        name: String,
        /// How many bytes it may hold: [`Options::max_bytes`].
        limit: u64,
        /// Where it touched memory last.
        loc: Loc,
    },
    /// The block asks for more shared memory than any machine has.
    #[error("{bytes} bytes of shared memory a block: the simulator gives at most {limit}")]
    SharedMemory {
        /// What the program asks for.
        bytes: u32,
        /// The most that is given.
        limit: u32,
    },
}

/// The most shared memory a block can have.
const MAX_SHARED_BYTES: u32 = 1 << 24;

/// How far a run has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Blocks that have ended.
    pub ended: u32,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Warp instructions until now.
    pub instructions: u64,
}

/// Runs every block of the grid to its end, or to where it gets stuck.
pub fn run(launch: &Launch<'_>, memory: &mut Memory) -> Result<Report, SimError> {
    run_watched(launch, memory, &mut |_| ControlFlow::Continue(()))
}

/// As [`run`], and tells `watcher` every few hundred thousand warp instructions how far it has come. When the
/// watcher says [`ControlFlow::Break`], the run ends with [`SimError::Stopped`], and memory is left as
/// the program had it then.
pub fn run_watched(
    launch: &Launch<'_>,
    memory: &mut Memory,
    watcher: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Report, SimError> {
    let program = launch.program;
    let name = || program.name.clone();
    let (warps, lanes_log2) = (program.warps, program.lanes_log2);
    if !(1..=32).contains(&warps) || lanes_log2 > 6 {
        return Err(SimError::BlockSize { warps, lanes_log2 });
    }
    if let Err(errors) = lane::verify(program) {
        return Err(SimError::Invalid { name: name(), errors });
    }
    let (expected, found) = (program.params.len(), launch.args.len());
    if expected != found {
        return Err(SimError::Arguments { name: name(), expected, found });
    }
    let [x, y, z] = launch.grid;
    let blocks = u128::from(x) * u128::from(y) * u128::from(z);
    if blocks >= 1 << 31 {
        return Err(SimError::Grid { x, y, z });
    }
    let mut assembly = None;
    program.walk(&program.body, &mut |_, inst| {
        if let lane::Op::InlineAsm { text, .. } = &inst.op {
            assembly.get_or_insert_with(|| text.trim().to_string());
        }
    });
    if let Some(text) = assembly {
        return Err(SimError::Assembly { text });
    }
    let (bytes, limit) = (program.shared_bytes, MAX_SHARED_BYTES);
    if bytes > limit {
        return Err(SimError::SharedMemory { bytes, limit });
    }
    let code = program::Code::new(launch);
    let schedule = schedule::Schedule::new(launch, &code, blocks as u32, memory);
    schedule.run(watcher).map_err(|ended| match ended {
        Ended::Stopped => SimError::Stopped { name: name() },
        Ended::Full(loc) => SimError::Memory { name: name(), limit: launch.options.max_bytes, loc },
    })
}
