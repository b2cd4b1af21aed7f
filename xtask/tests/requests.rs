//! The requests are defined once, in `weft-api`: JSON and the schemas of an agent's tools are derived from the
//! definition, and the command and the Rust functions build its types. What cannot be derived, since it is in
//! other languages, names only keys that the definition has.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

type Keys = BTreeMap<String, BTreeSet<String>>;

fn text(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The word that a text ends with.
fn last_word(text: &str) -> &str {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let start = text.rfind(|letter| !is_word(letter));
    &text[start.map_or(0, |start| start + 1)..]
}

/// What stands in front of a mark, where a word does.
fn words_before<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(mark).map(|(at, _)| last_word(&text[..at])).filter(|word| !word.is_empty())
}

/// The bodies of definitions, by the part of their names before `Request`, in small letters.
fn bodies<'a>(text: &'a str, head: &str) -> Vec<(String, &'a str)> {
    let parts = text.split(head).skip(1);
    let named = parts.filter_map(|part| {
        let (name, rest) = part.split_once("Request {\n")?;
        let (body, _) = rest.split_once("\n}")?;
        Some((name.to_lowercase(), body))
    });
    named.filter(|(name, _)| name.chars().all(char::is_alphanumeric)).collect()
}

/// The fields of the requests.
fn defined() -> Keys {
    let request = text("crates/weft-api/src/request.rs");
    let fields = |body: &str| -> BTreeSet<String> {
        let lines = body.lines().filter_map(|line| line.strip_prefix("    pub "));
        let names = lines.filter_map(|line| Some(line.split_once(':')?.0.to_owned()));
        names.collect()
    };
    bodies(&request, "pub struct ").into_iter().map(|(name, body)| (name, fields(body))).collect()
}

/// The keys that the page's types of requests have.
fn of_the_page() -> Keys {
    let requests = text("workbench/src/engine/requests.ts");
    let keys = |body: &str| -> BTreeSet<String> {
        let lines = body.lines().filter(|line| !line.trim_start().starts_with(['/', '*']));
        let named = lines.filter_map(|line| Some(line.trim().split_once(':')?.0));
        named.map(|key| key.trim_end_matches('?').to_owned()).collect()
    };
    let mut all: Keys = bodies(&requests, "export interface ")
        .into_iter()
        .map(|(name, body)| (name, keys(body)))
        .collect();
    for keys in all.values_mut() {
        assert!(keys.remove("request"), "a request that does not say which");
    }
    all
}

/// The keys that the functions of the Python package give to requests.
fn of_python() -> Keys {
    let questions = text("crates/weft-py/python/weft/questions.py");
    let mut all = Keys::new();
    for function in questions.split("\ndef ").skip(1) {
        let Some((_, asked)) = function.split_once("ask(") else { continue };
        let Some(name) = asked.trim_start().strip_prefix('"') else { continue };
        let (name, asked) = name.split_once('"').expect("the end of a name");
        let keys = all.entry(name.to_owned()).or_default();
        keys.extend(words_before(asked, "=").map(ToOwned::to_owned));
        let lines = function.lines().filter(|line| line.trim_start().starts_with("keys"));
        for line in lines {
            keys.extend(words_before(line, "\":").map(ToOwned::to_owned));
        }
        if asked.contains("shape") {
            keys.insert("shape".into());
        }
    }
    all
}

#[test]
fn other_languages_name_only_keys_that_requests_have() {
    let defined = defined();
    let mut wrong = Vec::new();
    for (by, asked) in [("the page", of_the_page()), ("Python", of_python())] {
        assert!(asked.len() >= 5, "{by}: {asked:?}");
        for (request, keys) in &asked {
            match defined.get(request) {
                None => wrong.push(format!("{by}: there is no request `{request}`")),
                Some(fields) => wrong.extend(
                    keys.difference(fields)
                        .map(|key| format!("{by}: `{request}` has no key `{key}`")),
                ),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_scan_of_requests_sees_what_it_must() {
    assert!(defined()["convert"].contains("from"));
    assert!(of_the_page()["layout"].contains("attribute"));
    let python = of_python();
    assert!(["pins", "ttir", "fp_fusion"].iter().all(|key| python["compile"].contains(*key)));
}
