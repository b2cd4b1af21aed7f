use core::fmt;

use crate::{
    f2::{MatrixError, NoSolution, Singular},
    space::{Label, SpaceError},
};

/// Why an operator on layouts is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// A space or a place is wrong.
    Space(SpaceError),
    /// A matrix is wrong.
    Matrix(MatrixError),
    /// The matrix does not have the shape that the spaces ask for.
    Shape {
        /// The rows asked for.
        rows: u32,
        /// The columns asked for.
        cols: u32,
        /// The rows and columns found.
        found: (u32, u32),
    },
    /// A basis has the wrong number of coordinates.
    Coordinates {
        /// The input axis.
        label: Label,
        /// The bit of it.
        bit: u32,
        /// The number of output axes.
        expected: usize,
        /// The number of coordinates.
        found: usize,
    },
    /// Two lists of axes have no common order: these two occur in both, the other way round.
    Order(Label, Label),
    /// Two layouts should have the same axes of this label and do not.
    AxesDiffer(Label),
    /// A division leaves a remainder: this bit of the dividend does not fit the divisor.
    NotDivisible {
        /// The input axis.
        label: Label,
        /// The bit of it.
        bit: u32,
    },
    /// There is no inverse.
    Singular(Singular),
    /// An image is not reached: bit `bit` of axis `label` goes where the other layout has nothing.
    NotReached {
        /// The input axis.
        label: Label,
        /// The bit of it.
        bit: u32,
        /// What is left of its image modulo the image of the other layout.
        residue: u64,
    },
    /// A reshape changes the number of bits.
    Resize {
        /// The bits before.
        from: u32,
        /// The bits asked for.
        to: u32,
    },
    /// There is no axis of this number.
    NoSuchDim {
        /// The number.
        dim: usize,
        /// How many axes the tensor has.
        rank: usize,
    },
    /// The outputs are not the axes `[dim{n-1}, …, dim0]` of a tensor.
    NotTensor,
    /// This is no permutation of the axes.
    NotPermutation,
    /// A broadcast changes a size that is not 1.
    NotBroadcast {
        /// The axis.
        dim: usize,
        /// Its size.
        from: u64,
        /// The size asked for.
        to: u64,
    },
    /// The constant of an affine layout is no place of its outputs.
    Constant {
        /// The constant.
        value: u64,
        /// The bits of the outputs.
        rows: u32,
    },
    /// A split needs a last axis of size 2 that lies on a register bit of its own.
    NotSplit,
}

impl From<SpaceError> for LayoutError {
    fn from(error: SpaceError) -> LayoutError {
        LayoutError::Space(error)
    }
}

impl From<MatrixError> for LayoutError {
    fn from(error: MatrixError) -> LayoutError {
        LayoutError::Matrix(error)
    }
}

impl From<Singular> for LayoutError {
    fn from(error: Singular) -> LayoutError {
        LayoutError::Singular(error)
    }
}

impl LayoutError {
    /// The error of a failed solve whose columns are the bits of `(label, bit)`.
    pub(super) fn not_reached((label, bit): (Label, u32), error: NoSolution) -> LayoutError {
        LayoutError::NotReached { label, bit, residue: error.residue }
    }
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::Space(error) => error.fmt(f),
            LayoutError::Matrix(error) => error.fmt(f),
            LayoutError::Singular(error) => error.fmt(f),
            LayoutError::Shape { rows, cols, found: (found_rows, found_cols) } => write!(
                f,
                "the axes ask for a {rows}x{cols} matrix, this one is {found_rows}x{found_cols}"
            ),
            LayoutError::Coordinates { label, bit, expected, found } => write!(
                f,
                "basis {bit} of `{label}` has {found} coordinates, the tensor has {expected} axes"
            ),
            LayoutError::Order(a, b) => {
                write!(f, "axes `{a}` and `{b}` come in different orders in the two layouts")
            }
            LayoutError::AxesDiffer(label) => {
                write!(f, "the two layouts differ in their axis `{label}`")
            }
            LayoutError::NotDivisible { label, bit } => {
                write!(f, "bit {bit} of `{label}` does not fit the divisor")
            }
            LayoutError::NotReached { label, bit, residue } => write!(
                f,
                "bit {bit} of `{label}` goes to a place that the other layout does not hold \
                 (residue {residue:#x})"
            ),
            LayoutError::Resize { from, to } => {
                write!(f, "a reshape from {from} bits to {to} bits changes the size")
            }
            LayoutError::NoSuchDim { dim, rank } => {
                write!(f, "there is no axis {dim} in a tensor of rank {rank}")
            }
            LayoutError::NotTensor => {
                f.write_str("the outputs are not the axes of a tensor, minor axis first")
            }
            LayoutError::NotPermutation => f.write_str("the order is no permutation of the axes"),
            LayoutError::NotBroadcast { dim, from, to } => {
                write!(f, "axis {dim} of size {from} cannot be broadcast to {to}")
            }
            LayoutError::Constant { value, rows } => {
                write!(f, "constant {value:#x} does not fit the {rows} bits of the outputs")
            }
            LayoutError::NotSplit => f.write_str(
                "a split needs a last axis of size 2 that lies on one register bit of its own",
            ),
        }
    }
}

impl core::error::Error for LayoutError {}
