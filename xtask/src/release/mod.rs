//! A release: its checklist, and the files that it consists of.
//!
//! Each step stands alone and says what it found in a line; `cargo xtask release --dry-run` takes all of
//! them, `--step` some. What a step needs and the machine lacks is a failure, never skipped in silence.
//!
//! | step | what it holds true |
//! | --- | --- |
//! | `tree` | everything is committed |
//! | `version` | one version everywhere, with a section in the changelog |
//! | `licences` | every crate in the files has a licence that `deny.toml` allows, and its text goes with them |
//! | `crates` | `cargo publish --dry-run` builds each crate from what its package holds, in order |
//! | `archives` | the command with its manual, completions, licences and bill of materials, for each target |
//! | `wheels` | the Python package for each target: what is in it, and that it is small |
//! | `install` | the wheel alone, in a new environment of each Python, passes the package's tests |
//! | `sums` | the digest of every file |
//! | `publish` | the crates are uploaded, in order; not with `--dry-run`, nor where a step before it failed |

mod archives;
mod files;
mod install;
mod licences;
mod packages;
mod target;
mod wheels;

use crate::{root, say};
use anyhow::{Context as _, anyhow, bail, ensure};
use clap::ValueEnum as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use target::Target;

/// A part of the checklist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Step {
    /// Everything is committed.
    Tree,
    /// One version everywhere, with a section in the changelog.
    Version,
    /// Licences of what goes into the files.
    Licences,
    /// Packages of the crates, each built from what is in it.
    Crates,
    /// Archives of the command.
    Archives,
    /// Wheels of the Python package.
    Wheels,
    /// The wheel alone in a new environment.
    Install,
    /// Digests of all files.
    Sums,
    /// Upload of the crates.
    Publish,
}

/// What is asked for.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Upload nothing.
    #[arg(long)]
    dry_run: bool,
    /// Only these steps.
    #[arg(long = "step")]
    steps: Vec<Step>,
    /// Build for these targets, each as Rust names it; this machine's unless given.
    #[arg(long = "target")]
    targets: Vec<Target>,
    /// Test the wheel with these interpreters.
    #[arg(long = "python", default_value = "python3")]
    pythons: Vec<PathBuf>,
    /// Where the files go.
    #[arg(long, default_value = "target/release-files")]
    output: PathBuf,
}

/// What every step knows.
struct Release {
    version: String,
    targets: Vec<Target>,
    pythons: Vec<PathBuf>,
    output: PathBuf,
    /// Whether the changelog may still call the section unreleased.
    is_rehearsal: bool,
}

impl Release {
    fn take(&self, step: Step) -> anyhow::Result<String> {
        match step {
            Step::Tree => tree(),
            Step::Version => packages::version(self),
            Step::Licences => licences::check(self),
            Step::Crates => packages::rehearse(),
            Step::Archives => archives::make(self),
            Step::Wheels => wheels::make(self),
            Step::Install => install::test(self),
            Step::Sums => files::sums(&self.output),
            Step::Publish if self.is_rehearsal => Ok("nothing is uploaded in a dry run".into()),
            Step::Publish => packages::publish(),
        }
    }
}

/// Takes the steps; all are tried, and fails where one did.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { dry_run, steps, targets, pythons, output } = arguments;
    let targets = if targets.is_empty() { vec![Target::here()?] } else { targets };
    std::fs::create_dir_all(&output).with_context(|| output.display().to_string())?;
    let output = output.canonicalize()?;
    let version = packages::workspace_version()?;
    let release = Release { version, targets, pythons, output, is_rehearsal: dry_run };
    let steps = if steps.is_empty() { Step::value_variants().to_vec() } else { steps };
    let mut failed = Vec::new();
    for step in steps {
        let began = Instant::now();
        let name = format!("{step:?}").to_lowercase();
        let result = match step {
            Step::Publish if !failed.is_empty() => {
                Err(anyhow!("nothing is uploaded unless all is well"))
            }
            _ => release.take(step),
        };
        let seconds = began.elapsed().as_secs();
        match result {
            Ok(found) => say(&format!("ok    {name:<9} {seconds:>4} s  {found}")),
            Err(error) => {
                say(&format!("FAIL  {name:<9} {seconds:>4} s  {error:#}"));
                failed.push(name);
            }
        }
    }
    ensure!(failed.is_empty(), "not ready: {}", failed.join(", "));
    Ok(())
}

/// Everything is committed.
fn tree() -> anyhow::Result<String> {
    let changed = said(Command::new("git").args(["status", "--porcelain"]))?;
    ensure!(changed.is_empty(), "not committed:\n{changed}");
    Ok(format!("commit {}", said(Command::new("git").args(["log", "-1", "--format=%h %cs"]))?))
}

/// What a command prints, run at the repository's root; an error with all that it said where it fails.
fn said(command: &mut Command) -> anyhow::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .current_dir(root())
        .output()
        .with_context(|| format!("`{name}` cannot be started"))?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        bail!("`{name}` failed:\n{}", String::from_utf8_lossy(&said).trim_end());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Cargo, as this program was started by it.
fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The folder of what cargo builds.
fn built() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A file's size in a million bytes.
fn megabytes(file: &Path) -> anyhow::Result<f64> {
    Ok(std::fs::metadata(file).with_context(|| file.display().to_string())?.len() as f64 / 1e6)
}
