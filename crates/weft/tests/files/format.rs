//! The files, as `main.rs` says.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What marks a line of the harness.
const MARK: &str = "//! ";

/// A file as it stands, with the cases in it.
pub(crate) struct File {
    lines: Vec<String>,
    pub(crate) cases: Vec<Case>,
}

/// An input, and what is asked of it.
#[derive(Default)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Words that commands know, with what stands behind them.
    pub(crate) options: Vec<(String, String)>,
    pub(crate) input: String,
    pub(crate) views: Vec<View>,
}

/// A command, and the text that it is expected to give.
pub(crate) struct View {
    pub(crate) command: String,
    pub(crate) filters: Vec<Filter>,
    pub(crate) expected: String,
    /// The line of the command, from one.
    pub(crate) line: usize,
    /// The lines of the expected text, from zero.
    lines: Range<usize>,
}

/// What is left of a text.
pub(crate) enum Filter {
    From(String),
    Lines(Vec<String>),
    First(usize),
}

impl Filter {
    fn read(text: &str) -> Result<Self, String> {
        match text.split_once(' ') {
            Some(("from", text)) => Ok(Self::From(text.into())),
            Some(("lines", texts)) => Ok(Self::Lines(texts.split(", ").map(Into::into).collect())),
            Some(("first", count)) => {
                count.parse().map(Self::First).map_err(|_| format!("`{count}` is no count"))
            }
            _ => Err(format!("`{text}` is not `from TEXT`, `lines TEXT, TEXT` or `first COUNT`")),
        }
    }

    pub(crate) fn of(&self, text: &str) -> String {
        let lines = text.lines();
        let left: Vec<&str> = match self {
            Self::From(start) => lines.skip_while(|line| !line.contains(start)).collect(),
            Self::Lines(parts) => {
                let is_one = |line: &&str| parts.iter().any(|part| line.contains(part));
                lines.filter(is_one).map(str::trim).collect()
            }
            Self::First(count) => lines.take(*count).collect(),
        };
        left.join("\n")
    }
}

/// A text that ends with one line break, if it is not empty.
pub(crate) fn trimmed(text: &str) -> String {
    let text = text.trim_end_matches(['\n', ' ']);
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}

impl File {
    /// Reads a file; the error says with its line what is not understood.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let lines: Vec<String> = text.lines().map(Into::into).collect();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut cases = read(&lines, &stem)
            .map_err(|(line, error)| format!("{}:{line}: {error}", path.display()))?;
        for case in &mut cases {
            case.take_input()
                .map_err(|error| format!("{}: {}: {error}", path.display(), case.name))?;
        }
        Ok(Self { lines, cases })
    }

    /// The file with another text behind one command.
    pub(crate) fn with(&self, view: &View, text: &str) -> String {
        let Range { start, end } = view.lines;
        let new: Vec<&str> = text.lines().chain((end < self.lines.len()).then_some("")).collect();
        let old = self.lines.iter().map(String::as_str);
        let all: Vec<&str> = old.clone().take(start).chain(new).chain(old.skip(end)).collect();
        trimmed(&all.join("\n"))
    }
}

/// The cases of a file, or a line with what is wrong there.
fn read(lines: &[String], stem: &str) -> Result<Vec<Case>, (usize, String)> {
    let is_mark = |line: &String| line.starts_with(MARK);
    let several = lines.iter().any(|line| line.starts_with("//! case "));
    let alone = Case { name: stem.into(), ..Case::default() };
    let mut cases: Vec<Case> = if several { Vec::new() } else { vec![alone] };
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let number = at + 1;
        at += 1;
        let Some(directive) = line.strip_prefix(MARK) else {
            if let Some(case) = cases.last_mut() {
                case.input += line;
                case.input.push('\n');
            } else if !(line.is_empty() || line.starts_with("//")) {
                return Err((number, "this stands in front of the first `//! case`".into()));
            }
            continue;
        };
        let (word, rest) = directive.split_once(' ').unwrap_or((directive, ""));
        if word == "case" {
            if cases.iter().any(|case| case.name == rest) {
                return Err((number, format!("there are two cases `{rest}`")));
            }
            cases.push(Case { name: rest.into(), ..Case::default() });
            continue;
        }
        let Some(case) = cases.last_mut() else {
            return Err((number, "this stands in front of the first `//! case`".into()));
        };
        if word != "gives" {
            case.options.push((word.into(), rest.into()));
            continue;
        }
        let mut parts = rest.split(" | ");
        let command = parts.next().unwrap_or_default().to_owned();
        let filters: Result<_, _> = parts.map(Filter::read).collect();
        let filters = filters.map_err(|error| (number, error))?;
        let end = lines[at..].iter().position(is_mark).map_or(lines.len(), |end| at + end);
        let expected = trimmed(&lines[at..end].join("\n"));
        case.views.push(View { command, filters, expected, line: number, lines: at..end });
        at = end;
    }
    match cases.iter().find(|case| case.views.is_empty()) {
        Some(case) => Err((lines.len(), format!("`{}` has no `//! gives`", case.name))),
        None => Ok(cases),
    }
}

impl Case {
    /// What stands behind a word, if the case has it.
    pub(crate) fn option(&self, word: &str) -> Option<&str> {
        self.options.iter().find(|(name, _)| name == word).map(|(_, rest)| rest.as_str())
    }

    /// A number behind a word, or what it is without.
    pub(crate) fn number<T: std::str::FromStr>(&self, word: &str, without: T) -> Result<T, String> {
        let Some(text) = self.option(word) else { return Ok(without) };
        text.parse().map_err(|_| format!("`{word} {text}`: this is no number"))
    }

    /// Refuses words that no command knows.
    pub(crate) fn knows(&self, words: &[&str]) -> Result<(), String> {
        match self.options.iter().find(|(word, _)| !words.contains(&word.as_str())) {
            Some((word, _)) => Err(format!(
                "`//! {word}` is not known here; what is known is {}",
                words.join(", ")
            )),
            None => Ok(()),
        }
    }

    /// Takes the input from where the case says that it is, and ends it with one line break.
    fn take_input(&mut self) -> Result<(), String> {
        self.input = trimmed(&self.input);
        let Some(index) = self.options.iter().position(|(word, _)| word == "input") else {
            return Ok(());
        };
        if !self.input.is_empty() {
            return Err("an `//! input` and one here".into());
        }
        let path =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(&self.options[index].1);
        self.options.remove(index);
        self.input =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(())
    }
}
