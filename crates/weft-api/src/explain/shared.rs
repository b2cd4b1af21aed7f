//! How tensors go to shared memory that the program allocates.

use crate::answer::SharedAnswer;
use crate::kernels::CompiledKernel;
use weft::assign::Trips;
use weft::tile::{Op, OpKind, SharedMemory};
use weft_layout::access::{self, Memory};
use weft_layout::machine::Kind;
use weft_layout::plan;
use weft_layout::step::{Form, Step};

/// Every access of allocated shared memory whose layouts meet as a whole: parts of buffers are left out.
pub(super) fn accesses(compiled: &CompiledKernel) -> Vec<SharedAnswer> {
    let kernel = compiled.lowered();
    let trips = Trips::of(kernel);
    let mut answers = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        let answer = one(compiled, op);
        answers.extend(answer.map(|answer| SharedAnswer { times: trips.of_op(id), ..answer }));
    });
    answers
}

fn one(compiled: &CompiledKernel, op: &Op) -> Option<SharedAnswer> {
    let (memory, tensor, kind) = match op.kind {
        OpKind::LocalLoad => (*op.operands.first()?, *op.results.first()?, Kind::Load),
        OpKind::LocalStore => (*op.operands.get(1)?, *op.operands.first()?, Kind::Store),
        OpKind::LocalAlloc => (*op.results.first()?, *op.operands.first()?, Kind::Store),
        _ => return None,
    };
    let (kernel, assignment) = (compiled.lowered(), &compiled.compiled.assignment);
    let ty = kernel.ty(tensor);
    let id = assignment.home(tensor).or_else(|| assignment.given(tensor))?;
    let layout = assignment.layouts.get(id);
    let shared @ SharedMemory { family, .. } = kernel.ty(memory).memory()?;
    let padded = shared.layout().ok()?;
    let bits = ty.dtype().bits().next_power_of_two().max(8);
    let found = access::conflicts(&compiled.machine, kind, layout, Memory::Padded(&padded), bits);
    let found = found.ok()?;
    let mut answer = SharedAnswer {
        operation: op.kind.name(),
        kind: if kind == Kind::Load { "load" } else { "store" },
        value: kernel.value_name(tensor),
        place: compiled.place(op.loc),
        ty: ty.bare().to_string(),
        layout: layout.to_string(),
        memory: family.to_string(),
        matrix_moves: false,
        vector_bytes: found.vector_bytes,
        instructions: found.instructions,
        wavefronts: found.wavefronts,
        ideal: found.ideal,
        times: 1,
    };
    // A load of a whole buffer is planned, and may be by matrix moves.
    let whole = kind == Kind::Load && padded.paddings().is_empty();
    if let Some(plan) = whole
        .then(|| plan::load(padded.layout(), layout, bits, &compiled.machine).ok())
        .flatten()
        .filter(|plan| plan.steps.iter().any(by_matrix))
    {
        let warps = u64::from(compiled.warps);
        answer.matrix_moves = true;
        answer.vector_bytes = 16;
        answer.instructions = plan.cost.instructions.saturating_mul(warps);
        answer.wavefronts = plan.cost.wavefronts.saturating_mul(warps);
        answer.ideal = plan.cost.ideal_wavefronts.saturating_mul(warps);
    }
    Some(answer)
}

fn by_matrix(step: &Step) -> bool {
    matches!(step, Step::Access(access) if matches!(access.form, Form::Matrix(_)))
}
