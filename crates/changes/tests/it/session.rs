//! The layer that the calls of a session share.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use metier_changes::{CallOrigin, LayerPath, LayerState, SessionLayer, apply, scan, undo};

use crate::support::{Ground, all, no_starts, path, paths, put, run_in_overlay, short, spawn, tree};

/// One call: runs a script, keeps what is below `cache` for the session, applies the rest. `None` without overlays.
fn call(ground: &Ground, session: &SessionLayer, script: &str) -> Option<Vec<String>> {
    ground.wait();
    let layer = ground.store.create_above(session, CallOrigin::new(script, "agent", "s")).unwrap();
    run_in_overlay(&layer, Some(&session.folder()), script)?;
    let changes = scan(&layer).unwrap();
    let is_cache = |path: &LayerPath| path.as_path().components().any(|part| part.as_os_str() == "cache");
    let (noise, wanted): (BTreeSet<_>, BTreeSet<_>) = all(&changes).into_iter().partition(is_cache);
    apply(&layer, &changes, &wanted).unwrap();
    let absorbed = session.absorb(&layer, &changes, &noise).unwrap();
    assert_eq!(absorbed, Some(Vec::new()), "{script}");
    let seen = short(&changes);
    assert_eq!(all(&layer.pending().unwrap()), BTreeSet::new(), "{script}: {seen:?}");
    layer.remove().unwrap();
    Some(seen)
}

/// Everything in a folder with permissions and content, as a script sees it.
const LOOK: &str = "find . -mindepth 1 -printf '%P %y %m %l\\n' | sort; find . -type f | sort | xargs -r cat";

/// Scripts of one session, each of which meets what earlier ones left.
const SCRIPTS: &[&str] = &[
    "mkdir -p src/cache && echo 1 > src/cache/one && echo two > src/b",
    "echo 2 >> src/cache/one && chmod 600 src/cache/one",
    "rm -r cache && mkdir cache && echo fresh > cache/new",
    "rm -r cache",
    "mkdir cache && echo again > cache/kept && ln -s kept cache/link",
    "rm cache/kept && mkdir cache/kept && echo deep > cache/kept/deep",
    "rm -r cache/kept && echo file > cache/kept && mkdir -p src/cache/x/y",
    "rm -r src && mkdir src && echo three > src/c",
    "rm -r cache && echo 'a file now' > cache",
    "rm cache && mkdir cache && touch cache/empty && chmod 700 cache",
    "echo old > cache/old && mv cache/old cache/older",
];

#[test]
fn later_calls_see_what_the_bare_commands_would_have_left() {
    let files = [("a", "one"), ("src/a", "x"), ("cache/old", "old"), ("cache/deep/old", "old")];
    let (ground, bare) = (Ground::new(&files), Ground::new(&files));
    let session = ground.store.session(&ground.project(), "s").unwrap();
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(bare.project());
        let output = spawn(&mut command).unwrap().wait_with_output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for script in SCRIPTS {
        if call(&ground, &session, script).is_none() {
            return;
        }
        shell(script);
        let layer = ground.store.create_above(&session, CallOrigin::default()).unwrap();
        let seen = run_in_overlay(&layer, Some(&session.folder()), LOOK).unwrap();
        assert_eq!(seen, shell(LOOK), "after {script}");
        layer.remove().unwrap();
        let in_project = tree(&ground.project().join("cache"));
        assert_eq!(in_project.len(), 3, "{in_project:?}");
    }
    // All of it becomes the project's at a person's wish, and back.
    let before = tree(&ground.project());
    let listed = session.changes().unwrap();
    let layer = session.to_layer(CallOrigin::new("session", "agent", "s")).unwrap().unwrap();
    assert!(session.is_empty().unwrap());
    let changes = scan(&layer).unwrap();
    assert_eq!(short(&changes), short(&listed));
    apply(&layer, &changes, &all(&changes)).unwrap();
    assert_eq!(layer.state().unwrap(), LayerState::Applied);
    assert_eq!(tree(&ground.project()), tree(&bare.project()));
    undo(&layer).unwrap();
    assert_eq!(tree(&ground.project()), before);
}

#[test]
fn a_file_changed_since_is_a_conflict_for_the_session_too() {
    let ground = Ground::new(&[("cache/a", "one"), ("cache/b", "two")]);
    let session = ground.store.session(&ground.project(), "s").unwrap();
    let layer = ground.store.create_above(&session, CallOrigin::default()).unwrap();
    put(&layer.upper().join("cache/a"), "changed");
    put(&layer.upper().join("cache/b"), "changed");
    let changes = scan(&layer).unwrap();
    session.absorb(&layer, &changes, &all(&changes)).unwrap();
    let conflicts = |changes: &metier_changes::ChangeSet| -> Vec<String> {
        let found = changes.entries.iter().filter(|change| change.conflict.is_some());
        found.map(|change| change.path.to_string()).collect()
    };
    assert_eq!(conflicts(&session.changes().unwrap()), Vec::<String>::new());
    fs::write(ground.project().join("cache/b"), "theirs, longer").unwrap();
    assert_eq!(conflicts(&session.changes().unwrap()), ["cache/b"]);
    let layer = session.to_layer(CallOrigin::default()).unwrap().unwrap();
    let changes = scan(&layer).unwrap();
    assert!(apply(&layer, &changes, &all(&changes)).is_err());
    apply(&layer, &changes, &paths(&["cache/a"])).unwrap();
    assert_eq!(fs::read_to_string(ground.project().join("cache/b")).unwrap(), "theirs, longer");
}

#[test]
fn it_never_changes_while_another_call_has_it_mounted() {
    let _quiet = no_starts();
    let ground = Ground::new(&[("cache/a", "one")]);
    let first = ground.store.session(&ground.project(), "s").unwrap();
    let second = ground.store.session(&ground.project(), "s").unwrap();
    let layer = ground.store.create_above(&first, CallOrigin::default()).unwrap();
    put(&layer.upper().join("cache/n"), "new");
    let changes = scan(&layer).unwrap();
    assert_eq!(first.absorb(&layer, &changes, &all(&changes)).unwrap(), None);
    assert!(first.to_layer(CallOrigin::default()).unwrap().is_none());
    assert!(!first.discard().unwrap());
    assert_eq!(all(&layer.pending().unwrap()), paths(&["cache/n"]));
    let other = ground.store.session(&ground.project(), "other").unwrap();
    drop(second);
    assert_eq!(first.absorb(&layer, &changes, &all(&changes)).unwrap(), Some(Vec::new()));
    assert!(first.folder().join("cache/n").exists());
    assert!(other.is_empty().unwrap());
}

#[test]
fn what_lies_on_the_session_or_in_an_unapplied_folder_stays_out_of_the_project() {
    let ground = Ground::new(&[("a", "one")]);
    let session = ground.store.session(&ground.project(), "s").unwrap();
    put(&session.folder().join("out/x"), "x");
    let layer = ground.store.create_above(&session, CallOrigin::default()).unwrap();
    put(&layer.upper().join("out/x"), "changed");
    put(&layer.upper().join("out/sub/y"), "new");
    put(&layer.upper().join("fresh/cache/z"), "z");
    let changes = scan(&layer).unwrap();
    let in_session: Vec<String> = changes
        .entries
        .iter()
        .filter(|change| change.in_session)
        .map(|change| change.path.to_string())
        .collect();
    assert_eq!(in_session, ["out/sub", "out/sub/y", "out/x"]);
    let applied = apply(&layer, &changes, &paths(&["out/x", "a"])).unwrap();
    assert_eq!(applied.left_out, [path("out/x")]);
    let chosen = paths(&["out/x", "out/sub", "out/sub/y", "fresh/cache", "fresh/cache/z"]);
    let left = session.absorb(&layer, &changes, &chosen).unwrap().unwrap();
    assert_eq!(left, [path("fresh/cache"), path("fresh/cache/z")]);
    assert_eq!(fs::read_to_string(session.folder().join("out/sub/y")).unwrap(), "new");
    let names: Vec<_> = tree(&ground.project()).into_keys().collect();
    assert_eq!(names, [Path::new("a")]);
}
