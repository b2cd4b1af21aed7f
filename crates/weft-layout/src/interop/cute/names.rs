//! The same swizzles under other names.
//!
//! | name | parameters | as CuTe's |
//! |---|---|---|
//! | absolute (cuda-oxide) | bits, target, source | `Swizzle<bits, target, source - target>` |
//! | Triton's shared memory, `C` columns | vec, perPhase, maxPhase | `Swizzle<log2 maxPhase, log2 vec, log2 C + log2 perPhase - log2 vec>` |
//! | tensor memory access, 2^k · 16 bytes | k = 1, 2, 3 | `Swizzle<k, 4 - log2 bytes, 3>` |

use super::{CuteError, Swizzle};

/// Triton's swizzle of row-major shared memory: of every `max_phase · per_phase` rows, each group
/// of `per_phase` has its vectors of `vec` elements permuted by an exclusive-or with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Phases {
    /// How many consecutive elements stay together.
    pub vec: u64,
    /// How many consecutive rows are permuted alike.
    pub per_phase: u64,
    /// How many different permutations there are.
    pub max_phase: u64,
}

/// A swizzle mode of the tensor memory accelerator: the bytes of a row that it permutes, in chunks
/// of 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TmaMode {
    /// No swizzle: `CU_TENSOR_MAP_SWIZZLE_NONE`.
    None,
    /// 32 bytes: `Swizzle<1,4,3>` of byte offsets.
    B32,
    /// 64 bytes: `Swizzle<2,4,3>` of byte offsets.
    B64,
    /// 128 bytes: `Swizzle<3,4,3>` of byte offsets.
    B128,
}

impl TmaMode {
    /// Every mode, from none to the widest.
    pub const ALL: [TmaMode; 4] = [TmaMode::None, TmaMode::B32, TmaMode::B64, TmaMode::B128];

    /// The bytes of a row that it permutes; 0 without a swizzle.
    pub fn bytes(self) -> u32 {
        match self {
            TmaMode::None => 0,
            TmaMode::B32 => 32,
            TmaMode::B64 => 64,
            TmaMode::B128 => 128,
        }
    }

    /// The swizzle of byte offsets.
    fn of_bytes(self) -> Swizzle {
        let bits = self as u32;
        Swizzle::new(bits, 4, 3).unwrap_or(Swizzle::IDENTITY)
    }

    /// The swizzle of the offsets of elements of `element_bits` bits; `None` when they are no power
    /// of two or wider than the chunk of 16 bytes.
    pub fn swizzle(self, element_bits: u64) -> Option<Swizzle> {
        self.of_bytes().recast(8, element_bits)
    }

    /// The mode that has this swizzle of the offsets of elements of `element_bits` bits.
    pub fn of(swizzle: Swizzle, element_bits: u64) -> Option<TmaMode> {
        if swizzle.bits() == 0 {
            return Some(TmaMode::None);
        }
        TmaMode::ALL.into_iter().find(|mode| mode.swizzle(element_bits) == Some(swizzle))
    }
}

impl Swizzle {
    /// The same permutation of memory for offsets that count other units: elements of `to` bits
    /// instead of `from` bits.
    ///
    /// `None` when one of them is no power of two, the swizzle splits the new elements, or it leaves
    /// 64 bits.
    pub fn recast(self, from: u64, to: u64) -> Option<Swizzle> {
        if self.bits() == 0 {
            return (from.is_power_of_two() && to.is_power_of_two()).then_some(self);
        }
        let wider = log2(from)?.checked_add(self.base())?;
        Swizzle::new(self.bits(), wider.checked_sub(log2(to)?)?, self.shift()).ok()
    }

    /// The target and source positions, when this reads bits above those that it changes: as in
    /// `x ^ ((x >> source & mask) << target)`, the form that cuda-oxide writes as
    /// `Swizzle<B, target, source>`.
    ///
    /// Its last parameter is a place where CuTe's is a distance; [`Swizzle::between`] goes back.
    pub fn absolute(self) -> Option<(u32, u32)> {
        (self.shift() >= 0).then_some((self.target(), self.source()))
    }

    /// Triton's swizzle of rows of `columns` elements.
    ///
    /// This is exact: an exclusive-or that would leave the row is dropped, as Triton drops it.
    /// Fails when a number is no power of two or the swizzle leaves 64 bits.
    pub fn from_phases(phases: &Phases, columns: u64) -> Result<Swizzle, CuteError> {
        let power = |what, value| log2(value).ok_or(CuteError::NotPowerOfTwo { what, value });
        let (vec, columns) = (power("vec", phases.vec)?, power("columns", columns)?);
        let row = columns + power("perPhase", phases.per_phase)?;
        let bits = power("maxPhase", phases.max_phase)?.min(columns.saturating_sub(vec));
        if bits == 0 { Ok(Swizzle::IDENTITY) } else { Swizzle::between(bits, vec, row) }
    }

    /// The parameters of Triton's swizzle of rows of `columns` elements that is this one.
    ///
    /// `None` when the swizzle reads bits within a row or changes bits beyond one, or `columns` is
    /// no power of two.
    pub fn phases(self, columns: u64) -> Option<Phases> {
        let columns = log2(columns)?;
        if self.bits() == 0 {
            return Some(Phases { vec: 1, per_phase: 1, max_phase: 1 });
        }
        let per_phase = self.source().checked_sub(columns)?;
        let within = self.target() + self.bits() <= columns;
        within.then_some(Phases {
            vec: 1 << self.target(),
            per_phase: 1 << per_phase,
            max_phase: 1 << self.bits(),
        })
    }
}

fn log2(value: u64) -> Option<u32> {
    value.is_power_of_two().then_some(value.trailing_zeros())
}
