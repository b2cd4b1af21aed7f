//! Loads from shared memory next to their first use.
//!
//! A plan loads all registers of a tile at once; its user takes them one by one. A load may wait for
//! its first use as long as nothing in between writes shared memory, waits, or opens a region.

use crate::id::IdMap;
use crate::lane::{Inst, Op, Program, Region, Space, Value};

/// Runs the pass.
pub fn run(mut program: Program) -> Program {
    let mut body = core::mem::take(&mut program.body);
    sink_region(&mut program, &mut body);
    program.body = body;
    program
}

fn sink_region(program: &mut Program, region: &mut Region) {
    for &id in &region.insts {
        let mut inner = core::mem::take(&mut program.insts[id].regions);
        for inner in &mut inner {
            sink_region(program, inner);
        }
        program.insts[id].regions = inner;
    }
    // Going up, a load is put in front of the nearer of its first use and the next fence.
    let mut first_use: IdMap<Value, usize> = IdMap::with_default(usize::MAX);
    let mut fence = region.insts.len();
    let mut before: Vec<Vec<Inst>> = vec![Vec::new(); region.insts.len() + 1];
    for (position, &id) in region.insts.iter().enumerate().rev() {
        let inst = &program.insts[id];
        let place = match inst.op {
            Op::Load { space: Space::Shared, access } if !access.volatile => {
                let uses = inst.results.iter().map(|&result| first_use[result]);
                uses.min().unwrap_or(usize::MAX).min(fence)
            }
            _ => position,
        };
        before[place].push(id);
        for &operand in &inst.operands {
            first_use.set(operand, place);
        }
        if is_fence(&inst.op) {
            fence = position;
        }
    }
    // Each list was filled backwards; the operation of that position itself stands last.
    region.insts = before.into_iter().flat_map(|list| list.into_iter().rev()).collect();
}

fn is_fence(op: &Op) -> bool {
    match op {
        Op::Store { space, .. } | Op::AtomicRmw { space, .. } | Op::AtomicCas { space, .. } => {
            *space == Space::Shared
        }
        Op::AsyncCopy { .. } | Op::AsyncWait { .. } => true,
        Op::Barrier(_) | Op::If | Op::Loop | Op::BreakIf { .. } => true,
        op => op.is_terminator(),
    }
}
