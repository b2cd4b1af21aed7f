//! Cube roots and lengths of vectors.
//!
//! A cube root starts from a third of the exponent and is bettered by Newton's method (W. Kahan,
//! *Computing a real cube root*, 1991). A length is the root of a sum of squares, scaled by the largest
//! component's power of two.

use super::expression::{Pair, Term};
use crate::scalar::Binary;

/// The bits of an estimate of `1 / cbrt x` are this less a third of those of x, within four in a hundred.
const ESTIMATE: i64 = 0x553e_f1a9_fbe7_6c8c;
/// The same of f32.
const ESTIMATE_OF_SINGLE: i64 = 0x54a2_37fa;

/// `1 / cbrt |x|` of a normal number: each step doubles the digits.
fn inverse_root(magnitude: Term<'_>) -> Term<'_> {
    let (third, estimate, steps) = if magnitude.is_single() {
        (0x5555_5556, ESTIMATE_OF_SINGLE, 3)
    } else {
        (0x5555_5555_5555_5556, ESTIMATE, 4)
    };
    let third = magnitude.word().binary(Binary::MulHiU, third);
    let first = (-third + estimate).real();
    (0..steps).fold(first, |root, _| {
        let cube = root * root * root;
        // `r + r (1 - x r^3) / 3`
        root.fma((-cube).fma(magnitude, 1.0) * (1.0 / 3.0), root)
    })
}

/// The third of a power of two that brings subnormal numbers among normal ones.
fn third(x: Term<'_>) -> i32 {
    if x.is_single() { 8 } else { 18 }
}

/// The magnitude brought among normal numbers, and whether it was.
fn normal(x: Term<'_>) -> (Term<'_>, Term<'_>) {
    let magnitude = x.abs();
    let tiny = magnitude.lt(x.format().least());
    (magnitude.unless(tiny, magnitude * 2f64.powi(3 * third(x))), tiny)
}

pub(super) fn cbrt(x: Term<'_>) -> Term<'_> {
    let (magnitude, tiny) = normal(x);
    let inverse = inverse_root(magnitude);
    let root = magnitude * inverse * inverse;
    // What the cube leaves of the number, to more than its digits.
    let square = Pair::product(root, root);
    let cube = (-square.high).fma(root, magnitude);
    let rest = (-square.low).fma(root, cube);
    let root = (inverse * inverse * (1.0 / 3.0)).fma(rest, root);
    let root = root.unless(tiny, root * 2f64.powi(-third(x))).with_sign_of(x);
    root.unless(x.eq(0.0) | !x.abs().lt(f64::INFINITY), x)
}

pub(super) fn rcbrt(x: Term<'_>) -> Term<'_> {
    let (magnitude, tiny) = normal(x);
    let root = inverse_root(magnitude);
    // The number first: the cube alone may be subnormal.
    let first = Pair::product(root, magnitude);
    let second = first.times(Pair { high: root, low: root.number(0.0) });
    let rest = (-second.high).fma(root, 1.0);
    let rest = (-second.low).fma(root, rest);
    let root = root.fma(rest * (1.0 / 3.0), root);
    let root = root.unless(tiny, root * 2f64.powi(third(x))).with_sign_of(x);
    let none = x.number(f64::INFINITY).with_sign_of(x);
    let root = root.unless(x.eq(0.0), none).unless(x.is_nan(), f64::NAN);
    root.unless(x.abs().eq(f64::INFINITY), x.number(0.0).with_sign_of(x))
}

/// The length of a vector, or one over it. Infinite where one component is, even beside a NaN.
pub(super) fn norm<'p, const N: usize>(components: [Term<'p>; N], inverse: bool) -> Term<'p> {
    let magnitudes = components.map(Term::abs);
    let format = magnitudes[0].format();
    let largest = magnitudes[1..].iter().fold(magnitudes[0], |most, &x| most.max(x));
    // The power of two that brings the largest next to one. Of the least and the largest exponents the
    // power itself would be subnormal or infinite.
    let most = format.exponents - 1;
    let exponent = -(largest.word() >> format.mantissa) + most;
    let exponent = exponent.max(2).min(most - 2);
    let scale = (exponent << format.mantissa).real();
    let back = ((-exponent + most) << format.mantissa).real();
    let length = sum_of_squares(magnitudes.map(|x| x * scale)).sqrt();
    let infinite = |x: Term<'p>| x.eq(f64::INFINITY);
    let infinite =
        magnitudes[1..].iter().fold(infinite(magnitudes[0]), |any, &x| any | infinite(x));
    if inverse {
        (1.0 / length * scale).unless(infinite, 0.0)
    } else {
        (length * back).unless(infinite, f64::INFINITY)
    }
}

/// The sum of the squares, the products' errors among them.
fn sum_of_squares<const N: usize>(components: [Term<'_>; N]) -> Term<'_> {
    let (first, rest) = (components[0], &components[1..]);
    let start = Pair::product(first, first);
    let sum = rest.iter().fold(start, |sum, &x| {
        let square = Pair::product(x, x);
        let both = Pair::sum(sum.high, square.high);
        Pair { high: both.high, low: both.low + (sum.low + square.low) }
    });
    sum.high + sum.low
}
