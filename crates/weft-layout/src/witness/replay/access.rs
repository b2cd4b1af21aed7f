//! Accesses of scratch memory.

use alloc::{vec, vec::Vec};

use super::{Replay, UNDEFINED};
use crate::{
    step::{Access, FileType, Form, Group, Kind, combine},
    witness::WitnessError,
};

/// One instruction of one warp.
struct Instruction<'a> {
    access: &'a Access,
    group: &'a Group,
    ty: FileType,
    /// The address that each lane gives, without what warp and group add.
    given: &'a [u64],
    warp: u64,
    base: u64,
}

impl Replay<'_> {
    pub(super) fn access(&mut self, access: &Access) -> Result<(), WitnessError> {
        let ty = self.ty(access.file)?;
        self.check_groups(access, ty)?;
        let mut values = match access.kind {
            Kind::Store => self.read(access.file)?.to_vec(),
            Kind::Load => match core::mem::take(&mut self.files[access.file.index()]) {
                started if !started.is_empty() => started,
                _ => vec![UNDEFINED; self.rows(ty)? * self.lanes * self.warps],
            },
        };
        let given: Vec<u64> =
            (0..self.lanes as u64).map(|lane| combine(&access.lane, lane)).collect();
        for warp in (0..self.warps as u64).filter(|&warp| access.acting.takes_part(0, warp)) {
            let base = combine(&access.warp, warp);
            for group in &access.groups {
                let instruction = Instruction { access, group, ty, given: &given, warp, base };
                for lane in (0..self.lanes as u64).filter(|&l| access.acting.takes_part(l, 0)) {
                    self.access_lane(&instruction, lane, &mut values)?;
                }
            }
        }
        if access.kind == Kind::Load {
            self.files[access.file.index()] = values;
        }
        Ok(())
    }

    /// One thread's part of one instruction.
    fn access_lane(
        &mut self,
        instruction: &Instruction<'_>,
        lane: u64,
        values: &mut [u64],
    ) -> Result<(), WitnessError> {
        let &Instruction { access, group, ty, given, warp, base } = instruction;
        let bytes = u64::from(ty.element_bits / 8);
        let aligned = access.form.alignment(bytes * group.registers.len() as u64);
        let thread = (warp as u32) << self.plan.lane_bits | lane as u32;
        let parts = self.parts(ty)?;
        let mut byte = 0;
        for &register in &group.registers {
            for part in 0..parts {
                let row = warp as usize * ty.registers as usize + register as usize;
                let value = &mut values[(row * parts + part) * self.lanes + lane as usize];
                let place = access.form.place(lane, byte);
                let from = place.and_then(|(giver, inside)| {
                    Some((*given.get(giver as usize)? ^ base ^ group.address, inside))
                });
                let Some((start, inside)) = from else {
                    return Err(self.malformed("moves matrices that lanes give no rows for"));
                };
                let address = start.saturating_add(inside);
                if start & (aligned - 1) != 0 || !self.memory.holds(address, self.granule) {
                    return Err(self.malformed("accesses memory out of bounds or misaligned"));
                }
                let (now, cell) = (self.now, address / self.granule);
                let touched = match access.kind {
                    Kind::Store => self.memory.write(cell, *value, thread, now),
                    Kind::Load => self.memory.read(cell, thread, now).map(|read| *value = read),
                };
                let (step, lane, warp) = (self.step, lane as u32, warp as u32);
                touched.map_err(|other| {
                    let other = self.memory.name(other);
                    WitnessError::Race { step, address, thread: (lane, warp), other }
                })?;
                if access.kind == Kind::Load && *value == UNDEFINED {
                    return Err(WitnessError::Unwritten { step, lane, warp, address });
                }
                byte += self.granule;
            }
        }
        Ok(())
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
            let bytes = u64::from(ty.element_bits / 8) * group.registers.len() as u64;
            if let Form::Matrix(matrix) = access.form
                && (Form::matrices(matrix, bytes).is_none()
                    || access.acting.idle_lanes != 0
                    || self.lanes != 32
                    || ty.element_bits > 32)
            {
                return Err(
                    self.malformed("moves matrices that are not whole, or not by all of 32 lanes")
                );
            }
        }
        Ok(())
    }
}
