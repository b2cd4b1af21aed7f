//! Loop-invariant code motion.
//!
//! An operation that may be executed where it was not going to be (the loop may be left before it, or a condition
//! around it not hold), and whose operands come from outside the loop, moves in front of it. Inner loops go first, so
//! that what leaves them can leave the outer one too.

use crate::budget::Stop;
use crate::id::IdMap;
use crate::lane::{Inst, Op, Program, Region, Value};

/// Moves operations out of loops, without being stopped.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped; what it then gives is no program.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    let mut body = core::mem::take(&mut program.body);
    hoist_region(&mut program, &mut body, stop);
    program.body = body;
    program
}

fn hoist_region(program: &mut Program, region: &mut Region, stop: &Stop) {
    let mut insts = Vec::with_capacity(region.insts.len());
    for id in core::mem::take(&mut region.insts) {
        if stop.is_set() {
            break;
        }
        let mut inner = core::mem::take(&mut program.insts[id].regions);
        for inner in &mut inner {
            hoist_region(program, inner, stop);
            if matches!(program.insts[id].op, Op::Loop) {
                let (mut inside, mut taken) = (IdMap::default(), Vec::new());
                take_invariant(program, inner, &mut inside, &mut taken);
                insts.extend(taken);
            }
        }
        program.insts[id].regions = inner;
        insts.push(id);
    }
    region.insts = insts;
}

/// Removes from a region of a loop, and from the branches in it, the operations that do not depend on the loop, in
/// order. `inside` is what the loop defines.
fn take_invariant(
    program: &mut Program,
    region: &mut Region,
    inside: &mut IdMap<Value, bool>,
    taken: &mut Vec<Inst>,
) {
    for &param in &region.params {
        inside.set(param, true);
    }
    let mut kept = Vec::new();
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
        if inst.op == Op::If {
            let mut branches = core::mem::take(&mut program.insts[id].regions);
            for branch in &mut branches {
                take_invariant(program, branch, inside, taken);
            }
            program.insts[id].regions = branches;
        }
    }
    region.insts = kept;
}
