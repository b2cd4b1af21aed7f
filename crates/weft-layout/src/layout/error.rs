use alloc::vec::Vec;
use core::fmt;

use crate::{
    f2::{MatrixError, Singular},
    space::{Label, Space, SpaceError},
};

/// A place, as the coordinate along each axis.
pub type Coordinates = Vec<(Label, u64)>;

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
        /// The input axis that the basis belongs to.
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
    /// An axis should have as many bits on both sides and has not.
    AxisMismatch {
        /// The label of the axis.
        label: Label,
        /// Its bits on the left; none when it is missing there.
        left: Option<u32>,
        /// Its bits on the right; none when it is missing there.
        right: Option<u32>,
    },
    /// A division leaves a remainder.
    NotDivisible {
        /// The input axis of the dividend.
        label: Label,
        /// The first bit of it that does not fit the divisor.
        bit: u32,
        /// The coordinates that the dividend sends it to.
        image: Coordinates,
        /// Where it should go, as part of the divisor; none when it belongs to the quotient and
        /// should not touch what the divisor touches.
        expected: Option<Coordinates>,
    },
    /// No order of the bits of an axis makes a division possible.
    NoSuchBasis {
        /// The input axis that both have.
        label: Label,
        /// The bit of the divisor.
        bit: u32,
        /// Where it goes, and no bit of the dividend does.
        expected: Coordinates,
    },
    /// A bit crosses between the axes of a quotient and those divided out.
    Crosses {
        /// The input axis of the bit.
        label: Label,
        /// The bit of it.
        bit: u32,
        /// The coordinates that the bit goes to.
        image: Coordinates,
    },
    /// There is no inverse because two places go to one.
    NotInjective {
        /// One of the two places.
        first: Coordinates,
        /// The other place.
        second: Coordinates,
        /// The coordinates that both go to.
        image: Coordinates,
    },
    /// There is no inverse because a place is not reached.
    NotSurjective {
        /// The place of the outputs that nothing goes to.
        output: Coordinates,
    },
    /// There is no inverse.
    Singular(Singular),
    /// An image is not reached: bit `bit` of axis `label` goes where the other layout has nothing.
    NotReached {
        /// The input axis of the bit.
        label: Label,
        /// The bit of it.
        bit: u32,
        /// The coordinates that the bit goes to.
        image: Coordinates,
    },
    /// A list of bits is no choice from those of an axis.
    NotSelection {
        /// The axis that was to be chosen from.
        label: Label,
        /// The bit that does not exist or is chosen twice.
        bit: u32,
        /// The bits of the axis.
        width: u32,
    },
    /// An action cannot be undone because it drops a bit.
    DroppedBit {
        /// The axis that the action is on.
        label: Label,
        /// The first bit of the axis that is dropped.
        bit: u32,
    },
    /// There are more or fewer values than places.
    ValueCount {
        /// The number of values.
        found: usize,
        /// The bits of the places.
        bits: u32,
    },
    /// An axis is dropped that does not have size 1.
    NotSqueezable {
        /// The axis that was to be dropped.
        label: Label,
        /// How many bits it has; none would be right.
        bits: u32,
    },
    /// A basis leaves a tensor, and has more than one bit, so that it cannot become zero.
    CannotCut {
        /// The input axis that the basis belongs to.
        label: Label,
        /// The bit of it.
        bit: u32,
        /// The coordinates that the basis goes to.
        image: Coordinates,
        /// The space of the tensor that was asked for.
        outs: Space,
    },
    /// A reshape changes the number of bits.
    Resize {
        /// The bits that there are.
        from: u32,
        /// The bits asked for.
        to: u32,
    },
    /// There is no axis of this number.
    NoSuchDim {
        /// The number that was given, from zero.
        dim: usize,
        /// How many axes the tensor has.
        rank: usize,
    },
    /// A shape has the wrong number of axes.
    Rank {
        /// The axes of the tensor.
        expected: usize,
        /// The axes that were given.
        found: usize,
    },
    /// The outputs are not the axes `[dim{n-1}, …, dim0]` of a tensor.
    NotTensor,
    /// This is no permutation of the axes.
    NotPermutation,
    /// A broadcast changes a size that is not 1.
    NotBroadcast {
        /// The number of the axis, from zero.
        dim: usize,
        /// The size that it has.
        from: u64,
        /// The size asked for.
        to: u64,
    },
    /// The constant of an affine layout is no place of its outputs.
    Constant {
        /// The constant, as a flat place of the outputs.
        value: u64,
        /// The bits of the outputs.
        rows: u32,
    },
    /// Two constants that should be equal differ; the constant of a linear layout is zero.
    ConstantDiffers {
        /// The bits of the outputs that differ.
        bits: Coordinates,
    },
    /// The place where one affine layout begins is not reached by the other.
    ConstantNotReached {
        /// The coordinates of the place where it begins.
        image: Coordinates,
    },
    /// A basis and an offset have bits in common, so that their sum carries.
    OffsetCarries {
        /// The input axis that the basis belongs to.
        label: Label,
        /// The bit of it.
        bit: u32,
        /// The common bits of the outputs.
        shared: Coordinates,
    },
    /// A split needs a last axis of size 2 that lies on a register bit of its own.
    NotSplit {
        /// The size of the last axis; none when the tensor has no axes.
        size: Option<u64>,
        /// The inputs that reach the axis, as axis and bit.
        holders: Vec<(Label, u32)>,
    },
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

/// `register=1 lane=4`: the coordinates that are not zero; `0` when all are.
struct At<'a>(&'a [(Label, u64)]);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (label, value) in self.0.iter().filter(|coordinate| coordinate.1 != 0) {
            write!(f, "{}{label}={value}", if first { "" } else { " " })?;
            first = false;
        }
        if first { f.write_str("0") } else { Ok(()) }
    }
}

/// `missing`, or `3 bits`.
struct Bits(Option<u32>);

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("missing"),
            Some(1) => f.write_str("1 bit"),
            Some(bits) => write!(f, "{bits} bits"),
        }
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
            LayoutError::AxisMismatch { label, left, right } => write!(
                f,
                "axis `{label}` differs: {} on the left, {} on the right",
                Bits(*left),
                Bits(*right)
            ),
            LayoutError::NotDivisible { label, bit, image, expected: Some(expected) } => write!(
                f,
                "bit {bit} of `{label}` goes to {}, the divisor asks for {}",
                At(image),
                At(expected)
            ),
            LayoutError::NotDivisible { label, bit, image, expected: None } => write!(
                f,
                "bit {bit} of `{label}` goes to {}, which the divisor reaches too",
                At(image)
            ),
            LayoutError::NoSuchBasis { label, bit, expected } => write!(
                f,
                "no bit of `{label}` that is still free goes to {}, as bit {bit} of the divisor does",
                At(expected)
            ),
            LayoutError::Crosses { label, bit, image } => write!(
                f,
                "bit {bit} of `{label}` goes to {}, which crosses the axes that are divided out",
                At(image)
            ),
            LayoutError::NotInjective { first, second, image } => {
                write!(f, "{} and {} both go to {}", At(first), At(second), At(image))
            }
            LayoutError::NotSurjective { output } => {
                write!(f, "nothing goes to {}", At(output))
            }
            LayoutError::NotReached { label, bit, image } => write!(
                f,
                "bit {bit} of `{label}` goes to {}, which the other layout does not hold",
                At(image)
            ),
            LayoutError::NotSelection { label, bit, width } => {
                write!(f, "bit {bit} of `{label}` is chosen twice or lies beyond its {width} bits")
            }
            LayoutError::DroppedBit { label, bit } => {
                write!(f, "bit {bit} of `{label}` is dropped, so that there is no way back")
            }
            LayoutError::ValueCount { found, bits } => {
                write!(f, "{found} values are given for the 2^{bits} places")
            }
            LayoutError::NotSqueezable { label, bits } => {
                write!(f, "axis `{label}` has {bits} bits and cannot be dropped")
            }
            LayoutError::CannotCut { label, bit, image, outs } => write!(
                f,
                "bit {bit} of `{label}` goes to {}, beyond {outs}, and is more than one bit",
                At(image)
            ),
            LayoutError::Resize { from, to } => {
                write!(f, "a reshape from {from} bits to {to} bits changes the size")
            }
            LayoutError::NoSuchDim { dim, rank } => {
                write!(f, "there is no axis {dim} in a tensor of rank {rank}")
            }
            LayoutError::Rank { expected, found } => {
                write!(f, "the tensor has {expected} axes, the shape {found}")
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
            LayoutError::ConstantDiffers { bits } => {
                write!(f, "the constants differ in the bits {}", At(bits))
            }
            LayoutError::ConstantNotReached { image } => {
                write!(f, "place zero goes to {}, which the other layout does not hold", At(image))
            }
            LayoutError::OffsetCarries { label, bit, shared } => write!(
                f,
                "bit {bit} of `{label}` and the offset share the bits {}, so that their sum carries",
                At(shared)
            ),
            LayoutError::NotSplit { size, holders } => {
                f.write_str(
                    "a split needs a last axis of size 2 that lies on one register bit of its own",
                )?;
                match size {
                    None => f.write_str("; the tensor has no axes"),
                    Some(2) if holders.is_empty() => f.write_str("; nothing reaches this one"),
                    Some(2) => {
                        f.write_str("; this one lies on")?;
                        holders.iter().try_for_each(|(label, bit)| write!(f, " {label}[{bit}]"))
                    }
                    Some(size) => write!(f, "; this one has size {size}"),
                }
            }
        }
    }
}

impl core::error::Error for LayoutError {}
