//! A cargo subcommand that is not part of Rust itself: is it there, and where does it come from?

use std::path::PathBuf;

use anyhow::Result;

use crate::cargo::Cargo;
use crate::repository::Repository;

/// A cargo subcommand, looked for below the target folder and then on the path.
pub(crate) struct Tool {
    name: &'static str,
    folder: PathBuf,
}

impl Tool {
    /// The subcommand of this name, as in `cargo NAME`.
    pub(crate) fn new(repository: &Repository, name: &'static str) -> Result<Self> {
        Ok(Self { name, folder: repository.target()?.join("tools") })
    }

    /// The command `cargo NAME ARGUMENTS…`.
    pub(crate) fn command(
        &self,
        repository: &Repository,
        toolchain: Option<&str>,
        arguments: &[&str],
    ) -> Result<Cargo> {
        Cargo::new(repository, toolchain)
            .argument(self.name)
            .arguments(arguments)
            .search(&self.folder.join("bin"))
    }

    /// Whether it is there and starts.
    pub(crate) fn is_installed(&self, repository: &Repository) -> Result<bool> {
        Ok(self.command(repository, None, &["--version"])?.succeeds())
    }

    /// Installs it below the target folder, where it disturbs nothing else on the machine.
    pub(crate) fn install(&self, repository: &Repository) -> Result<()> {
        let package = format!("cargo-{}", self.name);
        Cargo::new(repository, ["install", "--locked", package.as_str(), "--root"])
            .argument(&self.folder)
            .show()
    }
}
