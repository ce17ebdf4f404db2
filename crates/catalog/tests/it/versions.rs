//! `name@requirement`: section 9.

use crate::machine::{Machine, found, listed, offered, skill};
use metier_catalog::Lookup;

fn versioned(version: &str, text: &str) -> String {
    skill(&format!("name: analyze-pr\ndescription: {text}\nversion: {version}"), "x")
}

fn machine() -> Machine {
    Machine::new(|files| {
        files
            .file("home/.agents/skills/analyze-pr@1/SKILL.md", versioned("1.2", "agents 1.2"))
            .file("home/.agents/skills/analyze-pr@2/SKILL.md", versioned("2.0.0", "agents 2.0.0"))
            .file("home/.claude/skills/analyze-pr/SKILL.md", versioned("v1.10", "claude 1.10"))
            .file("etc/skills/analyze-pr/SKILL.md", versioned("2.0", "system 2.0"))
            .file("etc/skills/analyze-pr-odd/SKILL.md", versioned("latest", "system latest"))
    })
}

#[test]
fn without_a_requirement_the_root_goes_first_and_then_the_version() {
    let snapshot = machine().load();
    assert_eq!(found(&snapshot, "analyze-pr").description(), "agents 2.0.0");
    assert_eq!(found(&snapshot, "user.agents:analyze-pr").description(), "agents 2.0.0");
    assert_eq!(found(&snapshot, "user.claude:analyze-pr").description(), "claude 1.10");
    // What is not a version sorts below what is.
    assert_eq!(found(&snapshot, "system:analyze-pr").description(), "system 2.0");
    assert_eq!(offered(&snapshot), ["analyze-pr"]);
}

#[test]
fn versions_side_by_side_are_not_shadowed() {
    let snapshot = machine().load();
    let expected = [
        "user.agents:analyze-pr ready",
        "user.agents:analyze-pr ready",
        "user.claude:analyze-pr shadowed",
        "system:analyze-pr shadowed",
        "system:analyze-pr shadowed",
    ];
    assert_eq!(listed(&snapshot), expected);
}

#[test]
fn with_a_requirement_the_highest_match_of_all_roots_wins() {
    let snapshot = machine().load();
    let table = [
        ("analyze-pr@^1.2", "claude 1.10"),
        ("analyze-pr@1", "claude 1.10"),
        ("analyze-pr@=1.2", "agents 1.2"),
        ("analyze-pr@2", "agents 2.0.0"),
        ("analyze-pr@*", "agents 2.0.0"),
        ("analyze-pr@latest", "system latest"),
        ("system:analyze-pr@2", "system 2.0"),
        ("user.agents:analyze-pr@^1", "agents 1.2"),
    ];
    for (reference, expected) in table {
        assert_eq!(found(&snapshot, reference).description(), expected, "{reference}");
    }
    match snapshot.find(&"analyze-pr@^3".parse().unwrap()) {
        Lookup::NoVersion(versions) => assert_eq!(versions, ["1.2", "2.0.0", "v1.10", "2.0", "latest"]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_requirement_never_reaches_what_is_not_trusted_or_off() {
    let machine = machine().with(|files| {
        files
            .file("home/project/.claude/skills/analyze-pr/SKILL.md", versioned("1.99", "untrusted"))
            .file("home/.claude/skills/.disabled.json", "[\"analyze-pr\"]")
    });
    let snapshot = machine.load();
    assert_eq!(found(&snapshot, "analyze-pr@^1").description(), "agents 1.2");
    assert!(matches!(snapshot.find(&"project:analyze-pr@^1".parse().unwrap()), Lookup::Unusable(..)));
}

#[test]
fn a_folder_may_say_the_version() {
    let machine = Machine::new(|files| {
        files
            .file("root/tool@1.5/SKILL.md", skill("description: Old.", "x"))
            .file("root/tool@2.5/SKILL.md", skill("description: New.", "x"))
    });
    let snapshot = machine.load_roots(&["root"]);
    assert_eq!(found(&snapshot, "tool").description(), "New.");
    assert_eq!(found(&snapshot, "tool@1").description(), "Old.");
    assert_eq!(found(&snapshot, "tool@1").version_text().unwrap(), "1.5");
}

#[test]
fn the_same_version_twice_in_one_root_is_shadowed() {
    let machine = Machine::new(|files| {
        files
            .file("root/a/SKILL.md", versioned("1.0", "first"))
            .file("root/b/SKILL.md", versioned("1.0", "second"))
    });
    let snapshot = machine.load_roots(&["root"]);
    assert_eq!(found(&snapshot, "analyze-pr").description(), "first");
    assert_eq!(listed(&snapshot), ["cli:analyze-pr ready", "cli:analyze-pr shadowed"]);
}
