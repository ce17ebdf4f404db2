//! `Write` and `Edit`.

use std::os::unix::fs::PermissionsExt;

use metier_policy::Answer;
use metier_runtime::Outcome;
use metier_testkit::Workspace;
use serde_json::json;

use crate::room::Room;

#[test]
fn a_write_is_asked_about_with_its_change_and_refused_with_its_rule() {
    let workspace = || Workspace::new().file("project/a.md", "one\ntwo\n");
    let room = Room::new(workspace());
    room.call("Read", &json!({ "file_path": "a.md" }));
    let refused = room.call("Write", &json!({ "file_path": "a.md", "content": "one\n2\n" }));
    assert_eq!(refused.outcome, Outcome::Refused);
    assert!(refused.text.contains("`Write(a.md)`"), "{}", refused.text);
    assert!(refused.change.unwrap().diff.contains("-two\n+2\n"));
    assert_eq!(room.holds("project/a.md"), "one\ntwo\n");

    let room = Room::new(workspace()).saying(Answer::Once);
    room.call("Read", &json!({ "file_path": "a.md" }));
    let done = room.call("Write", &json!({ "file_path": "a.md", "content": "one\n2\n" }));
    assert_eq!(done.text, "Wrote `a.md`: 1 line added, 1 taken away.");
    assert_eq!(room.holds("project/a.md"), "one\n2\n");
    let asked = room.executor.asked.lock().unwrap();
    let (sentence, change) = asked.first().unwrap();
    assert!(sentence.contains("the agent calls `Write` (and wants to write `a.md`)"), "{sentence}");
    assert_eq!(change.as_ref(), done.change.as_deref());
    assert!(!change.as_ref().unwrap().created);
}

#[test]
fn a_new_file_is_made_with_its_folders_and_an_old_one_keeps_its_mode() {
    let workspace = Workspace::new().executable("project/run.sh", "old\r\nlines\r\n");
    let room = Room::new(workspace).rules(&["Write", "Edit"], &[]);
    let new = room.call("file_write", &json!({ "path": "docs/new/a.md", "content": "a\n" }));
    assert_eq!((new.text.as_str(), new.change.unwrap().created), ("Made `docs/new/a.md`: 1 line.", true));
    assert_eq!(room.holds("project/docs/new/a.md"), "a\n");
    // What the model itself wrote it knows.
    let again = room.text("Write", &json!({ "file_path": "docs/new/a.md", "content": "b\n" }));
    assert!(again.starts_with("Wrote"), "{again}");
    let same = room.text("Write", &json!({ "file_path": "docs/new/a.md", "content": "b\n" }));
    assert!(same.contains("nothing was written"), "{same}");
    let edited = room
        .text("Edit", &json!({ "file_path": "run.sh", "old_string": "old\nlines", "new_string": "x\ny" }));
    assert_eq!(edited, "Edited `run.sh` in 1 place.");
    assert_eq!(room.holds("project/run.sh"), "x\r\ny\r\n");
    let mode = std::fs::metadata(room.workspace.join("project/run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn what_changed_since_it_was_read_has_to_be_read_again() {
    let workspace = Workspace::new().file("project/a.md", "one\n").file("project/b.bin", b"\0\x01");
    let room = Room::new(workspace).rules(&["Write", "Edit"], &[]);
    let write = || room.text("Write", &json!({ "file_path": "a.md", "content": "mine\n" }));
    let edit =
        || room.text("Edit", &json!({ "file_path": "a.md", "old_string": "one", "new_string": "two" }));
    assert!(write().contains("you have not read it; read it first"));
    room.call("Read", &json!({ "file_path": "a.md" }));
    std::fs::write(room.workspace.join("project/a.md"), "one, by somebody else\n").unwrap();
    for text in [write(), edit()] {
        assert!(text.contains("has changed since you read it; read it again"), "{text}");
    }
    room.call("Read", &json!({ "file_path": "a.md" }));
    assert_eq!(edit(), "Edited `a.md` in 1 place.");
    assert_eq!(room.holds("project/a.md"), "two, by somebody else\n");
    let binary =
        room.text("Edit", &json!({ "file_path": "b.bin", "old_string": "\u{1}", "new_string": "x" }));
    assert!(binary.contains("is not UTF-8 text"), "{binary}");
    let none = room.text("Edit", &json!({ "file_path": "none", "old_string": "a", "new_string": "b" }));
    assert_eq!(none, "`none` does not exist; to make it, use Write");
    let empty = room.text("Edit", &json!({ "file_path": "a.md", "old_string": "", "new_string": "b" }));
    assert!(empty.contains("`old_string` is empty; to make a file, use Write"), "{empty}");
}

/// Places that act when nobody looks take a yes to the very question: neither a rule for all files nor the mode in which
/// nothing asks opens them.
#[test]
fn guarded_places_take_a_yes_to_the_very_question() {
    let places = [
        ".git/hooks/pre-commit",
        ".git/config",
        ".mcp.json",
        "metier.toml",
        ".metier/skills/x/notes.md",
        ".claude/settings.json",
        "CLAUDE.md",
        "sub/AGENTS.md",
        ".vscode/tasks.json",
        ".envrc",
        ".bashrc",
        ".github/workflows/ci.yml",
        "tools/pdf/notes.md",
        "new-skill/SKILL.md",
        "kept/a.md",
        "hooks-link/x",
    ];
    let workspace = || {
        Workspace::new()
            .skill("project/tools/pdf", "Demo.")
            .dir("project/.git/hooks")
            .dir("project/kept")
            .symlink("project/hooks-link", ".git/hooks")
    };
    let guard = |setting: metier_tools::Setting| {
        let kept = setting.project.as_ref().unwrap().join("kept");
        metier_tools::Setting { guarded: vec![kept], ..setting }
    };
    for place in places {
        let input = json!({ "file_path": place, "content": "x" });
        for room in [
            Room::with(workspace(), guard).rules(&["Write", "*"], &[]),
            Room::with(workspace(), guard).yolo(),
            Room::with(workspace(), guard).saying(Answer::No),
        ] {
            let result = room.call("Write", &input);
            assert_eq!(result.outcome, Outcome::Refused, "{place}: {}", result.text);
            assert!(
                std::fs::symlink_metadata(room.workspace.join("project").join(place)).is_err(),
                "{place}"
            );
        }
        let room = Room::with(workspace(), guard).saying(Answer::Once);
        assert_eq!(room.call("Write", &input).outcome, Outcome::Done, "{place}");
        assert_eq!(room.executor.asked.lock().unwrap().len(), 1, "{place}");
    }
    // A plain file needs no more than the rule.
    let room = Room::with(workspace(), guard).rules(&["Write"], &[]);
    assert_eq!(
        room.call("Write", &json!({ "file_path": "docs/a.md", "content": "x" })).outcome,
        Outcome::Done
    );
}

#[test]
fn files_of_active_skills_outside_of_the_project_are_not_written() {
    let workspace =
        Workspace::new().skill("skills/pdf", "Demo.").skill("project/.claude/skills/todo", "Demo.");
    let room =
        Room::new(workspace).active("pdf", "skills/pdf").active("todo", "project/.claude/skills/todo").yolo();
    let write =
        |path: &str| room.text("Write", &json!({ "file_path": room.workspace.join(path), "content": "x" }));
    assert!(write("skills/pdf/new.md").contains("only files of the project are written"));
    // Inside the project it is a guarded place.
    assert!(
        write("project/.claude/skills/todo/new.md").contains("refused"),
        "{}",
        write("project/.claude/skills/todo/new.md")
    );
    assert!(write("outputs/x").contains("only files of the project are written"));
}
