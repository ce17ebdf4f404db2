//! Calls that the filter must refuse: each is a wide road into the kernel.

use crate::answer::{Answer, Step, cannot_say, gated, held};
use crate::arguments::Arguments;
use crate::kernel::{at, c_text, call, into, of};
use crate::probe::{Class, Probe};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Kernel, "keyring", "looks into the user's keyring", keyring),
    Probe::plain(Class::Kernel, "key-add", "adds a key", key_add),
    Probe::plain(Class::Kernel, "key-request", "asks for a key, which starts a program outside", key_request),
    Probe::plain(Class::Kernel, "bpf", "makes a map for programs in the kernel", bpf)
        .by(crate::probe::Who::Root),
    Probe::plain(Class::Kernel, "perf", "counts events", perf).by(crate::probe::Who::Root),
    Probe::plain(Class::Kernel, "userfault", "handles faults of its own memory", userfault)
        .by(crate::probe::Who::Root),
    Probe::plain(Class::Kernel, "io-uring", "makes a ring for calls that no filter sees", io_uring),
    Probe::plain(Class::Kernel, "personality", "makes readable memory executable", personality),
    Probe::plain(
        Class::Kernel,
        "personality-fixed",
        "takes away the random places of its memory",
        personality_fixed,
    ),
    Probe::plain(Class::Kernel, "filter-none", "runs without a filter", filter_none),
    Probe::plain(
        Class::Kernel,
        "filter-loosen",
        "installs a filter that allows all, then tries again",
        filter_loosen,
    ),
    Probe::plain(
        Class::Kernel,
        "calls-newer",
        "makes calls that are newer than what the filter was made for",
        newer_calls,
    ),
    Probe::plain(Class::Kernel, "quota", "asks for quotas of a disk", quota),
    Probe::plain(Class::Kernel, "dmesg", "reads messages of the kernel", dmesg).by(crate::probe::Who::Root),
];

fn keyring(_: &Arguments) -> Answer {
    let (number_of, user_keyring) = (0, (-4_isize) as usize);
    let id = call(libc::SYS_keyctl, &[number_of, user_keyring, 1]).attempt("keyctl")?;
    Ok(format!("keyring {id}"))
}

/// The keyring of this process alone, which ends with it.
const PROCESS_KEYRING: usize = (-2_isize) as usize;

fn key_add(_: &Arguments) -> Answer {
    let (kind, name, value) = (c_text("user"), c_text("metier-probe"), [b'x']);
    call(libc::SYS_add_key, &[at(&kind), at(&name), of(&value), 1, PROCESS_KEYRING]).attempt("add_key")?;
    Ok("added".to_owned())
}

fn key_request(_: &Arguments) -> Answer {
    let (kind, name) = (c_text("user"), c_text("metier-probe-none"));
    // Without a text for the program outside none is started; "no such key" means that the kernel looked.
    gated("request_key", call(libc::SYS_request_key, &[at(&kind), at(&name), 0, 0]))
}

fn bpf(_: &Arguments) -> Answer {
    // An array of one number.
    let map: [u32; 16] = [2, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let map = call(libc::SYS_bpf, &[0, of(&map), size_of_val(&map)]).attempt("bpf")?;
    Ok(format!("a map is open as {map}"))
}

fn perf(_: &Arguments) -> Answer {
    let mut event = [0_u32; 16];
    event[0] = 1;
    event[1] = 64;
    let counter = call(libc::SYS_perf_event_open, &[of(&event), 0, usize::MAX, usize::MAX, 0])
        .attempt("perf_event_open")?;
    Ok(format!("a counter is open as {counter}"))
}

fn userfault(_: &Arguments) -> Answer {
    let handler = call(libc::SYS_userfaultfd, &[0]).attempt("userfaultfd")?;
    Ok(format!("a handler is open as {handler}"))
}

fn io_uring(_: &Arguments) -> Answer {
    let mut setup = [0_u32; 30];
    let ring = call(libc::SYS_io_uring_setup, &[4, into(&mut setup)]).attempt("io_uring_setup")?;
    Ok(format!("a ring is open as {ring}"))
}

const READ_IMPLIES_EXEC: usize = 0x0040_0000;
const ADDR_NO_RANDOMIZE: usize = 0x0004_0000;

fn personality(_: &Arguments) -> Answer {
    call(libc::SYS_personality, &[READ_IMPLIES_EXEC]).attempt("personality")?;
    Ok("set".to_owned())
}

fn personality_fixed(_: &Arguments) -> Answer {
    call(libc::SYS_personality, &[ADDR_NO_RANDOMIZE]).attempt("personality")?;
    Ok("set".to_owned())
}

fn filter_none(_: &Arguments) -> Answer {
    match call(libc::SYS_prctl, &[libc::PR_GET_SECCOMP as usize]).attempt("prctl")? {
        0 => Ok("there is no filter".to_owned()),
        mode => held(format!("mode {mode}")),
    }
}

fn filter_loosen(_: &Arguments) -> Answer {
    // One instruction: allow.
    let program: [u64; 1] = [0x7fff_0000_0000_0006];
    let filter: [usize; 2] = [1, of(&program)];
    call(libc::SYS_prctl, &[libc::PR_SET_NO_NEW_PRIVS as usize, 1, 0, 0, 0]).prepare("prctl")?;
    call(libc::SYS_seccomp, &[libc::SECCOMP_SET_MODE_FILTER as usize, 0, of(&filter)]).attempt("seccomp")?;
    call(libc::SYS_unshare, &[libc::CLONE_NEWUSER as usize]).attempt("unshare")?;
    Ok("the filter of its own loosened ours".to_owned())
}

/// The numbers of calls that came after `mseal`, with room for those to come. All of them are asked with arguments that
/// none takes, so that only whether they are there is learnt.
const NEWER: std::ops::Range<i64> = 463..512;

fn newer_calls(arguments: &Arguments) -> Answer {
    let wrong = [usize::MAX; 6];
    let is_missing = |error: std::io::Error| error.raw_os_error() == Some(libc::ENOSYS);
    let there: Vec<String> = NEWER
        .filter(|number| !call(*number, &wrong).is_err_and(is_missing))
        .map(|number| number.to_string())
        .collect();
    match there.is_empty() {
        false => Ok(format!("the kernel knows {}", there.join(", "))),
        true if arguments.has("contained") => held("none of them is there"),
        true => cannot_say("the kernel has none of them"),
    }
}

fn quota(_: &Arguments) -> Answer {
    let (get_format, root) = (0x8000_0400, c_text("/"));
    gated("quotactl", call(libc::SYS_quotactl, &[get_format, at(&root), 0, 0]))
}

fn dmesg(_: &Arguments) -> Answer {
    let mut text = [0_u8; 4096];
    let read_all = 3;
    let length = call(libc::SYS_syslog, &[read_all, into(&mut text), text.len()]).attempt("syslog")?;
    Ok(format!("{length} bytes"))
}
