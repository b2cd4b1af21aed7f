//! Distributed layouts as products of strips.
//!
//! Every family of register layouts is a direct sum of small identities, as in the paper's
//! propositions 9.1 and 9.2: "the next two register bits walk along the columns, the next three lane
//! bits along the rows".
//! A [`Tile`] takes these strips one by one and remembers how far each axis has been walked.

use alloc::vec::Vec;

use super::{FamilyError, check_sizes, share::chosen_parts};
use crate::{
    f2::Subspace,
    layout::{Layout, Surplus},
    space::Space,
};

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

/// An axis of the tensor, in bits.
struct Axis {
    /// Where its coordinate begins in an element's number.
    start: u32,
    /// How long the tensor is.
    size: u32,
    /// How long the part of one block is.
    part: u32,
    /// How far the tile walks.
    walked: u32,
}

impl Axis {
    /// The element at `value` units of `unit` bits; element 0 where that is beyond `end` bits.
    fn place(&self, value: u64, unit: u32, end: u32) -> u64 {
        let coordinate = value.unbounded_shl(unit);
        let inside = coordinate.unbounded_shr(unit) == value && coordinate.unbounded_shr(end) == 0;
        if inside { coordinate.unbounded_shl(self.start) } else { 0 }
    }
}

/// A distributed layout of a given tensor while it is being built.
pub(super) struct Tile {
    outs: Space,
    /// The axes of the tensor, `dim0` first.
    axes: Vec<Axis>,
    /// The images of the bits of registers, lanes and warps, in order within each level.
    bases: Vec<(Level, u64)>,
    /// The images of the bits of the block number.
    blocks: Vec<u64>,
}

impl Tile {
    /// The tile of one element of a tensor of this shape, which `blocks` cuts into one part for each
    /// block.
    ///
    /// `blocks` holds for each bit of the block number the part that it chooses, in units of a part;
    /// along axis `hidden` nothing is cut.
    pub(super) fn new(
        shape: &[u64],
        blocks: &[Vec<u64>],
        hidden: Option<usize>,
    ) -> Result<Tile, FamilyError> {
        check_sizes("shape", shape, shape.len())?;
        let outs = Space::tensor(shape)?;
        let chosen = chosen_parts(blocks, shape.len())?;
        let mut start = outs.total_bits();
        let axis = |(size, (dim, chosen)): (&u64, (usize, &u64))| {
            let size = size.trailing_zeros();
            start -= size;
            let splits = if hidden == Some(dim) { 0 } else { chosen.count_ones() };
            Axis { start, size, part: size.saturating_sub(splits), walked: 0 }
        };
        let axes: Vec<Axis> = shape.iter().zip(chosen.iter().enumerate()).map(axis).collect();
        let mut tile = Tile { outs, axes, bases: Vec::with_capacity(32), blocks: Vec::new() };
        let image = |basis: &Vec<u64>| tile.image(basis, hidden, |axis| (axis.part, axis.size));
        tile.blocks = blocks.iter().map(image).collect();
        Ok(tile)
    }

    /// The image of a bit that moves by `basis`, along each axis in units of as many bits as `range`
    /// says, and nowhere beyond as many bits as it says; nor along axis `hidden`.
    fn image(
        &self,
        basis: &[u64],
        hidden: Option<usize>,
        range: impl Fn(&Axis) -> (u32, u32),
    ) -> u64 {
        let seen = basis.iter().zip(&self.axes).enumerate().filter(|(dim, _)| hidden != Some(*dim));
        seen.fold(0, |image, (_, (&value, axis))| {
            let (unit, end) = range(axis);
            image | axis.place(value, unit, end)
        })
    }

    /// The number of axes.
    pub(super) fn rank(&self) -> usize {
        self.axes.len()
    }

    /// The next `bits` bits of `level` walk along axis `dim`, from where the tile ends there.
    pub(super) fn walk(&mut self, level: Level, dim: usize, bits: u32) -> &mut Tile {
        if let Some(axis) = self.axes.get_mut(dim) {
            let end = axis.walked.saturating_add(bits);
            for bit in axis.walked..end {
                self.bases.push((level, if bit < axis.part { 1 << (axis.start + bit) } else { 0 }));
            }
            axis.walked = end;
        }
        self
    }

    /// The next bits of `level` walk along axis `dim` until the tile is `bits` bits long there.
    pub(super) fn walk_to(&mut self, level: Level, dim: usize, bits: u32) -> &mut Tile {
        let walked = self.axes.get(dim).map_or(0, |axis| axis.walked);
        self.walk(level, dim, bits.saturating_sub(walked))
    }

    /// The next `bits` bits of `level` hold copies.
    pub(super) fn copies(&mut self, level: Level, bits: u32) -> &mut Tile {
        self.bases.extend((0..bits).map(|_| (level, 0)));
        self
    }

    /// The next bits of `level` count through a box of these sizes (powers of two), the axes in
    /// `order`; those that would walk along axis `hidden` hold copies.
    pub(super) fn count(
        &mut self,
        level: Level,
        sizes: &[u64],
        order: impl Iterator<Item = usize>,
        hidden: Option<usize>,
    ) -> &mut Tile {
        for dim in order {
            let bits = sizes.get(dim).map_or(0, |size| size.trailing_zeros());
            if hidden == Some(dim) {
                self.copies(level, bits);
            } else {
                self.walk(level, dim, bits);
            }
        }
        self
    }

    /// The direct sum with any layout of whole tiles: its bases, in units of this tile.
    ///
    /// Along axis `hidden` the bases are cut to nothing; registers that then hold copies disappear.
    /// Fails when a basis has the wrong rank or the bases leave tiles out.
    pub(super) fn repeat(
        &mut self,
        parameter: &'static str,
        levels: [(Level, &[Vec<u64>]); 2],
        hidden: Option<usize>,
    ) -> Result<&mut Tile, FamilyError> {
        let bases =
            || levels.iter().flat_map(|&(level, list)| list.iter().map(move |b| (level, b)));
        if let Some((_, basis)) = bases().find(|(_, basis)| basis.len() != self.rank()) {
            return Err(FamilyError::Rank { expected: self.rank(), found: basis.len() });
        }
        let all: Vec<&Vec<u64>> = bases().map(|(_, basis)| basis).collect();
        let extents = extents(&all, self.rank()).ok_or(FamilyError::NotSurjective { parameter })?;
        let moves = |basis: &[u64]| {
            basis.iter().enumerate().any(|(dim, &value)| value != 0 && hidden != Some(dim))
        };
        for (level, basis) in bases() {
            if level != Level::Register || hidden.is_none() || moves(basis) {
                let image = self.image(basis, hidden, |axis| (axis.walked, axis.part));
                self.bases.push((level, image));
            }
        }
        for (dim, (axis, bits)) in self.axes.iter_mut().zip(extents).enumerate() {
            let bits = if hidden == Some(dim) { 0 } else { bits };
            axis.walked = axis.walked.saturating_add(bits);
        }
        Ok(self)
    }

    /// The layout.
    ///
    /// Where the part of a block is larger than the tile, further registers repeat the tile, axis by
    /// axis in `order`; where it is smaller, lanes and warps beyond it hold copies, and registers
    /// what `surplus` says.
    pub(super) fn layout(
        mut self,
        order: impl Iterator<Item = usize>,
        surplus: Surplus,
    ) -> Result<Layout, FamilyError> {
        for dim in order {
            let part = self.axes.get(dim).map_or(0, |axis| axis.part);
            self.walk_to(Level::Register, dim, part);
        }
        let mut columns = Vec::with_capacity(self.bases.len() + self.blocks.len());
        let mut bits = [0; 3];
        for level in [Level::Register, Level::Lane, Level::Warp] {
            let dropped = level == Level::Register && surplus == Surplus::Dropped;
            let before = columns.len();
            let bases = self.bases.iter().filter(|basis| basis.0 == level).map(|basis| basis.1);
            columns.extend(bases.filter(|&image| image != 0 || !dropped));
            bits[level as usize] = (columns.len() - before) as u32;
        }
        columns.extend(&self.blocks);
        let ins = Space::hardware(bits[0], bits[1], bits[2], self.blocks.len() as u32)?;
        Ok(Layout::new(ins, self.outs, &columns)?)
    }
}

/// The axes of a matrix or a batch of them, the last one first.
pub(super) fn minor_first(rank: usize) -> impl Iterator<Item = usize> {
    (0..rank).rev()
}

/// The logarithm of how far bases of this rank reach along each axis; none if they leave places out.
fn extents(bases: &[&Vec<u64>], rank: usize) -> Option<Vec<u32>> {
    let extent = |dim: usize| {
        let any = bases.iter().fold(0, |any, basis| any | basis[dim]);
        u64::BITS - any.leading_zeros()
    };
    let extents: Vec<u32> = (0..rank).map(extent).collect();
    let flat = |basis: &&Vec<u64>| {
        let coordinates = basis.iter().zip(&extents);
        coordinates.fold(0_u64, |flat, (&value, &bits)| flat.unbounded_shl(bits) | value)
    };
    let flat: Vec<u64> = bases.iter().map(flat).collect();
    let total = extents.iter().sum();
    let complete = total <= u64::BITS && Subspace::from_vectors(&flat).dim() == total;
    complete.then_some(extents)
}
