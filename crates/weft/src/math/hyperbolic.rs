//! Hyperbolic functions and their inverses, by exponentials and logarithms that keep what is near
//! zero: W. J. Cody and W. Waite, *Software Manual for the Elementary Functions* (1980), chapters 12 and
//! 13; W. Kahan, *Branch cuts for complex elementary functions* (1987), for the inverses.

use super::exponential::{expm1, half_exp, half_expm1, log1p};
use super::expression::Term;
use super::fits;
use crate::scalar::Unary;
use core::f64::consts::{LN_2, LOG2_E};

/// From here on a number swallows one, and its square is far from the largest.
const LARGE: f64 = 1e18;

/// `(e^2x - 1) / (e^2x + 1)`.
pub(super) fn tanh(x: Term<'_>) -> Term<'_> {
    if x.is_single() {
        return tanh_of_single(x);
    }
    let less = expm1(x.abs().min(20.0) * 2.0);
    (less / (less + 2.0)).with_sign_of(x).unless(x.abs().lt(x.format().tiny), x)
}

/// `1 - 2 / (e^2x + 1)`, where the machine's power and quotient are less than the result; below, an odd
/// polynomial.
fn tanh_of_single(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let square = x * x;
    let inner = (square * square.polynomial(fits::TANH)).fma(magnitude, magnitude);
    let power = (magnitude * (2.0 * LOG2_E)).unary(Unary::Exp2Normal);
    let inverse = (power + 1.0).unary(Unary::Reciprocal);
    let outer = inverse.fma(-2.0, 1.0);
    outer.unless(magnitude.lt(0.65), inner).with_sign_of(x)
}

/// `t / 2 + t / (t + 1) / 2` for `t = e^|x| - 1`.
pub(super) fn sinh(x: Term<'_>) -> Term<'_> {
    let half = half_expm1(x.abs());
    let sum = half + half / half.fma(2.0, 1.0);
    // Beyond these the quotient is of infinities, or of nothing.
    let sum = sum.unless(half.gt(LARGE), half).unless(x.abs().lt(x.format().tiny), x);
    sum.with_sign_of(x)
}

pub(super) fn cosh(x: Term<'_>) -> Term<'_> {
    let half = half_exp(x.abs());
    half + 0.25 / half
}

/// `log(1 + (|x| + x^2 / (1 + sqrt(1 + x^2))))`.
pub(super) fn asinh(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let large = magnitude.gt(LARGE);
    let square = magnitude * magnitude;
    let above = magnitude + square / ((square + 1.0).sqrt() + 1.0);
    let log = log1p(above.unless(large, magnitude));
    log.unless(large, log + LN_2).unless(magnitude.lt(x.format().tiny), magnitude).with_sign_of(x)
}

/// `log(1 + (t + sqrt(2 t + t^2)))` for `t = x - 1`.
pub(super) fn acosh(x: Term<'_>) -> Term<'_> {
    let large = x.gt(LARGE);
    let t = x - 1.0;
    let above = t + t.fma(t, t + t).sqrt();
    let log = log1p(above.unless(large, x));
    log.unless(large, log + LN_2).unless(!x.ge(1.0), f64::NAN)
}

/// `log(1 + 2 x / (1 - x)) / 2`.
pub(super) fn atanh(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let log = log1p((magnitude + magnitude) / (1.0 - magnitude)) * 0.5;
    log.unless(magnitude.gt(1.0), f64::NAN)
        .unless(magnitude.lt(x.format().tiny), magnitude)
        .with_sign_of(x)
}
