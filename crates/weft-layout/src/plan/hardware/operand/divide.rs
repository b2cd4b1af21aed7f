//! The division itself: one pattern against one buffer.

use alloc::vec::Vec;

use super::{Mismatch, Operand, OperandTile, Refused, granule, refused::Fault};
use crate::{
    family::{Major, OperandAtom, SwizzleMode},
    layout::{Layout, LayoutError},
    machine::MatrixDescriptor,
    space::{Label, OFFSET, Space},
};

/// Where each element lies: `L⁻¹`, in bytes.
pub(super) fn places(memory: &Layout, tile: &OperandTile) -> Result<Layout, Refused> {
    let &OperandTile { kept, summed, extent, element_bits } = tile;
    if OperandAtom::all(element_bits).is_empty() {
        return Err(Refused::ElementBits(element_bits));
    }
    if extent % 8 != 0 || !(8..=256).contains(&extent) {
        return Err(Refused::Tile(extent));
    }
    for (axis, needed) in [(kept, extent), (summed, tile.summed_extent())] {
        let size = 1_u64.unbounded_shl(memory.out_bits(axis));
        if size < needed {
            return Err(Refused::Small { axis, size, needed });
        }
    }
    let inverse = memory.restrict_ins(&[OFFSET])?.invert()?;
    let columns = inverse.matrix().columns().iter().map(|&offset| offset * tile.element_bytes());
    in_bytes(&inverse, tile.element_bytes(), columns)
}

/// A map to offsets with other columns, which count bytes.
fn in_bytes(
    inverse: &Layout,
    element_bytes: u64,
    columns: impl Iterator<Item = u64>,
) -> Result<Layout, Refused> {
    let bits = inverse.outs().total_bits() + element_bytes.trailing_zeros();
    let outs = Space::new(&[(OFFSET, bits)]).map_err(LayoutError::from)?;
    Ok(Layout::new(inverse.ins().clone(), outs, &columns.collect::<Vec<_>>())?)
}

/// Divides a buffer by one pattern.
pub(super) fn divide(
    places: &Layout,
    tile: &OperandTile,
    atom: OperandAtom,
) -> Result<Result<Operand, Mismatch>, Refused> {
    let before = |&place: &u64| atom.mode.swizzled(place);
    let starts = in_bytes(places, 1, places.matrix().columns().iter().map(before))?;
    let pattern = atom.layout()?.invert()?;
    let own = [0, 1].map(|dim| {
        let columns = pattern.columns(Label::dim(dim)).iter();
        columns.map(|&offset| before(&(offset * atom.element_bytes()))).collect()
    });
    Ok(Quotient { starts, tile, atom, own, steps: [None; 2], accepted: Vec::new() }.operand())
}

/// What is known of a buffer as repetitions of a pattern. All places are bytes before the swizzle.
struct Quotient<'a> {
    /// The place of each element.
    starts: Layout,
    tile: &'a OperandTile,
    atom: OperandAtom,
    /// The pattern's own columns along the kept axis and the summed one.
    own: [Vec<u64>; 2],
    /// The step from pattern to pattern along the kept axis and the summed one, once it is known.
    steps: [Option<u64>; 2],
    /// The elements of the accepted columns of the tile, and their places.
    accepted: Vec<(u64, u64)>,
}

impl Quotient<'_> {
    fn operand(mut self) -> Result<Operand, Mismatch> {
        let axes = [self.tile.kept, self.tile.summed];
        for side in [1, 0] {
            for bit in 0..self.tile.bits(axes[side]) {
                self.within(side, axes[side], bit)?;
            }
        }
        for (axis, bits) in self.starts.ins().axes() {
            for bit in self.tile.bits(*axis)..*bits {
                self.beyond(*axis, bit)?;
            }
        }
        let (even, descriptor) = (self.even(), self.descriptor());
        Ok(Operand { tile: *self.tile, atom: self.atom, descriptor, starts: self.starts, even })
    }

    /// A column within the tile: the pattern's own, or a step times a power of two.
    fn within(&mut self, side: usize, axis: Label, bit: u32) -> Result<(), Mismatch> {
        let (element, place) = self.column(axis, bit);
        match self.expected(side, bit) {
            Some(expected) if expected == place => {}
            Some(expected) => return Err(self.elsewhere(element, 0, place, expected)),
            None if place % granule(self.atom.mode) != 0
                || place > MatrixDescriptor::MAX_STRIDE =>
            {
                return Err(self.mismatch(element, 0, place, Fault::Stride));
            }
            None => self.steps[side] = Some(place),
        }
        if let Some((other, sum)) = self.carries(place) {
            let met = element | other;
            return Err(self.elsewhere(met, 0, self.starts.apply_flat(met), sum));
        }
        self.accepted.push((element, place));
        Ok(())
    }

    /// A column that chooses a tile: whole vectors, and no bit that a column of the tile has.
    fn beyond(&self, axis: Label, bit: u32) -> Result<(), Mismatch> {
        let (element, place) = self.column(axis, bit);
        if place % 16 != 0 {
            return Err(self.mismatch(element, place, place, Fault::Start));
        }
        match self.carries(place) {
            Some((other, sum)) => {
                let met = element | other;
                Err(self.elsewhere(met, place, self.starts.apply_flat(met), sum))
            }
            None => Ok(()),
        }
    }

    /// An element with one bit set, and its place.
    fn column(&self, axis: Label, bit: u32) -> (u64, u64) {
        let start = self.starts.ins().offset_of(axis).unwrap_or(0);
        (1 << (start + bit), self.starts.basis(axis, bit))
    }

    /// The place that a column within the tile must have; none for the first beyond the pattern.
    fn expected(&self, side: usize, bit: u32) -> Option<u64> {
        let own = &self.own[side];
        match own.get(bit as usize) {
            Some(&place) => Some(place),
            None => self.steps[side].map(|step| step << (bit as usize - own.len())),
        }
    }

    /// A column of the tile that has a bit in common with this one, so that their sum, which is what
    /// the hardware forms, is not their exclusive-or; and the sum.
    fn carries(&self, place: u64) -> Option<(u64, u64)> {
        let met = self.accepted.iter().find(|(_, other)| other & place != 0);
        met.map(|&(element, other)| (element, place + other))
    }

    fn elsewhere(&self, element: u64, start: u64, place: u64, expected: u64) -> Mismatch {
        let expected = self.atom.mode.swizzled(expected);
        self.mismatch(element, start, place, Fault::Elsewhere { expected })
    }

    fn mismatch(&self, element: u64, start: u64, place: u64, fault: Fault) -> Mismatch {
        Mismatch {
            atom: self.atom,
            descriptor: self.descriptor(),
            start,
            element: self.starts.ins().unpack(element),
            found: self.atom.mode.swizzled(place),
            fault,
            agreed: self.accepted.len(),
        }
    }

    /// The descriptor with the steps that are known; where none is used the leading one is 0, as
    /// Triton writes it, and the other that of neighbouring patterns.
    fn descriptor(&self) -> MatrixDescriptor {
        let OperandAtom { mode, major, .. } = self.atom;
        let [kept, summed] = self.steps;
        let (leading, stride) = match (major, mode) {
            (Major::K, _) | (Major::Mn, SwizzleMode::None) => (summed, kept),
            (Major::Mn, _) => (kept, summed),
        };
        let stride = stride.unwrap_or(8 * mode.span());
        MatrixDescriptor { mode, major, leading: leading.unwrap_or(0), stride }
    }

    /// How far the kept axis goes on evenly, in bits that no other column has, so that a tile may go
    /// beyond the power of two that its extent fills.
    fn even(&self) -> u64 {
        let axis = self.tile.kept;
        let alone = |place: u64| {
            let columns = self.starts.matrix().columns().iter();
            columns.filter(|&&column| column & place != 0).count() == 1
        };
        let goes_on = |&bit: &u32| {
            let place = self.starts.basis(axis, bit);
            self.expected(0, bit) == Some(place) && alone(place)
        };
        let within = self.tile.bits(axis);
        let more = (within..self.starts.in_bits(axis)).take_while(goes_on).count() as u32;
        1 << (within + more)
    }
}
