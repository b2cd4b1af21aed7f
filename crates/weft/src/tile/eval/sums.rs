//! Sums of floats that atomics form in whatever order they come, and how far two orders may differ.
//!
//! Each addition rounds once, to nearest. A sum of `n + 1` terms takes `n` additions in any order, and
//! is then off the exact sum by at most `n·u·Σ|x|` ([`bounds`](super::bounds)). Two orders differ by at
//! most twice that. It is not an estimate: whatever differs by more has lost a term, counted one twice or
//! rounded to another type.

use super::bounds::any_order;
use crate::dtype::DType;
use crate::memory::Memory;
use crate::scalar::to_f64;
use std::collections::BTreeMap;

/// A sum that atomics left in memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sum {
    /// The type in which it was added up.
    pub dtype: DType,
    /// How many additions made it.
    pub additions: u64,
    /// The magnitudes of the terms together: of what was there before, and of everything added.
    pub magnitude: f64,
    /// How far off the terms may be, together.
    pub off: f64,
}

impl Sum {
    /// The most by which the results of two orders of addition differ.
    ///
    /// ```
    /// use weft::dtype::DType;
    /// use weft::tile::eval::Sum;
    ///
    /// // Sixteen halves of at most one: 2 · 16 · 2^-11 · 16.
    /// let sum = Sum { dtype: DType::F16, additions: 16, magnitude: 16.0, off: 0.0 };
    /// assert_eq!(sum.bound(), 0.25);
    /// ```
    pub fn bound(&self) -> f64 {
        let Self { dtype, additions, magnitude, off } = *self;
        // A GPU's atomic sum of f32 in global memory takes subnormal terms and results for zero.
        let flushed = if dtype == DType::F32 { 3.0 * f64::from(f32::MIN_POSITIVE) } else { 0.0 };
        let additions = additions as f64;
        off + any_order(dtype, additions, magnitude + off) + 2.0 * additions * flushed
    }
}

/// The sums that a run left in memory, by place.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sums {
    /// By the address of the first byte.
    at: BTreeMap<u64, Sum>,
}

impl Sums {
    /// The sum in element `index` of a buffer whose elements have so many bytes, if there is one.
    pub fn get(&self, buffer: usize, index: usize, bytes: usize) -> Option<&Sum> {
        self.at.get(&(Memory::base(buffer) + (index * bytes) as u64))
    }

    /// The sum at an address, if there is one.
    pub(super) fn at(&self, address: u64) -> Option<&Sum> {
        self.at.get(&address)
    }

    /// The sums in a buffer, in order of their places.
    pub fn of_buffer(&self, buffer: usize) -> impl Iterator<Item = &Sum> {
        self.at.range(Memory::base(buffer)..Memory::base(buffer + 1)).map(|(_, sum)| sum)
    }

    /// Notes that a term was added to what was there, both as raw bits with their bounds.
    pub(super) fn add(
        &mut self,
        address: u64,
        dtype: DType,
        (old, old_off): (u64, f64),
        (term, term_off): (u64, f64),
    ) {
        let magnitude = to_f64(dtype, old).abs();
        let sum = self.at.entry(address);
        let sum = sum.or_insert(Sum { dtype, additions: 0, magnitude, off: old_off });
        sum.additions += 1;
        sum.magnitude += to_f64(dtype, term).abs();
        sum.off += term_off;
    }

    /// Notes that a place holds something else now.
    pub(super) fn forget(&mut self, address: u64) {
        if !self.at.is_empty() {
            self.at.remove(&address);
        }
    }
}
