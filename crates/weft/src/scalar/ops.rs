//! The operations by name.

use core::fmt;

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
        /// The opposite; the least integer is its own.
        Neg = "neg",
        /// Absolute value; the least integer is its own.
        Abs = "abs",
        /// Every bit inverted (integers).
        Not = "not",
        /// e to the power.
        Exp = "exp",
        /// 2 to the power.
        Exp2 = "exp2",
        /// 2 to the power, of f32 alone, and zero where that is subnormal.
        Exp2Normal = "exp2_normal",
        /// The logarithm to base e.
        Log = "log",
        /// Logarithm to base 2.
        Log2 = "log2",
        /// Logarithm to base 2, of f32 alone, as a machine's instruction approximates it.
        Log2Approximate = "log2_approximate",
        /// The square root, which a machine may approximate.
        Sqrt = "sqrt",
        /// Square root, correctly rounded wherever it is computed.
        SqrtPrecise = "sqrt_rn",
        /// One over the square root.
        Rsqrt = "rsqrt",
        /// One over a number, of f32 alone; subnormal numbers and results count as zeros.
        Reciprocal = "reciprocal",
        /// Largest integral value not above.
        Floor = "floor",
        /// Smallest integral value not below.
        Ceil = "ceil",
        /// The integral part: toward zero.
        Trunc = "trunc_float",
        /// The nearest integral value, of two the even one.
        Nearest = "nearest",
        /// The sine of an angle in radians.
        Sin = "sin",
        /// The cosine of an angle in radians.
        Cos = "cos",
        /// The sine of an angle in radians, of f32 alone, as a machine's instruction approximates it.
        SinApproximate = "sin_approximate",
        /// Cosine of an angle in radians, of f32 alone, as a machine's instruction approximates it.
        CosApproximate = "cos_approximate",
        /// The hyperbolic tangent of a number.
        Tanh = "tanh",
        /// Hyperbolic tangent, of f32 alone, as a machine's instruction approximates it.
        TanhApproximate = "tanh_approximate",
        /// The error function, `2/√π` times the integral of `e^(-t²)` from 0.
        Erf = "erf",
        /// e to the power, less one.
        Expm1 = "expm1",
        /// Natural logarithm of one more.
        Log1p = "log1p",
    }
}

impl Unary {
    /// Whether no machine has an instruction that is close enough: lowering then writes an algorithm of other
    /// operations, and no printer sees it. Such an operation has libdevice's name.
    pub fn is_algorithm(self) -> bool {
        use Unary::{Cos, Erf, Expm1, Log, Log1p, Log2, Sin, Tanh};
        matches!(self, Log | Log2 | Sin | Cos | Tanh | Erf | Expm1 | Log1p)
    }

    /// Whether it is of f32 alone, as the instruction that it stands for.
    pub fn is_of_single(self) -> bool {
        use Unary::{CosApproximate, SinApproximate, TanhApproximate};
        use Unary::{Exp2Normal, Log2Approximate, Reciprocal};
        matches!(
            self,
            Exp2Normal
                | Log2Approximate
                | Reciprocal
                | SinApproximate
                | CosApproximate
                | TanhApproximate
        )
    }
}

named_enum! {
    /// Operations of two operands of one type and a result of that type.
    Binary {
        /// The sum; of integers it wraps.
        Add = "add",
        /// The first less the second; of integers it wraps.
        Sub = "sub",
        /// The product; of integers its low half.
        Mul = "mul",
        /// The quotient of floats, which a machine may approximate.
        Div = "div",
        /// Quotient of floats, correctly rounded wherever it is computed.
        DivPrecise = "div_rn",
        /// Remainder of floats with the dividend's sign (C's `fmod`).
        Rem = "rem",
        /// The first to the power of the second (floats).
        Pow = "pow",
        /// Signed quotient, toward zero.
        DivS = "div_s",
        /// The quotient of integers without a sign, rounded down.
        DivU = "div_u",
        /// Signed remainder with the dividend's sign.
        RemS = "rem_s",
        /// The remainder of integers without a sign.
        RemU = "rem_u",
        /// Each bit that both have (integers).
        And = "and",
        /// Each bit that one of them has (integers).
        Or = "or",
        /// Each bit that just one of them has (integers).
        Xor = "xor",
        /// Shift left; zero when the count reaches the width.
        Shl = "shl",
        /// Arithmetic shift right; the sign when the count reaches the width.
        ShrS = "shr_s",
        /// Logical shift right; zero when the count reaches the width.
        ShrU = "shr_u",
        /// The smaller one of two integers with a sign.
        MinS = "min_s",
        /// The larger one of two integers with a sign.
        MaxS = "max_s",
        /// The smaller one of two integers without a sign.
        MinU = "min_u",
        /// The larger one of two integers without a sign.
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
        /// High half of the signed product (32 and 64 bits).
        MulHiS = "mulhi_s",
    }
}

named_enum! {
    /// Comparisons; `o` is false and `u` is true when an operand is NaN.
    Compare {
        /// Integers: equal.
        Eq = "eq",
        /// Integers: not equal.
        Ne = "ne",
        /// Integers with a sign: less.
        Slt = "slt",
        /// Signed less or equal.
        Sle = "sle",
        /// Integers with a sign: greater.
        Sgt = "sgt",
        /// Signed greater or equal.
        Sge = "sge",
        /// Integers without a sign: less.
        Ult = "ult",
        /// Unsigned less or equal.
        Ule = "ule",
        /// Integers without a sign: greater.
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
        /// A narrower integer, of the low bits.
        Trunc = "trunc",
        /// Signed integer to float, to nearest even.
        FloatFromS = "float_from_s",
        /// Unsigned integer to float, to nearest even.
        FloatFromU = "float_from_u",
        /// Float to signed integer toward zero, as NVIDIA's `cvt` has it: saturating at the integer's
        /// bits, a byte at 16 of which it keeps the low ones. NaN gives zero, or where the float or the
        /// integer has 64 bits a number whose top bit (of 16 at least) alone is set.
        SFromFloat = "s_from_float",
        /// Float to unsigned integer toward zero, and else the same.
        UFromFloat = "u_from_float",
        /// Float to float, to nearest even; to eight bits it saturates.
        Float = "float",
        /// Float to narrower float, toward zero; to eight bits it saturates.
        FloatToZero = "float_to_zero",
        /// The same bits under another type of the same width.
        Bits = "bits",
    }
}
