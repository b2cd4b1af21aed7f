//! Conversions: the distance to both ends, converted.

use super::{Freedom, Near, apart, digits, finished, known, number, rounding};
use crate::dtype::DType;
use crate::scalar::{self, Cast};

/// The bound of an element that was converted to `z`, and had `bits` before.
pub(super) fn cast(
    op: Cast,
    from: DType,
    to: DType,
    (x, bits): (Near, u64),
    z: f64,
    freedom: Freedom,
) -> f64 {
    // Of a fold's parts another order makes others, which round elsewhere.
    let narrower = matches!(op, Cast::Float | Cast::FloatToZero) && digits(to) < digits(from);
    if narrower && freedom.order && z.is_finite() {
        return finished(to, z, &[x], x.off + rounding(to, z.abs() + x.off, freedom));
    }
    if x.is_exact() || x.value.is_nan() {
        return 0.0;
    }
    let not_negative = x.value - x.off >= 0.0;
    let ends = |convert: &dyn Fn(f64) -> f64| {
        let [low, high] = x.ends().map(|end| apart(convert(end), z));
        low.max(high)
    };
    match op {
        _ if x.off == f64::INFINITY && to != DType::I1 => f64::INFINITY,
        Cast::ExtS => x.off,
        Cast::ExtU if from == DType::I1 || not_negative => x.off,
        Cast::Trunc if to == DType::I1 => 1.0,
        Cast::Trunc => {
            let most = 2_f64.powi(to.bits() as i32 - 1);
            if x.value.abs() + x.off < most { x.off } else { f64::INFINITY }
        }
        Cast::FloatFromU if from != DType::I1 && !not_negative => f64::INFINITY,
        Cast::FloatFromS | Cast::FloatFromU => ends(&|end| number(to, scalar::from_f64(to, end))),
        // A byte keeps the low bits of what it cannot hold.
        Cast::SFromFloat | Cast::UFromFloat
            if to == DType::I8 && x.ends().iter().any(|end| end.abs() >= 128.0) =>
        {
            f64::INFINITY
        }
        Cast::SFromFloat | Cast::UFromFloat => {
            let bound = ends(&|end| number(to, scalar::cast(op, DType::F64, to, end.to_bits())));
            if to == DType::I1 { bound.min(1.0) } else { bound }
        }
        Cast::Float | Cast::FloatToZero => {
            ends(&|end| number(to, scalar::cast(op, DType::F64, to, end.to_bits())))
        }
        Cast::Bits if from == to => x.off,
        Cast::Bits if from.is_int() && to.is_int() => x.off,
        Cast::Bits => reread(from, to, (x, bits), z),
        Cast::ExtU => f64::INFINITY,
    }
}

/// Of bits that are read as another type: floats of one sign are in the order of their bits.
fn reread(from: DType, to: DType, (x, bits): (Near, u64), z: f64) -> f64 {
    let sign = |value: f64| value.is_sign_negative();
    let [low, high] = x.ends();
    let finite = low.is_finite() && high.is_finite() && x.off < x.value.abs();
    if sign(low) != sign(high) || from.is_float() && !finite {
        return f64::INFINITY;
    }
    let read = |end: f64| {
        let moved = (end - x.value) as i64;
        let whole = bits.wrapping_add_signed(moved) & from.mask();
        number(to, if from.is_float() { scalar::from_f64(from, end) } else { whole })
    };
    // An end may lie between two floats.
    let between = if from.is_float() { 1.0 } else { 0.0 };
    known(apart(read(low), z).max(apart(read(high), z)) + between)
}
