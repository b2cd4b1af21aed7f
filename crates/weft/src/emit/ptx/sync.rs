//! Fences and barriers.

use super::writer::{Writer, put};
use crate::lane::{BarrierScope, NamedBarrier, SyncOp};

pub(super) fn sync(w: &mut Writer<'_>, op: SyncOp) {
    match op {
        SyncOp::Barrier(BarrierScope::Warp) => put!(w, "bar.warp.sync 0xffffffff"),
        SyncOp::Barrier(BarrierScope::Block) => put!(w, "bar.sync 0"),
        // It counts threads.
        SyncOp::Named(NamedBarrier { name, warps, waits }) => {
            let threads = warps << w.program.lanes_log2;
            put!(w, "bar.{} {name}, {threads}", if waits { "sync" } else { "arrive" });
        }
        // One kind serves all orders.
        SyncOp::Fence { order: _, scope } => put!(w, "fence.acq_rel.{scope}"),
        SyncOp::ProxyFence => put!(w, "fence.proxy.async.shared::cta"),
    }
}
