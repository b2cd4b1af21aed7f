//! Beyond linear: layouts with an offset, with padding, and cut to a box.
//!
//! An F₂-linear layout sends place zero to element zero, uses every offset of its memory and has
//! extents that are powers of two.
//! Three small additions lift these limits and keep the algebra exact:
//!
//! - [`Affine`] adds a constant by exclusive-or: `Mx ⊕ b`.
//! - [`Padded`] leaves gaps between the offsets of a memory layout.

mod padded;
mod shifted;

pub use padded::{Padded, PaddedError, Padding};
pub use shifted::Affine;
