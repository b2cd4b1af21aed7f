//! How one side of a buffer moves: by vectors of each lane, or by matrices of the warp.
//!
//! The lowest offset bits say which. A vector wants registers there. A matrix move wants what one
//! row of 16 bytes holds: some lane bits and some registers, in the order of its fragment; its other
//! lane bits and registers choose the row.

use alloc::vec::Vec;

use super::swizzle::{Side, phase};
use crate::{
    access::{AccessError, matrix_wavefronts, wavefronts},
    f2::{Echelon, Matrix as BitMatrix, Subspace, low_mask},
    machine::{Kind, Machine, Matrix, MatrixMove, Transposes},
    step::{Access, Acting, Cost, File, Form, Group, combine},
};

/// What stands at one bit of a row, or of the number of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// This lane bit.
    Lane(usize),
    /// This bit of the number of a register of one matrix.
    Register(usize),
}

/// A matrix move as elements see it.
pub(super) struct Fragment<'m> {
    instruction: &'m MatrixMove,
    matrix: Matrix,
    /// The bits of an offset within a row, lowest first.
    pub(super) low: Vec<Slot>,
    /// The bits of the number of a row.
    rows: Vec<Slot>,
    /// The logarithm of the registers of one matrix in a lane.
    registers: usize,
}

impl<'m> Fragment<'m> {
    /// The matrix moves of a machine that leave elements of 2^`bytes_log2` bytes whole.
    pub(super) fn all(machine: &'m Machine, kind: Kind, bytes_log2: u32) -> Vec<Fragment<'m>> {
        let known = machine.matrix_moves.iter();
        // What moves matrices has 32 lanes.
        let possible = |one: &&MatrixMove| {
            one.kind == kind && !one.architecture_specific && machine.lanes_log2 == 5
        };
        let known = known.filter(possible);
        known
            .flat_map(|one| {
                let plain = (one.transposes == Transposes::Either).then_some(false);
                let forms = plain.into_iter().chain([true]);
                forms.filter_map(move |transposed| Fragment::of(one, transposed, bytes_log2))
            })
            .collect()
    }

    fn of(instruction: &'m MatrixMove, transposed: bool, bytes_log2: u32) -> Option<Fragment<'m>> {
        let MatrixMove { element_bits, rows, row_bytes, .. } = *instruction;
        let matrix = Matrix { element_bits, rows, transposed };
        if row_bytes != Matrix::ROW_BYTES {
            return None;
        }
        let (mut low, mut numbers) = ([None; 4], Vec::new());
        numbers.resize(rows.max(1).ilog2() as usize, None);
        let mut enter = |(row, byte): (u64, u64), slot: Slot| -> Option<()> {
            match (row, byte) {
                (0, byte) if byte.is_power_of_two() => {
                    *low.get_mut(byte.ilog2() as usize)? = Some(slot);
                }
                (row, 0) if row.is_power_of_two() => {
                    *numbers.get_mut(row.ilog2() as usize)? = Some(slot);
                }
                _ => return None,
            }
            Some(())
        };
        for lane in 0..5 {
            enter(matrix.place(1 << lane, 0)?, Slot::Lane(lane))?;
        }
        let bytes = 2 + matrix.words().ilog2();
        for bit in 0..bytes {
            let place = matrix.place(0, 1 << bit)?;
            match bit.checked_sub(bytes_log2) {
                Some(number) => enter(place, Slot::Register(number as usize))?,
                None if place == (0, 1 << bit) => {}
                None => return None,
            }
        }
        let low = low.get(bytes_log2 as usize..)?;
        let low = low.iter().copied().collect::<Option<Vec<Slot>>>()?;
        let rows = numbers.into_iter().collect::<Option<Vec<Slot>>>()?;
        let registers = bytes.checked_sub(bytes_log2)? as usize;
        Some(Fragment { instruction, matrix, low, rows, registers })
    }

    /// Whether the elements at the lowest offset bits are those that a row wants.
    fn fits(&self, side: &Side, own: &Subspace, low: &[u64]) -> bool {
        low.len() == self.low.len()
            && self.low.iter().zip(low).all(|(slot, &element)| match *slot {
                Slot::Lane(bit) => side.lanes.get(bit) == Some(&element),
                Slot::Register(_) => own.contains(element),
            })
    }

    /// The elements that rows of both sides want: lanes where one has them, else registers of both,
    /// else of this one.
    pub(super) fn shared(
        &self,
        side: &Side,
        with: Option<&Fragment<'_>>,
        other: &Side,
    ) -> Option<Vec<u64>> {
        let (own, others) =
            (Subspace::from_vectors(&side.registers), Subspace::from_vectors(&other.registers));
        let lane = |slot: Option<&Slot>, side: &Side| match slot {
            Some(&Slot::Lane(bit)) => side.lanes.get(bit).copied(),
            _ => None,
        };
        let fixed = |place: usize| {
            let theirs = with.and_then(|with| lane(with.low.get(place), other));
            lane(self.low.get(place), side).or(theirs)
        };
        let places = 0..self.low.len();
        let mut echelon = Echelon::new();
        for element in places.clone().filter_map(fixed) {
            if !echelon.grows(element) {
                return None;
            }
        }
        let common = own.intersection(&others);
        let single = side.registers.iter().copied().filter(|&column| others.contains(column));
        let mut free = single.chain(common.basis()).chain(side.registers.iter().copied());
        let mut next = || free.find(|&element| echelon.grows(element));
        let low: Vec<u64> =
            places.map(|place| fixed(place).or_else(&mut next)).collect::<Option<_>>()?;
        let fit = self.fits(side, &own, &low);
        (fit && with.is_none_or(|with| with.fits(other, &others, &low))).then_some(low)
    }
}

/// By which instruction a side moves.
#[derive(Clone, Copy)]
pub(super) enum Way<'a> {
    /// Vectors of so many elements, as a logarithm.
    Vector(u32),
    /// Matrices.
    Matrix(&'a Fragment<'a>),
}

/// One side of a buffer: who holds what, and who takes part.
#[derive(Clone, Copy)]
pub(super) struct Actor<'a> {
    pub(super) machine: &'a Machine,
    pub(super) kind: Kind,
    pub(super) side: &'a Side,
    /// The register number of each register column.
    pub(super) numbers: &'a [u64],
    pub(super) acting: Acting,
    pub(super) bytes_log2: u32,
}

impl<'a> Actor<'a> {
    /// The ways that the elements at the lowest offset bits allow, the widest vector first; vectors
    /// have at most 2^`widest` elements.
    pub(super) fn ways(&self, low: &[u64], widest: u32, all: &'a [Fragment<'a>]) -> Vec<Way<'a>> {
        let own = Subspace::from_vectors(&self.side.registers);
        let held = low.iter().take_while(|&&element| own.contains(element)).count();
        let mut ways = alloc::vec![Way::Vector(widest.min(held as u32))];
        if self.acting.idle_lanes == 0 {
            let fits = all.iter().filter(|fragment| fragment.fits(self.side, &own, low));
            ways.extend(fits.map(Way::Matrix));
        }
        ways
    }

    /// What one phase touches.
    pub(super) fn touched(&self, way: Way<'_>, low: &[u64], word: usize) -> Vec<u64> {
        let fragment = match way {
            Way::Vector(vector) => {
                let copies = self.side.lanes.iter().zip(0..64).filter(|lane| *lane.0 == 0);
                let copies = copies.fold(0, |mask, (_, bit)| mask | 1 << bit);
                let width = self.bytes_log2 + vector;
                let joined = self.kind == Kind::Load && self.machine.phases.merges(width, copies);
                let width = width - u32::from(joined);
                let vector = vector as usize;
                return phase(self.machine, self.kind, self.side, width, low, vector, word);
            }
            Way::Matrix(fragment) => fragment,
        };
        let mut echelon = Echelon::of(low.iter().copied());
        let mut free = self.side.registers.iter().copied().filter(|&c| echelon.grows(c));
        let together = fragment.rows.iter().take(3);
        let rows = together.filter_map(|slot| match *slot {
            Slot::Lane(bit) => self.side.lanes.get(bit).copied(),
            Slot::Register(_) => free.next(),
        });
        let rows: Vec<u64> = rows.collect();
        let all = rows.into_iter().chain(low.iter().copied());
        all.filter(|&element| element != 0).collect()
    }

    /// The instructions under these offsets; `None` where lanes or registers are not aligned.
    pub(super) fn place(&self, way: Way<'a>, offsets: &BitMatrix) -> Option<Moves<'a>> {
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
pub(super) struct Moves<'a> {
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
    pub(super) fn price(&self, cost: &mut Cost, given: &[u64]) -> Result<(), AccessError> {
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

    /// Whether no wider vector would do better.
    pub(super) fn is_wide(&self) -> bool {
        let bytes = 1_u32 << (self.inner.len() as u32 + self.actor.bytes_log2);
        self.rest.is_empty() || bytes >= self.actor.machine.shared_vector_bytes
    }

    /// Whether this is what a way asks for.
    pub(super) fn moves(&self, way: Way<'_>) -> bool {
        match way {
            Way::Vector(vector) => self.inner.len() as u32 == vector,
            Way::Matrix(_) => true,
        }
    }

    /// The instructions as a step.
    pub(super) fn access(&self, file: File) -> Access {
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
