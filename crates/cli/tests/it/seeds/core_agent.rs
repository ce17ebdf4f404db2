//! Seed 004: core-agent's page on skills.

use super::{Seed, entries, ready};
use crate::binary::Run;
use serde_json::{Value, json};

const JIRA_TRIAGE: &str = r"---
name: jira-triage
description: Triages a Jira ticket: reads it, sorts it, says what to do next.
version: 2.1
owner: support
---

For a ticket that is to be triaged:

1. Read it with the `jira_get_issue` tool.
2. Sort it by the table in `examples/severity.md`.
3. Say what comes next: assign, ask, or close.

Name the ticket, such as `PROJ-123`, in your answer.
";

const PLACE: &str = "project/.agents/skills";

const ALLOW: &str = r#"{"permissions": {"allow": ["skill:jira-triage", "skill:data-export"]}}"#;

fn bundles() -> Seed {
    Seed::new()
        .file(
            &format!("{PLACE}/echo/SKILL.md"),
            "---\nname: echo\ndescription: Says it again.\n---\nSay it again.\n",
        )
        .file(&format!("{PLACE}/jira-triage/SKILL.md"), JIRA_TRIAGE)
        .file(&format!("{PLACE}/jira-triage/examples/ticket.md"), "PROJ-123\n")
        .file(&format!("{PLACE}/jira-triage/examples/severity.md"), "high, low\n")
        .file(
            &format!("{PLACE}/data-export/SKILL.md"),
            "---\nname: data-export\ndescription: Exports data.\n---\nRun `helpers/export.py`.\n",
        )
        .file(&format!("{PLACE}/data-export/helpers/export.py"), "print('a,b')\n")
}

fn call(seed: &Seed, tool: &str, input: &Value, more: &[&str]) -> Run {
    seed.call("adk", tool, input, more)
}

#[test]
fn seed_004_core_agent_triages_a_ticket() {
    let seed = bundles().trusted();
    assert_eq!(seed.listed(), ready(&["data-export", "echo", "jira-triage"]));
    let lines = seed.run(&["catalog"]).stdout;
    assert!(
        entries(&lines)
            .contains(&"- **jira-triage**: Triages a Jira ticket: reads it, sorts it, says what to do next."),
        "{lines}"
    );
    let loaded = call(&seed, "load_skill", &json!({ "name": "jira-triage" }), &[]).json();
    assert_eq!(loaded["skill_name"], "jira-triage");
    let body = JIRA_TRIAGE.split_once("\n---\n").expect("it has a frontmatter").1.trim();
    let instructions = loaded["instructions"].as_str().expect("it is a text");
    assert!(instructions.contains(body), "{instructions}");
    // What it does not know goes through as it is written.
    let frontmatter = &loaded["frontmatter"];
    assert_eq!(frontmatter["name"], "jira-triage");
    assert_eq!(
        (&frontmatter["version"], &frontmatter["owner"]),
        (&json!("2.1"), &json!("support")),
        "{frontmatter}"
    );
}

#[test]
fn seed_004_core_agent_loads_sibling_files_when_they_are_wanted() {
    let seed = bundles().trusted();
    let content = seed.content("jira-triage", &[]);
    assert!(content.contains("\nOther files: examples/severity.md, examples/ticket.md\n"), "{content}");
    assert!(!content.contains("high, low"), "{content}");
    for (skill, path, text) in [
        ("jira-triage", "examples/severity.md", "high, low\n"),
        ("data-export", "helpers/export.py", "print('a,b')\n"),
    ] {
        let answer =
            call(&seed, "load_skill_resource", &json!({ "skill_name": skill, "resource_path": path }), &[]);
        assert_eq!(answer.json(), json!({ "skill_name": skill, "path": path, "content": text }));
    }
}

#[test]
fn seed_004_core_agent_registers_nothing_where_there_is_nothing() {
    let nothing = Seed::new();
    let scaffold = Seed(Seed::new().0.dir(PLACE).dir(format!("{PLACE}/later")));
    for seed in [nothing, scaffold] {
        assert_eq!(seed.listed(), []);
        let tools = seed.run(&["tools", "--surface", "adk", "--json"]);
        assert_eq!((tools.json(), tools.code), (json!([]), 0));
        assert_eq!(seed.run(&["catalog"]).stdout, "");
    }
    let tools = bundles().trusted().run(&["tools", "--surface", "adk", "--json"]).json();
    let names: Vec<&Value> = tools.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["list_skills", "load_skill", "load_skill_resource"]);
}

#[test]
fn seed_004_core_agent_lists_names_and_descriptions() {
    let seed = bundles().trusted();
    let listed = call(&seed, "list_skills", &json!({}), &[]).json();
    let text = listed["skills"].as_str().expect("it is a text");
    for (name, description) in [("echo", "Says it again."), ("data-export", "Exports data.")] {
        let skill = format!(
            "<skill>\n<name>\n{name}\n</name>\n<description>\n{description}\n</description>\n</skill>\n"
        );
        assert!(text.contains(&skill), "{text}");
    }
}

#[test]
fn seed_004_core_agent_gates_by_the_name_of_a_skill() {
    let seed = bundles().file("project/.agents/config.json", ALLOW).trusted();
    let only_rules = ["--mode", "allow"];
    for (name, code) in [("jira-triage", 0), ("data-export", 0), ("echo", 1)] {
        let run = call(&seed, "load_skill", &json!({ "name": name }), &only_rules);
        assert_eq!(run.code, code, "{name}: {}", run.stdout);
    }
    // The rule covers the files of the skill, too.
    let input = json!({ "skill_name": "jira-triage", "resource_path": "examples/ticket.md" });
    let read = call(&seed, "load_skill_resource", &input, &only_rules);
    assert_eq!((read.json()["content"].as_str(), read.code), (Some("PROJ-123\n"), 0));
    let why = seed.run(&["explain", "--action", "skill:jira-triage", "--mode", "allow"]).stdout;
    assert!(why.contains("the rule `skill:jira-triage` in `.agents/config.json` allows it"), "{why}");
}

#[test]
fn seed_004_core_agent_takes_yolo_from_a_user_and_not_from_a_project() {
    let yolo = r#"{"permissions": {"mode": "yolo"}}"#;
    let seed = bundles().file("project/.agents/config.json", yolo).trusted();
    let host = ["explain", "--action", "skill:echo/host:example.org"];
    let project = seed.run(&host);
    assert!(
        project.stderr.contains("`yolo` is not taken from a project without a yes"),
        "{}",
        project.stderr
    );
    assert!(!project.stdout.contains("\nallowed\n"), "{}", project.stdout);
    let user = seed.run(&[&host[..], &["--mode", "yolo"]].concat());
    assert!(user.stdout.contains("\nallowed\n"), "{}", user.stdout);
}

#[test]
fn seed_004_core_agent_surfaces_the_version() {
    let seed = bundles().trusted();
    let listed = seed.run(&["list", "--json"]).json();
    assert_eq!(listed["skills"][2]["version"], "2.1", "{listed}");
    let show = seed.run(&["show", "jira-triage@^2", "--json"]).json();
    assert_eq!(show["manifest"]["extra"]["owner"], "support", "{show}");
}
