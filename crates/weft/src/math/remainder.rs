//! The remainder of floats, exactly.

use super::expression::Term;
use crate::scalar::Cast;

/// How many bits a step goes down.
const BITS: i64 = 50;

/// `x - trunc(x / y) * y`.
///
/// With `x = a 2^i` and `y = b 2^j`, a and b whole numbers of 53 bits, the remainder is
/// `(a 2^(i - j) mod b) 2^j`. A step multiplies by up to 2^50 and takes the nearest multiple of b away:
/// what is left is at most half of b and a bit, a whole number of 53 bits, so that one fused operation
/// gives it without error.
pub(super) fn rem<'p>(x: Term<'p>, y: Term<'p>) -> Term<'p> {
    let (wide_x, wide_y) = (x.abs(), y.abs());
    let ((a, i), (b, j)) = (whole_part(wide_x), whole_part(wide_y));
    let inverse = 1.0 / b;
    let modulo = |x: Term<'p>| (-(x * inverse).nearest()).fma(b, x);
    // As many bits as are left, at most so many.
    let step = |[rest, left]: [Term<'p>; 2]| {
        let some = left.max(0).min(BITS);
        let raised = rest * ((some + 1023) << 52).real();
        [modulo(raised), left - BITS]
    };
    let start = [modulo(a), i - j];
    let [rest, _] = if x.page.single {
        // The exponents of f32 are 277 apart.
        (0..6).fold(start, |state, _| step(state))
    } else {
        x.page.repeat(42, start, step)
    };
    let rest = rest.unless(rest.lt(0.0), rest + b);
    let result = scaled(rest, j).unless(wide_x.lt(wide_y), wide_x).with_sign_of(x);
    // No remainder by zero, nor of infinity, nor with NaN.
    let none = y.eq(0.0) | !wide_x.lt(f64::INFINITY) | y.is_nan();
    result.unless(none, f64::NAN)
}

/// The bits of a positive number as a whole number, and the exponent of the last one as an i64.
fn whole_part(x: Term<'_>) -> (Term<'_>, Term<'_>) {
    let bits = x.word();
    let exponent = bits >> 52;
    let mantissa = bits & ((1 << 52) - 1);
    // Subnormal numbers have no hidden bit, and the exponent of the next ones.
    let hidden = exponent.ne(0).cast(Cast::ExtU, crate::dtype::DType::I64) << 52;
    ((mantissa | hidden).f64(), exponent.max(1) - 1075)
}

/// A whole number of 53 bits times two to a power that makes it no larger than an f64.
fn scaled<'p>(x: Term<'p>, exponent: Term<'p>) -> Term<'p> {
    let half = exponent.shr_signed(1);
    let power = |exponent: Term<'p>| ((exponent + 1023) << 52).real();
    x * power(half) * power(exponent - half)
}
