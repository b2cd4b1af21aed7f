//! How long plans take, check included, and what they cost.
//!
//! `cargo run --release --example planning_speed` measures a few transposes;
//! `-- conversions.jsonl` all conversions of a file: one JSON object a line, with `from`, `to`,
//! `shape` and `element`.
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fs,
    hint::black_box,
    time::{Duration, Instant},
};

use weft_layout::{
    Layout, Machine,
    family::Blocked,
    interop::parse_attribute,
    plan,
    step::{Plan, Step},
    witness,
};

fn main() -> Result<(), Box<dyn Error>> {
    let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
    match env::args().nth(1) {
        Some(path) => recorded(&fs::read_to_string(path)?, machine),
        None => transposes(machine),
    }
}

/// The shortest of some runs.
fn best(runs: usize, run: impl Fn() -> bool) -> Duration {
    let times = (0..runs).filter_map(|_| {
        let start = Instant::now();
        black_box(run()).then(|| start.elapsed())
    });
    times.min().unwrap_or_default()
}

fn transposes(machine: &Machine) -> Result<(), Box<dyn Error>> {
    for (shape, warps) in [([64, 64], 4), ([128, 128], 4), ([128, 128], 8)] {
        let rows = Blocked::for_memory(&shape, &[1, 4], &[1, 0], 32, warps)?.layout(&shape)?;
        let columns = Blocked::for_memory(&shape, &[4, 1], &[0, 1], 32, warps)?.layout(&shape)?;
        let time = |what: &str, run: &dyn Fn() -> bool| {
            println!("{shape:?} {warps} warps: {what} {:?}", best(200, run));
        };
        let plan = plan::convert(&rows, &columns, 32, machine)?;
        time("convert", &|| plan::convert(black_box(&rows), &columns, 32, machine).is_ok());
        time("check", &|| witness::conversion_by_bases(black_box(&plan), &rows, &columns).is_ok());
        time("replay", &|| witness::conversion(black_box(&plan), &rows, &columns).is_ok());
        time("reduce", &|| plan::reduce(black_box(&rows), 1, &[32], machine).is_ok());
        println!("{}", plan.to_string().lines().last().unwrap_or_default());
    }
    Ok(())
}

/// The text of a field that is a string or a list of numbers.
fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("\"{key}\": "))?;
    match rest.strip_prefix('"') {
        Some(text) => text.split('"').next(),
        None => rest.strip_prefix('[')?.split(']').next(),
    }
}

/// The layouts of a line, and the bits of an element.
fn read(line: &str) -> Option<(Layout, Layout, u32)> {
    let shape: Vec<u64> =
        field(line, "shape")?.split(", ").map(str::parse).collect::<Result<_, _>>().ok()?;
    let layout = |key| parse_attribute(field(line, key)?).ok()?.layout(&shape).ok();
    let element = field(line, "element")?;
    let digits = element.trim_start_matches(|c: char| !c.is_ascii_digit());
    let digits = digits.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((layout("from")?, layout("to")?, digits.parse().ok()?))
}

/// The strategy, and who waits for whom.
fn kind(plan: &Plan) -> String {
    let scopes = plan.steps.iter().filter_map(|step| match step {
        Step::Barrier(scope) => Some(scope),
        _ => None,
    });
    match scopes.max() {
        Some(scope) => format!("{}, {scope} barriers", plan.strategy),
        None => plan.strategy.to_string(),
    }
}

fn recorded(text: &str, machine: &Machine) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::new();
    let mut prices: BTreeMap<(u32, String), (u32, u64)> = BTreeMap::new();
    for line in text.lines() {
        let (from, to, bits) = read(line).ok_or_else(|| format!("not a conversion: {line}"))?;
        let plan = plan::convert(&from, &to, bits, machine)?;
        let entry = prices.entry((bits, kind(&plan))).or_default();
        *entry = (entry.0 + 1, entry.1 + plan.cost.total);
        times.push(best(15, || plan::convert(black_box(&from), &to, bits, machine).is_ok()));
    }
    times.sort();
    for percent in [50, 99, 100] {
        let rank = (times.len() * percent).div_ceil(100).max(1) - 1;
        let time = times.get(rank).ok_or("there is no conversion")?;
        println!("{percent} % of {} plans take at most {time:?}", times.len());
    }
    for ((bits, strategy), (count, total)) in prices {
        println!("{bits:>3} bits {strategy:>29}: {count:>4} plans, {:>7} cycles", total / 100);
    }
    Ok(())
}
