//! Whether the book holds together: every link leads somewhere, every chapter is in the summary once,
//! every picture is drawn and says in words what it shows, every browser test that is named exists.

use super::Document;
use crate::root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// What is wrong with the links and pictures of the documents and with the summary.
pub(super) fn check(documents: &[Document]) -> Vec<String> {
    let mut faults = Vec::new();
    // A test holds that chapter against the tests that there are.
    let listed = documents.iter().find(|document| document.path.ends_with("docs/src/items.md"));
    let listed: BTreeSet<&str> =
        listed.into_iter().flat_map(|list| list.text.lines().flat_map(items)).collect();
    for document in documents {
        for (line, link) in links(document) {
            if let Some(fault) = broken(document, &link, documents) {
                faults.push(format!("{}:{line}: {fault}", document.name()));
            }
        }
        for (line, text) in document.prose() {
            for item in items(text).filter(|item| !listed.contains(item)) {
                faults.push(format!("{}:{line}: {item} is no test of an item", document.name()));
            }
            for test in tests(text).into_iter().filter(|test| !exists(test)) {
                faults.push(format!("{}:{line}: no test \"{test}\"", document.name()));
            }
        }
    }
    let summary = root().join("docs/src/SUMMARY.md");
    let Some(summary) = documents.iter().find(|document| document.path == summary) else {
        return vec!["the book has no SUMMARY.md".into()];
    };
    let mut listed = BTreeSet::new();
    for (line, link) in links(summary) {
        if !listed.insert(reach(summary, &link.target)) {
            faults.push(format!("{}:{line}: {} is listed twice", summary.name(), link.target));
        }
    }
    let book =
        documents.iter().filter(|document| document.path.starts_with(root().join("docs/src")));
    for chapter in book.filter(|chapter| chapter.path != summary.path) {
        if !listed.contains(&chapter.path) {
            faults.push(format!("{} is not in the summary", chapter.name()));
        }
    }
    faults
}

/// Files of pictures that no document draws any more.
pub(super) fn pictures(made: &BTreeMap<PathBuf, String>) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    for entry in std::fs::read_dir(root().join("docs/src/pictures"))? {
        let path = entry?.path();
        if !made.contains_key(&path) {
            faults.push(format!("{} is drawn by no document", path.display()));
        }
    }
    Ok(faults)
}

/// A link of Markdown: `[words](target)`, or `![words](target)`.
struct Link {
    words: String,
    target: String,
    picture: bool,
}

/// The links of a document that lead to files, with the lines where they stand.
fn links(document: &Document) -> Vec<(usize, Link)> {
    let mut links = Vec::new();
    for (line, text) in document.prose() {
        let text = without_code(text);
        let mut at = 0;
        while let Some(found) = text[at..].find("](") {
            let middle = at + found;
            let Some(length) = text[middle + 2..].find(')') else { break };
            let target = &text[middle + 2..middle + 2 + length];
            let opened = text[..middle].rfind('[').unwrap_or(0);
            let link = Link {
                words: text[opened..middle].trim_start_matches('[').to_owned(),
                target: target.to_owned(),
                picture: text[..opened].ends_with('!'),
            };
            if !target.contains("://") {
                links.push((line, link));
            }
            at = middle + 2 + length;
        }
    }
    links
}

/// A line with what stands in code face left out, the same length.
fn without_code(line: &str) -> String {
    let mut code = false;
    let keep = |c: char| {
        code ^= c == '`';
        if code && c != '`' { ' ' } else { c }
    };
    line.chars().map(keep).collect()
}

/// Where a link of a document leads: a file, without its anchor.
fn reach(document: &Document, target: &str) -> PathBuf {
    let file = target.split('#').next().unwrap_or_default();
    if file.is_empty() {
        return document.path.clone();
    }
    let folder = document.path.parent().unwrap_or(Path::new(""));
    let base = root();
    let mut path = base.clone();
    for part in folder.strip_prefix(&base).unwrap_or(folder).join(file).components() {
        match part {
            Component::ParentDir => _ = path.pop(),
            part => path.push(part),
        }
    }
    path
}

/// What is wrong with a link.
fn broken(document: &Document, link: &Link, documents: &[Document]) -> Option<String> {
    let Link { words, target, picture } = link;
    if *picture && words.len() < 20 {
        return Some(format!("the picture {target} is not described in words"));
    }
    let path = reach(document, target);
    if !path.exists() {
        return Some(format!("{target} does not exist"));
    }
    let (_, anchor) = target.split_once('#')?;
    let chapter = documents.iter().find(|document| document.path == path)?;
    (!anchors(chapter).contains(anchor)).then(|| format!("{target}: no such heading"))
}

/// The anchors of a document's headings, as `mdBook` makes them.
fn anchors(document: &Document) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in document.prose().filter(|(_, line)| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim();
        let kept = heading.chars().filter_map(|c| match c {
            c if c.is_alphanumeric() || matches!(c, '_' | '-') => {
                Some(c.to_lowercase().to_string())
            }
            c if c.is_whitespace() => Some("-".into()),
            _ => None,
        });
        let anchor: String = kept.collect();
        let mut several = anchor.clone();
        for count in 1.. {
            if anchors.insert(several) {
                break;
            }
            several = format!("{anchor}-{count}");
        }
    }
    anchors
}

/// The tests of items that a line names in code face: `s0_7_…`.
fn items(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split('`').skip(1).step_by(2);
    code.filter(|code| {
        let mut parts = code.strip_prefix('s').unwrap_or_default().splitn(3, '_');
        let number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
        number(parts.next()) && number(parts.next()) && parts.next().is_some()
    })
}

/// The browser tests that a line names: `` `swizzle.test.ts`: "S0-3" `` is the test of that file whose
/// title begins so.
fn tests(line: &str) -> Vec<String> {
    let (mut tests, mut file) = (Vec::new(), "");
    for (index, part) in line.split('`').enumerate() {
        if index % 2 == 1 {
            file = if part.ends_with(".test.ts") { part } else { "" };
        } else if !file.is_empty() {
            let titles = part.split('"').skip(1).step_by(2);
            tests.extend(titles.map(|title| format!("{file}: {title}")));
        }
    }
    tests
}

fn exists(test: &str) -> bool {
    let Some((file, title)) = test.split_once(": ") else { return false };
    let path = root().join("workbench/tests/browser").join(file);
    let tests = std::fs::read_to_string(path).unwrap_or_default();
    tests.lines().any(|line| {
        let line = line.trim_start();
        line.strip_prefix("test(\"").is_some_and(|named| named.starts_with(title))
    })
}

#[cfg(test)]
mod tests {
    use super::{anchors, items, links, tests};
    use crate::documents::Document;

    fn chapter(text: &str) -> Document {
        Document { path: "docs/src/x.md".into(), text: text.into() }
    }

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "See [a](b.md#c), `[no](no.md)` and ![a picture](d.svg).\n```\n[no](no.md)\n```\n\
                    [away](https://e.org)\n";
        let found = links(&chapter(text));
        let found: Vec<_> =
            found.iter().map(|(line, link)| (*line, &link.target[..], link.picture)).collect();
        assert_eq!(found, [(1, "b.md#c", false), (1, "d.svg", true)]);
    }

    #[test]
    fn anchors_are_those_of_the_book() {
        let text =
            "# The paper's `A`\n## Store, load\n## Store, load\n```\n# no\n```\n## 从零开始：一\n";
        let found: Vec<_> = anchors(&chapter(text)).into_iter().collect();
        assert_eq!(found, ["store-load", "store-load-1", "the-papers-a", "从零开始一"]);
    }

    #[test]
    fn tests_of_items_are_named_in_code() {
        let line = "s0_1_no `s1_12_trans`, `sm_90`, `s0_3` and `s0_33_lemma` and `s_1_x`";
        assert_eq!(items(line).collect::<Vec<_>>(), ["s1_12_trans", "s0_33_lemma"]);
    }

    #[test]
    fn tests_are_named_by_file_and_title() {
        let line =
            "| \"no\" | `no` | `a.test.ts`: \"S0-1\", \"S0-2\"; `b.test.ts`: \"c\"; `no` \"no\" |";
        assert_eq!(tests(line), ["a.test.ts: S0-1", "a.test.ts: S0-2", "b.test.ts: c"]);
    }
}
