//! Element types.
//!
//! A scalar travels as its raw bits in the low end of a `u64`, the rest zero; `i1` is 0 or 1.

use core::fmt;

/// The type of one element.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DType {
    /// A truth value; a byte in memory.
    I1,
    /// 8-bit integer, without a sign of its own.
    I8,
    /// 16-bit integer.
    I16,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// Eight bits: exponent 4, mantissa 3, no infinities.
    F8E4M3FN,
    /// Eight bits: exponent 5, mantissa 2, as IEEE.
    F8E5M2,
    /// Eight bits: exponent 4, mantissa 3, no infinities, one zero.
    F8E4M3FNUZ,
    /// Eight bits: exponent 5, mantissa 2, no infinities, one zero.
    F8E5M2FNUZ,
    /// IEEE binary16.
    F16,
    /// bfloat16.
    BF16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl DType {
    /// Every element type, narrow to wide, integers first.
    pub const ALL: [DType; 13] = [
        DType::I1,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F8E4M3FN,
        DType::F8E5M2,
        DType::F8E4M3FNUZ,
        DType::F8E5M2FNUZ,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
    ];

    /// Triton's name of the type.
    pub fn name(self) -> &'static str {
        match self {
            DType::I1 => "i1",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::F8E4M3FN => "f8E4M3FN",
            DType::F8E5M2 => "f8E5M2",
            DType::F8E4M3FNUZ => "f8E4M3FNUZ",
            DType::F8E5M2FNUZ => "f8E5M2FNUZ",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
        }
    }

    /// The type with this name.
    pub fn by_name(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Width in bits as a value.
    pub fn bits(self) -> u32 {
        match self {
            DType::I1 => 1,
            DType::I8 | DType::F8E4M3FN | DType::F8E5M2 | DType::F8E4M3FNUZ | DType::F8E5M2FNUZ => {
                8
            }
            DType::I16 | DType::F16 | DType::BF16 => 16,
            DType::I32 | DType::F32 => 32,
            DType::I64 | DType::F64 => 64,
        }
    }

    /// Width in bytes in memory; a truth value takes one.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Whether this is a floating-point type.
    pub fn is_float(self) -> bool {
        !matches!(self, DType::I1 | DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }

    /// Whether this is a float of eight bits: such are moved and converted, and not computed with.
    pub fn is_f8(self) -> bool {
        self.is_float() && self.bits() == 8
    }

    /// Whether this is an integer type, truth values included.
    pub fn is_int(self) -> bool {
        !self.is_float()
    }

    /// The bits that a value of this type may have set.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
