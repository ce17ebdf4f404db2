//! `Bash`, run by the real kernel.

use metier_exec::ChangeState;
use metier_policy::Answer;
use metier_runtime::Outcome;
use metier_testkit::Workspace;
use serde_json::json;

use crate::test_session::TestSession;

fn bash(session: &TestSession, command: &str) -> String {
    session.text("Bash", &json!({ "command": command }))
}

#[test]
fn a_line_runs_in_the_project_and_answers_like_a_script() {
    let session = TestSession::new(Workspace::new().file("project/notes.txt", "b\na\n"));
    assert_eq!(bash(&session, "sort notes.txt | head -n 1"), "a");
    assert_eq!(bash(&session, "true"), "[no output]");
    assert_eq!(bash(&session, "echo out; echo err >&2; exit 3"), "out\n[stderr]\nerr\n[exit code: 3]");
    assert_eq!(bash(&session, "pwd"), session.workspace.join("project").display().to_string());
    assert_eq!(session.call("exec", &json!({ "cmd": "exit 1" })).outcome, Outcome::Failed);
    assert!(bash(&session, "echo a\0b").contains("NUL at character 7"));
    let slow = session.text("Bash", &json!({ "command": "echo begun; sleep 60", "timeout": 1 }));
    assert_eq!(slow, "Command timed out after 1s\nbegun");
    let note = session.call("Bash", &json!({ "command": "true", "timeout": 30_000 })).notes.join(" ");
    assert!(note.contains("taken for milliseconds: 30 s"), "{note}");
}

#[test]
fn it_is_contained_like_a_script() {
    let session = TestSession::new(
        Workspace::new()
            .file("project/.env", "TOKEN=abc")
            .file("home/private", "mine")
            .file("project/a.md", "a\n"),
    );
    assert!(!bash(&session, "cat .env; cat $PROJECT_DIR/.env").contains("abc"));
    assert!(
        !bash(&session, &format!("cat {}", session.workspace.join("home/private").display()))
            .contains("mine")
    );
    assert_eq!(bash(&session, "echo x > $TMPDIR/x && cat $TMPDIR/x"), "x");
    assert!(
        bash(&session, "env").lines().all(|line| !line.starts_with("SSH_") && !line.starts_with("CARGO"))
    );
    // Without layers the project is read-only.
    assert!(bash(&session, "echo x > a.md").contains("Read-only file system"));
    assert_eq!(session.content("project/a.md"), "a\n");
}

#[test]
fn the_gate_judges_the_words_of_a_line() {
    let session = TestSession::new(Workspace::new()).rules(&[], &["command:rm:*"]);
    for line in ["rm -rf x", "echo a && rm x", "ls | /bin/rm x"] {
        assert!(bash(&session, line).contains("the deny rule `command:rm:*`"), "{line}");
    }
    assert_eq!(bash(&session, "echo 'rm -rf x'"), "rm -rf x");
}

#[test]
fn the_rest_of_a_long_output_can_be_read() {
    let session = TestSession::new(Workspace::new());
    let text = bash(&session, "seq 1 20000");
    assert!(text.len() < 34_000, "{}", text.len());
    let place = text.split("all of it is in ").nth(1).unwrap().split(" ...]").next().unwrap();
    let rest = session.text("Read", &json!({ "file_path": place, "offset": 9_999, "limit": 1 }));
    assert!(rest.starts_with("9999\t9999\n"), "{rest}");
    // A second one has a file of its own.
    assert!(bash(&session, "seq 1 20000").contains("bash-2-stdout.txt"));
    assert!(
        session
            .text("Grep", &json!({ "pattern": "^19999$", "path": place, "output_mode": "count" }))
            .contains(":1\n")
    );
}

#[test]
fn active_skills_are_seen_and_a_host_is_refused_by_name() {
    let workspace = Workspace::new()
        .skill("skills/pdf", "Demo.")
        .file("skills/pdf/scripts/hi.sh", "echo hi from $SKILL_DIR");
    let session = TestSession::new(workspace).active("pdf");
    let folder = session.workspace.join("skills/pdf").display().to_string();
    assert_eq!(bash(&session, "bash $SKILL_DIR/scripts/hi.sh"), format!("hi from {folder}"));
    let line = "exec 3<>/dev/tcp/${HTTP_PROXY##*/}; true";
    let line = format!("p=${{HTTP_PROXY##*/}}; {}", line.replace("${HTTP_PROXY##*/}", "${p%:*}/${p##*:}"));
    let ask = format!("{line}; printf 'CONNECT api.example.org:443 HTTP/1.1\\r\\n\\r\\n' >&3; head -n 1 <&3");
    let result = session.call("Bash", &json!({ "command": ask }));
    assert!(result.text.contains("403"), "{} {:?}", result.text, result.notes);
    let notes = result.notes.join("\n");
    assert!(
        notes.contains("`api.example.org:443` was refused") && notes.contains("`host:api.example.org:443`"),
        "{notes}"
    );
}

#[test]
fn changes_of_a_line_are_applied_as_far_as_they_are_approved() {
    let session = || TestSession::new(Workspace::new().file("project/a.md", "a\n")).with_layers();
    let states = |session: &TestSession| {
        let report = session.call("Bash", &json!({ "command": "echo x > a.md; cat a.md" })).changes.unwrap();
        report.entries.into_iter().map(|entry| (entry.path, entry.state)).collect::<Vec<_>>()
    };
    let unasked = session();
    assert_eq!(states(&unasked), [("a.md".to_owned(), ChangeState::NotApproved)]);
    assert_eq!(unasked.content("project/a.md"), "a\n");
    let refused = session().answering(Answer::No);
    states(&refused);
    assert_eq!(refused.content("project/a.md"), "a\n");
    let approved = session().answering(Answer::Once);
    assert_eq!(states(&approved), [("a.md".to_owned(), ChangeState::Applied)]);
    assert_eq!(approved.content("project/a.md"), "x\n");
    assert_eq!((refused.requests().len(), approved.requests().len()), (1, 1));
}
