//! A person at a terminal.

use metier_testkit::Workspace;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A terminal, and metier at it with the terminal as its own.
pub(crate) struct Typist {
    keyboard: File,
    /// Held open, so that the terminal can be asked after the program is gone.
    screen: OwnedFd,
    program: Child,
    /// What was shown so far.
    pub(crate) seen: Vec<u8>,
}

impl Typist {
    /// Starts `metier ARGS…` in `project/` of the workspace.
    pub(crate) fn at(workspace: &Workspace, args: &[&str]) -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap();
        let open = || {
            let path = OsStr::from_bytes(name.as_bytes());
            File::options().read(true).write(true).open(path).unwrap()
        };
        // `setsid --ctty` makes the terminal the program's own, which is what sends Ctrl-C.
        let program = Command::new("setsid")
            .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_metier")])
            .args(args)
            .current_dir(workspace.join("project"))
            .env_clear()
            .env("HOME", workspace.join("home"))
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::from(open()))
            .spawn()
            .expect("setsid of util-linux can be started");
        Self { screen: open().into(), keyboard: keyboard.into(), program, seen: Vec::new() }
    }

    /// Whether the terminal shows what is typed.
    pub(crate) fn shows(&self) -> bool {
        tcgetattr(&self.screen).unwrap().local_modes.contains(LocalModes::ECHO)
    }

    /// Waits until it shows this.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let mut byte = [0; 1];
        while !self.seen.ends_with(text.as_bytes()) {
            assert_eq!(self.keyboard.read(&mut byte).unwrap(), 1);
            self.seen.push(byte[0]);
        }
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Waits for the end; the status.
    pub(crate) fn ends(&mut self) -> std::process::ExitStatus {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(status) = self.program.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "it does not end");
            thread::sleep(Duration::from_millis(20));
        }
    }
}
