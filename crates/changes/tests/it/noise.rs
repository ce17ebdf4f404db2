//! What is not worth a question, and what always is.

use std::fs;
use std::process::Command;

use metier_changes::{CallOrigin, Layer, Noise, NoiseReason, scan};

use crate::support::{Ground, path, put, run_in_overlay, short, spawn, whiteout};

const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n";

fn layer(ground: &Ground) -> Layer {
    ground.wait();
    ground.store.create(&ground.project(), CallOrigin::default()).unwrap()
}

/// The paths of a call that are noise, with their reasons.
fn noise(layer: &Layer) -> Vec<(String, NoiseReason)> {
    let changes = scan(layer).unwrap();
    let noise = Noise::find(layer, &changes).unwrap();
    let reason = |change: &metier_changes::Change| {
        noise.reason(&change.path).map(|reason| (change.path.to_string(), reason))
    };
    changes.entries.iter().filter_map(reason).collect()
}

fn names(noise: &[(String, NoiseReason)]) -> Vec<&str> {
    noise.iter().map(|(path, _)| path.as_str()).collect()
}

#[test]
fn what_the_project_ignores_is_noise_and_what_the_call_ignores_is_not() {
    let ground = Ground::new(&[
        (".gitignore", "*.log\n/out/\n!keep.log\nCLAUDE.md\n*.sh\n"),
        ("sub/.gitignore", "*.tmp\n"),
        (".git/info/exclude", "private/\n"),
        ("sub/a", "a"),
        ("old.log", "x"),
    ]);
    let layer = layer(&ground);
    let upper = layer.upper();
    for file in [
        "x.log",
        "keep.log",
        "out/deep/file",
        "sub/x.tmp",
        "x.tmp",
        "private/x",
        "sub/x.log",
        "seen/x.log",
        "CLAUDE.md",
        ".git/x.log",
        ".git/index.lock",
        ".husky/run.sh",
        "own/secret",
        "sub/out/kept",
    ] {
        put(&upper.join(file), "");
    }
    put(&upper.join("own/.gitignore"), "*\n");
    put(&upper.join(".gitignore"), "*\n");
    put(&upper.join("old.log"), "changed");
    let found = noise(&layer);
    assert!(found.iter().all(|(_, reason)| *reason == NoiseReason::Ignored));
    assert_eq!(
        names(&found),
        [
            "old.log",
            "out",
            "out/deep",
            "out/deep/file",
            "private",
            "private/x",
            "seen",
            "seen/x.log",
            "sub/x.log",
            "sub/x.tmp",
            "x.log"
        ]
    );
}

#[test]
fn caches_are_noise_and_build_folders_only_beside_their_project() {
    let ground = Ground::new(&[
        ("Cargo.toml", ""),
        ("mine/Cargo.toml", ""),
        ("mine/target/notes", "a person's own"),
        ("built/Cargo.toml", ""),
        ("built/target/CACHEDIR.TAG", TAG),
        ("a.py", ""),
    ]);
    let layer = layer(&ground);
    let upper = layer.upper();
    for file in [
        "__pycache__/a.pyc",
        "b.pyc",
        ".pytest_cache/x",
        ".mypy_cache/x",
        ".ruff_cache/x",
        "node_modules/.cache/x",
        "node_modules/real",
        "built/target/debug/x",
        "built/src",
        "other/target/x",
    ] {
        put(&upper.join(file), "");
    }
    for folder in ["target", "mine/target", "other/target", "fresh/target"] {
        put(&upper.join(folder).join("CACHEDIR.TAG"), TAG);
    }
    put(&upper.join("fresh/Cargo.toml"), "");
    put(&upper.join("file/__pycache__"), "not a folder");
    let found = noise(&layer);
    assert!(found.iter().all(|(_, reason)| *reason == NoiseReason::Cache));
    assert_eq!(
        names(&found),
        [
            ".mypy_cache",
            ".mypy_cache/x",
            ".pytest_cache",
            ".pytest_cache/x",
            ".ruff_cache",
            ".ruff_cache/x",
            "__pycache__",
            "__pycache__/a.pyc",
            "b.pyc",
            "built/target/debug",
            "built/target/debug/x",
            "node_modules/.cache",
            "node_modules/.cache/x",
            "target",
            "target/CACHEDIR.TAG"
        ]
    );
}

#[test]
fn a_refreshed_index_is_noise_and_a_staged_change_is_not() {
    let ground = Ground::new(&[("a", "one"), ("b.log", "tracked"), (".gitignore", "*.log\n")]);
    let git = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(ground.project()).env("HOME", ground.workspace.path());
        spawn(&mut command).unwrap().wait_with_output().unwrap().status.success()
    };
    if !git("git init -q . && git add a .gitignore && git add -f b.log") {
        metier_testkit::not_tried("git", "there is no git");
        return;
    }
    for version in [2, 4] {
        assert!(git(&format!("git update-index --index-version {version}")));
        let cases: [(&str, &[&str]); 3] = [
            ("touch -d 2001-01-01 a; git status", &[".git/index"]),
            ("echo two > a; git add a", &[]),
            ("echo log > b.log; echo log > c.log", &["c.log"]),
        ];
        for (script, expected) in cases {
            let layer = layer(&ground);
            let home = ground.workspace.path().display();
            let script = format!("export HOME='{home}'\ngit config --global safe.directory '*'\n{script}");
            if run_in_overlay(&layer, None, &script).is_none() {
                return;
            }
            let changes = scan(&layer).unwrap();
            assert_eq!(names(&noise(&layer)), expected, "{script}: {:?}", short(&changes));
        }
    }
}

#[test]
fn a_deleted_folder_is_one_question_if_anything_in_it_is() {
    let ground = Ground::new(&[
        (".gitignore", "*.log\n"),
        ("logs/a.log", "a"),
        ("src/a.log", "a"),
        ("src/a.rs", "a"),
        ("src/deep/b.log", "b"),
    ]);
    let layer = layer(&ground);
    for gone in ["src", "logs/a.log"] {
        fs::create_dir_all(layer.upper().join(gone).parent().unwrap()).unwrap();
        whiteout(&layer.upper().join(gone));
    }
    assert_eq!(names(&noise(&layer)), ["logs/a.log"]);
}

#[test]
fn what_a_session_holds_is_noise_unless_it_is_protected() {
    let ground = Ground::new(&[("a", "one")]);
    let session = ground.store.session(&ground.project(), "s").unwrap();
    put(&session.folder().join("kept"), "x");
    put(&session.folder().join("CLAUDE.md"), "x");
    let layer = ground.store.create_above(&session, CallOrigin::default()).unwrap();
    put(&layer.upper().join("kept"), "changed");
    put(&layer.upper().join("CLAUDE.md"), "changed");
    fs::write(layer.upper().join("a"), "changed").unwrap();
    let changes = scan(&layer).unwrap();
    let noise = Noise::find(&layer, &changes).unwrap();
    assert_eq!(noise.reason(&path("kept")), Some(NoiseReason::Session));
    assert_eq!(noise.paths().len(), 1, "{noise:?}");
}
