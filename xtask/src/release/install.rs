//! The wheel alone: in a new environment, away from the checkout, the package's tests pass.

use super::target::Target;
use super::{Release, files, said, wheels};
use crate::root;
use anyhow::{Context as _, ensure};
use std::path::Path;
use std::process::Command;

/// Tests this machine's wheel with every interpreter, without Triton and with it.
pub(super) fn test(release: &Release) -> anyhow::Result<String> {
    let wheel = wheels::path(release, Target::here()?);
    ensure!(wheel.exists(), "{} is not built: `--step wheels`", wheel.display());
    let mut found = Vec::new();
    for python in &release.pythons {
        let result = with(python, &wheel, release);
        found.push(result.with_context(|| format!("with {}", python.display()))?);
    }
    Ok(found.join("; "))
}

fn with(python: &Path, wheel: &Path, release: &Release) -> anyhow::Result<String> {
    let folder = files::Folder::new("install")?;
    let (environment, apart) = (folder.path().join("env"), folder.path().join("apart"));
    let tests = apart.join("crates/weft-py/tests");
    said(Command::new(python).args(["-m", "venv"]).arg(&environment))?;
    let of = |program: &str| {
        let mut command = Command::new(environment.join("bin").join(program));
        // Nothing of the checkout or of this process reaches it.
        for variable in
            ["PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CARGO_TARGET_DIR", "WEFT_TRITON"]
        {
            command.env_remove(variable);
        }
        command
    };
    let version = said(of("python").arg("--version"))?;
    // The tests, and the kernels that they launch, where each finds the other.
    for path in ["crates/weft-py/tests", "kernels"] {
        let to = apart.join(path);
        std::fs::create_dir_all(&to)?;
        said(Command::new("cp").arg("-r").arg(root().join(path).join(".")).arg(&to))?;
    }
    let install = |what: &str| {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        let requirements = tests.join("requirements.txt");
        said(of("python").args(pip).arg("--requirement").arg(requirements).arg(what))
    };
    let pytest = || -> anyhow::Result<String> {
        let run = "cd \"$1\" && exec \"$2\" -m pytest --quiet -p no:cacheprovider .";
        let mut shell = of("python");
        let program = shell.get_program().to_owned();
        shell = Command::new("sh");
        shell.args(["-c", run, "sh"]).arg(&tests).arg(program);
        shell.env_remove("CARGO_TARGET_DIR").env_remove("PYTHONPATH").env_remove("WEFT_TRITON");
        let told = said(&mut shell)?;
        Ok(told.lines().last().unwrap_or_default().to_owned())
    };
    install(&wheel.to_string_lossy())?;
    let told = said(of("weft").arg("--version"))?;
    let expected = format!("weft {}", release.version);
    ensure!(told.starts_with(&expected), "`weft --version` says `{told}`");
    let alone = pytest()?;
    install(&format!("{}[triton]", wheel.display()))?;
    let beside_triton = pytest()?;
    Ok(format!("{version}: {alone} without Triton, {beside_triton} with it"))
}
