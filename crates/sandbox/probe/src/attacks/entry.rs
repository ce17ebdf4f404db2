//! Other entries into the kernel, where calls have other numbers: a filter that knows one of them knows nothing.

use crate::answer::{Answer, Step, cannot_say, held};
use crate::arguments::Arguments;
use crate::kernel::{Fate, call, call_32, in_child};
use crate::probe::{Class, Probe};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Kernel, "entry-32-socket", "opens a network socket by the 32-bit entry", socket),
    Probe::plain(Class::Kernel, "entry-32-unshare", "makes a namespace by the 32-bit entry", unshare),
    Probe::plain(Class::Kernel, "entry-32-trace", "asks to be traced by the 32-bit entry", trace),
    Probe::plain(Class::Kernel, "entry-32-keyring", "looks into the keyring by the 32-bit entry", keyring),
    Probe::uncontrolled(
        Class::Kernel,
        "entry-x32",
        "makes a namespace by the x32 numbers",
        "few kernels know these numbers; where they do not, the call is unknown",
        x32,
    ),
];

/// Makes the call in a child, because a filter may end who makes it.
fn by_32(what: &str, number: u32, first: u32, second: u32, third: u32) -> Answer {
    let fate = in_child(|| match call_32(number, first, second, third) {
        None => 254,
        Some(Ok(_)) => 0,
        Some(Err(error)) => error.raw_os_error().unwrap_or(255),
    })
    .prepare("a child")?;
    match fate {
        Fate::Exited(0) => Ok(format!("{what} worked")),
        Fate::Exited(254) | Fate::Signaled(libc::SIGSEGV | libc::SIGILL) => {
            cannot_say("there is no such entry")
        }
        Fate::Exited(number) => held(format!("{what}: {}", std::io::Error::from_raw_os_error(number))),
        Fate::Signaled(signal) => held(format!("{what}: ended by signal {signal}")),
    }
}

fn socket(_: &Arguments) -> Answer {
    by_32("socket", 359, libc::AF_INET as u32, libc::SOCK_STREAM as u32, 0)
}

fn unshare(_: &Arguments) -> Answer {
    by_32("unshare", 310, libc::CLONE_NEWUSER as u32, 0, 0)
}

fn trace(_: &Arguments) -> Answer {
    by_32("ptrace", 26, 0, 0, 0)
}

fn keyring(_: &Arguments) -> Answer {
    by_32("keyctl", 288, 0, (-4_i32) as u32, 1)
}

/// Marks a number as one of x32.
const X32: libc::c_long = 0x4000_0000;

fn x32(_: &Arguments) -> Answer {
    if cfg!(not(target_arch = "x86_64")) {
        return cannot_say("this processor has no such numbers");
    }
    let fate = in_child(|| {
        let made = call(X32 | libc::SYS_unshare, &[libc::CLONE_NEWUSER as usize]);
        made.err().map_or(0, |error| error.raw_os_error().unwrap_or(255))
    })
    .prepare("a child")?;
    match fate {
        Fate::Exited(0) => Ok("a namespace was made".to_owned()),
        Fate::Exited(number) => held(std::io::Error::from_raw_os_error(number).to_string()),
        Fate::Signaled(signal) => held(format!("ended by signal {signal}")),
    }
}
