//! A loop with its loads ahead.

use super::find::Loop;
use crate::cache::Cache;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::scalar::{Binary, Compare};
use crate::tile::{
    CopyOptions, Element, Encoding, Kernel, Op, OpId, OpKind, Region, SharedMemory, Type, Value,
    ValueData,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use weft_layout::family::{Family, SwizzledShared};

/// What stands around a loop.
#[derive(Clone, Default)]
pub(super) struct Around {
    before: Vec<OpId>,
    after: Vec<OpId>,
}

/// A round whose tiles are about to be copied.
struct Round {
    counter: Value,
    /// Whether the loop has it.
    exists: Value,
    /// What the loop carries into it, of what addresses need.
    carried: Vec<Value>,
}

impl Round {
    fn values(&self) -> Vec<Value> {
        [&[self.counter, self.exists], &self.carried[..]].concat()
    }
}

/// Rewrites a loop; what must stand around it.
pub(super) fn rewrite(kernel: &mut Kernel, found: &Loop, stages: u32) -> Around {
    let mut writer = Writer::new(kernel, found, stages);
    let slots: Vec<Value> = (0..stages).map(|slot| writer.slot(slot)).collect();
    let mut round = writer.first_round();
    for &slot in &slots[..stages as usize - 1] {
        round = writer.copy(&round, slot);
    }
    let before = core::mem::take(&mut writer.list);

    // The loop carries the round ahead, and its buffers in the order in which they are filled.
    let initial = [round.values(), slots].concat();
    let entering: Vec<Value> = initial.iter().map(|&value| writer.like(value)).collect();
    let leaving: Vec<Value> = initial.iter().map(|&value| writer.like(value)).collect();
    let (ahead, slots) = entering.split_at(2 + found.carried.len());
    let ahead = Round { counter: ahead[0], exists: ahead[1], carried: ahead[2..].to_vec() };
    let (oldest, newest) = (slots[0], slots[slots.len() - 1]);

    let waited = writer.emit(OpKind::AsyncWait { pending: stages - 2 }, &[], token());
    let next = writer.copy(&ahead, newest);
    for (index, &load) in found.loads.iter().enumerate() {
        let view = writer.view(index, oldest);
        let op = &mut writer.kernel.ops[load];
        (op.kind, op.operands) = (OpKind::LocalLoad, vec![view, waited]);
    }
    let head = core::mem::take(&mut writer.list);
    let rotated = [&slots[1..], &slots[..1]].concat();
    let yielded = [next.values(), rotated].concat();

    writer.emit(OpKind::AsyncWait { pending: 0 }, &[], token());
    for buffers in writer.buffers.clone() {
        writer.op(OpKind::LocalDealloc, &[buffers], &[]);
    }
    let after = writer.list;

    let op = &mut kernel.ops[found.op];
    op.operands.extend(initial);
    op.results.extend(leaving);
    let mut last = None;
    if let Some(region) = op.regions.first_mut() {
        region.params.extend(entering);
        region.ops.splice(0..0, head);
        last = region.ops.last().copied();
    }
    if let Some(last) = last {
        kernel.ops[last].operands.extend(yielded);
    }
    Around { before, after }
}

/// A region with what stands around its loops.
pub(super) fn placed(
    kernel: &mut Kernel,
    region: Region,
    around: &IdMap<OpId, Option<Around>>,
) -> Region {
    let mut ops = Vec::with_capacity(region.ops.len());
    for id in region.ops {
        let regions = core::mem::take(&mut kernel.ops[id].regions);
        let regions = regions.into_iter().map(|inner| placed(kernel, inner, around)).collect();
        kernel.ops[id].regions = regions;
        let Around { before, after } = around[id].clone().unwrap_or_default();
        ops.extend(before.into_iter().chain([id]).chain(after));
    }
    Region { ops, ..region }
}

fn token() -> Type {
    Type::single(Element::Token)
}

/// Writes operations for one loop.
struct Writer<'a> {
    kernel: &'a mut Kernel,
    found: &'a Loop,
    /// Low end, high end and step of the counter.
    range: [Value; 3],
    /// What the body is given.
    params: Vec<Value>,
    /// What it hands over.
    yields: Vec<Value>,
    /// Each load as it was found.
    loads: Vec<Op>,
    /// The buffers of each load.
    buffers: Vec<Value>,
    /// The operation whose place the next ones get.
    place: OpId,
    list: Vec<OpId>,
}

impl<'a> Writer<'a> {
    /// Begins with the buffers.
    fn new(kernel: &'a mut Kernel, found: &'a Loop, stages: u32) -> Self {
        let op = &kernel.ops[found.op];
        let range = [op.operands[0], op.operands[1], op.operands[2]];
        let body = &op.regions[0];
        let (params, yields) = (body.params.clone(), kernel.handed_over(body).to_vec());
        let loads: Vec<Op> = found.loads.iter().map(|&load| kernel.ops[load].clone()).collect();
        let (buffers, list, place) = (Vec::new(), Vec::new(), found.op);
        let mut writer = Self { kernel, found, range, params, yields, loads, buffers, place, list };
        for (index, &load) in found.loads.iter().enumerate() {
            writer.place = load;
            let ty = writer.buffer(index, &[stages.into()]);
            let buffers = writer.emit(OpKind::LocalAlloc, &[], ty);
            writer.buffers.push(buffers);
        }
        writer.place = found.op;
        writer
    }

    /// The type of memory for what a load gives, or of as many as `outer` says.
    fn buffer(&self, load: usize, outer: &[u64]) -> Type {
        let tensor = self.kernel.ty(self.loads[load].results[0]);
        let order: Vec<usize> = (0..tensor.shape.len()).rev().collect();
        let family = Family::SwizzledShared(SwizzledShared::new(1, 1, 1, &order));
        let shape = [outer, &tensor.shape].concat();
        let memory = SharedMemory { family, mutable: true, allocated: shape[..].into() };
        Type::tensor(tensor.element, &shape).with_encoding(Encoding::Shared(Arc::new(memory)))
    }

    fn op(&mut self, kind: OpKind, operands: &[Value], results: &[Value]) {
        let (operands, results) = (operands.to_vec(), results.to_vec());
        let Op { loc, span, .. } = self.kernel.ops[self.place];
        let op = Op { kind, operands, results, regions: Vec::new(), loc, span };
        self.list.push(self.kernel.ops.push(op));
    }

    fn emit(&mut self, kind: OpKind, operands: &[Value], ty: Type) -> Value {
        let value = self.kernel.values.push(ValueData { ty, name: None });
        self.op(kind, operands, &[value]);
        value
    }

    /// A new value of the type and name of another.
    fn like(&mut self, value: Value) -> Value {
        let data = self.kernel.values[value].clone();
        self.kernel.values.push(data)
    }

    fn slot(&mut self, slot: u32) -> Value {
        self.emit(OpKind::Constant(slot.into()), &[], Type::scalar(DType::I32))
    }

    /// One buffer of a load.
    fn view(&mut self, load: usize, slot: Value) -> Value {
        let ty = self.buffer(load, &[]);
        self.emit(OpKind::MemdescIndex, &[self.buffers[load], slot], ty)
    }

    fn truth(&mut self, kind: OpKind, operands: &[Value]) -> Value {
        self.emit(kind, operands, Type::scalar(DType::I1))
    }

    fn first_round(&mut self) -> Round {
        let [low, high, _] = self.range;
        let initial = &self.kernel.ops[self.found.op].operands[3..];
        let carried = self.found.carried.iter().map(|&index| initial[index]).collect();
        let exists = self.truth(OpKind::Compare(Compare::Slt), &[low, high]);
        Round { counter: low, exists, carried }
    }

    /// Copies the tiles of a round into a buffer, as one group; the round after it.
    fn copy(&mut self, round: &Round, slot: Value) -> Round {
        let mut known: FxHashMap<Value, Value> = FxHashMap::default();
        known.insert(self.params[0], round.counter);
        for (&index, &value) in self.found.carried.iter().zip(&round.carried) {
            known.insert(self.params[1 + index], value);
        }
        for &id in &self.found.slice {
            let Op { kind, operands, results, .. } = self.kernel.ops[id].clone();
            self.place = id;
            let operands: Vec<Value> =
                operands.iter().map(|value| *known.get(value).unwrap_or(value)).collect();
            let copies: Vec<Value> = results.iter().map(|&result| self.like(result)).collect();
            known.extend(results.into_iter().zip(copies.iter().copied()));
            self.op(kind, &operands, &copies);
        }
        let at = |value: Value| *known.get(&value).unwrap_or(&value);
        let mut tokens = Vec::new();
        for (index, load) in self.loads.clone().into_iter().enumerate() {
            self.place = self.found.loads[index];
            let operands: Vec<Value> = load.operands.iter().map(|&value| at(value)).collect();
            let view = self.view(index, slot);
            let pointers = operands[0];
            let truths = self.kernel.ty(pointers).with_element(Element::Scalar(DType::I1));
            let mut mask = self.emit(OpKind::Splat, &[round.exists], truths.clone());
            if let Some(&own) = operands.get(1) {
                mask = self.emit(OpKind::Binary(Binary::And), &[own, mask], truths);
            }
            let cache = match load.kind {
                OpKind::Load(options) => options.cache,
                _ => Cache::default(),
            };
            let options = CopyOptions { cache, volatile: false, masked: true };
            let others = operands.get(2).copied();
            let operands: Vec<Value> = [pointers, view, mask].into_iter().chain(others).collect();
            tokens.push(self.emit(OpKind::AsyncCopy(options), &operands, token()));
        }
        self.place = self.found.op;
        self.emit(OpKind::AsyncCommit, &tokens, token());

        // Another round follows when more than a step is left; both are not negative, so that their
        // difference is right as an unsigned number.
        let [_, high, step] = self.range;
        let counts = self.kernel.ty(high).clone();
        let left = self.emit(OpKind::Binary(Binary::Sub), &[high, round.counter], counts.clone());
        let more = self.truth(OpKind::Compare(Compare::Ult), &[step, left]);
        let exists = self.truth(OpKind::Binary(Binary::And), &[round.exists, more]);
        let counter = self.emit(OpKind::Binary(Binary::Add), &[round.counter, step], counts);
        let carried = self.found.carried.iter().map(|&index| at(self.yields[index])).collect();
        Round { counter, exists, carried }
    }
}
