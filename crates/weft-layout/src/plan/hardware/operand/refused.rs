use alloc::vec::Vec;
use core::fmt;

use super::{OperandTile, granule};
use crate::{
    family::{FamilyError, Major, OperandAtom, SwizzleMode},
    layout::{Coordinates, Layout, LayoutError},
    machine::MatrixDescriptor,
    space::{Label, OFFSET},
};

/// Why no matrix descriptor says how a buffer lies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// No matrix instruction reads elements of so many bits from memory.
    ElementBits(u32),
    /// No instruction has so many rows or columns.
    Tile(u64),
    /// The tensor is smaller than a tile.
    Small {
        /// The axis that is too short.
        axis: Label,
        /// The size of the tensor along it.
        size: u64,
        /// The size of the tile.
        needed: u64,
    },
    /// The buffer does not hold each element once, or has too many bytes.
    Family(FamilyError),
    /// No pattern divides the buffer: for each its first column at fault.
    NoAtom(Vec<Mismatch>),
}

/// The first place at which a buffer is not a pattern's repetition.
///
/// It is a witness: [`Mismatch::confirms`] holds it against the buffer and the hardware's law, without
/// the division that found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The pattern that the memory was held against.
    pub atom: OperandAtom,
    /// The descriptor, with the strides that the buffer's own columns force.
    pub descriptor: MatrixDescriptor,
    /// Where a tile starts that holds the element: the bytes that its descriptor would name.
    pub start: u64,
    /// The coordinates of the element.
    pub element: Coordinates,
    /// Where the buffer has it, in bytes.
    pub found: u64,
    /// What is wrong with that.
    pub fault: Fault,
    /// How many columns of a tile agree with the pattern.
    pub agreed: usize,
}

/// What is wrong with the place of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The instruction reads it from another one.
    Elsewhere {
        /// From which, in bytes.
        expected: u64,
    },
    /// As a stride it is too large for a descriptor, or no multiple of what a stride must be one of.
    Stride,
    /// A tile would start there, which is no multiple of 16.
    Start,
}

impl Mismatch {
    /// Whether this shows that the pattern does not describe tiles of this buffer.
    pub fn confirms(&self, memory: &Layout, tile: &OperandTile) -> bool {
        let at = |axis: Label| self.element.iter().find(|place| place.0 == axis).map_or(0, |p| p.1);
        let (kept, summed) = (at(tile.kept), at(tile.summed));
        let inside = [kept % tile.extent.next_power_of_two(), summed % tile.summed_extent()];
        let mut first = self.element.clone();
        for (axis, value) in &mut first {
            match *axis {
                axis if axis == tile.kept => *value -= inside[0],
                axis if axis == tile.summed => *value -= inside[1],
                _ => {}
            }
        }
        let law = self.descriptor.address(self.start, tile.element_bytes(), inside[0], inside[1]);
        let start = self.atom.mode.swizzled(self.start);
        let stride = self.atom.mode.swizzled(self.found);
        self.lies(memory, self.found, &self.element)
            && match self.fault {
                Fault::Elsewhere { expected } => {
                    expected == law
                        && expected != self.found
                        && self.lies(memory, start, &first)
                        && self.forced(memory, tile)
                }
                Fault::Stride => {
                    !stride.is_multiple_of(granule(self.atom.mode))
                        || stride > MatrixDescriptor::MAX_STRIDE
                }
                Fault::Start => !self.found.is_multiple_of(16),
            }
    }

    /// Whether the buffer has an element at a byte.
    fn lies(&self, memory: &Layout, byte: u64, element: &Coordinates) -> bool {
        let (offset, within) = (byte / self.atom.element_bytes(), byte % self.atom.element_bytes());
        let inside = offset.checked_shr(memory.in_bits(OFFSET)).unwrap_or(0) == 0;
        let place = memory.ins().pack(&[(OFFSET, offset)]);
        let held = place.map(|place| memory.outs().unpack(memory.apply_flat(place)));
        inside && within == 0 && held.as_ref() == Ok(element)
    }

    /// Whether the buffer has the first element beyond a pattern one stride on, along each axis along
    /// which a tile has several patterns.
    fn forced(&self, memory: &Layout, tile: &OperandTile) -> bool {
        let row = self.atom.mode.span() / self.atom.element_bytes();
        let pattern = match self.atom.major {
            Major::K => [8, row],
            Major::Mn => [row, 8],
        };
        let MatrixDescriptor { leading, stride, .. } = self.descriptor;
        let steps = match (self.atom.major, self.atom.mode) {
            (Major::K, _) | (Major::Mn, SwizzleMode::None) => [stride, leading],
            (Major::Mn, _) => [leading, stride],
        };
        let axes = [(tile.kept, tile.extent), (tile.summed, tile.summed_extent())];
        axes.into_iter().zip(pattern).zip(steps).all(|(((axis, extent), pattern), step)| {
            let used = self
                .element
                .iter()
                .any(|&(label, at)| label == axis && at % extent.next_power_of_two() >= pattern);
            let beyond = |(label, _)| (label, if label == axis { pattern } else { 0 });
            let element = self.element.iter().copied().map(beyond).collect();
            !used || self.lies(memory, self.atom.mode.swizzled(step), &element)
        })
    }
}

impl Refused {
    /// The witness of the pattern that fits farthest.
    pub fn nearest(&self) -> Option<&Mismatch> {
        let Refused::NoAtom(mismatches) = self else { return None };
        mismatches.iter().max_by_key(|mismatch| mismatch.agreed)
    }
}

impl From<LayoutError> for Refused {
    fn from(error: LayoutError) -> Refused {
        Refused::Family(FamilyError::Layout(error))
    }
}

impl From<FamilyError> for Refused {
    fn from(error: FamilyError) -> Refused {
        Refused::Family(error)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::ElementBits(bits) => {
                write!(f, "no matrix instruction reads elements of {bits} bits from shared memory")
            }
            Refused::Tile(extent) => {
                write!(f, "{extent} rows or columns are no multiple of 8 from 8 to 256")
            }
            Refused::Small { axis, size, needed } => {
                write!(f, "{axis} has size {size}, and an instruction reads {needed}")
            }
            Refused::Family(error) => error.fmt(f),
            Refused::NoAtom(_) => {
                f.write_str("no matrix descriptor")?;
                self.nearest().map_or(Ok(()), |mismatch| write!(f, ": {mismatch}"))
            }
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let major = match self.atom.major {
            Major::K => "K",
            Major::Mn => "MN",
        };
        write!(f, "with {major}-major rows of {} bytes, ", self.atom.mode.span())?;
        let mut moved = self.element.iter().filter(|place| place.1 != 0);
        match (moved.next(), moved.next()) {
            (Some((axis, value)), None) if value.is_power_of_two() => {
                write!(f, "{axis} bit {} is {}", value.trailing_zeros(), self.found)?;
            }
            _ => {
                let element =
                    self.element.iter().map(|(axis, value)| alloc::format!("{axis} {value}"));
                write!(f, "{} is {}", element.collect::<Vec<_>>().join(", "), self.found)?;
            }
        }
        match self.fault {
            Fault::Elsewhere { expected } => write!(f, ", must be {expected}"),
            Fault::Stride => write!(
                f,
                ", which is no stride: a multiple of {} up to {} is",
                granule(self.atom.mode),
                MatrixDescriptor::MAX_STRIDE
            ),
            Fault::Start => f.write_str(", where no tile can start: a multiple of 16 is needed"),
        }
    }
}

impl core::error::Error for Refused {}
