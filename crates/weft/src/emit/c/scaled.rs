//! Products of matrices with scales in the registers of a warp, by clang's builtins for AMD's instructions.

use super::dialect::Dialect;
use super::writer::{Writer, c_type, put};
use crate::emit::Unsupported;
use crate::lane::{InstData, ScaledMultiply, ScaledNumber, Words};

/// The words that the builtin takes a factor in; of numbers of four bits it looks at the first half.
const FACTOR_WORDS: usize = 8;

/// How the builtin is told what a factor holds: `cbsz` and `blgp` of the instruction set.
fn format(kind: ScaledNumber) -> u32 {
    match kind {
        ScaledNumber::E4M3 => 0,
        ScaledNumber::E5M2 => 1,
        ScaledNumber::E2M1 => 4,
    }
}

/// A function of references to the words of the sum, which it changes, of the factors' words, and of their scales.
fn function(name: &str, multiply: ScaledMultiply) -> String {
    let [left, right, sum] = multiply.words();
    let names = |letter: char, words: Words| -> Vec<String> {
        (0..words.count).map(|word| format!("{letter}{word}")).collect()
    };
    let (d, a, b) = (names('d', sum), names('a', left), names('b', right));
    let mut parameters: Vec<String> = d.iter().map(|name| format!("float& {name}")).collect();
    let scales = ["s".to_owned(), "t".to_owned()];
    let words = a.iter().chain(&b).chain(&scales);
    parameters.extend(words.map(|name| format!("u32 {name}")));
    let factor = |names: &[String]| {
        let filled = names.iter().map(|name| format!("int({name})"));
        let zeros = (names.len()..FACTOR_WORDS).map(|_| "0".to_owned());
        filled.chain(zeros).collect::<Vec<String>>().join(", ")
    };
    let (side, summed, [s, t]) = (multiply.side, multiply.summed(), multiply.bytes);
    let [x, y] = [multiply.left, multiply.right].map(format);
    let mut body = format!(
        "  typedef int Factor __attribute__((ext_vector_type({FACTOR_WORDS})));\n  \
         typedef float Sum __attribute__((ext_vector_type({})));\n  \
         Factor a = {{{}}}, b = {{{}}};\n  \
         Sum d = {{{}}};\n  \
         d = __builtin_amdgcn_mfma_scale_f32_{side}x{side}x{summed}_f8f6f4(a, b, d, {x}, {y}, {s}, int(s), \
         {t}, int(t));\n",
        sum.count,
        factor(&a),
        factor(&b),
        d.join(", "),
    );
    for (index, name) in d.iter().enumerate() {
        body.push_str(&format!("  {name} = d[{index}];\n"));
    }
    format!(
        "// Adds a product of matrices with scales that the lanes of the warp hold together.\n\
         __device__ __forceinline__ void {name}({}) {{\n{body}}}\n",
        parameters.join(", "),
    )
}

pub(super) fn multiply(
    w: &mut Writer<'_>,
    multiply: ScaledMultiply,
    inst: &InstData,
) -> Result<(), Unsupported> {
    let ScaledMultiply { side, left, right, bytes: [s, t] } = multiply;
    let (left, right) = (left.word(), right.word());
    let has = match w.dialect {
        Dialect::Cuda(_) => false,
        Dialect::Hip(target) => target.multiplies_scaled(),
    };
    if !has {
        let what = format!("products of {left} and {right} with scales");
        return Err(w.unsupported(what, "they are instructions of gfx950"));
    }
    let name = format!("multiply_{side}x{side}x{}_{left}_{right}_{s}_{t}", multiply.summed());
    w.instructions.insert(name.clone(), function(&name, multiply));
    let [a, b, sum] = multiply.words();
    let (factors, start) = inst.operands.split_at(a.count + b.count + 2);
    let mut arguments = Vec::new();
    for (&result, &from) in inst.results.iter().zip(start) {
        let from = w.spelled(from);
        let variable = w.named(result);
        put!(w, "{} {variable} = {from}", c_type(sum.dtype));
        arguments.push(variable);
    }
    arguments.extend(factors.iter().map(|&factor| w.spelled(factor)));
    put!(w, "{name}({})", arguments.join(", "));
    Ok(())
}
