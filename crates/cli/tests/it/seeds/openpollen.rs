//! Seed 003: the page on SKILL.md of `OpenPollen`.

use super::{Seed, TRAILER, entries, ready};
use serde_json::{Value, json};

const CODE_REVIEW: &str = r"---
name: code-review
description: Reviews code and says what to improve. Used when the user asks for a review.
allowed-tools: Read, Grep, Glob
---

# Code Review

1. **Security**: injection, scripts from outside, secrets that leak
2. **Performance**: queries in loops, memory that grows

## Output Format

- What must change is marked **[Critical]**
- What could change is marked **[Suggestion]**

## Review Steps

1. Read all of it once
2. Go through it piece by piece
";

const PLACE: &str = "home/.openpollen/skills";

fn pollen() -> Seed {
    Seed::new()
        .file(&format!("{PLACE}/code-review/SKILL.md"), CODE_REVIEW)
        .file(&format!("{PLACE}/code-review/examples/finding.md"), "**[Critical]** x\n")
        .file(&format!("{PLACE}/code-review/.source.json"), "{\"type\":\"local\"}")
        .file(&format!("{PLACE}/README.md"), "# Not a skill\n")
}

fn body() -> &'static str {
    CODE_REVIEW.split_once("\n---\n").expect("it has a frontmatter").1.trim()
}

#[test]
fn seed_003_openpollen_merges_the_whole_skill_into_the_prompt() {
    let seed = pollen();
    assert_eq!(seed.listed(), ready(&["code-review"]));
    let text = seed.run(&["catalog", "--format", "eager"]).stdout;
    assert!(text.starts_with("## Available Skills\n"), "{text}");
    let section = format!(
        "### Skill: code-review\n**Description:** Reviews code and says what to improve. Used when the user asks for a \
         review.\n**Allowed tools:** Read, Grep, Glob\n\n{}\n",
        body()
    );
    assert!(text.contains(&section), "{text}");
}

#[test]
fn seed_003_openpollen_activates_a_review() {
    let seed = pollen();
    let folder = seed.path(&format!("{PLACE}/code-review"));
    let files = "Other files: examples/finding.md";
    assert_eq!(
        seed.content("code-review", &[]),
        format!("# Skill: code-review\n\n{}\nSkill directory: {folder}\n{files}\n{TRAILER}", body())
    );
    let route = seed.run(&["route", "please review this code", "--json"]).json();
    assert_eq!(route["results"][0]["name"], "code-review", "{route}");
}

#[test]
fn seed_003_openpollen_knows_where_a_skill_was_installed_from() {
    let listed = pollen().run(&["list", "--all", "--json"]).json();
    assert_eq!(listed["skills"][0]["source"], json!({ "type": "local" }), "{listed}");
}

#[test]
fn seed_003_openpollen_allows_the_listed_tools_and_no_others() {
    let seed = pollen();
    let active = ["--skill", "code-review"];
    let line = json!({ "reason": "look", "commandLine": "echo hi" });
    let refused = seed.call("canonical", "run_command_line", &line, &active);
    assert!(refused.stdout.contains("lets only `Read`, `Grep`, `Glob` be called"), "{}", refused.stdout);
    assert_eq!(refused.code, 1);
    // Its own files are its own.
    let read = json!({ "skill_name": "code-review", "file_path": "examples/finding.md" });
    let read = seed.call("canonical", "skill_read_file", &read, &active);
    assert!(read.stdout.starts_with("**[Critical]** x\n"), "{}", read.stdout);
    let show = seed.run(&["explain", "code-review"]).stdout;
    assert!(show.contains("Read, Grep, Glob (both)"), "{show}");
}

#[test]
fn seed_003_openpollen_reads_every_field_of_its_table() {
    let text = "---\nname: release\ndescription: Makes a release. Used when the user says so.\nallowed-tools: Read\n\
                context: The main branch is called trunk.\ndisable-model-invocation: true\n---\nTag it.\n";
    let seed = pollen().file(&format!("{PLACE}/release/SKILL.md"), text);
    let lines = seed.run(&["catalog"]).stdout;
    assert_eq!(entries(&lines).len(), 1, "{lines}");
    let content = seed.content("release", &[]);
    assert!(content.contains("Tag it.\nAdditional context: The main branch is called trunk.\n"), "{content}");
    let called = seed.call("canonical", "skill_use", &json!({ "skill_name": "release" }), &[]);
    assert!(called.stdout.contains("is started by the user alone"), "{}", called.stdout);
    assert_eq!(called.code, 1);
}

#[test]
fn seed_003_openpollen_wants_a_name_and_a_description_and_check_says_so() {
    for (frontmatter, key) in [("description: Does it. Used when asked.", "name"), ("name: x", "description")]
    {
        let seed = pollen().file(&format!("{PLACE}/x/SKILL.md"), &format!("---\n{frontmatter}\n---\nDo.\n"));
        let folder = seed.path(&format!("{PLACE}/x"));
        let run = seed.run(&["check", &folder, "--for", "openpollen", "--json"]);
        assert_eq!(run.code, 1, "{}", run.stdout);
        assert!(run.stdout.contains("not-loaded-there") && run.stdout.contains(key), "{}", run.stdout);
        // metier loads it, and the one beside it.
        let listed = seed.run(&["list", "--json"]).json();
        assert_eq!((&listed["loaded"], &listed["failed"]), (&json!(2), &json!(0)), "{listed}");
        let names: Vec<&Value> =
            listed["skills"].as_array().unwrap().iter().map(|skill| &skill["name"]).collect();
        assert_eq!(names, ["code-review", "x"]);
    }
}
