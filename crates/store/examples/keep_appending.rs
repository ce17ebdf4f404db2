//! Appends events for as long as it lives, or so many, and says each one that was acknowledged. The tests kill it.
//!
//! `keep_appending FILE THREADS EVENTS`: each thread begins a session and appends so many events to it; 0 is no end.

#![expect(clippy::unwrap_used, reason = "a program for tests: what it cannot do ends it")]

use std::io::Write;
use std::path::PathBuf;
use std::thread;

use metier_store::{By, EventKind, LARGE, Started, Store};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = PathBuf::from(arguments.next().unwrap());
    let threads: usize = arguments.next().unwrap().parse().unwrap();
    let events: u64 = arguments.next().unwrap().parse().unwrap();
    let store = Store::open(&file).unwrap();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let session = store.begin(Started::default()).unwrap();
                say(&format!("{session} 1"));
                let end = if events == 0 { u64::MAX } else { events };
                for count in 2..=end {
                    // Some are large, so that kills also fall between an event and its text.
                    let text = "x".repeat(if count % 5 == 0 { LARGE } else { 10 });
                    let text = format!("{text} {count}");
                    let done = store.append(session, EventKind::Said { text, by: By::User }).unwrap();
                    say(&format!("{session} {}", done.seq));
                }
            });
        }
    });
}

/// One write for one line: a kill leaves whole lines, and at most one that is cut.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}
