//! The decisions of the compiler with their reasons.

use crate::answer::{AccessAnswer, ExplainAnswer, HomeAnswer};
use crate::error::ApiError;
use crate::kernels::CompiledKernel;
use crate::request::{CompileRequest, ExplainRequest};
use weft::assign::{AccessShape, LayoutId, Reason, definitions};
use weft::axis::AxisFacts;
use weft::tile::{Element, Op, OpId, OpKind, Value};

/// Where each value of a kernel lives and why, and what each movement and access costs.
pub fn explain(request: &ExplainRequest) -> Result<ExplainAnswer, ApiError> {
    let ExplainRequest { ttir, kernel, target, warps } = request;
    let compile = CompileRequest {
        ttir: ttir.clone(),
        kernel: kernel.clone(),
        target: target.clone(),
        warps: *warps,
        emit: Vec::new(),
        dump_after: None,
    };
    Ok(explain_kernel(&CompiledKernel::new(&compile)?))
}

/// The decisions behind a compiled kernel.
pub fn explain_kernel(kernel: &CompiledKernel) -> ExplainAnswer {
    ExplainAnswer {
        name: kernel.kernel().name.clone(),
        target: kernel.machine.name.to_string(),
        warps: kernel.warps,
        shared_bytes: kernel.program().shared_bytes,
        homes: homes(kernel),
        movements: kernel.movements(),
        accesses: accesses(kernel),
    }
}

fn homes(compiled: &CompiledKernel) -> Vec<HomeAnswer> {
    let kernel = compiled.kernel();
    let assignment = &compiled.compiled.assignment;
    let definitions = definitions(kernel);
    let home = |value: Value, layout: LayoutId| HomeAnswer {
        value: kernel.value_name(value),
        ty: kernel.ty(value).bare().to_string(),
        layout: compiled.layout(layout),
        reason: reason(compiled, assignment.reason(value)),
        place: definitions[value].and_then(|op| compiled.place(kernel.ops[op].loc)),
    };
    let values = kernel.values.keys();
    values.filter_map(|value| assignment.home(value).map(|layout| home(value, layout))).collect()
}

fn reason(compiled: &CompiledKernel, reason: Option<&Reason>) -> String {
    let operation = |id: OpId| {
        let op = &compiled.kernel().ops[id];
        match compiled.place(op.loc) {
            Some(place) => format!("the {} at {place}", op.kind.name()),
            None => format!("a {}", op.kind.name()),
        }
    };
    match reason {
        Some(Reason::Anchor { op, weight, against: 0 }) => {
            format!("{} asks for it ({weight} bytes, nothing against)", operation(*op))
        }
        Some(Reason::Anchor { op, weight, against }) => {
            format!("{} asks for it ({weight} bytes, {against} against)", operation(*op))
        }
        Some(Reason::Follows(op)) => format!("it follows from the operand of {}", operation(*op)),
        Some(Reason::Given) => "given by the text".into(),
        Some(Reason::Default) | None => "nothing asks for any: the default".into(),
    }
}

fn accesses(compiled: &CompiledKernel) -> Vec<AccessAnswer> {
    let kernel = compiled.kernel();
    let facts = AxisFacts::of(kernel);
    let mut answers = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        let memory = matches!(
            op.kind,
            OpKind::Load(_)
                | OpKind::Store(_)
                | OpKind::AtomicRmw { .. }
                | OpKind::AtomicCas { .. }
        );
        if let Some(layout) = compiled.compiled.assignment.runs_in(id).filter(|_| memory) {
            answers.extend(access(compiled, &facts, op, layout));
        }
    });
    answers
}

/// One access; none where the machine has no such access, which a compiled program does not have.
fn access(
    compiled: &CompiledKernel,
    facts: &AxisFacts,
    op: &Op,
    id: LayoutId,
) -> Option<AccessAnswer> {
    let kernel = compiled.kernel();
    let layout = compiled.compiled.assignment.layouts.get(id);
    let shape = AccessShape::of(kernel, facts, &compiled.machine, op, layout).ok()?;
    let sectors = shape.sectors(&compiled.machine).ok()?;
    let pointers = kernel.ty(op.operands[0]);
    Some(AccessAnswer {
        operation: op.kind.name(),
        place: compiled.place(op.loc),
        ty: pointers.bare().with_element(Element::Scalar(shape.element)).to_string(),
        layout: compiled.layout(id),
        vector_bytes: shape.bytes().into(),
        instructions: shape.instructions(),
        sectors: sectors.actual,
        ideal_sectors: sectors.ideal,
    })
}
