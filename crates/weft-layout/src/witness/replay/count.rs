//! Steps that count numbers.
//!
//! What is counted are the weights of elements: random numbers of 60 bits, so that two sums are equal
//! only where the same elements are in them, but for one case in 2^60.

use alloc::{vec, vec::Vec};

use super::{Replay, UNDEFINED, whole};
use crate::{
    step::{Count, File},
    witness::WitnessError,
};

/// The sums of weights are taken modulo 2^60, so that a part fits beside them.
const MASK: u64 = (1 << 60) - 1;

/// The sum of two values while numbers are counted.
pub(in crate::witness) fn sum(a: u64, b: u64) -> u64 {
    a.wrapping_add(b) & MASK
}

/// What an element adds to a sum, by the finaliser of the generator `SplitMix64`.
pub(in crate::witness) fn weight(element: u64) -> u64 {
    let mixed = element.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ mixed >> 31) & MASK
}

/// The number that each element of the source is, and whether it counts.
pub(in crate::witness) struct Counted {
    pub(in crate::witness) numbers: Vec<u64>,
    pub(in crate::witness) mask: Vec<bool>,
}

impl Counted {
    /// An element that is not there has no number and does not count.
    fn get(&self, element: u64) -> (u64, bool) {
        let index = usize::try_from(element).unwrap_or(usize::MAX);
        let number = self.numbers.get(index).copied().unwrap_or(u64::MAX);
        (number, self.mask.get(index).copied().unwrap_or(false))
    }
}

impl Replay<'_> {
    /// Makes values sums of weights.
    pub(in crate::witness) fn start_counting(&mut self, counted: Counted) {
        self.counted = Some(counted);
    }

    /// The parts of a word, of those files that counts are in.
    fn word_parts(&self, file: File) -> Result<usize, WitnessError> {
        let ty = self.ty(file)?;
        if self.counted.is_none() {
            return Err(self.malformed("counts where elements are moved"));
        }
        if ty.element_bits != 32 {
            return Err(self.malformed("counts in other words than those of 32 bits"));
        }
        self.parts(ty)
    }

    pub(super) fn zero(&mut self, to: File) -> Result<(), WitnessError> {
        let parts = self.word_parts(to)?;
        let rows = self.rows(self.ty(to)?)? * self.warps;
        let row = |row: usize| vec![(row % parts) as u64; self.lanes];
        let values = (0..rows).flat_map(row).collect();
        self.define(to, values)
    }

    pub(super) fn add(&mut self, a: File, b: File, to: File) -> Result<(), WitnessError> {
        let parts = self.word_parts(to)?;
        self.same_type(a, to)?;
        self.same_type(b, to)?;
        let (a, b) = (self.read(a)?, self.read(b)?);
        let mut values = vec![UNDEFINED; a.len()];
        for start in (0..a.len()).step_by(self.lanes * parts) {
            for lane in start..start + self.lanes {
                let own = |values: &[u64]| {
                    whole(values.iter().skip(lane).step_by(self.lanes).take(parts))
                };
                // What was never defined stays so.
                if let (Ok(a), Ok(b)) = (own(a), own(b)) {
                    for part in 0..parts {
                        values[lane + part * self.lanes] = sum(a, b) << 3 | part as u64;
                    }
                }
            }
        }
        self.define(to, values)
    }

    pub(super) fn count(&mut self, count: &Count) -> Result<(), WitnessError> {
        let Some(counted) = self.counted.take() else {
            return Err(self.malformed("counts where elements are moved"));
        };
        let registers = self.ty(count.numbers)?.registers as usize;
        let elements = self.numbers_of(count.numbers)?.to_vec();
        if let Some(mask) = count.mask
            && self.numbers_of(mask)? != elements
        {
            return Err(self.malformed("takes the mask of another element"));
        }
        for (index, &element) in elements.iter().enumerate() {
            let (lane, warp) = self.thread(index, registers);
            let (number, mask) = counted.get(element);
            let masked = count.mask.is_some() && !mask;
            if masked || number >= count.below || !count.acting.takes_part(lane, warp) {
                continue;
            }
            let register = (index / self.lanes % registers.max(1)) as u64;
            let address = count.map.apply(number, register, lane, warp);
            self.add_weight(address, weight(element), (lane as u32, warp as u32))?;
        }
        self.counted = Some(counted);
        Ok(())
    }

    /// Adds to a counter.
    fn add_weight(
        &mut self,
        address: u64,
        weight: u64,
        (lane, warp): (u32, u32),
    ) -> Result<(), WitnessError> {
        if !address.is_multiple_of(4) || !self.memory.holds(address, 4) {
            return Err(self.malformed("accesses memory out of bounds or misaligned"));
        }
        let thread = warp << self.plan.lane_bits | lane;
        let step = self.step;
        for part in 0..4 / self.granule {
            let mut unwritten = false;
            let add = |value: u64| {
                unwritten = value == UNDEFINED;
                if unwritten { value } else { sum(value >> 3, weight) << 3 | part }
            };
            let cell = address / self.granule + part;
            self.memory.change(cell, thread, self.now, add).map_err(|other| {
                let other = self.memory.name(other);
                WitnessError::Race { step, address, thread: (lane, warp), other }
            })?;
            if unwritten {
                return Err(WitnessError::Unwritten { step, lane, warp, address });
            }
        }
        Ok(())
    }
}
