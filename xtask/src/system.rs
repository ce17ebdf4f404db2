//! Programs of the system that the tests try metier against.

use std::process::Command;

use anyhow::{Context, Result, bail};

/// A program that tests start, and the package that has it.
struct Program {
    name: &'static str,
    package: &'static str,
    what: &'static str,
}

/// The table of commands that change a project.
const COMMANDS: &str = "a row of the commands that are compared with bare runs";

const PROGRAMS: &[Program] = &[
    Program { name: "busybox", package: "busybox-static", what: "an installation in a container" },
    Program { name: "bwrap", package: "bubblewrap", what: "the tier of bubblewrap and every installation" },
    Program { name: "curl", package: "curl", what: "the way out with a program that everybody uses" },
    Program { name: "dpkg-deb", package: "dpkg", what: "an installation of the Debian package" },
    Program { name: "dbus-daemon", package: "dbus", what: "secrets in a real keyring" },
    Program { name: "git", package: "git", what: "`check --changed`" },
    Program { name: "gnome-keyring-daemon", package: "gnome-keyring", what: "secrets in a real keyring" },
    Program { name: "node", package: "nodejs", what: "what runs by node" },
    Program { name: "npm", package: "npm", what: "`prepare` for node" },
    Program { name: "perl", package: "perl-base", what: "attacks that a shell cannot make" },
    Program { name: "pgrep", package: "procps", what: "the search for processes left behind" },
    Program { name: "python3", package: "python3-venv", what: "what runs by Python, and `prepare` for it" },
    Program { name: "unshare", package: "util-linux", what: "controls in throwaway namespaces" },
    Program { name: "ed", package: "ed", what: COMMANDS },
    Program { name: "gcc", package: "gcc", what: COMMANDS },
    Program { name: "gzip", package: "gzip", what: COMMANDS },
    Program { name: "jq", package: "jq", what: COMMANDS },
    Program { name: "make", package: "make", what: COMMANDS },
    Program { name: "patch", package: "patch", what: COMMANDS },
    Program { name: "rsync", package: "rsync", what: COMMANDS },
    Program { name: "sqlite3", package: "sqlite3", what: COMMANDS },
    Program { name: "unzip", package: "unzip", what: COMMANDS },
    Program { name: "vim", package: "vim", what: COMMANDS },
    Program { name: "zip", package: "zip", what: COMMANDS },
];

/// Installs what is missing, by the package manager of Debian and its kin.
pub(crate) fn install() -> Result<()> {
    let missing = missing();
    if missing.is_empty() {
        println!("all system packages are there");
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().map(|program| program.package).collect();
    println!("installing {}", packages.join(" "));
    // A machine that was just made has no list of packages yet; one that has it does not need it anew.
    if !apt(&["install", "--yes", "--no-install-recommends"], &packages)? {
        apt(&["update"], &[])?;
        if !apt(&["install", "--yes", "--no-install-recommends"], &packages)? {
            bail!("{} could not be installed; see above", packages.join(" "));
        }
    }
    Ok(())
}

/// Says what is missing and what is not tried without it.
pub(crate) fn name_missing() {
    for Program { name, package, what } in missing() {
        println!(
            "`{name}` is missing, so {what} is not tried; install the package {package}, or use --install-system"
        );
    }
}

fn missing() -> Vec<&'static Program> {
    PROGRAMS.iter().filter(|program| !is_there(program.name)).collect()
}

/// Whether the search path has this program.
pub(crate) fn is_there(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

fn apt(words: &[&str], packages: &[&str]) -> Result<bool> {
    let status = Command::new("apt-get")
        .args(words)
        .args(packages)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status()
        .context("apt-get cannot be started; install the packages by hand and leave --install-system out")?;
    Ok(status.success())
}
