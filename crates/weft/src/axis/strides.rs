//! Values to which bits of the index add steps of their own.
//!
//! The facts of one axis do not say how axes go together: of `2 i + j` for `j` below two they know that
//! every row counts up, but not that the next row goes on where it ended. Here the index is one
//! row-major number, so that reshapes change nothing, and each of its bits may have a step.

use super::{Dim, MOST, rules::lowest_bit};
use smallvec::SmallVec;

/// `g(unknown bits) + Σ step[b]` over the set bits `b` of the row-major index that have a step, modulo
/// the type's width.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strides {
    /// What every value of `g` is a multiple of: a power of two.
    pub first: u64,
    /// What each bit of the index adds (bytes, for a pointer), the last dimension's lowest bit first;
    /// none where that is not known.
    pub steps: SmallVec<[Option<u64>; 12]>,
}

/// The bits of an index.
fn bits(shape: &[u64]) -> usize {
    shape.iter().map(|extent| extent.trailing_zeros() as usize).sum()
}

/// How many of the lowest bits count up by so much for each element.
fn counting(steps: &[Option<u64>], unit: u64) -> usize {
    steps.iter().enumerate().take_while(|&(bit, &step)| step == Some(unit << bit)).count()
}

impl Strides {
    /// Elements of which nothing is known.
    pub(super) fn unknown(shape: &[u64]) -> Self {
        Self { first: 1, steps: SmallVec::from_elem(None, bits(shape)) }
    }

    /// Of an index of the same bits nothing is known.
    pub(super) fn forgotten(&self) -> Self {
        Self { first: 1, steps: SmallVec::from_elem(None, self.steps.len()) }
    }

    /// Elements that are all equal.
    pub(super) fn uniform(shape: &[u64], first: u64) -> Self {
        Self { first, steps: SmallVec::from_elem(Some(0), bits(shape)) }
    }

    /// The integers from `start` upward.
    pub(super) fn range(start: i32, extent: u64) -> Self {
        let steps = (0..bits(&[extent])).map(|bit| Some(1 << bit)).collect();
        Self { first: lowest_bit(u64::from(start as u32)), steps }
    }

    /// With the dimensions in another order; `shape` is the operand's.
    pub(super) fn permuted(&self, shape: &[u64], order: &[u8]) -> Self {
        let mut steps = SmallVec::new();
        for &axis in order.iter().rev() {
            let axis = usize::from(axis);
            let behind = bits(shape.get(axis + 1..).unwrap_or(&[]));
            let own = shape.get(axis).map_or(0, |&extent| bits(&[extent]));
            steps.extend_from_slice(self.steps.get(behind..behind + own).unwrap_or(&[]));
        }
        Self { first: self.first, steps }
    }

    /// With dimensions of size one repeated.
    pub(super) fn repeated(&self, from: &[u64], to: &[u64]) -> Self {
        let mut known = self.steps.iter().copied();
        let mut steps = SmallVec::new();
        for (from, to) in from.iter().zip(to).rev() {
            for _ in 0..bits(&[*to]) {
                steps.push(if from == to { known.next().flatten() } else { Some(0) });
            }
        }
        Self { first: self.first, steps }
    }

    /// What every element is a multiple of.
    fn everywhere(&self) -> u64 {
        self.steps.iter().flatten().fold(self.first, |all, &step| all.min(lowest_bit(step)))
    }

    /// Combines the steps that both know, where `combine` gives one. What only one of them knows
    /// becomes a part of the unknown.
    fn zip(&self, other: &Self, combine: impl Fn(u64, u64) -> Option<u64>) -> Self {
        let mut first = self.first.min(other.first);
        let steps = self.steps.iter().zip(&other.steps).map(|(&x, &y)| {
            let both = x.zip(y).and_then(|(x, y)| combine(x, y));
            if both.is_none() {
                let left = x.into_iter().chain(y).map(lowest_bit);
                first = left.fold(first, u64::min);
            }
            both
        });
        let steps = steps.collect();
        Self { first, steps }
    }

    /// The sum with another value whose elements count `unit` each.
    pub(super) fn plus(&self, other: &Self, unit: u64) -> Self {
        self.zip(&other.times(unit), |x, y| Some(x.wrapping_add(y)))
    }

    /// Whether all elements are equal.
    pub(crate) fn are_uniform(&self) -> bool {
        self.steps.iter().all(|&step| step == Some(0))
    }

    /// This value or another one, where a condition says so: known where the condition stays the same.
    pub(super) fn chosen(&self, condition: &Self, other: &Self) -> Self {
        let mut chosen = self.meet(other);
        for (step, condition) in chosen.steps.iter_mut().zip(&condition.steps) {
            if *condition != Some(0)
                && let Some(step) = step.take()
            {
                chosen.first = chosen.first.min(lowest_bit(step));
            }
        }
        chosen
    }

    /// The number for each bit that may lead to another place, and 0 for the others.
    pub(super) fn moving(&self, number: u64) -> Self {
        let moves = |step: &Option<u64>| Some(if *step == Some(0) { 0 } else { number });
        Self { first: 1, steps: self.steps.iter().map(moves).collect() }
    }

    /// The smaller number of both for each bit, where neither is 0.
    pub(super) fn nearer(&self, other: &Self) -> Self {
        let steps = self.steps.iter().zip(&other.steps).map(|(&one, &other)| match (one, other) {
            (Some(0) | None, number) | (number, Some(0) | None) => number,
            (one, other) => one.min(other),
        });
        Self { first: 1, steps: steps.collect() }
    }

    /// What is the same wherever this value and another one go on by as much: whether they are equal, for example.
    pub(super) fn side_by_side(&self, other: &Self) -> Self {
        let steps = self.steps.iter().zip(&other.steps);
        let steps = steps.map(|(x, y)| (x.is_some() && x == y).then_some(0));
        Self { first: 1, steps: steps.collect() }
    }

    /// The difference from another value.
    pub(super) fn minus(&self, other: &Self) -> Self {
        self.zip(other, |x, y| Some(x.wrapping_sub(y)))
    }

    /// The product with a constant.
    pub(super) fn times(&self, factor: u64) -> Self {
        let steps = self.steps.iter().map(|step| step.map(|step| step.wrapping_mul(factor)));
        let first = self.first.saturating_mul(lowest_bit(factor)).min(MOST);
        Self { first, steps: steps.collect() }
    }

    /// The largest power of two up to `most` between two multiples of which the bits whose steps are no
    /// multiples of it only count: the value is `P m + j` with `j < P` made of those bits alone.
    fn split(&self, most: u64) -> u64 {
        let mut power = most.min(self.first);
        while power > 1 {
            let counting = self.steps.iter().flatten().filter(|step| !step.is_multiple_of(power));
            let span = counting.copied().try_fold(0, u64::checked_add);
            if span.is_some_and(|span| span < power) {
                return power;
            }
            power /= 2;
        }
        1
    }

    /// The quotient, rounded down, by a number that is the same for all and a multiple of `power`, or
    /// `power` itself: with `x = P m + j` and `y = P q` it is that of `m` by `q`.
    pub(super) fn divided(&self, power: u64, exact: bool) -> Self {
        let power_here = self.split(power);
        let steps = self.steps.iter().map(|&step| match step? {
            0 => Some(0),
            step if !step.is_multiple_of(power_here) => Some(0),
            step if exact && power_here == power => Some((step as i64 / power as i64) as u64),
            _ => None,
        });
        let steps: SmallVec<_> = steps.collect();
        let first = if exact && power_here == power {
            self.first / power
        } else if exact {
            self.everywhere() / power
        } else {
            1
        };
        Self { first: first.max(1), steps }
    }

    /// The remainder by such a number: `P (m mod q) + j`.
    pub(super) fn remainder(&self, power: u64, exact: bool) -> Self {
        let power_here = self.split(power);
        let whole = exact && power_here == power;
        let steps = self.steps.iter().map(|&step| match step {
            Some(0) => Some(0),
            Some(step) if !step.is_multiple_of(power_here) => Some(step),
            // The rest is a multiple of the divisor.
            _ => whole.then_some(0),
        });
        Self { first: if whole { MOST } else { power_here }, steps: steps.collect() }
    }

    /// What the steps of a quotient by a number that is the same for all most often are. A divisor that only a run tells
    /// is taken for the size of an axis, larger than all that a tile reaches by known steps.
    pub(super) fn likely_quotient(&self, divisor: Option<u64>) -> Self {
        self.likely(divisor, |_| 0, |step, divisor| step / divisor)
    }

    /// The same of the remainder.
    pub(super) fn likely_remainder(&self, divisor: Option<u64>) -> Self {
        self.likely(divisor, |step| step, |_, _| 0)
    }

    /// Steps of up to half of a divisor lead past a multiple of it less often than not, and multiples of it always.
    fn likely(
        &self,
        divisor: Option<u64>,
        within: impl Fn(u64) -> u64,
        beyond: impl Fn(i64, i64) -> i64,
    ) -> Self {
        let steps = self.steps.iter().map(|&step| {
            let (step, Some(divisor)) = (step?, divisor) else { return step.map(&within) };
            if (step as i64).unsigned_abs() <= divisor / 2 {
                return Some(within(step));
            }
            let (signed, divisor) = (step as i64, i64::try_from(divisor).ok()?);
            (signed.checked_rem(divisor) == Some(0)).then(|| beyond(signed, divisor) as u64)
        });
        Self { first: 1, steps: steps.collect() }
    }

    /// Takes over what the facts of each axis say: its lowest bits count up by one, or add nothing.
    pub(super) fn learn(&mut self, dims: &[Dim], shape: &[u64], unit: u64) {
        let mut behind = 0;
        for (dim, extent) in dims.iter().zip(shape).rev() {
            let own = bits(&[*extent]);
            let steps = self.steps.iter_mut().skip(behind).take(own);
            for (bit, step) in steps.enumerate().filter(|(_, step)| step.is_none()) {
                *step = if 1 << bit < dim.contiguity {
                    Some(unit << bit)
                } else {
                    (1 << bit < dim.constancy).then_some(0)
                };
            }
            behind += own;
        }
        // Where all known bits are zero a run of each axis begins.
        let begins = dims.iter().map(|dim| dim.divisibility).max();
        self.first = self.first.max(begins.unwrap_or(1));
    }

    /// How many elements follow each other along one axis from where its bits are zero.
    pub(super) fn run(&self, axis: usize, shape: &[u64], unit: u64) -> u64 {
        self.of_axis(axis, shape).map_or(1, |(_, own)| 1 << counting(own, unit))
    }

    /// The shortest known step along one axis that leads to another place.
    pub(super) fn nearest(&self, axis: usize, shape: &[u64]) -> Option<u64> {
        let (_, own) = self.of_axis(axis, shape)?;
        let steps = own.iter().flatten().map(|step| step.cast_signed().unsigned_abs());
        steps.filter(|&step| step > 0).min()
    }

    /// The steps of one axis, and how many bits of the index are below it.
    fn of_axis(&self, axis: usize, shape: &[u64]) -> Option<(usize, &[Option<u64>])> {
        let behind = bits(shape.get(axis + 1..).unwrap_or(&[]));
        let own = bits(shape.get(axis..=axis).unwrap_or(&[]));
        Some((behind, self.steps.get(behind..behind + own)?))
    }

    /// Improves the facts of one axis by what the bits of the index say, with runs of at most
    /// `2^longest` elements.
    pub(super) fn tell(
        &self,
        dim: &mut Dim,
        axis: usize,
        shape: &[u64],
        unit: u64,
        longest: usize,
    ) {
        let Some((behind, own)) = self.of_axis(axis, shape) else { return };
        let counting = counting(own, unit).min(longest);
        let same = own.iter().take_while(|&&step| step == Some(0)).count();
        let run = 1 << counting;
        if run >= dim.contiguity {
            let others = self.steps.iter().enumerate();
            let others = others.filter(|(bit, _)| !(behind..behind + counting).contains(bit));
            let steps = others.filter_map(|(_, &step)| step.map(lowest_bit));
            let begins = steps.fold(self.first, u64::min);
            let known = if run > dim.contiguity {
                dim.divisibility_at(run, unit)
            } else {
                dim.divisibility
            };
            *dim = Dim { contiguity: run, divisibility: known.max(begins), ..*dim };
        }
        dim.constancy = dim.constancy.max(1 << same);
    }

    /// The product with another value: known where both stay the same.
    pub(super) fn product(&self, other: &Self) -> Self {
        let first = self.everywhere().saturating_mul(other.everywhere()).min(MOST);
        let steps = self.steps.iter().zip(&other.steps);
        let steps = steps.map(|pair| matches!(pair, (Some(0), Some(0))).then_some(0));
        Self { first, steps: steps.collect() }
    }

    /// What is known of a value of so many bits when it becomes wider. It may have wrapped, but not
    /// between two multiples of a power of two up to half of its range; so what counts up from such a
    /// multiple to less than the next one stays, and the rest becomes a part of the unknown.
    pub(super) fn widened(&self, bits: u32) -> Self {
        let half = 1_u64 << bits.saturating_sub(1).min(62);
        let mut widened = self.clone();
        loop {
            let limit = widened.first.min(half);
            let known = widened.steps.iter().flatten();
            let span = known.copied().try_fold(0, u64::checked_add);
            if span.is_some_and(|span| span < limit) {
                return widened;
            }
            let Some(largest) = widened.steps.iter_mut().max() else { return widened };
            let step = largest.take().unwrap_or(0);
            widened.first = limit.min(lowest_bit(step));
        }
    }

    /// The same of a value of so many bits that lies in an interval of less than half of its type: there
    /// two elements differ by what their bits say, as numbers and not only modulo the type's width.
    pub(super) fn widened_within(&self, bits: u32) -> Self {
        let unused = 64 - bits.clamp(1, 64);
        let signed = |step: u64| (((step << unused) as i64) >> unused) as u64;
        let steps = self.steps.iter().map(|step| step.map(signed)).collect();
        Self { first: self.first, steps }
    }

    /// Where a step is not known, that of the other.
    pub(super) fn or(&self, other: &Self) -> Self {
        let steps = self.steps.iter().zip(&other.steps);
        Self { first: other.first, steps: steps.map(|(own, other)| own.or(*other)).collect() }
    }

    /// What holds of both.
    pub(super) fn meet(&self, other: &Self) -> Self {
        self.zip(other, |x, y| (x == y).then_some(x))
    }

    /// The bits of the index that walk through memory from one element of so many bytes to the next,
    /// lowest first, as long as whole pieces of no more than `most_bytes` lie at multiples of their
    /// size.
    pub(super) fn neighbours(&self, bytes: u64, most_bytes: u64) -> Vec<usize> {
        let mut chain = Vec::new();
        while bytes << (chain.len() + 1) <= most_bytes {
            let step = bytes << chain.len();
            match self.steps.iter().position(|&known| known == Some(step)) {
                Some(bit) => chain.push(bit),
                None => break,
            }
        }
        let aligned = |chain: &[usize]| {
            let size = bytes << chain.len();
            let others = self.steps.iter().enumerate().filter(|(bit, _)| !chain.contains(bit));
            let mut others = others.filter_map(|(_, &step)| step);
            self.first.is_multiple_of(size) && others.all(|step: u64| step.is_multiple_of(size))
        };
        while !chain.is_empty() && !aligned(&chain) {
            chain.pop();
        }
        chain
    }
}
