//! Fences and barriers.

use super::writer::{Writer, put};
use crate::lane::{BarrierScope, NamedBarrier, Program, SyncOp};

pub(super) fn sync(w: &mut Writer<'_>, op: SyncOp) {
    match op {
        SyncOp::Barrier(BarrierScope::Warp) => put!(w, "bar.warp.sync 0xffffffff"),
        SyncOp::Barrier(BarrierScope::Block) => put!(w, "bar.sync 0"),
        SyncOp::Named(barrier) => put!(w, "{}", named(barrier, w.program)),
        // One kind serves all orders.
        SyncOp::Fence { order: _, scope } => put!(w, "fence.acq_rel.{scope}"),
        SyncOp::ProxyFence => put!(w, "fence.proxy.async.shared::cta"),
        SyncOp::GridWait => dependency(w, GRID_WAIT),
        SyncOp::GridLaunch => dependency(w, GRID_LAUNCH),
    }
}

pub(in crate::emit) const GRID_WAIT: &str = "griddepcontrol.wait";
pub(in crate::emit) const GRID_LAUNCH: &str = "griddepcontrol.launch_dependents";

/// Before compute capability 9.0 grids of one stream run one after another, and there is nothing to say.
fn dependency(w: &mut Writer<'_>, instruction: &str) {
    if w.target.capability >= 90 {
        put!(w, "{instruction}");
    }
}

/// The instruction of an arrival at a named barrier, which counts threads.
pub(in crate::emit) fn named(barrier: NamedBarrier, program: &Program) -> String {
    let NamedBarrier { name, warps, waits } = barrier;
    let threads = warps << program.lanes_log2;
    format!("bar.{} {name}, {threads}", if waits { "sync" } else { "arrive" })
}
