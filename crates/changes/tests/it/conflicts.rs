//! What another program does meanwhile.

use std::fs;

use metier_changes::{ApplyError, CallOrigin, ChangeSet, ConflictReason, LayerStore, apply, scan, undo};

use crate::support::{Ground, all, close, paths, put, run_in_overlay, tree, whiteout};

fn conflicts(changes: &ChangeSet) -> Vec<(String, ConflictReason)> {
    let found = changes.entries.iter();
    found.filter_map(|change| Some((change.path.to_string(), change.conflict?))).collect()
}

#[test]
fn a_database_is_changed_with_its_log() {
    let files = [("a.db", "one"), ("a.db-wal", "log"), ("b.db", "two"), ("c.db", "three")];
    let written = |name: &str| (name.to_owned(), ConflictReason::Changed);
    // The log alone is written while the call runs.
    let ground = Ground::new(&files);
    let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
    for name in ["a.db", "b.db", "c.db-journal"] {
        put(&layer.upper().join(name), "changed");
    }
    fs::write(ground.project().join("a.db-wal"), "more").unwrap();
    fs::write(ground.project().join("c.db"), "more").unwrap();
    let changes = scan(&layer).unwrap();
    assert_eq!(conflicts(&changes), [written("a.db"), written("c.db-journal")]);
    apply(&layer, &changes, &paths(&["b.db"])).unwrap();
    // Or before the decision.
    let ground = Ground::new(&files);
    let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
    put(&layer.upper().join("a.db"), "changed");
    let changes = scan(&layer).unwrap();
    assert_eq!(conflicts(&changes), []);
    fs::write(ground.project().join("a.db-wal"), "more").unwrap();
    let error = apply(&layer, &changes, &all(&changes)).unwrap_err();
    assert_eq!(error.to_string(), "the project changed meanwhile: a.db was changed by another program");
    assert_eq!(fs::read_to_string(ground.project().join("a.db")).unwrap(), "one");
}

#[test]
fn a_folder_that_was_exchanged_and_written_since_is_noticed() {
    let ground = Ground::new(&[("d/x", "x"), ("d/deep/y", "y"), ("e/x", "theirs"), ("e/deep/y", "theirs")]);
    let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
    if run_in_overlay(&layer, None, "echo changed > d/x; echo changed > d/deep/y").is_none() {
        return;
    }
    let project = ground.project();
    fs::rename(project.join("d"), project.join("was-d")).unwrap();
    fs::rename(project.join("e"), project.join("d")).unwrap();
    // Afterwards the folder's times say only that something was made in it, and its files are as old as ever.
    fs::write(project.join("d/new"), "theirs").unwrap();
    let changes = scan(&layer).unwrap();
    assert!(conflicts(&changes).iter().any(|(path, _)| path == "d/deep/y"), "{:?}", conflicts(&changes));
    let error = apply(&layer, &changes, &paths(&["d/deep/y"])).unwrap_err();
    assert!(matches!(error, ApplyError::Conflicts(_)), "{error}");
    assert_eq!(fs::read_to_string(project.join("d/deep/y")).unwrap(), "theirs");
}

/// Edits a file as a program does that keeps its size and modification time.
fn edit_unseen(path: &std::path::Path, text: &str) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    fs::write(path, text).unwrap();
    fs::File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

#[test]
fn an_edit_that_keeps_size_and_time_is_a_conflict() {
    for line in ["change", "delete", "chmod", "folder"] {
        let ground = Ground::new(&[("a", "one"), ("d/a", "one")]);
        let (file, layer) = match line {
            "folder" => ("d/a", ground.store.create(&ground.project(), CallOrigin::default()).unwrap()),
            _ => ("a", ground.store.create(&ground.project(), CallOrigin::default()).unwrap()),
        };
        match line {
            "change" => put(&layer.upper().join("a"), "mine"),
            "delete" => whiteout(&layer.upper().join("a")),
            "folder" => whiteout(&layer.upper().join("d")),
            _ => {
                fs::copy(ground.project().join("a"), layer.upper().join("a")).unwrap();
                close(&layer.upper().join("a"), 0o700);
            }
        }
        let changes = scan(&layer).unwrap();
        ground.wait();
        let file = ground.project().join(file);
        // Another name for the file gives it another change time, and is no edit.
        fs::hard_link(&file, ground.project().join("name")).unwrap();
        fs::remove_file(ground.project().join("name")).unwrap();
        edit_unseen(&file, "two");
        let error = apply(&layer, &changes, &all(&changes)).unwrap_err();
        assert!(matches!(error, ApplyError::Conflicts(_)), "{line}: {error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "two", "{line}");
        edit_unseen(&file, "one");
        apply(&layer, &changes, &all(&changes)).unwrap();
        // Nor does an undo take what was edited since.
        if line == "change" {
            ground.wait();
            edit_unseen(&file, "MINE");
            let error = undo(&layer).unwrap_err();
            assert_eq!(error.to_string(), "the project changed meanwhile: a was changed by another program");
            assert_eq!(fs::read_to_string(&file).unwrap(), "MINE");
            edit_unseen(&file, "mine");
        }
        undo(&layer).unwrap().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "one", "{line}");
    }
}

/// A record of an earlier version has neither change times nor digests of what was there before.
#[test]
fn a_set_that_was_stored_without_change_times_is_applied_as_before() {
    let ground = Ground::new(&[("a", "one")]);
    let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
    put(&layer.upper().join("a"), "mine");
    scan(&layer).unwrap();
    let path = layer.upper().parent().unwrap().join("changes.json");
    let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for entry in record["entries"].as_array_mut().unwrap() {
        let entry = entry.as_object_mut().unwrap();
        assert!(entry.remove("before_changed").is_some() && entry.remove("before_digest").is_some());
    }
    fs::write(&path, record.to_string()).unwrap();
    ground.wait();
    edit_unseen(&ground.project().join("a"), "two");
    let changes = layer.pending().unwrap();
    apply(&layer, &changes, &all(&changes)).unwrap();
    assert_eq!(fs::read_to_string(ground.project().join("a")).unwrap(), "mine");
}

/// A script writes a file and starts metier at once: the file has the time of the clock's last tick, and the call must begin with
/// a later one.
#[test]
fn what_was_written_right_before_a_process_began_is_not_a_conflict() {
    let ground = Ground::new(&[("a", "one")]);
    for number in 0..60 {
        fs::write(ground.project().join("a"), number.to_string()).unwrap();
        let store = LayerStore::new(&ground.workspace.join("data"));
        let layer = store.create(&ground.project(), CallOrigin::default()).unwrap();
        put(&layer.upper().join("a"), "changed");
        assert_eq!(conflicts(&scan(&layer).unwrap()), [], "{number}");
        layer.remove().unwrap();
    }
}

/// What a script does, what another program does meanwhile, and the conflict; none for an empty path.
struct Meeting {
    inside: &'static str,
    outside: &'static str,
    conflict: (&'static str, Option<ConflictReason>),
}

const fn meeting(
    inside: &'static str,
    outside: &'static str,
    path: &'static str,
    reason: ConflictReason,
) -> Meeting {
    Meeting { inside, outside, conflict: (path, Some(reason)) }
}

const fn harmless(inside: &'static str, outside: &'static str) -> Meeting {
    Meeting { inside, outside, conflict: ("", None) }
}

/// Every row is tried in a folder whose entries are noted when the call begins, and in one that is too far down for that.
const MEETINGS: [Meeting; 28] = [
    meeting("echo more >> f", "rm f", "f", ConflictReason::Gone),
    meeting("echo more >> f", "mv f g", "f", ConflictReason::Gone),
    meeting("chmod 600 f", "rm f", "f", ConflictReason::Gone),
    meeting("echo x >> docs/1", "mv docs dd", "docs/1", ConflictReason::Gone),
    meeting("echo x > docs/9", "rm -r docs", "docs/9", ConflictReason::Gone),
    meeting("mkdir docs/n", "rm -r docs", "docs/n", ConflictReason::Gone),
    meeting("echo x > docs/deep/9", "mv docs dd", "docs/deep/9", ConflictReason::Gone),
    meeting("echo x > docs/deep/9", "rm -r docs/deep", "docs/deep/9", ConflictReason::Gone),
    meeting("echo x >> docs/1", "mv docs dd; mkdir docs", "docs/1", ConflictReason::Gone),
    meeting("echo x > docs/9", "mv docs dd; mv other docs", "docs/9", ConflictReason::Gone),
    meeting("rm -r docs", "mv docs dd; mv other docs", "docs/o", ConflictReason::Gone),
    meeting("rm -r docs; mkdir docs", "mv docs dd; mv other docs", "docs/o", ConflictReason::Gone),
    meeting("rm -r docs; echo x > docs", "mv docs dd; mv other docs", "docs", ConflictReason::Gone),
    meeting("echo x >> f", "mv f g; mv other f", "f", ConflictReason::Changed),
    meeting("mv f g", "rm f", "g", ConflictReason::SourceGone),
    meeting("rm f", "echo more >> f", "f", ConflictReason::Changed),
    meeting("mv f g", "echo more >> f", "f", ConflictReason::Changed),
    harmless("echo x > docs/new", "echo x > docs/theirs"),
    harmless("echo x > docs/new", "rm docs/1"),
    harmless("mkdir -p n/m; echo x > n/m/1", "rm -r other"),
    harmless("rm f", "rm f"),
    harmless("rm -r docs", "rm -r docs"),
    harmless("mv f g", "rm docs/1"),
    harmless("cp f g; echo x >> docs/1", "rm -r other"),
    harmless("echo x > t; mv t f", "rm docs/1"),
    harmless("rm -r other; mkdir other; echo x > other/new", "echo x > docs/theirs"),
    harmless("ln f hard; echo x >> hard", "rm docs/1"),
    harmless("touch docs/deep/2; chmod 700 docs", "echo x > theirs"),
];

/// Those that only the notes tell: nothing in the layer does.
const NOTED_MEETINGS: [Meeting; 8] = [
    meeting("echo new > t; mv t f", "rm f", "f", ConflictReason::Gone),
    meeting("rm f; echo new > f", "mv f g", "f", ConflictReason::Gone),
    meeting("rm -r docs; mkdir docs", "mv docs dd", "docs", ConflictReason::Gone),
    meeting("ln -sf x link", "rm link", "link", ConflictReason::Gone),
    meeting("echo x > n", "mkdir n", "n", ConflictReason::Appeared),
    meeting("mkdir n; echo x > n/b", "mkdir n; echo x > n/a", "n/b", ConflictReason::Appeared),
    meeting("mkdir n; echo x > n/b", "mv docs n", "n/b", ConflictReason::Appeared),
    meeting("echo x > n", "echo y > n", "n", ConflictReason::Appeared),
];

/// Tries a row below a folder of the project; `false` where no overlay can be mounted.
fn meet(below: &str, row: &Meeting) -> bool {
    let Meeting { inside, outside, conflict: (path, reason) } = row;
    let at = |path: &str| format!("{below}{path}");
    let files = ["f", "docs/1", "docs/deep/2", "other/o"].map(at);
    let mut files: Vec<(&str, &str)> = files.iter().map(|path| (&**path, "old")).collect();
    let fillers: Vec<String> = (0..80).map(|number| format!("{number}/x")).collect();
    files.extend(fillers.iter().map(|path| (&**path, "x")));
    let ground = Ground::new(&files);
    std::os::unix::fs::symlink("f", ground.project().join(at("link"))).unwrap();
    ground.wait();
    let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
    let folder = if below.is_empty() { "." } else { below };
    if run_in_overlay(&layer, None, &format!("cd {folder}; {inside}")).is_none() {
        return false;
    }
    let theirs = std::process::Command::new("sh")
        .args(["-e", "-c", outside])
        .current_dir(ground.project().join(folder))
        .status()
        .unwrap();
    assert!(theirs.success());
    let (before, changes) = (tree(&ground.project()), scan(&layer).unwrap());
    let found = conflicts(&changes);
    match reason {
        None => {
            assert_eq!(found, [], "{below}: {inside} / {outside}");
            apply(&layer, &changes, &all(&changes)).unwrap();
        }
        Some(reason) => {
            // Without the notes it is not always known whether something was there.
            let is_noted = below.is_empty();
            let is_found =
                |(found, why): &(String, ConflictReason)| *found == at(path) && (why == reason || !is_noted);
            assert!(found.iter().any(is_found), "{below}: {inside} / {outside}: {found:?}");
            let error = apply(&layer, &changes, &all(&changes)).unwrap_err();
            assert!(matches!(error, ApplyError::Conflicts(_)), "{error}");
            assert_eq!(tree(&ground.project()), before, "{below}: {inside} / {outside}");
        }
    }
    true
}

#[test]
fn what_another_program_takes_away_or_puts_there_is_a_conflict() {
    for row in MEETINGS.iter().chain(&NOTED_MEETINGS) {
        if !meet("", row) {
            return;
        }
    }
}

#[test]
fn the_same_is_noticed_in_folders_of_which_nothing_was_noted() {
    for row in &MEETINGS {
        if !meet("99/deep/down/", row) {
            return;
        }
    }
}
