//! What a conversion within warps reads, as blocks of one matrix.
//!
//! Each place of the target reads a place of the source in its own warp; the blocks say which registers
//! and lanes of the source registers, lanes and warps of the target read
//! ([`threads`](super::threads) has the equations, and turns them into steps).

use alloc::vec::Vec;

use crate::plan::buffer::sides::keeps_warp;
use crate::{
    f2::Echelon,
    layout::Layout,
    space::{LANE, Label, REGISTER, WARP},
    step::combine,
};

/// The blocks of `Y`, as columns.
pub(in crate::plan) struct Blocks {
    pub(in crate::plan) rr: Vec<u64>,
    pub(in crate::plan) rl: Vec<u64>,
    pub(in crate::plan) rw: Vec<u64>,
    pub(in crate::plan) lr: Vec<u64>,
    pub(in crate::plan) ll: Vec<u64>,
    pub(in crate::plan) lw: Vec<u64>,
    pub(in crate::plan) register_bits: u32,
}

impl Blocks {
    pub(in crate::plan) fn of(source: &Layout) -> Option<Blocks> {
        if !keeps_warp(source) {
            return None;
        }
        let block = |input: Label, output: Label| -> Vec<u64> {
            let columns = source.columns(input).iter();
            columns.map(|&place| source.outs().coordinate(output, place)).collect()
        };
        Some(Blocks {
            rr: block(REGISTER, REGISTER),
            rl: block(LANE, REGISTER),
            rw: block(WARP, REGISTER),
            lr: block(REGISTER, LANE),
            ll: block(LANE, LANE),
            lw: block(WARP, LANE),
            register_bits: source.out_bits(REGISTER),
        })
    }

    /// Whether every lane reads itself.
    pub(in crate::plan) fn stays(&self) -> bool {
        self.mixed() == 0 && self.keeps_lanes() && !self.ll.contains(&0)
    }

    /// Whether lanes that read lanes read themselves.
    pub(in crate::plan) fn keeps_lanes(&self) -> bool {
        let mut lanes = self.ll.iter().zip(0..);
        self.lw.iter().all(|&lane| lane == 0)
            && lanes.all(|(&lane, bit)| lane == 1 << bit || lane == 0)
    }

    /// How many lane bits read registers where they would need lanes, up to what other lane bits read.
    pub(in crate::plan) fn idle(&self) -> u32 {
        let lanes = Echelon::of(self.ll.iter().copied()).rank();
        let places = self.ll.iter().zip(&self.rl);
        let places = Echelon::of(places.map(|(&l, &r)| l << self.register_bits | r)).rank();
        places.saturating_sub(lanes)
    }

    /// The logarithm of the source registers that some thread reads.
    pub(in crate::plan) fn sources(&self) -> u32 {
        Echelon::of(self.rr.iter().chain(&self.rl).chain(&self.rw).copied()).rank()
    }

    /// The logarithm of the places that the registers of one thread read.
    pub(in crate::plan) fn read(&self) -> u32 {
        let places = self.rr.iter().zip(&self.lr);
        Echelon::of(places.map(|(&r, &l)| l << self.register_bits | r)).rank()
    }

    /// How many register bits come from lanes.
    pub(in crate::plan) fn mixed(&self) -> usize {
        Echelon::of(self.lr.iter().copied()).rank() as usize
    }

    /// One lane bit that changes places with a register bit, by a butterfly, and what is left to do
    /// after that.
    ///
    /// The lane bit is one that registers read; best one that itself reads a register, for then lanes
    /// may need no further exchange.
    pub(in crate::plan) fn without_one(&self) -> Option<(Blocks, Blocks)> {
        let lanes = Echelon::of(self.lr.iter().copied());
        let wanted = |bit: usize| lanes.reduce(1 << bit, 0).0 == 0;
        let mut at_home = (0..self.ll.len()).filter(|&bit| self.ll[bit] == 0 && self.rl[bit] != 0);
        let (bit, register) = match at_home.find(|&bit| wanted(bit)) {
            Some(bit) => (bit, self.rl[bit]),
            None => {
                // A register that some lanes read and no register does.
                let kept = self.rr.iter().zip(&self.lr).filter(|pair| *pair.1 == 0);
                let mut kept = Echelon::of(kept.map(|pair| *pair.0));
                let register = self.rl.iter().copied().find(|&register| kept.grows(register))?;
                ((0..self.ll.len()).find(|&bit| wanted(bit))?, register)
            }
        };
        let (lane, pivot) = (1_u64 << bit, 1_u64 << register.ilog2());
        let after = |(r, l): (u64, u64)| {
            let mut place = (r & !pivot, l & !lane);
            if r & pivot != 0 {
                place = (place.0 ^ register ^ pivot, place.1 ^ lane);
            }
            if l & lane != 0 {
                place.0 ^= pivot;
            }
            place
        };
        let moved = |registers: &[u64], lanes: &[u64]| -> (Vec<u64>, Vec<u64>) {
            registers.iter().zip(lanes).map(|(&r, &l)| after((r, l))).unzip()
        };
        let (rr, lr) = moved(&self.rr, &self.lr);
        let (rl, ll) = moved(&self.rl, &self.ll);
        let (rw, lw) = moved(&self.rw, &self.lw);
        let left = Blocks { rr, rl, rw, lr, ll, lw, register_bits: self.register_bits };
        let unit = |count: usize| (0..count).map(|bit| 1_u64 << bit);
        let zeros = |count: usize| alloc::vec![0; count];
        let (registers, warps) = (self.register_bits as usize, self.rw.len());
        let mut swap = Blocks {
            rr: unit(registers).map(|one| if one == pivot { 0 } else { one }).collect(),
            lr: unit(registers).map(|one| if one == pivot { lane } else { 0 }).collect(),
            rl: zeros(self.ll.len()),
            ll: unit(self.ll.len()).map(|one| if one == lane { 0 } else { one }).collect(),
            rw: zeros(warps),
            lw: zeros(warps),
            register_bits: self.register_bits,
        };
        swap.rl[bit] = register;
        Some((swap, left))
    }

    /// `P`: for each lane bit the registers that it skews, so that lanes read distinct lanes.
    pub(in crate::plan) fn skew(&self) -> Vec<u64> {
        let mut echelon = Echelon::new();
        let idle: Vec<usize> = self
            .ll
            .iter()
            .enumerate()
            .filter_map(|(bit, &column)| (!echelon.grows(column)).then_some(bit))
            .collect();
        let mut skew = alloc::vec![0; self.ll.len()];
        let movers = self.lr.iter().enumerate().filter(|&(_, &column)| echelon.grows(column));
        for (&lane, (register, _)) in idle.iter().zip(movers) {
            skew[lane] = 1 << register;
        }
        skew
    }

    /// The source registers that target registers must be added for, so that no two lanes that read
    /// one lane disagree on the register; skews the lanes that disagree by them.
    /// `None` when so many are needed that it cannot pay.
    pub(in crate::plan) fn received(&self, skew: &mut [u64]) -> Option<Vec<u64>> {
        let ll = add(&self.ll, skew, &self.lr);
        let rl = add(&self.rl, skew, &self.rr);
        let (mut lanes, mut differences) = (Echelon::new(), Echelon::new());
        let mut more = Vec::new();
        for (bit, &lane) in ll.iter().enumerate() {
            let Some(same) = lanes.insert(lane, 1 << bit) else { continue };
            let difference = combine(&rl, same);
            let (residue, mut parts) = differences.reduce(difference, 0);
            if residue != 0 {
                parts = 1 << more.len();
                differences.insert(difference, parts);
                more.push(difference);
            }
            skew[bit] ^= parts << self.rr.len();
        }
        let registers = self.rr.len() + more.len();
        (more.len() <= 1 || registers <= MAX_RECEIVED_LOG2).then_some(more)
    }

    /// With target registers that read these registers of the lanes where the first one reads.
    pub(in crate::plan) fn widened(&self, more: &[u64]) -> Blocks {
        let with = |columns: &[u64], more: &[u64]| [columns, more].concat();
        Blocks {
            rr: with(&self.rr, more),
            lr: with(&self.lr, &alloc::vec![0; more.len()]),
            rl: self.rl.clone(),
            rw: self.rw.clone(),
            ll: self.ll.clone(),
            lw: self.lw.clone(),
            register_bits: self.register_bits,
        }
    }
}

/// The logarithm of the most registers received for fewer that are kept: more than so many shuffles
/// cost more than a barrier and shared memory.
const MAX_RECEIVED_LOG2: usize = 5;

/// `base + outer·inner`, column by column of `inner`.
pub(in crate::plan) fn add(base: &[u64], inner: &[u64], outer: &[u64]) -> Vec<u64> {
    base.iter().zip(inner).map(|(&column, &place)| column ^ combine(outer, place)).collect()
}
