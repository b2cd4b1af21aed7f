//! Products of matrices in the registers of a warp.

use super::writer::{Braced, Writer, put};
use super::{Target, Version};
use crate::dtype::DType;
use crate::emit::Unsupported;
use crate::lane::{Fragments, InstData, MatrixMultiply};

/// The name of a factor's type.
pub(super) fn factor(dtype: DType) -> String {
    match dtype {
        DType::F32 => "tf32".into(),
        DType::I8 => "s8".into(),
        DType::F8E4M3FN => "e4m3".into(),
        DType::F8E5M2 => "e5m2".into(),
        _ => dtype.to_string(),
    }
}

/// The instruction, and the version that has it; or what there is not, and why.
pub(in crate::emit) fn instruction(
    target: &Target,
    multiply: MatrixMultiply,
) -> Result<(String, Version), (String, String)> {
    let MatrixMultiply { fragments, rows, columns, summed, left, right, sum } = multiply;
    let refused = |reason: &str| {
        let what = format!("products of {left} and {right} with {rows} rows");
        Err((what, reason.to_owned()))
    };
    if fragments != Fragments::Mma {
        return refused("that is an instruction of AMD's GPUs");
    }
    let version = match (left, rows) {
        _ if left.is_f8() && target.capability < 89 => {
            return refused("mma.sync of 8-bit floats needs sm_89; widen them to f16");
        }
        _ if left.is_f8() => (8, 4),
        (DType::F64, 16) if target.capability < 90 => {
            return refused("mma.sync of f64 with 16 rows needs sm_90; one with 8 rows does not");
        }
        (DType::F64, 16) => (7, 8),
        _ => (7, 0),
    };
    let sum = if sum == DType::I32 { "s32".into() } else { sum.to_string() };
    let (left, right) = (factor(left), factor(right));
    let shape = format!("m{rows}n{columns}k{summed}");
    let name = format!("mma.sync.aligned.{shape}.row.col.{sum}.{left}.{right}.{sum}");
    Ok((name, version))
}

pub(super) fn multiply(
    w: &mut Writer<'_>,
    multiply: MatrixMultiply,
    inst: &InstData,
) -> Result<(), Unsupported> {
    let name = match instruction(&w.target, multiply) {
        Ok((name, version)) => {
            w.need(version);
            name
        }
        Err((operation, reason)) => return Err(w.unsupported(operation, reason)),
    };
    let [left, right, _] = multiply.words();
    let (results, operands) = (w.regs(&inst.results), w.regs(&inst.operands));
    let (factors, sum) = operands.split_at(left.count + right.count);
    let (left, right) = factors.split_at(left.count);
    let [d, a, b, c] = [&results[..], left, right, sum].map(Braced);
    put!(w, "{name} {d}, {a}, {b}, {c}");
    Ok(())
}
