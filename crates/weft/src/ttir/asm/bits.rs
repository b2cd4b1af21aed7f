//! What PTX has an instruction for and the tile program has none: counts, fields, permutes of bits.

use super::write::Writer;
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare, Unary};
use crate::tile::{Value, WriteOps};

impl Writer<'_, '_, '_, '_> {
    /// A shift whose count is not cut to the width: beyond it nothing is left, or the sign.
    pub(super) fn shifted(&mut self, op: Binary, x: Value, count: Value) -> Value {
        let ty = self.rewriter.ty(x);
        let bits = u64::from(ty.dtype().bits());
        let most = if op == Binary::ShrS { bits - 1 } else { bits };
        let most_count = self.constant(DType::I32, most);
        let count = self.binary(Binary::MinU, count, most_count);
        let own = self.bits(count, ty.dtype());
        if op == Binary::ShrS {
            return self.binary(op, x, own);
        }
        // The tile program says nothing of a shift by the whole width.
        let inside = self.rewriter.compare(Compare::Ult, count, most_count);
        let (kept, zero) = (self.with(Binary::And, own, bits - 1), self.constant(ty.dtype(), 0));
        let moved = self.binary(op, x, kept);
        self.rewriter.select(inside, moved, zero)
    }

    /// The bits of two words side by side, moved.
    pub(super) fn funnel(&mut self, low: Value, high: Value, count: Value, left: bool) -> Value {
        let both = self.joined(low, high, 32);
        let count = self.with(Binary::And, count, 31);
        let count = self.bits(count, DType::I64);
        let moved = if left {
            let moved = self.binary(Binary::Shl, both, count);
            self.with(Binary::ShrU, moved, 32)
        } else {
            self.binary(Binary::ShrU, both, count)
        };
        self.cast(Cast::Trunc, moved, DType::I32)
    }

    /// The lowest `count` bits from bit `from` on.
    pub(super) fn field(&mut self, x: Value, from: Value, count: Value) -> Value {
        let [from, count] = [from, count].map(|value| self.with(Binary::And, value, 0xff));
        let moved = self.shifted(Binary::ShrU, x, from);
        let mask = self.mask(x, count);
        self.binary(Binary::And, moved, mask)
    }

    /// `y` with its bits from `from` on replaced by the lowest `count` bits of `x`.
    pub(super) fn insert(&mut self, x: Value, y: Value, from: Value, count: Value) -> Value {
        let [from, count] = [from, count].map(|value| self.with(Binary::And, value, 0xff));
        let mask = self.mask(x, count);
        let own = self.binary(Binary::And, x, mask);
        let [own, mask] = [own, mask].map(|value| self.shifted(Binary::Shl, value, from));
        let others = self.unary(Unary::Not, mask);
        let kept = self.binary(Binary::And, y, others);
        self.binary(Binary::Or, own, kept)
    }

    /// As many ones as `count` says, in the type of `like`.
    pub(super) fn mask(&mut self, like: Value, count: Value) -> Value {
        let dtype = self.rewriter.ty(like).dtype();
        let ones = self.constant(dtype, dtype.mask());
        let above = self.shifted(Binary::Shl, ones, count);
        self.unary(Unary::Not, above)
    }

    /// How many bits are set.
    pub(super) fn ones(&mut self, x: Value, dtype: DType) -> Value {
        let mask = |byte: u64| byte.wrapping_mul(0x0101_0101_0101_0101) & dtype.mask();
        let high = self.with(Binary::ShrU, x, 1);
        let high = self.with(Binary::And, high, mask(0x55));
        let pairs = self.binary(Binary::Sub, x, high);
        let high = self.with(Binary::ShrU, pairs, 2);
        let [low, high] = [pairs, high].map(|part| self.with(Binary::And, part, mask(0x33)));
        let fours = self.binary(Binary::Add, low, high);
        let high = self.with(Binary::ShrU, fours, 4);
        let sum = self.binary(Binary::Add, fours, high);
        let bytes = self.with(Binary::And, sum, mask(0x0f));
        let all = self.with(Binary::Mul, bytes, mask(0x01));
        self.with(Binary::ShrU, all, u64::from(dtype.bits()) - 8)
    }

    /// Every bit below the highest set one set too.
    pub(super) fn smeared(&mut self, x: Value, dtype: DType) -> Value {
        let distances = (0..dtype.bits().ilog2()).map(|bit| 1_u64 << bit);
        distances.fold(x, |x, distance| {
            let moved = self.with(Binary::ShrU, x, distance);
            self.binary(Binary::Or, x, moved)
        })
    }

    /// The bits in the other order: neighbours change places, then pairs of them, and so on.
    pub(super) fn reversed(&mut self, x: Value, dtype: DType) -> Value {
        (0..dtype.bits().ilog2()).fold(x, |x, level| {
            let distance = 1_u64 << level;
            // Blocks of as many ones as zeros, the ones lowest.
            let low =
                (0..64).filter(|bit| bit >> level & 1 == 0).fold(0, |all, bit| all | 1 << bit);
            let low: u64 = low & dtype.mask();
            let up = self.with(Binary::And, x, low);
            let up = self.with(Binary::Shl, up, distance);
            let down = self.with(Binary::ShrU, x, distance);
            let down = self.with(Binary::And, down, low);
            self.binary(Binary::Or, up, down)
        })
    }

    /// Each byte of the result is one of two words', or eight copies of its sign.
    pub(super) fn permuted(&mut self, x: Value, y: Value, selector: Value) -> Value {
        let both = self.joined(x, y, 32);
        let mut result = self.constant(DType::I32, 0);
        for byte in 0..4 {
            let nibble = self.with(Binary::ShrU, selector, 4 * byte);
            let index = self.with(Binary::And, nibble, 7);
            let distance = self.with(Binary::Shl, index, 3);
            let distance = self.bits(distance, DType::I64);
            let moved = self.binary(Binary::ShrU, both, distance);
            let plain = self.cast(Cast::Trunc, moved, DType::I8);
            let sign = self.with(Binary::ShrS, plain, 7);
            let copies = self.with(Binary::And, nibble, 8);
            let zero = self.constant(DType::I32, 0);
            let repeats = self.rewriter.compare(Compare::Ne, copies, zero);
            let own = self.rewriter.select(repeats, sign, plain);
            let own = self.bits(own, DType::I32);
            let own = self.with(Binary::Shl, own, 8 * byte);
            result = self.binary(Binary::Or, result, own);
        }
        result
    }

    /// The function of three bits that a table of eight gives, bit by bit.
    pub(super) fn table(&mut self, x: Value, y: Value, z: Value, table: Value) -> Value {
        let mut result = self.constant(DType::I32, 0);
        for row in 0..8_u64 {
            let mut holds = self.constant(DType::I32, DType::I32.mask());
            for (bit, value) in [(2, x), (1, y), (0, z)] {
                let own = if row >> bit & 1 == 1 { value } else { self.unary(Unary::Not, value) };
                holds = self.binary(Binary::And, holds, own);
            }
            // All ones where the table has a one.
            let entry = self.with(Binary::ShrU, table, row);
            let entry = self.with(Binary::And, entry, 1);
            let entry = self.unary(Unary::Neg, entry);
            let own = self.binary(Binary::And, holds, entry);
            result = self.binary(Binary::Or, result, own);
        }
        result
    }
}
