//! Floats: arithmetic and comparison.
//!
//! Products say `.rn`, and so do most sums: where neither does, the assembler may fuse a product into a
//! sum, and the text would round differently from the simulator (PTX ISA, `add` and `mul` of floats).
//! Fusing is the lowering's choice, written as `fma`.

use super::narrow;
use super::writer::{Class, Reg, Writer, put};
use crate::dtype::DType;
use crate::emit::Unsupported;
use crate::id::IdMap;
use crate::instruction::{self, Step};
use crate::lane::{Op, Program, Value};
use crate::scalar::{Binary, Compare, Rounding, Unary};

/// The sums of f32 that something divides by, or takes a root or a logarithm of.
///
/// They say no rounding. The assembler asks what range such an operand has, and leaves out the scaling
/// of subnormal ones where there are none, as in `1 / (1 + exp(-x))`; it looks through a sum only if that
/// says no rounding. It has nothing to fuse into it, since every product says `.rn`, but for those of
/// assembly: where there is any, all sums say it.
pub(super) fn plain_sums(program: &Program) -> IdMap<Value, bool> {
    let mut plain = IdMap::default();
    let mut has_assembly = false;
    program.walk(&program.body, &mut |_, inst| match (&inst.op, &inst.operands[..]) {
        (Op::InlineAsm { .. }, _) => has_assembly = true,
        (Op::Unary(op), &[x]) if instruction::of(*op).is_some_and(|row| row.asks_range) => {
            plain.set(x, true);
        }
        (Op::Binary(Binary::Div), &[_, y]) => plain.set(y, true),
        _ => {}
    });
    if has_assembly { IdMap::default() } else { plain }
}

/// The suffix of a float type.
fn suffix(dtype: DType) -> &'static str {
    dtype.name()
}

/// The value of a narrower float as an f32; an f32 is there already.
pub(super) fn widen(w: &mut Writer<'_>, dtype: DType, x: Reg) -> Reg {
    if dtype == DType::F32 {
        return x;
    }
    if dtype.is_f8() {
        return narrow::widen(w, dtype, x);
    }
    let wide = w.temp(Class::B32);
    widen_half(w, dtype, wide, x);
    wide
}

/// An f16 or bf16 as an f32.
pub(super) fn widen_half(w: &mut Writer<'_>, dtype: DType, d: Reg, x: Reg) {
    if dtype == DType::BF16 {
        w.need((7, 1));
    }
    put!(w, "cvt.f32.{} {d}, {x}", suffix(dtype));
}

/// Rounds an f32 into a narrower float or an f32.
pub(super) fn round(w: &mut Writer<'_>, dtype: DType, d: Reg, wide: Reg) {
    if dtype == DType::F32 {
        w.copy(d, wide);
    } else if dtype.is_f8() {
        narrow::round(w, dtype, false, d, wide);
    } else if dtype == DType::BF16 {
        narrow::round_single(w, "rn", d, wide);
    } else {
        put!(w, "cvt.rn.{}.f32 {d}, {wide}", suffix(dtype));
    }
}

/// Runs `compute` on f32 registers, `d` being the first; f16 and bf16 are widened before and rounded
/// after.
fn in_f32<const N: usize>(
    w: &mut Writer<'_>,
    dtype: DType,
    d: Reg,
    operands: [Reg; N],
    compute: impl FnOnce(&mut Writer<'_>, Reg, [Reg; N]),
) {
    if dtype == DType::F32 {
        return compute(w, d, operands);
    }
    let operands = operands.map(|x| widen(w, dtype, x));
    let wide = w.temp(Class::B32);
    compute(w, wide, operands);
    round(w, dtype, d, wide);
}

pub(super) fn unary(
    w: &mut Writer<'_>,
    op: Unary,
    dtype: DType,
    d: Reg,
    x: Reg,
) -> Result<(), Unsupported> {
    let direct = match op {
        Unary::Neg => Some("neg"),
        Unary::Abs => Some("abs"),
        _ => None,
    };
    if let Some(name) = direct {
        put!(w, "{name}.{} {d}, {x}", suffix(dtype));
        return Ok(());
    }
    let double = dtype == DType::F64;
    let form = instruction::of(op)
        .and_then(|row| if double { row.double.as_ref() } else { Some(&row.single) });
    match form.map_or(&[][..], |form| form.ptx) {
        [] => return Err(w.unsupported(format!("{op} of {dtype}"), COMPOSED)),
        steps if double => follow(w, Class::B64, steps, d, x),
        steps => in_f32(w, dtype, d, [x], |w, d, [x]| follow(w, Class::B32, steps, d, x)),
    }
    Ok(())
}

/// Runs instructions one on the result of the other.
fn follow(w: &mut Writer<'_>, class: Class, steps: &[Step], d: Reg, mut x: Reg) {
    for (index, Step { name, behind }) in steps.iter().enumerate() {
        let to = if index + 1 == steps.len() { d } else { w.temp(class) };
        put!(w, "{name} {to}, {x}{behind}");
        x = to;
    }
}

/// Why an operation has no instruction.
const COMPOSED: &str = "PTX has no such instruction; lowering writes an algorithm of others";

pub(super) fn binary(
    w: &mut Writer<'_>,
    op: Binary,
    dtype: DType,
    d: Reg,
    (x, y): (Reg, Reg),
) -> Result<(), Unsupported> {
    let ty = suffix(dtype);
    match op {
        Binary::Add | Binary::Sub | Binary::Mul => sum_or_product(w, op, dtype, d, (x, y)),
        Binary::Div | Binary::DivPrecise if dtype == DType::F64 => {
            put!(w, "div.rn.f64 {d}, {x}, {y}");
        }
        Binary::Div | Binary::DivPrecise => {
            let form = if op == Binary::Div { "full" } else { "rn" };
            in_f32(w, dtype, d, [x, y], |w, d, [x, y]| put!(w, "div.{form}.f32 {d}, {x}, {y}"));
        }
        Binary::MinNum => put!(w, "min.{ty} {d}, {x}, {y}"),
        Binary::MaxNum => put!(w, "max.{ty} {d}, {x}, {y}"),
        Binary::Minimum | Binary::Maximum => {
            let name = if op == Binary::Minimum { "min" } else { "max" };
            if dtype == DType::F64 {
                // There is no form of f64 in which NaN wins.
                let (number, unordered) = (w.temp(Class::B64), w.temp(Class::Predicate));
                put!(w, "{name}.f64 {number}, {x}, {y}");
                put!(w, "setp.nan.f64 {unordered}, {x}, {y}");
                put!(w, "selp.b64 {d}, 0x7FF8000000000000, {number}, {unordered}");
            } else {
                put!(w, "{name}.NaN.{ty} {d}, {x}, {y}");
            }
        }
        _ => {
            return Err(w.unsupported(format!("{op} of {dtype}"), COMPOSED));
        }
    }
    Ok(())
}

/// bf16 has these from `sm_90` on. Before, the fused multiply-add gives the same single rounding:
/// `x * 1 + y`, `y * -1 + x`, and `x * y + -0`, whose zero keeps the sign of a zero product.
fn sum_or_product(w: &mut Writer<'_>, op: Binary, dtype: DType, d: Reg, (x, y): (Reg, Reg)) {
    if dtype == DType::BF16 && !w.target.has_bf16_arithmetic() {
        let number = w.temp(Class::B16);
        let (bits, [a, b, c]) = match op {
            Binary::Add => (0x3f80, [x, number, y]),
            Binary::Sub => (0xbf80, [y, number, x]),
            _ => (0x8000, [x, y, number]),
        };
        put!(w, "mov.b16 {number}, {bits:#x}");
        return put!(w, "fma.rn.bf16 {d}, {a}, {b}, {c}");
    }
    if dtype == DType::BF16 {
        w.need((7, 8));
    }
    let may_be_plain = dtype == DType::F32 && op != Binary::Mul;
    let rounding = if may_be_plain && w.is_plain(d) { "" } else { ".rn" };
    put!(w, "{}{rounding}.{} {d}, {x}, {y}", op.name(), suffix(dtype));
}

pub(super) fn compare(w: &mut Writer<'_>, op: Compare, dtype: DType, d: Reg, x: Reg, y: Reg) {
    let name = match op {
        Compare::Oeq => "eq",
        Compare::Ogt => "gt",
        Compare::Oge => "ge",
        Compare::Olt => "lt",
        Compare::Ole => "le",
        Compare::One => "ne",
        Compare::Ord => "num",
        Compare::Ueq => "equ",
        Compare::FUgt => "gtu",
        Compare::FUge => "geu",
        Compare::FUlt => "ltu",
        Compare::FUle => "leu",
        Compare::Une => "neu",
        _ => "nan",
    };
    if dtype == DType::BF16 {
        if w.target.has_bf16_arithmetic() {
            w.need((7, 8));
        } else {
            let (x, y) = (widen(w, dtype, x), widen(w, dtype, y));
            return put!(w, "setp.{name}.f32 {d}, {x}, {y}");
        }
    }
    put!(w, "setp.{name}.{} {d}, {x}, {y}", suffix(dtype));
}

/// `x * y + z`, rounded once.
pub(super) fn multiply_add(w: &mut Writer<'_>, dtype: DType, d: Reg, [x, y, z]: [Reg; 3]) {
    put!(w, "fma.rn.{} {d}, {x}, {y}, {z}", suffix(dtype));
}

pub(super) fn multiply_add_toward(
    w: &mut Writer<'_>,
    rounding: Rounding,
    dtype: DType,
    d: Reg,
    [x, y, z]: [Reg; 3],
) {
    let rounding = match rounding {
        Rounding::Zero => "rz",
        Rounding::Down => "rm",
        Rounding::Up => "rp",
    };
    put!(w, "fma.{rounding}.{} {d}, {x}, {y}, {z}", suffix(dtype));
}
