//! Matrix moves as elements see them.
//!
//! The lowest offset bits of a buffer are those of a row of 16 bytes. A matrix move wants some lane bits
//! and some registers there, in the order of its fragment; its other lane bits and registers choose the
//! row.

use alloc::vec::Vec;

use crate::plan::swizzle::Side;
use crate::{
    f2::{Echelon, Subspace},
    machine::{Kind, Machine, Matrix, MatrixMove, Transposes},
};

/// What stands at one bit of a row, or of the number of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) enum Slot {
    /// The lane bit of this number.
    Lane(usize),
    /// This bit of the number of a register of one matrix.
    Register(usize),
}

/// A matrix move as elements see it.
pub(in crate::plan) struct Fragment<'m> {
    pub(in crate::plan) instruction: &'m MatrixMove,
    pub(in crate::plan) matrix: Matrix,
    /// The bits of an offset within a row, lowest first.
    pub(in crate::plan) low: Vec<Slot>,
    /// The bits of the number of a row.
    pub(in crate::plan) rows: Vec<Slot>,
    /// The logarithm of the registers of one matrix in a lane.
    pub(in crate::plan) registers: usize,
}

impl<'m> Fragment<'m> {
    /// The matrix moves of a machine that leave elements of 2^`bytes_log2` bytes whole.
    pub(in crate::plan) fn all(
        machine: &'m Machine,
        kind: Kind,
        bytes_log2: u32,
    ) -> Vec<Fragment<'m>> {
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
    pub(in crate::plan) fn fits(&self, side: &Side, own: &Subspace, low: &[u64]) -> bool {
        low.len() == self.low.len()
            && self.low.iter().zip(low).all(|(slot, &element)| match *slot {
                Slot::Lane(bit) => side.lanes.get(bit) == Some(&element),
                Slot::Register(_) => own.contains(element),
            })
    }

    /// The elements that rows of both sides want: lanes where one has them, else registers of both,
    /// else of this one.
    pub(in crate::plan) fn shared(
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
