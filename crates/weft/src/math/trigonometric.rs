//! Trigonometric functions and their inverses.
//!
//! An angle is brought to `[-π/4, π/4]`: a small one by subtracting multiples of π/2 held in three parts
//! (Cody and Waite), a large one by multiplying it with the bits of 2/π that matter (M. H. Payne and
//! R. N. Hanek, *Radian reduction for trigonometric functions*, 1983).

use super::expression::{Page, Term};
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
/// What both leave.
const FRAC_PI_2_LAST: f64 = -1.497_384_904_859_169_8e-33;
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
        let page = x.page;
        let near = || {
            let whole = (x * FRAC_2_PI).nearest();
            let rest = (-whole).fma(FRAC_PI_2, x);
            let rest = (-whole).fma(FRAC_PI_2_LOW, rest);
            [whole.i32(), (-whole).fma(FRAC_PI_2_LAST, rest)]
        };
        let [quadrant, rest] = page.branch(x.abs().le(SMALL), near, || far(x));
        // Of zero the sign is kept.
        Angle { quadrant, rest: rest.unless(x.eq(0.0), x) }
    }

    /// The angle of so many half turns.
    fn of_turns(x: Term<'p>) -> Self {
        // Without its multiples of two; where there are no more fractions everything is one.
        let x = x - (x * 0.5).trunc() * 2.0;
        let whole = (x * 2.0).nearest();
        let part = whole.fma(-0.5, x);
        let rest = part.fma(PI, part * (2.0 * FRAC_PI_2_LOW));
        Angle { quadrant: whole.i32(), rest }
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
        // What rounding `1 - r^2 / 2` lost is made good.
        let half = square * 0.5;
        let upper = 1.0 - half;
        let lost = (1.0 - upper) - half;
        (sine, upper + (square * square).fma(square.fit(&fits::COS), lost))
    }

    pub(super) fn sine(self) -> Term<'p> {
        let (sine, cosine) = self.both();
        let value = sine.unless((self.quadrant & 1).ne(0), cosine);
        value.unless((self.quadrant & 2).ne(0), -value)
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

/// The sine of what was an f32, or its cosine.
pub(super) fn sin(x: Term<'_>) -> Term<'_> {
    Angle::of(x).sine()
}

pub(super) fn cos(x: Term<'_>) -> Term<'_> {
    Angle::of(x).cosine()
}

pub(super) fn tan(x: Term<'_>) -> Term<'_> {
    Angle::of(x).tangent()
}

pub(super) fn sinpi(x: Term<'_>) -> Term<'_> {
    let sine = Angle::of_turns(x).sine();
    // Zeros have the number's sign.
    sine.unless(sine.eq(0.0), x.number(0.0).with_sign_of(x))
}

pub(super) fn cospi(x: Term<'_>) -> Term<'_> {
    let cosine = Angle::of_turns(x).cosine();
    cosine.unless(cosine.eq(0.0), 0.0)
}

/// The arcus sine of `s`, from its square, at most 1/4.
fn asin_near<'p>(s: Term<'p>, square: Term<'p>) -> Term<'p> {
    (s * square).fma(square.fit(&fits::ASIN), s)
}

/// `asin s`, or beyond 1/2 `π/2 - 2 asin(sqrt((1 - s) / 2))`.
pub(super) fn asin(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let far = magnitude.gt(0.5);
    let half = (1.0 - magnitude) * 0.5;
    let square = (x * x).unless(far, half);
    let s = magnitude.unless(far, half.sqrt());
    let value = asin_near(s, square);
    let other = FRAC_PI_2 - (value + value - FRAC_PI_2_LOW);
    value.unless(far, other).with_sign_of(x).unless(magnitude.gt(1.0), f64::NAN)
}

/// `π/2 - asin x`, or beyond 1/2 `2 asin(sqrt((1 - x) / 2))`.
pub(super) fn acos(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let far = magnitude.gt(0.5);
    let half = (1.0 - magnitude) * 0.5;
    let square = (x * x).unless(far, half);
    let value = asin_near(x.unless(far, half.sqrt()), square);
    let near = FRAC_PI_2 - (value - FRAC_PI_2_LOW);
    let double = value + value;
    let beyond = double.unless(x.lt(0.0), PI - (double - 2.0 * FRAC_PI_2_LOW));
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
    let other = FRAC_PI_2 - (value - FRAC_PI_2_LOW);
    value.unless(far, other).with_sign_of(x)
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
    let value = value.unless(steep, FRAC_PI_2 - (value - FRAC_PI_2_LOW));
    let left = x.word().lt(0);
    let value = value.unless(left, PI - (value - 2.0 * FRAC_PI_2_LOW));
    value.with_sign_of(y).unless(x.is_nan() | y.is_nan(), f64::NAN)
}

/// The bits of 2/π after two zeros, 32 a word: of a product with 32 bits the upper two are whole.
const TWO_OVER_PI_SINGLE: [u64; 7] =
    [0x28be_60db, 0x9391_054a, 0x7f09_d5f4, 0x7d4d_3770, 0x36d8_a566, 0x4f10_e410, 0x7f94_58ea];

/// The sine of an f32, or the cosine.
pub(super) fn sine_of_single(x: Term<'_>, cosine: bool) -> Term<'_> {
    let Angle { quadrant, rest: r } = angle_of_single(x);
    let quadrant = if cosine { quadrant + 1 } else { quadrant };
    let square = r * r;
    // Fitted to the functions' quotients on [-π/4, π/4].
    let sine = square.polynomial(&[-1.951_529_6e-4, 8.332_160_9e-3, -0.166_666_55]);
    let sine = sine.fma(square * r, r);
    let upper = square.polynomial(&[2.443_315_7e-5, -1.388_731_6e-3, 4.166_664_6e-2]);
    let other = (upper * square + -0.5).fma(square, 1.0);
    let value = sine.unless((quadrant & 1).ne(0), other);
    value.unless((quadrant & 2).ne(0), -value)
}

/// The quadrant and the rest of an f32.
///
/// The mantissa of 32 bits is multiplied by those 96 bits of 2/π that its exponent leaves between the
/// quadrant and what is too small to matter; the upper two bits of the product are the quadrant, the 62
/// below them the fraction.
fn angle_of_single(x: Term<'_>) -> Angle<'_> {
    let page = x.page;
    let bits = x.word();
    let exponent = (((bits >> 23) & 0xff) - 126).max(0);
    let mantissa = (bits << 8) | 0x8000_0000;
    let mantissa = mantissa.cast(Cast::ExtU, DType::I64);
    let word = exponent >> 5;
    let shift = (exponent & 31).cast(Cast::ExtU, DType::I64);
    // Words of 64 bits, of which the upper 32 after the shift are asked for.
    let words: Vec<Term<'_>> = (0..4).map(|place| word_of_two_over_pi(word, place)).collect();
    let window: Vec<Term<'_>> =
        words.windows(2).map(|pair| (((pair[0] << 32) | pair[1]) << shift) >> 32).collect();
    let middle = mantissa * window[1] + ((mantissa * window[2]) >> 32);
    let product = ((mantissa * window[0]) << 32) + middle;
    // To the nearest quadrant: half of one is added, and the fraction has a sign then.
    let quadrant = ((product + (1 << 61)) >> 62).cast(Cast::Trunc, DType::I32);
    let turn = (product << 2).shr_signed(2).f64();
    let angle = (turn * (FRAC_PI_2 * 2f64.powi(-62))).float(DType::F32);
    // Of a negative number both are.
    let negative = bits.shr_signed(31);
    let quadrant = (quadrant ^ negative) - negative;
    let angle = angle.unless(negative.ne(0), -angle);
    let small = x.abs().le(FRAC_PI_4);
    let angle = angle.unless(small, x);
    let finite = x.abs().lt(f64::INFINITY);
    Angle {
        quadrant: quadrant.unless(small, page.i32(0)),
        rest: x.number(f64::NAN).unless(finite, angle),
    }
}

/// The word at `word + place - 1` of 2/π as an i64; before the point there is zero.
fn word_of_two_over_pi(word: Term<'_>, place: usize) -> Term<'_> {
    let at =
        |word: usize| (word + place).checked_sub(1).map_or(0, |index| TWO_OVER_PI_SINGLE[index]);
    (0..4usize).rev().fold(word.page.i64(at(4)), |chosen, candidate| {
        chosen.unless(word.eq(candidate as i64), word.page.i64(at(candidate)))
    })
}
