//! File tests of the command: what is typed, and what is shown.
//!
//! The format is that of `crates/weft/tests/files`. `gives weft WORDS` runs the command in the repository's root;
//! words with spaces stand between single quotes, and what the case has as its input is the standard input. The
//! text is what the command writes, and `status N` where that is not zero. The command writes to standard output
//! if it does what was asked, and to standard error alone if it refuses (status 2).

#![allow(clippy::unwrap_used, reason = "a test may end where it is surprised")]

#[path = "../../../weft/tests/files/format.rs"]
#[allow(dead_code, reason = "commands have no options")]
mod format;
#[path = "../../../weft/tests/files/harness.rs"]
mod harness;

use format::Case;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/texts");
    harness::run(&folder, |_, case, command| run(case, command))
}

/// The words of a line, of which those between single quotes may have spaces.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.last_mut().unwrap().push_str(part);
            continue;
        }
        for (index, word) in part.split(' ').enumerate() {
            if index > 0 {
                words.push(String::new());
            }
            words.last_mut().unwrap().push_str(word);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn run(case: &Case, command: &str) -> Result<String, String> {
    case.knows(&[])?;
    let words = words(command);
    let Some(("weft", arguments)) = words.split_first().map(|(first, rest)| (&first[..], rest))
    else {
        return Err("a command begins with `weft`".into());
    };
    let mut child = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    // The command may end without reading all of it.
    let _ = child.stdin.take().unwrap().write_all(case.input.as_bytes());
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let status = output.status.code().ok_or("it was ended by a signal")?;
    let [shown, said] = [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string()));
    let (shown, said) = (shown?, said?);
    let wrong_stream = if status == 2 { &shown } else { &said };
    if !wrong_stream.is_empty() {
        return Err(format!("with status {status} it writes\n{shown}\nand says\n{said}"));
    }
    let status = if status == 0 { String::new() } else { format!("status {status}\n") };
    Ok(format!("{shown}{said}{status}"))
}
