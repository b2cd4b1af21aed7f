//! Laws of numbers: of differences, of signs, and of numbers that were widened.
//!
//! ```text
//! (k - x) - c = (k - c) - x
//! (x * k) * c = x * (k c)                    shifts to the left being products by powers of two
//! -1 - x = ~x
//! choose(x < 0, ~x, x) = x ^ (x >> 31)     the sign in every bit
//! widened x < widened y = x < y            halves, and constants that are halves
//! narrowed (widened x + widened y) = x + y   halves and bf16; products of halves too
//! ```
//!
//! The last one: a sum or product of numbers of `p` bits that is rounded to at least `2 p + 2` bits and then to
//! `p` is rounded as if at once (S. A. Figueroa, *When is double rounding innocuous?*, 1995), and f32 has
//! 24 where f16 has 11 and bf16 8. Where f32 has no subnormal numbers to round to, which a product of two
//! bf16 may reach.

use super::{Builder, Op, Value};
use crate::dtype::DType;
use crate::scalar::{self, Binary, Cast, Compare};

impl Builder {
    /// `x - y` of integers by a law.
    pub(super) fn difference(&mut self, x: Value, y: Value) -> Option<Value> {
        let dtype = self.dtype(x);
        if self.constant_bits(x) == Some(dtype.mask()) {
            return Some(self.binary(Binary::Xor, y, x));
        }
        if let Some(difference) = self.difference_of_sums(x, y) {
            return Some(difference);
        }
        let less = self.constant_bits(y)?;
        let [whole, part] = self.operands_of(x, Binary::Sub)?;
        let whole = self.constant_bits(whole)?;
        let whole = self.constant(dtype, whole.wrapping_sub(less));
        Some(self.binary(Binary::Sub, whole, part))
    }

    /// A product by a constant of a product by another one.
    pub(super) fn multiplied_at_once(&mut self, op: Binary, x: Value, y: Value) -> Option<Value> {
        let dtype = self.dtype(x);
        if !matches!(dtype, DType::I32 | DType::I64) {
            return None;
        }
        let factor = self.constant_factor(op, y)?;
        let (inner, known) = [Binary::Mul, Binary::Shl].into_iter().find_map(|inner| {
            let [x, y] = self.operands_of(x, inner)?;
            Some((x, self.constant_factor(inner, y)?))
        })?;
        let factor = self.constant(dtype, known.wrapping_mul(factor));
        Some(self.binary(Binary::Mul, inner, factor))
    }

    /// What a product by a constant, or a shift to the left by one, multiplies by.
    fn constant_factor(&self, op: Binary, y: Value) -> Option<u64> {
        let (bits, width) = (self.constant_bits(y)?, u64::from(self.dtype(y).bits()));
        match op {
            Binary::Mul => Some(bits),
            Binary::Shl if bits < width => Some(1 << bits),
            _ => None,
        }
    }

    /// A choice between an integer and its inverse by its sign. Of narrower ones the sign would have to
    /// be repeated first.
    pub(super) fn inverted_below_zero(
        &mut self,
        condition: Value,
        if_true: Value,
        if_false: Value,
    ) -> Option<Value> {
        let dtype = self.dtype(if_true);
        if !matches!(dtype, DType::I32 | DType::I64) {
            return None;
        }
        let inst = &self.program.insts[self.definitions[condition]?];
        let &[x, zero] = &inst.operands[..] else { return None };
        let (below, above) = match inst.op {
            Op::Compare(Compare::Slt) => (if_true, if_false),
            Op::Compare(Compare::Sge) => (if_false, if_true),
            _ => return None,
        };
        let [inverted, ones] = self.operands_of(below, Binary::Xor)?;
        let holds = self.constant_bits(zero) == Some(0)
            && self.constant_bits(ones) == Some(dtype.mask())
            && (above, inverted) == (x, x);
        holds.then(|| {
            let count = self.constant(dtype, u64::from(dtype.bits() - 1));
            let sign = self.binary(Binary::ShrS, x, count);
            self.binary(Binary::Xor, x, sign)
        })
    }

    /// A comparison of floats that were halves, or of one with a constant that is a half as well.
    pub(super) fn comparison_of_halves(
        &mut self,
        op: Compare,
        x: Value,
        y: Value,
    ) -> Option<Value> {
        if !matches!(self.dtype(x), DType::F32 | DType::F64) {
            return None;
        }
        let half = |build: &Self, value| {
            build.operand_of(value, Cast::Float).filter(|&of| build.dtype(of) == DType::F16)
        };
        let (a, b) = match (half(self, x), half(self, y)) {
            (Some(a), Some(b)) => (a, b),
            (Some(a), None) => (a, self.constant_half(y)?),
            (None, Some(b)) => (self.constant_half(x)?, b),
            (None, None) => return None,
        };
        Some(self.compare(op, a, b))
    }

    /// A constant as a half, if nothing is lost.
    fn constant_half(&mut self, value: Value) -> Option<Value> {
        self.constant_as(value, DType::F16)
    }

    /// A constant as a narrower float, if nothing is lost.
    fn constant_as(&mut self, value: Value, to: DType) -> Option<Value> {
        let (dtype, bits) = (self.dtype(value), self.constant_bits(value)?);
        let narrow = scalar::cast(Cast::Float, dtype, to, bits);
        let again = scalar::cast(Cast::Float, to, dtype, narrow);
        (again == bits).then(|| self.constant(to, narrow))
    }

    /// A sum or product of f32 that came from narrower numbers and is narrowed again, computed in these.
    pub(super) fn narrowed(&mut self, x: Value, to: DType) -> Option<Value> {
        if self.dtype(x) != DType::F32 {
            return None;
        }
        let inst = &self.program.insts[self.definitions[x]?];
        let Op::Binary(op) = inst.op else { return None };
        let is_innocuous = match to {
            DType::F16 => matches!(op, Binary::Add | Binary::Sub | Binary::Mul),
            DType::BF16 => matches!(op, Binary::Add | Binary::Sub),
            _ => false,
        };
        let &[left, right] = &inst.operands[..] else { return None };
        let source = |build: &Self, value| {
            build.operand_of(value, Cast::Float).filter(|&of| build.dtype(of) == to)
        };
        let sources = (source(self, left), source(self, right));
        if !is_innocuous {
            return None;
        }
        let (left, right) = match sources {
            (Some(left), Some(right)) => (left, right),
            (Some(left), None) => (left, self.constant_as(right, to)?),
            (None, Some(right)) => (self.constant_as(left, to)?, right),
            (None, None) => return None,
        };
        Some(self.binary(op, left, right))
    }
}
