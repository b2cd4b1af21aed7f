//! Straight-line strength reduction: sums with multiples of a stride that is uniform, which is to say the same in
//! every thread of the block.
//!
//! ```text
//! (x + c) * u = x * u + c * u             c a constant, u uniform, x not
//! (x + c u) * k = x * k + c (u k)         k uniform
//! (x + c u) + y = (x + y) + c u           likewise -
//! x + c u = (x + b u) + (c - b) u         where x + b u is there already
//! ```
//!
//! The rows of a thread lie at constant distances from each other, and their addresses at as many strides, which
//! are known when the kernel is launched. With these laws they are one address, which is all that differs from
//! thread to thread, and sums with a few numbers that the block has once: a loop keeps the first address and the
//! distance of the next, where it would keep all of them. LLVM's pass of this name does the last law on what it
//! finds; here the first three bring about what it looks for.

use super::{Builder, Op, Value};
use crate::dtype::DType;
use crate::scalar::Binary;
use rustc_hash::FxHashMap;
use smallvec::smallvec;

/// How many sums of one base and stride are looked at for a new one, the last ones first: lists of any length
/// take time that grows with them alone.
const RECENT: usize = 64;

/// What a value is: `base + index * stride`, where the stride is uniform and the base is not.
#[derive(Clone, Copy, Debug)]
struct Strided {
    base: Value,
    stride: Value,
    index: u64,
}

/// A value of some base and stride that is there.
#[derive(Clone, Copy, Debug)]
struct Element {
    index: u64,
    value: Value,
    /// How many strides were added to another one to make it.
    bump: u64,
}

/// The strided sums of a program.
#[derive(Debug, Default)]
pub(super) struct StridedSums {
    forms: FxHashMap<Value, Strided>,
    /// By base and stride, those that the regions being written see.
    elements: FxHashMap<(Value, Value), Vec<Element>>,
    /// For each region but the outermost, the base and stride of each that it made.
    inside: Vec<Vec<(Value, Value)>>,
}

impl StridedSums {
    /// How many there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.forms.len()
    }

    /// Begins a region, whose values end with it.
    pub(super) fn open(&mut self) {
        self.inside.push(Vec::new());
    }

    /// Ends it: what it made is not seen from outside.
    pub(super) fn close(&mut self) {
        for key in self.inside.pop().into_iter().flatten() {
            if let Some(elements) = self.elements.get_mut(&key) {
                elements.pop();
            }
        }
    }

    fn elements(&self, base: Value, stride: Value) -> &[Element] {
        let all = self.elements.get(&(base, stride)).map_or(&[][..], Vec::as_slice);
        &all[all.len().saturating_sub(RECENT)..]
    }

    /// From which value a sum is made, and how many strides are added to it: as many as were added to make
    /// another one, whose product is there; else the fewest.
    fn nearest(&self, Strided { base, stride, index }: Strided) -> (Value, u64) {
        let elements = self.elements(base, stride);
        let mut bumps: Vec<u64> = elements.iter().map(|element| element.bump).collect();
        bumps.sort_unstable();
        bumps.dedup();
        let from_base = (base, index);
        let from_others =
            elements.iter().rev().map(|from| (from.value, index.wrapping_sub(from.index)));
        let cost = |&(_, bump): &(Value, u64)| match bumps.binary_search(&bump) {
            Ok(_) => 0,
            Err(_) => bump.cast_signed().unsigned_abs(),
        };
        from_others.chain([from_base]).min_by_key(cost).unwrap_or(from_base)
    }

    fn add(&mut self, form: Strided, element: Element) {
        let key = (form.base, form.stride);
        self.forms.insert(element.value, form);
        self.elements.entry(key).or_default().push(element);
        if let Some(inside) = self.inside.last_mut() {
            inside.push(key);
        }
    }
}

impl Builder {
    /// Lets it be known that a value is uniform: the same in every thread of the block.
    pub fn know_uniform(&mut self, value: Value) {
        self.uniform.set(value, true);
    }

    /// Whether a value is known to be uniform.
    pub fn is_uniform(&self, value: Value) -> bool {
        self.uniform[value]
    }

    /// `x op y` of i64 by the laws above.
    pub(super) fn stride_outside(&mut self, op: Binary, x: Value, y: Value) -> Option<Value> {
        if self.dtype(x) != DType::I64 {
            return None;
        }
        match op {
            Binary::Mul if self.uniform[y] => self.scaled(op, x, y),
            Binary::Mul if self.uniform[x] => self.scaled(op, y, x),
            Binary::Shl if self.constant_bits(y).is_some_and(|count| count < 64) => {
                self.scaled(op, x, y)
            }
            Binary::Add | Binary::Sub if self.constant_bits(y).is_none() => {
                if let Some(&Strided { base, stride, index }) = self.strided.forms.get(&x) {
                    let base = self.binary(op, base, y);
                    return Some(self.with_stride(base, stride, index));
                }
                let &Strided { base, stride, index } = self.strided.forms.get(&y)?;
                let base = self.binary(op, x, base);
                let index = if op == Binary::Sub { index.wrapping_neg() } else { index };
                Some(self.with_stride(base, stride, index))
            }
            _ => None,
        }
    }

    /// A strided sum, or one with a constant, times a uniform factor.
    fn scaled(&mut self, op: Binary, x: Value, factor: Value) -> Option<Value> {
        if let Some(&Strided { base, stride, index }) = self.strided.forms.get(&x) {
            let [base, stride] = [base, stride].map(|x| self.binary(op, x, factor));
            return Some(self.with_stride(base, stride, index));
        }
        let (inner, constant) = self.apart(x);
        if constant == 0 || self.uniform[inner] {
            return None;
        }
        let base = self.binary(op, inner, factor);
        Some(self.with_stride(base, factor, constant))
    }

    /// `x + index * stride`, whose constant stands outside of it.
    fn with_stride(&mut self, x: Value, stride: Value, index: u64) -> Value {
        let (base, constant) = self.apart(x);
        let mut form = Strided { base, stride, index };
        if let Some(known) = self.strided.forms.get(&base).filter(|known| known.stride == stride) {
            form = Strided { index: known.index.wrapping_add(index), ..*known };
        }
        let value = self.strided_sum(form);
        self.plus(value, constant)
    }

    fn strided_sum(&mut self, form: Strided) -> Value {
        let Strided { base, stride, index } = form;
        if index == 0 {
            return base;
        }
        let known = self.strided.elements(base, stride).iter();
        if let Some(same) = known.copied().find(|element| element.index == index) {
            return same.value;
        }
        let (from, bump) = self.strided.nearest(form);
        let distance = self.constant(DType::I64, bump);
        let distance = self.binary(Binary::Mul, stride, distance);
        let value = self.pure(Op::Binary(Binary::Add), smallvec![from, distance], DType::I64);
        self.strided.add(form, Element { index, value, bump });
        value
    }
}
