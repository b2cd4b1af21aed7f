//! Registers for loads that wait side by side.
//!
//! An assembler weighs registers against the threads that a multiprocessor can hold. For a few threads more it puts
//! the loads of a loop's round one behind the other, and each is waited for before the next one begins:
//!
//! ```text
//! for …:                                  for …:
//!     x = load …                              x = load …
//!     sum = sum + x                           y = load …
//!     y = load …                              sum = sum + x
//!     sum = sum + y                           sum = sum + y
//! ```
//!
//! Memory is busy while bytes are under way, and a thread that has twice as many makes up for threads that there is no
//! room for, all the more where a grid has fewer blocks than the machine holds. (Sums of 4,000 rows of 16,384 columns
//! in blocks of 32 by 128 on an H200: 221 µs with 48 registers a thread, 75 µs with 63.) So where nothing in a round but
//! loads is waited for, the kernel says how many blocks are enough, and the assembler has the registers that are left.
//! The same holds of kernels without loops, and of what stands in front of where threads first meet, if a thread takes
//! what it loads as it comes, and has not the registers for all of it. (A sum of 32,768 floats by four warps on an H200:
//! 6.6 µs with 33 registers and two or three loads of a thread under way, 3.0 with 64 and eight. A divergence of rows of
//! 65,536 columns in rounds of 16,384 by 16 warps: 558 µs with 40 registers, 471 with 64.)
//!
//! That is left to the assembler where other warps help more: where threads meet, and wait for one another as long, and
//! where there is so much to compute that the arithmetic of other warps takes as long as a load. (Softmax of rows of
//! 2,048 in blocks of eight warps: 143 µs with 32 registers, 157 µs with 63.)

use super::registers::{self, HALF, LIKELY, Loads};
use crate::budget::Stop;
use crate::instruction::{AROUND_DIVISION, DIVIDES, around};
use crate::lane::effects::{Fence, Latency, Participants};
use crate::lane::{Effects, Inst, Op, Program, Region};

/// The instructions for each load at which a load is over when the other warps have had their turn: some 640 cycles on
/// an H200, and sixteen warps for each of its schedulers.
const HIDING: u64 = 40;

/// For how many blocks on a multiprocessor an assembler had better leave room, lest it put the loads of a loop, or of a
/// kernel without loops, one behind the other; nothing where none has such loads, or one has others, or registers are
/// scarce anyway.
pub fn blocks(program: &Program) -> Option<u32> {
    let multiprocessor = program.multiprocessor?;
    let stop = Stop::default();
    let (mut live, mut has_loops, mut all) = (0, false, true);
    program.walk(&program.body, &mut |id, inst| {
        if inst.op == Op::Loop {
            has_loops = true;
            match Loading::of(program, &inst.regions) {
                // An assembler writes several rounds of a loop one after the other.
                Loading::SideBySide(_) => {
                    live = live.max(registers::through(program, id, Loads::AtUse, &stop));
                }
                Loading::Otherwise => match streamed(program, &inst.regions, &stop) {
                    Some(words) => live = live.max(words),
                    None => all = false,
                },
                Loading::Nothing => {}
            }
        }
    });
    if !has_loops {
        live = match Loading::of(program, core::slice::from_ref(&program.body)) {
            // An assembler begins them all before it waits for one, and would not have room for what they give.
            Loading::SideBySide(2..) => {
                registers::live(program, &stop).max(loaded(program, &program.body))
            }
            Loading::Otherwise => {
                streamed(program, core::slice::from_ref(&program.body), &stop).unwrap_or(0)
            }
            _ => 0,
        };
    }
    // Half of the warps are enough.
    let needed = (live + registers::OTHERS).max(HALF).next_multiple_of(8);
    let blocks = (multiprocessor.registers / (program.threads().max(1) * needed)).max(1);
    (all && live > 0 && needed <= LIKELY).then_some(blocks)
}

/// How a loop, or a kernel without loops, loads from global memory.
enum Loading {
    /// It does not, or loops inside it do.
    Nothing,
    /// It waits for so many loads and for nothing else, and there is little to do besides.
    SideBySide(u64),
    /// In another way.
    Otherwise,
}

impl Loading {
    fn of(program: &Program, regions: &[Region]) -> Self {
        Self::of_warps(program, regions, 1)
    }

    /// The same where one of so many warps runs.
    fn of_warps(program: &Program, regions: &[Region], share: u64) -> Self {
        let (mut loads, mut others) = (0, 0);
        let (mut waits, mut is_innermost) = (false, true);
        for region in regions {
            program.walk(region, &mut |_, inst| {
                is_innermost &= inst.op != Op::Loop;
                let effects = inst.op.effects();
                waits |= meets(effects);
                match effects.latency {
                    Latency::None => {}
                    Latency::Global if effects.is_removable() => loads += 1,
                    Latency::Wait | Latency::Unknown => waits = true,
                    _ => others += instructions(&inst.op),
                }
            });
        }
        match loads {
            0 => Self::Nothing,
            _ if !is_innermost => Self::Nothing,
            _ if !waits && others < loads * HIDING * share => Self::SideBySide(loads),
            _ => Self::Otherwise,
        }
    }
}

/// Whether threads wait for those of other warps at an operation.
fn meets(effects: Effects) -> bool {
    effects.convergent.is_some_and(|threads| threads > Participants::Warp)
        || effects.fence != Fence::None
}

/// The registers of a program where what a loop, or a kernel without loops, loads in front of where its threads first
/// meet is most of what it loads, and more than a thread has registers for where half of the warps run, though these can
/// take it as it comes; nothing where half of the warps hide a load behind arithmetic.
fn streamed(program: &Program, regions: &[Region], stop: &Stop) -> Option<u32> {
    let body = regions.last()?;
    let is_apart = |&id: &Inst| !meets(program.insts[id].op.effects());
    let front: Vec<Inst> = body.insts.iter().copied().take_while(is_apart).collect();
    let meets_nowhere = front.len() == body.insts.len();
    let front = Region { insts: front, ..Region::default() };
    let words = loaded(program, &front);
    if meets_nowhere || words < HALF || 2 * words <= loaded(program, body) {
        return None;
    }
    let Loading::SideBySide(_) = Loading::of_warps(program, &[front], 2) else { return None };
    let live = registers::live(program, stop);
    (live + registers::OTHERS <= HALF).then_some(live)
}

/// The words that loads from global memory give in a region without loops.
fn loaded(program: &Program, region: &Region) -> u32 {
    let mut words = 0;
    program.walk(region, &mut |_, inst| {
        let effects = inst.op.effects();
        if effects.latency == Latency::Global && effects.is_removable() {
            let bits = inst.results.iter().map(|&result| program.dtype(result).bits());
            words += bits.sum::<u32>().div_ceil(32);
        }
    });
    words
}

/// How many instructions an operation is that each lane computes by itself.
fn instructions(op: &Op) -> u64 {
    1 + match op {
        Op::Unary(op) => around(*op).unwrap_or(0),
        Op::Binary(op) if DIVIDES.contains(op) => AROUND_DIVISION,
        _ => 0,
    }
}
