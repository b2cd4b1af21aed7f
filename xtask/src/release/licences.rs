//! The licences of what goes into the files: each is allowed, and its text goes with them.

use super::packages::metadata;
use super::{Release, files};
use crate::root;
use anyhow::{Context as _, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// The file with everybody's texts.
pub(super) const FILE: &str = "THIRD-PARTY-LICENSES.txt";

/// A crate that goes into the files.
struct Package {
    name: String,
    licence: String,
    texts: Vec<String>,
}

/// Writes the texts, and tells of what was found.
pub(super) fn check(release: &Release) -> anyhow::Result<String> {
    let packages = packages(&["weft-command", "weft-py"])?;
    let allowed = allowed()?;
    for Package { name, licence, .. } in &packages {
        ensure!(is_allowed(licence, &allowed), "deny.toml does not allow {name}'s `{licence}`");
    }
    let without = packages.iter().filter(|package| package.texts.is_empty());
    let without: Vec<&str> = without.map(|package| &*package.name).collect();
    files::write(&release.output.join(FILE), texts(&packages))?;
    let mut found = format!("{} crates under allowed licences", packages.len());
    if !without.is_empty() {
        write!(found, "; their packages have no text: {}", without.join(", "))?;
    }
    Ok(found)
}

/// All crates but ours that the given ones are built of, on any target.
fn packages(of: &[&str]) -> anyhow::Result<Vec<Package>> {
    let metadata = metadata(&[])?;
    let mut packages = Vec::new();
    for package in built_of(&metadata, of) {
        let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
        let manifest = text("manifest_path");
        packages.push(Package {
            name: format!("{} {}", text("name"), text("version")),
            licence: text("license"),
            texts: texts_in(Path::new(&manifest).parent().context("a manifest in no folder")?)?,
        });
    }
    packages.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(packages)
}

/// Cargo's words on the crates of registries that the given ones are built of.
fn built_of<'a>(metadata: &'a Value, of: &[&str]) -> Vec<&'a Value> {
    fn by_id(list: &Value) -> BTreeMap<&str, &Value> {
        let all = list.as_array().into_iter().flatten();
        all.filter_map(|one| Some((one["id"].as_str()?, one))).collect()
    }
    let packages = by_id(&metadata["packages"]);
    let nodes = by_id(&metadata["resolve"]["nodes"]);
    let is_asked = |package: &Value| of.iter().any(|name| package["name"] == **name);
    let asked = packages.iter().filter(|(_, package)| is_asked(package));
    let mut waiting: Vec<&str> = asked.map(|(id, _)| *id).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        let needed = nodes.get(id).and_then(|node| node["deps"].as_array()).into_iter().flatten();
        // Not what only tests and build scripts use: the kind of the others is null.
        let built_in = |needed: &&Value| {
            let mut kinds = needed["dep_kinds"].as_array().into_iter().flatten();
            kinds.any(|kind| kind["kind"].is_null())
        };
        waiting.extend(needed.filter(built_in).filter_map(|needed| needed["pkg"].as_str()));
    }
    let found = seen.iter().filter_map(|id| packages.get(id).copied());
    // A crate without a source is one of the workspace.
    found.filter(|package| !package["source"].is_null()).collect()
}

/// The licences and notices that lie in a folder.
fn texts_in(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let named = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT"];
        if path.is_file() && named.iter().any(|start| name.starts_with(start)) {
            files.push(path);
        }
    }
    files.sort();
    files
        .iter()
        .map(|file| Ok(String::from_utf8_lossy(&std::fs::read(file)?).trim().to_owned()))
        .collect()
}

/// Each text once, under the crates that have it.
fn texts(packages: &[Package]) -> String {
    let mut by_text: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut all = "What Weft's files contain of others, and under which licences.\n\n".to_owned();
    for package in packages {
        all += &format!("{}: {}\n", package.name, package.licence);
        for text in &package.texts {
            by_text.entry(text).or_default().push(&package.name);
        }
    }
    for (text, names) in by_text {
        all += &format!("\n{}\n{}\n\n{text}\n", "=".repeat(80), names.join(", "));
    }
    all
}

/// The licences that `deny.toml` allows.
fn allowed() -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(root().join("deny.toml")).context("deny.toml")?;
    let (_, list) = text.split_once("allow = [").context("deny.toml allows nothing")?;
    let (list, _) = list.split_once(']').context("deny.toml's list does not end")?;
    Ok(list.split('"').skip(1).step_by(2).map(ToOwned::to_owned).collect())
}

/// Whether an expression (`MIT OR Apache-2.0`) can be met by what is allowed.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    // Older crates write a slash.
    let expression = expression.replace('/', " OR ").replace(['(', ')'], " ");
    // Without the brackets `OR` binds tighter than `AND`, as it does in the expressions that exist.
    expression.split(" AND ").all(|part| {
        part.split(" OR ").any(|name| allowed.iter().any(|allowed| allowed == name.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::{allowed, built_of, is_allowed};

    #[test]
    fn expressions_are_met_by_what_is_allowed() {
        let allowed = allowed().unwrap();
        let met = ["MIT", "GPL-3.0 OR MIT", "MIT/Apache-2.0", "(MIT OR GPL-3.0) AND Unicode-3.0"];
        assert!(met.iter().all(|expression| is_allowed(expression, &allowed)));
        let not = ["", "GPL-3.0", "MIT AND GPL-3.0", "GPL-3.0 OR LGPL-3.0"];
        assert!(!not.iter().any(|expression| is_allowed(expression, &allowed)));
    }

    #[test]
    fn what_is_built_in_is_found_through_other_crates_and_what_tests_use_is_not() {
        let package = |name: &str, source: Option<&str>| serde_json::json!({ "id": name, "name": name, "source": source });
        let needs = |name: &str, needed: &str, kind: Option<&str>| {
            let needed = serde_json::json!({ "pkg": needed, "dep_kinds": [{ "kind": kind }] });
            serde_json::json!({ "id": name, "deps": [needed] })
        };
        let registry = Some("registry");
        let names = [("ours", None), ("inner", None), ("a", registry), ("b", registry)];
        let metadata = serde_json::json!({
            "packages": names.map(|(name, source)| package(name, source)),
            "resolve": { "nodes": [
                needs("ours", "inner", None), needs("inner", "a", None), needs("a", "b", Some("build")),
            ] },
        });
        let found = built_of(&metadata, &["ours"]);
        assert_eq!(found.iter().map(|package| &package["name"]).collect::<Vec<_>>(), ["a"]);
        assert!(built_of(&metadata, &["b"]).len() == 1 && built_of(&metadata, &["c"]).is_empty());
    }
}
