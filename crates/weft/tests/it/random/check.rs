//! One kernel in one setting: compiled, simulated and held against the evaluator.

use super::build::Sample;
use weft::assign::AssignError;
use weft::compile::{self, CompileError, Options};
use weft::emit::{self, Language, Target};
use weft::fuse;
use weft::lane;
use weft::memory::Memory;
use weft::sim::{self, Launch};
use weft::simplify::{order, park};
use weft::tile::{self, Kernel, Module, eval};
use weft::ttir;
use weft_layout::machine::{Machine, Prices};
use weft_layout::plan::PlanError;

/// Machines that there are, and some that there are not.
pub(crate) const MACHINES: [&str; 11] = [
    "sm_80", "sm_89", "sm_90", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200", "wide", "small",
    "packing",
];

/// How a kernel is compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) machine: &'static str,
    pub(crate) warps: u32,
}

/// What is wrong: a short name that tells defects apart, and all that is known.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: String,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into() }
    }
}

/// A machine by its name, or one that there is not: nothing assumes 32 lanes.
fn machine(name: &str) -> Machine {
    let nvidia = Machine::by_name("sm_90").unwrap();
    match name {
        "wide" => Machine { lanes_log2: 6, ..nvidia.clone() },
        "small" => Machine { lanes_log2: 3, shared_bytes_per_block: 1 << 13, ..nvidia.clone() },
        // Where only shuffles count, narrow elements are packed for them.
        "packing" => {
            let prices = Prices { wavefront: 10_000, alu: 0, issue: 0, ..nvidia.prices };
            Machine { prices, ..nvidia.clone() }
        }
        _ => Machine::by_name(name).unwrap().clone(),
    }
}

/// What the evaluator leaves, and how far a compiled program's memory may be from it.
pub(crate) struct Expected {
    memory: Memory,
    report: eval::Report,
}

/// What the evaluator says; a random kernel has no faults.
pub(crate) fn expected(sample: &Sample) -> Result<Expected, Failure> {
    evaluated(sample, &sample.kernel, "generator")
}

/// What the evaluator says of a kernel with the arguments of a sample.
fn evaluated(sample: &Sample, kernel: &Kernel, kind: &str) -> Result<Expected, Failure> {
    let mut memory = sample.memory.clone();
    tile::verify(kernel).map_err(|errors| Failure::new(kind, format!("{errors:?}")))?;
    let report =
        eval::run(kernel, sample.grid, &sample.args, &mut memory, eval::Options::default())
            .map_err(|error| Failure::new(kind, error.to_string()))?;
    match report.findings.first() {
        Some(finding) => Err(Failure::new(kind, finding.to_string())),
        None => Ok(Expected { memory, report }),
    }
}

/// Whether a kernel that was compiled ran, or there was too little shared memory for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Equal,
    /// Why it is refused.
    Refused(String),
}

/// Reads the text of a kernel and prints what was read.
pub(crate) fn check_text(sample: &Sample) -> Result<(), Failure> {
    let module = Module { kernels: vec![sample.kernel.clone()], ..Module::default() };
    let text = module.to_string();
    let again = ttir::parse(&text)
        .map_err(|errors| Failure::new("text", format!("what is printed is not read: {errors}")))?;
    if again.to_string() != text {
        return Err(Failure::new("text", format!("what was read prints otherwise:\n{again}")));
    }
    Ok(())
}

/// Compiles, prints, simulates and compares: with products fused with sums, against what the fused
/// program means, and without where that is another program.
pub(crate) fn check(
    sample: &Sample,
    setting: Setting,
    expected: &Expected,
) -> Result<Outcome, Failure> {
    let Some(fused) = fuse::run(&sample.kernel, &[]) else {
        return check_fused(sample, setting, expected, true);
    };
    if fuse::run(&fused, &[]).is_some() {
        return Err(Failure::new("fuse", "fusing twice fuses more"));
    }
    check_fused(sample, setting, &evaluated(sample, &fused, "fuse")?, true)?;
    check_fused(sample, setting, expected, false)
}

fn check_fused(
    sample: &Sample,
    setting: Setting,
    expected: &Expected,
    fp_fusion: bool,
) -> Result<Outcome, Failure> {
    let machine = &machine(setting.machine);
    let options = Options { warps: setting.warps, fp_fusion, ..Options::for_machine(machine) };
    let module = Module::default();
    let compile = || compile::compile(&module, &sample.kernel, &options);
    let compiled = match compile() {
        Ok(compiled) => compiled,
        // There may be too little shared memory.
        Err(
            error @ (CompileError::SharedMemory { .. }
            | CompileError::Assign {
                cause: AssignError::Plan(PlanError::Scratch { .. }),
                ..
            }),
        ) => return Ok(Outcome::Refused(error.to_string())),
        Err(error) => {
            // Without the numbers, equal sentences are of one kind.
            let kind = error.to_string().replace(|c: char| c.is_ascii_digit(), "");
            return Err(Failure::new(kind, error.to_string()));
        }
    };
    let text = compiled.program.to_string();
    if compile().map(|again| again.program.to_string()) != Ok(text) {
        return Err(Failure::new("order", "compiling twice gives two programs"));
    }
    if let Some(target) = Target::by_name(setting.machine) {
        for language in [Language::Ptx, Language::Cuda, Language::Hip] {
            // What is not supported is an error of its own type; anything else panics.
            let _text = emit::print(&compiled.program, language, target);
        }
    }
    check_run(sample, machine, expected, &compiled.program)?;
    // With no registers to spare, every stretch of operations is in the order that needs fewer.
    let sparing = order::within(compiled.program.clone(), 0);
    lane::verify(&sparing).map_err(|error| Failure::new("sparing", format!("{error:?}")))?;
    check_run(sample, machine, expected, &sparing)?;
    // And with none at all, loops load everything that they can from shared memory.
    if let Some(parked) = park::parked_within(&compiled.program, 0, u32::MAX, 1) {
        lane::verify(&parked).map_err(|error| Failure::new("parked", format!("{error:?}")))?;
        check_run(sample, machine, expected, &parked)?;
    }
    Ok(Outcome::Equal)
}

/// Simulates a program, and compares.
fn check_run(
    sample: &Sample,
    machine: &Machine,
    expected: &Expected,
    program: &lane::Program,
) -> Result<(), Failure> {
    let mut memory = sample.memory.clone();
    let launch = Launch {
        program,
        grid: sample.grid,
        args: &sample.args,
        machine: &compile::simulated(machine, 8),
        options: sim::Options { max_steps: 1 << 24, ..sim::Options::default() },
    };
    let report = sim::run(&launch, &mut memory)
        .map_err(|error| Failure::new("simulate", error.to_string()))?;
    if let Some(finding) = report.findings.first() {
        let kind = format!("{:?}", finding.kind);
        return Err(Failure::new(kind, format!("{}: {:?}", finding.message, finding.actor)));
    }
    for (index, (wanted, found)) in
        expected.memory.buffers().iter().zip(memory.buffers()).enumerate()
    {
        // Other sums than those of atomics are of numbers that no order rounds, whatever bound they have.
        let report = &expected.report;
        let rounded =
            sample.approximate.contains(&index) || report.sums.of_buffer(index).next().is_some();
        let bounds =
            if rounded { report.bounds.of_buffer(index) } else { eval::BufferBounds::EXACT };
        eval::compare(wanted, found, bounds)
            .map_err(|mismatch| Failure::new("mismatch", mismatch.to_string()))?;
    }
    Ok(())
}
