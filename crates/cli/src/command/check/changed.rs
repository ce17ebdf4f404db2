//! Which files changed since a git revision.

use crate::environment;
use crate::sandbox_setup::setup;
use anyhow::{Context, Result, bail};
use metier_exec::SearchPath;
use metier_files::{Kind, kind, read_bounded, real_path};
use metier_sandbox::{Command, Expecting, Limits, Profile, Sandbox};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

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

/// The most that git may say: the names of a million files.
const MAX_OUTPUT: usize = 64 << 20;

/// Runs git, contained: it sees the repository read-only and nothing else. What a stranger's repository makes git start
/// can do no more than that.
fn git(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let folder = real_path(folder).with_context(|| format!("`{}` cannot be found", folder.display()))?;
    let path = SearchPath::new(&environment::search_path());
    let program = path.find("git").context("git is not installed, and `--changed` needs it")?;
    let toolbox = path.toolbox([&program]);
    let mut profile = Profile::new(folder.clone());
    profile.readable = repository(&folder);
    profile.readable.push(folder);
    profile.programs = toolbox.shown;
    profile.environment = vec![("PATH".into(), toolbox.path), ("GIT_OPTIONAL_LOCKS".into(), "0".into())];
    profile.limits = Limits { output: MAX_OUTPUT, ..Limits::default() };
    // Nothing of the repository may run: neither a file system monitor nor a pager. Whose it is does not matter, since
    // git can change nothing.
    let command = Command::new(program.file)
        .arguments(["-c", "core.fsmonitor=false", "-c", "safe.directory=*", "--no-pager"])
        .arguments(arguments.iter().copied());
    let mut setup = setup(&std::env::temp_dir());
    setup.expecting = Expecting::One;
    let report = Sandbox::new(setup).run(&profile, &command)?;
    if !report.succeeded() {
        let why = report.stderr.text();
        let why = why.lines().next().unwrap_or("it gave no reason").trim_start_matches("fatal: ").to_owned();
        bail!("git cannot tell what changed: {why}");
    }
    let mut said = report.stdout.head;
    said.extend(report.stdout.tail);
    Ok(said)
}

/// The folders that git reads for a repository: its top, and where the repository itself lies if that is elsewhere, as
/// in a second worktree.
fn repository(folder: &Path) -> Vec<PathBuf> {
    let Some(top) = folder.ancestors().find(|folder| kind(&folder.join(".git")) != Kind::Missing) else {
        return Vec::new();
    };
    let mut folders = vec![top.to_owned()];
    let line = |path: &Path| -> Option<PathBuf> {
        let bytes = read_bounded(path, 4096).ok().flatten()?;
        let text = bytes.trim_ascii_end();
        let text = text.strip_prefix(b"gitdir: ").unwrap_or(text);
        let named = path.parent()?.join(OsStr::from_bytes(text));
        real_path(&named).ok()
    };
    if kind(&top.join(".git")) == Kind::File
        && let Some(own) = line(&top.join(".git"))
    {
        folders.extend(line(&own.join("commondir")));
        folders.push(own);
    }
    folders
}
