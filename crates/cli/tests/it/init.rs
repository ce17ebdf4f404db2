//! `metier init`

use crate::binary::{metier, without_bundled, workspace};
use crate::typist::Typist;
use metier_testkit::Workspace;

fn project() -> Workspace {
    without_bundled()
        .skill("home/.claude/skills/mine", "d")
        .file("project/.agents/skills/x/SKILL.md", "---\nname: x\ndescription: d\n---\nRun it.\n")
        .executable("project/.agents/skills/x/scripts/run.sh", "#!/bin/sh\n")
}

#[test]
fn a_project_gets_a_file_that_changes_nothing_and_is_told_what_is_there() {
    let workspace = project();
    let run = metier(&workspace, &["init", "--model", "ollama/qwen3"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for piece in [
        "wrote metier.toml",
        "loaded 2, failed 0",
        ".agents/skills (1 skill, not trusted)",
        "~/.claude/skills (1 skill)",
        "model  ollama/qwen3\n  `--model` names it",
        "script scripts/run.sh (executable)",
        "this project is not trusted; `metier trust` trusts it",
        "next: metier trust --preview",
    ] {
        assert!(run.stdout.contains(piece), "{piece}\n{}", run.stdout);
    }
    let written = std::fs::read_to_string(workspace.join("project/metier.toml")).unwrap();
    assert!(written.lines().all(|line| line.is_empty() || line.starts_with('#')), "{written}");
    assert!(metier(&workspace, &["doctor"]).stdout.contains("nothing is wrong"));
}

#[test]
fn other_agents_that_are_here_are_told_how_to_get_the_same_skills() {
    let workspace = project().dir("home/.config/zed").file("project/opencode.json", "{}");
    let run = metier(&workspace, &["init", "--model", "offline"]);
    let commands: Vec<&str> = run
        .stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("metier mcp --print-config "))
        .collect();
    assert_eq!(commands, ["claude-code", "opencode", "zed"], "{}", run.stdout);
    for host in commands {
        let printed = metier(&workspace, &["mcp", "--print-config", host]);
        assert_eq!(printed.code, 0, "{}", printed.stderr);
    }
    let answer = metier(&workspace, &["init", "--json", "--model", "offline"]).json();
    assert_eq!(answer["hosts"], serde_json::json!(["claude-code", "opencode", "zed"]));
    let none = metier(&without_bundled().dir("project"), &["init", "--model", "offline"]);
    assert!(none.code == 0 && !none.stdout.contains("--print-config"), "{}", none.stdout);
}

#[test]
fn a_file_that_is_there_is_never_touched() {
    let own = "[catalog]\nbudget = 77\n";
    let workspace = project().file("project/metier.toml", own);
    let run = metier(&workspace, &["init", "--model", "offline"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.starts_with("metier.toml is there already, and is left as it is\n"), "{}", run.stdout);
    assert_eq!(std::fs::read_to_string(workspace.join("project/metier.toml")).unwrap(), own);
    // Nor is what a link leads to, or would lead to.
    let linked = project().symlink("project/metier.toml", "../home/elsewhere");
    metier(&linked, &["init", "--model", "offline"]);
    assert!(!linked.join("home/elsewhere").exists());
}

#[test]
fn programs_get_the_same_facts_and_no_question() {
    let workspace = project();
    let answer = metier(&workspace, &["init", "--json", "--model", "offline"]).json();
    assert_eq!(answer["written"], true);
    assert_eq!(answer["standing"], "untrusted");
    assert_eq!(
        answer["model"],
        serde_json::json!({"name": null, "state": "offline", "why": "`--model` names it"})
    );
    let named = metier(&workspace, &["init", "--json", "--model", "openai/x"]).json();
    assert_eq!(named["model"]["state"], "unavailable");
    let roots: Vec<_> = answer["roots"].as_array().unwrap().iter().map(|root| &root["skills"]).collect();
    assert_eq!(roots, [1, 1]);
    assert_eq!(metier(&workspace, &["init", "--json", "--model", "offline"]).json()["written"], false);
}

#[test]
fn trust_is_asked_for_at_a_terminal() {
    for (typed, state, next) in [
        ("y\n", "ready", "next: metier run"),
        ("huh\nm\n", "ready", "next: metier run"),
        ("n\n", "untrusted", "next: metier trust --preview"),
    ] {
        let workspace = project();
        let mut typist = Typist::at(&workspace, &["init", "--model", "offline"]);
        typist.wait_for("[n]o > ");
        typist.types(typed);
        typist.wait_for(next);
        assert!(typist.ends().success());
        let shown = String::from_utf8_lossy(&typist.seen).into_owned();
        assert!(shown.contains("script scripts/run.sh"), "{shown}");
        let listed = metier(&workspace, &["list", "--json"]).json();
        let x = listed["skills"].as_array().unwrap().iter().find(|skill| skill["name"] == "x").unwrap();
        assert_eq!(x["state"], state, "{typed:?}");
    }
}

#[test]
fn a_folder_that_is_too_wide_is_no_project() {
    let workspace = workspace();
    let run = crate::binary::metier_with(
        &workspace,
        &["init"],
        &[("HOME", workspace.join("project").to_str().unwrap())],
    );
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("too wide to be a project"), "{}", run.stderr);
    assert!(!workspace.join("project/metier.toml").exists());
}
