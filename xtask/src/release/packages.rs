//! The crates that are published, and the version that everything has.

use super::{Release, cargo, said};
use crate::root;
use anyhow::{Context as _, ensure};
use serde_json::Value;

/// Those that are published, each behind what it needs.
pub(super) const PUBLISHED: [&str; 5] =
    ["weft-layout", "weft-compiler", "weft-api", "weft-driver", "weft-command"];

/// The version in the workspace's manifest.
pub(super) fn workspace_version() -> anyhow::Result<String> {
    let manifest = read("Cargo.toml")?;
    let (_, package) =
        manifest.split_once("[workspace.package]").context("Cargo.toml names no package")?;
    let version = package.lines().find_map(|line| line.strip_prefix("version = "));
    Ok(version.context("Cargo.toml has no version")?.trim_matches('"').to_owned())
}

/// One version everywhere, and what is new in it is told.
pub(super) fn version(release: &Release) -> anyhow::Result<String> {
    let version = &release.version;
    let metadata = metadata(&["--no-deps"])?;
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let (name, own) = (&package["name"], &package["version"]);
        ensure!(*own == **version, "{name} is {own}, the workspace {version}");
        // A crate of the workspace is asked for in the version that it has.
        for needed in package["dependencies"].as_array().into_iter().flatten() {
            let asked = needed["req"].as_str().unwrap_or_default();
            let known = [format!("^{version}"), "*".to_owned()];
            ensure!(
                needed["path"].is_null() || known.iter().any(|known| known == asked),
                "{name} asks for {} {asked}, the workspace has {version}",
                needed["name"]
            );
        }
    }
    let page: Value = serde_json::from_str(&read("workbench/package.json")?)?;
    ensure!(page["version"] == **version, "workbench/package.json says {}", page["version"]);
    let changes = read("CHANGELOG.md")?;
    let is_told = changes.lines().any(|line| heading(line) == Some(version));
    let waits = changes.lines().any(|line| heading(line) == Some("Unreleased"));
    ensure!(
        is_told || (release.is_rehearsal && waits),
        "CHANGELOG.md has no section `## [{version}] - DATE`"
    );
    let rest = if is_told { "" } else { "; the changelog's section is still `Unreleased`" };
    Ok(format!("{version}{rest}"))
}

/// The version that a line of the changelog begins the section of.
fn heading(line: &str) -> Option<&str> {
    line.strip_prefix("## [")?.split_once(']').map(|(version, _)| version)
}

/// Each crate is packaged, and built from its package.
pub(super) fn rehearse() -> anyhow::Result<String> {
    // Those that depend on one another are taken together: none is in the registry yet.
    said(publishing().arg("--dry-run"))?;
    let mut sizes = Vec::new();
    for name in PUBLISHED {
        let listed = said(cargo().args(["package", "--locked", "--list", "--package", name]))?;
        for wanted in ["LICENSE-MIT", "LICENSE-APACHE", "README.md"] {
            ensure!(
                listed.lines().any(|file| file == wanted),
                "the package of {name} has no {wanted}"
            );
        }
        sizes.push(format!("{name} ({} files)", listed.lines().count()));
    }
    Ok(sizes.join(", "))
}

/// Uploads the crates.
pub(super) fn publish() -> anyhow::Result<String> {
    said(&mut publishing())?;
    Ok(PUBLISHED.join(", "))
}

fn publishing() -> std::process::Command {
    let mut command = cargo();
    command.args(["publish", "--locked"]);
    command.args(PUBLISHED.iter().flat_map(|name| ["--package", name]));
    command
}

/// What cargo says of the workspace.
pub(super) fn metadata(arguments: &[&str]) -> anyhow::Result<Value> {
    let told =
        said(cargo().args(["metadata", "--locked", "--format-version", "1"]).args(arguments))?;
    Ok(serde_json::from_str(&told)?)
}

fn read(file: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(root().join(file)).with_context(|| file.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{PUBLISHED, heading, metadata};

    #[test]
    fn a_crate_is_published_behind_what_it_needs_and_none_is_forgotten() {
        let metadata = metadata(&["--no-deps"]).unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        let named = |name: &str| packages.iter().find(|package| package["name"] == *name).unwrap();
        for (at, name) in PUBLISHED.iter().enumerate() {
            for needed in named(name)["dependencies"].as_array().unwrap() {
                let is_ours = !needed["path"].is_null() && needed["kind"].is_null();
                let earlier = PUBLISHED[..at].iter().any(|earlier| needed["name"] == **earlier);
                assert!(!is_ours || earlier, "{name} stands in front of {}", needed["name"]);
            }
        }
        // `publish = false` is an empty list of registries.
        let published = packages.iter().filter(|package| package["publish"].is_null());
        assert_eq!(published.count(), PUBLISHED.len());
    }

    #[test]
    fn headings_of_the_changelog() {
        assert_eq!(heading("## [0.1.0] - 2026-11-25"), Some("0.1.0"));
        assert_eq!(heading("## [Unreleased]"), Some("Unreleased"));
        assert_eq!(heading("### Added"), None);
    }
}
