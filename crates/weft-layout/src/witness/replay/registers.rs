//! Steps between registers.

use alloc::{vec, vec::Vec};

use super::{Replay, UNDEFINED, whole};
use crate::{
    step::{File, Selector},
    witness::{MAX_PLACES_LOG2, Place, WitnessError, byte_of_pair},
};

impl Replay<'_> {
    pub(super) fn permute(
        &mut self,
        from: File,
        to: File,
        source: &[u32],
    ) -> Result<(), WitnessError> {
        let (old, new) = (self.ty(from)?, self.ty(to)?);
        let bad = |&register: &u32| register >= old.registers;
        if old.element_bits != new.element_bits
            || source.len() != new.registers as usize
            || source.iter().any(bad)
        {
            return Err(self.malformed("does not permute the registers of its files"));
        }
        let moved = |values: &[u64], width: usize| {
            let mut moved = Vec::with_capacity(self.warps * source.len() * width);
            for warp in 0..self.warps {
                for &register in source {
                    let row = (warp * old.registers as usize + register as usize) * width;
                    moved.extend_from_slice(&values[row..row + width]);
                }
            }
            moved
        };
        if let Ok(numbers) = self.numbers_of(from) {
            let numbers = moved(numbers, self.lanes);
            return self.define_numbers(to, numbers);
        }
        let moved = moved(self.read(from)?, self.parts(old)? * self.lanes);
        self.define(to, moved)
    }

    pub(super) fn concat(&mut self, from: &[File], to: File) -> Result<(), WitnessError> {
        let ty = self.ty(to)?;
        let (mut parts, mut registers) = (Vec::with_capacity(from.len()), 0_u64);
        for &file in from {
            let part = self.ty(file)?;
            registers += u64::from(part.registers);
            if part.element_bits != ty.element_bits {
                return Err(self.malformed("mixes types of files"));
            }
            parts.push((self.rows(part)? * self.lanes, self.read(file)?));
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

    /// `to` is `a` where `takes` says so of lane and warp, else `b`.
    pub(super) fn choose(
        &mut self,
        a: File,
        b: File,
        to: File,
        takes: impl Fn(u64, u64) -> bool,
    ) -> Result<(), WitnessError> {
        let (ty, a) = (self.same_type(a, to)?, self.read(a)?);
        self.same_type(b, to)?;
        let (rows, b) = (self.rows(ty)?, self.read(b)?);
        let pick = |index: usize| {
            let (lane, warp) = self.thread(index, rows);
            if takes(lane, warp) { a[index] } else { b[index] }
        };
        let values = (0..a.len()).map(pick).collect();
        self.define(to, values)
    }

    /// Each lane reads the lane that `source` gives for lane and warp.
    pub(super) fn exchange(
        &mut self,
        from: File,
        to: File,
        source: impl Fn(u64, u64) -> u64,
    ) -> Result<(), WitnessError> {
        let (ty, values) = (self.same_type(from, to)?, self.read(from)?);
        let rows = self.rows(ty)?;
        let fetch = |index: usize| {
            let (lane, warp) = self.thread(index, rows);
            let other = source(lane, warp) as usize;
            let row = index - lane as usize;
            (other < self.lanes).then(|| values[row + other])
        };
        let fetched: Option<Vec<u64>> = (0..values.len()).map(fetch).collect();
        let fetched = fetched.ok_or(self.malformed("reads a lane that is not there"));
        self.define(to, fetched?)
    }

    pub(super) fn combine(
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
        let registers = registers.unwrap_or(0) as usize;
        let count = registers * self.lanes * self.warps;
        if self.words.len().saturating_add(count) > 1 << MAX_PLACES_LOG2 {
            return Err(WitnessError::TooLarge);
        }
        let mut results = Vec::with_capacity(operands);
        for &file in to {
            let rows = self.rows(self.ty(file)?)?;
            results.push(vec![UNDEFINED; rows * self.lanes * self.warps]);
        }
        for index in 0..count {
            let Some((left, right)) = self.word(a, index).zip(self.word(b, index)) else {
                let (lane, warp) = self.thread(index, registers);
                let register = index / self.lanes % registers.max(1);
                let (register, lane, warp) = (register as u32, lane as u32, warp as u32);
                let place = Place { register, lane, warp };
                return Err(WitnessError::Mixed { step: self.step, place });
            };
            let word = self.words.concatenate(left, right, ordered);
            for (operand, (&file, values)) in to.iter().zip(&mut results).enumerate() {
                let parts = self.parts(self.ty(file)?)?;
                let value = word * operands as u64 + operand as u64;
                for part in 0..parts {
                    let place = (index / self.lanes * parts + part) * self.lanes;
                    values[place + index % self.lanes] = value << 3 | part as u64;
                }
            }
        }
        for (&file, values) in to.iter().zip(results) {
            self.define(file, values)?;
        }
        Ok(())
    }

    /// The word that all files hold at a place, each its own component of it; `index` counts lanes
    /// first, then registers, then warps.
    fn word(&self, files: &[File], index: usize) -> Option<u64> {
        let operands = files.len() as u64;
        let mut word = None;
        for (operand, &file) in files.iter().enumerate() {
            let parts = self.parts(self.ty(file).ok()?).ok()?;
            let start = index / self.lanes * parts * self.lanes + index % self.lanes;
            let row = self.files.get(file.index())?.get(start..)?;
            let tag = whole(row.iter().step_by(self.lanes).take(parts)).ok()?;
            let same = word.is_none_or(|word| word == tag / operands);
            if tag % operands != operand as u64 || !same {
                return None;
            }
            word = Some(tag / operands);
        }
        word
    }

    pub(super) fn bytes(
        &mut self,
        a: File,
        b: File,
        to: File,
        selector: &Selector,
    ) -> Result<(), WitnessError> {
        let (first, second, ty) = (self.ty(a)?, self.ty(b)?, self.ty(to)?);
        let types = [first, second, ty];
        if types.iter().any(|ty| ty.element_bits > 32 || ty.registers != first.registers) {
            return Err(self.malformed("permutes bytes of files that do not fit each other"));
        }
        let (low, high) = (self.read(a)?, self.read(b)?);
        let rows = [self.rows(first)?, self.rows(second)?, self.rows(ty)?];
        let bytes = ty.element_bits / 8;
        let mut values = Vec::with_capacity(rows[2] * self.lanes * self.warps);
        for warp in 0..self.warps {
            for register in 0..ty.registers as usize {
                for byte in 0..bytes {
                    for lane in 0..self.lanes {
                        let nibbles = selector.apply(lane as u64, warp as u64);
                        let index = nibbles >> (4 * byte) & 15;
                        if index > 7 {
                            return Err(self.malformed("selects a byte that is not there"));
                        }
                        let (file, ty, rows) =
                            if index < 4 { (low, first, rows[0]) } else { (high, second, rows[1]) };
                        let parts = rows / ty.registers.max(1) as usize;
                        let from = byte_of_pair(index, first, second).map(|byte| {
                            let row = warp * rows + register * parts + byte as usize;
                            row * self.lanes + lane
                        });
                        let part = from.and_then(|from| file.get(from).copied());
                        values.push(part.unwrap_or(UNDEFINED));
                    }
                }
            }
        }
        self.define(to, values)
    }
}
