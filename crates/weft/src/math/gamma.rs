//! The gamma function and its logarithm.
//!
//! Below 12 (of f32, 5) the argument is brought to `[3/2, 5/2]` by `Γ(x + 1) = x Γ(x)`, where a polynomial stands;
//! beyond, Stirling's series; at negative arguments Euler's reflection: M. Abramowitz and I. A. Stegun,
//! *Handbook of Mathematical Functions* (1964), 6.1.

use super::exponential::{exp_of_pair, log_pair, positive_log};
use super::expression::{Long, Pair, Term};
use super::fits;
use super::trigonometric::sinpi;
use core::f64::consts::PI;

/// From here on Stirling's series is good.
fn large(x: Term<'_>) -> f64 {
    if x.is_single() { 5.0 } else { 12.0 }
}

/// `log(2 π) / 2`.
const HALF_LOG_2_PI: Long =
    Long { high: 0.918_938_533_204_672_8, low: -3.878_294_158_067_241_6e-17 };

/// `x = 2 + n + y`, `|y|` up to 1/2, for x from zero to where it is large: y and the quotient of `Γ(x)` and `Γ(2 + y)`,
/// as a product, of which one is to be taken where n is negative.
struct Near<'p> {
    y: Term<'p>,
    product: Term<'p>,
    inverted: Term<'p>,
}

fn near(x: Term<'_>) -> Near<'_> {
    let whole = x.nearest();
    let y = x - whole;
    // (x - 1) (x - 2) … down to 2 + y.
    let product = (1..=large(x) as i32 - 2).fold(x.number(1.0), |product, step| {
        let step = f64::from(step);
        product.unless(whole.ge(step + 2.0), product * (x - step))
    });
    let product = product.unless(whole.eq(1.0), x).unless(whole.eq(0.0), x * (x + 1.0));
    Near { y, product, inverted: whole.le(1.0) }
}

/// What Stirling's formula leaves of the logarithm of `Γ(x)`.
fn stirling(x: Term<'_>) -> Term<'_> {
    let inverse = 1.0 / x;
    inverse * (inverse * inverse).fit(&fits::STIRLING)
}

pub(super) fn lgamma(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let is_large = magnitude.ge(large(x));
    let small = near(magnitude.min(large(x)));
    let log = positive_log(small.product.unless(is_large, magnitude));
    let below = small.y.fma(small.y.fit(&fits::LGAMMA), log.unless(small.inverted, -log));
    // x log x - x overflows before their difference does.
    let beyond = (magnitude - 0.5).fma(log - 1.0, stirling(magnitude) + (HALF_LOG_2_PI.high - 0.5));
    let positive = below.unless(is_large, beyond);
    // log(π / |x sin πx|) - lgamma |x|
    let sine = sinpi(magnitude).abs() * magnitude;
    let reflected = positive_log(PI / sine) - positive;
    let tiny = -positive_log(magnitude);
    let value = positive.unless(x.lt(0.0), reflected).unless(magnitude.lt(x.format().tiny), tiny);
    let pole = x.le(0.0) & x.eq(x.trunc());
    let value = value.unless(pole | magnitude.eq(f64::INFINITY), f64::INFINITY);
    value.unless(x.is_nan(), f64::NAN)
}

pub(super) fn tgamma(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let is_large = magnitude.ge(large(x));
    let small = near(magnitude.min(large(x)));
    let value = small.y.fit(&fits::GAMMA);
    let below = (value * small.product).unless(small.inverted, value / small.product);
    // Half of (x - 1/2) log x - x + log(2 π) / 2 + …, so that a reflection does not overflow early.
    let bounded = magnitude.max(2.0).min(200.0);
    let log = log_pair(bounded);
    let power = log.times(Pair { high: bounded - 0.5, low: bounded.number(0.0) });
    let [first, second] = HALF_LOG_2_PI.of(x);
    let exponent = power.plus(Pair { high: -bounded, low: bounded.number(second) });
    let exponent = exponent.plus(Pair { high: bounded.number(first), low: stirling(bounded) });
    let root = exp_of_pair(Pair { high: exponent.high * 0.5, low: exponent.low * 0.5 });
    let positive = below.unless(is_large, root * root);
    // -π / (x sin πx Γ(|x|)), whose divisor's factors come one by one.
    let divisor = sinpi(magnitude) * magnitude;
    let reflected = -PI / divisor;
    let reflected = (reflected / below).unless(is_large, reflected / root / root);
    let value = positive.unless(x.lt(0.0), reflected);
    let value = value.unless(magnitude.lt(x.format().tiny), 1.0 / x);
    let pole = x.lt(0.0) & x.eq(x.trunc());
    let value = value.unless(pole | x.is_nan(), f64::NAN);
    value.unless(x.eq(f64::INFINITY), f64::INFINITY)
}
