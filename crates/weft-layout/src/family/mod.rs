//! The families of layouts that compilers name, as constructors.
//!
//! Each returns a [`Layout`] and is then forgotten: nothing in Weft asks which family a layout came
//! from.
//! The rules are Triton's, as version 3.9.0 follows them (`LinearLayoutConversions.cpp`), so that a
//! layout read from Triton's text has the same registers in the same order.

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
use core::fmt;

pub use amd::{AmdMfma, AmdWmma};
pub use blocked::Blocked;
pub use dot_operand::DotOperand;
pub use intel::IntelDpas;
pub use linear::Linear;
pub use memory::{
    NvmmaShared, PaddedElements, PaddedShared, PartitionedShared, RotatingShared, SharedLinear,
    SwizzledShared, row_major,
};
pub use nvidia::NvidiaMma;
pub use recognise::names;
pub use tensor_memory::{TensorMemory, TensorMemoryScales};

use crate::{
    affine::{Padded, PaddedError},
    layout::{Layout, LayoutError},
    space::{REGISTER, SpaceError},
};

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
    /// Memory with gaps.
    PaddedShared(PaddedShared),
    /// Several memories.
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
        slice(&self.parent.layout(&parent_shape)?, self.dim)
    }
}

/// The layout without axis `dim` of its tensor and without registers that have become copies.
///
/// This is the layout of the result of a reduction along `dim`.
pub fn slice(layout: &Layout, dim: usize) -> Result<Layout, FamilyError> {
    Ok(layout.slice(dim)?.remove_zero_columns(REGISTER)?.0)
}

/// Why a family has no layout of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FamilyError {
    /// A list of parameters, or the shape, has the wrong length.
    Rank {
        /// The length that the other parameters have.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// A parameter is not a power of two.
    NotPowerOfTwo {
        /// The name of the parameter, as Triton spells it.
        parameter: &'static str,
        /// Its value.
        value: u64,
    },
    /// `order` is no permutation of the axes.
    BadOrder,
    /// A parameter has a value that the family does not know.
    Value {
        /// The name of the parameter, as Triton spells it.
        parameter: &'static str,
        /// Its value.
        value: u64,
        /// What is right.
        expected: &'static str,
    },
    /// There is no such matrix instruction.
    InstrShape {
        /// `instrShape`.
        found: Vec<u64>,
        /// What is right.
        expected: &'static str,
    },
    /// A warp has too few or too many threads for the matrix instruction.
    Threads {
        /// `threadsPerWarp`.
        found: u64,
        /// The fewest that it can have.
        least: u64,
        /// The most that it can have.
        most: u64,
    },
    /// The parent of an operand is the layout of no matrix multiplication's result.
    Parent,
    /// A basis of `CGALayout` chooses no part, or one that is chosen already or cannot be.
    Blocks {
        /// Which basis.
        index: usize,
    },
    /// A basis of `linear` is several bits, or a bit that an earlier one is.
    NotPermutation {
        /// The list that it stands in.
        parameter: &'static str,
        /// Which basis.
        index: usize,
    },
    /// The bases leave places out.
    NotSurjective {
        /// The parameter that holds them.
        parameter: &'static str,
    },
    /// The tensor is too small.
    TooSmall {
        /// The axis.
        dim: usize,
        /// The size of the tensor along it.
        size: u64,
        /// The least size that the layout can have.
        needed: u64,
    },
    /// Bases reach another tensor.
    Covers {
        /// The axis.
        dim: usize,
        /// The size of the tensor along it.
        size: u64,
        /// The size that the bases reach.
        covered: u64,
    },
    /// Bases of a memory miss elements, or hold some twice.
    NotOneToOne {
        /// The bits that number the elements.
        elements: u32,
        /// The bases other than zero.
        nonzero: u32,
        /// How many of them are independent.
        rank: u32,
    },
    /// A basis is not a power of two along a single axis.
    NotUnit {
        /// The list that it stands in.
        parameter: &'static str,
        /// Which basis.
        index: usize,
    },
    /// The memory has gaps, which no linear layout has.
    Gaps,
    /// The layout is not one of shared memory.
    NoOffsets,
    /// The gaps are wrong.
    Padding(PaddedError),
    /// The layout cannot be built.
    Layout(LayoutError),
}

impl From<PaddedError> for FamilyError {
    fn from(error: PaddedError) -> FamilyError {
        FamilyError::Padding(error)
    }
}

impl From<LayoutError> for FamilyError {
    fn from(error: LayoutError) -> FamilyError {
        FamilyError::Layout(error)
    }
}

impl From<SpaceError> for FamilyError {
    fn from(error: SpaceError) -> FamilyError {
        FamilyError::Layout(LayoutError::Space(error))
    }
}

impl fmt::Display for FamilyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FamilyError::Rank { expected, found } => {
                write!(f, "{expected} axes are expected, {found} are given")
            }
            FamilyError::NotPowerOfTwo { parameter, value } => {
                write!(f, "`{parameter}` holds {value}, which is not a power of two")
            }
            FamilyError::BadOrder => f.write_str("`order` is no permutation of the axes"),
            FamilyError::Value { parameter, value, expected } => {
                write!(f, "`{parameter}` is {value}; {expected} is expected")
            }
            FamilyError::InstrShape { found, expected } => {
                write!(f, "`instrShape` is {found:?}; {expected} is expected")
            }
            FamilyError::Threads { found, least, most } => write!(
                f,
                "`threadsPerWarp` is {found}; the matrix instruction takes {least} to {most} threads"
            ),
            FamilyError::Parent => f.write_str(
                "`parent` is not the result of a matrix multiplication; `blocked` or a layout of \
                 matrix instructions is expected",
            ),
            FamilyError::Blocks { index } => write!(
                f,
                "basis {index} of `CGALayout` is wrong: along each axis the parts 1, 2, 4, … are \
                 expected once each"
            ),
            FamilyError::NotPermutation { parameter, index } => write!(
                f,
                "basis {index} of `{parameter}` is not a bit of its own; `generic_linear` takes any \
                 bases"
            ),
            FamilyError::NotSurjective { parameter } => {
                write!(f, "the bases of `{parameter}` leave elements out")
            }
            FamilyError::TooSmall { dim, size, needed } => {
                write!(f, "the tensor has size {size} along axis {dim}, at least {needed} is needed")
            }
            FamilyError::Covers { dim, size, covered } => {
                write!(f, "the layout has size {covered} along axis {dim}, the tensor {size}")
            }
            FamilyError::NotOneToOne { elements, nonzero, rank } => write!(
                f,
                "{nonzero} bases other than zero, of which {rank} are independent, cannot number \
                 elements of {elements} bits one to one"
            ),
            FamilyError::NotUnit { parameter, index } => {
                write!(f, "basis {index} of `{parameter}` is no power of two along a single axis")
            }
            FamilyError::Gaps => f.write_str(
                "padding leaves gaps, which no linear layout has; `Family::padded` gives the layout \
                 with its gaps",
            ),
            FamilyError::NoOffsets => f.write_str("only a layout of shared memory has gaps"),
            FamilyError::Padding(error) => error.fmt(f),
            FamilyError::Layout(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for FamilyError {}

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
