//! What each lane computes by itself: a row from up to three rows, all lanes at once.

use super::program::{CONST, Row};
use super::rows::{self, Row1, Row2, Row3};
use crate::dtype::DType;
use crate::lane::Op;
use crate::scalar::{self, BinaryFn, Cast, TernaryFn, UnaryFn};

/// A flat operation of each lane by itself.
#[derive(Debug)]
pub(super) enum Compute {
    Unary { f: UnaryFn, x: Row, dst: Row },
    UnaryRow { f: Row1, x: Row, dst: Row },
    Binary { f: BinaryFn, x: Row, y: Row, dst: Row },
    BinaryRow { f: Row2, x: Row, y: Row, dst: Row },
    Ternary { f: TernaryFn, x: Row, y: Row, z: Row, dst: Row },
    TernaryRow { f: Row3, x: Row, y: Row, z: Row, dst: Row },
    Cast { op: Cast, from: DType, to: DType, x: Row, dst: Row },
    Linear { columns: Box<[u32]>, x: Row, dst: Row },
}

impl Compute {
    /// An operation from rows of one type to a row of another; none if it is not one of each lane by
    /// itself, or its type does not have it.
    pub(super) fn of(op: &Op, from: DType, to: DType, rows: &[Row], dst: Row) -> Option<Self> {
        let row = |index: usize| rows.get(index).copied();
        let x = row(0)?;
        let binary = |fast: Option<Row2>, f: Option<BinaryFn>| {
            let y = row(1)?;
            let fast = fast.map(|f| Compute::BinaryRow { f, x, y, dst });
            fast.or_else(|| Some(Compute::Binary { f: f?, x, y, dst }))
        };
        let ternary = |f| Some(Compute::Ternary { f, x, y: row(1)?, z: row(2)?, dst });
        let ternary_row = |f| Some(Compute::TernaryRow { f, x, y: row(1)?, z: row(2)?, dst });
        match op {
            Op::Linear { columns } => {
                Some(Compute::Linear { columns: columns.clone().into(), x, dst })
            }
            Op::Unary(op) => Some(Compute::Unary { f: scalar::unary(*op, from)?, x, dst }),
            Op::Binary(op) => binary(rows::binary(*op, from), scalar::binary(*op, from)),
            Op::Compare(op) => binary(rows::compare(*op, from), scalar::compare(*op, from)),
            Op::Select => ternary_row(rows::select),
            Op::Cast(op) => Some(match rows::cast(*op, from, to) {
                Some(f) => Compute::UnaryRow { f, x, dst },
                None => Compute::Cast { op: *op, from, to, x, dst },
            }),
            Op::Fma if from == DType::F32 => ternary_row(rows::fma_f32),
            Op::Fma => ternary(scalar::fma(from)),
            Op::FmaToward(rounding) => ternary(scalar::fma_toward(*rounding, from)),
            Op::RoundPair(to) => binary(None, Some(scalar::round_pair(*to))),
            Op::WidenPair(from) => Some(Compute::Unary { f: scalar::widen_pair(*from), x, dst }),
            Op::Offset => binary(None, Some(u64::wrapping_add)),
            Op::Bytes => ternary(scalar::byte_permute),
            _ => None,
        }
    }

    /// Computes the row, for every lane whether it is active or not.
    #[inline]
    pub(super) fn run(&self, registers: &mut [u64], constants: &[u64], lanes: usize) {
        match self {
            Compute::BinaryRow { f, x, y, dst } => {
                let (dst, from) = split(registers, constants, *dst, lanes);
                f(dst, from.get(*x), from.get(*y));
            }
            Compute::TernaryRow { f, x, y, z, dst } => {
                let (dst, from) = split(registers, constants, *dst, lanes);
                f(dst, from.get(*x), from.get(*y), from.get(*z));
            }
            Compute::UnaryRow { f, x, dst } => {
                let (dst, from) = split(registers, constants, *dst, lanes);
                f(dst, from.get(*x));
            }
            Compute::Unary { f, x, dst } => {
                let (dst, from) = split(registers, constants, *dst, lanes);
                for (dst, &x) in dst.iter_mut().zip(from.get(*x)) {
                    *dst = f(x);
                }
            }
            Compute::Binary { f, x, y, dst } => {
                let (dst, from) = split(registers, constants, *dst, lanes);
                for ((dst, &x), &y) in dst.iter_mut().zip(from.get(*x)).zip(from.get(*y)) {
                    *dst = f(x, y);
                }
            }
            Compute::Ternary { f, x, y, z, dst } => {
                let (dst, from) = split(registers, constants, *dst, lanes);
                let (x, y, z) = (from.get(*x), from.get(*y), from.get(*z));
                for (((dst, &x), &y), &z) in dst.iter_mut().zip(x).zip(y).zip(z) {
                    *dst = f(x, y, z);
                }
            }
            Compute::Cast { op, from, to, x, dst } => {
                let (dst, rows) = split(registers, constants, *dst, lanes);
                for (dst, &x) in dst.iter_mut().zip(rows.get(*x)) {
                    *dst = scalar::cast(*op, *from, *to, x);
                }
            }
            Compute::Linear { columns, x, dst } => {
                let (dst, from) = split(registers, constants, *dst, lanes);
                dst.fill(0);
                for (bit, &column) in columns.iter().enumerate() {
                    for (dst, &x) in dst.iter_mut().zip(from.get(*x)) {
                        *dst ^= u64::from(column) & (x >> bit & 1).wrapping_neg();
                    }
                }
            }
        }
    }
}

/// The rows around one that is written.
pub(super) struct Around<'a> {
    low: &'a [u64],
    high: &'a [u64],
    constants: &'a [u64],
    /// The index of the first word of `high`.
    high_at: usize,
    lanes: usize,
}

impl Around<'_> {
    #[inline]
    pub(super) fn get(&self, row: Row) -> &[u64] {
        let (from, at) = if row & CONST != 0 {
            (self.constants, (row & !CONST) as usize)
        } else if (row as usize) < self.high_at {
            (self.low, row as usize)
        } else {
            (self.high, row as usize - self.high_at)
        };
        &from[at..at + self.lanes]
    }
}

/// Splits off the row that is written.
#[inline]
pub(super) fn split<'a>(
    registers: &'a mut [u64],
    constants: &'a [u64],
    dst: Row,
    lanes: usize,
) -> (&'a mut [u64], Around<'a>) {
    let (low, rest) = registers.split_at_mut(dst as usize);
    let (dst_row, high) = rest.split_at_mut(lanes);
    (dst_row, Around { low, high, constants, high_at: dst as usize + lanes, lanes })
}
