//! The factors of a product as the instruction takes them.

use crate::dtype::DType;
use crate::lane::{Builder, Value};
use crate::scalar::{Binary, Cast};
use crate::tile::Precision;
use weft_layout::machine::Number;

/// A factor as a sum of numbers of fewer digits, the largest first: its registers in each.
pub(super) type Parts = Vec<Vec<Value>>;

/// The pairs of parts whose products are summed, the smallest first; the last pair, of the largest
/// parts, alone decides what is not a number.
pub(super) fn pairs(
    factor: DType,
    taken: Number,
    precision: Precision,
) -> &'static [(usize, usize)] {
    match (factor, precision) {
        // Nothing is rounded.
        (DType::F32, _) if taken == Number::F32 => &[(0, 0)],
        (DType::F32, Precision::Tf32x3 | Precision::Bf16x3) => &[(1, 0), (0, 1), (0, 0)],
        (DType::F32, Precision::Bf16x6) => &[(1, 1), (2, 0), (0, 2), (1, 0), (0, 1), (0, 0)],
        _ => &[(0, 0)],
    }
}

/// A factor's registers as parts of this type, as many as these pairs name.
pub(super) fn parts(
    build: &mut Builder,
    registers: &[Value],
    to: DType,
    pairs: &[(usize, usize)],
) -> Parts {
    let count = 1 + pairs.iter().map(|&(left, _)| left).max().unwrap_or(0);
    if count == 1 {
        return vec![registers.iter().map(|&x| build.cast(Cast::Float, x, to)).collect()];
    }
    let mut parts: Parts = vec![Vec::with_capacity(registers.len()); count];
    for &register in registers {
        let mut rest = register;
        for part in &mut parts {
            let (narrow, back) = match to {
                DType::F32 => {
                    let kept = upper_digits(build, rest);
                    (kept, kept)
                }
                _ => {
                    let narrow = build.cast(Cast::Float, rest, to);
                    (narrow, build.cast(Cast::Float, narrow, DType::F32))
                }
            };
            part.push(narrow);
            rest = build.binary(Binary::Sub, rest, back);
        }
    }
    parts
}

/// An f32 as the instruction sees it: without its lowest 13 bits.
fn upper_digits(build: &mut Builder, x: Value) -> Value {
    let bits = build.cast(Cast::Bits, x, DType::I32);
    let mask = build.i32(!0x1fff);
    let kept = build.binary(Binary::And, bits, mask);
    build.cast(Cast::Bits, kept, DType::F32)
}
