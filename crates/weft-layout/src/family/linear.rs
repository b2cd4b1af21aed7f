use alloc::vec::Vec;

use super::{FamilyError, check_sizes};
use crate::{
    layout::Layout,
    space::{BLOCK, LANE, Label, REGISTER, Space, WARP},
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

    /// Itself, when each basis is zero or a bit that no other one is (definition 4.10): what Triton
    /// calls `linear` without `generic`.
    pub fn permutation(&self) -> Result<&Linear, FamilyError> {
        let mut seen: Vec<&Vec<u64>> = Vec::new();
        for (parameter, bases) in self.lists() {
            for (index, basis) in bases.iter().enumerate() {
                if basis.iter().all(|&coordinate| coordinate == 0) {
                    continue;
                }
                if !is_unit(basis) || seen.contains(&basis) {
                    return Err(FamilyError::NotPermutation { parameter, index });
                }
                seen.push(basis);
            }
        }
        Ok(self)
    }

    /// The layout of a tensor of this shape: the bases as written if they fit it; else repeated in
    /// further registers, or cut.
    ///
    /// Cut bases lose the coordinates that lie beyond the tensor; registers that lose all of them
    /// disappear.
    /// Fails when the bases, or what is left of them, leave elements out.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        let own = self.shape(shape.len())?;
        check_sizes("shape", shape, shape.len())?;
        if own.iter().zip(shape).any(|(own, size)| own > size) {
            self.layout(&own)?;
        }
        let outs = Space::tensor(shape)?;
        let axes: Vec<(u64, u32)> = (0..)
            .map(Label::dim)
            .zip(shape)
            .map(|(label, &size)| (size, outs.offset_of(label).unwrap_or(0)))
            .collect();
        let image = |basis: &Vec<u64>| {
            basis.iter().zip(&axes).fold(0, |image, (&value, &(size, start))| {
                image | if value < size { value.unbounded_shl(start) } else { 0 }
            })
        };
        let lost = |basis: &&Vec<u64>| image(basis) == 0 && basis.iter().any(|&value| value != 0);
        let mut columns: Vec<u64> =
            self.register.iter().filter(|basis| !lost(basis)).map(image).collect();
        for dim in self.order(shape.len()) {
            let (size, start) = axes[dim];
            let bits = own[dim].trailing_zeros()..size.trailing_zeros();
            columns.extend(bits.map(|bit| 1 << (start + bit)));
        }
        let registers = columns.len() as u32;
        columns.extend(self.lane.iter().chain(&self.warp).chain(&self.block).map(image));
        let [lanes, warps, blocks] =
            [&self.lane, &self.warp, &self.block].map(|bases| bases.len() as u32);
        let ins = Space::hardware(registers, lanes, warps, blocks)?;
        let layout = Layout::new(ins, outs, &columns)?;
        if !layout.is_surjective() {
            return Err(FamilyError::NotSurjective { parameter: "register, lane, warp, block" });
        }
        Ok(layout)
    }

    /// The smallest tensor of this rank that holds all bases.
    fn shape(&self, rank: usize) -> Result<Vec<u64>, FamilyError> {
        let all = || self.lists().into_iter().flat_map(|(_, bases)| bases);
        if let Some(basis) = all().find(|basis| basis.len() != rank) {
            return Err(FamilyError::Rank { expected: rank, found: basis.len() });
        }
        Ok((0..rank).map(|dim| extent(all().map(|basis| basis[dim]))).collect())
    }

    /// The bases as they are written, each list with its name.
    fn lists(&self) -> [(&'static str, &Vec<Vec<u64>>); 4] {
        let Linear { register, lane, warp, block } = self;
        [("register", register), ("lane", lane), ("warp", warp), ("block", block)]
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

/// The smallest power of two above all coordinates; at most the largest `u64`.
pub(super) fn extent(coordinates: impl Iterator<Item = u64>) -> u64 {
    let most = coordinates.max().unwrap_or(0);
    most.checked_add(1).and_then(u64::checked_next_power_of_two).unwrap_or(u64::MAX)
}

/// Whether a basis is a single bit of a single axis.
pub(super) fn is_unit(basis: &[u64]) -> bool {
    basis.iter().map(|coordinate| coordinate.count_ones()).sum::<u32>() == 1
}
