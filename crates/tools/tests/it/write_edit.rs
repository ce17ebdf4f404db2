//! `Write` and `Edit`.

use std::os::unix::fs::PermissionsExt;

use metier_exec::ChangeState;
use metier_policy::Answer;
use metier_runtime::{ApprovalReply, CallControl, Outcome};
use metier_testkit::Workspace;
use serde_json::json;

use crate::test_session::TestSession;

#[test]
fn a_write_is_asked_about_with_its_change_and_refused_with_its_rule() {
    let workspace = || Workspace::new().file("project/a.md", "one\ntwo\n");
    let session = TestSession::new(workspace());
    session.call("Read", &json!({ "file_path": "a.md" }));
    let refused = session.call("Write", &json!({ "file_path": "a.md", "content": "one\n2\n" }));
    assert_eq!(refused.outcome, Outcome::Refused);
    assert!(refused.text.contains("`Write(a.md)`"), "{}", refused.text);
    assert!(refused.change.unwrap().diff.contains("-two\n+2\n"));
    assert_eq!(session.content("project/a.md"), "one\ntwo\n");

    let session = TestSession::new(workspace()).answering(Answer::Once);
    session.call("Read", &json!({ "file_path": "a.md" }));
    let done = session.call("Write", &json!({ "file_path": "a.md", "content": "one\n2\n" }));
    assert_eq!(done.text, "Wrote `a.md`: 1 line added, 1 taken away.");
    assert_eq!(session.content("project/a.md"), "one\n2\n");
    let requests = session.requests();
    let (sentence, change) = requests.first().unwrap();
    assert!(sentence.contains("the agent calls `Write` (and wants to write `a.md`)"), "{sentence}");
    assert_eq!(change.as_ref(), done.change.as_deref());
    assert!(!change.as_ref().unwrap().created);
}

#[test]
fn a_new_file_is_made_with_its_folders_and_an_old_one_keeps_its_mode() {
    let workspace = Workspace::new().executable("project/run.sh", "old\r\nlines\r\n");
    let session = TestSession::new(workspace).rules(&["Write", "Edit"], &[]);
    let new = session.call("file_write", &json!({ "path": "docs/new/a.md", "content": "a\n" }));
    assert_eq!((new.text.as_str(), new.change.unwrap().created), ("Made `docs/new/a.md`: 1 line.", true));
    assert_eq!(session.content("project/docs/new/a.md"), "a\n");
    // The model knows what it wrote itself.
    let again = session.text("Write", &json!({ "file_path": "docs/new/a.md", "content": "b\n" }));
    assert!(again.starts_with("Wrote"), "{again}");
    let same = session.text("Write", &json!({ "file_path": "docs/new/a.md", "content": "b\n" }));
    assert!(same.contains("nothing was written"), "{same}");
    let edited = session
        .text("Edit", &json!({ "file_path": "run.sh", "old_string": "old\nlines", "new_string": "x\ny" }));
    assert_eq!(edited, "Edited `run.sh` in 1 place.");
    assert_eq!(session.content("project/run.sh"), "x\r\ny\r\n");
    let mode = std::fs::metadata(session.workspace.join("project/run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn what_changed_since_it_was_read_has_to_be_read_again() {
    let workspace = Workspace::new().file("project/a.md", "one\n").file("project/b.bin", b"\0\x01");
    let session = TestSession::new(workspace).rules(&["Write", "Edit"], &[]);
    let write = || session.text("Write", &json!({ "file_path": "a.md", "content": "mine\n" }));
    let edit =
        || session.text("Edit", &json!({ "file_path": "a.md", "old_string": "one", "new_string": "two" }));
    assert!(write().contains("you have not read it; read it first"));
    session.call("Read", &json!({ "file_path": "a.md" }));
    std::fs::write(session.workspace.join("project/a.md"), "one, by somebody else\n").unwrap();
    for text in [write(), edit()] {
        assert!(text.contains("has changed since you read it; read it again"), "{text}");
    }
    session.call("Read", &json!({ "file_path": "a.md" }));
    assert_eq!(edit(), "Edited `a.md` in 1 place.");
    assert_eq!(session.content("project/a.md"), "two, by somebody else\n");
    let binary =
        session.text("Edit", &json!({ "file_path": "b.bin", "old_string": "\u{1}", "new_string": "x" }));
    assert!(binary.contains("is not UTF-8 text"), "{binary}");
    let none = session.text("Edit", &json!({ "file_path": "none", "old_string": "a", "new_string": "b" }));
    assert_eq!(none, "`none` does not exist; to make it, use Write");
    let empty = session.text("Edit", &json!({ "file_path": "a.md", "old_string": "", "new_string": "b" }));
    assert!(empty.contains("`old_string` is empty; to make a file, use Write"), "{empty}");
}

/// Protected places need an approval of exactly this question: neither a rule for all files nor the mode in which nothing asks
/// is enough.
#[test]
fn guarded_places_need_an_approval_of_their_own() {
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
        for session in [
            TestSession::with(workspace(), guard).rules(&["Write", "*"], &[]),
            TestSession::with(workspace(), guard).yolo(),
            TestSession::with(workspace(), guard).answering(Answer::No),
        ] {
            let result = session.call("Write", &input);
            assert_eq!(result.outcome, Outcome::Refused, "{place}: {}", result.text);
            assert!(
                std::fs::symlink_metadata(session.workspace.join("project").join(place)).is_err(),
                "{place}"
            );
        }
        let session = TestSession::with(workspace(), guard).answering(Answer::Once);
        assert_eq!(session.call("Write", &input).outcome, Outcome::Done, "{place}");
        assert_eq!(session.requests().len(), 1, "{place}");
    }
    // A plain file needs no more than the rule.
    let session = TestSession::with(workspace(), guard).rules(&["Write"], &[]);
    assert_eq!(
        session.call("Write", &json!({ "file_path": "docs/a.md", "content": "x" })).outcome,
        Outcome::Done
    );
}

/// Git runs what the configuration of any repository names, also of one that was made file by file.
#[test]
fn a_folder_becomes_a_repository_only_by_an_approval_of_its_own() {
    let session = TestSession::new(Workspace::new().dir("project")).yolo();
    let write = |place: &str| session.call("Write", &json!({ "file_path": place, "content": "x" })).outcome;
    for place in ["e/config", "e/hooks/post-checkout", "e/refs/x", "e/HEAD"] {
        assert_eq!(write(place), Outcome::Done, "{place}");
    }
    for place in ["e/objects/x", "e/commondir"] {
        assert_eq!(write(place), Outcome::Refused, "{place}");
    }
    let bare = Workspace::new().dir("project/b/objects").dir("project/b/refs").file("project/b/HEAD", "x");
    let session = TestSession::new(bare).yolo();
    let write = |place: &str| session.call("Write", &json!({ "file_path": place, "content": "x" })).outcome;
    assert_eq!(write("b/refs/x"), Outcome::Done);
    assert_eq!(write("b/config"), Outcome::Refused);
}

#[test]
fn files_of_active_skills_outside_of_the_project_are_not_written() {
    let workspace =
        Workspace::new().skill("skills/pdf", "Demo.").skill("project/.claude/skills/todo", "Demo.");
    let session = TestSession::new(workspace).active("pdf").active("todo").yolo();
    let write = |path: &str| {
        session.text("Write", &json!({ "file_path": session.workspace.join(path), "content": "x" }))
    };
    assert!(write("skills/pdf/new.md").contains("only files of the project are written"));
    // Inside the project it is a guarded place.
    assert!(
        write("project/.claude/skills/todo/new.md").contains("refused"),
        "{}",
        write("project/.claude/skills/todo/new.md")
    );
    assert!(write("outputs/x").contains("only files of the project are written"));
}

/// A session with layers writes through one, so that the change is listed and can be undone.
#[test]
fn a_write_through_a_layer_is_applied_and_reported() {
    let workspace = || Workspace::new().file("project/a.md", "one\n");
    let input = json!({ "file_path": "a.md", "old_string": "one", "new_string": "two" });
    let session = TestSession::new(workspace()).with_layers().answering(Answer::Once);
    let edited = session.call("Edit", &input);
    assert_eq!(edited.text, "Edited `a.md` in 1 place.");
    assert_eq!(session.content("project/a.md"), "two\n");
    assert_eq!(session.requests().len(), 1);
    let [entry] = edited.changes.unwrap().entries.try_into().unwrap();
    assert_eq!((entry.path.as_str(), entry.state), ("a.md", ChangeState::Applied));

    let refused = TestSession::new(workspace()).with_layers().answering(Answer::No);
    let result = refused.call("Edit", &input);
    assert_eq!((result.outcome, result.changes), (Outcome::Refused, None));
    assert_eq!(refused.content("project/a.md"), "one\n");
    // Without layers there is nothing to list.
    let read_only = TestSession::new(workspace()).answering(Answer::Once);
    assert_eq!(read_only.call("Edit", &input).changes, None);
    assert_eq!(read_only.content("project/a.md"), "two\n");
}

#[test]
fn a_write_whose_approval_comes_later_waits_and_is_made_when_it_is_there() {
    let session = TestSession::new(Workspace::new()).answering(ApprovalReply::Later);
    let input = json!({ "file_path": "a.md", "content": "x" });
    let waiting = session.call("Write", &input);
    assert_eq!(waiting.outcome, Outcome::Waiting);
    assert!(!session.workspace.join("project/a.md").exists());
    let approved = [waiting.decision.unwrap().question.unwrap()];
    let control = CallControl { approved: &approved, ..CallControl::default() };
    assert_eq!(session.call_with("Write", &input, control).text, "Made `a.md`: 1 line.");
    assert_eq!(session.content("project/a.md"), "x");
    // The approval was for that call alone.
    assert_eq!(
        session.call("Write", &json!({ "file_path": "a.md", "content": "y" })).outcome,
        Outcome::Waiting
    );
}
