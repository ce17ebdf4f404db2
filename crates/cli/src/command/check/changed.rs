//! Which files changed since a git revision.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files that differ from a revision, new and not yet added ones included.
pub(crate) struct Changed {
    files: Vec<PathBuf>,
}

impl Changed {
    /// Asks git, in the repository of `folder`.
    pub(crate) fn since(revision: &str, folder: &Path) -> Result<Self> {
        // It would be read as an option, whatever comes before it.
        if revision.starts_with('-') || revision.is_empty() {
            bail!("`{revision}` is no revision; give a branch, a tag or a commit, such as `main`");
        }
        let top = git(folder, &["rev-parse", "--show-toplevel"])?;
        let top = PathBuf::from(OsStr::from_bytes(top.trim_ascii_end()));
        // A name of a file is not a revision, and `--` says so.
        let differing = git(&top, &["diff", "--name-only", "-z", "--no-renames", revision, "--"])?;
        let untracked = git(&top, &["ls-files", "--others", "--exclude-standard", "-z"])?;
        let names = [differing, untracked].concat();
        let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let files = names.map(|name| top.join(OsStr::from_bytes(name))).collect();
        Ok(Self { files })
    }

    /// Whether anything below a folder changed.
    pub(crate) fn is_below(&self, folder: &Path) -> bool {
        let real = metier_files::real_path(folder).unwrap_or_else(|_| folder.to_owned());
        self.files.iter().any(|file| file.starts_with(&real))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "git is the user's own, run in the user's own folder; the sandbox takes this over once it exists"
)]
fn git(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let mut command = Command::new("git");
    // Nothing of the repository may run: neither a file system monitor nor a pager.
    command.args(["-c", "core.fsmonitor=false", "--no-pager", "-C"]).arg(folder).args(arguments);
    command.env("GIT_OPTIONAL_LOCKS", "0");
    let output = command.output().context("cannot start git, which `--changed` needs")?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        let why = why.lines().next().unwrap_or("it gave no reason").trim_start_matches("fatal: ").to_owned();
        bail!("git cannot tell what changed: {why}");
    }
    Ok(output.stdout)
}
