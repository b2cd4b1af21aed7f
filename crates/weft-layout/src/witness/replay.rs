//! The interpreter of steps.

use alloc::{vec, vec::Vec};

use super::{
    MAX_PLACES_LOG2, Place, Places, Time, WitnessError, check_size, memory::Memory, words::Words,
};
use crate::step::{Access, File, FileType, Group, Kind, Plan, Scope, Step, combine};

/// The value of what was never defined.
pub(super) const UNDEFINED: u64 = u64::MAX;

/// The values of all files of all threads.
///
/// A value is `word * operands + operand`, where letters are the elements of the tensor.
pub(super) struct Replay<'a> {
    plan: &'a Plan,
    lanes: usize,
    warps: usize,
    /// For each file its values at `(warp * registers + register) * lanes + lane`; empty before it
    /// is defined.
    files: Vec<Vec<u64>>,
    memory: Memory,
    words: Words,
    now: Time,
    step: usize,
}

impl<'a> Replay<'a> {
    pub(super) fn new(plan: &'a Plan, element_bits: u32) -> Result<Replay<'a>, WitnessError> {
        check_size(plan, element_bits)?;
        let accessed = plan.steps.iter().filter_map(|step| match step {
            Step::Access(access) => plan.files.get(access.file.index()),
            _ => None,
        });
        let granule = accessed.map(|ty| u64::from(ty.element_bits / 8)).min().unwrap_or(1);
        Ok(Replay {
            plan,
            lanes: 1 << plan.lane_bits,
            warps: 1 << plan.warp_bits,
            files: vec![Vec::new(); plan.files.len()],
            memory: Memory::new(plan.scratch_bytes, granule, plan.lane_bits)?,
            words: Words::new(1 << element_bits),
            now: Time::default(),
            step: 0,
        })
    }

    /// Gives every input the elements of its places.
    pub(super) fn fill_inputs(&mut self, places: &Places) -> Result<(), WitnessError> {
        let operands = self.plan.inputs.len() as u64;
        for (operand, &file) in self.plan.inputs.iter().enumerate() {
            places.check(self.plan, file)?;
            let lanes: Vec<u64> =
                (0..self.lanes).map(|lane| combine(&places.lane, lane as u64)).collect();
            let registers = 1_u64 << places.register.len();
            let mut values = Vec::with_capacity(self.warps * registers as usize * self.lanes);
            for warp in 0..self.warps as u64 {
                for register in 0..registers {
                    let base = combine(&places.warp, warp) ^ combine(&places.register, register);
                    values.extend(lanes.iter().map(|l| (l ^ base) * operands + operand as u64));
                }
            }
            self.files[file.index()] = values;
        }
        Ok(())
    }

    /// Runs all steps.
    pub(super) fn run(&mut self) -> Result<(), WitnessError> {
        for (index, step) in self.plan.steps.iter().enumerate() {
            self.step = index;
            match step {
                Step::Permute { from, to, source } => self.permute(*from, *to, source)?,
                Step::Concat { from, to } => self.concat(from, *to)?,
                Step::Select { even, odd, to, odd_where } => {
                    let (ty, even) = (self.same_type(*even, *to)?, self.read(*even)?);
                    self.same_type(*odd, *to)?;
                    let odd = self.read(*odd)?;
                    let pick = |index: usize| {
                        let (lane, warp) = self.thread(index, ty);
                        if odd_where.is_odd(lane, warp) { odd[index] } else { even[index] }
                    };
                    let values = (0..even.len()).map(pick).collect();
                    self.define(*to, values)?;
                }
                Step::Exchange { from, to, source } => {
                    let (ty, values) = (self.same_type(*from, *to)?, self.read(*from)?);
                    let fetch = |index: usize| {
                        let (lane, warp) = self.thread(index, ty);
                        let other = source.apply(lane, warp) as usize;
                        let row = index - lane as usize;
                        (other < self.lanes).then(|| values[row + other])
                    };
                    let fetched: Option<Vec<u64>> = (0..values.len()).map(fetch).collect();
                    let fetched = fetched.ok_or(self.malformed("reads a lane that is not there"));
                    self.define(*to, fetched?)?;
                }
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
        mut check: impl FnMut(&Words, usize, Place, u64, u64) -> Result<(), WitnessError>,
    ) -> Result<(), WitnessError> {
        if self.plan.outputs.len() != self.plan.inputs.len() {
            return Err(WitnessError::Layouts("there are not as many results as operands"));
        }
        let lanes: Vec<u64> =
            (0..self.lanes).map(|lane| combine(&places.lane, lane as u64)).collect();
        for (operand, &file) in self.plan.outputs.iter().enumerate() {
            places.check(self.plan, file)?;
            let values = self.read(file)?;
            let registers = 1_u64 << places.register.len();
            let mut rows = values.chunks_exact(self.lanes);
            for warp in 0..self.warps as u64 {
                for register in 0..registers {
                    let base = combine(&places.warp, warp) ^ combine(&places.register, register);
                    let row = rows.next().unwrap_or_default();
                    for (lane, (&tag, element)) in row.iter().zip(&lanes).enumerate() {
                        let (register, lane, warp) = (register as u32, lane as u32, warp as u32);
                        let place = Place { register, lane, warp };
                        check(&self.words, operand, place, element ^ base, tag)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn permute(&mut self, from: File, to: File, source: &[u32]) -> Result<(), WitnessError> {
        let (old, new) = (self.ty(from)?, self.ty(to)?);
        let bad = |&register: &u32| register >= old.registers;
        if old.element_bits != new.element_bits
            || source.len() != new.registers as usize
            || source.iter().any(bad)
        {
            return Err(self.malformed("does not permute the registers of its files"));
        }
        let values = self.read(from)?;
        let mut moved = Vec::with_capacity(self.warps * source.len() * self.lanes);
        for warp in 0..self.warps {
            for &register in source {
                let row = (warp * old.registers as usize + register as usize) * self.lanes;
                moved.extend_from_slice(&values[row..row + self.lanes]);
            }
        }
        self.define(to, moved)
    }

    fn concat(&mut self, from: &[File], to: File) -> Result<(), WitnessError> {
        let ty = self.ty(to)?;
        let (mut parts, mut registers) = (Vec::with_capacity(from.len()), 0_u64);
        for &file in from {
            let part = self.ty(file)?;
            registers += u64::from(part.registers);
            if part.element_bits != ty.element_bits {
                return Err(self.malformed("mixes types of files"));
            }
            parts.push((part.registers as usize * self.lanes, self.read(file)?));
        }
        if registers != u64::from(ty.registers) {
            return Err(self.malformed("does not fill its file"));
        }
        let mut values = Vec::with_capacity(registers as usize * self.lanes * self.warps);
        for warp in 0..self.warps {
            for (row, part) in &parts {
                values.extend_from_slice(&part[warp * row..(warp + 1) * row]);
            }
        }
        self.define(to, values)
    }

    fn combine(
        &mut self,
        a: &[File],
        b: &[File],
        to: &[File],
        ordered: bool,
    ) -> Result<(), WitnessError> {
        let operands = self.plan.inputs.len();
        if [a.len(), b.len(), to.len()] != [operands; 3] || operands == 0 {
            return Err(self.malformed("does not combine one value of each operand"));
        }
        self.words.ordered |= ordered;
        let mut registers = None;
        for (index, (&left, &right)) in a.iter().zip(b).enumerate() {
            let ty = self.same_type(left, to[index])?;
            self.same_type(right, to[index])?;
            if *registers.get_or_insert(ty.registers) != ty.registers {
                return Err(self.malformed("combines files of different sizes"));
            }
        }
        let count = registers.unwrap_or(0) as usize * self.lanes * self.warps;
        if self.words.len().saturating_add(count) > 1 << MAX_PLACES_LOG2 {
            return Err(WitnessError::TooLarge);
        }
        let mut results = vec![Vec::with_capacity(count); operands];
        for index in 0..count {
            let Some((left, right)) = self.word(a, index).zip(self.word(b, index)) else {
                let (lane, warp) = self.thread_of(index, registers.unwrap_or(1));
                let register = index / self.lanes % registers.unwrap_or(1).max(1) as usize;
                let (register, lane, warp) = (register as u32, lane as u32, warp as u32);
                let place = Place { register, lane, warp };
                return Err(WitnessError::Mixed { step: self.step, place });
            };
            let word = self.words.concatenate(left, right, ordered);
            for (operand, values) in results.iter_mut().enumerate() {
                values.push(word * operands as u64 + operand as u64);
            }
        }
        for (&file, values) in to.iter().zip(results) {
            self.define(file, values)?;
        }
        Ok(())
    }

    /// The word that all files hold at a place, each its own component of it.
    fn word(&self, files: &[File], index: usize) -> Option<u64> {
        let operands = files.len() as u64;
        let mut word = None;
        for (operand, file) in files.iter().enumerate() {
            let tag = *self.files.get(file.index())?.get(index)?;
            let same = word.is_none_or(|word| word == tag / operands);
            if tag == UNDEFINED || tag % operands != operand as u64 || !same {
                return None;
            }
            word = Some(tag / operands);
        }
        word
    }

    fn access(&mut self, access: &Access) -> Result<(), WitnessError> {
        let ty = self.ty(access.file)?;
        self.check_groups(access, ty)?;
        let mut values = match access.kind {
            Kind::Store => self.read(access.file)?.to_vec(),
            Kind::Load => match core::mem::take(&mut self.files[access.file.index()]) {
                started if !started.is_empty() => started,
                _ => vec![UNDEFINED; ty.registers as usize * self.lanes * self.warps],
            },
        };
        let acting = |lane: &u64| access.acting.takes_part(*lane, 0);
        let lanes: Vec<(u64, u64)> = (0..self.lanes as u64)
            .filter(acting)
            .map(|lane| (lane, combine(&access.lane, lane)))
            .collect();
        for warp in (0..self.warps as u64).filter(|&warp| access.acting.takes_part(0, warp)) {
            let base = combine(&access.warp, warp);
            for group in &access.groups {
                for &(lane, address) in &lanes {
                    let address = address ^ base ^ group.address;
                    self.access_vector(access.kind, group, ty, (lane, warp), address, &mut values)?;
                }
            }
        }
        if access.kind == Kind::Load {
            self.files[access.file.index()] = values;
        }
        Ok(())
    }

    /// One thread's part of one vector instruction.
    fn access_vector(
        &mut self,
        kind: Kind,
        group: &Group,
        ty: FileType,
        (lane, warp): (u64, u64),
        address: u64,
        values: &mut [u64],
    ) -> Result<(), WitnessError> {
        let bytes = u64::from(ty.element_bits / 8);
        let width = bytes * group.registers.len() as u64;
        if address & (width - 1) != 0 || !self.memory.holds(address, width) {
            return Err(self.malformed("accesses memory out of bounds or misaligned"));
        }
        let thread = (warp as u32) << self.plan.lane_bits | lane as u32;
        let parts = bytes / self.memory.granule;
        let mut cell = address / self.memory.granule;
        for &register in &group.registers {
            let row = (warp as usize * ty.registers as usize + register as usize) * self.lanes;
            let value = &mut values[row + lane as usize];
            let address = cell * self.memory.granule;
            for part in 0..parts {
                let now = self.now;
                let race = |memory: &Memory, other| WitnessError::Race {
                    step: self.step,
                    address,
                    thread: (lane as u32, warp as u32),
                    other: memory.name(other),
                };
                if kind == Kind::Store {
                    let stored = if *value == UNDEFINED { UNDEFINED } else { *value << 3 | part };
                    let written = self.memory.write(cell, stored, thread, now);
                    written.map_err(|other| race(&self.memory, other))?;
                } else {
                    let read = self.memory.read(cell, thread, now);
                    let read = read.map_err(|other| race(&self.memory, other))?;
                    let (step, lane, warp) = (self.step, lane as u32, warp as u32);
                    if read == UNDEFINED {
                        return Err(WitnessError::Unwritten { step, lane, warp, address });
                    }
                    let torn = read & 7 != part || (part > 0 && read >> 3 != *value);
                    // A narrow read of a wide value sees only its first part.
                    if torn || (part + 1 == parts && !self.ends_here(cell, read)) {
                        return Err(WitnessError::Torn { step, lane, warp, address });
                    }
                    *value = read >> 3;
                }
                cell += 1;
            }
        }
        Ok(())
    }

    /// Whether the value of which `cell` holds a part does not go on in the next cell.
    fn ends_here(&self, cell: u64, value: u64) -> bool {
        self.memory.peek(cell + 1) != Some(value + 1)
    }

    fn check_groups(&self, access: &Access, ty: FileType) -> Result<(), WitnessError> {
        if !ty.element_bits.is_power_of_two() || !(8..=64).contains(&ty.element_bits) {
            return Err(self.malformed("moves elements that are no 1, 2, 4 or 8 bytes"));
        }
        for group in &access.groups {
            if !group.registers.len().is_power_of_two()
                || group.registers.iter().any(|&register| register >= ty.registers)
            {
                return Err(self.malformed("has a group of registers that are not there"));
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

    fn thread(&self, index: usize, ty: FileType) -> (u64, u64) {
        self.thread_of(index, ty.registers)
    }

    /// Lane and warp of the value at `index` of a file of `registers` registers.
    fn thread_of(&self, index: usize, registers: u32) -> (u64, u64) {
        let warp = index / self.lanes / registers.max(1) as usize;
        ((index % self.lanes) as u64, warp as u64)
    }

    fn malformed(&self, what: &'static str) -> WitnessError {
        WitnessError::Malformed { step: self.step, what }
    }
}
