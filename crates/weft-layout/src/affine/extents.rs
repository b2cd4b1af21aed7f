use alloc::vec::Vec;
use core::fmt;

use super::{
    BoxedError,
    coset::{Cell, Coset},
};
use crate::{
    f2::{low_mask, ones},
    layout::LayoutError,
    space::{Label, Space, SpaceError},
};

/// The most cells, or pairs of cells, that counting works through.
pub(super) const MAX_CELLS: u64 = 1 << 16;

/// The most places that are walked through.
const MAX_PLACES: u128 = 1 << 24;

/// A box in a space: of each axis the coordinates below an *extent*.
///
/// The extents need not be powers of two; an axis whose extent is its size is *full*.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Extents {
    space: Space,
    /// Invariant: one extent an axis, at most its size.
    /// Wider than a coordinate, since an axis of 64 bits has 2⁶⁴ of them.
    extents: Vec<u128>,
}

impl Extents {
    /// The box that is the whole space: each axis has its full size.
    pub fn full(space: &Space) -> Extents {
        let extents = space.axes().iter().map(|&(_, bits)| size(bits)).collect();
        Extents { space: space.clone(), extents }
    }

    /// The box of these extents; axes that are not named are full.
    ///
    /// Fails when a label is unknown or occurs twice, or an extent is larger than its axis.
    pub fn new(space: &Space, extents: &[(Label, u64)]) -> Result<Extents, BoxedError> {
        for (index, &(label, extent)) in extents.iter().enumerate() {
            if !space.contains(label) {
                return Err(LayoutError::from(SpaceError::UnknownLabel(label)).into());
            }
            if extents[..index].iter().any(|&(other, _)| other == label) {
                return Err(LayoutError::from(SpaceError::DuplicateLabel(label)).into());
            }
            let size = size(space.bits(label));
            if u128::from(extent) > size {
                return Err(BoxedError::ExtentTooLarge { label, extent, size });
            }
        }
        let named = |label| extents.iter().find(|axis| axis.0 == label);
        let extent = |label| named(label).map_or(u128::MAX, |axis| u128::from(axis.1));
        Ok(Extents::build(space, extent))
    }

    /// A tensor of any shape: its axes grow to the next powers of two.
    ///
    /// Fails when these have more than 64 bits together.
    pub fn of_shape(shape: &[u64]) -> Result<Extents, BoxedError> {
        let mut extents: Vec<(Label, u64)> =
            (0..).map(Label::dim).zip(shape.iter().copied()).collect();
        extents.reverse();
        let bits = |extent: u64| u64::BITS - extent.saturating_sub(1).leading_zeros();
        let axes: Vec<_> = extents.iter().map(|&(label, extent)| (label, bits(extent))).collect();
        Extents::new(&Space::new(&axes).map_err(LayoutError::from)?, &extents)
    }

    /// The space that this is a box of.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The extent of an axis; 1, that of an axis without bits, when there is none of that label.
    pub fn extent(&self, label: Label) -> u128 {
        self.iter().find(|axis| axis.0 == label).map_or(1, |axis| axis.2)
    }

    /// The axes as label, bits and extent.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Label, u32, u128)> + '_ {
        self.space.axes().iter().zip(&self.extents).map(|(&(label, bits), &e)| (label, bits, e))
    }

    /// The axes that are not full, with their extents: the comparisons that say whether a place
    /// lies inside.
    pub fn bounds(&self) -> Vec<(Label, u64)> {
        let cut = self.iter().filter(|&(_, bits, extent)| extent < size(bits));
        cut.map(|(label, _, extent)| (label, extent as u64)).collect()
    }

    /// Whether every place lies inside.
    pub fn is_full(&self) -> bool {
        self.iter().all(|(_, bits, extent)| extent == size(bits))
    }

    /// How many places lie inside: at most 2⁶⁴.
    pub fn count(&self) -> u128 {
        self.extents.iter().product()
    }

    /// Whether a place lies inside; one that has bits outside the space does not.
    pub fn contains(&self, place: u64) -> bool {
        let inside = |(label, _, extent)| u128::from(self.space.coordinate(label, place)) < extent;
        place & !self.all() == 0 && self.iter().all(inside)
    }

    /// The places inside, in increasing order; fails above 2²⁴ of them.
    pub fn places(&self) -> Result<impl Iterator<Item = u64> + '_, BoxedError> {
        let count = self.count();
        if count > MAX_PLACES {
            return Err(BoxedError::TooManyPlaces { count });
        }
        Ok((0..count as u64).map(|index| self.place(index)))
    }

    /// Place number `index` of a box that is not empty, counted in mixed radix.
    fn place(&self, index: u64) -> u64 {
        let mut rest = u128::from(index);
        self.space.iter().zip(&self.extents).fold(0, |place, ((_, start, _), &extent)| {
            let coordinate = (rest % extent) as u64;
            rest /= extent;
            place | coordinate.checked_shl(start).unwrap_or(0)
        })
    }

    /// All bits of the space.
    pub(super) fn all(&self) -> u64 {
        low_mask(self.space.total_bits())
    }

    /// The box of `space` with the extent that `extent` gives for each axis, at most its size.
    pub(super) fn build(space: &Space, extent: impl Fn(Label) -> u128) -> Extents {
        let axes = space.axes().iter();
        let extents = axes.map(|&(label, bits)| extent(label).min(size(bits))).collect();
        Extents { space: space.clone(), extents }
    }

    /// The box of a tensor with these extents, `dim0` first; axes beyond them are full.
    pub(super) fn of_dims(space: &Space, dims: &[u128]) -> Extents {
        let dim = |label: Label| dims.get(usize::try_from(label.dim_index()?).ok()?).copied();
        Extents::build(space, |label| dim(label).unwrap_or(u128::MAX))
    }

    /// The extents of a tensor, `dim0` first.
    pub(super) fn dims(&self) -> Vec<u128> {
        let dims = (0..).map(Label::dim).take_while(|&label| self.space.contains(label));
        dims.map(|label| self.extent(label)).collect()
    }

    /// How many cells [`cells`](Self::cells) has.
    pub(super) fn cell_count(&self) -> u64 {
        let each = self.extents.iter().map(|extent| u64::from(extent.count_ones()));
        each.fold(1, u64::saturating_mul)
    }

    /// The box as disjoint cells: each interval `[0, n)` is one for each set bit of `n`, the places
    /// that agree with `n` above that bit and have a zero there.
    /// Fails above [`MAX_CELLS`].
    pub(super) fn cells(&self) -> Result<Vec<Cell>, BoxedError> {
        let count = self.cell_count();
        if count > MAX_CELLS {
            return Err(BoxedError::TooManyCells { count });
        }
        let mut cells = Vec::from([Cell::ALL]);
        for ((_, start, bits), &extent) in self.space.iter().zip(&self.extents) {
            let digits = (0..=bits).filter(|&bit| extent >> bit & 1 == 1);
            let below: Vec<Cell> = digits
                .map(|bit| cell(start, bits, bit, extent as u64 & !low_mask(bit + 1)))
                .collect();
            cells = cells.iter().flat_map(|own| below.iter().map(|new| own.and(*new))).collect();
        }
        Ok(cells)
    }

    /// The [`cells`](Self::cells) of the box, each as a coset.
    pub(super) fn cosets(&self) -> Result<Vec<Coset>, BoxedError> {
        let all = self.all();
        Ok(self.cells()?.into_iter().map(|cell| Coset::of_cell(cell, all)).collect())
    }

    /// The places outside as cells, at most one a bit or axis, that overlap between axes.
    ///
    /// Each interval from `n` on is one for each clear bit of `n - 1`: the places that agree with
    /// `n - 1` above that bit and have a one there.
    pub(super) fn outside(&self) -> impl Iterator<Item = Cell> + '_ {
        let cut = self.space.iter().zip(&self.extents);
        cut.flat_map(|((_, start, bits), &extent)| {
            let last = extent.checked_sub(1).map(|last| last as u64);
            let clear = last.map_or(0, |last| !last & low_mask(bits));
            let empty = last.is_none().then_some(Cell::ALL);
            empty.into_iter().chain(ones(clear).map(move |bit| {
                let above = last.unwrap_or(0) & !low_mask(bit + 1);
                cell(start, bits, bit, above | 1 << bit)
            }))
        })
    }
}

/// The places whose bits from `bit` on, in an axis of `bits` bits at `start`, are those of `value`.
fn cell(start: u32, bits: u32, bit: u32, value: u64) -> Cell {
    let mask = low_mask(bits) & !low_mask(bit);
    let shift = |value: u64| value.checked_shl(start).unwrap_or(0);
    Cell { mask: shift(mask), value: shift(value & mask) }
}

/// The size of an axis.
pub(super) fn size(bits: u32) -> u128 {
    1 << bits
}

/// `[dim0: 100 of 128, dim1: 32]`: the extents, with the sizes of the axes that are not full.
impl fmt::Display for Extents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, label) in self.space.coordinate_order().into_iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            let (extent, size) = (self.extent(label), size(self.space.bits(label)));
            write!(f, "{comma}{label}: {extent}")?;
            if extent < size {
                write!(f, " of {size}")?;
            }
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Extents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
