//! How the blocks of a cluster cut a tensor (`CGALayout`).

use alloc::{vec, vec::Vec};

use super::{FamilyError, check_sizes};
use crate::{
    layout::Layout,
    space::{BLOCK, Label, Space},
};

/// A tensor and the part of it that each block holds.
pub(super) struct Share<'a> {
    shape: &'a [u64],
    outs: Space,
    blocks: &'a [Vec<u64>],
    /// How many parts each axis is cut into.
    parts: Vec<u64>,
    /// The sizes of one part.
    sizes: Vec<u64>,
}

impl<'a> Share<'a> {
    /// `blocks` holds for each bit of the block number the part that it chooses, in units of a part.
    ///
    /// Fails when a size is no power of two, the tensor has more than 2⁶⁴ elements, or when along
    /// some axis the bits do not choose the parts 1, 2, 4, … once each.
    pub(super) fn new(shape: &'a [u64], blocks: &'a [Vec<u64>]) -> Result<Share<'a>, FamilyError> {
        let rank = shape.len();
        check_sizes("shape", shape, rank)?;
        let outs = Space::tensor(shape)?;
        let chosen = chosen_parts(blocks, rank)?;
        let parts: Vec<u64> = chosen.iter().map(|mask| mask.saturating_add(1)).collect();
        let sizes = shape.iter().zip(&parts).map(|(size, parts)| (size / parts).max(1)).collect();
        Ok(Share { shape, outs, blocks, parts, sizes })
    }

    /// The sizes of the part of each block; 1 where there are more parts than elements.
    pub(super) fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Checks that along axis `dim` the tensor has at least `size` elements for each block.
    pub(super) fn at_least(&self, dim: usize, size: u64) -> Result<(), FamilyError> {
        let needed = size.saturating_mul(self.parts[dim]);
        if self.shape[dim] < needed {
            return Err(FamilyError::TooSmall { dim, size: self.shape[dim], needed });
        }
        Ok(())
    }

    /// The layout of the tensor whose blocks hold their parts as `axes` say, each axis a label and
    /// its bases within a part.
    pub(super) fn layout(
        self,
        mut axes: Vec<(Label, Vec<Vec<u64>>)>,
    ) -> Result<Layout, FamilyError> {
        let starts = self.blocks.iter().map(|basis| {
            let coordinates = basis.iter().zip(&self.sizes).zip(self.shape);
            // Parts beyond the tensor are copies.
            let inside = |((part, size), bound): ((&u64, &u64), &u64)| {
                part.checked_mul(*size).filter(|start| start < bound).unwrap_or(0)
            };
            coordinates.map(inside).collect()
        });
        axes.push((BLOCK, starts.collect()));
        Ok(Layout::from_bases(&axes, self.outs)?)
    }
}

/// For each axis which parts the bits of the block number choose, as a mask.
///
/// Fails unless along each axis the parts 1, 2, 4, … are chosen once each.
pub(super) fn chosen_parts(blocks: &[Vec<u64>], rank: usize) -> Result<Vec<u64>, FamilyError> {
    let mut chosen = vec![0_u64; rank];
    for (index, basis) in blocks.iter().enumerate() {
        if basis.len() != rank {
            return Err(FamilyError::Rank { expected: rank, found: basis.len() });
        }
        let mut along = basis.iter().zip(&mut chosen).filter(|&(&part, _)| part != 0);
        match (along.next(), along.next()) {
            (None, _) => {}
            (Some((part, mask)), None) if part.is_power_of_two() && *mask & part == 0 => {
                *mask |= part;
            }
            _ => return Err(FamilyError::Blocks { index }),
        }
    }
    let gap = chosen.iter().position(|&mask| mask & mask.wrapping_add(1) != 0);
    match gap.and_then(|dim| blocks.iter().position(|b| b[dim] != 0 && b[dim] > chosen[dim] >> 1)) {
        Some(index) => Err(FamilyError::Blocks { index }),
        None => Ok(chosen),
    }
}
