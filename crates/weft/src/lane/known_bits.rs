//! Which bits of integers may be set, and the comparisons that this decides.
//!
//! Two sources say so: the operations that a value comes from, a few steps back, and what the lowering knows
//! besides ([`Builder::know_at_most`]), the ranges of program ids and indices that the analysis of the tile
//! program has proved or assumes.

use super::{Builder, IdKind, Inst, Op, Value};
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare};

/// How far back definitions are followed.
const DEPTH: u32 = 6;

/// The bits that numbers up to `most` may have set.
fn up_to(most: u64) -> u64 {
    u64::MAX.checked_shr(most.leading_zeros()).unwrap_or(0)
}

/// The bits of numbers that end in as many zeros as those do that have only such bits.
fn as_aligned_as(bits: u64) -> u64 {
    u64::MAX.checked_shl(bits.trailing_zeros()).unwrap_or(0)
}

impl Builder {
    /// Lets it be known that an integer, taken as unsigned, is at most `most` wherever it is computed.
    pub fn know_at_most(&mut self, value: Value, most: u64) {
        let known = self.most.entry(value);
        *known = most.min(*known);
    }

    /// The least and the greatest that an integer may be, as a signed number, where it is not negative, or is
    /// once a constant is taken from it, or is the difference of two such numbers.
    fn bounds(&self, value: Value) -> Option<(i128, i128)> {
        let bits = self.dtype(value).bits();
        let half = 1_i128 << (bits - 1);
        let natural = |value: Value| {
            let most = i128::from(self.possible_bits(value));
            (most < half).then_some((0, most))
        };
        let difference = |value: Value| {
            let [whole, part] = self.operands_of(value, Binary::Sub)?;
            Some((-natural(part)?.1, natural(whole)?.1))
        };
        let (inner, constant) = self.apart(value);
        let constant = i128::from(constant);
        let constant = constant - if constant >= half { 2 * half } else { 0 };
        let within = natural(inner).or_else(|| difference(inner));
        let moved = within.map(|(least, most)| (least + constant, most + constant));
        match (natural(value), moved.filter(|(least, most)| -half <= *least && *most < half)) {
            (Some(own), Some(moved)) => Some((own.0.max(moved.0), own.1.min(moved.1))),
            (own, moved) => own.or(moved),
        }
    }

    /// A comparison with a constant of an integer all of whose values lie on one side of it.
    pub(super) fn decided(&mut self, op: Compare, x: Value, y: Value) -> Option<Value> {
        let dtype = self.dtype(x);
        let signed = matches!(op, Compare::Slt | Compare::Sle | Compare::Sgt | Compare::Sge);
        let bits = self.constant_bits(y).filter(|_| dtype.is_int() && dtype != DType::I1)?;
        let (least, most) = self.bounds(x)?;
        let negative = signed && bits >> (dtype.bits() - 1) & 1 == 1;
        let bound = i128::from(bits) - if negative { 1 << dtype.bits() } else { 0 };
        // As an unsigned number what is below zero is a large one.
        if !signed && least < 0 {
            return None;
        }
        let holds = match op {
            Compare::Slt | Compare::Ult => [most < bound, least < bound],
            Compare::Sle | Compare::Ule => [most <= bound, least <= bound],
            Compare::Sgt | Compare::Ugt => [least > bound, most > bound],
            Compare::Sge | Compare::Uge => [least >= bound, most >= bound],
            Compare::Eq => [false, least <= bound && bound <= most],
            Compare::Ne => [bound < least || most < bound, true],
            _ => return None,
        };
        // Whether it holds of all, and whether of any.
        match holds {
            [true, _] => Some(self.constant(DType::I1, 1)),
            [_, false] => Some(self.constant(DType::I1, 0)),
            _ => None,
        }
    }

    /// The least or greatest of an integer and a constant, where the same one is it always.
    pub(super) fn bound_reached(&mut self, op: Binary, x: Value, y: Value) -> Option<Value> {
        let holds = match op {
            Binary::MaxS => Compare::Sge,
            Binary::MaxU => Compare::Uge,
            Binary::MinS => Compare::Sle,
            Binary::MinU => Compare::Ule,
            _ => return None,
        };
        let truth = self.decided(holds, x, y)?;
        Some(if self.constant_bits(truth) == Some(1) { x } else { y })
    }

    /// An integer as a float by another way, where what it may be allows it: one that 32 bits hold as one of 32 bits, and
    /// one that an f32 holds exactly as an f32 on the way to a bf16, which is then rounded once as well.
    pub(super) fn counted_narrowly(&mut self, op: Cast, x: Value, to: DType) -> Option<Value> {
        let from = self.dtype(x);
        let (least, most) =
            self.bounds(x).filter(|&(least, _)| op == Cast::FloatFromS || least >= 0)?;
        if from == DType::I64 && to.bits() >= 16 && -(1 << 31) <= least && most < 1 << 31 {
            let word = self.cast(Cast::Trunc, x, DType::I32);
            return Some(self.cast(Cast::FloatFromS, word, to));
        }
        let is_exact = from == DType::I32 && -(1 << 24) <= least && most <= 1 << 24;
        (is_exact && to == DType::BF16).then(|| {
            let single = self.cast(Cast::FloatFromS, x, DType::F32);
            self.cast(Cast::Float, single, to)
        })
    }

    /// The bits that an integer may have set, as far as the operations that made it tell.
    pub fn possible_bits(&self, value: Value) -> u64 {
        self.possible(value, DEPTH)
    }

    fn possible(&self, value: Value, depth: u32) -> u64 {
        let known = self.dtype(value).mask() & up_to(self.most[value]);
        match (self.definitions[value], depth.checked_sub(1)) {
            (Some(inst), Some(depth)) => known & self.told_by(inst, depth),
            _ => known,
        }
    }

    /// The bits that the result of an operation may have set.
    fn told_by(&self, inst: Inst, depth: u32) -> u64 {
        let inst = &self.program.insts[inst];
        let dtype = self.dtype(inst.results[0]);
        let mask = dtype.mask();
        let fits = |most: u64| (most <= mask).then_some(most);
        let of = |operand: usize| self.possible(inst.operands[operand], depth);
        let count = || {
            let count = self.constant_bits(inst.operands[1])?;
            (count < 64).then_some(count)
        };
        let possible = match inst.op {
            Op::Const(bits) => Some(bits),
            Op::Id(IdKind::Lane) => Some((1 << self.program.lanes_log2) - 1),
            Op::Id(IdKind::Warp) => Some(u64::from(self.program.warps.next_power_of_two()) - 1),
            Op::Id(IdKind::Thread) => {
                let warps = u64::from(self.program.warps.next_power_of_two());
                Some((warps << self.program.lanes_log2) - 1)
            }
            Op::Linear { ref columns } => {
                let given = of(0);
                let images = columns.iter().enumerate();
                let images = images.filter(|(bit, _)| given >> bit & 1 == 1);
                Some(images.fold(0, |all, (_, &column)| all | u64::from(column)))
            }
            Op::Cast(Cast::ExtU | Cast::Trunc) => Some(of(0) & mask),
            Op::Cast(Cast::ExtS) => {
                let bits = of(0);
                (bits >> (self.dtype(inst.operands[0]).bits() - 1) == 0).then_some(bits)
            }
            Op::Select => Some(of(1) | of(2)),
            Op::Binary(Binary::And) => Some(of(0) & of(1)),
            Op::Binary(Binary::Or | Binary::Xor) => Some(of(0) | of(1)),
            Op::Binary(Binary::Add) if dtype.is_int() => {
                let (x, y) = (of(0), of(1));
                // Where no bit may be set in both, none is carried.
                let apart = (x & y == 0).then_some(x | y);
                let sum = || x.checked_add(y).and_then(fits);
                apart.or_else(|| Some(up_to(sum()?) & as_aligned_as(x | y)))
            }
            Op::Binary(Binary::Mul) if dtype.is_int() => {
                let (x, y) = (of(0), of(1));
                let most = x.checked_mul(y).and_then(fits);
                // The lowest bits that may be set, multiplied.
                let least = (x & x.wrapping_neg()).wrapping_mul(y & y.wrapping_neg());
                most.map(|most| up_to(most) & as_aligned_as(least))
            }
            Op::Binary(Binary::Shl) => count().map(|count| of(0) << count),
            Op::Binary(Binary::ShrU) => count().map(|count| of(0) >> count),
            _ => None,
        };
        possible.unwrap_or(mask) & mask
    }
}
