//! Installs metier in every way that docs/install.md has, and uses each installation where nothing else of it is.
//!
//! One build serves all ways: `cargo install` compiles the profile `release`, and the packages take the same libraries.

mod container_root;
mod namespace;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use self::container_root::ContainerRoot;
use self::namespace::Namespace;
use crate::cargo::Cargo;
use crate::dist::{self, Packages, Profile};
use crate::repository::Repository;
use crate::summary::Outcome;
use crate::system;

/// A way to install, and the program of the system that it takes.
struct Way {
    name: &'static str,
    needs: Option<&'static str>,
    /// Installs into the folder and gives where the program is used.
    install: fn(&Packages, &Path) -> Result<Namespace>,
}

/// `cargo install` is not here: what it builds, the others package.
const WAYS: &[Way] = &[
    Way { name: "archive", needs: Some("tar"), install: archive },
    Way { name: "Debian package", needs: Some("dpkg-deb"), install: debian },
    Way { name: "container", needs: Some("busybox"), install: container },
    Way { name: "container without a base", needs: None, install: bare },
];

/// Installs and uses metier in every way.
pub(crate) fn check(repository: &Repository) -> Result<Outcome> {
    if let Err(error) = Namespace::try_out() {
        return missing(&format!("no clean namespace can be made: {error:#}"));
    }
    // A user compiles without the lints.
    let repository = &repository.without_lints();
    let folder = repository.target()?.join("installation");
    let _ = fs::remove_dir_all(&folder);
    println!("-- cargo install");
    let root = fresh(&folder, "cargo")?;
    Cargo::new(repository, ["install", "--locked", "--path", "crates/cli", "--root"])
        .argument(&root)
        .show()?;
    exercise(&Namespace::on_system(&root, &fresh(&folder, "cargo-home")?), Base::System)?;
    println!("-- packages");
    let packages = dist::make(repository, Some(Profile::Release))?;
    let mut not_tried = Vec::new();
    for way in WAYS {
        println!("-- {}", way.name);
        if let Some(program) = way.needs.filter(|program| !system::is_there(program)) {
            not_tried.push(format!("{}: `{program}` is missing", way.name));
            continue;
        }
        let namespace = (way.install)(&packages, &fresh(&folder, &way.name.replace(' ', "-"))?)
            .with_context(|| format!("{} cannot be installed", way.name))?;
        let base = if way.needs.is_none() { Base::Nothing } else { Base::System };
        exercise(&namespace, base).with_context(|| format!("installed by {}", way.name))?;
    }
    if not_tried.is_empty() { Ok(Outcome::Passed) } else { missing(&not_tried.join("; ")) }
}

/// Continuous integration has everything, so what is missing there is a failure.
fn missing(what: &str) -> Result<Outcome> {
    if std::env::var_os("CI").is_some_and(|value| value == "true") {
        bail!("{what}; run `cargo xtask test --all --install-system`");
    }
    Ok(Outcome::NotRun(format!("{what}; `--install-system` installs what is missing")))
}

/// Whether there is a shell for scripts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    System,
    Nothing,
}

/// The first minutes of a user.
fn exercise(namespace: &Namespace, base: Base) -> Result<()> {
    namespace.expect(&["--version"], concat!("metier ", env!("CARGO_PKG_VERSION")))?;
    namespace.expect(&["list"], "create-task")?;
    if base == Base::Nothing {
        return Ok(());
    }
    // It fails for any error; here it also has to contain what runs.
    namespace.expect(&["doctor"], "(used)")?;
    namespace.expect(&["run", "add buy milk to my todo list"], "created task 1: buy milk")?;
    namespace.expect(&["run", "what is on my list"], "buy milk")
}

fn archive(packages: &Packages, folder: &Path) -> Result<Namespace> {
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--strip-components=1", "--file"]).arg(&packages.archive);
    run(tar.arg("--directory").arg(folder))?;
    for path in ["share/man/man1/metier-run.1.gz", "share/bash-completion/completions/metier"] {
        is_there(&folder.join(path))?;
    }
    Ok(Namespace::on_system(folder, &fresh(folder, "home")?))
}

fn debian(packages: &Packages, folder: &Path) -> Result<Namespace> {
    // `--info` reads every field and fails for one that dpkg does not take.
    run(Command::new("dpkg-deb").arg("--info").arg(&packages.debian))?;
    run(Command::new("dpkg-deb").arg("--extract").arg(&packages.debian).arg(folder))?;
    is_there(&folder.join("usr/share/doc/metier/THIRD-PARTY-LICENSES"))?;
    Ok(Namespace::on_system(&folder.join("usr"), &fresh(folder, "home")?))
}

fn container(packages: &Packages, folder: &Path) -> Result<Namespace> {
    let root = ContainerRoot::build(&packages.container, folder)?;
    root.add_busybox()?;
    Ok(root.namespace())
}

/// The program is static, so a container may hold nothing else: for `list`, `check`, `mcp` and what else starts no script.
fn bare(packages: &Packages, folder: &Path) -> Result<Namespace> {
    Ok(ContainerRoot::build(&packages.container, folder)?.namespace())
}

/// An empty folder of this name.
fn fresh(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    fs::create_dir_all(&path).with_context(|| format!("{} cannot be created", path.display()))?;
    Ok(path)
}

fn is_there(path: &Path) -> Result<()> {
    if path.is_file() { Ok(()) } else { bail!("{} is missing", path.display()) }
}

/// Runs a program of the system; a failure has what it printed.
fn run(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("`{name}` could not be started"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("`{name}` failed ({})\n{text}{errors}", output.status);
    }
    Ok(text)
}
