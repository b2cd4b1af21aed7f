use alloc::{string::ToString, vec::Vec};
use core::fmt;

use super::{
    Affine, BoxedError, Extents,
    coset::{Cell, Coset, union_size},
    extents::MAX_CELLS,
};
use crate::{
    layout::LayoutError,
    space::{Label, Space},
};

/// A layout cut to a box: extents that are no powers of two.
///
/// The extents of the outputs say which elements exist (a tensor of 100 elements under a layout of
/// 128), those of the inputs which places do (a shape of 3 × 5 threads).
/// A place is *live* when it lies inside the box of the inputs and its element inside the box of
/// the outputs, else *dead*.
///
/// Counts are exact and need no walk over the places: a box is a union of few cells of bits, a cell
/// is a coset, and a linear map of cosets is counted by ranks.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Boxed {
    /// Invariant: from the space of `ins` to that of `outs`.
    map: Affine,
    ins: Extents,
    outs: Extents,
}

/// What the places of a boxed layout hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The places inside the box of the inputs that hold an element inside the box of the outputs.
    pub live: u128,
    /// The other places inside the box of the inputs.
    pub dead: u128,
    /// The elements inside the box of the outputs that some live place holds.
    pub reached: u128,
    /// The other elements inside the box of the outputs.
    pub missing: u128,
    /// The live places that hold what another one holds already: `live - reached`.
    pub copies: u128,
}

impl Boxed {
    /// The map with these extents of input and output axes; axes that are not named are full.
    ///
    /// Fails when a label is unknown or occurs twice, or an extent is larger than its axis.
    pub fn new(
        map: impl Into<Affine>,
        ins: &[(Label, u64)],
        outs: &[(Label, u64)],
    ) -> Result<Boxed, BoxedError> {
        let map = map.into();
        let (ins, outs) = (Extents::new(map.ins(), ins)?, Extents::new(map.outs(), outs)?);
        Ok(Boxed { map, ins, outs })
    }

    /// The map in boxes of its own spaces.
    pub(super) fn from_parts(map: Affine, ins: Extents, outs: Extents) -> Boxed {
        Boxed { map, ins, outs }
    }

    /// The map, grown to powers of two: without the boxes.
    pub fn map(&self) -> &Affine {
        &self.map
    }

    /// The box of the inputs.
    pub fn ins(&self) -> &Extents {
        &self.ins
    }

    /// The box of the outputs.
    pub fn outs(&self) -> &Extents {
        &self.outs
    }

    /// The layout grown to powers of two: every place is live.
    pub fn grown(&self) -> Boxed {
        let (ins, outs) = (Extents::full(self.map.ins()), Extents::full(self.map.outs()));
        Boxed { map: self.map.clone(), ins, outs }
    }

    /// Whether a place is live; one that has bits outside the inputs is not.
    pub fn is_live(&self, place: u64) -> bool {
        self.ins.contains(place) && self.outs.contains(self.map.apply_flat(place))
    }

    /// The output coordinates of these input coordinates when the place is live; axes that are not
    /// named are 0.
    pub fn apply(
        &self,
        coordinates: &[(Label, u64)],
    ) -> Result<Option<Vec<(Label, u64)>>, BoxedError> {
        let place = self.map.ins().pack(coordinates).map_err(LayoutError::from)?;
        let element = || self.map.outs().unpack(self.map.apply_flat(place));
        Ok(self.is_live(place).then(element))
    }

    /// The live places, in increasing order; fails when the box of the inputs has more than 2²⁴
    /// places.
    pub fn live_places(&self) -> Result<impl Iterator<Item = u64> + '_, BoxedError> {
        Ok(self.ins.places()?.filter(|&place| self.outs.contains(self.map.apply_flat(place))))
    }

    /// The condition under which a place inside the box of the inputs is live: for each of these
    /// axes its coordinate of the element is below the extent.
    ///
    /// An axis is left out when no place of the inputs exceeds its extent.
    pub fn mask(&self) -> Vec<(Label, u64)> {
        let everywhere = Coset::of_cell(Cell::ALL, self.ins.all());
        let mut bounds = self.outs.bounds();
        bounds.retain(|&(axis, extent)| {
            let only = Extents::build(self.map.outs(), |label| {
                if label == axis { u128::from(extent) } else { u128::MAX }
            });
            escape(&everywhere, &self.map, &only).is_some()
        });
        bounds
    }

    /// How many places are live.
    ///
    /// Each pair of a cell of the inputs and one of the outputs is an affine system of equations;
    /// its solutions are counted by a rank.
    /// Fails above 2¹⁶ pairs.
    pub fn live_count(&self) -> Result<u128, BoxedError> {
        Ok(self.live_cosets()?.iter().flatten().map(Coset::size).sum())
    }

    /// How many elements the live places hold: as many as there are live places when the map is
    /// injective, else the union of the images of their cosets.
    ///
    /// Fails as [`live_count`](Self::live_count) does, or when counting the overlaps of the cells
    /// takes more than 2¹⁶ intersections.
    pub fn reached_count(&self) -> Result<u128, BoxedError> {
        if self.map.is_injective() {
            return self.live_count();
        }
        let mut budget = MAX_CELLS;
        let mut total = 0;
        for group in self.live_cosets()? {
            let images = group.iter().map(|coset| coset.image(&self.map)).collect();
            let too_many = BoxedError::TooManyCells { count: MAX_CELLS.saturating_add(1) };
            total += union_size(images, &mut budget).ok_or(too_many)?;
        }
        Ok(total)
    }

    /// All counts; fails as [`live_count`](Self::live_count) and
    /// [`reached_count`](Self::reached_count) do.
    pub fn counts(&self) -> Result<Counts, BoxedError> {
        let (live, reached) = (self.live_count()?, self.reached_count()?);
        Ok(Counts {
            live,
            dead: self.ins.count() - live,
            reached,
            missing: self.outs.count() - reached,
            copies: live - reached,
        })
    }

    /// The live places as disjoint cosets, one group for each cell of the outputs.
    pub(super) fn live_cosets(&self) -> Result<Vec<Vec<Coset>>, BoxedError> {
        check_cells(&[self.ins.cell_count(), self.outs.cell_count()])?;
        let places = self.ins.cosets()?;
        let group = |cell: &Cell| {
            places.iter().filter_map(|coset| coset.sent_into(&self.map, *cell)).collect()
        };
        Ok(self.outs.cells()?.iter().map(group).collect())
    }
}

/// Fails when there are too many combinations of this many cells.
pub(super) fn check_cells(counts: &[u64]) -> Result<(), BoxedError> {
    let count = counts.iter().copied().fold(1, u64::saturating_mul);
    if count > MAX_CELLS { Err(BoxedError::TooManyCells { count }) } else { Ok(()) }
}

/// An element of `coset` that `map` sends outside `extents`, if there is one.
pub(super) fn escape(coset: &Coset, map: &Affine, extents: &Extents) -> Option<u64> {
    extents.outside().find_map(|cell| coset.sent_into(map, cell)).map(|found| found.point())
}

/// The smallest box of the outputs of `map` that holds the images of the cosets.
pub(super) fn hull<'a>(cosets: impl Iterator<Item = &'a Coset>, map: &Affine) -> Extents {
    let space = map.outs();
    let mut extents: Vec<(Label, u128)> = space.labels().map(|label| (label, 0)).collect();
    for image in cosets.map(|coset| coset.image(map)) {
        for (label, extent) in &mut extents {
            let largest = space.coordinate(*label, image.largest(space.mask(*label)));
            *extent = (*extent).max(u128::from(largest) + 1);
        }
    }
    let extent = |label| extents.iter().find(|axis| axis.0 == label).map_or(1, |axis| axis.1);
    Extents::build(space, extent)
}

/// The identity of a space.
pub(super) fn identity(space: &Space) -> Result<Affine, LayoutError> {
    Ok(super::shifted::identity(space)?.into())
}

/// The bases, the boxes, and the constant when it is not zero:
/// `[lane: 1 2] -> [dim0: 3 of 4] ^ 1 on [lane: 2 of 4]`.
impl fmt::Display for Boxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Both texts write the space of the outputs once; here the box takes its place.
        let text = if self.map.constant() == 0 {
            self.map.layout().to_string()
        } else {
            self.map.to_string()
        };
        f.write_str(&text.replacen(
            &alloc::format!(" -> {}", self.map.outs()),
            &alloc::format!(" -> {}", self.outs),
            1,
        ))?;
        if self.ins.is_full() { Ok(()) } else { write!(f, " on {}", self.ins) }
    }
}

impl fmt::Debug for Boxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
