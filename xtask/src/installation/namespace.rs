//! A clean place to use an installed program: a file system, an environment and a user of its own, and no network.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use super::run;

/// Folders of the system that programs and their settings are in.
const SYSTEM: &[&str] = &["usr", "etc", "bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/// What every file system has of its own.
const MOUNTED: [&str; 4] = ["--dev", "/dev", "--tmpfs", "/tmp"];

/// Bubblewrap's arguments up to the program, and the program.
pub(super) struct Namespace {
    arguments: Vec<OsString>,
}

impl Namespace {
    /// Whether bubblewrap can make namespaces here.
    pub(super) fn try_out() -> Result<()> {
        run(Command::new("bwrap").args(["--unshare-all", "--ro-bind", "/", "/", "true"])).map(|_| ())
    }

    /// The system, read-only, with `installed` and `home` and nothing else of this machine. The program is found by the search path.
    pub(super) fn on_system(installed: &Path, home: &Path) -> Self {
        let mut namespace = Self::new(1000);
        for name in SYSTEM {
            let path = Path::new("/").join(name);
            // `/bin` is a link on newer systems and a folder on older ones.
            if let Ok(to) = fs::read_link(&path) {
                namespace.mount("--symlink", &to, &path);
            } else if path.is_dir() {
                namespace.mount("--ro-bind", &path, &path);
            }
        }
        namespace.mount("--ro-bind", installed, Path::new("/opt/metier"));
        namespace.mount("--bind", home, Path::new("/home/user"));
        namespace.add(MOUNTED);
        namespace.add(["--setenv", "PATH", "/opt/metier/bin:/usr/bin:/bin"]);
        namespace.add(["--setenv", "HOME", "/home/user", "--chdir", "/home/user"]);
        // The machine's own `/proc`: with one that bubblewrap masks, the kernel allows no further namespaces with theirs.
        namespace.add(["--bind", "/proc", "/proc", "--", "metier"]);
        namespace
    }

    /// `root` as the whole file system, as a container engine shows it. `entrypoint` begins the command line.
    pub(super) fn on_root(
        root: &Path,
        user: u32,
        environment: &[(String, String)],
        folder: &str,
        entrypoint: &[String],
    ) -> Self {
        let mut namespace = Self::new(user);
        namespace.mount("--bind", root, Path::new("/"));
        namespace.add(MOUNTED);
        namespace.add(["--unshare-pid", "--proc", "/proc"]);
        for (name, value) in environment {
            namespace.add(["--setenv", name, value]);
        }
        namespace.add(["--chdir", folder, "--"]);
        namespace.add(entrypoint);
        namespace
    }

    fn new(user: u32) -> Self {
        let user = user.to_string();
        let mut namespace = Self { arguments: Vec::new() };
        namespace.add([
            "--unshare-user",
            "--unshare-net",
            "--unshare-ipc",
            "--die-with-parent",
            "--clearenv",
        ]);
        namespace.add(["--uid", &user, "--gid", &user]);
        namespace
    }

    fn mount(&mut self, way: &str, from: &Path, to: &Path) {
        self.add([OsString::from(way), from.into(), to.into()]);
    }

    fn add<S: Into<OsString>>(&mut self, arguments: impl IntoIterator<Item = S>) {
        self.arguments.extend(arguments.into_iter().map(Into::into));
    }

    /// Runs the program with these arguments. It has to succeed and to print `expected`.
    pub(super) fn expect(&self, arguments: &[&str], expected: &str) -> Result<()> {
        let line = format!("metier {}", arguments.join(" "));
        let printed = run(Command::new("bwrap").args(&self.arguments).args(arguments));
        let printed = printed.map_err(|error| error.context(format!("`{line}`")))?;
        if !printed.contains(expected) {
            bail!("`{line}` does not print `{expected}`:\n{printed}");
        }
        println!("{line}: ok");
        Ok(())
    }
}
