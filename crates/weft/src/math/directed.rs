//! Quotients and square roots that round as told, by the fused product that does.
//!
//! On which side of the result to nearest the exact one lies is the sign of what one fused operation
//! leaves, as long as nothing underflows: P. Markstein, *Computation of elementary functions on the IBM
//! RISC System/6000 processor* (1990). So the numbers are brought next to one first.

use super::expression::Term;
use crate::scalar::Rounding;

/// A number's mantissa from one to two, with its sign, and its exponent as an integer as wide.
fn parts(x: Term<'_>) -> (Term<'_>, Term<'_>) {
    let format = x.format();
    // Subnormal numbers are brought up first.
    let lift = format.mantissa + 1;
    let tiny = x.abs().lt(format.least());
    let x = x.unless(tiny, x * 2f64.powi(lift as i32));
    let bits = x.word();
    let exponent = ((bits >> format.mantissa) & format.exponents) - format.bias;
    let mantissa = (bits - (exponent << format.mantissa)).real();
    (mantissa, exponent.unless(tiny, exponent - lift))
}

/// The neighbour of a normal number on the side that the rounding asks for, where an exact result lies
/// beside it: above where `difference` is positive, below where it is negative.
fn beside<'p>(nearest: Term<'p>, difference: Term<'p>, rounding: Rounding) -> Term<'p> {
    let bits = nearest.word();
    let (larger, smaller) = ((bits + 1).real(), (bits - 1).real());
    let negative = bits.lt(0);
    let up = larger.unless(negative, smaller);
    let down = smaller.unless(negative, larger);
    match rounding {
        Rounding::Up => nearest.unless(difference.gt(0.0), up),
        Rounding::Down => nearest.unless(difference.lt(0.0), down),
        Rounding::Zero => {
            let beyond = difference.lt(0.0).unless(negative, difference.gt(0.0));
            nearest.unless(beyond, smaller)
        }
    }
}

/// The quotient `x / y`, rounded as told.
pub(super) fn div<'p>(x: Term<'p>, y: Term<'p>, rounding: Rounding) -> Term<'p> {
    let format = x.format();
    let ((a, i), (b, j)) = (parts(x), parts(y));
    let nearest = a / b;
    let rest = (-nearest).fma(b, a);
    let quotient = beside(nearest, rest.unless(b.lt(0.0), -rest), rounding);
    // The first factor leaves the number normal and is exact; the second rounds once.
    let exponent = i - j;
    let most = format.bias - 4;
    let first = exponent.min(most).max(-most);
    let second = (exponent - first).min(most).max(-most);
    let moved = quotient * format.power(first);
    // Added to a zero of any sign this changes nothing: sums of zeros of two signs are negative only
    // where they are rounded down.
    let zero = if rounding == Rounding::Down { 0.0 } else { -0.0 };
    let scaled = moved.fma_toward(format.power(second), zero, rounding);
    // Where there is no exact quotient of two numbers, that to nearest is right.
    let plain = x.eq(0.0) | y.eq(0.0) | !x.abs().lt(f64::INFINITY) | !y.abs().lt(f64::INFINITY);
    scaled.unless(plain, x / y)
}

pub(super) fn sqrt(x: Term<'_>, rounding: Rounding) -> Term<'_> {
    let format = x.format();
    let (a, exponent) = parts(x);
    // An even exponent, and a mantissa from one to four.
    let odd = exponent & 1;
    let a = a.unless(odd.ne(0), a + a);
    let nearest = a.sqrt();
    let root = beside(nearest, (-nearest).fma(nearest, a), rounding);
    let root = root * format.power((exponent - odd).shr_signed(1));
    // Zero and infinity are their own roots, and negative numbers have none.
    root.unless(!x.gt(0.0) | x.eq(f64::INFINITY), x.sqrt())
}
