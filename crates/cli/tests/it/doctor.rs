//! `metier doctor`

use crate::binary::{metier, workspace};

#[test]
fn nothing_wrong_is_said_in_one_line() {
    let workspace = workspace().file("project/metier.toml", "").skill("home/.claude/skills/x", "d");
    let run = metier(&workspace, &["doctor"]);
    assert_eq!(run.code, 0, "{}", run.stdout);
    assert!(run.stdout.ends_with("nothing is wrong\n"), "{}", run.stdout);
    assert!(run.stdout.contains("\n  memory and processes are held by "), "{}", run.stdout);
    assert!(run.stdout.contains("user.claude") && run.stdout.contains("(1 skill)"), "{}", run.stdout);
}

#[test]
fn everything_wrong_is_shown_with_its_line() {
    let workspace = workspace()
        .file("home/.config/metier/config.toml", "bundled = false\n[catalog]\nbudgte = 3\n")
        .file("home/.claude/skills/x/SKILL.md", "---\nname: x\n- broken\n---\n")
        .file("home/.claude/skills/y/SKILL.md", "---\nname: y\ndescription: a: b\n---\n");
    let run = metier(&workspace, &["doctor"]);
    assert_eq!(run.code, 1);
    for piece in [
        "config-unknown-key",
        "config.toml:3:1",
        "frontmatter-broken",
        "unquoted-colon",
        "3 | description: a: b",
    ] {
        assert!(run.stdout.contains(piece), "{piece}\n{}", run.stdout);
    }
    let answer = metier(&workspace, &["doctor", "--json"]).json();
    assert_eq!((&answer["loaded"], &answer["failed"]), (&1.into(), &1.into()));
    let containment = &answer["containment"];
    match containment["meter"].as_str() {
        Some("control group") => assert!(containment["meter_reason"].is_null(), "{containment}"),
        Some("limits and watcher") => assert!(containment["meter_reason"].is_string(), "{containment}"),
        other => panic!("{other:?}"),
    }
}
