//! CuTe: layouts `shape:stride`, swizzles, and what of them is a matrix of bits.
//!
//! CuTe describes where data lies by integers: a layout `(4,8):(8,1)` sends coordinate `(i, j)` to
//! `8·i + j`, and a flat index counts the coordinates with the first mode fastest.
//! Weft describes it by bits: each bit of the coordinate flips some bits of the offset.
//! Where extents are powers of two and nothing carries, the two say the same, and this module goes
//! from one to the other and back.
//!
//! # From CuTe
//!
//! [`parse`] reads what CuTe prints, from C++ (`Sw<3,4,3> o 0 o (_8,_8):(_8,_1)`) or Python
//! (`S<3,4,3> o 0 o (8,8):(8,1)`); [`import`] gives the matrix, its axes named by you:
//!
//! ```
//! use weft_layout::{Label, interop::cute};
//!
//! let tile = cute::parse("Sw<2,1,3> o 0 o (8,(2,4)):(8,(1,2))")?;
//! let (row, col) = (Label::new("row")?, Label::new("col")?);
//! let map = cute::import(&tile, &[row, col])?;
//! assert_eq!(map.to_string(), "[row: 8 18 36, col: 1 2 4] -> [offset: 64] ^ 0");
//! // Index 9 is row 1 of column 1.
//! assert_eq!((tile.apply(9)?, map.apply_flat(9)), (9, 9));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A layout need not have strides that are powers of two: `(2,16):(48,1)` is a matrix, because no
//! two of 48, 1, 2, 4, 8 share a bit.
//! And powers of two are not enough: `(4,4):(1,1)` is none.
//! A refusal shows two indices at which exclusive-or and addition part:
//!
//! ```
//! use weft_layout::{interop::cute, space::OFFSET};
//!
//! let padded = cute::parse("(32,32):(33,1)")?;
//! let Err(cute::ImportError::NotAffine(carry)) = cute::import(&padded, &[OFFSET]) else {
//!     panic!("33 and 1 share a bit");
//! };
//! assert_eq!((carry.x, carry.y, carry.at_both, carry.expected()), (1, 32, 34, 32));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Offsets and negative strides give [affine](crate::affine::Affine) maps: `7 o 8:-1` is `x ⊕ 7`.
//! Extents that are no powers of two are refused; pad them and mask what is beyond.
//! Integers that only the program knows (`?`) have no matrix.
//!
//! # To CuTe
//!
//! [`export`] writes a layout as a plain CuTe layout where one exists, else with one `Swizzle` over
//! one, else with the shortest chain of swizzles that it finds, and says whether it is the shortest:
//!
//! ```
//! use weft_layout::interop::{cute, parse_layout};
//!
//! let registers = parse_layout("[lane: 1 2 4 16 32, register: 8] -> [offset: 64]")?;
//! let plain = cute::export(&registers.into())?;
//! assert_eq!(plain.composed.to_string(), "((8,4),2):((1,16),8)");
//!
//! let folded = parse_layout("[row: 34 68 136 272, col: 1 2 4 8 16] -> [offset: 512]")?;
//! let swizzled = cute::export(&folded.into())?;
//! assert_eq!(swizzled.composed.to_string(), "Sw<4,1,4> o 0 o (16,32):(32,1)");
//! assert!(swizzled.shortest);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! CuTe composes one swizzle readily and two only by nesting, which many of its functions refuse.
//! A memory layout whose banks may be numbered anew mostly needs but one: [`single_swizzle`].
//!
//! # Conventions
//!
//! - Coordinates are colexicographic in CuTe, and so are places here: the first axis is the least
//!   significant.
//!   The axes of a *tensor* are row-major in this crate, so name modes and never count on order.
//! - In a thread-value layout the first mode is the thread, the second the value: import with the
//!   labels `[LANE, REGISTER]`.
//! - [`Swizzle`] has other names elsewhere: an absolute source position ([`Swizzle::between`],
//!   [`Swizzle::absolute`]), Triton's phases ([`Phases`]), the modes of tensor memory accesses
//!   ([`TmaMode`]); bytes and elements are changed into each other by [`Swizzle::recast`].
//! - Of CuTe's algebra there are evaluation and [`coalesce`](CuteLayout::coalesce), in CuTe's own
//!   integer semantics.
//!   Composition, inverses, products and divisions are those of [`Layout`](crate::Layout); on
//!   layouts that permute bits, none reaching beyond the next one's size, CuTe's are the same.

mod chain;
mod composed;
mod error;
mod export;
mod import;
mod layout;
mod names;
mod order;
mod padded;
mod parse;
mod swizzle;
mod tensor;
mod tree;

pub use composed::Composed;
pub use error::CuteError;
pub use export::{Export, ExportError, export};
pub use import::{BitOfMode, Carry, ImportError, import, mode_labels};
pub use layout::{CuteLayout, Mode};
pub use names::{Phases, TmaMode};
pub use order::{Ordered, single_swizzle};
pub use padded::{grown, padded};
pub use parse::parse;
pub use swizzle::Swizzle;
pub use tensor::{Convention, TensorError, export_tensor, memory_layout};
pub use tree::Tree;
