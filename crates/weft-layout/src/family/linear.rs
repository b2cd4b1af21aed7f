use alloc::vec::Vec;

use super::{FamilyError, unit};
use crate::{
    layout::Layout,
    space::{BLOCK, LANE, REGISTER, Space, WARP},
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
        let tile = Bases {
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
            return tile.layout(shape, &order);
        }
        // The blocks are part of the bases: they neither grow nor scale.
        let bases = [
            (REGISTER, self.register.clone()),
            (LANE, self.lane.clone()),
            (WARP, self.warp.clone()),
            (BLOCK, self.block.clone()),
        ];
        Ok(Layout::from_bases(&bases, Space::tensor(shape)?)?)
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

/// The bases of a block while they are fitted to a tensor: each a vector of coordinates, `dim0` first.
struct Bases {
    register: Vec<Vec<u64>>,
    lane: Vec<Vec<u64>>,
    warp: Vec<Vec<u64>>,
}

impl Bases {
    fn layout(mut self, shape: &[u64], order: &[usize]) -> Result<Layout, FamilyError> {
        self.grow(shape, order);
        self.cut(shape)?;
        let bases =
            [(REGISTER, self.register), (LANE, self.lane), (WARP, self.warp), (BLOCK, Vec::new())];
        Ok(Layout::from_bases(&bases, Space::tensor(shape)?)?)
    }

    /// The extent along an axis: the smallest power of two above all coordinates.
    fn size(&self, dim: usize) -> u64 {
        let bases = [&self.register, &self.lane, &self.warp].into_iter().flatten();
        extent(bases.map(|basis| basis.get(dim).copied().unwrap_or(0)))
    }

    /// Made as large as `shape` by appending registers, axis by axis in `order`.
    fn grow(&mut self, shape: &[u64], order: &[usize]) {
        for &dim in order {
            let mut size = self.size(dim);
            while size < shape.get(dim).copied().unwrap_or(1) {
                self.register.push(unit(shape.len(), dim, size));
                size = size.saturating_mul(2);
            }
        }
    }

    /// Cut to `shape`: registers beyond it disappear, lanes and warps become copies.
    fn cut(&mut self, shape: &[u64]) -> Result<(), FamilyError> {
        for (dim, &size) in shape.iter().enumerate() {
            self.register.retain(|basis| !beyond(basis, dim, size) || !is_unit(basis));
            let bases = self.register.iter_mut().chain(&mut self.lane).chain(&mut self.warp);
            for basis in bases.filter(|basis| beyond(basis, dim, size)) {
                if !is_unit(basis) {
                    return Err(FamilyError::CannotCut { dim, size });
                }
                basis.fill(0);
            }
        }
        Ok(())
    }
}

/// Whether a basis leaves a tensor of this size along an axis.
fn beyond(basis: &[u64], dim: usize, size: u64) -> bool {
    basis.get(dim).is_some_and(|&coordinate| coordinate >= size)
}

/// The smallest power of two above all coordinates; at most the largest `u64`.
pub(super) fn extent(coordinates: impl Iterator<Item = u64>) -> u64 {
    let most = coordinates.max().unwrap_or(0);
    most.checked_add(1).and_then(u64::checked_next_power_of_two).unwrap_or(u64::MAX)
}

/// Whether a basis is a single bit of a single axis.
pub(super) fn is_unit(basis: &[u64]) -> bool {
    basis.iter().map(|coordinate| coordinate.count_ones()).sum::<u32>() == 1
}
