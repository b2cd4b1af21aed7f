use alloc::vec::Vec;
use core::fmt;

use crate::{affine::PaddedError, layout::LayoutError, space::SpaceError};

/// Why a family has no layout of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FamilyError {
    /// A list of parameters, or the shape, has the wrong length.
    Rank {
        /// The length that the other parameters have.
        expected: usize,
        /// The length that this one has.
        found: usize,
    },
    /// A parameter is not a power of two.
    NotPowerOfTwo {
        /// The name of the parameter, as Triton spells it.
        parameter: &'static str,
        /// The value that was given.
        value: u64,
    },
    /// `order` is no permutation of the axes.
    BadOrder,
    /// A parameter has a value that the family does not know.
    Value {
        /// The name of the parameter, as Triton spells it.
        parameter: &'static str,
        /// The value that was given.
        value: u64,
        /// Which values are right, in words.
        expected: &'static str,
    },
    /// There is no such matrix instruction.
    InstrShape {
        /// `instrShape` as it was given.
        found: Vec<u64>,
        /// Which shapes are right, in words.
        expected: &'static str,
    },
    /// A warp has too few or too many threads for the matrix instruction.
    Threads {
        /// `threadsPerWarp`, multiplied over all axes.
        found: u64,
        /// The fewest that it can have.
        least: u64,
        /// The most that it can have.
        most: u64,
    },
    /// The parent is of a family that cannot be one.
    Parent {
        /// Which families can be a parent here, in words.
        expected: &'static str,
    },
    /// A basis of `CGALayout` chooses no part, or one that is chosen already or cannot be.
    Blocks {
        /// The place of the basis in the list, from zero.
        index: usize,
    },
    /// Two blocks work together, and bit 0 of the block number does not tell them apart along the
    /// rows.
    NoPairs,
    /// A basis of `linear` is several bits, or a bit that an earlier one is.
    NotPermutation {
        /// The list that it stands in.
        parameter: &'static str,
        /// The place of the basis in the list, from zero.
        index: usize,
    },
    /// The bases leave places out.
    NotSurjective {
        /// The parameter that holds them.
        parameter: &'static str,
    },
    /// The tensor is too small.
    TooSmall {
        /// The axis, from zero, outermost first.
        dim: usize,
        /// The size of the tensor along it.
        size: u64,
        /// The least size that the layout can have.
        needed: u64,
    },
    /// Bases reach another tensor.
    Covers {
        /// The axis, from zero, outermost first.
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
        /// The place of the basis in the list, from zero.
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
            FamilyError::Parent { expected } => {
                write!(f, "`parent` is of the wrong family; {expected} is expected")
            }
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
            FamilyError::NoPairs => {
                f.write_str("`CGALayout` must begin with [1, 0] where two blocks work together")
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
