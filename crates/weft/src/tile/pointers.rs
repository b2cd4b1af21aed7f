//! Accesses of global memory by pointers, for those to whom they are alike but for what moves which way.

use super::{Op, OpKind, Value};

/// How an operation accesses global memory by the pointers that are its first operand, on tensors or scalars.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByPointers {
    /// What is there becomes its result.
    Load,
    /// Its second operand goes there.
    Store,
    /// It changes what is there, and what was there becomes its result.
    Atomic,
    /// What is there goes to shared memory, past the registers.
    Copy,
}

impl ByPointers {
    /// The value in registers that an operation of this kind moves.
    pub fn moved(self, op: &Op) -> Option<Value> {
        match self {
            ByPointers::Load | ByPointers::Atomic => op.results.first().copied(),
            ByPointers::Store => op.operands.get(1).copied(),
            ByPointers::Copy => None,
        }
    }
}

impl OpKind {
    /// How it accesses global memory by pointers, if it does.
    pub fn by_pointers(&self) -> Option<ByPointers> {
        match self {
            OpKind::Load(_) => Some(ByPointers::Load),
            OpKind::Store(_) => Some(ByPointers::Store),
            OpKind::Atomic { .. } => Some(ByPointers::Atomic),
            OpKind::AsyncCopy(op) => op.by_pointers(),
            _ => None,
        }
    }
}
