//! Floats: arithmetic and comparison.

use super::prelude::Helper;
use super::writer::{Writer, c_type};
use crate::dtype::DType;
use crate::emit::Unsupported;
use crate::instruction::{self, Function, Instruction, Words};
use crate::scalar::{Binary, Compare, Rounding, Unary};

/// The value of an f16 or bf16 as a float; others are there already.
pub(super) fn widen(dtype: DType, x: &str) -> String {
    if dtype.bits() == 16 { format!("float({x})") } else { x.into() }
}

/// Runs `compute` on floats: f16 and bf16 are widened before and rounded after.
fn in_f32(dtype: DType, operands: &[&str], compute: impl FnOnce(&[String]) -> String) -> String {
    let operands: Vec<String> = operands.iter().map(|x| widen(dtype, x)).collect();
    let result = compute(&operands);
    if dtype.bits() == 16 { format!("{}({result})", c_type(dtype)) } else { result }
}

/// The call of a function of a helper, which the text then needs.
fn call(w: &mut Writer<'_>, helper: Helper, name: &str, operands: &[String]) -> String {
    w.need(helper);
    format!("{name}({})", operands.join(", "))
}

/// Why an operation is not printed.
const COMPOSED: &str = "lowering writes an algorithm of other operations";

pub(super) fn unary(
    w: &mut Writer<'_>,
    op: Unary,
    dtype: DType,
    x: &str,
) -> Result<String, Unsupported> {
    let narrow = dtype.bits() == 16;
    let dialect = w.dialect;
    let row = match op {
        Unary::Neg | Unary::Abs if narrow => {
            w.need(Helper::Bits);
            let sign = if op == Unary::Neg { "^ 0x8000" } else { "& 0x7fff" };
            return Ok(format!("bits<{}>(u16(bits<u16>({x}) {sign}))", c_type(dtype)));
        }
        Unary::Neg => return Ok(format!("-{x}")),
        Unary::Abs => return Ok(format!("{}({x})", dialect.math("fabs", dtype))),
        op => instruction::of(op),
    };
    let double = dtype == DType::F64;
    let form = row.and_then(|row| if double { row.double.as_ref() } else { Some(&row.single) });
    let place = row.map_or(0, Instruction::place);
    match form.map_or(&Words::Missing(COMPOSED), |form| dialect.words(form)) {
        Words::Expression(before, behind) => {
            Ok(in_f32(dtype, &[x], |x| format!("{before}{}{behind}", x[0])))
        }
        Words::Call(Function { name, .. }) => {
            Ok(in_f32(dtype, &[x], |x| call(w, Helper::Instruction(place), name, x)))
        }
        Words::Missing(reason) => Err(w.unsupported(format!("{op} of {dtype}"), *reason)),
    }
}

pub(super) fn binary(
    w: &mut Writer<'_>,
    op: Binary,
    dtype: DType,
    (x, y): (&str, &str),
) -> Result<String, Unsupported> {
    let dialect = w.dialect;
    let cuda = dialect.is_cuda();
    let narrow = dtype.bits() == 16;
    Ok(match op {
        Binary::Add => dialect.sum('+', dtype, x, y),
        Binary::Sub => dialect.sum('-', dtype, x, y),
        Binary::Mul => dialect.sum('*', dtype, x, y),
        Binary::Div if cuda && dtype != DType::F64 => {
            in_f32(dtype, &[x, y], |operands| call(w, Helper::Div, "divide_approximate", operands))
        }
        Binary::Div | Binary::DivPrecise => {
            in_f32(dtype, &[x, y], |operands| dialect.quotient(dtype, &operands[0], &operands[1]))
        }
        Binary::MinNum | Binary::MaxNum => {
            let name = if op == Binary::MinNum { "min" } else { "max" };
            if narrow && cuda {
                return Ok(format!("__h{name}({x}, {y})"));
            }
            let own = if narrow { DType::F32 } else { dtype };
            let name = dialect.math(&format!("f{name}"), own);
            in_f32(dtype, &[x, y], |operands| format!("{name}({}, {})", operands[0], operands[1]))
        }
        Binary::Minimum | Binary::Maximum => {
            let short = if op == Binary::Minimum { "min" } else { "max" };
            if narrow && cuda {
                return Ok(format!("__h{short}_nan({x}, {y})"));
            }
            let helper = match (op, dtype) {
                (Binary::Minimum, DType::F64) => Helper::MinimumDouble,
                (Binary::Minimum, _) => Helper::Minimum,
                (_, DType::F64) => Helper::MaximumDouble,
                _ => Helper::Maximum,
            };
            in_f32(dtype, &[x, y], |operands| call(w, helper, op.name(), operands))
        }
        Binary::Rem if cuda => {
            let own = if narrow { DType::F32 } else { dtype };
            let name = dialect.math("fmod", own);
            // The remainder of two narrow numbers is one of their type.
            in_f32(dtype, &[x, y], |operands| format!("{name}({}, {})", operands[0], operands[1]))
        }
        _ => {
            return Err(w.unsupported(format!("{op} of {dtype}"), COMPOSED));
        }
    })
}

/// Narrow floats are compared as f32, which holds them exactly.
pub(super) fn compare(op: Compare, dtype: DType, x: &str, y: &str) -> String {
    let (x, y) = (&widen(dtype, x), &widen(dtype, y));
    match op {
        Compare::Oeq => format!("{x} == {y}"),
        Compare::Ogt => format!("{x} > {y}"),
        Compare::Oge => format!("{x} >= {y}"),
        Compare::Olt => format!("{x} < {y}"),
        Compare::Ole => format!("{x} <= {y}"),
        Compare::One => format!("{x} < {y} || {x} > {y}"),
        Compare::Ord => format!("{x} == {x} && {y} == {y}"),
        Compare::Ueq => format!("!({x} < {y} || {x} > {y})"),
        Compare::FUgt => format!("!({x} <= {y})"),
        Compare::FUge => format!("!({x} < {y})"),
        Compare::FUlt => format!("!({x} >= {y})"),
        Compare::FUle => format!("!({x} > {y})"),
        Compare::Une => format!("{x} != {y}"),
        _ => format!("{x} != {x} || {y} != {y}"),
    }
}

/// `x * y + z`, rounded once.
pub(super) fn multiply_add(w: &mut Writer<'_>, dtype: DType, [x, y, z]: [&str; 3]) -> String {
    let name = match (w.dialect.is_cuda(), dtype) {
        (true, DType::F32) => "__fmaf_rn",
        (true, DType::F64) => "__fma_rn",
        (true, _) => "__hfma",
        (false, DType::F32) => "__builtin_fmaf",
        (false, DType::F64) => "__builtin_fma",
        (false, DType::F16) => "__builtin_fmaf16",
        (false, _) => {
            w.need(Helper::FmaBrain);
            "multiply_add"
        }
    };
    format!("{name}({x}, {y}, {z})")
}

pub(super) fn multiply_add_toward(
    w: &mut Writer<'_>,
    rounding: Rounding,
    dtype: DType,
    [x, y, z]: [&str; 3],
) -> String {
    let double = dtype == DType::F64;
    if w.dialect.is_cuda() {
        let name = if double { "__fma" } else { "__fmaf" };
        return format!("{name}_{rounding}({x}, {y}, {z})");
    }
    let (helper, name) = match (double, rounding) {
        (false, Rounding::Zero) => (Helper::FmaZero, "fma_rz"),
        (false, Rounding::Down) => (Helper::FmaDown, "fma_rd"),
        (false, Rounding::Up) => (Helper::FmaUp, "fma_ru"),
        (true, Rounding::Zero) => (Helper::FmaZeroDouble, "fma_rz"),
        (true, Rounding::Down) => (Helper::FmaDownDouble, "fma_rd"),
        (true, Rounding::Up) => (Helper::FmaUpDouble, "fma_ru"),
    };
    call(w, helper, name, &[x, y, z].map(ToString::to_string))
}
