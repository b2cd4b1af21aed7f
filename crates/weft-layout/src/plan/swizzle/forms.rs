//! The ways in which one access may move: plain vectors of each width, and matrix moves.
//!
//! Each says what stands at the lowest offset bits, bit by bit, and what is served together.
//! A vector of 2^v elements has `v` registers there.
//! A matrix move deals rows of 16 bytes out in words of 32 bits ([`Matrix::place`]): of halves, the
//! registers of a word and lane bits 0 and 1 walk along a row, and lane bits 2 to 4 count the rows;
//! transposed, lane bits 2 to 4 walk along a row in steps of 16 bits, and one register and lane bits
//! 0 and 1 count the rows.

use alloc::{vec, vec::Vec};

use super::{pair::Side, task::power};
use crate::{
    access::Kind,
    f2::{Subspace, low_mask, ones},
    machine::{Machine, Matrix, MatrixMove},
    step::Form,
};

/// What stands at one offset bit, or at one bit of the number of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// A register, whichever it is.
    Register,
    /// The lane bit of this number, and nothing else.
    Lane(usize),
}

/// One way in which an access may move.
#[derive(Clone)]
pub(super) struct Way {
    pub(super) form: Form,
    /// What stands at the lowest offset bits.
    pub(super) low: Vec<Slot>,
    /// What the bits of a row's number are; for a vector nothing.
    pub(super) rows: Vec<Slot>,
    /// The elements that the lanes of one phase touch first.
    pub(super) lanes: Subspace,
    /// The logarithm of the phases of a vector instruction, or of a matrix.
    pub(super) phases: u32,
    /// The logarithm of the vectors of a lane, or of the matrices of a warp.
    units: u32,
    /// The logarithm of the units of one instruction.
    joined: u32,
}

impl Way {
    /// Vectors of 2^`vector` elements of 2^`bytes_log2` bytes.
    pub(super) fn vector(
        machine: &Machine,
        kind: Kind,
        side: &Side,
        idle: u64,
        bytes_log2: u32,
        vector: u32,
    ) -> Way {
        let acting = low_mask(machine.lanes_log2) & !idle;
        let column = |bit: u32| side.lanes.get(bit as usize).copied().unwrap_or(0);
        let copies = ones(acting).filter(|&bit| column(bit) == 0).fold(0, |mask, b| mask | 1 << b);
        let mut together = machine.phases.served(kind, bytes_log2 + vector, copies);
        if together.basis().any(|lane| lane & !acting != 0) {
            together = together.intersection(&Subspace::of_bits(acting));
        }
        let element = |lane: u64| ones(lane).fold(0, |sum, bit| sum ^ column(bit));
        Way {
            form: Form::Vector,
            low: vec![Slot::Register; vector as usize],
            rows: Vec::new(),
            lanes: Subspace::spanned_by(together.basis().map(element)),
            phases: acting.count_ones().saturating_sub(together.dim()),
            units: (side.registers.len() as u32).saturating_sub(vector),
            joined: 0,
        }
    }

    /// The matrix moves of a machine, at most 2^`widest_log2` bytes a lane in one instruction.
    pub(super) fn matrices(
        machine: &Machine,
        kind: Kind,
        side: &Side,
        bytes_log2: u32,
        widest_log2: u32,
    ) -> Vec<Way> {
        let ways = machine.matrix_moves.iter().flat_map(|found| {
            let matrix = |transposed| Matrix {
                element_bits: found.element_bits,
                rows: found.rows,
                transposed,
            };
            let way = move |transposed| {
                Way::matrix(
                    machine,
                    (kind, found),
                    matrix(transposed),
                    side,
                    bytes_log2,
                    widest_log2,
                )
            };
            [false, true].into_iter().filter_map(way)
        });
        ways.collect()
    }

    fn matrix(
        machine: &Machine,
        (kind, instruction): (Kind, &MatrixMove),
        matrix: Matrix,
        side: &Side,
        bytes_log2: u32,
        widest_log2: u32,
    ) -> Option<Way> {
        let banks = machine.banks_log2_of(kind) + machine.bank_bytes_log2;
        // The code of a machine is for its whole generation.
        if instruction.architecture_specific
            || machine.lanes_log2 != 5
            || banks < Matrix::ROW_BYTES.ilog2()
        {
            return None;
        }
        let (low, rows) = slots(matrix, bytes_log2)?;
        let registers = low.iter().chain(&rows).filter(|slot| **slot == Slot::Register).count();
        let units = (side.registers.len() as u32).checked_sub(registers as u32)?;
        let word = WORD_LOG2 + matrix.words().ilog2();
        let fits = |count: &u32| {
            instruction.moves(kind, matrix, *count)
                && count.is_power_of_two()
                && count.ilog2() <= units
                && count.ilog2() + word <= widest_log2
        };
        let joined = instruction.matrices.iter().copied().filter(fits).max()?.ilog2();
        let column = |slot: &Slot| match *slot {
            Slot::Register => 0,
            Slot::Lane(bit) => side.lanes.get(bit).copied().unwrap_or(0),
        };
        let along = low.iter().filter(|slot| **slot != Slot::Register).count();
        if Subspace::spanned_by(low.iter().map(column)).dim() != along as u32 {
            return None;
        }
        let together = rows.iter().take(ROWS_TOGETHER);
        Some(Way {
            form: Form::Matrix(matrix),
            lanes: Subspace::spanned_by(together.map(column)),
            phases: rows.len().saturating_sub(ROWS_TOGETHER) as u32,
            low,
            rows,
            units,
            joined,
        })
    }

    /// How many of the lowest offset bits it speaks of.
    pub(super) fn length(&self) -> u32 {
        self.low.len() as u32
    }

    /// The bits of a row's number that are registers, any of them.
    pub(super) fn chosen(&self) -> u32 {
        self.rows.iter().filter(|slot| **slot == Slot::Register).count() as u32
    }

    /// How many lane bits count rows that are served together.
    pub(super) fn lanes_together(&self) -> usize {
        let together = self.rows.iter().take(ROWS_TOGETHER);
        together.filter(|slot| **slot != Slot::Register).count()
    }

    /// The matrices of one instruction.
    pub(super) fn count(&self) -> u32 {
        1 << self.joined
    }

    /// The logarithm of the bytes of one lane in one instruction.
    pub(super) fn width_log2(&self, bytes_log2: u32) -> u32 {
        match self.form {
            Form::Vector => bytes_log2 + self.length(),
            Form::Matrix(matrix) => WORD_LOG2 + matrix.words().ilog2() + self.joined,
        }
    }

    /// The instructions of a warp.
    pub(super) fn instructions(&self) -> u64 {
        power(self.units.saturating_sub(self.joined))
    }

    /// The wavefronts of a warp when each phase takes 2^`excess` of them.
    pub(super) fn wavefronts(&self, excess: u32) -> u64 {
        power(self.units.saturating_add(self.phases).saturating_add(excess))
    }

    /// The wavefronts of a warp when each unit takes `each`.
    pub(super) fn all(&self, each: u32) -> u64 {
        power(self.units).saturating_mul(each.into())
    }

    /// The least wavefronts of a warp where a row over all banks has 2^`row` elements: more words
    /// than banks take turns.
    pub(super) fn least(&self, row: u32) -> u64 {
        self.wavefronts((self.lanes.dim() + self.length()).saturating_sub(row))
    }
}

/// The logarithm of the bytes of a register in a matrix move.
const WORD_LOG2: u32 = 2;

/// The logarithm of the rows of a matrix that are served together: 128 bytes.
const ROWS_TOGETHER: usize = 3;

/// What walks along a row of a matrix, above the bytes of an element, and what counts its rows.
///
/// Nothing where an element is cut.
fn slots(matrix: Matrix, bytes_log2: u32) -> Option<(Vec<Slot>, Vec<Slot>)> {
    let bytes =
        (0..WORD_LOG2 + matrix.words().ilog2()).map(|bit| (Slot::Register, 0, 1_u64 << bit));
    let lanes = (0..5).map(|bit| (Slot::Lane(bit), 1_u64 << bit, 0));
    let placed = |(slot, lane, byte)| Some((slot, matrix.place(lane, byte)?));
    let placed: Vec<(Slot, (u64, u64))> = bytes.chain(lanes).map(placed).collect::<Option<_>>()?;
    let at = |row: u64, byte: u64| placed.iter().position(|found| found.1 == (row, byte));
    let whole =
        bytes_log2 <= WORD_LOG2 && (0..bytes_log2).all(|bit| at(0, 1 << bit) == Some(bit as usize));
    let slot = |position: usize| placed.get(position).map(|found| found.0);
    let low = bytes_log2..Matrix::ROW_BYTES.ilog2();
    let low: Option<Vec<Slot>> = low.map(|bit| slot(at(0, 1 << bit)?)).collect();
    let rows = (0..matrix.rows.ilog2()).map(|bit| slot(at(1 << bit, 0)?));
    let rows: Option<Vec<Slot>> = rows.collect();
    Some((low?, rows?)).filter(|_| whole)
}
