//! Exponentials and logarithms of f64, and what is made of them.

use super::Writer;
use crate::dtype::DType;
use crate::lane::Value;
use crate::scalar::{Binary, Cast, Compare, Unary};
use core::f64::consts::{LN_2, LOG2_E};

/// The first 32 bits of ln 2: its product with an exponent is exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
/// The rest.
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

impl Writer<'_> {
    /// `(e^r - 1) / r` for `|r|` up to half of ln 2, by Taylor's series of degree 13.
    fn exp_quotient(&mut self, r: Value) -> Value {
        let mut coefficients = Vec::new();
        let mut factorial = 1.0;
        for k in 1..=13 {
            factorial *= f64::from(k);
            coefficients.push(1.0 / factorial);
        }
        coefficients.reverse();
        self.polynomial(r, &coefficients)
    }

    /// The whole number next to `x`, which has at most 12 bits and may be NaN: as a float and an i32.
    fn whole(&mut self, x: Value) -> (Value, Value) {
        let half = self.plus(x, 0.5);
        let whole = self.build.unary(Unary::Floor, half);
        let int = self.build.cast(Cast::SFromFloat, whole, DType::I32);
        (whole, int)
    }

    /// 2 to the power of an i32 within the exponents of normal numbers.
    fn power_of_two(&mut self, exponent: Value) -> Value {
        let wide = self.build.cast(Cast::ExtS, exponent, DType::I64);
        let biased = self.int(Binary::Add, wide, 1023);
        let bits = self.int(Binary::Shl, biased, 52);
        self.cast(Cast::Bits, bits, DType::F64)
    }

    /// `x * 2^n`, in two steps, so that neither power overflows where the result does not.
    fn scaled(&mut self, x: Value, n: Value) -> Value {
        let half = self.int(Binary::ShrS, n, 1);
        let rest = self.sub(n, half);
        let [half, rest] = [half, rest].map(|n| self.power_of_two(n));
        let once = self.mul(x, half);
        self.mul(once, rest)
    }

    /// `x` between bounds beyond which the result is zero or infinity anyway; NaN stays.
    fn bounded(&mut self, x: Value, bound: f64) -> Value {
        let (low, high) = (self.number(x, -bound), self.number(x, bound));
        let above = self.build.binary(Binary::Maximum, x, low);
        self.build.binary(Binary::Minimum, above, high)
    }

    /// `x = n ln 2 + r`.
    fn reduced(&mut self, x: Value) -> (Value, Value) {
        let turns = self.times(x, LOG2_E);
        let (whole, n) = self.whole(turns);
        let negative = self.build.unary(Unary::Neg, whole);
        let high = self.number(x, LN_2_HIGH);
        let low = self.number(x, LN_2_LOW);
        let r = self.fma(negative, high, x);
        (n, self.fma(negative, low, r))
    }

    pub(super) fn exp(&mut self, x: Value) -> Value {
        let x = self.bounded(x, 800.0);
        let (n, r) = self.reduced(x);
        let quotient = self.exp_quotient(r);
        let power = self.fma_number(quotient, r, 1.0);
        self.scaled(power, n)
    }

    pub(super) fn exp2(&mut self, x: Value) -> Value {
        let x = self.bounded(x, 1150.0);
        let (whole, n) = self.whole(x);
        let part = self.sub(x, whole);
        let r = self.times(part, LN_2);
        let quotient = self.exp_quotient(r);
        let power = self.fma_number(quotient, r, 1.0);
        self.scaled(power, n)
    }

    /// `e^x - 1` where neither overflows: for what was an f32.
    pub(super) fn expm1(&mut self, x: Value) -> Value {
        let x = self.bounded(x, 700.0);
        let (n, r) = self.reduced(x);
        let quotient = self.exp_quotient(r);
        let small = self.mul(quotient, r);
        let power = self.power_of_two(n);
        let less = self.plus(power, -1.0);
        self.fma(small, power, less)
    }

    /// `x = 2^e m` with m from √½ to √2; e as a float, and the logarithm of m.
    fn log_parts(&mut self, x: Value) -> (Value, Value) {
        // Subnormal numbers are brought up first.
        let tiny = self.compare(Compare::Olt, x, f64::MIN_POSITIVE);
        let lifted = self.times(x, 2f64.powi(54));
        let x = self.select(tiny, lifted, x);
        let bits = self.cast(Cast::Bits, x, DType::I64);
        // Numbers from √½ on count for the next exponent.
        let root_half = std::f64::consts::FRAC_1_SQRT_2.to_bits();
        let above = self.int(Binary::Sub, bits, root_half);
        let exponent = self.int(Binary::ShrS, above, 52);
        let removed = self.int(Binary::Shl, exponent, 52);
        let mantissa = self.sub(bits, removed);
        let m = self.cast(Cast::Bits, mantissa, DType::F64);
        let e = self.build.cast(Cast::FloatFromS, exponent, DType::F64);
        let lower = self.plus(e, -54.0);
        let e = self.select(tiny, lower, e);
        let f = self.plus(m, -1.0);
        let sum = self.plus(m, 1.0);
        // log m = 2 atanh s = 2 s + 2 s (s²/3 + s⁴/5 + …), |s| below 0.1716.
        let s = self.div(f, sum);
        let square = self.mul(s, s);
        let coefficients: Vec<f64> = (1..=11).rev().map(|k| 2.0 / f64::from(2 * k + 1)).collect();
        let series = self.polynomial(square, &coefficients);
        let rest = self.mul(square, series);
        // 2 s = f - s f, and the last place of f counts.
        let difference = self.sub(rest, f);
        let correction = self.mul(s, difference);
        (e, self.add(f, correction))
    }

    /// The logarithm's values where there is no number to take it of.
    fn log_specials(&mut self, x: Value, log: Value) -> Value {
        let zero = self.compare(Compare::Oeq, x, 0.0);
        let log = self.number_if(zero, f64::NEG_INFINITY, log);
        let negative = self.compare(Compare::FUlt, x, 0.0);
        let log = self.number_if(negative, f64::NAN, log);
        let infinite = self.compare(Compare::Oeq, x, f64::INFINITY);
        self.number_if(infinite, f64::INFINITY, log)
    }

    pub(super) fn log(&mut self, x: Value) -> Value {
        let (e, log) = self.log_parts(x);
        let (high, low) = (self.number(x, LN_2_HIGH), self.number(x, LN_2_LOW));
        let small = self.fma(e, low, log);
        let sum = self.fma(e, high, small);
        self.log_specials(x, sum)
    }

    pub(super) fn log2(&mut self, x: Value) -> Value {
        let (e, log) = self.log_parts(x);
        // In two parts, lest the product's rounding show where e is zero.
        let inverse = self.number(x, LOG2_E);
        let high = self.mul(log, inverse);
        let negative = self.build.unary(Unary::Neg, high);
        let error = self.fma(log, inverse, negative);
        let inverse_low = self.number(x, 2.035_527_374_093_103_3e-17);
        let low = self.fma(log, inverse_low, error);
        let upper = self.add(e, high);
        let sum = self.add(upper, low);
        self.log_specials(x, sum)
    }

    /// `log(1 + x)` for what was an f32: what rounding the sum lost is made good.
    pub(super) fn log1p(&mut self, x: Value) -> Value {
        let sum = self.plus(x, 1.0);
        let log = self.log(sum);
        let gained = self.plus(sum, -1.0);
        let ratio = self.div(x, gained);
        let exact = self.mul(log, ratio);
        let none = self.compare(Compare::Oeq, gained, 0.0);
        let result = self.select(none, x, exact);
        let infinite = self.compare(Compare::Oeq, x, f64::INFINITY);
        let result = self.number_if(infinite, f64::INFINITY, result);
        let end = self.compare(Compare::Oeq, x, -1.0);
        self.number_if(end, f64::NEG_INFINITY, result)
    }

    /// `(e^2x - 1) / (e^2x + 1)` for what was an f32.
    pub(super) fn tanh(&mut self, x: Value) -> Value {
        let bounded = self.bounded(x, 20.0);
        let double = self.add(bounded, bounded);
        let less = self.expm1(double);
        let more = self.plus(less, 2.0);
        self.div(less, more)
    }

    /// `x^y` for what were f32, as IEEE's `pow`.
    pub(super) fn pow(&mut self, x: Value, y: Value) -> Value {
        let magnitude = self.build.unary(Unary::Abs, x);
        let log = self.log(magnitude);
        let product = self.mul(y, log);
        let power = self.exp(product);
        let whole = self.build.unary(Unary::Floor, y);
        let is_whole = self.build.compare(Compare::Oeq, y, whole);
        let half = self.times(y, 0.5);
        let half_whole = self.build.unary(Unary::Floor, half);
        let not_even = self.build.compare(Compare::One, half, half_whole);
        let is_odd = self.build.binary(Binary::And, is_whole, not_even);
        // Of a negative number odd powers are negative, and others that are not whole do not exist.
        let opposite = self.with_sign_of(power, x);
        let signed = self.select(is_odd, opposite, power);
        let negative = self.compare(Compare::Olt, x, 0.0);
        let finite = self.compare(Compare::Oeq, x, f64::NEG_INFINITY);
        let one = self.bits(DType::I1, 1);
        let [broken, number] =
            [is_whole, finite].map(|truth| self.build.binary(Binary::Xor, truth, one));
        let undefined = self.build.binary(Binary::And, negative, broken);
        let undefined = self.build.binary(Binary::And, undefined, number);
        let result = self.number_if(undefined, f64::NAN, signed);
        // Whatever the other is, NaN too: x^0 and 1^y; and (-1)^±∞.
        let no_power = self.compare(Compare::Oeq, y, 0.0);
        let is_one = self.compare(Compare::Oeq, x, 1.0);
        let unit = self.compare(Compare::Oeq, magnitude, 1.0);
        let endless = self.build.unary(Unary::Abs, y);
        let endless = self.compare(Compare::Oeq, endless, f64::INFINITY);
        let units = self.build.binary(Binary::And, unit, endless);
        let ones = self.build.binary(Binary::Or, no_power, is_one);
        let ones = self.build.binary(Binary::Or, ones, units);
        self.number_if(ones, 1.0, result)
    }
}
