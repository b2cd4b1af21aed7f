//! More warps for a block than were asked for, where their threads do not have the registers that it takes, or where
//! nothing else runs on its multiprocessor.
//!
//! The elements of a block are shared out among its threads, so what twice as many threads hold takes half of the
//! registers of each. A kernel that was written for fewer threads than hold its sums keeps them on the stack, in
//! global memory, and its matrix units wait for each product. (Attention's backward pass for heads of 128 elements, with
//! sums of 128 by 128 for keys and for values, on an H200: 13,475 µs with four warps, 4,140 µs with eight.) A program
//! cannot tell how many warps run it, so it gets as many as hold it.
//!
//! An assembler keeps a few words on the stack at little cost, and fewer warps meet sooner: the same pass for heads of
//! 64 elements takes 2,104 µs with four warps, whose assembler lacks registers for 14 words, and 2,733 µs with eight.
//!
//! A block that takes so much shared memory that it is alone on its multiprocessor has one warp for each scheduler where
//! it has four, and nothing runs while these are at the arithmetic between products, or wait. With twice as many the
//! registers that nobody has are used. (Attention's forward pass for heads of 128 elements in blocks of 128 by 64, three
//! stages: 405 TFLOP/s with four warps, 495 with eight; for heads of 64, of which a multiprocessor holds two blocks, 419
//! and 413.) The model of a round ([`timeline`](crate::timeline)) says whether they gain: where a block has not the rows
//! for twice as many warpgroups they also have more to exchange.

use super::{MoreWarps, Options};
use crate::budget::Stop;
use crate::lane;
use crate::simplify::{registers, turns};
use crate::tile::effects::Extent;
use crate::tile::{Kernel, Launch};
use crate::timeline;
use weft_layout::machine::Machine;

/// What a block takes of registers, and what its threads have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pressure {
    /// The registers that are live at once in a thread, where no order of its operations takes fewer.
    pub live: u32,
    /// Those that a thread can have.
    pub most: u32,
    /// The threads of the block.
    pub threads: u32,
}

/// Why a block has more warps than were asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relief {
    /// Threads of fewer warps would lack registers.
    Registers(Pressure),
    /// The block is alone on its multiprocessor, where a warp runs on each scheduler.
    Alone {
        /// The warps that were asked for.
        warps: u32,
        /// What a round of each loop takes with them, all together, in hundredths of a cycle.
        before: u64,
        /// The same with as many warps as the block has.
        now: u64,
    },
}

impl Relief {
    /// The warps that were asked for, each of so many lanes.
    pub fn asked(self, lanes: u32) -> u32 {
        match self {
            Self::Registers(pressure) => pressure.threads / lanes,
            Self::Alone { warps, .. } => warps,
        }
    }
}

/// What a round of each loop takes, all together, if a block is alone on its multiprocessor with one warp for each
/// scheduler at most, and has arithmetic between products; nothing otherwise.
pub(super) fn alone(program: &lane::Program, machine: &Machine, stop: &Stop) -> Option<u64> {
    let blocks = program.multiprocessor?.blocks(program.threads(), 1, program.shared_bytes);
    let has_few = u64::from(program.warps) <= machine.timing.parts.into();
    let is_alone = blocks == 1 && has_few && turns::works_on_sums(program);
    is_alone.then(|| time(program, machine, stop))
}

/// What a round of each loop takes, all together, in hundredths of a cycle.
pub(super) fn time(program: &lane::Program, machine: &Machine, stop: &Stop) -> u64 {
    timeline::rounds(program, machine, stop).iter().map(|round| round.time).sum()
}

/// Whether a round takes so much less that it is more than the model's error.
pub(super) fn is_faster(now: u64, before: u64) -> bool {
    now < before - before / 16
}

impl Pressure {
    /// That of a program for a machine that says how many registers there are.
    pub(super) fn of(program: &lane::Program, stop: &Stop) -> Option<Self> {
        let threads = program.threads();
        let most = registers::most(program)?;
        Some(Self { live: registers::across(program, stop), most, threads })
    }

    /// Whether threads lack so many that more threads are worth it: half as many as they have.
    pub(super) fn is_high(self) -> bool {
        self.live > self.most + self.most / 2
    }

    /// The words of a block that have no register.
    pub(super) fn lacking(self) -> u64 {
        u64::from(self.live.saturating_sub(self.most)) * u64::from(self.threads)
    }
}

/// The options with twice as many warps; nothing where there are no such blocks, or somebody counts on those that were
/// asked for: the caller, a text with layouts, a pin, or assembly that may read what it likes.
pub(super) fn doubled(kernel: &Kernel, launch: &Launch, options: &Options) -> Option<Options> {
    let machine = &options.machine;
    let warps = options.warps * 2;
    let is_bound = options.more_warps == MoreWarps::Never
        || !options.pins.is_empty()
        || kernel.is_encoded()
        || launch.warps.is_some()
        || kernel.ops.values().any(|op| op.kind.effects().extent == Extent::Anywhere);
    let exists = warps <= machine.threads_per_block >> machine.lanes_log2;
    (exists && !is_bound).then(|| Options { warps, ..options.clone() })
}
