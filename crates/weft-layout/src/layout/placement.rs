//! Moving axes: what is behind every operator that only rearranges outputs.

use core::ops::Range;

use crate::{
    f2::ones,
    space::{Label, Space},
};

/// Where each of up to 64 bits goes; bits that were not put anywhere are dropped.
pub(super) struct Places([u64; 64]);

impl Places {
    pub(super) fn new() -> Places {
        Places([0; 64])
    }

    /// Moves bit `b` of each axis of `from` to bit `b + shift(axis)` of the axis of the same label in
    /// `to`; what has no place there is dropped.
    pub(super) fn between(from: &Space, to: &Space, shift: impl Fn(Label) -> i32) -> Places {
        Places::renamed(from, to, |label| Some((label, shift(label))))
    }

    /// As [`between`](Places::between), where `target` names the axis of `to` and the shift; `None`
    /// drops the axis.
    pub(super) fn renamed(
        from: &Space,
        to: &Space,
        target: impl Fn(Label) -> Option<(Label, i32)>,
    ) -> Places {
        let mut places = Places::new();
        for (label, start, bits) in from.iter() {
            let place = target(label).and_then(|(label, shift)| Some((to.locate(label)?, shift)));
            let Some(((offset, room), shift)) = place else { continue };
            // Bits `low..high` of the axis have a place.
            let low = shift.saturating_neg().max(0) as u32;
            let high = bits.min(room.saturating_add_signed(shift.saturating_neg()));
            if low < high {
                let moved = (start + low) as usize..(start + high) as usize;
                places.put(moved, (offset + low).saturating_add_signed(shift));
            }
        }
        places
    }

    /// Puts the bits of `range` from bit `start` on.
    pub(super) fn put(&mut self, range: Range<usize>, start: u32) {
        for (slot, bit) in self.0[range].iter_mut().zip(start..) {
            *slot = 1_u64.checked_shl(bit).unwrap_or(0);
        }
    }

    pub(super) fn place(&self, value: u64) -> u64 {
        ones(value).fold(0, |sum, bit| sum | self.0[bit as usize])
    }
}
