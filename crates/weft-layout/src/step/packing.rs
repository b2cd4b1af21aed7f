//! What it takes to put narrow registers into words, and to take them out.
//!
//! Elements narrower than 32 bits live in words: those of a plan's inputs and outputs in the order of
//! their registers, those of an access in the order of their addresses. So each byte of a register is
//! a byte of some word, and renaming registers or permuting bytes in the same way in every thread
//! moves nothing by itself. Instructions are due where a word is needed as a whole (stored, sent,
//! chosen, given out) whose bytes stand elsewhere: none where it is a word already, one byte permute
//! for bytes of two words, three for bytes of four, of which two halves may serve another word too.

use alloc::{collections::BTreeSet, vec, vec::Vec};

use super::{Access, File, Kind, Plan, Selector, Step};

/// A byte: four times the number of its word, and its place in it.
type Byte = u32;

/// A byte that nobody looks at.
const ANY: Byte = Byte::MAX;

/// The bytes of a register or of a word, lowest first.
type Bytes = [Byte; 4];

/// Where the bytes of all registers of at most 32 bits stand.
pub(super) struct Packing<'p> {
    plan: &'p Plan,
    files: Vec<Vec<Bytes>>,
    words: u32,
    /// The words that were put together so far, and the pairs of halves.
    made: BTreeSet<Bytes>,
}

impl<'p> Packing<'p> {
    /// The inputs of a plan; `None` where every register is a word or more and stays whole.
    pub(super) fn of(plan: &'p Plan) -> Option<Packing<'p>> {
        let whole = plan.files.iter().all(|file| file.element_bits >= 32);
        if whole && !plan.steps.iter().any(|step| matches!(step, Step::Bytes { .. })) {
            return None;
        }
        let files = vec![Vec::new(); plan.files.len()];
        let mut packing = Packing { plan, files, words: 0, made: BTreeSet::new() };
        for &input in &plan.inputs {
            let registers = (0..plan.file(input).registers).collect::<Vec<u32>>();
            packing.arrive(input, &registers);
        }
        Some(packing)
    }

    fn width(&self, file: File) -> usize {
        self.plan.file(file).element_bits as usize / 8
    }

    fn register(&self, file: File, register: u32) -> Bytes {
        let bytes = self.files.get(file.index()).and_then(|all| all.get(register as usize));
        bytes.copied().unwrap_or([ANY; 4])
    }

    fn registers(&self, file: File) -> Vec<Bytes> {
        self.files.get(file.index()).cloned().unwrap_or_default()
    }

    fn define(&mut self, file: File, registers: Vec<Bytes>) {
        if let Some(all) = self.files.get_mut(file.index()) {
            *all = registers;
        }
    }

    /// Registers of a file come in words, in this order.
    fn arrive(&mut self, file: File, registers: &[u32]) {
        let (width, count) = (self.width(file), self.plan.file(file).registers as usize);
        if width > 4 {
            return;
        }
        let mut all = self.registers(file);
        all.resize(count, [ANY; 4]);
        for group in registers.chunks((4 / width.max(1)).max(1)) {
            let word = self.new_word();
            for (&register, start) in group.iter().zip((0..).step_by(width)) {
                if let Some(bytes) = all.get_mut(register as usize) {
                    *bytes = [ANY; 4];
                    for (byte, place) in bytes.iter_mut().zip(start..start + width as u32) {
                        *byte = 4 * word + place;
                    }
                }
            }
        }
        self.define(file, all);
    }

    fn new_word(&mut self) -> u32 {
        self.words += 1;
        self.words - 1
    }

    /// Each register of the file is a word of its own, or the low part of one.
    pub(super) fn fresh(&mut self, file: File) {
        for register in 0..self.plan.file(file).registers {
            self.arrive(file, &[register]);
        }
    }

    pub(super) fn permute(&mut self, from: File, to: File, source: &[u32]) {
        let registers = source.iter().map(|&register| self.register(from, register)).collect();
        self.define(to, registers);
    }

    pub(super) fn concat(&mut self, from: &[File], to: File) {
        let registers = from.iter().flat_map(|&file| self.registers(file)).collect();
        self.define(to, registers);
    }

    /// Permutes bytes; gives the instructions that this takes now.
    pub(super) fn bytes(&mut self, a: File, b: File, to: File, selector: &Selector) -> u64 {
        let moves = |columns: &[u64]| columns.iter().any(|&column| column != 0);
        if moves(&selector.lane) || moves(&selector.warp) {
            let taken = self.whole(a) + self.whole(b);
            self.fresh(to);
            return taken + u64::from(self.plan.file(to).registers);
        }
        let width = self.width(to);
        let (all_a, all_b) = (self.registers(a), self.registers(b));
        let mut registers = Vec::with_capacity(all_a.len());
        for (a, b) in all_a.into_iter().zip(all_b) {
            let pair = [a, b].concat();
            let mut bytes = [ANY; 4];
            for (place, byte) in bytes.iter_mut().enumerate().take(width) {
                let from = (selector.xor >> (4 * place) & 7) as usize;
                *byte = pair.get(from).copied().unwrap_or(ANY);
                // What is not defined saves nothing.
                if *byte == ANY {
                    *byte = 4 * self.new_word();
                }
            }
            registers.push(bytes);
        }
        self.define(to, registers);
        0
    }

    /// The instructions that make each register of a file a word, or the low part of one.
    pub(super) fn whole(&mut self, file: File) -> u64 {
        if self.width(file) > 4 {
            return 0;
        }
        self.registers(file).into_iter().map(|bytes| self.word(bytes)).sum()
    }

    /// The instructions that put these registers into words, in this order.
    fn packed(&mut self, file: File, registers: &[u32]) -> u64 {
        let width = self.width(file);
        if width > 4 {
            return 0;
        }
        let chunks = registers.chunks((4 / width.max(1)).max(1));
        let words = chunks.map(|group| {
            let mut word = [ANY; 4];
            for (&register, start) in group.iter().zip((0..).step_by(width)) {
                let bytes = self.register(file, register);
                let own = word.iter_mut().skip(start).zip(&bytes[..width.min(4)]);
                own.for_each(|(to, from)| *to = *from);
            }
            word
        });
        let words: Vec<Bytes> = words.collect();
        words.into_iter().map(|word| self.word(word)).sum()
    }

    /// The words of an access.
    pub(super) fn access(&mut self, access: &Access) -> u64 {
        let groups = access.groups.iter();
        if access.kind == Kind::Load {
            for group in groups {
                self.arrive(access.file, &group.registers);
            }
            return 0;
        }
        groups.map(|group| self.packed(access.file, &group.registers)).sum()
    }

    /// The words of the outputs.
    pub(super) fn outputs(&mut self) -> u64 {
        let plan = self.plan;
        let outputs = plan.outputs.iter().map(|&file| {
            let registers = (0..plan.file(file).registers).collect::<Vec<u32>>();
            self.packed(file, &registers)
        });
        outputs.sum()
    }

    /// The instructions that make a word of these bytes.
    fn word(&mut self, bytes: Bytes) -> u64 {
        let words = words_of(&bytes);
        let in_place = |(place, byte): (u32, &Byte)| *byte == ANY || byte % 4 == place;
        if words.len() <= 1 && (0..).zip(&bytes).all(in_place) {
            return 0;
        }
        if !self.made.insert(bytes) {
            return 0;
        }
        let mut taken = 1;
        if words.len() > 2 {
            for half in bytes.chunks(2) {
                if words_of(half).len() > 1 {
                    taken += u64::from(self.made.insert(with_neighbours(half)));
                }
            }
        }
        taken
    }
}

/// A pair of bytes of two words, and the pair beside it.
fn with_neighbours(pair: &[Byte]) -> Bytes {
    let [first, second] = [0, 1].map(|place| pair.get(place).copied().unwrap_or(ANY));
    let [other_first, other_second] =
        [first, second].map(|byte| if byte == ANY { ANY } else { byte ^ 1 });
    if first & 1 == 1 && first != ANY {
        [other_first, other_second, first, second]
    } else {
        [first, second, other_first, other_second]
    }
}

/// The different words of bytes.
fn words_of(bytes: &[Byte]) -> Vec<u32> {
    let mut words = Vec::with_capacity(4);
    for &byte in bytes {
        if byte != ANY && !words.contains(&(byte / 4)) {
            words.push(byte / 4);
        }
    }
    words
}
