//! Shared memory that the program allocates: what there is to say of operations on it.
//!
//! A view names a part of an allocated tensor, or the whole in another order. The type of a view gives a
//! layout of its own, which must put every element where the layout of what is viewed puts it.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::effects::{Effects, Touch};
use super::form::{Form, Operand};
use super::{Element, Op, SharedMemory, Type, Value};
use crate::dtype::DType;
use weft_layout::affine::{Padded, Padding};
use weft_layout::space::OFFSET;
use weft_layout::{Label, Layout};

/// An operation on shared memory that the program allocates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LocalOp {
    /// Shared memory, with a tensor in it where one is given. `([tensor]) -> (memory)`. Each execution
    /// gives the same memory anew, with nothing in it.
    Alloc,
    /// What memory holds. `(memory, [token]) -> (tensor)`.
    Load,
    /// Puts a tensor into memory. `(tensor, memory)`.
    Store,
    /// The memory is not used any more. `(memory)`.
    Dealloc,
    /// One of several buffers. `(memory, i32) -> (memory)`.
    Index,
    /// A part of a buffer. `(memory) -> (memory)`.
    Subslice {
        /// Its first element along each dimension.
        offsets: Vec<u64>,
    },
    /// The same memory with dimension `i` being dimension `order[i]`. `(memory) -> (memory)`.
    Trans {
        /// The dimension of the operand that each one of the result is.
        order: Vec<u8>,
    },
    /// The same memory, its elements in row-major order under another shape. `(memory) -> (memory)`.
    Reshape,
    /// The same memory, as elements of another type in row-major order under another shape, each byte
    /// where it was. `(memory) -> (memory)`.
    Reinterpret,
}

/// What an operation touches in shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touched {
    /// The memory, or a view of it.
    pub memory: Value,
    /// The tensor in registers that moves there, or from there.
    pub tensor: Option<Value>,
}

impl LocalOp {
    /// One of each form: what the parser knows.
    pub(super) fn all() -> [Self; 9] {
        let (offsets, order) = (Vec::new(), Vec::new());
        [
            Self::Alloc,
            Self::Load,
            Self::Store,
            Self::Dealloc,
            Self::Index,
            Self::Subslice { offsets },
            Self::Trans { order },
            Self::Reshape,
            Self::Reinterpret,
        ]
    }

    /// Triton's name.
    pub(super) fn spelled(&self) -> &'static str {
        match self {
            Self::Alloc => "ttg.local_alloc",
            Self::Load => "ttg.local_load",
            Self::Store => "ttg.local_store",
            Self::Dealloc => "ttg.local_dealloc",
            Self::Index => "ttg.memdesc_index",
            Self::Subslice { .. } => "ttg.memdesc_subslice",
            Self::Trans { .. } => "ttg.memdesc_trans",
            Self::Reshape => "ttg.memdesc_reshape",
            Self::Reinterpret => "ttg.memdesc_reinterpret",
        }
    }

    /// The operation's name in messages.
    pub(super) fn name(&self) -> &'static str {
        self.spelled().trim_start_matches("ttg.")
    }

    /// What it does besides computing its results.
    pub(super) fn effects(&self) -> Effects {
        let none = Effects::NONE;
        match self {
            // A tensor may be given to put there.
            Self::Alloc => Effects { local: Touch::WRITES, allocates: true, ..none },
            Self::Load => Effects { local: Touch::READS, ..none },
            Self::Store => Effects { local: Touch::WRITES, ..none },
            Self::Dealloc => Effects { allocates: true, ..none },
            Self::Index
            | Self::Subslice { offsets: _ }
            | Self::Trans { order: _ }
            | Self::Reshape
            | Self::Reinterpret => none,
        }
    }

    /// The memory that an operation of this kind touches itself, and the tensor that it moves.
    pub fn touched(&self, op: &Op) -> Option<Touched> {
        let (operand, result) = (|at| op.operands.get(at).copied(), op.results.first().copied());
        let (memory, tensor) = match self {
            Self::Alloc => (result?, Some(operand(0)?)),
            Self::Load => (operand(0)?, result),
            Self::Store => (operand(1)?, operand(0)),
            Self::Dealloc => (operand(0)?, None),
            Self::Index
            | Self::Subslice { .. }
            | Self::Trans { .. }
            | Self::Reshape
            | Self::Reinterpret => return None,
        };
        Some(Touched { memory, tensor })
    }

    /// Whether operands and results are as it asks, and what it asks.
    pub(super) fn rule(&self, operands: &[&Type], results: &[&Type]) -> (bool, &'static str) {
        match self {
            Self::Alloc => (
                matches!((operands, results), (source, [m])
                if is_whole(m) && match source {
                    [] => m.memory().is_some_and(|memory| memory.mutable),
                    [x] => x.is_tensor() && holds(m, x),
                    _ => false,
                }),
                "takes nothing or a tensor and gives memory for such a tensor, mutable where nothing is \
                 put in yet",
            ),
            Self::Load => (
                matches!((operands, results), ([m, token @ ..], [r])
                    if r.is_tensor() && holds(m, r) && matches!(token, [] | [_]) && are_tokens(token)),
                "takes memory and a token and gives a tensor as the memory holds",
            ),
            Self::Store => (
                matches!((operands, results), ([x, m], [])
                    if x.is_tensor() && holds(m, x) && is_mutable(m)),
                "takes a tensor and mutable memory for such a tensor",
            ),
            Self::Dealloc => {
                (matches!((operands, results), ([m], []) if m.memory().is_some()), "takes memory")
            }
            Self::Index => (
                matches!((operands, results), ([m, i], [r])
                    if **i == Type::scalar(DType::I32) && is_buffer(m, r)),
                "takes memory of several buffers and an i32, and gives one buffer",
            ),
            Self::Subslice { offsets } => (
                matches!((operands, results), ([m], [r]) if is_part(m, r, offsets)),
                "takes memory and gives a part in the same layout, whose offsets are multiples of its \
                 extents",
            ),
            Self::Trans { order } => (
                matches!((operands, results), ([m], [r]) if is_turned(m, r, order)),
                "takes memory and gives its dimensions by its order, each element where it was",
            ),
            Self::Reshape => (
                matches!((operands, results), ([m], [r]) if is_reshaped(m, r)),
                "takes a whole buffer and gives as many elements in another shape, each where it was",
            ),
            Self::Reinterpret => (
                matches!((operands, results), ([m], [r]) if is_reinterpreted(m, r)),
                "takes a whole buffer of numbers and gives numbers of as many bytes together, each byte \
                 where it was",
            ),
        }
    }

    /// Goes through its text from behind its name.
    pub(super) fn text<F: Form>(&mut self, form: &mut F) -> Result<(), F::Error> {
        match self {
            Self::Alloc => {
                form.further(None, Operand::Tensor)?;
                return form.function(Operand::Memory);
            }
            Self::Load => {
                form.operands(&[Operand::Memory])?;
                form.behind("token", Operand::Token, None)?;
                form.types(&[Operand::Memory, Operand::Tensor])?;
                return form.gives(Some(Operand::Tensor));
            }
            Self::Store => {
                form.operands(&[Operand::Tensor, Operand::Memory])?;
                form.types(&[Operand::Tensor, Operand::Memory])?;
                return form.gives(None);
            }
            Self::Dealloc => {
                form.operands(&[Operand::Memory])?;
                form.types(&[Operand::Memory])?;
                return form.gives(None);
            }
            Self::Index => {
                form.operands(&[Operand::Memory])?;
                form.index(Operand::Index)?;
            }
            Self::Subslice { offsets } => {
                form.operands(&[Operand::Memory])?;
                form.offsets(offsets)?;
            }
            Self::Trans { order } => {
                form.operands(&[Operand::Memory])?;
                form.order(order)?;
            }
            Self::Reshape | Self::Reinterpret => form.operands(&[Operand::Memory])?,
        }
        form.types(&[Operand::Memory, Operand::View])?;
        form.gives(Some(Operand::View))
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
