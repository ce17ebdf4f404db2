//! `metier run`, as a new user has it: no key, no server, no question.

use crate::binary::{metier, metier_with_input, workspace};
use crate::typist::Typist;
use serde_json::Value;

#[test]
fn a_task_is_added_and_shown_without_a_model_and_that_is_said() {
    let workspace = workspace();
    let run = metier(&workspace, &["run", "--model", "offline", "add", "buy milk", "to my todo list"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout, "created task 1: buy milk\n", "{}", run.stderr);
    assert!(run.stderr.contains("[skill] create-task: starting"), "{}", run.stderr);
    assert!(run.stderr.contains("No language model was used"), "{}", run.stderr);
    let run = metier(&workspace, &["run", "--model", "offline", "--quiet", "what is on my list"]);
    assert_eq!(run.stdout, "1 [ ] buy milk\n1 open, 0 done\n", "{}", run.stderr);
    assert_eq!(run.stderr, "");
}

#[test]
fn where_nothing_fits_it_says_so_and_fails() {
    let run = metier(&workspace(), &["run", "--model", "offline", "bake me a cake"]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("No skill fits"), "{}", run.stdout);
}

#[test]
fn a_request_comes_from_standard_input_and_an_empty_one_is_refused() {
    let workspace = workspace();
    let run = metier_with_input(
        &workspace,
        &["run", "--model", "offline", "-"],
        "add water plants to my todo list",
    );
    assert!(run.stdout.starts_with("created task 1: water plants"), "{} {}", run.stdout, run.stderr);
    let run = metier_with_input(&workspace, &["run", "--model", "offline"], "");
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("standard input is empty"), "{}", run.stderr);
}

#[test]
fn as_json_every_line_is_an_event_and_the_log_has_the_same_ones() {
    let workspace = workspace();
    let run = metier(&workspace, &["run", "--model", "offline", "--json", "what is on my list"]);
    let events: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(names.first(), Some(&"started"));
    assert_eq!(names.last(), Some(&"ended"));
    assert_eq!(events.last().unwrap()["data"]["outcome"], "done");
    let log = metier(&workspace, &["log", "--json"]);
    let logged = log.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let logged: Vec<String> = logged.map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    let lived: Vec<&str> = names.into_iter().filter(|name| *name != "piece").collect();
    assert_eq!(logged, lived);
}

#[test]
fn a_denied_skill_needs_no_yes_and_a_mode_that_runs_nothing_runs_nothing() {
    let workspace = workspace();
    let run = metier(&workspace, &["run", "--model", "offline", "--mode", "plan", "what is on my list"]);
    assert_eq!(run.code, 1, "{} {}", run.stdout, run.stderr);
    let run = metier(&workspace, &["run", "--model", "offline", "--mode", "nonsense", "what is on my list"]);
    assert!(run.stderr.contains("`nonsense` is no mode"), "{}", run.stderr);
}

#[test]
fn what_became_of_a_process_is_in_the_log() {
    let workspace = workspace();
    metier(&workspace, &["run", "--model", "offline", "add buy milk to my todo list"]);
    let log = metier(&workspace, &["log", "--json"]);
    let events = log.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let reports: Vec<Value> = events.map(|event| event["data"]["report"].clone()).collect();
    let report = reports.iter().find(|report| report.is_object()).expect("a script ran");
    assert_eq!((&report["exit"], &report["timed_out"]), (&Value::from(0), &Value::from(false)), "{report}");
    assert_eq!(report["stdout"], "created task 1: buy milk\n".len());
    assert!(report["tier"].as_str().is_some_and(|tier| !tier.is_empty()), "{report}");
    assert!(report["memory"].as_u64().is_some_and(|bytes| bytes > 0), "{report}");
}

#[test]
fn at_a_terminal_a_program_is_seen_while_it_runs_and_its_line_gives_way() {
    let workspace = workspace();
    let mut typist = Typist::at(&workspace, &["run", "--model", "offline", "add buy milk to my todo list"]);
    typist.wait_for("\r\x1b[2K\x1b[2mcreated task 1: buy milk\x1b[0m\r\x1b[2K");
    typist.wait_for("\ncreated task 1: buy milk\r\n");
    assert!(typist.ends().success());
}
