//! `metier trust`

use crate::binary::{metier, workspace};
use metier_testkit::Workspace;

const TEXT: &str = "---\nname: x\ndescription: d\n---\nRun scripts/run.sh.\n";

fn project() -> Workspace {
    workspace()
        .file("project/metier.toml", "")
        .file("project/.agents/skills/x/SKILL.md", TEXT)
        .executable("project/.agents/skills/x/scripts/run.sh", "#!/bin/sh\necho one\n")
        .file(
            "project/.mcp.json",
            "{\"mcpServers\": {\"db\": {\"command\": \"db-server\", \"args\": [\"--quick\"]}}}",
        )
}

fn state(workspace: &Workspace) -> String {
    metier(workspace, &["list", "--json"]).json()["skills"][0]["state"].as_str().unwrap().to_owned()
}

#[test]
fn a_preview_lists_what_trust_would_switch_on_and_changes_nothing() {
    let workspace = project();
    let run = metier(&workspace, &["trust", "--preview"]);
    for piece in ["script scripts/run.sh (executable)", ".mcp.json", "db", "db-server", "is not trusted"] {
        assert!(run.stdout.contains(piece), "{piece}\n{}", run.stdout);
    }
    assert_eq!(state(&workspace), "untrusted");
    assert!(!workspace.join("home/.local/share/metier/trust.json").exists());
}

#[test]
fn a_preview_says_for_each_skill_what_it_asks_for() {
    let needs = "metadata:\n  metier:\n    needs:\n      hosts: [a.org]\n      env: [TOKEN]\n---";
    let workspace = project()
        .file("project/.agents/skills/x/SKILL.md", TEXT.replacen("\n---", &format!("\n{needs}"), 1))
        .file("project/.agents/skills/y/SKILL.md", TEXT.replace("name: x", "name: y"));
    let run = metier(&workspace, &["trust", "--preview"]);
    let expect = "  script scripts/run.sh (executable)\n  asks to reach a.org\n  asks to read TOKEN of your environment\n";
    assert!(run.stdout.contains(expect), "{}", run.stdout);
    assert_eq!(run.stdout.matches("asks to").count(), 2, "{}", run.stdout);
    let answer = metier(&workspace, &["trust", "--preview", "--json"]).json();
    assert_eq!(answer["skills"][0]["capabilities"]["needs"], serde_json::json!(["host a.org", "env TOKEN"]));
}

#[test]
fn trust_is_given_listed_and_taken_back() {
    let workspace = project();
    assert_eq!(metier(&workspace, &["trust"]).code, 0);
    assert_eq!(state(&workspace), "ready");
    let listed = metier(&workspace, &["trust", "--list", "--json"]).json();
    assert_eq!(listed[0]["path"], workspace.join("project").to_str().unwrap());
    assert_eq!(metier(&workspace, &["trust", "--revoke"]).code, 0);
    assert_eq!(state(&workspace), "untrusted");
    assert!(metier(&workspace, &["trust", "--revoke"]).stdout.contains("was not trusted"));
}

#[test]
fn a_text_edit_keeps_trust_and_a_changed_script_is_reported() {
    let workspace = project();
    metier(&workspace, &["trust"]);
    let workspace = workspace.file("project/.agents/skills/x/SKILL.md", TEXT.replace("Run", "Please run"));
    assert!(!metier(&workspace, &["doctor"]).stdout.contains("trust-changed"));
    let workspace = workspace.executable("project/.agents/skills/x/scripts/run.sh", "#!/bin/sh\necho two\n");
    let doctor = metier(&workspace, &["doctor"]).stdout;
    assert!(doctor.contains("trust-changed") && doctor.contains("scripts/run.sh"), "{doctor}");
    assert!(metier(&workspace, &["explain", "x"]).stdout.contains("scripts/run.sh"));
    metier(&workspace, &["trust", "--mine"]);
    let workspace =
        workspace.executable("project/.agents/skills/x/scripts/run.sh", "#!/bin/sh\necho three\n");
    assert!(!metier(&workspace, &["doctor"]).stdout.contains("trust-changed"));
}

#[test]
fn a_damaged_store_is_said_and_never_overwritten() {
    let workspace = project().file("home/.local/share/metier/trust.json", "{\"version\": 1, \"projects\": [");
    let run = metier(&workspace, &["trust"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("trust.json"), "{}", run.stderr);
    assert_eq!(state(&workspace), "untrusted");
    let kept = std::fs::read_to_string(workspace.join("home/.local/share/metier/trust.json")).unwrap();
    assert_eq!(kept, "{\"version\": 1, \"projects\": [");
}

#[test]
fn an_untrusted_project_adds_no_roots_and_shows_nothing_more() {
    let workspace = project()
        .file("project/metier.toml", "[[roots]]\npath = \"more\"\n[skills.mine]\nvisibility = \"on\"\n")
        .skill("project/more/y", "d")
        .skill("home/.claude/skills/mine", "d")
        .file("home/.config/metier/config.toml", "bundled = false\n[skills.mine]\nvisibility = \"off\"\n");
    let answer = metier(&workspace, &["list", "--json", "--all"]).json();
    let seen: Vec<_> =
        answer["skills"].as_array().unwrap().iter().map(|skill| skill["name"].as_str().unwrap()).collect();
    assert_eq!(seen, ["x", "mine"]);
    assert_eq!(answer["skills"][1]["state"], "off");
    metier(&workspace, &["trust"]);
    assert_eq!(metier(&workspace, &["list", "--json"]).json()["loaded"], 3);
}
