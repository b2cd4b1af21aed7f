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
mod check;
mod control;
mod dice;
mod generate;
mod indexed;
mod memory;
mod shrink;
mod texts;

use build::Sample;
use check::{Expected, Failure, MACHINES, Outcome, Setting, check, check_text, expected};
pub(crate) use dice::bytes;
use shrink::{shrink, size};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The runs of a test, and of a long one.
const RUNS: (u64, u64) = (150, 10_000);

pub(crate) fn sample(seed: u64) -> Sample {
    generate::sample(&bytes(seed, 1 << 15))
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
            Ok(Outcome::Refused(why)) => {
                refused += 1;
                println!("seed {seed} on {} with {} warps: {why}", setting.machine, setting.warps);
            }
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
