//! Bessel functions of the orders 0 and 1.
//!
//! Up to 8 polynomials, over which the factors with the zeros stand; beyond, modulus and phase: J. Harrison,
//! *Fast and accurate Bessel function computation* (2009). Near zeros beyond 8, and near those of the
//! second kind, the error is that of the modulus and not of the value.

use super::exponential::{half_exp, log};
use super::expression::{Fit, Long, Term};
use super::fits;
use super::trigonometric::Angle;
use core::f64::consts::{FRAC_2_PI, FRAC_PI_4};

/// What belongs to one order.
pub(super) struct Order {
    /// The first zeros of J: those below 8, and one more, without which the polynomial would fall too far
    /// to be evaluated well.
    zeros: [Long; 3],
    first: Fit,
    second: Fit,
    modulus: Fit,
    phase: Fit,
    modified: Fit,
    modified_far: Fit,
    odd: bool,
}

pub(super) const ZEROTH: Order = Order {
    zeros: [
        Long { high: 2.404_825_557_695_773, low: -1.176_691_651_530_894e-16 },
        Long { high: 5.520_078_110_286_311, low: 8.088_597_146_146_722e-17 },
        Long { high: 8.653_727_912_911_013, low: -2.928_126_073_207_79e-16 },
    ],
    first: fits::J0,
    second: fits::Y0,
    modulus: fits::MODULUS_0,
    phase: fits::PHASE_0,
    modified: fits::I0,
    modified_far: fits::I0_FAR,
    odd: false,
};

pub(super) const FIRST: Order = Order {
    zeros: [
        Long { high: 3.831_705_970_207_512_5, low: -1.526_918_409_008_806_6e-16 },
        Long { high: 7.015_586_669_815_619, low: -9.414_165_653_410_389e-17 },
        Long { high: 10.173_468_135_062_722, low: 4.482_162_274_768_888e-16 },
    ],
    first: fits::J1,
    second: fits::Y1,
    modulus: fits::MODULUS_1,
    phase: fits::PHASE_1,
    modified: fits::I1,
    modified_far: fits::I1_FAR,
    odd: true,
};

impl Order {
    /// The function of the first kind up to 8.
    fn first_near<'p>(&self, x: Term<'p>) -> Term<'p> {
        let square = (x * x).fma(1.0 / 32.0, -1.0);
        let value = self.zeros.iter().fold(square.fit(&self.first), |value, zero| {
            let [zero, rest] = zero.of(x);
            value * (((x - zero) - rest) * (x + zero))
        });
        if self.odd { value * x } else { value }
    }

    /// `sqrt(2 / (π x)) modulus`, and the phase, beyond 8.
    fn far<'p>(&self, x: Term<'p>) -> (Term<'p>, Angle<'p>) {
        let inverse = 1.0 / x;
        let square = (inverse * 8.0) * (inverse * 8.0);
        let modulus = (inverse * FRAC_2_PI).sqrt() * square.fit(&self.modulus);
        let Angle { quadrant, rest } = Angle::of(x);
        let rest = rest + inverse.fma(square.fit(&self.phase), -FRAC_PI_4);
        (modulus, Angle { quadrant: quadrant - i64::from(self.odd), rest }.reduced())
    }

    pub(super) fn first_kind<'p>(&self, x: Term<'p>) -> Term<'p> {
        let magnitude = x.abs();
        let (modulus, angle) = self.far(magnitude);
        let value = self.first_near(magnitude).unless(magnitude.gt(8.0), modulus * angle.cosine());
        if !self.odd {
            return value.unless(magnitude.eq(f64::INFINITY), 0.0);
        }
        // Half of the least numbers is rounded once.
        let value = value.unless(magnitude.lt(x.format().tiny), magnitude * 0.5);
        let sign = x.word() & x.number(-0.0).word();
        (value.word() ^ sign).real().unless(magnitude.eq(f64::INFINITY), 0.0)
    }

    pub(super) fn second_kind<'p>(&self, x: Term<'p>) -> Term<'p> {
        let (modulus, angle) = self.far(x);
        let square = (x * x).fma(1.0 / 32.0, -1.0);
        let regular = square.fit(&self.second);
        let product = log(x) * self.first_near(x);
        let near = if self.odd {
            product.fma(FRAC_2_PI, x * regular) - FRAC_2_PI / x
        } else {
            product.fma(FRAC_2_PI, regular)
        };
        let value = near.unless(x.gt(8.0), modulus * angle.sine());
        let value = value.unless(x.eq(f64::INFINITY), 0.0);
        value.unless(x.eq(0.0), f64::NEG_INFINITY).unless(!x.ge(0.0), f64::NAN)
    }

    /// The modified function of the first kind.
    pub(super) fn modified<'p>(&self, x: Term<'p>) -> Term<'p> {
        let magnitude = x.abs();
        let near = (magnitude * magnitude).fit(&self.modified);
        let near = if self.odd { near * magnitude } else { near };
        let inverse = 16.0 / magnitude - 1.0;
        // The exponential grows beyond the largest number first: half of it at a time.
        let root = half_exp(magnitude.min(800.0) * 0.5);
        let scale = inverse.fit(&self.modified_far) / magnitude.sqrt() * 4.0;
        let far = root * scale * root;
        let value = near.unless(magnitude.gt(8.0), far);
        let value = value.unless(magnitude.gt(720.0), f64::INFINITY);
        if self.odd { value.with_sign_of(x) } else { value }
    }
}
