//! Comparisons of integers, by their difference.
//!
//! ```text
//! (x + z) == (y + z)        = x == y
//! (x + c) < (y + d)         = x - y < d - c            where neither side is negative or large
//! (x + y) - (x + z)         = y - z
//! widened x - widened y     = widened (x - y)          where neither is negative
//! widened x < widened y     = x < y                    and constants that fit
//! u + widened x < c         = narrowed (u within bounds) + x < c      where x and c are less than the bounds
//! ```
//!
//! A thread asks of each of its elements whether it lies below the diagonal. The rows and columns of these are
//! sums of where the tile begins, where the thread begins, and constants: what differs from thread to thread is
//! one number, which each element compares with a constant. Where the tile begins is a number of 64 bits that is
//! the same in the whole block: far from the diagonal it does not matter how far, so 32 bits do.

use super::{Builder, Value};
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare};

/// Where distances of 64 bits are cut off. Numbers of less than half of it compare with what is left as with the
/// distance itself.
const FAR: u64 = 1 << 29;

impl Builder {
    /// Whether two sums of integers with an addend in common are equal: a constant, or another value.
    pub(super) fn equality_of_sums(&mut self, op: Compare, x: Value, y: Value) -> Option<Value> {
        let dtype = self.dtype(x);
        if !matches!(op, Compare::Eq | Compare::Ne) || !matches!(dtype, DType::I32 | DType::I64) {
            return None;
        }
        let [x, y] = self.without_common(x, y)?;
        Some(self.compare(op, x, y))
    }

    /// A comparison of integers by a law.
    pub(super) fn compared_by_difference(
        &mut self,
        op: Compare,
        x: Value,
        y: Value,
    ) -> Option<Value> {
        let dtype = self.dtype(x);
        if !matches!(dtype, DType::I32 | DType::I64) {
            return None;
        }
        if let Some([x, y]) = self.narrow_sides(op, x, y) {
            return Some(self.compare(op, x, y));
        }
        let op = match op {
            Compare::Slt | Compare::Ult => Compare::Slt,
            Compare::Sle | Compare::Ule => Compare::Sle,
            Compare::Sgt | Compare::Ugt => Compare::Sgt,
            Compare::Sge | Compare::Uge => Compare::Sge,
            Compare::Eq | Compare::Ne => op,
            _ => return None,
        };
        // Such numbers, their differences, and those moved by a constant like them, are signed ones.
        let large = 1u64 << (dtype.bits() - 2);
        if [x, y].iter().any(|&side| self.uniform[side] || self.possible_bits(side) >= large) {
            return None;
        }
        let ((x, c), (y, d)) = (self.apart(x), self.apart(y));
        let apart = d.wrapping_sub(c) & dtype.mask();
        let distance = apart.min(apart.wrapping_neg() & dtype.mask());
        if distance >= large {
            return None;
        }
        if distance < FAR / 2
            && let Some(difference) = self.near_difference(x, y)
        {
            let apart = self.constant(DType::I32, apart);
            return Some(self.compare(op, difference, apart));
        }
        if c == d && self.without_common(x, y).is_none() {
            return None;
        }
        let difference = self.binary(Binary::Sub, x, y);
        let apart = self.constant(dtype, apart);
        Some(self.compare(op, difference, apart))
    }

    /// A number of 32 bits that compares with every near constant as the difference of two sums of 64 bits does:
    /// what is uniform in these may be large, the rest is known to be near.
    fn near_difference(&mut self, x: Value, y: Value) -> Option<Value> {
        if self.dtype(x) != DType::I64 {
            return None;
        }
        let zero = self.constant(DType::I64, 0);
        let parted = |build: &Self, side| {
            let [a, b] = build.operands_of(side, Binary::Add)?;
            match [a, b].map(|addend| build.uniform[addend]) {
                [true, false] => Some([a, b]),
                [false, true] => Some([b, a]),
                _ => None,
            }
        };
        let parts = [x, y].map(|side| parted(self, side));
        if parts == [None, None] {
            return None;
        }
        let [[of_x, x], [of_y, y]] =
            [(parts[0], x), (parts[1], y)].map(|(parts, side)| parts.unwrap_or([zero, side]));
        if of_x == of_y {
            return None;
        }
        let [x, y] = [self.natural_origin(x)?, self.natural_origin(y)?];
        let is_near =
            |&side: &Value| self.dtype(side) == DType::I32 && self.possible_bits(side) < FAR / 2;
        if ![x, y].iter().all(is_near) {
            return None;
        }
        let near = self.binary(Binary::Sub, x, y);
        let mut far = self.binary(Binary::Sub, of_x, of_y);
        for (op, bound) in [(Binary::MinS, FAR), (Binary::MaxS, FAR.wrapping_neg())] {
            let bound = self.constant(DType::I64, bound);
            far = self.binary(op, far, bound);
        }
        let far = self.cast(Cast::Trunc, far, DType::I32);
        Some(self.binary(Binary::Add, far, near))
    }

    /// What a number was before it was widened, if that is not negative.
    fn natural_origin(&self, value: Value) -> Option<Value> {
        let of = self.operand_of(value, Cast::ExtS)?;
        (self.possible_bits(of) >> (self.dtype(of).bits() - 1) == 0).then_some(of)
    }

    /// The sides of a comparison that were widened, as they were before.
    fn narrow_sides(&mut self, op: Compare, x: Value, y: Value) -> Option<[Value; 2]> {
        let narrow = |build: &Self, side| {
            build.operand_of(side, Cast::ExtS).filter(|&of| build.dtype(of) == DType::I32)
        };
        let x = narrow(self, x)?;
        if let Some(y) = narrow(self, y) {
            return Some([x, y]);
        }
        let is_signed = !matches!(op, Compare::Ult | Compare::Ule | Compare::Ugt | Compare::Uge);
        let bound = self.constant_bits(y).filter(|_| is_signed)?;
        let bound = i32::try_from(bound.cast_signed()).ok()?;
        Some([x, self.i32(bound)])
    }

    /// `x - y` of integers, where both are sums with a common addend, or were widened.
    pub(super) fn difference_of_sums(&mut self, x: Value, y: Value) -> Option<Value> {
        if let Some([x, y]) = self.without_common(x, y) {
            return Some(self.binary(Binary::Sub, x, y));
        }
        let (narrow_x, narrow_y) = (self.natural_origin(x)?, self.natural_origin(y)?);
        if self.dtype(narrow_x) != self.dtype(narrow_y) {
            return None;
        }
        let narrow = self.binary(Binary::Sub, narrow_x, narrow_y);
        Some(self.cast(Cast::ExtS, narrow, self.dtype(x)))
    }

    /// What is left of two sums without an addend of both.
    fn without_common(&self, x: Value, y: Value) -> Option<[Value; 2]> {
        let (of_x, of_y) = (self.operands_of(x, Binary::Add)?, self.operands_of(y, Binary::Add)?);
        let ways = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let common = ways.into_iter().find(|&(one, other)| of_x[one] == of_y[other])?;
        Some([of_x[1 - common.0], of_y[1 - common.1]])
    }
}
