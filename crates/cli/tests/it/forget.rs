//! `metier forget`

use crate::binary::{metier, metier_with_input, workspace};
use crate::typist::Typist;
use metier_store::{Activated, By, EventKind, Record, SessionId, Started, Store};
use metier_testkit::Workspace;
use serde_json::{Value, json};
use std::fs;

const SECRET: &str = "the password is Xyzzy-4711";

fn store(workspace: &Workspace) -> Store {
    Store::open(&workspace.join("home/.local/share/metier/store/metier.db")).unwrap()
}

fn begun(store: &Store, request: &str, skill: &str) -> SessionId {
    let id = store.begin(Started { request: request.to_owned(), ..Started::default() }).unwrap();
    let activated = Activated { skill: skill.to_owned(), ..Activated::default() };
    store.append(id, EventKind::Activated(activated)).unwrap();
    let mut record = Record::new(format!("kept in {request}")).unwrap();
    record.skill = Some(skill.to_owned());
    record.origin = Some("user".to_owned());
    record.session = Some(id);
    store.remember(record).unwrap();
    id
}

fn history() -> (Workspace, SessionId) {
    let workspace = workspace();
    let store = store(&workspace);
    let first = begun(&store, SECRET, "deploy");
    begun(&store, "look at it", "review");
    (workspace, first)
}

fn requests(workspace: &Workspace) -> Vec<Value> {
    let runs = metier(workspace, &["runs", "--all", "--json"]).json();
    runs["runs"].as_array().unwrap().iter().map(|run| run["request"].clone()).collect()
}

fn bytes(workspace: &Workspace) -> Vec<u8> {
    let folder = workspace.join("home/.local/share/metier/store");
    fs::read_dir(folder).unwrap().flat_map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
}

#[test]
fn without_a_yes_it_shows_what_would_go_and_leaves_it() {
    let (workspace, first) = history();
    let run = metier(&workspace, &["forget", &first.short()]);
    assert_eq!(run.code, 4);
    for piece in ["this would go: 1 run, 1 record of memory", &first.short(), SECRET, "remembered by deploy"]
    {
        assert!(run.stdout.contains(piece), "{piece}\n{}", run.stdout);
    }
    assert!(run.stderr.contains("say `--yes`"), "{}", run.stderr);
    let run = metier(&workspace, &["forget", "--all", "--json"]);
    assert_eq!((run.code, run.json()["would"]["runs"].as_array().unwrap().len()), (4, 2));
    assert_eq!(requests(&workspace).len(), 2);
}

#[test]
fn at_a_terminal_it_asks_and_a_no_changes_nothing() {
    let (workspace, first) = history();
    let mut typist = Typist::at(&workspace, &["forget", &first.short()]);
    typist.wait_for("delete it for good? [y]es [n]o > ");
    typist.types("n\n");
    assert_eq!(typist.ends().code(), Some(4));
    assert_eq!(requests(&workspace).len(), 2);
    let mut typist = Typist::at(&workspace, &["forget", &first.short()]);
    typist.wait_for("> ");
    typist.types("y\n");
    typist.wait_for("deleted: 1 run, 1 record of memory (2 events)");
    assert!(typist.ends().success());
    assert_eq!(requests(&workspace), ["look at it"]);
}

#[test]
fn what_is_forgotten_is_gone_from_the_disk() {
    let (workspace, first) = history();
    let has_it = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
    assert!(has_it(&bytes(&workspace)));
    let run = metier(&workspace, &["forget", "--yes", "--json", &first.to_string()]);
    let expect = json!({"runs": 1, "events": 2, "records": 1, "lines": 0, "traces": false});
    assert_eq!(run.json(), json!({ "forgotten": expect }));
    assert!(!has_it(&bytes(&workspace)));
}

#[test]
fn a_large_store_says_what_takes_long() {
    let (workspace, first) = history();
    let kept = store(&workspace);
    for part in 0..16 {
        let text = format!("{part} {}", "x".repeat(7 << 20));
        kept.append(first, EventKind::Said { text, by: By::User }).unwrap();
    }
    drop(kept);
    let run = metier(&workspace, &["forget", "--yes", &first.to_string()]);
    assert_eq!(run.code, 0);
    assert!(run.stderr.contains("rewriting the store (112 MiB)"), "{}", run.stderr);
    // It is small now.
    assert!(bytes(&workspace).len() < 1 << 20);
    assert!(!metier(&workspace, &["forget", "--all", "--yes"]).stderr.contains("rewriting"));
}

#[test]
fn by_skill_by_age_or_all_and_memory_alone() {
    let check = |args: &[&str], expect: (&str, usize)| {
        let (workspace, _) = history();
        let args: Vec<&str> = ["forget", "--yes"].iter().chain(args).copied().collect();
        let run = metier(&workspace, &args);
        assert_eq!(run.code, 0, "{args:?} {}", run.stderr);
        assert!(run.stdout.contains(expect.0), "{args:?} {}", run.stdout);
        assert_eq!(requests(&workspace).len(), expect.1, "{args:?}");
    };
    check(&["--skill", "deploy"], ("deleted: 1 run, 1 record of memory", 1));
    check(&["--skill", "deploy", "--memory"], ("deleted: 1 record of memory", 2));
    check(&["--before", "1h"], ("nothing that is kept fits", 2));
    check(&["--before", "2100-01-01"], ("deleted: 2 runs, 2 records of memory", 0));
    check(&["--all", "--memory"], ("deleted: 2 records of memory", 2));
    check(&["--all"], ("deleted: 2 runs, 2 records of memory", 0));
}

#[test]
fn everything_is_also_what_was_typed_in_chat() {
    let workspace = workspace().file("home/.local/share/metier/chat/lines.jsonl", "\"hello\"\n\"again\"\n");
    let run = metier(&workspace, &["forget", "--all", "--yes"]);
    assert!(run.stdout.contains("2 lines typed in chat"), "{}", run.stdout);
    assert_eq!(fs::read(workspace.join("home/.local/share/metier/chat/lines.jsonl")).unwrap(), b"");
}

#[test]
fn nothing_is_forgotten_that_nobody_named() {
    let (workspace, _) = history();
    assert_eq!(metier(&workspace, &["forget", "--yes"]).code, 2);
    assert_eq!(metier(&workspace, &["forget", "--yes", "--memory"]).code, 2);
    let run = metier_with_input(&workspace, &["forget", "zzzzzz", "--yes"], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("`metier runs` lists them"), "{}", run.stderr);
    assert_eq!(requests(&workspace).len(), 2);
}
