use core::fmt;

use super::tree::{MAX_DEPTH, MAX_NODES};

/// Why a CuTe object, or a value of one, does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CuteError {
    /// Tuples are nested more than 32 levels deep.
    TooDeep,
    /// There are more than 256 leaves and tuples.
    TooManyModes,
    /// An extent is zero.
    EmptyMode {
        /// The mode, counted without nesting.
        mode: usize,
    },
    /// The extents multiply to more than 2⁶⁴.
    TooLarge,
    /// A swizzle whose two groups of bits overlap (`|S| < B`) or leave 64 bits.
    Swizzle {
        /// How many bits are changed, `B` of `Sw<B,M,S>`.
        bits: u32,
        /// How many low bits are left alone, `M` of `Sw<B,M,S>`.
        base: u32,
        /// How far the bits that change them lie above, `S` of `Sw<B,M,S>`; negative for below.
        shift: i64,
    },
    /// A number should be a power of two.
    NotPowerOfTwo {
        /// What the number counts, in words.
        what: &'static str,
        /// The number that was found.
        value: u64,
    },
    /// An offset is negative or does not fit 64 bits.
    OutOfRange {
        /// The flat index that goes there.
        index: u64,
        /// The offset, before any swizzle.
        value: i128,
    },
}

impl fmt::Display for CuteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            CuteError::TooDeep => write!(f, "tuples are nested more than {MAX_DEPTH} levels deep"),
            CuteError::TooManyModes => {
                write!(f, "there are more than {MAX_NODES} modes and tuples")
            }
            CuteError::EmptyMode { mode } => {
                write!(f, "the extent of mode {mode} is 0, at least 1 is needed")
            }
            CuteError::TooLarge => f.write_str("the layout has more than 2^64 coordinates"),
            CuteError::Swizzle { bits, base, shift } => write!(
                f,
                "Swizzle<{bits},{base},{shift}> is none: |S| must be at least B, and M + |S| + B \
                 at most 64"
            ),
            CuteError::NotPowerOfTwo { what, value } => {
                write!(f, "{what} is {value}, which is no power of two")
            }
            CuteError::OutOfRange { index, value } => write!(
                f,
                "index {index} goes to offset {value}, which is {}",
                if value < 0 { "negative; a larger offset helps" } else { "beyond 64 bits" }
            ),
        }
    }
}

impl core::error::Error for CuteError {}
