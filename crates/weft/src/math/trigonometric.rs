//! Trigonometric functions and their inverses.
//!
//! An angle is brought to `[-π/4, π/4]`: a small one by subtracting multiples of π/2 held in three parts
//! (Cody and Waite), a large one by multiplying it with the bits of 2/π that matter (M. H. Payne and
//! R. N. Hanek, *Radian reduction for trigonometric functions*, 1983).

use super::expression::{Long, Page, Term};
use super::fits;
use crate::dtype::DType;
use crate::scalar::{Binary, Cast};
use core::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, PI};

/// The bits of 2/π behind the point, 64 a word, after one word of zeros.
const TWO_OVER_PI: [u64; 20] = [
    0,
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

/// What the nearest f64 leaves of π/2.
const FRAC_PI_2_LOW: f64 = 6.123_233_995_736_766e-17;
const LONG_PI_2: Long = Long { high: FRAC_PI_2, low: FRAC_PI_2_LOW };
const LONG_PI: Long = Long { high: PI, low: 2.0 * FRAC_PI_2_LOW };

/// π/2 in three parts of f64, and in three of f32. No part is negative, so that a zero keeps its sign.
const PARTS: [f64; 3] = [FRAC_PI_2, 6.123_233_995_736_765e-17, 1.082_856_673_921_913_9e-32];
const PARTS_OF_SINGLE: [f64; 3] =
    [1.570_796_251_296_997, 7.549_789_415_861_596e-8, 5.390_302_529_957_765e-15];
/// Up to here an angle's quadrant has few enough bits for subtraction.
const SMALL: f64 = 100_000.0;

/// An angle's quadrant (an i32, of which two bits count) and the rest, at most π/4.
#[derive(Clone, Copy)]
pub(super) struct Angle<'p> {
    pub(super) quadrant: Term<'p>,
    pub(super) rest: Term<'p>,
}

impl<'p> Angle<'p> {
    /// The angle of so many radians.
    pub(super) fn of(x: Term<'p>) -> Self {
        // Multiples of π/2 are subtracted until what is left is exact; only large angles need more.
        let parts = if x.is_single() { PARTS_OF_SINGLE } else { PARTS };
        let (n, whole) = x.whole_of(FRAC_2_PI);
        let rest = parts.iter().fold(x, |rest, &part| n.fma(-part, rest));
        let far = || if x.is_single() { far_single(x) } else { far(x) };
        let large = x.abs().gt(SMALL);
        let [quadrant, rest] = x.page.branch(large, far, || [whole, rest]);
        Angle { quadrant, rest }
    }

    /// The same angle, of which the rest was moved down, with a rest from -π/4 on.
    pub(super) fn reduced(self) -> Self {
        let below = self.rest.lt(-FRAC_PI_4);
        Angle {
            quadrant: self.quadrant.unless(below, self.quadrant - 1),
            rest: self.rest.unless(below, self.rest + FRAC_PI_2),
        }
    }

    /// The sine and the cosine of the rest.
    fn both(self) -> (Term<'p>, Term<'p>) {
        let r = self.rest;
        let square = r * r;
        let sine = (square * r).fma(square.fit(&fits::SIN), r);
        if r.is_single() {
            let curve = square.fit(&fits::COS).fma(square, -0.5);
            return (sine, curve.fma(square, 1.0));
        }
        // What rounding `1 - r^2 / 2` lost is made good.
        let half = square * 0.5;
        let upper = 1.0 - half;
        let lost = (1.0 - upper) - half;
        (sine, upper + (square * square).fma(square.fit(&fits::COS), lost))
    }

    pub(super) fn sine(self) -> Term<'p> {
        let (sine, cosine) = self.both();
        turned(sine, cosine, self.quadrant)
    }

    pub(super) fn cosine(self) -> Term<'p> {
        Angle { quadrant: self.quadrant + 1, ..self }.sine()
    }

    fn tangent(self) -> Term<'p> {
        let (sine, cosine) = self.both();
        let odd = (self.quadrant & 1).ne(0);
        sine.unless(odd, -cosine) / cosine.unless(odd, sine)
    }
}

/// The quadrant and the rest of a large f64.
///
/// Its 53 bits are multiplied by the 192 bits of 2/π that its exponent leaves between the quadrants that
/// do not count and what is too small to matter.
fn far(x: Term<'_>) -> [Term<'_>; 2] {
    let page = x.page;
    let bits = x.word();
    let exponent = (bits >> 52) & 0x7ff;
    let mantissa = ((bits & ((1 << 52) - 1)) | (1 << 52)) << 11;
    // The number is `mantissa * 2^(exponent - 1086)`: from here on count the bits of 2/π, the first word
    // of zeros among them, of which the first two of the product are the quadrant.
    let from = (exponent - 1024).max(0);
    let words = window(page, from >> 6);
    let shift = from & 63;
    let moved: Vec<Term<'_>> = words
        .windows(2)
        .map(|pair| {
            // A shift by 64 gives zero, as the second must where the first does not move.
            (pair[0] << shift) | (pair[1] >> (-shift + 64))
        })
        .collect();
    let high = |word: usize| mantissa.binary(Binary::MulHiU, moved[word]);
    let own = mantissa * moved[1];
    let middle = own + high(2);
    // The sum is below what was added where it went round.
    let carry = middle.below(own).cast(Cast::ExtU, DType::I64);
    let top = mantissa * moved[0] + high(1) + carry;
    // To the nearest quadrant: half of one is added, and the fraction has a sign then.
    let quadrant = ((top + (1 << 61)) >> 62).cast(Cast::Trunc, DType::I32);
    let upper = (top << 2) | (middle >> 62);
    let lower = middle << 2;
    // What an f64 does not hold of the upper word.
    let held = upper.f64();
    let missing = (upper - held.cast(Cast::SFromFloat, DType::I64)).f64();
    let scale = FRAC_PI_2 * 2f64.powi(-64);
    let low = (missing + (lower >> 1).f64() * 2f64.powi(-63)) * scale;
    let rest = held.fma(scale, held.fma(FRAC_PI_2_LOW * 2f64.powi(-64), low));
    // Of a negative number both are.
    let negative = bits.lt(0);
    let quadrant = quadrant.unless(negative, -quadrant);
    let rest = rest.unless(negative, -rest);
    [quadrant, rest.unless(!x.abs().lt(f64::INFINITY), f64::NAN)]
}

/// Four words of 2/π from an index (an i64) on: those further on are brought nearer, by eight, four, two
/// and one.
fn window<'p>(page: &'p Page<'p>, index: Term<'p>) -> Vec<Term<'p>> {
    let mut words: Vec<Term<'p>> = TWO_OVER_PI.iter().map(|&word| page.i64(word)).collect();
    for distance in [8usize, 4, 2, 1] {
        let moves = (index & distance as i64).ne(0);
        words = (0..distance + 3)
            .map(|place| words[place].unless(moves, words[place + distance]))
            .collect();
    }
    words
}

/// The bits of 2/π behind the point, 32 a word, after one word of zeros.
const TWO_OVER_PI_SINGLE: [u32; 7] =
    [0, 0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041];

/// The quadrant and the rest of a large f32, as [`far`].
///
/// Its 24 bits are multiplied by the 96 bits of 2/π that its exponent leaves. Of the product's upper 64
/// bits two are the quadrant; an angle that large is no nearer than 2^-30 to a multiple of π/2, so that
/// 30 bits of the rest are left at least.
fn far_single<'p>(x: Term<'p>) -> [Term<'p>; 2] {
    let page = x.page;
    let bits = x.word();
    // The number is `mantissa * 2^(exponent - 158)`: from here on count the bits of 2/π.
    let from = ((bits >> 23) & 0xff) - 128;
    let mantissa = (bits << 8) | (1 << 31);
    let (index, shift) = (from >> 5, from & 31);
    let word = |place: usize| -> Term<'p> {
        let word = |index: usize| page.i32(TWO_OVER_PI_SINGLE[index + place] as i32);
        let choose = |chosen: Term<'p>, candidate: usize| {
            chosen.unless(index.eq(candidate as i64), word(candidate))
        };
        (0..3).rev().fold(word(3), choose)
    };
    let words = [0, 1, 2, 3].map(word);
    // A shift by 32 gives zero, as the second must where the first does not move.
    let moved: Vec<Term<'p>> =
        words.windows(2).map(|pair| (pair[0] << shift) | (pair[1] >> (-shift + 32))).collect();
    let high = |word: usize| mantissa.binary(Binary::MulHiU, moved[word]);
    let own = mantissa * moved[1];
    let middle = own + high(2);
    // The sum is below what was added where it went round.
    let carry = middle.below(own).cast(Cast::ExtU, DType::I32);
    let top = mantissa * moved[0] + high(1) + carry;
    // To the nearest quadrant: half of one is added, and the fraction has a sign then.
    let quadrant = (top + (1 << 29)) >> 30;
    let wide = |word: Term<'p>| word.cast(Cast::ExtU, DType::I64);
    let fraction = (wide(top << 2 | middle >> 30) << 32) | wide(middle << 2);
    let held = fraction.f32();
    let missing = (fraction - held.cast(Cast::SFromFloat, DType::I64)).f32();
    let [scale, below] = LONG_PI_2.of(x).map(|part| part * 2f64.powi(-64));
    let rest = held.fma(scale, held.fma(below, missing * scale));
    // Of a negative number both are.
    let negative = bits.lt(0);
    let quadrant = quadrant.unless(negative, -quadrant);
    let rest = rest.unless(negative, -rest);
    [quadrant, rest.unless(!x.abs().lt(f64::INFINITY), f64::NAN)]
}

pub(super) fn sin(x: Term<'_>) -> Term<'_> {
    // Of zero the sign is kept.
    Angle::of(x).sine().unless(x.eq(0.0), x)
}

pub(super) fn cos(x: Term<'_>) -> Term<'_> {
    Angle::of(x).cosine()
}

pub(super) fn tan(x: Term<'_>) -> Term<'_> {
    Angle::of(x).tangent().unless(x.eq(0.0), x)
}

/// The sine and the cosine of so many half turns, and the quadrant. Polynomials in the turns spare the
/// angle's rounding.
fn of_half_turns(x: Term<'_>) -> (Term<'_>, Term<'_>, Term<'_>) {
    // Without its multiples of two; where there are no more fractions everything is one.
    let x = (x * 0.5).trunc().fma(-2.0, x);
    let (n, quadrant) = x.whole_of(2.0);
    let part = n.fma(-0.5, x);
    let square = part * part;
    let [high, low] = LONG_PI.of(x);
    let sine = (square * part).fma(square.fit(&fits::SINPI), part * low);
    let cosine = square.fma(square.fit(&fits::COSPI), 1.0);
    (part.fma(high, sine), cosine, quadrant)
}

/// What stands in a quadrant: a sine, a cosine, and both with the sign changed.
fn turned<'p>(sine: Term<'p>, cosine: Term<'p>, quadrant: Term<'p>) -> Term<'p> {
    let value = sine.unless((quadrant & 1).ne(0), cosine);
    if value.is_single() {
        return value.negated_by(quadrant << 30);
    }
    value.unless((quadrant & 2).ne(0), -value)
}

pub(super) fn sinpi(x: Term<'_>) -> Term<'_> {
    let (sine, cosine, quadrant) = of_half_turns(x);
    let sine = turned(sine, cosine, quadrant);
    // Zeros have the number's sign.
    sine.unless(sine.eq(0.0), x.number(0.0).with_sign_of(x))
}

pub(super) fn cospi(x: Term<'_>) -> Term<'_> {
    let (sine, cosine, quadrant) = of_half_turns(x);
    let cosine = turned(sine, cosine, quadrant + 1);
    cosine.unless(cosine.eq(0.0), 0.0)
}

/// The arcus sine of `s`, from its square, at most 1/4, of f32 1/3.
fn asin_near<'p>(s: Term<'p>, square: Term<'p>) -> Term<'p> {
    (s * square).fma(square.fit(&fits::ASIN), s)
}

/// `angle - x` for an angle to twice its digits.
fn less<'p>(angle: &Long, x: Term<'p>) -> Term<'p> {
    let [high, low] = angle.of(x);
    high - (x - low)
}

/// Up to here the polynomial stands: its error is doubled beyond, and the fewer digits the larger it is.
fn near_asin(x: Term<'_>) -> f64 {
    if x.is_single() { 0.57 } else { 0.5 }
}

/// `asin s`, or beyond 1/2 `π/2 - 2 asin(sqrt((1 - s) / 2))`.
pub(super) fn asin(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let far = magnitude.gt(near_asin(x));
    let half = (1.0 - magnitude) * 0.5;
    let square = (x * x).unless(far, half);
    let s = magnitude.unless(far, half.sqrt());
    let value = asin_near(s, square);
    let other = less(&LONG_PI_2, value + value);
    value.unless(far, other).with_sign_of(x).unless(magnitude.gt(1.0), f64::NAN)
}

/// `π/2 - asin x`, or beyond 1/2 `2 asin(sqrt((1 - x) / 2))`.
pub(super) fn acos(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let far = magnitude.gt(near_asin(x));
    let half = (1.0 - magnitude) * 0.5;
    let square = (x * x).unless(far, half);
    let value = asin_near(x.unless(far, half.sqrt()), square);
    let near = less(&LONG_PI_2, value);
    let double = value + value;
    let beyond = double.unless(x.lt(0.0), less(&LONG_PI, double));
    near.unless(far, beyond).unless(magnitude.gt(1.0), f64::NAN)
}

/// The arcus tangent of a number from 0 to 1.
fn atan_near(s: Term<'_>) -> Term<'_> {
    let square = s * s;
    (s * square).fma(square.fit(&fits::ATAN), s)
}

pub(super) fn atan(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let far = magnitude.gt(1.0);
    let value = atan_near(magnitude.unless(far, 1.0 / magnitude));
    value.unless(far, less(&LONG_PI_2, value)).with_sign_of(x)
}

/// The angle of the point `(x, y)`.
pub(super) fn atan2<'p>(y: Term<'p>, x: Term<'p>) -> Term<'p> {
    let (width, height) = (x.abs(), y.abs());
    let steep = height.gt(width);
    let (short, long) = (height.unless(steep, width), width.unless(steep, height));
    let ratio = short / long;
    // At the origin and between infinities the quotient says nothing.
    let ratio = ratio.unless(long.eq(0.0), 0.0).unless(short.eq(f64::INFINITY), 1.0);
    let value = atan_near(ratio);
    let value = value.unless(steep, less(&LONG_PI_2, value));
    let left = x.word().lt(0);
    let value = value.unless(left, less(&LONG_PI, value));
    value.with_sign_of(y).unless(x.is_nan() | y.is_nan(), f64::NAN)
}
