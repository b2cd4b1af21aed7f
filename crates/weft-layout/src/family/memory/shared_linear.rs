use alloc::vec::Vec;

use super::written_out;
use crate::{
    family::{FamilyError, check_sizes},
    layout::Layout,
};

/// A memory layout written as its bases, each a list of coordinates, `dim0` first.
///
/// It is what transposing or reshaping another memory layout leaves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SharedLinear {
    /// The bases of the offset bits; a zero basis is a copy.
    pub offset: Vec<Vec<u64>>,
    /// The bases of the block bits, in elements.
    pub block: Vec<Vec<u64>>,
    /// The alignment of the memory in bytes; a power of two.
    pub alignment: u64,
}

impl SharedLinear {
    /// The layout of a tensor of this shape, which must be the one that the bases reach:
    /// `[offset, block]`, offsets in elements.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        check_sizes("alignment", &[self.alignment], 1)?;
        written_out(&self.offset, &self.block, shape)
    }
}
