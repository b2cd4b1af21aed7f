//! What is known of an integer or pointer tensor along each of its axes.
//!
//! Three facts a dimension, all powers of two, decide how wide a memory access may be:
//!
//! * *contiguity* `c`: each aligned run of `c` elements counts up by one (a pointer by one element);
//! * *divisibility* `d`: the first element of each such run is a multiple of `d` (bytes, for a
//!   pointer); with contiguity 1 that is every element;
//! * *constancy* `k`: each aligned run of `k` elements is equal.
//!
//! For `base + arange(0, 64)` with `base` a multiple of 16 that is contiguity 64, divisibility 16,
//! constancy 1. The steps of [`Strides`] say how axes combine. Facts flow forward through the program;
//! around a loop they are weakened until they hold in every iteration. Scalars have one dimension of
//! extent 1. Beside these facts stands the interval in which a value lies ([`Range`]), because quotients
//! and remainders of signed integers break their runs below zero.
//!
//! Integers wrap at their width, and a run may wrap in its middle; but a part of it that starts at a
//! multiple of its own length does not (up to half of the values of the type). So whoever relies on a
//! run that counts up without a break must ask that its length divide the first element.

mod range;
mod rules;
mod strides;

pub use range::Range;
pub use strides::Strides;

use rules::{
    add, add_wide, comparison, divide, likely_wide, lowest_bit, multiply, pointwise, remainder,
    select, subtract, wide,
};

use crate::budget::Stop;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::scalar::{self, Binary, Cast};
use crate::tile::{Kernel, Op, OpId, OpKind, Region, Type, Value, ValueData};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// The largest divisibility that is kept: what zero has.
const MOST: u64 = 1 << 62;

/// The facts of one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dim {
    /// Aligned runs of so many elements count up by one.
    pub contiguity: u64,
    /// The first element of each run is a multiple of this.
    pub divisibility: u64,
    /// Aligned runs of so many elements are equal.
    pub constancy: u64,
    /// From where on all elements are zero, as those of a mask are behind its end.
    pub zero_from: u64,
}

impl Dim {
    const UNKNOWN: Dim = Dim { contiguity: 1, divisibility: 1, constancy: 1, zero_from: MOST };

    /// What the elements at multiples of `run` are multiples of, when counting up adds `unit`.
    fn divisibility_at(self, run: u64, unit: u64) -> u64 {
        if run >= self.contiguity {
            self.divisibility
        } else {
            self.divisibility.min(run.saturating_mul(unit).min(MOST))
        }
    }
}

/// What is known of one value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Per dimension, outermost first.
    pub dims: SmallVec<[Dim; 2]>,
    /// The value of every element, if it is one known integer.
    pub constant: Option<u64>,
    /// What each bit of the index adds.
    pub strides: Strides,
    /// What each bit adds if nothing wraps where that is not known, if it tells more than `strides`.
    likely: Option<Box<Strides>>,
    /// The number of the argument that all elements are, or are a constant multiple of.
    argument: Option<u32>,
    /// How far each bit leads that adds a multiple of a factor which only a run tells, as [`rules::farness`] orders such
    /// factors; nothing where no bit is known to.
    far: Option<Box<Strides>>,
    /// Between which integers the elements lie.
    pub range: Range,
    /// What counting up by one adds: the pointee's size in bytes for a pointer, else 1.
    unit: u64,
}

impl Default for Facts {
    fn default() -> Self {
        let strides = Strides::uniform(&[], 1);
        let range = Range::new(i64::MIN, i64::MAX);
        let dims = smallvec![Dim::UNKNOWN];
        Self {
            dims,
            constant: None,
            strides,
            likely: None,
            argument: None,
            far: None,
            range,
            unit: 1,
        }
    }
}

impl Facts {
    fn unknown(ty: &Type) -> Self {
        Self {
            dims: smallvec![Dim::UNKNOWN; ty.shape.len().max(1)],
            constant: None,
            strides: Strides::unknown(&ty.shape),
            likely: None,
            argument: None,
            far: None,
            range: Range::of_type(ty),
            unit: ty.element.pointee().map_or(1, |pointee| u64::from(pointee.bytes())),
        }
    }

    /// A value all of whose elements are equal and multiples of `divisibility`.
    fn uniform(ty: &Type, divisibility: u64, constant: Option<u64>) -> Self {
        let mut facts = Self::unknown(ty);
        facts.constant = constant;
        if let Some(bits) = constant {
            facts.range = Range::constant(ty, bits);
        }
        facts.strides = Strides::uniform(&ty.shape, divisibility);
        for (index, dim) in facts.dims.iter_mut().enumerate() {
            dim.divisibility = divisibility;
            dim.constancy = ty.shape.get(index).copied().unwrap_or(1);
        }
        facts
    }

    /// What each bit of the index adds if no integer wraps: for prices alone, never for what is computed.
    pub fn likely(&self) -> &Strides {
        self.likely.as_deref().unwrap_or(&self.strides)
    }

    /// How many elements likely follow each other along one axis of the shape: for prices alone, too.
    pub fn likely_run(&self, axis: usize, shape: &[u64]) -> u64 {
        self.likely().run(axis, shape, self.unit)
    }

    /// How far the nearest likely neighbour along one axis of the shape is, forward or backward: for prices alone, too.
    pub fn likely_step(&self, axis: usize, shape: &[u64]) -> Option<u64> {
        self.likely().nearest(axis, shape)
    }

    /// How far the neighbours along one axis of the shape likely lie, in an order of no unit: 0 where no factor that only a
    /// run tells leads to them. For prices alone, too.
    pub fn farness(&self, axis: usize, shape: &[u64]) -> u64 {
        self.far.as_deref().and_then(|far| far.nearest(axis, shape)).unwrap_or(0)
    }

    /// The same with how far its bits lead.
    fn and_far(self, far: Option<Strides>) -> Self {
        Self { far: far.map(Box::new), ..self }
    }

    /// How far the bits of two values lead together.
    fn far_of_both(&self, other: &Facts) -> Option<Strides> {
        match (self.far.as_deref(), other.far.as_deref()) {
            (Some(one), Some(other)) => Some(one.nearer(other)),
            (one, other) => one.or(other).cloned(),
        }
    }

    /// The same with likely steps.
    fn and_likely(self, likely: Option<Strides>) -> Self {
        Self { likely: likely.map(Box::new), ..self }
    }

    /// What becomes of the likely steps where they are no proved ones.
    fn likely_with(&self, change: impl Fn(&Strides) -> Strides) -> Option<Strides> {
        self.likely.as_deref().map(change)
    }

    /// What becomes of the likely steps of two values, if those of one are no proved ones.
    fn likely_of_both(
        &self,
        other: &Facts,
        combine: impl Fn(&Strides, &Strides) -> Strides,
    ) -> Option<Strides> {
        let some = self.likely.is_some() || other.likely.is_some();
        some.then(|| combine(self.likely(), other.likely()))
    }

    /// What every element is a multiple of.
    fn divisibility_everywhere(&self) -> u64 {
        self.dims.iter().map(|dim| dim.divisibility_at(1, self.unit)).max().unwrap_or(1)
    }

    /// What holds of both.
    fn meet(&self, other: &Facts) -> Facts {
        let dims = self.dims.iter().zip(&other.dims);
        let likely = self.likely_of_both(other, Strides::meet);
        let far = self.far_of_both(other);
        Facts {
            dims: dims
                .map(|(x, y)| {
                    let contiguity = x.contiguity.min(y.contiguity);
                    Dim {
                        contiguity,
                        divisibility: x
                            .divisibility_at(contiguity, self.unit)
                            .min(y.divisibility_at(contiguity, other.unit)),
                        constancy: x.constancy.min(y.constancy),
                        zero_from: x.zero_from.max(y.zero_from),
                    }
                })
                .collect(),
            constant: if self.constant == other.constant { self.constant } else { None },
            strides: self.strides.meet(&other.strides),
            likely: likely.map(Box::new),
            argument: if self.argument == other.argument { self.argument } else { None },
            far: far.map(Box::new),
            range: self.range.hull(other.range),
            unit: self.unit,
        }
    }

    /// The same facts, with what the source promises of a value.
    fn promised(mut self, kernel: &Kernel, value: Value) -> Self {
        let promises = &kernel.values[value].promises;
        if promises.is_empty() {
            return self;
        }
        for (dim, promise) in self.dims.iter_mut().zip(promises) {
            dim.contiguity = dim.contiguity.max(promise.contiguity);
            dim.divisibility = dim.divisibility.max(promise.divisibility);
            dim.constancy = dim.constancy.max(promise.constancy);
        }
        self.reconciled(kernel.ty(value))
    }

    /// The same facts, with what those of the axes say of the bits of the index and the other way round.
    fn reconciled(mut self, ty: &Type) -> Self {
        self.range = self.range.within_type(ty);
        self.strides.learn(&self.dims, &ty.shape, self.unit);
        // A run of more than half of the type's values would wrap wherever it began.
        let longest = ty.dtype().bits().saturating_sub(1) as usize;
        for (index, dim) in self.dims.iter_mut().enumerate() {
            self.strides.tell(dim, index, &ty.shape, self.unit, longest);
        }
        let likely = self.likely.take().map(|likely| likely.or(&self.strides));
        let likely = likely.filter(|likely| *likely != self.strides);
        self.and_likely(likely)
    }
}

/// The facts of every value of a kernel.
#[derive(Clone, Debug)]
pub struct AxisFacts {
    facts: IdMap<Value, Facts>,
    /// How often a fact has changed.
    changes: u64,
    /// For each loop, how often facts had changed when it was found to hold for every round.
    settled: FxHashMap<OpId, u64>,
    /// Whether nobody asks for them any more.
    stop: Stop,
    /// Whether what the source promises is taken to hold.
    trusts: bool,
    /// The facts with what the source promises, where it does: for the width of accesses alone. A promise is
    /// often broken at the end of an array (`tl.max_contiguous(rows % M, BLOCK)`), in the middle of no access.
    promised: Option<Box<AxisFacts>>,
}

impl AxisFacts {
    /// Finds the facts of every value.
    pub fn of(kernel: &Kernel) -> Self {
        Self::of_until(kernel, &Stop::default())
    }

    /// The same until it is stopped; what is then known is known of some values alone.
    pub fn of_until(kernel: &Kernel, stop: &Stop) -> Self {
        let mut analysis = Self::analysed(kernel, stop, false);
        let is_promised = |value: &ValueData| !value.promises.is_empty() || value.within.is_some();
        if kernel.values.values().any(is_promised) {
            analysis.promised = Some(Box::new(Self::analysed(kernel, stop, true)));
        }
        analysis
    }

    fn analysed(kernel: &Kernel, stop: &Stop, trusts: bool) -> Self {
        let mut analysis = Self {
            facts: IdMap::default(),
            changes: 0,
            settled: FxHashMap::default(),
            stop: stop.clone(),
            trusts,
            promised: None,
        };
        for (number, (param, value)) in (0..).zip(kernel.arguments()) {
            let divisibility = lowest_bit(param.divisibility);
            let facts = Facts::uniform(kernel.ty(value), divisibility, None);
            analysis.facts.set(value, Facts { argument: Some(number), ..facts });
        }
        analysis.region(kernel, &kernel.body);
        analysis
    }

    /// The facts of one value.
    pub fn get(&self, value: Value) -> &Facts {
        &self.facts[value]
    }

    /// Whether a partial operation ([`Op::is_partial`]) may meet operands for which Triton IR leaves its
    /// result open.
    pub fn may_be_undefined(&self, kernel: &Kernel, op: &Op) -> bool {
        let (OpKind::Binary(binary), &[x, y]) = (&op.kind, &op.operands[..]) else { return true };
        let [of_x, of_y] = [x, y].map(|value| self.get(value).range);
        let holds = |value| of_y.low <= value && value <= of_y.high;
        let width = i64::from(kernel.ty(x).dtype().bits());
        match binary {
            Binary::Shl | Binary::ShrS | Binary::ShrU => of_y.low < 0 || of_y.high >= width,
            Binary::DivS | Binary::RemS => holds(0) || holds(-1) && !of_x.is_natural(),
            _ => holds(0),
        }
    }

    /// How many consecutive elements along `axis` one access may move: the pointers count up, the
    /// first address is aligned to the whole access, the mask is the same for all, and no access is
    /// wider than `most_bytes`.
    pub fn vector_elements(
        &self,
        pointer: Value,
        mask: Option<Value>,
        axis: usize,
        element: DType,
        most_bytes: u64,
    ) -> u64 {
        let bytes = u64::from(element.bytes());
        let facts = &self.promised.as_deref().unwrap_or(self).facts;
        let Some(dim) = facts[pointer].dims.get(axis) else { return 1 };
        let mask =
            mask.map_or(MOST, |mask| facts[mask].dims.get(axis).map_or(1, |dim| dim.constancy));
        let most = (most_bytes / bytes).max(1);
        dim.contiguity.min(mask).min(most).min((dim.divisibility / bytes).max(1))
    }

    /// The bits of the row-major index of `shape` that one access of at most `most_bytes` may walk,
    /// lowest first, over any number of axes: the pointers count up along them, the addresses are
    /// aligned to the whole access, and the mask is the same for all.
    pub fn neighbours(
        &self,
        pointer: Value,
        mask: Option<Value>,
        shape: &[u64],
        element: DType,
        most_bytes: u64,
    ) -> Vec<usize> {
        let facts = &self.promised.as_deref().unwrap_or(self).facts;
        let mut chain = facts[pointer].strides.neighbours(u64::from(element.bytes()), most_bytes);
        let Some(mask) = mask else { return chain };
        let mask = &facts[mask];
        // The mask is the same in a box whose sides are runs in which it is the same.
        let mut behind = 0;
        for (axis, extent) in shape.iter().enumerate().rev() {
            let bits = extent.trailing_zeros() as usize;
            let constancy = mask.dims.get(axis).map_or(1, |dim| dim.constancy.max(1));
            let same = (constancy.ilog2() as usize).min(bits);
            let differs = |bit: &usize| (behind + same..behind + bits).contains(bit);
            if let Some(place) = chain.iter().position(differs) {
                chain.truncate(place);
            }
            behind += bits;
        }
        chain
    }

    fn region(&mut self, kernel: &Kernel, region: &Region) {
        for &id in &region.ops {
            if self.stop.is_set() {
                break;
            }
            let op = &kernel.ops[id];
            match op.kind {
                OpKind::For(_) | OpKind::While | OpKind::If => self.control(kernel, id, op),
                OpKind::Reduce { .. }
                | OpKind::Scan { .. }
                | OpKind::Join
                | OpKind::Split
                | OpKind::Gather { .. }
                | OpKind::InlineAsm(_)
                | OpKind::Descriptor(_)
                | OpKind::Histogram => {
                    for &result in &op.results {
                        self.set(result, Facts::unknown(kernel.ty(result)));
                    }
                }
                _ => {
                    for &result in &op.results {
                        let ty = kernel.ty(result);
                        let facts = self.pure(kernel, op, ty).reconciled(ty);
                        let facts = self.trusting(facts, kernel, result);
                        self.set(result, facts);
                    }
                }
            }
        }
    }

    /// The facts of a value, with what is promised of it, and with where it lies if anything looks at it, if both are taken
    /// to hold.
    fn trusting(&self, facts: Facts, kernel: &Kernel, value: Value) -> Facts {
        if !self.trusts {
            return facts;
        }
        let facts = facts.promised(kernel, value);
        match kernel.values[value].within {
            Some((low, high)) => Facts { range: facts.range.clipped(low, high), ..facts },
            None => facts,
        }
    }

    fn set(&mut self, value: Value, facts: Facts) {
        let known = self.facts.entry(value);
        if *known != facts {
            *known = facts;
            self.changes += 1;
        }
    }

    fn control(&mut self, kernel: &Kernel, id: OpId, op: &Op) {
        match op.kind {
            OpKind::For(_) => {
                let body = &op.regions[0];
                let (bounds, inits) = op.operands.split_at(3);
                let multiple = self.facts[bounds[0]]
                    .divisibility_everywhere()
                    .min(self.facts[bounds[2]].divisibility_everywhere());
                let counter = Facts::uniform(kernel.ty(body.params[0]), multiple, None);
                // In a round the counter is below the upper bound.
                let [low, high, step] = [0, 1, 2].map(|bound| self.facts[bounds[bound]].range);
                let range = if step.low > 0 && low.low < high.high {
                    low.counted_up_to(high, step, multiple)
                } else {
                    counter.range
                };
                self.set(body.params[0], Facts { range, ..counter });
                self.fixpoint(kernel, id, inits, &body.params[1..], |this| {
                    this.region(kernel, body);
                    kernel.handed_over(body).to_vec()
                });
                for (&param, &result) in body.params[1..].iter().zip(&op.results) {
                    let facts = self.facts[param].clone();
                    self.set(result, facts);
                }
            }
            OpKind::While => {
                let (before, after) = (&op.regions[0], &op.regions[1]);
                self.fixpoint(kernel, id, &op.operands, &before.params, |this| {
                    this.region(kernel, before);
                    let passed = kernel.handed_over(before).get(1..).unwrap_or(&[]);
                    for (&from, &to) in passed.iter().zip(&after.params) {
                        let facts = this.facts[from].clone();
                        this.set(to, facts);
                    }
                    this.region(kernel, after);
                    kernel.handed_over(after).to_vec()
                });
                let passed = kernel.handed_over(before).get(1..).unwrap_or(&[]);
                for (&from, &result) in passed.iter().zip(&op.results) {
                    let facts = self.facts[from].clone();
                    self.set(result, facts);
                }
            }
            _ => {
                for region in &op.regions {
                    self.region(kernel, region);
                }
                for (index, &result) in op.results.iter().enumerate() {
                    let mut arms = op
                        .regions
                        .iter()
                        .filter_map(|region| kernel.handed_over(region).get(index))
                        .map(|&value| &self.facts[value]);
                    let first = arms.next().cloned();
                    let facts = first.map(|first| arms.fold(first, |meet, arm| meet.meet(arm)));
                    let facts = facts.unwrap_or_else(|| Facts::unknown(kernel.ty(result)));
                    self.set(result, facts);
                }
            }
        }
    }

    /// Starts the carried values at their initial facts and weakens them until a round of the body
    /// hands back nothing weaker. Each round weakens some fact, of which there are finitely many.
    fn fixpoint(
        &mut self,
        kernel: &Kernel,
        id: OpId,
        inits: &[Value],
        carried: &[Value],
        body: impl Fn(&mut Self) -> Vec<Value>,
    ) {
        let before = self.settled.get(&id).copied();
        for (&init, &param) in inits.iter().zip(carried) {
            // A loop inside another one is met again, with facts that are weaker if anything.
            let facts = match before {
                Some(_) => self.facts[param].meet(&self.facts[init]),
                None => self.facts[init].clone(),
            };
            let facts = self.trusting(facts, kernel, param);
            self.set(param, facts);
        }
        if before == Some(self.changes) {
            return;
        }
        loop {
            let next = body(self);
            let mut changed = false;
            for (&param, &next) in carried.iter().zip(&next) {
                let weaker = self.facts[param].meet(&self.facts[next]);
                let mut weaker = self.trusting(weaker, kernel, param);
                // An interval that grows from round to round might grow for long.
                if weaker.range != self.facts[param].range {
                    weaker.range = Range::of_type(kernel.ty(param));
                    weaker = self.trusting(weaker, kernel, param);
                }
                if weaker != self.facts[param] {
                    changed = true;
                    self.set(param, weaker);
                }
            }
            if !changed {
                self.settled.insert(id, self.changes);
                return;
            }
        }
    }

    fn pure(&self, kernel: &Kernel, op: &Op, ty: &Type) -> Facts {
        let facts = |index: usize| op.operands.get(index).map(|&value| &self.facts[value]);
        let unary = || facts(0).cloned().unwrap_or_else(|| Facts::unknown(ty));
        match &op.kind {
            OpKind::Constant(bits) if ty.dtype().is_int() => {
                Facts::uniform(ty, lowest_bit(*bits), Some(*bits))
            }
            OpKind::Constant(_) => Facts::uniform(ty, 1, None),
            OpKind::MakeRange { start, end } => {
                let length = end.wrapping_sub(*start).max(1) as u64;
                let dim = Dim {
                    contiguity: length,
                    divisibility: lowest_bit(*start as u32 as u64),
                    ..Dim::UNKNOWN
                };
                let strides = Strides::range(*start, length);
                let range = Range::new((*start).into(), (i64::from(*end) - 1).max((*start).into()));
                Facts { dims: smallvec![dim], strides, range, ..Facts::default() }
            }
            OpKind::Reshape { allow_reorder: false } => {
                // Where axes begin and end is another matter than what a bit of the index adds.
                let Facts { constant, strides, likely, far, range, .. } = unary();
                Facts { constant, strides, likely, far, range, ..Facts::unknown(ty) }
            }
            OpKind::ConvertLayout => unary(),
            OpKind::Splat => {
                let scalar = unary();
                let facts = Facts::uniform(ty, scalar.divisibility_everywhere(), scalar.constant);
                Facts { range: scalar.range, argument: scalar.argument, ..facts }
            }
            OpKind::Unsplat => {
                let Facts { constant, argument, range, .. } = unary();
                let facts = Facts::uniform(ty, unary().divisibility_everywhere(), constant);
                Facts { argument, range, ..facts }
            }
            OpKind::ProgramId(axis) => {
                Facts { range: Range::program_id(*axis), ..Facts::unknown(ty) }
            }
            OpKind::NumPrograms(axis) => {
                Facts { range: Range::num_programs(*axis), ..Facts::unknown(ty) }
            }
            OpKind::ExpandDims { axis } => {
                let mut facts = unary();
                let all = facts.divisibility_everywhere();
                let dim = Dim { divisibility: all, ..Dim::UNKNOWN };
                facts.dims.insert(usize::from(*axis).min(facts.dims.len()), dim);
                facts
            }
            OpKind::Broadcast => {
                let mut facts = unary();
                let from = op.operands.first().map(|&value| kernel.ty(value).shape.clone());
                for (index, dim) in facts.dims.iter_mut().enumerate() {
                    let extent = ty.shape.get(index).copied().unwrap_or(1);
                    if from.as_ref().and_then(|from| from.get(index)) == Some(&1) {
                        dim.constancy = extent;
                        dim.zero_from = if dim.zero_from == 0 { 0 } else { MOST };
                    }
                }
                if let Some(from) = from {
                    let repeated = |steps: &Strides| steps.repeated(&from, &ty.shape);
                    let (likely, far) =
                        (facts.likely_with(repeated), facts.far.as_deref().map(repeated));
                    facts.strides = facts.strides.repeated(&from, &ty.shape);
                    return facts.and_likely(likely).and_far(far);
                }
                facts
            }
            OpKind::Trans { order } => {
                let operand = unary();
                let dims = order.iter().map(|&axis| operand.dims[usize::from(axis)]).collect();
                let shape = op.operands.first().map_or(&[][..], |&value| &kernel.ty(value).shape);
                let strides = operand.strides.permuted(shape, order);
                let permuted = |steps: &Strides| steps.permuted(shape, order);
                let (likely, far) =
                    (operand.likely_with(permuted), operand.far.as_deref().map(permuted));
                Facts { dims, strides, ..operand }.and_likely(likely).and_far(far)
            }
            OpKind::Cast(cast @ (Cast::ExtS | Cast::ExtU | Cast::Trunc)) => {
                // The narrower type's values: half of them, where the upper half has another sign.
                let Some(from) = op.operands.first().map(|&value| kernel.ty(value)) else {
                    return Facts::unknown(ty);
                };
                let bits = from.dtype().bits();
                let most = 1 << bits.min(ty.dtype().bits()).saturating_sub(1);
                let mut facts = Facts { constant: None, ..unary() };
                facts.range = facts.range.cast(*cast, from, ty);
                if *cast != Cast::Trunc {
                    facts.strides = wide(&unary(), bits);
                    facts = facts.and_likely(likely_wide(&unary(), bits));
                }
                for dim in &mut facts.dims {
                    let contiguity = dim.contiguity.min(most);
                    dim.divisibility = dim.divisibility_at(contiguity, 1);
                    dim.contiguity = contiguity;
                }
                if let (Some(bits), Cast::ExtU | Cast::Trunc) = (unary().constant, cast) {
                    facts.constant = Some(bits & ty.dtype().mask());
                }
                facts
            }
            OpKind::Cast(Cast::Bits) => {
                // Under another pointee the same bytes are other counts of elements.
                let (bits, new) = (unary(), Facts::unknown(ty));
                if bits.unit == new.unit {
                    return bits;
                }
                let dims = bits.dims.iter().map(|dim| Dim {
                    divisibility: dim.divisibility_at(1, bits.unit),
                    constancy: dim.constancy,
                    ..Dim::UNKNOWN
                });
                let (dims, strides) = (dims.collect(), bits.strides.clone());
                Facts { dims, strides, ..new }
            }
            OpKind::AddPtr => match (facts(0), facts(1)) {
                (Some(pointers), Some(offsets)) => {
                    let bits =
                        op.operands.get(1).map_or(64, |&value| kernel.ty(value).dtype().bits());
                    add_wide(pointers, offsets, bits)
                }
                _ => Facts::unknown(ty),
            },
            OpKind::Binary(binary) => match (facts(0), facts(1)) {
                (Some(x), Some(y)) => Self::binary(*binary, x, y, ty),
                _ => Facts::unknown(ty),
            },
            OpKind::Compare(compare) => match (facts(0), facts(1)) {
                (Some(x), Some(y)) => comparison(*compare, x, y, kernel.ty(op.operands[0]), ty),
                _ => Facts::unknown(ty),
            },
            OpKind::Select => match (facts(0), facts(1), facts(2)) {
                (Some(condition), Some(x), Some(y)) => select(condition, x, y),
                _ => Facts::unknown(ty),
            },
            // One load gives what is at an address to all who ask there.
            OpKind::Load(options) if !options.volatile => self.constancy(op, ty),
            OpKind::Unary(_)
            | OpKind::Cast(_)
            | OpKind::Fma
            | OpKind::Directed(..)
            | OpKind::Function(_) => self.constancy(op, ty),
            _ => Facts::unknown(ty),
        }
    }

    /// Of an operation on each place nothing is known but that equal operands give equal results.
    fn constancy(&self, op: &Op, ty: &Type) -> Facts {
        let mut facts = Facts::unknown(ty);
        for (index, dim) in facts.dims.iter_mut().enumerate() {
            let operands =
                op.operands.iter().filter_map(|&value| self.facts[value].dims.get(index));
            dim.constancy = operands.map(|dim| dim.constancy).min().unwrap_or(1);
        }
        let same = |bit: usize| {
            op.operands
                .iter()
                .all(|&value| self.facts[value].strides.steps.get(bit) == Some(&Some(0)))
        };
        for (bit, step) in facts.strides.steps.iter_mut().enumerate() {
            *step = same(bit).then_some(0);
        }
        facts
    }

    fn binary(op: Binary, x: &Facts, y: &Facts, ty: &Type) -> Facts {
        if let (Some(a), Some(b), Some(apply)) =
            (x.constant, y.constant, scalar::binary(op, ty.dtype()))
        {
            let bits = apply(a, b);
            return Facts::uniform(ty, lowest_bit(bits), Some(bits));
        }
        let range = if ty.dtype().is_int() {
            Range::binary(op, x.range, y.range, ty)
        } else {
            Range::of_type(ty)
        };
        Facts { range, ..Self::combined(op, x, y, ty) }
    }

    fn combined(op: Binary, x: &Facts, y: &Facts, ty: &Type) -> Facts {
        let width = u64::from(ty.dtype().bits()).min(62);
        let power =
            |count: u64| (count < width).then(|| Facts::uniform(ty, 1 << count, Some(1 << count)));
        match op {
            Binary::Add if ty.dtype().is_int() => add(x, y, 1),
            Binary::Sub if ty.dtype().is_int() => subtract(x, y),
            Binary::Mul if ty.dtype().is_int() => multiply(x, y),
            Binary::Shl => match y.constant.and_then(power) {
                Some(factor) => multiply(x, &factor),
                None => pointwise(x, y, |_, _| 1),
            },
            Binary::DivU => divide(x, y, true),
            Binary::DivS => divide(x, y, x.range.is_natural()),
            Binary::ShrU | Binary::ShrS => match y.constant.and_then(power) {
                Some(divisor) => divide(x, &divisor, true),
                None => pointwise(x, y, |_, _| 1),
            },
            Binary::RemU => remainder(x, y, true),
            Binary::RemS => remainder(x, y, x.range.is_natural()),
            // Neither has ended where both are true.
            Binary::And if ty.dtype() == DType::I1 => {
                let mut both = pointwise(x, y, u64::max);
                for (dim, (x, y)) in both.dims.iter_mut().zip(x.dims.iter().zip(&y.dims)) {
                    dim.zero_from = x.zero_from.min(y.zero_from);
                }
                both
            }
            // The lowest bits are the remainder by a power of two.
            Binary::And => match y.constant.map(u64::trailing_ones) {
                Some(ones) if y.constant == Some((1 << ones.min(62)) - 1) => {
                    match power(ones.into()) {
                        Some(divisor) => remainder(x, &divisor, true),
                        None => pointwise(x, y, u64::max),
                    }
                }
                _ => pointwise(x, y, u64::max),
            },
            Binary::MinS
            | Binary::MaxS
            | Binary::MinU
            | Binary::MaxU
            | Binary::Or
            | Binary::Xor => pointwise(x, y, u64::min),
            _ => pointwise(x, y, |_, _| 1),
        }
    }
}

#[cfg(test)]
mod tests;
