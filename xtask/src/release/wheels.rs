//! The Python package for each target, with the command in it.

use super::target::Target;
use super::{Release, archives, files, megabytes, said};
use crate::root;
use anyhow::{Context as _, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What every wheel has, beside the modules.
const WANTED: [&str; 11] = [
    "weft/__init__.py",
    "weft/_weft.pyi",
    "weft/py.typed",
    "weft/triton/__init__.py",
    "weft_startup/__init__.py",
    ".data/purelib/weft_startup.pth",
    ".data/scripts/weft",
    ".data/data/share/man/man1/weft.1",
    ".data/data/share/bash-completion/completions/weft",
    ".dist-info/licenses/LICENSE-MIT",
    ".dist-info/sboms/weft-py.cyclonedx.json",
];

/// The folder whose files maturin lays beside the modules.
const DATA: &str = "crates/weft-py/data";

/// Builds the wheels.
pub(super) fn make(release: &Release) -> anyhow::Result<String> {
    let mut made = Vec::new();
    for &target in &release.targets {
        let staged = Staged::new(release, target)?;
        let wheel = build(release, target)?;
        drop(staged);
        let listed = said(Command::new("python3").args(["-m", "zipfile", "--list"]).arg(&wheel))?;
        let names: Vec<&str> =
            listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
        for wanted in WANTED {
            let is_there = names.iter().any(|name| name.ends_with(wanted));
            ensure!(is_there, "{} has no {wanted}", wheel.display());
        }
        let size = megabytes(&wheel)?;
        let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
        ensure!(size < archives::LIMIT, "{name} has {size:.1} MB");
        made.push(format!("{name} ({size:.1} MB)"));
    }
    Ok(made.join(", "))
}

/// The wheel of a target, where it has been built.
pub(super) fn path(release: &Release, target: Target) -> PathBuf {
    release.output.join(format!("weft-{}-cp311-abi3-{}.whl", release.version, target.wheel))
}

fn build(release: &Release, target: Target) -> anyhow::Result<PathBuf> {
    let mut maturin = Command::new("maturin");
    maturin.args(["build", "--locked", "--profile", "dist", "--target", target.name, "--out"]);
    maturin.arg(&release.output);
    if target.takes_zig() {
        maturin.arg("--zig");
    }
    if let Some(glibc) = target.glibc {
        // Which holds every symbol of the library against what that glibc has.
        maturin.args(["--compatibility", &format!("manylinux_{}", glibc.replace('.', "_"))]);
    }
    said(&mut maturin).context("the wheel cannot be built")?;
    let wheel = path(release, target);
    ensure!(wheel.exists(), "maturin wrote no {}", wheel.display());
    Ok(wheel)
}

/// The command and what belongs to it, laid where maturin takes it from; removed at the end.
struct Staged;

impl Staged {
    fn new(release: &Release, target: Target) -> anyhow::Result<Self> {
        let staged = Self;
        let data = root().join(DATA);
        files::copy(&archives::command(target)?, &data.join("scripts/weft"))?;
        archives::share(release, target, &data.join("data/share"))?;
        Ok(staged)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        for folder in ["scripts", "data"] {
            // One that is not there is what is wanted.
            let _ = std::fs::remove_dir_all(Path::new(&root()).join(DATA).join(folder));
        }
    }
}
