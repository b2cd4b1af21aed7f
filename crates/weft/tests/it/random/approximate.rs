//! Sums that no order rounds, and functions whose last places may differ.

use super::build::{Build, tensor};
use super::generate::is_composed;
use weft::dtype::DType;
use weft::scalar::{self, Binary, Function, Unary};
use weft::tile::{OpKind, Type, Value};

impl Build<'_> {
    /// A tensor from an array of its own: sixteenths between -128 and 128.
    fn sixteenths(&mut self, dtype: DType, shape: &[u64]) -> Value {
        let make = |b: &mut Self, size| b.input(dtype, size);
        let pointers = self.pointers(shape, false, false, make);
        self.load(&[pointers])
    }

    /// A sum of floats none of whose partial sums is rounded.
    pub(super) fn sum(&mut self, most: u64) {
        let dtype = self.dice.pick(&[DType::F32, DType::F32, DType::F64]);
        let shape = self.shape(most);
        let value = self.sixteenths(dtype, &shape);
        let axis = self.dice.below(shape.len());
        let results = self
            .reduce(axis, &[value], |b, params| vec![b.binary(Binary::Add, params[0], params[1])]);
        self.pool.extend(results);
    }

    /// Mean, sum of squared distances from it, and count, folded pair by pair: with as many elements
    /// on both sides, as any tree has them, doubles hold each partial result exactly.
    pub(super) fn variance(&mut self, most: u64) {
        let mut shape = self.shape(most);
        let axis = self.dice.below(shape.len());
        shape[axis] = shape[axis].min(64);
        let ty = tensor(DType::F64, &shape);
        let mean = self.sixteenths(DType::F64, &shape);
        let squares = self.constant(&ty, 0);
        let count = self.constant(&ty, scalar::from_f64(DType::F64, 1.0));
        let results = self.reduce(axis, &[mean, squares, count], |b, params| {
            let &[mean, squares, count, other_mean, other_squares, other_count] = params else {
                unreachable!()
            };
            let distance = b.binary(Binary::Sub, other_mean, mean);
            let all = b.binary(Binary::Add, count, other_count);
            let part = b.binary(Binary::Div, other_count, all);
            let step = b.binary(Binary::Mul, distance, part);
            let squared = b.binary(Binary::Mul, distance, step);
            let between = b.binary(Binary::Mul, squared, count);
            let within = b.binary(Binary::Add, squares, other_squares);
            vec![b.binary(Binary::Add, mean, step), b.binary(Binary::Add, within, between), all]
        });
        self.pool.extend(results);
    }

    /// A function that is compiled to an algorithm. What it gives is only moved and stored.
    pub(super) fn approximate(&mut self) {
        let computed = |ty: &Type| ty.dtype().is_float() && !ty.dtype().is_f8();
        let Some(x) = self.any_where(computed) else { return };
        let ty = self.ty(x);
        let dtype = ty.dtype();
        let functions: Vec<Unary> = Unary::ALL
            .iter()
            .copied()
            .filter(|&op| is_composed(op, dtype) && scalar::unary(op, dtype).is_some())
            .collect();
        let of_library = matches!(dtype, DType::F32 | DType::F64) && self.dice.chance(1, 2);
        let mut value = if of_library {
            let function = self.dice.pick(Function::ALL);
            let mut operands = vec![x];
            for _ in 1..function.arity() {
                operands.push(self.of_type(&ty));
            }
            self.op(OpKind::Function(function), &operands, &ty)
        } else if self.dice.chance(1, 8) {
            let y = self.of_type(&ty);
            self.binary(Binary::Pow, x, y)
        } else {
            let function = self.dice.pick(&functions);
            self.op(OpKind::Unary(function), &[x], &ty)
        };
        if ty.is_tensor() && self.dice.chance(1, 3) {
            value = self.moved(value, ty.elements());
        }
        self.store_somewhere(value);
        self.round_newest();
    }
}
