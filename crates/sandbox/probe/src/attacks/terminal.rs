//! The caller's terminal: typing into it, taking it over.

use crate::answer::{Answer, Step, Stop, gated, held};
use crate::arguments::Arguments;
use crate::kernel::{Fate, HERE, at, c_text, call, in_child, into, of};
use crate::probe::{Class, Probe, Who};

const NO_TERMINAL: &str = "a test has no terminal of its own to be typed into";

pub(crate) const PROBES: &[Probe] = &[
    Probe::uncontrolled(Class::Terminal, "tty-open", "opens the controlling terminal", NO_TERMINAL, open),
    Probe::uncontrolled(
        Class::Terminal,
        "tty-streams",
        "finds a terminal behind its streams",
        NO_TERMINAL,
        streams,
    ),
    Probe::plain(Class::Terminal, "tty-session", "is still in the caller's session", session),
    Probe::plain(Class::Terminal, "tty-group", "is still in the caller's process group", group),
    Probe::plain(Class::Terminal, "tty-type", "types into a terminal (TIOCSTI)", type_in).by(Who::Root),
    Probe::plain(Class::Terminal, "tty-type-high-bits", "types with bits that the kernel ignores", type_high)
        .by(Who::Root),
    Probe::plain(Class::Terminal, "tty-paste", "pastes into a console (TIOCLINUX)", paste),
    Probe::plain(Class::Terminal, "tty-console", "takes the messages of the console (TIOCCONS)", console)
        .by(Who::Root),
    Probe::plain(Class::Terminal, "tty-line", "changes the line discipline, which loads modules", discipline),
];

fn open(_: &Arguments) -> Answer {
    let name = c_text("/dev/tty");
    call(libc::SYS_openat, &[HERE, at(&name), (libc::O_RDWR | libc::O_NONBLOCK) as usize])
        .attempt("/dev/tty")?;
    Ok("the terminal is open".to_owned())
}

fn streams(_: &Arguments) -> Answer {
    let mut settings = [0_u8; 256];
    for stream in 0..3 {
        if call(libc::SYS_ioctl, &[stream, libc::TCGETS as usize, into(&mut settings)]).is_ok() {
            return Ok(format!("stream {stream} is a terminal"));
        }
    }
    held("no stream is a terminal")
}

fn session(arguments: &Arguments) -> Answer {
    let mine = call(libc::SYS_getsid, &[0]).prepare("getsid")?;
    // Zero means that the leader of the session lives outside this namespace.
    if mine == 0 || mine as u64 == arguments.number("session")? {
        return Ok(format!("session {mine}"));
    }
    held(format!("a session of its own, {mine}"))
}

fn group(arguments: &Arguments) -> Answer {
    let mine = call(libc::SYS_getpgid, &[0]).prepare("getpgid")?;
    if mine == 0 || mine as u64 == arguments.number("group")? {
        return Ok(format!("group {mine}"));
    }
    held(format!("a group of its own, {mine}"))
}

/// Makes a terminal, with this process as the leader of a session that has it, and does something with it.
fn with_terminal(work: impl FnOnce(usize) -> i32) -> Result<Fate, Stop> {
    let master =
        call(libc::SYS_openat, &[HERE, at(&c_text("/dev/ptmx")), (libc::O_RDWR | libc::O_NOCTTY) as usize])
            .attempt("/dev/ptmx")?;
    let unlocked = 0_i32;
    call(libc::SYS_ioctl, &[master, libc::TIOCSPTLCK as usize, of(&unlocked)]).attempt("unlock it")?;
    let slave = call(
        libc::SYS_ioctl,
        &[master, libc::TIOCGPTPEER as usize, (libc::O_RDWR | libc::O_NOCTTY) as usize],
    )
    .attempt("the other end")?;
    in_child(|| {
        let _ = call(libc::SYS_setsid, &[]);
        let _ = call(libc::SYS_ioctl, &[slave, libc::TIOCSCTTY as usize, 0]);
        work(slave)
    })
    .prepare("a child")
}

/// What a child says by its status: 0, or the error's number.
fn status(result: std::io::Result<usize>) -> i32 {
    result.err().map_or(0, |error| error.raw_os_error().unwrap_or(255))
}

fn judged(what: &str, fate: Fate) -> Result<std::io::Result<usize>, Stop> {
    match fate {
        Fate::Exited(0) => Ok(Ok(0)),
        Fate::Exited(number) => Ok(Err(std::io::Error::from_raw_os_error(number))),
        Fate::Signaled(signal) => Err(Stop::Held(format!("{what}: ended by signal {signal}"))),
    }
}

fn typed(request: usize) -> Answer {
    let fate = with_terminal(|terminal| {
        let key = [b'x'];
        status(call(libc::SYS_ioctl, &[terminal, request, of(&key)]))
    })?;
    judged("TIOCSTI", fate)?.attempt("TIOCSTI")?;
    Ok("a key was typed".to_owned())
}

fn type_in(_: &Arguments) -> Answer {
    typed(libc::TIOCSTI as usize)
}

fn type_high(_: &Arguments) -> Answer {
    typed(libc::TIOCSTI as usize | 1 << 32)
}

fn asked(what: &str, request: usize, value: i32) -> Answer {
    let fate = with_terminal(|terminal| {
        let value = [value; 4];
        status(call(libc::SYS_ioctl, &[terminal, request, of(&value)]))
    })?;
    gated(what, judged(what, fate)?)
}

fn paste(_: &Arguments) -> Answer {
    // On a terminal that is no console the kernel itself answers "not a terminal of that kind".
    asked("TIOCLINUX", libc::TIOCLINUX as usize, 3)
}

fn console(_: &Arguments) -> Answer {
    // The terminal goes away with this process, and the messages go back to where they were.
    asked("TIOCCONS", libc::TIOCCONS as usize, 0)
}

fn discipline(_: &Arguments) -> Answer {
    // Number 29 is taken by nobody, so no module is loaded.
    asked("TIOCSETD", libc::TIOCSETD as usize, 29)
}
