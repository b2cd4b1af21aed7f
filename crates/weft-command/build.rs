//! Tells the command which commit it is built from, where that is known.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    // What is built to be used says it; builds for tests would be made anew with every commit.
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = if release { commit() } else { None };
    let told = commit.map_or(String::new(), |commit| format!(" ({commit})"));
    println!("cargo::rustc-env=WEFT_VERSION={version}{told}");
    println!("cargo::rerun-if-changed=build.rs");
}

/// The commit of the checkout whose `crates/weft-command` this is, and its day: the same for everybody who
/// builds it. A package from a registry lies in no checkout, or in that of somebody else.
fn commit() -> Option<String> {
    if git(&["rev-parse", "--show-prefix"])? != "crates/weft-command/" {
        return None;
    }
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["log", "-1", "--format=%h %cs", "--abbrev=12"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
