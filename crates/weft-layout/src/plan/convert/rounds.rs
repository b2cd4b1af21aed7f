//! Conversions and gathers in rounds, for when shared memory cannot hold all elements at once.

use alloc::vec::Vec;

use crate::plan::swizzle::Side;
use crate::{
    f2::{Echelon, Matrix, Subspace, low_mask},
    step::combine,
};

/// A conversion cut into rounds: in each, threads move the registers at one combination of
/// elements that both sides hold in registers.
pub(in crate::plan) struct Rounds {
    pub(in crate::plan) from: Part,
    pub(in crate::plan) to: Part,
}

/// One side of one round.
pub(in crate::plan) struct Part {
    /// The side without the elements that choose the round.
    pub(in crate::plan) side: Side,
    /// The register number of each register bit of `side`.
    numbers: Vec<u64>,
    /// The register number of each bit of the round.
    rounds: Vec<u64>,
    /// For each register bit of the whole side, its bits in `rounds` and, above them, in `numbers`.
    bits: Vec<(u64, u64)>,
}

impl Rounds {
    /// Cuts off `count` bits; `None` when the sides do not share that many registers.
    pub(in crate::plan) fn new(from: &Side, to: &Side, bits: u32, count: u32) -> Option<Rounds> {
        let shared = Subspace::from_vectors(&from.registers)
            .intersection(&Subspace::from_vectors(&to.registers));
        // What chooses the round must not depend on the thread.
        let threads = [&from.lanes[..], &from.warps, &to.lanes, &to.warps].concat();
        let candidates: Vec<u64> = shared.basis().collect();
        let cut = Cut::new(&candidates, &threads, bits, count)?;
        Some(Rounds { from: Part::new(from, &cut)?, to: Part::new(to, &cut)? })
    }
}

/// Elements cut into rounds: coordinates on them of which the highest are the round.
pub(in crate::plan) struct Cut {
    /// The elements that one bit of the round adds.
    chosen: Vec<u64>,
    coordinates: Matrix,
    /// The coordinates inside a round.
    pub(in crate::plan) kept: u32,
}

impl Cut {
    /// Chooses `count` of the candidates, so that no element in the span of `fixed` depends on the round;
    /// `None` when there are not so many. The elements have `bits` bits.
    pub(in crate::plan) fn new(
        candidates: &[u64],
        fixed: &[u64],
        bits: u32,
        count: u32,
    ) -> Option<Cut> {
        let mut echelon = Echelon::of(fixed.iter().copied());
        let mut chosen: Vec<u64> = (candidates.iter().rev().copied())
            .filter(|&column| echelon.grows(column))
            .take(count as usize)
            .collect();
        chosen.reverse();
        if chosen.len() != count as usize {
            return None;
        }
        // Coordinates: what is fixed, then whatever completes it, then the rounds.
        let mut basis = Echelon::of(chosen.iter().copied());
        let units = (0..bits).map(|bit| 1_u64 << bit);
        let mut columns: Vec<u64> =
            fixed.iter().copied().chain(units).filter(|&column| basis.grows(column)).collect();
        columns.extend(&chosen);
        let coordinates = if count == 0 {
            Matrix::identity(bits).ok()?
        } else {
            Matrix::new(bits, &columns).ok()?.inverse().ok()?
        };
        Some(Cut { chosen, coordinates, kept: bits - count })
    }

    /// How many rounds there are.
    pub(in crate::plan) fn rounds(&self) -> u64 {
        1 << self.chosen.len()
    }

    /// The place of an element inside its round.
    pub(in crate::plan) fn inside(&self, element: u64) -> u64 {
        self.coordinates.apply(element) & low_mask(self.kept)
    }

    /// The round of an element.
    pub(in crate::plan) fn round(&self, element: u64) -> u64 {
        self.coordinates.apply(element).checked_shr(self.kept).unwrap_or(0)
    }
}

impl Part {
    /// `None` where the side does not hold the elements of a round in registers alone.
    pub(in crate::plan) fn new(side: &Side, cut: &Cut) -> Option<Part> {
        let mut registers = Echelon::new();
        for (bit, &column) in side.registers.iter().enumerate() {
            registers.insert(column, 1 << bit);
        }
        let rounds: Vec<u64> =
            cut.chosen.iter().map(|&column| registers.reduce(column, 0).1).collect();
        // One register bit of each round combination stands for it; the others lose their part.
        let mut used = Echelon::of(rounds.iter().copied());
        let mut part = Part {
            side: Side {
                registers: Vec::new(),
                lanes: side.lanes.iter().map(|&column| cut.inside(column)).collect(),
                warps: side.warps.iter().map(|&column| cut.inside(column)).collect(),
            },
            numbers: Vec::new(),
            rounds,
            bits: Vec::new(),
        };
        for (bit, &column) in side.registers.iter().enumerate() {
            let number = 1_u64 << bit;
            if used.grows(number) {
                part.numbers.push(number ^ combine(&part.rounds, cut.round(column)));
                part.side.registers.push(cut.inside(column));
            }
        }
        let mut solve = Echelon::new();
        for (index, &number) in part.rounds.iter().chain(&part.numbers).enumerate() {
            solve.insert(number, 1 << index);
        }
        let split = part.rounds.len() as u32;
        for bit in 0..side.registers.len() {
            let (residue, found) = solve.reduce(1 << bit, 0);
            if residue != 0 {
                return None;
            }
            part.bits.push((found & low_mask(split), found >> split));
        }
        Some(part)
    }

    /// The registers of a round.
    pub(in crate::plan) fn registers(&self, round: u64) -> Vec<u32> {
        let start = combine(&self.rounds, round);
        let registers = 0..1_u64 << self.numbers.len();
        registers.map(|index| (start ^ combine(&self.numbers, index)) as u32).collect()
    }

    /// For each register of the whole side its place when the rounds lie one after the other.
    pub(in crate::plan) fn positions(&self) -> Vec<u32> {
        let (rounds, places): (Vec<u64>, Vec<u64>) = self.bits.iter().copied().unzip();
        let width = self.numbers.len() as u32;
        let all = 0..1_u64 << self.bits.len();
        all.map(|r| (combine(&rounds, r) << width | combine(&places, r)) as u32).collect()
    }
}
