use core::fmt;

use super::CuteError;
use crate::f2::low_mask;

/// CuTe's `Swizzle<B,M,S>`: `B` bits of an offset are changed by exclusive-or with `B` others.
///
/// With `S > 0` the bits from `M + S` on are added to those from `M` on; with `S < 0` those from
/// `M` on to those from `M + |S|` on.
/// So `S` is the distance, not the place, of the bits that are read.
/// `|S| ≥ B` keeps the two groups apart, which makes every swizzle its own inverse.
///
/// ```
/// use weft_layout::interop::cute::Swizzle;
///
/// let swizzle = Swizzle::new(3, 4, 3)?;
/// assert_eq!(swizzle.apply(0b101_000_0001), 0b101_101_0001);
/// # Ok::<(), weft_layout::interop::cute::CuteError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    /// Invariant: `|shift| ≥ bits` and `base + |shift| + bits ≤ 64`.
    shift: i32,
}

impl Swizzle {
    /// The swizzle that changes nothing.
    pub const IDENTITY: Swizzle = Swizzle { bits: 0, base: 0, shift: 0 };

    /// `Swizzle<bits,base,shift>`; fails when `|S| < B` or `M + |S| + B > 64`.
    pub fn new(bits: u32, base: u32, shift: i32) -> Result<Swizzle, CuteError> {
        let distance = shift.unsigned_abs();
        let width = u64::from(bits) + u64::from(base) + u64::from(distance);
        if distance < bits || width > 64 {
            return Err(CuteError::Swizzle { bits, base, shift: shift.into() });
        }
        Ok(Swizzle { bits, base, shift })
    }

    /// The swizzle that adds the `bits` bits from position `source` on to those from `target` on.
    ///
    /// Fails when the two groups overlap or leave 64 bits.
    pub fn between(bits: u32, target: u32, source: u32) -> Result<Swizzle, CuteError> {
        let shift = i64::from(source) - i64::from(target);
        let base = target.min(source);
        let narrow = i32::try_from(shift).map_err(|_| CuteError::Swizzle { bits, base, shift })?;
        Swizzle::new(bits, base, narrow)
    }

    /// All swizzles that change something and stay within the lowest `width` bits: first by `B`,
    /// then by `|S|`, a positive `S` before a negative one, then by `M`.
    pub fn all(width: u32) -> impl Iterator<Item = Swizzle> {
        let width = width.min(64);
        (1..=width / 2).flat_map(move |bits| {
            (bits..=width - bits).flat_map(move |distance| {
                [1, -1].into_iter().flat_map(move |sign| {
                    let shift = sign * distance as i32;
                    (0..=width - bits - distance).map(move |base| Swizzle { bits, base, shift })
                })
            })
        })
    }

    /// `B`: how many bits are changed.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// `M`: how many of the lowest bits take no part.
    pub fn base(self) -> u32 {
        self.base
    }

    /// `S`: the distance of the bits that are read from those that are changed.
    pub fn shift(self) -> i32 {
        self.shift
    }

    /// The lowest bit that is changed.
    pub fn target(self) -> u32 {
        self.base + 0.max(-self.shift).unsigned_abs()
    }

    /// The lowest bit that is read.
    pub fn source(self) -> u32 {
        self.base + 0.max(self.shift).unsigned_abs()
    }

    /// The offset that `offset` is moved to.
    pub fn apply(self, offset: u64) -> u64 {
        let read = offset.checked_shr(self.source()).unwrap_or(0) & low_mask(self.bits);
        offset ^ read.checked_shl(self.target()).unwrap_or(0)
    }
}

/// `Sw<3,4,3>`, as CuTe prints it.
impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sw<{},{},{}>", self.bits, self.base, self.shift)
    }
}

impl fmt::Debug for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
