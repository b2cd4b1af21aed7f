//! Arithmetic that rounds toward zero, down or up: of the exact result the neighbour on that side.
//!
//! The result to nearest is one of the two neighbours. On which side of it the exact one lies is found
//! with whole numbers, of as many bits as a product of two f64 can have.

use super::{TernaryFn, named_enum, to_f64};
use crate::dtype::DType;
use core::fmt;

named_enum! {
    /// Where a result that is between two floats goes, if not to the nearest.
    Rounding {
        /// To the float nearer to zero.
        Zero = "rz",
        /// To the float below.
        Down = "rd",
        /// To the float above.
        Up = "ru",
    }
}

named_enum! {
    /// Operations of f32 and f64 that round as they are told.
    Directed {
        /// `x * y + z`.
        Fma = "fma",
        /// The quotient `x / y`.
        Div = "div",
        /// The square root of a number.
        Sqrt = "sqrt",
    }
}

impl Directed {
    /// How many operands it has.
    pub fn arity(self) -> usize {
        match self {
            Directed::Fma => 3,
            Directed::Div => 2,
            Directed::Sqrt => 1,
        }
    }

    /// The operation on raw bits of f32 or f64; of operands that are missing, zero is taken.
    pub fn apply(self, rounding: Rounding, dtype: DType, operands: &[u64]) -> u64 {
        let mut x = [0; 3];
        for (x, &bits) in x.iter_mut().zip(operands) {
            *x = bits;
        }
        let [a, b, c] = x.map(|bits| to_f64(dtype, bits));
        let single = dtype == DType::F32;
        let nearest = match self {
            Directed::Fma if single => f64::from(libm::fmaf(a as f32, b as f32, c as f32)),
            Directed::Fma => libm::fma(a, b, c),
            Directed::Div if single => f64::from(a as f32 / b as f32),
            Directed::Div => a / b,
            Directed::Sqrt if single => f64::from(libm::sqrtf(a as f32)),
            Directed::Sqrt => libm::sqrt(a),
        };
        let finite = |numbers: &[f64]| numbers.iter().all(|x| x.is_finite());
        // How the exact result compares with that: its sign is the difference's.
        let difference = match self {
            _ if nearest.is_nan() => 0,
            Directed::Fma if nearest.is_infinite() && finite(&[a, b, c]) => overflow(nearest),
            Directed::Fma if finite(&[a, b, c]) => {
                let difference = sign(&[(a, b), (c, 1.0), (nearest, -1.0)]);
                if difference == 0 && nearest == 0.0 && rounding == Rounding::Down {
                    return exact_zero(dtype, [a, b, c]);
                }
                difference
            }
            Directed::Div if nearest.is_infinite() && finite(&[a]) && b != 0.0 => overflow(nearest),
            // Multiplied by the divisor.
            Directed::Div if finite(&[a, b]) && b != 0.0 => {
                let difference = sign(&[(a, 1.0), (nearest, -b)]);
                if b < 0.0 { -difference } else { difference }
            }
            Directed::Sqrt if finite(&[a]) => sign(&[(a, 1.0), (nearest, -nearest)]),
            _ => 0,
        };
        let up = match rounding {
            Rounding::Zero => nearest.is_sign_negative(),
            Rounding::Down => false,
            Rounding::Up => true,
        };
        let moved = match difference {
            1 if up && single => f64::from((nearest as f32).next_up()),
            -1 if !up && single => f64::from((nearest as f32).next_down()),
            1 if up => nearest.next_up(),
            -1 if !up => nearest.next_down(),
            _ => nearest,
        };
        // A negative number that goes up to zero keeps its sign.
        let moved = if moved == 0.0 { moved.copysign(nearest) } else { moved };
        super::from_f64(dtype, moved)
    }
}

/// How the exact result compares with an infinity that only rounding makes.
fn overflow(nearest: f64) -> i32 {
    if nearest > 0.0 { -1 } else { 1 }
}

/// A sum that is zero, rounded down: negative but for two zeros that are positive.
fn exact_zero(dtype: DType, [a, b, c]: [f64; 3]) -> u64 {
    let product_negative = a.is_sign_negative() != b.is_sign_negative();
    let positive = (a == 0.0 || b == 0.0) && c == 0.0 && !product_negative && !c.is_sign_negative();
    super::from_f64(dtype, if positive { 0.0 } else { -0.0 })
}

/// The limbs of a sum of products: 32 bits each, the lowest of weight `2^-2176`.
const LIMBS: usize = 140;

/// The sign of a sum of products of finite numbers, exactly.
fn sign(products: &[(f64, f64)]) -> i32 {
    let mut limbs = [0i64; LIMBS];
    for &(x, y) in products {
        let ((a, i), (b, j)) = (parts(x), parts(y));
        let product = u128::from(a) * u128::from(b);
        let (first, shift) = ((i + j + 2176) as usize / 32, (i + j + 2176) as usize % 32);
        let negative = (x < 0.0) != (y < 0.0);
        for part in 0..4 {
            let bits = ((product >> (32 * part)) as u64 & 0xffff_ffff) << shift;
            let (low, high) = ((bits & 0xffff_ffff) as i64, (bits >> 32) as i64);
            let signed = |limb: i64| if negative { -limb } else { limb };
            limbs[first + part] += signed(low);
            limbs[first + part + 1] += signed(high);
        }
    }
    let mut carry = 0;
    let mut any = false;
    for limb in limbs {
        let sum = limb + carry;
        carry = sum >> 32;
        any |= sum & 0xffff_ffff != 0;
    }
    match carry {
        ..0 => -1,
        _ => i32::from(any || carry > 0),
    }
}

/// A finite number's magnitude as a whole number times two to a power.
fn parts(x: f64) -> (u64, i64) {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i64;
    let hidden = u64::from(exponent != 0) << 52;
    (bits & ((1 << 52) - 1) | hidden, exponent.max(1) - 1075)
}

/// `x * y + z` of f32 or f64, rounded as told.
pub fn fma_toward(rounding: Rounding, dtype: DType) -> TernaryFn {
    macro_rules! at {
        ($rounding:ident, $dtype:ident) => {
            |x, y, z| Directed::Fma.apply(Rounding::$rounding, DType::$dtype, &[x, y, z])
        };
    }
    match (rounding, dtype) {
        (Rounding::Zero, DType::F32) => at!(Zero, F32),
        (Rounding::Down, DType::F32) => at!(Down, F32),
        (Rounding::Up, DType::F32) => at!(Up, F32),
        (Rounding::Zero, _) => at!(Zero, F64),
        (Rounding::Down, _) => at!(Down, F64),
        (Rounding::Up, _) => at!(Up, F64),
    }
}
