//! Distributed layouts as products of strips.
//!
//! Every family of register layouts is a direct sum of small identities, as in the paper's
//! propositions 9.1 and 9.2: "the next two register bits walk along the columns, the next three lane
//! bits along the rows".
//! A [`Tile`] takes these strips one by one and remembers how far each axis has been walked.

use alloc::{vec, vec::Vec};

use super::{FamilyError, check_sizes};
use crate::{layout::Layout, space::Space};

/// Which hardware axis a strip lies on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// The registers of a thread.
    Register,
    /// The threads of a warp.
    Lane,
    /// The warps of a block.
    Warp,
}

/// What becomes of registers beyond the tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Surplus {
    /// They disappear.
    Dropped,
    /// They hold copies.
    Copies,
}

/// The image of one hardware bit: a bit of one axis of the tensor, or nothing.
type Unit = Option<(usize, u32)>;

/// A distributed layout of one block while it is being built.
#[derive(Clone)]
pub(super) struct Tile {
    /// The images of the bits of registers, lanes and warps.
    units: [Vec<Unit>; 3],
    /// The logarithm of how far each axis has been walked.
    walked: Vec<u32>,
}

impl Tile {
    /// The tile of one element of a tensor of `rank` axes.
    pub(super) fn new(rank: usize) -> Tile {
        let units = [Vec::with_capacity(16), Vec::with_capacity(8), Vec::with_capacity(8)];
        Tile { units, walked: vec![0; rank] }
    }

    /// The next `bits` bits of `level` walk along axis `dim`, from where the tile ends there.
    pub(super) fn walk(&mut self, level: Level, dim: usize, bits: u32) -> &mut Tile {
        if let Some(walked) = self.walked.get_mut(dim) {
            let start = *walked;
            *walked = start.saturating_add(bits);
            self.units[level as usize].extend((start..*walked).map(|bit| Some((dim, bit))));
        }
        self
    }

    /// The next `bits` bits of `level` hold copies.
    pub(super) fn copies(&mut self, level: Level, bits: u32) -> &mut Tile {
        self.units[level as usize].extend((0..bits).map(|_| None));
        self
    }

    /// The logarithm of how far axis `dim` has been walked.
    pub(super) fn walked(&self, dim: usize) -> u32 {
        self.walked.get(dim).copied().unwrap_or(0)
    }

    /// The layout of a tensor of this shape, which `blocks` cuts into one part for each block.
    ///
    /// Where the part of a block is larger than the tile, further registers repeat the tile, axis by
    /// axis in `order`; where it is smaller, lanes and warps beyond it become copies, and registers
    /// what `surplus` says.
    /// `blocks` holds for each bit of the block number the part that it chooses, in units of a part.
    pub(super) fn layout(
        mut self,
        shape: &[u64],
        order: &[usize],
        blocks: &[Vec<u64>],
        surplus: Surplus,
    ) -> Result<Layout, FamilyError> {
        let rank = self.walked.len();
        check_sizes("shape", shape, rank)?;
        let outs = Space::tensor(shape)?;
        if let Some(basis) = blocks.iter().find(|basis| basis.len() != rank) {
            return Err(FamilyError::Rank { expected: rank, found: basis.len() });
        }
        // The logarithm of a block's part along each axis.
        let part = |dim: usize| {
            let splits = blocks.iter().filter(|basis| basis[dim] != 0).count() as u32;
            shape[dim].trailing_zeros().saturating_sub(splits)
        };
        for &dim in order {
            let missing = part(dim).saturating_sub(self.walked(dim));
            self.walk(Level::Register, dim, missing);
        }
        // Axes are listed minor first.
        let mut starts = vec![0; rank];
        let mut start = 0;
        for dim in (0..rank).rev() {
            starts[dim] = start;
            start += shape[dim].trailing_zeros();
        }
        let image = |unit: &Unit| match *unit {
            Some((dim, bit)) if bit < part(dim) => 1_u64 << (starts[dim] + bit),
            _ => 0,
        };
        let [register, lane, warp] = &self.units;
        let count = register.len() + lane.len() + warp.len() + blocks.len();
        let mut columns = Vec::with_capacity(count);
        let kept = |column: &u64| surplus == Surplus::Copies || *column != 0;
        columns.extend(register.iter().map(image).filter(kept));
        let registers = columns.len() as u32;
        columns.extend(lane.iter().chain(warp).map(image));
        columns.extend(blocks.iter().map(|basis| {
            basis.iter().enumerate().fold(0, |column, (dim, &value)| {
                let coordinate = value.checked_shl(part(dim)).unwrap_or(0);
                let inside = coordinate >> part(dim) == value && coordinate < shape[dim];
                let coordinate = if inside { coordinate } else { 0 };
                column | coordinate.checked_shl(starts[dim]).unwrap_or(0)
            })
        }));
        let ins =
            Space::hardware(registers, lane.len() as u32, warp.len() as u32, blocks.len() as u32)?;
        Ok(Layout::new(ins, outs, &columns)?)
    }
}
