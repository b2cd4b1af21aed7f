//! Floats that are never NaN: with itself such a number compares as an integer does.
//!
//! ```text
//! x != x = false, x >= x = true      where x is made of integers and constants
//! ```
//!
//! A NaN comes of infinities of both signs and of zero times an infinity, so it is asked too which
//! numbers are finite: those that were integers, and constants.

use super::{Builder, Op, Value};
use crate::dtype::DType;
use crate::scalar::{self, Binary, Cast, Compare, Unary};

/// How far back definitions are followed.
const DEPTH: u32 = 8;

impl Builder {
    /// A comparison of a float that is never NaN with itself.
    pub(super) fn self_comparison(&mut self, op: Compare, x: Value, y: Value) -> Option<Value> {
        if x != y {
            return None;
        }
        let truth = match op {
            Compare::Oeq | Compare::Oge | Compare::Ole | Compare::Ord => 1,
            Compare::Une | Compare::Uno => 0,
            _ => return None,
        };
        self.is_ordered(x, DEPTH).then(|| self.constant(DType::I1, truth))
    }

    /// Whether a float is above infinity or below minus infinity: none is, and NaN is not either.
    pub(super) fn beyond_infinity(&mut self, op: Compare, x: Value, y: Value) -> Option<Value> {
        let (less, greater) = match op {
            Compare::Olt => (x, y),
            Compare::Ogt => (y, x),
            _ => return None,
        };
        let is = |value: Value, number: f64| self.float(value).is_some_and(|it| it == number);
        let never = is(less, f64::INFINITY) || is(greater, f64::NEG_INFINITY);
        never.then(|| self.constant(DType::I1, 0))
    }

    /// Whether a float is known never to be NaN.
    fn is_ordered(&self, value: Value, depth: u32) -> bool {
        if let Some(number) = self.float(value) {
            return !number.is_nan();
        }
        let Some((op, operands)) = self.made_by(value).filter(|_| depth > 0) else { return false };
        let is_ordered = |value: Value| self.is_ordered(value, depth - 1);
        match (op, operands) {
            (Op::Cast(Cast::FloatFromS | Cast::FloatFromU), _) => true,
            (Op::Cast(Cast::Float), &[x]) => self.dtype(value).bits() >= 16 && is_ordered(x),
            (Op::Unary(Unary::Neg | Unary::Abs | Unary::Floor | Unary::Ceil), &[x]) => {
                is_ordered(x)
            }
            (Op::Binary(Binary::Add | Binary::Sub), &[x, y]) => {
                is_ordered(x) && is_ordered(y) && (self.is_finite(x) || self.is_finite(y))
            }
            (Op::Binary(Binary::Mul), &[x, y]) => self.has_ordered_product(x, y, depth - 1),
            (Op::Binary(Binary::MaxNum | Binary::MinNum), &[x, y]) => {
                is_ordered(x) || is_ordered(y)
            }
            (Op::Select, &[_, x, y]) => is_ordered(x) && is_ordered(y),
            (Op::Fma, &[x, y, z]) => self.has_ordered_product(x, y, depth - 1) && self.is_finite(z),
            _ => false,
        }
    }

    /// Whether a product is known never to be NaN.
    fn has_ordered_product(&self, x: Value, y: Value, depth: u32) -> bool {
        let scales = |value| self.float(value).is_some_and(|by| by.is_finite() && by != 0.0);
        self.is_finite(x) && self.is_finite(y)
            || scales(y) && self.is_ordered(x, depth)
            || scales(x) && self.is_ordered(y, depth)
    }

    /// Whether a float is known to be finite; the greatest integer is in f32, not in f16.
    fn is_finite(&self, value: Value) -> bool {
        if let Some(number) = self.float(value) {
            return number.is_finite();
        }
        let casts = |op| self.operand_of(value, op).is_some();
        matches!(self.dtype(value), DType::F32 | DType::F64)
            && (casts(Cast::FloatFromS) || casts(Cast::FloatFromU))
    }

    /// The number that a constant is.
    fn float(&self, value: Value) -> Option<f64> {
        let dtype = self.dtype(value);
        let bits = self.constant_bits(value).filter(|_| dtype.is_float())?;
        Some(scalar::to_f64(dtype, bits))
    }

    /// The operation that makes a value, and what from.
    fn made_by(&self, value: Value) -> Option<(&Op, &[Value])> {
        let inst = &self.program.insts[self.definitions[value]?];
        Some((&inst.op, &inst.operands))
    }
}
