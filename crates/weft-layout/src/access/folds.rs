//! All memories in which bits of the row are folded into bits of the column.

use alloc::vec::Vec;

use super::{
    ConflictsError, Kind,
    fit::{Fit, stored_bits},
    serve::Queues,
    wavefronts,
};
use crate::{
    affine::Affine,
    f2::{low_mask, ones},
    layout::Layout,
    machine::{MAX_ACCESS_LOG2, Machine},
    space::{OFFSET, Space},
};

/// The memories of a tensor that keep its rows and fold bits of the row into bits of the column.
///
/// The rows of a tensor are along its last axis, and whatever other coordinates there are count them.
/// In memory number `n` bit `i` of the column is flipped in all rows whose bit `j` is one, for each
/// `j` and `i` for which `n` has bit `j * c + i`; `c` is the number of bits of the column.
/// Number 0 is row-major.
#[derive(Clone, Debug)]
pub struct Folds {
    outs: Space,
    /// Bits of the column.
    columns: u32,
    /// Bits of the row.
    rows: u32,
}

impl Folds {
    /// The folds of a tensor; none where it has no rows and columns, or more than 2⁶³ folds.
    pub fn of(outs: &Space) -> Option<Folds> {
        let last = *outs.coordinate_order().last()?;
        let columns = outs.bits(last);
        let rows = outs.total_bits() - columns;
        let possible = outs.is_tensor() && columns.checked_mul(rows).is_some_and(|bits| bits < 64);
        possible.then(|| Folds { outs: outs.clone(), columns, rows })
    }

    /// The logarithm of their number: bits of the row times bits of the column.
    pub fn toggles(&self) -> u32 {
        self.rows * self.columns
    }

    /// What a fold flips in the elements of a row.
    fn mask(&self, number: u64, row: u64) -> u64 {
        let each = ones(row).map(|bit| number >> (bit * self.columns));
        each.fold(0, |all, mask| all ^ mask) & low_mask(self.columns)
    }

    /// The memory of this number: from `offset` to the tensor.
    pub fn memory(&self, number: u64) -> Option<Layout> {
        let bits = self.outs.total_bits();
        let held = (0..bits).map(|bit| 1_u64 << bit);
        let columns: Vec<u64> =
            held.map(|place| place ^ self.mask(number, place >> self.columns)).collect();
        Layout::new(Space::new(&[(OFFSET, bits)]).ok()?, self.outs.clone(), &columns).ok()
    }
}

/// An access that is counted on one memory after the other.
pub struct Counter<'m> {
    machine: &'m Machine,
    kind: Kind,
    folds: Folds,
    registers: Layout,
    bits: u64,
    /// For each width the lanes of each phase.
    phases: [Vec<Vec<u32>>; MAX_ACCESS_LOG2 as usize + 1],
    queues: Queues,
    /// The offset of each lane.
    lanes: Vec<u64>,
}

/// What one warp takes on one memory, by the rank law and counted address by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Counted {
    /// How many instructions the warp issues.
    pub instructions: u64,
    /// Their wavefronts by the rank law.
    pub law: u64,
    /// The wavefronts of all of them, counted from their addresses.
    pub counted: u64,
}

impl<'m> Counter<'m> {
    /// The counter of an access; the arguments are those of [`conflicts`](super::conflicts), with
    /// folds of the same tensor in the place of a memory.
    pub fn new(
        machine: &'m Machine,
        kind: Kind,
        registers: &Layout,
        folds: &Folds,
        element_bits: u32,
    ) -> Result<Counter<'m>, ConflictsError> {
        let first = folds.memory(0).ok_or(ConflictsError::NoOffset)?;
        // What holds of one memory of the family holds of all, but for the vectors.
        let first = Affine::from(first);
        let fit = Fit::new(machine, kind, registers, (&first).into(), element_bits)?;
        let lanes = registers.columns(crate::space::LANE);
        let copies = (0..).zip(lanes).filter(|(_, column)| **column == 0);
        let copies = copies.fold(0, |mask, (bit, _)| mask | 1_u64 << bit) & !fit.idle;
        let acting = (0..machine.lanes()).filter(|&lane| fit.acts(lane.into()));
        let phases = core::array::from_fn(|width| {
            let served = machine.phases.served(kind, width as u32, copies);
            let mut all: Vec<(u64, u32)> =
                acting.clone().map(|lane| (served.reduce(lane.into()), lane)).collect();
            all.sort_unstable();
            let phase = |lanes: &[(u64, u32)]| lanes.iter().map(|&(_, lane)| lane).collect();
            all.chunk_by(|a, b| a.0 == b.0).map(phase).collect()
        });
        Ok(Counter {
            machine,
            kind,
            folds: folds.clone(),
            registers: registers.clone(),
            bits: stored_bits(element_bits)?,
            phases,
            queues: Queues::new(),
            lanes: Vec::new(),
        })
    }

    /// What one warp takes on the memory of this number.
    pub fn count(&mut self, number: u64) -> Result<Counted, ConflictsError> {
        let folds = &self.folds;
        let columns = self.registers.ins().iter().flat_map(|(label, start, count)| {
            (0..count).map(move |bit| (label, bit, 1_u64 << (start + bit)))
        });
        // A fold is its own inverse.
        let offset = |place: u64| {
            let element = self.registers.apply_flat(place);
            element ^ folds.mask(number, element >> folds.columns)
        };
        let columns = columns.map(|(label, bit, place)| (label, bit, place, offset(place)));
        let fit = Fit::of_offsets(self.machine, self.kind, None, self.bits, 0, columns)?;
        let instructions = 1_u64.checked_shl(fit.groups.len() as u32).unwrap_or(u64::MAX);
        let columns = fit.lane_columns();
        let one = wavefronts(self.machine, self.kind, &columns, fit.vector_bytes, fit.idle)?;
        let law = instructions.saturating_mul(one.actual.into());
        Ok(Counted { instructions, law, counted: self.simulate(&fit, instructions) })
    }

    /// The wavefronts of all instructions of the first warp, counted address by address.
    fn simulate(&mut self, fit: &Fit<'_>, instructions: u64) -> u64 {
        self.lanes.clear();
        self.lanes.push(0);
        for column in &fit.lanes {
            for lane in 0..self.lanes.len() {
                self.lanes.push(self.lanes[lane] ^ column);
            }
        }
        let word = self.machine.bank_bytes_log2;
        let banks = low_mask(self.machine.banks_log2_of(self.kind));
        let width = fit.vector_bytes.max(1).ilog2();
        let words = 1_u64 << width.saturating_sub(word);
        let phases = self.phases.get(width as usize).map_or(&[][..], |phases| phases);
        let mut sum = 0_u64;
        for instruction in 0..instructions {
            let group = super::tensor::sum(&fit.groups, instruction).1;
            for phase in phases {
                self.queues.clear();
                for &lane in phase {
                    let offset = self.lanes[lane as usize] ^ group;
                    let byte = (offset & !low_mask(fit.vector_log2)) * self.bits / 8;
                    let start = byte >> word;
                    for address in start..start + words {
                        self.queues.ask(address & banks, address);
                    }
                }
                sum += u64::from(self.queues.wavefronts());
            }
        }
        sum
    }
}
