//! Functions: what they make of their operands' bounds, and how far each may err.
//!
//! The errors of f32 that one instruction computes are those that the PTX ISA gives (`ex2`, `lg2`, `rcp`,
//! `sqrt`, `rsqrt`, `div.full`); of all others those that `xtask measure accuracy` and the tests of
//! accuracy hold compiled functions to, for f32 and f64 alike the larger. To each comes a unit for the
//! evaluator.

use super::{Freedom, Near, apart, finished, half_unit, known, range, rounding};
use crate::dtype::DType;
use crate::scalar::{self, Function, Unary};

/// How far a computed function may be from the true one.
#[derive(Clone, Copy)]
pub(super) struct Error {
    /// In units of the last place of the result.
    units: f64,
    /// In such units of one, where the result is smaller.
    near_zero: bool,
    /// The same for each one of the argument's magnitude: a product that is rounded is its exponent.
    of_argument: f64,
}

const fn units(units: f64) -> Error {
    Error { units, near_zero: false, of_argument: 0.0 }
}

const fn of_one(units: f64) -> Error {
    Error { units, near_zero: true, of_argument: 0.0 }
}

/// A quotient, as `div.full.f32` computes it: 2 units, and one for the evaluator.
pub(super) const QUOTIENT: Error = units(3.0);
/// A power: 2.3 units, with the machine's 2^x and reciprocal as far off as they may be.
pub(super) const POWER: Error = units(3.5);

impl Error {
    /// The error of a result of at most this magnitude, computed in a type or, where that has fewer
    /// digits, in f32.
    pub(super) fn error(self, dtype: DType, argument: f64, magnitude: f64) -> f64 {
        let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
        if !magnitude.is_finite() {
            return 0.0;
        }
        let magnitude = if self.near_zero { magnitude.max(1.0) } else { magnitude };
        let argument = if argument.is_finite() { argument.abs() } else { 0.0 };
        let units = self.units + self.of_argument * argument;
        let (normal, _) = range(wide);
        // Instructions of f32 take subnormal results for zeros.
        let vanishes = wide == DType::F32 && magnitude < 2.0 * normal;
        let vanished = if vanishes { normal } else { 0.0 };
        2.0 * half_unit(wide) * units * magnitude.max(normal) + vanished
    }
}

/// Whether machines have an approximate instruction or an algorithm for it.
pub(super) fn is_approximate(op: Unary, dtype: DType) -> bool {
    error_of(op, dtype).is_some()
}

fn error_of(op: Unary, dtype: DType) -> Option<Error> {
    let double = dtype == DType::F64;
    Some(match op {
        Unary::Exp if double => units(2.5),
        // 2^-22.5 of the result, and half a unit for each one of the rounded exponent.
        Unary::Exp => Error { units: 3.0, near_zero: false, of_argument: 1.0 },
        Unary::Exp2 | Unary::Exp2Normal => units(3.0),
        // 2^-22 between a half and two, where the result is up to one.
        Unary::Log2Approximate => of_one(4.0),
        // For doubles the only square root is the correctly rounded one.
        Unary::Sqrt if double => return None,
        Unary::Sqrt => units(2.0),
        Unary::Rsqrt => units(3.0),
        Unary::Reciprocal => units(2.0),
        Unary::Log | Unary::Log2 | Unary::Log1p | Unary::Expm1 => units(3.0),
        Unary::Sin | Unary::Cos | Unary::Erf => units(3.0),
        // 2^-20.5 for arguments up to 2π, and 2^-14.7 up to 100π.
        Unary::SinApproximate | Unary::CosApproximate => {
            Error { units: 6.0, near_zero: true, of_argument: 1.0 }
        }
        Unary::Tanh => units(4.0),
        // 2^-11 of the result.
        Unary::TanhApproximate => units(4096.0),
        Unary::Neg
        | Unary::Abs
        | Unary::Not
        | Unary::SqrtPrecise
        | Unary::Floor
        | Unary::Ceil
        | Unary::Trunc
        | Unary::Nearest => return None,
    })
}

/// As far as the approximate sine and cosine follow the true ones; beyond, they are somewhere from -1 to 1.
const FARTHEST: f64 = 100.0 * core::f64::consts::PI;

/// The bound of a float operation of one operand.
pub(super) fn unary(op: Unary, dtype: DType, x: Near, z: f64, freedom: Freedom) -> f64 {
    let bound = match op {
        Unary::SinApproximate | Unary::CosApproximate
            if x.value.is_finite() && x.value.abs() + x.off > FARTHEST =>
        {
            2.0
        }
        _ if x.is_exact() => 0.0,
        Unary::Neg | Unary::Abs | Unary::Not => return x.off,
        Unary::Sin | Unary::Cos | Unary::SinApproximate | Unary::CosApproximate => x.off.min(2.0),
        Unary::Reciprocal if x.off >= x.value.abs() => f64::INFINITY,
        _ => at_ends(dtype, x, z, |end| scalar::of_real(op, end)),
    };
    let whole = matches!(op, Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Nearest);
    if whole || matches!(op, Unary::Neg | Unary::Abs | Unary::Not) {
        return finished(dtype, z, &[x], bound);
    }
    let error = error_of(op, dtype);
    let error = error.map_or(0.0, |error| error.error(dtype, x.value, z.abs() + bound));
    // Exactly computed of exact values: one, zero, infinity.
    let special = x.is_exact() && !x.value.is_finite();
    let rounded = bound + error > 0.0 || freedom.order;
    match (special, rounded) {
        (true, _) | (_, false) => finished(dtype, z, &[x], bound),
        _ => {
            let rounding = rounding(dtype, z.abs() + bound + error, freedom);
            finished(dtype, z, &[x], bound + error + rounding)
        }
    }
}

/// The bound of a correctly rounded root.
pub(super) fn root(dtype: DType, x: Near, z: f64, freedom: Freedom) -> f64 {
    unary(Unary::SqrtPrecise, dtype, x, z, freedom)
}

/// The distance of `z` to the values at the ends of an interval, of a function that rises or falls.
/// Where both ends round to the same infinity there is none.
fn at_ends(dtype: DType, x: Near, z: f64, function: impl Fn(f64) -> f64) -> f64 {
    let rounded = |end: f64| {
        let value = function(end);
        let (_, most) = range(dtype);
        if value.abs() > 2.0 * most { f64::INFINITY.copysign(value) } else { value }
    };
    let [low, high] = x.ends().map(|end| apart(rounded(end), z));
    known(low.max(high))
}

/// What the evaluator's own functions may be off in f64, in units of the last place: they are held to it
/// against numbers of 512 bits.
const OWN: f64 = 8.0;

/// The bound of one of libdevice's functions.
pub(super) fn function(
    function: Function,
    dtype: DType,
    operands: &[Near],
    z: f64,
    freedom: Freedom,
) -> f64 {
    let Some(&x) = operands.first() else { return f64::INFINITY };
    let apply = |x: f64| f64::from_bits(function.apply(DType::F64, &[x.to_bits()]));
    let ends = || at_ends(dtype, x, z, apply);
    let together: f64 = operands.iter().map(|x| x.off).sum();
    let bound = match function {
        _ if together == 0.0 => 0.0,
        Function::Asin
        | Function::Acos
        | Function::Atan
        | Function::Sinh
        | Function::Asinh
        | Function::Acosh
        | Function::Atanh
        | Function::Exp
        | Function::Exp10
        | Function::Log10
        | Function::Cbrt
        | Function::Erfc
        | Function::Erfcx
        | Function::Erfinv
        | Function::Erfcinv
        | Function::Normcdf
        | Function::Normcdfinv
        | Function::CylBesselI1 => ends(),
        Function::Rcbrt if x.off < x.value.abs() => ends(),
        // They fall to one and rise again.
        Function::Cosh | Function::CylBesselI0 if x.off < x.value.abs() => ends(),
        Function::Cosh | Function::CylBesselI0 => ends().max(apart(1.0, z)),
        // Between two poles it rises.
        Function::Tan if 2.0 * x.off < core::f64::consts::PI => {
            let [low, high] = x.ends().map(apply);
            if low <= z && z <= high { ends() } else { f64::INFINITY }
        }
        Function::SinPi | Function::CosPi => (core::f64::consts::PI * x.off).min(2.0),
        // Their slope is less than one.
        Function::J0 | Function::J1 => x.off.min(2.0),
        Function::Hypot | Function::Norm3d | Function::Norm4d => together,
        Function::Rhypot | Function::Rnorm3d | Function::Rnorm4d if z * together < 1.0 => {
            z * z * together / (1.0 - z * together)
        }
        _ => f64::INFINITY,
    };
    // Narrower types' functions are computed in f64.
    let own = if dtype == DType::F64 { OWN } else { 0.0 };
    let error = match function {
        Function::Lgamma => of_one(8.0 + own),
        Function::J0 | Function::J1 | Function::Y0 | Function::Y1 => of_one(10.0 + own),
        Function::Tgamma
        | Function::CylBesselI0
        | Function::CylBesselI1
        | Function::Erfc
        | Function::Erfcx
        | Function::Normcdf
        | Function::Normcdfinv => units(7.0 + own),
        _ => units(5.0 + own),
    };
    let error = error.error(dtype, x.value, z.abs() + bound);
    let rounding = rounding(dtype, z.abs() + bound + error, freedom);
    finished(dtype, z, operands, bound + error + rounding)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the PTX ISA promises of sines and cosines stays within the bound, and so does any number from -1 to 1
    /// where it promises nothing.
    #[test]
    fn approximate_sines_may_err_as_far_as_the_manual_says() {
        let freedom = Freedom { times: 1.0, order: false, contraction: false };
        let bound = |op, value: f64, off| {
            let z = scalar::of_real(op, value);
            unary(op, DType::F32, Near { value, off }, z, freedom)
        };
        for op in [Unary::SinApproximate, Unary::CosApproximate] {
            for (times, error) in [(2.0, 2f64.powf(-20.5)), (100.0, 2f64.powf(-14.7))] {
                let most = times * core::f64::consts::PI;
                for x in [most, -most] {
                    let bound = bound(op, x, 0.0);
                    assert!((error..2.0 * error + 1e-6).contains(&bound), "{op} of {x}: {bound}");
                }
                assert!(bound(op, most - 1e-3, 1e-4) >= 1e-4 + error);
            }
            assert!(bound(op, 315.0, 0.0) >= 2.0 && bound(op, 1.0, 1e3) >= 2.0);
            assert!(bound(op, f64::INFINITY, 0.0).is_finite());
        }
    }
}
