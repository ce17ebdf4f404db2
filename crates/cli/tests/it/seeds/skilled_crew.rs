//! Seed 000: skilled-crew's page on SKILL.md.

use super::{Seed, TRAILER, entries, ran, ready};
use serde_json::{Value, json};

const CREATE_TASK: &str = r"---
name: create-task
description: Puts one new task on the todo list of the user.
license: MIT
compatibility: [openai, anthropic]
allowed-tools: Bash(node:*) Bash(npx:*)
metadata:
  team: platform
  version: 2
---

# Create Task Skill

One new task is added; it gets the next free number and is open.

## When to Use

- The user wants something put on the list

Leave viewing, completing and removing to `list-tasks`, `complete-task` and `delete-task`.

## Operation

```
npx tsx ../../_src/todo_script.ts create <description>
```

**Arguments:**

- `<description>`: required, in quotes if it has blanks

**Output:**

```
Task created: Buy milk
```
";

const CREW: &str = r#"version: "1.0"
id: todo_list
entryPointAgent: todo
agents:
  todo:
    instructionsPath: ./AGENTS.md
    skills:
      - name: create-task
        folderPath: ./skills/create-task
      - name: my-skill
        folderPath: ./skills/my-skill
"#;

/// A skill as the page lays one out: a script to call, a reference to load, no list of tools.
const MY_SKILL: &str =
    "---\nname: my-skill\ndescription: Does the thing.\n---\nRun `bash scripts/do_thing.sh`.\n";

/// The page's crew. `npx` starts the program that its first word names, and `tsx` what the script would do.
fn crew() -> Seed {
    Seed::new()
        .file("project/todo_list.skilled_crew.yaml", CREW)
        .file("project/AGENTS.md", "Keep the todo list.\n")
        .file("project/skills/create-task/SKILL.md", CREATE_TASK)
        .file("project/skills/my-skill/SKILL.md", MY_SKILL)
        .file("project/skills/my-skill/scripts/do_thing.sh", "echo \"did $1 in $(pwd)\"\n")
        .file("project/skills/my-skill/references/api_reference.md", "# The API\n")
        .file("project/_src/todo_script.ts", "[ \"$1\" = create ] && echo \"Task created: $2\"\n")
        .program("npx", "#!/bin/sh\nprogram=$1\nshift\nexec \"${0%/*}/$program\" \"$@\"\n")
        .program("tsx", "#!/bin/sh\nexec sh \"$@\"\n")
        .program("node", "#!/bin/sh\necho \"node $*\"\n")
        .trusted()
}

fn line(seed: &Seed, skill: &str, line: &str) -> Value {
    let input = json!({ "reason": "the user asked for it", "commandLine": line });
    seed.call("skilled-crew", "run_command_line", &input, &["--skill", skill]).json()
}

fn refused(answer: &Value, piece: &str) {
    assert_eq!(
        (&answer["exitCode"], &answer["stdout"], &answer["timedOut"]),
        (&Value::Null, &json!(""), &json!(false))
    );
    let error = answer["stderr"].as_str().expect("it is a text");
    assert!(error.starts_with("ERROR: ") && error.contains(piece), "{error}");
}

#[test]
fn seed_000_skilled_crew_creates_a_task() {
    let seed = crew();
    assert_eq!(seed.listed(), ready(&["create-task", "my-skill"]));
    assert_eq!(
        entries(&seed.run(&["catalog"]).stdout),
        [
            "- **create-task**: Puts one new task on the todo list of the user.",
            "- **my-skill**: Does the thing."
        ]
    );
    // The body is what the skill's agent reads, to the byte: placeholders in angle brackets are the model's to fill.
    let body = CREATE_TASK.split_once("\n---\n").expect("it has a frontmatter").1;
    let folder = seed.path("project/skills/create-task");
    let content = seed.content("create-task", &[]);
    let body = body.trim_end();
    assert_eq!(content, format!("# Skill: create-task\n{body}\nSkill directory: {folder}\n{TRAILER}"));
    let operation = "npx tsx ../../_src/todo_script.ts create 'Buy milk'";
    assert_eq!(line(&seed, "create-task", operation), ran("Task created: Buy milk"));
}

#[test]
fn seed_000_skilled_crew_keeps_what_the_frontmatter_says() {
    let seed = crew();
    let manifest = seed.run(&["show", "create-task", "--json"]).json()["manifest"].clone();
    assert_eq!(manifest["license"], "MIT");
    assert_eq!(manifest["compatibility"], "openai, anthropic");
    assert_eq!(manifest["allowed_tools"], json!(["Bash(node:*)", "Bash(npx:*)"]));
    assert_eq!(manifest["metadata"], json!({ "team": "platform", "version": 2 }));
    let route = seed.run(&["route", "add buy milk to my todo list", "--json"]).json();
    assert_eq!(route["results"][0]["name"], "create-task", "{route}");
}

#[test]
fn seed_000_skilled_crew_offers_its_two_tools() {
    let seed = crew();
    let tools = seed.run(&["tools", "--surface", "skilled-crew"]).stdout;
    for tool in ["run_command_line(reason, commandLine)\n", "load_skill_resources(resources)\n"] {
        assert!(tools.contains(tool), "{tools}");
    }
}

#[test]
fn seed_000_skilled_crew_holds_a_line_to_its_patterns() {
    let seed = crew();
    assert_eq!(line(&seed, "create-task", "node todo.js"), ran("node todo.js"));
    for other in ["git status", "nodejs x", "bash -c id"] {
        refused(&line(&seed, "create-task", other), "lets only `Bash(node:*)`, `Bash(npx:*)` be called");
    }
    refused(&line(&seed, "create-task", "node a && node b"), "Command chaining is not allowed (found &&)");
    // Without a list there is no fence, and a line runs in the skill's folder.
    let folder = seed.path("project/skills/my-skill");
    let done = ran(&format!("did it in {folder}"));
    assert_eq!(line(&seed, "my-skill", "bash scripts/do_thing.sh it"), done);
}

#[test]
fn seed_000_skilled_crew_ends_a_line_that_takes_too_long() {
    let needs = "metadata:\n  metier:\n    needs:\n      seconds: 1\n---";
    let text = MY_SKILL.replacen("\n---", &format!("\n{needs}"), 1);
    let seed = crew().file("project/skills/my-skill/SKILL.md", &text).trusted();
    let answer = line(&seed, "my-skill", "sleep 60");
    assert_eq!((&answer["exitCode"], &answer["timedOut"]), (&Value::Null, &json!(true)), "{answer}");
}

#[test]
fn seed_000_skilled_crew_lets_a_line_reach_the_crew_and_nothing_beside_it() {
    let seed = crew().file("projectX/todo_script.ts", "echo outside\n");
    let script = seed.path("project/_src/todo_script.ts");
    let inside = line(&seed, "create-task", &format!("npx tsx {script} create 1..10"));
    assert_eq!(inside, ran("Task created: 1..10"));
    let script = seed.path("projectX/todo_script.ts");
    for outside in [script.as_str(), "../../../projectX/todo_script.ts"] {
        let answer = line(&seed, "create-task", &format!("npx tsx {outside}"));
        assert_eq!(answer["stdout"], "", "{answer}");
        assert_ne!(answer["exitCode"], 0, "{answer}");
    }
}

#[test]
fn seed_000_skilled_crew_loads_references_and_no_other_path() {
    let seed = crew();
    let load = |paths: &[&str]| {
        let resources: Vec<Value> =
            paths.iter().map(|path| json!({ "path": path, "reason": "to know" })).collect();
        seed.call(
            "skilled-crew",
            "load_skill_resources",
            &json!({ "resources": resources }),
            &["--skill", "my-skill"],
        )
    };
    assert_eq!(
        load(&["references/api_reference.md"]).json(),
        json!({ "references/api_reference.md": "# The API\n" })
    );
    assert_eq!(
        load(&["references/../../create-task/SKILL.md", "SKILL.md", "references/none.md"]).json(),
        json!({
            "references/../../create-task/SKILL.md": "ERROR: path traversal not allowed",
            "SKILL.md": "ERROR: only files inside references/ can be loaded",
            "references/none.md": "ERROR: file not found",
        })
    );
}

#[test]
fn seed_000_skilled_crew_takes_no_tool_but_bash_and_check_says_so() {
    for (tools, message, row) in [
        ("Read", "skilled-crew: Unsupported tool: Read", "skilled-crew  yes                no "),
        (
            "Write Bash(git:*)",
            "skilled-crew: Unsupported tool: Write",
            "skilled-crew  yes                no ",
        ),
        ("Bash", "skilled-crew: `Bash` names no command and pattern", "skilled-crew  no, nor the others no "),
        ("Bash(git:*)", "0 errors, 0 warnings, 0 notes", "skilled-crew  yes                yes "),
    ] {
        let text = format!(
            "---\nname: x\ndescription: Does what is asked. Use when asked for it.\nallowed-tools: {tools}\n---\nDo.\n"
        );
        let seed = Seed::new().file("project/x/SKILL.md", &text);
        let found = seed.run(&["check", "x", "--for", "skilled-crew"]).stdout;
        assert!(found.contains(message) && found.contains(row), "{tools}: {found}");
    }
}
