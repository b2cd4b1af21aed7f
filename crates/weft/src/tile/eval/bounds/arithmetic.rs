//! Sums, products, quotients, choices and comparisons of floats.

use super::{Freedom, Near, apart, finished, function, known, rounding, times};
use crate::dtype::DType;
use crate::scalar::{Binary, Compare, Directed};

/// What the factors' bounds make of their product.
fn product([x, y]: [Near; 2]) -> f64 {
    times(x.value, y.off) + times(y.value, x.off) + times(x.off, y.off)
}

/// What the bounds make of a quotient.
fn quotient([x, y]: [Near; 2]) -> f64 {
    if x.is_exact() && y.is_exact() {
        return 0.0;
    }
    let least = y.value.abs() - y.off;
    if least > 0.0 {
        known((times((x.value / y.value).abs(), y.off) + x.off) / least)
    } else {
        f64::INFINITY
    }
}

/// The bound of a float operation of two operands.
pub(super) fn binary(op: Binary, dtype: DType, [x, y]: [Near; 2], z: f64, freedom: Freedom) -> f64 {
    let exact = x.is_exact() && y.is_exact();
    let rounded = |bound: f64, error: f64| {
        let magnitude = z.abs() + bound + error;
        let same = exact && error == 0.0 && !freedom.order;
        let rounding = if same { 0.0 } else { rounding(dtype, magnitude, freedom) };
        finished(dtype, z, &[x, y], bound + error + rounding)
    };
    match op {
        Binary::Add | Binary::Sub => rounded(x.off + y.off, 0.0),
        // A product that is fused is not rounded, which the rounding of both programs covers.
        Binary::Mul if exact && freedom.contraction => {
            finished(dtype, z, &[x, y], rounding(dtype, z.abs(), freedom))
        }
        Binary::Mul => rounded(product([x, y]), 0.0),
        Binary::DivPrecise => rounded(quotient([x, y]), 0.0),
        Binary::Div if dtype == DType::F64 => rounded(quotient([x, y]), 0.0),
        Binary::Div => {
            let bound = quotient([x, y]);
            rounded(bound, function::QUOTIENT.error(DType::F32, x.value, z.abs() + bound))
        }
        Binary::Pow => {
            let bound = power([x, y], z);
            rounded(bound, function::POWER.error(dtype, x.value, z.abs() + bound))
        }
        // Of the dividend's sign and smaller than the divisor.
        Binary::Rem if exact => 0.0,
        Binary::Rem => known(y.value.abs() + y.off + z.abs()),
        _ => match (x.value.is_nan(), y.value.is_nan()) {
            (false, false) => x.off.max(y.off),
            (true, _) => y.off,
            _ => x.off,
        },
    }
}

/// What the bounds make of a power: it is largest and least at the corners, of positive bases.
fn power([x, y]: [Near; 2], z: f64) -> f64 {
    if x.is_exact() && y.is_exact() {
        return 0.0;
    }
    if x.value - x.off <= 0.0 && !(y.is_exact() && y.value == y.value.trunc() && y.value >= 1.0) {
        return f64::INFINITY;
    }
    let corners = x.ends().into_iter().flat_map(|x| y.ends().map(|y| apart(libm::pow(x, y), z)));
    let most = corners.fold(0.0, f64::max);
    // An even power of a base of either sign is least at zero.
    if x.value - x.off <= 0.0 { most.max(z.abs()) } else { most }
}

/// The bound of `x * y + z`, which is `sum`.
pub(super) fn fma(dtype: DType, [x, y, z]: [Near; 3], sum: f64, freedom: Freedom) -> f64 {
    let bound = product([x, y]) + z.off;
    let exact = bound == 0.0 && !freedom.order;
    let rounding = if exact { 0.0 } else { rounding(dtype, sum.abs() + bound, freedom) };
    finished(dtype, sum, &[x, y, z], bound + rounding)
}

/// The bound of an operation that rounds as it is told.
pub(super) fn directed(
    op: Directed,
    dtype: DType,
    [x, y, z]: [Near; 3],
    result: f64,
    freedom: Freedom,
) -> f64 {
    // To one side is up to twice as far as to the nearest.
    let twice = Freedom { times: 2.0 * freedom.times, ..freedom };
    match op {
        Directed::Fma => fma(dtype, [x, y, z], result, twice),
        Directed::Div => binary(Binary::DivPrecise, dtype, [x, y], result, twice),
        Directed::Sqrt => function::root(dtype, x, result, twice),
    }
}

/// The bound of a comparison: one where it may come out otherwise.
pub(super) fn compare(op: Compare, [x, y]: [Near; 2]) -> f64 {
    if x.is_exact() && y.is_exact() || x.value.is_nan() || y.value.is_nan() {
        return 0.0;
    }
    let unsigned = matches!(op, Compare::Ult | Compare::Ule | Compare::Ugt | Compare::Uge);
    let may_change_sign =
        [x, y].iter().any(|x| !x.is_exact() && (x.value < 0.0) != (x.value - x.off < 0.0));
    if unsigned && may_change_sign {
        return 1.0;
    }
    f64::from(u8::from(apart(x.value, y.value) <= x.off + y.off))
}
