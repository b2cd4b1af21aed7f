//! Conversions from one element type to another.

use super::float::{round, widen, widen_half};
use super::integer::clear_above;
use super::narrow;
use super::writer::{Class, Reg, Writer, put};
use crate::dtype::DType;
use crate::scalar::{self, Cast, Unary};

/// The bytes of a word that a narrow number is, from the lowest one on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) word: Reg,
    pub(super) byte: u32,
}

/// Writes a conversion of `x`, which may be known to be part of a word.
pub(super) fn cast(
    w: &mut Writer<'_>,
    op: Cast,
    (from, to): (DType, DType),
    part: Option<Part>,
    d: Reg,
    x: Reg,
) {
    match op {
        Cast::ExtS | Cast::ExtU => extend(w, op == Cast::ExtS, (from, to), d, x),
        Cast::Trunc => truncate(w, (from, to), d, x),
        Cast::FloatFromS | Cast::FloatFromU => {
            float_from_integer(w, op, (from, to), part, d, x);
        }
        Cast::SFromFloat | Cast::UFromFloat => {
            integer_from_float(w, "rzi", op == Cast::SFromFloat, (from, to), d, x);
        }
        Cast::Float => float_from_float(w, (from, to), part, d, x),
        Cast::FloatToZero => float_toward_zero(w, (from, to), d, x),
        // Registers have no type but a width.
        Cast::Bits => w.copy(d, x),
    }
}

fn extend(w: &mut Writer<'_>, is_signed: bool, (from, to): (DType, DType), d: Reg, x: Reg) {
    let bits = d.class.suffix();
    match from {
        DType::I1 => {
            let one = if is_signed { to.mask() } else { 1 };
            put!(w, "selp.{bits} {d}, {one:#x}, 0, {x}");
        }
        // An i8 lies zero-extended in its 16 bits.
        DType::I8 if !is_signed && to == DType::I16 => w.copy(d, x),
        _ => {
            let kind = if is_signed { 's' } else { 'u' };
            put!(w, "cvt.{kind}{}.{kind}{} {d}, {x}", to.bits(), from.bits());
        }
    }
}

fn truncate(w: &mut Writer<'_>, (from, to): (DType, DType), d: Reg, x: Reg) {
    if to == DType::I1 {
        let low = w.temp(x.class);
        let bits = x.class.suffix();
        put!(w, "and.{bits} {low}, {x}, 1");
        // There is no comparison of untyped 16 bits that every version has; of unsigned there is.
        return put!(w, "setp.ne.u{} {d}, {low}, 0", &bits[1..]);
    }
    if d.class == x.class {
        if w.is_only_stored(d) {
            return w.copy(d, x);
        }
        return put!(w, "and.b16 {d}, {x}, 0xff");
    }
    let wide = if to == DType::I32 { 32 } else { 16 };
    put!(w, "cvt.u{wide}.u{} {d}, {x}", from.bits());
    clear_above(w, to, d);
}

/// To nearest even. A truth value as a signed number is 0 or -1.
///
/// bf16 has conversions of integers from `sm_90` on. Before, they go through f32, and a wide integer
/// must not be rounded twice: it is rounded *to odd* on the way, which the second rounding sees
/// through (24 bits against 8):
///
/// ```text
/// cvt.rz.f32.s32  t, x      the f32 toward zero
/// cvt.rzi.s32.f32 b, t      and back: the same, unless bits were lost
/// or.b32          t, t, 1   where they were
/// ```
fn float_from_integer(
    w: &mut Writer<'_>,
    op: Cast,
    (from, to): (DType, DType),
    part: Option<Part>,
    d: Reg,
    x: Reg,
) {
    let kind = if op == Cast::FloatFromS { 's' } else { 'u' };
    if from == DType::I1 {
        let one = scalar::cast(op, from, to, 1);
        return put!(w, "selp.{} {d}, {one:#x}, 0, {x}", d.class.suffix());
    }
    let bits = from.bits();
    match (bits, to) {
        (8 | 16, DType::F16 | DType::BF16 | DType::F32) => {
            if to == DType::F32 {
                return single_from_narrow(w, op, from, part, (d, x));
            }
            let wide = w.temp(Class::B32);
            single_from_narrow(w, op, from, part, (wide, x));
            return round(w, to, d, wide);
        }
        // What an f32 does not hold exactly is infinite as an f16.
        (32, DType::F16) => {
            let wide = w.temp(Class::B32);
            put!(w, "cvt.rn.f32.{kind}32 {wide}, {x}");
            return round(w, to, d, wide);
        }
        (_, DType::BF16) => {}
        _ => return put!(w, "cvt.rn.{to}.{kind}{bits} {d}, {x}"),
    }
    let wide = w.temp(Class::B32);
    let (back, lost) = (w.temp(x.class), w.temp(Class::Predicate));
    put!(w, "cvt.rz.f32.{kind}{bits} {wide}, {x}");
    put!(w, "cvt.rzi.{kind}{bits}.f32 {back}, {wide}");
    put!(w, "setp.ne.{kind}{bits} {lost}, {back}, {x}");
    put!(w, "@{lost} or.b32 {wide}, {wide}, 1");
    round(w, to, d, wide);
}

/// An integer of 8 or 16 bits as an f32, exactly. The instruction that converts narrow integers has an eighth of the
/// rate of others on NVIDIA's machines (measured on an H100, pairs of bytes to pairs of bf16: 1,065 µs by it and
/// 541 µs so). In front of `2^23` the last places of an f32 count ones:
///
/// ```text
/// prmt.b32 t, 0x4b000000, word, 0x3006    2^23 + x, the byte x out of its word
/// sub.f32  d, t, 2^23
/// ```
///
/// The sign bit of a signed number is flipped before, which adds `2^(n-1)`, and this is taken away too.
fn single_from_narrow(
    w: &mut Writer<'_>,
    op: Cast,
    from: DType,
    part: Option<Part>,
    (d, x): (Reg, Reg),
) {
    const ONES: u32 = 0x4b00_0000;
    let sign = if op == Cast::FloatFromS { 1_u32 << (from.bits() - 1) } else { 0 };
    let counted = w.temp(Class::B32);
    if let Some(Part { mut word, byte }) = part {
        if sign > 0 {
            let signs = if from.bits() == 8 { sign * 0x0101_0101 } else { sign * 0x0001_0001 };
            word = w.flipped(word, signs);
        }
        // The bytes of the constant come first: the machine's instruction has room for one number, which had better be
        // the choice, since that is another one for each byte.
        let low = 4 + byte;
        let next = if from.bits() == 8 { 0 } else { low + 1 };
        put!(w, "prmt.b32 {counted}, {ONES:#x}, {word}, {:#x}", 0x3000 | next << 4 | low);
    } else {
        put!(w, "cvt.u32.u16 {counted}, {x}");
        put!(w, "xor.b32 {counted}, {counted}, {:#x}", ONES | sign);
    }
    put!(w, "sub.rn.f32 {d}, {counted}, 0f{:08X}", ONES | sign);
}

/// As the instruction converts, which is what the operation means; it rounds by itself where it is told
/// how.
pub(super) fn integer_from_float(
    w: &mut Writer<'_>,
    rounding: &str,
    is_signed: bool,
    (from, to): (DType, DType),
    d: Reg,
    x: Reg,
) {
    let (x, from) = if from == DType::F64 { (x, from) } else { (widen(w, from, x), DType::F32) };
    if to == DType::I1 {
        // Clamped to -1..0, or to 0..1: it is set where the other end is reached.
        let (name, end) = if is_signed { ("le", -1.0) } else { ("ge", 1.0) };
        let end = immediate(from, end);
        return put!(w, "setp.{name}.{from} {d}, {x}, {end}");
    }
    let kind = if is_signed { 's' } else { 'u' };
    put!(w, "cvt.{rounding}.{kind}{}.{from} {d}, {x}", scalar::converted_bits(to));
    clear_above(w, to, d);
}

/// How a conversion to an integer rounds that takes the place of this operation and of one toward zero.
pub(super) fn rounds_like(op: Unary) -> Option<&'static str> {
    match op {
        Unary::Nearest => Some("rni"),
        Unary::Floor => Some("rmi"),
        Unary::Ceil => Some("rpi"),
        Unary::Trunc => Some("rzi"),
        _ => None,
    }
}

/// To nearest even. The narrow types reach each other through f32, which holds them exactly. From f64
/// to bf16 and to eight bits there is one rounding, by way of an f32 rounded to odd as in
/// [`float_from_integer`]. A bf16 is the upper half of the f32, and the upper half of a word is in its place already.
fn float_from_float(
    w: &mut Writer<'_>,
    (from, to): (DType, DType),
    part: Option<Part>,
    d: Reg,
    x: Reg,
) {
    match (from, to) {
        (DType::BF16, DType::F32) if let Some(Part { word, byte: 2 }) = part => {
            put!(w, "and.b32 {d}, {word}, 0xffff0000");
        }
        (DType::F16 | DType::BF16, DType::F32) => widen_half(w, from, d, x),
        (DType::F64, to) if to == DType::BF16 || to.is_f8() => {
            let (wide, back, lost) =
                (w.temp(Class::B32), w.temp(Class::B64), w.temp(Class::Predicate));
            put!(w, "cvt.rz.f32.f64 {wide}, {x}");
            put!(w, "cvt.f64.f32 {back}, {wide}");
            put!(w, "setp.ne.f64 {lost}, {back}, {x}");
            put!(w, "@{lost} or.b32 {wide}, {wide}, 1");
            round(w, to, d, wide);
        }
        (DType::F64, _) => put!(w, "cvt.rn.{to}.f64 {d}, {x}"),
        (from, DType::F16) if from.is_f8() => narrow::widen_to_half(w, from, d, x),
        (DType::F32 | DType::F16, DType::F64) => put!(w, "cvt.f64.{from} {d}, {x}"),
        _ => {
            let wide = widen(w, from, x);
            match to {
                DType::F64 => put!(w, "cvt.f64.f32 {d}, {wide}"),
                _ => round(w, to, d, wide),
            }
        }
    }
}

/// Toward zero, which may be done in two steps.
fn float_toward_zero(w: &mut Writer<'_>, (from, to): (DType, DType), d: Reg, x: Reg) {
    let wide = match from {
        DType::F64 if to == DType::F32 => return put!(w, "cvt.rz.f32.f64 {d}, {x}"),
        DType::F64 => {
            let wide = w.temp(Class::B32);
            put!(w, "cvt.rz.f32.f64 {wide}, {x}");
            wide
        }
        _ => widen(w, from, x),
    };
    if to.is_f8() {
        narrow::round(w, to, true, d, wide);
    } else if to == DType::BF16 {
        narrow::round_single(w, "rz", d, wide);
    } else {
        put!(w, "cvt.rz.{to}.f32 {d}, {wide}");
    }
}

/// A number as an operand of an instruction on f32 or f64.
fn immediate(dtype: DType, value: f64) -> String {
    let bits = scalar::from_f64(dtype, value);
    if dtype == DType::F64 { format!("0d{bits:016X}") } else { format!("0f{bits:08X}") }
}
