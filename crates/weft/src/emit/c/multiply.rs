//! Products of matrices in the registers of a warp: CUDA's `asm` around the PTX instruction.

use super::dialect::Dialect;
use super::writer::{Writer, c_type, put};
use crate::dtype::DType;
use crate::emit::{Unsupported, ptx};
use crate::lane::{InstData, MatrixMultiply, Words};

/// The letter of a word's register in `asm`.
pub(super) fn letter(dtype: DType) -> char {
    match dtype {
        DType::F32 => 'f',
        DType::F64 => 'd',
        _ => 'r',
    }
}

/// A function of references to the words of the sum, which it changes, and of the factors' words.
fn function(name: &str, instruction: &str, words: [Words; 3]) -> String {
    let [left, right, sum] = words;
    let ty = |words: Words| c_type(words.dtype);
    let many = |count: usize, one: &dyn Fn(usize) -> String| -> Vec<String> {
        (0..count).map(one).collect()
    };
    let parameters = [
        many(sum.count, &|i| format!("{}& d{i}", ty(sum))),
        many(left.count, &|i| format!("{} a{i}", ty(left))),
        many(right.count, &|i| format!("{} b{i}", ty(right))),
    ];
    let places = |from: usize, count: usize| many(count, &|i| format!("%{}", from + i)).join(", ");
    let (d, a) = (places(0, sum.count), places(sum.count, left.count));
    let b = places(sum.count + left.count, right.count);
    // Factors of tf32 are words to the assembler.
    let input = |words: Words, name: String| match words.dtype {
        DType::F32 => format!("\"r\"(__float_as_uint({name}))"),
        dtype => format!("\"{}\"({name})", letter(dtype)),
    };
    let outputs = many(sum.count, &|i| format!("\"+{}\"(d{i})", letter(sum.dtype))).join(", ");
    let inputs = [
        many(left.count, &|i| input(left, format!("a{i}"))),
        many(right.count, &|i| input(right, format!("b{i}"))),
    ];
    format!(
        "// Adds a product of matrices that the lanes of the warp hold together.\n\
         __device__ __forceinline__ void {name}({}) {{\n  \
         asm volatile(\"{instruction} {{{d}}}, {{{a}}}, {{{b}}}, {{{d}}};\"\n               \
         : {outputs} : {});\n}}\n",
        parameters.concat().join(", "),
        inputs.concat().join(", "),
    )
}

pub(super) fn multiply(
    w: &mut Writer<'_>,
    multiply: MatrixMultiply,
    inst: &InstData,
) -> Result<(), Unsupported> {
    let Dialect::Cuda(target) = w.dialect else {
        let reason = "the matrix instructions of a wave have other shapes";
        return Err(w.unsupported("products of matrices by `mma.sync`", reason));
    };
    let (instruction, _) = ptx::matrix_multiply(target, multiply)
        .map_err(|(operation, reason)| w.unsupported(operation, reason))?;
    let MatrixMultiply { rows, columns, summed, left, right, sum } = multiply;
    let name = format!("multiply_{rows}x{columns}x{summed}_{sum}_{left}_{right}").to_lowercase();
    let words = multiply.words();
    w.instructions.insert(name.clone(), function(&name, &instruction, words));
    let (factors, start) = inst.operands.split_at(words[0].count + words[1].count);
    let mut arguments = Vec::new();
    for (&result, &from) in inst.results.iter().zip(start) {
        let from = w.spelled(from);
        let variable = w.named(result);
        put!(w, "{} {variable} = {from}", c_type(words[2].dtype));
        arguments.push(variable);
    }
    arguments.extend(factors.iter().map(|&factor| w.spelled(factor)));
    put!(w, "{name}({})", arguments.join(", "));
    Ok(())
}
