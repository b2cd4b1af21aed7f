//! Scans, gathers and histograms.

use super::build::{Build, tensor};
use weft::dtype::DType;
use weft::scalar::Binary;
use weft::tile::{OpKind, Type, Value};

impl Build<'_> {
    /// A scan by an operation that need not commute.
    pub(super) fn scanned(&mut self) {
        let computed = |ty: &Type| ty.is_tensor() && !ty.dtype().is_f8();
        let Some(value) = self.any_where(computed) else { return };
        let ty = self.ty(value);
        let axis = self.dice.below(ty.shape.len()) as u8;
        let kind = OpKind::Scan { axis, reverse: self.dice.chance(1, 2) };
        let composes = ty.dtype().is_int() && ty.dtype() != DType::I1 && self.dice.chance(1, 3);
        let mut operands = vec![value];
        if composes {
            operands.push(self.of_type(&ty));
        } else if self.dice.chance(1, 4) {
            let dtype = self.dtype();
            operands.push(self.of_type(&tensor(dtype, &ty.shape)));
        }
        let around = self.any_where(|ty| *ty == Type::scalar(DType::I32));
        let types = self.types(&operands);
        let scalars: Vec<Type> = types.iter().map(|ty| Type::scalar(ty.dtype())).collect();
        let params = [scalars.clone(), scalars].concat();
        let region = self.region(&params, OpKind::Yield, |b, params| {
            let (left, right) = params.split_at(params.len() / 2);
            if composes {
                return b.composed(left, right);
            }
            left.iter().zip(right).map(|(&x, &y)| b.folded(x, y, around)).collect()
        });
        let results = self.owner(kind, &operands, &types, vec![region]);
        self.pool.extend(results);
    }

    /// One map `x -> a x + b` after another.
    fn composed(&mut self, first: &[Value], then: &[Value]) -> Vec<Value> {
        let (&[a, b], &[c, d]) = (first, then) else { unreachable!() };
        let scaled = self.binary(Binary::Mul, b, c);
        vec![self.binary(Binary::Mul, a, c), self.binary(Binary::Add, scaled, d)]
    }

    /// Elements by indices that lie within the axis.
    pub(super) fn gathered(&mut self, most: u64) {
        let Some(source) = self.any_tensor() else { return };
        let ty = self.ty(source);
        let axis = self.dice.below(ty.shape.len());
        let extent = ty.shape[axis];
        let mut shape = ty.shape.to_vec();
        if self.dice.chance(1, 2) {
            let room = (most * extent / ty.elements()).max(1);
            shape[axis] = 1 << self.dice.below(room.ilog2() as usize + 1);
        }
        let dtype = self.dice.pick(&[DType::I32, DType::I32, DType::I64, DType::I16]);
        let indices = tensor(dtype, &shape);
        let any = self.of_type(&indices);
        let last = self.number(&indices, extent - 1);
        let within = self.binary(Binary::And, any, last);
        let result = Type::tensor(ty.element, &shape);
        let gathered = self.op(OpKind::Gather { axis: axis as u8 }, &[source, within], &result);
        self.pool.push(gathered);
    }

    /// Counts of small numbers; large ones are not counted.
    pub(super) fn counted(&mut self) {
        let int = |ty: &Type| ty.is_tensor() && ty.dtype().is_int() && ty.dtype() != DType::I1;
        let Some(value) = self.any_where(int) else { return };
        let count = self.ty(value).elements();
        let flat = self.reshape(value, &[count]);
        let bins = 1 << self.dice.below(9);
        let mut operands = vec![flat];
        if self.dice.chance(3, 4) {
            let ty = self.ty(flat);
            let below = self.number(&ty, (2 * bins - 1) & ty.dtype().mask() >> 1);
            operands[0] = self.binary(Binary::And, flat, below);
        }
        if self.dice.chance(1, 3) {
            operands.push(self.truth(&[count]));
        }
        let counts = self.op(OpKind::Histogram, &operands, &tensor(DType::I32, &[bins]));
        self.pool.push(counts);
    }
}
