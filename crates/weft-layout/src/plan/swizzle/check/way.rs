//! What an access asks of the offsets, from the definition of its instruction.

use alloc::{vec, vec::Vec};

use super::super::problem::{Access, Problem, Solved};
use crate::{
    f2::{self, Echelon, Subspace, low_mask, ones, parity},
    machine::{Kind, Matrix, MatrixMove},
    space::{LANE, REGISTER, WARP},
    step::Form,
};

/// One way in which an access may move: what stands at the lowest offset bits and what counts the
/// rows of a matrix, a lane bit or some register each.
pub(super) struct Way {
    pub(super) form: Form,
    pub(super) bytes: u32,
    pub(super) low: Vec<Option<usize>>,
    pub(super) rows: Vec<Option<usize>>,
}

impl Way {
    /// No way speaks of more of the lowest offset bits: 16 bytes.
    pub(super) const MOST_LOW: usize = 4;

    /// Nothing where the machine has no such instruction for these elements.
    pub(super) fn of(problem: &Problem<'_>, form: Form, bytes: u32) -> Option<Way> {
        let element = element_bytes(problem);
        let Form::Matrix(matrix) = form else {
            let fits = bytes.is_power_of_two() && bytes >= element;
            let low = vec![None; (bytes / element).checked_ilog2()? as usize];
            return fits.then_some(Way { form, bytes, low, rows: Vec::new() });
        };
        // Which bit of a lane's bytes or of the lane has this byte of this row.
        let at = |place: (u64, u64)| {
            let byte = (0..2).find(|&bit| matrix.place(0, 1 << bit) == Some(place));
            let lane = (0..5).find(|&bit| matrix.place(1 << bit, 0) == Some(place));
            byte.map(|bit| (None, bit)).or(lane.map(|bit| (Some(bit), bit)))
        };
        let whole = (0..element.ilog2())
            .all(|bit| at((0, 1 << bit)).is_some_and(|found| found == (None, bit as usize)));
        let low = (element.ilog2()..4).map(|bit| Some(at((0, 1 << bit))?.0));
        let rows = (0..3).map(|bit| Some(at((1 << bit, 0))?.0));
        let (low, rows) = (low.collect::<Option<_>>()?, rows.collect::<Option<_>>()?);
        let plain =
            matrix.rows == 8 && matrix.element_bits == 16 && problem.machine.lanes_log2 == 5;
        (whole && plain).then_some(Way { form, bytes, low, rows })
    }

    /// Whether the access may use it.
    pub(super) fn is_allowed(&self, side: &Columns<'_>) -> bool {
        let machine = side.problem.machine;
        let most = side.access.widest_bytes.unwrap_or(u32::MAX).min(machine.shared_vector_bytes);
        let kind = match self.form {
            Form::Vector => true,
            Form::Matrix(matrix) => {
                let banks = machine.banks_log2_of(side.access.kind) + machine.bank_bytes_log2;
                let count = self.bytes / 4;
                let moves = |found: &MatrixMove| {
                    found.moves(side.access.kind, matrix, count) && !found.architecture_specific
                };
                let known = machine.matrix_moves.iter().any(moves);
                side.access.matrix_moves && side.idle == 0 && banks >= 4 && known
            }
        };
        let registers = self.low.iter().chain(&self.rows).filter(|slot| slot.is_none()).count();
        kind && self.bytes <= most && registers <= side.registers.len()
    }
}

fn element_bytes(problem: &Problem<'_>) -> u32 {
    problem.element_bits.clamp(8, 64).next_power_of_two() / 8
}

/// The columns of an access in one round, elements or offsets; of a store only those that write
/// something new.
pub(super) struct Columns<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) access: &'a Access,
    pub(super) registers: Vec<u64>,
    lanes: Vec<u64>,
    warps: Vec<u64>,
    pub(super) idle: u64,
}

impl<'a> Columns<'a> {
    pub(super) fn of(problem: &'a Problem<'a>, access: &'a Access, solved: &Solved) -> Columns<'a> {
        let layout = &access.layout;
        let mut registers = layout.columns(REGISTER).to_vec();
        for &mask in &solved.rounds {
            let odd = |column: &u64| parity(column & mask);
            let pivot = registers.iter().copied().find(odd).unwrap_or(0);
            registers.iter_mut().filter(|column| odd(column)).for_each(|column| *column ^= pivot);
        }
        let (mut lanes, mut warps) = (layout.columns(LANE).to_vec(), layout.columns(WARP).to_vec());
        let (mut seen, mut idle) = (Echelon::new(), 0);
        if access.kind == Kind::Store {
            let mut keep = |column: &mut u64| {
                let new = seen.grows(*column);
                *column = if new { *column } else { 0 };
                new
            };
            for (bit, lane) in lanes.iter_mut().enumerate() {
                idle |= u64::from(!keep(lane)) << bit;
            }
            for warp in &mut warps {
                keep(warp);
            }
        }
        registers.retain(|&column| seen.grows(column));
        Columns { problem, access, registers, lanes, warps, idle }
    }

    /// The same as offsets, where the memory holds all.
    pub(super) fn map(&self, memory: &f2::Matrix) -> Option<Columns<'a>> {
        let offsets = |columns: &[u64]| {
            let columns = f2::Matrix::new(memory.rows(), columns).ok()?;
            Some(memory.solve(&columns).ok()?.columns().to_vec())
        };
        let [registers, lanes, warps] = [&self.registers, &self.lanes, &self.warps];
        let (registers, lanes, warps) = (offsets(registers)?, offsets(lanes)?, offsets(warps)?);
        Some(Columns { registers, lanes, warps, ..*self })
    }

    pub(super) fn lane(&self, bit: usize) -> u64 {
        self.lanes.get(bit).copied().unwrap_or(0)
    }

    /// What the lanes of a mask have together.
    pub(super) fn at(&self, lanes: u64) -> u64 {
        ones(lanes).fold(0, |sum, bit| sum ^ self.lane(bit as usize))
    }

    pub(super) fn element_bytes(&self) -> u32 {
        element_bytes(self.problem)
    }

    /// The logarithm of the elements of one row over all banks.
    pub(super) fn row_log2(&self) -> u32 {
        let machine = self.problem.machine;
        let bytes = machine.banks_log2_of(self.access.kind) + machine.bank_bytes_log2;
        bytes.saturating_sub(self.element_bytes().ilog2())
    }

    /// The lanes that are served together, as differences, and the logarithm of how often that is.
    pub(super) fn phase(&self, way: &Way) -> (Subspace, u32) {
        let machine = self.problem.machine;
        if let Form::Matrix(_) = way.form {
            let rows = way.rows.iter().flatten().fold(0, |mask, bit| mask | 1 << bit);
            return (Subspace::of_bits(rows), 0);
        }
        let acting = low_mask(machine.lanes_log2) & !self.idle;
        let copies = ones(acting).filter(|&bit| self.lane(bit as usize) == 0);
        let copies = copies.fold(0, |mask, bit| mask | 1 << bit);
        let together = machine.phases.served(self.access.kind, way.bytes.ilog2(), copies);
        let together = together.intersection(&Subspace::of_bits(acting));
        (together, acting.count_ones() - together.dim())
    }

    /// Where the elements at the offset bits of some slots lie.
    pub(super) fn room(&self, slots: &[Option<usize>]) -> Subspace {
        let registers = if slots.contains(&None) { &self.registers[..] } else { &[] };
        let lanes = slots.iter().flatten().map(|&lane| self.lane(lane));
        Subspace::spanned_by(registers.iter().copied().chain(lanes))
    }

    /// What takes no part at the offset bit of a slot: the other lanes, warps, and where a lane does
    /// the registers.
    pub(super) fn apart(&self, slots: &[Option<usize>]) -> Subspace {
        let registers = if slots.contains(&None) { &[][..] } else { &self.registers };
        let lanes = (0..self.lanes.len()).filter(|&bit| !slots.contains(&Some(bit)));
        let lanes = lanes.map(|bit| self.lane(bit));
        Subspace::spanned_by(lanes.chain(self.warps.iter().chain(registers).copied()))
    }

    /// Whether offsets stand where a way wants them.
    pub(super) fn allow(&self, way: &Way) -> bool {
        way.low.iter().enumerate().all(|(bit, slot)| {
            let slot = core::slice::from_ref(slot);
            self.room(slot).contains(1 << bit)
                && self.apart(slot).basis().all(|offset| offset >> bit & 1 == 0)
        })
    }

    /// All ways of the access.
    pub(super) fn ways(&self) -> impl Iterator<Item = Way> + '_ {
        let moves = [Matrix::ROWS, Matrix::COLUMNS].map(|matrix| (Form::Matrix(matrix), 4));
        let vectors = (0..=4).map(|width| (Form::Vector, 1 << width));
        let ways = vectors.chain(moves);
        ways.filter_map(|(form, bytes)| Way::of(self.problem, form, bytes))
            .filter(|way| way.is_allowed(self))
    }
}
