use alloc::vec::Vec;

use crate::{
    family::{
        FamilyError, bits, check_matrix, check_sizes,
        dot_operand::Operand,
        tile::{Level, Tile, minor_first},
    },
    layout::{Layout, Surplus},
};

/// The logarithm of the lanes of a wave.
const LANES: u32 = 6;

/// The result of AMD's matrix instructions `mfma`, of waves of 64 lanes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AmdMfma {
    /// 1 to 4: gfx908, gfx90a, gfx942, gfx950.
    pub version: u32,
    /// Warps of a block along each axis.
    pub warps_per_cta: Vec<u64>,
    /// The result of one instruction, perhaps with the length of its sum: `[m, n]` or `[m, n, k]`.
    pub instr_shape: Vec<u64>,
    /// Whether operands are exchanged, so that a thread holds consecutive columns, not rows.
    pub is_transposed: bool,
    /// For each bit of the block number the part of the tensor it chooses (`CGALayout`); empty for a
    /// single block.
    pub blocks: Vec<Vec<u64>>,
    /// Results of neighbouring instructions that a warp holds, along each axis; ones may be left out.
    pub tiles_per_warp: Vec<u64>,
    /// The bits of an element of the result: 32 or 64.
    pub element_bit_width: u32,
}

impl AmdMfma {
    /// The layout of a result of this shape.
    ///
    /// Registers repeat the tiles of all warps to the last column before they go on to the next
    /// tile of rows.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        let rank = shape.len();
        let [m, n] = self.instruction(rank)?;
        if m > n && !self.is_transposed {
            let expected = "4 × 64, or `isTransposed = true`,";
            return Err(FamilyError::InstrShape { found: self.instr_shape.clone(), expected });
        }
        let together = if self.element_bit_width == 64 { 0 } else { 2 };
        let mut tile = Tile::new(shape, &self.blocks, None)?;
        let [row, column] = [rank - 2, rank - 1];
        let [(inner, inner_bits), (outer, outer_bits)] =
            if self.is_transposed { [(column, n), (row, m)] } else { [(row, m), (column, n)] };
        tile.walk(Level::Register, inner, together)
            .walk(Level::Lane, outer, outer_bits)
            .walk(Level::Lane, inner, LANES - outer_bits)
            .walk_to(Level::Register, inner, inner_bits);
        tile.walk(Level::Register, column, self.tiles(column))
            .count(Level::Warp, &self.warps_per_cta, column..=column, None)
            .walk_to(Level::Register, column, shape[column].trailing_zeros())
            .walk(Level::Register, row, self.tiles(row))
            .count(Level::Warp, &self.warps_per_cta, minor_first(column), None);
        tile.layout(minor_first(rank), Surplus::Copies)
    }

    /// The layout of an operand of this shape, of which each thread holds `k_width` elements
    /// together.
    ///
    /// The blocks that cut the result cut the operand alike, also along the summed axis.
    pub(in crate::family) fn operand(
        &self,
        operand: Operand,
        k_width: u32,
        shape: &[u64],
    ) -> Result<Layout, FamilyError> {
        let rank = shape.len();
        let [m, n] = self.instruction(rank)?;
        let together = bits("kWidth", k_width.into())?;
        let [summed, kept] = [operand.summed(rank)?, operand.kept(rank)?];
        let [kept_bits, other_bits] = if operand == Operand::Left { [m, n] } else { [n, m] };
        let mut tile = Tile::new(shape, &self.blocks, None)?;
        tile.walk(Level::Register, summed, together).walk(Level::Lane, kept, kept_bits).walk(
            Level::Lane,
            summed,
            LANES - kept_bits,
        );
        if kept_bits > other_bits {
            // One lane each of 64 holds what the 16 lanes of the other operand's rows hold.
            tile.walk(Level::Register, summed, LANES - other_bits);
        }
        tile.walk_to(Level::Register, summed, shape[summed].trailing_zeros())
            .walk(Level::Register, kept, self.tiles(kept))
            .count(Level::Warp, &self.warps_per_cta, minor_first(rank), Some(summed));
        tile.layout(operand.order(rank), Surplus::Copies)
    }

    /// The logarithm of the tiles of a warp along an axis.
    fn tiles(&self, dim: usize) -> u32 {
        self.tiles_per_warp.get(dim).map_or(0, |tiles| tiles.trailing_zeros())
    }

    /// The logarithms of the rows and columns of an instruction.
    fn instruction(&self, rank: usize) -> Result<[u32; 2], FamilyError> {
        check_matrix(rank)?;
        check_sizes("warpsPerCTA", &self.warps_per_cta, rank)?;
        if self.tiles_per_warp.iter().any(|&tiles| tiles != 1) {
            check_sizes("tilesPerWarp", &self.tiles_per_warp, rank)?;
        }
        if self.version > 4 {
            let (parameter, expected) = ("version", "1 to 4");
            return Err(FamilyError::Value { parameter, value: self.version.into(), expected });
        }
        if !matches!(self.element_bit_width, 32 | 64) {
            let (parameter, expected) = ("elementBitWidth", "32 or 64");
            let value = self.element_bit_width.into();
            return Err(FamilyError::Value { parameter, value, expected });
        }
        match *self.instr_shape {
            [32, 32] | [32, 32, _] => Ok([5, 5]),
            [16, 16] | [16, 16, _] => Ok([4, 4]),
            [64, 4] | [64, 4, _] => Ok([6, 2]),
            [4, 64] | [4, 64, _] => Ok([2, 6]),
            _ => {
                let expected = "32 × 32, 16 × 16, 64 × 4 or 4 × 64";
                Err(FamilyError::InstrShape { found: self.instr_shape.clone(), expected })
            }
        }
    }
}
