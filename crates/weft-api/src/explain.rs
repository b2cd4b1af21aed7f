//! The decisions of the compiler with their reasons.

use crate::answer::{AccessAnswer, ExplainAnswer, HomeAnswer};
use crate::error::ApiError;
use crate::kernels::CompiledKernel;
use crate::request::{CompileRequest, ExplainRequest};
use weft::assign::{LayoutId, Reason, access_bytes, definitions, pointer_and_mask, vector_bits};
use weft::axis::AxisFacts;
use weft::dtype::DType;
use weft::tile::{Element, Op, OpId, OpKind, Value};
use weft_layout::access;
use weft_layout::space::{LANE, Label, REGISTER};

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
        ty: kernel.ty(value).to_string(),
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
    let (pointer, mask) = pointer_and_mask(op);
    let ty = kernel.ty(pointer);
    let element = ty.element.pointee().unwrap_or(DType::I64);
    let layout = compiled.compiled.assignment.layouts.get(id);
    let layout = layout.remove_zero_columns(REGISTER).ok()?.0;
    let dims = &facts.get(pointer).dims;
    // The axis that runs through memory; of equals the last, as in row-major order.
    let axis = (0..dims.len()).max_by_key(|&axis| dims[axis].contiguity)?;
    let widest = access_bytes(compiled.machine);
    let vector = match op.kind {
        OpKind::Load(_) | OpKind::Store(_) => {
            let most = facts.vector_elements(pointer, mask, axis, element, widest);
            vector_bits(&layout, axis, most).len() as u32
        }
        _ => 0,
    };
    let vector_bytes = u64::from(element.bytes()) << vector;
    // Bytes of the fastest axis below, every other axis far above: another row, another sector.
    let label = Label::dim(axis as u32);
    let (bytes_log2, others) = (element.bytes().trailing_zeros(), !layout.outs().mask(label));
    let address = |&column: &u64| {
        (layout.outs().coordinate(label, column) << bytes_log2) | (column & others) << 34
    };
    let columns: Vec<u64> = layout.columns(LANE).iter().map(address).collect();
    let sectors = access::sectors(compiled.machine, &columns, vector_bytes as u32, 0).ok()?;
    Some(AccessAnswer {
        operation: op.kind.name(),
        place: compiled.place(op.loc),
        ty: ty.with_element(Element::Scalar(element)).to_string(),
        layout: compiled.layout(id),
        vector_bytes,
        instructions: 1 << (layout.in_bits(REGISTER) - vector),
        sectors: sectors.actual,
        ideal_sectors: sectors.ideal,
    })
}
