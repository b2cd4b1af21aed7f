//! Measurements, and the files that hold them.

use crate::kernels::{Choice, Kernel, in_folder, to_ptx};
use crate::{accuracy, corpus, homes, hostile, operations, root, runs, say, validate};
use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use weft_api::probe;

/// What can be measured.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum What {
    /// Triton IR to PTX, for each example and some kernels, with the share of choosing homes.
    Compile,
    /// How fast the simulator runs the examples.
    Simulate,
    /// What moves between threads with Weft's homes and with Triton's, on the simulator.
    Homes,
    /// The examples, the test kernels, `kernels/` and every scalar operation on a GPU, against the
    /// evaluator and the simulator.
    Device,
    /// The same with the kernels' CUDA texts, as nvcc compiles them; `WEFT_NVCC` may name it.
    DeviceCuda,
    /// How far compiled functions are from the true ones.
    Accuracy,
    /// Instructions and registers of torch.compile's kernels beside Triton's: `WEFT_CORPUS_DIR` names
    /// the folder of their modules, `WEFT_PTXAS` the assembler.
    Corpus,
    /// What becomes of 200,000 mutated inputs of every entry point; `WEFT_INPUTS` may give another number.
    Robustness,
    /// `weft serve` under attack.
    Server,
    /// How long requests go on after they were cancelled, by every shell.
    Cancellation,
}

/// A measured claim: what, how, where, when, and the numbers.
#[derive(Serialize, Deserialize)]
pub(crate) struct Measurement {
    what: String,
    command: String,
    versions: String,
    machine: String,
    date: String,
    columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Measurement {
    pub(crate) fn new(what: &str, name: &str, columns: &[&str]) -> Self {
        Self {
            what: what.into(),
            command: format!("cargo run --profile dist --package xtask -- measure {name}"),
            versions: format!("weft {}, {}", env!("CARGO_PKG_VERSION"), rustc()),
            machine: machine(),
            date: said("date", &["-u", "+%F"]),
            columns: columns.iter().map(ToString::to_string).collect(),
            rows: Vec::new(),
        }
    }

    fn write(&self, path: &Path) -> anyhow::Result<()> {
        std::fs::write(path, serde_json::to_string_pretty(self)? + "\n")
            .with_context(|| format!("{}", path.display()))
    }

    /// A file's measurement: a table, or the times of a probed machine that are single numbers.
    pub(crate) fn read(text: &str) -> anyhow::Result<Self> {
        let file: serde_json::Value = serde_json::from_str(text)?;
        let Some((device, rows)) = probe::read_rows(&file) else {
            return Ok(serde_json::from_str(text)?);
        };
        let said = |key: &str| {
            let value = file.pointer(&format!("/measured/{key}")).and_then(|value| value.as_str());
            value.map(ToOwned::to_owned).with_context(|| format!("`measured` has no `{key}`"))
        };
        let single = rows.iter().filter_map(|row| match row.cycles[..] {
            // Two lanes alone are of the patterns that are many.
            [cycles] if !row.pattern.ends_with("aside") => {
                Some(vec![format!("`{}`", row.pattern), format!("{cycles:.2}")])
            }
            _ => None,
        });
        Ok(Self {
            what: said("what")?,
            command: said("command")?,
            versions: format!("{}, {}", said("versions")?, device.driver),
            machine: device.name,
            date: said("date")?,
            columns: vec!["pattern".into(), "cycles".into()],
            rows: single.collect(),
        })
    }

    /// The table as Markdown, with a line on where the numbers come from.
    pub(crate) fn table(&self, name: &str) -> String {
        let mut text = format!("\n| {} |\n|", self.columns.join(" | "));
        for index in 0..self.columns.len() {
            text.push_str(if index == 0 { " --- |" } else { " ---: |" });
        }
        for row in &self.rows {
            let _ = write!(text, "\n| {} |", row.join(" | "));
        }
        text + &self.origin(name)
    }

    /// How many rows have which word in the second column, as Markdown, with the same line.
    pub(crate) fn counts(&self, name: &str) -> String {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for word in self.rows.iter().filter_map(|row| row.get(1)) {
            match counts.iter_mut().find(|(known, _)| known == word) {
                Some((_, count)) => *count += 1,
                None => counts.push((word, 1)),
            }
        }
        counts.sort_by_key(|&(_, count)| core::cmp::Reverse(count));
        let column = self.columns.get(1).map_or("", String::as_str);
        let mut text = format!("\n| {column} | of {} |\n| --- | ---: |", self.rows.len());
        for (word, count) in counts {
            let _ = write!(text, "\n| {word} | {count} |");
        }
        text + &self.origin(name)
    }

    /// Where the numbers come from.
    fn origin(&self, name: &str) -> String {
        let Self { what, versions, machine, date, .. } = self;
        format!("\n\n{what}; {machine}, {versions}, {date} (`docs/measurements/{name}.json`).\n\n")
    }
}

/// Measures and writes the file.
pub(crate) fn run(
    what: What,
    weft: &Path,
    output: Option<PathBuf>,
    dry_run: bool,
) -> anyhow::Result<()> {
    if cfg!(debug_assertions) && !matches!(what, What::Accuracy | What::Corpus) {
        say(
            "this is a debug build: measure with `cargo run --profile dist --package xtask -- measure …`",
        );
    }
    if matches!(what, What::Robustness | What::Server | What::Cancellation) {
        let build = "`cargo build --profile dist --package weft-command` makes it";
        ensure!(weft.is_file(), "there is no {}: {build}", weft.display());
    }
    let mut beside = None;
    let (name, measurement) = match what {
        What::Compile => ("compile", compile()?),
        What::Simulate => ("simulate", simulate(weft)?),
        What::Homes => ("homes", homes(weft)?),
        What::Device if dry_run => ("device", device(weft, &Way::Simulated)?),
        What::Device => ("device", device(weft, &Way::Ptx)?),
        What::DeviceCuda => ("device_cuda", device(weft, &Way::cuda()?)?),
        What::Accuracy => ("accuracy", accuracy()?),
        What::Corpus => {
            let (modules, summary) = corpus()?;
            beside = Some(summary);
            ("corpus", modules)
        }
        What::Robustness => ("robustness", hostile::inputs(weft)?),
        What::Server => ("server", hostile::server(weft)?),
        What::Cancellation => ("cancellation", hostile::cancellation(weft)?),
    };
    let usual = || root().join(format!("docs/measurements/{name}.json"));
    if let Some(path) = output.or_else(|| (!dry_run).then(usual)) {
        measurement.write(&path)?;
        if let Some(summary) = &beside {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            summary.write(&path.with_file_name(format!("{stem}_summary.json")))?;
        }
    }
    match what {
        What::Device | What::DeviceCuda => {
            let wrong = say_verdicts(&measurement);
            ensure!(wrong == 0, "{wrong} runs are not as they should be");
        }
        _ => match beside {
            Some(summary) => say(&summary.table(&format!("{name}_summary"))),
            None => say(&measurement.table(name)),
        },
    }
    Ok(())
}

/// Compares what can be counted anew with its file.
pub(crate) fn check(what: What) -> anyhow::Result<()> {
    ensure!(matches!(what, What::Corpus), "only `corpus` is checked");
    let path = root().join("docs/measurements/corpus.json");
    let text = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let measured = Measurement::read(&text)?;
    corpus::check(&measured.rows, &measured.versions)
}

/// Says how many runs had which verdict, then those that are wrong; gives how many these are.
fn say_verdicts(measurement: &Measurement) -> usize {
    let verdict = |row: &Vec<String>| row.get(1).cloned().unwrap_or_default();
    let right = |verdict: &str| RIGHT.contains(&verdict);
    for known in RIGHT {
        let count = measurement.rows.iter().filter(|row| verdict(row) == known).count();
        say(&format!("{count:4} {known}"));
    }
    let wrong: Vec<_> = measurement.rows.iter().filter(|row| !right(&verdict(row))).collect();
    say(&format!("{:4} wrong", wrong.len()));
    for row in &wrong {
        say(&format!("     {}: {}", row.first().map_or("", String::as_str), verdict(row)));
    }
    wrong.len()
}

/// The verdicts of runs that are as they should be.
const RIGHT: [&str; 3] = ["bit for bit", "equal, but for the bits of NaN", "within tolerance"];

/// What a command prints, or `unknown`.
pub(crate) fn said(command: &str, arguments: &[&str]) -> String {
    let output = Command::new(command).args(arguments).output();
    match output {
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        Err(_) => "unknown".into(),
    }
}

/// The compiler's version, as far as its commit.
fn rustc() -> String {
    let said = said("rustc", &["--version"]);
    said.split(" (").next().unwrap_or_default().to_owned()
}

fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown");
    format!("one core of {}", model.trim_start_matches([' ', '\t', ':']))
}

/// Samples of each range of a function.
const SAMPLES: usize = 1024;

/// The largest errors of compiled functions.
fn accuracy() -> anyhow::Result<Measurement> {
    let columns = ["function", "arguments", "f32", "f64", "algorithm"];
    let what = format!(
        "Largest errors in units of the last place, of the lane programs as simulated, against numbers of \
         512 bits; {SAMPLES} samples of each range"
    );
    let mut measurement = Measurement::new(&what, "accuracy", &columns);
    let all = accuracy::measure(SAMPLES)?;
    let wrong: Vec<String> = all.iter().flat_map(accuracy::Found::wrong).collect();
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    for found in all {
        let shown = |worst: &accuracy::Worst| format!("{:.2}", worst.units);
        measurement.rows.push(vec![
            format!("`{}`", found.name),
            found.range,
            found.single.as_ref().map_or("instruction".into(), shown),
            shown(&found.double),
            found.algorithm.into(),
        ]);
    }
    Ok(measurement)
}

/// The median of many runs, in microseconds.
fn median(runs: usize, mut run: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// The kernels beside the examples whose compile time is measured: products, attention, a sort of 1,024.
const COMPILED: [&str; 8] = [
    "attention",
    "flash_backward_keys",
    "flash_backward_queries",
    "flash_causal",
    "flash_forward",
    "gemm_f16",
    "linear_bf16",
    "sort_rows",
];

fn compile() -> anyhow::Result<Measurement> {
    let mut measurement = Measurement::new(
        "Triton IR text to PTX text for sm_90, ptxas apart, and of that choosing homes, medians of 50 runs",
        "compile",
        &["kernel", "IR to PTX, ms", "of that homes, ms", "lines of IR", "lines of PTX"],
    );
    let listed = |kernel: &Kernel| COMPILED.contains(&&*kernel.name);
    let others = in_folder("kernels")?.into_iter().filter(listed);
    for kernel in in_folder("examples")?.into_iter().chain(others) {
        let lines: usize =
            to_ptx(&kernel.text, "sm_90")?.iter().map(|ptx| ptx.lines().count()).sum();
        let micros = median(50, || to_ptx(&kernel.text, "sm_90").map(drop))?;
        let choice = Choice::of(&kernel.text, "sm_90")?;
        let choosing = median(50, || choice.make())?;
        measurement.rows.push(vec![
            format!("`{}`", kernel.name),
            format!("{:.2}", micros / 1e3),
            format!("{:.2}", choosing / 1e3),
            kernel.text.lines().count().to_string(),
            lines.to_string(),
        ]);
    }
    Ok(measurement)
}

/// The median of five runs of each example, as the command times its simulation.
fn simulate(weft: &Path) -> anyhow::Result<Measurement> {
    let mut measurement = Measurement::new(
        "whole grids on the simulator with every check, one core, median of 5 runs",
        "simulate",
        &["run", "lane instructions, millions", "ms", "millions a second"],
    );
    for run in runs::LARGE {
        let mut times = Vec::new();
        let mut lanes = 0.0;
        for _ in 0..5 {
            let ran = run.run(weft, &["--time"])?;
            ensure!(ran.passed()?, "{}: the run found something wrong", run.kernel);
            lanes = ran.number(&["counts", "lane_instructions"])?;
            times.push(ran.milliseconds("simulate")?);
        }
        times.sort_by(f64::total_cmp);
        let time = times[times.len() / 2];
        measurement.rows.push(vec![
            run.title(),
            format!("{:.1}", lanes / 1e6),
            format!("{time:.1}"),
            format!("{:.0}", lanes / 1e3 / time),
        ]);
    }
    Ok(measurement)
}

/// The simulator's counts of both, by the machine's prices.
fn homes(weft: &Path) -> anyhow::Result<Measurement> {
    let mut measurement = Measurement::new(
        "movements between threads of one run on the simulator: wavefronts of shared memory, shuffles \
         and barriers by the prices of sm_80; first with the homes that Weft chooses for Triton's IR, \
         then as Triton 3.9's TTGIR says",
        "homes",
        &homes::COLUMNS,
    );
    measurement.machine = "simulated sm_80".into();
    measurement.rows = homes::rows(weft)?;
    Ok(measurement)
}

/// Every module of torch.compile's, and the summary.
fn corpus() -> anyhow::Result<(Measurement, Measurement)> {
    let what = "Kernels that torch 2.11 makes of programs, compiled for sm_90 by Weft and by Triton 3.6, each with its \
                own warps and stages, and assembled by one assembler: instructions but for NOP, registers of a thread, \
                bytes that it spills";
    let version = corpus::version()?;
    let counted = corpus::measure()?;
    let made = |what: &str, columns: &[&str], rows| {
        let mut measurement = Measurement::new(what, "corpus", columns);
        measurement.versions += &format!(", {version}");
        measurement.machine = "assembled for sm_90a".into();
        measurement.rows = rows;
        measurement
    };
    let summary = format!("{what}; means are geometric, then the modules with the largest ratios");
    Ok((
        made(what, &corpus::COLUMNS, corpus::rows(&counted)),
        made(&summary, &corpus::SUMMARY, corpus::summary(&counted)),
    ))
}

/// How a kernel becomes what the driver takes.
enum Way {
    /// Not at all: the simulator stands for the device.
    Simulated,
    /// As Weft prints it.
    Ptx,
    /// As CUDA C++, which nvcc compiles to PTX.
    Cuda {
        /// The compiler.
        nvcc: OsString,
        /// What it says of itself.
        version: String,
    },
}

impl Way {
    fn cuda() -> anyhow::Result<Way> {
        let nvcc = std::env::var_os("WEFT_NVCC").unwrap_or_else(|| "nvcc".into());
        let said = said(&nvcc.to_string_lossy(), &["--version"]);
        let version = said.lines().find(|line| line.contains("release"));
        let version = version.context("no nvcc; WEFT_NVCC names it")?.to_owned();
        Ok(Way::Cuda { nvcc, version })
    }

    /// Runs a kernel's file on the device as well.
    fn run(&self, weft: &Path, folder: &Path, job: &runs::Job) -> anyhow::Result<runs::Ran> {
        let runs::Job { title: _, file, grid, arguments } = job;
        let on_device = ["--device", "cuda:0"];
        let nvcc = match self {
            Way::Simulated => return runs::run_file(weft, file, grid, arguments, &[]),
            Way::Ptx => return runs::run_file(weft, file, grid, arguments, &on_device),
            Way::Cuda { nvcc, .. } => nvcc,
        };
        let (source, ptx) = (folder.join("kernel.cu"), folder.join("kernel.ptx"));
        let compile = Command::new(weft)
            .arg("compile")
            .arg(file)
            .args(["--target", "sm_90", "--emit", "cuda", "-o"])
            .arg(&source)
            .output()?;
        ensure!(compile.status.success(), "{}", String::from_utf8_lossy(&compile.stderr));
        let text = std::fs::read_to_string(&source)?;
        let target = validate::stated(&text).unwrap_or("sm_90");
        let flags = std::env::var("WEFT_NVCC_FLAGS").unwrap_or_default();
        let compiled = Command::new(nvcc)
            .args(["-std=c++17", &format!("-arch={target}"), "-ptx", "-o"])
            .arg(&ptx)
            .arg(&source)
            .args(flags.split_whitespace())
            .output()?;
        ensure!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let compiled = ptx.to_string_lossy().into_owned();
        let more = [&on_device[..], &["--target", "sm_90", "--compiled", &compiled]].concat();
        runs::run_file(weft, file, grid, arguments, &more)
    }
}

/// Each kernel once on the device, compared there with the evaluator and the simulator.
fn device(weft: &Path, way: &Way) -> anyhow::Result<Measurement> {
    let (what, name) = match way {
        Way::Simulated => ("Weft's programs simulated and compared with the evaluator", "device"),
        Way::Ptx => (
            "Weft's PTX launched through the CUDA driver and compared with the evaluator",
            "device",
        ),
        Way::Cuda { .. } => (
            "Weft's CUDA C++, compiled by nvcc, launched through the CUDA driver and compared with the \
             evaluator",
            "device-cuda",
        ),
    };
    let mut measurement = Measurement::new(
        what,
        name,
        &["run", "against the evaluator", "largest relative error", "the simulator's bits"],
    );
    if !matches!(way, Way::Simulated) {
        let gpu = |what: &str| {
            said("nvidia-smi", &[&format!("--query-gpu={what}"), "--format=csv,noheader"])
        };
        measurement.machine = gpu("name");
        measurement.versions =
            format!("weft {}, driver {}", env!("CARGO_PKG_VERSION"), gpu("driver_version"));
    }
    if let Way::Cuda { version, .. } = way {
        measurement.versions += &format!(", {version}");
    }
    let folder = std::env::temp_dir().join(format!("weft-operations-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let small = runs::SMALL.iter().chain(runs::LARGE).map(runs::Run::job);
    let mut jobs: Vec<runs::Job> = small.chain(runs::of_kernels()?).collect();
    for sweep in operations::all() {
        let file = folder.join(format!("{}.ttir", sweep.name));
        std::fs::write(&file, sweep.text())?;
        let title = format!("`{}`, {} results", sweep.name, sweep.results());
        jobs.push(runs::Job { title, file, grid: "1".into(), arguments: sweep.arguments() });
    }
    for job in jobs {
        // One that cannot run must not hide what becomes of the others.
        let row = way.run(weft, &folder, &job).and_then(|ran| device_row(way, &job.title, &ran));
        measurement.rows.push(row.unwrap_or_else(|error| {
            let said = error.to_string();
            let first = said.lines().next().unwrap_or_default();
            vec![job.title, format!("does not run: {first}"), "-".into(), "-".into()]
        }));
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(measurement)
}

/// What a device's buffers are, against the evaluator's and the simulator's.
fn device_row(way: &Way, title: &str, ran: &runs::Ran) -> anyhow::Result<Vec<String>> {
    let simulated = matches!(way, Way::Simulated);
    let buffers = ran.list(if simulated { &["buffers"] } else { &["device", "buffers"] })?;
    let exact = |buffers: &[serde_json::Value]| {
        buffers.iter().all(|buffer| buffer.get("exact").is_some_and(|exact| exact == true))
    };
    let same_bits = simulated || exact(ran.list(&["device", "simulator"])?);
    let error = buffers
        .iter()
        .filter_map(|buffer| buffer.get("max_relative_error")?.as_f64())
        .fold(0.0, f64::max);
    let verdict = match (ran.passed()?, exact(buffers), error == 0.0) {
        (true, true, _) => RIGHT[0],
        (true, false, true) => RIGHT[1],
        (true, false, false) => RIGHT[2],
        (false, ..) => "differs",
    };
    Ok(vec![
        title.into(),
        verdict.into(),
        if error == 0.0 { "0".into() } else { format!("{error:.1e}") },
        if same_bits { "yes".into() } else { "no".into() },
    ])
}
