//! What is measured and what is printed, in the documents, so that no figure and no output there is
//! typed by hand.
//!
//! * Between `<!-- table: NAME -->` and `<!-- /table -->` a document shows the table of
//!   `docs/measurements/NAME.json`; between `<!-- counts: NAME -->` and `<!-- /counts -->` how many of
//!   its rows have which word in the second column.
//! * Between `<!-- listing: COMMAND -->` and `<!-- /listing -->` it shows what a command of `weft`, or a
//!   program of `examples` in Python, prints; `<!-- listing 3..9: COMMAND -->` shows lines 3 to 9 of it.

use crate::measure::Measurement;
use crate::{root, say};
use anyhow::{Context as _, bail, ensure};
use std::path::PathBuf;
use std::process::Command;

/// Fills every document, or checks that each is filled as it would be.
pub(crate) fn run(check: bool) -> anyhow::Result<()> {
    let mut stale = Vec::new();
    let mut filled = 0;
    for path in documents()? {
        let text = std::fs::read_to_string(&path)?;
        let (fresh, count) = fill(&text).with_context(|| format!("{}", path.display()))?;
        filled += count;
        if fresh != text {
            if check {
                stale.push(path.display().to_string());
            } else {
                std::fs::write(&path, fresh)?;
            }
        }
    }
    if !stale.is_empty() {
        bail!("not as measured or printed: {}; run `cargo xtask documents`", stale.join(", "));
    }
    say(&format!("{filled} tables and listings are as measured and printed"));
    Ok(())
}

fn documents() -> anyhow::Result<Vec<PathBuf>> {
    let mut documents = vec![root().join("README.md"), root().join("ARCHITECTURE.md")];
    for entry in std::fs::read_dir(root().join("docs/src"))? {
        documents.push(entry?.path());
    }
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    documents.sort();
    Ok(documents)
}

/// The text with everything between markers made anew, and how many places there are.
fn fill(text: &str) -> anyhow::Result<(String, usize)> {
    let (mut filled, mut rest, mut count) = (String::new(), text, 0);
    while let Some((start, kind)) = next_marker(rest) {
        let end = start + rest[start..].find(" -->").context("a marker is not closed")? + 4;
        let marker = &rest[start..end];
        let close = format!("<!-- /{kind} -->");
        let stop =
            rest[end..].find(&close).with_context(|| format!("no `{close}` after {marker}"))?;
        let (head, argument) = marker[5..marker.len() - 4].split_once(": ").context("no `: `")?;
        let content = match kind {
            "table" => measurement(argument)?.table(argument),
            "counts" => measurement(argument)?.counts(argument),
            _ => listing(head, argument)?,
        };
        filled.push_str(&rest[..end]);
        filled.push_str(&content);
        filled.push_str(&close);
        rest = &rest[end + stop + close.len()..];
        count += 1;
    }
    filled.push_str(rest);
    Ok((filled, count))
}

fn next_marker(text: &str) -> Option<(usize, &'static str)> {
    let kinds =
        [("<!-- table: ", "table"), ("<!-- counts: ", "counts"), ("<!-- listing", "listing")];
    let found = kinds.iter().filter_map(|(open, kind)| Some((text.find(open)?, *kind)));
    found.min_by_key(|(at, _)| *at)
}

fn measurement(name: &str) -> anyhow::Result<Measurement> {
    let path = root().join(format!("docs/measurements/{name}.json"));
    let measured = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    Measurement::read(&measured)
}

/// A command of `weft`, or a program of `examples` that talks to it.
fn command_of(command: &str) -> anyhow::Result<Command> {
    let words = shlex::split(command).context("quotes do not match")?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["weft", ref arguments @ ..] => {
            cargo.args(["run", "--quiet", "--locked", "--package", "weft-command", "--"]);
            cargo.args(arguments);
            Ok(cargo)
        }
        ["python3", program, ref arguments @ ..] if program.starts_with("examples/") => {
            cargo.args(["build", "--quiet", "--locked", "--package", "weft-command"]);
            ensure!(cargo.current_dir(root()).status()?.success(), "`weft` does not build");
            let mut python = Command::new("python3");
            python.arg(program).args(arguments).env("PYTHONDONTWRITEBYTECODE", "1");
            // The command lies beside this one.
            python.env("WEFT", std::env::current_exe()?.with_file_name("weft"));
            Ok(python)
        }
        _ => bail!("only commands of `weft` and programs of `examples` are listed: `{command}`"),
    }
}

/// What a command prints, or the lines `head` names of it, in a code block.
fn listing(head: &str, command: &str) -> anyhow::Result<String> {
    let output = command_of(command)?.current_dir(root()).output()?;
    // A command that found something wrong in a kernel ends with 1, and is worth showing too.
    ensure!(
        matches!(output.status.code(), Some(0 | 1)),
        "`{command}` failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let printed = String::from_utf8(output.stdout)?;
    let lines: Vec<&str> = printed.lines().collect();
    let shown = match head.strip_prefix("listing ") {
        None => &lines[..],
        Some(range) => {
            let (first, last) = range.split_once("..").context("a range is FIRST..LAST")?;
            let (first, last): (usize, usize) = (first.parse()?, last.parse()?);
            ensure!(
                1 <= first && first <= last && last <= lines.len(),
                "`{command}` has no lines {range}"
            );
            &lines[first - 1..last]
        }
    };
    Ok(format!("\n```text\n{}\n```\n", shown.join("\n").trim_end()))
}
