//! Removes barriers that order nothing.
//!
//! A barrier orders the accesses before it and the accesses after it. It is redundant where no thread has
//! touched memory since the program began or since a barrier at least as wide, or where none will until
//! the next such barrier or the end of the program. The pass looks at one list of operations at a time; an
//! operation that changes control counts as touching memory.

use crate::budget::Stop;
use crate::lane::effects::{Control, Fence};
use crate::lane::{BarrierScope, Effects, Inst, Program, Region};

/// Removes the barriers, without being stopped.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped; what it then gives is no program.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    let mut body = core::mem::take(&mut program.body);
    idle_region(&mut program, &mut body, true, stop);
    program.body = body;
    program
}

fn idle_region(program: &mut Program, region: &mut Region, whole: bool, stop: &Stop) {
    for &id in &region.insts {
        if stop.is_set() {
            return;
        }
        let mut inner = core::mem::take(&mut program.insts[id].regions);
        for inner in &mut inner {
            idle_region(program, inner, false, stop);
        }
        program.insts[id].regions = inner;
    }
    // The widest barrier since which nothing was touched: a block's where nothing ever was.
    let at_edge = whole.then_some(BarrierScope::Block);
    let mut kept: Vec<Inst> = Vec::with_capacity(region.insts.len());
    let mut since = at_edge;
    for &id in &region.insts {
        let effects = program.insts[id].op.effects();
        match effects.barrier() {
            Some(scope) if since >= Some(scope) => continue,
            Some(scope) => since = Some(scope),
            None if is_ordered(effects) => since = None,
            None => {}
        }
        kept.push(id);
    }
    let mut until = at_edge;
    region.insts.clear();
    for &id in kept.iter().rev() {
        let effects = program.insts[id].op.effects();
        match effects.barrier() {
            Some(scope) if until >= Some(scope) => continue,
            Some(scope) => until = Some(scope),
            None if is_ordered(effects) => until = None,
            None => {}
        }
        region.insts.push(id);
    }
    region.insts.reverse();
}

/// Whether it matters on which side of a barrier an operation stands: it touches memory, orders it by itself,
/// can be seen from outside, or goes elsewhere than to the next operation.
fn is_ordered(effects: Effects) -> bool {
    let goes_on = matches!(effects.control, Control::None | Control::Ends);
    effects.touches_memory() || effects.fence != Fence::None || effects.visible || !goes_on
}
