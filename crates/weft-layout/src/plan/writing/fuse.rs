//! Choices and byte permutes in one: what a thread chooses among the bytes of two words is one byte
//! permute whose selector depends on the thread.
//!
//! Elements narrower than a word stand in words, in the order of their registers.
//! Each register is followed to the bytes that it is made of, for each parity that threads choose by;
//! as long as these come from two words, nothing is done.
//! Where there are more, each half of a word may come from two, and one byte permute makes two halves
//! from the same words; else both sides of a choice are made, and then it.

use alloc::{collections::BTreeMap, vec, vec::Vec};

use super::{
    chosen::{Chosen, Made, Selected},
    values::{Id, PlanWriter},
};
use crate::step::{File, Plan, Step};

/// The ways to cut four bytes into halves.
const HALVES: [[[usize; 2]; 2]; 3] = [[[0, 1], [2, 3]], [[0, 2], [1, 3]], [[0, 3], [1, 2]]];

struct Fuse<'p> {
    plan: &'p Plan,
    writer: PlanWriter,
    /// The width of each value.
    bits: Vec<u32>,
    /// The registers of the words of inputs.
    inputs: BTreeMap<Id, Vec<Id>>,
    /// For each file what its registers are made of.
    files: Vec<Vec<Chosen>>,
}

/// The same plan with choices and byte permutes in one; `None` when there is nothing narrower than a
/// word, something wider, or a step that does something else.
pub(in crate::plan) fn fuse(plan: &Plan) -> Option<Plan> {
    let widths = || plan.files.iter().map(|file| file.element_bits);
    if widths().any(|bits| bits > 32) || widths().all(|bits| bits == 32) {
        return None;
    }
    let mut fuse = Fuse {
        plan,
        writer: PlanWriter::of(plan),
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
                let registers = source.iter().map(|&register| from.get(register as usize).copied());
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
                self.make(step, &Made::Select(*odd_where), [*even, *odd], *to)
            }
            Step::Bytes { a, b, to, selector } => {
                let bytes = self.plan.file(*to).element_bits as usize / 8;
                self.make(step, &Made::by(selector, bytes), [*a, *b], *to)
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
    fn make(&mut self, step: &Step, made: &Made, [a, b]: [File; 2], to: File) -> Option<()> {
        let pairs = self.registers(a)?.iter().copied().zip(self.registers(b)?.iter().copied());
        let pairs: Vec<(Chosen, Chosen)> = pairs.collect();
        let results = pairs.iter().map(|(a, b)| made.of(a, b)).collect();
        let mut results = self.halved(results)?;
        let hard: Vec<usize> = (0..results.len()).filter(|&at| results[at].is_none()).collect();
        // Both sides are made first.
        let sides = hard.iter().flat_map(|&at| [pairs[at].0, pairs[at].1]);
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
            let side = |index: usize| left.iter().map(|one| one.1[index]).collect();
            let [a_bits, b_bits] = [a, b].map(|file| self.plan.file(file).element_bits);
            let (low, high) = (self.whole(side(0), a_bits)?, self.whole(side(1), b_bits)?);
            let (low, high) =
                (self.writer.gather(&low, a_bits)?, self.writer.gather(&high, b_bits)?);
            let bits = self.plan.file(to).element_bits;
            let new = self.writer.plan.add_file(left.len() as u32, bits);
            self.writer.plan.steps.push(match step {
                Step::Select { odd_where, .. } => {
                    Step::Select { even: low, odd: high, to: new, odd_where: *odd_where }
                }
                Step::Bytes { selector, .. } => {
                    Step::Bytes { a: low, b: high, to: new, selector: selector.clone() }
                }
                _ => return None,
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
        let easy = |one: &Chosen| one.is_constant() || one.selected().is_some();
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
                for (&place, byte) in places.iter().zip(half.first()) {
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
                let both = Chosen::joined(&[jobs.get(job)?.1, *one])?;
                both.selected().map(|_| (job, both))
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
            jobs.push((vec![at], *one));
        }
        let mut requests = Vec::with_capacity(jobs.len());
        for (_, job) in &jobs {
            // A register has one, two or four bytes.
            requests.push((job.selected()?, 8 * job.len.next_power_of_two() as u32));
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
            match one.selected() {
                Some(selected) => {
                    from.push(vec![requests.len()]);
                    requests.push((selected, bits));
                }
                // Bytes of three words or four: by halves.
                None => {
                    from.push(vec![requests.len(), requests.len() + 1]);
                    for half in [[0, 1], [2, 3]] {
                        requests.push((one.half(half).selected()?, 16));
                    }
                }
            }
        }
        let made = self.permuted(&requests)?;
        let joins = from.iter().filter(|parts| parts.len() == 2);
        let joins = joins.map(|parts| [made[parts[0]], made[parts[1]]]);
        let joins = joins.map(|pair| (Selected::joining(pair, 2), 32));
        let joins: Vec<_> = joins.collect();
        let mut joined = self.permuted(&joins)?.into_iter();
        let pick = |parts: Vec<usize>| match parts[..] {
            [one] => made.get(one).copied(),
            _ => joined.next(),
        };
        from.into_iter().map(pick).collect()
    }

    /// Byte permutes of pairs of values, those of one selector in one step.
    fn permuted(&mut self, requests: &[(Selected, u32)]) -> Option<Vec<Id>> {
        let words: Vec<Id> = requests.iter().flat_map(|one| one.0.pair).collect();
        self.gather_inputs(&words)?;
        let mut results: Vec<Option<Id>> = vec![None; requests.len()];
        for at in 0..requests.len() {
            let (selected, bits) = &requests[at];
            let [a, b] = &selected.pair;
            let width = |value: Id| self.bits.get(value as usize).copied();
            let widths = [width(*a)?, width(*b)?];
            if selected.keeps_low(bits / 8) && widths[0] == *bits {
                results[at] = Some(*a);
            }
            if results[at].is_some() {
                continue;
            }
            let alike = |other: &usize| {
                let (same, same_bits) = &requests[*other];
                results[*other].is_none()
                    && same_bits == bits
                    && same.is_made_as(selected)
                    && same.pair.map(width) == widths.map(Some)
            };
            let group: Vec<usize> = (at..requests.len()).filter(alike).collect();
            let side = |side: usize| group.iter().map(|&one| requests[one].0.pair[side]).collect();
            let (low, high): (Vec<Id>, Vec<Id>) = (side(0), side(1));
            let low = self.writer.gather(&low, widths[0])?;
            let high = self.writer.gather(&high, widths[1])?;
            let to = self.writer.plan.add_file(group.len() as u32, *bits);
            let selector = selected.selector();
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
            let selector = Selected::joining([0; 2], bits / 8).selector();
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
            let chosen = words.iter().flatten().copied().collect();
            let mut settled = self.settled(chosen)?.into_iter();
            for (word, registers) in words.iter().zip(registers.chunks_mut(group)) {
                if word.is_none() {
                    continue;
                }
                let all = settled.next()?.first();
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
