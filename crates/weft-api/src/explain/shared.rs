//! How tensors go to shared memory that the program allocates.

use crate::answer::{SharedAnswer, SharedCounts, SharedPrice};
use crate::kernels::CompiledKernel;
use weft::assign::Trips;
use weft::tile::{OpId, OpKind, SharedMemory, Value};
use weft_layout::access::{self, Memory};
use weft_layout::layout::Layout;
use weft_layout::machine::Kind;
use weft_layout::plan;
use weft_layout::space::REGISTER;
use weft_layout::step::{Form, Step};

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
    Some(SharedAnswer {
        operation: op.kind.name(),
        kind: if kind == Kind::Load { "load" } else { "store" },
        value: kernel.value_name(tensor),
        place: compiled.place(op.loc),
        ty: kernel.ty(tensor).bare().to_string(),
        layout: layout.to_string(),
        memory: memory.family.to_string(),
        counted: counted(compiled, memory, tensor, layout, kind),
        price: (kind == Kind::Load).then(|| price(compiled, id, tensor, layout)),
        times: 1,
    })
}

fn counted(
    compiled: &CompiledKernel,
    memory: &SharedMemory,
    tensor: Value,
    layout: &Layout,
    kind: Kind,
) -> Option<SharedCounts> {
    let padded = memory.layout().ok()?;
    let bits = compiled.lowered().ty(tensor).dtype().bits().next_power_of_two().max(8);
    // A load of a whole buffer is planned, and may be by matrix moves.
    let whole = kind == Kind::Load && padded.paddings().is_empty();
    let plan = whole.then(|| plan::load(padded.layout(), layout, bits, &compiled.machine).ok());
    if let Some(plan) = plan.flatten().filter(|plan| plan.steps.iter().any(by_matrix)) {
        let all = |count: u64| count.saturating_mul(compiled.warps.into());
        return Some(SharedCounts {
            matrix_moves: true,
            vector_bytes: 16,
            instructions: all(plan.cost.instructions),
            wavefronts: all(plan.cost.wavefronts),
            ideal: all(plan.cost.ideal_wavefronts),
        });
    }
    let found = access::conflicts(&compiled.machine, kind, layout, Memory::Padded(&padded), bits);
    let found = found.ok()?;
    Some(SharedCounts {
        matrix_moves: false,
        vector_bytes: found.vector_bytes,
        instructions: found.instructions,
        wavefronts: found.wavefronts,
        ideal: found.ideal,
    })
}

fn price(compiled: &CompiledKernel, id: OpId, tensor: Value, layout: &Layout) -> SharedPrice {
    let machine = &compiled.machine;
    let registers = layout.remove_zero_columns(REGISTER);
    let registers = registers.map_or(0, |(layout, _)| layout.in_bits(REGISTER));
    let dtype = compiled.lowered().ty(tensor).dtype();
    let bytes = u64::from(dtype.bytes()) << (registers + machine.lanes_log2);
    let wavefront = 1_u64 << (machine.banks_log2 + machine.bank_bytes_log2);
    let work = compiled.compiled.work.iter().filter(|(op, _)| *op == id);
    SharedPrice {
        cost: work.map(|(_, price)| price).sum(),
        bound: bytes.div_ceil(wavefront) * machine.prices.wavefront,
    }
}

fn by_matrix(step: &Step) -> bool {
    matches!(step, Step::Access(access) if matches!(access.form, Form::Matrix(_)))
}
