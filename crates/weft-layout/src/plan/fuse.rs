//! Choices and byte permutes in one: what a thread chooses among the bytes of two words is one byte
//! permute whose selector depends on the thread.
//!
//! Elements narrower than a word stand in words, in the order of their registers.
//! Each register is followed to the bytes that it is made of, for each parity that threads choose by;
//! as long as these come from two words, nothing is done.
//! Where there are more, each half of a word may come from two, and one byte permute makes two halves
//! from the same words; else both sides of a choice are made, and then it.

use alloc::{collections::BTreeMap, vec, vec::Vec};

use super::tidy::{Id, Writer};
use crate::step::{File, Parity, Plan, Selector, Step};

/// A byte of a value: four times its number, and the place in it.
type Byte = u32;

/// The bytes of a register, lowest first; zero above those that it has.
type Bytes = [Byte; 4];

/// The most parities that a register depends on before it is made.
const PARITIES: usize = 3;

/// What a register has in every case of so many parities.
type Cases = [Bytes; 1 << PARITIES];

/// The bytes of a register, for each case of the parities; bit `i` of the case is parity `i`.
#[derive(Clone)]
struct Chosen {
    len: usize,
    parities: Vec<Parity>,
    first: Bytes,
    /// The cases but the first.
    others: Vec<Bytes>,
}

impl Chosen {
    /// So many bytes of a value.
    fn part_of(value: Id, start: usize, len: usize) -> Chosen {
        let mut first = [0; 4];
        for (byte, place) in first.iter_mut().zip(start..start + len) {
            *byte = 4 * value + place as u32;
        }
        Chosen::constant(first, len)
    }

    fn constant(first: Bytes, len: usize) -> Chosen {
        Chosen { len, parities: Vec::new(), first, others: Vec::new() }
    }

    fn is_constant(&self) -> bool {
        self.parities.is_empty()
    }

    /// From what each case has, without parities that make no difference.
    fn of(mut parities: Vec<Parity>, mut cases: Cases, len: usize) -> Chosen {
        let mut bit = 0;
        while bit < parities.len() {
            let count = 1_usize << parities.len();
            if (0..count).any(|case| cases[case] != cases[case & !(1 << bit)]) {
                bit += 1;
                continue;
            }
            parities.remove(bit);
            for case in 0..count / 2 {
                let low = case & ((1 << bit) - 1);
                cases[case] = cases[(case ^ low) << 1 | low];
            }
        }
        let others = cases[1..1 << parities.len()].to_vec();
        Chosen { len, parities, first: cases[0], others }
    }

    fn cases(&self) -> impl Iterator<Item = Bytes> {
        [self.first].into_iter().chain(self.others.iter().copied())
    }

    /// For each case of these parities, among which are all of its own, the bytes.
    fn spread<'c>(&'c self, all: &[Parity]) -> impl Fn(usize) -> Bytes + use<'c> {
        let at = |parity| all.iter().position(|one| one == parity).unwrap_or(0);
        let places: Vec<usize> = self.parities.iter().map(at).collect();
        move |case| {
            let own =
                places.iter().zip(0..).fold(0, |own, (at, bit)| own | (case >> at & 1) << bit);
            own.checked_sub(1)
                .and_then(|other| self.others.get(other))
                .copied()
                .unwrap_or(self.first)
        }
    }

    /// Two of the bytes.
    fn half(&self, places: [usize; 2]) -> Chosen {
        let mut cases = Cases::default();
        for (to, from) in cases.iter_mut().zip(self.cases()) {
            *to = [from[places[0]], from[places[1]], 0, 0];
        }
        Chosen::of(self.parities.clone(), cases, 2)
    }

    /// Registers one after the other, of at most four bytes together.
    fn joined(parts: &[Chosen]) -> Option<Chosen> {
        let parities = union(parts.iter().flat_map(|part| &part.parities).copied())?;
        let mut cases = Cases::default();
        let mut len = 0;
        for part in parts {
            let of = part.spread(&parities);
            for (case, bytes) in cases.iter_mut().enumerate().take(1 << parities.len()) {
                bytes.get_mut(len..len + part.len)?.copy_from_slice(&of(case)[..part.len]);
            }
            len += part.len;
        }
        Some(Chosen::of(parities, cases, len))
    }

    /// The words that it is made of, where these are one or two.
    fn words(&self) -> Option<[Id; 2]> {
        let mut words = [self.first[0] / 4; 2];
        for byte in self.cases().flat_map(|bytes| bytes.into_iter().take(self.len)) {
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

    /// The pair of words and the selector that make this, if there are such.
    fn selector(&self) -> Option<([Id; 2], Selector)> {
        let pair = self.words()?;
        let nibbles = |bytes: Bytes| {
            let nibble = |byte: Byte| u64::from(byte % 4) + 4 * u64::from(byte / 4 != pair[0]);
            let all = bytes.into_iter().take(self.len).zip(0..);
            all.fold(0, |all, (byte, at)| all | nibble(byte) << (4 * at))
        };
        let first = nibbles(self.first);
        let mut selector = Selector::constant(first);
        let mut columns = [0; PARITIES];
        for ((bit, parity), column) in self.parities.iter().enumerate().zip(&mut columns) {
            *column = nibbles(*self.others.get((1 << bit) - 1)?) ^ first;
            add(&mut selector.lane, parity.lane, *column);
            add(&mut selector.warp, parity.warp, *column);
        }
        let affine = self.cases().enumerate().all(|(case, bytes)| {
            let set = columns.iter().enumerate().filter(|column| case >> column.0 & 1 == 1);
            nibbles(bytes) == set.fold(first, |sum, column| sum ^ column.1)
        });
        affine.then_some((pair, selector))
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

/// All different ones; `None` where there are too many.
fn union(parities: impl Iterator<Item = Parity>) -> Option<Vec<Parity>> {
    let mut all = Vec::new();
    for parity in parities {
        if !all.contains(&parity) {
            all.push(parity);
        }
    }
    (all.len() <= PARITIES).then_some(all)
}

/// What a register of a step is made of.
enum Made<'s> {
    Select(Parity),
    Bytes(&'s Selector, usize),
}

impl Made<'_> {
    /// The bytes of the result; `None` where they depend on too much.
    fn of(&self, a: &Chosen, b: &Chosen) -> Option<Chosen> {
        let own: Vec<(Parity, u64)> = match self {
            Made::Select(parity) => vec![(*parity, 0)],
            Made::Bytes(selector, _) => parities_of(selector),
        };
        let all = own.iter().map(|one| one.0).chain(a.parities.iter().copied());
        let parities = union(all.chain(b.parities.iter().copied()))?;
        let mut cases = Cases::default();
        let (low, high) = (a.spread(&parities), b.spread(&parities));
        for (case, result) in cases.iter_mut().enumerate().take(1 << parities.len()) {
            let (low, high) = (low(case), high(case));
            // The parities of the step itself come first.
            *result = match self {
                Made::Select(_) if case & 1 == 0 => low,
                Made::Select(_) => high,
                Made::Bytes(selector, count) => {
                    let set = own.iter().enumerate().filter(|one| case >> one.0 & 1 == 1);
                    let nibbles = set.fold(selector.xor, |nibbles, one| nibbles ^ one.1.1);
                    let mut bytes = [0; 4];
                    for (at, byte) in bytes.iter_mut().enumerate().take(*count) {
                        let chosen = (nibbles >> (4 * at) & 7) as usize;
                        let (side, len) = if chosen < 4 { (low, a.len) } else { (high, b.len) };
                        // Not beyond the register.
                        *byte = *side.get(chosen % 4).filter(|_| chosen % 4 < len)?;
                    }
                    bytes
                }
            };
        }
        let len = if let Made::Bytes(_, count) = self { *count } else { a.len };
        Some(Chosen::of(parities, cases, len))
    }
}

/// The parities that a selector depends on, with what each changes.
fn parities_of(selector: &Selector) -> Vec<(Parity, u64)> {
    let lanes = selector.lane.iter().enumerate();
    let lanes = lanes.map(|(bit, &column)| (Parity { lane: 1 << bit, warp: 0 }, column));
    let warps = selector.warp.iter().enumerate();
    let warps = warps.map(|(bit, &column)| (Parity { lane: 0, warp: 1 << bit }, column));
    let mut all: Vec<(Parity, u64)> = Vec::new();
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

/// The ways to cut four bytes into halves.
const HALVES: [[[usize; 2]; 2]; 3] = [[[0, 1], [2, 3]], [[0, 2], [1, 3]], [[0, 3], [1, 2]]];

struct Fuse<'p> {
    plan: &'p Plan,
    writer: Writer,
    /// The width of each value.
    bits: Vec<u32>,
    /// The registers of the words of inputs.
    inputs: BTreeMap<Id, Vec<Id>>,
    /// For each file what its registers are made of.
    files: Vec<Vec<Chosen>>,
}

/// The same plan with choices and byte permutes in one; `None` when there is nothing narrower than a
/// word, something wider, or a step that does something else.
pub(super) fn fuse(plan: &Plan) -> Option<Plan> {
    let widths = || plan.files.iter().map(|file| file.element_bits);
    if widths().any(|bits| bits > 32) || widths().all(|bits| bits == 32) {
        return None;
    }
    let mut fuse = Fuse {
        plan,
        writer: Writer::of(plan),
        bits: Vec::new(),
        inputs: BTreeMap::new(),
        files: vec![Vec::new(); plan.files.len()],
    };
    for (new, &input) in (0..).zip(&plan.inputs) {
        fuse.enter(input, File(new));
    }
    for step in &plan.steps {
        fuse.step(step)?;
    }
    fuse.finish()
}

impl Fuse<'_> {
    fn value(&mut self, bits: u32) -> Id {
        self.bits.push(bits);
        self.writer.value()
    }

    fn values(&mut self, count: usize, bits: u32) -> Vec<Id> {
        (0..count).map(|_| self.value(bits)).collect()
    }

    fn registers(&self, file: File) -> Option<&[Chosen]> {
        self.files.get(file.index()).map(Vec::as_slice)
    }

    fn define(&mut self, file: File, registers: Vec<Chosen>) -> Option<()> {
        *self.files.get_mut(file.index())? = registers;
        Some(())
    }

    /// The registers of an input, in words.
    fn enter(&mut self, input: File, new: File) {
        let ty = self.plan.file(input);
        let values = self.values(ty.registers as usize, ty.element_bits);
        self.writer.define(&values, new);
        let bytes = ty.element_bits as usize / 8;
        let mut registers = Vec::with_capacity(values.len());
        for group in values.chunks((4 / bytes.max(1)).max(1)) {
            let word = match group {
                [one] => *one,
                _ => {
                    let word = self.value(ty.element_bits * group.len() as u32);
                    self.inputs.insert(word, group.to_vec());
                    word
                }
            };
            let starts = (0..group.len()).map(|at| at * bytes);
            registers.extend(starts.map(|start| Chosen::part_of(word, start, bytes)));
        }
        if let Some(file) = self.files.get_mut(input.index()) {
            *file = registers;
        }
    }

    fn step(&mut self, step: &Step) -> Option<()> {
        match step {
            Step::Permute { from, to, source } => {
                let from = self.registers(*from)?;
                let registers = source.iter().map(|&register| from.get(register as usize).cloned());
                let registers = registers.collect::<Option<Vec<Chosen>>>()?;
                self.define(*to, registers)
            }
            Step::Concat { from, to } => {
                let mut registers = Vec::new();
                for &file in from {
                    registers.extend_from_slice(self.registers(file)?);
                }
                self.define(*to, registers)
            }
            Step::Select { even, odd, to, odd_where } => {
                self.make(&Made::Select(*odd_where), *even, *odd, *to)
            }
            Step::Bytes { a, b, to, selector } => {
                let bytes = self.plan.file(*to).element_bits as usize / 8;
                self.make(&Made::Bytes(selector, bytes), *a, *b, *to)
            }
            Step::Exchange { from, to, source } => {
                let bits = self.plan.file(*from).element_bits;
                let values = self.registers(*from)?.to_vec();
                let values = self.whole(values, bits)?;
                let from = self.writer.gather(&values, bits)?;
                let new = self.writer.plan.add_file(values.len() as u32, bits);
                let source = source.clone();
                self.writer.plan.steps.push(Step::Exchange { from, to: new, source });
                let values = self.values(values.len(), bits);
                self.writer.define(&values, new);
                let all = |value| Chosen::part_of(value, 0, bits as usize / 8);
                self.define(*to, values.into_iter().map(all).collect())
            }
            _ => None,
        }
    }

    /// Registers made of two each.
    fn make(&mut self, made: &Made<'_>, a: File, b: File, to: File) -> Option<()> {
        let pairs = self.registers(a)?.iter().cloned().zip(self.registers(b)?.iter().cloned());
        let pairs: Vec<(Chosen, Chosen)> = pairs.collect();
        let results = pairs.iter().map(|(a, b)| made.of(a, b)).collect();
        let mut results = self.halved(results)?;
        let hard: Vec<usize> = (0..results.len()).filter(|&at| results[at].is_none()).collect();
        // Both sides are made first.
        let sides = hard.iter().flat_map(|&at| [pairs[at].0.clone(), pairs[at].1.clone()]);
        let sides = self.settled(sides.collect())?;
        let again = sides.chunks_exact(2).map(|side| made.of(&side[0], &side[1])).collect();
        let again = self.halved(again)?;
        let mut left = Vec::new();
        for ((&at, result), side) in hard.iter().zip(again).zip(sides.chunks_exact(2)) {
            if result.is_none() {
                left.push((at, side));
            }
            results[at] = result;
        }
        if !left.is_empty() {
            let side = |index: usize| left.iter().map(|one| one.1[index].clone()).collect();
            let [a_bits, b_bits] = [a, b].map(|file| self.plan.file(file).element_bits);
            let (low, high) = (self.whole(side(0), a_bits)?, self.whole(side(1), b_bits)?);
            let (low, high) =
                (self.writer.gather(&low, a_bits)?, self.writer.gather(&high, b_bits)?);
            let bits = self.plan.file(to).element_bits;
            let new = self.writer.plan.add_file(left.len() as u32, bits);
            self.writer.plan.steps.push(match made {
                Made::Select(parity) => {
                    Step::Select { even: low, odd: high, to: new, odd_where: *parity }
                }
                Made::Bytes(selector, _) => {
                    Step::Bytes { a: low, b: high, to: new, selector: (*selector).clone() }
                }
            });
            let values = self.values(left.len(), bits);
            self.writer.define(&values, new);
            for ((at, _), value) in left.iter().zip(values) {
                results[*at] = Some(Chosen::part_of(value, 0, bits as usize / 8));
            }
        }
        let results = results.into_iter().collect::<Option<Vec<Chosen>>>()?;
        self.define(to, results)
    }

    /// Those that two words make stay; where two words make each half, the halves are made; the
    /// others are none.
    fn halved(&mut self, all: Vec<Option<Chosen>>) -> Option<Vec<Option<Chosen>>> {
        let easy = |one: &Chosen| one.is_constant() || one.selector().is_some();
        let mut cuts = Vec::new();
        let mut halves = Vec::new();
        let mut results = Vec::with_capacity(all.len());
        for (at, one) in all.into_iter().enumerate() {
            let cut = one.as_ref().filter(|one| one.len == 4 && !easy(one)).and_then(|one| {
                let cut = |cut: &[[usize; 2]; 2]| cut.map(|half| one.half(half));
                let mut found = HALVES.iter().map(|places| (places, cut(places)));
                found.find(|(_, halves)| halves.iter().all(easy))
            });
            if let Some((places, [low, high])) = cut {
                cuts.push((at, places));
                halves.extend([low, high]);
            }
            results.push(one.filter(easy));
        }
        let halves = self.settled(halves)?;
        for ((at, places), halves) in cuts.into_iter().zip(halves.chunks_exact(2)) {
            let mut bytes = [0; 4];
            for (half, places) in halves.iter().zip(places) {
                for (&place, byte) in places.iter().zip(half.first) {
                    bytes[place] = byte;
                }
            }
            results[at] = Some(Chosen::constant(bytes, 4));
        }
        Some(results)
    }

    /// The same registers without choices: those are made, two halves of the same words at once.
    fn settled(&mut self, mut all: Vec<Chosen>) -> Option<Vec<Chosen>> {
        let mut jobs: Vec<(Vec<usize>, Chosen)> = Vec::new();
        let mut open: BTreeMap<[Id; 2], usize> = BTreeMap::new();
        for (at, one) in all.iter().enumerate().filter(|one| !one.1.is_constant()) {
            let mut words = one.words()?;
            words.sort_unstable();
            let partner = open.get(&words).copied().filter(|_| one.len <= 2);
            let both = partner.and_then(|job| {
                let both = Chosen::joined(&[jobs.get(job)?.1.clone(), one.clone()])?;
                both.selector().map(|_| (job, both))
            });
            if let Some((job, both)) = both {
                if both.len + one.len > 4 {
                    open.remove(&words);
                }
                jobs[job].0.push(at);
                jobs[job].1 = both;
                continue;
            }
            if one.len <= 2 {
                open.insert(words, jobs.len());
            }
            jobs.push((vec![at], one.clone()));
        }
        let mut requests = Vec::with_capacity(jobs.len());
        for (_, job) in &jobs {
            let (pair, selector) = job.selector()?;
            // A register has one, two or four bytes.
            requests.push((pair, selector, 8 * job.len.next_power_of_two() as u32));
        }
        let made = self.permuted(&requests)?;
        for ((members, _), value) in jobs.iter().zip(made) {
            let mut start = 0;
            for &at in members {
                let len = all[at].len;
                all[at] = Chosen::part_of(value, start, len);
                start += len;
            }
        }
        Some(all)
    }

    /// Values of `bits` bits that are these registers.
    fn whole(&mut self, all: Vec<Chosen>, bits: u32) -> Option<Vec<Id>> {
        let all = self.settled(all)?;
        let mut requests = Vec::new();
        let mut from = Vec::with_capacity(all.len());
        for one in &all {
            match one.selector() {
                Some((pair, selector)) => {
                    from.push(vec![requests.len()]);
                    requests.push((pair, selector, bits));
                }
                // Bytes of three words or four: by halves.
                None => {
                    from.push(vec![requests.len(), requests.len() + 1]);
                    for half in [[0, 1], [2, 3]] {
                        let (pair, selector) = one.half(half).selector()?;
                        requests.push((pair, selector, 16));
                    }
                }
            }
        }
        let made = self.permuted(&requests)?;
        let joins = from.iter().filter(|parts| parts.len() == 2);
        let joins = joins.map(|parts| ([made[parts[0]], made[parts[1]]], halves_joined(2), 32));
        let joins: Vec<_> = joins.collect();
        let mut joined = self.permuted(&joins)?.into_iter();
        let pick = |parts: Vec<usize>| match parts[..] {
            [one] => made.get(one).copied(),
            _ => joined.next(),
        };
        from.into_iter().map(pick).collect()
    }

    /// Byte permutes of pairs of values, those of one selector in one step.
    fn permuted(&mut self, requests: &[([Id; 2], Selector, u32)]) -> Option<Vec<Id>> {
        let words: Vec<Id> = requests.iter().flat_map(|one| one.0).collect();
        self.gather_inputs(&words)?;
        let mut results: Vec<Option<Id>> = vec![None; requests.len()];
        for at in 0..requests.len() {
            let ([a, b], selector, bits) = &requests[at];
            let width = |value: Id| self.bits.get(value as usize).copied();
            let widths = [width(*a)?, width(*b)?];
            if selector.keeps_low(bits / 8) && widths[0] == *bits {
                results[at] = Some(*a);
            }
            if results[at].is_some() {
                continue;
            }
            let alike = |other: &usize| {
                let ([c, d], same, same_bits) = &requests[*other];
                results[*other].is_none()
                    && (same, same_bits) == (selector, bits)
                    && [width(*c), width(*d)] == widths.map(Some)
            };
            let group: Vec<usize> = (at..requests.len()).filter(alike).collect();
            let side = |side: usize| group.iter().map(|&one| requests[one].0[side]).collect();
            let (low, high): (Vec<Id>, Vec<Id>) = (side(0), side(1));
            let low = self.writer.gather(&low, widths[0])?;
            let high = self.writer.gather(&high, widths[1])?;
            let to = self.writer.plan.add_file(group.len() as u32, *bits);
            let selector = selector.clone();
            self.writer.plan.steps.push(Step::Bytes { a: low, b: high, to, selector });
            let values = self.values(group.len(), *bits);
            self.writer.define(&values, to);
            for (one, value) in group.into_iter().zip(values) {
                results[one] = Some(value);
            }
        }
        results.into_iter().collect()
    }

    /// Writes the words of inputs that are used now for the first time.
    fn gather_inputs(&mut self, words: &[Id]) -> Option<()> {
        let mut groups: Vec<(Id, Vec<Id>)> = Vec::new();
        for word in words {
            groups.extend(self.inputs.remove_entry(word));
        }
        while let Some((_, parts)) = groups.first() {
            let bits = *self.bits.get(*parts.first()? as usize)?;
            let last = parts.len() == 2;
            let pairs = groups.iter().flat_map(|group| group.1.chunks_exact(2));
            let pairs: Vec<[Id; 2]> = pairs.map(|pair| [pair[0], pair[1]]).collect();
            let side = |side: usize| pairs.iter().map(|pair| pair[side]).collect::<Vec<Id>>();
            let a = self.writer.gather(&side(0), bits)?;
            let b = self.writer.gather(&side(1), bits)?;
            let to = self.writer.plan.add_file(pairs.len() as u32, 2 * bits);
            let selector = halves_joined(bits / 8);
            self.writer.plan.steps.push(Step::Bytes { a, b, to, selector });
            if last {
                let values: Vec<Id> = groups.iter().map(|group| group.0).collect();
                self.writer.define(&values, to);
                break;
            }
            let values = self.values(pairs.len(), 2 * bits);
            self.writer.define(&values, to);
            let mut halves = values.chunks_exact(2);
            for group in &mut groups {
                group.1 = halves.next()?.to_vec();
            }
        }
        Some(())
    }

    fn finish(mut self) -> Option<Plan> {
        let mut outputs = Vec::with_capacity(self.plan.outputs.len());
        for &output in &self.plan.outputs {
            let bits = self.plan.file(output).element_bits;
            let mut registers = self.registers(output)?.to_vec();
            let group = (32 / bits.max(1)).max(1) as usize;
            let words = registers.chunks(group).map(Chosen::joined).collect();
            let words = self.halved(words)?;
            let chosen = words.iter().flatten().cloned().collect();
            let mut settled = self.settled(chosen)?.into_iter();
            for (word, registers) in words.iter().zip(registers.chunks_mut(group)) {
                if word.is_none() {
                    continue;
                }
                let all = settled.next()?.first;
                for (register, part) in registers.iter_mut().zip(all.chunks(bits as usize / 8)) {
                    let mut bytes = [0; 4];
                    bytes.iter_mut().zip(part).for_each(|(to, from)| *to = *from);
                    *register = Chosen::constant(bytes, part.len());
                }
            }
            let values = self.whole(registers, bits)?;
            outputs.push(self.writer.gather(&values, bits)?);
        }
        self.writer.plan.outputs = outputs;
        Some(self.writer.plan)
    }
}

/// Two registers of so many bytes, one after the other.
fn halves_joined(bytes: u32) -> Selector {
    let nibble = |byte: u32| u64::from(byte % bytes + if byte < bytes { 0 } else { 4 });
    Selector::constant((0..2 * bytes).fold(0, |all, byte| all | nibble(byte) << (4 * byte)))
}
