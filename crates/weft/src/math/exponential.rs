//! Exponentials, logarithms and powers.
//!
//! `e^x = 2^n e^r` with `|r|` up to half of ln 2 and a polynomial for `e^r`; `log x = e log 2 + log m` with
//! m from √½ to √2 and a polynomial for `log m`, of f64 for `atanh((m - 1) / (m + 1))`: W. J. Cody and
//! W. Waite, *Software Manual for the Elementary Functions* (1980), chapters 5 to 7. What a power's exponent
//! needs beyond its type's bits is carried in pairs (T. J. Dekker, *A floating-point technique for extending
//! the available precision*, 1971).

use super::expression::{Long, Pair, Term};
use super::fits;
use crate::scalar::{self, Binary, Unary};
use core::f64::consts::{FRAC_1_SQRT_2, LN_2, LN_10, LOG2_10, LOG2_E, LOG10_2, LOG10_E};

const LONG_LN_2: Long = Long { high: LN_2, low: 2.319_046_813_846_299_6e-17 };
const LONG_LN_10: Long = Long { high: LN_10, low: -2.170_756_223_382_249_4e-16 };
const LONG_LOG2_E: Long = Long { high: LOG2_E, low: 2.035_527_374_093_103_3e-17 };
const LONG_LOG10_E: Long = Long { high: LOG10_E, low: 1.098_319_650_216_765e-17 };
const LONG_LOG10_2: Long = Long { high: LOG10_2, low: -2.803_728_127_785_170_4e-18 };

/// A number as a whole multiple of ln 2 (as an i32) and a rest.
type Reduced<'p> = (Term<'p>, Term<'p>);

/// `x + low = n ln 2 + r`. The first product leaves nothing to round: what it takes from x is of x's size.
fn reduced<'p>(x: Term<'p>, low: Option<Term<'p>>) -> Reduced<'p> {
    let [first, second] = LONG_LN_2.of(x);
    let (n, whole) = x.whole_of(LOG2_E);
    let r = n.fma(-first, x);
    let r = low.map_or(r, |low| r + low);
    (whole, n.fma(-second, r))
}

/// Between bounds beyond which a power of two to the `factor` does not change.
fn bounded(x: Term<'_>, factor: f64) -> Term<'_> {
    x.bounded(x.format().farthest() * factor)
}

/// `e^r - 1` for `|r|` up to half of ln 2.
fn less_one(r: Term<'_>) -> Term<'_> {
    (r * r).fma(r.fit(&fits::EXP), r)
}

/// `x * 2^n`, in two steps, so that neither power overflows where the result does not.
fn scaled<'p>(x: Term<'p>, n: Term<'p>) -> Term<'p> {
    let (half, format) = (n.shr_signed(1), x.format());
    x * format.power(half) * format.power(n - half)
}

pub(super) fn exp(x: Term<'_>) -> Term<'_> {
    let (n, r) = reduced(bounded(x, LN_2), None);
    scaled(less_one(r) + 1.0, n)
}

/// `2^n 2^f` with `n + f = x log2 e` and the machine's `2^f`. Where the result is subnormal or infinite n stays
/// at the last exponent, and f goes on.
///
/// The exponents of normal numbers are brought to the numbers from 0 to 1: there the bounds are a part of a
/// machine's multiply-add, which has no bounds elsewhere. Of NaN, which has no exponent, f is NaN.
pub(super) fn exp_of_single(x: Term<'_>) -> Term<'_> {
    let format = x.format();
    let bias = format.bias as f64;
    // From 1 - bias to bias - 1.
    let range = 2.0 * bias - 2.0;
    let part = x.fma(LOG2_E / range, 0.5).max_num(0.0).min_num(1.0);
    // What is added leaves the biased exponent as the last bits.
    let shifter = 1.5 * 2f64.powi(format.mantissa as i32);
    let moved = part.fma(range, shifter + 1.0);
    let [first, second] = LONG_LOG2_E.of(x);
    let f = x.fma(second, x.fma(first, -(moved - (shifter + bias))));
    f.unary(Unary::Exp2Normal) * (moved.word() << format.mantissa).real()
}

/// `e^x / 2`, which is infinite only where it must be.
pub(super) fn half_exp(x: Term<'_>) -> Term<'_> {
    let (n, r) = reduced(bounded(x, LN_2), None);
    scaled(less_one(r) + 1.0, n - 1)
}

/// The exponential of a number in two parts, `e^(high + low)`.
pub(super) fn exp_of_pair(x: Pair<'_>) -> Term<'_> {
    // Infinity has no low part.
    let low = x.low.unless(x.high.abs().gt(x.high.format().farthest() * LN_2), 0.0);
    let (n, r) = reduced(bounded(x.high, LN_2), Some(low));
    scaled(less_one(r) + 1.0, n)
}

pub(super) fn exp2(x: Term<'_>) -> Term<'_> {
    let x = bounded(x, 1.0);
    let (n, whole) = x.whole_of(1.0);
    scaled(less_one((x - n) * LN_2) + 1.0, whole)
}

pub(super) fn exp10(x: Term<'_>) -> Term<'_> {
    let x = bounded(x, LOG10_2);
    let ([high, low], [log, rest]) = (LONG_LOG10_2.of(x), LONG_LN_10.of(x));
    let (n, whole) = x.whole_of(LOG2_10);
    let r = n.fma(-low, n.fma(-high, x));
    scaled(less_one(r.fma(log, r * rest)) + 1.0, whole)
}

/// `(e^x - 1) / 2`, which is infinite only where it must be.
pub(super) fn half_expm1(x: Term<'_>) -> Term<'_> {
    let (n, r) = reduced(bounded(x, LN_2), None);
    let small = less_one(r);
    let half = x.format().power(n.max(-100).min(100) - 1);
    small
        .fma(half, half - 0.5)
        .unless(n.eq(0), small * 0.5)
        .unless(n.gt(60), scaled(small + 1.0, n - 1))
}

pub(super) fn expm1(x: Term<'_>) -> Term<'_> {
    if x.is_single() {
        return expm1_of_single(x);
    }
    let half = half_expm1(x);
    // Doubling is exact, but half of the least number is not.
    (half + half).unless(x.abs().lt(x.format().tiny), x)
}

/// Half of the power is a normal number wherever the result is not -1 or infinite. Near zero the number is
/// its own rest: sums of powers and rests would lose digits there.
fn expm1_of_single(x: Term<'_>) -> Term<'_> {
    let bounded = x.max(-20.0).min(89.0);
    let near = x.abs().lt(0.42);
    let (n, r) = reduced(bounded, None);
    let r = r.unless(near, x);
    let half = x.format().power(n - 1);
    // Half of one is no multiple of a large power's last place: it is a part of the rest then.
    let one = x.format().power(-n).unless(!(n - 25).below(32), 0.0);
    let less = (r * r).fma(r.polynomial(fits::EXPM1), r - one);
    let value = less.fma(half, half - 0.5);
    (value + value).unless(near, less).with_sign_of(x)
}

/// `x = 2^e m` with m from √½ to √2.
struct Parts<'p> {
    /// The exponent, as a float.
    e: Term<'p>,
    /// The rest `m - 1`, from √½ - 1 to √2 - 1.
    f: Term<'p>,
}

/// The parts of a positive number, and of a number a little above or below it: `f` gets `low`, scaled.
fn parts<'p>(x: Term<'p>, low: Option<Term<'p>>) -> Parts<'p> {
    let format = x.format();
    // Subnormal numbers are brought up first.
    let lift = format.mantissa as i32 + 2;
    let tiny = x.lt(format.least());
    let x = x.unless(tiny, x * 2f64.powi(lift));
    // Numbers from √½ on count for the next exponent. Its bits stay where they are: as a number they are
    // exact, and a power of two takes them down.
    let first = scalar::from_f64(x.dtype(), FRAC_1_SQRT_2) as i64;
    let exponent = (x.word() - first) & !((1 << format.mantissa) - 1);
    let f = (x.word() - exponent).real() - 1.0;
    let e = if x.is_single() { exponent.f32() } else { exponent.f64() };
    let lifted = x.number(0.0).unless(tiny, -f64::from(lift));
    let e = e.fma(2f64.powi(-(format.mantissa as i32)), lifted);
    // Of a number that large the low part is nothing.
    let down = |low: Term<'p>| low * format.power(-exponent.shr_signed(format.mantissa).min(1000));
    Parts { e, f: low.map_or(f, |low| f + down(low)) }
}

/// `log(1 + f)` as a term near f, and what is to be added: of f64 `2 s = f - s f` for `s = f / (f + 2)`,
/// and the last place of f counts.
fn log_of_part(f: Term<'_>) -> Term<'_> {
    if f.is_single() {
        return (f * f).fma(f.polynomial(fits::LOG1P), f);
    }
    let s = f / (f + 2.0);
    let square = s * s;
    let series = square * square.fit(&fits::LOG).fma(square, 2.0 / 3.0);
    f + s * (series - f)
}

/// The logarithm's values where there is no number to take it of: infinity is its own, and a negative
/// number's is the difference of two.
fn specials<'p>(x: Term<'p>, log: Term<'p>) -> Term<'p> {
    let endless = scalar::from_f64(x.dtype(), f64::INFINITY) as i64;
    let log = log.unless(!x.word().below(endless), x.fma(f64::INFINITY, f64::INFINITY));
    log.unless(x.eq(0.0), f64::NEG_INFINITY)
}

pub(super) fn log(x: Term<'_>) -> Term<'_> {
    specials(x, positive_log(x))
}

/// The logarithm of a finite positive number.
pub(super) fn positive_log(x: Term<'_>) -> Term<'_> {
    let Parts { e, f } = parts(x, None);
    let log = log_of_part(f);
    // What ln 2 loses in f32 is, e times, a fraction of a unit.
    if x.is_single() { e.fma(LN_2, log) } else { times_ln_2(e, log) }
}

/// `e ln 2 + log`.
fn times_ln_2<'p>(e: Term<'p>, log: Term<'p>) -> Term<'p> {
    let [high, low] = LONG_LN_2.of(e);
    e.fma(high, e.fma(low, log))
}

pub(super) fn log2(x: Term<'_>) -> Term<'_> {
    let Parts { e, f } = parts(x, None);
    // In two parts, lest the product's rounding show where e is zero.
    let [first, second] = LONG_LOG2_E.of(x);
    if x.is_single() {
        let Pair { high, low } = Pair::product(f, first);
        let curved = (f * f) * first;
        let low = curved.fma(f.polynomial(fits::LOG1P), f.fma(second, low));
        let sum = Pair::ordered_sum(e, high);
        return specials(x, sum.high + (sum.low + low));
    }
    let log = log_of_part(f);
    let Pair { high, low } = Pair::product(log, first);
    specials(x, (e + high) + log.fma(second, low))
}

pub(super) fn log10(x: Term<'_>) -> Term<'_> {
    let Parts { e, f } = parts(x, None);
    let log = log_of_part(f);
    let ([first, second], [whole, rest]) = (LONG_LOG10_E.of(x), LONG_LOG10_2.of(x));
    let Pair { high, low } = Pair::product(log, first);
    let low = e.fma(rest, log.fma(second, low));
    specials(x, e.fma(whole, high) + low)
}

/// `log(1 + x)`: what rounding the sum lost is a part of the mantissa's rest.
pub(super) fn log1p(x: Term<'_>) -> Term<'_> {
    let log = if x.is_single() {
        log1p_of_single(x)
    } else {
        let sum = Pair::sum(x, x.number(1.0));
        let Parts { e, f } = parts(sum.high, Some(sum.low));
        times_ln_2(e, log_of_part(f)).unless(x.abs().lt(x.format().tiny), x)
    };
    let log = log.unless(!x.gt(-1.0), x.number(f64::NAN).unless(x.eq(-1.0), f64::NEG_INFINITY));
    log.unless(x.eq(f64::INFINITY), x)
}

/// With e the exponent of `1 + x`, `1 + f = 2^-e (1 + x)` from 3/4 to 3/2: so `f = 2^-e x + (2^-e - 1)` is
/// exact where it is not small beside e.
fn log1p_of_single(x: Term<'_>) -> Term<'_> {
    let mantissa = (1 << x.format().mantissa) - 1;
    let least = i64::from(0.75f32.to_bits());
    // The exponent's bits, and the power of two that takes it away, four times as large lest it be
    // subnormal.
    let bits = ((x + 1.0).word() - least) & !mantissa;
    let scale = (-bits + i64::from(4f32.to_bits())).real();
    let f = (x.word() - bits).real() + scale.fma(0.25, -1.0);
    let e = bits.f32();
    let ln_2 = LN_2 * 2f64.powi(-x.format().mantissa as i32);
    let sum = e.fma(ln_2, f);
    let rest = e.fma(ln_2, -sum) + f;
    (sum + (f * f).fma(f.polynomial(fits::LOG1P), rest)).with_sign_of(x)
}

/// The logarithm of a finite positive number, to some twelve bits more than its type has.
pub(super) fn log_pair(x: Term<'_>) -> Pair<'_> {
    let Parts { e, f } = parts(x, None);
    let sum = Pair::sum(f, f.number(2.0));
    let s = f / sum.high;
    // What the quotient left of f, over the divisor.
    let rest = (-s).fma(sum.high, f);
    let s = Pair { high: s, low: (-s).fma(sum.low, rest) / sum.high };
    let square = s.times(s);
    let [third, below] = Long { high: 2.0 / 3.0, low: 2.0 / 3.0 / 2f64.powi(54) }.of(x);
    let third = Pair { high: f.number(third), low: f.number(below) };
    let series = square.high * square.high.fit(&fits::LOG);
    let inner = third.plus(Pair { high: series, low: f.number(0.0) });
    let cubic = square.times(s).times(inner);
    let double = Pair { high: s.high + s.high, low: s.low + s.low };
    let log = double.plus(cubic);
    let [high, low] = LONG_LN_2.of(x);
    let turns = Pair::product(e, high);
    let sum = Pair::sum(turns.high, log.high);
    Pair::ordered_sum(sum.high, e.fma(low, turns.low + sum.low + log.low))
}

/// The power `|x|^y` of f64.
fn power_of_double<'p>(magnitude: Term<'p>, y: Term<'p>) -> Term<'p> {
    let log = log_pair(magnitude);
    let Pair { high, low } = Pair::product(log.high, y.bounded(1e300));
    let exact = exp_of_pair(Pair { high, low: log.low.fma(y.bounded(1e300), low) });
    // Of zero and infinity the logarithm is infinite.
    let endless = magnitude.eq(0.0) | magnitude.eq(f64::INFINITY);
    let grows = magnitude.eq(0.0) ^ y.gt(0.0);
    let far = y.number(0.0).unless(grows, f64::INFINITY);
    exact.unless(endless, far.unless(y.is_nan(), f64::NAN)).unless(magnitude.is_nan(), f64::NAN)
}

/// `|x|^y` of f32, by a logarithm to base 2 of which the first term alone is a pair.
fn power_of_single<'p>(magnitude: Term<'p>, y: Term<'p>) -> Term<'p> {
    let Parts { e, f } = parts(magnitude, None);
    let sum = Pair::ordered_sum(f.number(2.0), f);
    // An estimate is enough: what its quotient leaves of f is made good.
    let inverse = sum.high.unary(Unary::Reciprocal);
    let s = f * inverse;
    let rest = (-s).fma(sum.low, (-s).fma(sum.high, f)) * inverse;
    let [first, second] = Long { high: 2.0 * LOG2_E, low: 2.0 * LONG_LOG2_E.low }.of(f);
    let straight = Pair::product(s, first);
    let square = s * s;
    let curved = (square * s).fma(square.polynomial(fits::LOG2_SERIES), straight.low);
    let low = rest.fma(first, s.fma(second, curved));
    let turns = Pair::ordered_sum(e, straight.high);
    let Pair { high, low } = Pair::ordered_sum(turns.high, turns.low + low);
    let high = high.unless(magnitude.eq(0.0), f64::NEG_INFINITY);
    let high = high.unless(!magnitude.lt(f64::INFINITY), magnitude);
    let y = y.bounded(1e30);
    let exponent = Pair::product(high, y);
    let far = exponent.high.abs().gt(high.format().farthest());
    let rest = low.fma(y, exponent.low).unless(far, 0.0);
    let high = bounded(exponent.high, 1.0);
    let (n, whole) = high.whole_of(1.0);
    let r = (high - n) + rest;
    scaled(r.fma(r.polynomial(fits::EXP2), 1.0), whole)
}

/// The powers that one operation gives, rounded once and with every special value of [`pow`].
pub(super) fn short_power(x: Term<'_>, exponent: f64) -> Option<Term<'_>> {
    match exponent {
        0.0 => Some(x.number(1.0)),
        1.0 => Some(x),
        2.0 => Some(x * x),
        -1.0 => Some(x.number(1.0).binary(Binary::DivPrecise, x)),
        _ => None,
    }
}

/// `x^y` as IEEE's `pow`.
pub(super) fn pow<'p>(x: Term<'p>, y: Term<'p>) -> Term<'p> {
    let magnitude = x.abs();
    let power =
        if x.is_single() { power_of_single(magnitude, y) } else { power_of_double(magnitude, y) };
    let is_whole = y.eq(y.trunc());
    let is_odd = (y * 0.5).trunc().fma(-2.0, y).abs().eq(1.0);
    // Of a negative number odd powers are negative, and others that are not whole do not exist.
    let signed = power.unless(is_odd, power.with_sign_of(x));
    let undefined = x.lt(0.0) & !is_whole & !x.eq(f64::NEG_INFINITY);
    // Whatever the other is, NaN too: x^0 and 1^y; and (-1)^±∞.
    let units = magnitude.eq(1.0) & y.abs().eq(f64::INFINITY);
    let ones = y.eq(0.0) | x.eq(1.0) | units;
    signed.unless(undefined, f64::NAN).unless(ones, 1.0)
}
