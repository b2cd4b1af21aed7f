//! Elements narrower than a word, packed for the way between lanes.
//!
//! Elements that are read from one lane can share a word: target registers that differ by `K`, a
//! subspace of those with `Lr·register = 0`, and the source registers `Rr·K` that they read.
//! Registers are numbered by coordinates: a *slot* in the word (along `K`) and, above it, the word.
//! Where a thread chooses among source registers, or skews target registers, the part along the
//! slots costs nothing: packing and unpacking are byte permutes, and their selectors may depend on
//! the lane.

use alloc::{collections::BTreeMap, vec::Vec};

use super::threads::Targets;
use crate::plan::writing::builder::Builder;
use crate::{
    f2::{Echelon, low_mask},
    step::{File, LaneMap, Selector, combine},
};

/// Which elements share a word on their way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) enum Share {
    /// As many as can be of those that a thread chooses from.
    Choices,
    /// Those that share a word of the input.
    Source,
    /// Those that share a word of the output.
    Target,
}

impl Share {
    pub(in crate::plan) const ALL: [Share; 3] = [Share::Choices, Share::Source, Share::Target];
}

/// How the registers of source and target are numbered by slot and word.
pub(in crate::plan) struct Words {
    /// The logarithm of the elements of a word.
    packed: u32,
    source: Coordinates,
    target: Coordinates,
}

/// A basis, and coordinates in it.
struct Coordinates {
    basis: Vec<u64>,
    solve: Echelon,
}

impl Coordinates {
    fn of(basis: Vec<u64>) -> Coordinates {
        let mut solve = Echelon::new();
        for (bit, &vector) in basis.iter().enumerate() {
            solve.insert(vector, 1 << bit);
        }
        Coordinates { basis, solve }
    }

    fn get(&self, vector: u64) -> u64 {
        self.solve.reduce(vector, 0).1
    }
}

impl Words {
    /// 2^`packed` elements in a word; `None` when no so many share their lanes.
    ///
    /// Threads choose source registers (of `bits` bits) as `chosen` says; those of `together` are in
    /// one word of the input.
    pub(in crate::plan) fn new(
        targets: &Targets,
        chosen: &[u64],
        together: u64,
        bits: u32,
        packed: u32,
        share: Share,
    ) -> Option<Words> {
        let mut slots = Echelon::new();
        let mut along: Vec<u64> = Vec::new();
        let chosen = Echelon::of(chosen.iter().copied());
        let beyond = |target: u64| chosen.reduce(combine(&targets.registers, target), 0).0;
        let lane = |target: u64| combine(&targets.lanes, target);
        let mut units: Vec<u64> = (0..targets.registers.len()).map(|bit| 1_u64 << bit).collect();
        if share == Share::Source {
            units.sort_by_key(|&unit| combine(&targets.registers, unit) & !together != 0);
        }
        let shared = kernel(units.into_iter(), lane);
        let inside = match share {
            Share::Choices => kernel(shared.iter().copied(), beyond),
            _ => Vec::new(),
        };
        for target in inside.into_iter().chain(shared) {
            if along.len() < packed as usize && slots.grows(target) {
                along.push(target);
            }
        }
        if along.len() != packed as usize {
            return None;
        }
        let mut source: Vec<u64> =
            along.iter().map(|&target| combine(&targets.registers, target)).collect();
        complete(&mut source, bits);
        let source = Coordinates::of(source);
        let mut target = along.clone();
        complete(&mut target, targets.registers.len() as u32);
        // A word of the target is a whole word of the source: its first slot reads a first slot.
        for vector in target.iter_mut().skip(packed as usize) {
            let slot = source.get(combine(&targets.registers, *vector)) & low_mask(packed);
            *vector ^= combine(&along, slot);
        }
        Some(Words { packed, source, target: Coordinates::of(target) })
    }

    /// Fills words with the source registers that are read, each thread those that it chooses: its
    /// lane bits shift the register by `lane`, its warp bits by `warp`.
    ///
    /// `registers` are the input's registers that the bits of source registers stand for.
    pub(in crate::plan) fn pack(
        &self,
        builder: &mut Builder,
        registers: &[u64],
        lane: &[u64],
        warp: &[u64],
    ) -> File {
        let (lane, warp) = (coordinates(&self.source, lane), coordinates(&self.source, warp));
        let words = self.source.basis.len() as u32 - self.packed;
        let slots = 0..1_u64 << self.packed;
        let mut files: Vec<File> = slots
            .map(|slot| {
                let number = |word: u64| combine(&self.source.basis, word << self.packed | slot);
                let register = |word| combine(registers, number(word)) as u32;
                builder.permute(builder.moved, (0..1_u64 << words).map(register).collect())
            })
            .collect();
        for bit in 0..self.packed {
            let bytes = builder.bytes_of(&files);
            // Exchanging the halves of a pair of registers changes bit 2 of every nibble.
            let pair = (0..2 * bytes).fold(0, |all, byte| {
                all | u64::from(byte % bytes + if byte < bytes { 0 } else { 4 }) << (4 * byte)
            });
            let swap = 0x4444_4444 & low_mask(8 * bytes);
            let column = |&shift: &u64| if shift >> bit & 1 == 1 { swap } else { 0 };
            let selector = Selector {
                lane: lane.iter().map(column).collect(),
                warp: warp.iter().map(column).collect(),
                xor: pair,
            };
            let halves = files.chunks_exact(2);
            files =
                halves.map(|half| builder.bytes(half[0], half[1], 16 * bytes, &selector)).collect();
        }
        let file = files.first().copied().unwrap_or(builder.moved);
        builder.shift(file, &self.words(&lane), &self.words(&warp))
    }

    /// Exchanges words, one lane map for all that share it; the words of the target in order.
    pub(in crate::plan) fn exchange(
        &self,
        builder: &mut Builder,
        file: File,
        targets: &Targets,
        map: impl Fn(u64) -> LaneMap,
    ) -> File {
        let words = self.target.basis.len() as u32 - self.packed;
        let mut classes: BTreeMap<u64, Vec<(usize, u32)>> = BTreeMap::new();
        for word in 0..1_u64 << words {
            let target = combine(&self.target.basis, word << self.packed);
            let source = self.source.get(combine(&targets.registers, target)) >> self.packed;
            let class = classes.entry(combine(&targets.lanes, target)).or_default();
            class.push((word as usize, source as u32));
        }
        let mut positions = alloc::vec![0; 1 << words];
        let mut files = Vec::with_capacity(classes.len());
        let mut next = 0;
        for (xor, class) in classes {
            for &(word, _) in &class {
                positions[word] = next;
                next += 1;
            }
            let part = builder.permute(file, class.iter().map(|entry| entry.1).collect());
            files.push(builder.exchange(part, map(xor)));
        }
        let file = builder.concat(files);
        builder.permute(file, positions)
    }

    /// Takes the elements of the target out of its words; lane bits skew the numbers by `skew`.
    pub(in crate::plan) fn unpack(
        &self,
        builder: &mut Builder,
        file: File,
        targets: &Targets,
        skew: &[u64],
    ) -> File {
        let skew = coordinates(&self.target, skew);
        let file = builder.shift(file, &self.words(&skew), &[]);
        let slots = 1_u64 << self.packed;
        let bytes = u64::from(builder.bytes_of(&[file])) >> self.packed;
        let every = (0..bytes).fold(0, |all, byte| all | 1_u64 << (4 * byte));
        let first = (0..bytes).fold(0, |all, byte| all | byte << (4 * byte));
        let at = |slot: u64| (slot & (slots - 1)) * bytes * every;
        let files = (0..slots)
            .map(|slot| match slots {
                1 => file,
                _ => {
                    let selector = Selector {
                        lane: skew.iter().map(|&shift| at(shift)).collect(),
                        warp: Vec::new(),
                        xor: first ^ at(slot),
                    };
                    builder.bytes(file, file, 8 * bytes as u32, &selector)
                }
            })
            .collect();
        let file = builder.concat(files);
        let words = self.target.basis.len() as u32 - self.packed;
        let position = |register: u64| {
            let number = self.target.get(combine(&targets.numbers, register));
            ((number & (slots - 1)) << words | number >> self.packed) as u32
        };
        builder.permute(file, (0..1_u64 << targets.numbers.len()).map(position).collect())
    }

    /// The parts of coordinates above the slots.
    fn words(&self, numbers: &[u64]) -> Vec<u64> {
        numbers.iter().map(|&number| number >> self.packed).collect()
    }
}

fn coordinates(basis: &Coordinates, vectors: &[u64]) -> Vec<u64> {
    vectors.iter().map(|&vector| basis.get(vector)).collect()
}

/// The combinations of `vectors` that `map` sends to zero, each from the first vectors on.
fn kernel(vectors: impl Iterator<Item = u64>, map: impl Fn(u64) -> u64) -> Vec<u64> {
    let mut echelon = Echelon::new();
    vectors.filter_map(|vector| echelon.insert(map(vector), vector)).collect()
}

/// Adds unit vectors until `basis` spans `bits` bits.
fn complete(basis: &mut Vec<u64>, bits: u32) {
    let mut echelon = Echelon::of(basis.iter().copied());
    basis.extend((0..bits).map(|bit| 1_u64 << bit).filter(|&unit| echelon.grows(unit)));
}
