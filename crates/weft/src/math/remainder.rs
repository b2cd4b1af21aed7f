//! The remainder of floats, exactly.

use super::expression::Term;
use crate::scalar::Cast;

/// `x - trunc(x / y) * y`.
///
/// With `x = a 2^i` and `y = b 2^j`, a and b whole numbers of 53 bits (of f32, 24), the remainder is
/// `(a 2^(i - j) mod b) 2^j`. A step multiplies by up to 2^50 (2^21) and takes the nearest multiple of b
/// away: what is left is at most half of b and a bit, a whole number of 53 bits, so that one fused operation
/// gives it without error.
pub(super) fn rem<'p>(x: Term<'p>, y: Term<'p>) -> Term<'p> {
    let format = x.format();
    let (wide_x, wide_y) = (x.abs(), y.abs());
    let ((a, i), (b, j)) = (whole_part(wide_x), whole_part(wide_y));
    let inverse = 1.0 / b;
    let modulo = |x: Term<'p>| (-(x * inverse).nearest()).fma(b, x);
    // As many bits as are left, at most so many.
    let bits = format.mantissa - 2;
    let step = |[rest, left]: [Term<'p>; 2]| {
        let some = left.max(0).min(bits);
        let raised = rest * ((some + format.bias) << format.mantissa).real();
        [modulo(raised), left - bits]
    };
    let near = step([modulo(a), i - j]);
    // So far apart exponents are at most, all in all.
    let steps = (format.exponents + format.mantissa) / bits;
    let far = || {
        if x.is_single() {
            (0..steps).fold(near, |state, _| step(state))
        } else {
            x.page.repeat(steps as i32, near, step)
        }
    };
    let [rest, _] = if x.is_single() { x.page.branch(near[1].gt(0), far, || near) } else { far() };
    let rest = rest.unless(rest.lt(0.0), rest + b);
    let result = scaled(rest, j).unless(wide_x.lt(wide_y), wide_x).with_sign_of(x);
    // No remainder by zero, nor of infinity, nor with NaN.
    let none = y.eq(0.0) | !wide_x.lt(f64::INFINITY) | y.is_nan();
    result.unless(none, f64::NAN)
}

/// The bits of a positive number as a whole number, and the exponent of the last one as an integer as wide.
fn whole_part(x: Term<'_>) -> (Term<'_>, Term<'_>) {
    let format = x.format();
    let bits = x.word();
    let exponent = bits >> format.mantissa;
    let mantissa = bits & ((1 << format.mantissa) - 1);
    // Subnormal numbers have no hidden bit, and the exponent of the next ones.
    let hidden = exponent.ne(0).cast(Cast::ExtU, bits.dtype()) << format.mantissa;
    let whole = mantissa | hidden;
    let whole = if x.is_single() { whole.f32() } else { whole.f64() };
    (whole, exponent.max(1) - (format.bias + format.mantissa))
}

/// A whole number times two to a power that makes it no larger than the largest float.
fn scaled<'p>(x: Term<'p>, exponent: Term<'p>) -> Term<'p> {
    let (half, format) = (exponent.shr_signed(1), x.format());
    x * format.power(half) * format.power(exponent - half)
}
