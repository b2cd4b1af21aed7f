//! Without barriers that order nothing.
//!
//! A barrier orders what comes before it and what comes after it. Where no thread has touched memory
//! since the program began or since a barrier as wide, or where none will until the next one or until
//! the program ends, it may go. Looked at is one list of operations at a time: what has regions of its
//! own counts as touching memory.

use crate::lane::{BarrierScope, Inst, Op, Program, Region};

/// Runs the pass.
pub fn run(mut program: Program) -> Program {
    let mut body = core::mem::take(&mut program.body);
    idle_region(&mut program, &mut body, true);
    program.body = body;
    program
}

fn idle_region(program: &mut Program, region: &mut Region, whole: bool) {
    for &id in &region.insts {
        let mut inner = core::mem::take(&mut program.insts[id].regions);
        for inner in &mut inner {
            idle_region(program, inner, false);
        }
        program.insts[id].regions = inner;
    }
    // The widest barrier since which nothing was touched: a block's where nothing ever was.
    let at_edge = whole.then_some(BarrierScope::Block);
    let mut kept: Vec<Inst> = Vec::with_capacity(region.insts.len());
    let mut since = at_edge;
    for &id in &region.insts {
        match effect(&program.insts[id].op) {
            Effect::None => {}
            Effect::Touches => since = None,
            Effect::Waits(scope) if since >= Some(scope) => continue,
            Effect::Waits(scope) => since = Some(scope),
        }
        kept.push(id);
    }
    let mut until = at_edge;
    region.insts.clear();
    for &id in kept.iter().rev() {
        match effect(&program.insts[id].op) {
            Effect::None => {}
            Effect::Touches => until = None,
            Effect::Waits(scope) if until >= Some(scope) => continue,
            Effect::Waits(scope) => until = Some(scope),
        }
        region.insts.push(id);
    }
    region.insts.reverse();
}

/// What matters here of an operation.
enum Effect {
    None,
    /// It touches memory, or something inside it may.
    Touches,
    Waits(BarrierScope),
}

fn effect(op: &Op) -> Effect {
    match op {
        Op::Barrier(scope) => Effect::Waits(*scope),
        // Lanes that exchange registers wait for one another, but order no memory.
        Op::ShuffleXor { .. } | Op::ShuffleIndex | Op::MatrixMultiply(_) | Op::Return => {
            Effect::None
        }
        op if op.is_pure() => Effect::None,
        _ => Effect::Touches,
    }
}
