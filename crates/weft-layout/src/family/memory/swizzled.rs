use alloc::{vec, vec::Vec};

use crate::{
    family::{FamilyError, check_order, check_sizes, share::Share, unit},
    layout::Layout,
    space::OFFSET,
};

/// Memory rows whose vectors are permuted by an exclusive-or with the row number (the paper's
/// definition 4.11).
///
/// Row `i` begins with column `vec · ((i / perPhase) mod maxPhase)`.
/// As a matrix over column and row bits this is `[[I, C], [0, I]]`, column `k` of `C` being where
/// row `2^k` begins.
/// All three parameters are powers of two, at least 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SwizzledShared {
    /// How many consecutive elements stay together.
    pub vec: u64,
    /// How many consecutive rows are permuted alike.
    pub per_phase: u64,
    /// How many different permutations there are.
    pub max_phase: u64,
    /// The axes, fastest first; the first two are column and row.
    pub order: Vec<usize>,
    /// For each bit of the block number the part of the tensor it chooses, in units of a block's
    /// share (`CGALayout`); empty for a single block.
    pub blocks: Vec<Vec<u64>>,
}

impl SwizzledShared {
    /// The swizzle of a single block.
    pub fn new(vec: u64, per_phase: u64, max_phase: u64, order: &[usize]) -> SwizzledShared {
        SwizzledShared { vec, per_phase, max_phase, order: order.to_vec(), blocks: Vec::new() }
    }

    /// The layout of a tensor of this shape: `[offset, block]`, offsets in elements.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        self.check(shape)?;
        let share = Share::new(shape, &self.blocks)?;
        let offset = self.rows(share.sizes(), |row| row / self.per_phase % self.max_phase);
        share.layout(vec![(OFFSET, offset)])
    }

    /// Checks all parameters but the blocks.
    pub(super) fn check(&self, shape: &[u64]) -> Result<(), FamilyError> {
        check_order(&self.order, shape.len())?;
        check_sizes("shape", shape, shape.len())?;
        check_sizes("vec", &[self.vec], 1)?;
        check_sizes("perPhase", &[self.per_phase], 1)?;
        check_sizes("maxPhase", &[self.max_phase], 1)
    }

    /// The bases of rows of a tensor of these sizes, row `2^k` beginning with vector `phase(2^k)`.
    pub(super) fn rows(&self, sizes: &[u64], phase: impl Fn(u64) -> u64) -> Vec<Vec<u64>> {
        let mut offset = Vec::new();
        for (position, &dim) in self.order.iter().enumerate() {
            for bit in 0..sizes[dim].trailing_zeros() {
                let mut basis = unit(sizes.len(), dim, 1 << bit);
                if position == 1 {
                    let column = self.order[0];
                    // Columns are counted modulo a power of two, so that wrapping loses nothing.
                    basis[column] = self.vec.wrapping_mul(phase(1 << bit)) % sizes[column];
                }
                offset.push(basis);
            }
        }
        offset
    }
}
