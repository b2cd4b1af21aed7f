//! Fragments of Intel's matrix instruction `dpas`.

use alloc::vec::Vec;

use super::{
    FamilyError, bits, check_matrix, check_sizes,
    dot_operand::Operand,
    tile::{Level, Tile, minor_first},
};
use crate::layout::{Layout, Surplus};

/// The result of Intel's matrix instruction `dpas`.
///
/// One instruction adds to `repeat_count × execution_size` elements the products of
/// `systolic_depth · ops_per_chan` terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IntelDpas {
    /// The rows of the result: 1, 2, 4 or 8.
    pub repeat_count: u64,
    /// The 32-bit terms of a sum: 8.
    pub systolic_depth: u64,
    /// The columns of the result: 8 or 16.
    pub execution_size: u64,
    /// The elements of an operand in 32 bits: 1, 2 or 4.
    pub ops_per_chan: u64,
    /// How many 4-bit elements a byte of an operand packs, where it does: 2.
    pub fp4_k_pack: Option<u64>,
    /// The threads of a warp (a sub-group).
    pub threads_per_warp: u64,
    /// Warps of a block along each axis.
    pub warps_per_cta: Vec<u64>,
    /// Neighbouring instructions of a warp along each axis of the result.
    pub rep_cluster: Vec<u64>,
}

/// The logarithms of an instruction's sizes.
struct Instruction {
    rows: u32,
    columns: u32,
    terms: u32,
    ops: u32,
    threads: u32,
}

impl IntelDpas {
    /// The sizes of the left operand, the right one and the result of a warp's neighbouring
    /// instructions together; saturating.
    pub fn sizes(&self) -> [Vec<u64>; 3] {
        let terms = self.systolic_depth.saturating_mul(self.ops_per_chan);
        let rank = self.rep_cluster.len();
        let repeats = |dim: usize| self.rep_cluster.get(dim).copied().unwrap_or(1);
        let rows = self.repeat_count.saturating_mul(repeats(rank.wrapping_sub(2)));
        let columns = self.execution_size.saturating_mul(repeats(rank.wrapping_sub(1)));
        let sized = |rows, columns| {
            let batch = core::iter::repeat_n(1, rank.saturating_sub(2));
            batch.chain([rows, columns]).collect()
        };
        [sized(rows, terms), sized(terms, columns), sized(rows, columns)]
    }

    /// The layout of a result of this shape.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        let rank = shape.len();
        let one = self.instruction(rank)?;
        let [row, column] = [rank - 2, rank - 1];
        let below = self.threads_below(one.threads, one.columns, one.rows)?;
        let mut tile = Tile::new(shape, &[], None)?;
        tile.walk(Level::Lane, column, one.columns)
            .walk(Level::Lane, row, below)
            .walk_to(Level::Register, row, one.rows)
            .count(Level::Register, &self.rep_cluster, [column, row].into_iter(), None)
            .count(Level::Warp, &self.warps_per_cta, minor_first(rank), None);
        tile.layout(minor_first(rank), Surplus::Copies)
    }

    /// The layout of an operand of this shape.
    pub(super) fn operand(
        &self,
        operand: Operand,
        k_width: u32,
        shape: &[u64],
    ) -> Result<Layout, FamilyError> {
        let rank = shape.len();
        let one = self.instruction(rank)?;
        // 8-bit elements of the left operand travel in pairs.
        let pair = u32::from(operand == Operand::Left && one.ops == 2);
        let needed = match (operand, one.ops) {
            (Operand::Left, 0 | 1) | (Operand::Right, 0) => (1, "1"),
            (Operand::Left, _) | (Operand::Right, 1) => (2, "2"),
            (Operand::Right, _) => (4, "4"),
        };
        if k_width != needed.0 {
            let (parameter, value) = ("kWidth", k_width.into());
            return Err(FamilyError::Value { parameter, value, expected: needed.1 });
        }
        let [summed, kept] = [operand.summed(rank)?, operand.kept(rank)?];
        let mut tile = Tile::new(shape, &[], None)?;
        if operand == Operand::Left {
            let across = one.terms - pair;
            let below = self.threads_below(one.threads, across, one.rows)?;
            tile.walk(Level::Register, summed, pair)
                .walk(Level::Lane, summed, across)
                .walk(Level::Lane, kept, below)
                .walk_to(Level::Register, kept, one.rows);
        } else {
            let below = self.threads_below(one.threads, one.columns, one.terms - one.ops)?;
            tile.walk(Level::Register, summed, one.ops)
                .walk(Level::Lane, kept, one.columns)
                .walk(Level::Lane, summed, below)
                .walk_to(Level::Register, summed, one.terms);
        }
        tile.count(Level::Register, &self.rep_cluster, kept..=kept, None).count(
            Level::Warp,
            &self.warps_per_cta,
            minor_first(rank),
            Some(summed),
        );
        tile.layout(operand.order(rank), Surplus::Copies)
    }

    /// The logarithm of how many rows, of at most 2^`rows`, the threads span when 2^`across` of them
    /// lie side by side.
    fn threads_below(&self, threads: u32, across: u32, rows: u32) -> Result<u32, FamilyError> {
        match threads.checked_sub(across) {
            Some(below) if below <= rows => Ok(below),
            _ => {
                let (least, most) = (1 << across, 1_u64.unbounded_shl(across + rows));
                Err(FamilyError::Threads { found: self.threads_per_warp, least, most })
            }
        }
    }

    fn instruction(&self, rank: usize) -> Result<Instruction, FamilyError> {
        check_matrix(rank)?;
        check_sizes("warpsPerCTA", &self.warps_per_cta, rank)?;
        check_sizes("repCluster", &self.rep_cluster, rank)?;
        let (ops, expected_ops): (&[u64], _) = if self.fp4_k_pack.is_some() {
            (&[4], "4, as 4-bit elements are packed in bytes,")
        } else {
            (&[1, 2, 4], "1, 2 or 4")
        };
        let known: [(_, _, &[u64], _); 5] = [
            ("repeatCount", self.repeat_count, &[1, 2, 4, 8], "1, 2, 4 or 8"),
            ("systolicDepth", self.systolic_depth, &[8], "8"),
            ("executionSize", self.execution_size, &[8, 16], "8 or 16"),
            ("opsPerChan", self.ops_per_chan, ops, expected_ops),
            ("fp4KPack", self.fp4_k_pack.unwrap_or(2), &[2], "2"),
        ];
        for (parameter, value, right, expected) in known {
            if !right.contains(&value) {
                return Err(FamilyError::Value { parameter, value, expected });
            }
        }
        let ops = self.ops_per_chan.trailing_zeros();
        Ok(Instruction {
            rows: self.repeat_count.trailing_zeros(),
            columns: self.execution_size.trailing_zeros(),
            terms: self.systolic_depth.trailing_zeros() + ops,
            ops,
            threads: bits("threadsPerWarp", self.threads_per_warp)?,
        })
    }
}
