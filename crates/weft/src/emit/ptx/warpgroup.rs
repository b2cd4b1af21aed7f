//! Products of a warpgroup, in flight.

use super::Target;
use super::control::copies;
use super::multiply::factor;
use super::writer::{Braced, Writer, put};
use crate::dtype::DType;
use crate::emit::Unsupported;
use crate::lane::{InstData, WarpgroupMultiply, WarpgroupOp};

/// The only architecture that has them: what is printed for `sm_90` says so.
const TARGET: &str = "sm_90a";

fn name(multiply: WarpgroupMultiply) -> String {
    let WarpgroupMultiply { columns, summed, left, right, sum, .. } = multiply;
    let sum = if sum == DType::I32 { "s32".into() } else { sum.to_string() };
    let (left, right) = (factor(left), factor(right));
    format!("wgmma.mma_async.sync.aligned.m64n{columns}k{summed}.{sum}.{left}.{right}")
}

/// What follows the truth value: signs of the factors, and which of those in memory are transposed.
fn modes(multiply: WarpgroupMultiply) -> String {
    let WarpgroupMultiply { left, left_in_registers, transposed: [a, b], .. } = multiply;
    match (left.bits(), left_in_registers) {
        (8, _) if left == DType::I8 => String::new(),
        (16, true) => format!(", 1, 1, {}", u8::from(b)),
        (16, false) => format!(", 1, 1, {}, {}", u8::from(a), u8::from(b)),
        _ => ", 1, 1".into(),
    }
}

/// The instruction, and what follows its truth value; or what there is not, and why.
pub(in crate::emit) fn instruction(
    target: &Target,
    multiply: WarpgroupMultiply,
) -> Result<(String, String), (String, String)> {
    if target.name != TARGET {
        let WarpgroupMultiply { left, right, .. } = multiply;
        let operation = format!("products of {left} and {right} by a warpgroup");
        return Err((operation, format!("wgmma is an instruction of {TARGET} alone")));
    }
    Ok((name(multiply), modes(multiply)))
}

pub(super) fn step(
    w: &mut Writer<'_>,
    op: WarpgroupOp,
    inst: &InstData,
) -> Result<(), Unsupported> {
    match op {
        WarpgroupOp::Multiply(form) => return multiply(w, form, inst),
        WarpgroupOp::Fence => w.ready.ask(),
        WarpgroupOp::Commit => put!(w, "wgmma.commit_group.sync.aligned"),
        WarpgroupOp::Wait { pending } => wait(w, pending, inst),
    }
    Ok(())
}

fn multiply(
    w: &mut Writer<'_>,
    multiply: WarpgroupMultiply,
    inst: &InstData,
) -> Result<(), Unsupported> {
    let (name, modes) = instruction(&w.target, multiply)
        .map_err(|(operation, reason)| w.unsupported(operation, reason))?;
    let (others, accumulators) = inst.operands.split_at(multiply.first_accumulator());
    let left_count = multiply.left_operands().count();
    let known = others.get(left_count + 1).map(|&keep| w.constant(keep));
    // A product that begins a sum takes nothing from its registers: they need not be written, nor made ready.
    let accumulators = if known == Some(Some(0)) { &[] } else { accumulators };
    copies(w, &inst.results, accumulators);
    let words = if multiply.left_in_registers { &others[..left_count] } else { &[] };
    let taken = [accumulators, &inst.results, words].concat();
    if w.must_be_ready(&taken) {
        put!(w, "wgmma.fence.sync.aligned");
        w.ready.done();
    }
    let (d, others) = (w.regs(&inst.results), w.regs(others));
    let left = match &others[..left_count] {
        [descriptor] => descriptor.to_string(),
        words => Braced(words).to_string(),
    };
    let right = others[left_count];
    let keep = match known {
        None => "1".into(),
        Some(Some(keep)) => keep.to_string(),
        Some(None) => others[left_count + 1].to_string(),
    };
    put!(w, "{name} {}, {left}, {right}, {keep}{modes}", Braced(&d));
    Ok(())
}

/// Waits; what is waited for may be copied behind.
fn wait(w: &mut Writer<'_>, pending: u32, inst: &InstData) {
    put!(w, "wgmma.wait_group.sync.aligned {pending}");
    copies(w, &inst.results, &inst.operands);
}
