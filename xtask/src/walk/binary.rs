//! The instrumented program of the working tree or of another commit.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::repository::Repository;

/// What rustc adds to count executions. Counters are mapped into the profile file, so that processes that the sandbox
/// forks, and that end without `exit`, are counted too. That mode needs counters that can be relocated.
const FLAGS: [&str; 2] = ["-Cinstrument-coverage", "-Cllvm-args=-runtime-counter-relocation"];

/// The source of that object file. Functions of this section run before all others of the program.
const PROFILE_PATH: &str = r#"
#![no_std]
use core::ffi::{c_char, c_int};

unsafe extern "C" {
    fn setenv(name: *const c_char, value: *const c_char, overwrite: c_int) -> c_int;
}

#[used]
#[unsafe(link_section = ".init_array.00101")]
static NAME_PROFILES: extern "C" fn() = name_profiles;

extern "C" fn name_profiles() {
    let profiles = concat!(env!("WALK_PROFILES"), "\0");
    unsafe { setenv(c"LLVM_PROFILE_FILE".as_ptr(), profiles.as_ptr().cast(), 1) };
}
"#;

/// A built program with its sources.
pub(super) struct Binary {
    /// The program.
    pub(super) program: PathBuf,
    /// The top folder of the checkout that it was built from.
    pub(super) sources: PathBuf,
    /// What was built, for people.
    pub(super) revision: String,
}

impl Binary {
    /// Builds the working tree, or `commit` in a worktree of its own below `folder`. The program writes its profiles to
    /// `profiles`.
    pub(super) fn build(
        repository: &Repository,
        folder: &Path,
        commit: Option<&str>,
        profiles: &str,
    ) -> Result<Self> {
        let (sources, revision) = match commit {
            Some(commit) => checkout(repository, folder, commit)?,
            None => (repository.root().to_owned(), "working tree".to_owned()),
        };
        let host = host()?;
        let object = profile_path_object(folder, profiles)?;
        let object = object.to_str().context("the path of the target folder is not UTF-8")?;
        let flags = [FLAGS[0], FLAGS[1], &format!("-Clink-arg={object}")].join("\u{1f}");
        // All commits share one folder, so that dependencies are compiled once.
        let target = folder.join("build");
        let wrapper = rustc_wrapper(folder, &revision)?;
        let status = Command::new("cargo")
            .args(["build", "--quiet", "--locked", "--package", "metier", "--target", &host])
            .current_dir(&sources)
            .env("CARGO_TARGET_DIR", &target)
            .env("CARGO_ENCODED_RUSTFLAGS", flags)
            .env("RUSTC_WORKSPACE_WRAPPER", wrapper)
            // Nobody edits what is measured, and the state of incremental builds takes gigabytes.
            .env("CARGO_INCREMENTAL", "0")
            .env_remove("RUSTFLAGS")
            .stdout(std::io::stderr())
            .status()
            .context("cargo could not be started")?;
        if !status.success() {
            bail!("{revision} could not be built ({status})");
        }
        let program = target.join(host).join("debug").join("metier");
        Ok(Self { program, sources, revision })
    }
}

/// A worktree of `commit` below `folder`, and the commit's short name. It stays there for the next measurement.
fn checkout(repository: &Repository, folder: &Path, commit: &str) -> Result<(PathBuf, String)> {
    let git = |folder: &Path, arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args(arguments);
        text(command)
    };
    let commit = format!("{commit}^{{commit}}");
    let hash = git(repository.root(), &["rev-parse", "--verify", "--end-of-options", &commit])?;
    let short = git(repository.root(), &["rev-parse", "--short", &hash])?;
    let sources = folder.join("commits").join(&short);
    if !sources.join("Cargo.toml").is_file() {
        let path = sources.to_str().context("the path of the target folder is not UTF-8")?;
        // `--force` also takes the place of a worktree whose folder was deleted with the target folder.
        git(repository.root(), &["worktree", "add", "--force", "--detach", path, &hash])?;
    }
    if git(&sources, &["rev-parse", "HEAD"])? != hash
        || !git(&sources, &["status", "--porcelain"])?.is_empty()
    {
        bail!("{} was changed; remove it with `git worktree remove --force`", sources.display());
    }
    Ok((sources, short))
}

/// The triple that rustc builds for here. With `--target`, build scripts and macros are not instrumented.
fn host() -> Result<String> {
    let mut command = Command::new("rustc");
    command.arg("-vV");
    let version = text(command)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not name its host")?.to_owned())
}

/// A program that only starts the compiler, one for each revision. Cargo gives the crates of two checkouts the same file names
/// and may take those of one for those of the other; crates that are compiled by another wrapper have other names.
fn rustc_wrapper(folder: &Path, revision: &str) -> Result<PathBuf> {
    let path = folder.join("rustc").join(revision.replace(' ', "-"));
    if !path.is_file() {
        fs::create_dir_all(path.with_file_name(""))?;
        fs::write(&path, "#!/bin/sh\nexec \"$@\"\n")?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(path)
}

/// An object file that names the profiles before the profile runtime starts. The sandbox starts this program again with an
/// empty environment, so a variable that is set from outside would be lost.
fn profile_path_object(folder: &Path, profiles: &str) -> Result<PathBuf> {
    let (source, object) = (folder.join("profile_path.rs"), folder.join("profile_path.o"));
    fs::write(&source, PROFILE_PATH)?;
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "--crate-type=lib", "--emit=obj", "-o"]).arg(&object).arg(&source);
    rustc.env("WALK_PROFILES", profiles);
    text(rustc)?;
    Ok(object)
}

/// The standard output of a command that succeeds, without the last line break.
fn text(mut command: Command) -> Result<String> {
    let line = format!("{command:?}");
    let output = command.output().with_context(|| format!("{line} could not be started"))?;
    if !output.status.success() {
        bail!("{line} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)
        .with_context(|| format!("{line} printed something else than text"))?
        .trim_end()
        .to_owned())
}
