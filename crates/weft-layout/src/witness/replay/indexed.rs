//! Steps that follow numbers in registers.

use alloc::vec::Vec;

use super::{Replay, UNDEFINED};
use crate::{
    step::{DataMap, File, combine},
    witness::{Places, WitnessError},
};

impl Replay<'_> {
    /// Gives an input numbers: to each place that of its element.
    pub(in crate::witness) fn fill_numbers(
        &mut self,
        file: File,
        places: &Places,
        number: impl Fn(u64) -> u64,
    ) -> Result<(), WitnessError> {
        places.check(self.plan, file)?;
        let mut numbers = Vec::new();
        for warp in 0..self.warps as u64 {
            for register in 0..1_u64 << places.register.len() {
                let base = combine(&places.warp, warp) ^ combine(&places.register, register);
                let lanes = 0..self.lanes as u64;
                numbers.extend(lanes.map(|lane| number(base ^ combine(&places.lane, lane))));
            }
        }
        self.define_numbers(file, numbers)
    }

    pub(super) fn numbers_of(&self, file: File) -> Result<&[u64], WitnessError> {
        match self.numbers.get(file.index()) {
            Some(numbers) if !numbers.is_empty() => Ok(numbers),
            _ => Err(self.malformed("takes for numbers what is none")),
        }
    }

    pub(super) fn define_numbers(
        &mut self,
        file: File,
        numbers: Vec<u64>,
    ) -> Result<(), WitnessError> {
        let error = self.malformed("defines a file a second time");
        let free = self.files.get(file.index()).is_some_and(Vec::is_empty);
        match self.numbers.get_mut(file.index()) {
            Some(slot) if slot.is_empty() && free => {
                *slot = numbers;
                Ok(())
            }
            _ => Err(error),
        }
    }

    pub(super) fn affine(
        &mut self,
        from: File,
        to: File,
        map: &DataMap,
    ) -> Result<(), WitnessError> {
        let (ty, result) = (self.ty(from)?, self.ty(to)?);
        if ty.registers != result.registers || result.element_bits != 32 {
            return Err(self.malformed("does not make words of the numbers of its file"));
        }
        let rows = ty.registers as usize;
        let numbers = self.numbers_of(from)?.iter().enumerate();
        let images = numbers.map(|(index, &number)| {
            let (lane, warp) = self.thread(index, rows);
            let register = (index / self.lanes % rows.max(1)) as u64;
            map.apply(number, register, lane, warp)
        });
        let images: Vec<u64> = images.collect();
        self.define_numbers(to, images)
    }

    pub(super) fn fetch(&mut self, from: File, lane: File, to: File) -> Result<(), WitnessError> {
        let ty = self.same_type(from, to)?;
        let (parts, values) = (self.parts(ty)?, self.read(from)?);
        let numbers = self.numbers_for(lane, ty.registers)?;
        let mut fetched = Vec::with_capacity(values.len());
        for index in 0..values.len() {
            let (row, own) = (index / self.lanes, index % self.lanes);
            let other = numbers[row / parts * self.lanes + own];
            if other >= self.lanes as u64 {
                return Err(self.malformed("reads a lane that is not there"));
            }
            fetched.push(values[row * self.lanes + other as usize]);
        }
        self.define(to, fetched)
    }

    pub(super) fn pick(
        &mut self,
        even: File,
        odd: File,
        to: File,
        index: File,
        bit: u32,
    ) -> Result<(), WitnessError> {
        let ty = self.same_type(even, to)?;
        self.same_type(odd, to)?;
        let (parts, a, b) = (self.parts(ty)?, self.read(even)?, self.read(odd)?);
        let numbers = self.numbers_for(index, ty.registers)?;
        let pick = |index: usize| {
            let number = numbers[index / self.lanes / parts * self.lanes + index % self.lanes];
            if number.checked_shr(bit).unwrap_or(0) & 1 == 1 { b[index] } else { a[index] }
        };
        let values = (0..a.len()).map(pick).collect();
        self.define(to, values)
    }

    pub(super) fn lookup(&mut self, address: File, to: File) -> Result<(), WitnessError> {
        let ty = self.ty(to)?;
        let parts = self.parts(ty)?;
        let bytes = u64::from(ty.element_bits / 8);
        let addresses = self.numbers_for(address, ty.registers)?.to_vec();
        let mut values = alloc::vec![UNDEFINED; addresses.len() * parts];
        for (index, &address) in addresses.iter().enumerate() {
            if !address.is_multiple_of(bytes) || !self.memory.holds(address, bytes) {
                return Err(self.malformed("accesses memory out of bounds or misaligned"));
            }
            let (lane, warp) = self.thread(index, ty.registers as usize);
            let thread = (warp as u32) << self.plan.lane_bits | lane as u32;
            for part in 0..parts {
                let cell = address / self.granule + part as u64;
                let (step, at) = (self.step, cell * self.granule);
                let (lane, warp) = (lane as u32, warp as u32);
                let value = self.memory.read(cell, thread, self.now).map_err(|other| {
                    let other = self.memory.name(other);
                    WitnessError::Race { step, address: at, thread: (lane, warp), other }
                })?;
                if value == UNDEFINED {
                    return Err(WitnessError::Unwritten { step, lane, warp, address: at });
                }
                let row = index / self.lanes * parts + part;
                values[row * self.lanes + index % self.lanes] = value;
            }
        }
        self.define(to, values)
    }

    /// The numbers of a file of words with so many registers.
    fn numbers_for(&self, file: File, registers: u32) -> Result<&[u64], WitnessError> {
        let ty = self.ty(file)?;
        if ty.registers != registers || ty.element_bits != 32 {
            return Err(self.malformed("follows numbers that do not fit its file"));
        }
        self.numbers_of(file)
    }
}
