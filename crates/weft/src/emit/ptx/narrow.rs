//! Conversions from and to floats of eight bits.
//!
//! From `sm_89` on there are instructions for f8E4M3FN and f8E5M2. Everything else is done on the bits
//! of an f32, which holds each of these numbers exactly:
//!
//! * *Widening.* Exponent and mantissa are put where an f32 has them; a multiplication by
//!   `2^(127 - bias)` gives the exponent its own bias, and subnormal numbers their hidden bit.
//! * *Narrowing.* A normal number gets the new bias and half of its last place (less one unit, and the
//!   last place itself, so that ties go to even) and is shifted right; the carry goes into the
//!   exponent. A subnormal one is added to a power of two whose last place is theirs: the addition
//!   rounds, and the difference of the bits is the number.

use super::writer::{Class, Reg, Writer, put};
use crate::dtype::DType;
use crate::scalar::{self, Narrow};

/// Whether the target has instructions for this type.
fn is_native(w: &Writer<'_>, dtype: DType) -> bool {
    w.target.capability >= 89 && matches!(dtype, DType::F8E4M3FN | DType::F8E5M2)
}

/// The version that has them: `sm_89` got them later.
fn need_pairs(w: &mut Writer<'_>) {
    w.need(if w.target.capability < 90 { (8, 1) } else { (7, 8) });
}

/// PTX's name of a pair.
fn pair(dtype: DType) -> &'static str {
    if dtype == DType::F8E4M3FN { "e4m3x2" } else { "e5m2x2" }
}

/// The bits of an f32.
fn single(value: f64) -> u64 {
    scalar::from_f64(DType::F32, value)
}

/// The value of `x` as an f32.
pub(super) fn widen(w: &mut Writer<'_>, dtype: DType, x: Reg) -> Reg {
    let wide = w.temp(Class::B32);
    if is_native(w, dtype) {
        let half = w.temp(Class::B16);
        widen_to_half(w, dtype, half, x);
        put!(w, "cvt.f32.f16 {wide}, {half}");
        return wide;
    }
    let Some(narrow) = Narrow::of(dtype) else { return wide };
    let (bits, magnitude, sign) = (w.temp(Class::B32), w.temp(Class::B32), w.temp(Class::B32));
    let special = w.temp(Class::Predicate);
    put!(w, "cvt.u32.u16 {bits}, {x}");
    put!(w, "and.b32 {magnitude}, {bits}, 0x7f");
    put!(w, "shl.b32 {wide}, {magnitude}, {}", 23 - narrow.mantissa);
    let scale = single(2f64.powi(127 - narrow.bias as i32));
    put!(w, "mul.rn.f32 {wide}, {wide}, 0f{scale:08X}");
    put!(w, "shl.b32 {sign}, {bits}, 24");
    put!(w, "and.b32 {sign}, {sign}, 0x80000000");
    put!(w, "or.b32 {wide}, {wide}, {sign}");
    if narrow.unsigned_zero {
        put!(w, "setp.eq.u32 {special}, {bits}, 0x80");
        put!(w, "selp.b32 {wide}, 0x7fffffff, {wide}, {special}");
    } else {
        put!(w, "setp.gt.u32 {special}, {magnitude}, {:#x}", narrow.largest);
        // Of IEEE's format the mantissa still tells infinity from NaN; else all ones are NaN.
        let ones = if narrow.mantissa == 2 { 0x7f80_0000 } else { 0x7fff_ffff };
        put!(w, "@{special} or.b32 {wide}, {wide}, {ones:#x}");
    }
    wide
}

/// A float of eight bits as an f16.
pub(super) fn widen_to_half(w: &mut Writer<'_>, dtype: DType, d: Reg, x: Reg) {
    if is_native(w, dtype) {
        let both = w.temp(Class::B32);
        widen_pair(w, dtype, both, x);
        return put!(w, "cvt.u16.u32 {d}, {both}");
    }
    let wide = widen(w, dtype, x);
    put!(w, "cvt.rn.f16.f32 {d}, {wide}");
}

/// Two floats of eight bits, side by side, as f16.
pub(super) fn widen_pair(w: &mut Writer<'_>, dtype: DType, d: Reg, x: Reg) {
    if is_native(w, dtype) {
        need_pairs(w);
        return put!(w, "cvt.rn.f16x2.{} {d}, {x}", pair(dtype));
    }
    let [low, high] = [(); 2].map(|()| w.temp(Class::B16));
    put!(w, "and.b16 {low}, {x}, 0xff");
    put!(w, "shr.u16 {high}, {x}, 8");
    let [low, high] = [low, high].map(|narrow| {
        let (half, word) = (w.temp(Class::B16), w.temp(Class::B32));
        widen_to_half(w, dtype, half, narrow);
        put!(w, "cvt.u32.u16 {word}, {half}");
        word
    });
    put!(w, "shl.b32 {high}, {high}, 16");
    put!(w, "or.b32 {d}, {low}, {high}");
}

/// Two f32 as floats of eight bits, the first in the low byte.
pub(super) fn round_pair(w: &mut Writer<'_>, dtype: DType, d: Reg, [x, y]: [Reg; 2]) {
    if dtype.bits() == 16 {
        return put!(w, "cvt.rn.{dtype}x2.f32 {d}, {y}, {x}");
    }
    if is_native(w, dtype) {
        need_pairs(w);
        return put!(w, "cvt.rn.satfinite.{}.f32 {d}, {y}, {x}", pair(dtype));
    }
    let [low, high] = [x, y].map(|single| {
        let narrow = w.temp(Class::B16);
        round(w, dtype, false, narrow, single);
        narrow
    });
    put!(w, "shl.b16 {high}, {high}, 8");
    put!(w, "or.b16 {d}, {low}, {high}");
}

/// An f32 as a bf16, as the lower one of two. The instruction that rounds one by itself is slower (rounding and widening
/// on an H100: 534 µs by it, 228 µs by pairs), and of two that stand side by side an assembler makes one.
pub(super) fn round_single(w: &mut Writer<'_>, rounding: &str, d: Reg, x: Reg) {
    let both = w.temp(Class::B32);
    put!(w, "cvt.{rounding}.bf16x2.f32 {both}, 0f00000000, {x}");
    put!(w, "cvt.u16.u32 {d}, {both}");
}

/// An f32 as a float of eight bits, to nearest even or toward zero, saturating.
pub(super) fn round(w: &mut Writer<'_>, dtype: DType, toward_zero: bool, d: Reg, x: Reg) {
    if is_native(w, dtype) && !toward_zero {
        need_pairs(w);
        let zero = w.temp(Class::B32);
        put!(w, "mov.b32 {zero}, 0");
        return put!(w, "cvt.rn.satfinite.{}.f32 {d}, {zero}, {x}", pair(dtype));
    }
    let Some(narrow) = Narrow::of(dtype) else { return };
    let [magnitude, normal, small, sign] = [(); 4].map(|()| w.temp(Class::B32));
    let (least, is_small, is_nan) =
        (1 - narrow.bias as i32, w.temp(Class::Predicate), w.temp(Class::Predicate));
    let largest = single(narrow.value(narrow.largest));
    put!(w, "abs.f32 {magnitude}, {x}");
    put!(w, "min.f32 {magnitude}, {magnitude}, 0f{largest:08X}");
    let shift = 23 - narrow.mantissa;
    let rebias = (127 - narrow.bias) << 23;
    if toward_zero {
        put!(w, "sub.u32 {normal}, {magnitude}, {rebias:#x}");
    } else {
        let half = (1u32 << (shift - 1)) - 1;
        put!(w, "shr.u32 {normal}, {magnitude}, {shift}");
        put!(w, "and.b32 {normal}, {normal}, 1");
        put!(w, "add.u32 {normal}, {normal}, {magnitude}");
        put!(w, "add.u32 {normal}, {normal}, {:#x}", half.wrapping_sub(rebias));
    }
    put!(w, "shr.u32 {normal}, {normal}, {shift}");
    let anchor = single(2f64.powi(least - narrow.mantissa as i32 + 23));
    let mode = if toward_zero { "rz" } else { "rn" };
    put!(w, "add.{mode}.f32 {small}, {magnitude}, 0f{anchor:08X}");
    put!(w, "sub.u32 {small}, {small}, {anchor:#x}");
    put!(w, "setp.lt.f32 {is_small}, {magnitude}, 0f{:08X}", single(2f64.powi(least)));
    put!(w, "selp.b32 {normal}, {small}, {normal}, {is_small}");
    put!(w, "shr.u32 {sign}, {x}, 24");
    put!(w, "and.b32 {sign}, {sign}, 0x80");
    if narrow.unsigned_zero {
        let is_zero = w.temp(Class::Predicate);
        put!(w, "setp.eq.u32 {is_zero}, {normal}, 0");
        put!(w, "selp.b32 {sign}, 0, {sign}, {is_zero}");
    }
    put!(w, "or.b32 {normal}, {normal}, {sign}");
    put!(w, "setp.nan.f32 {is_nan}, {x}, {x}");
    put!(w, "selp.b32 {normal}, {:#x}, {normal}, {is_nan}", narrow.nan());
    put!(w, "cvt.u16.u32 {d}, {normal}");
}
