//! The machines that files are built for.

use super::said;
use anyhow::Context as _;
use std::process::Command;

/// A target that the project has files for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// As Rust names it.
    pub(super) name: &'static str,
    /// The oldest glibc that its files run with, on Linux.
    pub(super) glibc: Option<&'static str>,
    /// What the names of its wheels end in.
    pub(super) wheel: &'static str,
}

const ALL: [Target; 4] = [
    Target {
        name: "x86_64-unknown-linux-gnu",
        glibc: Some("2.17"),
        wheel: "manylinux2014_x86_64.manylinux_2_17_x86_64",
    },
    Target {
        name: "aarch64-unknown-linux-gnu",
        glibc: Some("2.17"),
        wheel: "manylinux2014_aarch64.manylinux_2_17_aarch64",
    },
    Target { name: "x86_64-apple-darwin", glibc: None, wheel: "macosx_10_12_x86_64" },
    Target { name: "aarch64-apple-darwin", glibc: None, wheel: "macosx_11_0_arm64" },
];

impl Target {
    /// This machine's.
    pub(super) fn here() -> anyhow::Result<Self> {
        let told = said(Command::new("rustc").arg("-vV"))?;
        let host = told.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.context("rustc does not say what it runs on")?;
        host.parse().map_err(anyhow::Error::msg)
    }

    pub(super) fn is_here(self) -> bool {
        Self::here().is_ok_and(|here| here == self)
    }

    pub(super) fn is_linux(self) -> bool {
        self.glibc.is_some()
    }

    /// As cargo-zigbuild names it: with the version of glibc to link with.
    pub(super) fn for_zig(self) -> String {
        self.glibc.map_or_else(|| self.name.to_owned(), |glibc| format!("{}.{glibc}", self.name))
    }

    /// Whether Zig links its files: on Linux, so that they run with an old glibc wherever they were built, and
    /// wherever the target is another than this machine's.
    pub(super) fn takes_zig(self) -> bool {
        self.is_linux() || !cfg!(target_os = "macos")
    }
}

impl std::str::FromStr for Target {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = || ALL.map(|target| target.name).join(", ");
        let found = ALL.into_iter().find(|target| target.name == name);
        found.ok_or_else(|| format!("there are no files for `{name}`; the targets are {}", known()))
    }
}
