//! Between which integers a value lies.
//!
//! Intervals of signed numbers, as wide as the type where nothing is known. An operation whose result
//! may wrap tells nothing.
//!
//! # The numbers of blocks
//!
//! A grid has at most 2^31 - 1 blocks along its first axis, so that `pid * BLOCK` might wrap whatever
//! the block's size. Where a program counts its elements in 32 bits, a grid in which it does wrap would
//! count some of them twice; Triton's own analysis takes it for granted that none does. Here the same is
//! a stated condition: **the blocks of a grid, times the number of elements that the program gives each
//! of them, are at most 2^31**. It is used for factors up to [`MOST_OF_BLOCK`], the most elements that a
//! tensor of Triton's has; a program id times a larger constant may be anything.
//!
//! Programs that walk over tiles in another order than that of the blocks divide the number of a block by
//! numbers of tiles, which they compute from sizes: `pid % (group * n) / min(m - first, group)`. Nothing says
//! that such a divisor is positive; if it were not, there would be no tile with that number. So the second
//! stated condition: **what the number of a block is divided by, as a scalar, is positive**. Quotients and
//! remainders are then numbers of blocks again, and so is what groups of a constant size are put together
//! from: a quotient times that size, plus the number of a block (`group * 8 + pid % rest`).

use crate::scalar::{Binary, Cast, Compare};
use crate::tile::Type;

/// The largest factor of a program id that is taken for the elements of a block: the most elements of a
/// tensor in Triton.
const MOST_OF_BLOCK: i64 = 1 << 20;

/// An interval of signed integers, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The least integer that the elements may be.
    pub low: i64,
    /// The greatest integer that the elements may be.
    pub high: i64,
    /// It counts blocks of the grid, or is a number of one.
    counts_blocks: bool,
    /// It is a quotient of the number of a block, or such a quotient times a constant.
    is_quotient: bool,
}

impl Range {
    /// The integers of an interval.
    pub fn new(low: i64, high: i64) -> Self {
        Self { low, high, counts_blocks: false, is_quotient: false }
    }

    /// All integers of a type; truth values are 0 and 1.
    pub fn of_type(ty: &Type) -> Self {
        match ty.dtype().bits() {
            1 => Self::new(0, 1),
            bits if bits < 64 => Self::new(-1 << (bits - 1), (1 << (bits - 1)) - 1),
            _ => Self::new(i64::MIN, i64::MAX),
        }
    }

    /// One integer, from its raw bits.
    pub(super) fn constant(ty: &Type, bits: u64) -> Self {
        let value = match ty.dtype().bits() {
            1 => (bits & 1) as i64,
            width => {
                let unused = 64 - width.clamp(1, 64);
                ((bits << unused) as i64) >> unused
            }
        };
        Self::new(value, value)
    }

    /// The indices of the blocks along an axis of the grid.
    pub(super) fn program_id(axis: u8) -> Self {
        Self { counts_blocks: true, ..Self::new(0, Self::num_programs(axis).high - 1) }
    }

    /// The numbers of blocks that there may be along an axis of the grid: CUDA C++ Programming Guide,
    /// "Technical Specifications per Compute Capability"; those of HIP are no larger.
    pub(super) fn num_programs(axis: u8) -> Self {
        let most = if axis == 0 { i64::from(i32::MAX) } else { 1 << 16 };
        Self { counts_blocks: true, ..Self::new(1, most) }
    }

    /// What counts up by positive steps from a number of this interval to below one of another, if all that is counted
    /// are multiples of `multiple`. From the number of a block on these are numbers of blocks, or of tiles
    /// that blocks take in turn.
    pub(super) fn counted_up_to(self, end: Self, step: Self, multiple: u64) -> Self {
        // Counting from 0 to 2048 by 8 ends with 2040.
        let last = |first: i64, step: i64| {
            let passed =
                (i128::from(end.high) - 1 - i128::from(first)).rem_euclid(i128::from(step));
            end.high - 1 - passed as i64
        };
        let mut high = end.high - 1;
        if self.low == self.high && step.low == step.high {
            high = last(self.low, step.low);
        }
        match i64::try_from(multiple) {
            Ok(multiple) if multiple > 0 => high = high.min(last(0, multiple)),
            _ => {}
        }
        // Where the interval of the first numbers holds no multiple, nothing is counted.
        Self { high: high.max(self.low), ..self }
    }

    /// The integers of the interval that the type has.
    pub(super) fn within_type(self, ty: &Type) -> Self {
        let all = Self::of_type(ty);
        if self.low < all.low || self.high > all.high { all } else { self }
    }

    /// Whether no integer is below zero.
    pub fn is_natural(self) -> bool {
        self.low >= 0
    }

    /// The integers of the interval from `low` to `high`; all if none is, as of the counter of a round that never is.
    pub(super) fn clipped(self, low: i64, high: i64) -> Self {
        if self.high < low || high < self.low {
            return self;
        }
        Self { low: self.low.max(low), high: self.high.min(high), ..self }
    }

    /// What both may be.
    pub(super) fn hull(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            counts_blocks: self.counts_blocks && other.counts_blocks,
            is_quotient: self.is_quotient && other.is_quotient,
        }
    }

    /// What a comparison of integers gives, if it gives the same for all of both intervals.
    pub(crate) fn compared(op: Compare, x: Self, y: Self) -> Option<bool> {
        let less = |x: Self, y: Self| match () {
            () if x.high < y.low => Some(true),
            () if x.low >= y.high => Some(false),
            () => None,
        };
        let not = |truth: Option<bool>| truth.map(|truth| !truth);
        let naturals = x.is_natural() && y.is_natural();
        match op {
            Compare::Eq | Compare::Ne => {
                let equal = match () {
                    () if x.high < y.low || y.high < x.low => Some(false),
                    () if x.low == x.high && x.low == y.low && x.high == y.high => Some(true),
                    () => None,
                };
                if op == Compare::Eq { equal } else { not(equal) }
            }
            Compare::Slt => less(x, y),
            Compare::Sge => not(less(x, y)),
            Compare::Sgt => less(y, x),
            Compare::Sle => not(less(y, x)),
            Compare::Ult if naturals => less(x, y),
            Compare::Uge if naturals => not(less(x, y)),
            Compare::Ugt if naturals => less(y, x),
            Compare::Ule if naturals => not(less(y, x)),
            _ => None,
        }
    }

    /// The interval, unless some integer of it does not fit the type.
    fn within(ty: &Type, low: i128, high: i128) -> Self {
        let all = Self::of_type(ty);
        match (i64::try_from(low), i64::try_from(high)) {
            (Ok(low), Ok(high)) if all.low <= low && high <= all.high => Self::new(low, high),
            _ => all,
        }
    }

    /// The interval of these results.
    fn of_all(ty: &Type, results: &[i128]) -> Self {
        let low = results.iter().min().copied().unwrap_or(i128::MIN);
        let high = results.iter().max().copied().unwrap_or(i128::MAX);
        Self::within(ty, low, high)
    }

    /// Whether this is the number of a block, as a scalar, and a divisor of it is one that may be positive, and
    /// is then by the second condition.
    fn is_divided_block(self, divisor: Self, ty: &Type) -> bool {
        self.counts_blocks && self.is_natural() && divisor.high > 0 && ty.shape.is_empty()
    }

    /// Whether this is where a group of blocks begins, and another one the number of a block in it.
    fn groups(self, within: Self) -> bool {
        self.is_quotient && !self.counts_blocks && self.is_natural() && within.counts_blocks
    }

    /// What an operation of two integers gives.
    pub(super) fn binary(op: Binary, x: Self, y: Self, ty: &Type) -> Self {
        let all = Self::of_type(ty);
        if ty.dtype().bits() == 1 {
            return all;
        }
        let wide = |x: i64| i128::from(x);
        let ends = |apply: fn(i128, i128) -> i128| {
            [(x.low, y.low), (x.low, y.high), (x.high, y.low), (x.high, y.high)]
                .map(|(x, y)| apply(wide(x), wide(y)))
        };
        let naturals = x.is_natural() && y.is_natural();
        match op {
            Binary::Add | Binary::Mul if x.counts_blocks && y.counts_blocks => {
                // One number for the blocks along several axes.
                let most = i64::from(i32::MAX).min(all.high);
                Self { counts_blocks: true, ..Self::new(0, most) }
            }
            Binary::Mul if x.counts_blocks || y.counts_blocks => {
                let (blocks, size) = if x.counts_blocks { (x, y) } else { (y, x) };
                let size = match size {
                    Self { low, high, .. } if low == high && low > 0 => low,
                    _ => return Self::of_all(ty, &ends(|x, y| x * y)),
                };
                let plain =
                    Self::within(ty, wide(blocks.low) * wide(size), wide(blocks.high) * wide(size));
                let is_quotient = blocks.is_quotient;
                if plain != all || size > MOST_OF_BLOCK {
                    return Self { is_quotient, ..plain };
                }
                // The last block begins a block before the end.
                let end = (all.high - size + 1) / size * size;
                Self { is_quotient, ..Self::new(blocks.low * size, end) }
            }
            Binary::Add if ty.shape.is_empty() && (x.groups(y) || y.groups(x)) => {
                let most = i64::from(i32::MAX).min(all.high);
                Self { counts_blocks: true, ..Self::new(0, most) }
            }
            Binary::DivS if x.is_divided_block(y, ty) => {
                let quotient = Self::new(0, x.high / y.low.max(1));
                Self { counts_blocks: true, is_quotient: true, ..quotient }
            }
            Binary::RemS if x.is_divided_block(y, ty) => {
                Self { counts_blocks: true, ..Self::new(0, x.high.min(y.high - 1)) }
            }
            Binary::Add => Self::of_all(ty, &ends(|x, y| x + y)),
            Binary::Sub => Self::of_all(ty, &ends(|x, y| x - y)),
            Binary::Mul => Self::of_all(ty, &ends(|x, y| x * y)),
            Binary::Shl if y.is_natural() && y.high < 63 => Self::of_all(ty, &ends(|x, y| x << y)),
            Binary::ShrS if y.is_natural() && y.high < 64 => Self::of_all(ty, &ends(|x, y| x >> y)),
            Binary::ShrU if naturals && y.high < 64 => Self::of_all(ty, &ends(|x, y| x >> y)),
            Binary::DivS if y.low > 0 => Self::of_all(ty, &ends(|x, y| x / y)),
            Binary::DivU if naturals && y.low > 0 => Self::of_all(ty, &ends(|x, y| x / y)),
            // A remainder has the dividend's sign, and is less than the divisor and no greater than the
            // dividend.
            Binary::RemS if y.low > 0 => {
                Self::new(x.low.min(0).max(1 - y.high), x.high.max(0).min(y.high - 1))
            }
            // By any divisor, zero among them, the quotient is no larger than the dividend, or -1, and the remainder is
            // no larger and has its sign.
            Binary::DivS => {
                let most = wide(x.low).abs().max(wide(x.high).abs()).max(1);
                Self::within(ty, -most, most)
            }
            Binary::RemS => Self::new(x.low.min(0), x.high.max(0)),
            Binary::RemU if naturals && y.low > 0 => Self::new(0, x.high.min(y.high - 1)),
            Binary::RemU if y.low > 0 => Self::new(0, y.high - 1),
            Binary::MinS => Self::new(x.low.min(y.low), x.high.min(y.high)),
            Binary::MaxS => Self::new(x.low.max(y.low), x.high.max(y.high)),
            Binary::MinU if naturals => Self::new(x.low.min(y.low), x.high.min(y.high)),
            Binary::MaxU if naturals => Self::new(x.low.max(y.low), x.high.max(y.high)),
            Binary::And if naturals => Self::new(0, x.high.min(y.high)),
            Binary::And if y.is_natural() => Self::new(0, y.high),
            Binary::And if x.is_natural() => Self::new(0, x.high),
            // No bit is set above the highest of both.
            Binary::Or | Binary::Xor if naturals => {
                let ones = u64::MAX >> (x.high | y.high).leading_zeros().min(63);
                Self::new(0, if x.high | y.high == 0 { 0 } else { ones as i64 })
            }
            _ => all,
        }
    }

    /// What a conversion between integers gives.
    pub(super) fn cast(self, cast: Cast, from: &Type, to: &Type) -> Self {
        let fits = || Self { ..Self::within(to, self.low.into(), self.high.into()) };
        let kept = |range: Self| Self {
            counts_blocks: self.counts_blocks && range != Self::of_type(to),
            ..range
        };
        match cast {
            Cast::ExtS if from.dtype().bits() == 1 => Self::new(-self.high, -self.low),
            Cast::ExtS | Cast::Trunc => kept(fits()),
            Cast::ExtU if self.is_natural() => kept(fits()),
            Cast::ExtU => match from.dtype().bits() {
                bits if bits < 63 => Self::within(to, 0, (1 << bits) - 1),
                _ => Self::of_type(to),
            },
            _ => Self::of_type(to),
        }
    }
}
