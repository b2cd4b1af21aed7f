//! Beyond linear: layouts with an offset, with padding, and cut to a box.
//!
//! An F₂-linear layout sends place zero to element zero, uses every offset of its memory and has
//! extents that are powers of two.
//! Two additions lift these limits and keep the algebra exact:
//!
//! - [`Affine`] adds a constant by exclusive-or: `Mx ⊕ b`.
//! - [`Padded`] leaves gaps between the offsets of a memory layout.
//!
//! Operators are those of [`Layout`](crate::Layout) where they make sense; where they do not, the
//! error shows why.
//!
//! # A reversed axis
//!
//! Eight lanes hold eight elements, last one first.
//! Lane 0 does not hold element 0, so no matrix says that; but `7 - x = x ⊕ 7`:
//!
//! ```
//! use weft_layout::{Label, Space, affine::Affine, interop::parse_layout, space::LANE};
//!
//! let lanes = parse_layout("[lane: 1 2 4] -> [dim0: 8]")?;
//! let reversed = Affine::from(lanes).compose(&Affine::flip(&Space::tensor(&[8])?, Label::dim(0))?)?;
//! assert_eq!(reversed.to_string(), "[lane: 1 2 4] -> [dim0: 8] ^ 7");
//! assert_eq!(reversed.apply(&[(LANE, 2)])?, [(Label::dim(0), 5)]);
//! // Reversing twice is nothing, and that has no constant.
//! let twice = reversed.compose(&Affine::flip(reversed.outs(), Label::dim(0))?)?;
//! assert!(twice.linear()?.matrix().is_identity());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// In reading order: a module may use those above it.
mod shifted;
mod structure;
mod padded;

pub use padded::{Padded, PaddedError, Padding};
pub use shifted::Affine;
