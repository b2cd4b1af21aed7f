//! The library as others load it: Python's module, the shared library of C, the WebAssembly module.

use super::{MEMORY, STACK};
use crate::transports::{built, module};
use crate::{root, say};
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

/// What is loaded, built as this program is; none where the machine lacks what loads it.
pub(super) struct Shells {
    /// The folder from which Python imports `_weft`, and the library of C.
    python: Option<(PathBuf, PathBuf)>,
    wasm: Option<PathBuf>,
}

impl Shells {
    /// Builds all of it, Python's module into a folder under the name that Python asks for.
    pub(super) fn build(folder: &Path) -> anyhow::Result<Self> {
        let python = is_there("python3").then(|| {
            Self::build_python(folder)?;
            anyhow::Ok((folder.to_owned(), library("weft-c")?))
        });
        let wasm = is_there("node").then(module);
        Ok(Self { python: python.transpose()?, wasm: wasm.transpose()? })
    }

    /// Builds Python's module alone, and puts it into the folder.
    pub(super) fn build_python(folder: &Path) -> anyhow::Result<()> {
        fs::copy(library("weft-py")?, folder.join("_weft.so"))?;
        Ok(())
    }

    /// The library itself, in a process of this program.
    pub(super) fn library() -> anyhow::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("worker");
        Ok(command)
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
