//! Functions that no machine has an instruction for, as lane operations.
//!
//! Every printer gets them for free, and the simulator runs the very operations that a GPU will. What a
//! function *means* is in [`scalar`]; how far these algorithms are from it is measured, and stated in the
//! book's chapter on functions.
//!
//! Most are written once, as formulas in which a term's type chooses constants and the length of
//! polynomials: f32 is computed in f32, f64 in f64, and f16 and bf16 as f32 and rounded. The functions of
//! everyday kernels have formulas of their own for f32 (`*_of_single`), with the machine's approximate
//! `2^x` where nothing makes its error larger. Polynomials are our own fits (`fits.py`); each
//! module names the source of its algorithms.

mod expression;
#[allow(clippy::approx_constant, reason = "coefficients may be near a constant")]
mod fits;
mod exponential;
mod hyperbolic;
mod trigonometric;
mod root;
mod remainder;
mod directed;
mod error;
mod gamma;
mod bessel;
#[cfg(test)]
mod tests;

use crate::dtype::DType;
use crate::lane::{Builder, Value};
use crate::scalar::{self, Binary, Directed, Function, Rounding, Unary};
use expression::{Page, Term};

/// The operation of one operand: the machine's, or the algorithm that is here.
pub fn unary(build: &mut Builder, op: Unary, x: Value) -> Value {
    let page = Page::new(build);
    let term = page.term(x);
    let double = term.dtype() == DType::F64;
    let compute: fn(Term<'_>) -> Term<'_> = match op {
        Unary::Exp if double => exponential::exp,
        Unary::Exp2 if double => exponential::exp2,
        // The machine's instruction: what is below the least normal number is zero, as Triton has it.
        Unary::Exp2 => |x| x.unary(Unary::Exp2Normal),
        Unary::Log => exponential::log,
        Unary::Log2 => exponential::log2,
        Unary::Sin => trigonometric::sin,
        Unary::Cos => trigonometric::cos,
        Unary::Erf => error::erf,
        Unary::Tanh => hyperbolic::tanh,
        Unary::Expm1 => exponential::expm1,
        Unary::Log1p => exponential::log1p,
        _ => return term.unary(op).value,
    };
    at_least_single([term], |[x]| compute(x)).value
}

/// The operation of two operands, as [`unary`].
pub fn binary(build: &mut Builder, op: Binary, x: Value, y: Value) -> Value {
    let exponent = build.constant_bits(y).filter(|_| op == Binary::Pow);
    let exponent = exponent.map(|bits| scalar::to_f64(build.dtype(y), bits));
    let page = Page::new(build);
    let terms = [x, y].map(|value| page.term(value));
    let result = match op {
        Binary::Rem => at_least_single(terms, |[x, y]| remainder::rem(x, y)),
        Binary::Pow => at_least_single(terms, |[x, y]| {
            let short = exponent.and_then(|exponent| exponential::short_power(x, exponent));
            short.unwrap_or_else(|| exponential::pow(x, y))
        }),
        _ => terms[0].binary(op, terms[1]),
    };
    result.value
}

/// A function of a float type; of operands that are missing, the first is taken.
pub fn function(build: &mut Builder, function: Function, operands: &[Value]) -> Option<Value> {
    let &first = operands.first()?;
    let page = Page::new(build);
    let operands =
        core::array::from_fn(|index| page.term(operands.get(index).copied().unwrap_or(first)));
    Some(at_least_single(operands, |operands| apply(function, operands)).value)
}

/// An operation of f32 or f64 that rounds as told; of operands that are missing, the first is taken.
pub fn directed(
    build: &mut Builder,
    op: Directed,
    rounding: Rounding,
    operands: &[Value],
) -> Option<Value> {
    let &first = operands.first()?;
    let page = Page::new(build);
    let [x, y, z] =
        core::array::from_fn(|index| page.term(operands.get(index).copied().unwrap_or(first)));
    let result = match op {
        Directed::Fma => x.fma_toward(y, z, rounding),
        Directed::Div => directed::div(x, y, rounding),
        Directed::Sqrt => directed::sqrt(x, rounding),
    };
    Some(result.value)
}

fn apply(function: Function, operands: [Term<'_>; 4]) -> Term<'_> {
    let [x, y, z, _] = operands;
    match function {
        Function::Tan => trigonometric::tan(x),
        Function::SinPi => trigonometric::sinpi(x),
        Function::CosPi => trigonometric::cospi(x),
        Function::Asin => trigonometric::asin(x),
        Function::Acos => trigonometric::acos(x),
        Function::Atan => trigonometric::atan(x),
        Function::Atan2 => trigonometric::atan2(x, y),
        Function::Sinh => hyperbolic::sinh(x),
        Function::Cosh => hyperbolic::cosh(x),
        Function::Asinh => hyperbolic::asinh(x),
        Function::Acosh => hyperbolic::acosh(x),
        Function::Atanh => hyperbolic::atanh(x),
        Function::Exp if x.is_single() => exponential::exp_of_single(x),
        Function::Exp => exponential::exp(x),
        Function::Exp10 => exponential::exp10(x),
        Function::Log10 => exponential::log10(x),
        Function::Cbrt => root::cbrt(x),
        Function::Rcbrt => root::rcbrt(x),
        Function::Hypot => root::norm([x, y], false),
        Function::Rhypot => root::norm([x, y], true),
        Function::Norm3d => root::norm([x, y, z], false),
        Function::Rnorm3d => root::norm([x, y, z], true),
        Function::Norm4d => root::norm(operands, false),
        Function::Rnorm4d => root::norm(operands, true),
        Function::Erfc => error::erfc(x),
        Function::Erfcx => error::erfcx(x),
        Function::Erfinv => error::erfinv(x),
        Function::Erfcinv => error::erfcinv(x),
        Function::Normcdf => error::normcdf(x),
        Function::Normcdfinv => error::normcdfinv(x),
        Function::Lgamma => gamma::lgamma(x),
        Function::Tgamma => gamma::tgamma(x),
        Function::J0 => bessel::ZEROTH.first_kind(x),
        Function::J1 => bessel::FIRST.first_kind(x),
        Function::Y0 => bessel::ZEROTH.second_kind(x),
        Function::Y1 => bessel::FIRST.second_kind(x),
        Function::CylBesselI0 => bessel::ZEROTH.modified(x),
        Function::CylBesselI1 => bessel::FIRST.modified(x),
    }
}

/// In the operands' type, or in f32 where that is narrower.
fn at_least_single<'p, const N: usize>(
    operands: [Term<'p>; N],
    compute: impl FnOnce([Term<'p>; N]) -> Term<'p>,
) -> Term<'p> {
    let dtype = operands[0].dtype();
    let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    compute(operands.map(|x| x.float(wide))).float(dtype)
}
