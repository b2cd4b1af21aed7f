//! How long it takes to plan a conversion and to check the plan: quantiles over the pairs of layouts that
//! Triton's tests convert between.
//!
//! `WEFT_ORACLE_DIR` names the folder of `triton-conversions.jsonl`.
//! Each pair counts by the shortest of several runs, so that what else the machine does is left out.

use std::{
    env, fs,
    hint::black_box,
    io::{self, Write as _},
    path::PathBuf,
    time::{Duration, Instant},
};

use weft_layout::{Layout, Machine, interop::parse_attribute, plan};

/// How often each pair is planned.
const RUNS: usize = 20;

struct Pair {
    from: Layout,
    to: Layout,
    bits: u32,
}

fn pairs(text: &str) -> Result<Vec<Pair>, Box<dyn std::error::Error>> {
    let pair = |line: &str| -> Result<Pair, Box<dyn std::error::Error>> {
        let value: serde_json::Value = serde_json::from_str(line)?;
        let text = |key: &str| value[key].as_str().ok_or(format!("no `{key}` in {line}"));
        let shape: Vec<u64> = serde_json::from_value(value["shape"].clone())?;
        let layout = |key: &str| -> Result<Layout, Box<dyn std::error::Error>> {
            Ok(parse_attribute(text(key)?)?.layout(&shape)?)
        };
        // The first number of a type's name is its width: `i8`, `f8E4M3FN`, `f16`.
        let digits = text("element")?.chars().skip_while(|c| !c.is_ascii_digit());
        let digits: String = digits.take_while(char::is_ascii_digit).collect();
        Ok(Pair { from: layout("from")?, to: layout("to")?, bits: digits.parse()? })
    };
    text.lines().map(pair).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = io::stdout();
    let Some(folder) = env::var_os("WEFT_ORACLE_DIR") else {
        writeln!(out, "skipped: WEFT_ORACLE_DIR is not set")?;
        return Ok(());
    };
    let text = fs::read_to_string(PathBuf::from(folder).join("triton-conversions.jsonl"))?;
    let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
    let pairs = pairs(&text)?;
    let mut times: Vec<Duration> = Vec::with_capacity(pairs.len());
    for Pair { from, to, bits } in &pairs {
        let mut least = Duration::MAX;
        for _ in 0..RUNS {
            let start = Instant::now();
            black_box(plan::convert(black_box(from), black_box(to), *bits, machine)?);
            least = least.min(start.elapsed());
        }
        times.push(least);
    }
    times.sort_unstable();
    let quantile = |percent: usize| times[(times.len() - 1) * percent / 100];
    writeln!(out, "{} conversions planned and checked", times.len())?;
    for (name, percent) in [("median", 50), ("90 %", 90), ("99 %", 99), ("longest", 100)] {
        writeln!(out, "{name:8} {:8.1} us", quantile(percent).as_secs_f64() * 1e6)?;
    }
    Ok(())
}
