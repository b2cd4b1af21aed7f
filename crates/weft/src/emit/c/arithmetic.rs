//! Integers: arithmetic, comparison, and F2-linear maps.
//!
//! C++ computes what is narrower than 32 bits in a signed 32: what comes out is cut to its type again.

use super::prelude::Helper;
use super::writer::{Writer, c_type, signed_type};
use crate::dtype::DType;
use crate::emit::truth::{self, Gate, Truth};
use crate::lane::diagonals;
use crate::scalar::{self, Binary, Compare, Unary};

/// A value of C++'s own arithmetic as one of the type.
fn cut(dtype: DType, text: String) -> String {
    if dtype.bits() < 32 { format!("{}({text})", c_type(dtype)) } else { text }
}

/// A value with its sign.
fn signed(dtype: DType, x: &str) -> String {
    format!("{}({x})", signed_type(dtype))
}

pub(super) fn unary(op: Unary, dtype: DType, x: &str) -> String {
    match (op, dtype) {
        (Unary::Not, DType::I1) => format!("!{x}"),
        // Modulo two, a number is its own negative.
        (_, DType::I1) => x.into(),
        (Unary::Neg, _) => cut(dtype, format!("0 - {x}")),
        (Unary::Abs, _) => cut(dtype, format!("{} < 0 ? 0 - {x} : {x}", signed(dtype, x))),
        _ => cut(dtype, format!("~{x}")),
    }
}

/// A binary operation of integers. `y_bits` are the raw bits of `y` where it is a constant.
pub(super) fn binary(
    w: &mut Writer<'_>,
    op: Binary,
    dtype: DType,
    (x, y): (&str, &str),
    y_bits: Option<u64>,
) -> String {
    if dtype == DType::I1 {
        return logic(truth::binary(op), x, y);
    }
    let (sx, sy) = (signed(dtype, x), signed(dtype, y));
    let ty = c_type(dtype);
    cut(
        dtype,
        match op {
            Binary::Add => format!("{x} + {y}"),
            Binary::Sub => format!("{x} - {y}"),
            // Two of 16 bits would overflow where C++ computes them.
            Binary::Mul if dtype == DType::I16 => format!("u32({x}) * {y}"),
            Binary::Mul => format!("{x} * {y}"),
            Binary::And => format!("{x} & {y}"),
            Binary::Or => format!("{x} | {y}"),
            Binary::Xor => format!("{x} ^ {y}"),
            Binary::MinU => format!("{x} < {y} ? {x} : {y}"),
            Binary::MaxU => format!("{x} > {y} ? {x} : {y}"),
            Binary::MinS => format!("{sx} < {sy} ? {x} : {y}"),
            Binary::MaxS => format!("{sx} > {sy} ? {x} : {y}"),
            Binary::Shl | Binary::ShrS | Binary::ShrU => {
                return shift(w, op, dtype, (x, y), y_bits);
            }
            Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU => {
                return divide(w, op, dtype, (x, y), y_bits);
            }
            Binary::MulHiS => {
                let (wide, bits) = match dtype {
                    DType::I64 => ("__int128", 64),
                    DType::I32 => ("long long", 32),
                    _ => ("int", dtype.bits()),
                };
                format!("{ty}(static_cast<{wide}>({sx}) * {sy} >> {bits})")
            }
            // What is left is the high half of the unsigned product.
            _ => {
                let (wide, bits) = match dtype {
                    DType::I64 => ("static_cast<unsigned __int128>", 64),
                    DType::I32 => ("u64", 32),
                    _ => ("u32", dtype.bits()),
                };
                format!("{ty}({wide}({x}) * {y} >> {bits})")
            }
        },
    )
}

/// C++ leaves a shift by the width or more open.
fn shift(
    w: &mut Writer<'_>,
    op: Binary,
    dtype: DType,
    (x, y): (&str, &str),
    y_bits: Option<u64>,
) -> String {
    let sx = signed(dtype, x);
    let ty = c_type(dtype);
    match (op, y_bits) {
        (Binary::ShrS, Some(count)) => {
            format!("{ty}({sx} >> {})", count.min(u64::from(dtype.bits() - 1)))
        }
        (_, Some(count)) if count >= u64::from(dtype.bits()) => w.literal(dtype, 0),
        (Binary::Shl, Some(count)) => cut(dtype, format!("{x} << {count}")),
        (_, Some(count)) => cut(dtype, format!("{x} >> {count}")),
        (_, None) => {
            let (helper, name) = match op {
                Binary::Shl => (Helper::Shl, "shift_left"),
                Binary::ShrS => (Helper::ShrS, "shift_right_signed"),
                _ => (Helper::ShrU, "shift_right"),
            };
            w.need(helper);
            format!("{name}({x}, {y})")
        }
    }
}

/// Division by zero, and of the least number by minus one, are open in C++ as well.
fn divide(
    w: &mut Writer<'_>,
    op: Binary,
    dtype: DType,
    (x, y): (&str, &str),
    y_bits: Option<u64>,
) -> String {
    let is_signed = matches!(op, Binary::DivS | Binary::RemS);
    let sign = if matches!(op, Binary::DivS | Binary::DivU) { '/' } else { '%' };
    if y_bits.is_some_and(|bits| bits != 0 && bits != dtype.mask()) {
        let ty = c_type(dtype);
        return if is_signed {
            format!("{ty}({} {sign} {})", signed(dtype, x), signed(dtype, y))
        } else {
            cut(dtype, format!("{x} {sign} {y}"))
        };
    }
    let (helper, name) = match op {
        Binary::DivS => (Helper::DivS, "divide_signed"),
        Binary::DivU => (Helper::DivU, "divide"),
        Binary::RemS => (Helper::RemS, "remainder_signed"),
        _ => (Helper::RemU, "remainder"),
    };
    w.need(helper);
    if is_signed {
        let ty = c_type(dtype);
        return format!("{ty}({name}({}, {}))", signed(dtype, x), signed(dtype, y));
    }
    format!("{name}({x}, {y})")
}

pub(super) fn compare(op: Compare, dtype: DType, x: &str, y: &str) -> String {
    if dtype == DType::I1 {
        return logic(truth::compare(op), x, y);
    }
    let (sign, is_signed) = match op {
        Compare::Eq => ("==", false),
        Compare::Ne => ("!=", false),
        Compare::Slt => ("<", true),
        Compare::Sle => ("<=", true),
        Compare::Sgt => (">", true),
        Compare::Sge => (">=", true),
        Compare::Ult => ("<", false),
        Compare::Ule => ("<=", false),
        Compare::Ugt => (">", false),
        _ => (">=", false),
    };
    if is_signed {
        format!("{} {sign} {}", signed(dtype, x), signed(dtype, y))
    } else {
        format!("{x} {sign} {y}")
    }
}

/// `x * y + z`, wrapping.
pub(super) fn multiply_add(dtype: DType, [x, y, z]: [&str; 3]) -> String {
    match dtype {
        DType::I1 => format!("({x} && {y}) != {z}"),
        DType::I16 => format!("u16(u32({x}) * {y} + {z})"),
        _ => cut(dtype, format!("{x} * {y} + {z}")),
    }
}

/// A table of truth values as logic.
fn logic(truth: Truth, x: &str, y: &str) -> String {
    match truth {
        Truth::First => x.into(),
        Truth::False => "false".into(),
        Truth::Join { gate, invert_x, invert_y } => {
            let mark = |invert| if invert { "!" } else { "" };
            let sign = match gate {
                Gate::And => "&&",
                Gate::Or => "||",
                Gate::Xor => "!=",
            };
            format!("{}{x} {sign} {}{y}", mark(invert_x), mark(invert_y))
        }
    }
}

/// An F2-linear map that nobody has expanded: one mask and one shift a diagonal of the matrix.
pub(super) fn linear(columns: &[u32], x: &str) -> String {
    let parts: Vec<String> = diagonals(columns)
        .map(|(mask, distance)| {
            let bits = if mask == u32::MAX { x.into() } else { format!("({x} & {mask:#x})") };
            match distance {
                0 => bits,
                up @ 1.. => format!("({bits} << {up})"),
                down => format!("({bits} >> {})", -down),
            }
        })
        .collect();
    if parts.is_empty() { "0u".into() } else { parts.join(" ^ ") }
}

/// The ends of an integer type as numbers: the least one, and the least beyond the largest.
pub(super) fn ends(dtype: DType, is_signed: bool) -> (f64, f64) {
    let bits = dtype.bits() as i32;
    // Powers of two are exact.
    if is_signed {
        (-scalar_power(bits - 1), scalar_power(bits - 1))
    } else {
        (0.0, scalar_power(bits))
    }
}

/// A power of two as a number.
fn scalar_power(exponent: i32) -> f64 {
    scalar::to_f64(DType::F64, (exponent as u64 + 1023) << 52)
}
