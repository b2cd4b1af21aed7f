//! Layouts of Blackwell's tensor memory: from `[row, col, block]` to a tensor of two axes.
//!
//! The memory has 128 rows (its lanes); a column is as wide as an element, unless a stride says
//! otherwise.
//! These layouts may be partial: a row or column whose basis is zero holds nothing of the tensor, or
//! a copy.

use alloc::{vec, vec::Vec};

use super::{FamilyError, check_sizes, share::Share, unit};
use crate::{
    layout::Layout,
    space::{COL, ROW},
};

/// The rows of tensor memory, as a power of two.
const ROW_BITS: usize = 7;
/// The rows of a tile of scale factors.
const TILE_ROWS: u64 = 128;

/// Accumulators, and left operands, of the fifth generation of matrix instructions.
///
/// A tile of 128 rows lies as it is.
/// A tile of 64 rows fills one half of each group of 32 memory rows; the other half (row bit 4)
/// holds the next tile along the rows, else the next one along the columns, else nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorMemory {
    /// The rows of a tile: 64 or 128.
    pub block_m: u64,
    /// The columns of a tile; a power of two; a narrower tensor has narrower tiles.
    pub block_n: u64,
    /// The distance between neighbouring columns: 1, 2 or 4.
    pub col_stride: u64,
    /// For each bit of the block number the part of the tensor it chooses, in units of a block's
    /// share (`CGALayout`); empty for a single block.
    pub blocks: Vec<Vec<u64>>,
    /// Whether pairs of blocks work on a tile together; then bit 0 of the block number walks along
    /// the rows.
    /// A tile of 64 rows then leaves no memory row empty: the upper half of its columns lies in the
    /// upper 64 rows.
    pub two_ctas: bool,
    /// Whether 4-bit elements, stored as bytes, are spread over twice as many columns.
    pub fp4_padded: bool,
}

impl TensorMemory {
    /// The layout of a single block, its columns packed.
    pub fn new(block_m: u64, block_n: u64) -> TensorMemory {
        TensorMemory {
            block_m,
            block_n,
            col_stride: 1,
            blocks: Vec::new(),
            two_ctas: false,
            fp4_padded: false,
        }
    }

    /// The layout of a tensor of this shape: `[row, col, block]`, columns in elements.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        let share = matrix_share(shape, &self.blocks)?;
        self.check()?;
        let [m, n] = [share.sizes()[0], share.sizes()[1]];
        let block_n = self.block_n.min(shape[1]);
        share.at_least(0, self.block_m)?;
        share.at_least(1, block_n)?;

        let mut row: Vec<Vec<u64>> = steps(0, 1, 16).collect();
        let unused = if self.fp4_padded { 1 } else { self.col_stride.trailing_zeros() };
        let mut col = vec![vec![0, 0]; unused as usize];
        col.extend(steps(1, 1, block_n));
        // Up to where the tile goes.
        let (mut tile_m, mut tile_n) = (self.block_m, block_n);
        if self.block_m == 128 {
            row.extend(steps(0, 16, 128));
        } else if self.two_ctas {
            row.extend(steps(0, 16, 64));
            let upper = col.pop();
            let too_narrow = FamilyError::Value {
                parameter: "blockN",
                value: block_n,
                expected: "at least 2 (with `blockM = 64, twoCTAs = true`)",
            };
            row.push(upper.ok_or(too_narrow)?);
        } else {
            row.push(if m > tile_m {
                tile_m *= 2;
                unit(2, 0, self.block_m)
            } else if n > tile_n {
                tile_n *= 2;
                unit(2, 1, block_n)
            } else {
                vec![0, 0]
            });
            row.extend(steps(0, 16, 64));
        }
        col.extend(steps(0, tile_m, m));
        col.extend(steps(1, tile_n, n));
        share.layout(vec![(ROW, row), (COL, col)])
    }

    fn check(&self) -> Result<(), FamilyError> {
        let refused =
            |parameter, value, expected| Err(FamilyError::Value { parameter, value, expected });
        if !matches!(self.block_m, 64 | 128) {
            return refused("blockM", self.block_m, "64 or 128");
        }
        check_sizes("blockN", &[self.block_n], 1)?;
        if !matches!(self.col_stride, 1 | 2 | 4) {
            return refused("colStride", self.col_stride, "1, 2 or 4");
        }
        if self.fp4_padded && self.col_stride != 1 {
            return refused("colStride", self.col_stride, "1 (with `fp4Padded`)");
        }
        let pairs = self.blocks.first().is_some_and(|basis| basis[..] == [1, 0]);
        if self.two_ctas && !pairs { Err(FamilyError::NoPairs) } else { Ok(()) }
    }
}

/// Scale factors of a block-scaled matrix instruction: 32 rows and 4 columns at a time, each
/// repeated in the four quarters of the memory rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorMemoryScales {
    /// For each bit of the block number the part of the tensor it chooses, in units of a block's
    /// share (`CGALayout`); empty for a single block.
    pub blocks: Vec<Vec<u64>>,
    /// Whether tiles of 128 rows are repeated along the columns first, then along the rows
    /// (`blockRepOrder = kThenMn`).
    pub columns_first: bool,
}

impl TensorMemoryScales {
    /// The layout of a tensor of this shape: `[row, col, block]`, columns in elements.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        let share = matrix_share(shape, &self.blocks)?;
        let [m, n] = [share.sizes()[0], share.sizes()[1]];
        // Where the tensor is smaller, the rest holds copies.
        let inside =
            |basis: Vec<u64>| if basis[0] < m && basis[1] < n { basis } else { vec![0, 0] };
        let mut row: Vec<Vec<u64>> = steps(0, 1, 32).map(inside).collect();
        row.resize(ROW_BITS, vec![0, 0]);
        let mut col: Vec<Vec<u64>> = steps(1, 1, 4).map(inside).collect();
        // A tile has two groups of rows at least, and four at most.
        col.extend(steps(0, 32, m.clamp(64, TILE_ROWS)).map(inside));
        let (columns, tiles) = (steps(1, 4, n), steps(0, TILE_ROWS, m));
        if self.columns_first {
            col.extend(columns.chain(tiles));
        } else {
            col.extend(tiles.chain(columns));
        }
        share.layout(vec![(ROW, row), (COL, col)])
    }
}

/// The share of each block of a tensor, which must have two axes.
fn matrix_share<'a>(shape: &'a [u64], blocks: &'a [Vec<u64>]) -> Result<Share<'a>, FamilyError> {
    if shape.len() != 2 {
        return Err(FamilyError::Rank { expected: 2, found: shape.len() });
    }
    Share::new(shape, blocks)
}

/// The powers of two from `from` to below `to`, along one of two axes.
fn steps(dim: usize, from: u64, to: u64) -> impl Iterator<Item = Vec<u64>> {
    (from.trailing_zeros()..to.trailing_zeros()).map(move |bit| unit(2, dim, 1 << bit))
}
