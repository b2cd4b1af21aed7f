//! Moving axes: the matrices behind every operator that only rearranges outputs.

use core::ops::Range;

use super::LayoutError;
use crate::{
    f2::{Matrix, ones},
    space::{Label, Space},
};

/// Where each of up to 64 bits goes; bits that were not put anywhere are dropped.
pub(super) struct Places([u64; 64]);

impl Places {
    pub(super) fn new() -> Places {
        Places([0; 64])
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

/// The matrix that moves bit `b` of each axis of `from` to bit `b + shift(axis)` of the axis of the
/// same label in `to`; what has no place there is dropped.
pub(super) fn placement(
    from: &Space,
    to: &Space,
    shift: impl Fn(Label) -> i32,
) -> Result<Matrix, LayoutError> {
    place_axes(from, to, |label| Some((label, shift(label))))
}

/// As [`placement`], where `target` names the axis of `to` and the shift; `None` drops the axis.
pub(super) fn place_axes(
    from: &Space,
    to: &Space,
    target: impl Fn(Label) -> Option<(Label, i32)>,
) -> Result<Matrix, LayoutError> {
    let columns = from.axes().iter().flat_map(|&(label, bits)| {
        let place = target(label)
            .and_then(|(label, shift)| Some((to.offset_of(label)?, to.bits(label), shift)));
        (0..bits).map(move |bit| {
            let (offset, room, shift) = place?;
            let moved = bit.checked_add_signed(shift).filter(|&moved| moved < room)?;
            Some(1 << (offset + moved))
        })
    });
    Ok(Matrix::from_columns(to.total_bits(), columns.map(Option::unwrap_or_default))?)
}
