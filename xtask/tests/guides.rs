//! The guides of `CONTRIBUTING.md`, and the table of `ARCHITECTURE.md` that says what an extension takes,
//! against the files that there are.

mod code;
mod sources;

use code::{code, is_test};
use sources::{root, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The heading of the table in `ARCHITECTURE.md`.
const TABLE: &str = "## What an extension takes\n";

fn document(name: &str) -> String {
    text_of(&root().join(name))
}

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The part of a document under a heading.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, rest) = text.split_once(heading).unwrap_or_else(|| panic!("no heading `{heading}`"));
    rest.split_once("\n## ").map_or(rest, |(section, _)| section)
}

/// What stands in code face, outside of code blocks.
fn in_code_face(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for prose in text.split("```").step_by(2) {
        found.extend(prose.split('`').skip(1).step_by(2));
    }
    found
}

/// The files and folders of the project that a text names in code face.
fn paths(text: &str) -> Vec<&str> {
    let is_path = |word: &&str| {
        let folders = word.contains('/') && !word.contains([' ', ':', '*']);
        let endings = [".rs", ".py", ".md", ".json", ".toml"];
        folders || endings.iter().any(|ending| word.ends_with(ending) && !word.contains(' '))
    };
    in_code_face(text).into_iter().filter(is_path).collect()
}

/// The rows of the first table of a text, cell by cell.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().skip_while(|line| !line.starts_with('|'));
    let lines = lines.take_while(|line| line.starts_with('|')).skip(2);
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// The words of a line of code.
fn words_of(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

/// Whether a line names a variant of an enum: by its path, or, in the file where the enum stands, as `Self::` or
/// in its place there.
fn names_variant(line: &str, of: &str, variant: &str, is_own: bool) -> bool {
    let words: Vec<&str> = words_of(line).collect();
    let path = |of: &str| words.windows(3).any(|path| path == [of, "", variant]);
    let is_row = || line.strip_prefix("    ").and_then(|row| words_of(row).next()) == Some(variant);
    path(of) || is_own && (path("Self") || is_row())
}

/// The files of the crates whose code, without comments and tests, has one of these words, or names one of these
/// variants (`Type::Variant`), and in how many lines.
fn naming(names: &[&str]) -> BTreeMap<String, usize> {
    let mut files = BTreeMap::new();
    for file in sources(&root().join("crates")) {
        let name = file.strip_prefix(root()).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        if is_test(&file) || !name.contains("/src/") {
            continue;
        }
        let code = code(&text_of(&file));
        let mut lines = BTreeSet::new();
        for name in names {
            let (of, word) = name.split_once("::").unwrap_or(("", name));
            let is_own = code.contains(&format!("enum {of} {{"));
            let has = |line: &str| match of {
                "" => words_of(line).any(|known| known == word),
                of => names_variant(line, of, word, is_own),
            };
            let all = code.lines().enumerate().filter(|(_, line)| line.contains(word));
            lines.extend(all.filter(|(_, line)| has(line)).map(|(number, _)| number));
        }
        let lines = lines.len();
        if lines > 0 {
            files.insert(name, lines);
        }
    }
    files
}

#[test]
fn every_file_that_a_guide_names_exists() {
    let (guides, architecture) = (document("CONTRIBUTING.md"), document("ARCHITECTURE.md"));
    let named = [paths(&guides), paths(section(&architecture, TABLE))].concat();
    assert!(named.len() > 40, "{named:?}");
    let missing: Vec<_> = named.iter().filter(|path| !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "named, and not there: {missing:?}");
}

/// A guide's table has the files that name what it follows; beside those it may have some in which that
/// stands under another name.
#[test]
fn every_guide_names_the_files_that_its_example_is_in() {
    let guides = document("CONTRIBUTING.md");
    for (heading, words) in [
        ("## Adding an elementwise operation: `Erf`\n", &["Erf"][..]),
        ("## Adding a target: `gfx1200`\n", &["gfx1200", "GFX1200"]),
        ("## Adding a matrix instruction: `WmmaGfx12`\n", &["WmmaGfx12"]),
    ] {
        let table = rows(section(&guides, heading));
        let listed: BTreeSet<String> =
            table.iter().flat_map(|row| paths(row[0])).map(ToOwned::to_owned).collect();
        let left_out: Vec<_> = naming(words).into_keys().filter(|f| !listed.contains(f)).collect();
        assert!(left_out.is_empty(), "{heading}leaves out {left_out:?}");
        assert!(listed.len() <= naming(words).len() + 1, "{heading}{listed:?}");
    }
}

/// Each row of the table counts the files that have the words of its example, and their lines that do; nothing
/// takes more than five.
#[test]
fn the_table_of_extensions_counts_right() {
    let architecture = document("ARCHITECTURE.md");
    let table = rows(section(&architecture, TABLE));
    assert_eq!(table.len(), 13);
    for row in table {
        let [what, example, count, lines, _] = row[..] else { panic!("{row:?}") };
        let files = naming(&in_code_face(example));
        let found = [files.len(), files.values().sum()];
        assert_eq!([count, lines].map(str::parse), found.map(Ok), "{what}, {example}: {files:#?}");
        assert!(files.len() <= 5, "{what}, {example}: {files:#?}");
    }
}

#[test]
fn the_scan_of_guides_sees_what_it_must() {
    let text = "`a/b.rs` and `Erf`\n```sh\n`c/d.rs`\n```\n`README.md`, `cargo x/y`, `x::y/z`";
    assert_eq!(paths(text), ["a/b.rs", "README.md"]);
    assert_eq!(rows("x\n| a | b |\n|---|---|\n| 1 | `2` |\n\n| 3 |"), [["1", "`2`"]]);
    assert_eq!(section("## A\n1\n## B\n2", "## A\n"), "1");
    let files = naming(&["GFX1200"]);
    assert!(files.contains_key("crates/weft-layout/src/machine/amd/mod.rs"));
    assert!(files.keys().all(|file| !file.contains("/tests")));
    let is_named = |line, is_own| names_variant(line, "Copy", "Wait", is_own);
    assert!(is_named("x = lane::Copy::Wait { pending };", false));
    assert!(["    Wait {", "Self::Wait => 1,"].iter().all(|line| is_named(line, true)));
    assert!(
        ["    Wait {", "Self::Wait => 1,", "Copy::Waits"].iter().all(|line| !is_named(line, false))
    );
}
