//! Links that lead out: planted where writing is allowed, or found where something is read.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::answer::{Answer, Step, held};
use crate::arguments::{Arguments, read_canary};
use crate::attacks::reads::up;
use crate::probe::{Class, Probe};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Read, "link-scratch", "reads through a link planted in the scratch folder", scratch),
    Probe::plain(Class::Read, "link-data", "reads through a link planted in the data folder", data),
    Probe::plain(Class::Read, "link-chain", "reads through a link to a folder behind a link", chain),
    Probe::plain(Class::Read, "link-relative", "reads through a relative link that climbs out", relative),
    Probe::plain(Class::Read, "link-skill", "reads through a link that the skill brought along", skill),
    Probe::plain(Class::Read, "link-hard", "makes a hard link of the file outside", hard),
    Probe::plain(Class::Write, "link-write", "writes through a link planted in the scratch folder", write),
    Probe::plain(
        Class::Write,
        "link-hard-write",
        "writes to a project's file through a hard link of it",
        hard_write,
    ),
    Probe::plain(Class::Toctou, "swap-read", "reads a folder that is swapped with a link outside", swap),
];

/// Plants a link with this target and gives its place, which is free afterwards whatever was there.
fn plant(folder: &Path, name: &str, target: &Path) -> std::io::Result<PathBuf> {
    let link = folder.join(name);
    let _ = std::fs::remove_file(&link);
    symlink(target, &link)?;
    Ok(link)
}

fn through(folder: &Path, target: &Path, below: &str) -> Answer {
    let link = plant(folder, "probe-link", target).prepare("plant a link")?;
    let answer = read_canary(link.join(below));
    let _ = std::fs::remove_file(link);
    answer
}

/// The folder outside and the name of the file in it.
fn outside(arguments: &Arguments) -> Result<(PathBuf, String), crate::answer::Stop> {
    let path = arguments.path("outside")?;
    let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
    Ok((folder, path.file_name().unwrap_or_default().to_string_lossy().into_owned()))
}

fn scratch(arguments: &Arguments) -> Answer {
    let (folder, name) = outside(arguments)?;
    through(&Arguments::scratch(), &folder, &name)
}

fn data(arguments: &Arguments) -> Answer {
    let (folder, name) = outside(arguments)?;
    through(&arguments.path("data")?, &folder, &name)
}

fn chain(arguments: &Arguments) -> Answer {
    let (folder, name) = outside(arguments)?;
    let first = plant(&Arguments::scratch(), "probe-first", &folder).prepare("plant a link")?;
    let second = first.join("..").join(folder.file_name().unwrap_or_default());
    let answer = through(&Arguments::scratch(), &second, &name);
    let _ = std::fs::remove_file(first);
    answer
}

fn relative(arguments: &Arguments) -> Answer {
    let (folder, name) = outside(arguments)?;
    through(&arguments.path("data")?, &up(16, &folder), &name)
}

fn skill(arguments: &Arguments) -> Answer {
    read_canary(arguments.path("skill")?.join("examples/id_rsa.example"))
}

fn hard(arguments: &Arguments) -> Answer {
    let place = arguments.path("data")?.join("probe-hard");
    let _ = std::fs::remove_file(&place);
    std::fs::hard_link(arguments.path("outside")?, &place).attempt("link")?;
    let answer = read_canary(&place);
    let _ = std::fs::remove_file(place);
    answer
}

fn write(arguments: &Arguments) -> Answer {
    let link =
        plant(&Arguments::scratch(), "probe-link", &arguments.path("outside")?).prepare("plant a link")?;
    let opened = std::fs::OpenOptions::new().append(true).open(&link);
    let _ = std::fs::remove_file(link);
    opened.attempt("open for writing")?;
    Ok("the file outside is open for writing".to_owned())
}

fn hard_write(arguments: &Arguments) -> Answer {
    let place = arguments.path("data")?.join("probe-hard");
    let _ = std::fs::remove_file(&place);
    std::fs::hard_link(arguments.path("project")?.join("README.md"), &place).attempt("link")?;
    let opened = std::fs::OpenOptions::new().append(true).open(&place);
    let _ = std::fs::remove_file(place);
    opened.attempt("open for writing")?;
    Ok("a file of the project is open for writing".to_owned())
}

fn swap(arguments: &Arguments) -> Answer {
    let path = arguments.path("swap")?.join("canary");
    let end = Instant::now() + Duration::from_secs(1);
    let mut tries = 0_u32;
    while Instant::now() < end {
        tries += 1;
        if read_canary(&path).is_ok() {
            return Ok(format!("try {tries} led outside"));
        }
    }
    held(format!("{tries} tries stayed inside"))
}
