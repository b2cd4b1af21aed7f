//! Operands of a matrix multiplication.

use alloc::boxed::Box;

use super::{Family, FamilyError};
use crate::layout::Layout;

/// An operand of a matrix multiplication: what its instruction, or its scalar multiply-adds, read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DotOperand {
    /// 0 for the left operand, 1 for the right one.
    pub operand: u32,
    /// The layout of the result: blocked, or that of a matrix instruction.
    pub parent: Box<Family>,
    /// How many consecutive elements along the summed axis a thread holds together: the `kw` of the
    /// instruction's tables, or a multiple; 0 where the parent is blocked.
    pub k_width: u32,
}

impl DotOperand {
    /// The layout of an operand of this shape.
    ///
    /// Warps that share a part of the summed axis hold copies of it.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        let operand = match self.operand {
            0 => Operand::Left,
            1 => Operand::Right,
            other => {
                let (parameter, expected) = ("opIdx", "0 or 1");
                return Err(FamilyError::Value { parameter, value: other.into(), expected });
            }
        };
        match (&*self.parent, self.k_width) {
            (Family::Blocked(result), 0) => result.operand(operand, shape),
            (Family::Blocked(_), width) => {
                let (parameter, expected) = ("kWidth", "none (0), as the parent is blocked,");
                Err(FamilyError::Value { parameter, value: width.into(), expected })
            }
            (Family::NvidiaMma(result), width) => result.operand(operand, width, shape),
            (Family::AmdMfma(result), width) => result.operand(operand, width, shape),
            (Family::AmdWmma(result), width) => result.operand(operand, width, shape),
            (Family::IntelDpas(result), width) => result.operand(operand, width, shape),
            _ => {
                let expected = "`blocked` or a layout of matrix instructions";
                Err(FamilyError::Parent { expected })
            }
        }
    }
}

/// Which operand of a matrix multiplication.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    /// The left factor, a tensor `[…, rows, summed]`.
    Left,
    /// The right factor, a tensor `[…, summed, columns]`.
    Right,
}

impl Operand {
    /// The axis that the multiplication sums over.
    pub(super) fn summed(self, rank: usize) -> Result<usize, FamilyError> {
        let from_end = if self == Operand::Left { 1 } else { 2 };
        rank.checked_sub(from_end).ok_or(FamilyError::Rank { expected: 2, found: rank })
    }

    /// The axis that the result keeps.
    pub(super) fn kept(self, rank: usize) -> Result<usize, FamilyError> {
        let other = if self == Operand::Left { Operand::Right } else { Operand::Left };
        other.summed(rank)
    }

    /// The order in which registers repeat a tile: the summed axis, the kept one, a batch.
    pub(super) fn order(self, rank: usize) -> impl Iterator<Item = usize> {
        let (last, before) = (rank.saturating_sub(1), rank.saturating_sub(2));
        let pair = if self == Operand::Left { [last, before] } else { [before, last] };
        pair.into_iter().chain((0..before).rev())
    }
}
