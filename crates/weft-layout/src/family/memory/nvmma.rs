use alloc::{vec, vec::Vec};

use super::cut;
use crate::{
    family::{FamilyError, linear::extent, share::Share, unit},
    layout::Layout,
    space::OFFSET,
};

/// The memory that NVIDIA's asynchronous matrix instructions and tensor copies work on: core
/// matrices of 8 rows of `swizzlingByteWidth` bytes, the 16-byte vectors of each row permuted.
///
/// Row `i` of a core matrix begins with vector `(i / (128 / s)) mod (s / 16)`, where `s` is
/// `swizzlingByteWidth`: a [`SwizzledShared`](super::SwizzledShared) with vectors of 16 bytes.
/// A tensor copy writes boxes: at most 256 elements along each axis, and one row of a core matrix
/// along the contiguous one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NvmmaShared {
    /// The bytes of a row of a core matrix: 32, 64 or 128; 0 for plain boxes.
    pub swizzling_byte_width: u64,
    /// Whether the first axis is the contiguous one, instead of the last.
    pub transposed: bool,
    /// The bits of an element; a power of two up to 128.
    pub element_bit_width: u64,
    /// Whether after every 8 elements 8 offsets are left unused.
    pub fp4_padded: bool,
    /// How many axes the tensor has.
    pub rank: usize,
    /// For each bit of the block number the part of the tensor it chooses, in units of a block's
    /// share (`CGALayout`); empty for a single block.
    pub blocks: Vec<Vec<u64>>,
}

/// The rows of a core matrix.
const CORE_ROWS: u64 = 8;
/// The most elements of a box along an axis.
const MAX_BOX: u64 = 256;

impl NvmmaShared {
    /// The layout of a single block for a tensor of two axes, the second one contiguous.
    pub fn new(swizzling_byte_width: u64, element_bit_width: u64) -> NvmmaShared {
        NvmmaShared {
            swizzling_byte_width,
            transposed: false,
            element_bit_width,
            fp4_padded: false,
            rank: 2,
            blocks: Vec::new(),
        }
    }

    /// The layout of a tensor of this shape: `[offset, block]`, offsets in elements.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        if shape.len() != self.rank {
            return Err(FamilyError::Rank { expected: self.rank, found: shape.len() });
        }
        let share = Share::new(shape, &self.blocks)?;
        let dims = 0..self.rank;
        let offset = match self.core_columns()? {
            None => fit(self.plain(share.sizes()), share.sizes(), dims.rev()),
            Some(columns) => fit(self.swizzled(&share, columns)?, share.sizes(), dims),
        };
        share.layout(vec![(OFFSET, offset)])
    }

    /// The offsets of a row of a core matrix; none without a swizzle.
    fn core_columns(&self) -> Result<Option<u64>, FamilyError> {
        let bits = self.element_bit_width;
        if !bits.is_power_of_two() || bits > 128 {
            let (parameter, expected) = ("elementBitWidth", "a power of two up to 128");
            return Err(FamilyError::Value { parameter, value: bits, expected });
        }
        match self.swizzling_byte_width {
            0 => Ok(None),
            bytes @ (32 | 64 | 128) => Ok(Some(bytes * 8 / bits)),
            value => Err(FamilyError::Value {
                parameter: "swizzlingByteWidth",
                value,
                expected: "0, 32, 64 or 128",
            }),
        }
    }

    /// The axis along which neighbouring offsets walk.
    fn contiguous(&self) -> usize {
        if self.transposed { 0 } else { self.rank.saturating_sub(1) }
    }

    /// The sizes of the largest box of a block's part; half-empty rows count in full.
    fn largest_box(&self, part: &[u64]) -> Vec<u64> {
        let limit = |dim| {
            if self.fp4_padded && dim == self.contiguous() { MAX_BOX / 2 } else { MAX_BOX }
        };
        part.iter().enumerate().map(|(dim, &size)| size.min(limit(dim))).collect()
    }

    /// The axes of a box, slowest first, and its sizes along them.
    fn box_axes(&self, tile: &[u64]) -> Vec<(usize, u64)> {
        let mut axes: Vec<(usize, u64)> = tile.iter().copied().enumerate().collect();
        if self.transposed && !axes.is_empty() {
            axes.rotate_left(1);
        }
        axes
    }

    /// The bases of boxes without a swizzle.
    fn plain(&self, part: &[u64]) -> Vec<Vec<u64>> {
        let rank = part.len();
        let tile = self.largest_box(part);
        let mut offset = Vec::new();
        for (dim, size) in self.box_axes(&tile).into_iter().rev() {
            // Triton turns a transposed box twice, which shows from three axes on.
            let dim = if self.transposed { (dim + 2 * rank - 2) % rank } else { dim };
            offset.extend((0..size.trailing_zeros()).map(|bit| unit(rank, dim, 1 << bit)));
        }
        offset
    }

    /// The bases of boxes of core matrices of so many columns.
    fn swizzled(&self, share: &Share<'_>, columns: u64) -> Result<Vec<Vec<u64>>, FamilyError> {
        let Some(last) = self.rank.checked_sub(1).filter(|&last| last > 0) else {
            return Err(FamilyError::Rank { expected: 2, found: self.rank });
        };
        if self.fp4_padded && columns < 2 * FP4_RUN {
            return Err(FamilyError::Value {
                parameter: "elementBitWidth",
                value: self.element_bit_width,
                expected: "one that leaves 16 elements to a row (with `fp4Padded`)",
            });
        }
        let packed = if self.fp4_padded { columns / 2 } else { columns };
        let contiguous = self.contiguous();
        share.at_least(contiguous, packed)?;
        let mut tile = self.largest_box(share.sizes());
        tile[contiguous] = packed;

        // The box as a matrix: its last axis and all others together are rows and columns.
        let log = |sizes: &[u64]| sizes.iter().map(|size| size.trailing_zeros()).sum::<u32>();
        let (others, own) = (log(&tile[..last]), log(&tile[last..]));
        let (row_bits, column_bits) = if self.transposed { (own, others) } else { (others, own) };
        if row_bits < CORE_ROWS.trailing_zeros() {
            let (size, needed) = (1 << row_bits, CORE_ROWS);
            let dim = if self.transposed { last } else { last - 1 };
            return Err(FamilyError::TooSmall { dim, size, needed });
        }
        let place = |row: u64, column: u64| (row << column_bits) | column;
        let mut places: Vec<u64> = Vec::new();
        let steps = |from: u64, to: u32| (from.trailing_zeros()..to).map(|bit| 1_u64 << bit);
        places.extend(steps(1, columns.trailing_zeros()).map(|c| place(0, self.pack(c))));
        places.extend(steps(1, 3).map(|row| place(row, self.pack(self.first_column(row)))));
        places.extend(steps(CORE_ROWS, row_bits).map(|row| place(row, 0)));
        places.extend(steps(packed, column_bits).map(|column| place(0, column)));

        let axes = self.box_axes(&tile);
        Ok(places.into_iter().map(|place| coordinates(place, &axes)).collect())
    }

    /// The offset that row `row` of a core matrix begins with.
    fn first_column(&self, row: u64) -> u64 {
        let bytes = self.swizzling_byte_width;
        let phase = row * bytes / 128 % (bytes / 16);
        phase * 128 / self.element_bit_width
    }

    /// The element at an offset of a row: the same, or without the unused ones.
    fn pack(&self, offset: u64) -> u64 {
        if !self.fp4_padded {
            return offset;
        }
        (offset % FP4_RUN) | (offset / (2 * FP4_RUN) * FP4_RUN)
    }
}

/// How many elements stand together in rows that are half empty.
const FP4_RUN: u64 = 8;

/// A place of a box as coordinates of the tensor; `axes` are the box's axes and sizes, slowest first.
fn coordinates(mut place: u64, axes: &[(usize, u64)]) -> Vec<u64> {
    let mut coordinates = vec![0; axes.len()];
    for &(dim, size) in axes.iter().rev() {
        coordinates[dim] = place % size;
        place /= size;
    }
    coordinates
}

/// Bases of a single box fitted to a block's part: what leaves it is cut off, what is missing is
/// walked by further offsets, axis by axis in the order of `dims`.
fn fit(
    mut offset: Vec<Vec<u64>>,
    part: &[u64],
    dims: impl Iterator<Item = usize>,
) -> Vec<Vec<u64>> {
    for dim in dims {
        let size = part[dim];
        let mut walked = extent(offset.iter().map(|basis| basis[dim]));
        while walked < size {
            offset.push(unit(part.len(), dim, walked));
            walked = walked.saturating_mul(2);
        }
    }
    for basis in &mut offset {
        cut(basis, part);
    }
    offset
}
