//! What operations do to facts.

use super::{Dim, Facts, MOST};
use crate::scalar::Compare;
use crate::tile::Type;

/// The largest power of two that divides `bits`.
pub(super) fn lowest_bit(bits: u64) -> u64 {
    if bits == 0 { MOST } else { (1 << bits.trailing_zeros()).min(MOST) }
}

fn zip(x: &Facts, y: &Facts, dim: impl Fn(Dim, Dim) -> Dim) -> Facts {
    let dims = x.dims.iter().zip(&y.dims).map(|(&x, &y)| dim(x, y)).collect();
    Facts { dims, constant: None, strides: x.strides.forgotten(), unit: x.unit }
}

/// Pointers plus offsets of so many bits.
pub(super) fn add_wide(pointers: &Facts, offsets: &Facts, bits: u32) -> Facts {
    let unit = pointers.unit;
    // Offsets of 64 bits may wrap, as addresses do.
    let wide = if bits < 64 { offsets.strides.widened(bits) } else { offsets.strides.clone() };
    let strides = pointers.strides.plus(&wide, unit);
    Facts { strides, ..add(pointers, offsets, unit) }
}

/// `x + y * unit`, where `unit` is the size of what `x` points to.
pub(super) fn add(x: &Facts, y: &Facts, unit: u64) -> Facts {
    let strides = x.strides.plus(&y.strides, unit);
    let sum = zip(x, y, |x, y| {
        let contiguity = x.contiguity.min(y.constancy).max(x.constancy.min(y.contiguity));
        let offsets = y.divisibility_at(contiguity, 1).saturating_mul(unit).min(MOST);
        Dim {
            contiguity,
            divisibility: x.divisibility_at(contiguity, unit).min(offsets),
            constancy: x.constancy.min(y.constancy),
        }
    });
    Facts { strides, ..sum }
}

pub(super) fn subtract(x: &Facts, y: &Facts) -> Facts {
    let strides = x.strides.minus(&y.strides);
    let difference = zip(x, y, |x, y| {
        let contiguity = x.contiguity.min(y.constancy);
        Dim {
            contiguity,
            divisibility: x.divisibility_at(contiguity, 1).min(y.divisibility_at(contiguity, 1)),
            constancy: x.constancy.min(y.constancy),
        }
    });
    Facts { strides, ..difference }
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
    let product = zip(x, y, |x, y| {
        let product = x.divisibility_at(1, 1).saturating_mul(y.divisibility_at(1, 1));
        Dim {
            contiguity: 1,
            divisibility: product.min(MOST),
            constancy: x.constancy.min(y.constancy),
        }
    });
    Facts { strides, ..product }
}

/// Where quotients that are no integers go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    /// To the integer below.
    Down,
    /// To the integer nearer to zero, which is not the same for all of a run that passes zero.
    TowardZero,
}

/// Rounded down, the quotient of a run that counts up by a constant power of two is constant over that
/// many elements. Multiples of the divisor have quotients without a rest, of either sign.
pub(super) fn divide(x: &Facts, y: &Facts, rounding: Rounding) -> Facts {
    let divisor = y.constant.filter(|divisor| divisor.is_power_of_two());
    let quotient = zip(x, y, |x, y| {
        let run = divisor.filter(|_| rounding == Rounding::Down);
        let constancy = run.map_or(1, |divisor| x.contiguity.min(x.divisibility).min(divisor));
        Dim {
            contiguity: 1,
            divisibility: divisor.map_or(1, |divisor| (x.divisibility_at(1, 1) / divisor).max(1)),
            constancy: constancy.max(x.constancy.min(y.constancy)),
        }
    });
    match divisor {
        Some(divisor) => Facts { strides: x.strides.divided(divisor), ..quotient },
        None => quotient,
    }
}

/// The remainder of a run that counts up by a constant power of two counts up over that many
/// elements.
pub(super) fn remainder(x: &Facts, y: &Facts) -> Facts {
    let divisor = y.constant.filter(|divisor| divisor.is_power_of_two());
    zip(x, y, |x, y| {
        // A run that starts between two multiples of the divisor breaks in its middle.
        let run = x.contiguity.min(x.divisibility);
        let contiguity = divisor.map_or(1, |divisor| run.min(divisor));
        Dim {
            contiguity,
            divisibility: divisor
                .map_or(1, |divisor| x.divisibility_at(contiguity, 1).min(divisor)),
            constancy: x.constancy.min(y.constancy),
        }
    })
}

/// An operation of which only constancy and the divisibility of all elements are known.
pub(super) fn pointwise(x: &Facts, y: &Facts, divisibility: impl Fn(u64, u64) -> u64) -> Facts {
    zip(x, y, |x, y| Dim {
        contiguity: 1,
        divisibility: divisibility(x.divisibility_at(1, 1), y.divisibility_at(1, 1)),
        constancy: x.constancy.min(y.constancy),
    })
}

/// Where `x` counts up over a run and `y` is constant over it, and both are multiples of the run's
/// length, the whole run lies on one side of `y`: `x < y` and `x >= y` are constant over it, and with
/// the sides exchanged `>` and `<=`.
pub(super) fn comparison(op: Compare, x: &Facts, y: &Facts, ty: &Type) -> Facts {
    let (counting, fixed) = match op {
        Compare::Slt | Compare::Sge | Compare::Ult | Compare::Uge => (x, y),
        Compare::Sgt | Compare::Sle | Compare::Ugt | Compare::Ule => (y, x),
        _ => {
            let mut facts = pointwise(x, y, |_, _| 1);
            facts.unit = 1;
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
    facts
}

pub(super) fn select(condition: &Facts, x: &Facts, y: &Facts) -> Facts {
    // Some elements are of one and some of the other.
    let mut facts = Facts { strides: x.strides.forgotten(), ..x.meet(y) };
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
        };
    }
    facts
}
