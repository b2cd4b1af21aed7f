//! Functions of the thread, linear or affine over F₂.

use alloc::vec::Vec;

use crate::f2::{low_mask, parity};

/// Threads by the parity of some of their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parity {
    /// The lane bits that count.
    pub lane: u64,
    /// The warp bits that count.
    pub warp: u64,
}

impl Parity {
    /// Whether a thread is odd.
    pub fn is_odd(self, lane: u64, warp: u64) -> bool {
        parity(lane & self.lane) != parity(warp & self.warp)
    }
}

/// A lane as an affine function of lane and warp.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LaneMap {
    /// What each lane bit contributes.
    pub lane: Vec<u64>,
    /// What each warp bit contributes.
    pub warp: Vec<u64>,
    /// What every lane adds.
    pub xor: u64,
}

impl LaneMap {
    /// The lane that differs by `mask`: a butterfly.
    pub fn butterfly(lane_bits: u32, mask: u64) -> LaneMap {
        let lane = (0..lane_bits.min(64)).map(|bit| 1 << bit).collect();
        LaneMap { lane, warp: Vec::new(), xor: mask }
    }

    /// The image of a thread.
    pub fn apply(&self, lane: u64, warp: u64) -> u64 {
        self.xor ^ combine(&self.lane, lane) ^ combine(&self.warp, warp)
    }

    /// Whether every lane goes to itself exclusive-or a constant.
    pub fn is_butterfly(&self) -> bool {
        self.warp.iter().all(|&column| column == 0)
            && self
                .lane
                .iter()
                .zip(0..)
                .all(|(&column, bit)| 1_u64.checked_shl(bit) == Some(column))
    }
}

/// Bytes of a pair of registers as an affine function of lane and warp: four bits (a nibble) for
/// each byte of the result, lowest first, of which the highest is zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selector {
    /// What each lane bit contributes.
    pub lane: Vec<u64>,
    /// What each warp bit contributes.
    pub warp: Vec<u64>,
    /// What every thread adds.
    pub xor: u64,
}

impl Selector {
    /// The same bytes in every thread.
    pub fn constant(xor: u64) -> Selector {
        Selector { lane: Vec::new(), warp: Vec::new(), xor }
    }

    /// The nibbles of a thread.
    pub fn apply(&self, lane: u64, warp: u64) -> u64 {
        self.xor ^ combine(&self.lane, lane) ^ combine(&self.warp, warp)
    }

    /// The bytes of a pair that a byte of the result is in some thread, as a mask.
    pub fn taken(&self, byte: u32) -> u32 {
        let nibble = |nibbles: u64| nibbles >> (4 * byte).min(63) & 7;
        let columns = self.lane.iter().chain(&self.warp);
        let any = |known: u32, column: u64| {
            let turned = (0..8).filter(|index| known >> index & 1 == 1);
            turned.fold(known, |all, index| all | 1 << (index ^ nibble(column)))
        };
        columns.fold(1 << nibble(self.xor), |known, &column| any(known, column))
    }

    /// Whether no thread differs from another.
    pub fn is_constant(&self) -> bool {
        self.lane.iter().chain(&self.warp).all(|&column| column == 0)
    }

    /// Whether the lowest `bytes` bytes of a pair stay where they are.
    pub fn keeps_low(&self, bytes: u32) -> bool {
        let mask = low_mask(bytes.saturating_mul(4));
        self.is_constant() && self.xor & mask == 0x7654_3210 & mask
    }
}

/// A number as an affine function of a number and of the thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataMap {
    /// What each bit of the number contributes; further bits count for nothing.
    pub data: Vec<u64>,
    /// What each lane bit contributes.
    pub lane: Vec<u64>,
    /// What each warp bit contributes.
    pub warp: Vec<u64>,
    /// What each register adds.
    pub xor: Vec<u64>,
}

impl DataMap {
    /// The image of `number` in register `register` of a thread; the constant of a register that is
    /// not listed is 0.
    pub fn apply(&self, number: u64, register: u64, lane: u64, warp: u64) -> u64 {
        let xor = usize::try_from(register).ok().and_then(|register| self.xor.get(register));
        combine(&self.data, number)
            ^ combine(&self.lane, lane)
            ^ combine(&self.warp, warp)
            ^ xor.copied().unwrap_or(0)
    }

    /// The distances over which bits of the number move.
    pub fn diagonals(&self) -> u32 {
        let mut seen = 0_u128;
        for (from, &column) in (0..64).zip(&self.data) {
            for to in crate::f2::ones(column) {
                seen |= 1 << (64 + to - from);
            }
        }
        seen.count_ones()
    }
}

/// The exclusive-or of the columns that `place` selects.
pub(crate) fn combine(columns: &[u64], place: u64) -> u64 {
    // A place has 64 bits: further columns are never selected.
    let selected = columns.iter().zip(0..64).filter(|&(_, bit)| place >> bit & 1 == 1);
    selected.fold(0, |sum, (column, _)| sum ^ column)
}
