//! What is measured and what is printed, in the documents, so that no figure and no output there is
//! typed by hand; and whether the book holds together.
//!
//! * Between `<!-- table: NAME -->` and `<!-- /table -->` a document shows the table of
//!   `docs/measurements/NAME.json`; between `<!-- counts: NAME -->` and `<!-- /counts -->` how many of
//!   its rows have which word in the second column.
//! * Between `<!-- listing: COMMAND -->` and `<!-- /listing -->` it shows what a command prints;
//!   `<!-- listing 3..9: COMMAND -->` shows lines 3 to 9 of it, `<!-- listing costs: COMMAND -->` those
//!   from the first that begins with `costs` to the next empty one.
//! * Between `<!-- source python: FILE -->` and `<!-- /source -->` stands a file, with its language.
//! * Between `<!-- reference: COMMAND -->` and `<!-- /reference -->` stands what a command prints, as
//!   Markdown.
//! * `<!-- picture NAME: COMMAND -->` makes `docs/src/pictures/NAME.svg` of what a command prints; what
//!   stands between it and `<!-- /picture -->` shows the file and is left alone.
//!
//! A command is one of `weft`, or a program in Python of `examples` or `docs` that asks it.

mod book;
mod translations;

use crate::measure::Measurement;
use crate::{root, say};
use anyhow::{Context as _, bail, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A document: where it lies, and its text.
struct Document {
    path: PathBuf,
    text: String,
}

impl Document {
    /// The path from the repository's root.
    fn name(&self) -> String {
        self.path.strip_prefix(root()).unwrap_or(&self.path).display().to_string()
    }

    /// The lines outside of code blocks, with their numbers from 1.
    fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut code = false;
        self.text.lines().enumerate().filter_map(move |(index, line)| {
            let fence = line.trim_start().starts_with("```");
            code ^= fence;
            (!code && !fence).then_some((index + 1, line))
        })
    }
}

/// Fills every document, or checks that each is filled as it would be; then checks the book.
pub(crate) fn run(check: bool) -> anyhow::Result<()> {
    let mut stale = Vec::new();
    let mut made = Made::default();
    let mut documents = documents()?;
    for document in &mut documents {
        let fresh = made.fill(&document.text).with_context(|| document.name())?;
        settle(&document.path, &document.text, &fresh, check, &mut stale)?;
        document.text = fresh;
    }
    for (path, picture) in &made.pictures {
        let there = std::fs::read_to_string(path).unwrap_or_default();
        settle(path, &there, picture, check, &mut stale)?;
    }
    if !stale.is_empty() {
        bail!(
            "not as measured, printed or drawn: {}; run `cargo xtask documents`",
            stale.join(", ")
        );
    }
    let mut faults = book::check(&documents);
    faults.extend(book::pictures(&made.pictures)?);
    faults.extend(translations::check(&documents)?);
    ensure!(faults.is_empty(), "the documents do not hold together:\n{}", faults.join("\n"));
    say(&format!(
        "{} tables, listings and pictures are as measured, printed and drawn; {} documents hold together",
        made.count,
        documents.len()
    ));
    Ok(())
}

/// Writes what is new, or keeps its name where nothing is to be written.
fn settle(
    path: &Path,
    there: &str,
    fresh: &str,
    check: bool,
    stale: &mut Vec<String>,
) -> anyhow::Result<()> {
    if there != fresh && check {
        stale.push(path.display().to_string());
    } else if there != fresh {
        std::fs::write(path, fresh).with_context(|| format!("{}", path.display()))?;
    }
    Ok(())
}

/// The pages at the repository's root and every chapter of the book, in any language.
fn documents() -> anyhow::Result<Vec<Document>> {
    let names = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
    let mut paths: Vec<PathBuf> = names.iter().map(|name| root().join(name)).collect();
    let mut folders = vec![root().join("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let read = |path: PathBuf| Ok(Document { text: std::fs::read_to_string(&path)?, path });
    paths.into_iter().map(read).collect()
}

/// What has been made of the documents so far.
#[derive(Default)]
struct Made {
    /// How many places were filled.
    count: usize,
    /// The files of pictures.
    pictures: BTreeMap<PathBuf, String>,
    /// What commands have printed: chapters in two languages show the same.
    printed: BTreeMap<String, String>,
}

impl Made {
    /// The text with everything between markers made anew.
    fn fill(&mut self, text: &str) -> anyhow::Result<String> {
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((start, kind)) = next_marker(rest) {
            let end = start + rest[start..].find(" -->").context("a marker is not closed")? + 4;
            let marker = &rest[start..end];
            let close = format!("<!-- /{kind} -->");
            let stop =
                rest[end..].find(&close).with_context(|| format!("no `{close}` after {marker}"))?;
            let there = &rest[end..end + stop];
            let (head, argument) =
                marker[5..marker.len() - 4].split_once(": ").context("no `: `")?;
            filled.push_str(&rest[..end]);
            match kind {
                "table" => filled.push_str(&measurement(argument)?.table(argument)),
                "counts" => filled.push_str(&measurement(argument)?.counts(argument)),
                "source" => {
                    let language = head.strip_prefix("source ").context("no language")?;
                    let file = std::fs::read_to_string(root().join(argument))
                        .with_context(|| argument.to_owned())?;
                    filled.push_str(&format!("\n```{language}\n{}\n```\n", file.trim_end()));
                }
                "reference" => filled.push_str(&format!("\n{}\n", self.printed(argument)?.trim())),
                "picture" => {
                    let name = head.strip_prefix("picture ").context("a picture has a name")?;
                    let path = root().join(format!("docs/src/pictures/{name}.svg"));
                    let picture = self.printed(argument)?;
                    if let Some(other) = self.pictures.insert(path, picture.clone()) {
                        ensure!(other == picture, "two pictures are called `{name}`");
                    }
                    filled.push_str(there);
                }
                _ => filled.push_str(&part(head, argument, &self.printed(argument)?)?),
            }
            filled.push_str(&close);
            rest = &rest[end + stop + close.len()..];
            self.count += 1;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    /// What a command prints.
    fn printed(&mut self, command: &str) -> anyhow::Result<String> {
        if let Some(printed) = self.printed.get(command) {
            return Ok(printed.clone());
        }
        let output = command_of(command)?.current_dir(root()).output()?;
        // A command that found something wrong in a kernel ends with 1, and is worth showing too.
        ensure!(
            matches!(output.status.code(), Some(0 | 1)),
            "`{command}` failed:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let printed = String::from_utf8(output.stdout)?;
        ensure!(
            !printed.is_empty(),
            "`{command}` prints nothing:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        self.printed.insert(command.into(), printed.clone());
        Ok(printed)
    }
}

fn next_marker(text: &str) -> Option<(usize, &'static str)> {
    let kinds = [
        ("<!-- table: ", "table"),
        ("<!-- counts: ", "counts"),
        ("<!-- listing", "listing"),
        ("<!-- source ", "source"),
        ("<!-- reference: ", "reference"),
        ("<!-- picture ", "picture"),
    ];
    let found = kinds.iter().filter_map(|(open, kind)| Some((text.find(open)?, *kind)));
    found.min_by_key(|(at, _)| *at)
}

fn measurement(name: &str) -> anyhow::Result<Measurement> {
    let path = root().join(format!("docs/measurements/{name}.json"));
    let measured = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    Measurement::read(&measured)
}

/// A command of `weft`, or a program that talks to it.
fn command_of(command: &str) -> anyhow::Result<Command> {
    let words = shlex::split(command).context("quotes do not match")?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["weft", ref arguments @ ..] => {
            cargo.args(["run", "--quiet", "--locked", "--package", "weft-command", "--"]);
            cargo.args(arguments);
            Ok(cargo)
        }
        ["python3", program, ref arguments @ ..]
            if program.starts_with("examples/") || program.starts_with("docs/") =>
        {
            cargo.args(["build", "--quiet", "--locked", "--package", "weft-command"]);
            ensure!(cargo.current_dir(root()).status()?.success(), "`weft` does not build");
            let mut python = Command::new("python3");
            python.arg(program).args(arguments).env("PYTHONDONTWRITEBYTECODE", "1");
            // The command lies beside this one.
            python.env("WEFT", std::env::current_exe()?.with_file_name("weft"));
            Ok(python)
        }
        _ => bail!("only commands of `weft` and programs of `examples` and `docs`: `{command}`"),
    }
}

/// What a command printed, or the part that `head` names of it, in a code block.
fn part(head: &str, command: &str, printed: &str) -> anyhow::Result<String> {
    let lines: Vec<&str> = printed.lines().collect();
    let shown = match head.strip_prefix("listing ").map(|part| (part, part.split_once(".."))) {
        None => &lines[..],
        Some((range, Some((first, last)))) => {
            let (first, last): (usize, usize) = (first.parse()?, last.parse()?);
            ensure!(
                1 <= first && first <= last && last <= lines.len(),
                "`{command}` has no lines {range}"
            );
            &lines[first - 1..last]
        }
        Some((section, None)) => {
            let first = lines.iter().position(|line| line.starts_with(section));
            let first = first.with_context(|| format!("`{command}` has no section {section}"))?;
            let length = lines[first..].iter().position(|line| line.is_empty());
            &lines[first..length.map_or(lines.len(), |length| first + length)]
        }
    };
    Ok(format!("\n```text\n{}\n```\n", shown.join("\n").trim_end()))
}
