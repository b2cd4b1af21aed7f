//! Program order between the threads of a block.
//!
//! A tile program's accesses happen in order; a block's threads run ahead of each other. Where one
//! thread may touch what another touched before, one of them writing, a barrier stands between. Two
//! accesses may meet when their pointers come from one argument of the kernel; they need no barrier
//! when each thread touches the same elements in both. Pointers of different arguments, and the rounds
//! of one store in a loop, are taken not to meet across threads, as Triton takes them; where they do,
//! the simulator reports the race.
//!
//! What is found here is which operations get a barrier in front; a later pass removes those before
//! which nothing was touched.

use crate::assign::{Assignment, LayoutId, definitions};
use crate::axis::{AxisFacts, Dim};
use crate::id::IdMap;
use crate::tile::{Kernel, Op, OpId, OpKind, Region, Value};
use rustc_hash::FxHashMap;
use weft_layout::space::{LANE, WARP};

/// The argument that a pointer comes from; none when it cannot be told.
type Root = Option<Value>;

/// One access of the kernel.
struct Seen {
    op: OpId,
    root: Root,
    writes: bool,
    atomic: bool,
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
    let roots = Roots::of(kernel);
    let mut varying = IdMap::default();
    find_varying(kernel, &kernel.body, false, &mut varying);
    let mut seen = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        let (writes, atomic) = match op.kind {
            OpKind::Load(_) | OpKind::AsyncCopy(_) => (false, false),
            OpKind::Store(_) => (true, false),
            OpKind::AtomicRmw { .. } | OpKind::AtomicCas { .. } => (true, true),
            _ => return,
        };
        let own =
            owned(kernel, facts, assignment, id, op).filter(|(pointer, _)| !varying[*pointer]);
        seen.push(Seen { op: id, root: roots.root(op.operands[0]), writes, atomic, own });
    });
    let mut needs = IdMap::default();
    for access in &seen {
        let meets = |other: &Seen| {
            let apart = access.root.is_some() && other.root.is_some() && access.root != other.root;
            let same_threads = access.own.is_some() && access.own == other.own;
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
        let repeats = in_loop || matches!(op.kind, OpKind::For | OpKind::While);
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

/// For what a region takes or an operation with regions gives: the values it may be.
pub(super) struct Sources(FxHashMap<Value, Vec<Value>>);

impl Sources {
    /// The sources of every value that loops and branches carry.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut sources: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
        let mut flow = |from: &[Value], to: &[Value]| {
            for (&from, &to) in from.iter().zip(to) {
                sources.entry(to).or_default().push(from);
            }
        };
        kernel.walk(&kernel.body, &mut |_, op| {
            let handed_over = |region: usize| -> &[Value] {
                let last = op.regions.get(region).and_then(|region| region.ops.last());
                last.map_or(&[], |&last| &kernel.ops[last].operands)
            };
            match op.kind {
                OpKind::For => {
                    let carried = &op.regions[0].params[1..];
                    flow(&op.operands[3..], carried);
                    flow(handed_over(0), carried);
                    flow(carried, &op.results);
                }
                OpKind::While => {
                    flow(&op.operands, &op.regions[0].params);
                    flow(handed_over(1), &op.regions[0].params);
                    let passed = handed_over(0).get(1..).unwrap_or(&[]);
                    flow(passed, &op.regions[1].params);
                    flow(passed, &op.results);
                }
                OpKind::If => {
                    flow(handed_over(0), &op.results);
                    flow(handed_over(1), &op.results);
                }
                _ => {}
            }
        });
        Self(sources)
    }

    /// What a value may be, if it is carried.
    pub(super) fn get(&self, value: Value) -> Option<&[Value]> {
        self.0.get(&value).map(Vec::as_slice)
    }
}

/// Where pointers come from.
struct Roots<'a> {
    kernel: &'a Kernel,
    definitions: IdMap<Value, Option<OpId>>,
    sources: Sources,
}

impl<'a> Roots<'a> {
    fn of(kernel: &'a Kernel) -> Self {
        Self { kernel, definitions: definitions(kernel), sources: Sources::of(kernel) }
    }

    fn root(&self, pointer: Value) -> Root {
        let mut found = Vec::new();
        self.collect(pointer, &mut Vec::new(), &mut found)?;
        found.dedup();
        match found[..] {
            [root] => Some(root),
            _ => None,
        }
    }

    /// Adds the arguments that a pointer may come from; none when one of its sources is no argument.
    fn collect(
        &self,
        value: Value,
        visited: &mut Vec<Value>,
        found: &mut Vec<Value>,
    ) -> Option<()> {
        if visited.contains(&value) {
            return Some(());
        }
        visited.push(value);
        if self.kernel.body.params.contains(&value) {
            found.push(value);
            found.sort_unstable();
            return Some(());
        }
        if let Some(sources) = self.sources.get(value) {
            return sources.iter().try_for_each(|&source| self.collect(source, visited, found));
        }
        let op = &self.kernel.ops[self.definitions[value]?];
        match op.kind {
            OpKind::Select => {
                op.operands[1..].iter().try_for_each(|&source| self.collect(source, visited, found))
            }
            OpKind::AddPtr
            | OpKind::Splat
            | OpKind::Unsplat
            | OpKind::Broadcast
            | OpKind::ExpandDims { .. }
            | OpKind::Reshape { .. }
            | OpKind::Trans { .. }
            | OpKind::ConvertLayout
            | OpKind::Cast(_) => self.collect(op.operands[0], visited, found),
            _ => None,
        }
    }
}
