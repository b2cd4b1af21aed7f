//! The operations that programs use most, for a whole row of lanes at once.
//!
//! Each loop is simple enough for the compiler to use vector instructions. What each operation means
//! is in [`crate::scalar`]; a test holds every function here against it.

use crate::dtype::DType;
use crate::scalar::{self, Binary, Cast, Compare};

/// Computes `dst[lane] = f(x[lane])` for all lanes.
pub(super) type Row1 = fn(&mut [u64], &[u64]);
/// `dst[lane] = f(x[lane], y[lane])`.
pub(super) type Row2 = fn(&mut [u64], &[u64], &[u64]);
/// `dst[lane] = f(x[lane], y[lane], z[lane])`.
pub(super) type Row3 = fn(&mut [u64], &[u64], &[u64], &[u64]);

#[inline]
fn each1(dst: &mut [u64], x: &[u64], f: impl Fn(u64) -> u64) {
    for (dst, &x) in dst.iter_mut().zip(x) {
        *dst = f(x);
    }
}

#[inline]
fn each2(dst: &mut [u64], x: &[u64], y: &[u64], f: impl Fn(u64, u64) -> u64) {
    for ((dst, &x), &y) in dst.iter_mut().zip(x).zip(y) {
        *dst = f(x, y);
    }
}

#[inline]
fn float(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

const LOW: u64 = 0xffff_ffff;

/// The row form of an operation of two operands, where there is one.
pub(super) fn binary(op: Binary, dtype: DType) -> Option<Row2> {
    Some(match (op, dtype) {
        (Binary::Add, DType::I32) => |d, x, y| each2(d, x, y, |x, y| x.wrapping_add(y) & LOW),
        (Binary::Sub, DType::I32) => |d, x, y| each2(d, x, y, |x, y| x.wrapping_sub(y) & LOW),
        (Binary::Mul, DType::I32) => |d, x, y| each2(d, x, y, |x, y| x.wrapping_mul(y) & LOW),
        (Binary::Shl, DType::I32) => {
            |d, x, y| each2(d, x, y, |x, y| if y < 32 { (x << (y & 31)) & LOW } else { 0 })
        }
        (Binary::ShrU, DType::I32) => {
            |d, x, y| each2(d, x, y, |x, y| if y < 32 { x >> (y & 31) } else { 0 })
        }
        (Binary::Add, DType::I64) => |d, x, y| each2(d, x, y, u64::wrapping_add),
        (Binary::Sub, DType::I64) => |d, x, y| each2(d, x, y, u64::wrapping_sub),
        (Binary::Mul, DType::I64) => |d, x, y| each2(d, x, y, u64::wrapping_mul),
        (Binary::And, dtype) if dtype.is_int() => |d, x, y| each2(d, x, y, |x, y| x & y),
        (Binary::Or, dtype) if dtype.is_int() => |d, x, y| each2(d, x, y, |x, y| x | y),
        (Binary::Xor, dtype) if dtype.is_int() => |d, x, y| each2(d, x, y, |x, y| x ^ y),
        (Binary::Add, DType::F32) => {
            |d, x, y| each2(d, x, y, |x, y| (float(x) + float(y)).to_bits().into())
        }
        (Binary::Sub, DType::F32) => {
            |d, x, y| each2(d, x, y, |x, y| (float(x) - float(y)).to_bits().into())
        }
        (Binary::Mul, DType::F32) => {
            |d, x, y| each2(d, x, y, |x, y| (float(x) * float(y)).to_bits().into())
        }
        _ => return None,
    })
}

/// The row form of a comparison, where there is one.
pub(super) fn compare(op: Compare, dtype: DType) -> Option<Row2> {
    macro_rules! signed {
        ($op:tt) => { |d, x, y| each2(d, x, y, |x, y| u64::from((x as i32) $op (y as i32))) };
    }
    macro_rules! float {
        ($op:tt) => { |d, x, y| each2(d, x, y, |x, y| u64::from(float(x) $op float(y))) };
    }
    Some(match (op, dtype) {
        (Compare::Eq, dtype) if dtype.is_int() => {
            |d, x, y| each2(d, x, y, |x, y| u64::from(x == y))
        }
        (Compare::Ne, dtype) if dtype.is_int() => {
            |d, x, y| each2(d, x, y, |x, y| u64::from(x != y))
        }
        (Compare::Ult, dtype) if dtype.is_int() => {
            |d, x, y| each2(d, x, y, |x, y| u64::from(x < y))
        }
        (Compare::Slt, DType::I32) => signed!(<),
        (Compare::Sle, DType::I32) => signed!(<=),
        (Compare::Sgt, DType::I32) => signed!(>),
        (Compare::Sge, DType::I32) => signed!(>=),
        (Compare::Olt, DType::F32) => float!(<),
        (Compare::Ole, DType::F32) => float!(<=),
        (Compare::Ogt, DType::F32) => float!(>),
        (Compare::Oge, DType::F32) => float!(>=),
        _ => return None,
    })
}

/// The row form of a conversion, where there is one.
pub(super) fn cast(op: Cast, from: DType, to: DType) -> Option<Row1> {
    Some(match (op, from, to) {
        (Cast::Bits | Cast::ExtU, ..) => |d, x| d.copy_from_slice(x),
        (Cast::Trunc, _, DType::I32) => |d, x| each1(d, x, |x| x & LOW),
        (Cast::ExtS, DType::I32, DType::I64) => |d, x| each1(d, x, |x| i64::from(x as i32) as u64),
        _ => return None,
    })
}

/// `if x { y } else { z }`.
pub(super) fn select(dst: &mut [u64], x: &[u64], y: &[u64], z: &[u64]) {
    for (((dst, &x), &y), &z) in dst.iter_mut().zip(x).zip(y).zip(z) {
        *dst = if x != 0 { y } else { z };
    }
}

/// `x * y + z` of f32 with one rounding.
///
/// The product is exact in f64, so only the sum is rounded there. Rounding it again to f32 goes wrong
/// only when the first result is halfway between two floats (or neither zero nor a normal float): those lanes take
/// the long way.
pub(super) fn fma_f32(dst: &mut [u64], x: &[u64], y: &[u64], z: &[u64]) {
    let mut rare = 0u64;
    for (((dst, &x), &y), &z) in dst.iter_mut().zip(x).zip(y).zip(z) {
        let sum = f64::from(float(x)) * f64::from(float(y)) + f64::from(float(z));
        let bits = sum.to_bits();
        *dst = u64::from((sum as f32).to_bits());
        // The exponent of a double that is a normal float lies strictly between 1023 - 126 and
        // 1023 + 127, the ends left to the long way.
        let exponent = (bits >> 52) & 0x7ff;
        let normal = exponent.wrapping_sub(898) < 252 || bits << 1 == 0;
        rare |= u64::from(bits & 0x1fff_ffff == 0x1000_0000) | u64::from(!normal);
    }
    if rare != 0 {
        let f = scalar::fma(DType::F32);
        for (((dst, &x), &y), &z) in dst.iter_mut().zip(x).zip(y).zip(z) {
            *dst = f(x, y, z);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_compute_what_scalars_do() {
        let edges = [
            0u64,
            1,
            2,
            31,
            32,
            63,
            64,
            0x7f,
            0x80,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            0x3f80_0000,
            0x7f80_0000,
            0x7fc0_0000,
            0x0000_0001,
            0x8000_0001,
            0x3f80_0001,
            0x4b80_0000,
            0x3380_0000,
            u64::MAX,
            1 << 63,
            0x1234_5678_9abc_def0,
        ];
        let pairs: Vec<(u64, u64)> =
            edges.iter().flat_map(|&x| edges.iter().map(move |&y| (x, y))).collect();
        let same = |dtype: DType, a: u64, b: u64| {
            // A NaN's payload is nobody's promise.
            a == b
                || dtype == DType::F32
                    && f32::from_bits(a as u32).is_nan()
                    && f32::from_bits(b as u32).is_nan()
        };
        let mut checked = 0;
        for dtype in DType::ALL {
            let x: Vec<u64> = pairs.iter().map(|&(x, _)| x & dtype.mask()).collect();
            let y: Vec<u64> = pairs.iter().map(|&(_, y)| y & dtype.mask()).collect();
            let mut out = vec![0; pairs.len()];
            for &op in Binary::ALL {
                let Some(row) = binary(op, dtype) else { continue };
                let f = scalar::binary(op, dtype).unwrap();
                row(&mut out, &x, &y);
                for i in 0..out.len() {
                    assert!(same(dtype, out[i], f(x[i], y[i])), "{op} {dtype} {:?}", (x[i], y[i]));
                }
                checked += 1;
            }
            for &op in Compare::ALL {
                let Some(row) = compare(op, dtype) else { continue };
                let f = scalar::compare(op, dtype).unwrap();
                row(&mut out, &x, &y);
                for i in 0..out.len() {
                    assert_eq!(out[i], f(x[i], y[i]), "{op} {dtype} {:?}", (x[i], y[i]));
                }
                checked += 1;
            }
            for &op in Cast::ALL {
                for to in DType::ALL {
                    if !scalar::cast_applies(op, dtype, to) {
                        continue;
                    }
                    let Some(row) = cast(op, dtype, to) else { continue };
                    row(&mut out, &x);
                    for i in 0..out.len() {
                        assert_eq!(out[i], scalar::cast(op, dtype, to, x[i]), "{op} {dtype} {to}");
                    }
                    checked += 1;
                }
            }
        }
        assert!(checked > 40);
    }

    #[test]
    fn the_fast_fused_product_is_the_fused_product() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 32
        };
        let f = scalar::fma(DType::F32);
        for round in 0..20_000 {
            // Small exponents now and then, so that sums cancel and products vanish.
            let mask = [LOW, 0x80ff_ffff, 0xbfff_0000][round % 3];
            let [x, y, z]: [Vec<u64>; 3] =
                core::array::from_fn(|_| (0..8).map(|_| next() & mask).collect());
            let mut out = [0; 8];
            fma_f32(&mut out, &x, &y, &z);
            for lane in 0..8 {
                let right = f(x[lane], y[lane], z[lane]);
                let nan = |bits: u64| float(bits).is_nan();
                assert!(out[lane] == right || nan(out[lane]) && nan(right));
            }
        }
    }
}
