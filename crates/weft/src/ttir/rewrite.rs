//! Operations that become several of the tile program: a writer for these, and the shortest of them.

use super::build::{Builder, UNUSED};
use super::syntax::Operation;
use crate::diagnostic::Diagnostic;
use crate::dtype::DType;
use crate::scalar::{Binary, Cast};
use crate::tile::{Element, OpId, OpKind, Type, Value, WriteOps};

/// Writes operations in the place of one of the text.
pub(super) struct Rewriter<'b, 'a, 'r> {
    pub(super) builder: &'b mut Builder<'a, 'r>,
    pub(super) operation: &'b Operation<'a>,
    pub(super) out: &'b mut Vec<OpId>,
}

impl Rewriter<'_, '_, '_> {
    /// Complains about the operation.
    pub(super) fn refuse<T>(&mut self, message: impl Into<String>) -> Option<T> {
        self.builder.errors.push(Diagnostic::new(self.operation.span, message.into()));
        None
    }

    /// Any operation with several results, under one name.
    pub(super) fn several(
        &mut self,
        kind: OpKind,
        operands: &[Value],
        (name, types): (&str, &[Type]),
    ) -> Vec<Value> {
        let results = self.builder.new_results(name, types);
        let loc = self.builder.place(self.operation.loc);
        let (operands, span) = (operands.to_vec(), self.operation.span);
        self.builder.push(kind, operands, results.clone(), loc, span, self.out);
        results
    }

    /// The raw bits of a value that the program writes as a number, or as a tensor of one.
    pub(super) fn known(&self, value: Value) -> Option<u64> {
        let op = self.builder.ops.values().find(|op| op.results.contains(&value))?;
        match (&op.kind, &op.operands[..]) {
            (OpKind::Constant(bits), _) => Some(*bits),
            (OpKind::Splat, &[scalar]) => self.known(scalar),
            _ => None,
        }
    }

    /// A scalar everywhere in a shape; a tensor of it as it is.
    pub(super) fn splat(&mut self, x: Value, shape: &[u64]) -> Value {
        let ty = self.ty(x);
        if ty.is_tensor() || shape.is_empty() {
            return x;
        }
        self.one(OpKind::Splat, &[x], &Type::tensor(ty.element, shape))
    }

    /// A scalar everywhere in a tensor of a type; a tensor as it is.
    pub(super) fn splat_like(&mut self, x: Value, like: &Type) -> Value {
        let ty = self.ty(x);
        if ty.is_tensor() || like.shape.is_empty() {
            return x;
        }
        self.one(OpKind::Splat, &[x], &like.with_element(ty.element))
    }

    /// The elements of two tensors of one dimension one after the other: joined as columns, turned, and
    /// read row after row.
    pub(super) fn concatenated(&mut self, x: Value, y: Value) -> Option<Value> {
        let ty = self.ty(x);
        let [extent] = ty.shape[..] else {
            return self.refuse("`tt.cat` takes tensors of one dimension");
        };
        let columns = Type::tensor(ty.element, &[extent, 2]);
        let joined = self.one(OpKind::Join, &[x, y], &columns);
        let turned = self.transposed(joined);
        Some(self.reshape(turned, &[extent * 2]))
    }

    /// The magnitude of a float of eight bits whose first bit is nothing but its sign: no such float is
    /// computed with, but a bit can be cleared.
    pub(super) fn magnitude_of_byte(&mut self, x: Value) -> Value {
        let Element::Scalar(dtype) = self.ty(x).element else { return x };
        let bits = self.cast(Cast::Bits, x, DType::I8);
        let cleared = self.with_number(Binary::And, bits, 0x7f);
        self.cast(Cast::Bits, cleared, dtype)
    }

    /// At least `low` and at most `high`.
    pub(super) fn clamped(&mut self, [x, low, high]: [Value; 3], propagate_nan: bool) -> Value {
        let (above, below) = if propagate_nan {
            (Binary::Maximum, Binary::Minimum)
        } else {
            (Binary::MaxNum, Binary::MinNum)
        };
        let raised = self.binary(above, x, low);
        self.binary(below, raised, high)
    }
}

impl WriteOps for Rewriter<'_, '_, '_> {
    fn one(&mut self, kind: OpKind, operands: &[Value], ty: &Type) -> Value {
        let name = self.operation.results.first().map_or(UNUSED, |result| result.name);
        self.builder.push_one(kind, operands.to_vec(), (name, ty), self.operation, self.out)
    }

    fn ty(&self, value: Value) -> Type {
        self.builder.ty(value).clone()
    }
}
