//! Products of a warpgroup, in flight: CUDA's `asm` around the PTX instructions.
//!
//! Values that a product adds to and gives share one variable, as they share a register in PTX. What the
//! compiler makes of variables it may still move, so `asm` without instructions holds them in place: in front
//! of a fence what is computed before is computed, and behind a wait nothing is read before. They stand
//! beside the fence and the wait, and are not operands of these: what the compiler copies for an operand it
//! copies in front, where a product is still in flight.
//!
//! ```text
//! warpgroup.fence                                    pin(sum13, sum14, ..);
//! %22 = warpgroup.multiply.. %5, %6, %13, ..         asm volatile("wgmma.fence.sync.aligned;" ..);
//! warpgroup.commit                                   warpgroup_multiply_..(sum13, sum14, .., v5, v6);
//! %30 = warpgroup.wait 0 %22, ..                     asm volatile("wgmma.commit_group.sync.aligned;" ..);
//!                                                    asm volatile("wgmma.wait_group.sync.aligned 0;" ..);
//!                                                    pin(sum13, sum14, ..);
//! ```

use super::control::receive;
use super::dialect::Dialect;
use super::multiply::letter;
use super::prelude::Helper;
use super::writer::{Writer, c_type, put};
use crate::dtype::DType;
use crate::emit::{Unsupported, ptx};
use crate::lane::{InstData, Op, Value, WarpgroupMultiply, WarpgroupOp};

/// An instruction of the warpgroup or its thread that has no registers.
pub(super) fn instruction(w: &mut Writer<'_>, instruction: &str) -> Result<(), Unsupported> {
    if !w.dialect.is_cuda() {
        return Err(not_asynchronous(w));
    }
    put!(w, "asm volatile(\"{instruction};\" : : : \"memory\")");
    Ok(())
}

fn not_asynchronous(w: &Writer<'_>) -> Unsupported {
    let reason = "the matrix instructions of a wave are not asynchronous";
    w.unsupported("products of matrices by a warpgroup", reason)
}

pub(super) fn step(
    w: &mut Writer<'_>,
    op: WarpgroupOp,
    inst: &InstData,
) -> Result<(), Unsupported> {
    match op {
        WarpgroupOp::Multiply(form) => multiply(w, form, inst),
        WarpgroupOp::Fence => {
            w.ready.ask();
            Ok(())
        }
        WarpgroupOp::Commit => instruction(w, "wgmma.commit_group.sync.aligned"),
        WarpgroupOp::Wait { pending } => wait(w, pending, inst),
    }
}

fn multiply(
    w: &mut Writer<'_>,
    multiply: WarpgroupMultiply,
    inst: &InstData,
) -> Result<(), Unsupported> {
    let Dialect::Cuda(target) = w.dialect else { return Err(not_asynchronous(w)) };
    let instruction = ptx::warpgroup_multiply(target, multiply)
        .map_err(|(operation, reason)| w.unsupported(operation, reason))?;
    let (others, accumulators) = inst.operands.split_at(multiply.first_accumulator());
    let in_place = |(&from, &into): (&Value, &Value)| w.register(from) == w.register(into);
    if !accumulators.iter().zip(&inst.results).all(in_place) {
        receive(w, &inst.results, accumulators);
        w.ready.write(&inst.results);
    }
    let words = words(multiply, inst);
    if w.ready.is_needed(&[accumulators, &inst.results, words].concat()) {
        fence(w, multiply, inst)?;
    }
    w.words.extend(words);

    let factors = multiply.left_operands().count() + 1;
    let keep = match others.get(factors).map(|&keep| w.constant(keep)) {
        None | Some(Some(1)) => Keep::Always,
        Some(Some(_)) => Keep::Never,
        Some(None) => Keep::Asked,
    };
    let given = if keep == Keep::Asked { others } else { &others[..factors] };
    let arguments: Vec<String> =
        inst.results.iter().chain(given).map(|&value| w.spelled(value)).collect();
    let name = name(multiply, keep);
    let text = function(&name, instruction, multiply, keep);
    w.instructions.insert(name.clone(), text);
    put!(w, "{name}({})", arguments.join(", "));
    Ok(())
}

/// What a product takes from registers as its left factor.
fn words(multiply: WarpgroupMultiply, inst: &InstData) -> &[Value] {
    let count = if multiply.left_in_registers { multiply.left_operands().count() } else { 0 };
    inst.operands.get(..count).unwrap_or(&[])
}

/// Makes registers ready for a product and for those behind it, as far as they are written.
fn fence(w: &mut Writer<'_>, form: WarpgroupMultiply, inst: &InstData) -> Result<(), Unsupported> {
    let behind = w.rest.iter().map(|&id| &w.program.insts[id]);
    let behind = behind.take_while(|inst| !matches!(inst.op, Op::Warpgroup(WarpgroupOp::Fence)));
    let mut pinned: Vec<Value> = inst.results.to_vec();
    let mut kept = words(form, inst).to_vec();
    for inst in behind {
        let Op::Warpgroup(WarpgroupOp::Multiply(multiply)) = inst.op else { continue };
        let accumulators = &inst.operands[multiply.first_accumulator()..];
        pinned.extend(accumulators.iter().filter(|&&value| w.is_shared(value)));
        kept.extend(words(multiply, inst));
    }
    let is_known = |value: &Value| inst.results.contains(value) || w.ready.is_written(*value);
    pinned.retain(is_known);
    kept.retain(|&value| w.ready.is_written(value));
    call(w, Helper::Keep, &kept);
    call(w, Helper::Pin, &pinned);
    instruction(w, "wgmma.fence.sync.aligned")?;
    w.ready.done();
    Ok(())
}

/// Keeps the assembler from unrolling a loop of products, which it gets wrong, and the compiler from giving
/// sums their first values anew where the loop has no rounds: the assembler would take that for a change
/// of what a product adds to, and run them one after another.
pub(super) fn loop_begins(w: &mut Writer<'_>, params: &[Value]) {
    let sums: Vec<Value> = params.iter().copied().filter(|&value| w.is_shared(value)).collect();
    call(w, Helper::Pin, &sums);
    w.line(format_args!("#pragma unroll 1"));
}

/// Calls a helper of registers with variables, each once.
fn call(w: &mut Writer<'_>, helper: Helper, values: &[Value]) {
    let mut names: Vec<String> = Vec::new();
    for &value in values {
        let name = w.spelled(value);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if !names.is_empty() {
        w.need(helper);
        let function = if helper == Helper::Pin { "pin" } else { "keep" };
        put!(w, "{function}({})", names.join(", "));
    }
}

/// Waits; what products take from registers stays there until then.
fn wait(w: &mut Writer<'_>, pending: u32, inst: &InstData) -> Result<(), Unsupported> {
    instruction(w, &format!("wgmma.wait_group.sync.aligned {pending}"))?;
    call(w, Helper::Pin, &inst.operands);
    let words = w.words.clone();
    call(w, Helper::Keep, &words);
    if pending == 0 {
        w.words.clear();
    }
    receive(w, &inst.results, &inst.operands);
    Ok(())
}

/// Whether a product adds to its accumulators, as far as the text knows.
#[derive(Clone, Copy, PartialEq)]
enum Keep {
    Always,
    Never,
    /// If an argument is true.
    Asked,
}

fn name(multiply: WarpgroupMultiply, keep: Keep) -> String {
    let WarpgroupMultiply { columns, summed, left, right, sum, .. } = multiply;
    let rows = WarpgroupMultiply::ROWS;
    let mut name = format!("warpgroup_multiply_{rows}x{columns}x{summed}_{sum}_{left}_{right}");
    let [a, b] = multiply.transposed;
    for (is, word) in [
        (multiply.left_in_registers, "_registers"),
        (a, "_left_transposed"),
        (b, "_right_transposed"),
        (keep == Keep::Never, "_anew"),
        (keep == Keep::Asked, "_if"),
    ] {
        name.push_str(if is { word } else { "" });
    }
    name.to_lowercase()
}

/// A function of references to the sums, which it changes while it is in flight, and of the factors.
fn function(
    name: &str,
    (instruction, modes): (String, String),
    multiply: WarpgroupMultiply,
    keep: Keep,
) -> String {
    let sums: Vec<DType> = multiply.accumulators().collect();
    let left: Vec<DType> = multiply.left_operands().collect();
    let place = |index: usize| format!("%{index}");
    let places =
        |from: usize, count: usize| (from..from + count).map(place).collect::<Vec<_>>().join(", ");
    let (mut parameters, mut outputs, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
    for (index, &dtype) in sums.iter().enumerate() {
        parameters.push(format!("{}& d{index}", c_type(dtype)));
        outputs.push(format!("\"+{}\"(d{index})", letter(dtype)));
    }
    for (index, &dtype) in left.iter().enumerate() {
        parameters.push(format!("{} a{index}", c_type(dtype)));
        inputs.push(match dtype {
            DType::I64 => format!("\"l\"(a{index})"),
            // Factors of tf32 are words to the assembler.
            DType::F32 => format!("\"r\"(__float_as_uint(a{index}))"),
            _ => format!("\"r\"(a{index})"),
        });
    }
    parameters.push("u64 b".into());
    inputs.push("\"l\"(b)".into());
    let last = sums.len() + left.len() + 1;
    let (opening, truth, closing) = match keep {
        Keep::Always => (String::new(), "1", ""),
        Keep::Never => (String::new(), "0", ""),
        Keep::Asked => {
            parameters.push("bool adds".into());
            inputs.push("\"r\"(u32(adds))".into());
            let test = format!("setp.ne.u32 adds, %{last}, 0");
            (format!("{{ .reg .pred adds; {test}; "), "adds", " }")
        }
    };
    let (d, a) = (places(0, sums.len()), places(sums.len(), left.len()));
    let a = if multiply.left_in_registers { format!("{{{a}}}") } else { a };
    format!(
        "// Begins a product of matrices in shared memory that adds to registers of the warpgroup.\n\
         __device__ __forceinline__ void {name}({}) {{\n  \
         asm volatile(\"{opening}{instruction} {{{d}}}, {a}, %{}, {truth}{modes};{closing}\"\n               \
         : {} : {} : \"memory\");\n}}\n",
        parameters.join(", "),
        last - 1,
        outputs.join(", "),
        inputs.join(", "),
    )
}
