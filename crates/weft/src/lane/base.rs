//! Addresses of global memory as a base that the block has in common, and an offset of each thread.
//!
//! An address is a sum. What is uniform in it, that is the same in every thread of the block, goes to the base
//! and is computed once; the rest is the offset, of 32 bits:
//!
//! ```text
//! p + 4 * widened (pid * 1024 + t) + 64 = (p + 4 * widened (pid * 1024)) + (4 * t) + 64
//!                                           base                           offset
//! ```
//!
//! That the offset of each thread reaches no further than [`OFFSET_BYTES`] must be *proved*; where it is not, the
//! address stays as it is. The proof is a bound of each term, from its operations and from what the lowering knows of
//! it ([`Builder::know_at_most`]: the ranges of the tile program). A sum of 32 bits is taken apart
//! only where the bounds of its terms say that it does not wrap, and then none of its terms is larger than the sum.
//!
//! Or it is *promised*: where all memory that is reached through an argument lies so near to it
//! ([`Builder::know_near`]), the address is the argument and an offset of 32 bits, whatever that is the sum of. A
//! thread that keeps within the promise has the offset exactly, though terms of it may wrap on the way; the offset of
//! one that does not is of no use, and is not used where the access is predicated.

use super::{Builder, MAX_ACCESS_BYTES, OFFSET_BYTES, Op, Value};
use crate::dtype::DType;
use crate::scalar::{Binary, Cast};

/// How many operations of an address are looked at.
const MOST: usize = 64;

/// The distances from an address that accesses add themselves: what [`Builder::settle_offset`] takes.
const FARTHEST: u64 = 1 << 22;

/// What an address is the sum of.
#[derive(Default)]
struct Terms {
    /// Uniform ones, i64, each with its factor.
    bases: Vec<(Value, u64)>,
    /// Those of each thread, i32 that are not negative, with their factors.
    offsets: Vec<(Value, u64)>,
    constant: u64,
    /// The operations that were looked at.
    seen: usize,
}

impl Builder {
    /// An address as base and offset, at a constant distance from it: `None` where nothing in it is uniform, or
    /// where nothing proves that the offset reaches far enough.
    pub fn behind_base(&mut self, address: Value) -> Option<Value> {
        self.proved(address).or_else(|| self.promised(address))
    }

    /// Lets it be known that all memory that is reached through an address lies within [`OFFSET_BYTES`] behind it.
    pub fn know_near(&mut self, value: Value) {
        self.near.set(value, true);
    }

    fn promised(&mut self, address: Value) -> Option<Value> {
        let (mut base, mut seen) = (None, 0);
        let offset = self.rest(address, &mut base, &mut seen)?;
        Some(self.offset(base?, offset))
    }

    /// An i64 without the one near address that it is the sum of, as an i32.
    fn rest(&mut self, value: Value, near: &mut Option<Value>, seen: &mut usize) -> Option<Value> {
        *seen += 1;
        if *seen > MOST {
            return None;
        }
        if self.near[value] {
            // A difference of addresses, or twice one, is none.
            return near.replace(value).is_none().then(|| self.i32(0));
        }
        let parts = self.definitions[value].map(|inst| &self.program.insts[inst]);
        let parts = parts.map(|inst| (&inst.op, &inst.operands[..]));
        match parts {
            Some((Op::Binary(Binary::Add), &[x, y])) => {
                let x = self.rest(x, near, seen)?;
                let y = self.rest(y, near, seen)?;
                Some(self.binary(Binary::Add, x, y))
            }
            Some((Op::Binary(Binary::Sub), &[x, y])) => {
                let x = self.rest(x, near, seen)?;
                let y = self.low(y, MOST);
                Some(self.binary(Binary::Sub, x, y))
            }
            _ => Some(self.low(value, MOST)),
        }
    }

    /// The low 32 bits of an i64, from the low ones of what it was made of.
    fn low(&mut self, value: Value, left: usize) -> Value {
        let parts = self.definitions[value].map(|inst| &self.program.insts[inst]);
        let parts = parts.map(|inst| (&inst.op, &inst.operands[..]));
        match (parts, left / 2) {
            (Some((&Op::Const(bits), _)), _) => self.constant(DType::I32, bits),
            (Some((Op::Cast(Cast::ExtS | Cast::ExtU), &[x])), _) if self.dtype(x) == DType::I32 => {
                x
            }
            (Some((&Op::Binary(op @ (Binary::Add | Binary::Sub | Binary::Mul)), &[x, y])), 1..) => {
                let [x, y] = [x, y].map(|x| self.low(x, left / 2));
                self.binary(op, x, y)
            }
            (Some((Op::Binary(Binary::Shl), &[x, _])), 1..) if self.factor_of(value).is_some() => {
                let factor = self.factor_of(value).unwrap_or(1);
                let (x, factor) = (self.low(x, left / 2), self.constant(DType::I32, factor));
                self.binary(Binary::Mul, x, factor)
            }
            _ => self.cast(Cast::Trunc, value, DType::I32),
        }
    }

    fn proved(&mut self, address: Value) -> Option<Value> {
        let mut terms = Terms::default();
        let most = self.wide_terms(address, 1, &mut terms)?;
        let Terms { mut bases, offsets, constant, .. } = terms;
        if bases.is_empty() {
            return None;
        }
        let mut constant = constant;
        if constant >= FARTHEST {
            let all = self.constant(DType::I64, constant);
            bases.push((all, 1));
            constant = 0;
        }
        let end = most.checked_add(constant)?.checked_add(MAX_ACCESS_BYTES.into())?;
        if end > OFFSET_BYTES {
            return None;
        }
        let base = self.sum_of(DType::I64, &bases);
        let offset = self.sum_of(DType::I32, &offsets);
        let whole = self.offset(base, offset);
        Some(self.plus(whole, constant))
    }

    /// The sum of terms with factors, those of one factor first.
    fn sum_of(&mut self, dtype: DType, terms: &[(Value, u64)]) -> Value {
        let mut groups: Vec<(u64, Value)> = Vec::new();
        for &(term, factor) in terms {
            match groups.iter().position(|(of, _)| *of == factor) {
                Some(at) => groups[at].1 = self.binary(Binary::Add, groups[at].1, term),
                None => groups.push((factor, term)),
            }
        }
        let mut all = self.constant(dtype, 0);
        for (factor, group) in groups {
            let factor = self.constant(dtype, factor);
            let term = self.binary(Binary::Mul, group, factor);
            all = self.binary(Binary::Add, all, term);
        }
        all
    }

    /// Finds the terms of an i64, times a factor; gives what those of a thread are at most, all together.
    fn wide_terms(&mut self, value: Value, factor: u64, terms: &mut Terms) -> Option<u64> {
        terms.seen += 1;
        if terms.seen > MOST {
            return None;
        }
        if let Some(bits) = self.constant_bits(value) {
            terms.constant = terms.constant.wrapping_add(bits.wrapping_mul(factor));
            return Some(0);
        }
        if self.uniform[value] {
            terms.bases.push((value, factor));
            return Some(0);
        }
        let inst = &self.program.insts[self.definitions[value]?];
        match (&inst.op, &inst.operands[..]) {
            (Op::Binary(Binary::Add), &[x, y]) => {
                let x = self.wide_terms(x, factor, terms)?;
                x.checked_add(self.wide_terms(y, factor, terms)?)
            }
            (Op::Binary(Binary::Sub), &[x, y]) if self.uniform[y] => {
                terms.bases.push((y, factor.wrapping_neg()));
                self.wide_terms(x, factor, terms)
            }
            (Op::Binary(Binary::Shl | Binary::Mul), &[x, _]) => {
                let factor = factor.checked_mul(self.factor_of(value)?)?;
                self.wide_terms(x, factor, terms)
            }
            (Op::Cast(Cast::ExtU), &[x]) if self.dtype(x) == DType::I32 => {
                self.narrow_terms(x, factor, terms)
            }
            // What is not negative is widened alike with a sign and without.
            (Op::Cast(Cast::ExtS), &[x])
                if self.dtype(x) == DType::I32 && self.possible_bits(x) >> 31 == 0 =>
            {
                self.narrow_terms(x, factor, terms)
            }
            // Nor does a number that is not negative wrap when one that is positive is taken from it.
            (Op::Cast(Cast::ExtS), &[x]) if self.dtype(x) == DType::I32 => {
                let (inner, less) = self.apart(x);
                let less = less as u32 as i32;
                if less >= 0 || self.possible_bits(inner) >> 31 != 0 {
                    return None;
                }
                let less = i64::from(less).cast_unsigned();
                terms.constant = terms.constant.wrapping_add(less.wrapping_mul(factor));
                self.narrow_terms(inner, factor, terms)
            }
            (Op::Offset, &[base, offset]) => {
                terms.bases.push((base, factor));
                self.narrow_terms(offset, factor, terms)
            }
            _ => None,
        }
    }

    /// The same of an i32 taken as unsigned, which is taken apart where something in it is uniform.
    fn narrow_terms(&mut self, value: Value, factor: u64, terms: &mut Terms) -> Option<u64> {
        terms.seen += 1;
        if terms.seen > MOST {
            return None;
        }
        if let Some(bits) = self.constant_bits(value) {
            terms.constant = terms.constant.wrapping_add(bits.wrapping_mul(factor));
            return Some(0);
        }
        if self.uniform[value] {
            let wide = self.cast(Cast::ExtU, value, DType::I64);
            terms.bases.push((wide, factor));
            return Some(0);
        }
        let most = self.possible_bits(value).checked_mul(factor)?;
        if self.has_common(value, MOST) {
            if let Some([x, y]) = self.plain_sum(value) {
                let x = self.narrow_terms(x, factor, terms)?;
                let y = self.narrow_terms(y, factor, terms)?;
                return Some(x.checked_add(y)?.min(most));
            }
            if let Some((x, by)) = self.plain_product(value) {
                return Some(self.narrow_terms(x, factor.checked_mul(by)?, terms)?.min(most));
            }
        }
        terms.offsets.push((value, factor));
        Some(most)
    }

    /// Whether a term of an i32, as it may be taken apart, is uniform or a constant.
    fn has_common(&self, value: Value, left: usize) -> bool {
        if self.uniform[value] {
            return true;
        }
        let Some(left) = left.checked_sub(1) else { return false };
        if let Some([x, y]) = self.plain_sum(value) {
            return self.has_common(x, left / 2) || self.has_common(y, left / 2);
        }
        self.plain_product(value).is_some_and(|(x, _)| self.has_common(x, left))
    }

    /// The terms of an i32 that is the sum of two as numbers that are not negative: it does not wrap.
    fn plain_sum(&self, value: Value) -> Option<[Value; 2]> {
        let inst = &self.program.insts[self.definitions[value]?];
        let &[x, y] = &inst.operands[..] else { return None };
        let bits = [x, y].map(|term| self.possible_bits(term));
        let holds = match inst.op {
            Op::Binary(Binary::Add) => bits[0] + bits[1] <= DType::I32.mask(),
            Op::Binary(Binary::Or | Binary::Xor) => bits[0] & bits[1] == 0,
            _ => false,
        };
        (holds && self.dtype(value) == DType::I32).then_some([x, y])
    }

    /// An i32 that is a constant multiple of another one and does not wrap.
    fn plain_product(&self, value: Value) -> Option<(Value, u64)> {
        let factor = self.factor_of(value)?;
        let x = self.program.insts[self.definitions[value]?].operands[0];
        let most = self.possible_bits(x).checked_mul(factor)?;
        (most <= DType::I32.mask() && self.dtype(value) == DType::I32).then_some((x, factor))
    }

    /// What a product, or a number that is moved to the left, is a constant multiple of its first operand by.
    fn factor_of(&self, value: Value) -> Option<u64> {
        let inst = &self.program.insts[self.definitions[value]?];
        let constant = self.constant_bits(*inst.operands.get(1)?)?;
        match inst.op {
            Op::Binary(Binary::Mul) => Some(constant),
            Op::Binary(Binary::Shl) if constant < 32 => Some(1 << constant),
            _ => None,
        }
    }
}
