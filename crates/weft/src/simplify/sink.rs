//! Moves down to their first use what takes registers until then.
//!
//! A plan loads all registers of a tile at once; their user takes them one by one. A load may move down to
//! its first use unless an operation in between must stay behind it: one that writes shared memory, lets other
//! threads write it, or opens a region.
//!
//! So does what gives more bits than it takes, such as an f32 of an f16: narrow numbers wait two to a register.
//! An assembler does the same within a block of its own, but divisions, square roots and the like end one.
//!
//! The same holds for a step: the sum of a value that a loop carries and an invariant one. If only the next
//! iteration uses it, it is computed at the end, so that it can take the register of the value that it replaces.
//!
//! So does, behind a branch, what only the next iteration uses, computed from values that the branch needs as well: the
//! sums that a persistent kernel goes on with, zeros or those of this iteration, wait until it has stored these.
//! (fbgemm's `_kernel_matmul_fp8_row`, 128 sums a thread: 250 registers, and 255 and 424 bytes of stack without.)
//!
//! Since divisions and roots end blocks, what is computed from loads of global memory moves down behind those that
//! do not need it, where that takes no more registers: they are under way while the loads are. (What torch.compile
//! makes of a normalisation and a `ReLU` in f16, whose roots are of variances that are there before the tensor is:
//! 61 µs on an H200 where it took 67, and Triton 3.6 61.)

use super::registers::{self, HALF, Registers};
use crate::budget::Stop;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::instruction::{DIVIDES, around};
use crate::lane::effects::{Effects, Fence, Latency};
use crate::lane::{Inst, InstData, Op, Program, Region, Value};
use crate::scalar::{Binary, Unary};

/// Moves operations down, without being stopped.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped; what it then gives is no program.
pub fn run_until(program: Program, stop: &Stop) -> Program {
    let has_ends = program.insts.values().any(|inst| ends_block(&program, inst));
    let other = has_ends.then(|| sunk(program.clone(), BehindEnds(true), stop));
    let plain = sunk(program, BehindEnds(false), stop);
    match other {
        Some(other) if registers::live(&other, stop) <= enough(&plain, stop) => other,
        _ => plain,
    }
}

/// The registers that may be live where operations have moved behind the ends of blocks: as many as otherwise, or a
/// few.
fn enough(plain: &Program, stop: &Stop) -> u32 {
    registers::live(plain, stop).max(HALF - registers::OTHERS)
}

/// Whether operations that await loads move behind the ends of blocks.
#[derive(Clone, Copy)]
struct BehindEnds(bool);

fn sunk(mut program: Program, behind: BehindEnds, stop: &Stop) -> Program {
    let registers = Registers::of(&program);
    let mut body = core::mem::take(&mut program.body);
    sink_region(&mut program, &mut body, (behind, &registers), stop);
    program.body = body;
    program
}

fn sink_region(
    program: &mut Program,
    region: &mut Region,
    (behind, registers): (BehindEnds, &Registers),
    stop: &Stop,
) {
    for &id in &region.insts {
        if stop.is_set() {
            return;
        }
        let mut inner = core::mem::take(&mut program.insts[id].regions);
        for inner in &mut inner {
            sink_region(program, inner, (behind, registers), stop);
        }
        program.insts[id].regions = inner;
    }
    // Going up, a load is put in front of the nearer of its first use and the next fence.
    let mut first_use: IdMap<Value, usize> = IdMap::with_default(usize::MAX);
    let mut fence = region.insts.len();
    let (mut carried, mut made) = (IdMap::default(), IdMap::default());
    for &param in &region.params {
        carried.set(param, true);
    }
    for &result in region.insts.iter().flat_map(|&id| &program.insts[id].results) {
        made.set(result, true);
    }
    let awaiting = awaiting(program, region);
    let mut last_use: IdMap<Value, usize> = IdMap::default();
    let end = region.insts.len().saturating_sub(1);
    let is_round = !region.params.is_empty();
    // The nearest branch below.
    let mut branch: Option<usize> = None;
    // Where blocks end, from below, as far up as operations may move down to.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Vec<Inst>> = vec![Vec::new(); region.insts.len() + 1];
    for (position, &id) in region.insts.iter().enumerate().rev() {
        let inst = &program.insts[id];
        let effects = inst.op.effects();
        let waits = effects.is_removable() && effects.latency == Latency::Shared;
        let uses = inst.results.iter().map(|&result| first_use[result]);
        let used = uses.min().unwrap_or(usize::MAX);
        let place = if waits {
            used.min(fence)
        } else if used < region.insts.len()
            && (widens(program, inst) || is_step(inst, &carried, &made))
        {
            used
        } else if let Some(branch) = branch
            && is_round
            && used == end
            && effects.is_pure()
            && inst.operands.iter().all(|&operand| {
                let is_of_round = carried[operand] || made[operand];
                !is_of_round
                    || registers.words(program, operand) == 0
                    || last_use[operand] >= branch
            })
        {
            branch + 1
        } else if used < region.insts.len() && effects.is_pure() && awaiting[id] {
            // Behind the last end of a block in front of that.
            ends.iter().find(|&&end| end < used).map_or(position, |&end| end + 1)
        } else {
            position
        };
        if behind.0 && ends_block(program, inst) {
            ends.push(position);
        } else if !inst.regions.is_empty() || effects.fence != Fence::None {
            ends.clear();
        }
        if inst.op == Op::If {
            branch = Some(position);
        }
        before[place].push(id);
        // What has moved down uses its operands later than others may that stood behind it.
        let mut use_here = |operands: &[Value]| {
            for &operand in operands {
                first_use.set(operand, first_use[operand].min(place));
                last_use.set(operand, last_use[operand].max(place));
            }
        };
        use_here(&inst.operands);
        for inner in &inst.regions {
            program.walk(inner, &mut |_, inner| use_here(&inner.operands));
        }
        if Effects::SHARED_READ.precedes(effects) {
            fence = position;
        }
    }
    // Each list was filled backwards; the operation of that position itself stands last.
    region.insts = before.into_iter().flat_map(|list| list.into_iter().rev()).collect();
}

/// The operations of a region that are computed from what it loads from global memory.
fn awaiting(program: &Program, region: &Region) -> IdMap<Inst, bool> {
    let (mut loaded, mut awaiting) = (IdMap::<Value, bool>::default(), IdMap::default());
    for &id in &region.insts {
        let inst = &program.insts[id];
        let takes = inst.operands.iter().any(|&operand| loaded[operand]);
        awaiting.set(id, takes);
        if takes || inst.op.effects().latency == Latency::Global {
            inst.results.iter().for_each(|&result| loaded.set(result, true));
        }
    }
    awaiting
}

/// Whether an assembler writes an operation with branches, and so ends its block.
fn ends_block(program: &Program, inst: &InstData) -> bool {
    let is_double = inst.results.iter().any(|&result| program.dtype(result) == DType::F64);
    match inst.op {
        Op::Unary(Unary::SqrtPrecise) | Op::Binary(Binary::DivPrecise) => true,
        Op::Unary(op) => is_double && around(op).is_some(),
        Op::Binary(op) => is_double && DIVIDES.contains(&op),
        _ => false,
    }
}

/// Whether an operation gives more bits than it takes, and does nothing else.
fn widens(program: &Program, inst: &InstData) -> bool {
    let bits = |values: &[Value]| -> u32 {
        values.iter().map(|&value| program.values[value].dtype.bits()).sum()
    };
    inst.op.effects().is_pure()
        && !inst.operands.is_empty()
        && bits(&inst.results) > bits(&inst.operands)
}

/// Whether an operation adds what does not change to what a loop carries.
fn is_step(inst: &InstData, carried: &IdMap<Value, bool>, made: &IdMap<Value, bool>) -> bool {
    let moves = |x: Value, y: Value| carried[x] && !carried[y] && !made[y];
    match (&inst.op, &inst.operands[..]) {
        (Op::Binary(Binary::Add), &[x, y]) => moves(x, y) || moves(y, x),
        _ => false,
    }
}
