use alloc::vec::Vec;

use crate::{
    family::{
        FamilyError, bits, check_matrix,
        dot_operand::Operand,
        tile::{Level, Tile, minor_first},
    },
    layout::{Layout, Surplus},
};

/// The result of AMD's matrix instructions `wmma`, of waves of 32 lanes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AmdWmma {
    /// 1 to 3: gfx11, gfx12, gfx1250.
    pub version: u32,
    /// Whether operands are exchanged, so that a thread holds columns of a row, not rows of a
    /// column.
    pub is_transposed: bool,
    /// How registers repeat the result of one instruction, as bases in units of it.
    pub register: Vec<Vec<u64>>,
    /// How warps repeat it, as bases in the same units.
    pub warp: Vec<Vec<u64>>,
    /// For each bit of the block number the part of the tensor it chooses (`CGALayout`); empty for a
    /// single block.
    pub blocks: Vec<Vec<u64>>,
    /// The rows, the columns and the length of the sum of one instruction.
    pub instr_shape: [u64; 3],
}

impl AmdWmma {
    /// The instruction that every version but the third has.
    pub const DEFAULT_SHAPE: [u64; 3] = [16, 16, 16];

    /// The layout of a result of this shape.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        let rank = shape.len();
        check_matrix(rank)?;
        let [rows, _, _] = self.instruction()?;
        let mut tile = Tile::new(shape, &self.blocks, None)?;
        let [inner, outer] =
            if self.is_transposed { [rank - 1, rank - 2] } else { [rank - 2, rank - 1] };
        if self.version == 1 {
            tile.walk(Level::Lane, outer, 4).walk(Level::Lane, inner, 1).walk(
                Level::Register,
                inner,
                3,
            );
        } else {
            tile.walk(Level::Register, inner, 3)
                .walk(Level::Lane, outer, 4)
                .walk(Level::Lane, inner, 1)
                .walk_to(Level::Register, inner, rows);
        }
        self.repeat(&mut tile, None)?;
        surjective(tile.layout(minor_first(rank), Surplus::Copies)?)
    }

    /// The layout of an operand of this shape, of which each thread holds `k_width` elements
    /// together.
    pub(in crate::family) fn operand(
        &self,
        operand: Operand,
        k_width: u32,
        shape: &[u64],
    ) -> Result<Layout, FamilyError> {
        let rank = shape.len();
        check_matrix(rank)?;
        let [rows, columns, sum] = self.instruction()?;
        let expected = match (self.version, k_width) {
            (1, 8 | 16) | (2, 4 | 8 | 16) | (3, _) => "",
            (1, _) => "8 or 16",
            _ => "4, 8 or 16",
        };
        if !expected.is_empty() {
            let (parameter, value) = ("kWidth", k_width.into());
            return Err(FamilyError::Value { parameter, value, expected });
        }
        let together = bits("kWidth", k_width.into())?;
        // A transposed instruction reads the right operand where the left one is expected.
        let by_rows = (operand == Operand::Left) != self.is_transposed;
        let [summed, kept] = [operand.summed(rank)?, operand.kept(rank)?];
        let mut tile = Tile::new(shape, &self.blocks, Some(summed))?;
        tile.walk(Level::Register, summed, together).walk(Level::Lane, kept, 4);
        if self.version == 1 {
            // The upper half of the wave repeats the lower one.
            tile.copies(Level::Lane, 1);
        } else {
            tile.walk(Level::Lane, summed, 1);
        }
        tile.walk(Level::Register, summed, sum.saturating_sub(together + 1)).walk_to(
            Level::Register,
            kept,
            if by_rows { rows } else { columns },
        );
        self.repeat(&mut tile, Some(summed))?;
        surjective(tile.layout(operand.order(rank), Surplus::Copies)?)
    }

    fn repeat(&self, tile: &mut Tile, hidden: Option<usize>) -> Result<(), FamilyError> {
        let levels = [(Level::Register, &*self.register), (Level::Warp, &*self.warp)];
        tile.repeat("ctaLayout", levels, hidden).map(|_| ())
    }

    /// The logarithms of the sizes of an instruction.
    fn instruction(&self) -> Result<[u32; 3], FamilyError> {
        let expected = match (self.version, self.instr_shape) {
            (1 | 2, [16, 16, 16]) | (2, [16, 16, 32]) => "",
            (3, [16, 16, 4 | 32 | 64 | 128] | [32, 16, 64 | 128]) => "",
            (1, _) => "[16, 16, 16]",
            (2, _) => "[16, 16, 16] or [16, 16, 32]",
            (3, _) => {
                "[16, 16, 4], [16, 16, 32], [16, 16, 64], [16, 16, 128], [32, 16, 64] or [32, 16, 128]"
            }
            (version, _) => {
                let (parameter, expected) = ("version", "1, 2 or 3");
                return Err(FamilyError::Value { parameter, value: version.into(), expected });
            }
        };
        if expected.is_empty() {
            Ok(self.instr_shape.map(u64::trailing_zeros))
        } else {
            Err(FamilyError::InstrShape { found: self.instr_shape.to_vec(), expected })
        }
    }
}

/// The layout, unless a repetition that is no permutation has been cut to a small tensor so that
/// elements are lost.
fn surjective(layout: Layout) -> Result<Layout, FamilyError> {
    let complete = layout.is_surjective();
    if complete { Ok(layout) } else { Err(FamilyError::NotSurjective { parameter: "ctaLayout" }) }
}
