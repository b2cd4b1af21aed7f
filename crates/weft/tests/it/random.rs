//! Random kernels: compiled, simulated, and equal to the reference evaluator, bit for bit.
//!
//! A kernel is made from a number, its seed; a failure prints the seed, the machine, the number of
//! warps and the text of the kernel after some shrinking. These environment variables change a run:
//!
//! * `WEFT_LONG=600` goes on for ten minutes (best with `--release`); a failure does not end it, and
//!   each kind of failure is shown once;
//! * `WEFT_SEED=17` runs that seed only; with `WEFT_LONG`, starts there.
//!
//! Every kernel is also printed as PTX and CUDA, which must not fail in another way than by naming what
//! is not supported, and compiled twice, with the same text.
//!
//! * `WEFT_NVCC` and `WEFT_CLANG` name compilers: the texts of `WEFT_TEXTS` kernels (20 if that is not
//!   given) in CUDA and HIP go through them (`texts`).

mod atomic;
mod build;
mod control;
mod dice;
mod generate;
mod memory;
mod shrink;
mod texts;

use build::Sample;
use shrink::{shrink, size};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use weft::assign::AssignError;
use weft::compile::{self, CompileError, Options};
use weft::emit::{cuda, ptx};
use weft::memory::Memory;
use weft::sim::{self, Launch};
use weft::tile::{self, Module, eval};
use weft_layout::machine::{Machine, Prices};
use weft_layout::plan::PlanError;

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

/// What the evaluator says; a random kernel has no faults.
fn expected(sample: &Sample) -> Result<Memory, Failure> {
    let mut memory = sample.memory.clone();
    tile::verify(&sample.kernel)
        .map_err(|errors| Failure::new("generator", format!("{errors:?}")))?;
    let report =
        eval::run(&sample.kernel, sample.grid, &sample.args, &mut memory, eval::Options::default())
            .map_err(|error| Failure::new("generator", error.to_string()))?;
    match report.findings.first() {
        Some(finding) => Err(Failure::new("generator", finding.to_string())),
        None => Ok(memory),
    }
}

/// Compiles, simulates and compares.
fn check(sample: &Sample, setting: Setting, expected: &Memory) -> Result<(), Failure> {
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
        ) => return Ok(()),
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
    if let Some(target) = ptx::Target::by_name(setting.machine) {
        // What is not supported is an error of its own type; anything else panics.
        let _text = ptx::print(&compiled.program, target);
        let _text = cuda::print(&compiled.program, target);
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
    for (expected, found) in expected.buffers().iter().zip(memory.buffers()) {
        eval::compare(expected, found, &eval::Exactness::Exact)
            .map_err(|mismatch| Failure::new("mismatch", mismatch.to_string()))?;
    }
    Ok(())
}

fn check_catching(sample: &Sample, setting: Setting, expected: &Memory) -> Result<(), Failure> {
    let run = AssertUnwindSafe(|| check(sample, setting, expected));
    catch_unwind(run).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_default();
        Err(Failure::new(format!("panic {message}"), message))
    })
}

/// Every setting of one seed; how a failure reads, and its kind.
fn check_seed(
    seed: u64,
    settings: &[Setting],
    known: &BTreeSet<String>,
) -> Option<(String, String)> {
    let sample = sample(seed);
    let memory = match expected(&sample) {
        Ok(memory) => memory,
        Err(Failure { kind, message }) => {
            return Some((kind, format!("seed {seed}: {message}\n{}", sample.kernel)));
        }
    };
    for &setting in settings {
        let Err(failure) = check_catching(&sample, setting, &memory) else { continue };
        if known.contains(&failure.kind) {
            return Some((failure.kind, String::new()));
        }
        let same = |smaller: &Sample| {
            expected(smaller).is_ok_and(|memory| {
                check_catching(smaller, setting, &memory)
                    .is_err_and(|other| other.kind == failure.kind)
            })
        };
        let small = shrink(&sample, same);
        let Failure { kind, message } = failure;
        let (from, to) = (size(&sample.kernel), size(&small.kernel));
        let message = format!(
            "seed {seed} on {} with {} warps ({from} operations shrunk to {to}): {message}\n{}",
            setting.machine, setting.warps, small.kernel
        );
        return Some((kind, message));
    }
    None
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn random_kernels_equal_the_evaluator() {
    let (long, seed) = (number("WEFT_LONG"), number("WEFT_SEED"));
    let budget = Duration::from_secs(long.unwrap_or(4));
    let all = ["sm_80", "sm_90", "wide", "small", "packing"]
        .iter()
        .flat_map(|&machine| [1, 2, 4, 8].map(|warps| Setting { machine, warps }));
    let all: Vec<Setting> = all.collect();
    let (mut failures, mut kinds) = (Vec::new(), BTreeSet::new());
    let start = Instant::now();
    let mut runs = 0;
    let mut next = seed.unwrap_or(0);
    while runs == 0 || start.elapsed() < budget {
        // One seed alone is held against every setting, otherwise each against two.
        let alone = seed.is_some() && long.is_none();
        let two = [0, 1].map(|offset| all[(next as usize * 5 + offset * 7) % all.len()]);
        let settings = if alone { &all[..] } else { &two[..] };
        if let Some((kind, failure)) = check_seed(next, settings, &kinds) {
            if kinds.insert(kind) {
                println!("{failure}");
                failures.push(failure);
            }
            if long.is_none() {
                break;
            }
        }
        runs += 1;
        next += 1;
        if alone {
            break;
        }
    }
    println!("{runs} random kernels");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
