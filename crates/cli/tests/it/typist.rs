//! A person at a terminal.

use metier_testkit::Workspace;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
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
        Self::at_folder(workspace, &workspace.join("project"), args)
    }

    /// The same in another folder.
    pub(crate) fn at_folder(workspace: &Workspace, folder: &Path, args: &[&str]) -> Self {
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
            .args(["--ctty", "--wait"])
            .arg(crate::binary::program())
            .args(args)
            .current_dir(folder)
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
        let patience = Timespec { tv_sec: 60, tv_nsec: 0 };
        while !self.seen.ends_with(text.as_bytes()) {
            let mut fds = [PollFd::new(&self.keyboard, PollFlags::IN)];
            let ready = poll(&mut fds, Some(&patience)).unwrap();
            assert_eq!(ready, 1, "{text:?} does not come; there is {}", self.screen_text());
            assert_eq!(self.keyboard.read(&mut byte).unwrap(), 1);
            self.seen.push(byte[0]);
        }
    }

    /// Reads what is shown until nothing was for so long.
    #[allow(dead_code, reason = "only the tests of findings look at a terminal that stays quiet")]
    pub(crate) fn reads_until_quiet(&mut self, quiet: Duration) {
        let mut bytes = [0; 4096];
        let patience = Timespec::try_from(quiet).unwrap();
        loop {
            let mut fds = [PollFd::new(&self.keyboard, PollFlags::IN)];
            if poll(&mut fds, Some(&patience)).unwrap() == 0 {
                return;
            }
            let read = self.keyboard.read(&mut bytes).unwrap();
            self.seen.extend_from_slice(&bytes[..read]);
        }
    }

    /// Reads what is shown until the program has ended; answers every question with the end of the input.
    #[allow(dead_code, reason = "only the tests of findings read all of it")]
    pub(crate) fn reads_to_end(&mut self) -> String {
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let has_ended = self.program.try_wait().unwrap().is_some();
            self.reads_until_quiet(Duration::from_millis(20));
            if has_ended {
                return String::from_utf8_lossy(&self.seen).into_owned();
            }
            if self.seen.ends_with(b" > ") {
                self.types("\u{4}");
            }
            assert!(Instant::now() < deadline, "it does not end; there is {}", self.screen_text());
        }
    }

    /// What was shown so far, readable.
    pub(crate) fn screen_text(&self) -> String {
        String::from_utf8_lossy(&self.seen).escape_debug().to_string().replace("\\n", "\n")
    }

    /// Makes the window another size.
    pub(crate) fn resizes(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.keyboard, size).unwrap();
    }

    /// Kills the program as nobody can refuse it.
    pub(crate) fn kills(&mut self) {
        self.program.kill().unwrap();
        self.program.wait().unwrap();
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

/// A test that fails leaves nobody at the terminal.
impl Drop for Typist {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
