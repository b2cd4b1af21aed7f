//! Atomic operations: what they do, how they order memory, and who sees it.

use crate::dtype::DType;
use crate::scalar::{self, Binary, named_enum};
use core::fmt;

named_enum! {
    /// What an atomic read-modify-write does to the old value.
    Rmw {
        /// Bitwise and of the old value and the operand.
        And = "and",
        /// Bitwise or of the old value and the operand.
        Or = "or",
        /// Bitwise exclusive or of the old value and the operand.
        Xor = "xor",
        /// The sum of integers, which wraps.
        Add = "add",
        /// The sum of floats, rounded to nearest even.
        FAdd = "fadd",
        /// Signed maximum; of floats the greater, or the one that is a number.
        Max = "max",
        /// Signed minimum; of floats the less, or the one that is a number.
        Min = "min",
        /// The larger one of integers that are read without a sign.
        UMax = "umax",
        /// The smaller one of integers that are read without a sign.
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

    /// Whether one instruction may do it to several elements that lie side by side, each by itself: PTX has
    /// sums of floats of 16 and 32 bits, in global memory.
    pub fn may_be_vector(self, dtype: DType) -> bool {
        self == Rmw::FAdd && matches!(dtype, DType::F16 | DType::BF16 | DType::F32)
    }

    /// What it does to the old value and the operand; none for an exchange, and where the type does not
    /// have the operation.
    pub fn combines(self, dtype: DType) -> Option<Binary> {
        let op = match (self, dtype.is_float()) {
            (Rmw::And, false) => Binary::And,
            (Rmw::Or, false) => Binary::Or,
            (Rmw::Xor, false) => Binary::Xor,
            (Rmw::Add, false) | (Rmw::FAdd, true) => Binary::Add,
            (Rmw::Max, false) => Binary::MaxS,
            (Rmw::Min, false) => Binary::MinS,
            (Rmw::Max, true) => Binary::MaxNum,
            (Rmw::Min, true) => Binary::MinNum,
            (Rmw::UMax, false) => Binary::MaxU,
            (Rmw::UMin, false) => Binary::MinU,
            _ => return None,
        };
        Some(op)
    }

    /// The value left in memory, or none where the type does not have the operation.
    pub fn apply(self, dtype: DType, old: u64, operand: u64) -> Option<u64> {
        if self == Rmw::Exch {
            return Some(operand);
        }
        scalar::binary(self.combines(dtype)?, dtype).map(|apply| apply(old, operand))
    }
}

named_enum! {
    /// How an atomic orders the memory operations around it.
    Order {
        /// It orders no other access.
        Relaxed = "relaxed",
        /// Later operations stay after it.
        Acquire = "acquire",
        /// Earlier operations stay before it.
        Release = "release",
        /// It does what `Acquire` and `Release` do.
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
