//! The families of layouts that compilers name, as constructors.
//!
//! Each returns a [`Layout`] and is then forgotten: nothing in Weft asks which family a layout came
//! from.
//! [`names`] goes the other way, for people: it finds the families that have a given layout.
//! The rules are Triton's, as version 3.9.0 follows them (`LinearLayoutConversions.cpp`), so that a
//! layout read from Triton's text has the same registers in the same order.

mod error;
mod share;
mod tile;
mod dot_operand;
mod blocked;
mod nvidia;
mod amd;
mod intel;
mod linear;
mod memory;
mod tensor_memory;
mod recognise;

use alloc::{boxed::Box, vec::Vec};

pub use amd::{AmdMfma, AmdWmma};
pub use blocked::Blocked;
pub use dot_operand::DotOperand;
pub use error::FamilyError;
pub use intel::IntelDpas;
pub use linear::Linear;
pub use memory::{
    Major, NvmmaShared, OperandAtom, PaddedElements, PaddedShared, PartitionedShared,
    RotatingShared, SharedLinear, SwizzleMode, SwizzledShared, row_major,
};
pub use nvidia::NvidiaMma;
pub use recognise::names;
pub use tensor_memory::{TensorMemory, TensorMemoryScales};

use crate::{affine::Padded, layout::Layout, space::REGISTER};

/// A named layout of any family: what an attribute of a compiler's text says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// A tensor cut into equal boxes.
    Blocked(Blocked),
    /// Bases, written out: single bits, each once, and copies.
    Linear(Linear),
    /// Any bases, written out.
    GenericLinear(Linear),
    /// A layout without one of its axes.
    Slice(Slice),
    /// The result of NVIDIA's matrix instructions.
    NvidiaMma(NvidiaMma),
    /// The result of AMD's matrix instructions for waves of 64 lanes.
    AmdMfma(AmdMfma),
    /// The result of AMD's matrix instructions for waves of 32 lanes.
    AmdWmma(AmdWmma),
    /// The result of Intel's matrix instruction.
    IntelDpas(IntelDpas),
    /// An operand of a matrix multiplication.
    DotOperand(DotOperand),
    /// Rows of memory with their vectors permuted.
    SwizzledShared(SwizzledShared),
    /// Rows of memory with their vectors permuted in a second way.
    RotatingShared(RotatingShared),
    /// Shared memory with gaps after fixed intervals.
    PaddedShared(PaddedShared),
    /// Shared memory in several allocations that lie apart.
    PartitionedShared(PartitionedShared),
    /// Memory for NVIDIA's asynchronous matrix instructions.
    NvmmaShared(NvmmaShared),
    /// Bases of memory, written out.
    SharedLinear(SharedLinear),
    /// Tensor memory of accumulators and operands.
    TensorMemory(TensorMemory),
    /// Tensor memory of scale factors.
    TensorMemoryScales(TensorMemoryScales),
}

impl Family {
    /// The bases of a distributed layout, written out: `linear` where each is zero or a bit of its
    /// own, else `generic_linear`.
    pub fn of(layout: &Layout) -> Family {
        let linear = Linear::of(layout);
        match linear.permutation() {
            Ok(_) => Family::Linear(linear),
            Err(_) => Family::GenericLinear(linear),
        }
    }

    /// The layout of a tensor of this shape.
    ///
    /// A memory with gaps has none: ask [`padded`](Family::padded).
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        match self {
            Family::Blocked(blocked) => blocked.layout(shape),
            Family::Linear(linear) => linear.permutation()?.layout(shape),
            Family::GenericLinear(linear) => linear.layout(shape),
            Family::Slice(slice) => slice.layout(shape),
            Family::NvidiaMma(result) => result.layout(shape),
            Family::AmdMfma(result) => result.layout(shape),
            Family::AmdWmma(result) => result.layout(shape),
            Family::IntelDpas(result) => result.layout(shape),
            Family::DotOperand(operand) => operand.layout(shape),
            Family::SwizzledShared(shared) => shared.layout(shape),
            Family::RotatingShared(shared) => shared.layout(shape),
            Family::PaddedShared(_) => Err(FamilyError::Gaps),
            Family::PartitionedShared(shared) => shared.layout(shape),
            Family::NvmmaShared(shared) => shared.layout(shape),
            Family::SharedLinear(shared) => shared.layout(shape),
            Family::TensorMemory(memory) => memory.layout(shape),
            Family::TensorMemoryScales(memory) => memory.layout(shape),
        }
    }

    /// The memory layout of a tensor of this shape with its gaps; none where the family has none.
    ///
    /// Fails for layouts that are not of shared memory.
    pub fn padded(&self, shape: &[u64]) -> Result<Padded, FamilyError> {
        match self {
            Family::PaddedShared(shared) => shared.padded(shape),
            Family::PartitionedShared(shared) => shared.padded(shape),
            Family::SwizzledShared(_)
            | Family::RotatingShared(_)
            | Family::NvmmaShared(_)
            | Family::SharedLinear(_) => Ok(Padded::new(self.layout(shape)?, &[])?),
            _ => Err(FamilyError::NoOffsets),
        }
    }
}

/// A distributed layout without axis `dim`: what a reduction along `dim` leaves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// The axis of the parent that is dropped.
    pub dim: usize,
    /// The layout that is sliced.
    pub parent: Box<Family>,
}

impl Slice {
    /// The layout of a tensor of this shape, which lacks the dropped axis.
    ///
    /// Lanes and warps that only walked along the axis become copies; such registers disappear.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        if self.dim > shape.len() {
            return Err(FamilyError::Rank { expected: self.dim, found: shape.len() });
        }
        let mut parent_shape = shape.to_vec();
        parent_shape.insert(self.dim, 1);
        let parent = self.parent.layout(&parent_shape)?;
        if !parent.ins().contains(REGISTER) {
            return Err(FamilyError::Parent { expected: "a layout of registers" });
        }
        slice(&parent, self.dim)
    }
}

/// The layout without axis `dim` of its tensor and without registers that have become copies.
///
/// This is the layout of the result of a reduction along `dim`.
pub fn slice(layout: &Layout, dim: usize) -> Result<Layout, FamilyError> {
    Ok(layout.slice(dim)?.remove_zero_columns(REGISTER)?.0)
}

/// The logarithm of a parameter.
fn bits(parameter: &'static str, value: u64) -> Result<u32, FamilyError> {
    check_sizes(parameter, &[value], 1)?;
    Ok(value.trailing_zeros())
}

/// Checks that a tensor is a matrix or a batch of them.
fn check_matrix(rank: usize) -> Result<(), FamilyError> {
    if matches!(rank, 2 | 3) { Ok(()) } else { Err(FamilyError::Rank { expected: 2, found: rank }) }
}

/// The coordinates that are `value` along one axis and zero along the others.
fn unit(rank: usize, dim: usize, value: u64) -> Vec<u64> {
    (0..rank).map(|other| if other == dim { value } else { 0 }).collect()
}

/// Checks that `order` is a permutation of `0..rank`.
fn check_order(order: &[usize], rank: usize) -> Result<(), FamilyError> {
    if order.len() != rank {
        return Err(FamilyError::Rank { expected: rank, found: order.len() });
    }
    let complete = (0..rank).all(|dim| order.contains(&dim));
    if complete { Ok(()) } else { Err(FamilyError::BadOrder) }
}

/// Checks the length of a list and that it holds powers of two.
fn check_sizes(parameter: &'static str, values: &[u64], rank: usize) -> Result<(), FamilyError> {
    if values.len() != rank {
        return Err(FamilyError::Rank { expected: rank, found: values.len() });
    }
    match values.iter().find(|value| !value.is_power_of_two()) {
        Some(&value) => Err(FamilyError::NotPowerOfTwo { parameter, value }),
        None => Ok(()),
    }
}
