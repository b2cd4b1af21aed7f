//! Orders and choices of the bits of one input axis.

use alloc::vec::Vec;

use super::{Layout, LayoutError};
use crate::{f2::ones, space::Label};

/// A choice of bits of one input axis, in a new order: bits may be permuted and dropped.
///
/// It acts on layouts, and in the same way on the values that an axis numbers: the registers of a
/// thread.
///
/// ```
/// use weft_layout::{interop::parse_layout, layout::BitAction, space::REGISTER};
///
/// let swap = BitAction::new(REGISTER, 2, &[1, 0])?;
/// let layout = parse_layout("[register: 1 2, lane: 4] -> [dim0: 8]")?;
/// assert_eq!(swap.apply(&layout)?, parse_layout("[register: 2 1, lane: 4] -> [dim0: 8]")?);
/// assert_eq!(swap.apply_to_values(&["a", "b", "c", "d"])?, ["a", "c", "b", "d"]);
/// assert!(swap.then(&swap.inverse()?)?.is_identity());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BitAction {
    label: Label,
    /// How many bits the axis has before.
    width: u32,
    /// Invariant: distinct and below `width`.
    bits: Vec<u32>,
}

impl BitAction {
    /// Bit `i` of the result is bit `bits[i]` of the axis `label`, which has `width` bits.
    ///
    /// Fails with a bit that the axis does not have or that is named twice.
    pub fn new(label: Label, width: u32, bits: &[u32]) -> Result<BitAction, LayoutError> {
        let wrong = |&(index, &bit): &(usize, &u32)| {
            bit >= width || bits.iter().take(index).any(|&other| other == bit)
        };
        match bits.iter().enumerate().find(wrong) {
            Some((_, &bit)) => Err(LayoutError::NotSelection { label, bit, width }),
            None => Ok(BitAction { label, width, bits: bits.to_vec() }),
        }
    }

    /// The action that changes nothing.
    pub fn identity(label: Label, width: u32) -> Result<BitAction, LayoutError> {
        if width > crate::f2::MAX_BITS {
            return Err(LayoutError::NotSelection { label, bit: width, width });
        }
        Ok(BitAction { label, width, bits: (0..width).collect() })
    }

    /// The label of the axis that it acts on.
    pub fn label(&self) -> Label {
        self.label
    }

    /// How many bits the axis has before the action.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The bits taken, lowest bit of the result first.
    pub fn bits(&self) -> &[u32] {
        &self.bits
    }

    /// Whether each bit stays where it is, and none is dropped.
    pub fn is_identity(&self) -> bool {
        self.is_permutation() && self.bits.is_sorted()
    }

    /// Whether no bit is dropped.
    pub fn is_permutation(&self) -> bool {
        self.bits.len() == self.width as usize
    }

    /// The layout with its axis chosen and ordered so.
    ///
    /// Fails when the axis of the layout has another number of bits.
    pub fn apply(&self, layout: &Layout) -> Result<Layout, LayoutError> {
        let found = layout.ins().contains(self.label).then(|| layout.in_bits(self.label));
        if found != Some(self.width) {
            let (left, right) = (Some(self.width), found);
            return Err(LayoutError::AxisMismatch { label: self.label, left, right });
        }
        layout.select_bits(self.label, &self.bits)
    }

    /// The values that the places of the axis hold, after the action.
    ///
    /// Fails when there are not 2^width values.
    pub fn apply_to_values<T: Clone>(&self, values: &[T]) -> Result<Vec<T>, LayoutError> {
        let wrong = LayoutError::ValueCount { found: values.len(), bits: self.width };
        if 1_usize.checked_shl(self.width) != Some(values.len()) {
            return Err(wrong);
        }
        let source = |place: u64| {
            ones(place).fold(0, |sum, bit| {
                sum | self.bits.get(bit as usize).map_or(0, |&from| 1_usize << from)
            })
        };
        let places = 0..1_u64 << self.bits.len();
        places.map(|place| values.get(source(place)).cloned().ok_or(wrong.clone())).collect()
    }

    /// The action that undoes this one; fails with a bit that is dropped.
    pub fn inverse(&self) -> Result<BitAction, LayoutError> {
        let position = |bit: u32| {
            let found = (0..).zip(&self.bits).find(|&(_, &from)| from == bit);
            found.map(|(to, _)| to).ok_or(LayoutError::DroppedBit { label: self.label, bit })
        };
        let bits = (0..self.width).map(position).collect::<Result<_, _>>()?;
        Ok(BitAction { label: self.label, width: self.width, bits })
    }

    /// First `self`, then `next`.
    ///
    /// Fails when `next` acts on another axis, or on another number of bits than `self` leaves.
    pub fn then(&self, next: &BitAction) -> Result<BitAction, LayoutError> {
        let left = self.bits.len() as u32;
        if next.label != self.label || next.width != left {
            let right = (next.label == self.label).then_some(next.width);
            let label = self.label;
            return Err(LayoutError::AxisMismatch { label, left: Some(left), right });
        }
        let bits = next.bits.iter().filter_map(|&bit| self.bits.get(bit as usize).copied());
        Ok(BitAction { label: self.label, width: self.width, bits: bits.collect() })
    }
}
