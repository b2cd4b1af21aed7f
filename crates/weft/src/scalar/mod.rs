//! The scalar operations, and what each computes.
//!
//! The tile program applies them element by element, the lane program one lane at a time; both share
//! these enums, and the evaluator and the simulator share these meanings. Integers wrap; f16 and bf16
//! are computed in f32 and rounded once, which is exact for `+ - * /` and square root; comparisons of
//! NaN follow the ordered or unordered form of the predicate. Transcendentals come from `libm`, never
//! from the platform, so that every machine gives the same bits.
//!
//! An operation is looked up once, as a function pointer, and applied many times.

/// A function pointer for each listed operation: the operation is a constant inside each closure, so
/// that what is applied is straight code.
macro_rules! per_operation {
    ($op:expr, $enum:ident, |x| $apply:expr, [$($variant:ident),* $(,)?]) => {
        match $op {
            $($enum::$variant => Some(|x| $apply($enum::$variant, x)),)*
            _ => None,
        }
    };
    ($op:expr, $enum:ident, |x, y| $apply:expr, [$($variant:ident),* $(,)?]) => {
        match $op {
            $($enum::$variant => Some(|x, y| $apply($enum::$variant, x, y)),)*
            _ => None,
        }
    };
}

mod cast;
mod directed;
mod float;
mod function;
mod int;
mod narrow;
mod ops;
mod undefined;

pub use cast::{cast, cast_applies, converted_bits, from_f64, nan_is_least, sign_extend, to_f64};
pub use directed::{Directed, Rounding, fma_toward};
pub use function::Function;
pub use narrow::Narrow;
pub(crate) use ops::named_enum;
pub use ops::{Binary, Cast, Compare, Unary};
pub use undefined::Undefined;

use crate::dtype::DType;
use float::{
    Brain, Double, Float, Half, Single, add_to_odd, float_binary, float_compare, float_unary,
    to_odd,
};
use int::{int_binary, int_compare, int_unary};

/// A looked-up operation of one operand on raw bits.
pub type UnaryFn = fn(u64) -> u64;
/// A looked-up operation of two operands on raw bits.
pub type BinaryFn = fn(u64, u64) -> u64;
/// A looked-up operation of three operands on raw bits.
pub type TernaryFn = fn(u64, u64, u64) -> u64;

/// Chooses the instance of a generic lookup for an element type.
macro_rules! by_dtype {
    ($dtype:expr, $float:ident, $int:ident, $op:expr) => {
        match $dtype {
            DType::F8E4M3FN | DType::F8E5M2 | DType::F8E4M3FNUZ | DType::F8E5M2FNUZ => None,
            DType::F16 => $float::<Half>($op),
            DType::BF16 => $float::<Brain>($op),
            DType::F32 => $float::<Single>($op),
            DType::F64 => $float::<Double>($op),
            DType::I1 => $int::<1>($op),
            DType::I8 => $int::<8>($op),
            DType::I16 => $int::<16>($op),
            DType::I32 => $int::<32>($op),
            DType::I64 => $int::<64>($op),
        }
    };
}

/// The operation on elements of `dtype`, or none where that type does not have it.
pub fn unary(op: Unary, dtype: DType) -> Option<UnaryFn> {
    if op.is_of_single() && dtype != DType::F32 {
        return None;
    }
    by_dtype!(dtype, float_unary, int_unary, op)
}

/// The operation on a real number, as near as a double comes; also of operations that only f32 has.
pub fn of_real(op: Unary, x: f64) -> f64 {
    float::num::Real::unary(op, x)
}

/// The operation on elements of `dtype`, or none where that type does not have it.
pub fn binary(op: Binary, dtype: DType) -> Option<BinaryFn> {
    by_dtype!(dtype, float_binary, int_binary, op)
}

/// The comparison of elements of `dtype` (the result is 0 or 1), or none where that type does not
/// have it.
pub fn compare(op: Compare, dtype: DType) -> Option<BinaryFn> {
    by_dtype!(dtype, float_compare, int_compare, op)
}

/// `x * y + z` with one rounding, for floats of 16 bits and more; wrapping, for integers (floats of
/// eight bits are not computed with, and give `z`).
pub fn fma(dtype: DType) -> TernaryFn {
    fn narrow<F: Float<Wide = f32>>(x: u64, y: u64, z: u64) -> u64 {
        // The product is exact in f64; what follows rounds to odd until the last step.
        let product = f64::from(F::load(x)) * f64::from(F::load(y));
        F::store(to_odd(add_to_odd(product, f64::from(F::load(z)))))
    }
    match dtype {
        DType::F8E4M3FN | DType::F8E5M2 | DType::F8E4M3FNUZ | DType::F8E5M2FNUZ => |_, _, z| z,
        DType::F16 => narrow::<Half>,
        DType::BF16 => narrow::<Brain>,
        DType::F32 => |x, y, z| {
            let [x, y, z] = [x, y, z].map(|bits| f32::from_bits(bits as u32));
            u64::from(libm::fmaf(x, y, z).to_bits())
        },
        DType::F64 => |x, y, z| {
            let [x, y, z] = [x, y, z].map(f64::from_bits);
            libm::fma(x, y, z).to_bits()
        },
        DType::I1 => |x, y, z| (x & y) ^ z,
        DType::I8 => |x, y, z| x.wrapping_mul(y).wrapping_add(z) & 0xff,
        DType::I16 => |x, y, z| x.wrapping_mul(y).wrapping_add(z) & 0xffff,
        DType::I32 => |x, y, z| x.wrapping_mul(y).wrapping_add(z) & 0xffff_ffff,
        DType::I64 => |x, y, z| x.wrapping_mul(y).wrapping_add(z),
    }
}

/// Two f32 as floats of 16 or 8 bits of `dtype`, each as [`Cast::Float`] rounds it, the first in the low
/// half.
pub fn round_pair(dtype: DType) -> BinaryFn {
    macro_rules! pair {
        ($to:expr) => {
            |x, y| {
                let round = |bits| cast(Cast::Float, DType::F32, $to, bits);
                round(x) | round(y) << $to.bits()
            }
        };
    }
    match dtype {
        DType::F16 => pair!(DType::F16),
        DType::BF16 => pair!(DType::BF16),
        DType::F8E4M3FNUZ => pair!(DType::F8E4M3FNUZ),
        DType::F8E5M2FNUZ => pair!(DType::F8E5M2FNUZ),
        DType::F8E5M2 => pair!(DType::F8E5M2),
        _ => pair!(DType::F8E4M3FN),
    }
}

/// Two floats of eight bits of `dtype`, side by side, as f16, the first in the low half.
pub fn widen_pair(dtype: DType) -> UnaryFn {
    macro_rules! pair {
        ($from:expr) => {
            |pair| {
                let widen = |bits| cast(Cast::Float, $from, DType::F16, bits);
                widen(pair & 0xff) | widen(pair >> 8 & 0xff) << 16
            }
        };
    }
    match dtype {
        DType::F8E4M3FNUZ => pair!(DType::F8E4M3FNUZ),
        DType::F8E5M2FNUZ => pair!(DType::F8E5M2FNUZ),
        DType::F8E5M2 => pair!(DType::F8E5M2),
        _ => pair!(DType::F8E4M3FN),
    }
}

/// Bytes of the pair `a` (0 to 3) and `b` (4 to 7), both of 32 bits, lowest first: byte `i` is the
/// one that the low three bits of nibble `i` of `selector` name, or eight copies of its sign where
/// the nibble's top bit is set.
pub fn byte_permute(a: u64, b: u64, selector: u64) -> u64 {
    let pair = b << 32 | a & 0xffff_ffff;
    (0..4).fold(0, |sum, index| {
        let nibble = selector >> (4 * index) & 15;
        let byte = pair >> (8 * (nibble & 7)) & 0xff;
        let byte = if nibble < 8 { byte } else { (byte >> 7) * 0xff };
        sum | byte << (8 * index)
    })
}

#[cfg(test)]
mod tests;
