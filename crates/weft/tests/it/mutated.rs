//! Recorded kernels, changed: whatever is still read is compiled or refused, printed and run, and nothing
//! panics.
//!
//! `WEFT_LONG=1` changes twenty thousand (best with `--release`), `WEFT_RUNS=500` so many, and
//! `WEFT_SEED=17` starts there. The fuzz target `ttir_compile` does the same with coverage.

mod bear;
mod text;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use weft::ttir;

/// The texts of a test, and of a long one.
const TEXTS: (u64, u64) = (300, 20_000);

/// How often another change is tried where one gives what is not read.
const TRIES: u64 = 16;

/// Longer texts take longer, and do not do more.
const MOST_BYTES: usize = 8_000;

/// The recorded texts without their places, in order.
fn recorded() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["kernels", "kernels/ttgir", "examples", "crates/weft/tests/kernels"];
    let files = folders.iter().flat_map(|folder| {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path())
    });
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|end| end == "ttir" || end == "ttgir"))
        .collect();
    files.sort();
    let texts = files.iter().map(|path| {
        let mut module = ttir::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        module.locations = weft::location::Locations::default();
        module.to_string()
    });
    texts.filter(|text| text.len() <= MOST_BYTES).collect()
}

/// Numbers of no pattern from numbers one after the other.
fn hash(number: u64) -> u32 {
    (number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn changed_kernels_are_compiled_or_refused() {
    let (short, long) = TEXTS;
    let is_long = std::env::var_os("WEFT_LONG").is_some();
    let count = number("WEFT_RUNS").unwrap_or(if is_long { long } else { short });
    let first = number("WEFT_SEED").unwrap_or(0);
    let texts = recorded();
    assert!(texts.len() > 100, "{} texts", texts.len());
    let (mut read, mut tried, mut failures) = (0, 0, Vec::new());
    for seed in first..first + count {
        // Some texts are changed once, some a few times; most changes give what is not read.
        let mut changed = texts[seed as usize % texts.len()].clone();
        for round in 0..=seed / texts.len() as u64 % 4 {
            let numbers = (0..TRIES).map(|index| (seed * 4 + round) * TRIES + index);
            let mut tries =
                numbers.filter_map(|number| text::mutated(&changed, hash(number))).filter(|text| {
                    tried += 1;
                    ttir::parse(text).is_ok()
                });
            if let Some(next) = tries.next() {
                changed = next;
            }
        }
        let Ok(module) = ttir::parse(&changed) else { continue };
        if changed == texts[seed as usize % texts.len()] {
            continue;
        }
        read += 1;
        let run = AssertUnwindSafe(|| {
            for kernel in &module.kernels {
                bear::bear(&module, kernel, seed as usize, None);
            }
        });
        if catch_unwind(run).is_err() {
            failures.push(format!("seed {seed}:\n{changed}"));
        }
    }
    println!("{tried} texts tried, {read} kernels changed, {} fail", failures.len());
    assert!(read * 4 > count, "{read} of {count} are changed");
    assert!(failures.is_empty(), "{} fail, the first of\n{}", failures.len(), failures[0]);
}
