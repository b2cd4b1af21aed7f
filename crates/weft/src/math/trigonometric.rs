//! Sine, cosine and the error function of f32.

use super::Writer;
use crate::dtype::DType;
use crate::lane::Value;
use crate::scalar::{Binary, Cast, Compare, Unary};

/// The bits of 2/π after two zeros, 32 a word: of a product with 32 bits the upper two are whole.
const TWO_OVER_PI: [u64; 7] =
    [0x28be_60db, 0x9391_054a, 0x7f09_d5f4, 0x7d4d_3770, 0x36d8_a566, 0x4f10_e410, 0x7f94_58ea];

impl Writer<'_> {
    /// The sine, or the cosine.
    pub(super) fn sine(&mut self, x: Value, cosine: bool) -> Value {
        let (quadrant, r) = self.quadrant(x);
        let quadrant = if cosine { self.int(Binary::Add, quadrant, 1) } else { quadrant };
        let square = self.mul(r, r);
        // Fitted to the functions' quotients on [-π/4, π/4].
        let sine = self.polynomial(square, &[-1.951_529_6e-4, 8.332_160_9e-3, -0.166_666_55]);
        let cube = self.mul(square, r);
        let sine = self.fma(sine, cube, r);
        let upper = self.polynomial(square, &[2.443_315_7e-5, -1.388_731_6e-3, 4.166_664_6e-2]);
        let upper = self.mul(upper, square);
        let upper = self.plus(upper, -0.5);
        let other = self.fma_number(upper, square, 1.0);
        let odd = self.int(Binary::And, quadrant, 1);
        let odd = self.is_set(odd);
        let value = self.select(odd, other, sine);
        let negative = self.int(Binary::And, quadrant, 2);
        let negative = self.is_set(negative);
        let opposite = self.build.unary(Unary::Neg, value);
        self.select(negative, opposite, value)
    }

    fn is_set(&mut self, x: Value) -> Value {
        let zero = self.bits(DType::I32, 0);
        self.build.compare(Compare::Ne, x, zero)
    }

    /// `x = q π/2 + r` with `|r|` at most π/4: q modulo 4 as an i32, and r.
    ///
    /// The mantissa of 32 bits is multiplied by those 96 bits of 2/π that its exponent leaves between
    /// the quadrant and what is too small to matter; the upper two bits of the product are the
    /// quadrant, the 62 below them the fraction.
    fn quadrant(&mut self, x: Value) -> (Value, Value) {
        let bits = self.cast(Cast::Bits, x, DType::I32);
        let exponent = self.int(Binary::ShrU, bits, 23);
        let exponent = self.int(Binary::And, exponent, 0xff);
        let exponent = self.int(Binary::Sub, exponent, 126);
        let exponent = self.int(Binary::MaxS, exponent, 0);
        let mantissa = self.int(Binary::Shl, bits, 8);
        let mantissa = self.int(Binary::Or, mantissa, 0x8000_0000);
        let mantissa = self.build.cast(Cast::ExtU, mantissa, DType::I64);
        let word = self.int(Binary::ShrU, exponent, 5);
        let shift = self.int(Binary::And, exponent, 31);
        let wide_shift = self.build.cast(Cast::ExtU, shift, DType::I64);
        // Words of 64 bits, of which the upper 32 after the shift are asked for.
        let words: Vec<Value> = (0..4).map(|place| self.word_of_two_over_pi(word, place)).collect();
        let mut window = Vec::new();
        for pair in words.windows(2) {
            let upper = self.int(Binary::Shl, pair[0], 32);
            let both = self.build.binary(Binary::Or, upper, pair[1]);
            let moved = self.build.binary(Binary::Shl, both, wide_shift);
            window.push(self.int(Binary::ShrU, moved, 32));
        }
        let low = self.mul(mantissa, window[2]);
        let low = self.int(Binary::ShrU, low, 32);
        let middle = self.mul(mantissa, window[1]);
        let middle = self.add(middle, low);
        let high = self.mul(mantissa, window[0]);
        let high = self.int(Binary::Shl, high, 32);
        let product = self.add(high, middle);
        // To the nearest quadrant: half of one is added, and the fraction has a sign then.
        let rounded = self.int(Binary::Add, product, 1 << 61);
        let quadrant = self.int(Binary::ShrU, rounded, 62);
        let quadrant = self.build.cast(Cast::Trunc, quadrant, DType::I32);
        let fraction = self.int(Binary::Shl, product, 2);
        let fraction = self.int(Binary::ShrS, fraction, 2);
        let turn = self.build.cast(Cast::FloatFromS, fraction, DType::F64);
        let angle = self.times(turn, core::f64::consts::FRAC_PI_2 * 2f64.powi(-62));
        let angle = self.cast(Cast::Float, angle, DType::F32);
        // Of a negative number both are.
        let negative = self.int(Binary::ShrS, bits, 31);
        let flipped = self.build.binary(Binary::Xor, quadrant, negative);
        let quadrant = self.sub(flipped, negative);
        let opposite = self.build.unary(Unary::Neg, angle);
        let is_negative = self.is_set(negative);
        let angle = self.select(is_negative, opposite, angle);
        let magnitude = self.build.unary(Unary::Abs, x);
        let small = self.compare(Compare::Ole, magnitude, core::f64::consts::FRAC_PI_4);
        let zero = self.bits(DType::I32, 0);
        let quadrant = self.select(small, zero, quadrant);
        let angle = self.select(small, x, angle);
        let finite = self.compare(Compare::Olt, magnitude, f64::INFINITY);
        let nan = self.number(x, f64::NAN);
        (quadrant, self.select(finite, angle, nan))
    }

    /// The word at `word + place - 1` of 2/π as an i64; before the point there is zero.
    fn word_of_two_over_pi(&mut self, word: Value, place: usize) -> Value {
        let at = |word: usize| (word + place).checked_sub(1).map_or(0, |index| TWO_OVER_PI[index]);
        let mut chosen = self.bits(DType::I64, at(4));
        for candidate in (0..4usize).rev() {
            let number = self.bits(DType::I32, candidate as u64);
            let here = self.build.compare(Compare::Eq, word, number);
            let value = self.bits(DType::I64, at(candidate));
            chosen = self.select(here, value, chosen);
        }
        chosen
    }

    /// Up to 0.93 an odd polynomial; beyond, the logarithm of `1 - erf` is one.
    pub(super) fn erf(&mut self, x: Value) -> Value {
        let magnitude = self.build.unary(Unary::Abs, x);
        let square = self.mul(x, x);
        let inner = self.polynomial(
            square,
            &[
                -5.967_617e-4,
                4.991_194e-3,
                -2.676_813_5e-2,
                0.112_819_92,
                -0.376_125_34,
                0.128_379_17,
            ],
        );
        let inner = self.fma(inner, x, x);
        // Beyond 4 the result is 1; NaN stays NaN.
        let four = self.number(x, 4.0);
        let bounded = self.build.binary(Binary::Minimum, magnitude, four);
        let outer = self.polynomial(
            bounded,
            &[
                -1.728_534_7e-5,
                3.831_971_3e-4,
                -3.883_964_4e-3,
                2.425_462_2e-2,
                -0.106_777_88,
                -0.634_846_7,
                -0.128_717_51,
            ],
        );
        let negative = self.build.unary(Unary::Neg, bounded);
        let exponent = self.fma(outer, bounded, negative);
        let wide = self.cast(Cast::Float, exponent, DType::F64);
        let power = self.exp(wide);
        let power = self.cast(Cast::Float, power, DType::F32);
        let one = self.number(x, 1.0);
        let rest = self.sub(one, power);
        let outer = self.with_sign_of(rest, x);
        let far = self.compare(Compare::Ogt, magnitude, 0.927_734_375);
        self.select(far, outer, inner)
    }
}
