//! The command for each target: one archive with its manual, completions, licences and bill of materials.

use super::packages::metadata;
use super::target::Target;
use super::{Release, built, cargo, files, licences, megabytes, said};
use crate::root;
use anyhow::{Context as _, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How large an archive or a wheel may be, in a million bytes.
pub(super) const LIMIT: f64 = 15.0;

/// Builds and packs the command.
pub(super) fn make(release: &Release) -> anyhow::Result<String> {
    let mut made = Vec::new();
    for &target in &release.targets {
        let name = format!("weft-{}-{}", release.version, target.name);
        let folder = files::Folder::new("archive")?;
        let inside = folder.path().join(&name);
        let command = command(target)?;
        files::copy(&command, &inside.join("weft"))?;
        for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            files::copy(&root().join(file), &inside.join(file))?;
        }
        share(release, target, &inside.join("share"))?;
        let archive = release.output.join(format!("{name}.tar.gz"));
        files::pack(folder.path(), &name, &archive)?;
        let size = megabytes(&archive)?;
        ensure!(size < LIMIT, "{name} has {size:.1} MB");
        let version =
            if target.is_here() { told_version(release, &command)? } else { String::new() };
        made.push(format!("{name} ({size:.1} MB){version}"));
    }
    Ok(made.join(", "))
}

/// Builds the command as it is shipped.
pub(super) fn command(target: Target) -> anyhow::Result<PathBuf> {
    let (build, name) = if target.takes_zig() {
        ("zigbuild", target.for_zig())
    } else {
        ("build", target.name.to_owned())
    };
    let arguments =
        [build, "--locked", "--profile", "dist", "--package", "weft-command", "--target", &name];
    said(cargo().args(arguments)).context("the command cannot be built")?;
    let file = built().join(target.name).join("dist/weft");
    if let Some(glibc) = target.glibc {
        files::check_glibc(&file, glibc)?;
    }
    Ok(file)
}

/// The version that the command says: with the commit that it is built from.
fn told_version(release: &Release, command: &Path) -> anyhow::Result<String> {
    let told = said(Command::new(command).arg("--version"))?;
    let commit = said(Command::new("git").args(["log", "-1", "--format=%h %cs", "--abbrev=12"]))?;
    let expected = format!("weft {} ({commit})", release.version);
    ensure!(told == expected, "`weft --version` says `{told}`, not `{expected}`");
    Ok(format!(" says {told}"))
}

/// What lies in `share` beside the command: pages of the manual, completions, licences of others, a bill of
/// materials.
pub(super) fn share(release: &Release, target: Target, folder: &Path) -> anyhow::Result<()> {
    // They are the same for every target, and any command that runs here has them.
    let speaker = match release.targets.iter().find(|target| target.is_here()) {
        Some(&here) => command(here)?,
        None => {
            said(cargo().args(["build", "--locked", "--package", "weft-command"]))?;
            built().join("debug/weft")
        }
    };
    let weft = |arguments: &[&str]| said(Command::new(&speaker).args(arguments));
    let page = weft(&["man"])?;
    files::write(&folder.join("man/man1/weft.1"), format!("{page}\n"))?;
    for name in subcommands(&page) {
        let page = weft(&["man", &name])?;
        files::write(&folder.join(format!("man/man1/weft-{name}.1")), format!("{page}\n"))?;
    }
    let scripts = [
        ("bash", "bash-completion/completions/weft"),
        ("zsh", "zsh/site-functions/_weft"),
        ("fish", "fish/vendor_completions.d/weft.fish"),
    ];
    for (shell, file) in scripts {
        files::write(&folder.join(file), format!("{}\n", weft(&["completions", shell])?))?;
    }
    let documents = folder.join("doc/weft");
    let others = release.output.join(licences::FILE);
    if !others.exists() {
        licences::check(release)?;
    }
    files::copy(&others, &documents.join(licences::FILE))?;
    materials(target, &documents.join("weft.cdx.json"))
}

/// The subcommands that the manual's first page refers to, each by its own page.
fn subcommands(page: &str) -> Vec<String> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("weft\\-")?.strip_suffix("(1)"));
    lines.map(|name| name.replace("\\-", "-")).filter(|name| name != "help").collect()
}

/// Writes what the command is built of, as `CycloneDX` has it.
fn materials(target: Target, file: &Path) -> anyhow::Result<()> {
    let stem = format!("weft-{}", target.name);
    let arguments =
        ["cyclonedx", "--format", "json", "--spec-version", "1.5", "--target", target.name];
    let manifest =
        ["--manifest-path", "crates/weft-command/Cargo.toml", "--override-filename", &stem];
    said(cargo().args(arguments).args(manifest))
        .context("cargo-cyclonedx writes bills of materials")?;
    // It writes one beside the manifest of each crate of the workspace.
    let mut written = None;
    for package in metadata(&["--no-deps"])?["packages"].as_array().into_iter().flatten() {
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let made = Path::new(manifest).with_file_name(format!("{stem}.json"));
        if package["name"] == "weft-command" {
            written = Some(std::fs::read(&made)?);
        }
        // There may be none.
        let _ = std::fs::remove_file(made);
    }
    files::write(file, written.context("cargo-cyclonedx wrote nothing")?)
}

#[cfg(test)]
mod tests {
    use super::subcommands;

    #[test]
    fn the_manual_refers_to_subcommands() {
        let page = ".SH SUBCOMMANDS\n.TP\nweft\\-compile(1)\nCompile a kernel.\n.TP\nweft\\-two\\-words(1)\n";
        assert_eq!(subcommands(page), ["compile", "two-words"]);
    }
}
