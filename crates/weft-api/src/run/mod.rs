//! Running a kernel and checking what it computes.
//!
//! A run has parts that shells share and parts that they do themselves, so it is cut in steps:
//!
//! 1. [`Prepared::new`] reads and compiles the kernel, and makes its arguments and buffers.
//! 2. [`Prepared::evaluate`] runs the tile program on one copy of the memory: what is right.
//! 3. [`Prepared::simulate`] runs the lane program on another copy: what it computes and costs. A shell
//!    with a GPU launches [`Prepared::ptx`](CompiledKernel::ptx) on a third.
//! 4. [`Prepared::check`] compares two memories; [`Prepared::answer`] says it all.
//!
//! A [`Launch`] is what a driver does: it runs a compiled kernel on a memory that somebody brings, and
//! compares nothing.

mod argument;
mod findings;
mod launch;
mod locate;
mod random;

pub use argument::{Fill, RANDOM_INTEGERS, Value, signature};
pub use launch::{Launch, Watcher};
pub use locate::{Culprit, locate};

use crate::answer::{BoundsAnswer, BufferAnswer, FindingAnswer, RunAnswer, SumsAnswer};
use crate::budget;
use crate::error::ApiError;
use crate::kernels::CompiledKernel;
use crate::request::{EqualStores, RunRequest};
use core::ops::ControlFlow;
use random::Random;
use weft::budget::{Limit, Overrun};
use weft::location::{Loc, Locations};
use weft::memory::{Buffer, Memory};
use weft::sim;
use weft::tile::Param;
use weft::tile::eval::{self, BufferBounds, EvalError, Sum};

/// How often a run holds each byte of its buffers: as they were given, as the evaluator and the two simulations
/// leave them, and how far each element may be off.
const COPIES: u64 = 8;

/// How the evaluator and the simulator are bounded by the current budget, beside a run's buffers.
fn bounded(memory: &Memory) -> (eval::Options, sim::Options) {
    let limits = budget::current().limits;
    let buffers: u64 = memory.buffers().iter().map(|buffer| buffer.bytes.len() as u64).sum();
    let max_bytes = limits.memory_bytes.saturating_sub(COPIES.saturating_mul(buffers));
    // An operation on a tile is at least one of each of some warps.
    let evaluated = limits.instructions.div_ceil(STEP_INSTRUCTIONS);
    (
        eval::Options { max_steps: evaluated, max_bytes, ..eval::Options::default() },
        sim::Options { max_steps: limits.instructions, max_bytes, ..sim::Options::default() },
    )
}

/// How many warp instructions an operation of the evaluator counts as.
const STEP_INSTRUCTIONS: u64 = 32;

/// The error of a run that takes more than it may of memory or, where that is said, of instructions.
fn over(limit: Limit, what: String, kernel: Option<(&CompiledKernel, Loc)>) -> ApiError {
    let limits = budget::current().limits;
    let most = match limit {
        Limit::Instructions => limits.instructions,
        _ => limits.memory_bytes,
    };
    let loc = kernel.map_or_else(Locations::unknown, |(_, loc)| loc);
    let place = kernel.and_then(|(kernel, loc)| kernel.module.locations.source(loc));
    ApiError::Limit { error: Overrun::Limit { limit, what, most, loc }, place }
}

/// A run that can start: a compiled kernel with its arguments.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The kernel that runs.
    pub kernel: CompiledKernel,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// The value of each parameter, in order.
    pub arguments: Vec<Value>,
    /// The buffers before the run.
    pub memory: Memory,
    /// What random values started from.
    pub seed: u64,
    /// How many plans the witness replayed, where that was asked for.
    pub plans_verified: Option<usize>,
    /// What equal stores are that nothing orders.
    pub equal_stores: EqualStores,
}

/// What the reference evaluator says is right.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The buffers after the run.
    pub memory: Memory,
    /// What the evaluator saw; an error where the kernel does not come to its end.
    pub outcome: Result<eval::Report, EvalError>,
}

/// What the compiled program does.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The buffers after the run.
    pub memory: Memory,
    /// What the simulator counted and found.
    pub report: sim::Report,
    /// The races that only barriers prevent which weft inserts and Triton does not.
    pub unordered: Vec<FindingAnswer>,
}

impl Evaluated {
    /// The results that Triton IR leaves open.
    fn undefined(&self) -> &[eval::Finding] {
        self.outcome.as_ref().map_or(&[], |report| &report.undefined)
    }
}

/// Runs a kernel on the simulator and checks it against the evaluator.
pub fn run(request: &RunRequest) -> Result<RunAnswer, ApiError> {
    let prepared = Prepared::new(request)?;
    let evaluated = prepared.evaluate()?;
    let simulated = prepared.simulate()?;
    prepared.answer(&evaluated, &simulated)
}

impl Prepared {
    /// Compiles the kernel, and makes its arguments and buffers.
    pub fn new(request: &RunRequest) -> Result<Self, ApiError> {
        let kernel = CompiledKernel::new(&request.compile())?;
        let plans_verified = request.verify.then(|| kernel.verify()).transpose()?;
        let mut memory = Memory::default();
        let arguments = arguments(&kernel, request, &mut memory)?;
        let (grid, seed, equal_stores) = (request.grid.0, request.seed, request.equal_stores);
        Ok(Self { kernel, grid, arguments, memory, seed, plans_verified, equal_stores })
    }

    /// The same run with other random values.
    pub fn with_seed(&self, request: &RunRequest, seed: u64) -> Result<Self, ApiError> {
        let mut memory = Memory::default();
        let request = RunRequest { seed, ..request.clone() };
        let arguments = arguments(&self.kernel, &request, &mut memory)?;
        Ok(Self { arguments, memory, seed, ..self.clone() })
    }

    /// The arguments' raw bits, pointers as addresses of the run's memory.
    pub fn bits(&self) -> Vec<u64> {
        let bits = |value: &Value| match value {
            Value::Scalar { bits, .. } => *bits,
            Value::Buffer(index) => Memory::base(*index),
        };
        self.arguments.iter().map(bits).collect()
    }

    /// Runs the tile program, its products fused with sums unless that was refused, operation by operation, on a copy of the memory.
    ///
    /// A deadlock is part of the outcome; other errors are returned.
    pub fn evaluate(&self) -> Result<Evaluated, ApiError> {
        budget::begin("while the reference evaluator ran")?;
        let mut memory = self.memory.clone();
        let (options, stop) = (bounded(&memory).0, budget::current().stop);
        let kernel = self.kernel.meaning();
        let outcome = eval::run_until(kernel, self.grid, &self.bits(), &mut memory, options, &stop);
        match outcome {
            Err(EvalError::Stopped) => Err(ApiError::Stopped),
            Err(error @ (EvalError::Memory { loc, .. } | EvalError::StepLimit { loc, .. })) => {
                let what = format!("the reference evaluator's run of `{}`", kernel.name);
                let limit = match error {
                    EvalError::StepLimit { .. } => Limit::Instructions,
                    _ => Limit::MemoryBytes,
                };
                Err(over(limit, what, Some((&self.kernel, loc))))
            }
            Err(
                error @ (EvalError::Arguments { .. }
                | EvalError::TooLarge { .. }
                | EvalError::Malformed { .. }),
            ) => Err(error.into()),
            outcome => Ok(Evaluated { memory, outcome }),
        }
    }

    /// Runs the lane program, lane by lane, on a copy of the memory.
    pub fn simulate(&self) -> Result<Simulated, ApiError> {
        self.simulate_watched(&mut |_| ControlFlow::Continue(()))
    }

    /// As [`Prepared::simulate`], and tells the watcher how far it is.
    pub fn simulate_watched(&self, watcher: Watcher<'_>) -> Result<Simulated, ApiError> {
        let mut memory = self.memory.clone();
        let (kernel, bits) = (&self.kernel, self.bits());
        let launch =
            Launch { kernel, grid: self.grid, arguments: &bits, equal_stores: self.equal_stores };
        let report = launch.simulate(&mut memory, watcher)?;
        let unordered = launch.unordered(self.memory.clone(), &report)?;
        Ok(Simulated { memory, report, unordered })
    }

    /// Compares each buffer with what was expected of it, but for what rounding allows; `report` is the
    /// evaluator's on the same run.
    pub fn check(
        &self,
        expected: &Memory,
        actual: &Memory,
        report: &eval::Report,
    ) -> Vec<BufferAnswer> {
        let pairs = expected.buffers().iter().zip(actual.buffers());
        pairs
            .zip(self.memory.buffers())
            .enumerate()
            .map(|(index, ((expected, actual), before))| {
                let bounds = report.bounds.of_buffer(index);
                compare(before, expected, actual, bounds, sums(report, index))
            })
            .collect()
    }

    /// What there is to say of a run on the simulator.
    ///
    /// # Errors
    ///
    /// Where nobody wants it any more.
    pub fn answer(
        &self,
        evaluated: &Evaluated,
        simulated: &Simulated,
    ) -> Result<RunAnswer, ApiError> {
        let Simulated { memory, report, unordered } = simulated;
        let buffers = match &evaluated.outcome {
            Ok(report) => self.check(&evaluated.memory, memory, report),
            Err(_) => Vec::new(),
        };
        let mut findings = findings::of(&self.kernel, evaluated, report);
        // A race explains a difference by itself.
        if report.is_clean() && buffers.iter().any(|buffer| !buffer.agrees) {
            budget::begin("while the first operation that differs was looked for")?;
            let culprit = self.locate();
            budget::check()?;
            findings.extend(culprit.map(|culprit| findings::difference(&self.kernel, &culprit)));
        }
        let passed = evaluated.outcome.is_ok()
            && report.is_clean()
            && findings.is_empty()
            && buffers.iter().all(|buffer| buffer.agrees);
        let program = self.kernel.program();
        Ok(RunAnswer {
            name: self.kernel.kernel().name.clone(),
            grid: self.grid,
            target: self.kernel.machine.name.to_string(),
            warps: program.warps,
            threads: program.threads(),
            seed: self.seed,
            passed,
            counts: launch::counts(report, program.shared_bytes),
            accesses: launch::accesses(&self.kernel, report),
            buffers,
            evaluator: evaluated.outcome.as_ref().err().map(ToString::to_string),
            printed: launch::printed(report),
            printed_dropped: launch::printed_dropped(report),
            findings,
            findings_dropped: report.findings_dropped,
            notes: findings::notes(&self.kernel, report, evaluated.undefined()),
            unordered: unordered.clone(),
            plans_verified: self.plans_verified,
            device: None,
        })
    }
}

/// The value of each parameter; buffers are added to the memory.
fn arguments(
    compiled: &CompiledKernel,
    request: &RunRequest,
    memory: &mut Memory,
) -> Result<Vec<Value>, ApiError> {
    let kernel = compiled.kernel();
    let given = &request.args.0;
    let refuse = |reason: String| ApiError::Argument {
        reason,
        hint: format!("the kernel is {}", signature(kernel)),
    };
    for (index, (name, _)) in given.iter().enumerate() {
        if !kernel.params.iter().any(|param| param.name == *name) {
            return Err(refuse(format!("`{}` has no argument `{name}`", kernel.name)));
        }
        if given[..index].iter().any(|(other, _)| other == name) {
            return Err(refuse(format!("argument `{name}` is given twice")));
        }
    }
    let value_of = |param: &Param| given.iter().find(|(name, _)| *name == param.name);
    let missing: Vec<String> = (kernel.params.iter())
        .filter(|param| value_of(param).is_none())
        .map(|param| format!("`{}`", param.name))
        .collect();
    if !missing.is_empty() {
        let plural = if missing.len() == 1 { "" } else { "s" };
        return Err(refuse(format!("argument{plural} {} missing", missing.join(", "))));
    }
    let (mut values, mut total) = (Vec::new(), 0);
    for (index, (param, value)) in kernel.arguments().enumerate() {
        let Some((name, text)) = value_of(param) else { continue };
        let ty = kernel.ty(value);
        let Some(pointee) = ty.element.pointee() else {
            let dtype = ty.dtype();
            values.push(Value::Scalar { dtype, bits: argument::scalar(param, dtype, text)? });
            continue;
        };
        let random = Random::new(request.seed, index as u64);
        let left = budget::current().limits.memory_bytes / COPIES;
        let buffer = argument::buffer(name, pointee, text, random, left.saturating_sub(total))?;
        total += buffer.bytes.len() as u64;
        values.push(Value::Buffer(memory.buffers().len()));
        memory.push(buffer);
    }
    Ok(values)
}

fn compare(
    before: &Buffer,
    expected: &Buffer,
    actual: &Buffer,
    bounds: BufferBounds<'_>,
    sums: Option<SumsAnswer>,
) -> BufferAnswer {
    let outcome = eval::compare(expected, actual, bounds);
    let used = outcome.as_ref().ok().map(|agreement| agreement.max_share);
    let (largest, unbounded) = (bounds.largest(), bounds.unbounded());
    let rounded = largest > 0.0 || unbounded > 0;
    let dtype = expected.dtype;
    BufferAnswer {
        name: expected.name.clone(),
        element: dtype.to_string(),
        elements: expected.bytes.len() / dtype.bytes() as usize,
        changed: before.bytes != actual.bytes,
        agrees: outcome.is_ok(),
        exact: expected.bytes == actual.bytes,
        max_relative_error: outcome.as_ref().ok().map(|agreement| agreement.max_rel),
        bounds: rounded.then_some(BoundsAnswer { largest, used, unbounded }),
        sums,
        mismatch: outcome.err().map(|mismatch| mismatch.to_string()),
    }
}

/// The sums that atomics left in a buffer.
fn sums(report: &eval::Report, buffer: usize) -> Option<SumsAnswer> {
    let widest = report.sums.of_buffer(buffer).max_by(|x, y| x.bound().total_cmp(&y.bound()))?;
    let additions = report.sums.of_buffer(buffer).map(|sum| sum.additions).max()?;
    Some(SumsAnswer {
        places: report.sums.of_buffer(buffer).count(),
        additions,
        allowed: Sum::bound(widest),
    })
}
