//! Mutated inputs of every entry point: texts of kernels, requests, tools' arguments, sessions.
//!
//! The library's requests are answered by processes of their own ([`super::worker`]), so that one that
//! dies or does not answer is told and replaced. An input depends on its number alone.

use super::sessions::{Http, Mcp, Worker};
use super::{MEMORY, PATIENCE, STACK};
use crate::measure::Measurement;
use crate::{root, say};
use anyhow::{Context as _, ensure};
use fastrand::Rng;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[path = "../../../crates/weft/tests/it/mutated/text.rs"]
mod text;

/// The inputs of one measurement.
const COUNT: u64 = 200_000;
/// The longest kernel that is mutated, in bytes: longer ones say nothing new.
const LONGEST: usize = 24 << 10;
/// What a request may take, so that an endless loop is an answer too.
const LIMITS: &str = r#"{"milliseconds": 2000}"#;

/// What is mutated.
pub(super) struct Seeds {
    kernels: Vec<String>,
    requests: Vec<Value>,
}

impl Seeds {
    fn read() -> anyhow::Result<Self> {
        let mut kernels = Vec::new();
        for folder in ["kernels", "examples"] {
            for entry in fs::read_dir(root().join(folder))? {
                let path = entry?.path();
                let is_kernel = path.extension().is_some_and(|end| end == "ttir" || end == "ttgir");
                if is_kernel && fs::metadata(&path)?.len() <= LONGEST as u64 {
                    kernels.push(path);
                }
            }
        }
        kernels.sort();
        let kernels = kernels.iter().map(fs::read_to_string).collect::<Result<_, _>>()?;
        let requests =
            fs::read_to_string(root().join("crates/weft-api/tests/transports/requests.jsonl"))?;
        // Some of them are no JSON.
        let requests = requests.lines().filter_map(|line| serde_json::from_str(line).ok());
        // Whoever asks for hours may have them.
        let requests = requests.filter(|request: &Value| request.get("limits").is_none()).collect();
        Ok(Self { kernels, requests })
    }

    /// The kernel of a text, changed once to three times.
    fn kernel(&self, dice: &mut Rng) -> String {
        let mut kernel = self.kernels[dice.usize(..self.kernels.len())].clone();
        for _ in 0..dice.usize(1..=3) {
            if let Some(changed) = text::mutated(&kernel, dice.u32(..)) {
                kernel = changed;
            }
        }
        kernel
    }

    /// A request of the library, as text that may be no JSON any more.
    pub(super) fn request(&self, dice: &mut Rng) -> String {
        let mut request = match dice.u8(..10) {
            0..2 => {
                json!({"request": "compile", "ttir": self.kernel(dice), "emit": ["ptx", "cuda", "report", "ttgir"]})
            }
            2 => json!({"request": "explain", "ttir": self.kernel(dice)}),
            3 => {
                let kernel = self.kernel(dice);
                let args = arguments(&kernel);
                json!({"request": "run", "ttir": kernel, "grid": 2, "args": args})
            }
            _ => {
                let mut request = self.requests[dice.usize(..self.requests.len())].clone();
                for _ in 0..dice.usize(1..=3) {
                    mutate(&mut request, dice);
                }
                request
            }
        };
        if let Some(object) = request.as_object_mut()
            && dice.u8(..8) > 0
        {
            object.insert("limits".into(), serde_json::from_str(LIMITS).unwrap_or_default());
        }
        let mut text = request.to_string();
        if dice.u8(..10) == 0 {
            text = scrambled(&text, dice);
        }
        text
    }

    /// The name and the arguments of an agent's tool.
    pub(super) fn call(&self, dice: &mut Rng) -> (String, String) {
        let mut request = self.requests[dice.usize(..self.requests.len())].clone();
        let asked = request.as_object_mut().and_then(|object| object.remove("request"));
        mutate(&mut request, dice);
        // Not every request is a tool.
        let tool = match asked.as_ref().and_then(Value::as_str) {
            Some("run") => "simulate",
            Some(name) if TOOLS.contains(&name) => name,
            _ => "layout",
        };
        (tool.into(), request.to_string())
    }
}

/// An argument for each parameter that the first line of a kernel names.
fn arguments(kernel: &str) -> Value {
    let head = kernel.lines().find(|line| line.contains("tt.func public")).unwrap_or_default();
    let parameters = head.split('%').skip(1).filter_map(|rest| rest.split_once(": "));
    let argument = |(name, rest): (&str, &str)| {
        let element = rest.strip_prefix("!tt.ptr<").and_then(|rest| rest.split('>').next());
        let value = element.map_or("64".into(), |element| format!("random:{element}[4096]"));
        (name.to_owned(), Value::from(value))
    };
    parameters.map(argument).collect::<serde_json::Map<_, _>>().into()
}

/// The tools that are called as requests are.
const TOOLS: [&str; 7] =
    ["machines", "layout", "conflicts", "swizzle", "convert", "compile", "explain"];

/// Numbers and other values at the edges of what anything takes.
const EDGES: [&str; 24] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "48",
    "63",
    "64",
    "65",
    "4096",
    "65536",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "1e308",
    "0.5",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
];

fn edge(dice: &mut Rng) -> Value {
    serde_json::from_str(EDGES[dice.usize(..EDGES.len())]).unwrap_or_default()
}

/// Changes something in a value: a member goes, comes twice or becomes another; a text is scrambled.
fn mutate(value: &mut Value, dice: &mut Rng) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let keys: Vec<String> = members.keys().cloned().collect();
            let key = &keys[dice.usize(..keys.len())];
            match dice.u8(..8) {
                0 => drop(members.remove(key)),
                1 => drop(members.insert(scrambled(key, dice), edge(dice))),
                2 => {
                    let other = members[&keys[dice.usize(..keys.len())]].clone();
                    members.insert(key.clone(), other);
                }
                _ => mutate(&mut members[key], dice),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let index = dice.usize(..items.len());
            match dice.u8(..6) {
                0 => drop(items.remove(index)),
                1 => {
                    let again = vec![items[index].clone(); 1 << dice.u8(..12)];
                    items.splice(index..index, again);
                }
                2 => items[index] = edge(dice),
                _ => mutate(&mut items[index], dice),
            }
        }
        Value::String(text) if dice.u8(..6) > 0 => {
            let is_kernel = text.contains("tt.func");
            let changed = is_kernel.then(|| text::mutated(text, dice.u32(..))).flatten();
            *text = changed.unwrap_or_else(|| scrambled(text, dice));
        }
        value => *value = edge(dice),
    }
}

/// What layouts, numbers and JSON are made of.
const LETTERS: &str = "()[]{}<>:,=#%\"\\0123456789xo-+_.*?S ;\n\u{feff}\u{e9}";

/// A text with letters that go, come, move or repeat.
pub(super) fn scrambled(text: &str, dice: &mut Rng) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let new: Vec<char> = LETTERS.chars().collect();
    for _ in 0..dice.usize(1..=4) {
        let (at, letter) = (dice.usize(..=letters.len()), new[dice.usize(..new.len())]);
        match dice.u8(..5) {
            0 if at < letters.len() => drop(letters.remove(at)),
            1 if at < letters.len() => letters[at] = letter,
            2 => letters.truncate(at.max(letters.len() / 2)),
            // Deep nesting and long numbers are made of one letter.
            3 => drop(letters.splice(at..at, vec![letter; 1 << dice.u8(..16)])),
            _ => letters.insert(at, letter),
        }
    }
    letters.into_iter().collect()
}

/// What became of the inputs of one entry point.
#[derive(Default)]
struct Tally {
    answers: u64,
    errors: u64,
    /// Answers that say that Weft is at fault.
    defects: u64,
    deaths: u64,
    hangs: u64,
    longest: Duration,
}

impl Tally {
    fn add(&mut self, outcome: &anyhow::Result<String>, time: Duration) {
        self.longest = self.longest.max(time);
        match outcome {
            Ok(kind) => match &**kind {
                "answer" => self.answers += 1,
                "defect" | "no JSON" | "no kind" => self.defects += 1,
                _ => self.errors += 1,
            },
            Err(_) if time >= PATIENCE => self.hangs += 1,
            Err(_) => self.deaths += 1,
        }
    }

    fn is_clean(&self) -> bool {
        (self.defects, self.deaths, self.hangs) == (0, 0, 0)
    }

    fn row(&self, name: &str) -> Vec<String> {
        let Self { answers, errors, defects, deaths, hangs, longest } = self;
        let mut row = vec![name.into()];
        row.extend(
            [answers + errors, *answers, *errors, *defects, *deaths, *hangs].map(|n| n.to_string()),
        );
        row.push(format!("{:.1}", longest.as_secs_f64()));
        row
    }
}

/// The entry points, and how many of a hundred inputs go to each.
const DOORS: [(&str, u64); 4] =
    [("requests", 70), ("tools of agents", 20), ("`weft mcp`", 4), ("`weft serve`", 6)];

/// Asks everything, and writes what became of it.
pub(crate) fn measure(weft: &Path) -> anyhow::Result<Measurement> {
    let seeds = Seeds::read()?;
    let count =
        std::env::var("WEFT_INPUTS").ok().and_then(|count| count.parse().ok()).unwrap_or(COUNT);
    let tallies: Mutex<BTreeMap<&str, Tally>> = Mutex::default();
    let next = AtomicU64::new(0);
    let folder = root().join("target/hostile");
    fs::create_dir_all(&folder)?;
    let workers = thread::available_parallelism()?.get();
    thread::scope(|scope| -> anyhow::Result<()> {
        let work = || ask_all(&seeds, weft, &next, count, &tallies, &folder);
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
    next: &AtomicU64,
    count: u64,
    tallies: &Mutex<BTreeMap<&'static str, Tally>>,
    folder: &Path,
) -> anyhow::Result<()> {
    let mut worker = Worker::default();
    let (mut mcp, mut http) = (Mcp::new(weft), Http::new(weft));
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
        let door = door.context("the shares are a hundred")?;
        let start = Instant::now();
        let (input, outcome) = match door {
            "tools of agents" => {
                let (tool, text) = seeds.call(&mut dice);
                let outcome = worker.ask(&format!("tool {tool}"), &text);
                (format!("{tool} {text}"), outcome)
            }
            "`weft mcp`" => mcp.ask(seeds, &mut dice),
            "`weft serve`" => http.ask(seeds, &mut dice),
            _ => {
                let text = seeds.request(&mut dice);
                let outcome = worker.ask("invoke", &text);
                (text, outcome)
            }
        };
        let time = start.elapsed();
        let mut tallies = tallies.lock().map_err(|_| anyhow::anyhow!("it panicked"))?;
        let tally = tallies.entry(door).or_default();
        let was_clean = (tally.defects, tally.deaths, tally.hangs);
        tally.add(&outcome, time);
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
