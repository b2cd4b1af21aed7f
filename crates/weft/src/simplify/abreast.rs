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
//! in blocks of 32 by 128 on an H200: 227 µs with 48 registers a thread, 76 µs with 63.) So where nothing in a round but
//! loads is waited for, the kernel says how many blocks are enough, and the assembler has the registers that are left.
//!
//! That is left to the assembler where other warps help more: where threads meet in each round, and wait for one another
//! as long, and where a round has so much to compute that the arithmetic of other warps takes as long as a load.
//! (Softmax of rows of 2,048 in blocks of eight warps: 143 µs with 32 registers, 157 µs with 63.)

use super::registers::{self, HALF, LIKELY, Loads};
use crate::budget::Stop;
use crate::lane::effects::{Fence, Latency, Participants};
use crate::lane::{Inst, InstData, Op, Program};

/// The instructions for each load at which a load is over when the other warps have had their turn: some 800 cycles on
/// an H200, and sixteen warps for each of its schedulers.
const HIDING: u32 = 50;

/// For how many blocks on a multiprocessor an assembler had better leave room, lest it put the loads of a loop one behind
/// the other; nothing where no loop has such loads, or one has others, or registers are scarce anyway.
pub fn blocks(program: &Program) -> Option<u32> {
    let multiprocessor = program.multiprocessor?;
    let mut all = Some(0);
    program.walk(&program.body, &mut |id, inst| {
        all = match (all, loads(program, inst)) {
            (Some(needed), Loading::SideBySide) => Some(needed.max(of_loop(program, id))),
            (all, Loading::Nothing) => all,
            (_, Loading::Otherwise) | (None, _) => None,
        };
    });
    let needed = all.filter(|&needed| 0 < needed && needed <= LIKELY)?.next_multiple_of(8);
    Some((multiprocessor.registers / (program.threads().max(1) * needed)).max(1))
}

/// How an innermost loop loads from global memory.
enum Loading {
    /// It is no such loop, or does not.
    Nothing,
    /// A round waits for loads and for nothing else, and there is little to do besides.
    SideBySide,
    /// In another way.
    Otherwise,
}

fn loads(program: &Program, inst: &InstData) -> Loading {
    if inst.op != Op::Loop {
        return Loading::Nothing;
    }
    let (mut loads, mut others, mut waits) = (0, 0, false);
    let mut is_innermost = true;
    for region in &inst.regions {
        program.walk(region, &mut |_, inst| {
            is_innermost &= inst.op != Op::Loop;
            let effects = inst.op.effects();
            let together = effects.convergent.is_some_and(|threads| threads > Participants::Warp);
            waits |= together || effects.fence != Fence::None;
            match effects.latency {
                Latency::None => {}
                Latency::Global if effects.is_removable() => loads += 1,
                Latency::Wait | Latency::Unknown => waits = true,
                _ => others += 1,
            }
        });
    }
    match loads {
        _ if !is_innermost => Loading::Nothing,
        0 => Loading::Nothing,
        loads if !waits && others < loads * HIDING => Loading::SideBySide,
        _ => Loading::Otherwise,
    }
}

/// The registers of a thread with which a loop has its loads side by side, and those of further rounds, as which an
/// assembler writes it: half of the warps are enough then, unless more are live where loads are as late as they may be.
fn of_loop(program: &Program, id: Inst) -> u32 {
    let live = registers::through(program, id, Loads::AtUse, &Stop::default());
    (live + registers::OTHERS).max(HALF)
}
