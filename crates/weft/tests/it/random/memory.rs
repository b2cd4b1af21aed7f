//! Pointers to arrays made for them: loads and stores.

use super::build::{Build, tensor};
use weft::dtype::DType;
use weft::scalar::{Binary, Cast, Compare};
use weft::tile::{Element, LoadOptions, OpKind, Type, Value};

impl Build<'_> {
    /// Parts of an index, one a dimension, each along its own dimension, together less than the number
    /// that comes with them; no two elements have one sum, if that is asked for.
    pub(super) fn index_parts(&mut self, shape: &[u64], injective: bool) -> (Vec<Value>, u64) {
        let rank = shape.len();
        let order = self.dice.order(rank);
        let plain = self.dice.chance(1, 2);
        let mut strides = vec![0; rank];
        let mut next = 1;
        for (index, &axis) in order.iter().enumerate() {
            // Row-major, or in any order.
            let axis = if plain { rank - 1 - index } else { axis };
            strides[axis] = next;
            next *= shape[axis];
            if self.dice.chance(1, 5) {
                next += self.dice.pick(&[1, 4, 8, next]);
            }
        }
        let (mut parts, mut last) = (Vec::new(), 0);
        for axis in 0..rank {
            let extent = shape[axis];
            let ty = tensor(DType::I32, &[extent]);
            let kind = self.dice.below(if injective { 8 } else { 11 });
            let start = if kind == 5 { self.dice.below(20) as u64 } else { 0 };
            let mut part = self.range(start as i32, extent);
            let mut most = start + extent - 1;
            if kind != 5 && kind > 2 {
                let other = match kind {
                    3 => extent - 1,
                    4 | 6 => self.dice.below(extent as usize) as u64,
                    7 => extent,
                    _ => 1 << self.dice.below(5),
                };
                let other_value = self.number(&ty, other);
                part = match kind {
                    3 => self.binary(Binary::Sub, other_value, part),
                    4 => self.binary(Binary::Xor, part, other_value),
                    6 => {
                        let sum = self.binary(Binary::Add, part, other_value);
                        let all = self.number(&ty, extent);
                        self.binary(Binary::RemU, sum, all)
                    }
                    7 => self.binary(Binary::RemU, part, other_value),
                    8 => {
                        most /= other;
                        self.binary(Binary::DivU, part, other_value)
                    }
                    9 => {
                        most = most.min(other - 1);
                        self.binary(Binary::RemU, part, other_value)
                    }
                    _ => {
                        most = most.min(other);
                        self.binary(Binary::MinS, part, other_value)
                    }
                };
            }
            if strides[axis] != 1 || self.dice.chance(1, 8) {
                let stride = self.number(&ty, strides[axis]);
                part = self.binary(Binary::Mul, part, stride);
            }
            last += most * strides[axis];
            if self.dice.chance(1, 6) {
                part = self.op(
                    OpKind::Cast(Cast::ExtS),
                    &[part],
                    &ty.with_element(Element::Scalar(DType::I64)),
                );
            }
            for before in 0..axis {
                part = self.expand(part, before as u8);
            }
            for after in axis + 1..rank {
                part = self.expand(part, after as u8);
            }
            parts.push(part);
        }
        (parts, last + 1)
    }

    /// Pointers into an array, and, as an i32 tensor of their shape, which elements they point to;
    /// `make` makes the array of a size.
    pub(super) fn pointers(
        &mut self,
        shape: &[u64],
        injective: bool,
        per_instance: bool,
        make: impl FnOnce(&mut Self, u64) -> Value,
    ) -> Value {
        let (parts, size) = self.index_parts(shape, injective);
        let all = if per_instance { size * u64::from(self.instances) } else { size };
        let mut base = make(self, all);
        if per_instance {
            let pid = self.op(OpKind::ProgramId(0), &[], &Type::scalar(DType::I32));
            let size = self.number(&Type::scalar(DType::I32), size);
            let skip = self.binary(Binary::Mul, pid, size);
            base = self.at(base, skip);
        }
        self.offset_by(base, &parts, shape)
    }

    pub(super) fn offset_by(&mut self, base: Value, parts: &[Value], shape: &[u64]) -> Value {
        let i32s = parts.iter().all(|&part| self.ty(part).dtype() == DType::I32);
        let pointers = if i32s && self.dice.chance(1, 2) {
            let mut sum = parts[0];
            for &part in &parts[1..] {
                let (x, y) = self.together(sum, part);
                sum = self.binary(Binary::Add, x, y);
            }
            self.at(base, sum)
        } else {
            parts.iter().fold(base, |pointers, &part| self.at(pointers, part))
        };
        self.broadcast(pointers, shape)
    }

    pub(super) fn load_new(&mut self, most: u64) {
        let dtype = self.moved_dtype();
        let shape = match self.any_tensor() {
            Some(tensor) if self.dice.chance(2, 3) => self.ty(tensor).shape.to_vec(),
            _ if self.dice.chance(1, 10) => Vec::new(),
            _ => self.shape(most),
        };
        let value = self.loaded(dtype, &shape);
        self.pool.push(value);
    }

    pub(super) fn loaded(&mut self, dtype: DType, shape: &[u64]) -> Value {
        if shape.is_empty() {
            let base = self.input(dtype, 8);
            let place = self.i32(3);
            let pointer = self.at(base, place);
            let mut operands = vec![pointer];
            if self.dice.chance(1, 2) {
                operands.push(self.truth(&[]));
                if self.dice.chance(1, 2) {
                    operands.push(self.of_type(&Type::scalar(dtype)));
                }
            }
            let volatile = self.dice.chance(1, 3);
            return self.load_as(LoadOptions { volatile, ..LoadOptions::default() }, &operands);
        }
        let ints =
            |ty: &Type| ty.shape[..] == *shape && matches!(ty.dtype(), DType::I32 | DType::I64);
        if self.dice.chance(1, 4)
            && let Some(index) = self.any_where(ints)
        {
            // Any integers at all, made small enough.
            let size = 1 << self.dice.below(9);
            let ty = self.ty(index);
            let mask = self.number(&ty, size - 1);
            let index = self.binary(Binary::And, index, mask);
            let base = self.input(dtype, size);
            let pointers = self.at(base, index);
            return self.load_masked(pointers, dtype, shape);
        }
        if self.dice.chance(1, 3) {
            return self.load_in_bounds(dtype, shape);
        }
        let per_instance = self.dice.chance(1, 2);
        let make = |b: &mut Self, size| b.input(dtype, size);
        let pointers = self.pointers(shape, false, per_instance, make);
        self.load_masked(pointers, dtype, shape)
    }

    /// A load whose mask keeps it from going past the end of its array.
    pub(super) fn load_in_bounds(&mut self, dtype: DType, shape: &[u64]) -> Value {
        let (parts, size) = self.index_parts(shape, false);
        let limit = 1 + self.dice.below(size as usize) as u64;
        let limit = if self.dice.chance(1, 2) { limit.next_multiple_of(8) } else { limit };
        let base = self.input(dtype, limit);
        let mut sum: Option<Value> = None;
        for &part in &parts {
            let wide = self.cast_index(part);
            sum = Some(match sum {
                None => wide,
                Some(sum) => {
                    let (x, y) = self.together(sum, wide);
                    self.binary(Binary::Add, x, y)
                }
            });
        }
        let sum = sum.unwrap();
        let sum = self.broadcast(sum, shape);
        let limit = self.number(&tensor(DType::I32, shape), limit);
        let op = self.dice.pick(&[Compare::Slt, Compare::Ult]);
        let mask = self.op(OpKind::Compare(op), &[sum, limit], &tensor(DType::I1, shape));
        let pointers = self.offset_by(base, &parts, shape);
        let mut operands = vec![pointers, mask];
        if self.dice.chance(1, 2) {
            operands.push(self.of_type(&tensor(dtype, shape)));
        }
        self.load(&operands)
    }

    pub(super) fn cast_index(&mut self, part: Value) -> Value {
        let ty = self.ty(part);
        if ty.dtype() == DType::I32 {
            return part;
        }
        let ty = ty.with_element(Element::Scalar(DType::I32));
        self.op(OpKind::Cast(Cast::Trunc), &[part], &ty)
    }

    pub(super) fn load_masked(&mut self, pointers: Value, dtype: DType, shape: &[u64]) -> Value {
        let mut operands = vec![pointers];
        if self.dice.chance(1, 4) {
            operands.push(self.truth(shape));
            if self.dice.chance(1, 2) {
                operands.push(self.of_type(&tensor(dtype, shape)));
            }
        }
        self.load(&operands)
    }

    /// Writes into an array and reads it again at other places, as the program's order has it; each
    /// instance has a part of the array for itself.
    pub(super) fn written_and_read(&mut self, most: u64) {
        let Some(value) = self.any_tensor() else { return };
        let ty = self.ty(value);
        let (parts, size) = self.index_parts(&ty.shape, true);
        let base = self.input(ty.dtype(), size * u64::from(self.instances));
        let pid = self.op(OpKind::ProgramId(0), &[], &Type::scalar(DType::I32));
        let whole = self.number(&Type::scalar(DType::I32), size);
        let skip = self.binary(Binary::Mul, pid, whole);
        let base = self.at(base, skip);
        for _ in 0..=self.dice.below(2) {
            let value = self.of_type(&ty);
            let pointers = self.offset_by(base, &parts, &ty.shape);
            let mut operands = vec![pointers, value];
            if self.dice.chance(1, 4) {
                operands.push(self.truth(&ty.shape));
            }
            self.store(&operands);
            let loaded = if self.dice.chance(1, 3) {
                let pointers = self.offset_by(base, &parts, &ty.shape);
                self.load_masked(pointers, ty.dtype(), &ty.shape)
            } else {
                let shape = self.shape(most.min(512));
                let index = tensor(DType::I32, &shape);
                let places = self.of_type(&index);
                let below = self.number(&index, (1 << size.ilog2()) - 1);
                let places = self.binary(Binary::And, places, below);
                let pointers = self.at(base, places);
                self.load_masked(pointers, ty.dtype(), &shape)
            };
            self.pool.push(loaded);
        }
    }

    /// Stores a value into an array of its own, each element in a place of its own.
    pub(super) fn store_somewhere(&mut self, value: Value) {
        let ty = self.ty(value);
        let dtype = ty.dtype();
        if !ty.is_tensor() {
            let base = self.output(dtype, u64::from(self.instances));
            let pid = self.op(OpKind::ProgramId(0), &[], &Type::scalar(DType::I32));
            let pointer = self.at(base, pid);
            let mut operands = vec![pointer, value];
            if self.dice.chance(1, 4) {
                operands.push(self.truth(&[]));
            }
            self.store(&operands);
            return;
        }
        let make = |b: &mut Self, size| b.output(dtype, size);
        let pointers = self.pointers(&ty.shape, true, true, make);
        let mut operands = vec![pointers, value];
        if self.dice.chance(1, 5) {
            operands.push(self.truth(&ty.shape));
        }
        self.store(&operands);
    }
}
