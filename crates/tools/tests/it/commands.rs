//! `Bash`, run by the real kernel.

use std::net::IpAddr;
use std::sync::Arc;

use metier_runtime::Outcome;
use metier_testkit::Workspace;
use serde_json::json;

use crate::room::Room;

/// A network in which nobody may be reached, nor asked for an address.
struct Nowhere;

impl metier_proxy::Outside for Nowhere {
    fn resolve(&self, _: &str) -> std::io::Result<Vec<IpAddr>> {
        panic!("nobody is asked for an address that may not be reached")
    }
    fn connect(
        &self,
        _: std::net::SocketAddr,
        _: std::time::Duration,
    ) -> std::io::Result<std::net::TcpStream> {
        panic!("nobody is connected to")
    }
}

fn bash(room: &Room, command: &str) -> String {
    room.text("Bash", &json!({ "command": command }))
}

#[test]
fn a_line_runs_in_the_project_and_answers_like_a_script() {
    let room = Room::new(Workspace::new().file("project/notes.txt", "b\na\n"));
    assert_eq!(bash(&room, "sort notes.txt | head -n 1"), "a");
    assert_eq!(bash(&room, "true"), "[no output]");
    assert_eq!(bash(&room, "echo out; echo err >&2; exit 3"), "out\n[stderr]\nerr\n[exit code: 3]");
    assert_eq!(bash(&room, "pwd"), room.workspace.join("project").display().to_string());
    assert_eq!(room.call("exec", &json!({ "cmd": "exit 1" })).outcome, Outcome::Failed);
    assert!(bash(&room, "echo a\0b").contains("NUL at character 7"));
    let slow = room.text("Bash", &json!({ "command": "echo begun; sleep 60", "timeout": 1 }));
    assert_eq!(slow, "Command timed out after 1s\nbegun");
    let note = room.call("Bash", &json!({ "command": "true", "timeout": 30_000 })).notes.join(" ");
    assert!(note.contains("taken for milliseconds: 30 s"), "{note}");
}

#[test]
fn it_is_contained_like_a_script() {
    let room = Room::new(
        Workspace::new()
            .file("project/.env", "TOKEN=abc")
            .file("home/private", "mine")
            .file("project/a.md", "a\n"),
    );
    assert!(!bash(&room, "cat .env; cat $PROJECT_DIR/.env").contains("abc"));
    assert!(!bash(&room, &format!("cat {}", room.workspace.join("home/private").display())).contains("mine"));
    assert_eq!(bash(&room, "echo x > $TMPDIR/x && cat $TMPDIR/x"), "x");
    assert!(bash(&room, "env").lines().all(|line| !line.starts_with("SSH_") && !line.starts_with("CARGO")));
    // Without layers the project is read-only.
    assert!(bash(&room, "echo x > a.md").contains("Read-only file system"));
    assert_eq!(room.holds("project/a.md"), "a\n");
}

#[test]
fn the_gate_judges_the_words_of_a_line() {
    let room = Room::new(Workspace::new()).rules(&[], &["command:rm:*"]);
    for line in ["rm -rf x", "echo a && rm x", "ls | /bin/rm x"] {
        assert!(bash(&room, line).contains("the deny rule `command:rm:*`"), "{line}");
    }
    assert_eq!(bash(&room, "echo 'rm -rf x'"), "rm -rf x");
}

#[test]
fn the_rest_of_a_long_output_can_be_read() {
    let room = Room::new(Workspace::new());
    let text = bash(&room, "seq 1 20000");
    assert!(text.len() < 34_000, "{}", text.len());
    let place = text.split("all of it is in ").nth(1).unwrap().split(" ...]").next().unwrap();
    let rest = room.text("Read", &json!({ "file_path": place, "offset": 9_999, "limit": 1 }));
    assert!(rest.starts_with("9999\t9999\n"), "{rest}");
    // A second one has a file of its own.
    assert!(bash(&room, "seq 1 20000").contains("bash-2-stdout.txt"));
    assert!(
        room.text("Grep", &json!({ "pattern": "^19999$", "path": place, "output_mode": "count" }))
            .contains(":1\n")
    );
}

#[test]
fn active_skills_are_seen_and_a_host_is_refused_by_name() {
    let workspace = Workspace::new()
        .skill("skills/pdf", "Demo.")
        .file("skills/pdf/scripts/hi.sh", "echo hi from $SKILL_DIR");
    let mut room = Room::new(workspace).active("pdf", "skills/pdf");
    let folder = room.workspace.join("skills/pdf").display().to_string();
    assert_eq!(bash(&room, "bash $SKILL_DIR/scripts/hi.sh"), format!("hi from {folder}"));
    room.executor.network.outside = Arc::new(Nowhere);
    let line = "exec 3<>/dev/tcp/${HTTP_PROXY##*/}; true";
    let line = format!("p=${{HTTP_PROXY##*/}}; {}", line.replace("${HTTP_PROXY##*/}", "${p%:*}/${p##*:}"));
    let ask = format!("{line}; printf 'CONNECT api.example.org:443 HTTP/1.1\\r\\n\\r\\n' >&3; head -n 1 <&3");
    let result = room.call("Bash", &json!({ "command": ask }));
    assert!(result.text.contains("403"), "{} {:?}", result.text, result.notes);
    let notes = result.notes.join("\n");
    assert!(
        notes.contains("`api.example.org:443` was refused") && notes.contains("`host:api.example.org:443`"),
        "{notes}"
    );
}
