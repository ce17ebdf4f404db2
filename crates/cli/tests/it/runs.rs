//! `metier runs` and `metier log`

use crate::binary::{Run, metier, workspace};
use crate::typist::Typist;
use metier_store::{
    Activated, Answered, By, Called, Effect, Ended, EventKind, Finished, Outcome, Part, SessionId, Started,
    Store, Usage, Used,
};
use metier_testkit::Workspace;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn store(workspace: &Workspace) -> Store {
    Store::open(&workspace.join("home/.local/share/metier/store/metier.db")).unwrap()
}

fn begun(workspace: &Workspace, store: &Store, request: &str) -> SessionId {
    let project = workspace.join("project").canonicalize().unwrap().display().to_string();
    let started =
        Started { request: request.to_owned(), loaded: 3, project: Some(project), ..Started::default() };
    store.begin(started).unwrap()
}

fn ended(outcome: Outcome) -> EventKind {
    let usage = Usage { input: 1_200, output: 34, cached: 0, cache_written: 0 };
    let (text, why) = (String::new(), (outcome != Outcome::Done).then(|| "the model was away".to_owned()));
    EventKind::Ended(Ended { outcome, text, why, usage, cost_micros: 12_300, turns: 1, calls: 1 })
}

/// A run with a skill, one call and an answer.
fn whole(workspace: &Workspace, store: &Store, request: &str, skill: &str, outcome: Outcome) -> SessionId {
    let id = begun(workspace, store, request);
    let usage = Usage { input: 1_200, output: 34, cached: 0, cache_written: 0 };
    for kind in [
        EventKind::Activated(Activated { skill: skill.to_owned(), ..Activated::default() }),
        EventKind::Called(Called {
            id: "c1".to_owned(),
            tool: "Bash".to_owned(),
            skill: Some(skill.to_owned()),
            input: json!({"command": "git status"}),
            effect: Effect::Runs,
        }),
        EventKind::Finished(Finished {
            id: "c1".to_owned(),
            skill: Some(skill.to_owned()),
            text: "clean\u{1b}[2J".to_owned(),
            ms: 12,
            ..Finished::default()
        }),
        EventKind::Answered(Answered {
            turn: 1,
            parts: vec![Part::Text { text: "All is clean.".to_owned() }],
            usage,
            cost_micros: Some(12_300),
            ..Answered::default()
        }),
        EventKind::Used(Used {
            skill: skill.to_owned(),
            origin: "user".to_owned(),
            digest: String::new(),
            tags: Vec::new(),
            by: By::Model,
            usage,
            cost_micros: 12_300,
            outcome,
        }),
        ended(outcome),
    ] {
        store.append(id, kind).unwrap();
    }
    id
}

fn ids(run: &Run) -> Vec<Value> {
    run.json()["runs"].as_array().unwrap().iter().map(|run| run["request"].clone()).collect()
}

#[test]
fn where_nothing_has_run_that_is_said_and_no_file_is_made() {
    let workspace = workspace();
    let run = metier(&workspace, &["runs"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "nothing has run yet; try `metier run \"what is on my list\"`\n")
    );
    assert_eq!(metier(&workspace, &["runs", "--json"]).json(), json!({"runs": [], "more": false}));
    let run = metier(&workspace, &["log"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("nothing has run yet"), "{}", run.stderr);
    assert!(!workspace.join("home/.local/share/metier/store").exists());
}

#[test]
fn runs_are_listed_newest_first_and_filtered() {
    let workspace = workspace();
    let store = store(&workspace);
    let first = whole(&workspace, &store, "look at the tree", "git", Outcome::Done);
    whole(&workspace, &store, "read the report", "pdf", Outcome::Failed);
    begun(&workspace, &store, "still at it\u{1b}[31m");
    drop(store);

    let run = metier(&workspace, &["runs"]);
    let mut lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines.remove(0).starts_with("id      when"), "{}", run.stdout);
    assert_eq!(lines.len(), 4, "{}", run.stdout);
    assert!(lines[0].contains("open") && lines[0].contains("still at it\\u{1b}[31m"), "{}", lines[0]);
    assert!(lines[1].contains("failed") && lines[1].contains("pdf"), "{}", lines[1]);
    for piece in
        [&*first.short(), "just now", "done", "    1  ", "1,234", "0.0123", "git", "look at the tree"]
    {
        assert!(lines[2].contains(piece), "{piece}\n{}", lines[2]);
    }

    let check = |args: &[&str], expect: &[&str]| {
        let args: Vec<&str> = ["runs", "--json"].iter().chain(args).copied().collect();
        assert_eq!(ids(&metier(&workspace, &args)), expect, "{args:?}");
    };
    check(&["--skill", "pdf"], &["read the report"]);
    check(&["--outcome", "done"], &["look at the tree"]);
    check(&["--outcome", "open"], &["still at it\u{1b}[31m"]);
    check(&["--search", "tree"], &["look at the tree"]);
    check(&["--search", "nothing such"], &[]);
    check(&["--since", "1h", "-n", "1"], &["still at it\u{1b}[31m"]);
    check(&["--since", "2100-01-01"], &[]);
    assert_eq!(metier(&workspace, &["runs", "--json", "-n", "2"]).json()["more"], true);
    assert!(metier(&workspace, &["runs", "--skill", "zzz"]).stdout.starts_with("no run fits"));
    assert_eq!(metier(&workspace, &["runs", "--since", "yesterday"]).code, 2);
    assert_eq!(metier(&workspace, &["runs", "-n", "0"]).code, 2);
}

#[test]
fn a_log_tells_the_story_of_the_latest_run_or_of_one_that_is_named() {
    let workspace = workspace();
    let store = store(&workspace);
    let first = whole(&workspace, &store, "look at the tree", "git", Outcome::Done);
    whole(&workspace, &store, "read the report", "pdf", Outcome::Failed);
    drop(store);

    let expect = "[request] look at the tree\n[skills] loaded 3, failed 0\n[skill] git: starting\n[tool] Bash (git) git status\n\
                  [result] Bash: clean\\u{1b}[2J (12 ms)\nAll is clean.\n[skill] git: complete\n\
                  [end] done (1 turn, 1 call, 1,234 tokens, cost 0.0123)\n";
    let whole_id = first.to_string();
    for id in [&*first.short(), &whole_id] {
        assert_eq!(metier(&workspace, &["log", id]).stdout, expect);
    }
    let latest = metier(&workspace, &["log"]).stdout;
    assert!(latest.starts_with("[request] read the report\n"), "{latest}");
    assert!(latest.contains("[skill] pdf: failed\n[end] failed: the model was away"), "{latest}");

    let steps = metier(&workspace, &["log", &first.short(), "--skill", "git"]).stdout;
    assert!(steps.starts_with("[skill] git: starting\n") && !steps.contains("[end]"), "{steps}");
    let calls = metier(&workspace, &["log", &first.short(), "--kind", "called", "--kind", "finished"]).stdout;
    assert_eq!(calls.lines().count(), 2, "{calls}");
    let none = metier(&workspace, &["log", "--kind", "cooked"]).stdout;
    assert!(none.contains("it has events of these kinds: activated, answered, called"), "{none}");

    let run = metier(&workspace, &["log", "--json", &whole_id]);
    let events: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 7);
    assert_eq!((&events[0]["type"], &events[0]["seq"]), (&"started".into(), &1.into()));
    assert_eq!((&events[6]["type"], &events[6]["data"]["outcome"]), (&"ended".into(), &"done".into()));
    assert_eq!(events[2]["session"], whole_id);

    let run = metier(&workspace, &["log", "zzzzzz"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("`metier runs` lists them"), "{}", run.stderr);
}

#[test]
fn following_shows_what_comes_and_ends_with_the_run() {
    let workspace = workspace();
    let store = store(&workspace);
    let id = begun(&workspace, &store, "look at the tree");
    let mut child = Command::new(env!("CARGO_BIN_EXE_metier"))
        .args(["log", "--follow", "--skill", "git", "--json"])
        .current_dir(workspace.join("project"))
        .env_clear()
        .env("HOME", workspace.join("home"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let activated = Activated { skill: "git".to_owned(), ..Activated::default() };
    store.append(id, EventKind::Activated(activated)).unwrap();
    // It comes while the run is open, and not only at its end.
    assert!(lines.next().unwrap().unwrap().contains("\"type\":\"activated\""));
    store.append(id, ended(Outcome::Done)).unwrap();
    assert!(lines.next().is_none(), "the end is not about the skill, and still ends it");
    assert!(child.wait().unwrap().success());
    // A run that nobody ends goes on until somebody has seen enough.
    begun(&workspace, &store, "still at it");
    let mut typist = Typist::at(&workspace, &["log", "-f"]);
    typist.wait_for("failed 0");
    typist.types("\u{3}");
    assert!(typist.ends().success());
    whole(&workspace, &store, "look once more", "git", Outcome::Done);
    // A run that is over is shown and not waited for.
    let run = metier(&workspace, &["log", "-f"]);
    assert!(run.stdout.ends_with("cost 0.0123)\n"), "{}", run.stdout);
}
