//! What somebody types wrong: each answer names what was wrong, where, and what would be right.
//!
//! `mistyped.txt` holds commands as a shell reads them, each with those three as words that its answer
//! must hold (`# what | where | right`), and the answer whole; `UPDATE_EXPECT=1` writes the answers anew.

use crate::{finished, root};
use expect_test::expect_file;
use std::path::Path;
use std::process::Command;

const FILE: &str = include_str!("mistyped.txt");

/// A command, and what its answer must name.
struct Case<'a> {
    command: &'a str,
    named: Vec<&'a str>,
}

fn cases() -> impl Iterator<Item = Case<'static>> {
    let command = |(at, line): (usize, &'static str)| {
        let command = line.strip_prefix("$ ")?;
        let named = FILE.lines().nth(at + 1).and_then(|line| line.strip_prefix("# "));
        let named = named.unwrap_or_else(|| panic!("what must the answer to `{command}` name?"));
        Some(Case { command, named: named.split(" | ").collect() })
    };
    FILE.lines().enumerate().filter_map(command)
}

/// What a command of a shell answers, on either output.
fn answered(command: &str) -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_weft")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env("PATH", format!("{}:{path}", folder.display()));
    let finished = finished(&mut shell, "");
    // A line of a batch that is wrong is answered, and the batch is well.
    let (status, answer) = if command.contains("--batch") {
        (0, finished.stdout)
    } else {
        (2, finished.stderr + &finished.stdout)
    };
    assert_eq!(finished.status, status, "{command}: {answer}");
    answer
}

#[test]
#[cfg(unix)]
fn every_answer_names_what_is_wrong_where_and_what_would_be_right() {
    let mut whole = String::new();
    let mut count = 0;
    for Case { command, named } in cases() {
        let answer = answered(command);
        assert_eq!(named.len(), 3, "{command}: what, where, right");
        for word in &named {
            assert!(answer.contains(word), "{command}\ndoes not name `{word}`:\n{answer}");
        }
        count += 1;
        let named = named.join(" | ");
        whole += &format!("$ {command}\n# {named}\n{}\n\n", answer.trim_end());
    }
    assert!(count >= 40, "{count} commands");
    expect_file![root().join("crates/weft-command/tests/it/mistyped.txt")].assert_eq(&whole);
}
