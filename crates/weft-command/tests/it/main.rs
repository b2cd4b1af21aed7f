//! The built command on the repository's examples, and on input that is wrong.
#![allow(clippy::needless_raw_string_hashes, reason = "UPDATE_EXPECT=1 writes them")]
#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod arguments;
mod bad_input;
mod conflicts;
mod emitted;
mod files;
mod json;
mod launcher;
mod layouts;
#[cfg(feature = "mcp")]
mod mcp;
mod mistyped;
mod reports;
mod serve;
mod swizzles;
mod transports;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a command did.
struct Finished {
    status: i32,
    stdout: String,
    stderr: String,
}

/// The repository's root, where the command runs.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs `weft` with the words of a line; quotes are not needed because no value here has spaces.
fn weft(line: &str) -> Finished {
    weft_with(&line.split_whitespace().collect::<Vec<_>>(), "")
}

/// Runs `weft` with arguments and a standard input.
fn weft_with(arguments: &[&str], input: &str) -> Finished {
    finished(Command::new(env!("CARGO_BIN_EXE_weft")).args(arguments), input)
}

/// Runs a command with a standard input.
fn finished(command: &mut Command, input: &str) -> Finished {
    let mut child = command
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command may end without reading all of it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Finished {
        status: output.status.code().expect("ended by a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
