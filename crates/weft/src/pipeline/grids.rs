//! Waits for other grids, out of loops.

use crate::tile::{Kernel, OpId, OpKind, Region};

/// The kernel with its waits for other grids in front of the loops that they stand in; nothing where no loop has one.
/// A second wait has nothing to wait for, and whoever waits earlier sees no less. Loads of later rounds may then pass
/// what is left of the loop.
pub(super) fn waits_in_front(kernel: &Kernel) -> Option<Kernel> {
    if !kernel.ops.values().any(|op| op.kind == OpKind::GridWait) {
        return None;
    }
    let mut result = kernel.clone();
    let mut body = core::mem::take(&mut result.body);
    let any = moved(&mut result, &mut body);
    result.body = body;
    any.then_some(result)
}

/// Moves the waits for other grids of a region's loops in front of them; whether there was any.
fn moved(kernel: &mut Kernel, region: &mut Region) -> bool {
    let (mut ops, mut any) = (Vec::with_capacity(region.ops.len()), false);
    for id in core::mem::take(&mut region.ops) {
        let mut regions = core::mem::take(&mut kernel.ops[id].regions);
        if matches!(kernel.ops[id].kind, OpKind::For(_) | OpKind::While) {
            let waits: Vec<OpId> =
                regions.iter_mut().flat_map(|region| taken(kernel, region)).collect();
            any |= !waits.is_empty();
            ops.extend(waits.first());
        }
        for region in &mut regions {
            any |= moved(kernel, region);
        }
        kernel.ops[id].regions = regions;
        ops.push(id);
    }
    region.ops = ops;
    any
}

/// Takes the waits for other grids out of a loop's region and of the loops in it. Whether a branch is taken is not
/// known in front of the loop.
fn taken(kernel: &mut Kernel, region: &mut Region) -> Vec<OpId> {
    let is_wait = |id: &OpId| kernel.ops[*id].kind == OpKind::GridWait;
    let (mut waits, others): (Vec<OpId>, Vec<OpId>) =
        core::mem::take(&mut region.ops).into_iter().partition(is_wait);
    for &id in &others {
        if matches!(kernel.ops[id].kind, OpKind::For(_) | OpKind::While) {
            let mut regions = core::mem::take(&mut kernel.ops[id].regions);
            for region in &mut regions {
                waits.extend(taken(kernel, region));
            }
            kernel.ops[id].regions = regions;
        }
    }
    region.ops = others;
    waits
}
