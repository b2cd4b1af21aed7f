use alloc::vec::Vec;
use core::fmt;

use crate::layout::Layout;

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
/// Offset `x` of the linear part lies at `x + Σ (x / interval) · padding`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Padded {
    layout: Layout,
    /// Invariant: powers of two, the intervals distinct.
    paddings: Vec<Padding>,
}

impl Padded {
    /// The layout with these gaps; fails when an interval or a gap is no power of two, or two
    /// intervals are equal.
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
        Ok(Padded { layout, paddings: paddings.to_vec() })
    }

    /// The linear part: from offsets without gaps to elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The gaps.
    pub fn paddings(&self) -> &[Padding] {
        &self.paddings
    }

    /// Where offset `offset` of the linear part really lies; at most the largest `u64`.
    pub fn physical(&self, offset: u64) -> u64 {
        let gap = |padding: &Padding| (offset / padding.interval).saturating_mul(padding.padding);
        self.paddings.iter().map(gap).fold(offset, u64::saturating_add)
    }
}

/// Why gaps are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PaddedError {
    /// An interval or a gap is no power of two.
    NotPowerOfTwo {
        /// Its value.
        value: u64,
    },
    /// Two gaps have the same interval.
    EqualIntervals {
        /// The interval.
        interval: u64,
    },
}

impl fmt::Display for PaddedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PaddedError::NotPowerOfTwo { value } => {
                write!(f, "{value} is no power of two, as intervals and paddings must be")
            }
            PaddedError::EqualIntervals { interval } => {
                write!(f, "interval {interval} is padded twice")
            }
        }
    }
}

impl core::error::Error for PaddedError {}
