//! Text forms: Triton's attributes, layouts written as their bases, and CuTe's layouts ([`cute`]).
//!
//! ```
//! use weft_layout::interop;
//!
//! let text = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], \
//!             warpsPerCTA = [4, 1], order = [1, 0]}>";
//! let family = interop::parse_attribute(text)?;
//! assert_eq!(family.to_string(), text);
//!
//! let layout = interop::parse_layout("[lane: 1 2, warp: 4] -> [x: 8]")?;
//! assert_eq!(layout.to_string(), "[lane: 1 2, warp: 4] -> [x: 8]");
//! # Ok::<(), interop::ParseError>(())
//! ```
//!
//! Errors carry the bytes of the text that they are about.

mod attribute;
pub mod cute;
mod cursor;
mod text;

pub use attribute::parse_attribute;
pub use cursor::{ParseError, ParseErrorKind};
pub use text::parse_layout;
