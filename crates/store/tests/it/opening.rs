use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use metier_store::{Bounds, EventQuery, Record, SCHEMA_VERSION, SessionFilter, Store, StoreError};
use metier_testkit::Workspace;
use rusqlite::Connection;

use crate::{place, request, said};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn only_the_user_may_read_it() {
    let (workspace, file) = place();
    let store = Store::open(&file).unwrap();
    store.begin(request("x")).unwrap();
    assert_eq!(mode(&workspace.join("data")), 0o700);
    for beside in ["data/metier.db", "data/metier.db-wal", "data/metier.db-shm"] {
        assert_eq!(mode(&workspace.join(beside)), 0o600, "{beside}");
    }
}

#[test]
fn many_may_make_the_same_file_at_once() {
    for _ in 0..20 {
        let (_workspace, file) = place();
        std::thread::scope(|scope| {
            for count in 0..8 {
                let file = &file;
                scope.spawn(move || Store::open(file).unwrap().begin(request(&count.to_string())).unwrap());
            }
        });
        assert_eq!(Store::open(&file).unwrap().sessions(&SessionFilter::default()).unwrap().len(), 8);
    }
}

#[test]
fn a_copy_that_others_may_read_is_closed_to_them() {
    let (workspace, file) = place();
    let session = Store::open(&file).unwrap().begin(request("x")).unwrap();
    let copy = workspace.join("copy.db");
    std::fs::copy(&file, &copy).unwrap();
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o664)).unwrap();
    let store = Store::open(&copy).unwrap();
    assert_eq!(mode(&copy), 0o600);
    assert_eq!(store.session(session).unwrap().last_seq, 1);
}

#[test]
fn what_is_no_store_is_left_alone() {
    let workspace = Workspace::new()
        .file("text.db", "this is a text, and long enough to be one: ".repeat(100))
        .dir("folder.db")
        .fifo("pipe.db")
        .file("target", "")
        .symlink("link.db", "target");
    let foreign = workspace.join("foreign.db");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE mine (x)").unwrap();
    let marked = workspace.join("marked.db");
    Connection::open(&marked)
        .unwrap()
        .execute_batch("PRAGMA application_id = 7; PRAGMA user_version = 1")
        .unwrap();
    for name in ["text.db", "folder.db", "pipe.db", "link.db", "foreign.db", "marked.db"] {
        let path = workspace.join(name);
        let before = std::fs::metadata(&path).unwrap().len();
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::NotAStore(_)), "{name}: {error}");
        assert!(error.to_string().ends_with("is not a store of metier; move it away, or name another place"));
        assert_eq!(std::fs::metadata(&path).unwrap().len(), before, "{name}");
    }
    assert_eq!(std::fs::read(workspace.join("target")).unwrap(), b"");
}

#[test]
fn a_newer_file_is_left_alone_and_both_versions_are_named() {
    let (_workspace, file) = place();
    let store = Store::open(&file).unwrap();
    let session = store.begin(request("x")).unwrap();
    let newer = SCHEMA_VERSION + 1;
    // As a newer program would that comes while this one has the file open.
    Connection::open(&file).unwrap().execute_batch(&format!("PRAGMA user_version = {newer}")).unwrap();
    let expect = |error: &StoreError| {
        assert!(
            matches!(error, StoreError::Newer { found, known: SCHEMA_VERSION, .. } if *found == newer),
            "{error}"
        );
        let text = error.to_string();
        let words = format!(
            "has version {newer}, and this metier knows versions up to {SCHEMA_VERSION}; use the newer metier"
        );
        assert!(text.contains(&words), "{text}");
    };
    expect(&store.append(session, said("y")).unwrap_err());
    expect(&store.events(&EventQuery::all()).unwrap_err());
    expect(&store.remember(Record::new("x").unwrap()).unwrap_err());
    drop(store);
    expect(&Store::open(&file).unwrap_err());
}

#[test]
fn a_file_of_the_first_version_is_brought_to_the_newest() {
    let workspace = Workspace::new();
    let file = workspace.join("old.db");
    let connection = Connection::open(&file).unwrap();
    connection.execute_batch(include_str!("../../src/migrations/0001_events.sql")).unwrap();
    connection
        .execute_batch(
            r#"PRAGMA application_id = 0x6d747374;
               PRAGMA user_version = 1;
               INSERT INTO session (number, id, began, changed, last_seq, title)
               VALUES (1, '01hzzzzzzzaaaaaaaaaaaaaaa1', 5, 6, 3, 'buy milk');
               INSERT INTO event (session, seq, at, type, data) VALUES
               (1, 1, 5, 'started', '{"request":"buy milk"}'),
               (1, 2, 6, 'said', '{"text":"and bread","by":"user"}'),
               (1, 3, 6, 'said', 'broken');"#,
        )
        .unwrap();
    drop(connection);
    let store = Store::open(&file).unwrap();
    let session = store.find("01hz").unwrap();
    let events = store.events(&EventQuery::of(session)).unwrap();
    assert_eq!(events[1].kind, said("and bread"));
    assert_eq!(events.len(), 3);
    for (text, expect) in [("bread", 1), ("milk", 1), ("broken", 0)] {
        let filter = SessionFilter { text: Some(text.to_owned()), ..SessionFilter::default() };
        assert_eq!(store.sessions(&filter).unwrap().len(), expect, "{text}");
    }
    store.remember(Record::new("x").unwrap()).unwrap();
    assert_eq!(store.append(session, said("more")).unwrap().seq, 4);
    let version: u32 =
        Connection::open(&file).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, SCHEMA_VERSION);
}

#[test]
fn a_migration_that_fails_leaves_the_file_as_it_was() {
    let workspace = Workspace::new();
    let file = workspace.join("odd.db");
    let connection = Connection::open(&file).unwrap();
    connection.execute_batch(include_str!("../../src/migrations/0001_events.sql")).unwrap();
    // A table of that name is in the way of the second one.
    connection
        .execute_batch(
            "PRAGMA application_id = 0x6d747374; PRAGMA user_version = 1; CREATE TABLE record_tag (x)",
        )
        .unwrap();
    assert!(matches!(Store::open(&file).unwrap_err(), StoreError::Io { .. }));
    let left: (u32, u32) = connection
        .query_row(
            "SELECT (SELECT user_version FROM pragma_user_version),
                    (SELECT count(*) FROM sqlite_schema WHERE name IN ('record', 'record_words', 'event_words'))",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(left, (1, 0));
}

#[test]
fn a_damaged_file_is_named_as_such() {
    let (_workspace, file) = place();
    let store = Store::open(&file).unwrap();
    let session = store.begin(request("x")).unwrap();
    for count in 0..500 {
        store.submit(session, said(&format!("{count} {}", "y".repeat(500)))).unwrap();
    }
    drop(store);
    let mut bytes = std::fs::read(&file).unwrap();
    let end = bytes.len();
    assert!(end > 100_000);
    // The first page stays: the file still says what it is.
    bytes[8192..end].fill(0xa5);
    std::fs::write(&file, bytes).unwrap();
    let error = Store::open(&file).and_then(|store| store.events(&EventQuery::of(session))).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("is damaged") && error.to_string().contains("move it away"));
}

#[test]
fn a_full_store_says_so_and_what_was_acknowledged_stays() {
    let (_workspace, file) = place();
    let store = Store::open_bounded(&file, Bounds { bytes: 400_000, ..Bounds::default() }).unwrap();
    let session = store.begin(request("x")).unwrap();
    let mut last = 1;
    let error = loop {
        match store.append(session, said(&format!("{last} {}", "y".repeat(3_000)))) {
            Ok(done) => last = done.seq,
            Err(error) => break error,
        }
        assert!(last < 1_000, "the bound does not hold");
    };
    assert!(matches!(error, StoreError::Full(_)), "{error}");
    assert!(error.to_string().contains("cannot grow") && error.to_string().contains("`metier forget`"));
    assert_eq!(store.events(&EventQuery::of(session)).unwrap().len() as u64, last);
    let other = store.forget(metier_store::Forget::Session(session)).unwrap();
    assert_eq!(other.sessions, 1);
    store.begin(request("there is room again")).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_place_that_cannot_be_written_is_named_as_such() {
    // Also the superuser can make nothing there.
    let error = Store::open(Path::new("/sys/kernel/metier/metier.db")).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    assert!(error.to_string().contains("make it and its folder writable, or name another place"), "{error}");
}

#[test]
fn whoever_waits_too_long_for_another_process_is_told_so() {
    let (_workspace, file) = place();
    let bounds = Bounds { patience: Duration::from_millis(50), ..Bounds::default() };
    let store = Store::open_bounded(&file, bounds).unwrap();
    let session = store.begin(request("x")).unwrap();
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.append(session, said("y")).unwrap_err();
    assert!(matches!(error, StoreError::Busy(_)), "{error}");
    assert!(error.to_string().ends_with("try again when that one is done"), "{error}");
    assert_eq!(store.events(&EventQuery::of(session)).unwrap().len(), 1, "reading goes on meanwhile");
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(store.append(session, said("y")).unwrap().seq, 2);
}
