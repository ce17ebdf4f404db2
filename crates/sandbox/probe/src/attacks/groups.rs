//! What of the system only some groups may read, and what another call keeps.

use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use crate::answer::{Answer, Step, Stop, cannot_say, held};
use crate::arguments::{Arguments, sings};
use crate::kernel::{call, into};
use crate::probe::{Class, Probe};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Read, "group-files", "opens every file of /etc that is closed to others", files),
    Probe::plain(
        Class::Read,
        "group-folders",
        "enters every folder of /etc that is closed to others",
        folders,
    ),
    Probe::plain(Class::Read, "group-link", "opens such a file through a link", link),
    Probe::plain(Class::Read, "group-own-root", "opens such a file through /proc/self/root", own_root),
    Probe::uncontrolled(
        Class::Read,
        "scratch-other",
        "reads what another call has in its scratch folder",
        "there are no calls outside",
        scratch_other,
    ),
];

/// How deep folders are looked through.
const MAX_DEPTH: usize = 4;

/// What of /etc is closed to others and not this user's own. Outside, where groups have their names, only what a group of this
/// process may open.
fn closed(arguments: &Arguments) -> Result<Vec<PathBuf>, Stop> {
    let root = Path::new("/etc");
    let own = call(libc::SYS_geteuid, &[]).prepare("geteuid")? as u32;
    let mut groups = [0_u32; 64];
    let count = call(libc::SYS_getgroups, &[groups.len(), into(&mut groups)]).prepare("getgroups")?;
    let may_open = |group: u32| own == 0 || arguments.has("contained") || groups[..count].contains(&group);
    let (mut found, mut waiting) = (Vec::new(), vec![(root.to_owned(), 0)]);
    while let Some((folder, depth)) = waiting.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            // Who owns what has no name in a user namespace: there `nobody` can be anybody.
            if metadata.mode() & 0o005 == 0 && (metadata.uid() != own || own == 65534) {
                found.extend(may_open(metadata.gid()).then(|| entry.path()));
            } else if metadata.is_dir() && depth < MAX_DEPTH {
                waiting.push((entry.path(), depth + 1));
            }
        }
    }
    Ok(found)
}

/// Tries each of them.
fn any(found: Vec<PathBuf>, mut open: impl FnMut(&Path) -> std::io::Result<()>) -> Answer {
    let tried = found.len();
    match found.into_iter().find(|path| open(path).is_ok()) {
        // Never what it holds.
        Some(path) => Ok(format!("{} is open", path.display())),
        None if tried == 0 => cannot_say("there is no such thing here"),
        None => held(format!("{tried} could not be opened")),
    }
}

fn read(path: &Path) -> std::io::Result<()> {
    std::fs::File::open(path)?
        .metadata()?
        .is_file()
        .then_some(())
        .ok_or(std::io::ErrorKind::IsADirectory.into())
}

fn files(arguments: &Arguments) -> Answer {
    any(closed(arguments)?, read)
}

fn folders(arguments: &Arguments) -> Answer {
    let found = closed(arguments)?.into_iter().filter(|path| path.is_dir()).collect();
    // Whoever may enter it may ask for what is in it.
    any(found, |path| std::fs::symlink_metadata(path.join(".")).map(drop))
}

fn link(arguments: &Arguments) -> Answer {
    let name = Arguments::scratch().join("probe-link");
    any(closed(arguments)?, |path| {
        let _ = std::fs::remove_file(&name);
        symlink(path, &name)?;
        let opened = read(&name);
        let _ = std::fs::remove_file(&name);
        opened
    })
}

fn own_root(arguments: &Arguments) -> Answer {
    any(closed(arguments)?, |path| {
        read(&Path::new("/proc/self/root").join(path.strip_prefix("/").unwrap_or(path)))
    })
}

fn scratch_other(arguments: &Arguments) -> Answer {
    let folder = arguments.path("victim-scratch")?;
    let victim = arguments.text("victim")?;
    let roots = ["root", "cwd/../../../../..", "task/1/root"].map(|way| format!("/proc/{victim}/{way}"));
    let below = |root: &String| Path::new(root).join(folder.strip_prefix("/").unwrap_or(&folder));
    let places = roots.iter().map(below).chain([folder.clone()]);
    for place in places {
        if std::fs::read(place.join("canary")).is_ok_and(|bytes| sings(&bytes)) {
            return Ok(format!("{} can be read", place.display()));
        }
    }
    held("none of its ways leads there")
}
