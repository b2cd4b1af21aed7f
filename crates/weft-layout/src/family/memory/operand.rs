use alloc::vec::Vec;

use crate::{
    family::FamilyError,
    layout::Layout,
    space::{OFFSET, Space},
};

/// Which vectors of 16 bytes change places in memory that a matrix instruction reads: the swizzling
/// mode of its descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SwizzleMode {
    /// None: core matrices of 8 rows of 16 bytes stand by themselves.
    None,
    /// Those of a row of 32 bytes.
    Bytes32,
    /// Those of a row of 64 bytes.
    Bytes64,
    /// Those of a row of 128 bytes.
    Bytes128,
}

impl SwizzleMode {
    /// Every mode, from none to the widest.
    pub const ALL: [SwizzleMode; 4] =
        [SwizzleMode::None, SwizzleMode::Bytes32, SwizzleMode::Bytes64, SwizzleMode::Bytes128];

    /// The bytes of a row; 16 without a swizzle.
    pub fn span(self) -> u64 {
        match self {
            SwizzleMode::None => 16,
            SwizzleMode::Bytes32 => 32,
            SwizzleMode::Bytes64 => 64,
            SwizzleMode::Bytes128 => 128,
        }
    }

    /// A byte's offset, from where the pattern begins, after the swizzle; and before it, since the
    /// swizzle undoes itself: bits 7 and up are added to bits 4 and up.
    pub fn swizzled(self, offset: u64) -> u64 {
        let vectors = self.span() / 16 - 1;
        offset ^ ((offset >> 7 & vectors) << 4)
    }
}

/// Along which axis of an operand the elements of 16 bytes lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Major {
    /// The axis that is summed over.
    K,
    /// The other one: rows of the left factor, columns of the right one.
    Mn,
}

/// The pattern that `wgmma` expects in the memory of an operand: 8 rows of `mode.span()` bytes, the
/// vectors of 16 bytes of row `i` permuted by exclusive-or with `i / (128 / span)`.
///
/// Rows run along `major`. The descriptor's strides say where the next patterns are.
/// Source: PTX ISA, "Asynchronous warpgroup level matrix shared memory layout".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperandAtom {
    /// Which permutation of memory there is, if any.
    pub mode: SwizzleMode,
    /// The axis along which a row runs.
    pub major: Major,
    /// The bits of an element: 8, 16 or 32.
    pub element_bits: u32,
}

/// The rows of a pattern.
const ROWS: u64 = 8;

impl OperandAtom {
    /// The patterns that `wgmma` reads elements of so many bits from; none for other widths.
    ///
    /// Rows along the axis that is kept are for 16 bits only.
    pub fn all(element_bits: u32) -> Vec<OperandAtom> {
        let majors: &[Major] = match element_bits {
            16 => &[Major::K, Major::Mn],
            8 | 32 => &[Major::K],
            _ => &[],
        };
        let of =
            |&major: &Major| SwizzleMode::ALL.map(|mode| OperandAtom { mode, major, element_bits });
        majors.iter().flat_map(of).collect()
    }

    /// The bytes of an element.
    pub fn element_bytes(&self) -> u64 {
        u64::from(self.element_bits / 8)
    }

    /// The layout: `[offset]`, in elements, to the kept axis (`dim0`) and the summed one (`dim1`).
    ///
    /// ```
    /// use weft_layout::family::{Major, OperandAtom, SwizzleMode};
    ///
    /// let atom = OperandAtom { mode: SwizzleMode::Bytes32, major: Major::K, element_bits: 16 };
    /// // Rows of 16 elements; from row 4 on the two vectors of 8 change places.
    /// assert_eq!(
    ///     atom.layout()?.to_string(),
    ///     "[offset: (0,1) (0,2) (0,4) (0,8) (1,0) (2,0) (4,8)] -> [dim0: 8, dim1: 16]",
    /// );
    /// # Ok::<(), weft_layout::family::FamilyError>(())
    /// ```
    pub fn layout(&self) -> Result<Layout, FamilyError> {
        if !matches!(self.element_bits, 8 | 16 | 32) {
            let (parameter, expected) = ("element_bits", "8, 16 or 32");
            let value = self.element_bits.into();
            return Err(FamilyError::Value { parameter, value, expected });
        }
        let [span, vector] = [self.mode.span(), 16].map(|bytes| bytes / self.element_bytes());
        let place = |row: u64, column: u64| match self.major {
            Major::K => [row, column].to_vec(),
            Major::Mn => [column, row].to_vec(),
        };
        let rows_per_phase = 128 / self.mode.span();
        let phase = |row: u64| row / rows_per_phase % (span / vector);
        let columns = powers(span).map(|column| place(0, column));
        let rows = powers(ROWS).map(|row| place(row, vector * phase(row)));
        let outs = Space::tensor(&place(ROWS, span))?;
        Ok(Layout::from_bases(&[(OFFSET, columns.chain(rows).collect())], outs)?)
    }
}

/// 1, 2, 4, … below `end`.
fn powers(end: u64) -> impl Iterator<Item = u64> {
    (0..end.max(1).ilog2()).map(|bit| 1 << bit)
}
