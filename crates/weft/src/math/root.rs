//! Cube roots and lengths of vectors.
//!
//! A cube root starts from a third of the exponent and is bettered by Newton's method (W. Kahan,
//! *Computing a real cube root*, 1991). A length is the root of a sum of squares, scaled by the largest
//! component's power of two.

use super::expression::{Pair, Term};
use crate::scalar::Binary;

/// The bits of an estimate of `1 / cbrt x` are this less a third of those of x, within four in a hundred.
const ESTIMATE: i64 = 0x553e_f1a9_fbe7_6c8c;

/// `1 / cbrt |x|` of a normal number: each step doubles the digits.
fn inverse_root(magnitude: Term<'_>) -> Term<'_> {
    let third = magnitude.word().binary(Binary::MulHiU, 0x5555_5555_5555_5556);
    let first = (-third + ESTIMATE).real();
    let steps = if magnitude.page.single { 3 } else { 4 };
    (0..steps).fold(first, |root, _| {
        let cube = root * root * root;
        // `r + r (1 - x r^3) / 3`
        root.fma((-cube).fma(magnitude, 1.0) * (1.0 / 3.0), root)
    })
}

/// The magnitude brought among normal numbers, and the power of two that a third of that is.
fn normal(x: Term<'_>) -> (Term<'_>, Term<'_>) {
    let magnitude = x.abs();
    let tiny = magnitude.lt(f64::MIN_POSITIVE);
    (magnitude.unless(tiny, magnitude * 2f64.powi(54)), tiny)
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
    let root = root.unless(tiny, root * 2f64.powi(-18)).with_sign_of(x);
    root.unless(x.eq(0.0) | !x.abs().lt(f64::INFINITY), x)
}

pub(super) fn rcbrt(x: Term<'_>) -> Term<'_> {
    let (magnitude, tiny) = normal(x);
    let root = inverse_root(magnitude);
    let square = Pair::product(root, root);
    let cube = square.times(Pair { high: root, low: root.number(0.0) });
    let rest = (-cube.high).fma(magnitude, 1.0);
    let rest = (-cube.low).fma(magnitude, rest);
    let root = root.fma(rest * (1.0 / 3.0), root);
    let root = root.unless(tiny, root * 2f64.powi(18)).with_sign_of(x);
    let none = x.number(f64::INFINITY).with_sign_of(x);
    let root = root.unless(x.eq(0.0), none).unless(x.is_nan(), f64::NAN);
    root.unless(x.abs().eq(f64::INFINITY), x.number(0.0).with_sign_of(x))
}

/// The length of a vector, or one over it. Infinite where one component is, even beside a NaN.
pub(super) fn norm<'p, const N: usize>(components: [Term<'p>; N], inverse: bool) -> Term<'p> {
    let magnitudes = components.map(Term::abs);
    let first = magnitudes[0];
    let (length, back) = if first.page.single {
        (sum_of_squares(magnitudes).sqrt(), None)
    } else {
        let largest = magnitudes.iter().fold(first, |most, &x| most.max(x));
        // The power of two that brings the largest next to one, in two factors' reach.
        let exponent = (largest.word() >> 52).max(1).min(2046);
        let half = |shift: Term<'p>| (shift << 52).real();
        let down = -exponent + 2046;
        // Of the least and the largest exponents the power itself is subnormal or infinite.
        let down = down.max(2).min(2044);
        let scale = half(down);
        (sum_of_squares(magnitudes.map(|x| x * scale)).sqrt(), Some((half(-down + 2046), scale)))
    };
    let infinite =
        magnitudes.iter().fold(first.eq(f64::INFINITY), |any, x| any | x.eq(f64::INFINITY));
    if inverse {
        let value = 1.0 / length;
        back.map_or(value, |(_, scale)| value * scale).unless(infinite, 0.0)
    } else {
        back.map_or(length, |(back, _)| length * back).unless(infinite, f64::INFINITY)
    }
}

/// The sum of the squares, the products' errors among them.
fn sum_of_squares<const N: usize>(components: [Term<'_>; N]) -> Term<'_> {
    let (first, rest) = (components[0], &components[1..]);
    if first.page.single {
        return rest.iter().fold(first * first, |sum, &x| x.fma(x, sum));
    }
    let start = Pair::product(first, first);
    let sum = rest.iter().fold(start, |sum, &x| {
        let square = Pair::product(x, x);
        let both = Pair::sum(sum.high, square.high);
        Pair { high: both.high, low: both.low + (sum.low + square.low) }
    });
    sum.high + sum.low
}
