//! Where Triton IR leaves the result of an operation open.
//!
//! Its integer operations are those of MLIR's `arith` and LLVM, which give no meaning to some operands. Weft
//! computes something definite there ([`scalar`](super)), and so does each GPU; but a compiler may take such
//! operands for impossible, so that a program that has them may compute something else elsewhere.

use super::{Binary, Cast, sign_extend, to_f64};
use crate::dtype::DType;
use core::fmt;

/// Operands for which an operation has no meaning in Triton IR.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Undefined {
    /// The divisor is zero.
    ZeroDivisor,
    /// The least integer over minus one, which its type does not hold.
    Quotient(DType),
    /// A shift by the width of the type or more.
    Shift {
        /// The count, read without a sign.
        count: u64,
        /// The type of what is shifted.
        dtype: DType,
    },
    /// A float, not a number among them, whose integral part the integer type does not hold.
    Conversion {
        /// The float that is converted.
        value: f64,
        /// The type of the integer.
        to: DType,
        /// Whether the integer has no sign.
        unsigned: bool,
    },
}

impl Undefined {
    /// Why `op` of raw bits has no meaning; nothing where it has one.
    pub fn of_binary(op: Binary, dtype: DType, x: u64, y: u64) -> Option<Self> {
        let (x, y) = (x & dtype.mask(), y & dtype.mask());
        match op {
            Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU if y == 0 => {
                Some(Self::ZeroDivisor)
            }
            Binary::DivS | Binary::RemS
                if sign_extend(dtype, y) == -1 && x == 1 << (dtype.bits() - 1) =>
            {
                Some(Self::Quotient(dtype))
            }
            Binary::Shl | Binary::ShrS | Binary::ShrU if y >= u64::from(dtype.bits()) => {
                Some(Self::Shift { count: y, dtype })
            }
            _ => None,
        }
    }

    /// Why a conversion of raw bits has no meaning; nothing where it has one.
    pub fn of_cast(op: Cast, from: DType, to: DType, bits: u64) -> Option<Self> {
        let unsigned = match op {
            Cast::SFromFloat => false,
            Cast::UFromFloat => true,
            _ => return None,
        };
        let value = to_f64(from, bits);
        let (low, high) = if unsigned {
            (0.0, 2.0_f64.powi(to.bits() as i32))
        } else {
            let limit = 2.0_f64.powi(to.bits() as i32 - 1);
            (-limit, limit)
        };
        // The ends are powers of two, which doubles hold.
        let whole = value.trunc();
        (!(low <= whole && whole < high)).then_some(Self::Conversion { value, to, unsigned })
    }
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ZeroDivisor => f.write_str("divides by zero"),
            Self::Quotient(dtype) => {
                write!(f, "divides the least {dtype} by -1, which is more than {dtype} holds")
            }
            Self::Shift { count, dtype } => {
                write!(f, "shifts an {dtype} of {} bits by {count}", dtype.bits())
            }
            Self::Conversion { value, to, unsigned } => {
                let sign = if unsigned { "unsigned " } else { "" };
                write!(f, "converts {value} to {sign}{to}, which does not hold it")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{self, from_f64};

    const INTEGERS: [DType; 5] = [DType::I1, DType::I8, DType::I16, DType::I32, DType::I64];

    /// Numbers at the edges of a type, without a sign.
    fn edges(dtype: DType) -> Vec<u64> {
        let width = u64::from(dtype.bits());
        let ends = [0, 1, 2, width - 1, width, width + 1, dtype.mask() >> 1, dtype.mask()];
        let top = 1 << (width - 1);
        ends.into_iter().chain([top, top + 1]).map(|bits| bits & dtype.mask()).collect()
    }

    #[test]
    fn integers_have_a_result_exactly_where_mathematics_and_the_type_have_one() {
        for dtype in INTEGERS {
            let value = |bits, signed| {
                if signed { i128::from(sign_extend(dtype, bits)) } else { i128::from(bits) }
            };
            for x in edges(dtype) {
                for y in edges(dtype) {
                    for op in [Binary::DivS, Binary::RemS, Binary::DivU, Binary::RemU] {
                        let signed = matches!(op, Binary::DivS | Binary::RemS);
                        // The type holds the quotient: also a remainder is defined only then.
                        let defined = value(x, signed).checked_div(value(y, signed)).is_some_and(
                            |quotient| value(quotient as u64 & dtype.mask(), signed) == quotient,
                        );
                        let told = Undefined::of_binary(op, dtype, x, y);
                        assert_eq!(told.is_none(), defined, "{op} {dtype} {x} {y}: {told:?}");
                    }
                    for op in [Binary::Shl, Binary::ShrS, Binary::ShrU] {
                        let told = Undefined::of_binary(op, dtype, x, y);
                        assert_eq!(told.is_none(), y < dtype.bits().into(), "{op} {dtype} {y}");
                    }
                    for &op in Binary::ALL {
                        let is_partial = matches!(
                            op,
                            Binary::DivS
                                | Binary::DivU
                                | Binary::RemS
                                | Binary::RemU
                                | Binary::Shl
                                | Binary::ShrS
                                | Binary::ShrU
                        );
                        assert!(is_partial || Undefined::of_binary(op, dtype, x, y).is_none());
                    }
                }
            }
        }
    }

    #[test]
    fn a_conversion_is_defined_exactly_where_its_result_is_the_integral_part() {
        for from in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            for to in INTEGERS {
                let width = to.bits() as i32;
                let powers = [0, width - 2, width - 1, width, width + 1].map(|n| 2.0_f64.powi(n));
                let near = powers.into_iter().flat_map(|x| [x - 1.0, x - 0.5, x, x + 0.5, x + 1.0]);
                let more = [0.0, 0.25, 0.999, f64::NAN, f64::INFINITY, 1e300];
                for value in near.chain(more).flat_map(|x| [x, -x]) {
                    let bits = from_f64(from, value);
                    let value = to_f64(from, bits);
                    for op in [Cast::SFromFloat, Cast::UFromFloat] {
                        let found = scalar::cast(op, from, to, bits);
                        let found = match op {
                            Cast::SFromFloat => sign_extend(to, found) as f64,
                            _ => found as f64,
                        };
                        let told = Undefined::of_cast(op, from, to, bits);
                        let largest = to.bits() == 64 && value >= 2.0_f64.powi(63);
                        // The largest integers of 64 bits are rounded up to what no integer is.
                        let ends = op == Cast::SFromFloat || value >= 2.0_f64.powi(64);
                        if !(largest && ends) {
                            assert_eq!(
                                told.is_none(),
                                found == value.trunc(),
                                "{from} {value} to {to}"
                            );
                        } else {
                            assert!(told.is_some(), "{from} {value} to {to}");
                        }
                    }
                }
            }
        }
    }
}
