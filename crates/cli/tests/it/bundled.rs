//! The skills that come with metier.

use crate::binary::{Run, metier, metier_with, without_bundled, workspace};
use metier_testkit::Workspace;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// How many `skills/` has. Whoever adds one counts it here.
const COUNT: usize = 12;

/// The folder in which they are kept, once they were needed.
fn folder(workspace: &Workspace) -> PathBuf {
    let above = workspace.join("home/.cache/metier/bundled");
    let mut found: Vec<_> = fs::read_dir(&above).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(found.len(), 1, "one folder and nothing beside it: {found:?}");
    found.remove(0)
}

fn codes(run: &Run) -> Vec<String> {
    let found = run.json()["diagnostics"].as_array().unwrap().clone();
    found
        .iter()
        .map(|one| one["code"].as_str().unwrap().to_owned())
        .filter(|code| code != "no-project")
        .collect()
}

fn loaded(run: &Run) -> u64 {
    run.json()["loaded"].as_u64().unwrap()
}

#[test]
fn a_new_machine_has_skills_and_says_where_they_come_from() {
    let workspace = workspace();
    let run = metier(&workspace, &["list", "--json"]);
    assert_eq!(loaded(&run), COUNT as u64);
    let skills = run.json()["skills"].as_array().unwrap().clone();
    assert!(
        skills
            .iter()
            .all(|skill| skill["origin"] == "bundled" && skill["diagnostics"] == serde_json::json!([]))
    );
    assert_eq!(codes(&run), [""; 0]);
    assert!(metier(&workspace, &["show", "count-lines"]).stdout.contains("count-lines (bundled, ready)"));
    assert!(metier(&workspace, &["explain", "count-lines"]).stdout.contains("bundled"));
    let shown = metier(&workspace, &["list"]).stdout;
    assert!(shown.contains("\nbundled ~/.cache/metier/bundled/"), "{shown}");
}

#[test]
fn they_are_the_lowest_root_and_absent_where_others_are_named_or_nobody_wants_them() {
    let workspace = workspace().skill("home/.claude/skills/count-lines", "Mine.").skill("project/s/x", "d");
    let run = metier(&workspace, &["show", "count-lines", "--json"]);
    assert_eq!(run.json()["origin"], "user.claude", "{}", run.stdout);
    assert_eq!(metier(&workspace, &["show", "bundled:count-lines", "--json"]).json()["state"], "shadowed");
    assert_eq!(loaded(&metier(&workspace, &["list", "--json", "--root", "s"])), 1);
    let workspace = without_bundled();
    assert_eq!(loaded(&metier(&workspace, &["list", "--json"])), 0);
    assert!(!workspace.join("home/.cache").exists(), "nothing is written for who does not want them");
}

#[test]
fn what_was_changed_is_written_anew_and_that_is_said_once() {
    let workspace = workspace();
    metier(&workspace, &["list"]);
    let file = folder(&workspace).join("count-lines/scripts/count.sh");
    let original = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    fs::write(&file, "#!/bin/sh\necho evil\n").unwrap();
    fs::create_dir(folder(&workspace).join("evil")).unwrap();
    fs::write(folder(&workspace).join("evil/SKILL.md"), "---\nname: evil\ndescription: d\n---\n").unwrap();
    let run = metier(&workspace, &["list", "--json"]);
    assert_eq!((codes(&run), loaded(&run)), (vec!["bundled-changed".to_owned()], COUNT as u64));
    assert_eq!(fs::read(&file).unwrap(), original);
    assert_eq!(codes(&metier(&workspace, &["list", "--json"])), [""; 0]);
}

/// Sizes and dates are all that a listing looks at, and whoever changes a file can set both.
#[test]
fn a_change_that_a_listing_cannot_see_does_not_run() {
    let workspace = workspace();
    metier(&workspace, &["list"]);
    let file = folder(&workspace).join("count-lines/scripts/count.sh");
    let date = fs::metadata(&file).unwrap().modified().unwrap();
    let mut text = b"#!/bin/sh\necho evil\nexit\n".to_vec();
    text.resize(fs::metadata(&file).unwrap().len().try_into().unwrap(), b'#');
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(&file, text).unwrap();
    fs::File::open(&file).unwrap().set_modified(date).unwrap();
    let run = metier(&workspace, &["exec", "count-lines", "count.sh"]);
    assert_eq!((run.stdout.as_str(), run.code), ("", 1));
    assert!(run.stderr.contains("count.sh` has other bytes than it came with; remove `"), "{}", run.stderr);
    // Nor is its text shown to anybody: what it tells a model to run is not what came.
    let shown = metier(&workspace, &["use", "count-lines"]);
    assert_eq!((shown.stdout.as_str(), shown.code), ("", 1));
    let told = metier(&workspace, &["call", "skill_use", "{\"skill_name\": \"count-lines\"}"]);
    assert!(told.code == 1 && told.stdout.contains("has other bytes than it came with"), "{}", told.stdout);
    let active = ["call", "run_command_line", "{}", "--skill", "count-lines"];
    assert!(metier(&workspace, &active).stderr.contains("has other bytes than it came with"));
    // Another one is as it came.
    assert_eq!(metier(&workspace, &["exec", "list-tasks", "list-tasks.sh"]).stdout, "0 open, 0 done\n");
    fs::remove_dir_all(folder(&workspace)).unwrap();
    assert_eq!(metier(&workspace, &["exec", "count-lines", "count.sh"]).code, 0);
}

#[test]
fn many_that_start_at_once_all_have_them_on_a_new_machine_and_after_a_change() {
    let workspace = workspace();
    let at_once = || {
        std::thread::scope(|scope| {
            let start = |_| scope.spawn(|| metier(&workspace, &["list", "--json"]));
            let runs: Vec<_> = (0..6).map(start).collect();
            let runs = runs.into_iter().map(|run| run.join().unwrap());
            runs.inspect(|run| assert_eq!(loaded(run), COUNT as u64, "{}", run.stdout)).collect::<Vec<_>>()
        })
    };
    assert!(at_once().iter().all(|run| codes(run).is_empty()));
    fs::write(folder(&workspace).join("stranger"), "").unwrap();
    assert!(at_once().iter().any(|run| codes(run) == ["bundled-changed"]));
    assert!(!folder(&workspace).join("stranger").exists());
}

#[test]
fn where_the_cache_cannot_be_written_they_are_left_out_and_that_is_said() {
    let workspace = workspace().file("home/.cache", "a file").skill("home/.claude/skills/x", "d");
    let run = metier(&workspace, &["list", "--json"]);
    assert_eq!((codes(&run), loaded(&run), run.code), (vec!["bundled-unavailable".to_owned()], 1, 0));
    // There is no home at all.
    let run = metier_with(&workspace, &["list", "--json"], &[("HOME", "")]);
    assert_eq!((codes(&run), loaded(&run), run.code), (vec!["bundled-unavailable".to_owned()], 0, 0));
}

#[test]
fn with_a_home_of_its_own_metier_writes_nothing_elsewhere() {
    let workspace = workspace();
    let own = workspace.join("own");
    metier_with(&workspace, &["list"], &[("METIER_HOME", own.to_str().unwrap())]);
    assert!(own.join("cache/bundled").is_dir());
    assert_eq!(fs::read_dir(workspace.join("home")).unwrap().count(), 0);
}
