//! The binary in surroundings of its own: no home, no configuration, no trust but what a test makes.

use metier_testkit::Workspace;
use serde_json::Value;
use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::process::{Command, Output, Stdio};

/// A finished run.
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl Run {
    /// The answer as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.stdout, self.stderr))
    }
}

/// Runs `metier ARGS…` in `project/` of the workspace, with `home/` as the home directory.
pub(crate) fn metier(workspace: &Workspace, args: &[&str]) -> Run {
    metier_with(workspace, args, &[])
}

/// The same with more environment variables.
pub(crate) fn metier_with(workspace: &Workspace, args: &[&str], variables: &[(&str, &str)]) -> Run {
    finished(command(workspace, args).envs(variables.iter().copied()).output())
}

/// The same with a text on standard input.
pub(crate) fn metier_with_input(workspace: &Workspace, args: &[&str], input: &str) -> Run {
    let mut command = command(workspace, args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary can be started");
    let written = child.stdin.take().expect("it has a standard input").write_all(input.as_bytes());
    // A program that is not willing to begin may end before it reads anything.
    assert!(written.is_ok() || written.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe));
    finished(child.wait_with_output())
}

/// The binary that is tested: the one just built, or another one that `METIER_BIN` names.
pub(crate) fn program() -> OsString {
    std::env::var_os("METIER_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_metier").into())
}

/// The same, not started yet.
pub(crate) fn command(workspace: &Workspace, args: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(args).current_dir(workspace.join("project")).env_clear();
    command.env("HOME", workspace.join("home")).env("PATH", "/usr/bin:/bin");
    command
}

/// What became of a process.
pub(crate) fn finished(output: io::Result<Output>) -> Run {
    let Output { status, stdout, stderr } = output.expect("the binary can be started");
    Run {
        stdout: String::from_utf8(stdout).expect("output is UTF-8"),
        stderr: String::from_utf8(stderr).expect("output is UTF-8"),
        code: status.code().expect("it was not killed"),
    }
}

/// An empty project folder and an empty home, where there are the skills that come with metier and no others.
pub(crate) fn workspace() -> Workspace {
    Workspace::new().dir("project").dir("home")
}

/// The same without the skills that come with metier, for tests that count.
pub(crate) fn without_bundled() -> Workspace {
    workspace().file("home/.config/metier/config.toml", "bundled = false\n")
}
