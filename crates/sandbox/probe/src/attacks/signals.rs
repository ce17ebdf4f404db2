//! Signals to processes outside, and to whoever watches over this one.

use std::time::Duration;

use crate::answer::{Answer, Step, held};
use crate::arguments::Arguments;
use crate::kernel::{call, of};
use crate::probe::{Class, Ending, Probe, Who};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Process, "signal-kill", "signals a process outside", kill),
    Probe::plain(Class::Process, "signal-group", "signals the caller's process group", group),
    Probe::plain(Class::Process, "signal-all", "asks whether `everybody` would be anybody", all),
    Probe::plain(Class::Process, "signal-thread", "signals a thread outside", thread),
    Probe::plain(Class::Process, "signal-queue", "queues a signal with a value to a process outside", queue),
    Probe::plain(Class::Process, "signal-pidfd", "signals an open process outside", pidfd),
    Probe::plain(Class::Process, "signal-parent", "asks whether its parent could be signalled", parent),
    Probe::plain(Class::Process, "signal-first", "asks whether the machine's first process could be", first)
        .by(Who::Root),
    Probe::uncontrolled(
        Class::Process,
        "signal-init",
        "stops and ends the first process of its namespace, then stays",
        "outside, that is the machine's own first process",
        init,
    )
    .ending(Ending::Stopped),
];

/// It changes nothing for a process that runs, so it shows the right to signal and no more.
const HARMLESS: usize = libc::SIGCONT as usize;

fn kill(arguments: &Arguments) -> Answer {
    call(libc::SYS_kill, &[arguments.victim()?, HARMLESS]).attempt("kill")?;
    Ok("signalled".to_owned())
}

fn group(arguments: &Arguments) -> Answer {
    let group = arguments.number("group")? as isize;
    call(libc::SYS_kill, &[(-group) as usize, 0]).attempt("kill")?;
    Ok("the group could be signalled".to_owned())
}

fn all(_: &Arguments) -> Answer {
    // Signal 0 asks only. The call leaves out this process and the first one, so in a namespace of its own there is
    // nobody; a real signal would end everything outside if it got out.
    call(libc::SYS_kill, &[usize::MAX, 0]).attempt("kill")?;
    Ok("somebody could be signalled".to_owned())
}

fn thread(arguments: &Arguments) -> Answer {
    let victim = arguments.victim()?;
    call(libc::SYS_tgkill, &[victim, victim, HARMLESS]).attempt("tgkill")?;
    Ok("signalled".to_owned())
}

fn queue(arguments: &Arguments) -> Answer {
    let mut information = [0_i32; 32];
    information[0] = libc::SIGCONT;
    information[2] = -1;
    call(libc::SYS_rt_sigqueueinfo, &[arguments.victim()?, HARMLESS, of(&information)])
        .attempt("rt_sigqueueinfo")?;
    Ok("signalled".to_owned())
}

fn pidfd(arguments: &Arguments) -> Answer {
    let process = call(libc::SYS_pidfd_open, &[arguments.victim()?, 0]).attempt("pidfd_open")?;
    call(libc::SYS_pidfd_send_signal, &[process, HARMLESS, 0, 0]).attempt("pidfd_send_signal")?;
    Ok("signalled".to_owned())
}

fn parent(arguments: &Arguments) -> Answer {
    let parent = call(libc::SYS_getppid, &[]).prepare("getppid")?;
    if parent <= 1 && arguments.has("own-pids") {
        return held("its parent is outside, or the first process of its own namespace");
    }
    call(libc::SYS_kill, &[parent, 0]).attempt("kill")?;
    Ok(format!("process {parent} could be signalled"))
}

fn first(arguments: &Arguments) -> Answer {
    if arguments.has("own-pids") {
        // Its own first process is inside; that it cannot be ended is another probe.
        return held("the first process is that of its own namespace");
    }
    call(libc::SYS_kill, &[1, 0]).attempt("kill")?;
    Ok("it could be signalled".to_owned())
}

fn init(arguments: &Arguments) -> Answer {
    if !arguments.has("own-pids") {
        return held("there is no namespace of its own, and `signal-first` asks about the machine's");
    }
    for signal in [libc::SIGSTOP, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGALRM, libc::SIGKILL] {
        let _ = call(libc::SYS_kill, &[1, signal as usize]);
    }
    // Whoever watches over the time must still be there.
    std::thread::sleep(Duration::from_secs(arguments.number("seconds")?));
    Ok("nobody watches over the time any more".to_owned())
}
