//! The types of each operation's operands and results: one row of the verifier's rules each.

use super::{Element, OpKind, Type, descriptor, local, spelling, transfer};
use crate::dtype::DType;
use crate::scalar::{self, Cast};

/// Whether operands and results are as a kind asks, and what it asks.
type Rule = (bool, &'static str);

/// Whether operands and results are as the kind asks; else what it asks.
pub(super) fn check(
    kind: &OpKind,
    operands: &[&Type],
    results: &[&Type],
) -> Result<(), &'static str> {
    let (ok, rule) = match kind {
        OpKind::Constant(_)
        | OpKind::Poison
        | OpKind::MakeRange { .. }
        | OpKind::ProgramId(_)
        | OpKind::NumPrograms(_) => source(kind, operands, results),
        OpKind::Splat
        | OpKind::Unsplat
        | OpKind::ExpandDims { .. }
        | OpKind::Broadcast
        | OpKind::Reshape { .. }
        | OpKind::Trans { .. }
        | OpKind::ConvertLayout
        | OpKind::Join
        | OpKind::Split => rearranged(kind, operands, results),
        OpKind::Unary(_)
        | OpKind::Binary(_)
        | OpKind::Compare(_)
        | OpKind::Select
        | OpKind::Cast(_)
        | OpKind::Fma
        | OpKind::Directed(..)
        | OpKind::Function(_)
        | OpKind::AddPtr => elementwise(kind, operands, results),
        OpKind::Load(_) | OpKind::Store(_) | OpKind::Atomic { .. } => {
            access(kind, operands, results)
        }
        OpKind::Descriptor(op) => descriptor::rule(*op, operands, results),
        OpKind::Transfer(op) => transfer::rule(*op, operands, results),
        OpKind::DotScaled(scaled) => scaled.rule(operands, results),
        OpKind::Dot(_)
        | OpKind::WarpgroupDot(_)
        | OpKind::Reduce { .. }
        | OpKind::Scan { .. }
        | OpKind::Gather { .. }
        | OpKind::Histogram => combined(kind, operands, results),
        OpKind::Local(op) => op.rule(operands, results),
        OpKind::AsyncCopy(op) => op.rule(operands, results),
        OpKind::Barrier | OpKind::GridWait | OpKind::GridLaunch => {
            (operands.is_empty() && results.is_empty(), "takes nothing and gives nothing")
        }
        OpKind::Print { signed, .. } => (
            results.is_empty()
                && signed.len() == operands.len()
                && operands.iter().all(|ty| {
                    ty.memory().is_none() && ty.element != Element::Token && !ty.is_descriptor()
                }),
            "takes numbers and pointers, says of each whether it has a sign, and gives nothing",
        ),
        OpKind::Assert { .. } => (
            matches!((operands, results), ([condition], []) if is_truth(condition)),
            "takes an i1 and gives nothing",
        ),
        OpKind::InlineAsm(_) => (
            results.first().is_some_and(|first| {
                let word = |ty: &&Type| {
                    matches!(ty.element, Element::Scalar(DType::I32 | DType::I64))
                        && ty.shape == first.shape
                };
                operands.iter().chain(results).all(word)
            }),
            "takes and gives integers of 32 or 64 bits, all of one shape",
        ),
        OpKind::For(_) => (
            matches!((operands, results), ([low, high, step, carried @ ..], results)
                if low == high && low == step && !low.is_tensor() && is_number(low)
                    && low.dtype().is_int() && carried == results),
            "takes three integers of one type and the values it carries, and gives such values",
        ),
        // The regions say it all.
        OpKind::While => (true, ""),
        OpKind::If => {
            (operands == [&Type::scalar(DType::I1)], "takes an i1 and gives what its regions yield")
        }
        OpKind::Yield => (results.is_empty(), "gives nothing"),
        OpKind::Condition => (
            results.is_empty() && operands.first() == Some(&&Type::scalar(DType::I1)),
            "takes an i1 and the values it hands over",
        ),
        OpKind::Return => (operands.is_empty() && results.is_empty(), "takes and gives nothing"),
    };
    if ok { Ok(()) } else { Err(rule) }
}

/// What an operation that takes nothing gives.
fn source(kind: &OpKind, operands: &[&Type], results: &[&Type]) -> Rule {
    match kind {
        OpKind::Constant(bits) => (
            matches!((operands, results), ([], [r])
                if is_number(r) && bits & !r.dtype().mask() == 0),
            "gives a number whose bits fit its type",
        ),
        OpKind::Poison => (
            operands.is_empty() && matches!(results, [r] if !r.is_descriptor()),
            "takes nothing and gives one value, which is no descriptor",
        ),
        OpKind::MakeRange { start, end } => (
            matches!((operands, results), ([], [r])
                if is_number(r) && r.dtype() == DType::I32 && matches!(r.shape[..], [extent]
                    if i128::from(*end) - i128::from(*start) == i128::from(extent))),
            "gives a tensor of `end - start` elements i32",
        ),
        OpKind::ProgramId(axis) | OpKind::NumPrograms(axis) => (
            operands.is_empty() && *axis < 3 && results == [&Type::scalar(DType::I32)],
            "of an axis 0, 1 or 2 gives an i32",
        ),
        // Every other kind has a row elsewhere.
        _ => (false, "has no types"),
    }
}

/// Operations that put elements in other places.
fn rearranged(kind: &OpKind, operands: &[&Type], results: &[&Type]) -> Rule {
    match kind {
        OpKind::Splat => (
            matches!((operands, results), ([x], [r])
                if !x.is_tensor() && r.is_tensor() && x.element == r.element),
            "takes a scalar and gives a tensor of such",
        ),
        OpKind::Unsplat => (
            matches!((operands, results), ([x], [r])
                if x.is_tensor() && x.elements() == 1 && !r.is_tensor() && x.element == r.element),
            "takes a tensor of one element and gives the element",
        ),
        OpKind::ExpandDims { axis } => (
            matches!((operands, results), ([x], [r])
                if x.is_tensor() && x.element == r.element && is_expanded(x, r, *axis)),
            "adds a dimension of size one at its axis",
        ),
        OpKind::Broadcast => (
            matches!((operands, results), ([x], [r])
                if x.is_tensor() && x.element == r.element && x.shape.len() == r.shape.len()
                    && x.shape.iter().zip(&r.shape).all(|(from, to)| from == to || *from == 1)),
            "repeats dimensions of size one",
        ),
        OpKind::Reshape { .. } => (
            matches!((operands, results), ([x], [r])
                if x.is_tensor() && r.is_tensor() && x.element == r.element
                    && x.elements() == r.elements()),
            "keeps the number and the type of the elements",
        ),
        OpKind::Trans { order } => (
            matches!((operands, results), ([x], [r])
                if x.is_tensor() && x.element == r.element && is_permuted(x, r, order)),
            "permutes the dimensions by its order",
        ),
        OpKind::ConvertLayout => (
            matches!((operands, results), ([x], [r])
                if x.is_tensor() && r.is_tensor() && x.element == r.element && x.shape == r.shape),
            "keeps the shape and the type of the elements",
        ),
        OpKind::Join => (
            matches!((operands, results), ([x, y], [r])
                if x.is_tensor() && x == y && is_joined(x, r)),
            "takes two tensors of one type and gives one with a new last dimension of size two",
        ),
        OpKind::Split => (
            matches!((operands, results), ([x], [a, b])
                if a.is_tensor() && a == b && is_joined(a, x)),
            "takes a tensor whose last of several dimensions has size two and gives its halves",
        ),
        // Every other kind has a row elsewhere.
        _ => (false, "has no types"),
    }
}

/// Operations on elements with the same index.
fn elementwise(kind: &OpKind, operands: &[&Type], results: &[&Type]) -> Rule {
    match kind {
        OpKind::Unary(unary) => (
            matches!((operands, results), ([x], [r])
                if is_number(x) && x == r && scalar::unary(*unary, x.dtype()).is_some()),
            "takes a number of a type that has the operation and gives one",
        ),
        OpKind::Binary(binary) => (
            matches!((operands, results), ([x, y], [r])
                if is_number(x) && x == y && x == r
                    && scalar::binary(*binary, x.dtype()).is_some()
                    && (x.dtype().bits() >= 32
                        || !matches!(binary, scalar::Binary::MulHiU | scalar::Binary::MulHiS))),
            "takes two numbers of a type that has the operation and gives one",
        ),
        OpKind::Compare(compare) => (
            matches!((operands, results), ([x, y], [r])
                if is_number(x) && x == y && is_truth(r) && r.shape == x.shape
                    && scalar::compare(*compare, x.dtype()).is_some()),
            "takes two numbers of a type that has the comparison and gives i1",
        ),
        OpKind::Select => (
            matches!((operands, results), ([c, x, y], [r])
                if x == y && x == r && x.element != Element::Token && !x.is_descriptor() && is_truth(c) && (!c.is_tensor() || c.shape == x.shape)),
            "takes an i1 and two values of one type and gives one of them",
        ),
        OpKind::Cast(cast) => (
            matches!((operands, results), ([x], [r]) if x.shape == r.shape
                && does_cast(*cast, x.element, r.element)),
            "takes and gives types that it converts between",
        ),
        OpKind::Fma => (
            matches!((operands, results), ([x, y, z], [r])
                if is_number(x) && x.dtype().is_float() && !x.dtype().is_f8() && x == y && y == z
                    && z == r),
            "takes three floats of one type and gives one",
        ),
        OpKind::Directed(op, _) => {
            (is_of_floats(op.arity(), operands, results), "takes numbers f32 or f64 and gives one")
        }
        OpKind::Function(function) => (
            is_of_floats(function.arity(), operands, results),
            "takes as many numbers f32 or f64 as the function has operands and gives one",
        ),
        OpKind::AddPtr => (
            matches!((operands, results), ([p, o], [r])
                if p.element.pointee().is_some() && p == r && p.shape == o.shape
                    && matches!(o.element, Element::Scalar(DType::I32 | DType::I64))),
            "takes pointers and offsets i32 or i64 of one shape and gives pointers",
        ),
        // Every other kind has a row elsewhere.
        _ => (false, "has no types"),
    }
}

/// The rule of an access through pointers.
fn access(kind: &OpKind, operands: &[&Type], results: &[&Type]) -> Rule {
    match kind {
        OpKind::Load(_) => (
            match (operands, results) {
                ([p], [r]) => is_access(p, r, None),
                ([p, mask], [r]) => is_access(p, r, Some(mask)),
                ([p, mask, other], [r]) => is_access(p, r, Some(mask)) && other == r,
                _ => false,
            },
            "takes pointers, a mask i1 and other values, and gives values of the pointee",
        ),
        OpKind::Store(_) => (
            match (operands, results) {
                ([p, v], []) => is_access(p, v, None),
                ([p, v, mask], []) => is_access(p, v, Some(mask)),
                _ => false,
            },
            "takes pointers, values of the pointee and a mask i1",
        ),
        OpKind::Atomic { op, .. } => (
            match (operands, results) {
                ([p, rest @ ..], [r]) => {
                    let (values, mask) = rest.split_at(op.values().min(rest.len()));
                    let (least, most) = spelling::atomic(*op).count();
                    (least..=most).contains(&operands.len())
                        && values.iter().all(|v| v == r)
                        && is_access(p, r, mask.first().copied())
                        && r.dtype().bits() >= 16
                        && op.is_on(r.dtype())
                }
                _ => false,
            },
            match op.values() {
                1 => {
                    "takes pointers, values of a pointee that has the operation and a mask i1, and \
                     gives values"
                }
                _ => {
                    "takes pointers and two values of a pointee of 16 bits or more, and gives values"
                }
            },
        ),
        // Every other kind has a row elsewhere.
        _ => (false, "has no types"),
    }
}

/// Operations on elements with different indices.
fn combined(kind: &OpKind, operands: &[&Type], results: &[&Type]) -> Rule {
    match kind {
        OpKind::Dot(_) => (
            matches!((operands, results), ([a, b, c], [r]) if c == r && is_product(a, b, c)),
            "takes M x K, K x N and M x N of matching elements, those of the sum wide enough for the \
             factors, or as many matrices of each, and gives M x N",
        ),
        OpKind::WarpgroupDot(_) => (
            matches!((operands, results), ([a, b, c, keep @ ..], [r])
                if c == r && c.shape.len() == 2 && b.memory().is_some() && is_product(a, b, c)
                    && local::is_readable(a) && local::is_readable(b)
                    && keep.len() <= 1 && keep.iter().all(|keep| **keep == Type::scalar(DType::I1))),
            "takes M x K in memory or as a tensor, K x N in memory, and M x N, as `dot` does, and \
             whether M x N counts, an i1; it gives M x N",
        ),
        OpKind::Reduce { axis, .. } => {
            (is_reduced(operands, results, *axis), "takes tensors of one shape and drops its axis")
        }
        OpKind::Scan { axis, .. } => (
            operands.first().is_some_and(|first| usize::from(*axis) < first.shape.len())
                && operands == results
                && operands.iter().all(|operand| operand.shape == operands[0].shape),
            "takes tensors of one shape that has its axis, and gives such tensors",
        ),
        OpKind::Gather { axis } => (
            matches!((operands, results), ([x, i], [r]) if is_gathered(x, i, r, *axis)),
            "takes a tensor, indices i8 to i64 that differ from it in the axis's extent, and gives \
             elements of the tensor in the indices' shape",
        ),
        OpKind::Histogram => (
            matches!((operands, results), ([x, mask @ ..], [r])
                if is_number(x) && is_index(x) && x.shape.len() == 1
                    && matches!(mask, [] | [_])
                    && mask.iter().all(|mask| is_truth(mask) && mask.shape == x.shape)
                    && is_number(r) && r.dtype() == DType::I32 && r.shape.len() == 1),
            "takes integers i8 to i64 of one dimension and a mask i1, and gives counts i32 of one \
             dimension",
        ),
        // Every other kind has a row elsewhere.
        _ => (false, "has no types"),
    }
}

fn is_number(ty: &Type) -> bool {
    matches!(ty.element, Element::Scalar(_))
}

fn is_truth(ty: &Type) -> bool {
    ty.element == Element::Scalar(DType::I1)
}

/// Whether values go through pointers under a mask.
fn is_access(pointers: &Type, values: &Type, mask: Option<&Type>) -> bool {
    pointers.element.pointee().map(Element::Scalar) == Some(values.element)
        && pointers.shape == values.shape
        && mask.is_none_or(|mask| is_truth(mask) && mask.shape == pointers.shape)
}

fn is_expanded(from: &Type, to: &Type, axis: u8) -> bool {
    let mut shape = from.shape.clone();
    let axis = usize::from(axis);
    if axis > shape.len() {
        return false;
    }
    shape.insert(axis, 1);
    shape == to.shape
}

/// Whether elements of the second type are those of the first in pairs, along a new last dimension.
fn is_joined(half: &Type, joined: &Type) -> bool {
    let (last, rest) = match joined.shape.split_last() {
        Some((last, rest)) => (*last, rest),
        None => return false,
    };
    last == 2 && rest == &half.shape[..] && half.element == joined.element
}

/// Whether a tensor's elements can be indices.
fn is_index(ty: &Type) -> bool {
    matches!(ty.element, Element::Scalar(DType::I8 | DType::I16 | DType::I32 | DType::I64))
}

fn is_gathered(source: &Type, indices: &Type, result: &Type, axis: u8) -> bool {
    let agree = |(dim, (from, to)): (usize, (&u64, &u64))| dim == usize::from(axis) || from == to;
    is_index(indices)
        && usize::from(axis) < source.shape.len()
        && source.shape.len() == indices.shape.len()
        && source.shape.iter().zip(&indices.shape).enumerate().all(agree)
        && result.element == source.element
        && result.shape == indices.shape
}

fn is_permuted(from: &Type, to: &Type, order: &[u8]) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.iter().map(|&axis| usize::from(axis)).eq(0..from.shape.len())
        && to.shape.len() == order.len()
        && order
            .iter()
            .zip(&to.shape)
            .all(|(&axis, extent)| from.shape.get(usize::from(axis)) == Some(extent))
}

fn does_cast(cast: Cast, from: Element, to: Element) -> bool {
    match (from, to) {
        (Element::Scalar(from), Element::Scalar(to)) => scalar::cast_applies(cast, from, to),
        (Element::Pointer(_), Element::Pointer(_) | Element::Scalar(DType::I64))
        | (Element::Scalar(DType::I64), Element::Pointer(_)) => cast == Cast::Bits,
        _ => false,
    }
}

fn is_product(a: &Type, b: &Type, c: &Type) -> bool {
    let ([a_outer @ .., m, k], [b_outer @ .., k2, n], [outer @ .., m2, n2]) =
        (&a.shape[..], &b.shape[..], &c.shape[..])
    else {
        return false;
    };
    (m, n, k) == (m2, n2, k2)
        && (a_outer, b_outer) == (outer, outer)
        && is_number(a)
        && is_number(c)
        && a.element == b.element
        && a.dtype().is_float() == c.dtype().is_float()
        && holds(c.dtype(), a.dtype())
        && !c.dtype().is_f8()
}

/// Whether a type of sums holds every number of another type.
fn holds(sum: DType, factor: DType) -> bool {
    match (factor, sum) {
        _ if factor == sum => true,
        (DType::F16, DType::BF16) | (DType::BF16, DType::F16) => false,
        _ => factor.bits() < sum.bits(),
    }
}

fn is_reduced(operands: &[&Type], results: &[&Type], axis: u8) -> bool {
    let Some(first) = operands.first() else { return false };
    let mut shape = first.shape.clone();
    let axis = usize::from(axis);
    if axis >= shape.len() {
        return false;
    }
    shape.remove(axis);
    operands.len() == results.len()
        && operands.iter().zip(results).all(|(operand, result)| {
            operand.shape == first.shape
                && result.shape == shape
                && operand.element == result.element
        })
}

/// Whether so many operands f32 or f64 and one result have one type.
fn is_of_floats(arity: usize, operands: &[&Type], results: &[&Type]) -> bool {
    operands.len() == arity
        && matches!((operands, results), ([x, ..], [r])
            if is_number(x) && matches!(x.dtype(), DType::F32 | DType::F64) && x == r
                && operands.iter().all(|operand| operand == x))
}
