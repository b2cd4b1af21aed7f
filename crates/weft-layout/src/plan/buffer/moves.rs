//! The instructions of one side of a buffer under given offsets: what they take, and the step that they
//! are.

use alloc::vec::Vec;

use super::{
    fragment::{Fragment, Slot},
    ways::{Actor, Way},
};
use crate::{
    access::{AccessError, matrix_wavefronts, wavefronts, widest_shared_log2},
    f2::{Echelon, Matrix as BitMatrix, low_mask},
    machine::{Kind, MatrixMove},
    step::{Access, Cost, File, Form, Group, combine},
};

impl<'a> Actor<'a> {
    /// The cheapest instructions under offsets that are given: the widest vectors that lie in each thread, or
    /// matrix moves; packing is priced as [`Moves::price`] says.
    pub(in crate::plan) fn cheapest(
        &self,
        fragments: &'a [Fragment<'a>],
        offsets: &BitMatrix,
        given: &[u64],
    ) -> Option<Moves<'a>> {
        let widest = widest_shared_log2(self.machine).saturating_sub(self.bytes_log2);
        let vectors = (0..=widest).rev().map(Way::Vector);
        // All lanes of a warp move a matrix.
        let whole = fragments.iter().filter(|_| self.acting.idle_lanes == 0);
        let ways = vectors.chain(whole.map(Way::Matrix));
        let price = |moves: &Moves<'_>| {
            let mut cost = Cost::default();
            moves.price(&mut cost, given).ok()?;
            Some((cost.busiest(&self.machine.prices), cost.instructions))
        };
        let placed = ways.filter_map(|way| self.place(way, offsets));
        let priced = placed.filter_map(|moves| Some((price(&moves)?, moves)));
        priced.min_by_key(|(price, _)| *price).map(|(_, moves)| moves)
    }

    /// The instructions under these offsets; `None` where lanes or registers are not aligned.
    pub(in crate::plan) fn place(&self, way: Way<'a>, offsets: &BitMatrix) -> Option<Moves<'a>> {
        let apply = |columns: &[u64]| -> Vec<u64> {
            columns.iter().map(|&column| offsets.apply(column)).collect()
        };
        let (lanes, warps) = (apply(&self.side.lanes), apply(&self.side.warps));
        let registers = apply(&self.side.registers);
        match way {
            Way::Vector(vector) => {
                // What moves threads by less than a vector makes it shorter.
                let low = lanes.iter().chain(&warps).fold(0, |all, offset| all | offset);
                self.vectors(vector.min(low.trailing_zeros()), lanes, warps, &registers)
            }
            Way::Matrix(fragment) => self.matrices(fragment, &lanes, warps, &registers),
        }
    }

    fn vectors(
        &self,
        vector: u32,
        lanes: Vec<u64>,
        warps: Vec<u64>,
        registers: &[u64],
    ) -> Option<Moves<'a>> {
        let mut held = Held::new(registers, self.numbers);
        let inner = (0..vector).map(|bit| held.take(1 << bit)).collect::<Option<Vec<u64>>>()?;
        let walk: Vec<(u64, u64)> =
            inner.iter().enumerate().map(|(bit, &number)| (1 << bit, number)).collect();
        let rest = held.rest(&walk);
        Some(Moves {
            actor: *self,
            form: Form::Vector,
            instruction: None,
            inner,
            rest,
            lanes,
            warps,
        })
    }

    fn matrices(
        &self,
        fragment: &Fragment<'a>,
        lanes: &[u64],
        warps: Vec<u64>,
        registers: &[u64],
    ) -> Option<Moves<'a>> {
        let low = low_mask(fragment.low.len() as u32);
        let mut held = Held::new(registers, self.numbers);
        let mut inner = alloc::vec![0; fragment.registers];
        let mut walk = Vec::new();
        for (bit, slot) in fragment.low.iter().enumerate() {
            match *slot {
                Slot::Lane(lane) if lanes.get(lane) != Some(&(1 << bit)) => return None,
                Slot::Lane(_) => {}
                Slot::Register(index) => {
                    let number = held.take(1 << bit)?;
                    walk.push((1 << bit, number));
                    *inner.get_mut(index)? = number;
                }
            }
        }
        let mut rest = held.rest(&walk);
        let aligned = |offset: u64| offset & low == 0;
        if !warps.iter().all(|&offset| aligned(offset)) || !rest.iter().all(|one| aligned(one.1)) {
            return None;
        }
        // Rows in other banks first.
        let row =
            self.machine.banks_log2_of(self.kind).saturating_add(self.machine.bank_bytes_log2);
        let banks = low_mask(row.saturating_sub(self.bytes_log2));
        let of_lanes = fragment.rows.iter().filter_map(|slot| match *slot {
            Slot::Lane(lane) => lanes.get(lane).map(|offset| offset & banks),
            Slot::Register(_) => None,
        });
        let mut busy = Echelon::of(of_lanes);
        let mut rows = Vec::with_capacity(5);
        for slot in &fragment.rows {
            match *slot {
                Slot::Lane(lane) => rows.push(lanes.get(lane).copied().filter(|&o| aligned(o))?),
                Slot::Register(index) => {
                    // Registers of one word best in the order of their numbers.
                    let apart = |one: &(u64, u64)| busy.reduce(one.1 & banks, 0).0 != 0;
                    let ordered = rest.iter().position(|one| one.0 == 1 << index && apart(one));
                    let found = ordered.or_else(|| rest.iter().position(apart));
                    if rest.is_empty() {
                        return None;
                    }
                    let (number, offset) = rest.remove(found.unwrap_or(0));
                    busy.grows(offset & banks);
                    *inner.get_mut(index)? = number;
                    rows.push(offset);
                }
            }
        }
        let most = fragment.instruction.matrices.iter().copied().max()?.max(1).ilog2();
        for _ in 0..most {
            if rest.is_empty() {
                break;
            }
            let (number, offset) = rest.remove(0);
            inner.push(number);
            rows.push(offset);
        }
        rows.resize(lanes.len(), 0);
        Some(Moves {
            actor: *self,
            form: Form::Matrix(fragment.matrix),
            instruction: Some(fragment.instruction),
            inner,
            rest,
            lanes: rows,
            warps,
        })
    }
}

/// The registers of a side by their offsets.
struct Held<'a> {
    registers: &'a [u64],
    numbers: &'a [u64],
    echelon: Echelon,
    taken: Echelon,
}

impl<'a> Held<'a> {
    fn new(registers: &'a [u64], numbers: &'a [u64]) -> Held<'a> {
        let mut echelon = Echelon::new();
        for (&offset, &number) in registers.iter().zip(numbers) {
            echelon.insert(offset, number);
        }
        Held { registers, numbers, echelon, taken: Echelon::new() }
    }

    /// The number of the register at an offset, which is taken.
    fn take(&mut self, offset: u64) -> Option<u64> {
        let (outside, number) = self.echelon.reduce(offset, 0);
        (outside == 0 && self.taken.grows(number)).then_some(number)
    }

    /// Registers that complete those taken, with their offsets; `walk` takes away what it reaches.
    fn rest(mut self, walk: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let all = self.numbers.iter().zip(self.registers);
        let left = all.filter(|(number, _)| self.taken.grows(**number));
        left.map(|(&number, &offset)| absorbed(walk, number, offset)).collect()
    }
}

/// A register moved along `walk` to where its offset has none of the bits of it.
fn absorbed(walk: &[(u64, u64)], number: u64, offset: u64) -> (u64, u64) {
    walk.iter().fold((number, offset), |(number, offset), &(bit, step)| {
        if offset & bit == 0 { (number, offset) } else { (number ^ step, offset ^ bit) }
    })
}

/// The instructions of one side, before they are written.
pub(in crate::plan) struct Moves<'a> {
    actor: Actor<'a>,
    form: Form,
    instruction: Option<&'a MatrixMove>,
    /// The register of each bit of the place in a group.
    inner: Vec<u64>,
    /// The registers that choose the group, with their offsets.
    rest: Vec<(u64, u64)>,
    /// The offsets that each lane bit contributes to the address that the lane gives.
    lanes: Vec<u64>,
    warps: Vec<u64>,
}

impl Moves<'_> {
    fn lane_columns(&self) -> Vec<u64> {
        self.lanes.iter().map(|offset| offset << self.actor.bytes_log2).collect()
    }

    /// Adds what the instructions take, and what packing takes at least: a store's words come from
    /// words of the input, a load's go to words of the output, whose register bits are `given`.
    pub(in crate::plan) fn price(&self, cost: &mut Cost, given: &[u64]) -> Result<(), AccessError> {
        let Actor { machine, kind, acting, bytes_log2, .. } = self.actor;
        let (count, registers) = (1_u64 << self.rest.len(), 1_u64 << self.inner.len());
        let bytes = (registers as u32) << bytes_log2;
        let lanes = self.lane_columns();
        let (taken, times) = match (self.form, self.instruction) {
            (Form::Matrix(matrix), Some(instruction)) => {
                let rows = lanes.get(..matrix.rows.max(1).ilog2() as usize).unwrap_or(&lanes);
                let matrices = u64::from(bytes / (4 * matrix.words()));
                (matrix_wavefronts(machine, instruction, rows)?, matrices)
            }
            _ => (wavefronts(machine, kind, &lanes, bytes, acting.idle_lanes)?, 1),
        };
        cost.wavefronts += count * times * u64::from(taken.actual);
        cost.ideal_wavefronts += count * times * u64::from(taken.ideal);
        let packing = match kind {
            Kind::Store => self.packed(),
            Kind::Load => self.unpacked(given),
        };
        cost.alu += packing;
        cost.instructions += count + packing;
        Ok(())
    }

    /// The logarithm of the elements of a word.
    fn word(&self) -> usize {
        2_u32.saturating_sub(self.actor.bytes_log2) as usize
    }

    /// The byte permutes that fill the words of a store, at least.
    fn packed(&self) -> u64 {
        let word = self.word();
        let part = &self.inner[..word.min(self.inner.len())];
        let words = 1_u64 << (self.inner.len() - part.len() + self.rest.len());
        // Words that begin elsewhere than a word of the input does.
        let low = low_mask(word as u32);
        let starts = self.inner[part.len()..].iter().chain(self.rest.iter().map(|one| &one.0));
        let shifted = Echelon::of(starts.map(|number| number & low)).rank();
        let in_order = part.iter().zip(0..).all(|(&number, bit)| number == 1 << bit);
        let from = Echelon::of(part.iter().map(|number| number >> word)).rank();
        match from {
            0 if in_order => words - (words >> shifted),
            0 | 1 => words,
            _ => 2 * words,
        }
    }

    /// The byte permutes that fill the words of the output, at least.
    fn unpacked(&self, given: &[u64]) -> u64 {
        let Some((part, rest)) = given.split_at_checked(self.word()) else { return 0 };
        let inner = &self.inner[..self.word().min(self.inner.len())];
        let mut words = Echelon::of(inner.iter().copied());
        let from = part.iter().filter(|&&number| words.grows(number)).count();
        let in_order = part == inner;
        let mut all = Echelon::of(part.iter().copied());
        let count = 1_u64 << rest.iter().filter(|&&number| all.grows(number)).count();
        // Words that begin elsewhere than a loaded word does.
        let mut places = Echelon::new();
        let others = self.inner.iter().skip(inner.len()).chain(self.rest.iter().map(|one| &one.0));
        let own = inner.iter().zip(0..).map(|(number, bit)| (number, 1 << bit));
        for (&number, place) in own.chain(others.map(|number| (number, 0))) {
            places.insert(number, place);
        }
        let place = |&number: &u64| places.reduce(number, 0).1;
        let shifted = Echelon::of(rest.iter().map(place)).rank();
        match from {
            0 if in_order => count - (count >> shifted),
            0 | 1 => count,
            _ => 2 * count,
        }
    }

    /// The words that stand elsewhere in an instruction's registers than in those of the side, whose register bits
    /// are `given`, or are in their own order where nothing is. What made a word, or uses it, wants its neighbours
    /// beside it as well, so that each of these words may have to be moved.
    pub(in crate::plan) fn displaced(&self, given: &[u64]) -> u64 {
        let own = |place: usize| given.get(place).copied().unwrap_or(1 << place);
        let in_order = self.inner.iter().enumerate().all(|(place, &number)| number == own(place));
        let registers = self.inner.len() + self.rest.len();
        if in_order { 0 } else { 1 << registers.saturating_sub(self.word()) }
    }

    /// Whether no wider vector would do better.
    pub(in crate::plan) fn is_wide(&self) -> bool {
        let bytes = 1_u32 << (self.inner.len() as u32 + self.actor.bytes_log2);
        self.rest.is_empty() || bytes >= self.actor.machine.shared_vector_bytes
    }

    /// Whether this is what a way asks for.
    pub(in crate::plan) fn moves(&self, way: Way<'_>) -> bool {
        match way {
            Way::Vector(vector) => self.inner.len() as u32 == vector,
            Way::Matrix(_) => true,
        }
    }

    /// The instructions as a step.
    pub(in crate::plan) fn access(&self, file: File) -> Access {
        let Actor { kind, acting, bytes_log2, .. } = self.actor;
        let (numbers, offsets): (Vec<u64>, Vec<u64>) = self.rest.iter().copied().unzip();
        let group = |index: u64| {
            let start = combine(&numbers, index);
            let register = |step: u64| (start ^ combine(&self.inner, step)) as u32;
            Group {
                registers: (0..1 << self.inner.len()).map(register).collect(),
                address: combine(&offsets, index) << bytes_log2,
            }
        };
        Access {
            kind,
            form: self.form,
            file,
            groups: (0..1_u64 << self.rest.len()).map(group).collect(),
            lane: self.lane_columns(),
            warp: self.warps.iter().map(|offset| offset << bytes_log2).collect(),
            acting,
        }
    }
}
