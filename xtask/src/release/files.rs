//! Folders that are packed, digests, and what a file for Linux asks of the machine.

use super::said;
use anyhow::{Context as _, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of its own, removed at the end.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("weft-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays is in the machine's folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Writes a file, with the folders that it lies in.
pub(super) fn write(file: &Path, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, content).with_context(|| file.display().to_string())
}

/// Copies a file, with the folders that it will lie in.
pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::copy(from, to).with_context(|| from.display().to_string())?;
    Ok(())
}

/// Packs a folder of `inside`; the same files at the same commit are the same bytes.
pub(super) fn pack(inside: &Path, folder: &str, archive: &Path) -> anyhow::Result<()> {
    let when = said(Command::new("git").args(["log", "-1", "--format=@%ct"]))?;
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rw,go+r,go-w"]);
    tar.arg(format!("--mtime={when}")).args(["--use-compress-program", "gzip -9n"]);
    said(tar.arg("-cf").arg(archive).arg("-C").arg(inside).arg(folder)).map(drop)
}

/// Writes `SHA256SUMS`, over every file of a folder.
pub(super) fn sums(folder: &Path) -> anyhow::Result<String> {
    const NAME: &str = "SHA256SUMS";
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != NAME {
            names.push(name);
        }
    }
    names.sort();
    ensure!(!names.is_empty(), "{} has no files", folder.display());
    let paths = names.iter().map(|name| folder.join(name));
    let told = said(Command::new("sha256sum").args(paths))?;
    let digests = told.lines().filter_map(|line| line.split_whitespace().next());
    let lines: Vec<String> =
        digests.zip(&names).map(|(digest, name)| format!("{digest}  {name}\n")).collect();
    ensure!(lines.len() == names.len(), "sha256sum says {} digests", lines.len());
    write(&folder.join(NAME), lines.concat())?;
    Ok(format!("{} files in {}", names.len(), folder.display()))
}

/// The newest version of glibc's symbols that a program or a library asks for.
pub(super) fn glibc(file: &Path) -> anyhow::Result<(u32, u32)> {
    let bytes = std::fs::read(file).with_context(|| file.display().to_string())?;
    versions(&bytes).max().with_context(|| format!("{} asks for no glibc", file.display()))
}

fn versions(bytes: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    const PREFIX: &[u8] = b"GLIBC_";
    let starts = bytes.windows(PREFIX.len()).enumerate().filter(|(_, found)| *found == PREFIX);
    starts.filter_map(|(at, _)| {
        let rest = &bytes[at + PREFIX.len()..];
        let end = rest.iter().position(|&byte| byte != b'.' && !byte.is_ascii_digit())?;
        let mut parts = std::str::from_utf8(&rest[..end]).ok()?.split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    })
}

/// That a file runs where the glibc is as old as was promised.
pub(super) fn check_glibc(file: &Path, promised: &str) -> anyhow::Result<()> {
    let newest = glibc(file)?;
    let promise = versions(format!("GLIBC_{promised}\0").as_bytes()).next();
    let promise = promise.with_context(|| format!("`{promised}` is no version of glibc"))?;
    let (major, minor) = newest;
    ensure!(newest <= promise, "{} asks for glibc {major}.{minor}", file.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::versions;

    #[test]
    fn versions_of_glibc_in_a_file() {
        let bytes = b"\0GLIBC_2.2.5\0GLIBC_2.17\0GLIBC_PRIVATE\0GLIBC_2.34\0";
        assert_eq!(versions(bytes).collect::<Vec<_>>(), [(2, 2), (2, 17), (2, 34)]);
    }
}
