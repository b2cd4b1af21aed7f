//! Where the accesses of a loop lie, told by numbers that are known in front of it.
//!
//! What a round stores may be what the next one loads, if somebody gives a kernel the same memory twice; loads of a
//! round ahead come too early then. The addresses of most loops are sums of products of the loop's counter, sizes and
//! strides, so their least and greatest over all rounds are numbers that a few operations give before the first one.
//! If what is stored lies apart from what is loaded by these, rounds may have their loads ahead, whatever they store.
//!
//! ```text
//! x + i · stride + (0..64), i in 0..n     from x + min(0, (n - 1) · stride)
//!                                         to x + max(0, (n - 1) · stride) + 63
//! ```
//!
//! Numbers are of 64 bits. Where the program computes in fewer, or where 64 might be too few, its own results are what
//! is computed here only if nothing wraps, which is asked as well.

use super::ahead::Prefetcher;
use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::scalar::{Binary, Cast, Compare};
use crate::tile::{ByPointers, Kernel, Op, OpId, OpKind, Type, Value};
use rustc_hash::FxHashMap;

/// How many operations lead from an address to what is known: each is asked while the next one is.
const DEPTH: u32 = 48;
/// Sums and products of so many bits and a sign do not wrap in 64.
const BITS: u32 = 62;

/// A number that is known in front of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Number(usize);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node {
    /// An integer or pointer of the program, extended by its sign.
    Known(Value),
    Constant(i64),
    Of(Binary, Number, Number),
}

/// Numbers, each told once.
#[derive(Clone, Default, Debug)]
struct Numbers {
    nodes: Vec<Node>,
    places: FxHashMap<Node, Number>,
}

impl Numbers {
    fn number(&mut self, node: Node) -> Number {
        let next = Number(self.nodes.len());
        *self.places.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            next
        })
    }

    fn constant(&mut self, constant: i64) -> Number {
        self.number(Node::Constant(constant))
    }

    fn is(&self, number: Number) -> Option<i64> {
        match self.nodes[number.0] {
            Node::Constant(constant) => Some(constant),
            Node::Known(_) | Node::Of(..) => None,
        }
    }

    fn of(&mut self, op: Binary, a: Number, b: Number) -> Number {
        let computed = match (op, self.is(a), self.is(b)) {
            (Binary::Add, Some(a), Some(b)) => a.checked_add(b),
            (Binary::Sub, Some(a), Some(b)) => a.checked_sub(b),
            (Binary::Mul, Some(a), Some(b)) => a.checked_mul(b),
            (Binary::MinS, Some(a), Some(b)) => Some(a.min(b)),
            (Binary::MaxS, Some(a), Some(b)) => Some(a.max(b)),
            _ => None,
        };
        let same = match (op, self.is(a), self.is(b)) {
            (Binary::Add, Some(0), _) | (Binary::Mul, Some(1), _) => Some(b),
            (Binary::Add | Binary::Sub, _, Some(0)) => Some(a),
            (Binary::Mul | Binary::DivS, _, Some(1)) => Some(a),
            (Binary::MinS | Binary::MaxS, ..) if a == b => Some(a),
            _ => None,
        };
        match (computed, same) {
            (Some(constant), _) => self.constant(constant),
            (None, Some(same)) => same,
            (None, None) => self.number(Node::Of(op, a, b)),
        }
    }
}

/// The integers from one number to another.
#[derive(Clone, Copy, Debug)]
struct Interval {
    low: Number,
    high: Number,
    /// They have at most so many bits and a sign; 64 where that is not known.
    bits: u32,
}

/// Whether what a loop stores lies apart from what it loads.
#[derive(Clone, Default, Debug)]
pub(super) struct Apart {
    numbers: Numbers,
    /// Of each pair the first is at most the second, or nothing is known.
    fits: Vec<[Number; 2]>,
    /// The first and the last byte of a store, and those of a load.
    pairs: Vec<[[Number; 2]; 2]>,
}

impl Apart {
    /// Whether there is nothing to be asked.
    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The operations that ask it, of scalars, and whether they lie apart.
    pub(super) fn write(&self, writer: &mut Prefetcher<'_>) -> Value {
        let nodes = &self.numbers.nodes;
        let mut used = vec![false; nodes.len()];
        let asked = self.fits.iter().flatten().chain(self.pairs.iter().flatten().flatten());
        asked.for_each(|number| used[number.0] = true);
        for place in (0..nodes.len()).rev() {
            if let (true, Node::Of(_, a, b)) = (used[place], nodes[place]) {
                (used[a.0], used[b.0]) = (true, true);
            }
        }
        let wide = Type::scalar(DType::I64);
        let mut values: Vec<Option<Value>> = Vec::with_capacity(nodes.len());
        for (node, used) in nodes.iter().zip(used) {
            let value = |number: Number| values[number.0].into_iter();
            let written = match *node {
                _ if !used => None,
                Node::Known(value) => Some(writer.widened(value)),
                Node::Constant(constant) => {
                    let kind = OpKind::Constant(constant.cast_unsigned());
                    Some(writer.emit(kind, &[], wide.clone()))
                }
                Node::Of(op, a, b) => {
                    let operands: Vec<Value> = value(a).chain(value(b)).collect();
                    Some(writer.emit(OpKind::Binary(op), &operands, wide.clone()))
                }
            };
            values.push(written);
        }
        let at_most = |writer: &mut Prefetcher<'_>, [a, b]: [Number; 2]| {
            let operands: Vec<Value> = values[a.0].into_iter().chain(values[b.0]).collect();
            writer.truth(OpKind::Compare(Compare::Sle), &operands)
        };
        let mut all = None;
        for &pair in &self.fits {
            let fits = at_most(writer, pair);
            all = Some(writer.joined(Binary::And, all, fits));
        }
        for &[[from, to], [low, high]] in &self.pairs {
            // The last byte of the one is at most the first of the other, where it is less.
            let before = at_most(writer, [to, low]);
            let behind = at_most(writer, [high, from]);
            let apart = writer.joined(Binary::Or, Some(before), behind);
            all = Some(writer.joined(Binary::And, all, apart));
        }
        all.unwrap_or_else(|| writer.truth(OpKind::Constant(1), &[]))
    }
}

/// A loop whose accesses are looked at.
pub(super) struct Reach<'a> {
    kernel: &'a Kernel,
    facts: &'a AxisFacts,
    op: &'a Op,
    definitions: IdMap<Value, Option<OpId>>,
    inside: &'a IdMap<Value, bool>,
    apart: Apart,
    /// What has been found of values; nothing where they are looked at, or nothing can be said.
    known: FxHashMap<Value, Option<Interval>>,
    /// What masks say that values are at most.
    most: FxHashMap<Value, Number>,
}

impl<'a> Reach<'a> {
    pub(super) fn new(
        kernel: &'a Kernel,
        facts: &'a AxisFacts,
        op: &'a Op,
        inside: &'a IdMap<Value, bool>,
    ) -> Self {
        let (apart, known, most) = <_>::default();
        let definitions = kernel.definitions();
        Self { kernel, facts, op, definitions, inside, apart, known, most }
    }

    /// Whether each load lies apart from each store of tensors of its shape, but of those that begin at one pointer
    /// each and go on alike in all rounds; nothing where that cannot be asked.
    pub(super) fn apart(self, loads: &[OpId], stores: &[OpId]) -> Option<Apart> {
        self.pairs(loads, stores, Self::go_on_alike)
    }

    /// The same where loads are several rounds ahead, so that pointers which go on alike may meet as well.
    pub(super) fn apart_in_all(self, loads: &[OpId], stores: &[OpId]) -> Option<Apart> {
        self.pairs(loads, stores, |_, _, _| false)
    }

    /// What is to be asked of loads and stores, but for those whose pointers need not be asked for.
    fn pairs(
        mut self,
        loads: &[OpId],
        stores: &[OpId],
        without: impl Fn(&Self, Value, Value) -> bool,
    ) -> Option<Apart> {
        for &load in loads {
            for &store in stores {
                let [loaded, stored] = [load, store].map(|id| self.kernel.ops[id].operands[0]);
                let same_shape = self.kernel.ty(loaded).shape == self.kernel.ty(stored).shape;
                if same_shape && !without(&self, loaded, stored) {
                    let pair = [self.bytes(store)?, self.bytes(load)?];
                    self.apart.pairs.push(pair);
                }
            }
        }
        Some(self.apart)
    }

    /// Whether tensors of pointers begin at one pointer each, and go on from there alike in all rounds.
    fn go_on_alike(&self, one: Value, other: Value) -> bool {
        let bases = base(self.kernel, one).zip(base(self.kernel, other));
        bases.is_some_and(|((_, offsets), (_, others))| {
            // The next round has others of those that are made in a round.
            offsets == others && !offsets.iter().any(|&offset| self.inside[offset])
        })
    }

    /// From where and to where an access goes, in all rounds.
    fn bytes(&mut self, access: OpId) -> Option<[Number; 2]> {
        let op = &self.kernel.ops[access];
        let pointers = *op.operands.first()?;
        let mask = match op.kind.by_pointers()? {
            ByPointers::Load => op.operands.get(1),
            ByPointers::Store => op.operands.get(2),
            ByPointers::Atomic | ByPointers::Copy => return None,
        };
        self.known.clear();
        self.most.clear();
        if let Some(&mask) = mask {
            self.look_at_mask(mask, self.kernel.ty(pointers).shape.len(), DEPTH);
            self.known.clear();
        }
        let bytes = self.kernel.ty(pointers).element.pointee()?.bytes();
        let Interval { low, high, .. } = self.interval(pointers, DEPTH)?;
        let size = self.constant(bytes.into()).low;
        Some([low, self.apart.numbers.of(Binary::Add, high, size)])
    }

    /// Takes over what a mask says of values that it compares: scalars, and tensors of as many dimensions as it has
    /// itself, of which each element is compared in its own place.
    fn look_at_mask(&mut self, mask: Value, dimensions: usize, depth: u32) {
        let Some((op, depth)) = self.definition(mask).zip(depth.checked_sub(1)) else { return };
        match (&op.kind, &op.operands[..]) {
            (OpKind::Binary(Binary::And), &[a, b]) => {
                self.look_at_mask(a, dimensions, depth);
                self.look_at_mask(b, dimensions, depth);
            }
            (OpKind::Splat | OpKind::Broadcast | OpKind::ExpandDims { .. }, &[from]) => {
                self.look_at_mask(from, dimensions, depth);
            }
            (OpKind::Compare(Compare::Slt), &[value, end])
                if [0, dimensions].contains(&self.kernel.ty(value).shape.len()) =>
            {
                if let Some(end) = self.interval(end, DEPTH) {
                    let one = self.constant(1).low;
                    let most = self.apart.numbers.of(Binary::Sub, end.high, one);
                    self.most.insert(value, most);
                }
            }
            _ => {}
        }
    }

    fn definition(&self, value: Value) -> Option<&'a Op> {
        self.definitions[value].map(|id| &self.kernel.ops[id])
    }

    fn constant(&mut self, constant: i64) -> Interval {
        let number = self.apart.numbers.constant(constant);
        Interval { low: number, high: number, bits: bits_of(constant) }
    }

    /// Where a value lies in all rounds.
    fn interval(&mut self, value: Value, depth: u32) -> Option<Interval> {
        if let Some(&known) = self.known.get(&value) {
            return known;
        }
        // A value that is made of itself has no interval but that of what the loop carries.
        self.known.insert(value, None);
        let found = depth.checked_sub(1).and_then(|depth| self.computed(value, depth));
        let found = found.or_else(|| self.by_facts(value)).map(|interval| {
            let Some(&most) = self.most.get(&value) else { return interval };
            Interval { high: self.apart.numbers.of(Binary::MinS, interval.high, most), ..interval }
        });
        self.known.insert(value, found);
        found
    }

    /// What is known of a value without the run's numbers.
    fn by_facts(&mut self, value: Value) -> Option<Interval> {
        let ty = self.kernel.ty(value);
        let is_integer = ty.element.pointee().is_none() && !ty.dtype().is_float();
        let range = self.facts.get(value).range;
        let bits = bits_of(range.low).max(bits_of(range.high));
        // As far as 2^30 it says something of 32 bits.
        (is_integer && bits <= 30).then(|| {
            let [low, high] = [range.low, range.high].map(|end| self.constant(end).low);
            Interval { low, high, bits }
        })
    }

    fn computed(&mut self, value: Value, depth: u32) -> Option<Interval> {
        let ty = self.kernel.ty(value);
        let is_pointer = ty.element.pointee().is_some();
        if !is_pointer && !matches!(ty.dtype(), DType::I32 | DType::I64) {
            return None;
        }
        let params = &self.op.regions.first()?.params;
        if let Some(param) = params.iter().position(|&param| param == value) {
            return match param.checked_sub(1) {
                Some(index) => self.carried(value, index, depth),
                None => self.counter(),
            };
        }
        let op = self.definition(value);
        if let Some(Op { kind: OpKind::Constant(bits), .. }) = op {
            let unused = 64 - ty.dtype().bits();
            return Some(self.constant((bits << unused).cast_signed() >> unused));
        }
        if !ty.is_tensor() && !self.inside[value] {
            return Some(self.scalar(value));
        }
        let op = op?;
        let first = op.operands.first().copied();
        match (&op.kind, &op.operands[..]) {
            (OpKind::MakeRange { start, end }, _) => {
                let [low, high] = [i64::from(*start), i64::from(*end) - 1];
                let bits = bits_of(low).max(bits_of(high));
                let [low, high] = [low, high].map(|end| self.constant(end).low);
                Some(Interval { low, high, bits })
            }
            (
                OpKind::Splat
                | OpKind::ExpandDims { .. }
                | OpKind::Broadcast
                | OpKind::ConvertLayout
                | OpKind::Cast(Cast::ExtS),
                _,
            ) => self.interval(first?, depth),
            // Elements change their places, and what a mask says is said of others.
            (OpKind::Reshape { .. } | OpKind::Trans { .. }, _) if self.most.is_empty() => {
                self.interval(first?, depth)
            }
            (OpKind::Cast(Cast::ExtU), _) => {
                let is_positive = self.facts.get(first?).range.low >= 0;
                is_positive.then(|| self.interval(first?, depth)).flatten()
            }
            (&OpKind::Binary(op @ (Binary::MinS | Binary::MaxS)), &[a, b]) => {
                let [a, b] = [self.interval(a, depth)?, self.interval(b, depth)?];
                let low = self.apart.numbers.of(op, a.low, b.low);
                let high = self.apart.numbers.of(op, a.high, b.high);
                Some(Interval { low, high, bits: a.bits.max(b.bits) })
            }
            (&OpKind::Binary(op @ (Binary::Add | Binary::Sub | Binary::Mul)), &[a, b]) => {
                let [x, y] = [self.interval(a, depth)?, self.interval(b, depth)?];
                let result = match op {
                    Binary::Mul => self.product(x, y)?,
                    _ => self.sum(op, x, y),
                };
                Some(self.as_computed(result, ty.dtype()))
            }
            (OpKind::AddPtr, &[from, offset]) => {
                let bytes = ty.element.pointee()?.bytes();
                let [from, offset] = [self.interval(from, depth)?, self.interval(offset, depth)?];
                let bytes = self.constant(bytes.into());
                let offset = self.product(offset, bytes)?;
                Some(self.sum(Binary::Add, from, offset))
            }
            _ => None,
        }
    }

    /// A scalar that is there in front of the loop.
    fn scalar(&mut self, value: Value) -> Interval {
        let ty = self.kernel.ty(value);
        let range = self.facts.get(value).range;
        let bits = match ty.element.pointee() {
            // No machine has addresses of more.
            Some(_) => 57,
            None => bits_of(range.low).max(bits_of(range.high)),
        };
        let number = self.apart.numbers.number(Node::Known(value));
        Interval { low: number, high: number, bits }
    }

    fn counter(&mut self) -> Option<Interval> {
        let &[low, high, ..] = &self.op.operands[..] else { return None };
        let [low, high] = [self.scalar(low), self.scalar(high)];
        let one = self.constant(1);
        let last = self.sum(Binary::Sub, high, one);
        self.step()?;
        Some(Interval { low: low.low, high: last.high, bits: low.bits.max(last.bits) })
    }

    /// The step of the counter, which is asked to be positive.
    fn step(&mut self) -> Option<Interval> {
        let step = *self.op.operands.get(2)?;
        let constant = match self.definition(step).map(|op| &op.kind) {
            Some(OpKind::Constant(_)) => self.by_facts(step),
            _ => None,
        };
        let step_of = constant.unwrap_or_else(|| self.scalar(step));
        if self.facts.get(step).range.low < 1 {
            let one = self.constant(1).low;
            self.ask(one, step_of.low);
        }
        Some(step_of)
    }

    /// What a loop carries, to which each round adds something.
    fn carried(&mut self, param: Value, index: usize, depth: u32) -> Option<Interval> {
        let region = self.op.regions.first()?;
        let initial = self.interval(*self.op.operands.get(3 + index)?, depth)?;
        let next = *self.kernel.handed_over(region).get(index)?;
        if next == param {
            return Some(initial);
        }
        let op = self.definition(next)?;
        let ty = self.kernel.ty(param);
        let (more, bytes) = match (&op.kind, &op.operands[..]) {
            (OpKind::AddPtr, &[from, more]) if from == param => {
                (more, ty.element.pointee()?.bytes())
            }
            (OpKind::Binary(Binary::Add), &[from, more]) if from == param => (more, 1),
            (OpKind::Binary(Binary::Add), &[more, from]) if from == param => (more, 1),
            _ => return None,
        };
        let more = self.interval(more, depth)?;
        // How often it is added before the last round looks at it.
        let &[low, high, ..] = &self.op.operands[..] else { return None };
        let [low, high, one] = [self.scalar(low), self.scalar(high), self.constant(1)];
        let from_first = self.sum(Binary::Sub, high, low);
        let from_first = self.sum(Binary::Sub, from_first, one);
        let step = self.step()?;
        // A step of zero, which is asked about above, must not divide.
        let step = self.apart.numbers.of(Binary::MaxS, step.low, one.low);
        let times = self.apart.numbers.of(Binary::DivS, from_first.high, step);
        let times = Interval { low: times, high: times, bits: from_first.bits };
        let bytes = self.constant(bytes.into());
        let more = self.product(more, bytes)?;
        let added = self.product(more, times)?;
        let none = self.constant(0).low;
        let numbers = &mut self.apart.numbers;
        let added = Interval {
            low: numbers.of(Binary::MinS, added.low, none),
            high: numbers.of(Binary::MaxS, added.high, none),
            ..added
        };
        let result = self.sum(Binary::Add, initial, added);
        Some(if ty.element.pointee().is_some() {
            result
        } else {
            self.as_computed(result, ty.dtype())
        })
    }

    /// Asks that one number is at most another.
    fn ask(&mut self, a: Number, b: Number) {
        if !self.apart.fits.contains(&[a, b]) {
            self.apart.fits.push([a, b]);
        }
    }

    /// The interval, which is asked to have so few bits.
    fn of_bits(&mut self, interval: Interval, bits: u32) -> Interval {
        if interval.bits <= bits {
            return interval;
        }
        let [least, most] = [-1 << bits, (1 << bits) - 1].map(|end| self.constant(end).low);
        self.ask(least, interval.low);
        self.ask(interval.high, most);
        Interval { bits, ..interval }
    }

    /// An interval of results of a type: those of 32 bits are asked not to wrap.
    fn as_computed(&mut self, interval: Interval, dtype: DType) -> Interval {
        if dtype == DType::I32 { self.of_bits(interval, 31) } else { interval }
    }

    /// Sums or differences.
    fn sum(&mut self, op: Binary, a: Interval, b: Interval) -> Interval {
        let [a, b] = [a, b].map(|one| self.of_bits(one, BITS - 1));
        let (low, high) = if op == Binary::Sub { (b.high, b.low) } else { (b.low, b.high) };
        let numbers = &mut self.apart.numbers;
        Interval {
            low: numbers.of(op, a.low, low),
            high: numbers.of(op, a.high, high),
            bits: a.bits.max(b.bits) + 1,
        }
    }

    /// Products, of which one factor is one number.
    fn product(&mut self, a: Interval, b: Interval) -> Option<Interval> {
        let (one, many) = if a.low == a.high { (a, b) } else { (b, a) };
        if one.low != one.high {
            return None;
        }
        let [one, many] = if one.bits + many.bits > BITS {
            [one, many].map(|factor| self.of_bits(factor, BITS / 2))
        } else {
            [one, many]
        };
        let numbers = &mut self.apart.numbers;
        let bits = one.bits + many.bits;
        let [x, y] = [many.low, many.high].map(|end| numbers.of(Binary::Mul, end, one.low));
        let positive = numbers.is(one.low).is_some_and(|constant| constant >= 0);
        if positive || x == y {
            return Some(Interval { low: x, high: y, bits });
        }
        let low = numbers.of(Binary::MinS, x, y);
        let high = numbers.of(Binary::MaxS, x, y);
        Some(Interval { low, high, bits })
    }
}

/// The bits of an integer without its sign.
fn bits_of(integer: i64) -> u32 {
    64 - (if integer < 0 { !integer } else { integer }).leading_zeros()
}

/// The one pointer from which those of a tensor lead on, and how far, in the order of the values that say so.
pub(super) fn base(kernel: &Kernel, pointers: Value) -> Option<(Value, Vec<Value>)> {
    let (mut at, mut offsets) = (pointers, Vec::new());
    loop {
        if !kernel.ty(at).is_tensor() {
            break;
        }
        let defines = |op: &&Op| op.results.contains(&at);
        let op = kernel.ops.values().find(defines)?;
        match (&op.kind, &op.operands[..]) {
            (OpKind::AddPtr, &[from, offset]) => {
                offsets.push(offset);
                at = from;
            }
            (OpKind::Splat, &[from]) => at = from,
            _ => return None,
        }
    }
    offsets.sort_unstable();
    Some((at, offsets))
}
