//! Integers, as reals while they do not wrap.

use super::{Near, known, times};
use crate::dtype::DType;
use crate::scalar::{Binary, Unary};

/// A bound of an integer that is `exact` before it wraps: infinity where it may wrap.
fn unwrapped(dtype: DType, exact: f64, bound: f64) -> f64 {
    let bound = known(bound);
    let most = 2_f64.powi(dtype.bits() as i32 - 1);
    if bound == 0.0 || exact.abs() + bound < most { bound } else { f64::INFINITY }
}

/// The bound of an integer operation of one operand.
pub(super) fn unary(op: Unary, dtype: DType, x: Near, z: f64) -> f64 {
    match op {
        Unary::Not => x.off,
        _ if dtype == DType::I1 => x.off,
        _ => unwrapped(dtype, z, x.off),
    }
}

/// The bound of an integer operation of two operands.
pub(super) fn binary(op: Binary, dtype: DType, [x, y]: [Near; 2], z: f64) -> f64 {
    if x.is_exact() && y.is_exact() {
        return 0.0;
    }
    if dtype == DType::I1 {
        // Of a truth value that decides alone the other does not count.
        let decides = |x: Near, value: f64| x.is_exact() && x.value == value;
        return match op {
            Binary::And | Binary::Mul => f64::from(!decides(x, 0.0) && !decides(y, 0.0)),
            Binary::Or => f64::from(!decides(x, 1.0) && !decides(y, 1.0)),
            _ => 1.0,
        };
    }
    let not_negative = |x: Near| x.value - x.off >= 0.0;
    let both_not_negative = not_negative(x) && not_negative(y);
    match op {
        Binary::Add => unwrapped(dtype, x.value + y.value, x.off + y.off),
        Binary::Sub => unwrapped(dtype, x.value - y.value, x.off + y.off),
        Binary::Mul => {
            let bound = times(x.value, y.off) + times(y.value, x.off) + times(x.off, y.off);
            unwrapped(dtype, x.value * y.value, bound)
        }
        Binary::MinS | Binary::MaxS => x.off.max(y.off),
        Binary::MinU | Binary::MaxU if both_not_negative => x.off.max(y.off),
        Binary::DivS if y.is_exact() && y.value != 0.0 => x.off / y.value.abs() + 1.0,
        Binary::DivU if y.is_exact() && y.value > 0.0 && not_negative(x) => x.off / y.value + 1.0,
        Binary::RemS if y.is_exact() => y.value.abs() + z.abs(),
        Binary::RemU if y.is_exact() && y.value > 0.0 && not_negative(x) => y.value,
        Binary::And if y.is_exact() && y.value >= 0.0 => y.value,
        Binary::And if x.is_exact() && x.value >= 0.0 => x.value,
        Binary::Shl if y.is_exact() && (0.0..64.0).contains(&y.value) => {
            let scale = 2_f64.powi(y.value as i32);
            unwrapped(dtype, x.value * scale, x.off * scale)
        }
        Binary::ShrS if y.is_exact() && (0.0..64.0).contains(&y.value) => {
            x.off * 0.5_f64.powi(y.value as i32) + 1.0
        }
        Binary::ShrU if y.is_exact() && (0.0..64.0).contains(&y.value) && not_negative(x) => {
            x.off * 0.5_f64.powi(y.value as i32) + 1.0
        }
        _ => f64::INFINITY,
    }
}
