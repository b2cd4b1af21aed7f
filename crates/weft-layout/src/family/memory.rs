use alloc::vec::Vec;

use super::{FamilyError, check_order, check_sizes, unit};
use crate::{
    layout::Layout,
    space::{BLOCK, OFFSET, Space},
};

/// The row-major memory layout of a tensor: offset `i` (in elements) holds element `i`.
pub fn row_major(shape: &[u64]) -> Result<Layout, FamilyError> {
    let outs = Space::tensor(shape)?;
    let identity = Layout::identity(outs.total_bits(), OFFSET, OFFSET)?;
    Ok(identity.reshape_outs(outs)?)
}

/// Memory rows whose vectors are permuted by an exclusive-or with the row number (the paper's
/// definition 4.11).
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
}

impl SwizzledShared {
    /// The layout of a tensor of this shape: `[offset, block]`, offsets in elements.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        let rank = self.order.len();
        check_order(&self.order, rank)?;
        check_sizes("shape", shape, rank)?;
        check_sizes("vec", &[self.vec], 1)?;
        check_sizes("perPhase", &[self.per_phase], 1)?;
        check_sizes("maxPhase", &[self.max_phase], 1)?;
        let mut offset = Vec::new();
        for (position, &dim) in self.order.iter().enumerate() {
            for bit in 0..shape[dim].trailing_zeros() {
                let mut basis = unit(rank, dim, 1 << bit);
                if position == 1 {
                    let column = self.order[0];
                    basis[column] = self.swizzle(1 << bit, shape[column]);
                }
                offset.push(basis);
            }
        }
        let bases = [(OFFSET, offset), (BLOCK, Vec::new())];
        Ok(Layout::from_bases(&bases, Space::tensor(shape)?)?)
    }

    /// The column that row `row` begins with.
    fn swizzle(&self, row: u64, columns: u64) -> u64 {
        let phase = row / self.per_phase % self.max_phase;
        self.vec.saturating_mul(phase) % columns
    }
}
