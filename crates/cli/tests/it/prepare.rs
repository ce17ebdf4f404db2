//! `metier prepare`, as far as it needs no registry.

use crate::binary::{metier, workspace};
use metier_testkit::Workspace;

const DOCUMENT: &str = "---\nname: tool\ndescription: Does things.\n---\nDo.\n";

/// A user's skill, which is trusted, with one more file.
fn with_file(name: &str, text: &str) -> Workspace {
    workspace()
        .file("home/.agents/skills/tool/SKILL.md", DOCUMENT)
        .file(format!("home/.agents/skills/tool/{name}"), text)
}

#[test]
fn a_skill_that_wants_nothing_is_ready() {
    let workspace = with_file("scripts/a.py", "print(1)\n");
    let run = metier(&workspace, &["prepare", "tool"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.starts_with("tool: nothing to prepare\n"), "{}", run.stdout);
    let json = metier(&workspace, &["prepare", "tool", "--json"]).json();
    assert_eq!(json, serde_json::json!({ "skill": "tool", "environments": [] }));
}

#[test]
fn without_a_yes_it_says_which_rules_would_allow_it() {
    let workspace = with_file("requirements.txt", "six==1.17.0\n");
    let run = metier(&workspace, &["prepare", "tool"]);
    assert_eq!((run.code, run.stdout.as_str()), (4, ""));
    for expect in [
        "(and wants to reach `pypi.org:443`, reach `files.pythonhosted.org:443`): `prepare 'six==1.17.0'`",
        "`skill:user.agents:tool/host:pypi.org:443` and `skill:user.agents:tool/host:files.pythonhosted.org:443`",
    ] {
        assert!(run.stderr.contains(expect), "{}", run.stderr);
    }
    let run = metier(&workspace, &["prepare", "tool", "--deny", "host:pypi.org", "--mode", "yolo"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("the deny rule `host:pypi.org`"), "{}", run.stderr);
    let run = metier(&workspace, &["prepare", "tool", "--offline"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("Python packages are not at hand"), "{}", run.stderr);
}

#[test]
fn what_leads_elsewhere_is_refused_with_its_place() {
    let workspace = with_file("requirements.txt", "six\n--index-url https://e.example/simple\n");
    let run = metier(&workspace, &["prepare", "tool", "--mode", "yolo"]);
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.starts_with("error: requirements.txt:2: `--index-url https://e.example/simple`"),
        "{}",
        run.stderr
    );
    let workspace = with_file("requirements.txt", "--\u{1b}]52;c;x\u{7}\n");
    let run = metier(&workspace, &["prepare", "tool"]);
    assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);
    let workspace = with_file("package.json", "{\"dependencies\": {\"x\": \"git+https://e.example/x.git\"}}");
    let run = metier(&workspace, &["prepare", "tool", "--mode", "yolo"]);
    assert!(run.stderr.starts_with("error: package.json: `x` comes from `git+"), "{}", run.stderr);
}

#[test]
fn show_says_what_is_missing_and_that_prepare_would_help() {
    let workspace = with_file("package.json", "{\"dependencies\": {\"x\": \"1\"}}");
    let run = metier(&workspace, &["show", "tool"]);
    assert!(
        run.stdout.contains("its packages for Node are not installed; run `metier prepare tool`"),
        "{}",
        run.stdout
    );
    let json = metier(&workspace, &["show", "tool", "--json"]).json();
    assert_eq!(json["unmet"][0]["help"], "run `metier prepare tool`");
}

#[test]
fn an_unknown_skill_is_said() {
    let run = metier(&workspace(), &["prepare", "nobody"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("`nobody`"), "{}", run.stderr);
}
