//! How tensors go to shared memory that the program allocates.

use crate::answer::{SharedAnswer, SharedCounts, SharedPrice};
use crate::kernels::CompiledKernel;
use weft::assign::Trips;
use weft::tile::{OpId, OpKind};
use weft_layout::access::{self, Memory};
use weft_layout::affine::Padded;
use weft_layout::layout::Layout;
use weft_layout::machine::Kind;
use weft_layout::plan;
use weft_layout::step::{Form, Plan, Step};

/// Every access of allocated shared memory.
pub(super) fn accesses(compiled: &CompiledKernel) -> Vec<SharedAnswer> {
    let kernel = compiled.lowered();
    let trips = Trips::of(kernel);
    let mut answers = Vec::new();
    kernel.walk(&kernel.body, &mut |id, _| {
        let answer = one(compiled, id);
        answers.extend(answer.map(|answer| SharedAnswer { times: trips.of_op(id), ..answer }));
    });
    answers
}

fn one(compiled: &CompiledKernel, id: OpId) -> Option<SharedAnswer> {
    let (kernel, assignment) = (compiled.lowered(), &compiled.compiled.assignment);
    let op = &kernel.ops[id];
    let (memory, tensor, kind) = match op.kind {
        OpKind::LocalLoad => (*op.operands.first()?, *op.results.first()?, Kind::Load),
        OpKind::LocalStore => (*op.operands.get(1)?, *op.operands.first()?, Kind::Store),
        OpKind::LocalAlloc => (*op.results.first()?, *op.operands.first()?, Kind::Store),
        _ => return None,
    };
    let home = assignment.home(tensor).or_else(|| assignment.given(tensor))?;
    let layout = assignment.layouts.get(home);
    let memory = kernel.ty(memory).memory()?;
    let padded = memory.layout().ok();
    let bits = kernel.ty(tensor).dtype().bits().next_power_of_two().max(8);
    // A load of a whole buffer is planned, and may be by matrix moves.
    let whole = padded.as_ref().filter(|padded| kind == Kind::Load && padded.paddings().is_empty());
    let plan =
        whole.and_then(|memory| plan::load(memory.layout(), layout, bits, &compiled.machine).ok());
    let spent = compiled.compiled.work.iter().find(|(op, _)| *op == id);
    let price = plan.as_ref().zip(spent);
    Some(SharedAnswer {
        operation: op.kind.name(),
        kind: if kind == Kind::Load { "load" } else { "store" },
        value: kernel.value_name(tensor),
        place: compiled.place(op.loc),
        ty: kernel.ty(tensor).bare().to_string(),
        layout: layout.to_string(),
        memory: memory.family.to_string(),
        counted: padded
            .and_then(|padded| counted(compiled, plan.as_ref(), &padded, layout, bits, kind)),
        price: price.map(|(plan, &(_, cost))| SharedPrice { cost, bound: plan.bound.total }),
        times: 1,
    })
}

fn counted(
    compiled: &CompiledKernel,
    plan: Option<&Plan>,
    padded: &Padded,
    layout: &Layout,
    bits: u32,
    kind: Kind,
) -> Option<SharedCounts> {
    if let Some(plan) = plan.filter(|plan| plan.steps.iter().any(by_matrix)) {
        let all = |count: u64| count.saturating_mul(compiled.warps.into());
        return Some(SharedCounts {
            matrix_moves: true,
            vector_bytes: 16,
            instructions: all(plan.cost.instructions),
            wavefronts: all(plan.cost.wavefronts),
            ideal: all(plan.cost.ideal_wavefronts),
        });
    }
    let found = access::conflicts(&compiled.machine, kind, layout, Memory::Padded(padded), bits);
    let found = found.ok()?;
    Some(SharedCounts {
        matrix_moves: false,
        vector_bytes: found.vector_bytes,
        instructions: found.instructions,
        wavefronts: found.wavefronts,
        ideal: found.ideal,
    })
}

fn by_matrix(step: &Step) -> bool {
    matches!(step, Step::Access(access) if matches!(access.form, Form::Matrix(_)))
}
