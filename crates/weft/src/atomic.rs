//! Atomic operations: what they do, how they order memory, and who sees it.

use crate::dtype::DType;
use crate::scalar::{self, Binary, named_enum};
use core::fmt;

named_enum! {
    /// What an atomic read-modify-write does to the old value.
    Rmw {
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// Integer sum.
        Add = "add",
        /// Float sum.
        FAdd = "fadd",
        /// Signed maximum.
        Max = "max",
        /// Signed minimum.
        Min = "min",
        /// Unsigned maximum.
        UMax = "umax",
        /// Unsigned minimum.
        UMin = "umin",
        /// The new value replaces the old.
        Exch = "exch",
    }
}

impl Rmw {
    /// The same on unsigned integers.
    pub fn unsigned(self) -> Self {
        match self {
            Rmw::Max => Rmw::UMax,
            Rmw::Min => Rmw::UMin,
            other => other,
        }
    }

    /// The value left in memory, or none where the type does not have the operation.
    pub fn apply(self, dtype: DType, old: u64, operand: u64) -> Option<u64> {
        let op = match self {
            Rmw::And => Binary::And,
            Rmw::Or => Binary::Or,
            Rmw::Xor => Binary::Xor,
            Rmw::Add | Rmw::FAdd => Binary::Add,
            Rmw::Max => Binary::MaxS,
            Rmw::Min => Binary::MinS,
            Rmw::UMax => Binary::MaxU,
            Rmw::UMin => Binary::MinU,
            Rmw::Exch => return Some(operand),
        };
        if dtype.is_float() != (self == Rmw::FAdd) {
            return None;
        }
        scalar::binary(op, dtype).map(|apply| apply(old, operand))
    }
}

named_enum! {
    /// How an atomic orders the memory operations around it.
    Order {
        /// Not at all.
        Relaxed = "relaxed",
        /// Later operations stay after it.
        Acquire = "acquire",
        /// Earlier operations stay before it.
        Release = "release",
        /// Both.
        AcqRel = "acq_rel",
    }
}

impl Order {
    /// Whether operations after the atomic may rely on what it saw.
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel)
    }

    /// Whether operations before the atomic are visible to who sees it.
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel)
    }
}

named_enum! {
    /// Among which threads an atomic is atomic and orders memory.
    Scope {
        /// The threads of one block.
        Block = "cta",
        /// All threads of the GPU.
        Gpu = "gpu",
        /// All threads of the machine.
        System = "sys",
    }
}
