//! Functions that no machine has an instruction for, by their definitions.
//!
//! Their names are libdevice's. Elementary ones come from `libm`; what is not there is written out: sums
//! of positive terms, and inverses found by halving an interval. f32 is computed in f64 and rounded.

use super::named_enum;
use crate::dtype::DType;
use core::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI, SQRT_2};
use core::fmt;

named_enum! {
    /// Functions of one float type, of up to four operands of it.
    Function {
        /// The tangent of an angle in radians.
        Tan = "tan",
        /// Sine of a number of half turns.
        SinPi = "sinpi",
        /// Cosine of a number of half turns.
        CosPi = "cospi",
        /// The angle from -π/2 to π/2 whose sine is given.
        Asin = "asin",
        /// The angle from 0 to π whose cosine is given.
        Acos = "acos",
        /// The angle from -π/2 to π/2 whose tangent is given.
        Atan = "atan",
        /// The angle of the point whose height is the first operand and width the second.
        Atan2 = "atan2",
        /// The hyperbolic sine of a number.
        Sinh = "sinh",
        /// The hyperbolic cosine of a number.
        Cosh = "cosh",
        /// The number whose hyperbolic sine is given.
        Asinh = "asinh",
        /// The number from 0 up whose hyperbolic cosine is given.
        Acosh = "acosh",
        /// The number whose hyperbolic tangent is given.
        Atanh = "atanh",
        /// e to the power, of f32 closer than the instruction-based `Unary::Exp`.
        Exp = "exp",
        /// 10 to the power.
        Exp10 = "exp10",
        /// Logarithm to base 10.
        Log10 = "log10",
        /// The cube root, with the sign of the number.
        Cbrt = "cbrt",
        /// One over the cube root.
        Rcbrt = "rcbrt",
        /// The length of a vector of two components.
        Hypot = "hypot",
        /// One over the length of a vector of two components.
        Rhypot = "rhypot",
        /// The length of a vector of three components.
        Norm3d = "norm3d",
        /// One over the length of a vector of three components.
        Rnorm3d = "rnorm3d",
        /// The length of a vector of four components.
        Norm4d = "norm4d",
        /// One over the length of a vector of four components.
        Rnorm4d = "rnorm4d",
        /// One less the error function.
        Erfc = "erfc",
        /// The complementary error function times `e^(x^2)`.
        Erfcx = "erfcx",
        /// The error function's inverse.
        Erfinv = "erfinv",
        /// The complementary error function's inverse.
        Erfcinv = "erfcinv",
        /// The normal distribution's probability below a number.
        Normcdf = "normcdf",
        /// The number below which the normal distribution has a probability.
        Normcdfinv = "normcdfinv",
        /// The logarithm of the gamma function's magnitude.
        Lgamma = "lgamma",
        /// The gamma function, `(x - 1)!` of a positive integer.
        Tgamma = "tgamma",
        /// The Bessel function of the first kind of order 0.
        J0 = "j0",
        /// The Bessel function of the first kind of order 1.
        J1 = "j1",
        /// The Bessel function of the second kind of order 0.
        Y0 = "y0",
        /// The Bessel function of the second kind of order 1.
        Y1 = "y1",
        /// The modified Bessel function of the first kind of order 0.
        CylBesselI0 = "cyl_bessel_i0",
        /// The modified Bessel function of the first kind of order 1.
        CylBesselI1 = "cyl_bessel_i1",
    }
}

impl Function {
    /// How many operands it has.
    pub fn arity(self) -> usize {
        match self {
            Function::Atan2 | Function::Hypot | Function::Rhypot => 2,
            Function::Norm3d | Function::Rnorm3d => 3,
            Function::Norm4d | Function::Rnorm4d => 4,
            _ => 1,
        }
    }

    /// The function of raw bits of `dtype`, f32 or f64; of operands that are missing, zero is taken.
    pub fn apply(self, dtype: DType, operands: &[u64]) -> u64 {
        let mut x = [0.0; 4];
        for (x, &bits) in x.iter_mut().zip(operands) {
            *x = super::to_f64(dtype, bits);
        }
        super::from_f64(dtype, self.of(&x[..self.arity()]))
    }

    fn of(self, operands: &[f64]) -> f64 {
        let x = operands[0];
        match self {
            Function::Tan => libm::tan(x),
            Function::SinPi => sinpi(x),
            Function::CosPi => cospi(x),
            Function::Asin => libm::asin(x),
            Function::Acos => libm::acos(x),
            Function::Atan => libm::atan(x),
            Function::Atan2 => libm::atan2(x, operands[1]),
            Function::Sinh => libm::sinh(x),
            Function::Cosh => libm::cosh(x),
            Function::Asinh => libm::asinh(x),
            Function::Acosh => libm::acosh(x),
            Function::Atanh => libm::atanh(x),
            Function::Exp => libm::exp(x),
            Function::Exp10 => libm::exp10(x),
            Function::Log10 => libm::log10(x),
            Function::Cbrt => libm::cbrt(x),
            Function::Rcbrt => 1.0 / libm::cbrt(x),
            Function::Hypot | Function::Norm3d | Function::Norm4d => norm(operands, false),
            Function::Rhypot | Function::Rnorm3d | Function::Rnorm4d => norm(operands, true),
            Function::Erfc => libm::erfc(x),
            Function::Erfcx => erfcx(x),
            Function::Erfinv if x.abs() <= 0.5 => erfinv(x),
            Function::Erfinv => erfcinv(1.0 - x.abs()).copysign(x),
            Function::Erfcinv => erfcinv(x),
            Function::Normcdf => normcdf(x),
            Function::Normcdfinv => -SQRT_2 * erfcinv(2.0 * x),
            Function::Lgamma => libm::lgamma(x),
            Function::Tgamma => libm::tgamma(x),
            Function::J0 => libm::j0(x),
            Function::J1 => libm::j1(x),
            Function::Y0 => libm::y0(x),
            Function::Y1 => libm::y1(x),
            Function::CylBesselI0 => modified_bessel(0, x),
            Function::CylBesselI1 => modified_bessel(1, x),
        }
    }
}

/// The rest of a number of half turns, and how many quarters of a turn were taken off.
fn quarters(x: f64) -> (f64, i32) {
    let x = x % 2.0;
    let quarters = libm::rint(2.0 * x);
    (PI * (x - quarters / 2.0), quarters as i32 & 3)
}

fn sinpi(x: f64) -> f64 {
    if x.is_finite() && x == libm::trunc(x) {
        return 0.0f64.copysign(x);
    }
    match quarters(x) {
        (rest, 0) => libm::sin(rest),
        (rest, 1) => libm::cos(rest),
        (rest, 2) => -libm::sin(rest),
        (rest, _) => -libm::cos(rest),
    }
}

fn cospi(x: f64) -> f64 {
    match quarters(x) {
        (rest, 0) => libm::cos(rest),
        // No zero but a positive one.
        (rest, 1) => 0.0 - libm::sin(rest),
        (rest, 2) => -libm::cos(rest),
        (rest, _) => 0.0 + libm::sin(rest),
    }
}

/// The length of a vector, or one over it; infinite where one component is, even beside a NaN.
fn norm(components: &[f64], inverse: bool) -> f64 {
    let largest = components.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest == f64::INFINITY {
        return if inverse { 0.0 } else { f64::INFINITY };
    }
    let scale = if largest < 1.0 { 2f64.powi(600) } else { 2f64.powi(-600) };
    let apart = largest != 0.0 && !(1e-150..1e150).contains(&largest);
    let scale = if apart { scale } else { 1.0 };
    let sum = components.iter().map(|x| x * scale).fold(0.0, |sum, x| libm::fma(x, x, sum));
    let length = libm::sqrt(sum);
    if inverse { scale / length } else { length / scale }
}

/// `e^(x^2)` without what rounding the square loses, times `y`.
fn times_bell(x: f64, sign: f64, y: f64) -> f64 {
    let square = x * x;
    let rest = libm::fma(x, x, -square);
    // Half of it at a time, lest it vanish before the product does.
    let half = libm::exp(sign * square / 2.0);
    half * y * (1.0 + sign * rest) * half
}

fn erfcx(x: f64) -> f64 {
    if x < 10.0 {
        return if x < -27.0 { f64::INFINITY } else { times_bell(x, 1.0, libm::erfc(x)) };
    }
    // Laplace's continued fraction.
    let fraction = (1..100).rev().fold(x, |fraction, k| x + f64::from(k) / 2.0 / fraction);
    1.0 / (fraction * libm::sqrt(PI))
}

/// What [`FRAC_1_SQRT_2`] lacks of the root of a half.
const FRAC_1_SQRT_2_REST: f64 = -4.833_646_656_726_457e-17;

fn normcdf(x: f64) -> f64 {
    // erfc(-x / sqrt 2) / 2; far from zero it goes as e^(-x^2 / 2), so that an error of the argument comes
    // back x^2 times as large.
    let argument = -x * FRAC_1_SQRT_2;
    if !(-40.0..=40.0).contains(&x) {
        return 0.5 * libm::erfc(argument);
    }
    let rest = libm::fma(-x, FRAC_1_SQRT_2, -argument) - x * FRAC_1_SQRT_2_REST;
    // The derivative at the rounded argument.
    let slope = -FRAC_2_SQRT_PI * libm::exp(-argument * argument);
    0.5 * libm::fma(slope, rest, libm::erfc(argument))
}

/// For numbers up to a half.
fn erfinv(x: f64) -> f64 {
    if x.abs() < 1e-9 {
        return x / FRAC_2_SQRT_PI;
    }
    found(-0.5, 0.5, |guess| x - libm::erf(guess))
}

fn erfcinv(y: f64) -> f64 {
    if y.is_nan() || !(0.0..=2.0).contains(&y) {
        return f64::NAN;
    }
    if y == 0.0 || y == 2.0 {
        return if y == 0.0 { f64::INFINITY } else { f64::NEG_INFINITY };
    }
    if y > 1.0 {
        // `2 - y` is exact.
        return -erfcinv(2.0 - y);
    }
    if y >= 0.5 {
        return erfinv(1.0 - y);
    }
    // log y = log erfcx(x) - x^2, lest the least numbers have too few digits.
    let log = libm::log(y);
    found(0.4, 28.0, |guess| libm::log(erfcx(guess)) - (log + guess * guess))
}

/// Where a function that falls is zero, by halving.
fn found(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..1100 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if function(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// `Σ (x / 2)^(2 k + n) / (k! (k + n)!)`: all terms have one sign. There are many, and each has the roundings
/// of all before it, so that term and sum are kept with what they lack.
fn modified_bessel(order: u32, x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude > 720.0 {
        return if order == 0 { f64::INFINITY } else { f64::INFINITY.copysign(x) };
    }
    let half = magnitude / 2.0;
    let quarter = half * half;
    let quarter_rest = libm::fma(half, half, -quarter);
    let (mut term, mut term_rest) = (if order == 0 { 1.0 } else { half }, 0.0);
    let (mut sum, mut sum_rest) = (term, 0.0);
    for k in 1..2000 {
        let divisor = f64::from(k) * (f64::from(k) + f64::from(order));
        let product = term * quarter;
        let rest = libm::fma(term, quarter, -product) + term * quarter_rest + term_rest * quarter;
        term = product / divisor;
        term_rest = (libm::fma(-term, divisor, product) + rest) / divisor;
        let next = sum + term;
        if next == sum {
            break;
        }
        // The terms rise first.
        let (large, small) = if sum < term { (term, sum) } else { (sum, term) };
        sum_rest += (large - next) + small + term_rest;
        sum = next;
    }
    let sum = sum + sum_rest;
    if order == 0 { sum } else { sum.copysign(x) }
}
