//! `metier new`

use crate::binary::{metier, workspace};

#[test]
fn a_new_skill_loads_without_a_warning() {
    let workspace = workspace();
    let run = metier(
        &workspace,
        &["new", "read-pdf", "--description", "Reads: PDFs. Use when asked.", "--script", "--in", "skills"],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout.lines().filter(|line| line.starts_with("wrote ")).count(), 2, "{}", run.stdout);
    let answer = metier(&workspace, &["list", "--json", "--root", "skills"]).json();
    assert_eq!(answer["skills"][0]["description"], "Reads: PDFs. Use when asked.");
    assert_eq!(answer["skills"][0]["diagnostics"], serde_json::json!([]));
}

#[test]
fn it_goes_where_most_clients_look() {
    let workspace = workspace().file("project/metier.toml", "");
    metier(&workspace, &["new", "x", "--description", "d"]);
    assert!(workspace.join("project/.agents/skills/x/SKILL.md").is_file());
}

#[test]
fn nothing_is_overwritten_and_no_odd_name_is_made() {
    let workspace = workspace().file("project/skills/x/SKILL.md", "mine");
    let run = metier(&workspace, &["new", "x", "--description", "d", "--in", "skills"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("skills/x"), "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(workspace.join("project/skills/x/SKILL.md")).unwrap(), "mine");
    let run = metier(&workspace, &["new", "../My Skill", "--description", "d"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("try `my-skill`"), "{}", run.stderr);
    let run = metier(&workspace, &["new", "y"]);
    assert!(run.code == 1 && run.stderr.contains("--description"), "{}", run.stderr);
}
