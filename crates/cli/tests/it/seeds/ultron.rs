//! Seed 001: Ultron's page on its skill files.

use super::{Seed, TRAILER, calls, entries, ran, ready, says};
use crate::stand_in::{Line, start};
use serde_json::{Value, json};

/// The page's example of a body: a quality gate, a structure, banned words, a loop of scoring.
const COLD_EMAIL: &str = r"---
name: cold-email
description: Drafts a first email to a prospect who does not know us. Used for outreach.
model: kimi-k2
maxTurns: 8
tools: [web_search, lookup_leads, search_memories, save_content, gmail_send_email]
tags: [sales, cold-email]
context: inline
---
# Cold email

## Quality gate

All six hold before anything is returned: one reader, one fact about them, one offer, one question, short, true.

## Structure

A fact about the reader, then the offer, then one call to action.

## Banned

synergy, game-changer

## Loop

Draft, score, revise while below the threshold, return what passed.
";

/// A long task, which the page runs apart from the conversation.
const RESEARCH: &str = r"---
name: competitor-research
description: Researches a competitor on the web and reports on its pricing.
model: fast
maxTurns: 12
tools: [web_search, web_search_multiple, scrape_website, browser_action, search_memories]
tags: [research]
context: fork
---
Search, read, report.
";

fn skills() -> Seed {
    Seed::new()
        .file("home/.agents/skills/cold-email/SKILL.md", COLD_EMAIL)
        .file("home/.agents/skills/cold-email/scripts/score.sh", "echo scored\n")
        .file("home/.agents/skills/competitor-research/SKILL.md", RESEARCH)
}

fn activated(seed: &Seed, name: &str) -> Value {
    seed.run(&["use", name, "--json"]).json()
}

#[test]
fn seed_001_ultron_runs_a_cold_email_inline() {
    let seed = skills();
    assert_eq!(seed.listed(), ready(&["cold-email", "competitor-research"]));
    let lines = seed.run(&["catalog"]).stdout;
    assert_eq!(entries(&lines).len(), 2, "{lines}");
    let answer = activated(&seed, "cold-email");
    assert_eq!(answer["way"], "inline");
    let scope = &answer["scope"];
    assert_eq!((&scope["model"], &scope["max_turns"]), (&json!("kimi-k2"), &json!(8)));
    assert_eq!((&scope["fenced"], &scope["ends"]), (&json!(true), &json!("next-user-message")));
    let body = COLD_EMAIL.split_once("\n---\n").expect("it has a frontmatter").1.trim_end();
    let folder = seed.path("home/.agents/skills/cold-email");
    let files = format!("Skill directory: {folder}\nAvailable scripts: score.sh\n");
    let content = format!("# Skill: cold-email\n{body}\n{files}{TRAILER}");
    assert_eq!(answer["content"], content.trim_end());
    let text = answer["text"].as_str().expect("it is a text");
    assert!(text.starts_with("<skill-context name=\"cold-email\""), "{text}");
}

#[test]
fn seed_001_ultron_runs_research_as_a_fork() {
    let answer = activated(&skills(), "competitor-research");
    assert_eq!(answer["way"], "fork");
    let scope = &answer["scope"];
    assert_eq!((&scope["model"], &scope["max_turns"]), (&json!("fast"), &json!(12)));
    assert_eq!((&scope["fenced"], &scope["ends"]), (&json!(true), &json!("child")));
    // The content is the child's system prompt, so it has no envelope.
    let content = answer["content"].as_str().expect("it is a text");
    assert!(content.contains("Search, read, report.") && !content.contains("skill-context"), "{content}");
}

#[test]
fn seed_001_ultron_puts_an_inline_skill_into_the_thread_as_a_message_of_the_user() {
    let name = json!({ "skill_name": "cold-email", "arguments": "to Ada" });
    let activated = "Skill 'cold-email' activated successfully. Instructions will follow.";
    let message = "\"role\":\"user\",\"content\":\"<skill-context name=\\\"cold-email\\\"";
    // The request and the skill's text are in one thread, the text behind the request.
    let thread = ["write to Ada", activated, message, "## Quality gate", "</skill-context>"];
    let seed = skills().model(vec![
        says(&thread, &[], "Dear Ada"),
        says(&["\"role\":\"tool\""], &[], "another thread"),
        calls(&[], &["## Quality gate"], &[("skill_use", &name)]),
    ]);
    let run = seed.run(&["run", "write to Ada"]);
    assert_eq!((run.stdout.as_str(), run.code), ("Dear Ada\n", 0), "{}", run.stderr);
}

#[test]
fn seed_001_ultron_returns_the_final_result_of_a_fork_and_nothing_between() {
    let name = json!({ "skill_name": "competitor-research", "arguments": "Acme" });
    let look = json!({ "skill_name": "competitor-research", "file_path": "SKILL.md" });
    let body = "Search, read, report.";
    let seed = skills().model(vec![
        // The child: its skill is its system prompt, and the request that led to it is not there.
        says(&["\"role\":\"system\"", body, "\"role\":\"tool\""], &["compare us"], "Acme takes 9 a month."),
        calls(&["\"role\":\"system\"", body], &["compare us"], &[("skill_read_file", &look)]),
        // The thread: the result is there, and nothing of the work.
        says(
            &["compare us", "Acme takes 9 a month."],
            &[body, "skill_read_file\",\"arguments"],
            "We take 8.",
        ),
        says(&["\"role\":\"tool\""], &[], "the thread saw the work"),
        calls(&["compare us"], &[], &[("skill_use", &name)]),
    ]);
    let run = seed.run(&["run", "compare us with Acme"]);
    assert_eq!((run.stdout.as_str(), run.code), ("We take 8.\n", 0), "{}", run.stderr);
}

#[test]
fn seed_001_ultron_detects_the_intent_from_plain_language() {
    let seed = skills();
    for (request, name) in [
        ("write a cold email to this prospect", "cold-email"),
        ("research what our competitor charges", "competitor-research"),
    ] {
        let route = seed.run(&["route", request, "--json"]).json();
        assert_eq!(route["results"][0]["name"], name, "{route}");
        assert_eq!(route["abstain"], Value::Null, "{route}");
    }
}

#[test]
fn seed_001_ultron_keeps_a_skill_to_its_list_of_tools() {
    let seed = skills();
    let manifest = seed.run(&["show", "cold-email", "--json"]).json()["manifest"].clone();
    assert_eq!(manifest["tags"], json!(["sales", "cold-email"]));
    assert_eq!(manifest["tools"].as_array().map(Vec::len), Some(5), "{manifest}");
    let line = json!({ "reason": "look", "commandLine": "echo hi" });
    let script = json!({ "skill_name": "cold-email", "script_name": "score.sh" });
    let active = ["--skill", "cold-email"];
    let command = seed.call("skilled-crew", "run_command_line", &line, &active);
    let run = seed.call("canonical", "skill_run_script", &script, &active);
    for refused in [command, run] {
        assert!(refused.stdout.contains("lets only `web_search`, `lookup_leads`,"), "{}", refused.stdout);
        assert_eq!(refused.code, 1);
    }
    // A skill that has no list inherits whatever there is.
    let free =
        seed.file("home/.agents/skills/free/SKILL.md", "---\nname: free\ndescription: Is free.\n---\nDo.\n");
    let run = free.call("skilled-crew", "run_command_line", &line, &["--skill", "free"]);
    assert_eq!(run.json(), ran("hi"));
}

#[test]
fn seed_001_ultron_tags_what_it_remembers_and_its_activity_log() {
    let line = |sees: &str, says: &str| Line {
        sees: vec![sees.to_owned()],
        says: says.to_owned(),
        ..Line::default()
    };
    let calls = vec![("skill_use".to_owned(), json!({ "skill_name": "cold-email" }).to_string())];
    let config = start(vec![
        line("Came of it (done): Dear Ada", "As last time."),
        line("# Cold email", "Dear Ada, an offer."),
        Line { calls, ..Line::default() },
    ]);
    let seed = skills().file("home/.config/metier/config.toml", &config);
    let first = seed.run(&["run", "write a cold email to Ada"]);
    assert_eq!((first.code, first.stdout.trim()), (0, "Dear Ada, an offer."), "{}", first.stderr);
    // The activity entry: which skill, with its tags, when, how it ended.
    let log = seed.run(&["log", "--json", "--kind", "used"]).stdout;
    let entry: Value =
        serde_json::from_str(log.lines().next().unwrap_or_default()).expect("a line is an event");
    assert_eq!(entry["data"]["skill"], "cold-email", "{log}");
    assert_eq!(entry["data"]["tags"], json!(["sales", "cold-email"]), "{log}");
    assert_eq!((&entry["data"]["outcome"], entry["at"].is_null()), (&json!("done"), false), "{log}");
    // What it left is in the memory under the same tags, and comes back with the skill.
    let second = seed.run(&["run", "write another cold email to Ada"]);
    assert_eq!(second.stdout.trim(), "As last time.", "{}", second.stderr);
    let log = seed.run(&["log", "--json", "--kind", "recalled"]).stdout;
    assert!(log.contains("tags=\\\"skill-run, sales, cold-email\\\""), "{log}");
    let stats = seed.run(&["stats", "--json"]).json();
    let stats = &stats["skills"][0];
    assert_eq!(
        (&stats["skill"], &stats["used"], &stats["succeeded"]),
        (&json!("cold-email"), &json!(2), &json!(2))
    );
}
