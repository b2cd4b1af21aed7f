//! Integers of any width, wrapping.

use super::{Binary, BinaryFn, Compare, Unary, UnaryFn};

pub(super) fn int_unary<const BITS: u32>(op: Unary) -> Option<UnaryFn> {
    fn apply<const BITS: u32>(op: Unary, x: u64) -> u64 {
        let mask = u64::MAX >> (64 - BITS);
        mask & match op {
            Unary::Neg => x.wrapping_neg(),
            Unary::Abs => signed::<BITS>(x).unsigned_abs(),
            _ => !x,
        }
    }
    per_operation!(op, Unary, |x| apply::<BITS>, [Neg, Abs, Not])
}

fn signed<const BITS: u32>(x: u64) -> i64 {
    ((x << (64 - BITS)) as i64) >> (64 - BITS)
}

pub(super) fn int_binary<const BITS: u32>(op: Binary) -> Option<BinaryFn> {
    fn apply<const BITS: u32>(op: Binary, x: u64, y: u64) -> u64 {
        let mask = u64::MAX >> (64 - BITS);
        let (sx, sy) = (signed::<BITS>(x), signed::<BITS>(y));
        let count = y.min(u64::from(BITS)) as u32;
        mask & match op {
            Binary::Add => x.wrapping_add(y),
            Binary::Sub => x.wrapping_sub(y),
            Binary::Mul => x.wrapping_mul(y),
            // Division by zero is undefined in the source language; the GPU gives all ones for the
            // quotient and the dividend for the remainder, and so do we.
            Binary::DivS => {
                if sy == 0 {
                    u64::MAX
                } else {
                    sx.wrapping_div(sy) as u64
                }
            }
            Binary::DivU => x.checked_div(y).unwrap_or(u64::MAX),
            Binary::RemS => {
                if sy == 0 {
                    x
                } else {
                    sx.wrapping_rem(sy) as u64
                }
            }
            Binary::RemU => x.checked_rem(y).unwrap_or(x),
            Binary::And => x & y,
            Binary::Or => x | y,
            Binary::Xor => x ^ y,
            Binary::Shl => x.checked_shl(count).unwrap_or(0),
            Binary::ShrS => (sx >> count.min(63)) as u64,
            Binary::ShrU => x.checked_shr(count).unwrap_or(0),
            Binary::MinS => sx.min(sy) as u64,
            Binary::MaxS => sx.max(sy) as u64,
            Binary::MinU => x.min(y),
            Binary::MaxU => x.max(y),
            Binary::MulHiS => ((i128::from(sx) * i128::from(sy)) >> BITS) as u64,
            _ => ((u128::from(x) * u128::from(y)) >> BITS) as u64,
        }
    }
    per_operation!(
        op,
        Binary,
        |x, y| apply::<BITS>,
        [
            Add, Sub, Mul, DivS, DivU, RemS, RemU, And, Or, Xor, Shl, ShrS, ShrU, MinS, MaxS, MinU,
            MaxU, MulHiU, MulHiS
        ]
    )
}

pub(super) fn int_compare<const BITS: u32>(op: Compare) -> Option<BinaryFn> {
    fn apply<const BITS: u32>(op: Compare, x: u64, y: u64) -> u64 {
        let (sx, sy) = (signed::<BITS>(x), signed::<BITS>(y));
        u64::from(match op {
            Compare::Eq => x == y,
            Compare::Ne => x != y,
            Compare::Slt => sx < sy,
            Compare::Sle => sx <= sy,
            Compare::Sgt => sx > sy,
            Compare::Sge => sx >= sy,
            Compare::Ult => x < y,
            Compare::Ule => x <= y,
            Compare::Ugt => x > y,
            _ => x >= y,
        })
    }
    per_operation!(
        op,
        Compare,
        |x, y| apply::<BITS>,
        [Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge]
    )
}
