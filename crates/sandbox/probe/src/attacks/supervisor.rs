//! Attacks on the process that watches over this one and holds its limits: its parent, which in a namespace is the first
//! process.

use std::fs::OpenOptions;
use std::time::Duration;

use crate::answer::{Answer, Step, Stop, cannot_say, gated, held};
use crate::arguments::Arguments;
use crate::kernel::{call, close, fork, into, leave, of};
use crate::probe::{Class, Ending, Probe};

const fn attack(name: &'static str, tries: &'static str, run: fn(&Arguments) -> Answer) -> Probe {
    Probe::throwaway(Class::Supervisor, name, tries, run)
}

const fn unshown(
    name: &'static str,
    tries: &'static str,
    reason: &'static str,
    run: fn(&Arguments) -> Answer,
) -> Probe {
    Probe::uncontrolled(Class::Supervisor, name, tries, reason, run)
}

const NO_GROUP: &str = "the first process of the namespaces that are thrown away has no group in them";
const NO_PARTS: &str = "most machines have one part of memory, and kernels without this call";

pub(crate) const PROBES: &[Probe] = &[
    attack("supervisor-limit-files", "lets its supervisor open no file", limit_files),
    attack("supervisor-limit-memory", "sets the address space of its supervisor", |_| {
        limit(libc::RLIMIT_AS as usize)
    }),
    attack("supervisor-limit-data", "sets the data of its supervisor", |_| limit(libc::RLIMIT_DATA as usize)),
    attack("supervisor-limit-time", "sets the processor time of its supervisor", |_| {
        limit(libc::RLIMIT_CPU as usize)
    }),
    attack("supervisor-limit-size", "sets the file size of its supervisor", |_| {
        limit(libc::RLIMIT_FSIZE as usize)
    }),
    attack("supervisor-limit-stack", "sets the stack of its supervisor", |_| {
        limit(libc::RLIMIT_STACK as usize)
    }),
    attack("supervisor-limit-read", "reads the limits of its supervisor", limit_read),
    attack("supervisor-nice", "gives its supervisor the lowest priority", |_| priority(0, supervisor()?)),
    unshown("supervisor-nice-group", "gives it to its supervisor's group", NO_GROUP, nice_group),
    attack("supervisor-nice-user", "gives it to all processes of the user", |_| priority(1 + 1, 0)),
    attack("supervisor-io", "lets its supervisor read and write last", |_| io_priority(1, supervisor()?)),
    unshown("supervisor-io-group", "the same for its supervisor's group", NO_GROUP, |_| {
        io_priority(2, group()?)
    }),
    attack("supervisor-io-user", "the same for all processes of the user", |_| io_priority(3, 0)),
    attack("supervisor-affinity", "keeps its supervisor on one processor", affinity),
    attack("supervisor-scheduler", "schedules its supervisor as idle", scheduler),
    attack("supervisor-parameters", "sets how its supervisor is scheduled", parameters),
    attack("supervisor-attributes", "sets all about how its supervisor is scheduled", attributes),
    unshown("supervisor-migrate", "moves the memory of its supervisor", NO_PARTS, migrate),
    unshown("supervisor-pages", "asks where the memory of its supervisor lies", NO_PARTS, pages),
    attack("supervisor-signal", "signals its supervisor", |_| {
        call(libc::SYS_kill, &[supervisor()?, SIGNAL]).attempt("kill").map(signalled)
    }),
    attack("supervisor-signal-thread", "signals the thread of its supervisor", |_| {
        let target = supervisor()?;
        call(libc::SYS_tgkill, &[target, target, SIGNAL]).attempt("tgkill").map(signalled)
    }),
    attack("supervisor-signal-old", "the same by the older call", |_| {
        call(libc::SYS_tkill, &[supervisor()?, SIGNAL]).attempt("tkill").map(signalled)
    }),
    attack("supervisor-signal-queue", "queues a signal to its supervisor", |_| {
        let words = [supervisor()?, SIGNAL, of(&QUEUED)];
        call(libc::SYS_rt_sigqueueinfo, &words).attempt("rt_sigqueueinfo").map(signalled)
    }),
    attack("supervisor-signal-queue-thread", "queues one to the thread of its supervisor", |_| {
        let target = supervisor()?;
        let words = [target, target, SIGNAL, of(&QUEUED)];
        call(libc::SYS_rt_tgsigqueueinfo, &words).attempt("rt_tgsigqueueinfo").map(signalled)
    }),
    attack("supervisor-signal-handle", "signals its supervisor by a handle", |_| {
        let handle = handle()?;
        call(libc::SYS_pidfd_send_signal, &[handle, SIGNAL]).attempt("pidfd_send_signal").map(signalled)
    }),
    attack("supervisor-signal-folder", "signals its supervisor by its folder", signal_folder),
    attack("supervisor-signal-owner", "has a descriptor signal its supervisor", signal_owner),
    attack("supervisor-trace", "attaches to its supervisor", trace),
    attack("supervisor-memory-read", "reads memory of its supervisor", |_| {
        memory(libc::SYS_process_vm_readv)
    }),
    attack("supervisor-memory-write", "writes memory of its supervisor", |_| {
        memory(libc::SYS_process_vm_writev)
    }),
    unshown(
        "supervisor-memory-advise",
        "drops memory of its supervisor",
        "it takes a right over the whole machine",
        advise,
    ),
    attack("supervisor-memory-release", "releases the memory of its supervisor", |_| {
        gated("process_mrelease", call(libc::SYS_process_mrelease, &[handle()?, 0]))
    }),
    attack("supervisor-compare", "compares tables with its supervisor", |_| {
        let me = call(libc::SYS_getpid, &[]).prepare("getpid")?;
        call(libc::SYS_kcmp, &[me, supervisor()?, 2])
            .attempt("kcmp")
            .map(|order| format!("kcmp gave {order}"))
    }),
    attack("supervisor-descriptor", "takes a descriptor out of its supervisor", |_| {
        let taken = call(libc::SYS_pidfd_getfd, &[handle()?, 0, 0]).attempt("pidfd_getfd")?;
        Ok(format!("its standard input is {taken} here"))
    }),
    attack("supervisor-proc-victim", "opens who is taken when memory runs out", |_| write("oom_score_adj")),
    attack("supervisor-proc-slack", "opens how exact its clock is", |_| write("timerslack_ns")),
    attack("supervisor-proc-name", "opens its name", |_| write("comm")),
    attack("supervisor-proc-dump", "opens what a dump of it holds", |_| write("coredump_filter")),
    attack("supervisor-proc-sched", "opens its numbers of the scheduler", |_| write("sched")),
    attack("supervisor-proc-autogroup", "opens the priority of its session", |_| write("autogroup")),
    attack("supervisor-proc-login", "opens as whom it logged in", |_| write("loginuid")),
    attack("supervisor-proc-groups", "opens whether it may set groups", |_| write("setgroups")),
    attack("supervisor-proc-users", "opens its map of users", |_| write("uid_map")),
    attack("supervisor-proc-memory", "opens its memory", |_| write("mem")),
    attack("supervisor-proc-references", "opens what it has touched", |_| write("clear_refs")),
    attack("supervisor-proc-label", "opens its label", |_| write("attr/current")),
    attack("supervisor-proc-thread", "opens the name of its thread", write_thread),
    attack("supervisor-proc-environment", "reads its environment", environment),
    attack("supervisor-proc-words", "reads the words that its caller was started with", words),
    unshown(
        "outlive-blind",
        "lets its supervisor open no file, then leaves a daemon behind",
        "namespaces that are thrown away end with it",
        outlive,
    )
    .ending(Ending::Outlives),
];

/// What a supervisor listens to all the time; it changes nothing for others.
const SIGNAL: usize = libc::SIGCHLD as usize;

/// Such a signal with a value.
const QUEUED: [i32; 32] = {
    let mut information = [0; 32];
    information[0] = libc::SIGCHLD;
    information[2] = -1;
    information
};

fn signalled(_: usize) -> String {
    "signalled".to_owned()
}

/// The process that watches over this one.
fn supervisor() -> Result<usize, Stop> {
    match call(libc::SYS_getppid, &[]).prepare("getppid")? {
        0 => Err(Stop::CannotSay("its parent is in no namespace of its own".to_owned())),
        parent => Ok(parent),
    }
}

fn group() -> Result<usize, Stop> {
    match call(libc::SYS_getpgid, &[supervisor()?]).prepare("getpgid")? {
        0 => Err(Stop::Held("its group is outside of this namespace".to_owned())),
        group => Ok(group),
    }
}

fn handle() -> Result<usize, Stop> {
    call(libc::SYS_pidfd_open, &[supervisor()?, 0]).attempt("pidfd_open")
}

fn limit_files(_: &Arguments) -> Answer {
    let none = [0_u64; 2];
    call(libc::SYS_prlimit64, &[supervisor()?, libc::RLIMIT_NOFILE as usize, of(&none), 0])
        .attempt("prlimit64")?;
    Ok("it can open nothing any more".to_owned())
}

fn limit(resource: usize) -> Answer {
    let target = supervisor()?;
    let mut limit = [u64::MAX; 2];
    let _ = call(libc::SYS_prlimit64, &[target, resource, 0, into(&mut limit)]);
    call(libc::SYS_prlimit64, &[target, resource, of(&limit), 0]).attempt("prlimit64")?;
    Ok("its limit was set to what it was".to_owned())
}

fn limit_read(_: &Arguments) -> Answer {
    let mut limit = [0_u64; 2];
    call(libc::SYS_prlimit64, &[supervisor()?, libc::RLIMIT_NOFILE as usize, 0, into(&mut limit)])
        .attempt("prlimit64")?;
    Ok(format!("{} files", limit[0]))
}

fn priority(kind: usize, who: usize) -> Answer {
    call(libc::SYS_setpriority, &[kind, who, 19]).attempt("setpriority")?;
    Ok("it comes last".to_owned())
}

fn nice_group(_: &Arguments) -> Answer {
    priority(1, group()?)
}

fn io_priority(kind: usize, who: usize) -> Answer {
    let idle = 3 << 13;
    call(libc::SYS_ioprio_set, &[kind, who, idle]).attempt("ioprio_set")?;
    Ok("it comes last".to_owned())
}

fn affinity(_: &Arguments) -> Answer {
    let target = supervisor()?;
    let mut mask = [0_u64; 128];
    let size = size_of_val(&mask);
    call(libc::SYS_sched_getaffinity, &[target, size, into(&mut mask)]).prepare("sched_getaffinity")?;
    call(libc::SYS_sched_setaffinity, &[target, size, of(&mask)]).attempt("sched_setaffinity")?;
    Ok("its processors were set to what they were".to_owned())
}

fn scheduler(_: &Arguments) -> Answer {
    let none = [0_i32];
    let idle = libc::SCHED_IDLE as usize;
    call(libc::SYS_sched_setscheduler, &[supervisor()?, idle, of(&none)]).attempt("sched_setscheduler")?;
    Ok("it runs when nobody else wants to".to_owned())
}

fn parameters(_: &Arguments) -> Answer {
    let none = [0_i32];
    call(libc::SYS_sched_setparam, &[supervisor()?, of(&none)]).attempt("sched_setparam")?;
    Ok("set to what it was".to_owned())
}

fn attributes(_: &Arguments) -> Answer {
    // The call answers 20 less the nice value. That stays as it is, since a lower one takes a privilege.
    let rank = call(libc::SYS_getpriority, &[0, supervisor()?]).attempt("getpriority")?;
    let nice = (20 - rank as i32) as u32;
    // The size of this record; policy and flags are none, which is the usual.
    let record: [u32; 12] = [48, 0, 0, 0, nice, 0, 0, 0, 0, 0, 0, 0];
    call(libc::SYS_sched_setattr, &[supervisor()?, of(&record), 0]).attempt("sched_setattr")?;
    Ok("set to the usual".to_owned())
}

fn migrate(_: &Arguments) -> Answer {
    let parts: [u64; 2] = [1, 0];
    let left = call(libc::SYS_migrate_pages, &[supervisor()?, 64, of(&parts), of(&parts)])
        .attempt("migrate_pages")?;
    Ok(format!("{left} pages were left"))
}

fn pages(_: &Arguments) -> Answer {
    let (pages, mut status) = ([0_usize], [0_i32]);
    gated("move_pages", call(libc::SYS_move_pages, &[supervisor()?, 1, of(&pages), 0, into(&mut status), 0]))
}

fn signal_folder(_: &Arguments) -> Answer {
    let path = format!("/proc/{}", supervisor()?);
    let folder = std::fs::File::open(&path).attempt(&path)?;
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&folder) as usize;
    call(libc::SYS_pidfd_send_signal, &[descriptor, SIGNAL]).attempt("pidfd_send_signal").map(signalled)
}

/// `F_SETSIG`, which the bindings lack.
const SET_SIGNAL: usize = 10;

fn signal_owner(_: &Arguments) -> Answer {
    let target = supervisor()?;
    let mut ends = [0_i32; 2];
    call(libc::SYS_pipe2, &[into(&mut ends), libc::O_NONBLOCK as usize]).prepare("pipe")?;
    let [reader, writer] = ends.map(|end| end as usize);
    call(libc::SYS_fcntl, &[reader, libc::F_SETOWN as usize, target]).attempt("F_SETOWN")?;
    call(libc::SYS_fcntl, &[reader, SET_SIGNAL, SIGNAL]).attempt("F_SETSIG")?;
    let flags = (libc::O_ASYNC | libc::O_NONBLOCK) as usize;
    call(libc::SYS_fcntl, &[reader, libc::F_SETFL as usize, flags]).attempt("O_ASYNC")?;
    call(libc::SYS_write, &[writer, of(b"x"), 1]).prepare("write")?;
    Ok("signalled".to_owned())
}

fn trace(_: &Arguments) -> Answer {
    let (seize, detach) = (0x4206, 17);
    let target = supervisor()?;
    call(libc::SYS_ptrace, &[seize, target]).attempt("ptrace")?;
    let _ = call(libc::SYS_ptrace, &[detach, target]);
    Ok("attached".to_owned())
}

fn memory(number: libc::c_long) -> Answer {
    static PLACE: [u8; 64] = [7; 64];
    let mut bytes = [0_u8; 64];
    let (here, there) = ([into(&mut bytes), bytes.len()], [of(&PLACE), PLACE.len()]);
    match call(number, &[supervisor()?, of(&here), 1, of(&there), 1]) {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => held(error.to_string()),
        result => gated("its memory", result),
    }
}

fn advise(_: &Arguments) -> Answer {
    let (none, cold) = ([0_usize; 2], 20);
    gated("process_madvise", call(libc::SYS_process_madvise, &[handle()?, of(&none), 1, cold, 0]))
}

fn write_to(path: &str) -> Answer {
    match OpenOptions::new().write(true).open(path) {
        Ok(_) => Ok(format!("{path} can be written")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            cannot_say(format!("there is no {path} here"))
        }
        Err(error) => held(format!("{path}: {error}")),
    }
}

fn write(name: &str) -> Answer {
    write_to(&format!("/proc/{}/{name}", supervisor()?))
}

fn write_thread(_: &Arguments) -> Answer {
    let target = supervisor()?;
    write_to(&format!("/proc/{target}/task/{target}/comm"))
}

fn environment(_: &Arguments) -> Answer {
    let path = format!("/proc/{}/environ", supervisor()?);
    let bytes = std::fs::read(&path).attempt(&path)?;
    if bytes.iter().any(|byte| *byte != 0) {
        Ok(format!("{} bytes", bytes.len()))
    } else {
        held("it is empty")
    }
}

fn words(arguments: &Arguments) -> Answer {
    let path = format!("/proc/{}/cmdline", supervisor()?);
    let bytes = std::fs::read(&path).attempt(&path)?;
    let text = String::from_utf8_lossy(&bytes).replace('\0', " ");
    if text.contains(arguments.text("run")?) { Ok(text) } else { held(text) }
}

fn outlive(arguments: &Arguments) -> Answer {
    let blind = limit_files(arguments);
    let seconds = arguments.number("seconds")?;
    if fork().prepare("fork")? == 0 {
        (0..3).for_each(close);
        let _ = call(libc::SYS_setsid, &[]);
        std::thread::sleep(Duration::from_secs(seconds));
        leave(0);
    }
    // Longer than the call may take: whoever watches over the time has to end this.
    std::thread::sleep(Duration::from_secs(seconds));
    blind
}
