//! Random kernels: what is written, one action at a time.
//!
//! Everything is exact: the evaluator and the simulator apply the same scalar operations, and what
//! depends on an order (sums of floats by reduction or atomics) is left out. The bits of a NaN are not
//! fixed, so floats are not cast to integers of the same bits.

use super::build::{Build, Sample, tensor};
use super::dice::Dice;
use weft::dtype::DType;
use weft::scalar::{self, Binary, Cast, Compare, Unary};
use weft::tile::{Element, OpKind, Type, Value};

/// The most elements of a tensor.
const MOST_ELEMENTS: u64 = 4096;

pub(super) fn sample(bytes: &[u8]) -> Sample {
    let mut b = Build::new(Dice::new(bytes));
    let most = b.dice.pick(&[64, 256, 512, 1024, 1024, MOST_ELEMENTS]);
    let pid = b.op(OpKind::ProgramId(0), &[], &Type::scalar(DType::I32));
    b.pool.push(pid);
    for _ in 0..1 + b.dice.below(3) {
        b.load_new(most);
    }
    let steps = 5 + b.dice.below(20);
    for _ in 0..steps {
        if b.ops() > 500 {
            break;
        }
        b.act(most);
    }
    let stores = 1 + b.dice.below(5);
    for index in 0..stores.min(b.pool.len()) {
        let value = if index < 2 { b.pool[b.pool.len() - 1 - index] } else { b.any() };
        b.store_somewhere(value);
    }
    b.finish()
}

impl Build<'_> {
    /// Any number that can be used here, rather a new one.
    fn any(&mut self) -> Value {
        if self.dice.chance(1, 2)
            && let Some(tensor) = self.any_where(|ty| ty.elements() > 8)
        {
            return tensor;
        }
        let count = self.pool.len();
        let back = self.dice.below(count).min(self.dice.below(count));
        self.pool[count - 1 - back]
    }

    fn any_where(&mut self, good: impl Fn(&Type) -> bool) -> Option<Value> {
        let fitting: Vec<Value> =
            self.pool.iter().copied().filter(|&value| good(&self.ty(value))).collect();
        (!fitting.is_empty()).then(|| {
            let back = self.dice.below(fitting.len()).min(self.dice.below(fitting.len()));
            fitting[fitting.len() - 1 - back]
        })
    }

    fn any_tensor(&mut self) -> Option<Value> {
        self.any_where(Type::is_tensor)
    }

    fn dtype(&mut self) -> DType {
        self.dice.pick(&[
            DType::I32,
            DType::I32,
            DType::F32,
            DType::F16,
            DType::I8,
            DType::I16,
            DType::I64,
            DType::BF16,
            DType::F64,
            DType::I1,
        ])
    }

    fn shape(&mut self, most: u64) -> Vec<u64> {
        let rank = 1 + self.dice.below(3);
        let mut left = most;
        if rank > 1 && self.dice.chance(1, 2) {
            // All of it, so that many tensors have as many elements.
            let mut shape = Vec::new();
            for _ in 1..rank {
                let extent = 1 << self.dice.below(left.min(64).ilog2() as usize + 1);
                left /= extent;
                shape.push(extent);
            }
            let at = self.dice.below(rank);
            shape.insert(at, left);
            return shape;
        }
        let mut shape: Vec<u64> = (0..rank)
            .map(|_| {
                let extent = (1 << self.dice.below(7)).min(left);
                left /= extent;
                extent
            })
            .collect();
        if rank == 1 {
            shape[0] = (shape[0] << self.dice.below(4)).min(most);
        }
        shape
    }

    fn act(&mut self, most: u64) {
        match self.dice.below(40) {
            0..12 => self.elementwise(),
            12..19 => self.reshaped(most),
            19..23 => self.load_new(most),
            23..27 => self.reduced(),
            27 => self.argmax(),
            28 => self.dot(most),
            29 | 30 => self.atomic(),
            31 | 32 => {
                let value = self.any();
                self.store_somewhere(value);
            }
            33 => self.scalar_and_back(most),
            34..36 if self.depth() < 3 => self.for_loop(most),
            36..38 if self.depth() < 3 => self.if_else(most),
            38 if self.depth() < 3 => self.while_loop(most),
            _ => self.elementwise(),
        }
    }

    /// Some value of this very type.
    fn of_type(&mut self, ty: &Type) -> Value {
        if self.dice.chance(3, 4)
            && let Some(value) = self.any_where(|other| other == ty)
        {
            return value;
        }
        let elements = ty.elements();
        if self.dice.chance(2, 3)
            && let Some(value) = self.any_where(|other| {
                other.is_tensor() == ty.is_tensor() && other.elements() == elements
            })
        {
            let value = if self.ty(value).shape == ty.shape {
                value
            } else {
                self.reshape(value, &ty.shape)
            };
            return self.cast_to(value, ty.dtype());
        }
        if ty.is_tensor()
            && self.dice.chance(1, 3)
            && let Some(scalar) = self.any_where(|other| !other.is_tensor())
        {
            let scalar = self.cast_to(scalar, ty.dtype());
            return self.splat(scalar, &ty.shape);
        }
        let bits = match ty.dtype() {
            dtype if dtype.is_float() => {
                scalar::from_f64(dtype, self.dice.below(64) as f64 / 4.0 - 8.0)
            }
            dtype if self.dice.chance(1, 2) => 1 << self.dice.below(dtype.bits() as usize),
            dtype => (self.dice.below(64) as u64).wrapping_sub(20) & dtype.mask(),
        };
        self.number(ty, bits)
    }

    fn cast_to(&mut self, value: Value, to: DType) -> Value {
        let ty = self.ty(value);
        let from = ty.dtype();
        if from == to {
            return value;
        }
        let fitting: Vec<Cast> = Cast::ALL
            .iter()
            .copied()
            .filter(|&cast| scalar::cast_applies(cast, from, to))
            .filter(|&cast| cast != Cast::Bits || from.is_int())
            .collect();
        let cast = self.dice.pick(&fitting);
        self.op(OpKind::Cast(cast), &[value], &ty.with_element(Element::Scalar(to)))
    }

    fn truth(&mut self, shape: &[u64]) -> Value {
        let ty = if shape.is_empty() { Type::scalar(DType::I1) } else { tensor(DType::I1, shape) };
        if self.dice.chance(1, 3) {
            return self.of_type(&ty);
        }
        let dtype = self.dtype();
        let x = self.of_type(&ty.with_element(Element::Scalar(dtype)));
        let y = self.of_type(&ty.with_element(Element::Scalar(dtype)));
        self.compare(x, y)
    }

    fn compare(&mut self, x: Value, y: Value) -> Value {
        let ty = self.ty(x);
        let dtype = ty.dtype();
        let fitting: Vec<Compare> = Compare::ALL
            .iter()
            .copied()
            .filter(|&op| scalar::compare(op, dtype).is_some())
            .collect();
        let op = self.dice.pick(&fitting);
        self.op(OpKind::Compare(op), &[x, y], &ty.with_element(Element::Scalar(DType::I1)))
    }

    fn elementwise(&mut self) {
        let x = self.any();
        let ty = self.ty(x);
        let dtype = ty.dtype();
        let result = match self.dice.below(12) {
            0..5 => {
                let fitting: Vec<Binary> = Binary::ALL
                    .iter()
                    .copied()
                    .filter(|&op| scalar::binary(op, dtype).is_some())
                    .filter(|&op| op != Binary::MulHiU || dtype.bits() >= 32)
                    .collect();
                let op = self.dice.pick(&fitting);
                let mut y = self.of_type(&ty);
                if matches!(op, Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU) {
                    y = if self.dice.chance(1, 2) {
                        let power = 1 << self.dice.below(dtype.bits() as usize);
                        self.number(&ty, power)
                    } else {
                        let one = self.constant(&ty, 1);
                        self.binary(Binary::Or, y, one)
                    };
                }
                let divides =
                    matches!(op, Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU);
                if divides || self.dice.chance(1, 2) {
                    self.binary(op, x, y)
                } else {
                    self.binary(op, y, x)
                }
            }
            5 => {
                let fitting: Vec<Unary> = Unary::ALL
                    .iter()
                    .copied()
                    .filter(|&op| scalar::unary(op, dtype).is_some())
                    .collect();
                let op = self.dice.pick(&fitting);
                self.op(OpKind::Unary(op), &[x], &ty)
            }
            6 | 7 => {
                let to = self.dtype();
                self.cast_to(x, to)
            }
            8 => {
                let y = self.of_type(&ty);
                self.compare(x, y)
            }
            9 | 10 => {
                let whole = self.dice.chance(1, 4);
                let condition = self.truth(if whole { &[] } else { &ty.shape });
                let y = self.of_type(&ty);
                self.op(OpKind::Select, &[condition, x, y], &ty)
            }
            _ if dtype.is_float() => {
                let (y, z) = (self.of_type(&ty), self.of_type(&ty));
                self.op(OpKind::Fma, &[x, y, z], &ty)
            }
            _ => {
                let y = self.of_type(&ty);
                self.binary(Binary::Add, x, y)
            }
        };
        self.pool.push(result);
    }

    /// A chain of shape operations.
    fn reshaped(&mut self, most: u64) {
        let Some(mut value) = self.any_tensor() else { return };
        for _ in 0..1 + self.dice.below(3) {
            let ty = self.ty(value);
            let rank = ty.shape.len();
            value = match self.dice.below(4) {
                0 => {
                    let order = self.dice.order(rank);
                    let shape: Vec<u64> = order.iter().map(|&axis| ty.shape[axis]).collect();
                    let order = order.iter().map(|&axis| axis as u8).collect();
                    let result = Type::tensor(ty.element, &shape);
                    self.op(OpKind::Trans { order }, &[value], &result)
                }
                1 => {
                    let mut left = ty.elements().trailing_zeros() as usize;
                    let mut shape = Vec::new();
                    for _ in 0..self.dice.below(3) {
                        let bits = self.dice.below(left + 1);
                        left -= bits;
                        shape.push(1 << bits);
                    }
                    shape.push(1 << left);
                    self.reshape(value, &shape)
                }
                2 if rank < 4 => {
                    let axis = self.dice.below(rank + 1) as u8;
                    self.expand(value, axis)
                }
                _ => {
                    let mut shape = ty.shape.to_vec();
                    for axis in 0..rank {
                        let room = most.max(64) / shape.iter().product::<u64>().max(1);
                        if shape[axis] == 1 && room > 1 {
                            let bits = room.ilog2().min(5) as usize;
                            shape[axis] = 1 << self.dice.below(bits + 1);
                        }
                    }
                    self.broadcast(value, &shape)
                }
            };
        }
        self.pool.push(value);
    }

    fn reduced(&mut self) {
        let Some(value) = self.any_tensor() else { return };
        let ty = self.ty(value);
        let axis = self.dice.below(ty.shape.len());
        let mut operands = vec![value];
        if self.dice.chance(1, 4) {
            let dtype = self.dtype();
            operands.push(self.of_type(&tensor(dtype, &ty.shape)));
        }
        let around = self.any_where(|ty| *ty == Type::scalar(DType::I32));
        let results = self.reduce(axis, &operands, |b, params| {
            let (left, right) = params.split_at(params.len() / 2);
            left.iter().zip(right).map(|(&x, &y)| b.folded(x, y, around)).collect()
        });
        self.pool.extend(results);
    }

    /// An associative and commutative combination of two scalars.
    fn folded(&mut self, x: Value, y: Value, around: Option<Value>) -> Value {
        let dtype = self.ty(x).dtype();
        if dtype.is_float() {
            let op =
                self.dice.pick(&[Binary::MaxNum, Binary::MinNum, Binary::Maximum, Binary::Minimum]);
            return self.binary(op, x, y);
        }
        let op = self.dice.pick(&[
            Binary::Add,
            Binary::Add,
            Binary::Mul,
            Binary::And,
            Binary::Or,
            Binary::Xor,
            Binary::MinS,
            Binary::MaxS,
            Binary::MinU,
            Binary::MaxU,
        ]);
        let result = self.binary(op, x, y);
        match around {
            // Another group operation: the neutral element is moved by a scalar from around.
            Some(around) if matches!(op, Binary::Add | Binary::Xor) && self.dice.chance(1, 4) => {
                let around = self.cast_to(around, dtype);
                self.binary(op, result, around)
            }
            _ if dtype == DType::I1 && self.dice.chance(1, 2) => {
                // A conjunction as a choice.
                self.op(OpKind::Select, &[x, y, x], &Type::scalar(dtype))
            }
            _ => result,
        }
    }

    /// The largest element and the smallest of its indices.
    fn argmax(&mut self) {
        let int = |ty: &Type| ty.is_tensor() && ty.dtype().is_int() && ty.dtype() != DType::I1;
        let Some(value) = self.any_where(int) else { return };
        let ty = self.ty(value);
        let axis = self.dice.below(ty.shape.len());
        let mut index = self.range(0, ty.shape[axis]);
        for before in 0..axis {
            index = self.expand(index, before as u8);
        }
        for after in axis + 1..ty.shape.len() {
            index = self.expand(index, after as u8);
        }
        let index = self.broadcast(index, &ty.shape);
        let results = self.reduce(axis, &[value, index], |b, params| {
            let &[value, index, other, at] = params else { unreachable!() };
            let truth = Type::scalar(DType::I1);
            let greater = b.op(OpKind::Compare(Compare::Sgt), &[value, other], &truth);
            let equal = b.op(OpKind::Compare(Compare::Eq), &[value, other], &truth);
            let before = b.op(OpKind::Compare(Compare::Slt), &[index, at], &truth);
            let tie = b.binary(Binary::And, equal, before);
            let keep = b.binary(Binary::Or, greater, tie);
            let (value_type, index_type) = (b.ty(value), b.ty(index));
            vec![
                b.op(OpKind::Select, &[keep, value, other], &value_type),
                b.op(OpKind::Select, &[keep, index, at], &index_type),
            ]
        });
        self.pool.extend(results);
    }

    fn dot(&mut self, most: u64) {
        let most = most.min(1024);
        let side = |b: &mut Self| 1 << b.dice.below(6);
        let (m, n, k): (u64, u64, u64) = (side(self), side(self), side(self));
        if m * n > most || m * k > most || k * n > most || m * n * k > 1 << 13 {
            return;
        }
        let (from, to) = self.dice.pick(&[
            (DType::F16, DType::F32),
            (DType::F16, DType::F16),
            (DType::BF16, DType::F32),
            (DType::F32, DType::F32),
            (DType::F64, DType::F64),
            (DType::I8, DType::I32),
            (DType::I32, DType::I32),
        ]);
        let a = self.of_type(&tensor(from, &[m, k]));
        let b = self.of_type(&tensor(from, &[k, n]));
        let c = self.of_type(&tensor(to, &[m, n]));
        let result = self.op(OpKind::Dot, &[a, b, c], &tensor(to, &[m, n]));
        self.pool.push(result);
    }

    /// Tensors of one element to scalars, scalars to tensors.
    fn scalar_and_back(&mut self, most: u64) {
        if let Some(single) = self.any_where(|ty| ty.is_tensor() && ty.elements() == 1)
            && self.dice.chance(1, 2)
        {
            let ty = Type::scalar(self.ty(single).dtype());
            let value = self.op(OpKind::Unsplat, &[single], &ty);
            self.pool.push(value);
        } else if let Some(scalar) = self.any_where(|ty| !ty.is_tensor()) {
            let shape = self.shape(most);
            let value = self.splat(scalar, &shape);
            self.pool.push(value);
        }
    }

    /// Parts of an index, one a dimension, each along its own dimension, together less than the number
    /// that comes with them; no two elements have one sum, if that is asked for.
    fn index_parts(&mut self, shape: &[u64], injective: bool) -> (Vec<Value>, u64) {
        let rank = shape.len();
        let order = self.dice.order(rank);
        let plain = self.dice.chance(1, 2);
        let mut strides = vec![0; rank];
        let mut next = 1;
        for index in 0..rank {
            // Row-major, or in any order.
            let axis = if plain { rank - 1 - index } else { order[index] };
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
    fn pointers(
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

    fn offset_by(&mut self, base: Value, parts: &[Value], shape: &[u64]) -> Value {
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

    fn load_new(&mut self, most: u64) {
        let dtype = self.dtype();
        let shape = match self.any_tensor() {
            Some(tensor) if self.dice.chance(2, 3) => self.ty(tensor).shape.to_vec(),
            _ if self.dice.chance(1, 10) => Vec::new(),
            _ => self.shape(most),
        };
        let value = self.loaded(dtype, &shape);
        self.pool.push(value);
    }

    fn loaded(&mut self, dtype: DType, shape: &[u64]) -> Value {
        if shape.is_empty() {
            let base = self.input(dtype, 8);
            let place = self.i32(3);
            let pointer = self.at(base, place);
            return self.load(&[pointer]);
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
    fn load_in_bounds(&mut self, dtype: DType, shape: &[u64]) -> Value {
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

    fn cast_index(&mut self, part: Value) -> Value {
        let ty = self.ty(part);
        if ty.dtype() == DType::I32 {
            return part;
        }
        let ty = ty.with_element(Element::Scalar(DType::I32));
        self.op(OpKind::Cast(Cast::Trunc), &[part], &ty)
    }

    fn load_masked(&mut self, pointers: Value, dtype: DType, shape: &[u64]) -> Value {
        let mut operands = vec![pointers];
        if self.dice.chance(1, 4) {
            operands.push(self.truth(shape));
            if self.dice.chance(1, 2) {
                operands.push(self.of_type(&tensor(dtype, shape)));
            }
        }
        self.load(&operands)
    }

    /// Stores a value into an array of its own, each element in a place of its own.
    fn store_somewhere(&mut self, value: Value) {
        let ty = self.ty(value);
        let dtype = ty.dtype();
        if !ty.is_tensor() {
            let base = self.output(dtype, u64::from(self.instances));
            let pid = self.op(OpKind::ProgramId(0), &[], &Type::scalar(DType::I32));
            let pointer = self.at(base, pid);
            self.store(&[pointer, value]);
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

    fn atomic(&mut self) {
        use weft::atomic::{Order, Rmw, Scope};
        let order =
            self.dice.pick(&[Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel]);
        let dtype = self.dice.pick(&[DType::I32, DType::I32, DType::I64]);
        let shape = match self.any_tensor() {
            Some(tensor) if self.dice.chance(5, 6) => self.ty(tensor).shape.to_vec(),
            _ => Vec::new(),
        };
        let op = self.dice.pick(&[Rmw::Add, Rmw::Max, Rmw::Min, Rmw::UMax, Rmw::Xor, Rmw::Or]);
        let kind = OpKind::AtomicRmw { op, order, scope: Scope::Gpu };
        if shape.is_empty() {
            let base = self.input(dtype, u64::from(self.instances));
            let pid = self.op(OpKind::ProgramId(0), &[], &Type::scalar(DType::I32));
            let pointer = self.at(base, pid);
            let value = self.of_type(&Type::scalar(dtype));
            let old = self.op(kind, &[pointer, value], &Type::scalar(dtype));
            self.pool.push(old);
            return;
        }
        let ty = tensor(dtype, &shape);
        let value = self.of_type(&ty);
        if self.dice.chance(1, 2) {
            // A cell for each element: what was there is known.
            let make = |b: &mut Self, size| b.input(dtype, size);
            let pointers = self.pointers(&shape, true, true, make);
            let mut operands = vec![pointers, value];
            if self.dice.chance(1, 4) {
                operands.push(self.truth(&shape));
            }
            let old = self.op(kind, &operands, &ty);
            let old = match operands.get(2) {
                Some(&mask) => {
                    let zero = self.constant(&ty, 0);
                    self.op(OpKind::Select, &[mask, old, zero], &ty)
                }
                None => old,
            };
            self.pool.push(old);
            return;
        }
        let cells = 1 << self.dice.below(4);
        let index = self.of_type(&tensor(DType::I32, &shape));
        let mask = self.number(&tensor(DType::I32, &shape), cells - 1);
        let index = self.binary(Binary::And, index, mask);
        let base = self.input(dtype, cells);
        let pointers = self.at(base, index);
        let mut operands = vec![pointers, value];
        if self.dice.chance(1, 3) {
            operands.push(self.truth(&shape));
        }
        self.op(kind, &operands, &ty);
    }

    /// Values to carry, each of them once.
    fn to_carry(&mut self) -> Vec<Value> {
        let count = 1 + self.dice.below(3);
        (0..count).map(|_| self.any()).collect()
    }

    fn next_of(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|ty| self.of_type(ty)).collect()
    }

    fn for_loop(&mut self, most: u64) {
        let rounds = self.dice.below(4) as u64;
        let step = 1 + self.dice.below(3) as u64;
        let low = self.dice.below(3) as u64;
        let dtype = self.dice.pick(&[DType::I32, DType::I32, DType::I64]);
        let scalar = Type::scalar(dtype);
        let bounds = [low, low + step * rounds, step].map(|bits| self.number(&scalar, bits));
        let mut carried = self.to_carry();
        let types = self.types(&carried);
        // Pointers that walk through an array.
        let walks = self.dice.chance(1, 2).then(|| {
            let shape = self.shape(most.min(256));
            let dtype = self.dtype();
            let stride = self.dice.pick(&[1, 2, 8, 16, 32]);
            let make = |b: &mut Self, size| b.input(dtype, size + rounds * stride);
            let pointers = self.pointers(&shape, false, false, make);
            let steps = self.number(&tensor(DType::I32, &shape), stride);
            carried.push(pointers);
            (dtype, shape, steps)
        });
        let all = self.types(&carried);
        let params = [vec![scalar], all.clone()].concat();
        let region = self.region(&params, OpKind::Yield, |b, params| {
            b.pool.push(params[0]);
            b.pool.extend_from_slice(&params[1..=types.len()]);
            if let Some((dtype, shape, _)) = &walks {
                let loaded = b.load_masked(params[1 + types.len()], *dtype, shape);
                b.pool.push(loaded);
            }
            for _ in 0..b.dice.below(5) {
                b.act(most);
            }
            let mut next = b.next_of(&types);
            if let Some((_, _, steps)) = walks {
                next.push(b.at(params[1 + types.len()], steps));
            }
            next
        });
        let operands = [&bounds[..], &carried].concat();
        let results = self.owner(OpKind::For, &operands, &all, vec![region]);
        self.pool.extend(&results[..types.len()]);
    }

    fn if_else(&mut self, most: u64) {
        let condition = self.truth(&[]);
        let count = self.dice.below(3);
        let types: Vec<Type> = (0..count)
            .map(|_| {
                let value = self.any();
                self.ty(value)
            })
            .collect();
        let mut arm = || {
            self.region(&[], OpKind::Yield, |b, _| {
                for _ in 0..b.dice.below(4) {
                    b.act(most);
                }
                b.next_of(&types)
            })
        };
        let regions = vec![arm(), arm()];
        let results = self.owner(OpKind::If, &[condition], &types, regions);
        self.pool.extend(results);
    }

    /// A counter and carried values; what the second region gets is some of those.
    fn while_loop(&mut self, most: u64) {
        let carried = self.to_carry();
        let zero = self.i32(0);
        let rounds = self.dice.below(3) as i64;
        let entering = [&[zero], &carried[..]].concat();
        let types = self.types(&entering);
        let handed: Vec<Type> = {
            let more = self.types(&carried);
            [&types[..1], &more[..self.dice.below(more.len() + 1)]].concat()
        };
        let before = self.region(&types, OpKind::Condition, |b, params| {
            b.pool.extend_from_slice(&params[1..]);
            let limit = b.number(&Type::scalar(DType::I32), rounds as u64);
            let goes_on = OpKind::Compare(Compare::Slt);
            let goes_on = b.op(goes_on, &[params[0], limit], &Type::scalar(DType::I1));
            for _ in 0..b.dice.below(3) {
                b.act(most);
            }
            let rest = b.next_of(&handed[1..]);
            [&[goes_on, params[0]], &rest[..]].concat()
        });
        let after = self.region(&handed, OpKind::Yield, |b, params| {
            b.pool.extend_from_slice(&params[1..]);
            for _ in 0..b.dice.below(4) {
                b.act(most);
            }
            let one = b.i32(1);
            let next = b.binary(Binary::Add, params[0], one);
            let rest = b.next_of(&types[1..]);
            [&[next], &rest[..]].concat()
        });
        let results = self.owner(OpKind::While, &entering, &handed, vec![before, after]);
        self.pool.extend(&results[1..]);
    }
}
