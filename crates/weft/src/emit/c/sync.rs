//! Fences and barriers.

use super::dialect::Dialect;
use super::memory::hip_order;
use super::warpgroup;
use super::writer::{Writer, put};
use crate::atomic::{Order, Scope};
use crate::emit::Unsupported;
use crate::emit::ptx::sync::{GRID_LAUNCH, GRID_WAIT, named};
use crate::lane::{BarrierScope, SyncOp};

pub(super) fn sync(w: &mut Writer<'_>, op: SyncOp) -> Result<(), Unsupported> {
    match op {
        SyncOp::Barrier(scope) => {
            let call = w.barrier(scope == BarrierScope::Block);
            put!(w, "{call}");
        }
        SyncOp::Named(barrier) if w.dialect.is_cuda() => {
            let arrival = named(barrier, w.program);
            warpgroup::instruction(w, &arrival)?;
        }
        SyncOp::Named(_) => return Err(w.only_in_ptx()),
        SyncOp::Fence { order, scope } => fence(w, order, scope),
        SyncOp::GridWait => dependency(w, GRID_WAIT),
        SyncOp::GridLaunch => dependency(w, GRID_LAUNCH),
        SyncOp::ProxyFence => warpgroup::instruction(w, "fence.proxy.async.shared::cta")?,
    }
    Ok(())
}

/// What grids of one stream tell each other; on GPUs where they run one after another there is nothing to say.
fn dependency(w: &mut Writer<'_>, instruction: &str) {
    if let Dialect::Cuda(target) = w.dialect
        && target.capability >= 90
    {
        put!(w, "asm volatile(\"{instruction};\" ::: \"memory\")");
    }
}

/// A fence beside relaxed atomics.
fn fence(w: &mut Writer<'_>, order: Order, scope: Scope) {
    match w.dialect {
        // One kind serves all orders.
        Dialect::Cuda(_) => put!(w, "asm volatile(\"fence.acq_rel.{scope};\" ::: \"memory\")"),
        Dialect::Hip(_) => {
            let scope = match scope {
                Scope::Block => "workgroup",
                Scope::Gpu => "agent",
                Scope::System => "",
            };
            put!(w, "__builtin_amdgcn_fence({}, \"{scope}\")", hip_order(order, Scope::Gpu).0);
        }
    }
}
