//! What a register is made of, before it is made: bytes of values, which ones depending on the thread.
//!
//! A thread chooses by parities of its bits; a register is followed to its bytes in every case of those
//! parities. Two values make it by one byte permute where its bytes come from no more than two, and the
//! selector is affine in the parities.

use alloc::{vec, vec::Vec};

use super::values::Id;
use crate::step::{Parity, Selector};

/// A byte of a value: four times its number, and the place in it.
pub(in crate::plan) type Byte = u32;

/// The bytes of a register, lowest first; zero above those that it has.
pub(in crate::plan) type Bytes = [Byte; 4];

/// The most parities that a register depends on before it is made.
const PARITIES: usize = 3;

const NONE: Parity = Parity { lane: 0, warp: 0 };

/// Parities that something depends on, all different.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) struct Parities {
    len: u8,
    /// Those beyond `len` are none.
    all: [Parity; PARITIES],
}

impl Parities {
    const NONE: Parities = Parities { len: 0, all: [NONE; PARITIES] };

    /// All different ones; `None` where there are too many.
    fn union(parities: impl Iterator<Item = Parity>) -> Option<Parities> {
        let mut union = Parities::NONE;
        for parity in parities {
            if !union.get().contains(&parity) {
                *union.all.get_mut(usize::from(union.len))? = parity;
                union.len += 1;
            }
        }
        Some(union)
    }

    fn get(&self) -> &[Parity] {
        &self.all[..usize::from(self.len)]
    }

    /// How many cases there are; bit `i` of a case is parity `i`.
    fn cases(self) -> usize {
        1 << self.len
    }

    /// For each case of `wider` parities, among which are all of these, the case of these.
    fn places(self, wider: Parities) -> impl Fn(usize) -> usize {
        let mut places = [0; PARITIES];
        for (place, parity) in places.iter_mut().zip(self.get()) {
            *place = wider.get().iter().position(|one| one == parity).unwrap_or(0);
        }
        let len = usize::from(self.len);
        move |case| {
            let own = places[..len].iter().zip(0..);
            own.fold(0, |own, (at, bit)| own | (case >> at & 1) << bit)
        }
    }
}

/// The bytes of a register, for each case of the parities.
#[derive(Clone, Copy)]
pub(in crate::plan) struct Chosen {
    /// How many bytes it has.
    pub(in crate::plan) len: usize,
    parities: Parities,
    cases: [Bytes; 1 << PARITIES],
}

impl Chosen {
    /// So many bytes of a value.
    pub(in crate::plan) fn part_of(value: Id, start: usize, len: usize) -> Chosen {
        let mut first = [0; 4];
        for (byte, place) in first.iter_mut().zip(start..start + len) {
            *byte = 4 * value + place as u32;
        }
        Chosen::constant(first, len)
    }

    pub(in crate::plan) fn constant(first: Bytes, len: usize) -> Chosen {
        let mut cases = [[0; 4]; 1 << PARITIES];
        cases[0] = first;
        Chosen { len, parities: Parities::NONE, cases }
    }

    pub(in crate::plan) fn is_constant(&self) -> bool {
        self.parities.len == 0
    }

    /// What it has where all parities are even.
    pub(in crate::plan) fn first(&self) -> Bytes {
        self.cases[0]
    }

    /// From what each case has, without parities that make no difference.
    fn of(mut parities: Parities, mut cases: [Bytes; 1 << PARITIES], len: usize) -> Chosen {
        let mut bit = 0;
        while bit < usize::from(parities.len) {
            let count = parities.cases();
            if (0..count).any(|case| cases[case] != cases[case & !(1 << bit)]) {
                bit += 1;
                continue;
            }
            parities.all.copy_within(bit + 1.., bit);
            parities.all[PARITIES - 1] = NONE;
            parities.len -= 1;
            for case in 0..count / 2 {
                let low = case & ((1 << bit) - 1);
                cases[case] = cases[(case ^ low) << 1 | low];
            }
        }
        Chosen { len, parities, cases }
    }

    fn cases(&self) -> &[Bytes] {
        &self.cases[..self.parities.cases()]
    }

    /// Two of the bytes.
    pub(in crate::plan) fn half(&self, places: [usize; 2]) -> Chosen {
        let mut cases = [[0; 4]; 1 << PARITIES];
        for (to, from) in cases.iter_mut().zip(self.cases()) {
            *to = [from[places[0]], from[places[1]], 0, 0];
        }
        Chosen::of(self.parities, cases, 2)
    }

    /// Registers one after the other, of at most four bytes together.
    pub(in crate::plan) fn joined(parts: &[Chosen]) -> Option<Chosen> {
        let all = parts.iter().flat_map(|part| part.parities.get()).copied();
        let parities = Parities::union(all)?;
        let mut cases = [[0; 4]; 1 << PARITIES];
        let mut len = 0;
        for part in parts {
            let own = part.parities.places(parities);
            for (case, bytes) in cases.iter_mut().enumerate().take(parities.cases()) {
                let part = part.cases[own(case)].get(..part.len)?;
                bytes.get_mut(len..len + part.len())?.copy_from_slice(part);
            }
            len += part.len;
        }
        Some(Chosen::of(parities, cases, len))
    }

    /// The values that it is made of, where these are one or two.
    pub(in crate::plan) fn words(&self) -> Option<[Id; 2]> {
        let mut words = [self.cases[0][0] / 4; 2];
        for byte in self.cases().iter().flat_map(|bytes| bytes.iter().take(self.len)) {
            let word = byte / 4;
            if !words.contains(&word) {
                if words[0] != words[1] {
                    return None;
                }
                words[1] = word;
            }
        }
        Some(words)
    }

    /// The pair of words that make this, and which bytes of them; `None` if no selector does.
    pub(in crate::plan) fn selected(&self) -> Option<Selected> {
        let pair = self.words()?;
        let nibbles = |bytes: &Bytes| {
            let nibble = |byte: Byte| u64::from(byte % 4) + 4 * u64::from(byte / 4 != pair[0]);
            let all = bytes.iter().take(self.len).zip(0..);
            all.fold(0, |all, (&byte, at)| all | nibble(byte) << (4 * at))
        };
        let first = nibbles(&self.cases[0]);
        let mut columns = [0; PARITIES];
        for (bit, column) in columns.iter_mut().enumerate().take(usize::from(self.parities.len)) {
            *column = nibbles(&self.cases[1 << bit]) ^ first;
        }
        let affine = self.cases().iter().enumerate().skip(1).all(|(case, bytes)| {
            let set = columns.iter().enumerate().filter(|column| case >> column.0 & 1 == 1);
            nibbles(bytes) == set.fold(first, |sum, column| sum ^ column.1)
        });
        affine.then_some(Selected { pair, parities: self.parities, first, columns })
    }
}

/// Bytes of a pair of values, by a selector.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) struct Selected {
    pub(in crate::plan) pair: [Id; 2],
    parities: Parities,
    first: u64,
    columns: [u64; PARITIES],
}

impl Selected {
    /// Two values of so many bytes, one after the other.
    pub(in crate::plan) fn joining(pair: [Id; 2], bytes: u32) -> Selected {
        let nibble = |byte: u32| u64::from(byte % bytes + if byte < bytes { 0 } else { 4 });
        let first = (0..2 * bytes).fold(0, |all, byte| all | nibble(byte) << (4 * byte));
        Selected { pair, parities: Parities::NONE, first, columns: [0; PARITIES] }
    }

    /// The selector of a byte permute.
    pub(in crate::plan) fn selector(&self) -> Selector {
        let mut selector = Selector::constant(self.first);
        for (parity, &column) in self.parities.get().iter().zip(&self.columns) {
            add(&mut selector.lane, parity.lane, column);
            add(&mut selector.warp, parity.warp, column);
        }
        selector
    }

    /// Whether this is the first `bytes` bytes of the first value.
    pub(in crate::plan) fn keeps_low(&self, bytes: u32) -> bool {
        self.parities.len == 0 && Selector::constant(self.first).keeps_low(bytes)
    }

    /// Whether others are made by the same selector.
    pub(in crate::plan) fn is_made_as(&self, other: &Selected) -> bool {
        (self.first, self.columns, self.parities) == (other.first, other.columns, other.parities)
    }
}

/// Adds a column for each bit of a mask.
fn add(columns: &mut Vec<u64>, mask: u64, column: u64) {
    for bit in crate::f2::ones(mask) {
        let bit = bit as usize;
        if columns.len() <= bit {
            columns.resize(bit + 1, 0);
        }
        columns[bit] ^= column;
    }
}

/// What makes the registers of a step, each of two others.
pub(in crate::plan) enum Made {
    /// A choice by this parity.
    Select(Parity),
    /// So many bytes that a selector chooses.
    Bytes {
        /// How many bytes the result has.
        len: usize,
        xor: u64,
        /// The parities that it depends on, with what each changes.
        columns: Vec<(Parity, u64)>,
    },
}

impl Made {
    /// By a selector; the result has `len` bytes.
    pub(in crate::plan) fn by(selector: &Selector, len: usize) -> Made {
        Made::Bytes { len, xor: selector.xor, columns: parities_of(selector) }
    }

    fn parities(&self) -> impl Iterator<Item = Parity> {
        let (select, bytes) = match self {
            Made::Select(parity) => (Some(*parity), &[][..]),
            Made::Bytes { columns, .. } => (None, &columns[..]),
        };
        select.into_iter().chain(bytes.iter().map(|one| one.0))
    }

    /// The bytes of the result; `None` where they depend on too much.
    pub(in crate::plan) fn of(&self, a: &Chosen, b: &Chosen) -> Option<Chosen> {
        let read = a.parities.get().iter().chain(b.parities.get()).copied();
        // Those of the step itself come first.
        let parities = Parities::union(self.parities().chain(read))?;
        let mut cases = [[0; 4]; 1 << PARITIES];
        let (of_a, of_b) = (a.parities.places(parities), b.parities.places(parities));
        for (case, result) in cases.iter_mut().enumerate().take(parities.cases()) {
            let (low, high) = (a.cases[of_a(case)], b.cases[of_b(case)]);
            *result = match self {
                Made::Select(_) if case & 1 == 0 => low,
                Made::Select(_) => high,
                Made::Bytes { len, xor, columns } => {
                    let set = columns.iter().enumerate().filter(|one| case >> one.0 & 1 == 1);
                    let nibbles = set.fold(*xor, |nibbles, one| nibbles ^ one.1.1);
                    let mut bytes = [0; 4];
                    for (at, byte) in bytes.iter_mut().enumerate().take(*len) {
                        let chosen = (nibbles >> (4 * at) & 7) as usize;
                        let (side, len) = if chosen < 4 { (low, a.len) } else { (high, b.len) };
                        // Not beyond the register.
                        *byte = *side.get(chosen % 4).filter(|_| chosen % 4 < len)?;
                    }
                    bytes
                }
            };
        }
        let len = if let Made::Bytes { len, .. } = self { *len } else { a.len };
        Some(Chosen::of(parities, cases, len))
    }
}

/// The parities that a selector depends on, with what each changes.
fn parities_of(selector: &Selector) -> Vec<(Parity, u64)> {
    let lanes = selector.lane.iter().enumerate();
    let lanes = lanes.map(|(bit, &column)| (Parity { lane: 1 << bit, warp: 0 }, column));
    let warps = selector.warp.iter().enumerate();
    let warps = warps.map(|(bit, &column)| (Parity { lane: 0, warp: 1 << bit }, column));
    let mut all: Vec<(Parity, u64)> = vec![];
    for (parity, column) in lanes.chain(warps).filter(|one| one.1 != 0) {
        match all.iter_mut().find(|one| one.1 == column) {
            Some((same, _)) => {
                same.lane |= parity.lane;
                same.warp |= parity.warp;
            }
            None => all.push((parity, column)),
        }
    }
    all
}
