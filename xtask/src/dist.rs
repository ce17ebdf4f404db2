//! `dist`: packages for people who do not have Rust. One static program, and around it an archive, a Debian package and a container.
//!
//! Everything around the program depends on the program and the commit alone: entries are sorted and have fixed times and owners.

mod archive;
mod container;
mod contents;
mod debian;
mod licences;
mod name_services;
mod program;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use sha2::{Digest, Sha256};

use self::contents::Contents;
use self::program::Program;
use crate::repository::Repository;

/// The target's name in file names, as downloads of other programs have it.
const PLATFORM: &str = "x86_64-linux";

#[derive(clap::Args)]
#[command(after_help = "\
Writes to target/dist/packages:
  metier                              the program, linked statically
  metier-VERSION-x86_64-linux.tar.gz  program, manual pages, completions, licences
  metier_VERSION_amd64.deb            the same as a package for Debian and Ubuntu
  container/                          a Containerfile and what it copies
  SHA256SUMS                          digests of all of these

Examples:
  cargo xtask dist                      everything, as it is shipped; takes minutes
  cargo xtask dist --profile release    the same from a quicker build, to try the packages
  cargo xtask dist --skip-build         packages the program of the last call again

The packages take their times from SOURCE_DATE_EPOCH, or from the commit.")]
pub(crate) struct Arguments {
    /// The cargo profile to build with
    #[arg(long, default_value = "dist")]
    profile: Profile,
    /// Build nothing; package the program of the last call
    #[arg(long, conflicts_with = "profile")]
    skip_build: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Profile {
    /// Optimised as a whole; what is shipped
    Dist,
    /// What `cargo install` builds
    Release,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Dist => "dist",
            Self::Release => "release",
        }
    }
}

/// What `dist` made.
pub(crate) struct Packages {
    pub(crate) archive: PathBuf,
    pub(crate) debian: PathBuf,
    /// The folder of the Containerfile.
    pub(crate) container: PathBuf,
}

pub(crate) fn run(repository: &Repository, arguments: &Arguments) -> Result<()> {
    let profile = (!arguments.skip_build).then_some(arguments.profile);
    make(repository, profile)?;
    Ok(())
}

/// Builds the program with this profile and packages it. Without a profile it packages the program of the last build.
pub(crate) fn make(repository: &Repository, profile: Option<Profile>) -> Result<Packages> {
    if (env::consts::ARCH, env::consts::OS) != ("x86_64", "linux") {
        bail!("packages are for {PLATFORM} only, and no other machine builds for it; run this on one");
    }
    // Cargo has the folder around it for builds with the profile of the same name.
    let folder = repository.target()?.join("dist").join("packages");
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    let program = match profile {
        Some(profile) => {
            println!("1/3 building the program with the profile `{}`", profile.name());
            Program::build(repository, profile, &folder)?
        }
        None => Program::built(&folder)?,
    };
    println!("2/3 collecting manual pages, completions and licences");
    let contents = Contents::collect(repository, &program, &folder.join("manual"))?;
    println!("3/3 packaging");
    let time = commit_time(repository)?;
    let version = &program.version;
    let top = format!("metier-{version}-{PLATFORM}");
    let archive = folder.join(format!("{top}.tar.gz"));
    let debian = folder.join(format!("metier_{version}_amd64.deb"));
    write(&archive, &archive::compressed(contents.files(), &top, time)?)?;
    write(&debian, &debian::package(&contents, version, time)?)?;
    let container = folder.join("container");
    let context = container::write_context(&container, &program, &contents)?;
    let mut shipped: Vec<&PathBuf> = [&program.path, &archive, &debian].into_iter().chain(&context).collect();
    shipped.sort();
    let mut sums = String::new();
    for path in shipped {
        let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let name = path.strip_prefix(&folder)?.display();
        println!("{:44} {}", name.to_string(), megabytes(bytes.len()));
        for byte in Sha256::digest(&bytes) {
            sums.push_str(&format!("{byte:02x}"));
        }
        sums.push_str(&format!("  {name}\n"));
    }
    write(&folder.join("SHA256SUMS"), sums.as_bytes())?;
    println!("written to {}", folder.display());
    Ok(Packages { archive, debian, container })
}

/// A size as people compare it.
fn megabytes(bytes: usize) -> String {
    let tenths = bytes / 100_000;
    format!("{:>4}.{} MB", tenths / 10, tenths % 10)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("{} cannot be written", path.display()))
}

/// The time that every packaged file has, in seconds: the same source gives the same packages.
fn commit_time(repository: &Repository) -> Result<u64> {
    if let Some(text) = env::var_os("SOURCE_DATE_EPOCH") {
        let text = text.to_string_lossy();
        return text
            .parse()
            .with_context(|| format!("SOURCE_DATE_EPOCH is `{text}`; set it to seconds since 1970"));
    }
    let git = Command::new("git")
        .args(["log", "-1", "--format=%ct"])
        .current_dir(repository.root())
        .output()
        .ok()
        .filter(|output| output.status.success());
    git.and_then(|output| String::from_utf8(output.stdout).ok()?.trim().parse().ok())
        .context("git does not know the time of the commit; set SOURCE_DATE_EPOCH, e.g. to `$(date +%s)`")
}
