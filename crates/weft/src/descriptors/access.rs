//! Loads, stores and reductions of blocks.

use super::{Described, Outside};
use crate::atomic::{Order, Scope};
use crate::cache::Cache;
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare};
use crate::tile::{DescriptorOp, Element, LoadOptions, Op, OpKind, Type, Value};
use crate::tile::{Rewrite, WriteOps};

impl Rewrite<'_> {
    /// What is done to a block, under a descriptor of these parts.
    pub(super) fn access(&mut self, what: DescriptorOp, parts: &Described) {
        let Op { operands, results, .. } = self.kernel.ops[self.at].clone();
        let Some(mut block) = self.ty(operands[0]).block() else { return };
        let (indices, value) = operands[1..].split_at(block.shape.len());
        if what.is_by_rows() {
            block.shape[0] = self.ty(indices[0]).elements();
        }
        let (pointers, mask) = self.places(parts, &block.shape, indices);
        let [value] = *value else {
            let outside = self.outside(parts, &block);
            let load = OpKind::Load(LoadOptions::default());
            let mut x = self.one(load, &[pointers, mask, outside], &block);
            if let Some(rounds) = parts.rounds {
                x = self.rounded_to_tf32(x, rounds);
            }
            let wanted = self.ty(results[0]);
            x = self.reshape(x, &wanted.shape);
            if wanted.encoding.is_some() {
                // What was written anew has no layout of its own on the way.
                self.one(OpKind::ConvertLayout, &[x], &wanted);
            }
            return self.conclude(results[0]);
        };
        let value = self.reshape(value, &block.shape);
        if let DescriptorOp::Reduce(op) = what {
            let (order, scope) = (Order::Relaxed, Scope::Gpu);
            let kind = OpKind::Atomic { op: op.into(), order, scope };
            self.one(kind, &[pointers, value, mask], &block);
        } else {
            self.nothing(OpKind::Store(Cache::default()), &[pointers, value, mask]);
        }
    }

    /// What a load of a block gives where the mask is false.
    fn outside(&mut self, parts: &Described, block: &Type) -> Value {
        if !block.dtype().is_float() {
            return self.constant(block, 0);
        }
        match parts.outside {
            Outside::Zero => self.constant(block, 0),
            Outside::Nan => self.float(block, f64::NAN),
            Outside::NanIf(is_nan) => {
                let (nan, zero) = (self.float(block, f64::NAN), self.constant(block, 0));
                let is_nan = self.splat(is_nan, &block.shape);
                self.select(is_nan, nan, zero)
            }
        }
    }

    /// f32 numbers with the bits that tf32 has, to nearest and ties to even, where `rounds` is true;
    /// infinity and NaN stay what they are.
    fn rounded_to_tf32(&mut self, x: Value, rounds: Value) -> Value {
        const DROPPED: u32 = 13;
        const EXPONENT: u64 = 0x7f80_0000;
        let bits = self.cast(Cast::Bits, x, DType::I32);
        let exponent = self.with_number(Binary::And, bits, EXPONENT);
        let special = self.constant(&self.ty(bits), EXPONENT);
        let finite = self.compare(Compare::Ne, exponent, special);
        let last = self.with_number(Binary::ShrU, bits, u64::from(DROPPED));
        let odd = self.with_number(Binary::And, last, 1);
        let half = self.with_number(Binary::Add, odd, (1 << (DROPPED - 1)) - 1);
        let raised = self.binary(Binary::Add, bits, half);
        let kept = self.with_number(Binary::And, raised, !((1 << DROPPED) - 1));
        let rounds = self.splat(rounds, &self.ty(finite).shape);
        let changes = self.binary(Binary::And, finite, rounds);
        let chosen = self.select(changes, kept, bits);
        self.cast(Cast::Bits, chosen, DType::F32)
    }

    /// An i32 extent, none if it is below zero.
    pub(super) fn not_negative(&mut self, extent: Value) -> Value {
        let zero = self.constant(&self.ty(extent), 0);
        self.binary(Binary::MaxS, extent, zero)
    }

    /// What an i64 extent is to i32 indices: at least zero, and at most one more than the last index.
    pub(super) fn indexed(&mut self, extent: Value) -> Value {
        let ty = self.ty(extent);
        let (none, all) = (self.constant(&ty, 0), self.constant(&ty, 1 << 31));
        let extent = self.binary(Binary::MaxS, extent, none);
        let extent = self.binary(Binary::MinS, extent, all);
        self.cast(Cast::Trunc, extent, DType::I32)
    }

    /// The pointers to a block's elements, and whether each is within the extents.
    fn places(&mut self, parts: &Described, shape: &[u64], indices: &[Value]) -> (Value, Value) {
        let rank = shape.len();
        let (mut corner, mut mask) = (parts.base, None);
        let mut offsets: Option<Value> = None;
        for (dim, &extent) in shape.iter().enumerate() {
            let (index, stride) = (indices[dim], parts.strides[dim]);
            let mut aligned = vec![1; rank];
            aligned[dim] = extent;
            let spread = |writer: &mut Self, value: Value| {
                let value = writer.reshape(value, &aligned);
                writer.broadcast(value, shape)
            };
            // Places, and how far they are from the corner or from the base.
            let (places, steps) = if self.ty(index).is_tensor() {
                let index = match self.ty(index).dtype() {
                    DType::I8 | DType::I16 => self.cast(Cast::ExtS, index, DType::I32),
                    _ => index,
                };
                (index, index)
            } else {
                // The corner is one for the block, and what is added to it the same wherever the block is.
                let start = self.cast(Cast::ExtS, index, DType::I64);
                let start = self.binary(Binary::Mul, start, stride);
                corner = self.one(OpKind::AddPtr, &[corner, start], &self.ty(corner));
                let range = OpKind::MakeRange { start: 0, end: extent as i32 };
                let line = Type::tensor(Element::Scalar(DType::I32), &[extent]);
                let range = self.one(range, &[], &line);
                let start = self.splat(index, &[extent]);
                (self.binary(Binary::Add, start, range), range)
            };
            // Below zero, and behind the last index that there is, is above every extent.
            let bound = self.splat(parts.extents[dim], &[extent]);
            let within = self.compare(Compare::Ult, places, bound);
            let within = spread(self, within);
            mask = Some(match mask {
                Some(mask) => self.binary(Binary::And, mask, within),
                None => within,
            });
            let steps = self.cast(Cast::ExtS, steps, DType::I64);
            let stride = self.splat(stride, &[extent]);
            let steps = self.binary(Binary::Mul, steps, stride);
            let steps = spread(self, steps);
            offsets = Some(match offsets {
                Some(offsets) => self.binary(Binary::Add, offsets, steps),
                None => steps,
            });
        }
        let mut pointers = self.splat(corner, shape);
        if let Some(offsets) = offsets {
            pointers = self.one(OpKind::AddPtr, &[pointers, offsets], &self.ty(pointers));
        }
        let all = Type::tensor(Element::Scalar(DType::I1), shape);
        let mask = mask.unwrap_or_else(|| self.constant(&all, 1));
        (pointers, mask)
    }
}
