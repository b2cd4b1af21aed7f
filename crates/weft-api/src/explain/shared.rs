//! How tensors go to shared memory that the program allocates.

use crate::answer::{SharedAnswer, SharedCounts, SharedPrice};
use crate::kernels::CompiledKernel;
use weft::assign::Trips;
use weft::tile::{OpId, OpKind, Touched};
use weft_layout::access::{self, Conflict, Conflicts, Memory};
use weft_layout::affine::Padded;
use weft_layout::layout::Layout;
use weft_layout::machine::Kind;
use weft_layout::plan;
use weft_layout::space::{LANE, Label};
use weft_layout::step::{Form, Plan, Step};

/// Every access of allocated shared memory.
pub(crate) fn accesses(compiled: &CompiledKernel) -> Vec<SharedAnswer> {
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
    let OpKind::Local(what) = &op.kind else { return None };
    let Touched { memory, tensor } = what.touched(op)?;
    let tensor = tensor?;
    let kind = if op.kind.effects().local.writes { Kind::Store } else { Kind::Load };
    let home = assignment.registers(tensor).or_else(|| assignment.given(tensor))?;
    let layout = assignment.layouts.get(home);
    let buffers = assignment.buffers(memory).ok()?;
    let padded = Some(&buffers.layout);
    let bits = kernel.ty(tensor).dtype().bits().next_power_of_two().max(8);
    // What moves a whole buffer is planned, and may be matrix moves.
    let whole = padded.filter(|padded| padded.paddings().is_empty());
    let plan = whole.and_then(|memory| {
        let (memory, machine) = (memory.layout(), &compiled.machine);
        let plan = match kind {
            Kind::Load => plan::load(memory, layout, bits, machine),
            Kind::Store => plan::store(layout, memory, bits, machine),
        };
        plan.ok()
    });
    let spent = compiled.compiled.work.iter().find(|(op, _)| *op == id);
    let price = plan.as_ref().zip(spent);
    let (counted, reason) = padded
        .and_then(|padded| counted(compiled, plan.as_ref(), padded, layout, bits, kind))
        .unzip();
    Some(SharedAnswer {
        operation: op.kind.name(),
        kind: if kind == Kind::Load { "load" } else { "store" },
        value: kernel.value_name(tensor),
        place: compiled.place(op.loc),
        ty: kernel.ty(tensor).bare().to_string(),
        layout: layout.to_string(),
        memory: buffers.memory.family.to_string(),
        counted,
        price: price.map(|(plan, &(_, cost))| SharedPrice { cost, bound: plan.bound.total }),
        reasons: reason.flatten().into_iter().collect(),
        times: 1,
    })
}

/// What an access takes, and why it is more than the ideal.
fn counted(
    compiled: &CompiledKernel,
    plan: Option<&Plan>,
    padded: &Padded,
    layout: &Layout,
    bits: u32,
    kind: Kind,
) -> Option<(SharedCounts, Option<String>)> {
    if let Some(plan) = plan.filter(|plan| plan.steps.iter().any(by_matrix)) {
        let all = |count: u64| count.saturating_mul(compiled.warps.into());
        let counts = SharedCounts {
            matrix_moves: true,
            vector_bytes: 16,
            instructions: all(plan.cost.instructions),
            wavefronts: all(plan.cost.wavefronts),
            ideal: all(plan.cost.ideal_wavefronts),
        };
        return Some((counts, None));
    }
    let found = access::conflicts(&compiled.machine, kind, layout, Memory::Padded(padded), bits);
    let found = found.ok()?;
    let counts = SharedCounts {
        matrix_moves: false,
        vector_bytes: found.vector_bytes,
        instructions: found.instructions,
        wavefronts: found.wavefronts,
        ideal: found.ideal,
    };
    Some((counts, found.witness.as_ref().map(|witness| reason(&found, witness))))
}

/// Why an access takes more wavefronts than the ideal.
fn reason(found: &Conflicts, witness: &Conflict) -> String {
    let Conflicts { wavefronts, ideal, .. } = found;
    let lane = |place: &[(Label, u64)]| {
        place.iter().find_map(|&(label, at)| (label == LANE).then_some(at)).unwrap_or(0)
    };
    let [one, other] = witness.places.each_ref().map(|place| lane(place));
    format!(
        "{wavefronts} wavefronts where {ideal} would do, because lanes {one} and {other} ask bank {} for \
         different words at once",
        witness.bank
    )
}

fn by_matrix(step: &Step) -> bool {
    matches!(step, Step::Access(access) if matches!(access.form, Form::Matrix(_)))
}
