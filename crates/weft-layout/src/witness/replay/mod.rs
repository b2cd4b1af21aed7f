//! The interpreter of steps.

mod access;
mod count;
mod indexed;
mod registers;

pub(super) use count::{Counted, sum, weight};

use alloc::{vec, vec::Vec};

use super::{
    Found, Place, Places, Time, WitnessError, check_size, granule, memory::Memory, parts,
    words::Words,
};
use crate::step::{File, FileType, Plan, Scope, Step, combine};

/// The value of what was never defined.
pub(super) const UNDEFINED: u64 = u64::MAX;

/// The values of all files of all threads.
///
/// A value is `word * operands + operand`, where letters are the elements of the tensor; a register
/// holds its parts, which are `value << 3 | part`. While numbers are counted, a value is a sum of the
/// weights of elements instead, and a file of numbers holds the elements that they stand for.
pub(super) struct Replay<'a> {
    plan: &'a Plan,
    lanes: usize,
    warps: usize,
    /// The bytes of a part.
    granule: u64,
    /// For each file its parts at `((warp * registers + register) * parts + part) * lanes + lane`;
    /// empty before it is defined.
    files: Vec<Vec<u64>>,
    /// For each file of numbers its registers, at `(warp * registers + register) * lanes + lane`.
    numbers: Vec<Vec<u64>>,
    memory: Memory,
    words: Words,
    /// What is counted, if numbers are counted instead of words made.
    counted: Option<Counted>,
    now: Time,
    step: usize,
}

impl<'a> Replay<'a> {
    pub(super) fn new(plan: &'a Plan, element_bits: u32) -> Result<Replay<'a>, WitnessError> {
        check_size(plan, element_bits)?;
        let granule = granule(plan);
        Ok(Replay {
            plan,
            lanes: 1 << plan.lane_bits,
            warps: 1 << plan.warp_bits,
            granule,
            files: vec![Vec::new(); plan.files.len()],
            numbers: vec![Vec::new(); plan.files.len()],
            memory: Memory::new(plan.scratch_bytes, granule, plan.lane_bits)?,
            words: Words::new(1 << element_bits),
            counted: None,
            now: Time::default(),
            step: 0,
        })
    }

    /// Gives every input the elements of its places.
    pub(super) fn fill_inputs(&mut self, places: &Places) -> Result<(), WitnessError> {
        self.fill(places, self.plan.inputs.len())
    }

    /// Gives the first `operands` inputs the elements of their places.
    pub(super) fn fill(&mut self, places: &Places, operands: usize) -> Result<(), WitnessError> {
        let inputs = self.plan.inputs.iter().take(operands).enumerate();
        let operands = operands as u64;
        for (operand, &file) in inputs {
            places.check(self.plan, file)?;
            let lanes: Vec<u64> =
                (0..self.lanes).map(|lane| combine(&places.lane, lane as u64)).collect();
            let parts = self.parts(self.ty(file)?)? as u64;
            let registers = 1_u64 << places.register.len();
            let count = self.warps * registers as usize * parts as usize * self.lanes;
            let mut values = Vec::with_capacity(count);
            for warp in 0..self.warps as u64 {
                for register in 0..registers {
                    let base = combine(&places.warp, warp) ^ combine(&places.register, register);
                    let value = |lane: &u64| (lane ^ base) * operands + operand as u64;
                    for part in 0..parts {
                        values.extend(lanes.iter().map(|lane| value(lane) << 3 | part));
                    }
                }
            }
            self.files[file.index()] = values;
        }
        Ok(())
    }

    /// The bytes of a part.
    pub(super) fn granule(&self) -> u64 {
        self.granule
    }

    /// The values of the parts of a register; none where it was not defined.
    pub(super) fn register(
        &self,
        file: File,
        register: u32,
        lane: u32,
        warp: u32,
    ) -> Vec<Option<u64>> {
        let (Ok(ty), Ok(values)) = (self.ty(file), self.read(file)) else { return Vec::new() };
        let (Ok(parts), lane) = (self.parts(ty), lane as usize) else { return Vec::new() };
        if register >= ty.registers || lane >= self.lanes || warp as usize >= self.warps {
            return Vec::new();
        }
        let row = warp as usize * ty.registers as usize + register as usize;
        let part = |part| values.get((row * parts + part) * self.lanes + lane).copied();
        (0..parts).map(|index| part(index).filter(|&value| value != UNDEFINED)).collect()
    }

    /// The words that combinations made.
    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    /// Runs all steps, until the first that is wrong.
    pub(super) fn run(&mut self) -> Result<(), WitnessError> {
        for (index, step) in self.plan.steps.iter().enumerate() {
            self.step = index;
            match step {
                Step::Permute { from, to, source } => self.permute(*from, *to, source)?,
                Step::Concat { from, to } => self.concat(from, *to)?,
                Step::Select { even, odd, to, odd_where } => {
                    self.choose(*odd, *even, *to, |lane, warp| odd_where.is_odd(lane, warp))?;
                }
                Step::Where { inside, outside, to, threads } => {
                    self.choose(*inside, *outside, *to, |lane, warp| threads.holds(lane, warp))?;
                }
                Step::Bytes { a, b, to, selector } => self.bytes(*a, *b, *to, selector)?,
                Step::Exchange { from, to, source } => {
                    self.exchange(*from, *to, |lane, warp| source.apply(lane, warp))?;
                }
                Step::Shift { from, to, bits, neighbour } => {
                    self.exchange(*from, *to, |lane, _| neighbour.of(lane, bits))?;
                }
                Step::Affine { from, to, map } => self.affine(*from, *to, map)?,
                Step::Fetch { from, lane, to } => self.fetch(*from, *lane, *to)?,
                Step::Pick { even, odd, to, index, bit } => {
                    self.pick(*even, *odd, *to, *index, *bit)?;
                }
                Step::Lookup { address, to } => self.lookup(*address, *to)?,
                Step::Zero { to } => self.zero(*to)?,
                Step::Count(count) => self.count(count)?,
                Step::Add { a, b, to } => self.add(*a, *b, *to)?,
                Step::Access(access) => self.access(access)?,
                Step::Barrier(scope) => {
                    self.now.warp += 1;
                    self.now.block += u32::from(*scope == Scope::Block);
                }
                Step::Combine { a, b, to, ordered, .. } => self.combine(a, b, to, *ordered)?,
            }
        }
        Ok(())
    }

    /// Calls `check` with operand, place, element and value for every place of every output.
    pub(super) fn each_output(
        &self,
        places: &Places,
        check: impl FnMut(&Words, usize, Place, u64, Result<u64, Found>) -> Result<(), WitnessError>,
    ) -> Result<(), WitnessError> {
        if self.plan.outputs.len() != self.plan.inputs.len() {
            return Err(WitnessError::Layouts("there are not as many results as operands"));
        }
        self.each_result(places, check)
    }

    /// As [`each_output`](Self::each_output), where there may be fewer outputs than inputs.
    pub(super) fn each_result(
        &self,
        places: &Places,
        mut check: impl FnMut(&Words, usize, Place, u64, Result<u64, Found>) -> Result<(), WitnessError>,
    ) -> Result<(), WitnessError> {
        let pairs = self.plan.outputs.iter().zip(&self.plan.inputs);
        for (operand, (&file, &input)) in pairs.enumerate() {
            if self.ty(file)?.element_bits != self.ty(input)?.element_bits {
                return Err(WitnessError::Layouts("a result is not as wide as its operand"));
            }
            self.each_place(file, places, |place, element, tag| {
                check(&self.words, operand, place, element, tag)
            })?;
        }
        Ok(())
    }

    /// Calls `check` with place, element and value for every place of a file.
    pub(super) fn each_place(
        &self,
        file: File,
        places: &Places,
        mut check: impl FnMut(Place, u64, Result<u64, Found>) -> Result<(), WitnessError>,
    ) -> Result<(), WitnessError> {
        let lanes: Vec<u64> =
            (0..self.lanes).map(|lane| combine(&places.lane, lane as u64)).collect();
        places.check(self.plan, file)?;
        let (ty, values) = (self.ty(file)?, self.read(file)?);
        let parts = self.parts(ty)?;
        let registers = 1_u64 << places.register.len();
        let mut rows = values.chunks_exact(self.lanes * parts);
        for warp in 0..self.warps as u64 {
            for register in 0..registers {
                let base = combine(&places.warp, warp) ^ combine(&places.register, register);
                let row = rows.next().unwrap_or_default();
                for (lane, element) in lanes.iter().enumerate() {
                    let tag = whole(row.iter().skip(lane).step_by(self.lanes));
                    let (register, lane, warp) = (register as u32, lane as u32, warp as u32);
                    check(Place { register, lane, warp }, element ^ base, tag)?;
                }
            }
        }
        Ok(())
    }

    fn ty(&self, file: File) -> Result<FileType, WitnessError> {
        let ty = self.plan.files.get(file.index()).copied();
        ty.ok_or(self.malformed("names a file that is not there"))
    }

    fn same_type(&self, a: File, b: File) -> Result<FileType, WitnessError> {
        let ty = self.ty(a)?;
        if ty == self.ty(b)? { Ok(ty) } else { Err(self.malformed("mixes types of files")) }
    }

    fn read(&self, file: File) -> Result<&[u64], WitnessError> {
        match self.files.get(file.index()) {
            Some(values) if !values.is_empty() => Ok(values),
            _ => Err(self.malformed("reads a file that is not defined")),
        }
    }

    fn define(&mut self, file: File, values: Vec<u64>) -> Result<(), WitnessError> {
        let error = self.malformed("defines a file a second time");
        match self.files.get_mut(file.index()) {
            Some(slot) if slot.is_empty() => {
                *slot = values;
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// The parts of one register.
    fn parts(&self, ty: FileType) -> Result<usize, WitnessError> {
        let parts = parts(ty, self.granule).map(|parts| parts as usize);
        parts.ok_or(self.malformed("moves elements that are no 1, 2, 4 or 8 bytes"))
    }

    /// The parts of all registers of a thread.
    fn rows(&self, ty: FileType) -> Result<usize, WitnessError> {
        Ok(ty.registers as usize * self.parts(ty)?)
    }

    /// Lane and warp of what stands at `index` where a thread has `rows` values.
    fn thread(&self, index: usize, rows: usize) -> (u64, u64) {
        let warp = index / self.lanes / rows.max(1);
        ((index % self.lanes) as u64, warp as u64)
    }

    fn malformed(&self, what: &'static str) -> WitnessError {
        WitnessError::Malformed { step: self.step, what }
    }
}

/// The value that parts form.
fn whole<'a>(parts: impl Iterator<Item = &'a u64>) -> Result<u64, Found> {
    let mut value = None;
    for (part, &found) in (0..).zip(parts) {
        if found == UNDEFINED {
            return Err(Found::Nothing);
        }
        if found & 7 != part || *value.get_or_insert(found >> 3) != found >> 3 {
            return Err(Found::Pieces);
        }
    }
    value.ok_or(Found::Nothing)
}
