//! What the check of a solved swizzle says.

use core::fmt;

use crate::access::AccessError;

/// What is known of a memory layout whose numbers are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// No memory layout takes fewer wavefronts, by counting dimensions.
    Optimal,
    /// None does, by a search that solving the problem again repeats.
    Exhausted,
    /// Fewer wavefronts are not excluded, but never fewer than the bound.
    Gap,
}

/// What is wrong with a solved swizzle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckError {
    /// The memory layout is none: it has other inputs than an offset, or holds an element twice.
    Memory,
    /// The memory does not hold what an access moves.
    Outside {
        /// The number of the access, from zero.
        access: usize,
    },
    /// There is not one use for each access.
    Uses,
    /// The vectors of an access are not in its registers, or not aligned.
    Vector {
        /// Which access.
        access: usize,
    },
    /// An access takes another number of wavefronts or instructions.
    Wavefronts {
        /// Which access.
        access: usize,
        /// Instructions and wavefronts by the rank law.
        expected: (u64, u64),
    },
    /// The sum of all accesses is another one.
    Total(u64),
    /// Dimensions give another bound.
    Bound(u64),
    /// An access is not legal on the machine.
    Access(AccessError),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Memory => {
                f.write_str("the memory layout does not give each offset an element")
            }
            CheckError::Outside { access } => {
                write!(f, "the memory does not hold what access {access} moves")
            }
            CheckError::Uses => f.write_str("there is not one use for each access"),
            CheckError::Vector { access } => {
                write!(f, "the vectors of access {access} are not aligned in its registers")
            }
            CheckError::Wavefronts { access, expected: (instructions, wavefronts) } => write!(
                f,
                "access {access} takes {instructions} instructions and {wavefronts} wavefronts"
            ),
            CheckError::Total(total) => write!(f, "the accesses take {total} wavefronts in all"),
            CheckError::Bound(bound) => write!(f, "dimensions give the bound {bound}"),
            CheckError::Access(error) => write!(f, "an access is not legal: {error}"),
        }
    }
}

impl core::error::Error for CheckError {}
