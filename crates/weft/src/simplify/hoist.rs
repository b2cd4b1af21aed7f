//! Loop-invariant code motion.
//!
//! An operation that may be executed where it was not going to be (the loop may be left before it), and
//! whose operands come from outside the loop, moves in front of it. Inner loops go first, so that what
//! leaves them can leave the outer one too.

use crate::id::IdMap;
use crate::lane::{Inst, Op, Program, Region, Value};

/// Runs the pass.
pub fn run(mut program: Program) -> Program {
    let mut body = core::mem::take(&mut program.body);
    hoist_region(&mut program, &mut body);
    program.body = body;
    program
}

fn hoist_region(program: &mut Program, region: &mut Region) {
    let mut insts = Vec::with_capacity(region.insts.len());
    for id in core::mem::take(&mut region.insts) {
        let mut inner = core::mem::take(&mut program.insts[id].regions);
        for inner in &mut inner {
            hoist_region(program, inner);
            if matches!(program.insts[id].op, Op::Loop) {
                insts.extend(take_invariant(program, inner));
            }
        }
        program.insts[id].regions = inner;
        insts.push(id);
    }
    region.insts = insts;
}

/// Removes from a loop's region the operations that do not depend on it, in order.
fn take_invariant(program: &Program, region: &mut Region) -> Vec<Inst> {
    let mut inside: IdMap<Value, bool> = IdMap::default();
    for &param in &region.params {
        inside.set(param, true);
    }
    let (mut taken, mut kept) = (Vec::new(), Vec::new());
    for &id in &region.insts {
        let inst = &program.insts[id];
        if inst.op.effects().may_be_speculated()
            && inst.operands.iter().all(|&operand| !inside[operand])
        {
            taken.push(id);
            continue;
        }
        kept.push(id);
        for &result in &inst.results {
            inside.set(result, true);
        }
    }
    region.insts = kept;
    taken
}
