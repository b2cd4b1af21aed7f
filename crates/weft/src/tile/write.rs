//! Operations in the place of another one: a writer for passes, what every writer of tile programs can do, and copies.

use super::{Element, Kernel, Op, OpId, OpKind, Region, Type, Value, ValueData};
use crate::dtype::DType;
use crate::id::IdMap;
use crate::scalar::{self, Binary, Cast, Compare};

/// Writes operations, one after the other.
pub(crate) trait WriteOps {
    /// An operation with one result.
    fn one(&mut self, kind: OpKind, operands: &[Value], ty: &Type) -> Value;

    /// The type of a value.
    fn ty(&self, value: Value) -> Type;

    /// A number, or a tensor of it.
    fn constant(&mut self, ty: &Type, bits: u64) -> Value {
        self.one(OpKind::Constant(bits & ty.dtype().mask()), &[], ty)
    }

    /// A float, or a tensor of it.
    fn float(&mut self, ty: &Type, value: f64) -> Value {
        self.constant(ty, scalar::from_f64(ty.dtype(), value))
    }

    /// The value under another element type.
    fn cast(&mut self, cast: Cast, x: Value, to: DType) -> Value {
        let from = self.ty(x);
        if from.element == Element::Scalar(to) {
            return x;
        }
        self.one(OpKind::Cast(cast), &[x], &from.with_element(Element::Scalar(to)))
    }

    /// An operation on two values of one type.
    fn binary(&mut self, op: Binary, x: Value, y: Value) -> Value {
        let ty = self.ty(x);
        self.one(OpKind::Binary(op), &[x, y], &ty)
    }

    /// The operation with the same number everywhere on the right.
    fn with_number(&mut self, op: Binary, x: Value, number: u64) -> Value {
        let ty = self.ty(x);
        let number = self.constant(&ty, number);
        self.binary(op, x, number)
    }

    /// A comparison of two values of one type.
    fn compare(&mut self, op: Compare, x: Value, y: Value) -> Value {
        let truth = self.ty(x).with_element(Element::Scalar(DType::I1));
        self.one(OpKind::Compare(op), &[x, y], &truth)
    }

    /// One of two values.
    fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        let ty = self.ty(yes);
        self.one(OpKind::Select, &[condition, yes, no], &ty)
    }

    /// The elements in the same order under another shape.
    fn reshape(&mut self, x: Value, shape: &[u64]) -> Value {
        let ty = self.ty(x);
        if ty.shape[..] == *shape {
            return x;
        }
        let reshape = OpKind::Reshape { allow_reorder: false };
        self.one(reshape, &[x], &Type::tensor(ty.element, shape))
    }

    /// The elements repeated along dimensions of one element.
    fn broadcast(&mut self, x: Value, shape: &[u64]) -> Value {
        let ty = self.ty(x);
        if ty.shape[..] == *shape {
            return x;
        }
        self.one(OpKind::Broadcast, &[x], &Type::tensor(ty.element, shape))
    }

    /// The last two of the dimensions exchanged.
    fn transposed(&mut self, x: Value) -> Value {
        let ty = self.ty(x);
        let rank = ty.shape.len();
        let mut order: Vec<u8> = (0..rank as u8).collect();
        let mut shape = ty.shape.to_vec();
        if rank >= 2 {
            order.swap(rank - 2, rank - 1);
            shape.swap(rank - 2, rank - 1);
        }
        self.one(OpKind::Trans { order }, &[x], &Type::tensor(ty.element, &shape))
    }

    /// Two tensors in turn along the last dimension.
    fn interleaved(&mut self, x: Value, y: Value) -> Value {
        let ty = self.ty(x);
        let mut shape = ty.shape.to_vec();
        shape.push(2);
        let joined = self.one(OpKind::Join, &[x, y], &Type::tensor(ty.element, &shape));
        shape.pop();
        if let Some(last) = shape.last_mut() {
            *last *= 2;
        }
        self.reshape(joined, &shape)
    }
}

/// Writes operations in the place of one of a kernel.
pub(crate) struct Rewrite<'a> {
    pub(crate) kernel: &'a mut Kernel,
    /// The operation whose place it is.
    pub(crate) at: OpId,
    pub(crate) out: &'a mut Vec<OpId>,
}

impl Rewrite<'_> {
    fn push(&mut self, kind: OpKind, operands: &[Value], results: Vec<Value>) -> OpId {
        let Op { loc, span, .. } = self.kernel.ops[self.at];
        let (operands, regions) = (operands.to_vec(), Vec::new());
        let op = Op { kind, operands, results, regions, loc, span, spelled: false };
        let id = self.kernel.ops.push(op);
        self.out.push(id);
        id
    }

    /// Lets the last operation define a value that there is.
    pub(crate) fn conclude(&mut self, result: Value) {
        if let Some(&last) = self.out.last() {
            self.kernel.ops[last].results = vec![result];
        }
    }

    /// An operation without results.
    pub(crate) fn nothing(&mut self, kind: OpKind, operands: &[Value]) -> OpId {
        self.push(kind, operands, Vec::new())
    }

    /// A scalar everywhere in a shape.
    pub(crate) fn splat(&mut self, x: Value, shape: &[u64]) -> Value {
        let element = self.ty(x).element;
        self.one(OpKind::Splat, &[x], &Type::tensor(element, shape))
    }
}

impl WriteOps for Rewrite<'_> {
    fn one(&mut self, kind: OpKind, operands: &[Value], ty: &Type) -> Value {
        let first = self.kernel.ops[self.at].results.first();
        let name = first.and_then(|&result| self.kernel.values[result].name.clone());
        let result = self.kernel.values.push(ValueData::new(ty.clone(), name));
        self.push(kind, operands, vec![result]);
        result
    }

    fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value).clone()
    }
}

/// For values, what stands for each in copies.
pub(crate) type Copies = IdMap<Value, Option<Value>>;

impl Kernel {
    /// A copy of an operation with all that is inside it, on what stands for its operands.
    pub(crate) fn copy_of(&mut self, id: OpId, copies: &mut Copies) -> OpId {
        let op = self.ops[id].clone();
        let operands = op.operands.iter().map(|&value| copies[value].unwrap_or(value)).collect();
        let regions = op.regions.iter().map(|region| self.copy_of_region(region, copies)).collect();
        let results = self.copies_of(&op.results, copies);
        self.ops.push(Op { operands, results, regions, ..op })
    }

    /// A copy of a region, for whose parameters others stand in it.
    pub(crate) fn copy_of_region(&mut self, region: &Region, copies: &mut Copies) -> Region {
        let params = self.copies_of(&region.params, copies);
        let ops = region.ops.iter().map(|&id| self.copy_of(id, copies)).collect();
        Region { params, ops }
    }

    /// Values of the same types with the same names, which stand for these in copies from here on.
    pub(crate) fn copies_of(&mut self, values: &[Value], copies: &mut Copies) -> Vec<Value> {
        let copy = |&value: &Value| {
            let data = self.values[value].clone();
            let copy = self.values.push(data);
            copies.set(value, Some(copy));
            copy
        };
        values.iter().map(copy).collect()
    }
}

/// What stands in front of an operation and behind it.
#[derive(Clone, Default)]
pub(crate) struct Around {
    pub(crate) before: Vec<OpId>,
    pub(crate) after: Vec<OpId>,
}

impl Kernel {
    /// Puts what stands around operations there.
    pub(crate) fn put_around(&mut self, around: &IdMap<OpId, Around>) {
        let body = core::mem::take(&mut self.body);
        self.body = self.with_around(body, around);
    }

    fn with_around(&mut self, region: Region, around: &IdMap<OpId, Around>) -> Region {
        let mut ops = Vec::with_capacity(region.ops.len());
        for id in region.ops {
            let regions = core::mem::take(&mut self.ops[id].regions);
            let regions = regions.into_iter().map(|inner| self.with_around(inner, around));
            self.ops[id].regions = regions.collect();
            let Around { before, after } = &around[id];
            ops.extend(before.iter().chain([&id]).chain(after));
        }
        Region { ops, ..region }
    }
}
