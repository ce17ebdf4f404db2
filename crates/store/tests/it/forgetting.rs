use std::time::Duration;

use metier_store::{
    Activated, Bounds, EventKind, EventQuery, Forget, LARGE, Record, SessionFilter, SessionId, Started,
    Store, StoreError, Timestamp, Traces,
};

use crate::{is_on_disk, place, request, said};

fn child_of(parent: SessionId, text: &str) -> Started {
    Started { parent: Some(parent), ..request(text) }
}

#[test]
fn what_is_forgotten_is_in_no_byte_of_the_files() {
    let (_workspace, file) = place();
    let store = Store::open(&file).unwrap();
    let shared = format!("sharedwalrus {}", "s".repeat(LARGE));
    let mut secret = Vec::new();
    for (request_text, word) in [("quartzzebra asks", "gone"), ("something harmless", "stays")] {
        let parent = store.begin(request(request_text)).unwrap();
        let child = store.begin(child_of(parent, &format!("child{word}okapi"))).unwrap();
        store.append(child, said(&format!("large{word}lemur {}", word.repeat(LARGE)))).unwrap();
        let activated =
            Activated { skill: format!("skill{word}ibex"), message: shared.clone(), ..Activated::default() };
        store.append(child, EventKind::Activated(activated)).unwrap();
        for count in 0..200 {
            store.submit(parent, said(&format!("filler{word}gecko number {count}"))).unwrap();
        }
        let record = Record { session: Some(child), ..Record::new(format!("memory{word}newt")).unwrap() };
        store.remember(record).unwrap();
        secret.push(parent);
    }
    let words = [
        "quartzzebra",
        "childgoneokapi",
        "largegonelemur",
        "skillgoneibex",
        "fillergonegecko",
        "memorygonenewt",
    ];
    for word in words {
        assert!(is_on_disk(&file, word), "{word} is there before");
    }
    let forgotten = store.forget(Forget::Session(secret[0])).unwrap();
    assert_eq!((forgotten.sessions, forgotten.records, forgotten.texts), (2, 1, 1));
    assert_eq!(forgotten.events, 1 + 200 + 3);
    assert_eq!(forgotten.traces, Traces::None);
    for word in words {
        assert!(!is_on_disk(&file, word), "{word} is left");
    }
    for word in ["sharedwalrus", "largestayslemur", "memorystaysnewt", "something harmless"] {
        assert!(is_on_disk(&file, word), "{word} belongs to somebody else");
    }
    // Half a word would be left in the index if its pages were not overwritten.
    assert!(!is_on_disk(&file, "goneokapi") && !is_on_disk(&file, "gonegecko"));
    let found = |text: &str| {
        store
            .sessions(&SessionFilter { text: Some(text.to_owned()), ..SessionFilter::default() })
            .unwrap()
            .len()
    };
    assert_eq!((found("quartzzebra"), found("harmless")), (0, 1));
    assert_eq!(store.append(secret[0], said("x")), Err(StoreError::NoSession(secret[0])));

    assert_eq!(store.forget(Forget::Everything).unwrap().traces, Traces::None);
    for word in ["sharedwalrus", "stays", "harmless"] {
        assert!(!is_on_disk(&file, word), "{word} is left");
    }
}

/// The index keeps the beginnings of some words as signposts to its pages. Deleting a row leaves them there.
#[test]
fn no_beginning_of_a_forgotten_word_stays_in_the_index() {
    let (_workspace, file) = place();
    let store = Store::open(&file).unwrap();
    let [gone, kept] = ["gonegecko", "keptgecko"].map(|word| {
        let session = store.begin(request(word)).unwrap();
        // Enough different words for many pages. One of them begins with words of one session and ends with the other's.
        for message in 0..200 {
            let words: Vec<String> =
                (0..40).map(|number| format!("{word}{:05}", message * 40 + number)).collect();
            store.append(session, said(&words.join(" "))).unwrap();
        }
        session
    });
    assert_eq!(store.forget(Forget::Session(gone)).unwrap().traces, Traces::None);
    assert!(!is_on_disk(&file, "gonegecko"), "a word is left");
    assert!(!is_on_disk(&file, "goneg"), "the beginning of a word is left");
    assert_eq!(store.session(kept).unwrap().title, "keptgecko");
}

#[test]
fn whoever_reads_meanwhile_is_waited_for() {
    let (_workspace, file) = place();
    let store = Store::open(&file).unwrap();
    let session = store.begin(request("quartzzebra")).unwrap();
    let reader = rusqlite::Connection::open(&file).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM event").unwrap();
    let waiting = std::thread::spawn({
        let store = store.clone();
        move || store.forget(Forget::Session(session)).unwrap()
    });
    std::thread::sleep(Duration::from_millis(300));
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(waiting.join().unwrap().traces, Traces::None);
    assert!(!is_on_disk(&file, "quartzzebra"));
}

#[test]
fn whoever_reads_for_too_long_is_named_and_the_next_time_cleans_up() {
    let (_workspace, file) = place();
    let bounds = Bounds { patience: Duration::from_millis(50), ..Bounds::default() };
    let store = Store::open_bounded(&file, bounds).unwrap();
    let session = store.begin(request("quartzzebra")).unwrap();
    let reader = rusqlite::Connection::open(&file).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM event").unwrap();
    let forgotten = store.forget(Forget::Session(session)).unwrap();
    assert_eq!((forgotten.sessions, forgotten.traces), (1, Traces::WhileOthersRead));
    assert!(store.session(session).is_err());
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(store.forget(Forget::Everything).unwrap().traces, Traces::None);
    assert!(!is_on_disk(&file, "quartzzebra"));
}

#[test]
fn another_process_that_writes_for_too_long_is_named() {
    let (_workspace, file) = place();
    let bounds = Bounds { patience: Duration::from_millis(50), ..Bounds::default() };
    let store = Store::open_bounded(&file, bounds).unwrap();
    let session = store.begin(request("quartzzebra")).unwrap();
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Nothing can be deleted, so nothing was.
    assert_eq!(store.forget(Forget::Session(session)), Err(StoreError::Busy(file)));
    assert!(store.session(session).is_ok());
}

#[test]
fn a_store_at_its_limit_says_that_traces_are_left_until_there_is_room() {
    let (_workspace, file) = place();
    let store = Store::open_bounded(&file, Bounds { bytes: 2 << 20, ..Bounds::default() }).unwrap();
    let small = store.begin(request("quartzzebra")).unwrap();
    let large = store.begin(request("something harmless")).unwrap();
    let full = (0..).find_map(|message| {
        let words: Vec<String> = (0..80).map(|number| format!("word{}", message * 80 + number)).collect();
        store.append(large, said(&words.join(" "))).err()
    });
    assert!(matches!(full, Some(StoreError::Full(_))), "{full:?}");
    let forgotten = store.forget(Forget::Session(small)).unwrap();
    assert_eq!((forgotten.sessions, forgotten.traces), (1, Traces::NoRoom));
    assert!(store.session(small).is_err());
    assert_eq!(store.forget(Forget::Session(large)).unwrap().traces, Traces::None);
    assert!(!is_on_disk(&file, "quartzzebra"));
}

/// From 128 MiB on the copy that is made on the way is a temporary file. Its pages are the same.
#[test]
fn a_large_store_is_rewritten_too() {
    let (_workspace, file) = place();
    let store = Store::open(&file).unwrap();
    let [gone, kept] = [("gone", 7 << 20), ("kept", LARGE)].map(|(word, size)| {
        let session = store.begin(request(&format!("{word}okapi"))).unwrap();
        for part in 0..20 {
            store.append(session, said(&format!("{part}{word}gecko {}", "x".repeat(size)))).unwrap();
        }
        session
    });
    assert!(std::fs::metadata(&file).unwrap().len() > 128 << 20);
    assert_eq!(store.forget(Forget::Session(gone)).unwrap().traces, Traces::None);
    assert!(!is_on_disk(&file, "gonegecko") && is_on_disk(&file, "keptgecko"));
    assert!(std::fs::metadata(&file).unwrap().len() < 1 << 20);
    assert_eq!(store.events(&EventQuery::of(kept)).unwrap().len(), 21);
}

#[test]
fn several_are_forgotten_at_once_or_not_at_all() {
    let store = Store::in_memory().unwrap();
    let parent = store.begin(request("parent")).unwrap();
    let child = store.begin(child_of(parent, "child")).unwrap();
    let other = store.begin(request("other")).unwrap();
    let unknown = SessionId::new().unwrap();
    let orders = vec![Forget::Session(other), Forget::Session(unknown)];
    assert_eq!(store.forget_all(orders), Err(StoreError::NoSession(unknown)));
    assert!(store.session(other).is_ok());
    // The parent takes the child along, which is named as well.
    let orders = vec![Forget::Session(parent), Forget::Session(child), Forget::Session(other)];
    assert_eq!(store.forget_all(orders).unwrap().sessions, 3);
}

#[test]
fn a_session_is_as_old_as_its_youngest_child() {
    let store = Store::in_memory().unwrap();
    let old = store.begin(request("old")).unwrap();
    let parent = store.begin(request("parent")).unwrap();
    let child = store.begin(child_of(parent, "child")).unwrap();
    let mut record = Record::new("an old record").unwrap();
    record.at = Timestamp::from_millis(1);
    store.remember(record).unwrap();
    std::thread::sleep(Duration::from_millis(5));
    let between = Timestamp::now();
    std::thread::sleep(Duration::from_millis(5));
    store.append(child, said("still at it")).unwrap();
    let forgotten = store.forget(Forget::Before(between)).unwrap();
    assert_eq!((forgotten.sessions, forgotten.records), (1, 1));
    assert!(store.session(old).is_err());
    assert!(store.session(parent).is_ok() && store.session(child).is_ok());
}

#[test]
fn positions_are_never_given_twice() {
    let store = Store::in_memory().unwrap();
    let session = store.begin(request("x")).unwrap();
    let last = store.append(session, said("y")).unwrap().position;
    store.forget(Forget::Everything).unwrap();
    let session = store.begin(request("z")).unwrap();
    assert!(store.events(&EventQuery::of(session)).unwrap()[0].position > last);
}

#[test]
fn a_family_that_goes_in_a_circle_is_forgotten_too() {
    let store = Store::in_memory().unwrap();
    let (one, other) = (SessionId::new().unwrap(), SessionId::new().unwrap());
    for forget in [Forget::Session(one), Forget::Before(Timestamp::LATEST), Forget::Everything] {
        store.begin_as(one, child_of(other, "x")).unwrap();
        store.begin_as(other, child_of(one, "y")).unwrap();
        assert_eq!(store.forget(forget).unwrap().sessions, 2);
    }
}
