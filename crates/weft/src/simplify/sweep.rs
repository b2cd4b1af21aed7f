//! Dead code elimination: without what nobody uses.

use crate::id::IdMap;
use crate::lane::{Program, Region, Value};

/// Runs the pass.
pub fn run(mut program: Program) -> Program {
    let mut body = core::mem::take(&mut program.body);
    sweep_region(&mut program, &mut body, &mut IdMap::default());
    program.body = body;
    program
}

/// Goes through a region from its end, so that every use is seen before its definition. A value that
/// a loop carries counts as used: its use may stand before, in the next round.
fn sweep_region(program: &mut Program, region: &mut Region, used: &mut IdMap<Value, bool>) {
    let mut kept = Vec::with_capacity(region.insts.len());
    for &id in region.insts.iter().rev() {
        let inst = &program.insts[id];
        if inst.op.effects().is_removable() && inst.results.iter().all(|&result| !used[result]) {
            continue;
        }
        for &operand in &inst.operands {
            used.set(operand, true);
        }
        let mut inner = core::mem::take(&mut program.insts[id].regions);
        for inner in inner.iter_mut().rev() {
            sweep_region(program, inner, used);
        }
        program.insts[id].regions = inner;
        kept.push(id);
    }
    kept.reverse();
    region.insts = kept;
}
