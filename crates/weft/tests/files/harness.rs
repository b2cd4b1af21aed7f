//! What all file tests have in common: the files are found, each case is a test, and texts are compared.

use crate::format::{self, Case, File};
use libtest_mimic::{Arguments, Failed, Trial};
use similar::TextDiff;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// What the words of a command make of a case in a file.
pub(crate) type Run = fn(&Path, &Case, &str) -> Result<String, String>;

/// Held while a file is written anew, which several of its cases may want at once.
static WRITING: Mutex<()> = Mutex::new(());

/// Runs the cases of all files below a folder, or those that the arguments of the program choose.
pub(crate) fn run(folder: &Path, run: Run) -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for path in files(folder) {
        let name = path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
        match File::read(&path) {
            Err(error) => trials.push(Trial::test(name, move || Err(error.into()))),
            Ok(file) => trials.extend(file.cases.into_iter().map(|case| {
                let path = path.clone();
                Trial::test(format!("{name}: {}", case.name), move || check(&path, &case, run))
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
fn check(path: &Path, case: &Case, run: Run) -> Result<(), Failed> {
    let mut wrong = String::new();
    for (index, view) in case.views.iter().enumerate() {
        let at = format!("{}:{}: `{}`", path.display(), view.line, view.command);
        let given = run(path, case, &view.command);
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
