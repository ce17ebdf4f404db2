//! Command lines of a skill, run.

use std::time::Duration;

use metier_exec::command_error;
use metier_policy::{Dialect, Folders, McpTools, Meaning, Scope, Terms};
use metier_testkit::Workspace;
use serde_json::Value;

use crate::bench::Bench;

fn json(bench: &Bench, line: &str) -> Value {
    let text = match bench.line(line) {
        Ok(ran) => ran.text,
        Err(error) => command_error(&error.to_string()).to_string(),
    };
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_line_runs_in_the_skills_folder_and_gives_four_keys() {
    let bench = Bench::new(Workspace::new().file("skill/notes.txt", "b\na\n"));
    let check = |line: &str, expect: &str| assert_eq!(json(&bench, line).to_string(), expect, "{line}");
    check("sort notes.txt | head -n 1", r#"{"exitCode":0,"stdout":"a","stderr":"","timedOut":false}"#);
    check("echo noise >&2", r#"{"exitCode":0,"stdout":"","stderr":"","timedOut":false}"#);
    check("echo no >&2; exit 4", r#"{"exitCode":4,"stdout":"","stderr":"no","timedOut":false}"#);
}

#[test]
fn a_line_that_takes_too_long_says_so() {
    let mut bench = Bench::new(Workspace::new());
    bench.limits.time = Duration::from_secs(1);
    assert_eq!(json(&bench, "echo begun; sleep 60")["timedOut"], true);
    assert_eq!(json(&bench, "echo begun; sleep 60")["exitCode"], Value::Null);
}

#[test]
fn what_the_gate_refuses_is_an_error_and_does_not_run() {
    let bench = Bench::new(Workspace::new()).deny("command:touch:*");
    let answer = json(&bench, "echo a && touch \"$SKILL_DATA/marker\"");
    assert_eq!(answer["exitCode"], Value::Null);
    assert!(answer["stderr"].as_str().unwrap().starts_with("ERROR: refused: "), "{answer}");
    assert!(!bench.workspace.join("data/user/demo/marker").exists());
}

#[test]
fn a_fence_stops_what_it_does_not_name() {
    let mut bench = Bench::new(Workspace::new());
    bench.scopes.push(Scope::open(
        Terms {
            skill: bench.skill.clone(),
            tools: Some(&[]),
            disallowed: &[],
            meaning: Meaning::Both,
            dialect: Dialect::Usual,
            folders: Folders::default(),
        },
        &McpTools::default(),
    ));
    let answer = json(&bench, "echo a");
    assert!(answer["stderr"].as_str().unwrap().contains("lets no tool be called"), "{answer}");
}

#[test]
fn a_nul_in_a_line_is_refused() {
    let bench = Bench::new(Workspace::new());
    assert!(json(&bench, "echo a\0b")["stderr"].as_str().unwrap().contains("NUL at character 7"));
}
