//! New namespaces, in which a process has every right again, and old ones, in which it had more.

use std::process::Command;

use super::wrappers::is_installed;
use crate::answer::{Answer, Step, cannot_say, held};
use crate::arguments::{Arguments, read_canary};
use crate::kernel::{Fate, HERE, at, c_text, call, fork_with, in_child, leave, of, wait};
use crate::probe::{Class, Probe, Who};

const ONCE: &str = "a mapping can be written once, and by whoever made the namespace";

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Namespace, "ns-user", "makes a namespace of users", user),
    Probe::plain(Class::Namespace, "ns-user-mount", "makes one, then mounts in it", user_mount),
    Probe::plain(Class::Namespace, "ns-user-net", "makes one, then a network in it", user_net),
    Probe::throwaway(Class::Namespace, "ns-mount", "makes a namespace of mounts", mount),
    Probe::throwaway(Class::Namespace, "ns-all", "makes namespaces of everything but users", all),
    Probe::plain(Class::Namespace, "ns-clone", "makes a child in a namespace of users", clone_user),
    Probe::plain(
        Class::Namespace,
        "ns-clone-high-bits",
        "the same with bits that the kernel ignores",
        clone_high,
    ),
    Probe::plain(
        Class::Namespace,
        "ns-clone3",
        "makes a child in a namespace of users, the new way",
        clone3_user,
    ),
    Probe::plain(
        Class::Namespace,
        "ns-clone3-plain",
        "makes any child the new way, unseen by a filter",
        clone3_plain,
    ),
    Probe::throwaway(
        Class::Namespace,
        "ns-enter-first",
        "enters namespaces of the first process",
        enter_first,
    ),
    Probe::plain(Class::Namespace, "ns-enter-victim", "enters namespaces of a process outside", enter_victim)
        .by(Who::Root),
    Probe::plain(
        Class::Namespace,
        "ns-enter-pidfd",
        "enters them all at once by an open process",
        enter_pidfd,
    )
    .by(Who::Root),
    Probe::plain(Class::Namespace, "ns-enter-own", "enters its own namespace of names again", enter_own)
        .by(Who::Root),
    Probe::plain(
        Class::Namespace,
        "ns-unshare-program",
        "makes one with the program `unshare`",
        unshare_program,
    ),
    Probe::plain(Class::Namespace, "ns-bubblewrap", "makes one with bubblewrap", bubblewrap),
    Probe::uncontrolled(Class::Namespace, "ns-uid-map", "writes its own mapping of users", ONCE, uid_map),
    Probe::uncontrolled(Class::Namespace, "ns-setgroups", "allows itself to change groups", ONCE, setgroups),
];

const USER: usize = libc::CLONE_NEWUSER as usize;

fn unshare(flags: usize) -> std::io::Result<usize> {
    call(libc::SYS_unshare, &[flags])
}

fn user(_: &Arguments) -> Answer {
    unshare(USER).attempt("unshare")?;
    Ok("every right in a namespace of its own".to_owned())
}

fn user_mount(_: &Arguments) -> Answer {
    unshare(USER | libc::CLONE_NEWNS as usize).attempt("unshare")?;
    let (kind, place) = (c_text("tmpfs"), c_text("/"));
    let private = (libc::MS_REC | libc::MS_PRIVATE) as usize;
    call(libc::SYS_mount, &[0, at(&place), 0, private]).attempt("make mounts private")?;
    let folder = crate::kernel::c_path(&Arguments::scratch());
    call(libc::SYS_mount, &[at(&kind), at(&folder), at(&kind), 0, 0]).attempt("mount")?;
    Ok("mounted in it".to_owned())
}

fn user_net(_: &Arguments) -> Answer {
    unshare(USER | libc::CLONE_NEWNET as usize).attempt("unshare")?;
    Ok("a network of its own, with all of the kernel's code behind it".to_owned())
}

fn mount(_: &Arguments) -> Answer {
    unshare(libc::CLONE_NEWNS as usize).attempt("unshare")?;
    Ok("mounts of its own".to_owned())
}

fn all(_: &Arguments) -> Answer {
    let kinds = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
        TIME,
    ];
    let mut refusal = String::new();
    for kind in kinds {
        match unshare(kind as usize) {
            Ok(_) => return Ok(format!("a namespace of kind {kind:#x}")),
            Err(error) => refusal = error.to_string(),
        }
    }
    held(format!("unshare: {refusal}"))
}

/// A namespace of clocks; the number is that of the kernel.
const TIME: i32 = 0x80;

fn cloned(flags: usize) -> Answer {
    let child = fork_with(flags).attempt("clone")?;
    if child == 0 {
        leave(0);
    }
    let fate = wait(child).prepare("wait")?;
    Ok(format!("the child ended with {fate:?}"))
}

fn clone_user(_: &Arguments) -> Answer {
    cloned(USER)
}

fn clone_high(_: &Arguments) -> Answer {
    // The old call takes 32 bits of its flags; a filter that compares 64 sees others.
    cloned(USER | 1 << 40)
}

fn clone3(flags: u64) -> Answer {
    let mut request = [0_u64; 8];
    request[0] = flags;
    request[4] = libc::SIGCHLD as u64;
    let child = call(libc::SYS_clone3, &[of(&request), size_of_val(&request)]).attempt("clone3")?;
    if child == 0 {
        leave(0);
    }
    let fate = wait(child).prepare("wait")?;
    Ok(format!("the child ended with {fate:?}"))
}

fn clone3_user(_: &Arguments) -> Answer {
    clone3(USER as u64)
}

fn clone3_plain(_: &Arguments) -> Answer {
    clone3(0)
}

/// Enters each kind of namespace of a process, in a child each; the first that works is enough.
fn enter(process: &str) -> Answer {
    let mut refusal = String::new();
    for kind in ["uts", "ipc", "net", "cgroup", "mnt", "pid", "user"] {
        let path = c_text(format!("/proc/{process}/ns/{kind}"));
        let fate = in_child(|| {
            let entered = call(libc::SYS_openat, &[HERE, at(&path), libc::O_RDONLY as usize])
                .and_then(|place| call(libc::SYS_setns, &[place, 0]));
            entered.err().map_or(0, |error| error.raw_os_error().unwrap_or(255))
        })
        .prepare("a child")?;
        match fate {
            Fate::Exited(0) => return Ok(format!("entered the {kind} namespace of {process}")),
            Fate::Exited(number) => refusal = std::io::Error::from_raw_os_error(number).to_string(),
            Fate::Signaled(signal) => refusal = format!("signal {signal}"),
        }
    }
    held(format!("setns: {refusal}"))
}

fn enter_first(_: &Arguments) -> Answer {
    enter("1")
}

fn enter_victim(arguments: &Arguments) -> Answer {
    enter(arguments.text("victim")?)
}

fn enter_own(_: &Arguments) -> Answer {
    enter("self")
}

fn enter_pidfd(arguments: &Arguments) -> Answer {
    let process = call(libc::SYS_pidfd_open, &[arguments.victim()?, 0]).attempt("pidfd_open")?;
    call(libc::SYS_setns, &[process, libc::CLONE_NEWUTS as usize]).attempt("setns")?;
    Ok("entered".to_owned())
}

fn program(name: &str, words: &[&str], arguments: &Arguments) -> Answer {
    let mut command = Command::new(name);
    command.args(words).arg(arguments.path("outside")?);
    let output = match command.output() {
        Ok(output) => output,
        Err(_) if !is_installed(name) => return cannot_say(format!("`{name}` is not there")),
        Err(error) => return held(format!("{name}: {error}")),
    };
    if output.status.success() {
        return Ok(format!("{name} made a namespace"));
    }
    held(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

fn unshare_program(arguments: &Arguments) -> Answer {
    program("unshare", &["--user", "--map-root-user", "true"], arguments)
}

fn bubblewrap(arguments: &Arguments) -> Answer {
    program("bwrap", &["--unshare-user", "--ro-bind", "/", "/", "true"], arguments)
}

fn write_own(name: &str, text: &str) -> Answer {
    std::fs::write(format!("/proc/self/{name}"), text).attempt(name)?;
    Ok(format!("wrote {name}"))
}

fn uid_map(arguments: &Arguments) -> Answer {
    write_own("uid_map", "0 0 4294967295\n")?;
    read_canary(arguments.path("other")?)
}

fn setgroups(_: &Arguments) -> Answer {
    write_own("setgroups", "allow")
}
