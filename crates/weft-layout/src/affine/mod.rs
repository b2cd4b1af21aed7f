//! Beyond linear: layouts with an offset, with padding, and cut to a box.
//!
//! An F₂-linear layout sends place zero to element zero, uses every offset of its memory and has
//! extents that are powers of two.
//! Three additions lift these limits and keep the algebra exact:
//!
//! - [`Affine`] adds a constant by exclusive-or: `Mx ⊕ b`.
//! - [`Padded`] leaves gaps between the offsets of a memory layout.
//! - [`Boxed`] keeps the places and elements below given extents only.
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
//! let flip = Affine::flip(&Space::tensor(&[8])?, Label::dim(0))?;
//! let reversed = Affine::from(lanes).compose(&flip)?;
//! assert_eq!(reversed.to_string(), "[lane: 1 2 4] -> [dim0: 8] ^ 7");
//! assert_eq!(reversed.apply(&[(LANE, 2)])?, [(Label::dim(0), 5)]);
//! // Reversing twice is nothing, and that has no constant.
//! assert!(reversed.compose(&flip)?.linear()?.matrix().is_identity());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A row of 32 at stride 33
//!
//! One unused word after each row turns the columns of a 32 × 32 tile away from each other's banks:
//!
//! ```
//! use weft_layout::{affine::{Padded, Padding, Slot}, interop::parse_layout};
//!
//! let rows = parse_layout(
//!     "[offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,0) (4,0) (8,0) (16,0)] \
//!      -> [dim0: 32, dim1: 32]",
//! )?;
//! let padded = Padded::new(rows, &[Padding { interval: 32, padding: 1 }])?;
//! // Row 2 begins at 66; after row 0 there is a gap; the gap after the last row is not needed.
//! assert_eq!(padded.physical(2 * 32), 66);
//! assert_eq!((padded.slot(31), padded.slot(32), padded.slot(33)),
//!     (Slot::Offset(31), Slot::Gap, Slot::Offset(32)));
//! assert_eq!(padded.size(), 32 * 33 - 1);
//! // A lane a row: 32 banks, where the plain rows had one.
//! let column = parse_layout("[lane: (1,0) (2,0) (4,0) (8,0) (16,0)] -> [dim0: 32, dim1: 32]")?;
//! let addresses = padded.compose(&column)?;
//! let mut banks: Vec<u64> = addresses.values(5)?.map(|address| address % 32).collect();
//! banks.sort_unstable();
//! assert!(banks.into_iter().eq(0..32));
//! // The columns 33, 66, … of this access share no bit: its addresses are a matrix after all.
//! assert_eq!(addresses.linear(5)?, [33, 66, 132, 264, 528]);
//! // With two elements of the row in each lane they are not: 1 and 33 share a bit, and 34 carries.
//! let pairs = parse_layout("[register: (0,1), lane: (1,0) (2,0)] -> [dim0: 32, dim1: 32]")?;
//! let carry = padded.compose(&pairs)?.linear(3).err().ok_or("no carry")?;
//! assert_eq!((carry.first.1, carry.second.1), (1, 33));
//! assert_eq!((carry.place, carry.sum, carry.xor), (0b11, 34, 32));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 100 of 128 elements
//!
//! A warp of 32 lanes with four registers holds 128 elements; a tensor of 100 leaves some idle:
//!
//! ```
//! use weft_layout::{Label, affine::Boxed, interop::parse_layout};
//!
//! let grown = parse_layout("[register: 1 2, lane: 4 8 16 32 64] -> [dim0: 128]")?;
//! let boxed = Boxed::new(grown, &[], &[(Label::dim(0), 100)])?;
//! assert_eq!(
//!     boxed.to_string(),
//!     "[register: 1 2, lane: 4 8 16 32 64] -> [dim0: 100 of 128]",
//! );
//! let counts = boxed.counts()?;
//! assert_eq!((counts.live, counts.dead, counts.missing), (100, 28, 0));
//! // The mask of a load: its element is below 100.
//! assert_eq!(boxed.mask(), [(Label::dim(0), 100)]);
//! // 100 elements are 25 rows of 4, but no number of rows of 8.
//! assert_eq!(boxed.reshape(&[32, 4])?.outs().to_string(), "[dim0: 25 of 32, dim1: 4]");
//! assert!(boxed.reshape(&[16, 8]).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// In reading order: a module may use those above it.
mod shifted;
mod structure;
mod parity;
mod padded;
mod coset;
mod error;
mod extents;
mod boxed;
mod cut;

pub use boxed::{Boxed, Counts};
pub use error::BoxedError;
pub use extents::Extents;
pub use padded::{Padded, PaddedError, Padding, Slot};
pub use parity::{Carry, ParitySum};
pub use shifted::Affine;
