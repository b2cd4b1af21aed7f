//! Functions that no machine has an instruction for, as lane operations.
//!
//! Every printer gets them for free, and the simulator runs the very operations that a GPU will. What a
//! function *means* is in [`scalar`]; how far these algorithms are from it is tested:
//!
//! | function | type | algorithm | error, units of the last place |
//! |---|---|---|---|
//! | `exp`, `exp2` | f64 | `x = n ln 2 + r`, Taylor of degree 13, two powers of two | 2 |
//! | `log`, `log2` | f64 | `x = 2^e m`, series of `atanh((m - 1) / (m + 1))` | 3 |
//! | `sin`, `cos` | f32 | Payne and Hanek's reduction in integers, polynomials on `[-π/4, π/4]` | 2 |
//! | `erf` | f32 | a polynomial up to 0.93, `1 - exp(polynomial)` beyond | 2 |
//! | `tanh`, `expm1`, `log1p`, `pow` | f32 | by `exp` and `log` of f64 | 1 |
//! | `rem` | f32 | `x 2^d mod y` in f64, 29 bits a step | 0 |
//!
//! f16 and bf16 are computed as f32 and rounded.
//!
//! Sources: W. J. Cody and W. Waite, *Software Manual for the Elementary Functions* (1980), chapters 5
//! and 6; M. H. Payne and R. N. Hanek, *Radian reduction for trigonometric functions* (1983).

mod exponential;
mod remainder;
mod trigonometric;

use crate::dtype::DType;
use crate::lane::{Builder, Value};
use crate::scalar::{self, Binary, Cast, Compare, Unary};

/// Whether [`unary`] has the operation.
pub fn has_unary(op: Unary, dtype: DType) -> bool {
    use Unary::{Cos, Erf, Expm1, Log1p, Sin, Tanh};
    dtype != DType::F64 || !matches!(op, Sin | Cos | Erf | Tanh | Expm1 | Log1p)
}

/// Whether [`binary`] has the operation.
pub fn has_binary(op: Binary, dtype: DType) -> bool {
    dtype != DType::F64 || !matches!(op, Binary::Rem | Binary::Pow)
}

/// The operation of one operand, where a machine has it or an algorithm is here; none where the type
/// has no algorithm.
pub fn unary(build: &mut Builder, op: Unary, x: Value) -> Option<Value> {
    let dtype = build.dtype(x);
    let double = dtype == DType::F64;
    let mut m = Writer { build };
    let result = match op {
        Unary::Exp if double => m.exp(x),
        Unary::Exp2 if double => m.exp2(x),
        Unary::Log if double => m.log(x),
        Unary::Log2 if double => m.log2(x),
        _ if !has_unary(op, dtype) => return None,
        Unary::Sin => m.in_f32(x, |m, x| m.sine(x, false)),
        Unary::Cos => m.in_f32(x, |m, x| m.sine(x, true)),
        Unary::Erf => m.in_f32(x, Writer::erf),
        Unary::Tanh => m.in_f64(x, Writer::tanh),
        Unary::Expm1 => m.in_f64(x, Writer::expm1),
        Unary::Log1p => m.in_f64(x, Writer::log1p),
        _ => m.build.unary(op, x),
    };
    Some(result)
}

/// The operation of two operands, as [`unary`].
pub fn binary(build: &mut Builder, op: Binary, x: Value, y: Value) -> Option<Value> {
    let dtype = build.dtype(x);
    let mut m = Writer { build };
    match op {
        _ if !has_binary(op, dtype) => None,
        Binary::Rem | Binary::Pow => {
            let [wide_x, wide_y] = [x, y].map(|x| m.cast(Cast::Float, x, DType::F64));
            let wide =
                if op == Binary::Rem { m.rem(wide_x, wide_y) } else { m.pow(wide_x, wide_y) };
            Some(m.narrowed(wide, dtype))
        }
        _ => Some(m.build.binary(op, x, y)),
    }
}

/// Writes operations; most on f64.
struct Writer<'b> {
    build: &'b mut Builder,
}

impl Writer<'_> {
    fn in_f32(&mut self, x: Value, compute: impl FnOnce(&mut Self, Value) -> Value) -> Value {
        let dtype = self.build.dtype(x);
        let wide = self.cast(Cast::Float, x, DType::F32);
        let result = compute(self, wide);
        self.cast(Cast::Float, result, dtype)
    }

    fn in_f64(&mut self, x: Value, compute: impl FnOnce(&mut Self, Value) -> Value) -> Value {
        let dtype = self.build.dtype(x);
        let wide = self.cast(Cast::Float, x, DType::F64);
        let result = compute(self, wide);
        self.narrowed(result, dtype)
    }

    /// An f64 as another float, by way of f32 as the meaning has it.
    fn narrowed(&mut self, x: Value, to: DType) -> Value {
        let single = self.cast(Cast::Float, x, DType::F32);
        self.cast(Cast::Float, single, to)
    }

    fn cast(&mut self, cast: Cast, x: Value, to: DType) -> Value {
        if self.build.dtype(x) == to { x } else { self.build.cast(cast, x, to) }
    }

    /// The constant of the type of `like`.
    fn number(&mut self, like: Value, value: f64) -> Value {
        let dtype = self.build.dtype(like);
        self.build.constant(dtype, scalar::from_f64(dtype, value))
    }

    fn bits(&mut self, dtype: DType, bits: u64) -> Value {
        self.build.constant(dtype, bits)
    }

    fn add(&mut self, x: Value, y: Value) -> Value {
        self.build.binary(Binary::Add, x, y)
    }

    fn sub(&mut self, x: Value, y: Value) -> Value {
        self.build.binary(Binary::Sub, x, y)
    }

    fn mul(&mut self, x: Value, y: Value) -> Value {
        self.build.binary(Binary::Mul, x, y)
    }

    fn times(&mut self, x: Value, factor: f64) -> Value {
        let factor = self.number(x, factor);
        self.mul(x, factor)
    }

    fn plus(&mut self, x: Value, term: f64) -> Value {
        let term = self.number(x, term);
        self.add(x, term)
    }

    fn div(&mut self, x: Value, y: Value) -> Value {
        self.build.binary(Binary::DivPrecise, x, y)
    }

    /// `x * y + z`.
    fn fma(&mut self, x: Value, y: Value, z: Value) -> Value {
        self.build.fma(x, y, z)
    }

    /// `x * y + z` for a number z.
    fn fma_number(&mut self, x: Value, y: Value, z: f64) -> Value {
        let z = self.number(x, z);
        self.fma(x, y, z)
    }

    /// The polynomial with these coefficients, the highest power's first.
    fn polynomial(&mut self, x: Value, coefficients: &[f64]) -> Value {
        let (&first, rest) = coefficients.split_first().unwrap_or((&0.0, &[]));
        let first = self.number(x, first);
        rest.iter().fold(first, |sum, &coefficient| self.fma_number(sum, x, coefficient))
    }

    fn compare(&mut self, op: Compare, x: Value, y: f64) -> Value {
        let y = self.number(x, y);
        self.build.compare(op, x, y)
    }

    fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        self.build.select(condition, yes, no)
    }

    /// The number where the condition holds.
    fn number_if(&mut self, condition: Value, number: f64, no: Value) -> Value {
        let number = self.number(no, number);
        self.select(condition, number, no)
    }

    /// The integer operation with a constant.
    fn int(&mut self, op: Binary, x: Value, y: u64) -> Value {
        let dtype = self.build.dtype(x);
        let y = self.build.constant(dtype, y & dtype.mask());
        self.build.binary(op, x, y)
    }

    /// The magnitude of one float with the sign of another.
    fn with_sign_of(&mut self, magnitude: Value, sign: Value) -> Value {
        let dtype = self.build.dtype(magnitude);
        let word = if dtype == DType::F64 { DType::I64 } else { DType::I32 };
        let top = 1u64 << (dtype.bits() - 1);
        let [magnitude, sign] = [magnitude, sign].map(|x| self.cast(Cast::Bits, x, word));
        let magnitude = self.int(Binary::And, magnitude, top - 1);
        let sign = self.int(Binary::And, sign, top);
        let both = self.build.binary(Binary::Or, magnitude, sign);
        self.cast(Cast::Bits, both, dtype)
    }
}
