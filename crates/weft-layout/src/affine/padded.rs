use alloc::vec::Vec;
use core::fmt;

use super::{ParitySum, shifted::one_place};
use crate::{
    layout::{Layout, LayoutError},
    space::{Label, OFFSET, Space},
};

/// Gaps in a memory: after every `interval` offsets, `padding` unused ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Padding {
    /// The distance between gaps, in elements; a power of two.
    pub interval: u64,
    /// The size of a gap, in elements; a power of two.
    pub padding: u64,
}

/// A memory layout with gaps: a linear layout from `offset`, and paddings that spread the offsets.
///
/// Offset `x` of the linear part lies at the *physical* address `x + Σ (x / interval) · padding`,
/// in elements (Triton's `padded_shared`).
/// It is strictly increasing, since `x + 1` lies at least one further than `x`, and so no two
/// offsets share an address; intervals are powers of two, so that it is also the sum of the
/// addresses of the bits of `x` ([`column`](Self::column)).
///
/// Sums carry, so an access of padded memory has no ranks to compare: the rank law
/// ([`access`](crate::access)) does not apply, and wavefronts are counted over the addresses that
/// [`compose`](Self::compose) gives, unless these are linear after all ([`ParitySum::linear`]).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Padded {
    /// Invariant: has an input axis `offset`.
    layout: Layout,
    /// Invariant: powers of two, the intervals distinct; all addresses and their number fit 64
    /// bits.
    paddings: Vec<Padding>,
}

/// What lies at a physical address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// This offset of the linear part.
    Offset(u64),
    /// The place lies in a gap and holds no element.
    Gap,
    /// Nothing: the memory ends before.
    Beyond,
}

impl Padded {
    /// The layout with these gaps.
    ///
    /// Fails when an interval or a gap is no power of two, two intervals are equal, the layout has
    /// no axis `offset`, or the memory would have 2⁶⁴ addresses or more.
    pub fn new(layout: Layout, paddings: &[Padding]) -> Result<Padded, PaddedError> {
        for (index, &Padding { interval, padding }) in paddings.iter().enumerate() {
            for value in [interval, padding] {
                if !value.is_power_of_two() {
                    return Err(PaddedError::NotPowerOfTwo { value });
                }
            }
            if paddings[..index].iter().any(|other| other.interval == interval) {
                return Err(PaddedError::EqualIntervals { interval });
            }
        }
        if !layout.ins().contains(OFFSET) {
            return Err(PaddedError::NoOffset);
        }
        let padded = Padded { layout, paddings: paddings.to_vec() };
        // `physical` stops at the largest address, which leaves no room for the number of them.
        if padded.physical(padded.last_offset()) == u64::MAX {
            return Err(PaddedError::TooLarge);
        }
        Ok(padded)
    }

    /// The linear part: from offsets without gaps to elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The gaps, as intervals with what is added after each.
    pub fn paddings(&self) -> &[Padding] {
        &self.paddings
    }

    /// Where offset `offset` of the linear part really lies; at most the largest `u64`, which no
    /// offset of the layout reaches.
    pub fn physical(&self, offset: u64) -> u64 {
        let gap = |padding: &Padding| (offset / padding.interval).saturating_mul(padding.padding);
        self.paddings.iter().map(gap).fold(offset, u64::saturating_add)
    }

    /// What bit `bit` of an offset adds to the address: `2^bit · (1 + Σ padding / interval)` over
    /// the intervals up to `2^bit`; 0 when the layout has no such bit.
    pub fn column(&self, bit: u32) -> u64 {
        if bit < self.layout.in_bits(OFFSET) { self.physical(1 << bit) } else { 0 }
    }

    /// What lies at a physical address.
    pub fn slot(&self, address: u64) -> Slot {
        // The greatest offset that does not lie above, from its highest bit on.
        let bits = (0..self.layout.in_bits(OFFSET)).rev();
        let offset = bits.fold(0, |offset, bit| {
            let larger = offset | 1 << bit;
            if self.physical(larger) <= address { larger } else { offset }
        });
        match self.physical(offset) {
            found if found == address => Slot::Offset(offset),
            _ if offset == self.last_offset() => Slot::Beyond,
            _ => Slot::Gap,
        }
    }

    /// The element at a physical address, all inputs but `offset` being zero, as a place of the
    /// outputs; nothing in a gap or beyond the end.
    pub fn element(&self, address: u64) -> Option<u64> {
        let Slot::Offset(offset) = self.slot(address) else {
            return None;
        };
        let place = self.layout.ins().pack(&[(OFFSET, offset)]).ok()?;
        Some(self.layout.apply_flat(place))
    }

    /// The physical address of an element, a place of the outputs; of one of its copies if the
    /// layout holds it more than once.
    ///
    /// Fails when the layout does not hold it.
    pub fn address(&self, element: u64) -> Result<u64, PaddedError> {
        let source = one_place(self.layout.outs(), element)?.solve(&self.layout)?;
        Ok(self.physical(source.outs().coordinate(OFFSET, source.basis(OFFSET, 0))))
    }

    /// How many addresses the memory has, in elements: one more than the address of the last
    /// offset.
    ///
    /// This is what Triton allocates: with `n` offsets, `n + Σ (n / interval) · padding`, less
    /// `padding` for each interval that divides `n`, because the gap after the last element is not
    /// needed.
    /// The two agree since `(n - 1) / interval` is `n / interval`, less one when the interval
    /// divides `n`.
    pub fn size(&self) -> u64 {
        self.physical(self.last_offset()).saturating_add(1)
    }

    /// The longest aligned runs of offsets without a gap inside: the smallest interval, or all
    /// offsets.
    /// No vector of one access may be longer.
    pub fn contiguous(&self) -> u64 {
        self.inner_gaps().map(|gap| gap.interval).min().unwrap_or(u64::MAX).min(self.offsets())
    }

    /// The longest vectors of one access, in elements: runs as in [`contiguous`](Self::contiguous)
    /// whose addresses are also multiples of their length.
    ///
    /// A run begins at a sum of columns, and these are multiples of a power of two up to the
    /// smallest interval exactly when all gaps are.
    pub fn aligned(&self) -> u64 {
        self.inner_gaps().map(|gap| gap.padding).min().unwrap_or(u64::MAX).min(self.contiguous())
    }

    /// The physical address of each place of `distributed`, a layout to the same outputs: the sum
    /// of the columns of the offset bits, each of which is a parity of the place.
    ///
    /// Other inputs of the memory (a block, say) are left to [`Layout::solve`].
    /// Fails when an element of `distributed` is not held.
    pub fn compose(&self, distributed: &Layout) -> Result<ParitySum, PaddedError> {
        let rows = distributed.solve(&self.layout)?.matrix().transpose();
        let start = self.layout.ins().offset_of(OFFSET).unwrap_or(0);
        let bits = 0..self.layout.in_bits(OFFSET);
        let terms: Vec<_> = bits.map(|bit| (rows.column(start + bit), self.column(bit))).collect();
        // The columns add up to the address of the last offset.
        ParitySum::new(&terms).ok_or(PaddedError::TooLarge)
    }

    /// The direct sum with `self` as the minor part ([`Layout::product`]): the gaps go on at the
    /// same intervals.
    pub fn product(&self, major: &Layout) -> Result<Padded, PaddedError> {
        Padded::new(self.layout.product(major)?, &self.paddings)
    }

    /// [`Layout::transpose`]: gaps lie between offsets, and no offset moves.
    pub fn transpose(&self, order: &[usize]) -> Result<Padded, PaddedError> {
        Padded::new(self.layout.transpose(order)?, &self.paddings)
    }

    /// [`Layout::reshape`]: gaps lie between offsets, and no offset moves.
    pub fn reshape(&self, shape: &[u64]) -> Result<Padded, PaddedError> {
        Padded::new(self.layout.reshape(shape)?, &self.paddings)
    }

    /// [`Layout::expand_dims`]: gaps lie between offsets, and no offset moves.
    pub fn expand_dims(&self, axis: usize) -> Result<Padded, PaddedError> {
        Padded::new(self.layout.expand_dims(axis)?, &self.paddings)
    }

    /// [`Layout::rename_out`]: gaps lie between offsets, and no offset moves.
    pub fn rename_out(&self, from: Label, to: Label) -> Result<Padded, PaddedError> {
        Padded::new(self.layout.rename_out(from, to)?, &self.paddings)
    }

    /// [`Layout::reshape_ins`], as long as it keeps the bits of `offset`.
    ///
    /// Fails otherwise: the gaps are counted along `offset`, and other bits would lie elsewhere.
    pub fn reshape_ins(&self, ins: Space) -> Result<Padded, PaddedError> {
        let kept = |space: &Space| (space.offset_of(OFFSET), space.bits(OFFSET));
        if kept(&ins) != kept(self.layout.ins()) {
            return Err(PaddedError::OffsetChanges {
                from: self.layout.ins().mask(OFFSET),
                to: ins.mask(OFFSET),
            });
        }
        Padded::new(self.layout.reshape_ins(ins)?, &self.paddings)
    }

    fn last_offset(&self) -> u64 {
        crate::f2::low_mask(self.layout.in_bits(OFFSET))
    }

    /// How many offsets there are, at most the largest `u64`.
    fn offsets(&self) -> u64 {
        self.last_offset().saturating_add(1)
    }

    /// The gaps that lie between two offsets.
    fn inner_gaps(&self) -> impl Iterator<Item = &Padding> {
        self.paddings.iter().filter(|gap| gap.interval <= self.last_offset())
    }
}

/// Why gaps, or operators on a layout with gaps, are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PaddedError {
    /// The operator on the linear part is refused.
    Layout(LayoutError),
    /// An interval or a gap is no power of two.
    NotPowerOfTwo {
        /// The value that it has, in elements.
        value: u64,
    },
    /// Two gaps have the same interval.
    EqualIntervals {
        /// The interval that occurs twice, in elements.
        interval: u64,
    },
    /// The layout has no input axis `offset` along which gaps could lie.
    NoOffset,
    /// The memory would have 2⁶⁴ addresses or more.
    TooLarge,
    /// The bits of `offset` would change, along which gaps are counted.
    OffsetChanges {
        /// The bits of the places that are `offset`.
        from: u64,
        /// Those that would be.
        to: u64,
    },
}

impl From<LayoutError> for PaddedError {
    fn from(error: LayoutError) -> PaddedError {
        PaddedError::Layout(error)
    }
}

impl fmt::Display for PaddedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PaddedError::Layout(error) => error.fmt(f),
            PaddedError::NotPowerOfTwo { value } => {
                write!(f, "{value} is no power of two, as intervals and paddings must be")
            }
            PaddedError::EqualIntervals { interval } => {
                write!(f, "interval {interval} is padded twice")
            }
            PaddedError::NoOffset => {
                f.write_str("a layout without an axis `offset` has no place for paddings")
            }
            PaddedError::TooLarge => f.write_str("the padded memory has 2^64 addresses or more"),
            PaddedError::OffsetChanges { from, to } => write!(
                f,
                "paddings are counted along `offset`, which would change from bits {from:#x} to \
                 bits {to:#x}"
            ),
        }
    }
}

impl core::error::Error for PaddedError {}
