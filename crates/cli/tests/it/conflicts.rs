//! Two calls at once, and an editor that saves meanwhile: conflicts are found, nothing is overwritten, nothing is lost.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use metier_testkit::Workspace;
use serde_json::Value;

use crate::binary::{Run, command, metier};

const ALLOW: [&str; 2] = ["--allow", "skill:lab/write:**"];

/// Waits in the middle of its work until it is told to end: `$1` is its own name, `$2` what it does to the project.
const SCRIPT: &str =
    "mkfifo \"$SKILL_DATA/$1\"; cd \"$PROJECT_DIR\"; eval \"$2\"; echo \"ready $SKILL_DATA/$1\"
read -r _ < \"$SKILL_DATA/$1\"; rm \"$SKILL_DATA/$1\"\n";

fn machine() -> Workspace {
    Workspace::new()
        .file("home/.agents/skills/lab/SKILL.md", "---\nname: lab\ndescription: Works.\n---\nRun it.\n")
        .file("home/.agents/skills/lab/scripts/work.sh", SCRIPT)
        .file("home/.agents/skills/lab/scripts/plain.sh", "cd \"$PROJECT_DIR\"; eval \"$1\"\n")
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .file("project/shared.txt", "before\n")
        .file("project/other.txt", "before\n")
        .file("project/folder/inner.txt", "before\n")
}

/// A call that has done its work and waits.
struct Call {
    metier: Child,
    output: BufReader<ChildStdout>,
    gate: PathBuf,
}

impl Call {
    fn start(workspace: &Workspace, name: &str, work: &str, allow: &[&str]) -> Self {
        let args: Vec<&str> =
            ["exec", "lab", "work.sh"].iter().chain(allow).copied().chain(["--", name, work]).collect();
        let mut metier = command(workspace, &args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(metier.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let Some(seen) = line.trim_end().strip_prefix("ready ") else {
            let mut errors = String::new();
            metier.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
            panic!("it did not begin: {line:?} {errors}");
        };
        let gate = Path::new(seen).to_owned();
        assert!(gate.exists(), "{}", gate.display());
        Self { metier, output, gate }
    }

    /// Lets it end.
    fn finish(mut self) -> Run {
        OpenOptions::new().write(true).open(&self.gate).unwrap().write_all(b"go\n").unwrap();
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.output.read_to_string(&mut stdout).unwrap();
        self.metier.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        Run { stdout, stderr, code: self.metier.wait().unwrap().code().unwrap() }
    }
}

fn read(workspace: &Workspace, path: &str) -> String {
    fs::read_to_string(workspace.join("project").join(path)).unwrap_or_else(|_| "(missing)".to_owned())
}

/// The youngest set of changes.
fn last(workspace: &Workspace) -> Value {
    metier(workspace, &["changes", "--json"]).json()["changes"][0].clone()
}

#[test]
fn of_two_calls_on_one_file_the_second_is_a_conflict_and_is_kept() {
    let workspace = machine();
    let first = Call::start(&workspace, "first", "echo first > shared.txt; echo first > first.txt", &ALLOW);
    let second =
        Call::start(&workspace, "second", "echo second > shared.txt; echo second > second.txt", &ALLOW);
    let run = first.finish();
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(read(&workspace, "shared.txt"), "first\n");
    let run = second.finish();
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(
        run.stderr.contains("shared.txt") && run.stderr.contains("nothing was applied"),
        "{}",
        run.stderr
    );
    assert_eq!(read(&workspace, "shared.txt"), "first\n");
    assert_eq!(
        (read(&workspace, "first.txt"), read(&workspace, "second.txt")),
        ("first\n".into(), "(missing)".into())
    );
    // The second one's work is kept, shown with the conflict, refused as a whole, and taken path by path.
    let set = last(&workspace);
    let id = set["id"].as_str().unwrap();
    let shown = metier(&workspace, &["changes", "show", id]).stdout;
    assert!(
        shown.contains("shared.txt") && shown.contains("CONFLICT") && shown.contains("second.txt"),
        "{shown}"
    );
    let all = metier(&workspace, &["changes", "apply", id, "--yes"]);
    assert!(all.code == 1 && all.stderr.contains("shared.txt"), "{}", all.stderr);
    assert_eq!(read(&workspace, "shared.txt"), "first\n");
    assert_eq!(metier(&workspace, &["changes", "apply", id, "--yes", "second.txt"]).code, 0);
    assert_eq!(
        (read(&workspace, "second.txt"), read(&workspace, "shared.txt")),
        ("second\n".into(), "first\n".into())
    );
}

#[test]
fn two_calls_on_different_files_are_both_applied() {
    let workspace = machine();
    let first = Call::start(&workspace, "first", "echo first > shared.txt; echo 1 > folder/first", &ALLOW);
    let second = Call::start(&workspace, "second", "echo second > other.txt; echo 2 > folder/second", &ALLOW);
    for run in [second.finish(), first.finish()] {
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    for (path, text) in [
        ("shared.txt", "first\n"),
        ("folder/first", "1\n"),
        ("other.txt", "second\n"),
        ("folder/second", "2\n"),
    ] {
        assert_eq!(read(&workspace, path), text, "{path}");
    }
}

#[test]
fn a_folder_that_two_calls_make_is_a_conflict_and_the_later_ones_work_is_kept() {
    let workspace = machine();
    let first = Call::start(&workspace, "first", "mkdir new; echo 1 > new/first", &ALLOW);
    let second = Call::start(&workspace, "second", "mkdir new; echo 2 > new/second", &ALLOW);
    assert_eq!(second.finish().code, 0);
    let run = first.finish();
    assert!(run.code == 1 && run.stderr.contains("new"), "{}", run.stderr);
    assert_eq!(
        (read(&workspace, "new/second"), read(&workspace, "new/first")),
        ("2\n".into(), "(missing)".into())
    );
    // What the later one wrote is listed and lies in its layer. A conflict that was found while the call ran stays one.
    let sets = metier(&workspace, &["changes", "--json"]).json()["changes"].clone();
    let pending = sets.as_array().unwrap().iter().find(|set| set["state"] == "pending");
    let id = pending.unwrap_or_else(|| panic!("{sets}"))["id"].as_str().unwrap();
    let shown = metier(&workspace, &["changes", "show", id]).stdout;
    assert!(shown.contains("new/first") && shown.contains("CONFLICT"), "{shown}");
    let mut find = Command::new("find");
    find.arg(workspace.path()).args(["-path", &format!("*/{id}/upper/new/first")]);
    let found = String::from_utf8(find.output().unwrap().stdout).unwrap();
    assert_eq!(fs::read_to_string(found.trim()).unwrap(), "1\n");
}

/// What an editor does to a file while a call has it changed.
type Save = fn(&Path);

fn in_place(path: &Path) {
    let mut file = OpenOptions::new().write(true).truncate(true).open(path).unwrap();
    file.write_all(b"editor\n").unwrap();
}

fn by_rename(path: &Path) {
    let temporary = path.with_extension("tmp");
    fs::write(&temporary, "editor\n").unwrap();
    fs::rename(&temporary, path).unwrap();
}

fn new_file(path: &Path) {
    fs::write(path, "editor\n").unwrap();
}

const SAVES: [(&str, Save); 2] = [("in place", in_place), ("by rename", by_rename)];

#[test]
fn what_an_editor_saves_during_a_call_is_a_conflict() {
    for (how, save) in SAVES {
        for work in [
            "echo call > shared.txt",
            "rm shared.txt",
            "mv shared.txt moved.txt",
            "sed -i s/before/call/ shared.txt",
        ] {
            let workspace = machine();
            let call = Call::start(&workspace, "call", &format!("{work}; echo call > more.txt"), &ALLOW);
            save(&workspace.join("project/shared.txt"));
            let run = call.finish();
            assert!(
                run.code == 1 && run.stderr.contains("shared.txt"),
                "{how}, {work}: {} {}",
                run.code,
                run.stderr
            );
            assert_eq!(read(&workspace, "shared.txt"), "editor\n", "{how}, {work}");
            // All or nothing.
            assert_eq!(read(&workspace, "more.txt"), "(missing)", "{how}, {work}");
            assert_eq!(last(&workspace)["state"], "pending", "{how}, {work}");
        }
    }
}

#[test]
fn what_an_editor_saves_before_the_decision_is_a_conflict() {
    for (how, save) in SAVES {
        for work in ["echo call > shared.txt", "rm shared.txt", "mv shared.txt moved.txt"] {
            let workspace = machine();
            let line = format!("{work}; echo call > more.txt");
            let run = metier(&workspace, &["exec", "lab", "plain.sh", "--json", "--", &line]);
            assert_eq!(run.code, 4, "{}", run.stderr);
            save(&workspace.join("project/shared.txt"));
            let id = run.json()["changes"]["id"].as_str().unwrap().to_owned();
            let applied = metier(&workspace, &["changes", "apply", &id, "--yes"]);
            assert!(
                applied.code == 1 && applied.stderr.contains("shared.txt"),
                "{how}, {work}: {}",
                applied.stderr
            );
            assert_eq!(read(&workspace, "shared.txt"), "editor\n", "{how}, {work}");
            assert_eq!(read(&workspace, "more.txt"), "(missing)", "{how}, {work}");
            assert_eq!(last(&workspace)["state"], "pending", "{how}, {work}");
        }
    }
}

#[test]
fn a_file_that_both_make_is_a_conflict() {
    let workspace = machine();
    let call = Call::start(&workspace, "call", "echo call > made.txt", &ALLOW);
    new_file(&workspace.join("project/made.txt"));
    let run = call.finish();
    assert!(run.code == 1 && run.stderr.contains("made.txt"), "{}", run.stderr);
    assert_eq!(read(&workspace, "made.txt"), "editor\n");
}

#[test]
fn what_is_deleted_or_renamed_during_a_call_is_a_conflict_and_does_not_come_back() {
    let gone = "was deleted or moved by another program";
    for (work, path) in [
        ("echo more >> shared.txt", "shared.txt"),
        ("echo call > t; mv t shared.txt", "shared.txt"),
        ("echo more >> folder/inner.txt", "folder"),
        ("echo call > folder/9", "folder/9"),
    ] {
        for how in ["rm -r", "mv -t elsewhere"] {
            let workspace = machine();
            fs::create_dir(workspace.join("project/elsewhere")).unwrap();
            let call = Call::start(&workspace, "call", work, &ALLOW);
            let meanwhile = format!("{how} shared.txt folder");
            let run =
                metier(&workspace, &[&["exec", "lab", "plain.sh"], &ALLOW[..], &["--", &meanwhile]].concat());
            assert_eq!(run.code, 0, "{meanwhile}: {}", run.stderr);
            let run = call.finish();
            let is_said = run.stderr.contains(&format!("{path} {gone}"));
            assert!(run.code == 1 && is_said, "{work}, {how}: {}", run.stderr);
            for path in ["shared.txt", "folder", "t"] {
                assert!(!workspace.join("project").join(path).exists(), "{work}, {how}: {path}");
            }
        }
    }
}

#[test]
fn a_folder_that_both_make_was_created_by_the_other_one() {
    let workspace = machine();
    let first = Call::start(&workspace, "first", "mkdir new; echo 1 > new/first", &ALLOW);
    let second = Call::start(&workspace, "second", "mkdir new; echo 2 > new/second", &ALLOW);
    assert_eq!(second.finish().code, 0);
    let run = first.finish();
    assert!(run.stderr.contains("new/first was created by another program"), "{}", run.stderr);
}

#[test]
fn a_new_file_in_a_folder_that_a_call_deletes_stays() {
    let workspace = machine();
    let call = Call::start(&workspace, "call", "rm -rf folder", &ALLOW);
    new_file(&workspace.join("project/folder/new.txt"));
    let run = call.finish();
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(
        (read(&workspace, "folder/new.txt"), read(&workspace, "folder/inner.txt")),
        ("editor\n".into(), "before\n".into())
    );
}

#[test]
fn what_an_editor_does_elsewhere_is_none_of_the_calls_business() {
    for (how, save) in SAVES {
        let workspace = machine();
        let call =
            Call::start(&workspace, "call", "echo call > shared.txt; echo call > folder/call.txt", &ALLOW);
        save(&workspace.join("project/other.txt"));
        save(&workspace.join("project/folder/inner.txt"));
        let run = call.finish();
        assert_eq!(run.code, 0, "{how}: {}", run.stderr);
        for (path, text) in [
            ("shared.txt", "call\n"),
            ("folder/call.txt", "call\n"),
            ("other.txt", "editor\n"),
            ("folder/inner.txt", "editor\n"),
        ] {
            assert_eq!(read(&workspace, path), text, "{how}: {path}");
        }
    }
}

#[test]
fn what_an_editor_saved_after_applying_is_not_undone() {
    for (how, save) in SAVES {
        let workspace = machine();
        let line = "echo call > shared.txt; echo call > more.txt";
        let args = ["exec", "lab", "plain.sh", ALLOW[0], ALLOW[1], "--", line];
        let run = metier(&workspace, &args);
        assert_eq!(run.code, 0, "{}", run.stderr);
        save(&workspace.join("project/shared.txt"));
        let undone = metier(&workspace, &["changes", "undo"]);
        assert!(undone.code == 1 && undone.stderr.contains("shared.txt"), "{how}: {}", undone.stderr);
        assert_eq!(
            (read(&workspace, "shared.txt"), read(&workspace, "more.txt")),
            ("editor\n".into(), "call\n".into())
        );
    }
}

#[test]
fn of_two_sets_that_wait_the_second_is_a_conflict_until_the_first_is_undone() {
    let workspace = machine();
    let id = |line: &str| {
        let run = metier(&workspace, &["exec", "lab", "plain.sh", "--json", "--", line]);
        assert_eq!(run.code, 4, "{}", run.stderr);
        run.json()["changes"]["id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (id("echo first > shared.txt"), id("echo second > shared.txt; rm other.txt"));
    assert_eq!(metier(&workspace, &["changes", "apply", &first, "--yes"]).code, 0);
    let refused = metier(&workspace, &["changes", "apply", &second, "--yes"]);
    assert!(refused.code == 1 && refused.stderr.contains("shared.txt"), "{}", refused.stderr);
    assert_eq!(
        (read(&workspace, "shared.txt"), read(&workspace, "other.txt")),
        ("first\n".into(), "before\n".into())
    );
    assert_eq!(metier(&workspace, &["changes", "undo", &first]).code, 0);
    let applied = metier(&workspace, &["changes", "apply", &second, "--yes"]);
    assert_eq!(applied.code, 0, "{}", applied.stderr);
    assert_eq!(
        (read(&workspace, "shared.txt"), read(&workspace, "other.txt")),
        ("second\n".into(), "(missing)".into())
    );
}
