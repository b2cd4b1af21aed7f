//! Moving axes: what is behind every operator that only rearranges outputs.

use alloc::vec::Vec;

use crate::{
    f2::low_mask,
    space::{Label, Space},
};

/// A map of places that moves runs of bits.
///
/// It is linear; unlike a matrix it costs one step for each distance that bits are moved by.
pub(super) struct Placement {
    /// For each distance (a rotation to the left) the bits that are moved by it; `few` are used
    /// before `more`, so that nothing is allocated for the usual number of axes.
    few: [Run; 4],
    more: Vec<Run>,
}

/// How far bits are moved, as a rotation to the left, and which.
type Run = (u32, u64);

impl Placement {
    /// Moves bit `b` of each axis of `from` to bit `b + shift(axis)` of the axis of the same label in
    /// `to`; what has no place there is dropped.
    pub(super) fn new(from: &Space, to: &Space, shift: impl Fn(Label) -> i32) -> Placement {
        Placement::renamed(from, to, |label| Some((label, shift(label))))
    }

    /// As [`new`](Placement::new), where `target` names the axis of `to` and the shift; `None` drops
    /// the axis.
    pub(super) fn renamed(
        from: &Space,
        to: &Space,
        target: impl Fn(Label) -> Option<(Label, i32)>,
    ) -> Placement {
        let mut placement = Placement { few: [(0, 0); 4], more: Vec::new() };
        for (label, start, bits) in from.iter() {
            let place = target(label).and_then(|(label, shift)| Some((to.locate(label)?, shift)));
            let Some(((offset, room), shift)) = place else { continue };
            // Bits `low..high` of the axis have a place.
            let low = shift.saturating_neg().max(0) as u32;
            let high = bits.min(room.saturating_add_signed(shift.saturating_neg()));
            if low >= high {
                continue;
            }
            let moved = low_mask(high - low) << (start + low);
            let distance = (offset as i32 + shift - start as i32).rem_euclid(64) as u32;
            placement.add(distance, moved);
        }
        placement
    }

    fn add(&mut self, distance: u32, moved: u64) {
        let runs = self.few.iter_mut().chain(&mut self.more);
        // An unused run moves nothing and may become any.
        for run in runs {
            if run.1 == 0 || run.0 == distance {
                *run = (distance, run.1 | moved);
                return;
            }
        }
        self.more.push((distance, moved));
    }

    /// Where a place goes.
    pub(super) fn apply(&self, place: u64) -> u64 {
        let moved = |sum, &(by, mask): &Run| sum | (place & mask).rotate_left(by);
        self.more.iter().fold(self.few.iter().fold(0, moved), moved)
    }
}
