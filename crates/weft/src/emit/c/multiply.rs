//! Products of matrices in the registers of a warp: CUDA's `asm` around the PTX instruction, clang's
//! builtins for AMD's.

use super::dialect::Dialect;
use super::writer::{Writer, c_type, put};
use crate::dtype::DType;
use crate::emit::hip::Builtin;
use crate::emit::{Unsupported, ptx};
use crate::lane::{Fragments, InstData, MatrixMultiply, Words};

/// The letter of a word's register in `asm`.
pub(super) fn letter(dtype: DType) -> char {
    match dtype {
        DType::F32 => 'f',
        DType::F64 => 'd',
        _ => 'r',
    }
}

/// The names of a matrix's words.
fn names(letter: char, words: Words) -> Vec<String> {
    (0..words.count).map(|word| format!("{letter}{word}")).collect()
}

/// A function of references to the words of the sum, which it changes, and of the factors' words.
fn function(name: &str, body: &str, [left, right, sum]: [Words; 3]) -> String {
    let parameters = [(sum, 'd', "&"), (left, 'a', ""), (right, 'b', "")];
    let parameters = parameters.map(|(words, letter, reference)| {
        let ty = c_type(words.dtype);
        let names = names(letter, words).into_iter();
        names.map(|name| format!("{ty}{reference} {name}")).collect::<Vec<String>>()
    });
    format!(
        "// Adds a product of matrices that the lanes of the warp hold together.\n\
         __device__ __forceinline__ void {name}({}) {{\n{body}}}\n",
        parameters.concat().join(", "),
    )
}

/// The PTX instruction of a product, as `asm` takes it.
fn cuda(instruction: &str, [left, right, sum]: [Words; 3]) -> String {
    let many = |count: usize, one: &dyn Fn(usize) -> String| -> Vec<String> {
        (0..count).map(one).collect()
    };
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
        "  asm volatile(\"{instruction} {{{d}}}, {{{a}}}, {{{b}}}, {{{d}}};\"\n               \
         : {outputs} : {});\n",
        inputs.concat().join(", "),
    )
}

/// The builtin, whose matrices are vectors.
fn hip(builtin: &Builtin, multiply: MatrixMultiply) -> String {
    let [left, right, sum] = multiply.words();
    let factors = [('a', left, multiply.left), ('b', right, multiply.right)];
    let Builtin { name, takes_shorts } = builtin;
    let [a, b] =
        factors.map(|(letter, words, dtype)| vector(multiply, letter, words, dtype, *takes_shorts));
    let element = match multiply.sum {
        DType::F32 => "float",
        DType::F64 => "double",
        _ => "int",
    };
    let numbers = names('d', sum);
    let call = match (multiply.fragments, multiply.left) {
        (Fragments::Mfma, _) => format!("{name}({a}, {b}, d, 0, 0, 0)"),
        // The factors are signed, and sums wrap around.
        (_, DType::I8) => format!("{name}(true, {a}, true, {b}, d, false)"),
        _ => format!("{name}({a}, {b}, d)"),
    };
    let own = c_type(sum.dtype);
    let signed: Vec<String> = numbers.iter().map(|name| format!("{element}({name})")).collect();
    let mut text = format!(
        "  typedef u32 Words __attribute__((ext_vector_type({})));\n  \
         typedef {element} Sum __attribute__((ext_vector_type({})));\n  \
         Sum d = {{{}}};\n  \
         d = {call};\n",
        left.count,
        sum.count,
        signed.join(", "),
    );
    for (index, name) in numbers.iter().enumerate() {
        text.push_str(&format!("  {name} = {own}(d[{index}]);\n"));
    }
    if !text.contains("Words{") {
        text = text.split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap_or(text);
    }
    text
}

/// A factor as the builtin takes it.
fn vector(
    multiply: MatrixMultiply,
    letter: char,
    words: Words,
    dtype: DType,
    takes_shorts: bool,
) -> String {
    let names = names(letter, words);
    if let [name] = &names[..] {
        return match dtype {
            DType::F32 | DType::F64 => name.clone(),
            _ => format!("int({name})"),
        };
    }
    let numbers = words.count * words.numbers;
    let vector = |element: &str, count: usize| {
        format!("{element} __attribute__((ext_vector_type({count})))")
    };
    let ty = match (dtype, multiply.fragments) {
        (DType::F16, _) => vector("_Float16", numbers),
        (DType::BF16, _) if takes_shorts => vector("short", numbers),
        (DType::BF16, _) => vector("__bf16", numbers),
        (_, Fragments::Mfma) if words.count == 2 => "long".into(),
        _ => vector("int", words.count),
    };
    format!("__builtin_bit_cast({ty}, Words{{{}}})", names.join(", "))
}

pub(super) fn multiply(
    w: &mut Writer<'_>,
    multiply: MatrixMultiply,
    inst: &InstData,
) -> Result<(), Unsupported> {
    let words = multiply.words();
    let MatrixMultiply { fragments: _, rows, columns, summed, left, right, sum } = multiply;
    let body = match w.dialect {
        Dialect::Cuda(target) => {
            let (instruction, _) = ptx::matrix_multiply(target, multiply)
                .map_err(|(operation, reason)| w.unsupported(operation, reason))?;
            cuda(&instruction, words)
        }
        Dialect::Hip(target) => {
            let Some(builtin) = target.builtin(multiply) else {
                let what = format!("products of {left} and {right} with {rows} rows");
                return Err(w.unsupported(what, "its waves have other matrix instructions"));
            };
            hip(&builtin, multiply)
        }
    };
    let name = format!("multiply_{rows}x{columns}x{summed}_{sum}_{left}_{right}").to_lowercase();
    w.instructions.insert(name.clone(), function(&name, &body, words));
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
