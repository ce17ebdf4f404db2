//! Becoming somebody else, or more than one is.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::answer::{Answer, Step, Stop, cannot_say, gated, held};
use crate::arguments::Arguments;
use crate::kernel::{at, c_path, c_text, call, into, of};
use crate::probe::{Class, Probe, Who};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(
        Class::Privilege,
        "new-privileges",
        "could gain privileges by starting a program",
        new_privileges,
    ),
    Probe::plain(Class::Privilege, "capabilities", "has a capability", capabilities).by(Who::Root),
    Probe::plain(Class::Privilege, "capability-gain", "gives itself a capability", capability_gain)
        .by(Who::Root),
    Probe::plain(
        Class::Privilege,
        "setuid-program",
        "runs a program of the system's that becomes root",
        setuid_program,
    )
    .by(Who::Unprivileged),
    Probe::plain(Class::Privilege, "setuid-own", "makes a program that becomes another user", setuid_own)
        .by(Who::Root),
    Probe::plain(
        Class::Privilege,
        "file-capability",
        "gives a program of its own a capability",
        file_capability,
    )
    .by(Who::Root),
    Probe::plain(Class::Privilege, "setuid-call", "becomes another user", setuid_call).by(Who::Root),
    Probe::plain(Class::Privilege, "setgroups-call", "leaves its groups", setgroups_call).by(Who::Root),
    Probe::plain(Class::Privilege, "secure-bits", "changes how root is treated", secure_bits).by(Who::Root),
    Probe::plain(
        Class::Privilege,
        "memory-layout",
        "pretends to be another program (PR_SET_MM)",
        memory_layout,
    )
    .by(Who::Root),
    Probe::plain(Class::Privilege, "limit-raise", "takes a limit of its own away", limit_raise),
    Probe::plain(Class::Privilege, "realtime", "runs before everybody else", realtime).by(Who::Root),
    Probe::plain(Class::Privilege, "nice", "raises its own priority", nice).by(Who::Root),
    Probe::plain(Class::Privilege, "lock-memory", "locks more memory than it may", lock_memory).by(Who::Root),
    Probe::plain(Class::Privilege, "core-dump", "leaves a core dump where the system keeps them", core_dump),
    Probe::plain(Class::Device, "device-node", "makes a node of a device", device_node).by(Who::Root),
    Probe::plain(Class::Device, "disk-node", "makes a node of a disk and opens it", disk_node).by(Who::Root),
];

const NOBODY: usize = 65534;

fn new_privileges(_: &Arguments) -> Answer {
    match call(libc::SYS_prctl, &[libc::PR_GET_NO_NEW_PRIVS as usize]).prepare("prctl")? {
        0 => Ok("programs that become root still do".to_owned()),
        _ => held("no new privileges"),
    }
}

/// The sets of this process: effective, permitted, inheritable, twice 32 bits each.
fn sets() -> Result<[u32; 6], Stop> {
    let header: [u32; 2] = [VERSION, 0];
    let mut sets = [0_u32; 6];
    call(libc::SYS_capget, &[of(&header), into(&mut sets)]).prepare("capget")?;
    Ok(sets)
}

/// The version of the interface, with 64 bits in each set.
const VERSION: u32 = 0x2008_0522;

fn capabilities(_: &Arguments) -> Answer {
    let sets = sets()?;
    if sets.iter().all(|set| *set == 0) { held("all sets are empty") } else { Ok(format!("{sets:x?}")) }
}

fn capability_gain(_: &Arguments) -> Answer {
    let header: [u32; 2] = [VERSION, 0];
    // The right to administer the system, number 21.
    let sets: [u32; 6] = [1 << 21, 1 << 21, 0, 0, 0, 0];
    call(libc::SYS_capset, &[of(&header), of(&sets)]).attempt("capset")?;
    Ok("has the right to administer the system".to_owned())
}

fn setuid_program(_: &Arguments) -> Answer {
    let known = ["/usr/bin/su", "/usr/bin/mount", "/usr/bin/newgrp", "/usr/bin/passwd", "/usr/bin/sudo"];
    let mut tried = Vec::new();
    for program in known {
        let Ok(found) = std::fs::metadata(program) else { continue };
        if found.permissions().mode() & 0o4000 == 0 {
            continue;
        }
        // The loader shows what the kernel told it, unless the program runs with more rights than its caller.
        let Ok(output) = Command::new(program).arg("--version").env("LD_SHOW_AUXV", "1").output() else {
            continue;
        };
        if !String::from_utf8_lossy(&output.stdout).contains("AT_SECURE") {
            return Ok(format!("{program} ran with the rights of its owner"));
        }
        tried.push(program);
    }
    if tried.is_empty() {
        return cannot_say("no such program is there");
    }
    held(format!("{} ran with no more rights", tried.join(", ")))
}

/// A copy of this program in the scratch folder.
fn copied(arguments: &Arguments) -> Result<PathBuf, Stop> {
    let copy = Arguments::scratch().join("probe-raised");
    crate::program::copy(&arguments.path("skill")?.join("scripts/probe"), &copy, 0o755)
        .prepare("copy itself")?;
    Ok(copy)
}

/// A user that this process is not.
fn another() -> Result<usize, Stop> {
    let mine = call(libc::SYS_getuid, &[]).prepare("getuid")?;
    Ok(if mine == NOBODY { NOBODY - 1 } else { NOBODY })
}

fn setuid_own(arguments: &Arguments) -> Answer {
    let copy = copied(arguments)?;
    let (path, another) = (c_path(&copy), another()?);
    let given =
        call(libc::SYS_fchownat, &[crate::kernel::HERE, at(&path), another, another, 0]).attempt("chown");
    let raised = given.and_then(|_| {
        std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o6755)).attempt("chmod")?;
        let output = Command::new(&copy).arg("identity").output().attempt("run it")?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    });
    let _ = std::fs::remove_file(copy);
    let theirs = raised?;
    if theirs == another.to_string() {
        return Ok(format!("a program of its own ran as user {theirs}"));
    }
    held(format!("it ran as user {theirs}"))
}

fn file_capability(arguments: &Arguments) -> Answer {
    let copy = copied(arguments)?;
    let (path, name) = (c_path(&copy), c_text("security.capability"));
    // Version 2, effective: everything permitted.
    let value: [u32; 5] = [0x0200_0001, 1 << 21, 0, 0, 0];
    let set = call(libc::SYS_setxattr, &[at(&path), at(&name), of(&value), size_of_val(&value), 0]);
    let _ = std::fs::remove_file(copy);
    set.attempt("setxattr")?;
    Ok("a program of its own has a capability".to_owned())
}

fn setuid_call(_: &Arguments) -> Answer {
    let another = another()?;
    call(libc::SYS_setresuid, &[another, another, another]).attempt("setresuid")?;
    Ok(format!("became user {another}"))
}

fn setgroups_call(_: &Arguments) -> Answer {
    call(libc::SYS_setgroups, &[0, 0]).attempt("setgroups")?;
    Ok("left all groups".to_owned())
}

fn secure_bits(_: &Arguments) -> Answer {
    call(libc::SYS_prctl, &[libc::PR_SET_SECUREBITS as usize, 0]).attempt("prctl")?;
    Ok("set".to_owned())
}

/// Outside, a root without the right over resources (number 24) shows nothing.
pub(crate) fn needs_resources(arguments: &Arguments) -> Result<(), Stop> {
    if !arguments.has("contained") && sets()?[0] & 1 << 24 == 0 {
        return Err(Stop::CannotSay("root has no right over resources here".to_owned()));
    }
    Ok(())
}

fn memory_layout(arguments: &Arguments) -> Answer {
    needs_resources(arguments)?;
    // No such part: with the right to do it the kernel would say so.
    gated("prctl", call(libc::SYS_prctl, &[libc::PR_SET_MM as usize, 99, 0, 0, 0]))
}

fn limit_raise(_: &Arguments) -> Answer {
    // The size of files is what nothing but this limit bounds.
    let unlimited = [u64::MAX; 2];
    call(libc::SYS_prlimit64, &[0, libc::RLIMIT_FSIZE as usize, of(&unlimited), 0]).attempt("prlimit64")?;
    Ok("files of any size".to_owned())
}

fn realtime(_: &Arguments) -> Answer {
    let priority = 1_i32;
    let first_in_first_out = 1;
    call(libc::SYS_sched_setscheduler, &[0, first_in_first_out, of(&priority)])
        .attempt("sched_setscheduler")?;
    Ok("it runs before everybody else".to_owned())
}

fn nice(_: &Arguments) -> Answer {
    call(libc::SYS_setpriority, &[0, 0, (-5_isize) as usize]).attempt("setpriority")?;
    Ok("its priority is raised".to_owned())
}

fn lock_memory(_: &Arguments) -> Answer {
    // More than the default limit of 8 MiB, less than anybody would miss.
    let length = 16 << 20;
    let address = crate::kernel::map(length, libc::MAP_PRIVATE, None).prepare("mmap")?;
    call(libc::SYS_mlock, &[address, length]).attempt("mlock")?;
    Ok("16 MiB are locked".to_owned())
}

fn core_dump(_: &Arguments) -> Answer {
    let mut limit = [0_u64; 2];
    let core = libc::RLIMIT_CORE as usize;
    call(libc::SYS_prlimit64, &[0, core, 0, into(&mut limit)]).prepare("read the limit")?;
    limit[0] = limit[1];
    let _ = call(libc::SYS_prlimit64, &[0, core, of(&limit), 0]);
    if limit[1] == 0 { held("no dump may be written") } else { Ok(format!("up to {} bytes", limit[1])) }
}

fn node(kind: u32, device: usize) -> Answer {
    let path = Arguments::scratch().join("probe-node");
    let _ = std::fs::remove_file(&path);
    let place = c_path(&path);
    call(libc::SYS_mknodat, &[crate::kernel::HERE, at(&place), (kind | 0o600) as usize, device])
        .attempt("mknod")?;
    let opened = call(libc::SYS_openat, &[crate::kernel::HERE, at(&place), libc::O_NONBLOCK as usize]);
    let _ = std::fs::remove_file(path);
    opened.attempt("open it")?;
    Ok("made and opened".to_owned())
}

fn device_node(_: &Arguments) -> Answer {
    // The null device: that it can be made is all there is to show.
    node(libc::S_IFCHR, 1 << 8 | 3)
}

fn disk_node(_: &Arguments) -> Answer {
    // The first loop device, with nothing behind it.
    node(libc::S_IFBLK, 7 << 8)
}
