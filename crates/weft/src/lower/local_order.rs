//! What orders accesses to shared memory that the program allocates: barriers between threads, waits for
//! products of warpgroups, and fences between what threads write and what matrix units read.
//!
//! A barrier stands in front of an access where another thread may have touched the same bytes since the
//! last one, one of the two writing. Two accesses of one allocation through one type and one layout, of
//! which no thread holds copies, are each thread's own: the same bytes of one buffer, or other buffers.
//! So are those of memory that asynchronous copies fill and loads empty, all in one layout; such loads then are of each
//! thread's own bytes, and none that have lanes bring each other's.
//! Two buffers of one allocation whose numbers differ have no bytes in common: two constants, or two
//! values of one round of a loop that hands a set of distinct constants round.
//! What a loop or a branch carries may be any of what is handed to it.
//! An asynchronous copy writes when it is waited for, whatever barriers stood between.
//! One thread begins the copies of blocks, so a barrier stands in front of one where others may still touch the
//! memory, unless it waited until they had left it, and in front of that a fence where they do so themselves; no
//! barrier stands behind it, since each thread waits for the block by itself.
//!
//! That thread sends blocks, too, behind a barrier and a fence in the same way, each as a group of its own. It waits
//! until a block was read, and meets the others, before the memory is written again, and before the kernel ends.
//! Groups may be written in any order: so it waits until earlier ones are there where the block may be the same, as
//! those of other rounds may, and those of one round whose indices do not differ by constants.
//!
//! Assembly that is not read has no barriers put around it: its threads order among themselves what it does.
//!
//! A product of warpgroups reads its factors until it is waited for. It is waited for where its sum is used
//! by anything but the next product that adds to it, where memory that it reads is written again or given up,
//! and before loops, except that a loop may carry the products of one round into the next
//! ([`tile::in_flight`](crate::tile::in_flight)). A branch may be passed meanwhile: an arm that looks at the sum
//! waits for it, and behind the branch the sum is what either arm leaves. Products end in the order in which
//! they began, so a wait says how many of the latest may go on.
//!
//! Barriers of movements are not counted on; where they do the same, a later pass removes one of the two.

use super::rotations::Rotations;
use crate::assign::{Assignment, Copied, LayoutId, Product, copied};
use crate::dtype::DType;
use crate::id::IdMap;
use crate::scalar::{self, Binary};
use crate::tile::effects::{Control, Tokens};
use crate::tile::{
    ByPointers, Kernel, LocalOp, Op, OpId, OpKind, Region, Sent, Sources, Touched, TransferOp,
    Value, in_flight,
};
use std::rc::Rc;
use weft_layout::space::{LANE, WARP};

/// The most blocks that are counted behind one that was sent.
const MOST_LATER: u32 = 8;

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
    /// Whether the threads have left since.
    left: Left,
}

/// Whether the threads of the block have left memory that is copied to, and who knows.
#[derive(Clone, Copy, PartialEq, Default)]
enum Left {
    #[default]
    No,
    /// They have told these mbarriers.
    Told(Value),
    /// Copies that begin from here on waited for that.
    AwaitedByCopies,
}

/// A product that may be under way.
#[derive(Clone, PartialEq)]
struct Flight {
    /// Its sum, unless another product has added to it since.
    sum: Option<Value>,
    /// The accesses by which it reads shared memory.
    reads: Vec<Access>,
    /// Whether it began in an earlier round.
    earlier: bool,
}

/// A block on its way to a tensor.
#[derive(Clone, PartialEq)]
struct Sending {
    op: OpId,
    /// What it reads.
    read: Access,
    /// Whether it may still read that.
    reads: bool,
    /// How many blocks were sent after it, at least.
    later: u32,
    /// Whether it, or one before it, was sent in an earlier round.
    earlier: bool,
}

/// What is not yet ordered.
#[derive(Clone, Default)]
struct Pending {
    accesses: Vec<Access>,
    /// Copies that may not have landed.
    copies: Vec<Access>,
    /// What threads wrote since matrix units were last told.
    unfenced: Vec<Access>,
    /// What threads touched since the copy engine was last told.
    touched: Vec<Access>,
    /// Products under way, the oldest first.
    flights: Vec<Flight>,
    /// Blocks on their way, of each operation the last one.
    sending: Vec<Sending>,
}

/// What stands in front of operations, and which products are under way around loops.
#[derive(Default)]
pub(super) struct Orders {
    /// Where the block waits.
    pub(super) barriers: IdMap<OpId, bool>,
    /// Accesses to what no other thread has touched since the last barrier, but this one.
    pub(super) own: IdMap<OpId, bool>,
    /// Where the copy engine is told what threads touched, before that.
    pub(super) fences_before: IdMap<OpId, bool>,
    /// Where matrix units are told what threads wrote, after that.
    pub(super) fences: IdMap<OpId, bool>,
    /// How many products may still be under way, before all that.
    pub(super) waits: IdMap<OpId, Option<u32>>,
    /// How many of the blocks that were sent may not have been read, before all that.
    pub(super) unread: IdMap<OpId, Option<u32>>,
    /// How many of them may not be there when another one is sent.
    pub(super) unsent: IdMap<OpId, Option<u32>>,
    /// The sums of the products that may be under way where a round of a loop begins, the oldest first.
    pub(super) carried: IdMap<OpId, Vec<Option<Value>>>,
    /// Those that may be under way where a branch begins, and that an arm of it waits for.
    pub(super) landed: IdMap<OpId, Vec<Value>>,
}

impl Pending {
    /// The values of a round are others in the next one.
    fn forget_buffers(&mut self) {
        let reads = self.flights.iter_mut().flat_map(|flight| &mut flight.reads);
        let others = self.copies.iter_mut().chain(&mut self.unfenced).chain(&mut self.touched);
        let sent = self.sending.iter_mut().map(|sending| {
            sending.earlier = true;
            &mut sending.read
        });
        for access in self.accesses.iter_mut().chain(others).chain(reads).chain(sent) {
            access.buffer = None;
        }
    }

    /// The sums of the products under way.
    fn sums(&self) -> Vec<Value> {
        self.flights.iter().filter_map(|flight| flight.sum).collect()
    }

    /// The same where the next round begins: each value of one list is the one in its place in the other.
    fn next_round(&mut self, from: &[Value], to: &[Value]) {
        for flight in &mut self.flights {
            flight.earlier = true;
            let Some(sum) = &mut flight.sum else { continue };
            if let Some(index) = from.iter().position(|value| value == sum) {
                *sum = to[index];
            }
        }
    }
}

struct Walk<'a> {
    kernel: &'a Kernel,
    assignment: &'a Assignment,
    definitions: IdMap<Value, Option<OpId>>,
    rotations: Rotations,
    sources: Sources,
    orders: Orders,
    end: End,
    /// The allocations that copies and loads alone touch, all in one layout of which no thread holds copies.
    alike: IdMap<OpId, bool>,
}

/// How the region that is walked ends.
#[derive(Default)]
struct End {
    /// The sums that may be under way then.
    under_way: Vec<Value>,
    /// Whether it is a branch's arm, which hands over none of them.
    is_arm: bool,
}

/// What stands in front of operations, with a barrier where one is needed already.
pub(super) fn orders(
    kernel: &Kernel,
    assignment: &Assignment,
    barriers: IdMap<OpId, bool>,
) -> Orders {
    let definitions = kernel.definitions();
    let mut walk = Walk {
        kernel,
        assignment,
        rotations: Rotations::of(kernel, &definitions),
        definitions,
        sources: Sources::of(kernel),
        orders: Orders { barriers, ..Orders::default() },
        end: End::default(),
        alike: IdMap::default(),
    };
    walk.alike = walk.alike();
    walk.region(&kernel.body, Pending::default());
    walk.orders
}

/// Whether the sum of a product can be under way: nothing moves it where it is left, and it is not taken out of
/// packed words.
pub(super) fn may_fly(assignment: &Assignment, product: OpId, sum: Value) -> bool {
    let Product::Warpgroup(product) = assignment.product(product) else { return false };
    product.instruction.sum.bits() == 32 && assignment.registers(sum) == Some(product.accumulator)
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
                self.add_all(&mut pending.unfenced, &landed);
                if groups == 0 {
                    pending.copies.clear();
                }
            }
            self.wait(id, op, &mut pending);
            self.wait_for_reads(id, op, &mut pending);
            match op.kind {
                OpKind::For(_) => {
                    let params = &op.regions[0].params[1..];
                    let end = End { under_way: self.may_be_carried(op), is_arm: false };
                    let outer = core::mem::replace(&mut self.end, end);
                    pending = self.rounds(pending, &[&op.regions[0]], params);
                    self.end = outer;
                    let sums = pending.flights.iter().map(|flight| flight.sum).collect();
                    self.orders.carried.set(id, sums);
                    // They are waited for behind the loop.
                    let flights = core::mem::take(&mut pending.flights);
                    let reads: Vec<Access> =
                        flights.into_iter().flat_map(|flight| flight.reads).collect();
                    self.add_all(&mut pending.accesses, &reads);
                }
                OpKind::While => {
                    let outer = core::mem::take(&mut self.end);
                    pending = self.rounds(pending, &[&op.regions[0], &op.regions[1]], &[]);
                    self.end = outer;
                }
                OpKind::If => {
                    let under_way = pending.sums();
                    let end = End { under_way: under_way.clone(), is_arm: true };
                    let outer = core::mem::replace(&mut self.end, end);
                    let mut end = Pending::default();
                    for region in &op.regions {
                        let arm = self.region(region, pending.clone());
                        let left = arm.sums();
                        let landed = under_way.iter().filter(|sum| !left.contains(sum));
                        let known = self.orders.landed.entry(id);
                        let new: Vec<Value> =
                            landed.copied().filter(|sum| !known.contains(sum)).collect();
                        known.extend(new);
                        self.join(&mut end, &arm);
                    }
                    self.end = outer;
                    pending = end;
                }
                _ => self.access(id, op, &mut pending),
            }
        }
        pending
    }

    /// What is pending after any number of rounds. A round can only add, and of finitely many. No product is
    /// under way when the loop begins; those at the end of a round are known by what it carries.
    fn rounds(&mut self, start: Pending, regions: &[&Region], params: &[Value]) -> Pending {
        let mut known = start;
        loop {
            let mut end = known.clone();
            for region in regions {
                end = self.region(region, end);
            }
            end.forget_buffers();
            if let [region] = regions {
                end.next_round(self.kernel.handed_over(region), params);
            }
            let size = |pending: &Pending| {
                let Pending { accesses, copies, unfenced, touched, flights, sending: _ } = pending;
                [accesses.len(), copies.len(), unfenced.len(), touched.len(), flights.len()]
            };
            let (before, sending) = (size(&known), known.sending.clone());
            self.join(&mut known, &end);
            if before == size(&known) && sending == known.sending {
                return known;
            }
        }
    }

    fn join(&self, into: &mut Pending, from: &Pending) {
        self.add_all(&mut into.accesses, &from.accesses);
        self.add_all(&mut into.copies, &from.copies);
        self.add_all(&mut into.unfenced, &from.unfenced);
        self.add_all(&mut into.touched, &from.touched);
        // Around a loop there are those of the last round, or none at all.
        if from.flights.len() >= into.flights.len() {
            into.flights.clone_from(&from.flights);
        }
        for other in &from.sending {
            let same = |known: &&mut Sending| known.op == other.op && known.read == other.read;
            match into.sending.iter_mut().find(same) {
                Some(known) => {
                    known.reads |= other.reads;
                    known.earlier |= other.earlier;
                    known.later = known.later.min(other.later);
                }
                None => into.sending.push(other.clone()),
            }
        }
    }

    /// Waits for what was sent and must have been read before an operation, and for what was sent before that.
    fn wait_for_reads(&mut self, id: OpId, op: &Op, pending: &mut Pending) {
        let written = written(op).map(|memory| self.roots(memory));
        let must_be_read = |sending: &&Sending| {
            let mut overwritten = written.iter();
            sending.reads
                && (op.kind == OpKind::Return
                    || overwritten
                        .any(|(roots, buffer)| self.may_be_same(&sending.read, roots, *buffer)))
        };
        let sent = pending.sending.iter().filter(must_be_read);
        let Some(left) = sent.map(|sending| sending.later).min() else { return };
        let mut read = Vec::new();
        for sending in pending.sending.iter_mut().filter(|sending| sending.later >= left) {
            if core::mem::take(&mut sending.reads) {
                // The thread that waits knows; the others do not.
                read.push(sending.read.clone());
            }
        }
        self.add_all(&mut pending.accesses, &read);
        let known = self.orders.unread[id].unwrap_or(u32::MAX);
        self.orders.unread.set(id, Some(left.min(known)));
    }

    /// Sends a block, behind those that it must not overtake.
    fn send(&mut self, id: OpId, read: Access, pending: &mut Pending) {
        self.fetch(id, &read, pending);
        let overtakes = |sending: &&Sending| self.may_overtake(sending, id);
        let sent = pending.sending.iter().filter(overtakes);
        if let Some(left) = sent.map(|sending| sending.later).min() {
            let (there, rest): (Vec<Sending>, Vec<Sending>) =
                pending.sending.drain(..).partition(|sending| sending.later >= left);
            pending.sending = rest;
            let read: Vec<Access> =
                there.into_iter().filter(|sent| sent.reads).map(|sent| sent.read).collect();
            self.add_all(&mut pending.accesses, &read);
            let known = self.orders.unsent[id].unwrap_or(u32::MAX);
            self.orders.unsent.set(id, Some(left.min(known)));
        }
        for sending in &mut pending.sending {
            sending.later = (sending.later + 1).min(MOST_LATER);
        }
        // Who waits for it waits for that of the round before as well.
        let count = pending.sending.len();
        pending.sending.retain(|sending| sending.op != id);
        let earlier = pending.sending.len() < count;
        pending.sending.push(Sending { op: id, read, reads: true, later: 0, earlier });
    }

    /// Whether a block must not be sent before another one is there: they may be the same, and it matters which of
    /// the two is written last.
    fn may_overtake(&self, before: &Sending, now: OpId) -> bool {
        let [then, now] = [before.op, now].map(|id| &self.kernel.ops[id]);
        let commute = matches!((&then.kind, &now.kind),
            (OpKind::Transfer(TransferOp::Send(Some(x))), OpKind::Transfer(TransferOp::Send(Some(y))))
                if x == y);
        let (Some(x), Some(y)) = (Sent::of(&then.operands), Sent::of(&now.operands)) else {
            return true;
        };
        if commute || x.descriptor != y.descriptor {
            return false;
        }
        let block = self.kernel.ty(x.descriptor).shape.iter();
        let apart = x.indices.iter().zip(&y.indices).zip(block).any(|((&x, &y), &side)| {
            let [(x, at), (y, other)] = [x, y].map(|index| self.behind(index));
            x == y && at.abs_diff(other) >= side && at.abs_diff(other) < 1 << 31
        });
        before.earlier || !apart
    }

    /// An index as a value and what is added to it.
    fn behind(&self, index: Value) -> (Value, i64) {
        let number = |value: Value| {
            let id = self.definitions[value]?;
            match self.kernel.ops[id].kind {
                OpKind::Constant(bits) => Some(scalar::sign_extend(DType::I32, bits)),
                _ => None,
            }
        };
        let (mut value, mut sum) = (index, 0);
        while let Some(id) = self.definitions[value] {
            let op = &self.kernel.ops[id];
            let (OpKind::Binary(Binary::Add), &[x, y]) = (&op.kind, &op.operands[..]) else {
                break;
            };
            let (rest, more) = match (number(x), number(y)) {
                (_, Some(more)) => (x, more),
                (Some(more), None) => (y, more),
                (None, None) => break,
            };
            (value, sum) = (rest, sum + more);
        }
        (value, sum)
    }

    /// Waits for the products that must be over before an operation, and for those before them.
    fn wait(&mut self, id: OpId, op: &Op, pending: &mut Pending) {
        let effects = op.kind.effects();
        let ends = effects.is_terminator();
        let repeats = effects.control == Control::Regions && op.kind != OpKind::If;
        let written: Vec<_> = if effects.tokens == Tokens::Leaves {
            op.operands.iter().skip(2).map(|&memory| self.roots(memory)).collect()
        } else {
            written(op).map(|memory| self.roots(memory)).into_iter().collect()
        };
        let must_end = |flight: &Flight| {
            let used = flight.sum.is_some_and(|sum| {
                let adds = matches!(op.kind, OpKind::WarpgroupDot(_))
                    && may_fly(self.assignment, id, op.results[0])
                    && op.operands.iter().filter(|&&operand| operand == sum).count() == 1
                    && op.operands[2] == sum;
                op.operands.contains(&sum) && !adds && (!ends || self.end.is_arm)
            });
            let left = ends && flight.sum.is_some_and(|sum| !self.end.under_way.contains(&sum));
            let overwritten = written.iter().any(|(roots, buffer)| {
                flight.reads.iter().any(|read| self.may_be_same(read, roots, *buffer))
            });
            used || left || overwritten || repeats
        };
        let Some(mut last) = pending.flights.iter().rposition(must_end) else { return };
        if pending.flights[last].earlier {
            // The assembler does not tell the products of an earlier round apart: it would take one of them
            // to be under way where another one's sum is read, and have every product end before the next.
            last = pending.flights.iter().rposition(|flight| flight.earlier).unwrap_or(last);
        }
        let left = pending.flights.split_off(last + 1);
        for flight in core::mem::replace(&mut pending.flights, left) {
            self.add_all(&mut pending.accesses, &flight.reads);
        }
        let left = pending.flights.len() as u32;
        let known = self.orders.waits[id].unwrap_or(u32::MAX);
        self.orders.waits.set(id, Some(left.min(known)));
    }

    /// Of what a loop hands over at the end of a round, the sums that may be under way then: those that are
    /// carried where they are left.
    fn may_be_carried(&self, op: &Op) -> Vec<Value> {
        let params = &op.regions[0].params[1..];
        let stays = |index: usize, last: Value| {
            let home = self.assignment.registers(last);
            [params[index], op.results[index]]
                .iter()
                .all(|&at| self.assignment.registers(at) == home)
        };
        let found = in_flight(self.kernel, op).into_iter();
        found.filter(|&(index, last)| stays(index, last)).map(|(_, last)| last).collect()
    }

    /// Whether an access may touch a buffer of some memory.
    fn may_be_same(&self, access: &Access, roots: &[OpId], buffer: Option<Value>) -> bool {
        let apart = match (access.buffer, buffer) {
            (Some(x), Some(y)) => self.rotations.differ(x, y),
            _ => false,
        };
        !apart && access.roots.iter().any(|root| roots.contains(root))
    }

    fn add_all(&self, into: &mut Vec<Access>, from: &[Access]) {
        for access in from {
            if !into.iter().any(|known| self.is_same(known, access)) {
                into.push(access.clone());
            }
        }
    }

    fn access(&mut self, id: OpId, op: &Op, pending: &mut Pending) {
        if matches!(op.kind, OpKind::WarpgroupDot(_)) {
            return self.product(id, op, pending);
        }
        let effects = op.kind.effects();
        if let OpKind::Transfer(TransferOp::Open { .. }) = op.kind {
            // Its barrier and fence are for all that there was.
            pending.accesses.clear();
            pending.unfenced.clear();
            pending.touched.clear();
        }
        if effects.tokens == Tokens::Leaves {
            if !pending.touched.is_empty() {
                self.orders.fences_before.set(id, true);
                pending.touched.clear();
            }
            let told = Left::Told(op.operands[0]);
            pending.accesses.iter_mut().for_each(|access| access.left = told);
        }
        if effects.tokens == Tokens::AfterLeaving {
            let told = Left::Told(op.operands[0]);
            let told = pending.accesses.iter_mut().filter(|access| access.left == told);
            told.for_each(|access| access.left = Left::AwaitedByCopies);
        }
        let Some((memory, tensor)) = roles(op).filter(|_| effects.local.any()) else { return };
        let writes = effects.local.writes;
        let (roots, buffer) = self.roots(memory);
        if let Tokens::Fetches | Tokens::Sends = effects.tokens {
            let access = Access { roots, writes, buffer, own: None, left: Left::No };
            return match effects.tokens {
                Tokens::Sends => self.send(id, access, pending),
                _ => self.fetch(id, &access, pending),
            };
        }
        let own = match self.assignment.given(tensor) {
            Some(given) => self.owned(given),
            None if roots.iter().all(|&root| self.alike[root]) => self.layout_of(id, op, tensor),
            None => None,
        };
        let own = own.map(|layout| (layout, memory));
        let access = Access { roots, writes, buffer, own, left: Left::No };
        if pending.accesses.iter().any(|before| self.meet(before, &access)) {
            self.orders.barriers.set(id, true);
            pending.accesses.clear();
        }
        let is_given = self.assignment.given(tensor).is_some();
        if !is_given && pending.accesses.iter().any(|before| self.touch(before, &access)) {
            self.orders.own.set(id, true);
        }
        let access = [access];
        self.add_all(&mut pending.accesses, &access);
        self.add_all(&mut pending.touched, &access);
        if effects.tokens == Tokens::Starts {
            self.add_all(&mut pending.copies, &access);
        } else if writes {
            self.add_all(&mut pending.unfenced, &access);
        }
    }

    /// The layout in which a copy to shared memory or a load from there runs, if no thread holds copies of it.
    fn layout_of(&self, id: OpId, op: &Op, tensor: Value) -> Option<LayoutId> {
        let home = self.assignment.registers(tensor);
        let layout = match op.kind.by_pointers() {
            Some(ByPointers::Copy) => self.assignment.runs_in(id).or(home),
            _ if op.kind == OpKind::Local(LocalOp::Load) => home,
            _ => None,
        };
        layout.and_then(|layout| self.owned(layout))
    }

    /// A layout of which no thread holds copies.
    fn owned(&self, layout: LayoutId) -> Option<LayoutId> {
        let threads = self.assignment.layouts.get(layout);
        (threads.free_mask(LANE) | threads.free_mask(WARP) == 0).then_some(layout)
    }

    /// [`Walk::alike`].
    fn alike(&self) -> IdMap<OpId, bool> {
        let mut layouts: IdMap<OpId, Option<LayoutId>> = IdMap::default();
        let mut mixed: IdMap<OpId, bool> = IdMap::default();
        self.kernel.walk(&self.kernel.body, &mut |id, op| {
            let is_empty = op.kind == OpKind::Local(LocalOp::Alloc) && op.operands.is_empty();
            if is_empty || !op.kind.effects().local.any() {
                return;
            }
            let access = roles(op);
            let layout = access.and_then(|(_, tensor)| self.layout_of(id, op, tensor));
            let described = op.operands.iter().chain(&op.results).copied();
            for memory in described.filter(|&value| self.kernel.ty(value).memory().is_some()) {
                for &root in self.roots(memory).0.iter() {
                    let is_other = layout
                        .is_none_or(|layout| *layouts.entry(root).get_or_insert(layout) != layout);
                    if is_other {
                        mixed.set(root, true);
                    }
                }
            }
        });
        let mut alike = IdMap::default();
        for root in self.kernel.ops.keys().filter(|&root| layouts[root].is_some()) {
            alike.set(root, !mixed[root]);
        }
        alike
    }

    /// A block that the copy engine writes, or reads. Who reads it waits for it, whatever the others do.
    fn fetch(&mut self, id: OpId, access: &Access, pending: &mut Pending) {
        let late = pending
            .accesses
            .iter()
            .any(|before| before.left != Left::AwaitedByCopies && self.meet(before, access));
        let untold = pending.touched.iter().any(|before| self.meet(before, access));
        if untold {
            self.orders.fences_before.set(id, true);
            pending.touched.clear();
        }
        if late || untold {
            self.orders.barriers.set(id, true);
            pending.accesses.clear();
        }
    }

    /// A product: it reads what threads wrote, as they must have told its matrix units.
    fn product(&mut self, id: OpId, op: &Op, pending: &mut Pending) {
        let memories =
            op.operands.iter().filter(|&&value| self.kernel.ty(value).memory().is_some());
        let reads: Vec<Access> = memories
            .map(|&memory| {
                let (roots, buffer) = self.roots(memory);
                Access { roots, writes: false, buffer, own: None, left: Left::No }
            })
            .collect();
        let met = |before: &Access| reads.iter().any(|read| self.meet(before, read));
        let [late, untold] =
            [&pending.accesses, &pending.unfenced].map(|list| list.iter().any(met));
        if late {
            self.orders.barriers.set(id, true);
            pending.accesses.clear();
        }
        if untold {
            self.orders.fences.set(id, true);
            pending.unfenced.clear();
        }
        let sum = op.results[0];
        if !may_fly(self.assignment, id, sum) {
            // It is waited for at once, with all before it.
            let all = pending.flights.drain(..).flat_map(|flight| flight.reads).chain(reads);
            let all: Vec<Access> = all.collect();
            return self.add_all(&mut pending.accesses, &all);
        }
        for flight in &mut pending.flights {
            flight.sum = flight.sum.filter(|sum| !op.operands.contains(sum));
        }
        pending.flights.push(Flight { sum: Some(sum), reads, earlier: false });
    }

    /// Whether threads may meet in two accesses, one of which writes.
    fn meet(&self, x: &Access, y: &Access) -> bool {
        self.touch(x, y) && !(x.own.is_some() && self.are_own(x, y))
    }

    /// Whether two accesses, one of which writes, may have bytes in common.
    fn touch(&self, x: &Access, y: &Access) -> bool {
        let common = x.roots.iter().any(|root| y.roots.contains(root));
        let apart = match (x.buffer, y.buffer) {
            (Some(x), Some(y)) => self.rotations.differ(x, y),
            _ => false,
        };
        common && !apart && (x.writes || y.writes)
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
        let alike = x.roots == y.roots && x.writes == y.writes && x.buffer == y.buffer;
        alike && x.left == y.left && self.are_own(x, y)
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
                OpKind::Local(LocalOp::Alloc) => {
                    roots.push(id);
                    continue;
                }
                OpKind::Local(LocalOp::Index) => buffer = op.operands.get(1).copied(),
                _ => {}
            }
            open.extend(op.operands.first());
        }
        roots.sort_unstable();
        (roots.into(), buffer.filter(|_| !carried))
    }
}

/// The memory that an operation writes or gives up.
fn written(op: &Op) -> Option<Value> {
    let effects = op.kind.effects();
    let writes = effects.local.writes || effects.allocates;
    roles(op).filter(|_| writes).map(|(memory, _)| memory)
}

/// The memory that an operation touches, and the tensor that it moves from or to there.
fn roles(op: &Op) -> Option<(Value, Value)> {
    match &op.kind {
        OpKind::Local(what) => {
            let Touched { memory, tensor } = what.touched(op)?;
            Some((memory, tensor.unwrap_or(memory)))
        }
        OpKind::Transfer(_) => copied(op).map(|Copied { memory, .. }| (memory, memory)),
        _ if op.kind.by_pointers() == Some(ByPointers::Copy) => {
            Some((op.operands[1], op.operands[0]))
        }
        _ => None,
    }
}
