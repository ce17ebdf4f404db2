//! How many events a second: one after the other, handed in without waiting, and from many threads.
//!
//! `append_figures FILE [EVENTS]`. Run it with `--release`, on the disk that is meant.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that shows figures: what it cannot do ends it"
)]

use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use metier_store::{Called, Effect, EventKind, SessionId, Started, Store};

const THREADS: usize = 64;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = PathBuf::from(arguments.next().unwrap());
    let events: usize = arguments.next().map_or(2_000, |text| text.parse().unwrap());
    let store = Store::open(&file).unwrap();
    let session = store.begin(Started::default()).unwrap();

    for (what, effect) in [("looks", Effect::ReadOnly), ("runs", Effect::Runs)] {
        let begin = Instant::now();
        let mut each = Vec::with_capacity(events);
        for count in 0..events {
            let begin = Instant::now();
            store.append(session, event(count, effect)).unwrap();
            each.push(begin.elapsed());
        }
        show(&format!("one after the other, of what {what}"), events, begin);
        each.sort_unstable();
        println!(
            "  half took at most {:?}, 99 of 100 at most {:?}",
            each[events / 2],
            each[events * 99 / 100]
        );
    }

    let runs = |count| event(count, Effect::Runs);
    let begin = Instant::now();
    let tickets: Vec<_> = (0..events).map(|count| store.submit(session, runs(count)).unwrap()).collect();
    for ticket in tickets {
        ticket.wait().unwrap();
    }
    show("handed in, then waited for", events, begin);

    let sessions: Vec<SessionId> = (0..THREADS).map(|_| store.begin(Started::default()).unwrap()).collect();
    let begin = Instant::now();
    thread::scope(|scope| {
        for session in &sessions {
            let store = store.clone();
            scope.spawn(move || {
                for count in 0..events / THREADS {
                    store.append(*session, runs(count)).unwrap();
                }
            });
        }
    });
    show("from 64 threads, each waiting", events / THREADS * THREADS, begin);
}

fn event(count: usize, effect: Effect) -> EventKind {
    EventKind::Called(Called {
        id: format!("call-{count}"),
        tool: "skill_run_script".to_owned(),
        skill: Some("pdf".to_owned()),
        input: serde_json::json!({"skill_name": "pdf", "script_name": "fill.py", "script_args": "form.pdf out.pdf"}),
        effect,
    })
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn show(what: &str, events: usize, begin: Instant) {
    let seconds = begin.elapsed().as_secs_f64();
    println!("{what}: {:.0} events a second", events as f64 / seconds);
}
