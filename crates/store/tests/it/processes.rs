use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use metier_store::{EventKind, EventQuery, SessionFilter, SessionId, Store};

use crate::{place, request};

/// How often a process is killed.
const KILLS: u64 = 50;

/// The example beside these tests. Cargo builds it with them.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().and_then(Path::parent).unwrap().join("examples/keep_appending");
    assert!(program.exists(), "{} is missing: build the examples first", program.display());
    program
}

fn start(file: &Path, threads: usize, events: u64) -> Child {
    Command::new(program())
        .arg(file)
        .args([threads.to_string(), events.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill_at_any_moment() {
    let (_workspace, file) = place();
    let mut acknowledged: HashMap<SessionId, u64> = HashMap::new();
    let mut after_first = 0;
    for round in 0..KILLS {
        let mut child = start(&file, 3, 0);
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        if round % 4 != 0 {
            // Not only while the file is opened: from the first acknowledgement on, other times each round.
            let mut first = String::new();
            lines.read_line(&mut first).unwrap();
            note(&first, &mut acknowledged);
            std::thread::sleep(Duration::from_micros(round * 1_913 % 40_000));
        } else {
            std::thread::sleep(Duration::from_micros(round * 977 % 20_000));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let mut rest = String::new();
        lines.read_to_string(&mut rest).unwrap();
        // The last line may be cut.
        for line in rest.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            after_first += 1;
            note(line, &mut acknowledged);
        }
    }
    assert!(
        after_first > KILLS,
        "only {after_first} acknowledgements: the kills came too early to show anything"
    );
    let store = Store::open(&file).unwrap();
    for (session, last) in &acknowledged {
        let events = store.events(&EventQuery::of(*session)).unwrap();
        assert!(events.len() as u64 >= *last, "{session}: {} of {last} events are left", events.len());
    }
    for summary in store.sessions(&SessionFilter::default()).unwrap() {
        let events = store.events(&EventQuery::of(summary.id)).unwrap();
        assert_eq!(events.len() as u64, summary.last_seq);
        for (place, event) in events.iter().enumerate() {
            assert_eq!(event.seq, place as u64 + 1, "no holes");
            if event.seq > 1 {
                let whole = matches!(&event.kind, EventKind::Said { text, .. } if text.ends_with(&format!(" {}", event.seq)));
                assert!(whole, "event {} of {} is whole", event.seq, summary.id);
            }
        }
    }
    let connection = rusqlite::Connection::open(&file).unwrap();
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
}

fn note(line: &str, acknowledged: &mut HashMap<SessionId, u64>) {
    let Some((session, seq)) = line.trim_end().split_once(' ') else {
        assert!(line.is_empty(), "{line:?}");
        return;
    };
    acknowledged.insert(session.parse().unwrap(), seq.parse().unwrap());
}

#[test]
fn eight_processes_write_one_file_and_another_one_follows() {
    const EVENTS: u64 = 25;
    let (_workspace, file) = place();
    // They also race for making the file.
    let children: Vec<Child> = (0..8).map(|_| start(&file, 2, EVENTS)).collect();
    let store = Store::open(&file).unwrap();
    let mut follow = store.follow(EventQuery::all()).unwrap();
    let mut seen: HashMap<SessionId, u64> = HashMap::new();
    let mut count = 0;
    while count < 16 * EVENTS {
        let event = follow.next_within(Duration::from_mins(1)).expect("all events come").unwrap();
        let last = seen.entry(event.session).or_default();
        assert_eq!(event.seq, *last + 1);
        *last = event.seq;
        count += 1;
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(seen.len(), 16);
    assert!(seen.values().all(|last| *last == EVENTS));
    assert!(follow.next_within(Duration::from_millis(200)).is_none());
}

#[test]
fn two_stores_of_one_process_on_one_file_see_each_other() {
    let (_workspace, file) = place();
    let (one, other) = (Store::open(&file).unwrap(), Store::open(&file).unwrap());
    let session = one.begin(request("x")).unwrap();
    assert_eq!(other.append(session, crate::said("y")).unwrap().seq, 2);
    assert_eq!(one.append(session, crate::said("z")).unwrap().seq, 3);
    assert_eq!(other.events(&EventQuery::of(session)).unwrap().len(), 3);
}
