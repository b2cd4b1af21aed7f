//! Sums with constants, which stand outside of everything that lets them through.
//!
//! ```text
//! (x + c) + y  = (x + y) + c          load at (a + c)        = load at a, c bytes on
//! (x + c) - y  = (x - y) + c          widened (x + c)        = widened x + c    where x + c is not negative
//! (x + c) * k  = x * k + c * k        x + c < k              = x < k - c        likewise
//! ```
//!
//! The elements of a thread lie at constant distances from each other. So their addresses become one
//! address and constants, which the instructions add for nothing.

use super::{Builder, Op, Space, Value};
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare};
use smallvec::SmallVec;

/// The distances that instructions of all machines add to an address: 24 signed bits on NVIDIA's
/// (SASS), 13 on AMD's, whose compiler splits larger ones.
const FARTHEST: i64 = 1 << 23;

impl Builder {
    /// A value without the constant that is added to it, and that constant.
    pub(super) fn apart(&self, value: Value) -> (Value, u64) {
        let parts = self.operands_of(value, Binary::Add);
        parts.and_then(|[x, c]| Some((x, self.constant_bits(c)?))).unwrap_or((value, 0))
    }

    /// `x op y` of integers by the laws above, where a constant stands in `x` or `y`, but is neither.
    pub(super) fn constant_outside(&mut self, op: Binary, x: Value, y: Value) -> Option<Value> {
        let dtype = self.dtype(x);
        if !matches!(dtype, DType::I32 | DType::I64) {
            return None;
        }
        let (inner_x, more) = self.apart(x);
        let constant = self.constant_bits(y);
        let (inner, sum) = match (op, constant) {
            (Binary::Add, Some(constant)) if more != 0 => {
                return Some(self.plus(inner_x, more.wrapping_add(constant)));
            }
            (Binary::Sub, Some(constant)) => {
                return Some(self.plus(inner_x, more.wrapping_sub(constant)));
            }
            (Binary::Mul, Some(factor)) if more != 0 => {
                (self.binary(op, inner_x, y), more.wrapping_mul(factor))
            }
            (Binary::Shl, Some(count)) if more != 0 && count < u64::from(dtype.bits()) => {
                (self.binary(op, inner_x, y), more << count)
            }
            (Binary::Add | Binary::Sub, None) => {
                let (inner_y, other) = self.apart(y);
                if more == 0 && other == 0 {
                    return None;
                }
                let sum = match op {
                    Binary::Add => more.wrapping_add(other),
                    _ => more.wrapping_sub(other),
                };
                (self.binary(op, inner_x, inner_y), sum)
            }
            _ => return None,
        };
        Some(self.plus(inner, sum))
    }

    pub(super) fn plus(&mut self, x: Value, constant: u64) -> Value {
        let constant = self.constant(self.dtype(x), constant);
        self.binary(Binary::Add, x, constant)
    }

    /// An i32 that is not negative, as an i64.
    pub fn natural_widened(&mut self, x: Value) -> Value {
        let (inner, constant) = self.apart(x);
        let constant = constant as u32 as i32;
        if constant <= 0 || self.dtype(x) != DType::I32 {
            return self.cast(Cast::ExtS, x, DType::I64);
        }
        // What is left of a number that is not negative without a positive one fits 32 bits.
        let wide = self.cast(Cast::ExtS, inner, DType::I64);
        self.plus(wide, constant as u64)
    }

    /// A signed comparison of an i32 that is not negative.
    pub fn natural_comparison(&mut self, op: Compare, x: Value, y: Value) -> Value {
        let (inner, less) = self.apart(x);
        let less = less as u32 as i32;
        let is_order = matches!(op, Compare::Slt | Compare::Sle | Compare::Sgt | Compare::Sge);
        let bound = self.constant_bits(y).map(|bound| bound as u32 as i32);
        let bound = bound.filter(|_| is_order && less > 0 && self.dtype(x) == DType::I32);
        match bound.and_then(|bound| bound.checked_sub(less)) {
            Some(bound) => {
                let bound = self.i32(bound);
                self.compare(op, inner, bound)
            }
            None => self.compare(op, x, y),
        }
    }

    /// A load or store whose predicate is known needs none: where it holds, that is left out; where it does
    /// not, the operands become what a load gives then, and nothing is to be done.
    pub(super) fn settle_predicate(
        &self,
        op: &mut Op,
        operands: &mut SmallVec<[Value; 4]>,
    ) -> Option<bool> {
        let (access, loads) = match op {
            Op::Load { access, .. } => (access, true),
            Op::Store { access, .. } => (access, false),
            _ => return None,
        };
        let predicate = operands.get(1).filter(|_| access.predicated);
        let holds = self.constant_bits(*predicate?)? != 0;
        if holds {
            access.predicated = false;
            operands.truncate(if loads { 1 } else { operands.len() });
            if !loads {
                operands.remove(1);
            }
        } else if loads {
            operands.drain(..2);
        } else {
            operands.clear();
        }
        Some(holds)
    }

    /// An access to global memory whose address has a constant in it adds that itself.
    pub(super) fn settle_offset(&self, op: &mut Op, operands: &mut SmallVec<[Value; 4]>) {
        let (Op::Load { space: Space::Global, access }
        | Op::Store { space: Space::Global, access }) = op
        else {
            return;
        };
        let Some(address) = operands.first_mut() else { return };
        let (inner, constant) = self.apart(*address);
        let distance = i64::from(access.offset).checked_add(constant as i64);
        if let Some(distance) = distance.filter(|d| (-FARTHEST..FARTHEST).contains(d)) {
            *address = inner;
            access.offset = distance as i32;
        }
    }
}
