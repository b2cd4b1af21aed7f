//! Fragments of NVIDIA's matrix instructions `mma.sync` and `wgmma` (the paper's proposition 9.2).

use alloc::vec::Vec;

use super::{
    FamilyError, bits, check_matrix, check_sizes,
    dot_operand::Operand,
    tile::{Level, Tile, minor_first},
};
use crate::layout::{Layout, Surplus};

/// The result of NVIDIA's matrix instructions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NvidiaMma {
    /// 2 for `mma.sync` (one warp), 3 for `wgmma` (four warps).
    pub version_major: u32,
    /// A finer version, which no layout depends on.
    pub version_minor: u32,
    /// Warps of a block along each axis.
    pub warps_per_cta: Vec<u64>,
    /// The result of one instruction and warp: `[m, n]`, after a 1 for a batch; in version 3 the
    /// length of the sum may follow.
    pub instr_shape: Vec<u64>,
    /// For each bit of the block number the part of the tensor it chooses (`CGALayout`); empty for a
    /// single block.
    pub blocks: Vec<Vec<u64>>,
}

impl NvidiaMma {
    /// The layout of a result of this shape.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        let rank = shape.len();
        let [rows, columns] = self.instruction(rank)?;
        let [rows, columns] = [self.extent(rows)?, self.extent(columns)?];
        let mut tile = Tile::new(shape, &self.blocks, None)?;
        let [row, column] = [rank - 2, rank - 1];
        fragment(&mut tile, column, row, [1, columns], rows);
        self.count_warps(&mut tile, None);
        tile.layout(minor_first(rank), Surplus::Copies)
    }

    /// The layout of an operand of this shape, of which each thread holds `k_width` elements
    /// together; the hardware's own `k_width` is 32 bits' worth.
    ///
    /// The right operand of `wgmma` has none: it is read from memory.
    pub(super) fn operand(
        &self,
        operand: Operand,
        k_width: u32,
        shape: &[u64],
    ) -> Result<Layout, FamilyError> {
        let rank = shape.len();
        let [rows, _] = self.instruction(rank)?;
        let rows = self.extent(rows)?;
        if self.version_major == 3 && operand == Operand::Right {
            let expected = "0, as `wgmma` reads its right operand from memory,";
            return Err(FamilyError::Value { parameter: "opIdx", value: 1, expected });
        }
        let together = bits("kWidth", k_width.into())?;
        // An instruction of 8 rows sums half as many elements.
        let summed_bits = together + if rows == 3 { 2 } else { 3 };
        let [summed, kept] = [operand.summed(rank)?, operand.kept(rank)?];
        let mut tile = Tile::new(shape, &self.blocks, Some(summed))?;
        let kept_bits = if operand == Operand::Left { rows } else { 3 };
        fragment(&mut tile, summed, kept, [together, summed_bits], kept_bits);
        self.count_warps(&mut tile, Some(summed));
        tile.layout(operand.order(rank), Surplus::Copies)
    }

    /// Warps walk along columns first in `mma.sync`, along rows first in `wgmma`, whose four warps
    /// lie one below the other.
    fn count_warps(&self, tile: &mut Tile, hidden: Option<usize>) {
        let rank = tile.rank();
        let rows_first = self.version_major == 3;
        let order = (0..rank).map(|dim| if rows_first { dim } else { rank - 1 - dim });
        tile.count(Level::Warp, &self.warps_per_cta, order, hidden);
    }

    /// The rows and columns of one warp's result.
    fn instruction(&self, rank: usize) -> Result<[u64; 2], FamilyError> {
        check_matrix(rank)?;
        check_sizes("warpsPerCTA", &self.warps_per_cta, rank)?;
        let expected = match (self.version_major, &*self.instr_shape, rank) {
            (2, &[m, n], 2) | (2, &[1, m, n], 3) | (3, &([m, n] | [m, n, _]), 2) => {
                return Ok([m, n]);
            }
            (2, _, 2) => "[m, n]",
            (2, _, _) => "[1, m, n]",
            (3, _, 2) => "[m, n] or [m, n, k]",
            (3, _, _) => return Err(FamilyError::Rank { expected: 2, found: rank }),
            (version, _, _) => {
                let (parameter, expected) = ("versionMajor", "2 (`mma.sync`) or 3 (`wgmma`)");
                return Err(FamilyError::Value { parameter, value: version.into(), expected });
            }
        };
        Err(FamilyError::InstrShape { found: self.instr_shape.clone(), expected })
    }

    /// The logarithm of the rows or columns of an instruction.
    fn extent(&self, size: u64) -> Result<u32, FamilyError> {
        let expected = "a size of at least 8 × 8";
        match bits("instrShape", size)? {
            ..3 => Err(FamilyError::InstrShape { found: self.instr_shape.clone(), expected }),
            bits => Ok(bits),
        }
    }
}

/// Proposition 9.2, with `inner` the axis along which a thread holds 2^`together` elements, of
/// 2^`inner_bits` in all, and `outer` the other one, of 2^`outer_bits`:
///
/// ```text
/// id^{Reg,inner}_together × id^{Thr,inner}_2 × id^{Thr,outer}_3 × id^{Reg,outer} × id^{Reg,inner}
/// ```
///
/// Results have two consecutive columns in a thread whatever their width, and the last factor of a
/// right operand lies on the summed axis.
fn fragment(
    tile: &mut Tile,
    inner: usize,
    outer: usize,
    [together, inner_bits]: [u32; 2],
    outer_bits: u32,
) {
    tile.walk(Level::Register, inner, together)
        .walk(Level::Lane, inner, 2)
        .walk(Level::Lane, outer, 3)
        .walk_to(Level::Register, outer, outer_bits)
        .walk_to(Level::Register, inner, inner_bits);
}
