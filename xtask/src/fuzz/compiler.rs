//! The compiler that fuzz targets are built with, and where it builds them to.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::target::Target;
use crate::cargo::Cargo;
use crate::repository::Repository;
use crate::tool::Tool;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A nightly one, which knows sanitizers.
    Nightly,
    /// That of the project, although there is a nightly one.
    Wanted,
    /// That of the project, since there is no other.
    Only,
}

/// A compiler, and the kind of machine that it builds for.
pub(super) struct Compiler {
    kind: Kind,
    host: String,
}

impl Compiler {
    /// A nightly one where it is installed and not declined.
    pub(super) fn find(repository: &Repository, stable: bool) -> Result<Self> {
        let is_there = || Cargo::new(repository, ["+nightly", "--version"]).succeeds();
        let kind = match stable {
            true => Kind::Wanted,
            false if is_there() => Kind::Nightly,
            false => Kind::Only,
        };
        let version = Cargo::new(repository, toolchain(kind)).argument("-vV").text()?;
        let host = host(&version).context("`cargo -vV` does not say what it builds for")?.to_owned();
        Ok(Self { kind, host })
    }

    /// Builds targets, and of the crates those that they need: each target is a feature of its own name.
    pub(super) fn build(
        &self,
        repository: &Repository,
        fuzz: &Tool,
        home: &Path,
        targets: &[&Target],
    ) -> Result<()> {
        let sanitizer = if self.kind == Kind::Nightly { "address" } else { "none" };
        let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        let words = ["build", "--sanitizer", sanitizer, "--target", &self.host];
        fuzz.command(repository, toolchain(self.kind), &words)?
            .arguments(&["--no-default-features", "--features", &names.join(","), "--target-dir"])
            .argument(self.folder(home))
            .show()
            .context("the targets were not built; nothing ran")
    }

    /// Where a target's program lies when it is built.
    pub(super) fn program(&self, home: &Path, target: &Target) -> PathBuf {
        self.folder(home).join(&self.host).join("release").join(&target.name)
    }

    /// Each compiler has a folder of its own: in one folder, each would build everything anew after the other.
    fn folder(&self, home: &Path) -> PathBuf {
        home.join(if self.kind == Kind::Nightly { "nightly" } else { "stable" })
    }
}

impl fmt::Display for Compiler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self.kind {
            Kind::Nightly => "the nightly compiler builds the targets, with the address sanitizer",
            Kind::Wanted => "the project's compiler builds the targets, without a sanitizer",
            Kind::Only => {
                "no nightly compiler is installed, so there is no address sanitizer; the properties are checked all the same"
            }
        };
        formatter.write_str(words)
    }
}

fn toolchain(kind: Kind) -> Option<&'static str> {
    (kind == Kind::Nightly).then_some("+nightly")
}

fn host(version: &str) -> Option<&str> {
    version.lines().find_map(|line| line.strip_prefix("host:")).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_the_one_that_cargo_names() {
        let version =
            "cargo 1.95.0 (0 2026-01-01)\nrelease: 1.95.0\nhost: x86_64-unknown-linux-gnu\nos: Debian\n";
        assert_eq!(host(version), Some("x86_64-unknown-linux-gnu"));
        assert_eq!(host("cargo 1.95.0\n"), None);
    }
}
