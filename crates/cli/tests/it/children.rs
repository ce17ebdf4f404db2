//! Children as `metier run` and `metier log` show them.

use crate::binary::{metier, workspace};
use crate::stand_in::{Line, start};
use metier_testkit::Workspace;
use serde_json::Value;

fn line(sees: &[&str], lacks: &[&str], says: &str, calls: &[(&str, &str)]) -> Line {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let calls = calls.iter().map(|(name, input)| ((*name).to_owned(), (*input).to_owned())).collect();
    Line { sees: texts(sees), lacks: texts(lacks), says: says.to_owned(), calls, ..Line::default() }
}

/// A user with a skill that runs in a child, and a model that uses it.
fn user() -> Workspace {
    let config = start(vec![
        line(&["# Skill: research", "\"role\":\"tool\""], &[], "Prices rise.", &[]),
        line(&["# Skill: research"], &[], "", &[("Glob", "{\"pattern\": \"*.md\"}")]),
        line(&["[skill research: complete"], &[], "They rise.", &[]),
        line(&[], &[], "", &[("skill_use", "{\"skill_name\": \"research\", \"arguments\": \"prices\"}")]),
    ]);
    let skill = "---\nname: research\ndescription: Looks things up. Use for prices.\ncontext: fork\nmodel: fast\n---\nLook.\n";
    workspace()
        .file("home/.config/metier/config.toml", config)
        .file("home/.config/metier/skills/research/SKILL.md", skill)
        .file("project/notes.md", "one\n")
        .file("project/metier.toml", "")
}

#[test]
fn a_child_is_shown_nested_and_quiet_and_only_the_answer_is_on_standard_output() {
    let run = metier(&user(), &["run", "what about prices"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "They rise.\n"), "{}", run.stderr);
    let shown: Vec<&str> = run.stderr.lines().collect();
    assert!(shown[0].starts_with("[skill] research: starting (fork "), "{}", run.stderr);
    assert!(
        shown[1].starts_with("  [warning] the skill `research` asks for the model `fast`"),
        "{}",
        run.stderr
    );
    assert_eq!(shown[2], "  [tool] Glob *.md");
    assert!(
        shown[3].starts_with("[skill] research: complete (") && shown[3].ends_with("220 tokens)"),
        "{}",
        run.stderr
    );
    assert!(shown[4].contains("2 turns, 2 calls, 440 tokens"), "{}", run.stderr);
    assert_eq!(shown.len(), 5, "{}", run.stderr);
}

#[test]
fn as_json_events_of_a_child_name_their_parent_and_its_log_does_too() {
    let workspace = user();
    let run = metier(&workspace, &["run", "--json", "what about prices"]);
    let events: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let began = events.iter().find(|event| event["type"] == "child_began").unwrap();
    let (parent, child) = (&began["session"], &began["data"]["child"]);
    let of_child: Vec<&Value> = events.iter().filter(|event| event["session"] == *child).collect();
    assert!(of_child.len() > 5 && of_child.iter().all(|event| event["parent"] == *parent), "{of_child:?}");
    assert!(events.iter().all(|event| event["session"] != *parent || event["parent"].is_null()));
    let log = metier(&workspace, &["log", "--json", child.as_str().unwrap()]);
    assert_eq!(log.stdout.lines().count(), of_child.len());
    assert!(log.stdout.lines().all(|line| line.contains(&format!("\"parent\":{parent}"))), "{}", log.stdout);
}

#[test]
fn the_log_of_a_run_names_its_children_and_each_can_be_opened() {
    let workspace = user();
    metier(&workspace, &["run", "what about prices"]);
    let log = metier(&workspace, &["log"]);
    let shown = log.stdout + &log.stderr;
    let listed = shown.lines().skip_while(|line| !line.contains("children, each with a log")).nth(1);
    let listed = listed.unwrap_or_else(|| panic!("{shown}"));
    assert!(
        listed.contains("complete") && listed.contains("research") && listed.contains("prices"),
        "{listed}"
    );
    let id = listed.trim_start_matches(['#', ' ']).split_whitespace().next().unwrap();
    let child = metier(&workspace, &["log", id]);
    assert_eq!(child.code, 0, "{}", child.stderr);
    let shown = child.stdout + &child.stderr;
    assert!(shown.contains("a child of session ") && shown.contains("[tool] Glob *.md"), "{shown}");
}

#[test]
fn a_skill_that_the_user_names_is_run_at_once() {
    let run = metier(&user(), &["run", "/research prices"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "Prices rise.\n"), "{}", run.stderr);
}
