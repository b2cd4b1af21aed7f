//! What the project does to itself: `cargo xtask validate | measure | transports | documents | release`.
//!
//! * `validate` compiles every recorded kernel for every target and has the compilers of others judge
//!   the texts.
//! * `measure` makes the files of `docs/measurements`.
//! * `transports` asks the same requests through the WebAssembly module or the server.
//! * `documents` writes those files' tables, and what commands print, into the documents, or checks
//!   that they stand there.
//! * `release` takes the checklist of a release, and makes its files.

mod accuracy;
mod conversions;
mod corpus;
mod documents;
mod homes;
mod hostile;
mod kernels;
mod measure;
mod operations;
mod release;
mod runs;
mod share;
mod transports;
mod validate;

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// What is measured runs with the allocator of the command and of the Python package.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Has the project's texts compiled, measures, and writes measured tables.
#[derive(Parser)]
#[command(name = "xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Compile the texts of every recorded kernel and of many conversions with somebody else's
    /// compiler.
    Validate {
        /// Whose.
        #[arg(default_value = "ptxas")]
        compiler: validate::Compiler,
        /// Only for this target.
        #[arg(long)]
        target: Option<String>,
        /// One text in so many of each target, others every day: `WEFT_SHARE` is the number of another
        /// day, or `all`.
        #[arg(long, default_value_t = 1)]
        one_in: usize,
    },
    /// Measure, and write a file of `docs/measurements`.
    Measure {
        /// What to measure.
        what: measure::What,
        /// The command that is measured.
        #[arg(long, default_value = "target/dist/weft")]
        weft: PathBuf,
        /// Write here instead of `docs/measurements`.
        #[arg(long)]
        output: Option<PathBuf>,
        /// Without a GPU: simulate what `device` would launch, and write no file unless `--output`
        /// names one.
        #[arg(long)]
        dry_run: bool,
        /// Change nothing; fail where `corpus` counts more than its file says.
        #[arg(long)]
        check: bool,
    },
    /// Write the kernels of a grid of conversions as PTX, with an index.
    Conversions {
        /// One conversion a line.
        #[arg(long, default_value = "docs/measurements/conversions_grid.jsonl")]
        grid: PathBuf,
        /// The folder to write into.
        output: PathBuf,
    },
    /// Ask the same requests here and through another transport; the answers must be the same bytes.
    Transports {
        /// Through which.
        transport: transports::Transport,
        /// The command whose server is asked.
        #[arg(long, default_value = "target/debug/weft")]
        weft: PathBuf,
    },
    /// Answer requests within limits: what `measure robustness` starts.
    #[command(hide = true)]
    Worker,
    /// Write measured tables and printed listings into the documents.
    Documents {
        /// Change nothing; fail where a document is not as it would be written.
        #[arg(long)]
        check: bool,
    },
    /// Take the checklist of a release, and make its files.
    Release(release::Arguments),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().task {
        Task::Validate { compiler, target, one_in } => {
            validate::run(compiler, target.as_deref(), one_in)
        }
        Task::Measure { what, check: true, .. } => measure::check(what),
        Task::Measure { what, weft, output, dry_run, check: false } => {
            measure::run(what, &weft, output, dry_run)
        }
        Task::Conversions { grid, output } => conversions::run(&grid, &output),
        Task::Transports { transport, weft } => transports::run(transport, &weft),
        Task::Worker => hostile::work(),
        Task::Release(arguments) => release::run(arguments),
        Task::Documents { check } => documents::run(check),
    }
}

/// The repository's root.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A line for the person at the terminal.
#[allow(clippy::print_stdout, reason = "a tool at the terminal speaks there")]
fn say(line: &str) {
    println!("{line}");
}
