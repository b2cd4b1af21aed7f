//! Linear algebra over F₂, the field with two elements, on at most 64 × 64 bits.
//!
//! Addition is exclusive-or and multiplication is and, so a vector is a `u64` and a matrix is a
//! list of columns.
//! Column `i` is where input bit `i` goes; applying a matrix is the exclusive-or of the columns
//! that the input selects:
//!
//! ```
//! use weft_layout::f2::Matrix;
//!
//! let double = Matrix::new(3, &[0b010, 0b100])?;
//! assert_eq!(double.apply(0b11), 0b110);
//! # Ok::<(), weft_layout::f2::MatrixError>(())
//! ```
//!
//! A matrix can also be given and read by its rows: row `r` is the *mask* whose parity with the input
//! is result bit `r` ([`Matrix::from_rows`], [`Matrix::row`]).
//!
//! A [`Subspace`] is what a matrix reaches or sends to zero.
//! It can be added, intersected, complemented, annihilated, divided out ([`Subspace::quotient`]) and
//! avoided ([`Subspace::largest_avoiding`]).
//!
//! Every elimination works on columns in their order, so a pivot is always the lowest column that
//! adds something new, and a solution never uses a column that is a copy of earlier ones.

mod avoid;
mod echelon;
mod error;
mod matrix;
mod quotient;
mod subspace;

pub use avoid::Avoiding;
pub(crate) use echelon::Echelon;
pub use error::{MatrixError, NoSolution, Singular};
pub use matrix::Matrix;
pub use quotient::Quotient;
pub use subspace::{Elements, Subspace, TooManyElements};

/// The most rows and the most columns that a [`Matrix`] can have.
pub const MAX_BITS: u32 = 64;

/// The `u64` whose lowest `bits` bits are set; all of them from 64 on.
#[must_use]
pub const fn low_mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The parity of the number of set bits: the inner product of `value` with the all-ones vector.
#[must_use]
pub const fn parity(value: u64) -> bool {
    value.count_ones() & 1 == 1
}

/// The positions of the set bits, lowest first.
pub(crate) fn ones(mut value: u64) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        if value == 0 {
            return None;
        }
        let bit = value.trailing_zeros();
        value &= value - 1;
        Some(bit)
    })
}

/// The lowest bits of `value` moved to the set positions of `mask`: the opposite of
/// [`extract_bits`].
pub(crate) fn deposit_bits(value: u64, mask: u64) -> u64 {
    ones(mask).enumerate().fold(0, |sum, (from, to)| sum | ((value >> from & 1) << to))
}

/// The bits of `value` at the set positions of `mask`, moved together at the bottom.
pub(crate) fn extract_bits(value: u64, mask: u64) -> u64 {
    ones(mask).enumerate().fold(0, |sum, (to, from)| sum | ((value >> from & 1) << to))
}
