//! Atomics whose outcome depends on no order, but for the rounding of sums.

use super::build::{Build, tensor};
use weft::atomic::{Atomic, Order, Rmw, Scope};
use weft::dtype::DType;
use weft::scalar::{self, Binary, Cast};
use weft::tile::{OpKind, Type};

impl Build<'_> {
    pub(super) fn atomic(&mut self) {
        let order =
            self.dice.pick(&[Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel]);
        let dtype = self.dice.pick(&[DType::I32, DType::I32, DType::I64]);
        let shape = match self.any_tensor() {
            Some(tensor) if self.dice.chance(5, 6) => self.ty(tensor).shape.to_vec(),
            _ => Vec::new(),
        };
        if self.dice.chance(1, 8) && !shape.is_empty() {
            self.sum_in_floats(&shape);
            return;
        }
        let op = self.dice.pick(&[Rmw::Add, Rmw::Max, Rmw::Min, Rmw::UMax, Rmw::Xor, Rmw::Or]);
        let kind = OpKind::Atomic { op: op.into(), order, scope: Scope::Gpu };
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
        if self.dice.chance(1, 6) {
            let make = |b: &mut Self, size| b.input(dtype, size);
            let pointers = self.pointers(&shape, true, true, make);
            let expected = self.of_type(&ty);
            let kind = OpKind::Atomic { op: Atomic::Cas, order, scope: Scope::Gpu };
            let old = self.op(kind, &[pointers, expected, value], &ty);
            self.pool.push(old);
            return;
        }
        if self.dice.chance(1, 2) {
            // A cell for each element: what was there is known.
            let make = |b: &mut Self, size| b.input(dtype, size);
            let pointers = self.pointers(&shape, true, true, make);
            let op = if self.dice.chance(1, 4) { Rmw::Exch } else { op };
            let kind = OpKind::Atomic { op: op.into(), order, scope: Scope::Gpu };
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

    /// Floats below one, added to a few: rounded in every order, and never too large for the type.
    fn sum_in_floats(&mut self, shape: &[u64]) {
        let dtype = self.dice.pick(&[DType::F16, DType::BF16, DType::F32, DType::F64]);
        let ty = tensor(dtype, shape);
        let terms = self.of_type(&tensor(DType::I8, shape));
        let terms = self.op(OpKind::Cast(Cast::FloatFromS), &[terms], &ty);
        let scale = self.constant(&ty, scalar::from_f64(dtype, 1.0 / 128.0));
        let terms = self.binary(Binary::Mul, terms, scale);
        let kind = OpKind::Atomic { op: Rmw::FAdd.into(), order: Order::AcqRel, scope: Scope::Gpu };
        if self.dice.chance(1, 2) {
            // A cell for each element: neighbours may be added to at once.
            let make = |b: &mut Self, size| b.input(dtype, size);
            let pointers = self.pointers(shape, true, true, make);
            let mut operands = vec![pointers, terms];
            if self.dice.chance(1, 3) {
                operands.push(self.truth(shape));
            }
            self.op(kind, &operands, &ty);
            return;
        }
        let index = self.of_type(&tensor(DType::I32, shape));
        let mask = self.number(&tensor(DType::I32, shape), 3);
        let index = self.binary(Binary::And, index, mask);
        let base = self.input(dtype, 4);
        let pointers = self.at(base, index);
        self.op(kind, &[pointers, terms], &ty);
    }
}
