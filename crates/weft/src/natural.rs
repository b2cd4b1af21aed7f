//! Kernels in two versions, by whether what they divide is below zero.
//!
//! Quotients and remainders of signed integers are rounded toward zero, so they break the runs of their dividends below
//! zero: `(start + range(0, 2048)) % n` counts up in runs that divide `n` only where it is not negative. If `start` is the
//! number of a block times a size that the kernel is given, nobody knows that; Triton's own analysis takes it for granted.
//! Here the kernel asks:
//!
//! ```text
//! %x = %start + range                  if 0 <= %start and %start <= 2147483647 - 2047 {
//! load %p + %x % %n            ==>       %x = %start + range, not negative
//!                                        load %p + %x % %n
//!                                      } else { … }
//! ```
//!
//! A dividend is a sum of scalars that are there before it, and of numbers between 0 and a constant; what a loop adds to
//! it in each round is one of these, too, and counted for all rounds. Sums of scalars are taken in 64 bits, so that none
//! wraps.
//!
//! It is done where an access then moves more at once: in the first version dividends are known to be natural numbers
//! ([`ValueData::within`](crate::tile::ValueData::within)), and nothing but the width of accesses follows from it. (fbgemm's
//! `_kernel_nvfp4_quantize_rms` on Hopper: 4 loads of 16 bytes where it took 32 of 2.)

use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::scalar::{Binary, Cast, Compare};
use crate::tile::{
    ByPointers, Copies, Kernel, Op, OpId, OpKind, Region, Rewrite, Type, Value, WriteOps,
};

/// The most scalars that a dividend is a sum of.
const MOST_SCALARS: usize = 4;
/// The most that a round of a loop adds: times the rounds of a loop that counts in 32 bits, it fits 64.
const MOST_ADDED: i64 = 1 << 30;
/// The widest accesses that are looked for, in bytes.
const MOST_BYTES: u64 = 16;

/// A kernel of two versions.
pub struct Natural {
    /// The kernel. Operations and values keep their numbers in the first version.
    pub kernel: Kernel,
    /// What the first version does.
    first: Vec<OpId>,
}

impl Natural {
    /// Whether an access of the first version moves more at once than it did, by what is known of both kernels.
    pub fn helps(&self, before: &AxisFacts, after: &AxisFacts) -> bool {
        let mut helps = false;
        let mut look = |op: &Op| {
            let width = |facts| width(&self.kernel, facts, op);
            helps = helps || width(after) > width(before);
        };
        for &id in &self.first {
            let op = &self.kernel.ops[id];
            look(op);
            for region in &op.regions {
                self.kernel.walk(region, &mut |_, op| look(op));
            }
        }
        helps
    }
}

/// How many neighbouring elements an access may move at once.
fn width(kernel: &Kernel, facts: &AxisFacts, op: &Op) -> u64 {
    let mask = match op.kind.by_pointers() {
        Some(ByPointers::Load) => op.operands.get(1),
        Some(ByPointers::Store) => op.operands.get(2),
        _ => return 1,
    };
    let (pointer, mask) = (op.operands[0], mask.copied());
    let ty = kernel.ty(pointer);
    let Some(element) = ty.element.pointee() else { return 1 };
    let axes = 0..ty.shape.len();
    let widths = axes.map(|axis| facts.vector_elements(pointer, mask, axis, element, MOST_BYTES));
    let together = facts.neighbours(pointer, mask, &ty.shape, element, MOST_BYTES).len();
    widths.max().unwrap_or(1).max(1 << together)
}

/// The kernel in two versions; nothing where no dividend's sign can be asked for.
pub fn run(kernel: &Kernel, facts: &AxisFacts) -> Option<Natural> {
    let mut loops = IdMap::<Value, Option<(OpId, usize)>>::default();
    kernel.walk(&kernel.body, &mut |id, op| {
        if matches!(op.kind, OpKind::For(_)) {
            for (index, &param) in op.regions[0].params.iter().enumerate().skip(1) {
                loops.set(param, Some((id, index - 1)));
            }
        }
    });
    let finder = Finder { kernel, facts, definitions: kernel.definitions(), loops };
    let mut body = kernel.body.clone();
    let mut split = kernel.clone();
    let first = finder.region(&mut body, &mut split)?;
    split.body = body;
    Some(Natural { kernel: split, first })
}

/// What a dividend is the sum of.
#[derive(Default)]
struct Terms {
    /// Scalars, of any sign.
    scalars: Vec<Value>,
    /// The most that natural numbers add to them.
    high: i64,
    /// A natural number that each round of a loop adds at most, and the loop.
    growth: Option<(i64, OpId)>,
}

struct Finder<'a> {
    kernel: &'a Kernel,
    facts: &'a AxisFacts,
    definitions: IdMap<Value, Option<OpId>>,
    /// The loop that carries each value, and which of those that it carries.
    loops: IdMap<Value, Option<(OpId, usize)>>,
}

impl Finder<'_> {
    /// Puts what stands behind the first dividend of a list into two versions, or of one inside of a branch of it; gives
    /// what the first version does.
    fn region(&self, region: &mut Region, kernel: &mut Kernel) -> Option<Vec<OpId>> {
        // Which operation of the list each value comes from.
        let mut from = IdMap::<Value, Option<usize>>::default();
        for (place, &id) in region.ops.iter().enumerate() {
            let op = &self.kernel.ops[id];
            op.results.iter().for_each(|&result| from.set(result, Some(place)));
            for inner in &op.regions {
                inner.params.iter().for_each(|&param| from.set(param, Some(place)));
                self.kernel.walk(inner, &mut |_, op| {
                    let params = op.regions.iter().flat_map(|region| &region.params);
                    op.results.iter().chain(params).for_each(|&value| from.set(value, Some(place)));
                });
            }
        }
        let mut dividends: Vec<(usize, Value)> = Vec::new();
        self.kernel.walk(region, &mut |_, op| {
            if let Some(dividend) = self.dividend(op)
                && let Some(place) = from[dividend]
            {
                dividends.push((place, dividend));
            }
        });
        dividends.sort_unstable();
        dividends.dedup();
        // Each may be asked for in front of where it comes from, behind the scalars.
        let mut askable = Vec::new();
        for (until, dividend) in dividends {
            let Some(terms) = self.terms_of(dividend) else { continue };
            let bounds =
                terms.growth.iter().flat_map(|&(_, id)| &self.kernel.ops[id].operands[..3]);
            let scalars = terms.scalars.iter().chain(bounds).filter_map(|&value| from[value]);
            let since = scalars.map(|place| place + 1).max().unwrap_or(0);
            if since <= until {
                askable.push((since..=until, dividend, terms));
            }
        }
        let places = askable.iter().map(|(places, ..)| *places.end());
        let at =
            |place: usize| askable.iter().filter(|(places, ..)| places.contains(&place)).count();
        // The first of those places where most may be asked for.
        if let Some(place) = places.rev().max_by_key(|&place| at(place)) {
            askable.retain(|(places, ..)| places.contains(&place));
            let asked: Vec<(Value, Terms)> =
                askable.into_iter().map(|(_, dividend, terms)| (dividend, terms)).collect();
            return self.versions(region, place, &asked, kernel);
        }
        for &id in &region.ops {
            if self.kernel.ops[id].kind != OpKind::If {
                continue;
            }
            for side in 0..self.kernel.ops[id].regions.len() {
                let mut inner = self.kernel.ops[id].regions[side].clone();
                if let Some(first) = self.region(&mut inner, kernel) {
                    kernel.ops[id].regions[side] = inner;
                    return Some(first);
                }
            }
        }
        None
    }

    /// What an operation divides that has runs, and may be negative.
    fn dividend(&self, op: &Op) -> Option<Value> {
        let (OpKind::Binary(Binary::DivS | Binary::RemS), &[x, y]) = (&op.kind, &op.operands[..])
        else {
            return None;
        };
        let [of_x, of_y] = [x, y].map(|value| self.facts.get(value));
        let has_runs = of_x.dims.iter().any(|dim| dim.contiguity > 1 && dim.divisibility > 1);
        let is_uniform = of_y.strides.are_uniform();
        let is_asked = self.kernel.ty(x).is_tensor() && !of_x.range.is_natural();
        (is_asked && has_runs && is_uniform && self.kernel.values[x].within.is_none()).then_some(x)
    }

    /// What a dividend is the sum of, if its sign can be asked for.
    fn terms_of(&self, dividend: Value) -> Option<Terms> {
        let mut terms = Terms::default();
        self.terms(dividend, &mut terms)?;
        let narrow = |value: Value| self.kernel.ty(value).dtype() == DType::I32;
        let counts = |id: OpId| narrow(self.kernel.ops[id].operands[0]);
        // Of numbers of 64 bits one alone is no sum that wraps.
        let fits = terms.scalars.iter().all(|&scalar| narrow(scalar))
            || terms.scalars.len() == 1 && terms.growth.is_none();
        let fits = fits && terms.growth.is_none_or(|(_, id)| counts(id));
        (fits && terms.high <= most(self.kernel.ty(dividend))).then_some(terms)
    }

    fn terms(&self, x: Value, terms: &mut Terms) -> Option<()> {
        let (ty, range) = (self.kernel.ty(x), self.facts.get(x).range);
        if !matches!(ty.dtype(), DType::I32 | DType::I64) {
            return None;
        }
        if range.is_natural() {
            terms.high = terms.high.checked_add(range.high)?;
            return Some(());
        }
        if !ty.is_tensor() {
            terms.scalars.push(x);
            return (terms.scalars.len() <= MOST_SCALARS).then_some(());
        }
        if let Some((id, index)) = self.loops[x] {
            let op = &self.kernel.ops[id];
            let added = self.added(x, *self.kernel.handed_over(&op.regions[0]).get(index)?)?;
            if terms.growth.replace((added, id)).is_some() {
                return None;
            }
            return self.terms(op.operands[3 + index], terms);
        }
        let op = &self.kernel.ops[self.definitions[x]?];
        match op.kind {
            OpKind::Splat | OpKind::Broadcast | OpKind::ExpandDims { .. } => {
                self.terms(op.operands[0], terms)
            }
            OpKind::Binary(Binary::Add) => {
                self.terms(op.operands[0], terms)?;
                self.terms(op.operands[1], terms)
            }
            OpKind::Cast(Cast::ExtS) => {
                // A sum of 32 bits may have wrapped; a scalar has not.
                let mut inner = Terms::default();
                self.terms(op.operands[0], &mut inner)?;
                let [scalar] = inner.scalars[..] else { return None };
                terms.scalars.push(scalar);
                (inner.high == 0 && inner.growth.is_none() && terms.scalars.len() <= MOST_SCALARS)
                    .then_some(())
            }
            _ => None,
        }
    }

    /// The natural number that is added to a value, at most.
    fn added(&self, to: Value, sum: Value) -> Option<i64> {
        let op = &self.kernel.ops[self.definitions[sum]?];
        let other = match (&op.kind, &op.operands[..]) {
            (OpKind::Binary(Binary::Add), &[x, y]) if x == to => y,
            (OpKind::Binary(Binary::Add), &[x, y]) if y == to => x,
            _ => return None,
        };
        let range = self.facts.get(other).range;
        (range.is_natural() && range.high <= MOST_ADDED).then_some(range.high)
    }

    /// Puts what stands from a place of a list on into two versions.
    fn versions(
        &self,
        region: &mut Region,
        place: usize,
        asked: &[(Value, Terms)],
        kernel: &mut Kernel,
    ) -> Option<Vec<OpId>> {
        let mut rest = region.ops.split_off(place);
        let last = rest.pop()?;
        let at = *rest.first()?;
        // The second version is written before anything is said of the first one's values.
        let mut copies = Copies::default();
        let again: Vec<OpId> = rest.iter().map(|&id| kernel.copy_of(id, &mut copies)).collect();
        let condition = self.condition(kernel, at, asked, &mut region.ops);
        for (dividend, _) in asked {
            let ty = kernel.ty(*dividend);
            kernel.values[*dividend].within = Some((0, most(ty)));
        }
        // What the list hands on is what the versions hand on.
        let handed = kernel.ops[last].operands.clone();
        let ours: Vec<Value> =
            handed.iter().copied().filter(|&value| copies[value].is_some()).collect();
        let theirs = ours.iter().filter_map(|&value| copies[value]).collect();
        let results = kernel.copies_of(&ours, &mut Copies::default());
        let first = rest.clone();
        let mut regions = Vec::new();
        for (mut ops, values) in [(rest, ours.clone()), (again, theirs)] {
            let mut writer = Rewrite { kernel, at, out: &mut ops };
            writer.nothing(OpKind::Yield, &values);
            regions.push(Region { params: Vec::new(), ops });
        }
        let mut writer = Rewrite { kernel, at, out: &mut region.ops };
        let versions = writer.nothing(OpKind::If, &[condition]);
        for value in &mut kernel.ops[last].operands {
            if let Some(index) = ours.iter().position(|own| own == value) {
                *value = results[index];
            }
        }
        kernel.ops[versions].regions = regions;
        kernel.ops[versions].results = results;
        region.ops.push(last);
        Some(first)
    }

    /// Whether no dividend is below zero or wraps.
    fn condition(
        &self,
        kernel: &mut Kernel,
        at: OpId,
        asked: &[(Value, Terms)],
        out: &mut Vec<OpId>,
    ) -> Value {
        let wide = Type::scalar(DType::I64);
        let mut writer = Rewrite { kernel, at, out };
        let zero = writer.constant(&wide, 0);
        let mut all: Option<Value> = None;
        for (dividend, terms) in asked {
            let most = most(&writer.ty(*dividend));
            let mut start = zero;
            for &scalar in &terms.scalars {
                let scalar = writer.cast(Cast::ExtS, scalar, DType::I64);
                start =
                    if start == zero { scalar } else { writer.binary(Binary::Add, start, scalar) };
            }
            let is_natural = writer.compare(Compare::Sge, start, zero);
            let mut end = start;
            if let Some((added, id)) = terms.growth {
                let bounds = [0, 1, 2].map(|index| self.kernel.ops[id].operands[index]);
                let [low, high, step] =
                    bounds.map(|bound| writer.cast(Cast::ExtS, bound, DType::I64));
                let length = writer.binary(Binary::Sub, high, low);
                let length = writer.binary(Binary::MaxS, length, zero);
                // One round more than there are, if the step does not divide the length. It is positive, or there is
                // no round.
                let one = writer.constant(&wide, 1);
                let step = writer.binary(Binary::MaxS, step, one);
                let rounds = writer.binary(Binary::DivS, length, step);
                let rounds = writer.binary(Binary::Add, rounds, one);
                let added = writer.with_number(Binary::Mul, rounds, added as u64);
                end = writer.binary(Binary::Add, end, added);
            }
            let limit = writer.constant(&wide, (most - terms.high) as u64);
            let fits = writer.compare(Compare::Sle, end, limit);
            for more in [is_natural, fits] {
                all = Some(match all {
                    Some(all) => writer.binary(Binary::And, all, more),
                    None => more,
                });
            }
        }
        all.unwrap_or_else(|| writer.constant(&Type::scalar(DType::I1), 0))
    }
}

/// The greatest integer of a type.
fn most(ty: &Type) -> i64 {
    if ty.dtype() == DType::I32 { i32::MAX.into() } else { i64::MAX }
}
