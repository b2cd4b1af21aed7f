//! The decisions of the compiler with their reasons.

mod homes;
mod lines;
mod rounds;
pub(crate) mod shared;

use crate::answer::{
    AccessAnswer, BarrierAnswer, ChoiceAnswer, ExplainAnswer, NextAnswer, ProductAnswer,
    RelievedAnswer, SpentAnswer, cycles,
};
use crate::budget;
use crate::error::ApiError;
use crate::kernels::CompiledKernel;
use crate::occupancy;
use crate::request::{CompileRequest, ExplainRequest};
use weft::assign::{
    self, AccessShape, Block, Gap, Judged, LayoutId, Product, Review, Spent, Trips,
};
use weft::axis::AxisFacts;
use weft::compile::{self, Pressure, Relief};
use weft::lane::{BarrierScope, MAX_ACCESS_BYTES};
use weft::location::Loc;
use weft::simplify::ordered::{self, Conflict, Order};
use weft::tile::{ByPointers, Element, Op, OpId};
use weft::ttir::Places;
use weft_layout::access::Sectors;
use weft_layout::machine::Machine;

/// Where each value of a kernel lives and why, and what each movement and access costs.
pub fn explain(request: &ExplainRequest) -> Result<ExplainAnswer, ApiError> {
    let ExplainRequest { ttir, kernel, target, warps, stages, fp_fusion, pins, text_places } =
        request;
    let compile = CompileRequest {
        ttir: ttir.clone(),
        kernel: kernel.clone(),
        target: target.clone(),
        warps: *warps,
        stages: *stages,
        fp_fusion: *fp_fusion,
        pins: pins.clone(),
        emit: Vec::new(),
        dump_after: None,
        max_registers: None,
        line_info: false,
        text_places: *text_places,
    };
    explain_kernel(&CompiledKernel::new(&compile)?)
}

/// The decisions behind a compiled kernel.
pub fn explain_kernel(compiled: &CompiledKernel) -> Result<ExplainAnswer, ApiError> {
    let (kernel, options) = (compiled.lowered(), compiled.options());
    let review = compile::review(&compiled.compiled, &options)?;
    let spent = |spent: Spent| {
        let Spent { movements, accesses, work } = spent;
        SpentAnswer { movements, accesses, work }
    };
    let greedy = match &review {
        Some(_) => Some(spent(compile::spent_greedily(&compiled.module, kernel, &options)?)),
        None => None,
    };
    let total = compiled.compiled.assignment.total();
    let explained = Explained { compiled, review: review.as_ref() };
    let products = explained.products();
    let lines = match compiled.places {
        Places::Text => explained.lines(&products)?,
        Places::Source => Vec::new(),
    };
    Ok(ExplainAnswer {
        name: kernel.name.clone(),
        target: compiled.machine.name.to_string(),
        warps: compiled.warps,
        relieved: compiled.compiled.relieved.map(|relief| relieved(compiled, relief)),
        shared_bytes: compiled.program().shared_bytes,
        spent: spent(compiled.compiled.spent(&options)?),
        greedy,
        choice: total.map(|total| ChoiceAnswer { cost: total.cost, bound: total.bound }),
        homes: explained.homes(),
        products,
        movements: compiled.movements(),
        accesses: explained.accesses(),
        shared: shared::accesses(compiled),
        barriers: barriers(compiled),
        occupancy: occupancy::occupancy(&compiled.machine, compiled.program()),
        rounds: rounds::rounds(compiled)?,
        lines,
    })
}

/// Why a block has more warps than were asked for.
fn relieved(compiled: &CompiledKernel, relief: Relief) -> RelievedAnswer {
    let why = match relief {
        Relief::Registers(Pressure { live, most, .. }) => {
            format!("a thread would then hold {live} registers at once, and can have {most}")
        }
        Relief::Alone { before, now, .. } => format!(
            "the block would then be alone on its multiprocessor, a warp on each scheduler, and a round of its loops \
             would take {}, where it takes {}",
            cycles(before),
            cycles(now),
        ),
    };
    RelievedAnswer { warps: relief.asked(compiled.machine.lanes()), why }
}

/// A compiled kernel with what speaks for its homes.
struct Explained<'a> {
    compiled: &'a CompiledKernel,
    review: Option<&'a Review>,
}

impl Explained<'_> {
    fn next(&self, judged: &Judged) -> Option<NextAnswer> {
        let (layout, more) = judged.next?;
        let layout = self.review?.layouts.get(layout).to_string();
        Some(NextAnswer { layout, more })
    }

    fn products(&self) -> Vec<ProductAnswer> {
        let compiled = self.compiled;
        let (kernel, assignment) = (compiled.lowered(), &compiled.compiled.assignment);
        let (machine, budget) = (&*compiled.machine, &budget::current());
        let block = Block { machine, warps: compiled.warps, shared_byte: 0, budget };
        let trips = Trips::of(kernel);
        let mut answers = Vec::new();
        kernel.walk(&kernel.body, &mut |id, op| {
            let Some(layout) = assignment.runs_in(id).filter(|_| op.kind.is_product()) else {
                return;
            };
            let product = assignment.product(id);
            let mut layouts = assignment.layouts.clone();
            let Ok(ways) = assign::candidates(kernel, op, block, &mut layouts) else { return };
            let own = ways.iter().find(|way| way.product == *product);
            let least = ways.iter().map(|way| way.instructions).min();
            let (Some(own), Some(bound)) = (own, least) else { return };
            let matrix = match product {
                Product::Multiply => None,
                Product::Matrix(matrix) => Some(matrix.instruction.name.to_string()),
                Product::Warpgroup(product) => Some(product.instruction.name.to_string()),
            };
            let judged = self.review.and_then(|review| review.runs[id].as_ref());
            answers.push(ProductAnswer {
                place: compiled.place(op.loc),
                ty: kernel.ty(op.results[0]).bare().to_string(),
                layout: compiled.layout(layout),
                how: matrix.unwrap_or_else(|| "multiply-adds of each thread".into()),
                runs: own.runs,
                cost: own.instructions,
                bound,
                times: trips.of_op(id),
                next: judged.and_then(|judged| self.next(judged)),
            });
        });
        answers
    }

    fn accesses(&self) -> Vec<AccessAnswer> {
        let compiled = self.compiled;
        let kernel = compiled.lowered();
        let (facts, trips) = (AxisFacts::of(kernel), Trips::of(kernel));
        let mut answers = Vec::new();
        kernel.walk(&kernel.body, &mut |id, op| {
            let memory = op.kind.by_pointers().is_some();
            if let Some(layout) = compiled.compiled.assignment.runs_in(id).filter(|_| memory) {
                let judged = self.review.and_then(|review| review.runs[id].as_ref());
                let next = judged.and_then(|judged| self.next(judged));
                let answer = access(compiled, &facts, (id, &trips), layout);
                answers.extend(answer.map(|answer| AccessAnswer { next, ..answer }));
            }
        });
        answers
    }
}

/// Every barrier of the program, with what would race without it.
fn barriers(compiled: &CompiledKernel) -> Vec<BarrierAnswer> {
    let prices = &compiled.machine.prices;
    let warps = u64::from(compiled.warps);
    let place = |loc: Loc| compiled.place(loc);
    let at = |loc: Loc| place(loc).unwrap_or_else(|| "an unknown place".into());
    let reason = |order: &Order| {
        let (before, after) = (at(order.before), at(order.after));
        match order.conflict {
            Conflict::Stored if before == after => {
                format!("what is stored for {after} is loaded by others")
            }
            Conflict::Stored => format!("what is stored for {before} is loaded for {after}"),
            Conflict::Landed => format!("what was copied is loaded for {after}"),
            Conflict::Overwritten if before == after => {
                format!("what was loaded for {after} is overwritten in the next round")
            }
            Conflict::Overwritten => {
                format!("what was loaded for {before} is overwritten for {after}")
            }
            Conflict::Global => {
                format!("what {before} does to global memory comes before what {after} does")
            }
        }
    };
    let found = ordered::barriers(compiled.program());
    let answer = |barrier: &ordered::Barrier| {
        let (scope, cost) = match barrier.scope {
            BarrierScope::Warp => ("warp", prices.warp_barrier * warps),
            BarrierScope::Block => ("block", prices.barrier_share(warps) * warps),
        };
        let mut reasons: Vec<String> = Vec::new();
        // Accesses to global memory beside those that the barrier is for may be to different buffers.
        let is_global = |order: &&Order| order.conflict == Conflict::Global;
        let all_global = barrier.orders.iter().all(|order| is_global(&order));
        let told = barrier.orders.iter().filter(|order| all_global || !is_global(order));
        for text in told.map(reason) {
            if !reasons.contains(&text) {
                reasons.push(text);
            }
        }
        let loops = barrier.loops.iter().map(|&loc| place(loc)).collect();
        BarrierAnswer { scope, place: place(barrier.loc), loops, cost, reasons }
    };
    found.iter().map(answer).collect()
}

/// One access; none where the machine has no such access, which a compiled program does not have.
fn access(
    compiled: &CompiledKernel,
    facts: &AxisFacts,
    (id, trips): (OpId, &Trips),
    place: LayoutId,
) -> Option<AccessAnswer> {
    let kernel = compiled.lowered();
    let op = &kernel.ops[id];
    let layout = compiled.compiled.assignment.layouts.get(place);
    let shape = AccessShape::of(kernel, facts, &compiled.machine, op, layout).ok()?;
    let sectors = shape.sectors(&compiled.machine).ok()?;
    let pointers = kernel.ty(op.operands[0]);
    Some(AccessAnswer {
        operation: op.kind.name(),
        place: compiled.place(op.loc),
        ty: pointers.bare().with_element(Element::Scalar(shape.element)).to_string(),
        layout: compiled.layout(place),
        vector_bytes: shape.bytes().into(),
        tested: shape.tested,
        instructions: shape.instructions(),
        cost: shape.cost(&compiled.machine, op).ok()? * u64::from(compiled.warps),
        bound: shape.bound(&compiled.machine),
        sectors: sectors.actual,
        ideal_sectors: sectors.ideal,
        reasons: reasons(&shape, sectors, &compiled.machine, op),
        times: trips.of_op(id),
        next: None,
    })
}

/// Why an access takes more sectors, or more instructions, than as many bytes need.
fn reasons(shape: &AccessShape, sectors: Sectors, machine: &Machine, op: &Op) -> Vec<String> {
    let mut reasons = Vec::new();
    // Machines that move more at once are given no such instructions.
    let (bytes, most) = (shape.bytes(), machine.global_vector_bytes.min(MAX_ACCESS_BYTES));
    if sectors.actual > sectors.ideal {
        let lies = match shape.gap() {
            Some(Gap { lanes: 1, apart: Some(apart), .. }) => {
                format!("neighbouring lanes are {apart} bytes apart, and each moves {bytes}")
            }
            Some(Gap { lanes: 1, apart: None, .. }) => {
                "only a run of the kernel tells how far neighbouring lanes are apart".into()
            }
            Some(Gap { run, lanes, apart: Some(apart) }) => {
                format!(
                    "{lanes} lanes move {run} bytes in a row, and the next row is {apart} bytes on"
                )
            }
            Some(Gap { run, lanes, apart: None }) => {
                format!(
                    "{lanes} lanes move {run} bytes in a row, and only a run of the kernel tells where \
                     the next row is"
                )
            }
            None => "the bytes of its lanes overlap".into(),
        };
        let Sectors { actual, ideal } = sectors;
        reasons.push(format!("{actual} sectors where {ideal} would do, because {lies}"));
    }
    let is_atomic = op.kind.by_pointers() == Some(ByPointers::Atomic);
    if bytes < most && shape.instructions() > 1 && !is_atomic {
        let held = if shape.is_widest() {
            "no more are proved to follow each other, aligned and under one mask"
        } else {
            "a lane of this layout holds no more that follow each other"
        };
        reasons.push(format!("{bytes} bytes a lane where {most} are possible, because {held}"));
    }
    reasons
}
