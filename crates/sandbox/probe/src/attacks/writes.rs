//! Changing what was shown read-only, or not at all.

use std::fs::OpenOptions;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::answer::{Answer, Step, Stop, held};
use crate::arguments::Arguments;
use crate::kernel::{HERE, at, c_path, c_text, call, into, of};
use crate::probe::{Class, Probe};

const MACHINE: &str = "it would change a folder of the machine";

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Write, "write-skill", "makes a file in the skill's folder", skill),
    Probe::plain(Class::Write, "write-skill-file", "opens SKILL.md for writing", skill_file),
    Probe::plain(
        Class::Write,
        "write-reopened",
        "opens SKILL.md for reading, then for writing through its descriptor",
        reopened,
    ),
    Probe::plain(Class::Write, "write-script", "opens its own program for writing", script),
    Probe::plain(Class::Write, "write-project", "makes a file in the project", project),
    Probe::plain(Class::Write, "write-project-file", "opens a file of the project for writing", project_file),
    Probe::plain(Class::Write, "write-outside", "makes a file in a folder outside", outside),
    Probe::plain(Class::Write, "write-home", "makes a file in the user's home", home),
    Probe::plain(Class::Write, "write-real-tmp", "makes a file beside the canary in the real /tmp", real_tmp),
    Probe::uncontrolled(Class::Write, "write-usr", "makes a file in /usr", MACHINE, usr),
    Probe::uncontrolled(Class::Write, "write-etc", "makes a file in /etc", MACHINE, etc),
    Probe::uncontrolled(Class::Write, "write-var", "makes a file in /var, /var/lib, /opt", MACHINE, var),
    Probe::uncontrolled(
        Class::Write,
        "write-preload",
        "opens /etc/ld.so.preload for writing",
        MACHINE,
        preload,
    ),
    Probe::plain(Class::Write, "write-truncate", "cuts the file outside to its own length", truncate),
    Probe::plain(
        Class::Write,
        "write-rename-over",
        "renames a file of its own over one of the project",
        rename_over,
    ),
    Probe::plain(Class::Write, "write-rename-skill", "renames the skill's folder", rename_skill),
    Probe::plain(Class::Write, "write-exchange", "exchanges a file of the project with its own", exchange),
    Probe::plain(Class::Write, "write-remove", "removes a file of the project", remove),
    Probe::plain(Class::Write, "write-mode", "changes the mode of a file outside", mode_outside),
    Probe::plain(Class::Write, "write-mode-skill", "changes the mode of SKILL.md", mode_skill),
    Probe::plain(Class::Write, "write-owner", "changes the owner of a file outside to its own", owner),
    Probe::plain(Class::Write, "write-times", "changes the times of a file outside", times),
    Probe::plain(Class::Write, "write-times-skill", "changes the times of SKILL.md", times_skill),
    Probe::plain(Class::Write, "write-attribute", "sets an attribute of a file outside", attribute),
    Probe::plain(Class::Write, "write-flags", "sets the no-dump flag of SKILL.md", flags),
    Probe::plain(
        Class::Write,
        "write-lock",
        "takes a lease and a lock on SKILL.md that others must wait for",
        lock,
    ),
];

/// Makes a file there and takes it away again.
fn make_in(folder: &Path) -> Answer {
    let path = folder.join("probe-was-here");
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .attempt(&path.to_string_lossy())?;
    let _ = std::fs::remove_file(&path);
    Ok(format!("made {}", path.display()))
}

/// Opens a file for writing and writes nothing.
fn open_to_write(path: &Path) -> Answer {
    OpenOptions::new()
        .append(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .attempt(&path.to_string_lossy())?;
    Ok(format!("{} is open for writing", path.display()))
}

fn skill(arguments: &Arguments) -> Answer {
    make_in(&arguments.path("skill")?)
}

fn manifest(arguments: &Arguments) -> Result<PathBuf, Stop> {
    arguments.path("skill").map(|skill| skill.join("SKILL.md"))
}

fn skill_file(arguments: &Arguments) -> Answer {
    open_to_write(&manifest(arguments)?)
}

fn reopened(arguments: &Arguments) -> Answer {
    let file = std::fs::File::open(manifest(arguments)?).prepare("SKILL.md")?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&file);
    let ways = ["/proc/self/fd", "/proc/thread-self/fd", "/dev/fd"];
    let ways = ways.map(|folder| PathBuf::from(format!("{folder}/{number}")));
    // Each of them has to be held, and the first one that is not shows it.
    let mut last = held("no way was tried");
    for way in ways {
        last = open_to_write(&way);
        if last.is_ok() {
            break;
        }
    }
    last
}

fn script(arguments: &Arguments) -> Answer {
    // Whoever runs cannot be written to, so the program beside it stands for the next one that will run.
    open_to_write(&arguments.path("skill")?.join("scripts/other.sh"))
}

fn project(arguments: &Arguments) -> Answer {
    make_in(&arguments.path("project")?)
}

fn project_file(arguments: &Arguments) -> Answer {
    open_to_write(&arguments.path("project")?.join("README.md"))
}

fn outside(arguments: &Arguments) -> Answer {
    make_in(arguments.path("outside")?.parent().unwrap_or(Path::new("/")))
}

fn home(arguments: &Arguments) -> Answer {
    make_in(&arguments.path("home")?)
}

fn real_tmp(arguments: &Arguments) -> Answer {
    make_in(arguments.path("outside-tmp")?.parent().unwrap_or(Path::new("/")))
}

fn usr(_: &Arguments) -> Answer {
    make_in(Path::new("/usr"))
        .or_else(|_| make_in(Path::new("/usr/bin")))
        .or_else(|_| make_in(Path::new("/usr/lib")))
}

fn etc(_: &Arguments) -> Answer {
    make_in(Path::new("/etc"))
}

fn var(_: &Arguments) -> Answer {
    make_in(Path::new("/var"))
        .or_else(|_| make_in(Path::new("/var/lib")))
        .or_else(|_| make_in(Path::new("/opt")))
}

fn preload(_: &Arguments) -> Answer {
    OpenOptions::new().append(true).create(true).open("/etc/ld.so.preload").attempt("/etc/ld.so.preload")?;
    Ok("whatever starts next would load what it names".to_owned())
}

fn truncate(arguments: &Arguments) -> Answer {
    let path = c_path(&arguments.path("outside")?);
    // Its own length and more than it has: neither destroys what the test looks at afterwards.
    let length = std::fs::metadata(arguments.path("outside")?).map_or(1 << 12, |found| found.len());
    call(libc::SYS_truncate, &[at(&path), length as usize]).attempt("truncate")?;
    Ok("truncate worked".to_owned())
}

fn own_file(arguments: &Arguments) -> Result<PathBuf, Stop> {
    let path = arguments.path("data")?.join("probe-own");
    std::fs::write(&path, "mine").prepare("make a file in the data folder")?;
    Ok(path)
}

fn rename_over(arguments: &Arguments) -> Answer {
    let own = own_file(arguments)?;
    let target = arguments.path("project")?.join("spare.txt");
    std::fs::rename(own, target).attempt("rename")?;
    Ok("a file of the project was replaced".to_owned())
}

fn rename_skill(arguments: &Arguments) -> Answer {
    let skill = arguments.path("skill")?;
    let moved = skill.with_extension("moved");
    std::fs::rename(&skill, &moved).attempt("rename")?;
    std::fs::rename(moved, skill).prepare("rename back")?;
    Ok("the skill's folder was moved".to_owned())
}

fn exchange(arguments: &Arguments) -> Answer {
    let own = c_path(&own_file(arguments)?);
    let theirs = c_path(&arguments.path("project")?.join("spare.txt"));
    let words = [HERE, at(&own), HERE, at(&theirs), libc::RENAME_EXCHANGE as usize];
    call(libc::SYS_renameat2, &words).attempt("renameat2")?;
    Ok("two files changed places".to_owned())
}

fn remove(arguments: &Arguments) -> Answer {
    let path = arguments.path("project")?.join("spare.txt");
    std::fs::remove_file(&path).attempt("unlink")?;
    let _ = std::fs::write(path, "spare");
    Ok("a file of the project was removed".to_owned())
}

fn set_mode(path: &Path) -> Answer {
    let before = std::fs::metadata(path).attempt("stat")?.permissions();
    let mut after = before.clone();
    after.set_mode(before.mode() ^ 0o020);
    std::fs::set_permissions(path, after).attempt("chmod")?;
    let _ = std::fs::set_permissions(path, before);
    Ok(format!("the mode of {} was changed", path.display()))
}

fn mode_outside(arguments: &Arguments) -> Answer {
    set_mode(&arguments.path("outside")?)
}

fn mode_skill(arguments: &Arguments) -> Answer {
    set_mode(&manifest(arguments)?)
}

fn owner(arguments: &Arguments) -> Answer {
    let path = c_path(&arguments.path("outside")?);
    let user = call(libc::SYS_getuid, &[]).prepare("getuid")?;
    call(libc::SYS_fchownat, &[HERE, at(&path), user, usize::MAX, 0]).attempt("fchownat")?;
    Ok("chown worked".to_owned())
}

fn set_times(path: &Path) -> Answer {
    let path = c_path(path);
    // Only the time of the last reading, which nobody counts on.
    let instants = [[1_i64, 0], [0, libc::UTIME_OMIT]];
    call(libc::SYS_utimensat, &[HERE, at(&path), of(&instants), 0]).attempt("utimensat")?;
    Ok("the times were changed".to_owned())
}

fn times(arguments: &Arguments) -> Answer {
    set_times(&arguments.path("outside")?)
}

fn times_skill(arguments: &Arguments) -> Answer {
    set_times(&manifest(arguments)?)
}

fn attribute(arguments: &Arguments) -> Answer {
    let path = c_path(&arguments.path("outside")?);
    let (name, value) = (c_text("user.metier"), [b'x']);
    call(libc::SYS_setxattr, &[at(&path), at(&name), of(&value), 1, 0]).attempt("setxattr")?;
    let _ = call(libc::SYS_removexattr, &[at(&path), at(&name)]);
    Ok("an attribute was set".to_owned())
}

fn flags(arguments: &Arguments) -> Answer {
    let path = c_text(manifest(arguments)?.as_os_str().as_bytes());
    let file =
        call(libc::SYS_openat, &[HERE, at(&path), libc::O_RDONLY as usize]).prepare("open SKILL.md")?;
    // A descriptor for reading is enough for its owner: the file's flags are no part of its content.
    let mut flags = 0_i64;
    call(libc::SYS_ioctl, &[file, libc::FS_IOC_GETFLAGS as usize, into(&mut flags)])
        .attempt("read the flags")?;
    flags ^= NO_DUMP;
    call(libc::SYS_ioctl, &[file, libc::FS_IOC_SETFLAGS as usize, of(&flags)]).attempt("set the flags")?;
    flags ^= NO_DUMP;
    let _ = call(libc::SYS_ioctl, &[file, libc::FS_IOC_SETFLAGS as usize, of(&flags)]);
    Ok("the flags were changed".to_owned())
}

/// The flag that backups look at.
const NO_DUMP: i64 = 0x40;

fn lock(arguments: &Arguments) -> Answer {
    let path = c_path(&manifest(arguments)?);
    let file =
        call(libc::SYS_openat, &[HERE, at(&path), libc::O_RDONLY as usize]).prepare("open SKILL.md")?;
    // A lease holds up whoever opens the file for writing, for as long as a minute.
    call(libc::SYS_fcntl, &[file, libc::F_SETLEASE as usize, libc::F_RDLCK as usize]).attempt("a lease")?;
    Ok("a lease holds up whoever wants to write the skill".to_owned())
}
