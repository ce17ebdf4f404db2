//! `Read`, `Glob` and `Grep`.

use metier_runtime::Outcome;
use metier_testkit::Workspace;
use serde_json::json;

use crate::test_session::TestSession;

#[test]
fn a_file_is_read_in_pages_of_numbered_lines() {
    let lines: Vec<String> = (1..=20_000).map(|number| format!("line {number}")).collect();
    let long = lines.join("\n");
    let session = TestSession::new(
        Workspace::new()
            .file("project/a.md", "one\ntwo\nthree\n")
            .file("project/long.txt", &long)
            .file("project/logo.png", b"\x89PNG\r\n\x1a\n\0\0")
            .file("project/empty", ""),
    );
    let read = |input| session.text("Read", &input);
    assert_eq!(read(json!({ "file_path": "a.md" })), "1\tone\n2\ttwo\n3\tthree\n");
    let part = "2\ttwo\n[lines 2 to 2 of 3; to go on, read with offset=3]";
    assert_eq!(read(json!({ "file_path": "./a.md", "offset": 2, "limit": 1 })), part);
    let whole = session.workspace.join("project/a.md");
    assert_eq!(read(json!({ "file_path": whole, "offset": "3" })), "3\tthree\n");
    assert_eq!(read(json!({ "file_path": "logo.png" })), "`logo.png` is not text: PNG image, 10 bytes");
    assert_eq!(read(json!({ "file_path": "empty" })), "[the file is empty]");
    assert_eq!(read(json!({ "file_path": "none" })), "`none` does not exist; look for it with `Glob`");
    let first = read(json!({ "file_path": "long.txt" }));
    assert!(first.len() < 66_000, "{}", first.len());
    let next: u64 = first.rsplit("offset=").next().unwrap().trim_end_matches(']').parse().unwrap();
    let second = read(json!({ "file_path": "long.txt", "offset": next }));
    assert!(second.starts_with(&format!("{next}\tline {next}\n")), "{}", &second[..40]);
    // An invalid input is answered with an example of a valid call.
    let wrong = session.call("Read", &json!({ "file": 7 }));
    assert_eq!(wrong.outcome, Outcome::Refused);
    assert!(
        wrong.text.starts_with("`file_path` is a number, not a text; call Read with {"),
        "{}",
        wrong.text
    );
    assert_eq!(session.call("Read", &json!({ "file_path": "a.md", "x": 1 })).notes.len(), 1);
}

/// Reads of one turn run at once, on threads of their own.
#[test]
fn reads_may_come_from_several_threads() {
    let session =
        TestSession::new(Workspace::new().file("project/a.md", "one\n").file("project/b.md", "two\n"));
    let calls = [
        ("Read", json!({ "file_path": "a.md" })),
        ("Grep", json!({ "pattern": "two" })),
        ("Glob", json!({ "pattern": "*" })),
    ];
    std::thread::scope(|scope| {
        let running: Vec<_> = calls
            .iter()
            .cycle()
            .take(30)
            .map(|(tool, input)| scope.spawn(|| (*tool, session.text(tool, input))))
            .collect();
        for thread in running {
            let (tool, text) = thread.join().unwrap();
            let expect = match tool {
                "Read" => "1\tone\n",
                "Grep" => "b.md",
                _ => "a.md\nb.md",
            };
            assert_eq!(text, expect);
        }
    });
}

#[test]
fn a_file_too_large_to_be_held_is_read_in_pieces() {
    let big = format!("first\n{}last\n", "0123456789abcde\n".repeat(600_000));
    let session = TestSession::new(Workspace::new().file("project/big.txt", &big));
    let text = session.text("Read", &json!({ "file_path": "big.txt", "limit": 2 }));
    assert!(text.starts_with("1\tfirst\n2\t0123456789abcde\n[lines 1 to 2"), "{text}");
    let text = session.text("Read", &json!({ "file_path": "big.txt", "offset": 600_002 }));
    assert_eq!(text, "600002\tlast\n");
}

#[test]
fn files_of_active_skills_can_be_read_and_others_cannot() {
    let workspace = Workspace::new()
        .skill("skills/pdf", "Demo.")
        .file("skills/pdf/references/api.md", "api\n")
        .skill("skills/other", "Demo.");
    let session = TestSession::new(workspace).active("pdf").rules(&[], &["Read"]);
    let path = |path: &str| json!({ "file_path": session.workspace.join(path) });
    // A rule about `Read` counts for the skill's own files, too.
    assert!(session.text("Read", &path("skills/pdf/references/api.md")).contains("deny rule"));
    let session = session.rules(&[], &[]);
    let path = |path: &str| json!({ "file_path": session.workspace.join(path) });
    assert_eq!(session.text("Read", &path("skills/pdf/references/api.md")), "1\tapi\n");
    assert!(session.text("Read", &path("skills/other/SKILL.md")).contains("is outside"));
    let found =
        session.text("Glob", &json!({ "pattern": "**/*.md", "path": session.workspace.join("skills/pdf") }));
    assert!(found.ends_with("skills/pdf/references/api.md"), "{found}");
}

#[test]
fn files_are_found_by_name_without_what_git_ignores() {
    let session = TestSession::new(
        Workspace::new()
            .file("project/.gitignore", "target/\n")
            .file("project/src/a.rs", "")
            .file("project/src/deep/b.rs", "")
            .file("project/target/c.rs", "")
            .file("project/README.md", ""),
    );
    let glob = |input| session.text("Glob", &input);
    assert_eq!(glob(json!({ "pattern": "**/*.rs" })), "src/a.rs\nsrc/deep/b.rs");
    assert_eq!(glob(json!({ "pattern": "*.rs", "path": "src" })), "src/a.rs");
    assert_eq!(glob(json!({ "pattern": "*.rs" })), "[no file matches; `**/*.rs` looks in folders, too]");
    assert_eq!(glob(json!({ "pattern": "*.{md,txt}" })), "README.md");
    assert!(glob(json!({ "pattern": "a[" })).contains("`pattern` cannot be read: unclosed character class"));
    assert!(glob(json!({ "pattern": "../*" })).contains("leads out of the project"));
    assert!(glob(json!({ "pattern": "*", "path": "none" })).contains("does not exist"));
    let many = (0..300)
        .fold(Workspace::new(), |workspace, number| workspace.file(format!("project/{number:03}"), ""));
    let text = TestSession::new(many).text("Glob", &json!({ "pattern": "*" }));
    assert!(text.ends_with("199\n[the first 200 of 300; narrow the pattern, or give `path`]"), "{text}");
}

#[test]
fn lines_are_found_in_three_shapes() {
    let session = TestSession::new(
        Workspace::new()
            .file("project/a.rs", "fn main() {}\nlet x;\nfn Other() {}\n")
            .file("project/docs/b.md", "a\nb\nmain\nc\r\nd\n")
            .file("project/c.bin", b"main\0\0"),
    );
    let grep = |input| session.text("Grep", &input);
    assert_eq!(grep(json!({ "pattern": "main" })), "a.rs\ndocs/b.md");
    assert_eq!(
        grep(json!({ "pattern": "^fn \\w+", "output_mode": "content" })),
        "a.rs:1:fn main() {}\na.rs:3:fn Other() {}"
    );
    assert_eq!(
        grep(json!({ "pattern": "OTHER|c$", "output_mode": "count", "ignore_case": true })),
        "a.rs:1\ndocs/b.md:1\n[2 lines in 2 files]"
    );
    let around = "docs/b.md-2-b\ndocs/b.md:3:main\ndocs/b.md-4-c";
    assert_eq!(
        grep(json!({ "pattern": "main", "output_mode": "content", "context": 1, "glob": "*.md" })),
        around
    );
    assert_eq!(grep(json!({ "pattern": "main", "path": "docs" })), "docs/b.md");
    assert_eq!(grep(json!({ "pattern": "main", "path": "a.rs" })), "a.rs");
    assert_eq!(grep(json!({ "pattern": "main", "glob": "docs/**/*.rs" })), "[nothing matches]");
    let one = grep(json!({ "pattern": "fn", "output_mode": "content", "limit": 1 }));
    assert!(one.starts_with("a.rs:1:fn main() {}\n[there may be more: 1 matches are shown;"), "{one}");
    let wrong = grep(json!({ "pattern": "a(b" }));
    assert!(wrong.contains("a(b\n     ^") && wrong.contains("unclosed group"), "{wrong}");
    assert!(
        grep(json!({ "pattern": "x", "output_mode": "lines" }))
            .contains("none of files_with_matches, content, count")
    );
}

#[test]
fn a_rule_about_one_file_holds_in_a_search_of_its_folder() {
    let workspace = Workspace::new().file("project/plans/a.md", "word\n").file("project/b.md", "word\n");
    let session = TestSession::new(workspace).rules(&[], &["Read(plans/**)"]);
    let text = session.text("Grep", &json!({ "pattern": "word" }));
    assert_eq!(text, "b.md\n[1 files that rules keep from being read are left out]");
    assert!(session.text("Grep", &json!({ "pattern": "word", "path": "plans/a.md" })).contains("deny rule"));
    assert!(
        session
            .text("Edit", &json!({ "file_path": "plans/a.md", "old_string": "x", "new_string": "y" }))
            .contains("deny rule")
    );
}
