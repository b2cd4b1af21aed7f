//! The book's list of items against the tests that it names.

mod sources;

use sources::{root, sources};
use std::collections::BTreeSet;
use std::fs;

/// The word that a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The names of the tests of a file: functions marked as tests, and rows of the tables that the
/// macro `rows!` makes tests of.
fn tests(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let (mut marked, mut table) = (false, false);
    for line in text.lines() {
        let start = line.trim_start();
        if start.starts_with("#[test]") {
            marked = true;
        } else if let Some(name) = start.strip_prefix("fn ").filter(|_| marked) {
            names.push(word(name).to_owned());
            marked = false;
        } else if line == "rows! {" || line == "}" {
            table = line != "}";
        } else if table && line.starts_with("    ") && line[4..].starts_with(word(start)) {
            let name = word(start);
            if !name.is_empty() && start[name.len()..].starts_with(':') {
                names.push(name.to_owned());
            }
        }
    }
    names
}

/// Whether a name is that of a test of an item: `s1_12_trans`.
fn is_of_an_item(name: &str) -> bool {
    let Some(rest) = name.strip_prefix('s') else { return false };
    let mut parts = rest.split('_');
    let number = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    number(parts.next()) && number(parts.next())
}

/// The names in code face in a chapter's tables; one that ends in `*` stands for many.
fn named(chapter: &str) -> Vec<&str> {
    let rows = chapter.lines().filter(|line| line.starts_with('|'));
    rows.flat_map(|row| {
        let shown = row.trim_end_matches(['|', ' ']).rsplit_once('|').map_or("", |cells| cells.1);
        let code = shown.split('`').skip(1).step_by(2);
        code.filter(|code| code.trim_end_matches('*') == word(code))
    })
    .collect()
}

fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

#[test]
fn items_name_tests_that_exist_and_every_test_of_an_item_is_named() {
    let files = sources(&root().join("crates"));
    let mut existing = BTreeSet::new();
    for file in &files {
        existing.extend(tests(&fs::read_to_string(file).expect("a source file")));
    }
    assert!(existing.len() > 300, "only {} tests found", existing.len());

    let chapter = fs::read_to_string(root().join("docs/src/items.md")).expect("the chapter");
    let named = named(&chapter);
    let missing = named.iter().filter(|name| !existing.iter().any(|test| covers(name, test)));
    let missing: Vec<_> = missing.collect();
    assert!(missing.is_empty(), "docs/src/items.md names tests that do not exist: {missing:#?}");
    let absent = existing.iter().filter(|test| is_of_an_item(test));
    let absent: Vec<_> =
        absent.filter(|test| !named.iter().any(|name| covers(name, test))).collect();
    assert!(absent.is_empty(), "docs/src/items.md does not name {absent:#?}");
}

#[test]
fn the_scan_sees_what_it_must() {
    let text = "#[test]\nfn s1_1_one() {}\nfn helper() {}\nrows! {\n    s1_8_two: x(1), \"\";\n        \
                other: 1;\n}\n";
    assert_eq!(tests(text), ["s1_1_one", "s1_8_two"]);
    assert!(is_of_an_item("s1_12_trans") && is_of_an_item("s0_23_to_26"));
    assert!(!is_of_an_item("s_1_x") && !is_of_an_item("sorted") && !is_of_an_item("s1_x"));
    let table = "| S1 | not `this` | `s1_1_one`, `s1_8_*` and [`weft explain`](x.md) |\n`nor_this`";
    assert_eq!(named(table), ["s1_1_one", "s1_8_*"]);
    assert!(covers("s1_8_*", "s1_8_two") && !covers("s1_8", "s1_8_two"));
}
