//! Where the repository is, and what lies in and beside it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;

/// A checkout of metier.
pub(crate) struct Repository {
    root: PathBuf,
    /// Whether cargo compiles the workspace with clippy's driver.
    lints: bool,
}

impl Repository {
    /// The checkout this program was started from.
    ///
    /// The variable that cargo sets at run time comes before the one it set at build time: with a shared target
    /// folder the program may have been built from another checkout.
    pub(crate) fn find() -> Self {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&manifest).parent().map_or_else(PathBuf::new, Path::to_path_buf);
        Self { root, lints: false }
    }

    /// The same, for commands that compile the workspace with its lints, each of which is an error.
    pub(crate) fn with_lints(&self) -> Self {
        Self { root: self.root.clone(), lints: true }
    }

    /// The same, for builds as users make them.
    pub(crate) fn without_lints(&self) -> Self {
        Self { root: self.root.clone(), lints: false }
    }

    /// Whether this is a run of the tests, whose builds have the lints.
    pub(crate) fn has_lints(&self) -> bool {
        self.lints
    }

    /// The environment in which every cargo command, and every test that starts cargo, finds the same build. It is what `cargo
    /// clippy` sets for the compiler.
    pub(crate) fn lint_environment(&self) -> Vec<(&'static str, String)> {
        if !self.lints {
            return Vec::new();
        }
        let wrapper = ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver".to_owned());
        vec![wrapper, ("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__".to_owned())]
    }

    /// The top folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Real skill files that some tests and benches read. They are not part of the repository, so whoever reads
    /// them has to say when they are absent.
    pub(crate) fn corpus(&self) -> PathBuf {
        self.root.join("..").join("shared").join("corpus")
    }

    /// Requests that authors wrote for their skills, with the skills to choose from; absent like the corpus.
    pub(crate) fn routing(&self) -> PathBuf {
        self.root.join("..").join("shared").join("routing")
    }

    /// Where cargo builds to.
    pub(crate) fn target(&self) -> Result<PathBuf> {
        let metadata = MetadataCommand::new()
            .manifest_path(self.root.join("Cargo.toml"))
            .no_deps()
            .exec()
            .context("cargo does not say where it builds to")?;
        Ok(metadata.target_directory.into_std_path_buf())
    }
}
