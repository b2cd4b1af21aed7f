//! `tt.extern_elementwise`: the functions of NVIDIA's libdevice, by their names.
//!
//! `__nv_NAMEf` is of f32, `__nv_NAME` of f64. Most are operations of the tile program. Those that only
//! look at bits, that say how they round, or that are exact are written with several operations; some of
//! them as PTX, which is read. The fast functions, of f32, are the machine's approximate ones where there
//! are such, and else as good as the others.

mod exact;
mod convert;
mod order;

use super::rewrite::Rewriter;
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare, Directed, Rounding, Unary};
use crate::tile::{Element, OpKind, Value, WriteOps, spelling};

/// What says how a result rounds, at the end of a name.
const ROUNDINGS: &[(&str, Option<Rounding>)] = &[
    ("_rn", None),
    ("_rz", Some(Rounding::Zero)),
    ("_rd", Some(Rounding::Down)),
    ("_ru", Some(Rounding::Up)),
];

impl Rewriter<'_, '_, '_> {
    /// A call of a function of libdevice.
    pub(super) fn external(&mut self, symbol: &str, operands: &[Value]) -> Option<Value> {
        let types: Vec<DType> = operands.iter().map(|&operand| self.ty(operand).dtype()).collect();
        let name = symbol.strip_prefix("__nv_").unwrap_or_default();
        let same = types.windows(2).all(|pair| pair[0] == pair[1]);
        let result = self.ptx(name, &types, operands).or_else(|| {
            let float = *types.first()?;
            let base = without_type(name, float).unwrap_or_default();
            let rounded = if same { self.rounded(name, float, operands) } else { None };
            let result = rounded.or_else(|| self.converted(name, operands));
            let result = result.or_else(|| self.exact(base, float, &types, operands));
            let result = result.or_else(|| self.bessel(name, operands));
            result.or_else(|| if same { self.function(base, float, operands) } else { None })
        });
        if result.is_some() {
            return result;
        }
        self.refuse(format!(
            "the function `{symbol}` of {} is not one of libdevice's; of f32 their names end with `f` \
             (`__nv_sinf`), of f64 without (`__nv_sin`)",
            types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        ))
    }

    /// A function of one float type, by its name without the type's ending.
    fn function(&mut self, base: &str, float: DType, operands: &[Value]) -> Option<Value> {
        let &first = operands.first()?;
        if !float.is_float() || self.ty(first).dtype() != float {
            return None;
        }
        if let Some(kind) = spelling::of_libdevice(base, float, operands.len()) {
            let ty = self.ty(first);
            return Some(self.one(kind, operands, &ty));
        }
        if float != DType::F32 {
            return None;
        }
        let [x, y] = [first, operands.get(1).copied().unwrap_or(first)];
        Some(match (base, operands.len()) {
            ("fast_tan", 1) => {
                let (sine, cosine) = (self.unary(Unary::Sin, x), self.unary(Unary::Cos, x));
                self.binary(Binary::Div, sine, cosine)
            }
            ("fast_exp10", 1) => {
                let power = self.times(x, core::f64::consts::LOG2_10);
                self.unary(Unary::Exp2, power)
            }
            ("fast_log", 1) => {
                let log = self.unary(Unary::Log2Approximate, x);
                self.times(log, core::f64::consts::LN_2)
            }
            ("fast_log10", 1) => {
                let log = self.unary(Unary::Log2Approximate, x);
                self.times(log, core::f64::consts::LOG10_2)
            }
            ("fast_pow", 2) => {
                let log = self.unary(Unary::Log2Approximate, x);
                let power = self.binary(Binary::Mul, y, log);
                self.unary(Unary::Exp2, power)
            }
            ("fast_fdivide", 2) => self.binary(Binary::Div, x, y),
            _ => return None,
        })
    }

    /// One over the square root of an f32, rounded to nearest: one step of the series from the rounded
    /// quotient. As a try of every mantissa shows, no inverse root is so near the middle of two others that
    /// the roundings before the last one count.
    fn rounded_inverse_root(&mut self, x: Value) -> Value {
        let ty = self.ty(x);
        let [zero, second, half, one, most] =
            [0.0, 0.375, 0.5, 1.0, f64::INFINITY].map(|number| self.float(&ty, number));
        let root = self.unary(Unary::SqrtPrecise, x);
        let inverse = self.binary(Binary::DivPrecise, one, root);
        // 1 - x y^2, of which x y is taken to twice its digits.
        let product = self.one(OpKind::Fma, &[inverse, x, zero], &ty);
        let minus = self.unary(Unary::Neg, product);
        let mut fma = |x: Value, y: Value, z: Value| self.one(OpKind::Fma, &[x, y, z], &ty);
        let low = fma(x, inverse, minus);
        let rest = fma(minus, inverse, one);
        let low = self.unary(Unary::Neg, low);
        let rest = self.one(OpKind::Fma, &[low, inverse, rest], &ty);
        // `(1 - e)^(-1/2) - 1 = e/2 + 3/8 e^2` and what does not count.
        let [first, curve] = [half, second].map(|factor| self.binary(Binary::Mul, rest, factor));
        let step = self.one(OpKind::Fma, &[curve, rest, first], &ty);
        let better = self.one(OpKind::Fma, &[step, inverse, inverse], &ty);
        let positive = self.compare(Compare::Ogt, x, zero);
        let finite = self.compare(Compare::Olt, x, most);
        let usual = self.binary(Binary::And, positive, finite);
        self.select(usual, better, inverse)
    }

    /// Arithmetic that says how it rounds: `fadd_rn`, `dmul_ru`, `fmaf_rz`, `fma_rd`.
    fn rounded(&mut self, name: &str, float: DType, operands: &[Value]) -> Option<Value> {
        let (name, rounding) = ROUNDINGS
            .iter()
            .find_map(|(ending, rounding)| Some((name.strip_suffix(ending)?, *rounding)))?;
        let (letter, fused) = match float {
            DType::F32 => ("f", "fmaf"),
            DType::F64 => ("d", "fma"),
            _ => return None,
        };
        let op = if name == fused { "fma" } else { name.strip_prefix(letter)? };
        self.arithmetic(op, rounding, operands)
    }

    /// Arithmetic of f32 or f64 that rounds as told, or to the nearest.
    pub(in crate::ttir) fn arithmetic(
        &mut self,
        op: &str,
        rounding: Option<Rounding>,
        operands: &[Value],
    ) -> Option<Value> {
        let ty = self.ty(*operands.first()?);
        Some(match (op, operands, rounding) {
            ("fma", &[x, y, z], None) => self.one(OpKind::Fma, &[x, y, z], &ty),
            ("fma", &[x, y, z], Some(rounding)) => {
                self.directed(Directed::Fma, rounding, &[x, y, z])
            }
            ("add", &[x, y], None) => self.binary(Binary::Add, x, y),
            ("sub", &[x, y], None) => self.binary(Binary::Sub, x, y),
            ("mul", &[x, y], None) => self.binary(Binary::Mul, x, y),
            ("add" | "sub", &[x, y], Some(rounding)) => {
                let y = if op == "sub" { self.unary(Unary::Neg, y) } else { y };
                let one = self.float(&ty, 1.0);
                self.directed(Directed::Fma, rounding, &[x, one, y])
            }
            ("mul", &[x, y], Some(rounding)) => {
                // Sums of zeros of two signs are negative only where they are rounded down.
                let zero = if rounding == Rounding::Down { 0.0 } else { -0.0 };
                let zero = self.float(&ty, zero);
                self.directed(Directed::Fma, rounding, &[x, y, zero])
            }
            ("div", &[x, y], None) => self.binary(Binary::DivPrecise, x, y),
            ("div", &[x, y], Some(rounding)) => self.directed(Directed::Div, rounding, &[x, y]),
            ("rcp", &[x], _) => {
                let one = self.float(&ty, 1.0);
                match rounding {
                    None => self.binary(Binary::DivPrecise, one, x),
                    Some(rounding) => self.directed(Directed::Div, rounding, &[one, x]),
                }
            }
            ("sqrt", &[x], None) => self.unary(Unary::SqrtPrecise, x),
            ("sqrt", &[x], Some(rounding)) => self.directed(Directed::Sqrt, rounding, &[x]),
            ("rsqrt", &[x], None) if ty.dtype() == DType::F32 => self.rounded_inverse_root(x),
            _ => return None,
        })
    }

    fn directed(&mut self, op: Directed, rounding: Rounding, operands: &[Value]) -> Value {
        let ty = self.ty(operands[0]);
        self.one(OpKind::Directed(op, rounding), operands, &ty)
    }

    fn unary(&mut self, op: Unary, x: Value) -> Value {
        let ty = self.ty(x);
        self.one(OpKind::Unary(op), &[x], &ty)
    }

    /// A float times a number.
    fn times(&mut self, x: Value, factor: f64) -> Value {
        let ty = self.ty(x);
        let factor = self.float(&ty, factor);
        self.binary(Binary::Mul, x, factor)
    }

    /// A comparison's result as the i32 that C gives.
    fn truth(&mut self, op: Compare, x: Value, y: Value) -> Value {
        let truth = self.compare(op, x, y);
        let ty = self.ty(x).with_element(Element::Scalar(DType::I32));
        self.one(OpKind::Cast(Cast::ExtU), &[truth], &ty)
    }
}

/// The name of a function of a float type without the type's ending. Of f64 questions end otherwise:
/// `isnand`, `isinfd`, `isfinited`.
fn without_type(name: &str, float: DType) -> Option<&str> {
    match (float, name) {
        (DType::F32, name) => name.strip_suffix('f'),
        (_, "isnand") => Some("isnan"),
        (_, "isinfd") => Some("isinf"),
        (_, "isfinited") => Some("finite"),
        (_, "signbitd") => Some("signbit"),
        (_, "isnan" | "isinf" | "finite" | "signbit") => None,
        (_, name) => Some(name),
    }
}
