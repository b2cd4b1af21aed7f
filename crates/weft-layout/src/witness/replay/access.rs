//! Accesses of scratch memory.

use alloc::{vec, vec::Vec};

use super::{Replay, UNDEFINED};
use crate::{
    step::{Access, FileType, Group, Kind, combine},
    witness::WitnessError,
};

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
        let parts = self.parts(ty)?;
        let mut cell = address / self.granule;
        for &register in &group.registers {
            for part in 0..parts {
                let row = warp as usize * ty.registers as usize + register as usize;
                let value = &mut values[(row * parts + part) * self.lanes + lane as usize];
                let (now, address) = (self.now, cell * self.granule);
                let touched = match kind {
                    Kind::Store => self.memory.write(cell, *value, thread, now),
                    Kind::Load => self.memory.read(cell, thread, now).map(|read| *value = read),
                };
                let (step, lane, warp) = (self.step, lane as u32, warp as u32);
                touched.map_err(|other| {
                    let other = self.memory.name(other);
                    WitnessError::Race { step, address, thread: (lane, warp), other }
                })?;
                if kind == Kind::Load && *value == UNDEFINED {
                    return Err(WitnessError::Unwritten { step, lane, warp, address });
                }
                cell += 1;
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
        }
        Ok(())
    }
}
