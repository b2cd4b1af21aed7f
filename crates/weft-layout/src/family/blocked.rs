use alloc::{vec, vec::Vec};

use super::{
    FamilyError, check_order, check_sizes,
    dot_operand::Operand,
    tile::{Level, Tile},
};
use crate::layout::{Layout, Surplus};

/// A tensor cut into equal boxes: registers of a thread, threads of a warp, warps of a block, each
/// a box of the one before (the paper's proposition 9.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Blocked {
    /// Elements of a thread along each axis, `dim0` first.
    pub size_per_thread: Vec<u64>,
    /// Threads of a warp along each axis.
    pub threads_per_warp: Vec<u64>,
    /// Warps of a block along each axis.
    pub warps_per_cta: Vec<u64>,
    /// The axes, fastest first.
    pub order: Vec<usize>,
    /// For each bit of the block number the part of the tensor it chooses, in units of a block's
    /// share (`CGALayout`); empty for a single block.
    pub blocks: Vec<Vec<u64>>,
}

impl Blocked {
    /// The blocked layout of a single block.
    pub fn new(
        size_per_thread: &[u64],
        threads_per_warp: &[u64],
        warps_per_cta: &[u64],
        order: &[usize],
    ) -> Blocked {
        Blocked {
            size_per_thread: size_per_thread.to_vec(),
            threads_per_warp: threads_per_warp.to_vec(),
            warps_per_cta: warps_per_cta.to_vec(),
            order: order.to_vec(),
            blocks: Vec::new(),
        }
    }

    /// The layout that reads memory well: `elements_per_thread` in each thread, then lanes and
    /// warps along the axes in `order` as far as the shape reaches, the rest on the slowest axis.
    ///
    /// `lanes` and `warps` are numbers of threads and warps.
    /// This is Triton's builder of `BlockedEncodingAttr` from a shape.
    pub fn for_memory(
        shape: &[u64],
        elements_per_thread: &[u64],
        order: &[usize],
        lanes: u64,
        warps: u64,
    ) -> Result<Blocked, FamilyError> {
        check_sizes("shape", shape, shape.len())?;
        check_sizes("sizePerThread", elements_per_thread, shape.len())?;
        check_sizes("threads", &[lanes, warps], 2)?;
        check_order(order, shape.len())?;
        let (mut threads_per_warp, mut warps_per_cta) =
            (vec![1; shape.len()], vec![1; shape.len()]);
        let (mut lanes_left, mut warps_left) = (lanes, warps);
        if let Some((&slowest, faster)) = order.split_last() {
            for &dim in faster {
                let wanted = (shape[dim] / elements_per_thread[dim]).max(1);
                threads_per_warp[dim] = wanted.min(lanes_left);
                warps_per_cta[dim] = (wanted / threads_per_warp[dim]).clamp(1, warps_left);
                lanes_left /= threads_per_warp[dim];
                warps_left /= warps_per_cta[dim];
            }
            threads_per_warp[slowest] = lanes_left;
            warps_per_cta[slowest] = warps_left;
        }
        Ok(Blocked::new(elements_per_thread, &threads_per_warp, &warps_per_cta, order))
    }

    /// The layout of a tensor of this shape.
    ///
    /// A tensor larger than the tile repeats it in further registers, axis by axis in `order`; a
    /// smaller one makes lanes and warps copies (zero bases) and needs fewer registers.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        self.check(shape)?;
        let order = || self.order.iter().copied();
        let mut tile = Tile::new(shape, &self.blocks, None)?;
        tile.count(Level::Register, &self.size_per_thread, order(), None)
            .count(Level::Lane, &self.threads_per_warp, order(), None)
            .count(Level::Warp, &self.warps_per_cta, order(), None);
        tile.layout(order(), Surplus::Dropped)
    }

    /// The layout of an operand of a multiplication by scalar multiply-adds whose result has this
    /// layout: each thread holds the whole of the summed axis.
    pub(super) fn operand(&self, operand: Operand, shape: &[u64]) -> Result<Layout, FamilyError> {
        self.check(shape)?;
        let summed = operand.summed(shape.len())?;
        let mut per_thread = self.size_per_thread.clone();
        per_thread[summed] = shape[summed];
        let order = || self.order.iter().copied();
        let mut tile = Tile::new(shape, &self.blocks, Some(summed))?;
        tile.count(Level::Register, &per_thread, order(), None)
            .count(Level::Lane, &self.threads_per_warp, order(), Some(summed))
            .count(Level::Warp, &self.warps_per_cta, order(), Some(summed));
        tile.layout(order(), Surplus::Copies)
    }

    fn check(&self, shape: &[u64]) -> Result<(), FamilyError> {
        let rank = self.order.len();
        check_order(&self.order, rank)?;
        check_sizes("sizePerThread", &self.size_per_thread, rank)?;
        check_sizes("threadsPerWarp", &self.threads_per_warp, rank)?;
        check_sizes("warpsPerCTA", &self.warps_per_cta, rank)?;
        check_sizes("shape", shape, rank)
    }
}
