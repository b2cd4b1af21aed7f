//! The types of operations on shared memory: rows of the verifier's rules.
//!
//! A view names a part of an allocated tensor, or the whole in another order. The type of a view gives a
//! layout of its own, which must put every element where the layout of what is viewed puts it.

use super::{Element, OpKind, SharedMemory, Type};
use crate::dtype::DType;
use weft_layout::affine::{Padded, Padding};
use weft_layout::space::OFFSET;
use weft_layout::{Label, Layout};

/// Whether operands and results are as an operation on shared memory asks, and what it asks.
pub(super) fn rule(kind: &OpKind, operands: &[&Type], results: &[&Type]) -> (bool, &'static str) {
    match kind {
        OpKind::LocalAlloc => (
            matches!((operands, results), (source, [m])
            if is_whole(m) && match source {
                [] => m.memory().is_some_and(|memory| memory.mutable),
                [x] => x.is_tensor() && holds(m, x),
                _ => false,
            }),
            "takes nothing or a tensor and gives memory for such a tensor, mutable where nothing is \
             put in yet",
        ),
        OpKind::LocalLoad => (
            matches!((operands, results), ([m, token @ ..], [r])
                if r.is_tensor() && holds(m, r) && matches!(token, [] | [_]) && are_tokens(token)),
            "takes memory and a token and gives a tensor as the memory holds",
        ),
        OpKind::LocalStore => (
            matches!((operands, results), ([x, m], [])
                if x.is_tensor() && holds(m, x) && is_mutable(m)),
            "takes a tensor and mutable memory for such a tensor",
        ),
        OpKind::LocalDealloc => {
            (matches!((operands, results), ([m], []) if m.memory().is_some()), "takes memory")
        }
        OpKind::MemdescIndex => (
            matches!((operands, results), ([m, i], [r])
                if **i == Type::scalar(DType::I32) && is_buffer(m, r)),
            "takes memory of several buffers and an i32, and gives one buffer",
        ),
        OpKind::MemdescSubslice { offsets } => (
            matches!((operands, results), ([m], [r]) if is_part(m, r, offsets)),
            "takes memory and gives a part in the same layout, whose offsets are multiples of its \
             extents",
        ),
        OpKind::MemdescTrans { order } => (
            matches!((operands, results), ([m], [r]) if is_turned(m, r, order)),
            "takes memory and gives its dimensions by its order, each element where it was",
        ),
        OpKind::MemdescReshape => (
            matches!((operands, results), ([m], [r]) if is_reshaped(m, r)),
            "takes a whole buffer and gives as many elements in another shape, each where it was",
        ),
        OpKind::MemdescReinterpret => (
            matches!((operands, results), ([m], [r]) if is_reinterpreted(m, r)),
            "takes a whole buffer of numbers and gives numbers of as many bytes together, each byte \
             where it was",
        ),
        // Every other kind has a row of its own.
        _ => (false, "has no types"),
    }
}

pub(super) fn are_tokens(types: &[&Type]) -> bool {
    types.iter().all(|ty| **ty == Type::single(Element::Token))
}

pub(super) fn is_mutable(ty: &Type) -> bool {
    ty.memory().is_some_and(|memory| memory.mutable)
}

/// Whether a type describes all that was allocated.
fn is_whole(ty: &Type) -> bool {
    ty.memory().is_some_and(|memory| memory.allocated == ty.shape)
}

/// Whether a type is a tensor or memory that holds one, and no list of buffers.
pub(super) fn is_readable(ty: &Type) -> bool {
    ty.memory().is_none_or(|memory| memory.rank() == Ok(ty.shape.len()))
}

/// Whether memory holds a tensor, and is no list of buffers.
fn holds(memory: &Type, tensor: &Type) -> bool {
    memory.shape == tensor.shape
        && memory.element == tensor.element
        && memory.memory().is_some_and(|m| m.rank() == Ok(memory.shape.len()))
}

/// Whether two memories are kept in one way but for extents.
fn is_alike(x: &SharedMemory, y: &SharedMemory) -> bool {
    x.family == y.family && x.mutable == y.mutable
}

fn is_buffer(from: &Type, to: &Type) -> bool {
    let (Some(whole), Some(part)) = (from.memory(), to.memory()) else { return false };
    is_alike(whole, part)
        && from.element == to.element
        && is_whole(from)
        && is_whole(to)
        && from.shape.len() == to.shape.len() + 1
        && from.shape[1..] == to.shape[..]
        && part.rank() == Ok(to.shape.len())
        && whole.rank() == Ok(to.shape.len())
}

fn is_part(from: &Type, to: &Type, offsets: &[u64]) -> bool {
    let (Some(whole), Some(part)) = (from.memory(), to.memory()) else { return false };
    let inside = |((&offset, &extent), &all): ((&u64, &u64), &u64)| {
        offset.is_multiple_of(extent) && offset.checked_add(extent).is_some_and(|end| end <= all)
    };
    is_alike(whole, part)
        && from.element == to.element
        && whole.allocated == part.allocated
        && from.shape.len() == to.shape.len()
        && offsets.len() == to.shape.len()
        && whole.rank() == Ok(from.shape.len())
        && offsets.iter().zip(&to.shape).zip(&from.shape).all(inside)
}

fn is_turned(from: &Type, to: &Type, order: &[u8]) -> bool {
    let (Some(before), Some(after)) = (from.memory(), to.memory()) else { return false };
    let order: Vec<usize> = order.iter().map(|&axis| usize::from(axis)).collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..from.shape.len()) || before.rank() != Ok(from.shape.len()) {
        return false;
    }
    let turns = |x: &[u64], y: &[u64]| {
        x.len() == y.len() && order.iter().zip(y).all(|(&axis, extent)| x[axis] == *extent)
    };
    let same = || Some(before.layout().ok()?.transpose(&order).ok()? == after.layout().ok()?);
    from.element == to.element
        && before.mutable == after.mutable
        && turns(&from.shape, &to.shape)
        && turns(&before.allocated, &after.allocated)
        && same() == Some(true)
}

fn is_reshaped(from: &Type, to: &Type) -> bool {
    from.element == to.element && is_in_place(from, to)
}

fn is_reinterpreted(from: &Type, to: &Type) -> bool {
    let number = |ty: &Type| matches!(ty.element, Element::Scalar(_));
    let truth = |ty: &Type| ty.element == Element::Scalar(DType::I1);
    number(from) && number(to) && truth(from) == truth(to) && is_in_place(from, to)
}

/// Whether two whole buffers have byte after byte, elements in row-major order, in the same places.
fn is_in_place(from: &Type, to: &Type) -> bool {
    let (Some(before), Some(after)) = (from.memory(), to.memory()) else { return false };
    let same = || Some(in_bytes(from)? == in_bytes(to)?);
    before.mutable == after.mutable
        && is_whole(from)
        && is_whole(to)
        && before.rank() == Ok(from.shape.len())
        && after.rank() == Ok(to.shape.len())
        && same() == Some(true)
}

/// Where each byte of a buffer lies, elements in row-major order and the lowest byte of each first.
fn in_bytes(ty: &Type) -> Option<Padded> {
    let memory = ty.memory()?.layout().ok()?.reshape(&[ty.elements()]).ok()?;
    let bytes = u64::from(ty.dtype().bytes());
    let own = Layout::identity(bytes.trailing_zeros(), OFFSET, Label::dim(0)).ok()?;
    let paddings = memory.paddings().iter().map(|gap| Padding {
        interval: gap.interval.saturating_mul(bytes),
        padding: gap.padding.saturating_mul(bytes),
    });
    let paddings: Vec<Padding> = paddings.collect();
    Padded::new(own.product(memory.layout()).ok()?, &paddings).ok()
}
