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

/// What an atomic operation does to what lies at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Atomic {
    /// It is changed by a value.
    Rmw(Rmw),
    /// Where it has the bits of the first value, the second one takes its place.
    Cas,
}

impl Atomic {
    /// Its name in the texts.
    pub fn name(self) -> &'static str {
        match self {
            Atomic::Rmw(op) => op.name(),
            Atomic::Cas => "cas",
        }
    }

    /// The operation with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        let all = Rmw::ALL.iter().map(|&op| Atomic::Rmw(op)).chain([Atomic::Cas]);
        all.into_iter().find(|op| op.name() == name)
    }

    /// What it does to the old value and the operand, if that is all.
    pub fn rmw(self) -> Option<Rmw> {
        match self {
            Atomic::Rmw(op) => Some(op),
            Atomic::Cas => None,
        }
    }

    /// How many values it takes for each place.
    pub fn values(self) -> usize {
        match self {
            Atomic::Rmw(_) => 1,
            Atomic::Cas => 2,
        }
    }

    /// Whether a type has it.
    pub fn is_on(self, dtype: DType) -> bool {
        match self {
            Atomic::Rmw(op) => op.apply(dtype, 0, 0).is_some(),
            Atomic::Cas => true,
        }
    }

    /// Whether one instruction may do it to several elements that lie side by side, each by itself.
    pub fn may_be_vector(self, dtype: DType) -> bool {
        matches!(self, Atomic::Rmw(op) if op.may_be_vector(dtype))
    }

    /// What it leaves where `old` was, if it writes; it asks for its values by their numbers.
    pub fn apply(self, dtype: DType, old: u64, value: impl Fn(usize) -> u64) -> Option<u64> {
        match self {
            Atomic::Rmw(op) => op.apply(dtype, old, value(0)),
            Atomic::Cas => (old == value(0)).then(|| value(1)),
        }
    }
}

impl From<Rmw> for Atomic {
    fn from(op: Rmw) -> Self {
        Atomic::Rmw(op)
    }
}

impl fmt::Display for Atomic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
