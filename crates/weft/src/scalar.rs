//! The scalar operations, and what each computes.
//!
//! The tile program applies them element by element, the lane program one lane at a time; both share
//! these enums, and the evaluator and the simulator share these meanings. Integers wrap; f16 and bf16
//! are computed in f32 and rounded once, which is exact for `+ - * /` and square root; comparisons of
//! NaN follow the ordered or unordered form of the predicate. Transcendentals come from `libm`, never
//! from the platform, so that every machine gives the same bits.
//!
//! An operation is looked up once, as a function pointer, and applied many times.

use crate::dtype::DType;
use core::fmt;
use half::{bf16, f16};

macro_rules! named_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$vmeta])* $variant),* }

        impl $name {
            /// Every operation of this kind.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The operation's name in the texts.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }

            /// The operation with this name.
            pub fn by_name(name: &str) -> Option<$name> {
                match name { $($text => Some($name::$variant),)* _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use named_enum;

named_enum! {
    /// Operations of one operand and a result of the same type.
    Unary {
        /// Sign change.
        Neg = "neg",
        /// Absolute value; the least integer is its own.
        Abs = "abs",
        /// Every bit inverted (integers).
        Not = "not",
        /// e to the power.
        Exp = "exp",
        /// 2 to the power.
        Exp2 = "exp2",
        /// Natural logarithm.
        Log = "log",
        /// Logarithm to base 2.
        Log2 = "log2",
        /// Square root.
        Sqrt = "sqrt",
        /// Square root, correctly rounded wherever it is computed.
        SqrtPrecise = "sqrt_rn",
        /// One over the square root.
        Rsqrt = "rsqrt",
        /// Largest integral value not above.
        Floor = "floor",
        /// Smallest integral value not below.
        Ceil = "ceil",
    }
}

named_enum! {
    /// Operations of two operands of one type and a result of that type.
    Binary {
        /// Sum.
        Add = "add",
        /// Difference.
        Sub = "sub",
        /// Product.
        Mul = "mul",
        /// Quotient of floats.
        Div = "div",
        /// Quotient of floats, correctly rounded wherever it is computed.
        DivPrecise = "div_rn",
        /// Remainder of floats with the dividend's sign (C's `fmod`).
        Rem = "rem",
        /// Signed quotient, toward zero.
        DivS = "div_s",
        /// Unsigned quotient.
        DivU = "div_u",
        /// Signed remainder with the dividend's sign.
        RemS = "rem_s",
        /// Unsigned remainder.
        RemU = "rem_u",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// Shift left; zero when the count reaches the width.
        Shl = "shl",
        /// Arithmetic shift right; the sign when the count reaches the width.
        ShrS = "shr_s",
        /// Logical shift right; zero when the count reaches the width.
        ShrU = "shr_u",
        /// Signed minimum.
        MinS = "min_s",
        /// Signed maximum.
        MaxS = "max_s",
        /// Unsigned minimum.
        MinU = "min_u",
        /// Unsigned maximum.
        MaxU = "max_u",
        /// Minimum of floats that prefers a number to a NaN (IEEE `minimumNumber`).
        MinNum = "min_num",
        /// Maximum of floats that prefers a number to a NaN.
        MaxNum = "max_num",
        /// Minimum of floats in which a NaN wins.
        Minimum = "minimum",
        /// Maximum of floats in which a NaN wins.
        Maximum = "maximum",
        /// High half of the unsigned product (32 and 64 bits).
        MulHiU = "mulhi_u",
    }
}

named_enum! {
    /// Comparisons; `o` is false and `u` is true when an operand is NaN.
    Compare {
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Ne = "ne",
        /// Signed less.
        Slt = "slt",
        /// Signed less or equal.
        Sle = "sle",
        /// Signed greater.
        Sgt = "sgt",
        /// Signed greater or equal.
        Sge = "sge",
        /// Unsigned less.
        Ult = "ult",
        /// Unsigned less or equal.
        Ule = "ule",
        /// Unsigned greater.
        Ugt = "ugt",
        /// Unsigned greater or equal.
        Uge = "uge",
        /// Floats: ordered and equal.
        Oeq = "oeq",
        /// Floats: ordered and greater.
        Ogt = "ogt",
        /// Floats: ordered and greater or equal.
        Oge = "oge",
        /// Floats: ordered and less.
        Olt = "olt",
        /// Floats: ordered and less or equal.
        Ole = "ole",
        /// Floats: ordered and not equal.
        One = "one",
        /// Floats: neither is NaN.
        Ord = "ord",
        /// Floats: unordered or equal.
        Ueq = "ueq",
        /// Floats: unordered or greater.
        FUgt = "f_ugt",
        /// Floats: unordered or greater or equal.
        FUge = "f_uge",
        /// Floats: unordered or less.
        FUlt = "f_ult",
        /// Floats: unordered or less or equal.
        FUle = "f_ule",
        /// Floats: unordered or not equal.
        Une = "une",
        /// Floats: one is NaN.
        Uno = "uno",
    }
}

named_enum! {
    /// Conversions from one element type to another.
    Cast {
        /// Wider integer, sign repeated.
        ExtS = "ext_s",
        /// Wider integer, zeros above.
        ExtU = "ext_u",
        /// Narrower integer.
        Trunc = "trunc",
        /// Signed integer to float, to nearest even.
        FloatFromS = "float_from_s",
        /// Unsigned integer to float, to nearest even.
        FloatFromU = "float_from_u",
        /// Float to signed integer toward zero, saturating; NaN gives zero.
        SFromFloat = "s_from_float",
        /// Float to unsigned integer toward zero, saturating; NaN gives zero.
        UFromFloat = "u_from_float",
        /// Float to float, to nearest even.
        Float = "float",
        /// The same bits under another type of the same width.
        Bits = "bits",
    }
}

/// A looked-up operation of one operand on raw bits.
pub type UnaryFn = fn(u64) -> u64;
/// A looked-up operation of two operands on raw bits.
pub type BinaryFn = fn(u64, u64) -> u64;
/// A looked-up operation of three operands on raw bits.
pub type TernaryFn = fn(u64, u64, u64) -> u64;

/// Raw bits of `value` as an element of `dtype` (rounded to nearest even; integers saturate).
pub fn from_f64(dtype: DType, value: f64) -> u64 {
    match dtype {
        DType::F64 => value.to_bits(),
        DType::F32 => u64::from((value as f32).to_bits()),
        DType::F16 => Half::store(to_odd(value)),
        DType::BF16 => Brain::store(to_odd(value)),
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
        DType::I1 => (bits & 1) as f64,
        _ => sign_extend(dtype, bits) as f64,
    }
}

/// The signed value of an integer's raw bits.
pub fn sign_extend(dtype: DType, bits: u64) -> i64 {
    let shift = 64 - dtype.bits();
    ((bits << shift) as i64) >> shift
}

/// A double as the f32 that is nearest, or, where that is inexact, as the neighbour with an odd last
/// bit: rounded to odd, so that a second rounding to a type at least two bits shorter gives what one
/// rounding would have given.
fn to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || value.is_nan() || nearest.to_bits() & 1 == 1 {
        nearest
    } else if value > back {
        nearest.next_up()
    } else {
        nearest.next_down()
    }
}

/// The sum of two doubles rounded to odd: of the two neighbours of an inexact sum the odd one.
fn add_to_odd(x: f64, y: f64) -> f64 {
    let sum = x + y;
    // Knuth's two-sum: what the rounding left out.
    let part = sum - x;
    let error = (x - (sum - part)) + (y - part);
    if error == 0.0 || !error.is_finite() || sum.to_bits() & 1 == 1 {
        sum
    } else if error > 0.0 {
        sum.next_up()
    } else {
        sum.next_down()
    }
}

/// How a float type computes: load it into its arithmetic type, and round the result back.
trait Float {
    type Wide: num::Real;
    fn load(bits: u64) -> Self::Wide;
    fn store(value: Self::Wide) -> u64;
}

macro_rules! float_type {
    ($marker:ident, $wide:ty, $load:expr, $store:expr) => {
        struct $marker;
        impl Float for $marker {
            type Wide = $wide;
            fn load(bits: u64) -> $wide {
                let load: fn(u64) -> $wide = $load;
                load(bits)
            }
            fn store(value: $wide) -> u64 {
                let store: fn($wide) -> u64 = $store;
                store(value)
            }
        }
    };
}
float_type!(Half, f32, |b| f16::from_bits(b as u16).to_f32(), |v| f16::from_f32(v)
    .to_bits()
    .into());
float_type!(Brain, f32, |b| bf16::from_bits(b as u16).to_f32(), |v| bf16::from_f32(v)
    .to_bits()
    .into());
float_type!(Single, f32, |b| f32::from_bits(b as u32), |v| v.to_bits().into());
float_type!(Double, f64, f64::from_bits, f64::to_bits);

/// The functions that both arithmetic types offer, from `core` and `libm`.
mod num {
    pub(super) trait Real: Copy + PartialOrd {
        fn is_nan(self) -> bool;
        fn unary(op: super::Unary, x: Self) -> Self;
        fn binary(op: super::Binary, x: Self, y: Self) -> Self;
    }

    macro_rules! real {
        ($t:ty, $($libm:ident = $name:ident),*) => {
            impl Real for $t {
                fn is_nan(self) -> bool {
                    <$t>::is_nan(self)
                }
                fn unary(op: super::Unary, x: $t) -> $t {
                    $(use libm::$libm as $name;)*
                    match op {
                        super::Unary::Neg => -x,
                        super::Unary::Abs => x.abs(),
                        super::Unary::Exp => exp(x),
                        super::Unary::Exp2 => exp2(x),
                        super::Unary::Log => log(x),
                        super::Unary::Log2 => log2(x),
                        super::Unary::Sqrt | super::Unary::SqrtPrecise => sqrt(x),
                        super::Unary::Rsqrt => 1.0 / sqrt(x),
                        super::Unary::Floor => floor(x),
                        super::Unary::Ceil => ceil(x),
                        // Integers only; `unary` below never asks.
                        super::Unary::Not => x,
                    }
                }
                fn binary(op: super::Binary, x: $t, y: $t) -> $t {
                    use super::Binary;
                    // A zero is smaller when it is negative, as IEEE's minimumNumber asks.
                    let less = x < y || (x == y && x.is_sign_negative());
                    match op {
                        Binary::Add => x + y,
                        Binary::Sub => x - y,
                        Binary::Mul => x * y,
                        Binary::Div | Binary::DivPrecise => x / y,
                        Binary::Rem => x % y,
                        Binary::MinNum | Binary::Minimum if !x.is_nan() && !y.is_nan() => {
                            if less { x } else { y }
                        }
                        Binary::MaxNum | Binary::Maximum if !x.is_nan() && !y.is_nan() => {
                            if less { y } else { x }
                        }
                        Binary::MinNum | Binary::MaxNum => {
                            if x.is_nan() { y } else { x }
                        }
                        // With a NaN among them, minimum and maximum give NaN.
                        _ => <$t>::NAN,
                    }
                }
            }
        };
    }
    real!(
        f32,
        expf = exp,
        exp2f = exp2,
        logf = log,
        log2f = log2,
        sqrtf = sqrt,
        floorf = floor,
        ceilf = ceil
    );
    real!(
        f64,
        exp = exp,
        exp2 = exp2,
        log = log,
        log2 = log2,
        sqrt = sqrt,
        floor = floor,
        ceil = ceil
    );
}

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

fn float_unary<F: Float>(op: Unary) -> Option<UnaryFn> {
    use num::Real;
    fn apply<F: Float>(op: Unary, x: u64) -> u64 {
        F::store(F::Wide::unary(op, F::load(x)))
    }
    per_operation!(
        op,
        Unary,
        |x| apply::<F>,
        [Neg, Abs, Exp, Exp2, Log, Log2, Sqrt, SqrtPrecise, Rsqrt, Floor, Ceil]
    )
}

fn float_binary<F: Float>(op: Binary) -> Option<BinaryFn> {
    use num::Real;
    fn apply<F: Float>(op: Binary, x: u64, y: u64) -> u64 {
        F::store(F::Wide::binary(op, F::load(x), F::load(y)))
    }
    per_operation!(
        op,
        Binary,
        |x, y| apply::<F>,
        [Add, Sub, Mul, Div, DivPrecise, Rem, MinNum, MaxNum, Minimum, Maximum]
    )
}

fn float_compare<F: Float>(op: Compare) -> Option<BinaryFn> {
    use num::Real;
    fn apply<F: Float>(op: Compare, x: u64, y: u64) -> u64 {
        let (x, y) = (F::load(x), F::load(y));
        let unordered = x.is_nan() || y.is_nan();
        u64::from(match op {
            Compare::Oeq => x == y,
            Compare::Ogt => x > y,
            Compare::Oge => x >= y,
            Compare::Olt => x < y,
            Compare::Ole => x <= y,
            Compare::One => !unordered && x != y,
            Compare::Ord => !unordered,
            Compare::Ueq => unordered || x == y,
            Compare::FUgt => unordered || x > y,
            Compare::FUge => unordered || x >= y,
            Compare::FUlt => unordered || x < y,
            Compare::FUle => unordered || x <= y,
            Compare::Une => unordered || x != y,
            _ => unordered,
        })
    }
    per_operation!(
        op,
        Compare,
        |x, y| apply::<F>,
        [Oeq, Ogt, Oge, Olt, Ole, One, Ord, Ueq, FUgt, FUge, FUlt, FUle, Une, Uno]
    )
}

fn int_unary<const BITS: u32>(op: Unary) -> Option<UnaryFn> {
    fn apply<const BITS: u32>(op: Unary, x: u64) -> u64 {
        let mask = u64::MAX >> (64 - BITS);
        mask & match op {
            Unary::Neg => x.wrapping_neg(),
            Unary::Abs => signed::<BITS>(x).unsigned_abs(),
            _ => !x,
        }
    }
    per_operation!(op, Unary, |x| apply::<BITS>, [Neg, Abs, Not])
}

fn signed<const BITS: u32>(x: u64) -> i64 {
    ((x << (64 - BITS)) as i64) >> (64 - BITS)
}

fn int_binary<const BITS: u32>(op: Binary) -> Option<BinaryFn> {
    fn apply<const BITS: u32>(op: Binary, x: u64, y: u64) -> u64 {
        let mask = u64::MAX >> (64 - BITS);
        let (sx, sy) = (signed::<BITS>(x), signed::<BITS>(y));
        let count = y.min(u64::from(BITS)) as u32;
        mask & match op {
            Binary::Add => x.wrapping_add(y),
            Binary::Sub => x.wrapping_sub(y),
            Binary::Mul => x.wrapping_mul(y),
            // Division by zero is undefined in the source language; the GPU gives all ones for the
            // quotient and the dividend for the remainder, and so do we.
            Binary::DivS => {
                if sy == 0 {
                    u64::MAX
                } else {
                    sx.wrapping_div(sy) as u64
                }
            }
            Binary::DivU => x.checked_div(y).unwrap_or(u64::MAX),
            Binary::RemS => {
                if sy == 0 {
                    x
                } else {
                    sx.wrapping_rem(sy) as u64
                }
            }
            Binary::RemU => x.checked_rem(y).unwrap_or(x),
            Binary::And => x & y,
            Binary::Or => x | y,
            Binary::Xor => x ^ y,
            Binary::Shl => x.checked_shl(count).unwrap_or(0),
            Binary::ShrS => (sx >> count.min(63)) as u64,
            Binary::ShrU => x.checked_shr(count).unwrap_or(0),
            Binary::MinS => sx.min(sy) as u64,
            Binary::MaxS => sx.max(sy) as u64,
            Binary::MinU => x.min(y),
            Binary::MaxU => x.max(y),
            _ => ((u128::from(x) * u128::from(y)) >> BITS) as u64,
        }
    }
    per_operation!(
        op,
        Binary,
        |x, y| apply::<BITS>,
        [
            Add, Sub, Mul, DivS, DivU, RemS, RemU, And, Or, Xor, Shl, ShrS, ShrU, MinS, MaxS, MinU,
            MaxU, MulHiU
        ]
    )
}

fn int_compare<const BITS: u32>(op: Compare) -> Option<BinaryFn> {
    fn apply<const BITS: u32>(op: Compare, x: u64, y: u64) -> u64 {
        let (sx, sy) = (signed::<BITS>(x), signed::<BITS>(y));
        u64::from(match op {
            Compare::Eq => x == y,
            Compare::Ne => x != y,
            Compare::Slt => sx < sy,
            Compare::Sle => sx <= sy,
            Compare::Sgt => sx > sy,
            Compare::Sge => sx >= sy,
            Compare::Ult => x < y,
            Compare::Ule => x <= y,
            Compare::Ugt => x > y,
            _ => x >= y,
        })
    }
    per_operation!(
        op,
        Compare,
        |x, y| apply::<BITS>,
        [Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge]
    )
}

/// Chooses the instance of a generic lookup for an element type.
macro_rules! by_dtype {
    ($dtype:expr, $float:ident, $int:ident, $op:expr) => {
        match $dtype {
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
    by_dtype!(dtype, float_unary, int_unary, op)
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

/// `x * y + z` with one rounding, for floats; wrapping, for integers.
pub fn fma(dtype: DType) -> TernaryFn {
    fn narrow<F: Float<Wide = f32>>(x: u64, y: u64, z: u64) -> u64 {
        // The product is exact in f64; what follows rounds to odd until the last step.
        let product = f64::from(F::load(x)) * f64::from(F::load(y));
        F::store(to_odd(add_to_odd(product, f64::from(F::load(z)))))
    }
    match dtype {
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

/// Whether `op` converts from `from` to `to`.
pub fn cast_applies(op: Cast, from: DType, to: DType) -> bool {
    match op {
        Cast::ExtS | Cast::ExtU => from.is_int() && to.is_int() && from.bits() < to.bits(),
        Cast::Trunc => from.is_int() && to.is_int() && from.bits() > to.bits(),
        Cast::FloatFromS | Cast::FloatFromU => from.is_int() && to.is_float(),
        Cast::SFromFloat | Cast::UFromFloat => from.is_float() && to.is_int(),
        Cast::Float => from.is_float() && to.is_float() && from != to,
        Cast::Bits => from.bits() == to.bits(),
    }
}

/// Converts one element.
pub fn cast(op: Cast, from: DType, to: DType, bits: u64) -> u64 {
    match op {
        Cast::ExtS => sign_extend(from, bits) as u64 & to.mask(),
        Cast::ExtU | Cast::Trunc | Cast::Bits => bits & to.mask(),
        Cast::FloatFromS => from_int(to, i128::from(sign_extend(from, bits))),
        Cast::FloatFromU => from_int(to, i128::from(bits & from.mask())),
        // `as` saturates and sends NaN to zero.
        Cast::SFromFloat => {
            let value = to_f64(from, bits);
            let limit = 1i128 << (to.bits() - 1);
            (value as i128).clamp(-limit, limit - 1) as u64 & to.mask()
        }
        Cast::UFromFloat => (to_f64(from, bits) as u128).min(u128::from(to.mask())) as u64,
        Cast::Float => match (from, to) {
            // A narrow type from another goes through f32, which holds both exactly.
            (DType::F32, DType::F16) => f16::from_f32(f32::from_bits(bits as u32)).to_bits().into(),
            (DType::F32, DType::BF16) => {
                bf16::from_f32(f32::from_bits(bits as u32)).to_bits().into()
            }
            _ => from_f64(to, to_f64(from, bits)),
        },
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

#[cfg(test)]
mod tests {
    use super::*;

    fn f32_bits(value: f32) -> u64 {
        u64::from(value.to_bits())
    }

    #[test]
    fn integers_wrap_in_their_width() {
        let add = binary(Binary::Add, DType::I8).unwrap();
        assert_eq!(add(200, 100), 44);
        let shift = binary(Binary::ShrS, DType::I8).unwrap();
        assert_eq!(shift(0x80, 200), 0xff);
        let divide = binary(Binary::DivS, DType::I32).unwrap();
        assert_eq!(divide(0x8000_0000, 0xffff_ffff), 0x8000_0000);
        assert_eq!(unary(Unary::Abs, DType::I16).unwrap()(0x8000), 0x8000);
        assert_eq!(binary(Binary::MulHiU, DType::I64).unwrap()(u64::MAX, u64::MAX), u64::MAX - 1);
    }

    #[test]
    fn a_number_wins_over_nan_or_loses_as_named() {
        let (nan, one) = (f32_bits(f32::NAN), f32_bits(1.0));
        assert_eq!(binary(Binary::MaxNum, DType::F32).unwrap()(nan, one), one);
        let maximum = binary(Binary::Maximum, DType::F32).unwrap()(one, nan);
        assert!(f32::from_bits(maximum as u32).is_nan());
        let min = binary(Binary::MinNum, DType::F32).unwrap();
        assert_eq!(min(f32_bits(0.0), f32_bits(-0.0)), f32_bits(-0.0));
        assert_eq!(compare(Compare::FUlt, DType::F32).unwrap()(nan, one), 1);
        assert_eq!(compare(Compare::Olt, DType::F32).unwrap()(nan, one), 0);
    }

    #[test]
    fn every_operation_belongs_to_a_type_and_says_so() {
        for &op in Binary::ALL {
            let types: Vec<_> =
                DType::ALL.into_iter().filter(|&dtype| binary(op, dtype).is_some()).collect();
            assert!(!types.is_empty(), "{op} belongs to no type");
            assert_eq!(Binary::by_name(op.name()), Some(op));
        }
        assert!(binary(Binary::And, DType::F32).is_none());
        assert!(unary(Unary::Exp, DType::I32).is_none());
    }

    #[test]
    fn narrow_floats_are_rounded_once() {
        // Each lies a hair off a tie that a detour through another type would fall into.
        assert_eq!(fma(DType::F16)(0x2401, 0x27fe, 0x3c01), 0x3c01);
        let above = |exponent: i32| 1.0 + 2f64.powi(exponent) + 2f64.powi(-40);
        assert_eq!(from_f64(DType::F16, above(-11)), 0x3c01);
        assert_eq!(from_f64(DType::BF16, above(-8)), 0x3f81);
        assert_eq!(from_f64(DType::F16, 1.0 + 2f64.powi(-11)), 0x3c00);
        let tie = (1i128 << 62) + (1 << 54);
        assert_eq!(from_int(DType::BF16, tie), 0x5e80);
        assert_eq!(from_int(DType::BF16, tie + 1), 0x5e81);
        assert_eq!(from_f64(DType::F16, 1e300), 0x7c00);
        assert_eq!(from_f64(DType::BF16, -1e300), 0xff80);
    }

    #[test]
    fn casts_round_to_nearest_even_and_saturate() {
        assert_eq!(cast(Cast::Float, DType::F32, DType::F16, f32_bits(2049.0)), 0x6800);
        assert_eq!(cast(Cast::SFromFloat, DType::F32, DType::I8, f32_bits(300.0)), 127);
        assert_eq!(cast(Cast::SFromFloat, DType::F32, DType::I32, f32_bits(f32::NAN)), 0);
        assert_eq!(cast(Cast::ExtS, DType::I1, DType::I32, 1), 0xffff_ffff);
        assert_eq!(
            cast(Cast::FloatFromU, DType::I64, DType::F32, u64::MAX),
            f32_bits(18_446_744_073_709_551_616.0)
        );
    }
}
