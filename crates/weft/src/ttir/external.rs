//! `tt.extern_elementwise`: the functions of NVIDIA's libdevice that are known here, by their names.
//!
//! `__nv_NAMEf` is of f32, `__nv_NAME` of f64. Most are operations of the tile program; some are
//! written with several. Those that say how they round (`__nv_fadd_rn`, `__nv_float2int_rd`) and those
//! that only look at bits are exact.

use super::rewrite::Rewriter;
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare, Unary};
use crate::tile::{Element, OpKind, Value};

/// The functions that are one operation of one operand.
const UNARY: &[(&str, Unary)] = &[
    ("sin", Unary::Sin),
    ("cos", Unary::Cos),
    ("erf", Unary::Erf),
    ("tanh", Unary::Tanh),
    ("exp", Unary::Exp),
    ("exp2", Unary::Exp2),
    ("expm1", Unary::Expm1),
    ("log", Unary::Log),
    ("log2", Unary::Log2),
    ("log1p", Unary::Log1p),
    ("sqrt", Unary::SqrtPrecise),
    ("rsqrt", Unary::Rsqrt),
    ("fabs", Unary::Abs),
    ("floor", Unary::Floor),
    ("ceil", Unary::Ceil),
    ("trunc", Unary::Trunc),
    ("rint", Unary::Nearest),
    ("nearbyint", Unary::Nearest),
];

/// The functions that are one operation of two operands.
const BINARY: &[(&str, Binary)] = &[
    ("pow", Binary::Pow),
    ("fmod", Binary::Rem),
    ("fmax", Binary::MaxNum),
    ("fmin", Binary::MinNum),
];

/// The functions that are several operations.
const COMPOSED: &[&str] =
    &["copysign", "cosh", "exp10", "finite", "fma", "isinf", "isnan", "log10", "tan"];

/// Arithmetic rounded to the nearest, after the letter of its type: `fadd_rn`, `dadd_rn`.
const ROUNDED: &[(&str, OpKind)] = &[
    ("add_rn", OpKind::Binary(Binary::Add)),
    ("sub_rn", OpKind::Binary(Binary::Sub)),
    ("mul_rn", OpKind::Binary(Binary::Mul)),
    ("div_rn", OpKind::Binary(Binary::DivPrecise)),
    ("sqrt_rn", OpKind::Unary(Unary::SqrtPrecise)),
];

/// The types in the names of conversions, and whether they have a sign.
const NAMED: &[(&str, DType, bool)] = &[
    ("float", DType::F32, true),
    ("double", DType::F64, true),
    ("int", DType::I32, true),
    ("uint", DType::I32, false),
    ("ll", DType::I64, true),
    ("ull", DType::I64, false),
    ("longlong", DType::I64, true),
];

/// The functions that are exact and have no row of their own.
const EXACT: &[&str] = &["abs", "llabs", "fdim", "saturate", "signbit", "mulhi", "umulhi"];

impl Rewriter<'_, '_, '_> {
    /// A function that is exact: nothing where there is none of this name for these operands.
    fn exact(&mut self, name: &str, operands: &[Value]) -> Option<Value> {
        let ty = self.ty(*operands.first()?);
        let dtype = ty.dtype();
        let letter = match dtype {
            DType::F32 => "f",
            DType::F64 => "d",
            _ => "",
        };
        if let Some(row) = ROUNDED.iter().find(|row| name.strip_prefix(letter) == Some(row.0))
            && dtype.is_float()
        {
            let count = if matches!(row.1, OpKind::Unary(_)) { 1 } else { 2 };
            return (operands.len() == count).then(|| self.one(row.1.clone(), operands, &ty));
        }
        if let [x] = *operands
            && let Some(result) = self.converted(name, x)
        {
            return Some(result);
        }
        match (name, operands) {
            ("frcp_rn" | "drcp_rn", &[x]) if name.starts_with(letter) => {
                let one = self.float(&ty, 1.0);
                Some(self.binary(Binary::DivPrecise, one, x))
            }
            ("fmaf_rn" | "fma_rn", &[x, y, z]) => Some(self.one(OpKind::Fma, &[x, y, z], &ty)),
            ("abs", &[x]) if dtype == DType::I32 => {
                Some(self.one(OpKind::Unary(Unary::Abs), &[x], &ty))
            }
            ("llabs", &[x]) if dtype == DType::I64 => {
                Some(self.one(OpKind::Unary(Unary::Abs), &[x], &ty))
            }
            ("umulhi" | "umul64hi", &[x, y]) => Some(self.binary(Binary::MulHiU, x, y)),
            ("mulhi", &[x, y]) if dtype == DType::I32 => {
                let [x, y] = [x, y].map(|value| self.cast(Cast::ExtS, value, DType::I64));
                let product = self.binary(Binary::Mul, x, y);
                let high = self.with_number(Binary::ShrU, product, 32);
                Some(self.cast(Cast::Trunc, high, DType::I32))
            }
            ("fdimf" | "fdim", &[x, y]) if dtype.is_float() => {
                let difference = self.binary(Binary::Sub, x, y);
                let (below, zero) = (self.compare(Compare::Ole, x, y), self.float(&ty, 0.0));
                Some(self.select(below, zero, difference))
            }
            // A NaN becomes zero.
            ("saturatef", &[x]) if dtype == DType::F32 => {
                let (zero, one) = (self.float(&ty, 0.0), self.float(&ty, 1.0));
                let raised = self.binary(Binary::MaxNum, x, zero);
                Some(self.binary(Binary::MinNum, raised, one))
            }
            ("signbitf" | "signbitd", &[x]) if dtype.is_float() => {
                let word = if dtype == DType::F64 { DType::I64 } else { DType::I32 };
                let bits = self.cast(Cast::Bits, x, word);
                let sign = self.with_number(Binary::ShrU, bits, u64::from(dtype.bits()) - 1);
                Some(self.cast(Cast::Trunc, sign, DType::I32))
            }
            _ => None,
        }
    }

    /// `A2B_rz` and `A_as_B`.
    fn converted(&mut self, name: &str, x: Value) -> Option<Value> {
        let named = |name: &str| NAMED.iter().find(|row| row.0 == name);
        if let Some((from, to)) = name.split_once("_as_") {
            let ((_, from, _), (_, to, _)) = (named(from)?, named(to)?);
            let fits = self.ty(x).dtype() == *from && from.bits() == to.bits();
            return fits.then(|| self.cast(Cast::Bits, x, *to));
        }
        let (from, rest) = name.split_once('2')?;
        let (to, round) = rest.split_once('_')?;
        let ((_, from, signed), (_, to, to_signed)) = (named(from)?, named(to)?);
        if self.ty(x).dtype() != *from || from.is_float() && to.is_float() && round != "rn" {
            return None;
        }
        match (from.is_float(), to.is_float()) {
            (true, true) => Some(self.cast(Cast::Float, x, *to)),
            (false, true) if round == "rn" => {
                let cast = if *signed { Cast::FloatFromS } else { Cast::FloatFromU };
                Some(self.cast(cast, x, *to))
            }
            (true, false) => {
                let op = match round {
                    "rn" => Unary::Nearest,
                    "rz" => Unary::Trunc,
                    "rd" => Unary::Floor,
                    "ru" => Unary::Ceil,
                    _ => return None,
                };
                let ty = self.ty(x);
                let whole = self.one(OpKind::Unary(op), &[x], &ty);
                let cast = if *to_signed { Cast::SFromFloat } else { Cast::UFromFloat };
                Some(self.cast(cast, whole, *to))
            }
            _ => None,
        }
    }

    /// A call of a function of libdevice.
    pub(super) fn external(&mut self, symbol: &str, operands: &[Value]) -> Option<Value> {
        if let Some(name) = symbol.strip_prefix("__nv_")
            && let Some(result) = self.exact(name, operands)
        {
            return Some(result);
        }
        let dtype = operands.first().map(|&operand| self.ty(operand).dtype());
        let name = symbol.strip_prefix("__nv_");
        let name = match dtype {
            Some(DType::F32) => name.and_then(|name| name.strip_suffix('f')),
            Some(DType::F64) => name,
            _ => None,
        };
        // Of f64 the questions end otherwise: `isnand`, `isinfd`, `isfinited`.
        let name = match name {
            Some("isnand") => Some("isnan"),
            Some("isinfd") => Some("isinf"),
            Some("isfinited") => Some("finite"),
            name => name,
        };
        let result = match (name, operands) {
            (Some(name), &[x]) => self.external_unary(name, x),
            (Some(name), &[x, y]) => self.external_binary(name, x, y),
            (Some("fma"), &[x, y, z]) => {
                let ty = self.ty(x);
                Some(self.one(OpKind::Fma, &[x, y, z], &ty))
            }
            _ => None,
        };
        let Some(result) = result else {
            let names: Vec<&str> = UNARY.iter().map(|row| row.0).collect();
            let more: Vec<&str> = BINARY.iter().map(|row| row.0).collect();
            let known = [&names[..], &more[..], COMPOSED, EXACT].concat().join(", ");
            return self.refuse(format!(
                "the function `{symbol}` is not supported; of f32 (with the ending `f`) and f64 there \
                 are {known}, arithmetic rounded to nearest (`fadd_rn`) and conversions (`float2int_rz`)"
            ));
        };
        Some(result)
    }

    fn external_unary(&mut self, name: &str, x: Value) -> Option<Value> {
        let ty = self.ty(x);
        if let Some((_, op)) = UNARY.iter().find(|row| row.0 == name) {
            return Some(self.one(OpKind::Unary(*op), &[x], &ty));
        }
        let unary = |this: &mut Self, op: Unary, x: Value| {
            let ty = this.ty(x);
            this.one(OpKind::Unary(op), &[x], &ty)
        };
        match name {
            "isnan" => Some(self.truth(Compare::Uno, x, x)),
            "isinf" | "finite" => {
                let magnitude = unary(self, Unary::Abs, x);
                let infinity = self.float(&ty, f64::INFINITY);
                let compare = if name == "isinf" { Compare::Oeq } else { Compare::Olt };
                Some(self.truth(compare, magnitude, infinity))
            }
            "tan" => {
                let (sine, cosine) = (unary(self, Unary::Sin, x), unary(self, Unary::Cos, x));
                Some(self.binary(Binary::DivPrecise, sine, cosine))
            }
            // In f64, so that what a factor rounds away does not show in f32.
            "exp10" | "log10" | "cosh" if ty.dtype() == DType::F32 => {
                let wide = self.cast(Cast::Float, x, DType::F64);
                let wide_ty = self.ty(wide);
                let result = match name {
                    "exp10" => {
                        let factor = self.float(&wide_ty, core::f64::consts::LOG2_10);
                        let power = self.binary(Binary::Mul, wide, factor);
                        unary(self, Unary::Exp2, power)
                    }
                    "log10" => {
                        let log = unary(self, Unary::Log2, wide);
                        let factor = self.float(&wide_ty, core::f64::consts::LOG10_2);
                        self.binary(Binary::Mul, log, factor)
                    }
                    _ => {
                        let up = unary(self, Unary::Exp, wide);
                        let negative = unary(self, Unary::Neg, wide);
                        let down = unary(self, Unary::Exp, negative);
                        let sum = self.binary(Binary::Add, up, down);
                        let half = self.float(&wide_ty, 0.5);
                        self.binary(Binary::Mul, sum, half)
                    }
                };
                Some(self.cast(Cast::Float, result, DType::F32))
            }
            _ => None,
        }
    }

    fn external_binary(&mut self, name: &str, x: Value, y: Value) -> Option<Value> {
        if let Some((_, op)) = BINARY.iter().find(|row| row.0 == name) {
            return Some(self.binary(*op, x, y));
        }
        if name != "copysign" {
            return None;
        }
        let dtype = self.ty(x).dtype();
        let word = if dtype == DType::F64 { DType::I64 } else { DType::I32 };
        let top = 1u64 << (dtype.bits() - 1);
        let [magnitude, sign] = [x, y].map(|value| self.cast(Cast::Bits, value, word));
        let magnitude = self.with_number(Binary::And, magnitude, top - 1);
        let sign = self.with_number(Binary::And, sign, top);
        let both = self.binary(Binary::Or, magnitude, sign);
        Some(self.cast(Cast::Bits, both, dtype))
    }

    /// A comparison's result as the i32 that C gives.
    fn truth(&mut self, op: Compare, x: Value, y: Value) -> Value {
        let truth = self.compare(op, x, y);
        let ty = self.ty(x).with_element(Element::Scalar(DType::I32));
        self.one(OpKind::Cast(Cast::ExtU), &[truth], &ty)
    }
}
