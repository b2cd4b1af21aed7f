//! Conversions from one element type to another.

use super::arithmetic::ends;
use super::float::widen;
use super::prelude::Helper;
use super::writer::{Writer, c_type, signed_type};
use crate::dtype::DType;
use crate::scalar::{self, Cast, Narrow};

pub(super) fn cast(w: &mut Writer<'_>, op: Cast, (from, to): (DType, DType), x: &str) -> String {
    let ty = c_type(to);
    match op {
        Cast::ExtS | Cast::ExtU if from == DType::I1 => {
            let one = if op == Cast::ExtS { to.mask() } else { 1 };
            format!("{x} ? {} : {}", w.literal(to, one), w.literal(to, 0))
        }
        Cast::ExtS => format!("{ty}({}({x}))", signed_type(from)),
        Cast::Trunc if to == DType::I1 => format!("({x} & 1) != 0"),
        Cast::ExtU | Cast::Trunc => format!("{ty}({x})"),
        Cast::FloatFromS | Cast::FloatFromU => float_from_integer(w, op, (from, to), x),
        Cast::SFromFloat | Cast::UFromFloat => {
            integer_from_float(w, op == Cast::SFromFloat, (from, to), x)
        }
        Cast::Float => float_from_float(w, (from, to), x),
        Cast::FloatToZero => float_toward_zero(w, (from, to), x),
        Cast::Bits if c_type(from) == ty => x.into(),
        Cast::Bits => {
            w.need(Helper::Bits);
            format!("bits<{ty}>({x})")
        }
    }
}

/// To nearest even. A truth value as a signed number is 0 or -1.
///
/// A number beyond 24 bits is beyond f16 as well, so that one may go through f32; bf16 reaches as far
/// as f32, so there a wide integer is rounded to odd on the way, which the second rounding sees
/// through.
fn float_from_integer(w: &mut Writer<'_>, op: Cast, (from, to): (DType, DType), x: &str) -> String {
    if from == DType::I1 {
        let one = scalar::cast(op, from, to, 1);
        return format!("{x} ? {} : {}", w.literal(to, one), w.literal(to, 0));
    }
    let ty = c_type(to);
    let is_signed = op == Cast::FloatFromS;
    let number = if is_signed { format!("{}({x})", signed_type(from)) } else { x.into() };
    match to {
        DType::BF16 if from.bits() > 16 => {
            w.need(Helper::Whole);
            let wide = if is_signed { "i64" } else { "u64" };
            format!("bf16(to_odd(whole({wide}({number}))))")
        }
        DType::F16 | DType::BF16 => format!("{ty}(float({number}))"),
        _ => format!("{ty}({number})"),
    }
}

/// Toward zero, as [`scalar::cast`] has it.
fn integer_from_float(
    w: &mut Writer<'_>,
    is_signed: bool,
    (from, to): (DType, DType),
    x: &str,
) -> String {
    let x = widen(from, x);
    let of = if from == DType::F64 { from } else { DType::F32 };
    if to == DType::I1 {
        // Clamped to -1..0, or to 0..1: it is set where the other end is reached.
        let (sign, end) = if is_signed { ("<=", -1.0) } else { (">=", 1.0) };
        let end = w.literal(of, scalar::from_f64(of, end));
        return format!("{x} {sign} {end}");
    }
    w.need(Helper::ToInteger);
    // A byte is what is left of 16 bits.
    let wide = if to == DType::I8 { DType::I16 } else { to };
    let (low, high) = ends(wide, is_signed);
    let [low, high] = [low, high].map(|end| w.literal(of, scalar::from_f64(of, end)));
    let own = if is_signed { signed_type(wide) } else { c_type(wide) };
    let none = u64::from(scalar::nan_is_least(from, to)) << (wide.bits() - 1);
    let none = w.literal(wide, none);
    let text = format!("to_integer<{own}>({x}, {low}, {high}, {own}({none}))");
    if is_signed || wide != to { format!("{}({text})", c_type(to)) } else { text }
}

/// To nearest even. The narrow types reach each other through f32, which holds both exactly. From f64
/// to bf16 there is one rounding, by way of an f32 rounded to odd.
fn float_from_float(w: &mut Writer<'_>, (from, to): (DType, DType), x: &str) -> String {
    let ty = c_type(to);
    if let Some(narrow) = Narrow::of(from) {
        let single = from_eighth(w, narrow, x);
        return if to == DType::F32 {
            single
        } else {
            float_from_float(w, (DType::F32, to), &single)
        };
    }
    if let Some(narrow) = Narrow::of(to) {
        let single = if from == DType::F64 {
            w.need(Helper::ToOdd);
            format!("to_odd({x})")
        } else {
            widen(from, x)
        };
        return to_eighth(w, narrow, &single, false);
    }
    match (from, to) {
        (DType::F64, DType::BF16) => {
            w.need(Helper::ToOdd);
            format!("bf16(to_odd({x}))")
        }
        (DType::F64, _) => format!("{ty}({x})"),
        _ if to == DType::F32 => widen(from, x),
        _ => format!("{ty}({})", widen(from, x)),
    }
}

/// Toward zero, which may be done in two steps.
fn float_toward_zero(w: &mut Writer<'_>, (from, to): (DType, DType), x: &str) -> String {
    if from == DType::F64 && to != DType::F32 {
        let single = float_toward_zero(w, (DType::F64, DType::F32), x);
        return float_toward_zero(w, (DType::F32, to), &single);
    }
    let x = if from == DType::F64 { x.into() } else { widen(from, x) };
    if let Some(narrow) = Narrow::of(to) {
        return to_eighth(w, narrow, &x, true);
    }
    w.need(Helper::TowardZero);
    let word = if to == DType::F32 { "u32" } else { "u16" };
    format!("toward_zero<{}, {word}>({x})", c_type(to))
}

/// Two f32 as floats of 16 or 8 bits, the first in the low half.
pub(super) fn round_pair(w: &mut Writer<'_>, to: DType, pair: [&str; 2]) -> String {
    let [low, high] = pair.map(|single| float_from_float(w, (DType::F32, to), single));
    if to.bits() == 16 {
        w.need(Helper::Bits);
        w.need_type(to);
        return format!("u32(bits<u16>({low})) | u32(bits<u16>({high})) << 16");
    }
    format!("{}(u32({low}) | u32({high}) << 8)", c_type(DType::I16))
}

/// Two floats of eight bits, side by side, as f16.
pub(super) fn widen_pair(w: &mut Writer<'_>, from: DType, pair: &str) -> String {
    let narrow = c_type(DType::I8);
    let [low, high] = [format!("{narrow}({pair})"), format!("{narrow}({pair} >> 8)")]
        .map(|half| float_from_float(w, (from, DType::F16), &half));
    w.need(Helper::Bits);
    w.need_type(DType::F16);
    format!("u32(bits<u16>({low})) | u32(bits<u16>({high})) << 16")
}

/// A float of eight bits as an f32.
fn from_eighth(w: &mut Writer<'_>, narrow: Narrow, x: &str) -> String {
    w.need(Helper::FromEighth);
    let scale = scalar::from_f64(DType::F32, 2f64.powi(127 - narrow.bias as i32));
    let scale = w.literal(DType::F32, scale);
    format!("from_eighth({x}, {}, {scale}, {:#x})", narrow.mantissa, narrow.largest)
}

/// An f32 as a float of eight bits.
fn to_eighth(w: &mut Writer<'_>, narrow: Narrow, x: &str, toward_zero: bool) -> String {
    w.need(Helper::ToEighth);
    let Narrow { mantissa, bias, largest, unsigned_zero: _ } = narrow;
    let most = w.literal(DType::F32, scalar::from_f64(DType::F32, narrow.value(largest)));
    format!("to_eighth({x}, {mantissa}, {bias}, {largest:#x}, {most}, {toward_zero})")
}
