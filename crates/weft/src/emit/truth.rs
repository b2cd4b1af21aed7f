//! Integers of one bit as logic.

use crate::scalar::{Binary, Compare};

/// An operation of two truth values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Truth {
    /// The first one, whatever the second is.
    First,
    /// False, whatever the two are.
    False,
    /// Joined, each inverted before or not.
    Join {
        /// Which logic joins them.
        gate: Gate,
        /// Whether the first is inverted.
        invert_x: bool,
        /// Whether the second is.
        invert_y: bool,
    },
}

/// What joins two truth values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gate {
    And,
    Or,
    Xor,
}

const fn join(gate: Gate, invert_x: bool, invert_y: bool) -> Truth {
    Truth::Join { gate, invert_x, invert_y }
}

/// Integers modulo two; as a signed number, one is minus one.
pub(super) fn binary(op: Binary) -> Truth {
    match op {
        Binary::Add | Binary::Sub | Binary::Xor => join(Gate::Xor, false, false),
        Binary::Mul | Binary::And | Binary::MaxS | Binary::MinU => join(Gate::And, false, false),
        Binary::Or | Binary::MinS | Binary::MaxU => join(Gate::Or, false, false),
        // By one: the dividend; by zero: all ones.
        Binary::DivS | Binary::DivU => join(Gate::Or, false, true),
        // By one: zero; by zero: the dividend. A shift by one leaves nothing.
        Binary::RemS | Binary::RemU | Binary::Shl | Binary::ShrU => join(Gate::And, false, true),
        Binary::ShrS => Truth::First,
        // The high half of a product of bits.
        _ => Truth::False,
    }
}

/// Comparisons of integers of one bit.
pub(super) fn compare(op: Compare) -> Truth {
    match op {
        Compare::Ne => join(Gate::Xor, false, false),
        Compare::Eq => join(Gate::Xor, true, false),
        Compare::Slt | Compare::Ugt => join(Gate::And, false, true),
        Compare::Sle | Compare::Uge => join(Gate::Or, false, true),
        Compare::Sgt | Compare::Ult => join(Gate::And, true, false),
        _ => join(Gate::Or, true, false),
    }
}
