//! Floats of eight bits.
//!
//! | type | exponent, mantissa | bias | largest | no number |
//! |---|---|---|---|---|
//! | f8E4M3FN | 4, 3 | 7 | 448 | 0x7f, 0xff |
//! | f8E5M2 | 5, 2 | 15 | 57344 | as IEEE |
//! | f8E4M3FNUZ | 4, 3 | 8 | 240 | 0x80 |
//! | f8E5M2FNUZ | 5, 2 | 16 | 57344 | 0x80 |
//!
//! The formats are those of the Open Compute Project's OFP8 specification and, with `UZ` (no negative
//! zero), of MLIR. Conversions to them saturate: what is larger than the largest number, infinities
//! too, becomes that number, as NVIDIA's `cvt…satfinite` has it. A NaN becomes 0x7f, or 0x80 in the
//! types without a negative zero.

use crate::dtype::DType;

/// One format: how a float of eight bits or fewer is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Narrow {
    /// Bits of the mantissa, without the hidden one.
    pub mantissa: u32,
    /// What is added to the exponent.
    pub bias: u32,
    /// The bits of the largest number.
    pub largest: u64,
    /// Whether there is one zero and one NaN, whose bits are those of a negative zero.
    pub unsigned_zero: bool,
}

impl Narrow {
    /// The format of a type, if it is one of eight bits.
    pub fn of(dtype: DType) -> Option<Narrow> {
        let (mantissa, bias, largest, unsigned_zero) = match dtype {
            DType::F8E4M3FN => (3, 7, 0x7e, false),
            DType::F8E5M2 => (2, 15, 0x7b, false),
            DType::F8E4M3FNUZ => (3, 8, 0x7f, true),
            DType::F8E5M2FNUZ => (2, 16, 0x7f, true),
            _ => return None,
        };
        Some(Narrow { mantissa, bias, largest, unsigned_zero })
    }

    /// The bits of NaN.
    pub fn nan(self) -> u64 {
        if self.unsigned_zero { 0x80 } else { 0x7f }
    }

    /// The value of raw bits.
    pub fn value(self, bits: u64) -> f64 {
        let magnitude = bits & 0x7f;
        let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
        if self.unsigned_zero && bits == 0x80 {
            return f64::NAN;
        }
        if !self.unsigned_zero && magnitude > self.largest {
            // Above the largest number IEEE's format has infinity, and only NaN else.
            let infinite = self.mantissa == 2 && magnitude == self.largest + 1;
            return if infinite { sign * f64::INFINITY } else { f64::NAN };
        }
        let (exponent, fraction) = (magnitude >> self.mantissa, magnitude & self.below_one());
        let hidden = u64::from(exponent > 0) << self.mantissa;
        let scale = exponent.max(1) as i32 - self.bias as i32 - self.mantissa as i32;
        sign * (hidden + fraction) as f64 * 2f64.powi(scale)
    }

    /// The bits of a value, to nearest even or toward zero.
    pub fn bits(self, value: f64, toward_zero: bool) -> u64 {
        if value.is_nan() {
            return self.nan();
        }
        let sign = u64::from(value.is_sign_negative()) << 7;
        let magnitude = value.abs().min(self.value(self.largest));
        let least = 1 - self.bias as i32;
        // The exponent field of a double that is not subnormal; smaller ones round to zero anyway.
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(least);
        let steps = magnitude / 2f64.powi(exponent - self.mantissa as i32);
        let whole = if toward_zero { steps.trunc() } else { steps.round_ties_even() } as u64;
        // A subnormal has no hidden bit to take off; what is rounded up carries into the exponent.
        let bits = (((exponent - least) as u64) << self.mantissa) + whole;
        if self.unsigned_zero && bits == 0 { 0 } else { sign | bits }
    }

    fn below_one(self) -> u64 {
        (1 << self.mantissa) - 1
    }
}
