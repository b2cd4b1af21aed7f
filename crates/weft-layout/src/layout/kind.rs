//! What kind of map a layout is.
//!
//! These are predicates, not types: every operator takes every layout.

use super::Layout;
use crate::f2::low_mask;

impl Layout {
    /// Whether the layout is a distributed layout in the sense of definition 4.10: surjective, each
    /// basis one bit or zero, and no bit reached twice.
    ///
    /// In other words a permutation matrix, perhaps with zero columns in between.
    /// Layouts that are not are still layouts: lanes may be swizzled too.
    pub fn is_distributed(&self) -> bool {
        let mut reached = 0_u64;
        let fits = self.matrix.columns().iter().all(|&column| {
            let fresh = column.count_ones() <= 1 && column & reached == 0;
            reached |= column;
            fresh
        });
        fits && reached == low_mask(self.outs.total_bits())
    }

    /// Whether the layout is a memory layout in the sense of definition 4.14: invertible, each basis
    /// of one or two bits.
    ///
    /// Layouts that are not may be memory layouts of a more general kind: a swizzle may fold more
    /// than two bits together.
    pub fn is_memory_layout(&self) -> bool {
        let mut weights = self.matrix.columns().iter().map(|column| column.count_ones());
        weights.all(|weight| weight == 1 || weight == 2) && self.is_invertible()
    }
}
