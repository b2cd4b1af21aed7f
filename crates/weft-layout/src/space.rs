//! Labelled spaces: an ordered list of axes, each with a name and a number of bits.
//!
//! The first axis is the least significant: a place of the space is one integer, the bits of the
//! first axis lowest.
//! A tensor's axes are listed minor first, `[dim{n-1}, …, dim0]`, so that this integer is the
//! element's row-major index.

use alloc::{string::String, sync::Arc, vec::Vec};
use core::fmt;

use crate::f2::{self, Matrix};

/// The name of an axis: up to 15 bytes of printable ASCII without the delimiters of the text forms.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    /// The name, then zeros, then its length: sixteen bytes, so that labels compare in one step.
    bytes: [u8; 16],
}

/// Which register of a thread.
pub const REGISTER: Label = Label::literal("register");
/// Which thread of a warp.
pub const LANE: Label = Label::literal("lane");
/// Which warp of a block.
pub const WARP: Label = Label::literal("warp");
/// Which block of a cluster.
pub const BLOCK: Label = Label::literal("block");
/// Which place of a memory, in elements unless said otherwise.
pub const OFFSET: Label = Label::literal("offset");
/// Which of several memories.
pub const PARTITION: Label = Label::literal("partition");
/// Which row (lane) of tensor memory.
pub const ROW: Label = Label::literal("row");
/// Which column of tensor memory, in elements unless said otherwise.
pub const COL: Label = Label::literal("col");

/// The most bytes that a label can have.
const MAX_LABEL: usize = 15;

impl Label {
    /// The label of this name.
    ///
    /// Fails when the name is empty, longer than 15 bytes or holds anything but letters, digits,
    /// `_` and `.`.
    pub fn new(name: &str) -> Result<Label, SpaceError> {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
        if name.is_empty() || name.len() > MAX_LABEL || !name.bytes().all(legal) {
            return Err(SpaceError::BadLabel(name.into()));
        }
        Ok(Label::literal(name))
    }

    /// `dim0`, `dim1`, …: an axis of a tensor, outermost first.
    pub const fn dim(index: u32) -> Label {
        let mut label = Label::literal("dim");
        let mut digits = index.checked_ilog10();
        label.bytes[MAX_LABEL] += 1;
        while let Some(more @ 1..) = digits {
            label.bytes[MAX_LABEL] += 1;
            digits = Some(more - 1);
        }
        // Three letters and at most ten digits, written from the last one.
        let mut rest = index;
        let mut position = label.len();
        while position > 3 {
            position -= 1;
            label.bytes[position] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        label
    }

    /// The `index` of [`Label::dim`], when this is such a label.
    pub fn dim_index(self) -> Option<u32> {
        let digits = self.as_str().strip_prefix("dim")?;
        let index = digits.parse().ok()?;
        (Label::dim(index) == self).then_some(index)
    }

    /// The name as text, such as `register` or `dim0`.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.len()]).unwrap_or_default()
    }

    /// The label of a name that is known to be legal; a longer one is cut.
    const fn literal(name: &str) -> Label {
        let text = name.as_bytes();
        let len = if text.len() < MAX_LABEL { text.len() } else { MAX_LABEL };
        let mut bytes = [0; MAX_LABEL + 1];
        let mut index = 0;
        while index < len {
            bytes[index] = text[index];
            index += 1;
        }
        bytes[MAX_LABEL] = len as u8;
        Label { bytes }
    }

    /// The number of bytes of the name.
    const fn len(&self) -> usize {
        self.bytes[MAX_LABEL] as usize
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An ordered list of labelled axes, the first one least significant; at most 64 bits in all.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Space {
    /// Invariant: labels are unique and the bits add up to at most 64.
    /// Shared, because every operator on layouts passes spaces on unchanged.
    axes: Arc<[(Label, u32)]>,
}

impl Space {
    /// The space with these axes, each a label and its number of bits.
    ///
    /// Fails when a label occurs twice or the bits add up to more than 64.
    pub fn new(axes: &[(Label, u32)]) -> Result<Space, SpaceError> {
        let mut total = 0_u32;
        for (index, &(label, bits)) in axes.iter().enumerate() {
            if axes[..index].iter().any(|&(other, _)| other == label) {
                return Err(SpaceError::DuplicateLabel(label));
            }
            total = total.saturating_add(bits);
        }
        if total > f2::MAX_BITS {
            return Err(SpaceError::TooManyBits(total));
        }
        Ok(Space { axes: axes.into() })
    }

    /// The space without axes; its one place is 0.
    pub fn empty() -> Space {
        Space { axes: Arc::new([]) }
    }

    /// The elements of a tensor: axes `[dim{n-1}, …, dim0]`, so that a place is the row-major index.
    ///
    /// Fails when a size is not a power of two or there are more than 2⁶⁴ elements.
    pub fn tensor(shape: &[u64]) -> Result<Space, SpaceError> {
        let mut axes = Vec::with_capacity(shape.len());
        for (dim, &size) in shape.iter().enumerate().rev() {
            if !size.is_power_of_two() {
                return Err(SpaceError::NotPowerOfTwo { label: Label::dim(dim as u32), size });
            }
            axes.push((Label::dim(dim as u32), size.trailing_zeros()));
        }
        Space::new(&axes)
    }

    /// The places of a distributed layout: axes `[register, lane, warp, block]` of these bits.
    pub fn hardware(register: u32, lane: u32, warp: u32, block: u32) -> Result<Space, SpaceError> {
        Space::new(&[(REGISTER, register), (LANE, lane), (WARP, warp), (BLOCK, block)])
    }

    /// The axes, least significant first.
    pub fn axes(&self) -> &[(Label, u32)] {
        &self.axes
    }

    /// The labels, least significant first.
    pub fn labels(&self) -> impl Iterator<Item = Label> + '_ {
        self.axes.iter().map(|&(label, _)| label)
    }

    /// The axes as label, position of the lowest bit and number of bits.
    pub fn iter(&self) -> impl Iterator<Item = (Label, u32, u32)> + '_ {
        self.axes.iter().scan(0, |offset, &(label, bits)| {
            let start = *offset;
            *offset += bits;
            Some((label, start, bits))
        })
    }

    /// The number of bits of an axis; 0 when there is none of that label.
    pub fn bits(&self, label: Label) -> u32 {
        self.axes.iter().find(|axis| axis.0 == label).map_or(0, |axis| axis.1)
    }

    /// The position of the lowest bit of an axis.
    pub fn offset_of(&self, label: Label) -> Option<u32> {
        self.locate(label).map(|(offset, _)| offset)
    }

    /// The position of the lowest bit of an axis, and its number of bits.
    #[inline]
    pub fn locate(&self, label: Label) -> Option<(u32, u32)> {
        let mut offset = 0;
        for &(other, bits) in self.axes.iter() {
            if other == label {
                return Some((offset, bits));
            }
            offset += bits;
        }
        None
    }

    /// The same axes with other numbers of bits.
    ///
    /// Fails when they add up to more than 64.
    pub fn with_bits(&self, bits: impl Fn(Label, u32) -> u32) -> Result<Space, SpaceError> {
        let axes: Arc<[_]> =
            self.axes.iter().map(|&(label, old)| (label, bits(label, old))).collect();
        let total = axes.iter().fold(0_u32, |total, axis| total.saturating_add(axis.1));
        if total > f2::MAX_BITS { Err(SpaceError::TooManyBits(total)) } else { Ok(Space { axes }) }
    }

    /// The bits of an axis as a mask over places; 0 when there is none of that label.
    pub fn mask(&self, label: Label) -> u64 {
        self.locate(label)
            .map_or(0, |(offset, bits)| f2::low_mask(bits).checked_shl(offset).unwrap_or(0))
    }

    /// Whether there is an axis of that label.
    pub fn contains(&self, label: Label) -> bool {
        self.labels().any(|other| other == label)
    }

    /// The bits of all axes together.
    pub fn total_bits(&self) -> u32 {
        self.axes.iter().map(|axis| axis.1).sum()
    }

    /// The sizes of `dim0`, `dim1`, … as far as they are present.
    pub fn shape(&self) -> Vec<u64> {
        let dims = (0..).map(Label::dim).take_while(|&label| self.contains(label));
        dims.map(|label| 1_u64.checked_shl(self.bits(label)).unwrap_or(u64::MAX)).collect()
    }

    /// The labels in the order in which coordinates are written: `dim0`, `dim1`, … for a tensor,
    /// the order of the axes for anything else.
    pub fn coordinate_order(&self) -> Vec<Label> {
        let mut labels: Vec<Label> = self.labels().collect();
        if self.is_tensor() {
            labels.reverse();
        }
        labels
    }

    /// Whether the axes are `[dim{n-1}, …, dim0]`.
    pub fn is_tensor(&self) -> bool {
        self.axes.iter().rev().zip(0..).all(|(&(label, _), index)| label == Label::dim(index))
    }

    /// The place with these coordinates; axes that are not named are 0.
    ///
    /// Fails when a label is unknown or named twice, or a coordinate is too large.
    pub fn pack(&self, coordinates: &[(Label, u64)]) -> Result<u64, SpaceError> {
        let mut place = 0;
        for (index, &(label, value)) in coordinates.iter().enumerate() {
            let (offset, bits) = self.locate(label).ok_or(SpaceError::UnknownLabel(label))?;
            if coordinates[..index].iter().any(|&(other, _)| other == label) {
                return Err(SpaceError::DuplicateLabel(label));
            }
            if value & !f2::low_mask(bits) != 0 {
                return Err(SpaceError::OutOfRange { label, value, bits });
            }
            // A value other than zero has at least one bit, so that its offset is below 64.
            place |= value.checked_shl(offset).unwrap_or(0);
        }
        Ok(place)
    }

    /// The coordinates of a place, in the order of the axes; higher bits are ignored.
    pub fn unpack(&self, place: u64) -> Vec<(Label, u64)> {
        self.iter().map(|(label, start, bits)| (label, field(place, start, bits))).collect()
    }

    /// One coordinate of a place; 0 when there is no such axis.
    pub fn coordinate(&self, label: Label, place: u64) -> u64 {
        self.locate(label).map_or(0, |(start, bits)| field(place, start, bits))
    }

    /// The matrix that moves each axis of `self` to the low bits of the axis of the same label in
    /// `other`.
    ///
    /// Fails when `other` lacks a label or has fewer bits there.
    pub fn embedding(&self, other: &Space) -> Result<Matrix, SpaceError> {
        let mut columns = Vec::with_capacity(self.total_bits() as usize);
        for &(label, bits) in self.axes.iter() {
            let offset = other.offset_of(label).ok_or(SpaceError::UnknownLabel(label))?;
            if bits > other.bits(label) {
                return Err(SpaceError::TooFewBits {
                    label,
                    needed: bits,
                    found: other.bits(label),
                });
            }
            columns.extend((0..bits).map(|bit| 1 << (offset + bit)));
        }
        Ok(Matrix::new(other.total_bits(), &columns)?)
    }

    /// The same axes in another order, given as a permutation of the labels.
    pub fn reordered(&self, order: &[Label]) -> Result<Space, SpaceError> {
        if let Some(label) = self.labels().find(|label| !order.contains(label)) {
            return Err(SpaceError::UnknownLabel(label));
        }
        let mut axes = Vec::with_capacity(order.len());
        for &label in order {
            if !self.contains(label) {
                return Err(SpaceError::UnknownLabel(label));
            }
            axes.push((label, self.bits(label)));
        }
        Space::new(&axes)
    }
}

/// `bits` bits of `place` from position `start` on.
fn field(place: u64, start: u32, bits: u32) -> u64 {
    place.checked_shr(start).unwrap_or(0) & f2::low_mask(bits)
}

/// `[dim0: 64, dim1: 32]`: labels and sizes in [`Space::coordinate_order`].
impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, label) in self.coordinate_order().into_iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{label}: {}", 1_u128 << self.bits(label))?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a space, or a place in one, is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpaceError {
    /// This is no name of an axis.
    BadLabel(String),
    /// A label occurs twice.
    DuplicateLabel(Label),
    /// There is no axis of this label.
    UnknownLabel(Label),
    /// The bits of all axes add up to more than 64.
    TooManyBits(u32),
    /// A size is not a power of two.
    NotPowerOfTwo {
        /// The axis that would have it.
        label: Label,
        /// The size that was given.
        size: u64,
    },
    /// A coordinate does not fit its axis.
    OutOfRange {
        /// The axis that is too short.
        label: Label,
        /// The coordinate that was given.
        value: u64,
        /// The bits of the axis.
        bits: u32,
    },
    /// An axis is too small.
    TooFewBits {
        /// The axis that is too small.
        label: Label,
        /// The bits that are needed.
        needed: u32,
        /// The bits that it has.
        found: u32,
    },
    /// The matrices do not fit.
    Matrix(f2::MatrixError),
}

impl From<f2::MatrixError> for SpaceError {
    fn from(error: f2::MatrixError) -> SpaceError {
        SpaceError::Matrix(error)
    }
}

impl fmt::Display for SpaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpaceError::BadLabel(name) => write!(
                f,
                "`{name}` is no axis label: 1 to 15 letters, digits, `_` or `.` are expected"
            ),
            SpaceError::DuplicateLabel(label) => write!(f, "axis `{label}` occurs twice"),
            SpaceError::UnknownLabel(label) => write!(f, "there is no axis `{label}`"),
            SpaceError::TooManyBits(bits) => {
                write!(f, "the axes have {bits} bits together, at most 64 are possible")
            }
            SpaceError::NotPowerOfTwo { label, size } => {
                write!(f, "size {size} of axis `{label}` is not a power of two")
            }
            SpaceError::OutOfRange { label, value, bits } => {
                write!(f, "coordinate {value} does not fit the {bits} bits of axis `{label}`")
            }
            SpaceError::TooFewBits { label, needed, found } => {
                write!(f, "axis `{label}` has {found} bits, {needed} are needed")
            }
            SpaceError::Matrix(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SpaceError {}
