//! Program order between the threads of a block.
//!
//! A tile program's accesses happen in order; a block's threads run ahead of each other. Where one
//! thread may touch what another touched before, one of them writing, a barrier stands between. Two
//! accesses may meet when their pointers come from one argument of the kernel; they need no barrier
//! when each thread touches the same elements in both, or when both write a single element, which the
//! first thread does for all. Pointers of different arguments, and the rounds of one store in a loop,
//! are taken not to meet across threads, as Triton takes them; where they do, the simulator reports the
//! race.
//!
//! What is found here is which operations get a barrier in front; a later pass removes those before
//! which nothing was touched.

use crate::assign::{Assignment, LayoutId};
use crate::axis::{AxisFacts, Dim};
use crate::id::IdMap;
use crate::tile::effects::Fence;
use crate::tile::{Kernel, Op, OpId, OpKind, Origins, Region, Value};
use weft_layout::space::{LANE, WARP};

/// One access of the kernel.
struct Seen {
    op: OpId,
    /// The argument that the pointers come from; none when it cannot be told.
    root: Option<Value>,
    writes: bool,
    atomic: bool,
    /// Whether the first thread of the block alone makes it.
    by_first: bool,
    /// The pointers and the layout, if in every such access each thread touches the same elements, and
    /// no other thread does.
    own: Option<(Value, LayoutId)>,
}

/// The memory operations that need a barrier of the block in front.
pub(super) fn needs_barrier(
    kernel: &Kernel,
    facts: &AxisFacts,
    assignment: &Assignment,
) -> IdMap<OpId, bool> {
    let origins = Origins::of(kernel);
    let mut varying = IdMap::default();
    find_varying(kernel, &kernel.body, false, &mut varying);
    let mut seen = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        let effects = op.kind.effects();
        // What has no pointer orders itself: each thread runs it on elements of its own.
        if !effects.is_global_access() {
            return;
        }
        let (writes, atomic) = (effects.global.writes, effects.fence == Fence::Atomic);
        let own =
            owned(kernel, facts, assignment, id, op).filter(|(pointer, _)| !varying[*pointer]);
        let by_first = writes && !kernel.ty(op.operands[0]).is_tensor();
        let root = origins.argument(op.operands[0]);
        seen.push(Seen { op: id, root, writes, atomic, by_first, own });
    });
    let mut needs = IdMap::default();
    for access in &seen {
        let meets = |other: &Seen| {
            let apart = access.root.is_some() && other.root.is_some() && access.root != other.root;
            let same_threads = access.own.is_some() && access.own == other.own
                || access.by_first && other.by_first;
            // Atomics order themselves.
            (access.writes || other.writes)
                && !(access.atomic && other.atomic)
                && !apart
                && !same_threads
                && access.op != other.op
        };
        needs.set(access.op, seen.iter().any(meets));
    }
    needs
}

/// The values that may differ from round to round of a loop.
fn find_varying(kernel: &Kernel, region: &Region, in_loop: bool, varying: &mut IdMap<Value, bool>) {
    for &param in &region.params {
        varying.set(param, in_loop);
    }
    for &id in &region.ops {
        let op = &kernel.ops[id];
        for &result in &op.results {
            varying.set(result, in_loop);
        }
        let repeats = in_loop || matches!(op.kind, OpKind::For(_) | OpKind::While);
        for inner in &op.regions {
            find_varying(kernel, inner, repeats, varying);
        }
    }
}

/// The pointers and the layout of an access whose every element is touched by one thread only: the
/// pointers are functions of the elements' indices that repeat along no axis, and the layout holds no
/// copies. Pointers that were computed from memory may meet anywhere.
fn owned(
    kernel: &Kernel,
    facts: &AxisFacts,
    assignment: &Assignment,
    id: OpId,
    op: &Op,
) -> Option<(Value, LayoutId)> {
    let pointer = op.operands[0];
    if !kernel.ty(pointer).is_tensor() || !assignment.is_free(pointer) {
        return None;
    }
    let extents = kernel.ty(pointer).shape.iter();
    let repeats = |(dim, &extent): (&Dim, &u64)| dim.constancy > 1 && extent > 1;
    if facts.get(pointer).dims.iter().zip(extents).any(repeats) {
        return None;
    }
    let place = assignment.runs_in(id)?;
    let layout = assignment.layouts.get(place);
    let copies = layout.free_mask(LANE) | layout.free_mask(WARP);
    (copies == 0).then_some((pointer, place))
}
