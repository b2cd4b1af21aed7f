//! Barriers between the threads' accesses to shared memory that the program allocates.
//!
//! A barrier stands in front of an access where another thread may have touched the same bytes since the
//! last one, one of the two writing. Two accesses of one allocation through one type and one layout, of
//! which no thread holds copies, are each thread's own: the same bytes of one buffer, or other buffers.
//! Two buffers of one allocation whose numbers differ have no bytes in common: two constants, or two
//! values of one round of a loop that hands a set of distinct constants round.
//! What a loop or a branch carries may be any of what is handed to it.
//! An asynchronous copy writes when it is waited for, whatever barriers stood between.
//! Assembly that is not read has no barriers put around it: its threads order among themselves what it does.
//!
//! Barriers of movements are not counted on; where they do the same, a later pass removes one of the two.

use super::rotations::Rotations;
use crate::assign::{Assignment, LayoutId};
use crate::id::IdMap;
use crate::tile::effects::Tokens;
use crate::tile::{Kernel, Op, OpId, OpKind, Region, Sources, Value};
use std::rc::Rc;
use weft_layout::space::{LANE, WARP};

/// An access since the last barrier.
#[derive(Clone, PartialEq)]
struct Access {
    /// The operations that may have allocated the memory, in order.
    roots: Rc<[OpId]>,
    writes: bool,
    /// The number of the buffer, as far as it is known to be the same in what follows.
    buffer: Option<Value>,
    /// The layout and the description, where each thread has bytes of its own.
    own: Option<(LayoutId, Value)>,
}

/// What is not yet ordered.
#[derive(Clone, Default)]
struct Pending {
    accesses: Vec<Access>,
    /// Copies that may not have landed.
    copies: Vec<Access>,
}

impl Pending {
    /// The values of a round are others in the next one.
    fn forget_buffers(&mut self) {
        for access in self.accesses.iter_mut().chain(&mut self.copies) {
            access.buffer = None;
        }
    }
}

struct Walk<'a> {
    kernel: &'a Kernel,
    assignment: &'a Assignment,
    definitions: IdMap<Value, Option<OpId>>,
    rotations: Rotations,
    sources: Sources,
    needs: IdMap<OpId, bool>,
}

/// Marks the operations that need a barrier of the block in front, besides those that are marked.
pub(super) fn mark(kernel: &Kernel, assignment: &Assignment, needs: &mut IdMap<OpId, bool>) {
    let definitions = kernel.definitions();
    let mut walk = Walk {
        kernel,
        assignment,
        rotations: Rotations::of(kernel, &definitions),
        definitions,
        sources: Sources::of(kernel),
        needs: core::mem::take(needs),
    };
    walk.region(&kernel.body, Pending::default());
    *needs = walk.needs;
}

impl Walk<'_> {
    fn region(&mut self, region: &Region, start: Pending) -> Pending {
        let mut pending = start;
        for &id in &region.ops {
            let kernel = self.kernel;
            let op = &kernel.ops[id];
            if let Tokens::Awaits { pending: groups } = op.kind.effects().tokens {
                let landed = pending.copies.clone();
                self.add_all(&mut pending.accesses, &landed);
                if groups == 0 {
                    pending.copies.clear();
                }
            }
            match op.kind {
                OpKind::For => pending = self.rounds(pending, &[&op.regions[0]]),
                OpKind::While => {
                    pending = self.rounds(pending, &[&op.regions[0], &op.regions[1]]);
                }
                OpKind::If => {
                    let mut end = Pending::default();
                    for region in &op.regions {
                        let arm = self.region(region, pending.clone());
                        self.join(&mut end, &arm);
                    }
                    pending = end;
                }
                _ => self.access(id, op, &mut pending),
            }
        }
        pending
    }

    /// What is pending after any number of rounds. A round can only add, and of finitely many.
    fn rounds(&mut self, start: Pending, regions: &[&Region]) -> Pending {
        let mut known = start;
        loop {
            let mut end = known.clone();
            for region in regions {
                end = self.region(region, end);
            }
            end.forget_buffers();
            let before = (known.accesses.len(), known.copies.len());
            self.join(&mut known, &end);
            if before == (known.accesses.len(), known.copies.len()) {
                return known;
            }
        }
    }

    fn join(&self, into: &mut Pending, from: &Pending) {
        self.add_all(&mut into.accesses, &from.accesses);
        self.add_all(&mut into.copies, &from.copies);
    }

    fn add_all(&self, into: &mut Vec<Access>, from: &[Access]) {
        for access in from {
            if !into.iter().any(|known| self.is_same(known, access)) {
                into.push(access.clone());
            }
        }
    }

    fn access(&mut self, id: OpId, op: &Op, pending: &mut Pending) {
        let effects = op.kind.effects();
        let Some((memory, tensor)) = roles(op).filter(|_| effects.local.any()) else { return };
        let writes = effects.local.writes;
        let (roots, buffer) = self.roots(memory);
        let own = self.assignment.given(tensor).filter(|&layout| {
            let layout = self.assignment.layouts.get(layout);
            layout.free_mask(LANE) | layout.free_mask(WARP) == 0
        });
        let own = own.map(|layout| (layout, memory));
        let access = Access { roots, writes, buffer, own };
        if pending.accesses.iter().any(|before| self.meet(before, &access)) {
            self.needs.set(id, true);
            pending.accesses.clear();
        }
        let access = [access];
        self.add_all(&mut pending.accesses, &access);
        if effects.tokens == Tokens::Starts {
            self.add_all(&mut pending.copies, &access);
        }
    }

    /// Whether threads may meet in two accesses, one of which writes.
    fn meet(&self, x: &Access, y: &Access) -> bool {
        let common = x.roots.iter().any(|root| y.roots.contains(root));
        let apart = match (x.buffer, y.buffer) {
            (Some(x), Some(y)) => self.rotations.differ(x, y),
            _ => false,
        };
        common && !apart && (x.writes || y.writes) && !(x.own.is_some() && self.are_own(x, y))
    }

    fn are_own(&self, x: &Access, y: &Access) -> bool {
        match (x.own, y.own) {
            (None, None) => true,
            (Some((layout, memory)), Some((other, seen))) => {
                layout == other && self.kernel.ty(memory) == self.kernel.ty(seen)
            }
            _ => false,
        }
    }

    fn is_same(&self, x: &Access, y: &Access) -> bool {
        x.roots == y.roots && x.writes == y.writes && x.buffer == y.buffer && self.are_own(x, y)
    }

    /// The operations that may have allocated what a value describes, in order, and the number of the
    /// buffer where there is one way to it alone.
    fn roots(&self, memory: Value) -> (Rc<[OpId]>, Option<Value>) {
        let (mut seen, mut open, mut roots) = (Vec::new(), vec![memory], Vec::new());
        let (mut buffer, mut carried) = (None, false);
        while let Some(at) = open.pop() {
            if seen.contains(&at) {
                continue;
            }
            seen.push(at);
            if let Some(sources) = self.sources.get(at) {
                carried = true;
                open.extend_from_slice(sources);
                continue;
            }
            let Some(id) = self.definitions[at] else { continue };
            let op = &self.kernel.ops[id];
            match op.kind {
                OpKind::LocalAlloc => {
                    roots.push(id);
                    continue;
                }
                OpKind::MemdescIndex => buffer = op.operands.get(1).copied(),
                _ => {}
            }
            open.extend(op.operands.first());
        }
        roots.sort_unstable();
        (roots.into(), buffer.filter(|_| !carried))
    }
}

/// The memory that an operation touches, and the tensor that it moves from or to there.
fn roles(op: &Op) -> Option<(Value, Value)> {
    match op.kind {
        OpKind::LocalAlloc => op.operands.first().map(|&source| (op.results[0], source)),
        OpKind::LocalLoad => Some((op.operands[0], op.results[0])),
        OpKind::LocalStore | OpKind::AsyncCopy(_) => Some((op.operands[1], op.operands[0])),
        _ => None,
    }
}
