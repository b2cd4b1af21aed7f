//! Exponentials, logarithms and powers of f64.
//!
//! `e^x = 2^n e^r` with `|r|` up to half of ln 2 and a polynomial for `e^r`; `log x = e log 2 + log m` with
//! m from √½ to √2 and a polynomial for `atanh((m - 1) / (m + 1))`: W. J. Cody and W. Waite, *Software
//! Manual for the Elementary Functions* (1980), chapters 5 to 7. What a power's exponent needs beyond 53
//! bits is carried in pairs (T. J. Dekker, *A floating-point technique for extending the available
//! precision*, 1971).

use super::expression::{Pair, Term};
use super::fits;
use core::f64::consts::{FRAC_1_SQRT_2, LN_2, LN_10, LOG2_10, LOG2_E, LOG10_E};

/// The first 32 bits of ln 2: its product with an exponent is exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
/// The rest.
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
/// What the nearest f64 leaves of `1 / ln 2`.
const LOG2_E_LOW: f64 = 2.035_527_374_093_103_3e-17;
/// What the nearest f64 leaves of `1 / ln 10`.
const LOG10_E_LOW: f64 = 1.098_319_650_216_765e-17;
/// What the nearest f64 leaves of ln 10.
const LN_10_LOW: f64 = -2.170_756_223_382_249_4e-16;
/// The first 30 bits of `log10 2`.
const LOG10_2_HIGH: f64 = f64::from_bits(0x3fd3_4413_5080_0000);
/// The rest.
const LOG10_2_LOW: f64 = 1.145_110_089_802_183_8e-10;

/// A number as a whole multiple of ln 2 (as an i32) and a rest.
type Reduced<'p> = (Term<'p>, Term<'p>);

/// `x + low = n ln 2 + r`.
fn reduced<'p>(x: Term<'p>, low: Option<Term<'p>>) -> Reduced<'p> {
    let n = (x * LOG2_E).nearest();
    let r = (-n).fma(LN_2_HIGH, x);
    let r = low.map_or(r, |low| r + low);
    (n.i32(), (-n).fma(LN_2_LOW, r))
}

/// `e^r - 1` for `|r|` up to half of ln 2.
fn less_one(r: Term<'_>) -> Term<'_> {
    (r * r).fma(r.fit(&fits::EXP), r)
}

/// `x * 2^n`, in two steps, so that neither power overflows where the result does not.
fn scaled<'p>(x: Term<'p>, n: Term<'p>) -> Term<'p> {
    let half = n.shr_signed(1);
    x * half.power_of_two() * (n - half).power_of_two()
}

pub(super) fn exp(x: Term<'_>) -> Term<'_> {
    let (n, r) = reduced(x.bounded(800.0), None);
    scaled(less_one(r) + 1.0, n)
}

/// `e^x / 2`, which is infinite only where it must be.
pub(super) fn half_exp(x: Term<'_>) -> Term<'_> {
    let (n, r) = reduced(x.bounded(800.0), None);
    scaled(less_one(r) + 1.0, n - 1)
}

/// `e^(high + low)`.
pub(super) fn exp_of_pair(x: Pair<'_>) -> Term<'_> {
    // Infinity has no low part.
    let low = x.low.unless(x.high.abs().gt(800.0), 0.0);
    let (n, r) = reduced(x.high.bounded(800.0), Some(low));
    scaled(less_one(r) + 1.0, n)
}

pub(super) fn exp2(x: Term<'_>) -> Term<'_> {
    let x = x.bounded(1150.0);
    let whole = x.nearest();
    scaled(less_one((x - whole) * LN_2) + 1.0, whole.i32())
}

pub(super) fn exp10(x: Term<'_>) -> Term<'_> {
    let x = x.bounded(400.0);
    let n = (x * LOG2_10).nearest();
    let r = (-n).fma(LOG10_2_LOW, (-n).fma(LOG10_2_HIGH, x));
    let r = r.fma(LN_10, r * LN_10_LOW);
    scaled(less_one(r) + 1.0, n.i32())
}

/// `(e^x - 1) / 2`, which is infinite only where it must be.
pub(super) fn half_expm1(x: Term<'_>) -> Term<'_> {
    let (n, r) = reduced(x.bounded(800.0), None);
    let small = less_one(r);
    let half = (n.max(-100).min(100) - 1).power_of_two();
    small
        .fma(half, half - 0.5)
        .unless(n.eq(0), small * 0.5)
        .unless(n.gt(60), scaled(small + 1.0, n - 1))
}

pub(super) fn expm1(x: Term<'_>) -> Term<'_> {
    let half = half_expm1(x);
    // Doubling is exact, but half of the least number is not.
    (half + half).unless(x.abs().lt(1e-300), x)
}

/// `x = 2^e m` with m from √½ to √2.
struct Parts<'p> {
    /// The exponent, as a float.
    e: Term<'p>,
    /// `m - 1`.
    f: Term<'p>,
}

/// The parts of a positive number, and of a number a little above or below it: `f` gets `low`, scaled.
fn parts<'p>(x: Term<'p>, low: Option<Term<'p>>) -> Parts<'p> {
    // Subnormal numbers are brought up first; what was an f32 is none.
    let (tiny, x) = if x.page.single {
        (None, x)
    } else {
        let tiny = x.lt(f64::MIN_POSITIVE);
        (Some(tiny), x.unless(tiny, x * 2f64.powi(54)))
    };
    // Numbers from √½ on count for the next exponent.
    let bits = x.word();
    let exponent = (bits - FRAC_1_SQRT_2.to_bits() as i64).shr_signed(52);
    let f = (bits - (exponent << 52)).real() - 1.0;
    let e = exponent.f64();
    let e = tiny.map_or(e, |tiny| e.unless(tiny, e - 54.0));
    // Of a number that large the low part is nothing.
    let down = |low: Term<'p>| low * ((-exponent.min(1000) + 1023) << 52).real();
    Parts { e, f: low.map_or(f, |low| f + down(low)) }
}

/// `log(1 + f)` as a term near f, and what is to be added: `2 s = f - s f` for `s = f / (f + 2)`, and the
/// last place of f counts.
fn log_of_part(f: Term<'_>) -> Term<'_> {
    let s = f / (f + 2.0);
    let square = s * s;
    let series = square * square.fit(&fits::LOG).fma(square, 2.0 / 3.0);
    f + s * (series - f)
}

/// The logarithm's values where there is no number to take it of.
fn specials<'p>(x: Term<'p>, log: Term<'p>) -> Term<'p> {
    let log = log.unless(x.eq(0.0), f64::NEG_INFINITY);
    log.unless(!x.ge(0.0), f64::NAN).unless(x.eq(f64::INFINITY), f64::INFINITY)
}

pub(super) fn log(x: Term<'_>) -> Term<'_> {
    specials(x, positive_log(x))
}

/// The logarithm of a finite positive number.
pub(super) fn positive_log(x: Term<'_>) -> Term<'_> {
    let Parts { e, f } = parts(x, None);
    e.fma(LN_2_HIGH, e.fma(LN_2_LOW, log_of_part(f)))
}

pub(super) fn log2(x: Term<'_>) -> Term<'_> {
    let Parts { e, f } = parts(x, None);
    // In two parts, lest the product's rounding show where e is zero.
    let log = log_of_part(f);
    let Pair { high, low } = Pair::product(log, LOG2_E);
    specials(x, (e + high) + log.fma(LOG2_E_LOW, low))
}

pub(super) fn log10(x: Term<'_>) -> Term<'_> {
    let Parts { e, f } = parts(x, None);
    let log = log_of_part(f);
    let Pair { high, low } = Pair::product(log, LOG10_E);
    let low = e.fma(LOG10_2_LOW, log.fma(LOG10_E_LOW, low));
    specials(x, e.fma(LOG10_2_HIGH, high) + low)
}

/// `log(1 + x)`: what rounding the sum lost is a part of the mantissa's rest.
pub(super) fn log1p(x: Term<'_>) -> Term<'_> {
    let sum = Pair::sum(x, x.number(1.0));
    let Parts { e, f } = parts(sum.high, Some(sum.low));
    let log = e.fma(LN_2_HIGH, e.fma(LN_2_LOW, log_of_part(f)));
    let log = log.unless(x.abs().lt(1e-300), x);
    let log = log.unless(x.eq(-1.0), f64::NEG_INFINITY);
    log.unless(!x.ge(-1.0), f64::NAN).unless(x.eq(f64::INFINITY), f64::INFINITY)
}

/// The logarithm of a finite positive number, to some 65 bits.
pub(super) fn log_pair(x: Term<'_>) -> Pair<'_> {
    let Parts { e, f } = parts(x, None);
    let sum = Pair::sum(f, f.number(2.0));
    let s = f / sum.high;
    // What the quotient left of f, over the divisor.
    let rest = (-s).fma(sum.high, f);
    let s = Pair { high: s, low: (-s).fma(sum.low, rest) / sum.high };
    let square = s.times(s);
    let third = Pair { high: f.number(2.0 / 3.0), low: f.number(2.0 / 3.0 / 2f64.powi(54)) };
    let series = square.high * square.high.fit(&fits::LOG);
    let inner = third.plus(Pair { high: series, low: f.number(0.0) });
    let cubic = square.times(s).times(inner);
    let double = Pair { high: s.high + s.high, low: s.low + s.low };
    let log = double.plus(cubic);
    let turns = Pair::sum(e * LN_2_HIGH, log.high);
    Pair::ordered_sum(turns.high, e.fma(LN_2_LOW, turns.low + log.low))
}

/// `x^y` as IEEE's `pow`.
pub(super) fn pow<'p>(x: Term<'p>, y: Term<'p>) -> Term<'p> {
    let magnitude = x.abs();
    let power = if x.page.single {
        exp(y * specials(magnitude, positive_log(magnitude)))
    } else {
        let log = log_pair(magnitude);
        let Pair { high, low } = Pair::product(log.high, y.bounded(1e300));
        let exact = exp_of_pair(Pair { high, low: log.low.fma(y.bounded(1e300), low) });
        // Of zero and infinity the logarithm is infinite.
        let endless = magnitude.eq(0.0) | magnitude.eq(f64::INFINITY);
        let grows = magnitude.eq(0.0) ^ y.gt(0.0);
        let far = y.number(0.0).unless(grows, f64::INFINITY);
        exact.unless(endless, far.unless(y.is_nan(), f64::NAN)).unless(magnitude.is_nan(), f64::NAN)
    };
    let is_whole = y.eq(y.floor());
    let half = y * 0.5;
    let is_odd = is_whole & half.ne(half.floor());
    // Of a negative number odd powers are negative, and others that are not whole do not exist.
    let signed = power.unless(is_odd, power.with_sign_of(x));
    let undefined = x.lt(0.0) & !is_whole & !x.eq(f64::NEG_INFINITY);
    // Whatever the other is, NaN too: x^0 and 1^y; and (-1)^±∞.
    let units = magnitude.eq(1.0) & y.abs().eq(f64::INFINITY);
    let ones = y.eq(0.0) | x.eq(1.0) | units;
    signed.unless(undefined, f64::NAN).unless(ones, 1.0)
}
