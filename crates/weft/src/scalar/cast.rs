//! Conversions between element types.

use super::float::{Brain, Float, Half, add_to_odd, to_odd};
use super::{Cast, Narrow};
use crate::dtype::DType;
use half::{bf16, f16};

/// Raw bits of `value` as an element of `dtype` (rounded to nearest even; integers saturate).
pub fn from_f64(dtype: DType, value: f64) -> u64 {
    match dtype {
        DType::F64 => value.to_bits(),
        DType::F32 => u64::from((value as f32).to_bits()),
        DType::F16 => Half::store(to_odd(value)),
        DType::BF16 => Brain::store(to_odd(value)),
        DType::F8E4M3FN | DType::F8E5M2 | DType::F8E4M3FNUZ | DType::F8E5M2FNUZ => {
            Narrow::of(dtype).map_or(0, |narrow| narrow.bits(value, false))
        }
        DType::I1 => u64::from(value != 0.0),
        _ => (value as i64) as u64 & dtype.mask(),
    }
}

/// The value of raw bits as a double: exact for every float type, signed for integers.
pub fn to_f64(dtype: DType, bits: u64) -> f64 {
    match dtype {
        DType::F64 => f64::from_bits(bits),
        DType::F32 => f64::from(f32::from_bits(bits as u32)),
        DType::F16 => f16::from_bits(bits as u16).to_f64(),
        DType::BF16 => bf16::from_bits(bits as u16).to_f64(),
        DType::F8E4M3FN | DType::F8E5M2 | DType::F8E4M3FNUZ | DType::F8E5M2FNUZ => {
            Narrow::of(dtype).map_or(0.0, |narrow| narrow.value(bits & 0xff))
        }
        DType::I1 => (bits & 1) as f64,
        _ => sign_extend(dtype, bits) as f64,
    }
}

/// The signed value of an integer's raw bits.
pub fn sign_extend(dtype: DType, bits: u64) -> i64 {
    let shift = 64 - dtype.bits();
    ((bits << shift) as i64) >> shift
}

/// Whether `op` converts from `from` to `to`.
pub fn cast_applies(op: Cast, from: DType, to: DType) -> bool {
    match op {
        Cast::ExtS | Cast::ExtU => from.is_int() && to.is_int() && from.bits() < to.bits(),
        Cast::Trunc => from.is_int() && to.is_int() && from.bits() > to.bits(),
        Cast::FloatFromS | Cast::FloatFromU => from.is_int() && to.is_float() && !to.is_f8(),
        Cast::SFromFloat | Cast::UFromFloat => from.is_float() && !from.is_f8() && to.is_int(),
        Cast::Float => from.is_float() && to.is_float() && from != to,
        Cast::FloatToZero => from.is_float() && to.is_float() && from.bits() > to.bits(),
        Cast::Bits => from.bits() == to.bits(),
    }
}

/// The bits at which a conversion from float to this integer saturates: NVIDIA's `cvt` gives 16 at
/// least, of which a byte keeps the low ones.
pub fn converted_bits(to: DType) -> u32 {
    if to == DType::I1 { 1 } else { to.bits().max(16) }
}

/// Whether a conversion from float to integer makes of NaN a number whose top bit alone is set, and not
/// zero (PTX ISA, `cvt`).
pub fn nan_is_least(from: DType, to: DType) -> bool {
    to != DType::I1 && (from == DType::F64 || to.bits() == 64)
}

/// Converts the raw bits of one element to those of another type.
pub fn cast(op: Cast, from: DType, to: DType, bits: u64) -> u64 {
    match op {
        Cast::ExtS => sign_extend(from, bits) as u64 & to.mask(),
        Cast::ExtU | Cast::Trunc | Cast::Bits => bits & to.mask(),
        Cast::FloatFromS => from_int(to, i128::from(sign_extend(from, bits))),
        Cast::FloatFromU => from_int(to, i128::from(bits & from.mask())),
        Cast::SFromFloat | Cast::UFromFloat => {
            let value = to_f64(from, bits);
            let width = converted_bits(to);
            if value.is_nan() {
                return if nan_is_least(from, to) { (1 << (width - 1)) & to.mask() } else { 0 };
            }
            // `as` saturates.
            let whole = if op == Cast::SFromFloat {
                let limit = 1i128 << (width - 1);
                (value as i128).clamp(-limit, limit - 1) as u64
            } else {
                (value as u128).min((1 << width) - 1) as u64
            };
            whole & to.mask()
        }
        Cast::Float => match (from, to) {
            // A narrow type from another goes through f32, which holds both exactly.
            (DType::F32, DType::F16) => f16::from_f32(f32::from_bits(bits as u32)).to_bits().into(),
            (DType::F32, DType::BF16) => {
                bf16::from_f32(f32::from_bits(bits as u32)).to_bits().into()
            }
            _ => from_f64(to, to_f64(from, bits)),
        },
        Cast::FloatToZero => {
            let value = to_f64(from, bits);
            if let Some(narrow) = Narrow::of(to) {
                return narrow.bits(value, true);
            }
            let nearest = from_f64(to, value);
            // One step back where rounding went away from zero; from infinity to the largest number.
            let away = to_f64(to, nearest).abs() > value.abs();
            nearest - u64::from(away)
        }
    }
}

/// An integer as a float, rounded once.
fn from_int(to: DType, value: i128) -> u64 {
    match to {
        DType::F64 => (value as f64).to_bits(),
        DType::F32 => u64::from((value as f32).to_bits()),
        _ => {
            // The upper and the lower half are exact doubles.
            let (high, low) = (value >> 32 << 32, value & 0xffff_ffff);
            from_f64(to, add_to_odd(high as f64, low as f64))
        }
    }
}
