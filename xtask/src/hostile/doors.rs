//! The entry points, each asked its share of the inputs, and what became of them.
//!
//! What is asked runs in processes of its own, so that one that dies or does not answer is told and
//! replaced. An input depends on its number alone.

use super::inputs::Seeds;
use super::sessions::{Http, Mcp, Shell, Worker};
use super::shells::{Shells, aside};
use super::{MEMORY, PATIENCE, STACK};
use crate::measure::Measurement;
use crate::{root, say};
use anyhow::{Context as _, ensure};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The inputs of one measurement, unless `WEFT_INPUTS` says how many.
const COUNT: u64 = 200_000;

/// What became of the inputs of one entry point.
#[derive(Default)]
struct Tally {
    answers: u64,
    errors: u64,
    /// Answers that say that Weft is at fault, or that are of no kind that the book tells.
    defects: u64,
    deaths: u64,
    hangs: u64,
    longest: Duration,
    /// How many of each kind.
    kinds: BTreeMap<String, u64>,
}

impl Tally {
    fn add(&mut self, outcome: &anyhow::Result<String>, time: Duration, told: &BTreeSet<String>) {
        self.longest = self.longest.max(time);
        if let Ok(kind) = outcome {
            *self.kinds.entry(kind.clone()).or_default() += 1;
        }
        match outcome {
            Ok(kind) if kind == "answer" => self.answers += 1,
            Ok(kind) if told.contains(kind) => self.errors += 1,
            Ok(_) => self.defects += 1,
            Err(_) if time >= PATIENCE => self.hangs += 1,
            Err(_) => self.deaths += 1,
        }
    }

    fn is_clean(&self) -> bool {
        (self.defects, self.deaths, self.hangs) == (0, 0, 0)
    }

    fn row(&self, name: &str) -> Vec<String> {
        let Self { answers, errors, defects, deaths, hangs, longest, kinds: _ } = self;
        let mut row = vec![name.into()];
        row.extend(
            [answers + errors, *answers, *errors, *defects, *deaths, *hangs].map(|n| n.to_string()),
        );
        row.push(format!("{:.1}", longest.as_secs_f64()));
        row
    }
}

/// The entry points, and how many of a hundred inputs go to each.
const DOORS: [(&str, u64); 8] = [
    ("requests", 52),
    ("tools of agents", 14),
    ("`weft mcp`", 4),
    ("`weft serve`", 6),
    ("the command", 6),
    ("Python", 6),
    ("C", 6),
    ("WebAssembly", 6),
];

/// The kinds of errors that the book tells, but for that of our own faults; and what sessions and workers say
/// of other errors.
fn told() -> anyhow::Result<BTreeSet<String>> {
    let book = fs::read_to_string(root().join("docs/src/json.md"))?;
    let rows = book.lines().skip_while(|line| *line != "## Errors");
    let rows = rows.take_while(|line| *line != "## Limits").filter(|line| line.starts_with("| `"));
    let words = rows.filter_map(|row| row.split('|').nth(1)).flat_map(|kinds| kinds.split(','));
    let mut kinds: BTreeSet<String> =
        words.map(|kind| kind.trim().trim_matches('`').to_owned()).collect();
    ensure!(kinds.remove("defect"), "the book tells no kinds of errors");
    kinds.extend(["error".to_owned(), "no object".to_owned()]);
    Ok(kinds)
}

/// Asks everything, and writes what became of it.
pub(crate) fn measure(weft: &Path) -> anyhow::Result<Measurement> {
    let seeds = Seeds::read()?;
    let count =
        std::env::var("WEFT_INPUTS").ok().and_then(|count| count.parse().ok()).unwrap_or(COUNT);
    let tallies: Mutex<BTreeMap<&str, Tally>> = Mutex::default();
    let next = AtomicU64::new(0);
    let folder = root().join("target/hostile");
    fs::create_dir_all(&folder)?;
    let (shells, told) = (Shells::build(&folder)?, told()?);
    let weft = &aside(weft, &folder, "weft")?;
    let workers = thread::available_parallelism()?.get();
    thread::scope(|scope| -> anyhow::Result<()> {
        let work = || ask_all(&seeds, weft, (&shells, &told), (&next, count), &tallies, &folder);
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            thread.join().map_err(|_| anyhow::anyhow!("it panicked"))??;
        }
        Ok(())
    })?;
    let what = format!(
        "{count} mutated inputs, each answered within {} GiB of data and {} s, requests and tools on {} KiB of \
         stack",
        MEMORY >> 30,
        PATIENCE.as_secs(),
        STACK >> 10,
    );
    let columns =
        ["entry point", "inputs", "answers", "errors", "defects", "deaths", "hangs", "longest, s"];
    let mut measurement = Measurement::new(&what, "robustness", &columns);
    let tallies = tallies.into_inner().unwrap_or_default();
    for (name, _) in DOORS {
        if let Some(tally) = tallies.get(name) {
            measurement.rows.push(tally.row(name));
        }
    }
    for (name, Tally { kinds, .. }) in &tallies {
        let kinds: Vec<_> = kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        say(&format!("{name}: {}", kinds.join(", ")));
    }
    let clean = tallies.values().all(Tally::is_clean);
    if !clean {
        say(&measurement.table("robustness"));
    }
    ensure!(clean, "what died, hung or was a defect is in {}", folder.display());
    Ok(measurement)
}

/// Asks inputs until none is left.
fn ask_all(
    seeds: &Seeds,
    weft: &Path,
    (shells, told): (&Shells, &BTreeSet<String>),
    (next, count): (&AtomicU64, u64),
    tallies: &Mutex<BTreeMap<&'static str, Tally>>,
    folder: &Path,
) -> anyhow::Result<()> {
    let mut worker = Worker::new(shells.library());
    let mut others: Vec<(&str, Worker)> = Vec::new();
    for (name, command) in [
        ("Python", shells.python("python")),
        ("C", shells.python("c")),
        ("WebAssembly", shells.node()),
    ] {
        others.extend(command.map(|command| (name, Worker::new(command))));
    }
    let (mut mcp, mut http, mut shell) = (Mcp::new(weft), Http::new(weft), Shell::new(weft));
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            return Ok(());
        }
        let mut dice = Rng::with_seed(number);
        let mut share = number % 100;
        let door = DOORS.iter().find_map(|&(name, of)| match share.checked_sub(of) {
            None => Some(name),
            Some(rest) => {
                share = rest;
                None
            }
        });
        let mut door = door.context("the shares are a hundred")?;
        let start = Instant::now();
        let (input, outcome) = match door {
            "tools of agents" => {
                let (tool, text) = seeds.call(&mut dice);
                let outcome = worker.ask(&format!("tool {tool}"), &text);
                (format!("{tool} {text}"), outcome)
            }
            "`weft mcp`" => mcp.ask(seeds, &mut dice),
            "`weft serve`" => http.ask(seeds, &mut dice),
            "the command" => shell.ask(seeds, &mut dice),
            name => {
                let other = others.iter_mut().find(|(other, _)| *other == name);
                let text = seeds.request(&mut dice, other.is_none());
                let process = match other {
                    Some((_, process)) => process,
                    // What is not here leaves its inputs to the library itself.
                    None => {
                        door = DOORS[0].0;
                        &mut worker
                    }
                };
                let outcome = process.ask("invoke", &text);
                (text, outcome)
            }
        };
        let time = start.elapsed();
        let mut tallies = tallies.lock().map_err(|_| anyhow::anyhow!("it panicked"))?;
        let tally = tallies.entry(door).or_default();
        let was_clean = (tally.defects, tally.deaths, tally.hangs);
        tally.add(&outcome, time, told);
        if (tally.defects, tally.deaths, tally.hangs) != was_clean {
            let path: PathBuf = folder.join(format!("{number}.txt"));
            let why = outcome.unwrap_or_else(|error| format!("{error:#}"));
            say(&format!("{}: {why}, after {:.1} s", path.display(), time.as_secs_f64()));
            fs::write(path, input)?;
        }
        if number.is_multiple_of(10_000) {
            say(&format!("{number} of {count}"));
        }
    }
}
