//! Attacks on every tool: nothing outside is read, found, searched, written or waited for.

use std::time::{Duration, Instant};

use metier_runtime::{Outcome, ToolResult};
use metier_testkit::Workspace;
use serde_json::{Value, json};

use crate::test_session::TestSession;

/// The content of every file that must not be shown.
const HIDDEN: &str = "hidden-words-7f3a";

/// The workspace of all attacks: a project, and files outside of it that no tool may reach.
fn fixture() -> Workspace {
    Workspace::new()
        .file("outside/secret.txt", HIDDEN)
        .file("home/.ssh/id_rsa", HIDDEN)
        .file("project/a.md", "plain\n")
        .symlink("project/link-out", "../outside")
        .symlink("project/link-file", "../outside/secret.txt")
        .symlink("project/link-absolute", "/etc/passwd")
        .symlink("project/link-proc", "/proc/self/root")
        .symlink("project/link-nowhere", "../outside/new.txt")
        .symlink("project/link-loop", "link-loop")
        .symlink("project/link-env", ".env")
        .fifo("project/pipe")
        .socket("project/socket")
        .file("project/.env", format!("TOKEN={HIDDEN}\n"))
        .file("project/.env.local", format!("TOKEN={HIDDEN}\n"))
        .file("project/server.pem", format!("-----BEGIN PRIVATE KEY-----\n{HIDDEN}\n"))
        .file("project/id_ed25519", HIDDEN)
        .file("project/.npmrc", HIDDEN)
        .file("project/.ssh/config", HIDDEN)
}

/// A call of each tool about a path.
fn calls(path: &str) -> [(&'static str, Value); 5] {
    [
        ("Read", json!({ "file_path": path })),
        ("Glob", json!({ "pattern": "*", "path": path })),
        ("Grep", json!({ "pattern": "hidden|root:|TOKEN", "output_mode": "content", "path": path })),
        ("Write", json!({ "file_path": path, "content": "overwritten" })),
        ("Edit", json!({ "file_path": path, "old_string": HIDDEN, "new_string": "overwritten" })),
    ]
}

fn shows(result: &ToolResult, words: &str) -> bool {
    let change = result.change.as_ref().is_some_and(|change| change.diff.contains(words));
    change || result.text.contains(words) || result.notes.iter().any(|note| note.contains(words))
}

/// Sessions without rules, with rules that allow all files, in the mode in which nothing asks, and there with layers.
fn test_sessions() -> [TestSession; 4] {
    [
        TestSession::new(fixture()),
        TestSession::new(fixture()).rules(&["*", "Read", "Write", "Edit"], &[]),
        TestSession::new(fixture()).yolo(),
        TestSession::new(fixture()).yolo().with_layers(),
    ]
}

#[test]
fn no_path_leads_out_and_nothing_waits() {
    for session in test_sessions() {
        let outside = session.workspace.join("outside/secret.txt").display().to_string();
        let project = session.workspace.join("project").display().to_string();
        let long = "x/".repeat(3000);
        let paths = [
            "../outside/secret.txt",
            "docs/../../outside/secret.txt",
            "./../outside/secret.txt",
            "..\\outside\\secret.txt",
            "..",
            "../",
            "/",
            "/etc/passwd",
            "//etc/passwd",
            outside.as_str(),
            &format!("{project}/../outside/secret.txt"),
            &format!("{project}//..//outside/secret.txt"),
            &format!("{project}x/secret.txt"),
            "~/.ssh/id_rsa",
            "~",
            "~root/.ssh/id_rsa",
            "link-out/secret.txt",
            "link-out/new.txt",
            "link-out",
            "link-file",
            "link-absolute",
            "link-proc/etc/passwd",
            "link-nowhere",
            "link-loop",
            "/proc/self/root/etc/passwd",
            "/proc/self/environ",
            "/dev/zero",
            "/dev/stdin",
            "a.md\0.txt",
            "\0",
            "pipe",
            "socket",
            "C:\\Windows\\x",
            "file:///etc/passwd",
            long.as_str(),
        ];
        for path in paths {
            for (tool, input) in calls(path) {
                let begun = Instant::now();
                let result = session.call(tool, &input);
                assert!(begun.elapsed() < Duration::from_secs(5), "{tool} {path:?} waits");
                for words in [HIDDEN, "root:x", "PATH="] {
                    assert!(!shows(&result, words), "{tool} {path:?}: {}", result.text);
                }
                // A name that only looks strange may be made in the project; everything else is refused.
                let is_inside = matches!(path, "~root/.ssh/id_rsa" | "file:///etc/passwd") || path == long;
                if !is_inside {
                    let found = result.outcome == Outcome::Done && tool != "Glob" && tool != "Grep";
                    assert!(!found, "{tool} {path:?}: {}", result.text);
                }
            }
        }
        assert_eq!(session.content("outside/secret.txt"), HIDDEN);
        assert_eq!(session.content("home/.ssh/id_rsa"), HIDDEN);
        assert_eq!(std::fs::read_dir(session.workspace.join("outside")).unwrap().count(), 1);
    }
}

#[test]
fn what_looks_like_a_secret_is_neither_shown_nor_changed() {
    for session in test_sessions() {
        for path in [
            ".env",
            "./.env",
            ".env.local",
            "server.pem",
            "id_ed25519",
            ".npmrc",
            ".ssh/config",
            "link-env",
            ".ssh",
        ] {
            let before = session.content(&format!("project/{path}"));
            for (tool, input) in calls(path) {
                let result = session.call(tool, &input);
                assert!(!shows(&result, HIDDEN), "{tool} {path}: {}", result.text);
            }
            assert_eq!(session.content(&format!("project/{path}")), before, "{path}");
        }
        let all = session.text("Grep", &json!({ "pattern": "hidden|TOKEN", "output_mode": "content" }));
        assert!(
            all.starts_with("[nothing matches]\n")
                && all.contains("files that look like secrets are left out]"),
            "{all}"
        );
        let names = session.text("Glob", &json!({ "pattern": "**" }));
        assert!(!names.contains(".env") && !names.contains("id_ed25519"), "{names}");
        let said = session.text("Read", &json!({ "file_path": ".env" }));
        assert!(
            said.starts_with("`.env` looks like a secret (environment variables) and is not shown"),
            "{said}"
        );
    }
}

#[test]
fn a_folder_that_becomes_a_link_meanwhile_leads_nowhere() {
    let session = || {
        let workspace = fixture().file("project/docs/secret.txt", "plain\n");
        TestSession::new(workspace).rules(&["Write", "Edit"], &[])
    };
    exchange_folder(&session());
    exchange_folder(&session().with_layers());
}

/// Calls tools about a folder while it is exchanged with a link to `outside`.
fn exchange_folder(session: &TestSession) {
    let docs = session.workspace.join("project/docs");
    let swap = std::thread::scope(|scope| {
        let until = Instant::now() + Duration::from_millis(1500);
        let swapping = scope.spawn({
            let (docs, aside) = (docs.clone(), session.workspace.join("project/aside"));
            let outside = session.workspace.join("outside");
            move || {
                let mut count = 0;
                while Instant::now() < until {
                    // A write may make the folder again while it is moved away; then the rename fails.
                    let _ = std::fs::rename(&docs, &aside);
                    count += usize::from(std::os::unix::fs::symlink(&outside, &docs).is_ok());
                    let _ = std::fs::remove_file(&docs).or_else(|_| std::fs::remove_dir_all(&docs));
                    let _ = std::fs::rename(&aside, &docs);
                }
                count
            }
        });
        while Instant::now() < until {
            for (tool, input) in calls("docs/secret.txt") {
                let result = session.call(tool, &input);
                assert!(!shows(&result, HIDDEN), "{tool}: {}", result.text);
            }
            session.call("Write", &json!({ "file_path": "docs/new.txt", "content": "x" }));
        }
        swapping.join().unwrap()
    });
    assert!(swap > 10, "the folder was exchanged {swap} times only");
    assert_eq!(session.content("outside/secret.txt"), HIDDEN);
    assert_eq!(std::fs::read_dir(session.workspace.join("outside")).unwrap().count(), 1);
}

#[test]
fn a_fence_stops_general_tools_and_names_itself() {
    use metier_policy::{Dialect, Folders, McpTools, Meaning, Scope, Skill, Terms};
    let tools = metier_skill::tokenize("Read(docs/**), Bash(git:*)").unwrap();
    let scope = Scope::open(
        Terms {
            skill: Skill::new("pdf", "user"),
            tools: Some(&tools),
            disallowed: &[],
            meaning: Meaning::Both,
            dialect: Dialect::Usual,
            folders: Folders::default(),
        },
        &McpTools::default(),
    );
    let session = TestSession::new(fixture()).held_by(scope);
    for (tool, input) in calls("a.md") {
        let text = session.text(tool, &input);
        assert!(text.contains("the active skill `user:pdf` lets only"), "{tool}: {text}");
    }
    let text = session.text("Bash", &json!({ "command": "git --version && ls" }));
    assert!(text.contains("the active skill `user:pdf` lets only"), "{text}");
    assert!(!session.text("ask_user", &json!({ "question": "?" })).contains("lets only"));
}
