//! Operands that a matrix instruction reads from shared memory: where a buffer's layout lets it.
//!
//! A descriptor repeats a pattern ([`OperandAtom`]) in even steps along both axes of an operand. So
//! an instruction reads a tile from a buffer with layout `L` exactly when the pattern divides
//! `X = L⁻¹` on the left, on the bits of the tile, and the quotient's columns there are one geometric
//! progression along each axis, whose ratio is 2 and whose first terms are the descriptor's strides:
//!
//! ```text
//! the tile's columns of X                          the others
//! ┌──────────────┬───────────────────────────┐     ┌─────────────────────────────────┐
//! │ the atom's   │ step, 2 step, 4 step, …   │     │ where tiles start: anything     │
//! │ own columns  │ (no bits in common)       │     │ in whole vectors of 16 bytes    │
//! └──────────────┴───────────────────────────┘     └─────────────────────────────────┘
//! ```
//!
//! The hardware adds where a layout takes the exclusive-or; both are the same because no two of
//! these columns may have a bit in common.
//!
//! ```
//! use weft_layout::{family::NvmmaShared, plan::operand::{OperandTile, legal}, Label};
//!
//! // 128 rows of 64 halves, as a tensor copy writes them; the instruction reads 64 rows at a time.
//! let memory = NvmmaShared::new(128, 16).layout(&[128, 64])?;
//! let rows = OperandTile { kept: Label::dim(0), summed: Label::dim(1), extent: 64, element_bits: 16 };
//! let operand = legal(&memory, &rows)?;
//! assert_eq!(operand.descriptor().bits(), 0x4000_0040_0000_0000);
//! assert_eq!(operand.alignment(), 1024);
//! // The next 16 halves of a row are 32 bytes on; the next 64 rows 8 patterns of 1024 bytes.
//! assert_eq!(operand.start(&[(Label::dim(1), 16)]), Some(32));
//! assert_eq!(operand.start(&[(Label::dim(0), 64)]), Some(8192));
//!
//! let plain = weft_layout::family::row_major(&[128, 64])?;
//! let refused = legal(&plain, &rows).unwrap_err();
//! assert_eq!(
//!     refused.to_string(),
//!     "no matrix descriptor: with K-major rows of 128 bytes, dim0 bit 0 is 128, must be 144",
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod divide;
mod refused;

use alloc::vec::Vec;

pub use refused::{Fault, Mismatch, Refused};

use crate::{
    family::{Major, OperandAtom, SwizzleMode},
    layout::Layout,
    machine::MatrixDescriptor,
    space::Label,
};

/// What one instruction reads of an operand: `extent` by 32 bytes' worth of the summed axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperandTile {
    /// The axis that the product keeps: rows of the left factor, columns of the right one.
    pub kept: Label,
    /// The axis that is summed over.
    pub summed: Label,
    /// How many rows or columns: 64 rows, or 8 to 256 columns in steps of 8.
    pub extent: u64,
    /// The bits of an element: 8, 16 or 32.
    pub element_bits: u32,
}

/// The bytes along the summed axis that one instruction takes.
const SUMMED_BYTES: u64 = 32;

impl OperandTile {
    /// The bytes of an element.
    fn element_bytes(&self) -> u64 {
        u64::from(self.element_bits / 8).max(1)
    }

    /// The elements along the summed axis.
    pub fn summed_extent(&self) -> u64 {
        SUMMED_BYTES / self.element_bytes()
    }

    /// The bits of an axis that count within a tile; none of axes that the tile does not name.
    fn bits(&self, axis: Label) -> u32 {
        let extent = match axis {
            _ if axis == self.kept => self.extent,
            _ if axis == self.summed => self.summed_extent(),
            _ => 1,
        };
        extent.next_power_of_two().trailing_zeros()
    }
}

/// How a matrix instruction reads tiles of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    tile: OperandTile,
    atom: OperandAtom,
    descriptor: MatrixDescriptor,
    /// From a tensor's elements to bytes of the buffer before the swizzle.
    starts: Layout,
    /// How far the kept axis goes on in even steps: a power of two, at least the tile's extent.
    even: u64,
}

impl Operand {
    /// The descriptor without an address.
    pub fn descriptor(&self) -> MatrixDescriptor {
        self.descriptor
    }

    /// The axis along which rows run, which the instruction is told.
    pub fn major(&self) -> Major {
        self.atom.major
    }

    /// The alignment of the buffer's first byte, in bytes: that of a pattern.
    pub fn alignment(&self) -> u64 {
        granule(self.atom.mode)
    }

    /// The bytes from the start of the buffer to the start that the descriptor of a tile names, by the
    /// coordinates of the tile's first element; axes that are not named are 0.
    ///
    /// None where no tile starts: between the steps of the summed axis, within a pattern that the tile
    /// would leave, or where an extent that is no power of two goes beyond the even steps.
    pub fn start(&self, first: &[(Label, u64)]) -> Option<u64> {
        let along = |axis| first.iter().find(|place| place.0 == axis).map_or(0, |place| place.1);
        let (kept, summed) = (along(self.tile.kept), along(self.tile.summed));
        let last = kept.checked_add(self.tile.extent)?.checked_sub(1)?;
        let pattern = match self.atom.major {
            Major::K => 8,
            Major::Mn => self.atom.mode.span() / self.tile.element_bytes(),
        };
        let within = kept / pattern == last / pattern;
        let whole = kept % pattern == 0 || within;
        let even = kept / self.even == last / self.even;
        let starts = kept % 8 == 0 && whole && even && summed % self.tile.summed_extent() == 0;
        let place = self.starts.ins().pack(first).ok()?;
        starts.then(|| self.starts.apply_flat(place))
    }
}

/// How a matrix instruction reads tiles of a buffer in shared memory, or why no descriptor says it.
///
/// `memory` maps `offset`, in elements, one to one to a tensor that has the axes of the tile, and
/// perhaps others, as for the stages of a pipeline. At most one pattern fits a buffer.
///
/// Fails with one witness for each pattern that the element's width allows: the first of its columns
/// at which it fails.
pub fn legal(memory: &Layout, tile: &OperandTile) -> Result<Operand, Refused> {
    let places = divide::places(memory, tile)?;
    let mut mismatches: Vec<Mismatch> = Vec::new();
    for atom in OperandAtom::all(tile.element_bits) {
        match divide::divide(&places, tile, atom)? {
            Ok(operand) => return Ok(operand),
            Err(mismatch) => mismatches.push(mismatch),
        }
    }
    Err(Refused::NoAtom(mismatches))
}

/// What strides are multiples of, and a buffer is aligned to, in bytes: a pattern that is swizzled, or a
/// vector.
fn granule(mode: SwizzleMode) -> u64 {
    match mode {
        SwizzleMode::None => 16,
        mode => 8 * mode.span(),
    }
}
