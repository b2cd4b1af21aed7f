//! Functions that are exact: of integers, of bits, of whole numbers and of exponents.

use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare, Unary};
use crate::tile::{Element, OpKind, Value, WriteOps};
use crate::ttir::rewrite::Rewriter;

use DType::{F64, I32, I64};

/// A function of integers (and words of floats) as PTX, which is read: its name, its operands' types, its
/// result's, and the text.
const PTX: &[(&str, &[DType], DType, &str)] = &[
    ("clz", &[I32], I32, "clz.b32 $0, $1;"),
    ("clzll", &[I64], I32, "clz.b64 $0, $1;"),
    ("popc", &[I32], I32, "popc.b32 $0, $1;"),
    ("popcll", &[I64], I32, "popc.b64 $0, $1;"),
    ("brev", &[I32], I32, "brev.b32 $0, $1;"),
    ("brevll", &[I64], I64, "brev.b64 $0, $1;"),
    // The lowest bit's number is that of bits from it on.
    (
        "ffs",
        &[I32],
        I32,
        "{ .reg .b32 t; neg.s32 t, $1; and.b32 t, t, $1; clz.b32 t, t; sub.s32 $0, 32, t; }",
    ),
    (
        "ffsll",
        &[I64],
        I32,
        "{ .reg .b64 t; .reg .b32 n; neg.s64 t, $1; and.b64 t, t, $1; clz.b64 n, t; sub.s32 $0, 64, n; }",
    ),
    (
        "byte_perm",
        &[I32; 3],
        I32,
        "{ .reg .b32 s; and.b32 s, $3, 0x7777; prmt.b32 $0, $1, $2, s; }",
    ),
    ("mulhi", &[I32; 2], I32, "mul.hi.s32 $0, $1, $2;"),
    ("umulhi", &[I32; 2], I32, "mul.hi.u32 $0, $1, $2;"),
    ("mul64hi", &[I64; 2], I64, "mul.hi.s64 $0, $1, $2;"),
    ("umul64hi", &[I64; 2], I64, "mul.hi.u64 $0, $1, $2;"),
    (
        "mul24",
        &[I32; 2],
        I32,
        "{ .reg .b32 a, b; shl.b32 a, $1, 8; shr.s32 a, a, 8; shl.b32 b, $2, 8; shr.s32 b, b, 8; \
         mul.lo.s32 $0, a, b; }",
    ),
    (
        "umul24",
        &[I32; 2],
        I32,
        "{ .reg .b32 a, b; and.b32 a, $1, 0xffffff; and.b32 b, $2, 0xffffff; mul.lo.u32 $0, a, b; }",
    ),
    (
        "sad",
        &[I32; 3],
        I32,
        "{ .reg .b32 a, b; max.s32 a, $1, $2; min.s32 b, $1, $2; sub.s32 a, a, b; add.s32 $0, a, $3; }",
    ),
    (
        "usad",
        &[I32; 3],
        I32,
        "{ .reg .b32 a, b; max.u32 a, $1, $2; min.u32 b, $1, $2; sub.u32 a, a, b; add.u32 $0, a, $3; }",
    ),
    // What both have, and half of what one has.
    (
        "hadd",
        &[I32; 2],
        I32,
        "{ .reg .b32 a, b; and.b32 a, $1, $2; xor.b32 b, $1, $2; shr.s32 b, b, 1; add.s32 $0, a, b; }",
    ),
    (
        "uhadd",
        &[I32; 2],
        I32,
        "{ .reg .b32 a, b; and.b32 a, $1, $2; xor.b32 b, $1, $2; shr.u32 b, b, 1; add.u32 $0, a, b; }",
    ),
    // What any has, less half of what one has.
    (
        "rhadd",
        &[I32; 2],
        I32,
        "{ .reg .b32 a, b; or.b32 a, $1, $2; xor.b32 b, $1, $2; shr.s32 b, b, 1; sub.s32 $0, a, b; }",
    ),
    (
        "urhadd",
        &[I32; 2],
        I32,
        "{ .reg .b32 a, b; or.b32 a, $1, $2; xor.b32 b, $1, $2; shr.u32 b, b, 1; sub.u32 $0, a, b; }",
    ),
    ("abs", &[I32], I32, "abs.s32 $0, $1;"),
    ("llabs", &[I64], I64, "abs.s64 $0, $1;"),
    ("hiloint2double", &[I32; 2], F64, "mov.b64 $0, {$2, $1};"),
    ("double2loint", &[F64], I32, "{ .reg .b32 t; mov.b64 {$0, t}, $1; }"),
    ("double2hiint", &[F64], I32, "{ .reg .b32 t; mov.b64 {t, $0}, $1; }"),
];

impl Rewriter<'_, '_, '_> {
    /// A function that PTX has instructions for.
    pub(super) fn ptx(&mut self, name: &str, types: &[DType], operands: &[Value]) -> Option<Value> {
        let row = PTX.iter().find(|row| row.0 == name && row.1 == types)?;
        let constraint = |dtype: &DType| match dtype {
            F64 => "d",
            I64 => "l",
            _ => "r",
        };
        let inputs: Vec<&str> = row.1.iter().map(constraint).collect();
        let constraints = format!("={},{}", constraint(&row.2), inputs.join(","));
        let result = self.ty(*operands.first()?).with_element(Element::Scalar(row.2));
        self.read_ptx(row.3, &constraints, &result, operands)
    }

    /// A function of floats that is exact, by its name without the type's ending.
    pub(super) fn exact(
        &mut self,
        base: &str,
        float: DType,
        types: &[DType],
        operands: &[Value],
    ) -> Option<Value> {
        if !float.is_float() {
            return None;
        }
        match (base, operands, types) {
            ("fma", &[x, y, z], _) => {
                let ty = self.ty(x);
                Some(self.one(OpKind::Fma, &[x, y, z], &ty))
            }
            ("ldexp" | "scalbn", &[x, n], [_, I32]) => Some(self.scaled(x, n)),
            ("powi", &[x, n], [_, I32]) => {
                // No f32 holds every i32, but two do: both parts have the sign of the whole.
                let known = self.known(n).map(|bits| bits as u32 as i32);
                let is_held = known.is_some_and(|n| n.unsigned_abs() <= 1 << 24);
                let parts =
                    if float == F64 || is_held { vec![n] } else { self.summands(n).to_vec() };
                let powers = parts.into_iter().map(|part| {
                    let part = self.cast(Cast::FloatFromS, part, float);
                    self.binary(Binary::Pow, x, part)
                });
                let powers: Vec<Value> = powers.collect();
                powers.into_iter().reduce(|high, low| self.binary(Binary::Mul, high, low))
            }
            ("fdim", &[x, y], _) => {
                let difference = self.binary(Binary::Sub, x, y);
                let zero = self.number(x, 0.0);
                let below = self.compare(Compare::Ole, x, y);
                Some(self.select(below, zero, difference))
            }
            ("remainder", &[x, y], _) => Some(self.remainder(x, y)),
            ("nextafter", &[x, y], _) => Some(self.neighbour(x, y)),
            ("copysign", &[x, y], _) => Some(self.with_sign_of(x, y)),
            (_, &[x], _) => self.exact_unary(base, float, x),
            _ => None,
        }
    }

    fn exact_unary(&mut self, base: &str, float: DType, x: Value) -> Option<Value> {
        Some(match base {
            // A NaN becomes zero.
            "saturate" if float == DType::F32 => {
                let (zero, one) = (self.number(x, 0.0), self.number(x, 1.0));
                let raised = self.binary(Binary::MaxNum, x, zero);
                self.binary(Binary::MinNum, raised, one)
            }
            "signbit" => {
                let bits = self.word(x);
                let sign = self.with_number(Binary::ShrU, bits, u64::from(float.bits()) - 1);
                self.cast(Cast::Trunc, sign, I32)
            }
            "isnan" => self.truth(Compare::Uno, x, x),
            "isinf" | "finite" => {
                let magnitude = self.unary(Unary::Abs, x);
                let infinity = self.number(x, f64::INFINITY);
                let compare = if base == "isinf" { Compare::Oeq } else { Compare::Olt };
                self.truth(compare, magnitude, infinity)
            }
            "round" => self.rounded_away(x),
            "llround" => {
                let whole = self.rounded_away(x);
                self.cast(Cast::SFromFloat, whole, I64)
            }
            "llrint" => {
                let whole = self.unary(Unary::Nearest, x);
                self.cast(Cast::SFromFloat, whole, I64)
            }
            "ilogb" => {
                let exponent = self.exponent(x);
                let exponent = self.cast(Cast::Trunc, exponent, I32);
                let magnitude = self.unary(Unary::Abs, x);
                let infinity = self.number(x, f64::INFINITY);
                let infinite = self.compare(Compare::Oeq, magnitude, infinity);
                let ty = self.ty(exponent);
                let most = self.constant(&ty, 0x7fff_ffff);
                let exponent = self.select(infinite, most, exponent);
                // Zero and NaN have none.
                let zero = self.number(x, 0.0);
                let none = self.compare(Compare::Ueq, x, zero);
                let least = self.constant(&ty, 0x8000_0000);
                self.select(none, least, exponent)
            }
            "logb" => {
                let exponent = self.exponent(x);
                let exponent = self.cast(Cast::FloatFromS, exponent, float);
                let magnitude = self.unary(Unary::Abs, x);
                let infinity = self.number(x, f64::INFINITY);
                let finite = self.compare(Compare::Olt, magnitude, infinity);
                let exponent = self.select(finite, exponent, magnitude);
                let (zero, least) = (self.number(x, 0.0), self.number(x, f64::NEG_INFINITY));
                let none = self.compare(Compare::Oeq, x, zero);
                self.select(none, least, exponent)
            }
            // The upper word of an inverse.
            "rcp64h" if float == F64 => {
                let one = self.number(x, 1.0);
                let inverse = self.binary(Binary::DivPrecise, one, x);
                let bits = self.word(inverse);
                let upper = self.with_number(Binary::And, bits, 0xffff_ffff_0000_0000);
                self.cast(Cast::Bits, upper, F64)
            }
            _ => return None,
        })
    }

    /// A number of the type of another value.
    fn number(&mut self, like: Value, value: f64) -> Value {
        let ty = self.ty(like);
        self.float(&ty, value)
    }

    /// The bits of a float as an integer.
    fn word(&mut self, x: Value) -> Value {
        let word = if self.ty(x).dtype() == F64 { I64 } else { I32 };
        self.cast(Cast::Bits, x, word)
    }

    fn with_sign_of(&mut self, x: Value, sign: Value) -> Value {
        let dtype = self.ty(x).dtype();
        let top = 1u64 << (dtype.bits() - 1);
        let [magnitude, sign] = [x, sign].map(|value| self.word(value));
        let magnitude = self.with_number(Binary::And, magnitude, top - 1);
        let sign = self.with_number(Binary::And, sign, top);
        let both = self.binary(Binary::Or, magnitude, sign);
        self.cast(Cast::Bits, both, dtype)
    }

    /// The nearest whole number, of two the one further from zero.
    fn rounded_away(&mut self, x: Value) -> Value {
        let whole = self.unary(Unary::Trunc, x);
        let rest = self.binary(Binary::Sub, x, whole);
        let rest = self.unary(Unary::Abs, rest);
        let half = self.number(x, 0.5);
        let (zero, one) = (self.number(x, 0.0), self.number(x, 1.0));
        let up = self.compare(Compare::Oge, rest, half);
        let step = self.select(up, one, zero);
        let step = self.with_sign_of(step, x);
        self.binary(Binary::Add, whole, step)
    }

    /// The exponent of a number that has one, as an integer as wide.
    fn exponent(&mut self, x: Value) -> Value {
        let (mantissa, bias, mask) =
            if self.ty(x).dtype() == F64 { (52u64, 1023u64, 0x7ffu64) } else { (23, 127, 0xff) };
        // Subnormal numbers are brought up first.
        let magnitude = self.unary(Unary::Abs, x);
        let least = self.number(x, 2f64.powi(1 - bias as i32));
        let tiny = self.compare(Compare::Olt, magnitude, least);
        let lifted = self.times(x, 2f64.powi(mantissa as i32));
        let x = self.select(tiny, lifted, x);
        let bits = self.word(x);
        let biased = self.with_number(Binary::ShrU, bits, mantissa);
        let biased = self.with_number(Binary::And, biased, mask);
        let exponent = self.with_number(Binary::Sub, biased, bias);
        let lower = self.with_number(Binary::Sub, exponent, mantissa);
        self.select(tiny, lower, exponent)
    }

    /// An i32 as the sum of a multiple of 2^12 and what is nearer to zero than that, of the same sign.
    fn summands(&mut self, n: Value) -> [Value; 2] {
        let ty = self.ty(n);
        let step = self.constant(&ty, 1 << 12);
        let low = self.binary(Binary::RemS, n, step);
        [self.binary(Binary::Sub, n, low), low]
    }

    /// `x * 2^n`, rounded once: in steps of which only the last can be inexact.
    fn scaled(&mut self, x: Value, n: Value) -> Value {
        let dtype = self.ty(x).dtype();
        let (word, mantissa, bias) = if dtype == F64 { (I64, 52, 1023) } else { (I32, 23, 127) };
        let (least, most) = (1 - bias, bias);
        let (mut x, mut n) = (x, n);
        let ty = self.ty(n);
        let down = least + mantissa + 1;
        for step in [down, down, most, most] {
            // What a step down makes subnormal vanishes with the next one anyway.
            let bound = self.constant(&ty, if step < 0 { least } else { most } as u64);
            let further = if step < 0 { Compare::Slt } else { Compare::Sgt };
            let further = self.compare(further, n, bound);
            let moved = self.times(x, 2f64.powi(step));
            let left = self.with_number(Binary::Sub, n, step as u64);
            x = self.select(further, moved, x);
            n = self.select(further, left, n);
        }
        let n = self.with_number(Binary::MaxS, n, least as u64);
        let n = self.with_number(Binary::MinS, n, most as u64);
        let n = self.cast(Cast::ExtS, n, word);
        let biased = self.with_number(Binary::Add, n, bias as u64);
        let bits = self.with_number(Binary::Shl, biased, mantissa as u64);
        let power = self.cast(Cast::Bits, bits, dtype);
        self.binary(Binary::Mul, x, power)
    }

    /// What is left of the nearest multiple, of two the even one.
    fn remainder(&mut self, x: Value, y: Value) -> Value {
        let [magnitude, step] = [x, y].map(|value| self.unary(Unary::Abs, value));
        let double = self.binary(Binary::Add, step, step);
        let rest = self.binary(Binary::Rem, magnitude, double);
        // Above half a step one is taken away, and from half a step on another.
        let other = self.binary(Binary::Sub, step, rest);
        let above = self.compare(Compare::Ogt, rest, other);
        let less = self.binary(Binary::Sub, rest, step);
        let rest = self.select(above, less, rest);
        let other = self.binary(Binary::Sub, step, rest);
        let still = self.compare(Compare::Oge, rest, other);
        let again = self.binary(Binary::And, above, still);
        let less = self.binary(Binary::Sub, rest, step);
        let rest = self.select(again, less, rest);
        // A zero has the number's sign; so has what was left, turned with it.
        let sign = self.word(x);
        let dtype = self.ty(x).dtype();
        let sign = self.with_number(Binary::And, sign, 1 << (dtype.bits() - 1));
        let bits = self.word(rest);
        let turned = self.binary(Binary::Xor, bits, sign);
        self.cast(Cast::Bits, turned, dtype)
    }

    /// The next float from `x` on toward `y`.
    fn neighbour(&mut self, x: Value, y: Value) -> Value {
        let dtype = self.ty(x).dtype();
        let bits = self.word(x);
        let [more, less] = [Binary::Add, Binary::Sub].map(|op| self.with_number(op, bits, 1));
        let zero = self.number(x, 0.0);
        let (rises, positive) =
            (self.compare(Compare::Olt, x, y), self.compare(Compare::Ogt, x, zero));
        let inward = self.binary(Binary::Xor, rises, positive);
        let next = self.select(inward, less, more);
        let next = self.cast(Cast::Bits, next, dtype);
        // From zero the least number.
        let ty = self.ty(x);
        let least = self.constant(&ty, 1);
        let least = self.with_sign_of(least, y);
        let none = self.compare(Compare::Oeq, x, zero);
        let next = self.select(none, least, next);
        let there = self.compare(Compare::Oeq, x, y);
        let next = self.select(there, y, next);
        let sum = self.binary(Binary::Add, x, y);
        let unordered = self.compare(Compare::Uno, x, y);
        self.select(unordered, sum, next)
    }
}
