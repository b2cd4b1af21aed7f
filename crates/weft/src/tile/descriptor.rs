//! Tensor descriptors: how a tensor lies in global memory, as a value.
//!
//! A descriptor has a base, extents, and strides in elements; its type says how large the blocks of the
//! tensor are that are loaded and stored through it. An element of a block has coordinates: those of the
//! block's first element, which the operation is given, and what the element is away from it. An element
//! whose coordinates are all at least zero and below the extents lies at `base + Σ coordinate * stride`.
//! Every other one is *outside*: a load gives zero there, or NaN where the descriptor says so, and nothing
//! is stored. An extent below zero is none, and a coordinate has 32 bits: one above them is outside, too.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::effects::{Effects, Fence, Touch};
use super::{Element, Type};
use crate::atomic::Rmw;
use crate::dtype::DType;

/// The most dimensions of a descriptor.
pub const MAX_DESCRIPTOR_RANK: usize = 5;

/// What is done with a descriptor of `N` dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DescriptorOp {
    /// `(base, N extents i32, N strides i64) -> (descriptor)`
    Make {
        /// Whether loads of floats give NaN outside.
        nan: bool,
    },
    /// A descriptor that a kernel was given, of the parts into which Triton's launcher takes it:
    /// `(base, N extents i64, N strides i64, [NaN i1, [rounds i1]]) -> (descriptor)`. The first truth value says
    /// whether loads of floats give NaN outside, the second whether loads of f32 round to tf32.
    Given,
    /// `(descriptor, N indices i32) -> (tensor)`: a block, in the shape of the result.
    Load,
    /// `(descriptor, N indices i32, tensor)`
    Store,
    /// `(descriptor, N indices i32, tensor)`: changes each element atomically, without any order.
    Reduce(Rmw),
    /// `(descriptor, rows, column i32) -> (tensor)`: rows of a tensor of two dimensions, from a column on; as many
    /// as there are integers i8, i16 or i32 that name them, where the block has one.
    Gather,
    /// `(descriptor, rows, column i32, tensor)`: the same way back.
    Scatter,
}

impl DescriptorOp {
    /// What it does besides computing its results.
    pub(super) fn effects(self) -> Effects {
        let none = Effects::NONE;
        match self {
            DescriptorOp::Make { nan: _ } | DescriptorOp::Given => none,
            DescriptorOp::Load | DescriptorOp::Gather => Effects { global: Touch::READS, ..none },
            DescriptorOp::Store | DescriptorOp::Scatter => {
                Effects { global: Touch::WRITES, ..none }
            }
            DescriptorOp::Reduce(_) => {
                Effects { global: Touch::BOTH, fence: Fence::Atomic, ..none }
            }
        }
    }

    /// The operation's name in messages.
    pub(super) fn name(self) -> String {
        match self {
            DescriptorOp::Make { .. } => "make_tensor_descriptor".into(),
            DescriptorOp::Given => "given_tensor_descriptor".into(),
            DescriptorOp::Load => "descriptor_load".into(),
            DescriptorOp::Store => "descriptor_store".into(),
            DescriptorOp::Reduce(op) => format!("descriptor_reduce {op}"),
            DescriptorOp::Gather => "descriptor_gather".into(),
            DescriptorOp::Scatter => "descriptor_scatter".into(),
        }
    }

    /// Whether the rows are told one by one.
    pub(crate) fn is_by_rows(self) -> bool {
        matches!(self, DescriptorOp::Gather | DescriptorOp::Scatter)
    }
}

impl Type {
    /// A descriptor of a tensor, whose blocks are of a tensor's type.
    pub fn descriptor(block: &Type) -> Self {
        Self::tensor(Element::Descriptor(block.dtype()), &block.shape)
    }

    /// The type of a descriptor's blocks, if it is one.
    pub fn block(&self) -> Option<Type> {
        match self.element {
            Element::Descriptor(dtype) => Some(Self::tensor(Element::Scalar(dtype), &self.shape)),
            Element::Scalar(_) | Element::Pointer(_) | Element::Token => None,
        }
    }
}

/// Whether operands and results are as an operation on a descriptor asks, and what it asks.
pub(super) fn rule(
    op: DescriptorOp,
    operands: &[&Type],
    results: &[&Type],
) -> (bool, &'static str) {
    match op {
        DescriptorOp::Make { .. } => (
            is_made(operands, results, DType::I32, 0),
            "takes a base, extents i32 and strides i64, and gives a descriptor with as many dimensions",
        ),
        DescriptorOp::Given => (
            is_made(operands, results, DType::I64, 2),
            "takes a base, extents and strides i64 and up to two i1, and gives a descriptor with as many \
             dimensions",
        ),
        DescriptorOp::Load => (
            matches!((operands, results), ([d, indices @ ..], [r])
                if are_indices(d, indices) && d.block().is_some_and(|block| is_like(&block, r))),
            "takes a descriptor and an index i32 for each of its dimensions, and gives the elements of a block",
        ),
        DescriptorOp::Store => (
            is_stored(operands, results),
            "takes a descriptor, an index i32 for each of its dimensions and the elements of a block",
        ),
        DescriptorOp::Reduce(op) => (
            is_stored(operands, results)
                && operands[0].dtype().bits() >= 16
                && op.apply(operands[0].dtype(), 0, 0).is_some(),
            "takes a descriptor of numbers of 16 bits or more that have the operation, an index i32 for each \
             of its dimensions and the elements of a block",
        ),
        DescriptorOp::Gather => (
            matches!((operands, results), ([d, rows, column], [r]) if are_rows(d, rows, column, r)),
            "takes a descriptor of two dimensions, rows as integers of up to 32 bits and a column i32, and \
             gives the elements of these rows",
        ),
        DescriptorOp::Scatter => (
            matches!((operands, results), ([d, rows, column, x], [])
                if are_rows(d, rows, column, x)),
            "takes a descriptor of two dimensions, rows as integers of up to 32 bits, a column i32 and the \
             elements of these rows",
        ),
    }
}

/// Whether a descriptor is made of its parts, and of so many truth values at most.
fn is_made(operands: &[&Type], results: &[&Type], extent: DType, flags: usize) -> bool {
    let ([base, parts @ ..], [descriptor]) = (operands, results) else { return false };
    let rank = descriptor.shape.len();
    let Some((extents, rest)) = parts.split_at_checked(rank) else { return false };
    let Some((strides, given)) = rest.split_at_checked(rank) else { return false };
    let all = |types: &[&Type], dtype| types.iter().all(|ty| **ty == Type::scalar(dtype));
    descriptor.block().is_some_and(|block| **base == Type::pointer(block.dtype()))
        && all(extents, extent)
        && all(strides, DType::I64)
        && given.len() <= flags
        && all(given, DType::I1)
}

fn are_indices(descriptor: &Type, indices: &[&Type]) -> bool {
    indices.len() == descriptor.shape.len()
        && indices.iter().all(|index| **index == Type::scalar(DType::I32))
}

/// Whether a tensor has the elements of a block, in its shape or in another one.
fn is_like(block: &Type, tensor: &Type) -> bool {
    tensor.is_tensor() && tensor.element == block.element && tensor.elements() == block.elements()
}

fn is_stored(operands: &[&Type], results: &[&Type]) -> bool {
    let ([d, indices @ .., x], []) = (operands, results) else { return false };
    are_indices(d, indices) && d.block().is_some_and(|block| is_like(&block, x))
}

fn are_rows(descriptor: &Type, rows: &Type, column: &Type, tensor: &Type) -> bool {
    let rows_dtype = matches!(rows.element, Element::Scalar(DType::I8 | DType::I16 | DType::I32));
    let Some(Type { element, shape, .. }) = descriptor.block() else { return false };
    let ([_, columns], [count]) = (&shape[..], &rows.shape[..]) else { return false };
    rows_dtype
        && rows.is_tensor()
        && *column == Type::scalar(DType::I32)
        && is_like(&Type::tensor(element, &[*count, *columns]), tensor)
}
