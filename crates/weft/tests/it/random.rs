//! Random kernels: compiled, simulated, and equal to the reference evaluator, bit for bit; what
//! approximate operations give is stored apart and held within their tolerance.
//!
//! A kernel is made from a number, its seed, and so are the machine and the number of warps that it is
//! compiled for; a failure prints the three and the text of the kernel after some shrinking. These
//! environment variables change a run:
//!
//! * `WEFT_LONG=1` makes ten thousand runs instead of a few (best with `--release`); a failure does not
//!   end it, and each kind of failure is shown once;
//! * `WEFT_RUNS=500` makes so many;
//! * `WEFT_SEED=17` holds that seed against every machine and number of warps; with `WEFT_LONG` or
//!   `WEFT_RUNS`, starts there.
//!
//! Every kernel is also printed in each language, which must not fail in another way than by naming
//! what is not supported; compiled twice, with the same text; and read again from its own text.
//!
//! * `WEFT_NVCC` and `WEFT_CLANG` name compilers: the texts of `WEFT_TEXTS` kernels (20 if that is not
//!   given) in CUDA and HIP go through them (`texts`).

mod approximate;
mod atomic;
mod build;
mod control;
mod dice;
mod generate;
mod indexed;
mod memory;
mod shrink;
mod texts;

use build::Sample;
use shrink::{shrink, size};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use weft::assign::AssignError;
use weft::compile::{self, CompileError, Options};
use weft::emit::{self, Language, Target};
use weft::memory::Memory;
use weft::sim::{self, Launch};
use weft::tile::{self, Module, eval};
use weft::ttir;
use weft_layout::machine::{Machine, Prices};
use weft_layout::plan::PlanError;

/// The runs of a test, and of a long one.
const RUNS: (u64, u64) = (150, 10_000);

/// Machines that there are, and some that there are not.
const MACHINES: [&str; 8] =
    ["sm_80", "sm_89", "sm_90", "gfx90a", "gfx942", "wide", "small", "packing"];

/// How a kernel is compiled.
#[derive(Clone, Copy, Debug)]
struct Setting {
    machine: &'static str,
    warps: u32,
}

/// What is wrong: a short name that tells defects apart, and all that is known.
#[derive(Debug)]
struct Failure {
    kind: String,
    message: String,
}

impl Failure {
    fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
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

fn sample(seed: u64) -> Sample {
    generate::sample(&dice::bytes(seed, 1 << 15))
}

/// What the evaluator leaves, and the sums of floats in it.
struct Expected {
    memory: Memory,
    sums: eval::Sums,
}

/// What the evaluator says; a random kernel has no faults.
fn expected(sample: &Sample) -> Result<Expected, Failure> {
    let mut memory = sample.memory.clone();
    tile::verify(&sample.kernel)
        .map_err(|errors| Failure::new("generator", format!("{errors:?}")))?;
    let report =
        eval::run(&sample.kernel, sample.grid, &sample.args, &mut memory, eval::Options::default())
            .map_err(|error| Failure::new("generator", error.to_string()))?;
    match report.findings.first() {
        Some(finding) => Err(Failure::new("generator", finding.to_string())),
        None => Ok(Expected { memory, sums: report.sums }),
    }
}

/// Whether a kernel that was compiled ran, or there was too little shared memory for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Equal,
    Refused,
}

/// Reads the text of a kernel and prints what was read.
fn check_text(sample: &Sample) -> Result<(), Failure> {
    let module = Module { kernels: vec![sample.kernel.clone()], ..Module::default() };
    let text = module.to_string();
    let again = ttir::parse(&text)
        .map_err(|errors| Failure::new("text", format!("what is printed is not read: {errors}")))?;
    if again.to_string() != text {
        return Err(Failure::new("text", format!("what was read prints otherwise:\n{again}")));
    }
    Ok(())
}

/// Compiles, simulates and compares.
fn check(sample: &Sample, setting: Setting, expected: &Expected) -> Result<Outcome, Failure> {
    let machine = &machine(setting.machine);
    let options = Options { warps: setting.warps, ..Options::for_machine(machine) };
    let module = Module::default();
    let compile = || compile::compile(&module, &sample.kernel, &options);
    let compiled = match compile() {
        Ok(compiled) => compiled,
        // There may be too little shared memory.
        Err(
            CompileError::SharedMemory { .. }
            | CompileError::Assign { cause: AssignError::Plan(PlanError::Scratch { .. }), .. },
        ) => return Ok(Outcome::Refused),
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
    let mut memory = sample.memory.clone();
    let launch = Launch {
        program: &compiled.program,
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
        let rounded = sample.approximate.contains(&index);
        let tolerance = rounded.then(|| eval::Tolerance::of(wanted.dtype)).flatten();
        let sums = Some((&expected.sums, index));
        eval::compare(wanted, found, &eval::Allowance { tolerance, sums })
            .map_err(|mismatch| Failure::new("mismatch", mismatch.to_string()))?;
    }
    Ok(Outcome::Equal)
}

fn check_catching(
    sample: &Sample,
    setting: Setting,
    expected: &Expected,
) -> Result<Outcome, Failure> {
    let run = AssertUnwindSafe(|| {
        check_text(sample)?;
        check(sample, setting, expected)
    });
    catch_unwind(run).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_default();
        Err(Failure::new(format!("panic {message}"), message))
    })
}

/// One seed in one setting; the failure with the smallest kernel that was found to show it, without
/// one where its kind is known.
fn check_seed(seed: u64, setting: Setting, known: &BTreeSet<String>) -> Result<Outcome, Failure> {
    let sample = sample(seed);
    let wanted = expected(&sample).map_err(|Failure { kind, message }| {
        Failure::new(kind, format!("seed {seed}: {message}\n{}", sample.kernel))
    })?;
    check_catching(&sample, setting, &wanted).map_err(|failure| {
        if known.contains(&failure.kind) {
            return failure;
        }
        let same = |smaller: &Sample| {
            expected(smaller).is_ok_and(|wanted| {
                check_catching(smaller, setting, &wanted)
                    .is_err_and(|other| other.kind == failure.kind)
            })
        };
        let small = shrink(&sample, same);
        let (from, to) = (size(&sample.kernel), size(&small.kernel));
        let message = format!(
            "seed {seed} on {} with {} warps ({from} operations shrunk to {to}): {}\n{}",
            setting.machine, setting.warps, failure.message, small.kernel
        );
        Failure { message, ..failure }
    })
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// Every machine with every number of warps.
fn settings() -> Vec<Setting> {
    let machines = MACHINES.iter();
    machines.flat_map(|&machine| [1, 2, 4, 8].map(|warps| Setting { machine, warps })).collect()
}

#[test]
fn random_kernels_equal_the_evaluator() {
    let (short, long) = RUNS;
    let is_long = std::env::var_os("WEFT_LONG").is_some();
    let asked = number("WEFT_RUNS").or(is_long.then_some(long));
    let first = number("WEFT_SEED");
    let all = settings();
    let wanted = asked.unwrap_or(short);
    // One seed alone is held against every setting, otherwise each against one.
    let alone = first.filter(|_| asked.is_none());
    let runs: Box<dyn Iterator<Item = (u64, Setting)>> = match alone {
        Some(seed) => Box::new(all.iter().map(move |&setting| (seed, setting))),
        None => {
            let drawn = |seed| (seed, all[dice::drawn(seed, all.len())]);
            Box::new((first.unwrap_or(0)..).map(drawn))
        }
    };
    let (mut failures, mut kinds) = (Vec::new(), BTreeSet::new());
    let (mut equal, mut refused, mut failed) = (0, 0, 0);
    for (seed, setting) in runs {
        match check_seed(seed, setting, &kinds) {
            Ok(Outcome::Equal) => equal += 1,
            Ok(Outcome::Refused) => refused += 1,
            Err(Failure { kind, message }) => {
                failed += 1;
                if kinds.insert(kind) {
                    println!("{message}");
                    failures.push(message);
                }
                if asked.is_none() {
                    break;
                }
            }
        }
        // A kernel that does not fit is no run.
        if alone.is_none() && equal + failed == wanted {
            break;
        }
    }
    println!(
        "{equal} random kernels equal the evaluator, {failed} do not, {refused} want more shared memory"
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(alone.is_some() || refused <= wanted / 10, "{refused} kernels did not run");
}
