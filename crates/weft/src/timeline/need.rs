//! What an operation needs of a multiprocessor.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use crate::dtype::DType;
use crate::instruction::{AROUND_DIVISION, DIVIDES, around};
use crate::lane::effects::Latency;
use crate::lane::{
    Form, InstData, MatrixMultiply, Op, Program, ScaledMultiply, Space, WarpgroupMultiply,
    WarpgroupOp,
};
use crate::scalar::{Binary, Cast};
use weft_layout::machine::{self, Machine};

/// What does a multiprocessor's work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unit {
    /// The schedulers, which start instructions.
    Issue,
    /// Integers, logic, comparisons, and what moves bits.
    Integer,
    /// Exponentials, logarithms, roots, reciprocals, and conversions between integers and floats.
    Special,
    /// Products of matrices.
    Matrix,
    /// Shared memory, and exchanges between lanes, which take the same way.
    Shared,
    /// The L2 cache, through which all goes that is read from global memory or written there.
    Global,
}

impl Unit {
    /// Every unit.
    pub const ALL: [Unit; 6] =
        [Unit::Matrix, Unit::Shared, Unit::Global, Unit::Special, Unit::Integer, Unit::Issue];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Issue => "issue",
            Unit::Integer => "integer units",
            Unit::Special => "special functions",
            Unit::Matrix => "matrix units",
            Unit::Shared => "shared memory",
            Unit::Global => "L2 cache",
        }
    }

    /// Whether each part of a multiprocessor has one of its own.
    pub(super) fn is_of_part(self) -> bool {
        match self {
            Unit::Issue | Unit::Integer | Unit::Special | Unit::Matrix => true,
            Unit::Shared | Unit::Global => false,
        }
    }
}

/// What one warp's instruction needs, in hundredths of a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Need {
    /// How many instructions are issued for it.
    pub(super) instructions: u64,
    /// What else works on it, and for how long.
    pub(super) unit: Option<(Unit, u64)>,
    /// From its start until its results may be used.
    pub(super) latency: u64,
}

/// What units for floats do at their full rate.
const ON_FLOATS: [Binary; 3] = [Binary::Add, Binary::Sub, Binary::Mul];

/// Conversions between integers and floats.
const BETWEEN_KINDS: [Cast; 4] =
    [Cast::FloatFromS, Cast::FloatFromU, Cast::SFromFloat, Cast::UFromFloat];

/// Needs of operations on a machine.
pub(super) struct Needs<'a> {
    pub(super) program: &'a Program,
    pub(super) machine: &'a Machine,
}

impl Needs<'_> {
    /// What an operation needs where it runs in so many lanes.
    pub(super) fn of(&self, inst: &InstData, lanes: u64) -> Need {
        let latency = self.latency(inst.op.effects().latency);
        let result = inst.results.first().map(|&value| self.program.dtype(value));
        let operand = inst.operands.first().map(|&value| self.program.dtype(value));
        let wide = result.or(operand).is_some_and(|dtype| dtype == DType::I64);
        let words = 1 + u64::from(wide);
        let need = |instructions, unit| Need { instructions, unit, latency };
        let integer =
            need(words, Some((Unit::Integer, self.on_part(self.machine.prices.alu) * words)));
        let float = need(1, None);
        let special = |around| {
            need(1 + around, Some((Unit::Special, self.on_part(self.machine.timing.special))))
        };
        let of_floats = result.is_some_and(DType::is_float);
        match &inst.op {
            // Operands of others.
            Op::Const(_) | Op::Param(_) | Op::Id(_) | Op::SharedBase(_) => Need::default(),
            Op::Linear { columns: _ }
            | Op::Bytes
            | Op::Select
            | Op::RoundPair(_)
            | Op::WidenPair(_)
            | Op::Compare(_) => integer,
            Op::Unary(op) => match around(*op) {
                Some(around) if of_floats => special(around),
                None if of_floats => float,
                Some(_) | None => integer,
            },
            Op::Binary(op) if of_floats => match op {
                op if DIVIDES.contains(op) => special(AROUND_DIVISION),
                op if ON_FLOATS.contains(op) => float,
                // The smaller or larger one.
                _ => integer,
            },
            Op::Binary(Binary::Mul) => need(words * words, None),
            Op::Binary(op) if DIVIDES.contains(op) => special(12 * words),
            Op::Binary(_) => integer,
            Op::Cast(op) if BETWEEN_KINDS.contains(op) => special(0),
            Op::Cast(_) => integer,
            Op::Fma | Op::FmaToward(_) if of_floats => float,
            Op::Fma | Op::FmaToward(_) => need(words * words, None),
            Op::Offset => need(1, None),
            Op::Load { space, access } => {
                let bytes: u32 = inst.results.iter().map(|&v| self.program.dtype(v).bytes()).sum();
                self.access(*space, access.form, u64::from(bytes) * lanes, latency)
            }
            Op::Store { space, access } => {
                let values = inst.memory_operands().map_or(&[][..], |operands| operands.values);
                let bytes: u32 = values.iter().map(|&v| self.program.dtype(v).bytes()).sum();
                self.access(*space, access.form, u64::from(bytes) * lanes, latency)
            }
            Op::Atomic(access) => {
                let values = inst.memory_operands().map_or(&[][..], |operands| operands.values);
                let bytes: u32 = values.iter().map(|&v| self.program.dtype(v).bytes()).sum();
                self.access(access.space, Form::Vector, u64::from(bytes) * lanes, latency)
            }
            Op::AsyncCopy(step) => match step.moves() {
                Some((bytes, _)) => {
                    let global = self.sectors(u64::from(bytes) * lanes);
                    let latency = self.machine.timing.global;
                    Need { latency, ..need(1, Some((Unit::Global, global))) }
                }
                None => need(1, None),
            },
            Op::ShuffleXor { .. } | Op::ShuffleIndex => {
                need(words, Some((Unit::Shared, self.machine.prices.shuffle * words)))
            }
            Op::MatrixMultiply(product) => {
                need(1, Some((Unit::Matrix, self.on_part(self.product(*product)))))
            }
            Op::ScaledMultiply(product) => {
                need(1, Some((Unit::Matrix, self.on_part(self.scaled_product(*product)))))
            }
            // The four warps of a warpgroup issue it, and each part multiplies for one of them.
            Op::Warpgroup(WarpgroupOp::Multiply(product)) => {
                let price = self.warpgroup_product(product);
                let price = price.max(self.wavefronts(Self::read_by(product)));
                Need { latency: price, ..need(1, Some((Unit::Matrix, price))) }
            }
            Op::Sync(_)
            | Op::Mbarrier(_)
            | Op::BulkCopy(_)
            | Op::TensorCopy(_)
            | Op::Warpgroup(_)
            | Op::MakeMap(_)
            | Op::InlineAsm { .. }
            | Op::Print(_)
            | Op::Assert { .. }
            | Op::If
            | Op::BreakIf { .. }
            | Op::Continue
            | Op::Return => need(1, None),
            Op::Roles(_) | Op::Loop | Op::Yield => Need::default(),
        }
    }

    fn latency(&self, latency: Latency) -> u64 {
        let timing = &self.machine.timing;
        match latency {
            // An assembler puts other arithmetic between an operation and its user.
            Latency::None | Latency::Wait | Latency::Arithmetic => 0,
            Latency::Exchange => timing.exchange,
            Latency::Matrix => timing.matrix,
            Latency::Shared => timing.shared,
            Latency::Global | Latency::Unknown => timing.global,
        }
    }

    /// How long one part of a multiprocessor works on what all parts together do at this price.
    fn on_part(&self, price: u64) -> u64 {
        price * u64::from(self.machine.timing.parts)
    }

    /// An access of so many bytes of a warp, as few wavefronts or sectors as can be.
    fn access(&self, space: Space, form: Form, bytes: u64, latency: u64) -> Need {
        let unit = match (space, form) {
            (Space::Shared, Form::Vector | Form::Matrix(_)) => {
                (Unit::Shared, self.wavefronts(bytes))
            }
            (Space::Global, Form::Vector | Form::Matrix(_)) => (Unit::Global, self.sectors(bytes)),
        };
        Need { instructions: 1, unit: Some(unit), latency }
    }

    /// Shared memory's time for so many bytes.
    pub(super) fn wavefronts(&self, bytes: u64) -> u64 {
        let row = 1 << (self.machine.banks_log2 + self.machine.bank_bytes_log2);
        bytes.div_ceil(row) * self.machine.prices.wavefront
    }

    /// The L2 cache's time for so many bytes.
    pub(super) fn sectors(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.machine.sector_bytes.into()) * self.machine.timing.l2_sector
    }

    /// The price of a product of one warp.
    fn product(&self, product: MatrixMultiply) -> u64 {
        let MatrixMultiply { rows, columns, summed, left, right, .. } = product;
        let is_it = |known: &&machine::MatrixMultiply| {
            [known.rows, known.columns, known.summed] == [rows, columns, summed].map(u32::from)
                && [known.left.bits(), known.right.bits()] == [left.bits(), right.bits()]
        };
        let found = self.machine.matrix_multiplies.iter().find(is_it);
        found.map_or(self.machine.prices.issue, |known| known.price)
    }

    /// The price of a product of one warp with scales.
    fn scaled_product(&self, product: ScaledMultiply) -> u64 {
        let ScaledMultiply { side, left, right, bytes: _ } = product;
        let is_it = |known: &&machine::MatrixMultiply| {
            known.rows == u32::from(side)
                && [known.left.bits(), known.right.bits()] == [left.bits(), right.bits()]
        };
        let found = self.machine.scaled_multiplies.iter().find(is_it);
        found.map_or(self.machine.prices.issue, |known| known.price)
    }

    /// The price of a product of a warpgroup.
    fn warpgroup_product(&self, product: &WarpgroupMultiply) -> u64 {
        let is_it = |known: &&machine::MatrixMultiply| {
            known.summed == u32::from(product.summed)
                && [known.left.bits(), known.right.bits()]
                    == [product.left.bits(), product.right.bits()]
        };
        let found = self.machine.warpgroup_multiplies.iter().find(is_it);
        let found = found.and_then(|known| known.with_columns(product.columns.into()));
        found.map_or(self.machine.prices.issue, |known| known.price)
    }

    /// The bytes that a product of a warpgroup reads from shared memory.
    pub(super) fn read_by(product: &WarpgroupMultiply) -> u64 {
        let summed = u64::from(product.summed);
        let bytes = |count: u64, dtype: DType| count * summed * u64::from(dtype.bytes());
        let right = bytes(product.columns.into(), product.right);
        let rows = if product.left_in_registers { 0 } else { WarpgroupMultiply::ROWS };
        let left = bytes(rows.into(), product.left);
        left + right
    }
}
