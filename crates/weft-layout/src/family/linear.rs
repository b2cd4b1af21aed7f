use alloc::vec::Vec;

use super::{FamilyError, Surplus, Tile};
use crate::{
    layout::Layout,
    space::{BLOCK, LANE, REGISTER, WARP},
};

/// A distributed layout written as its bases, each a list of coordinates, `dim0` first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Linear {
    /// The bases of the register bits.
    pub register: Vec<Vec<u64>>,
    /// The bases of the lane bits.
    pub lane: Vec<Vec<u64>>,
    /// The bases of the warp bits.
    pub warp: Vec<Vec<u64>>,
    /// The bases of the block bits.
    pub block: Vec<Vec<u64>>,
}

impl Linear {
    /// The bases of a distributed layout.
    pub fn of(layout: &Layout) -> Linear {
        let mut linear = Linear::default();
        for (label, bases) in layout.bases() {
            match label {
                REGISTER => linear.register = bases,
                LANE => linear.lane = bases,
                WARP => linear.warp = bases,
                BLOCK => linear.block = bases,
                _ => {}
            }
        }
        linear
    }

    /// The layout of a tensor of this shape: the bases as written if they fit it; else repeated in
    /// further registers, or cut.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        let tile = Tile {
            register: self.register.clone(),
            lane: self.lane.clone(),
            warp: self.warp.clone(),
        };
        let all = [&self.register, &self.lane, &self.warp, &self.block].into_iter().flatten();
        for basis in all {
            if basis.len() != shape.len() {
                return Err(FamilyError::Rank { expected: shape.len(), found: basis.len() });
            }
        }
        let order = self.order(shape.len());
        if self.block.is_empty() {
            return tile.layout(shape, &order, &[], Surplus::Dropped);
        }
        // The blocks are part of the bases: they neither grow nor scale.
        let bases = [
            (REGISTER, self.register.clone()),
            (LANE, self.lane.clone()),
            (WARP, self.warp.clone()),
            (BLOCK, self.block.clone()),
        ];
        Ok(Layout::from_bases(&bases, crate::space::Space::tensor(shape)?)?)
    }

    /// The axes in the order in which registers first walk along them, then the rest, minor first.
    fn order(&self, rank: usize) -> Vec<usize> {
        let mut order: Vec<usize> = Vec::with_capacity(rank);
        let walked = self.register.iter().filter_map(|basis| basis.iter().position(|&c| c != 0));
        for dim in walked.chain((0..rank).rev()) {
            if !order.contains(&dim) {
                order.push(dim);
            }
        }
        order
    }
}
