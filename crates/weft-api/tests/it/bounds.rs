//! How far results may be off: no alarm where there is no error, and one where there is.
//!
//! `WEFT_LONG=1` takes 200 seeds of every run and every error that can be planted (best with
//! `--release`); `WEFT_SEEDS=17` takes so many seeds, `WEFT_KERNEL=NAME` one kernel.

mod plant;

use crate::kernels::{folder, of, runs};
use std::collections::BTreeMap;
use std::time::Instant;
use weft::compile::{self, Options};
use weft::memory::Memory;
use weft::sim::{self, Launch};
use weft::tile::{Kernel, eval, tappable};
use weft_api::request::RunRequest;
use weft_api::run::{Prepared, Simulated, locate};

/// The targets by turns.
const TARGETS: [&str; 3] = ["sm_90", "sm_80", "sm_89"];

fn is_long() -> bool {
    std::env::var_os("WEFT_LONG").is_some()
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// The runs of both lists, those of arguments up to 16 times larger last, with their requests.
fn requests(target: &str) -> Vec<(String, RunRequest)> {
    let only = std::env::var("WEFT_KERNEL").ok();
    let larger = runs("runs_larger").into_iter().map(|run| (" (larger)", run));
    let all = runs("runs").into_iter().map(|run| ("", run)).chain(larger);
    all.filter(|(_, (name, ..))| only.as_ref().is_none_or(|only| only == name))
        .map(|(kind, (name, grid, arguments))| {
            let text = std::fs::read_to_string(folder().join(format!("{name}.ttir"))).unwrap();
            (format!("{name}{kind}"), of(&text, &grid, &arguments, target).unwrap())
        })
        .collect()
}

#[test]
fn no_recorded_kernel_leaves_its_bounds_whatever_the_seed() {
    let seeds = number("WEFT_SEEDS").unwrap_or(if is_long() { 200 } else { 1 });
    let (mut runs, mut failures, mut undecided) = (0, Vec::new(), BTreeMap::new());
    let mut used: Vec<(f64, String)> = Vec::new();
    for (index, target) in TARGETS.into_iter().enumerate() {
        // Each target has its share of the seeds, and in a short run its share of every fifth kernel.
        let share = |each: u64| each % TARGETS.len() as u64 == index as u64;
        for (place, (name, request)) in requests(target).into_iter().enumerate() {
            let seeds: Vec<u64> = match seeds {
                1 => (1..2).filter(|_| place % 5 == 0 && share(place as u64 / 5)).collect(),
                _ => (1..=seeds).filter(|&seed| share(seed)).collect(),
            };
            if seeds.is_empty() {
                continue;
            }
            let started = Instant::now();
            let prepared = Prepared::new(&request).unwrap();
            let mut most = 0.0_f64;
            for seed in seeds {
                runs += 1;
                let run = prepared.with_seed(&request, seed).unwrap();
                let (evaluated, simulated) = (run.evaluate().unwrap(), run.simulate().unwrap());
                let answer = run.answer(&evaluated, &simulated).unwrap();
                for buffer in &answer.buffers {
                    if let Some(mismatch) = &buffer.mismatch {
                        failures.push(format!("{name} on {target}, seed {seed}: {mismatch}"));
                    }
                    let Some(bounds) = buffer.bounds else { continue };
                    most = most.max(bounds.used.unwrap_or(0.0));
                    if bounds.unbounded > 0 {
                        let count =
                            undecided.entry(format!("{name}: {}", buffer.name)).or_insert(0);
                        *count = bounds.unbounded.max(*count);
                    }
                }
            }
            used.push((most, format!("{name} on {target}, {:.1?}", started.elapsed())));
        }
    }
    used.sort_by(|x, y| y.0.total_cmp(&x.0));
    println!("{runs} runs; the largest shares of what rounding allows:");
    used.iter().take(20).for_each(|(share, name)| println!("  {share:.3} {name}"));
    println!("elements that rounding decides, at most: {undecided:#?}");
    assert!(failures.is_empty(), "{} of {runs}:\n{}", failures.len(), failures.join("\n"));
}

/// What became of an error that was planted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fate {
    /// A result leaves its bound.
    Found,
    /// The run itself goes wrong: outside of memory, in a circle, an assertion.
    Faulty,
    /// Results differ, each within its bound.
    Within,
    /// Only results differ of which nothing is known.
    Hidden,
    /// No result differs.
    Same,
}

/// How a changed kernel fares against what the right one leaves.
fn fate(
    kernel: &Kernel,
    run: &Prepared,
    (right, report): (&Memory, &eval::Report),
) -> Result<Fate, String> {
    let mut memory = run.memory.clone();
    let options = eval::Options { max_steps: 4 * report.steps + 1000, ..eval::Options::default() };
    let outcome = match eval::run(kernel, run.grid, &run.bits(), &mut memory, options) {
        Ok(outcome) => outcome,
        Err(eval::EvalError::Deadlock { .. } | eval::EvalError::StepLimit { .. }) => {
            return Ok(Fate::Faulty);
        }
        Err(error) => return Err(error.to_string()),
    };
    if outcome.findings.len() > report.findings.len()
        || outcome.failures.len() > report.failures.len()
    {
        return Ok(Fate::Faulty);
    }
    let (mut same, mut within) = (true, false);
    for (index, (right, found)) in right.buffers().iter().zip(memory.buffers()).enumerate() {
        let bounds = report.bounds.of_buffer(index);
        let Ok(agreement) = eval::compare(right, found, bounds) else {
            return Ok(Fate::Found);
        };
        let differs = right.bytes != found.bytes;
        same &= !differs;
        // Zeros of two signs are equal numbers.
        within |= agreement.max_share > 0.0 || differs && bounds.unbounded() == 0;
    }
    Ok(match (same, within) {
        (true, _) => Fate::Same,
        (false, true) => Fate::Within,
        (false, false) => Fate::Hidden,
    })
}

#[test]
fn planted_errors_leave_the_bounds_or_are_smaller_than_rounding() {
    // Of every so many kernels one, and of its errors.
    let (kernels, stride) = if is_long() { (1, 1) } else { (4, 6) };
    let mut counts: BTreeMap<(&str, Fate), usize> = BTreeMap::new();
    let mut hidden = Vec::new();
    let mut number = 0;
    for (name, request) in requests("sm_90").into_iter().step_by(kernels) {
        let prepared = Prepared::new(&request).unwrap().with_seed(&request, 3).unwrap();
        let evaluated = prepared.evaluate().unwrap();
        let report = evaluated.outcome.as_ref().unwrap();
        let kernel = prepared.kernel.meaning();
        for error in plant::errors(kernel) {
            number += 1;
            if number % stride != 0 {
                continue;
            }
            let Some(changed) = plant::planted(kernel, error) else { continue };
            let fate = fate(&changed, &prepared, (&evaluated.memory, report));
            let fate = fate.unwrap_or_else(|reason| panic!("{name}, {error:?}: {reason}"));
            *counts.entry((error.kind, fate)).or_default() += 1;
            if fate == Fate::Hidden {
                let place = kernel.ops[error.op].kind.name();
                hidden.push(format!("{name}: {} of {place} ({})", error.kind, error.op));
            }
        }
    }
    let of = |fate: Fate| -> usize {
        counts.iter().filter(|((_, other), _)| *other == fate).map(|(_, count)| count).sum()
    };
    for ((kind, fate), count) in &counts {
        println!("{kind}: {fate:?} {count}");
    }
    let fates = [Fate::Found, Fate::Faulty, Fate::Within, Fate::Hidden, Fate::Same];
    for fate in fates {
        println!("{fate:?}: {}", of(fate));
    }
    println!("hidden: {hidden:#?}");
    let seen = of(Fate::Found) + of(Fate::Faulty);
    let missed = of(Fate::Hidden);
    assert!(seen + of(Fate::Within) >= if is_long() { 2000 } else { 80 }, "{seen}");
    assert!(20 * of(Fate::Within) <= seen, "{} within their bounds", of(Fate::Within));
    assert_eq!(missed, 0, "hidden:\n{}", hidden.join("\n"));
}

/// Errors of compiled programs, one a kernel: the program of a kernel with one operation changed is
/// simulated in place of the right one.
#[test]
fn corrupted_programs_are_found_and_the_operation_is_named() {
    let wanted = if is_long() { 39 } else { 5 };
    let (mut found, mut named, mut failures) = (0, 0, Vec::new());
    for (place, (name, request)) in requests("sm_90").into_iter().enumerate() {
        if found == wanted {
            break;
        }
        // Short texts, which compile fast, and in a short run some of them.
        if request.ttir.len() > 12_000 || !is_long() && place % 7 != 0 {
            continue;
        }
        let run = Prepared::new(&request).unwrap().with_seed(&request, 3).unwrap();
        let evaluated = run.evaluate().unwrap();
        let report = evaluated.outcome.as_ref().unwrap();
        let kernel = run.kernel.meaning();
        let seen: Vec<_> = tappable(kernel).into_iter().map(|(op, _)| op).collect();
        let errors = plant::errors(kernel);
        // Errors of several kinds, each from the end of the program on.
        let kinds = errors.iter().rev().filter(|error| {
            let of_values = matches!(
                error.kind,
                "another operation" | "rounded to f16" | "another function" | "choice swapped"
            );
            of_values && seen.contains(&error.op)
        });
        let planted = kinds.filter_map(|&error| Some((error, plant::planted(kernel, error)?)));
        let memory = &evaluated.memory;
        let mut corrupted =
            planted.filter(|(_, changed)| fate(changed, &run, (memory, report)) == Ok(Fate::Found));
        let Some((error, _)) = corrupted.next() else { continue };
        found += 1;
        let options = Options { fp_fusion: false, ..run.kernel.options() };
        let compile = |kernel: &Kernel| {
            let kernel = plant::planted(kernel, error)?;
            compile::compile(&run.kernel.module, &kernel, &options).ok().map(|all| all.program)
        };
        // The program itself leaves its bounds on the simulator.
        let program = compile(kernel).unwrap();
        let wrong = simulated(&run, &program);
        let answers = run.check(memory, &wrong.memory, report);
        if answers.iter().all(|buffer| buffer.agrees) {
            failures.push(format!("{name}: {error:?} is not found"));
        }
        match locate(&run, &compile) {
            Some(culprit) if culprit.op == error.op => named += 1,
            culprit => println!("{name}: {error:?} is told as {culprit:?}"),
        }
    }
    println!("{found} corrupted programs, of {named} the operation is named");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(found, wanted);
    assert!(10 * named >= 9 * found, "{named} of {found} named");
}

/// What a program of a run's kernel leaves.
fn simulated(run: &Prepared, program: &weft::lane::Program) -> Simulated {
    let mut memory = run.memory.clone();
    let launch = Launch {
        program,
        grid: run.grid,
        args: &run.bits(),
        machine: &compile::simulated(&run.kernel.machine, 8),
        options: sim::Options::default(),
    };
    let report = sim::run(&launch, &mut memory).unwrap();
    Simulated { memory, report, unordered: Vec::new() }
}
