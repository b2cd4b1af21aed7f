//! The library as others load it: Python's module, the shared library of C, the WebAssembly module.

use super::{MEMORY, STACK};
use crate::transports::{built, module};
use crate::{root, say};
use anyhow::Context as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether a program can be started.
fn is_there(program: &str) -> bool {
    let asked = Command::new(program).arg("--version").output();
    let is_there = asked.is_ok_and(|output| output.status.success());
    if !is_there {
        say(&format!("`{program}` cannot be started: what it would load is left out"));
    }
    is_there
}

/// The library that a package becomes.
fn library(package: &str) -> anyhow::Result<PathBuf> {
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    built(&["--package", package, "--profile", profile], "so")
}

/// Copies a file into the folder, so that whoever builds while it is asked changes nothing: a library that is
/// overwritten takes the processes that have loaded it with it.
pub(super) fn aside(file: &Path, folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let copy = folder.join(name);
    // What was copied before may still be loaded: it keeps its own file.
    let beside = folder.join(format!("{name}.{}", std::process::id()));
    fs::copy(file, &beside).with_context(|| format!("{}", file.display()))?;
    fs::rename(&beside, &copy)?;
    Ok(copy)
}

/// What is loaded, built as this program is; none where the machine lacks what loads it.
pub(super) struct Shells {
    /// This program.
    this: PathBuf,
    /// The folder from which Python imports `_weft`, and the library of C.
    python: Option<(PathBuf, PathBuf)>,
    wasm: Option<PathBuf>,
}

impl Shells {
    /// Builds all of it, Python's module into a folder under the name that Python asks for.
    pub(super) fn build(folder: &Path) -> anyhow::Result<Self> {
        let this = aside(&std::env::current_exe()?, folder, "xtask")?;
        let python = is_there("python3").then(|| {
            Self::build_python(folder)?;
            anyhow::Ok((folder.to_owned(), aside(&library("weft-c")?, folder, "libweft.so")?))
        });
        let wasm = is_there("node").then(|| aside(&module()?, folder, "weft.wasm"));
        Ok(Self { this, python: python.transpose()?, wasm: wasm.transpose()? })
    }

    /// Builds Python's module alone, and puts it into the folder.
    pub(super) fn build_python(folder: &Path) -> anyhow::Result<()> {
        aside(&library("weft-py")?, folder, "_weft.so")?;
        Ok(())
    }

    /// The library itself, in a process of this program.
    pub(super) fn library(&self) -> Command {
        let mut command = Command::new(&self.this);
        command.arg("worker");
        command
    }

    /// Python, which asks its own module or the library of C.
    pub(super) fn python(&self, which: &str) -> Option<Command> {
        let (folder, c) = self.python.as_ref()?;
        let mut command = Command::new("python3");
        command.arg(root().join("xtask/src/hostile/worker.py")).arg(which).arg(c);
        command.args([MEMORY.to_string(), STACK.to_string()]).env("PYTHONPATH", folder);
        Some(command)
    }

    /// Node, which asks the module for browsers.
    pub(super) fn node(&self) -> Option<Command> {
        let wasm = self.wasm.as_ref()?;
        let mut command = Command::new("sh");
        let script = root().join("xtask/src/hostile/worker.mjs");
        let line =
            format!("ulimit -d {} && exec node --stack-size={} \"$@\"", MEMORY >> 10, STACK >> 10);
        command.args(["-c", &line, "sh"]).arg(script).arg(wasm);
        Some(command)
    }
}
