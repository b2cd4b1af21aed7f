//! Plans without detours: each register followed to where it comes from.
//!
//! A register of a file is a *value*: an input, or what one step makes of other values.
//! Renaming steps make none; a select between two selects by the same threads takes its value from
//! where those take theirs; and a byte permute that is the same in every thread takes bytes from where
//! other ones took them. Then whatever nobody uses is left out, register by register.

use alloc::{collections::BTreeMap, vec, vec::Vec};

use super::values::{Id, PlanWriter};
use crate::step::{Access, File, Kind, LaneMap, Parity, Plan, Selector, Step};

/// What makes a value.
#[derive(Clone, Copy)]
enum Node {
    /// A register of an input, or of what a load defines.
    Given,
    /// A step, by its index, with what it reads.
    Made(usize, [Id; 2]),
    /// Bytes of two values, the same in every thread, written in place of a step.
    Picked(Picked),
}

/// Bytes of two values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Picked {
    /// The step that they are written in place of.
    step: usize,
    pair: [Id; 2],
    /// As [`Selector`] has them.
    nibbles: u64,
    /// The width of the result.
    bits: u32,
}

/// All bytes of a value.
const ALL: u32 = u32::MAX;

impl Picked {
    /// Takes for the bytes that nobody needs what stands beside the first one that somebody does, if
    /// that is defined: values of the pair have so many `bytes`.
    fn with_neighbours(self, needed: u32, bytes: [u32; 2]) -> Picked {
        let first = u64::from(needed.trailing_zeros());
        let from = self.nibbles >> (4 * first) & 7;
        let defined = u64::from(bytes[usize::from(from >= 4)]).min(4);
        let (mut nibbles, mut pair) = (self.nibbles, [self.pair[usize::from(from >= 4)]; 2]);
        for byte in 0..u64::from(self.bits / 8) {
            let nibble = self.nibbles >> (4 * byte) & 7;
            let side = usize::from(nibble >= 4);
            if needed >> byte & 1 == 1 {
                pair[side] = self.pair[side];
                continue;
            }
            let beside = (from % 4 + byte).checked_sub(first).filter(|&place| place < defined);
            let beside = beside.map_or(from, |place| place | from & 4);
            nibbles = nibbles & !(0xf << (4 * byte)) | beside << (4 * byte);
        }
        Picked { pair, nibbles, ..self }
    }
}

struct Tidy<'p> {
    plan: &'p Plan,
    nodes: Vec<Node>,
    known: BTreeMap<(usize, [Id; 2]), Id>,
    picked: BTreeMap<(u32, u64, [Id; 2]), Id>,
    /// The width of each value.
    bits: Vec<u32>,
    /// For each file the value of each register.
    files: Vec<Vec<Id>>,
}

/// The same plan without detours; `None` when a step is not one of a conversion.
pub(in crate::plan) fn tidy(plan: &Plan) -> Option<Plan> {
    let mut tidy = Tidy {
        plan,
        nodes: Vec::new(),
        known: BTreeMap::new(),
        picked: BTreeMap::new(),
        bits: Vec::new(),
        files: vec![Vec::new(); plan.files.len()],
    };
    for &input in &plan.inputs {
        tidy.give(input)?;
    }
    for index in 0..plan.steps.len() {
        tidy.follow(index)?;
    }
    tidy.written()
}

impl Tidy<'_> {
    fn add(&mut self, node: Node, bits: u32) -> Id {
        self.nodes.push(node);
        self.bits.push(bits);
        (self.nodes.len() - 1) as Id
    }

    /// New values for all registers of a file.
    fn give(&mut self, file: File) -> Option<()> {
        let ty = self.plan.file(file);
        let values = (0..ty.registers).map(|_| self.add(Node::Given, ty.element_bits)).collect();
        *self.files.get_mut(file.index())? = values;
        Some(())
    }

    fn registers(&self, file: File) -> Option<&[Id]> {
        self.files.get(file.index()).map(Vec::as_slice)
    }

    fn follow(&mut self, index: usize) -> Option<()> {
        match self.plan.steps.get(index)? {
            Step::Permute { from, to, source } => {
                let from = self.registers(*from)?;
                let values = source.iter().map(|&register| from.get(register as usize).copied());
                let values = values.collect::<Option<Vec<Id>>>()?;
                *self.files.get_mut(to.index())? = values;
            }
            Step::Concat { from, to } => {
                let mut values = Vec::new();
                for &file in from {
                    values.extend_from_slice(self.registers(file)?);
                }
                *self.files.get_mut(to.index())? = values;
            }
            Step::Select { even, odd, to, odd_where } => {
                self.pairs(index, [*even, *odd], *to, Some(*odd_where))?;
            }
            Step::Bytes { a, b, to, selector } if selector.is_constant() => {
                let pairs = self.registers(*a)?.iter().zip(self.registers(*b)?);
                let pairs: Vec<[Id; 2]> = pairs.map(|(&a, &b)| [a, b]).collect();
                let bits = self.plan.file(*to).element_bits;
                let pick = |pair| self.pick(index, pair, selector.xor, bits);
                let values = pairs.into_iter().map(pick).collect();
                *self.files.get_mut(to.index())? = values;
            }
            Step::Bytes { a, b, to, selector } => {
                let bytes = 0..self.plan.file(*to).element_bits / 8;
                let taken = bytes.fold(0, |all, byte| all | selector.taken(byte));
                let a = if taken.trailing_zeros() >= 4 { *b } else { *a };
                let b = if taken >> 4 == 0 { a } else { *b };
                self.pairs(index, [a, b], *to, None)?;
            }
            Step::Exchange { from, to, .. } => self.pairs(index, [*from, *from], *to, None)?,
            Step::Access(access) if access.kind == Kind::Load => {
                // Only a file that is loaded at once is followed.
                self.files.get(access.file.index()).filter(|known| known.is_empty())?;
                self.give(access.file)?;
            }
            Step::Access(_) | Step::Barrier(_) => {}
            _ => return None,
        }
        Some(())
    }

    /// Values made of two registers each; a select, where `odd_where` says of which threads.
    fn pairs(
        &mut self,
        index: usize,
        [a, b]: [File; 2],
        to: File,
        odd_where: Option<Parity>,
    ) -> Option<()> {
        let pairs = self.registers(a)?.iter().zip(self.registers(b)?);
        let pairs: Vec<[Id; 2]> = pairs.map(|(&a, &b)| [a, b]).collect();
        let bits = self.plan.file(to).element_bits;
        let mut values = Vec::with_capacity(pairs.len());
        for mut pair in pairs {
            if let Some(odd_where) = odd_where {
                for (side, value) in pair.iter_mut().enumerate() {
                    *value = self.taken(*value, odd_where, side);
                }
                if pair[0] == pair[1] {
                    values.push(pair[0]);
                    continue;
                }
            }
            let value = match self.known.get(&(index, pair)) {
                Some(&known) => known,
                None => {
                    let made = self.add(Node::Made(index, pair), bits);
                    self.known.insert((index, pair), made);
                    made
                }
            };
            values.push(value);
        }
        *self.files.get_mut(to.index())? = values;
        Some(())
    }

    /// The value of `bits` bits that has these bytes of a pair.
    fn pick(&mut self, step: usize, pair: [Id; 2], nibbles: u64, bits: u32) -> Id {
        let bytes = bits / 8;
        let direct = Picked { step, pair, nibbles, bits };
        let found = self.picked_through(direct, bytes).unwrap_or(direct);
        let Picked { pair, nibbles, .. } = found;
        let [first, _] = pair;
        let keeps = Selector::constant(nibbles).keeps_low(bytes);
        if keeps && self.bits.get(first as usize) == Some(&bits) {
            return first;
        }
        let key = (bits, nibbles, pair);
        match self.picked.get(&key) {
            Some(&known) => known,
            None => {
                let made = self.add(Node::Picked(found), bits);
                self.picked.insert(key, made);
                made
            }
        }
    }

    /// The same bytes taken from where they were taken before; `None` when there are three values
    /// or more, or undefined bytes.
    fn picked_through(&self, picked: Picked, bytes: u32) -> Option<Picked> {
        let mut sources: [Option<Id>; 2] = [None; 2];
        let mut nibbles = 0;
        for byte in 0..bytes {
            let index = picked.nibbles >> (4 * byte) & 7;
            let mut value = picked.pair[usize::from(index >= 4)];
            let mut inside = index % 4;
            if inside >= u64::from(self.bits.get(value as usize)? / 8) {
                return None;
            }
            if let Node::Picked(inner) = self.nodes.get(value as usize)? {
                let from = inner.nibbles >> (4 * inside) & 7;
                (value, inside) = (inner.pair[usize::from(from >= 4)], from % 4);
                if inside >= u64::from(self.bits.get(value as usize)? / 8) {
                    return None;
                }
            }
            let side = sources.iter().position(|known| known.is_none_or(|one| one == value))?;
            sources[side] = Some(value);
            nibbles |= (inside + 4 * side as u64) << (4 * byte);
        }
        let first = sources[0]?;
        Some(Picked { pair: [first, sources[1].unwrap_or(first)], nibbles, ..picked })
    }

    /// What a value is in threads of one parity: that side of a select by the same parity.
    fn taken(&self, mut value: Id, odd_where: Parity, side: usize) -> Id {
        while let Some(Node::Made(index, pair)) = self.nodes.get(value as usize) {
            match self.plan.steps.get(*index) {
                Some(Step::Select { odd_where: same, .. }) if *same == odd_where => {
                    value = pair[side];
                }
                _ => break,
            }
        }
        value
    }

    /// The bytes of each value that are needed, as a mask: those that leave the plan or go to memory,
    /// and what they are made of.
    fn needed(&self) -> Option<Vec<u32>> {
        let mut needed = vec![0; self.nodes.len()];
        let stored = self.plan.steps.iter().filter_map(|step| match step {
            Step::Access(access) if access.kind == Kind::Store => Some(access.file),
            _ => None,
        });
        for file in stored.chain(self.plan.outputs.iter().copied()) {
            for &value in self.registers(file)? {
                *needed.get_mut(value as usize)? = ALL;
            }
        }
        // Values are made of earlier ones.
        for (value, node) in self.nodes.iter().enumerate().rev() {
            let wanted = needed[value];
            let mut need = |part: Id, bytes: u32| -> Option<()> {
                *needed.get_mut(part as usize)? |= bytes;
                Some(())
            };
            match node {
                _ if wanted == 0 => {}
                Node::Given => {}
                Node::Made(step, pair) => match self.plan.steps.get(*step)? {
                    Step::Bytes { to, selector, .. } => {
                        let bytes = 0..self.plan.file(*to).element_bits / 8;
                        let bytes = bytes.filter(|byte| wanted >> byte & 1 == 1);
                        let taken = bytes.fold(0, |all, byte| all | selector.taken(byte));
                        need(pair[0], taken & 0xf)?;
                        need(pair[1], taken >> 4)?;
                    }
                    _ => pair.iter().try_for_each(|&part| need(part, wanted))?,
                },
                Node::Picked(Picked { pair, nibbles, bits, .. }) => {
                    for byte in (0..bits / 8).filter(|byte| wanted >> byte & 1 == 1) {
                        let from = nibbles >> (4 * byte) & 7;
                        need(pair[usize::from(from >= 4)], 1 << (from % 4))?;
                    }
                }
            }
        }
        Some(needed)
    }

    fn written(&self) -> Option<Plan> {
        let needed = self.needed()?;
        let mut of_step: Vec<Vec<Id>> = vec![Vec::new(); self.plan.steps.len()];
        for (value, node) in self.nodes.iter().enumerate() {
            let step = match node {
                Node::Made(step, _) | Node::Picked(Picked { step, .. }) => *step,
                Node::Given => continue,
            };
            if needed[value] != 0 {
                of_step.get_mut(step)?.push(value as Id);
            }
        }
        let mut writer = PlanWriter::of(self.plan);
        self.nodes.iter().for_each(|_| {
            writer.value();
        });
        for (new, &old) in (0..).zip(&self.plan.inputs) {
            writer.define(self.registers(old)?, File(new));
        }
        for (step, values) in self.plan.steps.iter().zip(&of_step) {
            match step {
                Step::Permute { .. } | Step::Concat { .. } => {}
                Step::Barrier(_) => writer.plan.steps.push(step.clone()),
                Step::Access(access) => {
                    let registers = self.registers(access.file)?;
                    let bits = self.plan.file(access.file).element_bits;
                    let file = match access.kind {
                        Kind::Store => writer.gather(registers, bits)?,
                        Kind::Load => writer.plan.add_file(registers.len() as u32, bits),
                    };
                    writer.plan.steps.push(Step::Access(Access { file, ..access.clone() }));
                    if access.kind == Kind::Load {
                        writer.define(registers, file);
                    }
                }
                _ if values.is_empty() => {}
                Step::Bytes { selector, .. } if selector.is_constant() => {
                    self.write_picked(&mut writer, values, &needed)?;
                }
                _ => self.write(&mut writer, step, values)?,
            }
        }
        let mut outputs = Vec::with_capacity(self.plan.outputs.len());
        for &output in &self.plan.outputs {
            let bits = self.plan.file(output).element_bits;
            outputs.push(writer.gather(self.registers(output)?, bits)?);
        }
        writer.plan.outputs = outputs;
        Some(writer.plan)
    }

    /// Writes byte permutes, those of one selector and width together.
    fn write_picked(&self, writer: &mut PlanWriter, values: &[Id], needed: &[u32]) -> Option<()> {
        let mut kinds: BTreeMap<_, Vec<(Id, [Id; 2])>> = BTreeMap::new();
        for &value in values {
            let Some(&Node::Picked(picked)) = self.nodes.get(value as usize) else { return None };
            let [a, b] = picked.pair.map(|part| self.bits.get(part as usize));
            let bytes = [a? / 8, b? / 8];
            let picked = picked.with_neighbours(*needed.get(value as usize)?, bytes);
            let Picked { pair, nibbles, bits, .. } = picked;
            let widths = [*self.bits.get(pair[0] as usize)?, *self.bits.get(pair[1] as usize)?];
            kinds.entry((nibbles, bits, widths)).or_default().push((value, pair));
        }
        for ((nibbles, bits, widths), values) in kinds {
            let side = |side: usize| values.iter().map(|one| one.1[side]).collect::<Vec<Id>>();
            let a = writer.gather(&side(0), widths[0])?;
            let b = writer.gather(&side(1), widths[1])?;
            let to = writer.plan.add_file(values.len() as u32, bits);
            let selector = Selector::constant(nibbles);
            writer.plan.steps.push(Step::Bytes { a, b, to, selector });
            let made: Vec<Id> = values.iter().map(|one| one.0).collect();
            writer.define(&made, to);
        }
        Some(())
    }

    /// Writes a step for those of its values that are needed.
    fn write(&self, writer: &mut PlanWriter, step: &Step, values: &[Id]) -> Option<()> {
        let parts = |side: usize| -> Vec<Id> {
            let part = |&value: &Id| match self.nodes.get(value as usize) {
                Some(Node::Made(_, pair)) => pair[side],
                _ => value,
            };
            values.iter().map(part).collect()
        };
        let bits = |file: File| self.plan.file(file).element_bits;
        let (step, to) = match step {
            Step::Select { even, odd, to: old, odd_where } => {
                let even = writer.gather(&parts(0), bits(*even))?;
                let odd = writer.gather(&parts(1), bits(*odd))?;
                let to = writer.plan.add_file(values.len() as u32, bits(*old));
                (Step::Select { even, odd, to, odd_where: *odd_where }, to)
            }
            Step::Bytes { a, b, to: old, selector } => {
                let selector: Selector = selector.clone();
                let a = writer.gather(&parts(0), bits(*a))?;
                let b = writer.gather(&parts(1), bits(*b))?;
                let to = writer.plan.add_file(values.len() as u32, bits(*old));
                (Step::Bytes { a, b, to, selector }, to)
            }
            Step::Exchange { from, to: old, source } => {
                let source: LaneMap = source.clone();
                let from = writer.gather(&parts(0), bits(*from))?;
                let to = writer.plan.add_file(values.len() as u32, bits(*old));
                (Step::Exchange { from, to, source }, to)
            }
            _ => return None,
        };
        writer.plan.steps.push(step);
        writer.define(values, to);
        Some(())
    }
}
