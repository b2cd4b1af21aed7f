//! File tests: an input, what is asked of it, and what comes of that, in one file.
//!
//! A file below `tests/texts` holds cases; its folder says what they are about, its ending what their inputs are
//! (`.lane` or `.ttir`). Lines that begin with `//! ` are the harness's, everything between them is taken as it
//! stands:
//!
//! ```text
//! // Comments, up to the first case.
//!
//! //! case what no round changes is computed before the loop
//! lane @test(n: i32) warps 2 lanes 32 shared 0 {
//!   ..
//! }
//!
//! //! gives pass hoist
//! lane @test(n: i32) warps 2 lanes 32 shared 0 {
//!   ..
//! }
//! ```
//!
//! * `case NAME` begins a case. A file without one is a single case, with the name of the file.
//! * `gives COMMAND` stands in front of what the command makes of the case's input; a case may have several.
//!   Behind the command, `| from TEXT` leaves out the lines in front of the first one with this text,
//!   `| lines TEXT, TEXT` leaves those that have one of these texts, without the space around them, and
//!   `| first COUNT` so many. The commands are in `lane.rs` and `tile.rs`.
//! * `input PATH` takes the input from a file of the repository.
//! * Any other word is an option of the commands, such as `grid 4`.
//!
//! Empty lines at the end of an input or of a text do not count.
//!
//! Each case is a test: `cargo test -p weft-compiler --test files -- hoist` runs those with this word in their
//! names or their paths. Where a text differs, `UPDATE_EXPECT=1` writes what was given into the file.

#![allow(clippy::unwrap_used, reason = "a test may end where it is surprised")]

mod format;
mod lane;
mod schedules;
mod tile;

use format::{Case, File};
use libtest_mimic::{Arguments, Failed, Trial};
use similar::TextDiff;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// Held while a file is written anew, which several of its cases may want at once.
static WRITING: Mutex<()> = Mutex::new(());

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/texts");
    let mut trials = Vec::new();
    for path in files(&folder) {
        let name = path.strip_prefix(&folder).unwrap().to_string_lossy().replace('\\', "/");
        match File::read(&path) {
            Err(error) => trials.push(Trial::test(name, move || Err(error.into()))),
            Ok(file) => trials.extend(file.cases.into_iter().map(|case| {
                let path = path.clone();
                Trial::test(format!("{name}: {}", case.name), move || check(&path, &case))
            })),
        }
    }
    assert!(!trials.is_empty(), "no files in {}", folder.display());
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Holds what each command gives against what stands in the file.
fn check(path: &Path, case: &Case) -> Result<(), Failed> {
    let is_lane = path.extension().is_some_and(|extension| extension == "lane");
    let mut wrong = String::new();
    for (index, view) in case.views.iter().enumerate() {
        let at = format!("{}:{}: `{}`", path.display(), view.line, view.command);
        let words: Vec<&str> = view.command.split_whitespace().collect();
        let given = if is_lane { lane::run(case, &words) } else { tile::run(case, &words) };
        let given = given.map_err(|error| format!("{at}: {error}"))?;
        let given = view.filters.iter().fold(given, |text, filter| filter.of(&text));
        let given = format::trimmed(&given);
        if given == view.expected {
            continue;
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            update(path, &case.name, index, &given);
            continue;
        }
        let diff = TextDiff::from_lines(&view.expected, &given);
        let diff = diff.unified_diff().context_radius(4).header("expected", "given").to_string();
        wrong += &format!("{at} gives another text:\n{diff}\n");
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{wrong}UPDATE_EXPECT=1 writes what was given into the file").into())
}

/// Writes what a command gave into its file, which others may have changed in the meantime.
fn update(path: &Path, case: &str, view: usize, given: &str) {
    let _guard = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let file = File::read(path).unwrap();
    let case = file.cases.iter().find(|other| other.name == case).unwrap();
    fs::write(path, file.with(&case.views[view], given)).unwrap();
}
