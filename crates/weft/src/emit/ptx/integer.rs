//! Integers: arithmetic, comparison, and F2-linear maps.
//!
//! An i1 is a predicate, so its arithmetic is logic. An i8 lives zero-extended in 16 bits: an operation
//! that asks for a sign repeats bit 7 first, and one that may set a higher bit clears it afterwards.

use super::writer::{Class, Reg, Writer, put};
use crate::dtype::DType;
use crate::emit::truth::{self, Gate, Truth};
use crate::lane::diagonals;
use crate::scalar::{Binary, Compare, Unary};

/// The width that an integer type is computed in.
fn width(dtype: DType) -> u32 {
    match dtype {
        DType::I64 => 64,
        DType::I32 => 32,
        _ => 16,
    }
}

/// The register of an integer with its sign repeated up to the width it is computed in.
fn signed(w: &mut Writer<'_>, dtype: DType, x: Reg) -> Reg {
    if dtype != DType::I8 {
        return x;
    }
    let wide = w.temp(Class::B16);
    put!(w, "cvt.s16.s8 {wide}, {x}");
    wide
}

/// Clears what an operation on an i8 may have set above it, unless nobody looks there.
pub(super) fn clear_above(w: &mut Writer<'_>, dtype: DType, d: Reg) {
    if dtype == DType::I8 && !w.is_only_stored(d) {
        put!(w, "and.b16 {d}, {d}, 0xff");
    }
}

pub(super) fn unary(w: &mut Writer<'_>, op: Unary, dtype: DType, d: Reg, x: Reg) {
    let bits = width(dtype);
    if dtype == DType::I1 {
        // Modulo two, a number is its own negative.
        return match op {
            Unary::Not => put!(w, "not.pred {d}, {x}"),
            _ => w.copy(d, x),
        };
    }
    match op {
        Unary::Neg => put!(w, "neg.s{bits} {d}, {x}"),
        Unary::Abs => {
            let x = signed(w, dtype, x);
            put!(w, "abs.s{bits} {d}, {x}");
        }
        _ => put!(w, "not.b{bits} {d}, {x}"),
    }
    clear_above(w, dtype, d);
}

/// A binary operation of integers. `y_bits` are the raw bits of `y` where it is a constant.
pub(super) fn binary(
    w: &mut Writer<'_>,
    op: Binary,
    dtype: DType,
    d: Reg,
    (x, y): (Reg, Reg),
    y_bits: Option<u64>,
) {
    if dtype == DType::I1 {
        return logic(w, truth::binary(op), d, x, y);
    }
    let bits = width(dtype);
    match op {
        Binary::Add => put!(w, "add.s{bits} {d}, {x}, {y}"),
        Binary::Sub => put!(w, "sub.s{bits} {d}, {x}, {y}"),
        Binary::Mul => put!(w, "mul.lo.s{bits} {d}, {x}, {y}"),
        // The operands have no bit above the type, so neither have these results.
        Binary::And => return put!(w, "and.b{bits} {d}, {x}, {y}"),
        Binary::Or => return put!(w, "or.b{bits} {d}, {x}, {y}"),
        Binary::Xor => return put!(w, "xor.b{bits} {d}, {x}, {y}"),
        Binary::MinU => return put!(w, "min.u{bits} {d}, {x}, {y}"),
        Binary::MaxU => return put!(w, "max.u{bits} {d}, {x}, {y}"),
        Binary::MinS | Binary::MaxS => {
            let name = if op == Binary::MinS { "min" } else { "max" };
            let (x, y) = (signed(w, dtype, x), signed(w, dtype, y));
            put!(w, "{name}.s{bits} {d}, {x}, {y}");
        }
        Binary::Shl | Binary::ShrS | Binary::ShrU => {
            return shift(w, op, dtype, d, (x, y), y_bits);
        }
        Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU => {
            return divide(w, op, dtype, d, (x, y), y_bits);
        }
        Binary::MulHiS if dtype == DType::I8 => {
            let (x, y) = (signed(w, dtype, x), signed(w, dtype, y));
            put!(w, "mul.lo.s16 {d}, {x}, {y}");
            put!(w, "shr.u16 {d}, {d}, 8");
        }
        Binary::MulHiS => put!(w, "mul.hi.s{bits} {d}, {x}, {y}"),
        // What is left is the high half of the unsigned product; that of two i8 is there in 16 bits.
        _ if dtype == DType::I8 => {
            put!(w, "mul.lo.u16 {d}, {x}, {y}");
            return put!(w, "shr.u16 {d}, {d}, 8");
        }
        _ => return put!(w, "mul.hi.u{bits} {d}, {x}, {y}"),
    }
    clear_above(w, dtype, d);
}

/// PTX takes the count in 32 bits and clamps it to the width: what `scalar` asks for. An i8 is shifted
/// in 16 bits: bits that leave the byte upwards are cleared, its sign is repeated before it goes down.
fn shift(
    w: &mut Writer<'_>,
    op: Binary,
    dtype: DType,
    d: Reg,
    (x, y): (Reg, Reg),
    y_bits: Option<u64>,
) {
    let bits = width(dtype);
    let x = if op == Binary::ShrS { signed(w, dtype, x) } else { x };
    let name = match op {
        Binary::Shl => "shl.b",
        Binary::ShrS => "shr.s",
        _ => "shr.u",
    };
    if let Some(count) = y_bits {
        let count = count.min(u64::from(bits));
        put!(w, "{name}{bits} {d}, {x}, {count}");
    } else {
        let count = match dtype {
            DType::I32 => y,
            DType::I64 => {
                // A count of 2^32 must not become none.
                let (clamped, count) = (w.temp(Class::B64), w.temp(Class::B32));
                put!(w, "min.u64 {clamped}, {y}, 64");
                put!(w, "cvt.u32.u64 {count}, {clamped}");
                count
            }
            _ => {
                let count = w.temp(Class::B32);
                put!(w, "cvt.u32.u16 {count}, {y}");
                count
            }
        };
        put!(w, "{name}{bits} {d}, {x}, {count}");
    }
    if op != Binary::ShrU {
        clear_above(w, dtype, d);
    }
}

/// Division in 32 or 64 bits. PTX leaves division by zero open, so its result is selected; with a constant divisor
/// there is nothing to select.
fn divide(
    w: &mut Writer<'_>,
    op: Binary,
    dtype: DType,
    d: Reg,
    (x, y): (Reg, Reg),
    y_bits: Option<u64>,
) {
    let is_signed = matches!(op, Binary::DivS | Binary::RemS);
    let quotient = matches!(op, Binary::DivS | Binary::DivU);
    let class = if dtype == DType::I64 { Class::B64 } else { Class::B32 };
    let bits = if dtype == DType::I64 { 64 } else { 32 };
    let kind = if is_signed { 's' } else { 'u' };
    let name = if quotient { "div" } else { "rem" };
    let widen = |w: &mut Writer<'_>, x: Reg| {
        if x.class == class {
            return x;
        }
        let wide = w.temp(Class::B32);
        let from = dtype.bits();
        put!(w, "cvt.{kind}32.{kind}{from} {wide}, {x}");
        wide
    };
    let (x, y) = (widen(w, x), widen(w, y));
    let result = if d.class == class { d } else { w.temp(class) };
    let parts = Parts { name, kind, may_be_by_zero: y_bits.is_none_or(|bits| bits == 0) };
    if bits == 64 {
        divide_wide(w, parts, result, x, y);
    } else {
        divide_in(w, bits, parts, result, x, y);
    }
    if result != d {
        put!(w, "cvt.u16.u32 {d}, {result}");
        clear_above(w, dtype, d);
    }
}

/// A division as PTX spells it.
#[derive(Clone, Copy)]
struct Parts {
    /// What it gives.
    name: &'static str,
    /// Whether numbers are signed.
    kind: char,
    /// Whether the divisor may be zero.
    may_be_by_zero: bool,
}

/// A division in so many bits.
fn divide_in(w: &mut Writer<'_>, bits: u32, parts: Parts, d: Reg, x: Reg, y: Reg) {
    let Parts { name, kind, may_be_by_zero } = parts;
    put!(w, "{name}.{kind}{bits} {d}, {x}, {y}");
    if may_be_by_zero {
        let by_zero = w.temp(Class::Predicate);
        put!(w, "setp.eq.s{bits} {by_zero}, {y}, 0");
        if name == "div" {
            put!(w, "selp.b{bits} {d}, -1, {d}, {by_zero}");
        } else {
            put!(w, "selp.b{bits} {d}, {x}, {d}, {by_zero}");
        }
    }
}

/// A division in 64 bits, for which each thread first sees whether one in 32 bits will do, which takes a fraction of the
/// instructions (`lane::division`): what kernels divide are indices and sizes of axes.
fn divide_wide(w: &mut Writer<'_>, parts: Parts, d: Reg, x: Reg, y: Reg) {
    let register = d.to_string();
    let register = register.trim_start_matches('%');
    let (above, is_wide) = (w.temp(Class::B64), w.temp(Class::Predicate));
    let [a, b, short] = [Class::B32; 3].map(|class| w.temp(class));
    put!(w, "or.b64 {above}, {x}, {y}");
    put!(w, "and.b64 {above}, {above}, 0xffffffff00000000");
    put!(w, "setp.ne.s64 {is_wide}, {above}, 0");
    put!(w, "@{is_wide} bra $L_wide_{register}");
    put!(w, "cvt.u32.u64 {a}, {x}");
    put!(w, "cvt.u32.u64 {b}, {y}");
    let is_remainder = parts.name == "rem";
    // Whether it is by zero is asked in 32 bits, as the assembler's own division asks.
    let may_be_by_zero = parts.may_be_by_zero && is_remainder;
    divide_in(w, 32, Parts { kind: 'u', may_be_by_zero, ..parts }, short, a, b);
    put!(w, "cvt.u64.u32 {d}, {short}");
    if parts.may_be_by_zero && !is_remainder {
        let by_zero = w.temp(Class::Predicate);
        put!(w, "setp.eq.s32 {by_zero}, {b}, 0");
        put!(w, "selp.b64 {d}, -1, {d}, {by_zero}");
    }
    put!(w, "bra $L_divided_{register}");
    w.label(format_args!("$L_wide_{register}"));
    divide_in(w, 64, parts, d, x, y);
    w.label(format_args!("$L_divided_{register}"));
}

pub(super) fn compare(w: &mut Writer<'_>, op: Compare, dtype: DType, d: Reg, x: Reg, y: Reg) {
    if dtype == DType::I1 {
        return logic(w, truth::compare(op), d, x, y);
    }
    let bits = width(dtype);
    let (name, is_signed) = match op {
        Compare::Eq => ("eq", false),
        Compare::Ne => ("ne", false),
        Compare::Slt => ("lt", true),
        Compare::Sle => ("le", true),
        Compare::Sgt => ("gt", true),
        Compare::Sge => ("ge", true),
        Compare::Ult => ("lt", false),
        Compare::Ule => ("le", false),
        Compare::Ugt => ("gt", false),
        _ => ("ge", false),
    };
    if is_signed {
        let (x, y) = (signed(w, dtype, x), signed(w, dtype, y));
        put!(w, "setp.{name}.s{bits} {d}, {x}, {y}");
    } else {
        put!(w, "setp.{name}.u{bits} {d}, {x}, {y}");
    }
}

/// `x * y + z`, wrapping.
pub(super) fn multiply_add(w: &mut Writer<'_>, dtype: DType, d: Reg, [x, y, z]: [Reg; 3]) {
    if dtype == DType::I1 {
        let product = w.temp(Class::Predicate);
        put!(w, "and.pred {product}, {x}, {y}");
        put!(w, "xor.pred {d}, {product}, {z}");
        return;
    }
    let bits = width(dtype);
    put!(w, "mad.lo.s{bits} {d}, {x}, {y}, {z}");
    clear_above(w, dtype, d);
}

/// Two truth values joined: `and`, `or` or `xor`, each operand inverted or not.
fn join(
    w: &mut Writer<'_>,
    d: Reg,
    name: &str,
    (x, invert_x): (Reg, bool),
    (y, invert_y): (Reg, bool),
) {
    let literal = |w: &mut Writer<'_>, x: Reg, invert: bool| {
        if !invert {
            return x;
        }
        let inverse = w.temp(Class::Predicate);
        put!(w, "not.pred {inverse}, {x}");
        inverse
    };
    let (x, y) = (literal(w, x, invert_x), literal(w, y, invert_y));
    put!(w, "{name}.pred {d}, {x}, {y}");
}

/// A table of truth values as logic.
fn logic(w: &mut Writer<'_>, truth: Truth, d: Reg, x: Reg, y: Reg) {
    match truth {
        Truth::First => w.copy(d, x),
        Truth::False => put!(w, "mov.pred {d}, 0"),
        Truth::Join { gate, invert_x, invert_y } => {
            let name = match gate {
                Gate::And => "and",
                Gate::Or => "or",
                Gate::Xor => "xor",
            };
            join(w, d, name, (x, invert_x), (y, invert_y));
        }
    }
}

/// An F2-linear map that nobody has expanded: the bits that move by the same distance move together,
/// one mask and one shift a diagonal of the matrix.
pub(super) fn linear(w: &mut Writer<'_>, columns: &[u32], d: Reg, x: Reg) {
    let mut sum: Option<Reg> = None;
    for (mask, distance) in diagonals(columns) {
        let mut part = x;
        if mask != u32::MAX {
            part = w.temp(Class::B32);
            put!(w, "and.b32 {part}, {x}, {mask:#x}");
        }
        if distance != 0 {
            let (name, count) = (if distance > 0 { "shl.b32" } else { "shr.u32" }, distance.abs());
            let moved = w.temp(Class::B32);
            put!(w, "{name} {moved}, {part}, {count}");
            part = moved;
        }
        sum = Some(match sum {
            None => part,
            Some(before) => {
                let both = w.temp(Class::B32);
                put!(w, "xor.b32 {both}, {before}, {part}");
                both
            }
        });
    }
    match sum {
        Some(sum) => w.copy(d, sum),
        None => put!(w, "mov.b32 {d}, 0"),
    }
}
