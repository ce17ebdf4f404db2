//! One cargo command: started in the repository, heard or shown, its failure named by its own line.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{ChildStdout, Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use crate::repository::Repository;

/// How the variables begin in which `cargo run` describes the package that it runs.
const DESCRIPTIONS: [&str; 2] = ["CARGO_MANIFEST_", "CARGO_PKG_"];

/// A cargo command line that has not been started yet.
///
/// The program is `cargo` from the path, not the one in `CARGO`: only the former understands `+nightly`.
pub(crate) struct Cargo {
    command: Command,
    line: String,
}

impl Cargo {
    /// `cargo` with these arguments, in the repository's top folder.
    pub(crate) fn new<S: AsRef<OsStr>>(
        repository: &Repository,
        arguments: impl IntoIterator<Item = S>,
    ) -> Self {
        let mut command = Command::new("cargo");
        command.current_dir(repository.root()).envs(repository.lint_environment());
        // `cargo xtask` describes xtask in the environment. Build scripts that look there, such as ring's, would run anew, and with
        // them everything above would be compiled again after each `cargo build` by hand.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if DESCRIPTIONS.iter().any(|beginning| name.starts_with(beginning)) {
                command.env_remove(&*name);
            }
        }
        arguments.into_iter().fold(Self { command, line: "cargo".to_owned() }, Self::argument)
    }

    /// One argument more.
    pub(crate) fn argument(mut self, argument: impl AsRef<OsStr>) -> Self {
        let argument = argument.as_ref();
        self.line.push(' ');
        self.line.push_str(&argument.to_string_lossy());
        self.command.arg(argument);
        self
    }

    /// Several arguments more.
    pub(crate) fn arguments(self, arguments: &[&str]) -> Self {
        arguments.iter().fold(self, Self::argument)
    }

    /// An environment variable for this command alone.
    pub(crate) fn environment(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// A folder that is searched for subcommands before those of the path.
    pub(crate) fn search(self, folder: &Path) -> Result<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).context("the path of programs cannot be extended")?;
        Ok(self.environment("PATH", path))
    }

    /// Runs it with the terminal's own output; a failure names the command.
    pub(crate) fn show(mut self) -> Result<()> {
        let status =
            self.command.status().with_context(|| format!("`{}` could not be started", self.line))?;
        if !status.success() {
            bail!("`{}` failed ({status})", self.line);
        }
        Ok(())
    }

    /// Runs it and hands its standard output to `read`; standard error goes to the terminal.
    pub(crate) fn read(mut self, read: impl FnOnce(ChildStdout) -> Result<()>) -> Result<()> {
        let mut child = self
            .command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("`{}` could not be started", self.line))?;
        if let Some(stdout) = child.stdout.take() {
            read(stdout)?;
        }
        let status = child.wait()?;
        if !status.success() {
            bail!("`{}` failed ({status})", self.line);
        }
        Ok(())
    }

    /// Runs it and gives its standard output; standard error goes to the terminal.
    pub(crate) fn text(mut self) -> Result<String> {
        let Output { status, stdout, .. } = self
            .command
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("`{}` could not be started", self.line))?;
        if !status.success() {
            bail!("`{}` failed ({status})", self.line);
        }
        String::from_utf8(stdout)
            .with_context(|| format!("`{}` printed something that is not text", self.line))
    }

    /// The same for a run of tests, shown while it goes on. Failing tests are an answer, too (status 101).
    pub(crate) fn text_of_tests(mut self) -> Result<String> {
        let line = self.line.clone();
        let mut child = self
            .command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("`{line}` could not be started"))?;
        let mut text = String::new();
        if let Some(stdout) = child.stdout.take() {
            for read in BufReader::new(stdout).lines() {
                let read = read.with_context(|| format!("`{line}` printed something that is not text"))?;
                println!("{read}");
                text.push_str(&read);
                text.push('\n');
            }
        }
        let status = child.wait()?;
        if !matches!(status.code(), Some(0 | 101)) {
            bail!("`{line}` failed ({status})");
        }
        Ok(text)
    }

    /// Whether it runs and succeeds, in silence.
    pub(crate) fn succeeds(mut self) -> bool {
        self.command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }
}
