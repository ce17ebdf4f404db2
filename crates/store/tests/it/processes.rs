use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use metier_store::{EventKind, EventQuery, LARGE, SessionFilter, SessionId, Store};

use crate::{place, request, said};

/// How often a process is killed.
const KILLS: u64 = 50;

/// What a child is to do: which file, how many threads, how many events each (0 is no end).
const CHILD: [&str; 3] = ["STORE_TEST_FILE", "STORE_TEST_THREADS", "STORE_TEST_EVENTS"];

/// This very program, made to run the one test below with a file of ours. A program beside it could be an older one.
fn start(file: &Path, threads: usize, events: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::whoever_appends_is_told_each_number", "--nocapture"])
        .env(CHILD[0], file)
        .env(CHILD[1], threads.to_string())
        .env(CHILD[2], events.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn whoever_appends_is_told_each_number() {
    let (_workspace, own) = place();
    let file = std::env::var_os(CHILD[0]).map_or(own, PathBuf::from);
    let number = |name: &str, or: u64| std::env::var(name).map_or(or, |text| text.parse().unwrap());
    let (threads, events) = (number(CHILD[1], 2), number(CHILD[2], 10));
    // Somebody reads it only where this is a child.
    let acknowledge = if std::env::var_os(CHILD[0]).is_some() { acknowledge } else { |_, _| () };
    let store = Store::open(&file).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let session = store.begin(request("x")).unwrap();
                acknowledge(session, 1);
                let end = if events == 0 { u64::MAX } else { events };
                for count in 2..=end {
                    // Some are large, so that kills also fall between an event and its text.
                    let text = "x".repeat(if count % 5 == 0 { LARGE } else { 10 });
                    let done = store.append(session, said(&format!("{text} {count}"))).unwrap();
                    assert_eq!(done.seq, count);
                    acknowledge(session, done.seq);
                }
            });
        }
    });
}

/// One write for one line: a kill leaves whole lines, and at most one that is cut. The test runner may have begun a line.
fn acknowledge(session: SessionId, seq: u64) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\nacknowledged {session} {seq}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill_at_any_moment() {
    let (_workspace, file) = place();
    let mut acknowledged: HashMap<SessionId, u64> = HashMap::new();
    let mut after_first = 0;
    for round in 0..KILLS {
        let before = acknowledged.len();
        let mut child = start(&file, 3, 0);
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        if round % 4 != 0 {
            // Not only while the file is opened: from the first acknowledgement on, other times each round.
            while acknowledged.len() == before {
                let mut line = String::new();
                assert!(lines.read_line(&mut line).unwrap() > 0, "the child ended by itself");
                note(&line, &mut acknowledged);
            }
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
            after_first += u64::from(note(line, &mut acknowledged));
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

/// Whether the line is an acknowledgement.
fn note(line: &str, acknowledged: &mut HashMap<SessionId, u64>) -> bool {
    let Some(line) = line.strip_prefix("acknowledged ") else { return false };
    let (session, seq) = line.trim_end().split_once(' ').unwrap();
    acknowledged.insert(session.parse().unwrap(), seq.parse().unwrap());
    true
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
    assert_eq!(other.append(session, said("y")).unwrap().seq, 2);
    assert_eq!(one.append(session, said("z")).unwrap().seq, 3);
    assert_eq!(other.events(&EventQuery::of(session)).unwrap().len(), 3);
}
