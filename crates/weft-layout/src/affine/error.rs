use alloc::vec::Vec;
use core::fmt;

use crate::{layout::LayoutError, space::Label};

/// Why a box, or an operator on boxed layouts, is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoxedError {
    /// The operator on the layout without boxes is refused.
    Layout(LayoutError),
    /// An extent is larger than its axis.
    ExtentTooLarge {
        /// The axis that is shorter.
        label: Label,
        /// The extent that was asked for along it.
        extent: u64,
        /// The size of the axis.
        size: u128,
    },
    /// The answer would take more than 2¹⁶ combinations of cells.
    TooManyCells {
        /// How many, at least.
        count: u64,
    },
    /// There are more than 2²⁴ places to walk through.
    TooManyPlaces {
        /// How many places there are.
        count: u128,
    },
    /// What remains is no box: this place lies in the smallest box around it, and is dead.
    NotBox {
        /// The place (the element, for an operator on the outputs), as coordinates.
        place: Vec<(Label, u64)>,
    },
    /// The two halves of a split do not have the same registers: this one lies outside the box, and
    /// the one of the other half beside it lies inside.
    Halves {
        /// The number of the register.
        register: u128,
    },
}

impl From<LayoutError> for BoxedError {
    fn from(error: LayoutError) -> BoxedError {
        BoxedError::Layout(error)
    }
}

impl fmt::Display for BoxedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BoxedError::Layout(error) => error.fmt(f),
            BoxedError::ExtentTooLarge { label, extent, size } => {
                write!(f, "extent {extent} exceeds the {size} coordinates of axis `{label}`")
            }
            BoxedError::TooManyCells { count } => {
                write!(f, "the boxes make {count} combinations of cells, at most 2^16 are counted")
            }
            BoxedError::TooManyPlaces { count } => {
                write!(f, "the box has {count} places, at most 2^24 are walked through")
            }
            BoxedError::NotBox { place } => {
                f.write_str("what remains is no box:")?;
                for (index, (label, value)) in place.iter().enumerate() {
                    write!(f, "{} {label} {value}", if index == 0 { "" } else { "," })?;
                }
                f.write_str(" lies in the smallest box around it, and is dead")
            }
            BoxedError::Halves { register } => write!(
                f,
                "register {register} lies outside the box, its fellow of the other half inside"
            ),
        }
    }
}

impl core::error::Error for BoxedError {}
