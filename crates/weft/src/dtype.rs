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
    /// An integer of 16 bits; operations say whether it has a sign.
    I16,
    /// An integer of 32 bits; operations say whether it has a sign.
    I32,
    /// An integer of 64 bits; operations say whether it has a sign.
    I64,
    /// Eight bits: exponent 4, mantissa 3, no infinities.
    F8E4M3FN,
    /// Eight bits: exponent 5, mantissa 2, as IEEE.
    F8E5M2,
    /// Eight bits: exponent 4, mantissa 3, no infinities, one zero.
    F8E4M3FNUZ,
    /// Eight bits: exponent 5, mantissa 2, no infinities, one zero.
    F8E5M2FNUZ,
    /// A float of 16 bits, IEEE binary16.
    F16,
    /// A float of 16 bits with the exponent of binary32, bfloat16.
    BF16,
    /// A float of 32 bits, IEEE binary32.
    F32,
    /// A float of 64 bits, IEEE binary64.
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

    /// What others call the type: Triton's language and signatures, `PyTorch`, `NumPy` and C. Signs are
    /// those of operations here, so that `u8` and `int8` are one type.
    pub fn other_names(self) -> &'static [&'static str] {
        match self {
            DType::I1 => &["int1", "u1", "bool", "b1"],
            DType::I8 => &["int8", "u8", "uint8", "s8"],
            DType::I16 => &["int16", "u16", "uint16", "s16"],
            DType::I32 => &["int32", "u32", "uint32", "s32", "int"],
            DType::I64 => &["int64", "u64", "uint64", "s64"],
            // Who says only `fp8` means the one that products are made of.
            DType::F8E4M3FN => &["fp8e4nv", "float8_e4m3fn", "e4m3", "e4m3fn", "fp8", "float8"],
            DType::F8E5M2 => &["fp8e5", "float8_e5m2", "e5m2"],
            DType::F8E4M3FNUZ => &["fp8e4b8", "float8_e4m3fnuz", "e4m3fnuz"],
            DType::F8E5M2FNUZ => &["fp8e5b16", "float8_e5m2fnuz", "e5m2fnuz"],
            DType::F16 => &["fp16", "float16", "half"],
            DType::BF16 => &["bfloat16"],
            DType::F32 => &["fp32", "float32", "float"],
            DType::F64 => &["fp64", "float64", "double"],
        }
    }

    /// The type that anybody calls by this name, in upper or lower case. Texts of Triton IR have one
    /// name for each type ([`by_name`](Self::by_name)).
    ///
    /// ```
    /// use weft::dtype::DType;
    ///
    /// assert_eq!(DType::called("fp16"), Some(DType::F16));
    /// assert_eq!(DType::called("float8_e4m3fn"), Some(DType::F8E4M3FN));
    /// assert_eq!(DType::called("F32"), Some(DType::F32));
    /// assert_eq!(DType::called("f31"), None);
    /// ```
    pub fn called(name: &str) -> Option<DType> {
        let same = |known: &&str| known.eq_ignore_ascii_case(name);
        DType::ALL
            .into_iter()
            .find(|dtype| same(&dtype.name()) || dtype.other_names().iter().any(same))
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

    /// The type that elements have in memory: a truth value is a byte there.
    pub fn in_memory(self) -> Self {
        if self == DType::I1 { DType::I8 } else { self }
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
