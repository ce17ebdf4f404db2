//! Talking without end. Bounded by `--chatter`; the test looks at what was kept of it.

use crate::answer::{Answer, Stop};
use crate::arguments::Arguments;
use crate::kernel::{call, close};
use crate::probe::{Class, Ending, Probe};

const fn floods(name: &'static str, tries: &'static str, run: fn(&Arguments) -> Answer) -> Probe {
    Probe::plain(Class::Limit, name, tries, run).ending(Ending::Floods)
}

pub(crate) const PROBES: &[Probe] = &[
    floods("output-stdout", "writes without end to its standard output", stdout),
    floods("output-stderr", "writes without end to its standard error", stderr),
    floods("output-both", "writes without end to both", both),
    floods("output-line", "writes one line without end", line),
    floods("output-bytes", "writes bytes that are no text, and commands for a terminal", raw),
    floods("output-closed", "closes its standard output and goes on with the other", closed),
];

/// No bound may be larger, whatever is asked for.
const MAX_BYTES: u64 = 1 << 30;

fn flood(arguments: &Arguments, streams: &[usize], pattern: &[u8]) -> Answer {
    let wanted = arguments.number("chatter")?.min(MAX_BYTES);
    let chunk = pattern.repeat((64 << 10) / pattern.len());
    let mut written = 0;
    while written < wanted {
        for stream in streams {
            match call(libc::SYS_write, &[*stream, chunk.as_ptr() as usize, chunk.len()]) {
                Ok(length) => written += length as u64,
                Err(error) => return Err(Stop::Held(format!("after {written} bytes: {error}"))),
            }
        }
    }
    Ok(format!("{written} bytes"))
}

fn stdout(arguments: &Arguments) -> Answer {
    flood(arguments, &[1], b"all work and no play\n")
}

fn stderr(arguments: &Arguments) -> Answer {
    flood(arguments, &[2], b"all work and no play\n")
}

fn both(arguments: &Arguments) -> Answer {
    flood(arguments, &[1, 2], b"all work and no play\n")
}

fn line(arguments: &Arguments) -> Answer {
    flood(arguments, &[1], b"x")
}

fn raw(arguments: &Arguments) -> Answer {
    flood(arguments, &[1], b"\x00\xff\xfe\x1b[2J\x1b]0;owned\x07\x1bc")
}

fn closed(arguments: &Arguments) -> Answer {
    close(1);
    flood(arguments, &[2], b"still here\n")
}
