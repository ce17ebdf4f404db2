//! Looking into other processes and steering them.

use crate::answer::{Answer, Step, Stop, cannot_say, gated, held};
use crate::arguments::Arguments;
use crate::kernel::{Fate, call, fork, in_child, into, leave, of, wait};
use crate::probe::{Class, Probe, Who};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Process, "trace-me", "asks to be traced", me),
    Probe::plain(Class::Process, "trace-attach", "attaches to a process outside", attach),
    Probe::plain(Class::Process, "trace-seize", "seizes a process outside", seize),
    Probe::plain(Class::Process, "trace-child", "seizes a child of its own", child),
    Probe::throwaway(Class::Process, "trace-init", "seizes the first process it sees", init),
    Probe::plain(Class::Process, "memory-read", "reads memory of a process outside", read_other),
    Probe::plain(Class::Process, "memory-read-parent", "reads memory of its parent", read_parent),
    Probe::plain(Class::Process, "memory-read-self", "copies its own memory the way of debuggers", read_self),
    Probe::plain(
        Class::Process,
        "memory-write-self",
        "writes its own memory the way of debuggers",
        write_self,
    ),
    Probe::plain(Class::Process, "memory-advise", "drops pages of a process outside", advise).by(Who::Root),
    Probe::plain(Class::Process, "memory-move", "asks where pages of a process outside lie", move_pages),
    Probe::plain(Class::Process, "memory-migrate", "moves the pages of a process outside", migrate_pages),
    Probe::plain(
        Class::Process,
        "robust-list",
        "learns where a process outside keeps its locks",
        robust_list,
    ),
    Probe::plain(Class::Process, "pidfd-open", "opens a process outside", pidfd_open),
    Probe::plain(Class::Process, "pidfd-take", "takes a descriptor out of a process outside", pidfd_getfd),
    Probe::plain(Class::Process, "pidfd-take-parent", "takes a descriptor out of its parent", pidfd_parent),
    Probe::plain(Class::Process, "compare", "compares tables with a process outside", compare),
    Probe::plain(Class::Process, "limits-other", "reads and sets limits of a process outside", limits),
    Probe::plain(Class::Process, "affinity-other", "moves a process outside to a processor", affinity),
    Probe::plain(Class::Process, "priority-other", "lowers the priority of a process outside", priority),
    Probe::plain(Class::Process, "scheduler-other", "asks how a process outside is scheduled", scheduler),
    Probe::plain(Class::Process, "session-other", "asks for the session of a process outside", session),
];

const SEIZE: usize = 0x4206;
const DETACH: usize = 17;
const ATTACH: usize = 16;

fn me(_: &Arguments) -> Answer {
    // In a child, so that nothing stops this process afterwards.
    match in_child(|| i32::from(call(libc::SYS_ptrace, &[0]).is_err())).prepare("a child")? {
        Fate::Exited(0) => Ok("a tracer was accepted".to_owned()),
        fate => held(format!("{fate:?}")),
    }
}

fn attach(arguments: &Arguments) -> Answer {
    let victim = arguments.victim()?;
    call(libc::SYS_ptrace, &[ATTACH, victim]).attempt("ptrace")?;
    let _ = call(libc::SYS_wait4, &[victim, 0, libc::__WALL as usize]);
    let _ = call(libc::SYS_ptrace, &[DETACH, victim]);
    Ok("attached".to_owned())
}

fn seize_process(process: usize) -> Answer {
    call(libc::SYS_ptrace, &[SEIZE, process]).attempt("ptrace")?;
    Ok(format!("seized {process}; it is free again when this ends"))
}

fn seize(arguments: &Arguments) -> Answer {
    seize_process(arguments.victim()?)
}

fn init(_: &Arguments) -> Answer {
    seize_process(1)
}

fn child(_: &Arguments) -> Answer {
    let child = fork().prepare("fork")?;
    if child == 0 {
        std::thread::sleep(std::time::Duration::from_millis(500));
        leave(0);
    }
    let answer = seize_process(child);
    let _ = wait(child);
    answer
}

/// Reads some bytes of another process at an address that this program has too.
fn read_from(process: usize) -> Answer {
    static PLACE: [u8; 64] = [7; 64];
    let mut bytes = [0_u8; 64];
    let here = [into(&mut bytes), bytes.len()];
    let there = [of(&PLACE), PLACE.len()];
    match call(libc::SYS_process_vm_readv, &[process, of(&here), 1, of(&there), 1]) {
        Ok(length) => Ok(format!("{length} bytes")),
        // Allowed to look, but nothing is at that place in the other one.
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => {
            Ok(format!("only the place was wrong: {error}"))
        }
        Err(error) => held(format!("process_vm_readv: {error}")),
    }
}

fn read_other(arguments: &Arguments) -> Answer {
    read_from(arguments.victim()?)
}

fn read_parent(_: &Arguments) -> Answer {
    read_from(call(libc::SYS_getppid, &[]).prepare("getppid")?)
}

fn read_self(_: &Arguments) -> Answer {
    read_from(call(libc::SYS_getpid, &[]).prepare("getpid")?)
}

fn write_self(_: &Arguments) -> Answer {
    let me = call(libc::SYS_getpid, &[]).prepare("getpid")?;
    let (from, mut to) = ([7_u8; 8], [0_u8; 8]);
    let here = [of(&from), from.len()];
    let there = [into(&mut to), to.len()];
    call(libc::SYS_process_vm_writev, &[me, of(&here), 1, of(&there), 1]).attempt("process_vm_writev")?;
    Ok("written".to_owned())
}

fn open_process(process: usize) -> Result<usize, Stop> {
    call(libc::SYS_pidfd_open, &[process, 0]).attempt("pidfd_open")
}

fn advise(arguments: &Arguments) -> Answer {
    let process = open_process(arguments.victim()?)?;
    let none: [usize; 2] = [0, 0];
    let cold = 20;
    gated("process_madvise", call(libc::SYS_process_madvise, &[process, of(&none), 1, cold, 0]))
}

fn migrate_pages(arguments: &Arguments) -> Answer {
    // From the first part of the memory to the same one, so nothing moves.
    let parts: [u64; 2] = [1, 0];
    match call(libc::SYS_migrate_pages, &[arguments.victim()?, 64, of(&parts), of(&parts)]) {
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) && !arguments.has("contained") => {
            cannot_say("the kernel knows no parts of memory")
        }
        moved => moved.attempt("migrate_pages").map(|left| format!("{left} pages were left")),
    }
}

fn robust_list(arguments: &Arguments) -> Answer {
    let (mut head, mut length) = (0_usize, 0_usize);
    call(libc::SYS_get_robust_list, &[arguments.victim()?, into(&mut head), into(&mut length)])
        .attempt("get_robust_list")?;
    Ok(format!("{length} bytes"))
}

fn move_pages(arguments: &Arguments) -> Answer {
    let (pages, mut status) = ([0_usize], [0_i32]);
    let words = [arguments.victim()?, 1, of(&pages), 0, into(&mut status), 0];
    match call(libc::SYS_move_pages, &words) {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => held(format!("move_pages: {error}")),
        other => gated("move_pages", other),
    }
}

fn pidfd_open(arguments: &Arguments) -> Answer {
    open_process(arguments.victim()?).map(|process| format!("it is open as {process}"))
}

fn take(process: usize) -> Answer {
    let process = open_process(process)?;
    let taken = call(libc::SYS_pidfd_getfd, &[process, 0, 0]).attempt("pidfd_getfd")?;
    Ok(format!("its standard input is {taken} here"))
}

fn pidfd_getfd(arguments: &Arguments) -> Answer {
    take(arguments.victim()?)
}

fn pidfd_parent(_: &Arguments) -> Answer {
    take(call(libc::SYS_getppid, &[]).prepare("getppid")?)
}

fn compare(arguments: &Arguments) -> Answer {
    let me = call(libc::SYS_getpid, &[]).prepare("getpid")?;
    let files = 2;
    let order = call(libc::SYS_kcmp, &[me, arguments.victim()?, files]).attempt("kcmp")?;
    Ok(format!("kcmp gave {order}"))
}

fn limits(arguments: &Arguments) -> Answer {
    let victim = arguments.victim()?;
    let mut limit = [0_u64; 2];
    let files = libc::RLIMIT_NOFILE as usize;
    call(libc::SYS_prlimit64, &[victim, files, 0, into(&mut limit)]).attempt("read its limits")?;
    call(libc::SYS_prlimit64, &[victim, files, of(&limit), 0]).attempt("set its limits")?;
    Ok("its limits were set to what they were".to_owned())
}

fn affinity(arguments: &Arguments) -> Answer {
    let victim = arguments.victim()?;
    let mut mask = [0_u64; 128];
    let size = size_of_val(&mask);
    call(libc::SYS_sched_getaffinity, &[victim, size, into(&mut mask)]).attempt("sched_getaffinity")?;
    call(libc::SYS_sched_setaffinity, &[victim, size, of(&mask)]).attempt("sched_setaffinity")?;
    Ok("its processors were set to what they were".to_owned())
}

fn priority(arguments: &Arguments) -> Answer {
    // The kernel's answer is 20 minus the value, so that it is never negative.
    let now = call(libc::SYS_getpriority, &[0, arguments.victim()?]).attempt("getpriority")?;
    let same = 20_isize - now as isize;
    call(libc::SYS_setpriority, &[0, arguments.victim()?, same as usize]).attempt("setpriority")?;
    Ok("its priority was set to what it was".to_owned())
}

fn scheduler(arguments: &Arguments) -> Answer {
    let policy = call(libc::SYS_sched_getscheduler, &[arguments.victim()?]).attempt("sched_getscheduler")?;
    Ok(format!("policy {policy}"))
}

fn session(arguments: &Arguments) -> Answer {
    let session = call(libc::SYS_getsid, &[arguments.victim()?]).attempt("getsid")?;
    Ok(format!("session {session}"))
}
