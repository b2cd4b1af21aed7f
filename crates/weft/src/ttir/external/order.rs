//! Bessel functions of any order, by their recurrence.
//!
//! `f(k+1) = 2k/x f(k) - f(k-1)` holds for both kinds (Abramowitz and Stegun 9.1.27). Upward it is
//! stable for the second kind, and for the first up to an order of `|x|`. Above that the first kind
//! is found downward (Miller's algorithm, section 9.12 there), from so high an order that where it began
//! does not show. Of arguments near zero the first term of the power series is all there is.
//!
//! The orders of a tensor differ, and its elements take the rounds of the greatest one together.

use super::super::rewrite::Rewriter;
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare, Function, Unary};
use crate::tile::{LoopHints, OpKind, Region, Type, Value, WriteOps};

/// What is smaller is near zero: the second term of the power series is lost.
fn tiny(dtype: DType) -> f64 {
    2f64.powi(if dtype == DType::F32 { -14 } else { -29 })
}

/// Downward, numbers grow until they are scaled down.
fn large(dtype: DType) -> f64 {
    if dtype == DType::F32 { 1e15 } else { 1e100 }
}

impl Rewriter<'_, '_, '_> {
    /// A call of `jn`, `jnf`, `yn` or `ynf`.
    pub(super) fn bessel(&mut self, name: &str, operands: &[Value]) -> Option<Value> {
        let (second, dtype) = match name {
            "jn" => (false, DType::F64),
            "jnf" => (false, DType::F32),
            "yn" => (true, DType::F64),
            "ynf" => (true, DType::F32),
            _ => return None,
        };
        let &[order, x] = operands else { return None };
        if self.ty(order).dtype() != DType::I32 || self.ty(x).dtype() != dtype {
            return None;
        }
        let (order, bound) = (self.cast(Cast::ExtS, order, DType::I64), self.greatest(order));
        let bound = self.cast(Cast::ExtS, bound, DType::I64);
        let result =
            if second { self.upward(order, bound, x)[1] } else { self.first(order, bound, x) };
        let zeroth = self.function_of(if second { Function::Y0 } else { Function::J0 }, x);
        let is_zeroth = self.compared(Compare::Eq, order, 0);
        let result = self.select(is_zeroth, zeroth, result);
        let ty = self.ty(x);
        let none = self.float(&ty, f64::NAN);
        let is_negative = self.compared(Compare::Slt, order, 0);
        Some(self.select(is_negative, none, result))
    }

    /// The first kind, of orders above zero.
    fn first(&mut self, order: Value, bound: Value, x: Value) -> Value {
        let ty = self.ty(x);
        let magnitude = self.one(OpKind::Unary(Unary::Abs), &[x], &ty);
        let [series, upward] = self.upward_first(order, bound, magnitude);
        let downward = self.downward(order, bound, magnitude);
        let as_float = self.cast(Cast::FloatFromS, order, ty.dtype());
        let is_above = self.compare(Compare::Oge, magnitude, as_float);
        let result = self.select(is_above, upward, downward);
        let tiny = self.float(&ty, tiny(ty.dtype()));
        let is_tiny = self.compare(Compare::Olt, magnitude, tiny);
        let result = self.select(is_tiny, series, result);
        // Odd functions of odd orders.
        let odd = self.with_number(Binary::And, order, 1);
        let odd = self.compared(Compare::Ne, odd, 0);
        let zero = self.float(&ty, 0.0);
        let below = self.compare(Compare::Olt, x, zero);
        let turned = self.binary(Binary::And, odd, below);
        let negative = self.one(OpKind::Unary(Unary::Neg), &[result], &ty);
        self.select(turned, negative, result)
    }

    /// The second kind of the order below and of the order itself; infinite once it is.
    fn upward(&mut self, order: Value, bound: Value, x: Value) -> Vec<Value> {
        let [low, high] =
            [Function::Y0, Function::Y1].map(|function| self.function_of(function, x));
        let ty = self.ty(x);
        let infinity = self.float(&ty, f64::INFINITY);
        let one = self.constant(&Type::scalar(DType::I64), 1);
        self.counted([one, bound], &[low, high], |inner, step, carried| {
            let &[low, high] = carried else { return Vec::new() };
            let next = inner.following(step, x, [high, low]);
            let goes_on = inner.precedes(step, order);
            let size = inner.one(OpKind::Unary(Unary::Abs), &[high], &ty);
            let finite = inner.compare(Compare::Olt, size, infinity);
            let goes_on = inner.binary(Binary::And, goes_on, finite);
            vec![inner.select(goes_on, high, low), inner.select(goes_on, next, high)]
        })
    }

    /// The first kind of a magnitude near zero and of one above the order.
    fn upward_first(&mut self, order: Value, bound: Value, x: Value) -> [Value; 2] {
        let [low, high] =
            [Function::J0, Function::J1].map(|function| self.function_of(function, x));
        let ty = self.ty(x);
        let (one, half) = (self.float(&ty, 1.0), self.float(&ty, 0.5));
        let half = self.binary(Binary::Mul, x, half);
        let start = self.constant(&Type::scalar(DType::I64), 1);
        let end = self.with_number(Binary::Add, bound, 1);
        let found = self.counted([start, end], &[one, low, high], |inner, step, carried| {
            let &[series, low, high] = carried else { return Vec::new() };
            let next = inner.following(step, x, [high, low]);
            let goes_on = inner.precedes(step, order);
            let number = inner.number_like(step, &ty);
            let factor = inner.binary(Binary::Div, half, number);
            let longer = inner.binary(Binary::Mul, series, factor);
            let after = inner.with_number(Binary::Add, order, 1);
            let counts = inner.precedes(step, after);
            vec![
                inner.select(counts, longer, series),
                inner.select(goes_on, high, low),
                inner.select(goes_on, next, high),
            ]
        });
        [found[0], found[2]]
    }

    /// The first kind of a magnitude below the order: any numbers far above it, taken downward, are in
    /// the end as the function's are, but for a factor that the orders 0 and 1 tell.
    fn downward(&mut self, order: Value, bound: Value, x: Value) -> Value {
        let ty = self.ty(x);
        let [zero, one, large, scale] = [0.0, 1.0, large(ty.dtype()), 1.0 / large(ty.dtype())]
            .map(|number| self.float(&ty, number));
        // Where they began is lost after 8 orders times the cube root of the order, and a few.
        let above = self.with_number(Binary::ShrS, bound, 2);
        let top = self.binary(Binary::Add, bound, above);
        let top = self.with_number(Binary::Add, top, 32);
        let start = self.constant(&Type::scalar(DType::I64), 0);
        let found = self.counted([start, top], &[zero, one, zero], |inner, step, carried| {
            let &[above, own, kept] = carried else { return Vec::new() };
            let step = inner.binary(Binary::Sub, top, step);
            let next = inner.following(step, x, [own, above]);
            let below = inner.with_number(Binary::Add, order, 1);
            let step = inner.splat_like(step, &ty);
            let is_own = inner.compare(Compare::Eq, step, below);
            let kept = inner.select(is_own, next, kept);
            let size = inner.one(OpKind::Unary(Unary::Abs), &[next], &ty);
            let scales = inner.compare(Compare::Ogt, size, large);
            [own, next, kept]
                .map(|value| {
                    let scaled = inner.binary(Binary::Mul, value, scale);
                    inner.select(scales, scaled, value)
                })
                .to_vec()
        });
        let [first, zeroth] =
            [Function::J1, Function::J0].map(|function| self.function_of(function, x));
        let sizes = [zeroth, first].map(|value| self.one(OpKind::Unary(Unary::Abs), &[value], &ty));
        // Not the one beside whose zero this is.
        let by_zeroth = self.compare(Compare::Oge, sizes[0], sizes[1]);
        let known = self.select(by_zeroth, zeroth, first);
        let found_there = self.select(by_zeroth, found[1], found[0]);
        let factor = self.binary(Binary::Div, known, found_there);
        self.binary(Binary::Mul, found[2], factor)
    }

    /// `2k/x f(k) - f(k-1)`, or the same downward.
    fn following(&mut self, step: Value, x: Value, [own, before]: [Value; 2]) -> Value {
        let ty = self.ty(x);
        let number = self.number_like(step, &ty);
        let twice = self.binary(Binary::Add, number, number);
        let factor = self.binary(Binary::Div, twice, x);
        let grown = self.binary(Binary::Mul, factor, own);
        self.binary(Binary::Sub, grown, before)
    }

    /// Whether a step comes before these orders.
    fn precedes(&mut self, step: Value, orders: Value) -> Value {
        let ty = self.ty(orders);
        let step = self.splat_like(step, &ty);
        self.compare(Compare::Slt, step, orders)
    }

    /// A step as a float, everywhere in a tensor of a type.
    fn number_like(&mut self, step: Value, ty: &Type) -> Value {
        let number = self.cast(Cast::FloatFromS, step, ty.dtype());
        self.splat_like(number, ty)
    }

    fn function_of(&mut self, function: Function, x: Value) -> Value {
        let ty = self.ty(x);
        self.one(OpKind::Function(function), &[x], &ty)
    }

    /// A comparison with the same integer everywhere.
    fn compared(&mut self, op: Compare, x: Value, number: u64) -> Value {
        let ty = self.ty(x);
        let number = self.constant(&ty, number);
        self.compare(op, x, number)
    }

    /// The greatest of a tensor's integers; a scalar itself.
    fn greatest(&mut self, x: Value) -> Value {
        let ty = self.ty(x);
        if !ty.is_tensor() {
            return x;
        }
        let flat = self.reshape(x, &[ty.elements()]);
        let scalar = Type::scalar(ty.dtype());
        let types = [scalar.clone(), scalar.clone()];
        let reduce = OpKind::Reduce { axis: 0, contract: false };
        let results = self.owner(reduce, &[flat], (&types, &[scalar]), |inner, sides| {
            vec![inner.binary(Binary::MaxS, sides[0], sides[1])]
        });
        results[0]
    }

    /// A loop from one number to below another; gives what it carries.
    fn counted(
        &mut self,
        [from, to]: [Value; 2],
        carried: &[Value],
        body: impl FnOnce(&mut Rewriter<'_, '_, '_>, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let counter = self.ty(from);
        let one = self.constant(&counter, 1);
        let types: Vec<Type> = carried.iter().map(|&value| self.ty(value)).collect();
        let enter = [&[counter], &types[..]].concat();
        let operands = [&[from, to, one], carried].concat();
        self.owner(
            OpKind::For(LoopHints::default()),
            &operands,
            (&enter, &types),
            |inner, params| {
                params.split_first().map_or(Vec::new(), |(&step, rest)| body(inner, step, rest))
            },
        )
    }

    /// An operation with one region, by the types that enter it and those of the results.
    fn owner(
        &mut self,
        kind: OpKind,
        operands: &[Value],
        (enter, results): (&[Type], &[Type]),
        body: impl FnOnce(&mut Rewriter<'_, '_, '_>, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let results: Vec<Value> = results.iter().map(|ty| self.builder.unnamed(ty)).collect();
        let loc = self.builder.place(self.operation.loc);
        let span = self.operation.span;
        let (operands, given) = (operands.to_vec(), results.clone());
        let id = self.builder.push(kind, operands, given, loc, span, self.out);
        let params: Vec<Value> = enter.iter().map(|ty| self.builder.unnamed(ty)).collect();
        let mut ops = Vec::new();
        let mut inner =
            Rewriter { builder: &mut *self.builder, operation: self.operation, out: &mut ops };
        let handed = body(&mut inner, &params);
        inner.hand_over(handed);
        self.builder.set_region(id, Region { params, ops });
        results
    }
}
