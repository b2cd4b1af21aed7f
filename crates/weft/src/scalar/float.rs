//! Floats: how each type is loaded, computed and rounded.

use super::{Binary, BinaryFn, Compare, Unary, UnaryFn};
use half::{bf16, f16};

/// A double as the f32 that is nearest, or, where that is inexact, as the neighbour with an odd last
/// bit: rounded to odd, so that a second rounding to a type at least two bits shorter gives what one
/// rounding would have given.
pub(super) fn to_odd(value: f64) -> f32 {
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
pub(super) fn add_to_odd(x: f64, y: f64) -> f64 {
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
pub(super) trait Float {
    type Wide: num::Real;
    fn load(bits: u64) -> Self::Wide;
    fn store(value: Self::Wide) -> u64;
}

macro_rules! float_type {
    ($marker:ident, $wide:ty, $load:expr, $store:expr) => {
        pub(super) struct $marker;
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
pub(super) mod num {
    pub(in crate::scalar) trait Real: Copy + PartialOrd {
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
                    $(#[allow(unused_imports, reason = "one is of two operands")] use libm::$libm as $name;)*
                    let normal =
                        |x: $t| if x.abs() < <$t>::MIN_POSITIVE { x * 0.0 } else { x };
                    match op {
                        super::Unary::Neg => -x,
                        super::Unary::Abs => x.abs(),
                        super::Unary::Exp => exp(x),
                        super::Unary::Exp2 => exp2(x),
                        super::Unary::Exp2Normal => normal(exp2(x)),
                        super::Unary::Log => log(x),
                        super::Unary::Log2 | super::Unary::Log2Approximate => log2(x),
                        super::Unary::Sqrt | super::Unary::SqrtPrecise => sqrt(x),
                        super::Unary::Rsqrt => 1.0 / sqrt(x),
                        super::Unary::Reciprocal => normal(1.0 / normal(x)),
                        super::Unary::Floor => floor(x),
                        super::Unary::Ceil => ceil(x),
                        super::Unary::Trunc => trunc(x),
                        super::Unary::Nearest => rint(x),
                        super::Unary::Sin | super::Unary::SinApproximate => sin(x),
                        super::Unary::Cos | super::Unary::CosApproximate => cos(x),
                        super::Unary::Tanh | super::Unary::TanhApproximate => tanh(x),
                        super::Unary::Erf => erf(x),
                        super::Unary::Expm1 => expm1(x),
                        super::Unary::Log1p => log1p(x),
                        // Integers only; `unary` below never asks.
                        super::Unary::Not => x,
                    }
                }
                fn binary(op: super::Binary, x: $t, y: $t) -> $t {
                    use super::Binary;
                    $(#[allow(unused_imports, reason = "most are of one operand")] use libm::$libm as $name;)*
                    // A zero is smaller when it is negative, as IEEE's minimumNumber asks.
                    let less = x < y || (x == y && x.is_sign_negative());
                    match op {
                        Binary::Add => x + y,
                        Binary::Sub => x - y,
                        Binary::Mul => x * y,
                        Binary::Div | Binary::DivPrecise => x / y,
                        Binary::Rem => x % y,
                        Binary::Pow => pow(x, y),
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
        ceilf = ceil,
        truncf = trunc,
        rintf = rint,
        sinf = sin,
        cosf = cos,
        tanhf = tanh,
        erff = erf,
        expm1f = expm1,
        log1pf = log1p,
        powf = pow
    );
    real!(
        f64,
        exp = exp,
        exp2 = exp2,
        log = log,
        log2 = log2,
        sqrt = sqrt,
        floor = floor,
        ceil = ceil,
        trunc = trunc,
        rint = rint,
        sin = sin,
        cos = cos,
        tanh = tanh,
        erf = erf,
        expm1 = expm1,
        log1p = log1p,
        pow = pow
    );
}

pub(super) fn float_unary<F: Float>(op: Unary) -> Option<UnaryFn> {
    use num::Real;
    fn apply<F: Float>(op: Unary, x: u64) -> u64 {
        F::store(F::Wide::unary(op, F::load(x)))
    }
    per_operation!(
        op,
        Unary,
        |x| apply::<F>,
        [
            Neg,
            Abs,
            Exp,
            Exp2,
            Exp2Normal,
            Log,
            Log2,
            Log2Approximate,
            Sqrt,
            SqrtPrecise,
            Rsqrt,
            Reciprocal,
            Floor,
            Ceil,
            Trunc,
            Nearest,
            Sin,
            Cos,
            SinApproximate,
            CosApproximate,
            Tanh,
            TanhApproximate,
            Erf,
            Expm1,
            Log1p
        ]
    )
}

pub(super) fn float_binary<F: Float>(op: Binary) -> Option<BinaryFn> {
    use num::Real;
    fn apply<F: Float>(op: Binary, x: u64, y: u64) -> u64 {
        F::store(F::Wide::binary(op, F::load(x), F::load(y)))
    }
    per_operation!(
        op,
        Binary,
        |x, y| apply::<F>,
        [Add, Sub, Mul, Div, DivPrecise, Rem, Pow, MinNum, MaxNum, Minimum, Maximum]
    )
}

pub(super) fn float_compare<F: Float>(op: Compare) -> Option<BinaryFn> {
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
