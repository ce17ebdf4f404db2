//! Seed 002: agentmd's page on skills.

use super::{Seed, TRAILER, calls, entries, ready, says};
use crate::binary::Run;
use serde_json::{Value, json};

const REVIEW_CODE: &str = r#"---
name: review-code
description: Looks through code and says what should change. Use for reviews of files and pull requests.
argument-hint: "[file-or-pr]"
---

# Code Review

Look at $ARGUMENTS.

## Steps

1. The style guide: `skill_read_file("review-code", "references/style-guide.md")`
2. The linter: `skill_run_script("review-code", "lint.sh", "$ARGUMENTS")`
3. Correctness, style, speed, safety
4. A summary that can be acted upon
"#;

const ANALYZE_PR: &str = r#"---
name: analyze-pr
description: Analyzes a pull request on GitHub
argument-hint: "[pr-number]"
---
Analyze pull request #$ARGUMENTS
"#;

const AGENT: &str =
    "---\nname: code-assistant\nskills:\n  - review-code\n---\n\nYou have written code for long.\n";

const PLACE: &str = "project/workspace/agents/skills";

fn workspace() -> Seed {
    Seed::new()
        .file(&format!("{PLACE}/review-code/SKILL.md"), REVIEW_CODE)
        .file(&format!("{PLACE}/review-code/scripts/lint.sh"), "echo \"$1: no findings\"; pwd\n")
        .file(&format!("{PLACE}/review-code/references/style-guide.md"), "# Style\n")
        .file("project/workspace/agents/code-assistant.md", AGENT)
}

/// One skill of its place, with this body.
fn with_body(body: &str) -> Seed {
    let text =
        format!("---\nname: my-skill\ndescription: Shows it.\nargument-hint: \"[args]\"\n---\n{body}\n");
    Seed::new().file(&format!("{PLACE}/my-skill/SKILL.md"), &text)
}

fn call(seed: &Seed, tool: &str, input: &Value) -> Run {
    seed.call("agentmd", tool, input, &[])
}

/// The first line of the body as the model gets it.
fn first_line(body: &str, arguments: &[&str]) -> String {
    let content = with_body(body).trusted().content("my-skill", arguments);
    content.lines().nth(1).expect("the body follows the heading").to_owned()
}

#[test]
fn seed_002_agentmd_reviews_code() {
    let seed = workspace().trusted();
    assert_eq!(seed.listed(), ready(&["review-code"]));
    let folder = seed.path(&format!("{PLACE}/review-code"));
    let body = REVIEW_CODE.split_once("\n---\n").expect("it has a frontmatter").1;
    let body = body.trim_end().replace("$ARGUMENTS", "src/app.py");
    let files = "Available scripts: lint.sh\nAvailable references: style-guide.md";
    assert_eq!(
        seed.content("review-code", &["src/app.py"]),
        format!("# Skill: review-code\n{body}\nSkill directory: {folder}\n{files}\n{TRAILER}")
    );
    // The steps of the body, as the model takes them.
    let read = call(
        &seed,
        "skill_read_file",
        &json!({ "skill_name": "review-code", "file_path": "references/style-guide.md" }),
    );
    assert_eq!((read.stdout.as_str(), read.code), ("# Style\n\n", 0));
    let input = json!({ "skill_name": "review-code", "script_name": "lint.sh", "script_args": "src/app.py" });
    let lint = call(&seed, "skill_run_script", &input);
    assert_eq!((lint.stdout, lint.code), (format!("src/app.py: no findings\n{folder}\n"), 0));
}

#[test]
fn seed_002_agentmd_lists_names_hints_and_descriptions_first() {
    let report = "---\nname: generate-report\ndescription: Makes a report\n---\nSecret steps.\n";
    let seed = Seed::new()
        .file(&format!("{PLACE}/analyze-pr/SKILL.md"), ANALYZE_PR)
        .file(&format!("{PLACE}/generate-report/SKILL.md"), report)
        .trusted();
    let text = seed.run(&["catalog"]).stdout;
    assert!(text.starts_with("## Available Skills\n") && text.contains("`skill_use` tool"), "{text}");
    assert_eq!(
        entries(&text),
        [
            "- **analyze-pr** [pr-number]: Analyzes a pull request on GitHub",
            "- **generate-report**: Makes a report"
        ]
    );
    assert!(!text.contains("Secret steps."), "{text}");
}

#[test]
fn seed_002_agentmd_replaces_its_variables() {
    assert_eq!(first_line("Analyze pull request #$ARGUMENTS", &["123"]), "Analyze pull request #123");
    for body in ["Compare $ARGUMENTS[0] with $ARGUMENTS[1]", "Compare $0 with $1"] {
        assert_eq!(first_line(body, &["main develop"]), "Compare main with develop");
    }
    let seed = with_body("Run: python ${SKILL_DIR}/scripts/analyze.py");
    let expect = format!("\nRun: python {}/scripts/analyze.py\n", seed.path(&format!("{PLACE}/my-skill")));
    let content = seed.content("my-skill", &[]);
    assert!(content.contains(&expect), "{content}");
}

#[test]
fn seed_002_agentmd_injects_what_commands_say() {
    let body = "Branch: !`git branch --show-current`\nLast: !`git log -1 --oneline`\nIn: !`pwd`";
    let git = "#!/bin/sh\ncase \"$1\" in branch) echo main ;; log) echo '1a2b3c4 Begin' ;; esac\n";
    let seed = with_body(body).program("git", git);
    // Until the user has trusted the project, a command is text.
    let before = seed.content("my-skill", &[]);
    assert!(before.contains("Branch: !`git branch --show-current`\n"), "{before}");
    let seed = seed.trusted();
    let folder = seed.path(&format!("{PLACE}/my-skill"));
    let content = seed.content("my-skill", &[]);
    assert!(content.contains(&format!("Branch: main\nLast: 1a2b3c4 Begin\nIn: {folder}\n")), "{content}");
}

/// The skill's folder is a mount of its own inside the project, so the real git has to look above it.
#[test]
fn seed_002_agentmd_finds_the_real_repository() {
    let seed = with_body("Branch: !`git branch --show-current`\nTop: !`git rev-parse --show-toplevel`");
    let project = seed.path("project");
    for words in [&["init", "-q", "-b", "feature-x"][..], &["commit", "-q", "--allow-empty", "-m", "x"]] {
        let author = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let done = std::process::Command::new("git").args(author).args(words).current_dir(&project).status();
        assert!(done.unwrap().success());
    }
    let content = seed.trusted().content("my-skill", &[]);
    assert!(content.contains(&format!("Branch: feature-x\nTop: {project}\n")), "{content}");
}

#[test]
fn seed_002_agentmd_confirms_an_activation_and_the_instructions_follow() {
    let seed = workspace().trusted();
    let input = json!({ "skill_name": "review-code", "arguments": "src/app.py" });
    let answer = seed.call("agentmd", "skill_use", &input, &["--json"]).json();
    assert_eq!(answer["text"], "Skill 'review-code' activated successfully. Instructions will follow.");
    let message = answer["message"].as_str().expect("there is a message");
    assert!(message.starts_with("<skill-context name=\"review-code\""), "{message}");
    assert!(message.ends_with("</skill-context>"), "{message}");
}

#[test]
fn seed_002_agentmd_offers_its_three_tools() {
    let tools = workspace().trusted().run(&["tools", "--surface", "agentmd"]).stdout;
    let signatures: Vec<&str> = tools.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(
        signatures,
        [
            "skill_use(skill_name, arguments?)",
            "skill_read_file(skill_name, file_path, offset?)",
            "skill_run_script(skill_name, script_name, script_args?)"
        ]
    );
}

#[test]
fn seed_002_agentmd_reads_and_runs_nothing_outside() {
    let seed = workspace().file("project/workspace/agents/skills/other/SKILL.md", ANALYZE_PR).trusted();
    let read = json!({ "skill_name": "review-code", "file_path": "../other/SKILL.md" });
    let read = call(&seed, "skill_read_file", &read);
    assert_eq!(
        (read.stdout.as_str(), read.code),
        ("Access denied: '../other/SKILL.md' is outside skill directory\n", 1)
    );
    let run = json!({ "skill_name": "review-code", "script_name": "../references/style-guide.md" });
    let run = call(&seed, "skill_run_script", &run);
    let text = "Access denied: '../references/style-guide.md' is outside scripts/ directory\n";
    assert_eq!((run.stdout.as_str(), run.code), (text, 1));
}

#[test]
fn seed_002_agentmd_runs_scripts_of_four_kinds() {
    let folder = format!("{PLACE}/my-skill/scripts");
    let seed = with_body("Run them.")
        .file(&format!("{folder}/helper.py"), "import sys; print('py', sys.argv[1:])")
        .file(&format!("{folder}/a.sh"), "echo sh \"$@\"")
        .file(&format!("{folder}/b.bash"), "words=(bash \"$@\"); echo \"${words[@]}\"")
        .file(&format!("{folder}/c.js"), "js\n")
        .program("node", "#!/bin/sh\ncat \"$1\"; shift; echo \"$@\"\n")
        .trusted();
    for (script, output) in [
        ("helper.py", "py ['one two', 'x']\n"),
        ("a.sh", "sh one two x\n"),
        ("b.bash", "bash one two x\n"),
        ("c.js", "js\none two x\n"),
    ] {
        let input = json!({ "skill_name": "my-skill", "script_name": script, "script_args": "'one two' x" });
        let run = call(&seed, "skill_run_script", &input);
        assert_eq!((run.stdout.as_str(), run.code), (output, 0), "{script}: {}", run.stderr);
    }
}

#[test]
fn seed_002_agentmd_takes_a_skill_of_claude_code_as_it_is() {
    // The same bytes in either place are one skill with one text.
    let text = |place: &str| {
        let seed = Seed::new()
            .file(&format!("project/{place}/review-code/SKILL.md"), REVIEW_CODE)
            .file(&format!("project/{place}/review-code/scripts/lint.sh"), "true\n")
            .trusted();
        let folder = seed.path(&format!("project/{place}/review-code"));
        seed.content("review-code", &["128"]).replace(&folder, "FOLDER")
    };
    let copied = text("workspace/agents/skills");
    assert!(copied.contains("Look at 128.\n") && copied.contains("FOLDER"), "{copied}");
    assert_eq!(text(".claude/skills"), copied);
}

#[test]
fn seed_002_agentmd_gives_an_agent_the_skills_of_its_list_and_no_others() {
    let own = json!({ "skill_name": "review-code", "arguments": "src/app.py" });
    let other = json!({ "skill_name": "analyze-pr", "arguments": "1" });
    let refused = "Skill 'analyze-pr' is not enabled for this agent. Available: review-code";
    let message = "\"role\":\"user\",\"content\":\"<skill-context name=\\\"review-code\\\"";
    let seed = workspace()
        .file(&format!("{PLACE}/analyze-pr/SKILL.md"), ANALYZE_PR)
        .model(vec![
            says(&[refused, "activated successfully", message, "Look at src/app.py."], &[], "Reviewed."),
            says(&["\"role\":\"tool\""], &[], "otherwise"),
            calls(
                &["You have written code for long.", "- **review-code** [file-or-pr]: Looks through code"],
                &["- **analyze-pr**"],
                &[("skill_use", &other), ("skill_use", &own)],
            ),
        ])
        .trusted();
    let run = seed.run(&["run", "--agent", "code-assistant", "review src/app.py"]);
    assert_eq!((run.stdout.as_str(), run.code), ("Reviewed.\n", 0), "{}", run.stderr);
}
