//! A loop with its loads ahead.

use super::behind::{Behind, put_off};
use super::find::{Loop, Stream, is_block, is_of_warpgroups, looks};
use super::reach::base;
use super::replace;
use crate::cache::Cache;
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare};
use crate::tile::{
    Around, AsyncCopy, Copies, CopyOptions, Element, Encoding, Kernel, LocalOp, Op, OpId, OpKind,
    Region, SharedMemory, Type, Value, ValueData, in_flight,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use weft_layout::family::{Family, SwizzledShared};

/// A round whose tiles are about to be copied.
#[derive(Clone)]
struct Round {
    counter: Value,
    /// Whether the loop has it.
    exists: Value,
    /// What the loop carries into it, of what addresses need.
    carried: Vec<Value>,
    /// What has been loaded into registers, of the round before it.
    held: Vec<Value>,
}

impl Round {
    fn values(&self) -> Vec<Value> {
        [&[self.counter, self.exists], &self.carried[..], &self.held].concat()
    }
}

/// Whether loads that are ahead have to be done again, for what the round before has stored.
#[derive(Clone, Default)]
struct Met {
    /// Whether one of them begins where one of the stores did, or some may lie where stores do.
    again: Option<Value>,
    /// Which of them are done again then.
    loads: Vec<bool>,
}

/// The same in the round after it, and what the loop carries for it.
#[derive(Default)]
struct MetBefore {
    met: Met,
    initial: Vec<Value>,
    entering: Vec<Value>,
    leaving: Vec<Value>,
    results: Vec<Value>,
}

impl Met {
    /// Hands it over to the next round. In front of the first one no round has stored anything, but what may lie where
    /// stores do has not been loaded.
    fn carried(self, writer: &mut Prefetcher<'_>) -> MetBefore {
        let mut before = MetBefore::default();
        let again = self.again.map(|again| {
            let first = writer.meet.unwrap_or_else(|| writer.filled(again, 0));
            before.leaving.push(again);
            before.initial.push(first);
            before.results.push(writer.like(again));
            let entering = writer.like(again);
            before.entering.push(entering);
            entering
        });
        before.met = Met { again: again.or(writer.meet), ..self };
        before
    }
}

impl MetBefore {
    /// Lets a round use what has been loaded for it, and load again what that says.
    fn take_held(&self, kernel: &mut Kernel, body: &mut Region, held: &[(OpId, Value)]) {
        let mut done_again = Vec::new();
        for (&(load, held), &again) in held.iter().zip(&self.met.loads) {
            let loaded = kernel.ops[load].results[0];
            if again {
                let other = kernel.values.push(kernel.values[held].clone());
                done_again.push((load, held, other));
                replace(kernel, body, loaded, other);
            } else {
                replace(kernel, body, loaded, held);
                body.ops.retain(|&id| id != load);
            }
        }
        if let Some(again) = self.met.again.filter(|_| !done_again.is_empty()) {
            branch(kernel, body, again, &done_again);
        }
    }
}

/// Does loads again if a condition holds: in one branch where the last of them stands, with what is made of the others
/// behind it, or each where it stands if that is more than arithmetic. Each is given with what has been loaded before
/// and what the round takes.
fn branch(
    kernel: &mut Kernel,
    body: &mut Region,
    condition: Value,
    loads: &[(OpId, Value, Value)],
) {
    let taken: Vec<(OpId, Value)> = loads.iter().map(|&(load, _, taken)| (load, taken)).collect();
    if let Some(mut parts) = parted(kernel, &body.ops, &taken) {
        parts.front.push(branch_of(kernel, condition, loads));
        body.ops = [parts.front, parts.behind].concat();
        return;
    }
    for one in loads.chunks(1) {
        let branch = branch_of(kernel, condition, one);
        for id in &mut body.ops {
            if *id == one[0].0 {
                *id = branch;
            }
        }
    }
}

/// The operations of a body without some loads.
struct Parts {
    /// Those in front of the last of the loads that need nothing of what they give.
    front: Vec<OpId>,
    behind: Vec<OpId>,
}

/// The operations of a body so that all of some loads may stand in one place; nothing where one of those that would come
/// behind it does more than compute. Each load is given with what takes the place of its result.
fn parted(kernel: &Kernel, ops: &[OpId], loads: &[(OpId, Value)]) -> Option<Parts> {
    let is_one = |id: &OpId| loads.iter().any(|(load, _)| load == id);
    let last = ops.iter().rposition(is_one)?;
    let mut taken: Vec<Value> = loads.iter().map(|&(_, taken)| taken).collect();
    let (mut front, mut behind) = (Vec::new(), Vec::new());
    for &id in ops[..=last].iter().filter(|id| !is_one(id)) {
        if taken.iter().any(|&value| looks(kernel, id, value)) {
            taken.extend(&kernel.ops[id].results);
            behind.push(id);
        } else {
            front.push(id);
        }
    }
    if !behind.iter().all(|&id| kernel.ops[id].kind.effects().is_pure()) {
        return None;
    }
    behind.extend(&ops[last + 1..]);
    Some(Parts { front, behind })
}

/// A branch with loads on one side.
fn branch_of(kernel: &mut Kernel, condition: Value, loads: &[(OpId, Value, Value)]) -> OpId {
    let Op { loc, span, .. } = kernel.ops[loads[0].0];
    let (mut then, mut loaded) = (Vec::new(), Vec::new());
    for &(load, ..) in loads {
        then.push(load);
        loaded.extend(&kernel.ops[load].results);
    }
    let mut op = |kind, operands, results, regions| {
        kernel.ops.push(Op { kind, operands, results, regions, loc, span, spelled: false })
    };
    let before = loads.iter().map(|&(_, before, _)| before).collect();
    let otherwise = vec![op(OpKind::Yield, before, vec![], vec![])];
    then.push(op(OpKind::Yield, loaded, vec![], vec![]));
    let regions = [then, otherwise].map(|ops| Region { params: vec![], ops });
    let taken = loads.iter().map(|&(_, _, taken)| taken).collect();
    op(OpKind::If, vec![condition], taken, regions.to_vec())
}

/// Rewrites a loop; what must stand around it. `apart` says whether several warpgroups share the block.
pub(super) fn rewrite(kernel: &mut Kernel, found: &Loop, stages: u32, apart: bool) -> Around {
    let mut writer = Prefetcher::new(kernel, found, stages);
    writer.fill_behind();
    let slots: Vec<Value> = (0..stages).map(|slot| writer.slot(slot)).collect();
    writer.open_mbarriers(apart);
    let parities = writer.parities();
    writer.look_around();
    let mut rounds: Vec<Round> =
        found.streams.iter().map(|stream| writer.first_round(stream)).collect();
    for place in 0..stages as usize - 1 {
        rounds = writer.copy(&rounds, |lag| place.checked_sub(lag).map(|place| slots[place]));
    }
    let factors: Vec<Value> = found.behind.iter().map(|behind| writer.no_factor(behind)).collect();
    let before = core::mem::take(&mut writer.list);
    writer.loaded.clear();

    // The loop carries the rounds ahead, its buffers in the order in which they are filled, and the left factors
    // of the products that run a round behind.
    let ahead: Vec<Value> = rounds.iter().flat_map(Round::values).collect();
    let initial = [&ahead[..], &slots, &parities, &factors].concat();
    let entering: Vec<Value> = initial.iter().map(|&value| writer.like(value)).collect();
    let leaving: Vec<Value> = initial.iter().map(|&value| writer.like(value)).collect();
    let (ahead, rest) = entering.split_at(ahead.len());
    let (slots, rest) = rest.split_at(slots.len());
    let (parities, factors) = rest.split_at(parities.len());
    let rounds = writer.rounds(ahead);
    for round in &rounds {
        writer.kernel.values[round.counter].within = Some(found.counts);
    }
    let last = slots.len() - 1;

    let waited = writer.wait_for_groups(stages - 2);
    let mut next_parities = writer.wait_for_blocks(slots, parities);
    let wait = core::mem::take(&mut writer.list);
    next_parities.extend(writer.wait_for_threads(slots, parities));
    let next = writer.copy(&rounds, |lag| Some(slots[last - lag]));
    let copies = core::mem::take(&mut writer.list);
    let buffers = writer.buffers.clone();
    // In the place of the newest, which is copied now, lies the round before.
    let views: Vec<Value> = buffers
        .iter()
        .map(|buffer| writer.view(buffer, if buffer.lag == 0 { slots[0] } else { slots[last] }))
        .collect();
    let head = core::mem::take(&mut writer.list);
    writer.leave_round(slots, &views);
    let (met, met_anywhere) = (writer.met(), writer.meet);
    let tail = core::mem::take(&mut writer.list);
    let met = met.carried(&mut writer);
    let before = [before, core::mem::take(&mut writer.list)].concat();
    let rotated = [&slots[1..], &slots[..1]].concat();
    let next: Vec<Value> = next.iter().flat_map(Round::values).collect();
    let handed_over = found.behind.iter().map(|behind| writer.factor(behind));
    let yielded = [next, rotated, next_parities, handed_over.collect()].concat();

    writer.wait_for_groups(0);
    let (_, rest) = leaving.split_at(ahead.len());
    let (slots, rest) = rest.split_at(slots.len());
    let (parities, factors_after) = rest.split_at(parities.len());
    let newest = slots[last];
    writer.wait_for_last_blocks(newest, parities);
    for (behind, &factor) in found.behind.iter().zip(factors_after) {
        writer.finish(behind, factor, newest);
    }
    for buffer in &buffers {
        writer.op(OpKind::Local(LocalOp::Dealloc), &[buffer.memory], &[]);
    }
    writer.close_mbarriers();
    let after = writer.list;

    let mut body = core::mem::take(&mut kernel.ops[found.op].regions[0]);
    let held = found.streams.iter().zip(&rounds);
    let held = held.flat_map(|(stream, round)| stream.held.iter().copied().zip(round.held.clone()));
    met.take_held(kernel, &mut body, &held.collect::<Vec<_>>());
    body.ops = from_buffers(kernel, &buffers, &body, &views, [waited, met_anywhere]);
    for (behind, &factor) in found.behind.iter().zip(factors) {
        body.ops = put_off(kernel, behind, &body, factor);
    }
    body.params.extend(entering.into_iter().chain(met.entering));
    if let Some(&last) = body.ops.last() {
        kernel.ops[last].operands.extend(yielded.into_iter().chain(met.leaving));
    }
    let op = &mut kernel.ops[found.op];
    op.operands.extend(initial.into_iter().chain(met.initial));
    op.results.extend(leaving.into_iter().chain(met.results));
    op.regions[0] = body;
    kernel.ops[found.op].regions[0].ops = in_order(kernel, found, [&wait, &head, &copies, &tail]);
    Around { before, after }
}

/// The operations of a round: the wait for its tiles, their views, the body, the copies for a later round, and
/// what is done at its end.
///
/// Warpgroups read what was copied behind a fence, which waits for all that a thread has asked of memory: their first
/// product begins in front of the copies and of loads into registers, if it takes its factors as they were copied, which
/// it then does at once. (`SageAttention`'s products of i8, whose scales come so, on an H200: 1.09 of the speed. Copies that
/// wait for factors which a round computes come late: gradients of the states of linear attention at 0.79.)
///
/// What the last product of a round reads may be written again when that of the round before is over, which is
/// known when this one has been issued, and products had better begin before the copies; or where the round looks
/// at the sum of that before its own product. What is done until then does without the tiles of the round.
fn in_order(kernel: &Kernel, found: &Loop, [wait, head, copies, tail]: [&[OpId]; 4]) -> Vec<OpId> {
    let op = &kernel.ops[found.op];
    let region = &op.regions[0];
    let Some((&end, body)) = region.ops.split_last() else { return Vec::new() };
    let tail = [tail, &[end]].concat();
    let place = |takes: &dyn Fn(&OpId) -> bool| body.iter().position(takes);
    let flying = in_flight(kernel, op).into_iter().filter_map(|(sum, _)| {
        let before = region.params[1 + sum];
        place(&|&id| looks(kernel, id, before))
    });
    let behind = found.behind.iter().filter_map(|behind| place(&|id| *id == behind.product));
    let Some(over) = flying.chain(behind).max() else {
        let product = place(&|&id| is_of_warpgroups(&kernel.ops[id]));
        let Some(begins) = product.filter(|&place| takes_tiles(kernel, body, place)) else {
            return [wait, copies, head, body, &tail].concat();
        };
        let (before, rest) = body.split_at(begins + 1);
        return [wait, head, before, copies, rest, &tail].concat();
    };
    let (before, rest) = body.split_at(over + 1);
    let tiles = head.iter().flat_map(|&id| &kernel.ops[id].results);
    let needs = |id: &OpId| tiles.clone().any(|&tile| looks(kernel, *id, tile));
    if before.iter().any(needs) {
        [wait, head, before, copies, rest, &tail].concat()
    } else {
        [before, wait, copies, head, rest, &tail].concat()
    }
}

/// Whether the product in this place of a body takes factors that the body does not compute: tiles, turned at most, and
/// what it finds in front of the loop.
fn takes_tiles(kernel: &Kernel, body: &[OpId], place: usize) -> bool {
    let (&product, before) = (&body[place], &body[..place]);
    let mut left = kernel.ops[product].operands[..2].to_vec();
    while let Some(value) = left.pop() {
        let made = before.iter().find(|id| kernel.ops[**id].results.contains(&value));
        let Some(op) = made.map(|&id| &kernel.ops[id]) else { continue };
        if !matches!(&op.kind, OpKind::Local(view) if !matches!(view, LocalOp::Alloc)) {
            return false;
        }
        left.extend(&op.operands);
    }
    true
}

/// The operations of a body that has its tiles in buffers: loads read them, behind what was waited for, and what was put
/// into memory from a load alone is there. Where stores may be met nothing was copied, and the loads are done.
fn from_buffers(
    kernel: &mut Kernel,
    buffers: &[Buffer],
    body: &Region,
    views: &[Value],
    [waited, meet]: [Option<Value>; 2],
) -> Vec<OpId> {
    let mut ops = body.ops.clone();
    let (mut loads, mut copies) = (Vec::new(), Vec::new());
    for (&Buffer { load, .. }, &view) in buffers.iter().zip(views) {
        let loaded = kernel.ops[load].results[0];
        let stores = |id: &OpId| {
            let op = &kernel.ops[*id];
            op.kind == OpKind::Local(LocalOp::Alloc) && op.operands.first() == Some(&loaded)
        };
        let (stored, others): (Vec<OpId>, Vec<OpId>) = ops.into_iter().partition(stores);
        ops = others;
        for id in stored {
            let memory = kernel.ops[id].results[0];
            replace(kernel, body, memory, view);
            kernel.ops[id].operands.clear();
        }
        let mut used = false;
        kernel.walk(body, &mut |_, op| used |= op.operands.contains(&loaded));
        if !used {
            ops.retain(|&id| id != load);
            continue;
        }
        loads.push((load, loaded));
        if meet.is_some() {
            copies.push(copy_in_place(kernel, load, view));
        }
        let op = &mut kernel.ops[load];
        let waited = waited.filter(|_| !is_block(op));
        (op.kind, op.operands) =
            (OpKind::Local(LocalOp::Load), [view].into_iter().chain(waited).collect());
    }
    let Some(meet) = meet.filter(|_| !loads.is_empty()) else { return ops };
    if let Some(mut parts) = parted(kernel, &ops, &loads) {
        parts.front.push(copied_where(kernel, meet, copies));
        parts.front.extend(loads.iter().map(|&(load, _)| load));
        return [parts.front, parts.behind].concat();
    }
    for (&(load, _), copy) in loads.iter().zip(copies) {
        if let Some(place) = ops.iter().position(|&id| id == load) {
            ops.insert(place, copied_where(kernel, meet, vec![copy]));
        }
    }
    ops
}

/// A copy of what a load gives into a buffer.
fn copy_in_place(kernel: &mut Kernel, load: OpId, view: Value) -> OpId {
    let Op { kind, operands, loc, span, .. } = kernel.ops[load].clone();
    let cache = match kind {
        OpKind::Load(options) => options.cache,
        _ => Cache::default(),
    };
    let options = CopyOptions { cache, volatile: false, masked: operands.len() > 1 };
    let operands = [&[operands[0], view], &operands[1..]].concat();
    let results = vec![kernel.values.push(ValueData::new(token(), None))];
    let kind = OpKind::AsyncCopy(AsyncCopy::Begin(options));
    kernel.ops.push(Op { kind, operands, results, regions: Vec::new(), loc, span, spelled: false })
}

/// A branch that does some copies where a condition holds, and waits for them.
fn copied_where(kernel: &mut Kernel, condition: Value, mut copies: Vec<OpId>) -> OpId {
    let Op { loc, span, .. } = kernel.ops[copies[0]];
    let begun = copies.iter().map(|&copy| kernel.ops[copy].results[0]).collect();
    let [group, waited] = [(); 2].map(|()| kernel.values.push(ValueData::new(token(), None)));
    let mut op = |kind, operands, results, regions| {
        kernel.ops.push(Op { kind, operands, results, regions, loc, span, spelled: false })
    };
    let commit = OpKind::AsyncCopy(AsyncCopy::Commit);
    copies.push(op(commit, begun, vec![group], vec![]));
    let wait = OpKind::AsyncCopy(AsyncCopy::Wait { pending: 0 });
    copies.push(op(wait, vec![group], vec![waited], vec![]));
    copies.push(op(OpKind::Yield, vec![], vec![], vec![]));
    let otherwise = vec![op(OpKind::Yield, vec![], vec![], vec![])];
    let regions = [copies, otherwise].map(|ops| Region { params: vec![], ops });
    op(OpKind::If, vec![condition], vec![], regions.to_vec())
}

/// What stands for a value where some are known.
fn at(known: &FxHashMap<Value, Value>, value: Value) -> Value {
    *known.get(&value).unwrap_or(&value)
}

fn token() -> Type {
    Type::single(Element::Token)
}

/// The buffers of a load.
#[derive(Clone)]
pub(super) struct Buffer {
    /// The load, and how it was found.
    pub(super) load: OpId,
    pub(super) op: Op,
    /// How many rounds it is less ahead than the farthest.
    pub(super) lag: usize,
    memory: Value,
}

/// Writes operations for one loop.
pub(super) struct Prefetcher<'a> {
    pub(super) kernel: &'a mut Kernel,
    pub(super) found: &'a Loop,
    pub(super) stages: u32,
    /// Low end, high end and step of the counter.
    range: [Value; 3],
    /// What the body is given.
    params: Vec<Value>,
    /// What it hands over.
    yields: Vec<Value>,
    pub(super) buffers: Vec<Buffer>,
    /// For each stream with blocks of tensors its mbarriers, one for each stage.
    pub(super) mbarriers: Vec<Option<Value>>,
    /// The mbarriers, one for each stage, that threads tell when they have left the buffers, where no barrier
    /// does.
    pub(super) leaving: Option<Value>,
    /// The operation whose place the next ones get.
    pub(super) place: OpId,
    list: Vec<OpId>,
    /// The loads into registers.
    loaded: Vec<OpId>,
    /// Whether they lie apart from what the loop stores, and whether not: then none is ahead.
    apart: Option<Value>,
    meet: Option<Value>,
}

impl<'a> Prefetcher<'a> {
    /// Begins with the buffers.
    fn new(kernel: &'a mut Kernel, found: &'a Loop, stages: u32) -> Self {
        let op = &kernel.ops[found.op];
        let range = [op.operands[0], op.operands[1], op.operands[2]];
        let body = &op.regions[0];
        let (params, yields) = (body.params.clone(), kernel.handed_over(body).to_vec());
        let (buffers, mbarriers, leaving, list) = (Vec::new(), Vec::new(), None, Vec::new());
        let place = found.op;
        let mut writer = Self {
            kernel,
            found,
            stages,
            range,
            params,
            yields,
            buffers,
            mbarriers,
            leaving,
            place,
            list,
            loaded: Vec::new(),
            apart: None,
            meet: None,
        };
        for stream in &found.streams {
            for &load in &stream.loads {
                let op = writer.kernel.ops[load].clone();
                writer.place = load;
                let ty = writer.buffer(&op, &[stages.into()]);
                let memory = writer.emit(OpKind::Local(LocalOp::Alloc), &[], ty);
                let name = writer.kernel.values[op.results[0]].name.clone();
                writer.kernel.values[memory].name = name;
                writer.buffers.push(Buffer { load, op, lag: stream.lag, memory });
            }
        }
        writer.place = found.op;
        writer
    }

    /// The type of memory for what a load gives, or of as many as `outer` says.
    fn buffer(&self, load: &Op, outer: &[u64]) -> Type {
        let tensor = self.kernel.ty(load.results[0]);
        let order: Vec<usize> = (0..tensor.shape.len()).rev().collect();
        let family = Family::SwizzledShared(SwizzledShared::new(1, 1, 1, &order));
        let shape = [outer, &tensor.shape].concat();
        let memory = SharedMemory { family, mutable: true, allocated: shape[..].into() };
        Type::tensor(tensor.element, &shape).with_encoding(Encoding::Shared(Arc::new(memory)))
    }

    pub(super) fn op(&mut self, kind: OpKind, operands: &[Value], results: &[Value]) {
        let (operands, results) = (operands.to_vec(), results.to_vec());
        let Op { loc, span, .. } = self.kernel.ops[self.place];
        let op = Op { kind, operands, results, regions: Vec::new(), loc, span, spelled: false };
        self.list.push(self.kernel.ops.push(op));
    }

    pub(super) fn emit(&mut self, kind: OpKind, operands: &[Value], ty: Type) -> Value {
        let value = self.kernel.values.push(ValueData::new(ty, None));
        self.op(kind, operands, &[value]);
        value
    }

    /// Waits until only so many groups are under way, if there are any.
    fn wait_for_groups(&mut self, pending: u32) -> Option<Value> {
        let wait = OpKind::AsyncCopy(AsyncCopy::Wait { pending });
        self.has_groups().then(|| self.emit(wait, &[], token()))
    }

    /// A new value of the type and name of another.
    fn like(&mut self, value: Value) -> Value {
        let data = self.kernel.values[value].clone();
        self.kernel.values.push(data)
    }

    pub(super) fn slot(&mut self, slot: u32) -> Value {
        self.emit(OpKind::Constant(slot.into()), &[], Type::scalar(DType::I32))
    }

    /// One buffer of a load.
    pub(super) fn view(&mut self, buffer: &Buffer, slot: Value) -> Value {
        let ty = self.buffer(&buffer.op, &[]);
        self.emit(OpKind::Local(LocalOp::Index), &[buffer.memory, slot], ty)
    }

    /// A tensor of equal numbers.
    fn filled(&mut self, like: Value, bits: u64) -> Value {
        let ty = self.kernel.ty(like).clone();
        self.emit(OpKind::Constant(bits), &[], ty)
    }

    /// Fills the buffers of the round before the first, of what is read a round later, with what adds nothing.
    fn fill_behind(&mut self) {
        for buffer in self.buffers.clone().iter().filter(|buffer| buffer.lag > 0) {
            self.place = buffer.load;
            let loaded = buffer.op.results[0];
            let dtype = self.kernel.ty(loaded).dtype();
            let sign = if dtype.is_float() { 1 << (dtype.bits() - 1) } else { 0 };
            let nothing = self.filled(loaded, sign);
            let slot = self.slot(self.stages - 1);
            let view = self.view(buffer, slot);
            self.op(OpKind::Local(LocalOp::Store), &[nothing, view], &[]);
        }
        self.place = self.found.op;
    }

    /// The left factor of a product that runs a round behind, which the round hands over.
    fn factor(&self, behind: &Behind) -> Value {
        self.kernel.ops[behind.product].operands[0]
    }

    /// That of the round before the first.
    fn no_factor(&mut self, behind: &Behind) -> Value {
        self.place = behind.product;
        let factor = self.filled(self.factor(behind), 0);
        self.place = self.found.op;
        factor
    }

    /// The product of the last round, behind the loop, whose result gave the sum.
    fn finish(&mut self, behind: &Behind, factor: Value, slot: Value) {
        let before = self.kernel.ops[self.found.op].results[behind.sum];
        let sum = self.like(before);
        for id in self.kernel.ops.keys() {
            let operands = self.kernel.ops[id].operands.iter_mut();
            for operand in operands.filter(|operand| **operand == before) {
                *operand = sum;
            }
        }
        let found = self.buffers.iter().find(|buffer| buffer.load == behind.load).cloned();
        let Some(buffer) = found else { return };
        self.place = behind.product;
        let mut memory = self.view(&buffer, slot);
        for &view in &behind.views {
            let Op { kind, results, .. } = self.kernel.ops[view].clone();
            let ty = self.kernel.ty(results[0]).clone();
            memory = self.emit(kind, &[memory], ty);
        }
        let kind = self.kernel.ops[behind.product].kind.clone();
        self.op(kind, &[factor, memory, before], &[sum]);
        self.place = self.found.op;
    }

    pub(super) fn truth(&mut self, kind: OpKind, operands: &[Value]) -> Value {
        self.emit(kind, operands, Type::scalar(DType::I1))
    }

    fn first_round(&mut self, stream: &Stream) -> Round {
        let [low, high, _] = self.range;
        let initial = &self.kernel.ops[self.found.op].operands[3..];
        let carried = stream.carried.iter().map(|&index| initial[index]).collect();
        let exists = self.truth(OpKind::Compare(Compare::Slt), &[low, high]);
        let exists = self.joined(Binary::And, self.apart, exists);
        Round { counter: low, exists, carried, held: Vec::new() }
    }

    /// The rounds that some values tell, one for each stream.
    fn rounds(&self, mut values: &[Value]) -> Vec<Round> {
        let mut rounds = Vec::new();
        for stream in &self.found.streams {
            let (round, rest) = values.split_at(2 + stream.carried.len() + stream.held.len());
            let (carried, held) = round[2..].split_at(stream.carried.len());
            let (carried, held) = (carried.to_vec(), held.to_vec());
            rounds.push(Round { counter: round[0], exists: round[1], carried, held });
            values = rest;
        }
        rounds
    }

    /// Copies the tiles of a round of each stream into the buffers of its lag, as one group; the rounds after
    /// them. Where a stream has no round yet, it waits.
    fn copy(&mut self, rounds: &[Round], slot: impl Fn(usize) -> Option<Value>) -> Vec<Round> {
        let streams = self.found.streams.iter().zip(rounds);
        let begun = |stream: &Stream| slot(stream.lag).is_some();
        // What a load into registers gives comes when what was asked for before it has come, so they go first.
        let known: Vec<FxHashMap<Value, Value>> =
            streams
                .clone()
                .map(|(stream, round)| {
                    if begun(stream) { self.addresses(stream, round) } else { FxHashMap::default() }
                })
                .collect();
        let held: Vec<Vec<Value>> = streams
            .clone()
            .zip(&known)
            .map(|((stream, round), known)| {
                let loads = stream.held.iter().filter(|_| begun(stream));
                loads.map(|&load| self.hold(load, known, round.exists)).collect()
            })
            .collect();
        let (mut tokens, mut next) = (Vec::new(), Vec::new());
        for (((stream, round), known), held) in streams.zip(&known).zip(held) {
            next.push(match slot(stream.lag) {
                Some(slot) => {
                    self.copy_stream(stream, round, known, slot, &mut tokens);
                    let (counter, exists) = self.count(round);
                    let yields = stream.carried.iter().map(|&index| self.yields[index]);
                    let carried = yields.map(|value| at(known, value)).collect();
                    Round { counter, exists, carried, held }
                }
                None => round.clone(),
            });
        }
        self.place = self.found.op;
        if self.has_groups() {
            self.emit(OpKind::AsyncCopy(AsyncCopy::Commit), &tokens, token());
        }
        next
    }

    /// What computes the addresses and masks of a round of a stream; what it gives, for what the body's own gives.
    fn addresses(&mut self, stream: &Stream, round: &Round) -> FxHashMap<Value, Value> {
        let mut copies = Copies::default();
        copies.set(self.params[0], Some(round.counter));
        for (&index, &value) in stream.carried.iter().zip(&round.carried) {
            copies.set(self.params[1 + index], Some(value));
        }
        for &id in &stream.slice {
            let copy = self.kernel.copy_of(id, &mut copies);
            // There may be no such round, and whoever reads the text finds the operation elsewhere.
            self.unspell(copy);
            if let OpKind::Load(_) = self.kernel.ops[copy].kind {
                let operands = self.kernel.ops[copy].operands.clone();
                self.kernel.ops[copy].operands = self.if_there(&operands, round.exists);
            }
            self.list.push(copy);
        }
        let made = stream.slice.iter().flat_map(|&id| &self.kernel.ops[id].results);
        let carried = stream.carried.iter().map(|&index| &self.params[1 + index]);
        let known = made.chain(carried).chain(&self.params[..1]);
        known.filter_map(|&value| Some((value, copies[value]?))).collect()
    }

    /// Says of an operation, and of those inside it, that the text has none such.
    fn unspell(&mut self, id: OpId) {
        self.kernel.ops[id].spelled = false;
        for region in self.kernel.ops[id].regions.clone() {
            region.ops.into_iter().for_each(|inner| self.unspell(inner));
        }
    }

    /// Copies the tiles of a round of a stream into a buffer.
    fn copy_stream(
        &mut self,
        stream: &Stream,
        round: &Round,
        known: &FxHashMap<Value, Value>,
        slot: Value,
        tokens: &mut Vec<Value>,
    ) {
        for buffer in self.buffers.clone().iter().filter(|buffer| buffer.lag == stream.lag) {
            let operands = buffer.op.operands.iter().map(|&value| at(known, value));
            let operands: Vec<Value> = operands.collect();
            if is_block(&buffer.op) {
                self.fetch_block(buffer, &operands, slot, round.exists);
            } else {
                tokens.push(self.copy_tile(buffer, &operands, slot, round.exists));
            }
        }
        self.place = self.found.op;
    }

    /// Loads what a load gives into registers, if the round exists.
    fn hold(&mut self, load: OpId, known: &FxHashMap<Value, Value>, exists: Value) -> Value {
        self.place = load;
        let Op { kind, operands, results, .. } = self.kernel.ops[load].clone();
        let operands: Vec<Value> = operands.into_iter().map(|value| at(known, value)).collect();
        let operands = self.if_there(&operands, exists);
        let held = self.like(results[0]);
        self.op(kind, &operands, &[held]);
        self.loaded.extend(self.list.last());
        held
    }

    /// Which of the loads of the next round may be of what this one has stored since, through another argument that
    /// leads to the same memory: as between the threads of a block, an element of one tensor can meet that in its place
    /// of another and no other.
    fn met(&mut self) -> Met {
        let (mut met, mut again) = (Met::default(), None);
        for load in core::mem::take(&mut self.loaded) {
            self.place = load;
            let pointers = self.kernel.ops[load].operands[0];
            let (mut meets, mut by_base) = (false, None);
            for stored in self.stored_beside(pointers) {
                meets = true;
                let bases = base(self.kernel, pointers).zip(base(self.kernel, stored));
                let alike = bases.filter(|((_, offsets), (_, others))| offsets == others);
                debug_assert!(
                    alike.is_some() || self.meet.is_some(),
                    "somebody asks whether they meet"
                );
                if let Some(((one, _), (other, _))) = alike {
                    let same = self.same(one, other);
                    by_base = Some(self.joined(Binary::Or, by_base, same));
                }
            }
            met.loads.push(meets);
            again = by_base.map(|same| self.joined(Binary::Or, again, same)).or(again);
        }
        self.place = self.found.op;
        met.again = again.map(|again| self.joined(Binary::Or, self.meet, again));
        met
    }

    /// The pointers to tensors of the same shape that the loop stores.
    fn stored_beside(&self, pointers: Value) -> Vec<Value> {
        let stores = self.found.passed.iter().map(|&store| self.kernel.ops[store].operands[0]);
        let shape = |value| &self.kernel.ty(value).shape;
        stores.filter(|&stored| shape(stored) == shape(pointers)).collect()
    }

    /// Asks in front of the loop whether it stores where it loads.
    fn look_around(&mut self) {
        if !self.found.apart.is_empty() {
            let apart = self.found.apart.write(self);
            let never = self.truth(OpKind::Constant(0), &[]);
            self.apart = Some(apart);
            self.meet = Some(self.truth(OpKind::Compare(Compare::Eq), &[apart, never]));
        }
    }

    /// Two truths together, if there are two.
    pub(super) fn joined(&mut self, op: Binary, one: Option<Value>, other: Value) -> Value {
        one.map_or(other, |one| self.truth(OpKind::Binary(op), &[one, other]))
    }

    /// A scalar as a number of 64 bits.
    pub(super) fn widened(&mut self, scalar: Value) -> Value {
        let ty = self.kernel.ty(scalar);
        let cast = match ty.element {
            Element::Pointer(_) => Cast::Bits,
            _ if ty.dtype() == DType::I64 => return scalar,
            _ => Cast::ExtS,
        };
        self.emit(OpKind::Cast(cast), &[scalar], Type::scalar(DType::I64))
    }

    /// Whether two pointers are the same.
    fn same(&mut self, x: Value, y: Value) -> Value {
        let [x, y] = [x, y].map(|pointer| self.widened(pointer));
        self.truth(OpKind::Compare(Compare::Eq), &[x, y])
    }

    /// The operands of a load with these, if the round exists.
    fn if_there(&mut self, operands: &[Value], exists: Value) -> Vec<Value> {
        let mask = self.mask(operands, exists);
        [operands[0], mask].into_iter().chain(operands.get(2).copied()).collect()
    }

    /// The mask of an access with these operands, if the round exists.
    fn mask(&mut self, operands: &[Value], exists: Value) -> Value {
        let pointers = self.kernel.ty(operands[0]);
        let (is_tensor, truths) =
            (pointers.is_tensor(), pointers.with_element(Element::Scalar(DType::I1)));
        let exists =
            if is_tensor { self.emit(OpKind::Splat, &[exists], truths.clone()) } else { exists };
        match operands.get(1) {
            Some(&own) => self.emit(OpKind::Binary(Binary::And), &[own, exists], truths),
            None => exists,
        }
    }

    /// Copies what a load with these operands gives into a buffer, if the round exists.
    fn copy_tile(
        &mut self,
        buffer: &Buffer,
        operands: &[Value],
        slot: Value,
        exists: Value,
    ) -> Value {
        self.place = buffer.load;
        let view = self.view(buffer, slot);
        let mask = self.mask(operands, exists);
        let cache = match buffer.op.kind {
            OpKind::Load(options) => options.cache,
            _ => Cache::default(),
        };
        let options = CopyOptions { cache, volatile: false, masked: true };
        let others = operands.get(2).copied();
        let operands: Vec<Value> = [operands[0], view, mask].into_iter().chain(others).collect();
        self.emit(OpKind::AsyncCopy(AsyncCopy::Begin(options)), &operands, token())
    }

    /// The counter of the round after one, and whether there is that round: when more than a step is left. Both
    /// are not negative, so that their difference is right as an unsigned number.
    fn count(&mut self, round: &Round) -> (Value, Value) {
        let [_, high, step] = self.range;
        let counts = self.kernel.ty(high).clone();
        let left = self.emit(OpKind::Binary(Binary::Sub), &[high, round.counter], counts.clone());
        let more = self.truth(OpKind::Compare(Compare::Ult), &[step, left]);
        let exists = self.truth(OpKind::Binary(Binary::And), &[round.exists, more]);
        let counter = self.emit(OpKind::Binary(Binary::Add), &[round.counter, step], counts);
        self.kernel.values[counter].within = Some(self.found.counts);
        (counter, exists)
    }
}
