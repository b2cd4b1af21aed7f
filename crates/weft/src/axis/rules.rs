//! What operations do to facts.

use super::{Dim, Facts, MOST, Range, Strides};
use crate::dtype::DType;
use crate::scalar::Compare;
use crate::tile::Type;

/// The largest power of two that divides `bits`.
pub(super) fn lowest_bit(bits: u64) -> u64 {
    if bits == 0 { MOST } else { (1 << bits.trailing_zeros()).min(MOST) }
}

fn zip(x: &Facts, y: &Facts, dim: impl Fn(Dim, Dim) -> Dim) -> Facts {
    let dims = x.dims.iter().zip(&y.dims).map(|(&x, &y)| dim(x, y)).collect();
    // Between which integers the result lies is told apart.
    let range = Range::new(i64::MIN, i64::MAX);
    Facts { dims, strides: x.strides.forgotten(), range, unit: x.unit, ..Facts::default() }
}

/// What each bit of the index adds where a value of so many bits becomes wider.
pub(super) fn wide(x: &Facts, bits: u32) -> Strides {
    let span = x.range.high.checked_sub(x.range.low);
    if bits >= 64 {
        x.strides.clone()
    } else if span.is_some_and(|span| span < 1 << (bits - 1)) {
        x.strides.widened_within(bits)
    } else {
        x.strides.widened(bits)
    }
}

/// The same if it has not wrapped, where that tells more.
pub(super) fn likely_wide(x: &Facts, bits: u32) -> Option<Strides> {
    if bits >= 64 { x.likely_with(Strides::clone) } else { Some(x.likely().widened_within(bits)) }
}

/// A factor that is a multiple of so many elements is taken for the length of rows.
const FAR: u64 = 16;

/// How far a factor leads of which only a run tells how large it is: multiples of [`FAR`] lead farther than others, since
/// in dense memory the step of an outer axis is a multiple of those within, and what is computed from arguments leads
/// farther than an argument, of which those lead farther that stand first, as programs pass the strides of a tensor.
fn farness(factor: &Facts) -> u64 {
    let is_multiple = factor.divisibility_everywhere().is_multiple_of(FAR);
    let place = factor.argument.map_or(u32::MAX, |argument| u32::MAX - 1 - argument);
    u64::from(is_multiple) << 32 | u64::from(place)
}

/// Pointers plus offsets of so many bits.
pub(super) fn add_wide(pointers: &Facts, offsets: &Facts, bits: u32) -> Facts {
    let unit = pointers.unit;
    // Offsets of 64 bits may wrap, as addresses do.
    let wide = wide(offsets, bits);
    let strides = pointers.strides.plus(&wide, unit);
    let offset = likely_wide(offsets, bits);
    let likely = offset.map(|offset| pointers.likely().plus(&offset, unit));
    let likely = likely.or_else(|| pointers.likely_with(|steps| steps.plus(&wide, unit)));
    let far = pointers.far_of_both(offsets);
    Facts { strides, ..add(pointers, offsets, unit) }.and_likely(likely).and_far(far)
}

/// `x + y * unit`, where `unit` is the size of what `x` points to.
pub(super) fn add(x: &Facts, y: &Facts, unit: u64) -> Facts {
    let strides = x.strides.plus(&y.strides, unit);
    let likely = x.likely_of_both(y, |x, y| x.plus(y, unit));
    let sum = zip(x, y, |x, y| {
        let contiguity = x.contiguity.min(y.constancy).max(x.constancy.min(y.contiguity));
        let offsets = y.divisibility_at(contiguity, 1).saturating_mul(unit).min(MOST);
        Dim {
            contiguity,
            divisibility: x.divisibility_at(contiguity, unit).min(offsets),
            constancy: x.constancy.min(y.constancy),
            ..Dim::UNKNOWN
        }
    });
    Facts { strides, ..sum }.and_likely(likely).and_far(x.far_of_both(y))
}

pub(super) fn subtract(x: &Facts, y: &Facts) -> Facts {
    let strides = x.strides.minus(&y.strides);
    let likely = x.likely_of_both(y, Strides::minus);
    let difference = zip(x, y, |x, y| {
        let contiguity = x.contiguity.min(y.constancy);
        Dim {
            contiguity,
            divisibility: x.divisibility_at(contiguity, 1).min(y.divisibility_at(contiguity, 1)),
            constancy: x.constancy.min(y.constancy),
            ..Dim::UNKNOWN
        }
    });
    Facts { strides, ..difference }.and_likely(likely).and_far(x.far_of_both(y))
}

pub(super) fn multiply(x: &Facts, y: &Facts) -> Facts {
    match (x.constant, y.constant) {
        (Some(1), _) => return y.clone(),
        (_, Some(1)) => return x.clone(),
        _ => {}
    }
    let strides = match (x.constant, y.constant) {
        (Some(factor), _) => y.strides.times(factor),
        (_, Some(factor)) => x.strides.times(factor),
        _ => x.strides.product(&y.strides),
    };
    let likely = match (x.constant, y.constant) {
        (Some(factor), _) => y.likely_with(|steps| steps.times(factor)),
        (_, Some(factor)) => x.likely_with(|steps| steps.times(factor)),
        _ => x.likely_of_both(y, Strides::product),
    };
    let product = zip(x, y, |x, y| {
        let product = x.divisibility_at(1, 1).saturating_mul(y.divisibility_at(1, 1));
        Dim {
            contiguity: 1,
            divisibility: product.min(MOST),
            constancy: x.constancy.min(y.constancy),
            ..Dim::UNKNOWN
        }
    });
    let far = scaled_far(x, y).or_else(|| scaled_far(y, x)).or_else(|| x.far_of_both(y));
    let argument = match (x.constant, y.constant) {
        (Some(_), None) => y.argument,
        (None, Some(_)) => x.argument,
        _ => None,
    };
    Facts { strides, argument, ..product }.and_likely(likely).and_far(far)
}

/// How far the bits of a product lead if one of the factors is the same everywhere and only a run tells it.
fn scaled_far(factor: &Facts, x: &Facts) -> Option<Strides> {
    let scales =
        factor.constant.is_none() && factor.strides.are_uniform() && !x.strides.are_uniform();
    scales.then(|| x.likely().moving(farness(factor)))
}

/// What is known of a divisor.
struct Divisor {
    /// A power of two that it is a multiple of.
    power: u64,
    /// Whether it is that power.
    exact: bool,
}

impl Divisor {
    /// Of a divisor whose elements are `y`; of one that is no constant the power is that of all.
    fn of(y: &Facts) -> Self {
        let power = y.constant.map_or_else(|| y.divisibility_everywhere(), lowest_bit);
        Self { power, exact: y.constant == Some(power) && y.range.is_natural() }
    }
}

/// The quotient of integers: `x = P m + j` with `0 <= j < P` by `y = P q` is `m / q` rounded down, whatever
/// `j`. Rounded toward zero that holds where `x` is not negative; `rounds_down` says that it does.
pub(super) fn divide(x: &Facts, y: &Facts, rounds_down: bool) -> Facts {
    let divisor = Divisor::of(y);
    let quotient = zip(x, y, |x, y| {
        let run = x.contiguity.min(x.divisibility).min(divisor.power).min(y.constancy);
        // Multiples of the divisor have quotients without a rest, of either sign.
        let divisibility = x.divisibility_at(1, 1) / divisor.power;
        Dim {
            contiguity: 1,
            divisibility: if divisor.exact { divisibility.max(1) } else { 1 },
            constancy: if rounds_down { run } else { 1 }.max(x.constancy.min(y.constancy)),
            ..Dim::UNKNOWN
        }
    });
    if !y.strides.are_uniform() {
        return quotient;
    }
    let likely = (!divisor.exact).then(|| x.likely().likely_quotient(y.constant));
    if rounds_down {
        // Elements that may wrap have quotients that wrap elsewhere.
        let exact = divisor.exact && x.range.is_natural();
        Facts { strides: x.strides.divided(divisor.power, exact), ..quotient }.and_likely(likely)
    } else {
        quotient.and_likely(likely)
    }
}

/// The remainder of integers: that of `P m + j` by `P q` is `P (m mod q) + j`, toward zero where `x` is not
/// negative.
pub(super) fn remainder(x: &Facts, y: &Facts, rounds_down: bool) -> Facts {
    let divisor = Divisor::of(y);
    let rest = zip(x, y, |x, y| {
        // A run that starts between two multiples of the divisor's power breaks in its middle.
        let run = x.contiguity.min(x.divisibility).min(divisor.power).min(y.constancy);
        let contiguity = if rounds_down { run } else { 1 };
        Dim {
            contiguity,
            divisibility: x.divisibility_at(contiguity, 1).min(divisor.power),
            constancy: x.constancy.min(y.constancy),
            ..Dim::UNKNOWN
        }
    });
    if !y.strides.are_uniform() {
        return rest;
    }
    let likely = (!divisor.exact).then(|| x.likely().likely_remainder(y.constant));
    if rounds_down {
        let strides = x.strides.remainder(divisor.power, divisor.exact);
        Facts { strides, ..rest }.and_likely(likely)
    } else {
        rest.and_likely(likely)
    }
}

/// An operation of which only constancy and the divisibility of all elements are known.
pub(super) fn pointwise(x: &Facts, y: &Facts, divisibility: impl Fn(u64, u64) -> u64) -> Facts {
    zip(x, y, |x, y| Dim {
        contiguity: 1,
        divisibility: divisibility(x.divisibility_at(1, 1), y.divisibility_at(1, 1)),
        constancy: x.constancy.min(y.constancy),
        ..Dim::UNKNOWN
    })
}

/// Where the intervals of `x` and `y`, of which `compared` is the type, decide it, the answer is one constant. Where `x`
/// counts up over a run and `y` is constant over it, and both are multiples of the run's length, the whole run lies on
/// one side of `y`: `x < y` and `x >= y` are constant over it, and with the sides exchanged `>` and `<=`. Whether both are
/// equal stays the same where both go on by as much.
pub(super) fn comparison(op: Compare, x: &Facts, y: &Facts, compared: &Type, ty: &Type) -> Facts {
    // A truth value is 0 and 1 here, and 0 and -1 to comparisons of signed numbers.
    if compared.dtype().is_int()
        && compared.dtype() != DType::I1
        && let Some(truth) = Range::compared(op, x.range, y.range)
    {
        return Facts::uniform(ty, lowest_bit(truth.into()), Some(truth.into()));
    }
    let (counting, fixed) = match op {
        Compare::Slt | Compare::Sge | Compare::Ult | Compare::Uge => (x, y),
        Compare::Sgt | Compare::Sle | Compare::Ugt | Compare::Ule => (y, x),
        _ => {
            let mut facts = pointwise(x, y, |_, _| 1);
            facts.unit = 1;
            if compared.dtype().is_int() {
                facts.strides = x.strides.side_by_side(&y.strides);
            }
            return facts;
        }
    };
    let mut facts = Facts::unknown(ty);
    for (index, dim) in facts.dims.iter_mut().enumerate() {
        let (Some(counting), Some(fixed)) = (counting.dims.get(index), fixed.dims.get(index))
        else {
            continue;
        };
        let run = counting
            .contiguity
            .min(fixed.constancy)
            .min(counting.divisibility)
            .min(fixed.divisibility_at(1, 1));
        dim.constancy = run.max(counting.constancy.min(fixed.constancy));
    }
    if let Some((axis, end)) = end_of(op, x, y, &compared.shape)
        && let Some(dim) = facts.dims.get_mut(axis)
    {
        dim.zero_from = end;
    }
    facts
}

/// Where along which axis a comparison stops holding, of places along one axis with one number.
fn end_of(op: Compare, x: &Facts, y: &Facts, shape: &[u64]) -> Option<(usize, u64)> {
    // The last place at which it holds is that number or the one before.
    let (places, number, last) = match op {
        Compare::Slt | Compare::Ult => (x, y, 0),
        Compare::Sle | Compare::Ule => (x, y, 1),
        Compare::Sgt | Compare::Ugt => (y, x, 0),
        Compare::Sge | Compare::Uge => (y, x, 1),
        _ => return None,
    };
    let (first, number) = (places.range.low, number.range);
    let fits = number.low == number.high && first >= 0 && number.is_natural();
    let axis = places.dims.iter().zip(shape).position(|(dim, &extent)| {
        let span = places.range.high.checked_sub(first);
        extent > 1 && dim.contiguity >= extent && span == i64::try_from(extent - 1).ok()
    })?;
    let end = number.high.checked_add(last)?.saturating_sub(first).max(0);
    fits.then_some((axis, end as u64))
}

pub(super) fn select(condition: &Facts, x: &Facts, y: &Facts) -> Facts {
    // Some elements are of one and some of the other.
    let mut facts =
        Facts { strides: x.strides.chosen(&condition.strides, &y.strides), ..x.meet(y) };
    // A scalar condition is the same everywhere.
    if condition.dims.len() != facts.dims.len() {
        return facts;
    }
    let unit = facts.unit;
    for (dim, condition) in facts.dims.iter_mut().zip(&condition.dims) {
        let contiguity = dim.contiguity.min(condition.constancy);
        *dim = Dim {
            contiguity,
            divisibility: dim.divisibility_at(contiguity, unit),
            constancy: dim.constancy.min(condition.constancy),
            ..Dim::UNKNOWN
        };
    }
    facts
}
