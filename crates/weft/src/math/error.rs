//! The error function, its kin and their inverses.
//!
//! `(1 + 2 x) erfcx(x)` is smooth in `(x - 4) / (x + 4)` from zero to infinity: M. M. Shepherd and
//! J. G. Laframboise, *Chebyshev approximation of (1 + 2x) exp(x²) erfc x in 0 ≤ x < ∞* (1981). The
//! inverse goes by `w = -log(1 - x²)`: M. Giles, *Approximating the erfinv function* (2012).

use super::exponential::{exp_of_pair, positive_log};
use super::expression::{Pair, Term};
use super::fits;
use crate::scalar::Unary;
use core::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// `erfc(x) e^(x^2)` for x from zero on.
fn scaled_complement(x: Term<'_>) -> Term<'_> {
    let inverse = estimate(x + 4.0);
    let t = (x - 4.0) * inverse;
    let rest = (-t).fma(x, (t + 1.0).fma(-4.0, x));
    let t = rest.fma(inverse, t).unless(x.gt(1e30), 1.0);
    let value = t.fit(&fits::ERFCX);
    // Smaller, so that one over it is a normal number.
    let scale = 2f64.powi(-8);
    let divisor = Pair::sum(x * scale, x.number(scale * 0.5));
    let inverse = estimate(divisor.high);
    let quotient = value * inverse;
    let rest = (-quotient).fma(divisor.low, (-quotient).fma(divisor.high, value));
    let quotient = rest.fma(inverse, quotient) * (scale * 0.5);
    quotient.unless(x.eq(f64::INFINITY), 0.0)
}

/// About one over a number: what it lacks is made good with the quotient's rest.
fn estimate(x: Term<'_>) -> Term<'_> {
    if x.is_single() { x.unary(Unary::Reciprocal) } else { 1.0 / x }
}

/// `e^(-x^2)`, with what the square's rounding leaves.
fn bell(x: Term<'_>, factor: f64) -> Term<'_> {
    let x = x.abs().min(60.0);
    let square = Pair::product(x, x);
    exp_of_pair(Pair { high: square.high * -factor, low: square.low * -factor })
}

/// Up to 1 an odd polynomial; beyond `1 - erfc x`.
pub(super) fn erf(x: Term<'_>) -> Term<'_> {
    if x.is_single() {
        return erf_of_single(x);
    }
    let magnitude = x.abs();
    let inner = x * (x * x).fit(&fits::ERF);
    let outer = 1.0 - bell(x, 1.0) * scaled_complement(magnitude);
    outer.with_sign_of(x).unless(magnitude.le(1.0), inner).unless(x.is_nan(), f64::NAN)
}

pub(super) fn erfc(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let value = bell(x, 1.0) * scaled_complement(magnitude);
    value.unless(x.lt(0.0), 2.0 - value)
}

pub(super) fn erfcx(x: Term<'_>) -> Term<'_> {
    let value = scaled_complement(x.abs());
    let square = Pair::product(x.max(-60.0), x.max(-60.0));
    let grown = exp_of_pair(square);
    value.unless(x.lt(0.0), (grown + grown) - value)
}

/// `erfc(-x / √2) / 2`.
pub(super) fn normcdf(x: Term<'_>) -> Term<'_> {
    let value = bell(x, 0.5) * scaled_complement(x.abs() * FRAC_1_SQRT_2) * 0.5;
    value.unless(x.gt(0.0), 1.0 - value).unless(x.is_nan(), f64::NAN)
}

/// The error function's inverse at `r` over `r`, from `w = -log(1 - r^2)`.
fn inverse_quotient(w: Term<'_>, tail: bool) -> Term<'_> {
    let root = w.sqrt();
    let near = (w - 1.5).fit(&fits::ERFINV_NEAR);
    let far = (root - 3.25).fit(&fits::ERFINV_FAR);
    let end = if tail {
        root * (1.0 / root - 0.14).fit(&fits::ERFINV_TAIL)
    } else {
        (root - 5.0).fit(&fits::ERFINV_END)
    };
    let value = near.unless(w.gt(6.25), far);
    // No f32 lies so close to one.
    if w.is_single() && !tail { value } else { value.unless(w.gt(16.0), end) }
}

pub(super) fn erfinv(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let w = -positive_log((1.0 - magnitude) * (1.0 + magnitude));
    let value = x * inverse_quotient(w, false);
    let value = value.unless(magnitude.eq(1.0), x.number(f64::INFINITY).with_sign_of(x));
    value.unless(!magnitude.le(1.0), f64::NAN)
}

/// `erfinv(1 - y)`, from y itself.
pub(super) fn erfcinv(y: Term<'_>) -> Term<'_> {
    let w = -positive_log(y * (2.0 - y));
    let rest = 1.0 - y;
    let value = rest * inverse_quotient(w, true);
    let value = value.unless(y.eq(0.0), f64::INFINITY).unless(y.eq(2.0), f64::NEG_INFINITY);
    value.unless(!(y.ge(0.0) & y.le(2.0)), f64::NAN)
}

/// The inverse of the normal distribution, `-√2 erfcinv(2 p)`.
pub(super) fn normcdfinv(p: Term<'_>) -> Term<'_> {
    erfcinv(p + p) * -SQRT_2
}

/// Up to 0.95 an odd polynomial; beyond, the logarithm of `1 - erf x` is one, and the machine's power is
/// less than a fifth of the result.
fn erf_of_single(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let inner = (x * x).polynomial(fits::ERF_NEAR).fma(x, x);
    // Beyond 4 the result is 1; NaN stays NaN.
    let bounded = magnitude.min(4.0);
    let power = (bounded * bounded.polynomial(fits::ERF_FAR)).unary(Unary::Exp2Normal);
    let outer = (1.0 - power).with_sign_of(x);
    outer.unless(magnitude.lt(0.95), inner)
}
