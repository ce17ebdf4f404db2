//! A run of the binary that somebody watches: until it has said something, and is then left, interrupted or killed.

use crate::binary::{Run, command};
use metier_testkit::Workspace;
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Stdio};
use std::thread::{self, JoinHandle};

/// A run that is under way while others are tried.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beside {
    run: Vec<String>,
    /// What it has said when the others begin.
    until: String,
}

/// It is killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    /// Which session it works on, by its events.
    pub(crate) session: String,
    /// Read on, or it would stop at a full pipe.
    rest: Option<JoinHandle<()>>,
}

impl Beside {
    pub(crate) fn start(&self, workspace: &Workspace) -> Running {
        let args: Vec<&str> = self.run.iter().map(String::as_str).collect();
        let (child, said, mut out) = said(workspace, &args, &self.until);
        let named = said.split_once("\"session\":\"").map(|(_, rest)| rest);
        let session = named.and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned();
        let rest =
            thread::spawn(move || while out.read_line(&mut String::new()).is_ok_and(|length| length > 0) {});
        Running { child, session, rest: Some(rest) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(rest) = self.rest.take() {
            let _ = rest.join();
        }
    }
}

/// Runs `metier ARGS…` and interrupts it, as Ctrl-C does, when it has said this.
pub(crate) fn interrupted(workspace: &Workspace, args: &[&str], text: &str) -> Run {
    let (mut child, mut stdout, mut out) = said(workspace, args, text);
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("it has an id");
    kill_process(id, Signal::INT).expect("it is there");
    out.read_to_string(&mut stdout).expect("output is UTF-8");
    let mut stderr = String::new();
    child.stderr.take().expect("it has one").read_to_string(&mut stderr).expect("output is UTF-8");
    let code = child.wait().expect("it ends").code().expect("it was not killed");
    Run { stdout, stderr, code }
}

/// Starts it, and waits until it has said this on its standard output.
fn said(workspace: &Workspace, args: &[&str], text: &str) -> (Child, String, BufReader<ChildStdout>) {
    let mut command = command(workspace, args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary can be started");
    let mut out = BufReader::new(child.stdout.take().expect("it has a standard output"));
    let mut said = String::new();
    while !said.contains(text) {
        let length = out.read_line(&mut said).expect("output is UTF-8");
        assert!(length > 0, "it ended without saying {text:?}: {said}");
    }
    (child, said, out)
}
