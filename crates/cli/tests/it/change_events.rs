//! What a run changed in the project, in its log, in its last lines and in its exit code; and the sets in `metier changes`.

use crate::binary::{metier, metier_with_input, workspace};
use crate::model_server::{ModelServer, Says};
use metier_testkit::Workspace;
use serde_json::{Value, json};
use std::fs;

fn user(server: &ModelServer) -> Workspace {
    workspace().file("project/metier.toml", "").file("home/.config/metier/config.toml", server.config())
}

fn bash(line: &str) -> Says {
    Says::Calls("Bash", json!({ "command": line }))
}

/// The set that the last event of a result in the log has.
fn recorded(workspace: &Workspace) -> Value {
    let log = metier(workspace, &["log", "--json"]);
    let lines = log.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut sets = lines.filter_map(|event| event["data"].get("change_set").cloned());
    sets.next_back().unwrap_or_else(|| panic!("no set in {}", log.stdout))
}

#[test]
fn what_waits_is_in_the_log_in_the_last_lines_and_in_the_exit_code() {
    let line = "echo one > a.txt; mkdir -p .github/workflows; echo on: push > .github/workflows/x.yml";
    let server = ModelServer::saying(vec![bash(line), Says::Words("Done.")]);
    let workspace = user(&server);
    let run = metier(&workspace, &["run", "do it", "--allow", "write:a.txt"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    let set = recorded(&workspace);
    let id = set["id"].as_str().unwrap().to_owned();
    assert!(run.stderr.contains("[changed] a.txt (created)"), "{}", run.stderr);
    assert!(run.stderr.contains("created .github/workflows/x.yml (protected)"), "{}", run.stderr);
    assert!(run.stderr.contains(&format!("metier changes apply {id}")), "{}", run.stderr);
    assert!(run.stderr.contains("--allow 'write:.github/workflows/x.yml'"), "{}", run.stderr);

    let entries = set["entries"].as_array().unwrap();
    let of = |path: &str| entries.iter().find(|entry| entry["path"] == path).unwrap();
    let file = of("a.txt");
    assert_eq!(
        (&file["state"], &file["kind"], &file["size"]),
        (&json!("applied"), &json!("created"), &json!(4))
    );
    assert!(file["digest"].as_str().unwrap().starts_with("sha256:"), "{file}");
    let workflow = of(".github/workflows/x.yml");
    assert_eq!((&workflow["state"], &workflow["protected"]), (&json!("not-approved"), &json!(true)));
    let rules = set["allow_with"].to_string();
    assert!(rules.contains("write:.github/workflows/x.yml"), "{rules}");

    let log = metier(&workspace, &["log"]);
    let shown = format!("{}{}", log.stdout, log.stderr);
    assert!(shown.contains(&format!("[waiting] apply with `metier changes apply {id}`")), "{shown}");
    let apply = ["changes", "apply", &id, "--yes", "--protected", ".github/workflows/x.yml"];
    assert_eq!(metier(&workspace, &apply).code, 0);
    assert!(workspace.join("project/.github/workflows/x.yml").exists());
}

#[test]
fn what_works_out_later_does_not_hide_what_waits() {
    let server = ModelServer::saying(vec![bash("echo 1 > a.txt"), bash("true"), Says::Words("Done.")]);
    let workspace = user(&server);
    assert_eq!(metier(&workspace, &["run", "do it"]).code, 4);
    let server = ModelServer::saying(vec![bash("echo 1 > b.txt"), bash("true"), Says::Words("Done.")]);
    let workspace = workspace.file("home/.config/metier/config.toml", server.config());
    let chat = metier_with_input(&workspace, &["chat"], "do it\n");
    assert_eq!(chat.code, 4, "{}", chat.stderr);
    let allowed = ModelServer::saying(vec![bash("echo 1 > c.txt"), Says::Words("Done.")]);
    let workspace = workspace.file("home/.config/metier/config.toml", allowed.config());
    assert_eq!(metier(&workspace, &["run", "do it", "--allow", "write:c.txt"]).code, 0);
}

#[test]
fn changed_lines_are_shown_and_what_is_no_text_is_named() {
    let line = "sed -i s/two/three/ notes.md; head -c 100 /dev/zero > zero.bin; rm gone.md; \
                head -c 3000000 /dev/zero | tr '\\0' x > large.txt";
    let server = ModelServer::saying(vec![bash(line), Says::Words("Done.")]);
    let workspace = user(&server).file("project/notes.md", "one\ntwo\n").file("project/gone.md", "bye\n");
    assert_eq!(metier(&workspace, &["run", "do it"]).code, 4);
    let shown = metier(&workspace, &["changes", "show", "last", "--diff"]);
    for part in [
        "-two",
        "+three",
        "-bye",
        "zero.bin: no diff, it is a binary file",
        "large.txt: no diff, it has 3000000 bytes",
    ] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let json = metier(&workspace, &["changes", "show", "last", "--diff", "--json"]).json();
    let entries = json["entries"].as_array().unwrap();
    let of = |path: &str| entries.iter().find(|entry| entry["path"] == path).unwrap();
    assert!(of("notes.md")["diff"].as_str().unwrap().contains("@@"), "{json}");
    assert_eq!(of("zero.bin")["no_diff"], "it is a binary file");
    assert_eq!(of("notes.md")["applied"], false);
    assert_eq!(metier(&workspace, &["changes", "apply", "last", "--yes"]).code, 0);
    let applied = metier(&workspace, &["changes", "show", "last", "--diff"]);
    assert!(applied.stdout.contains("-two") && applied.stdout.contains("+three"), "{}", applied.stdout);
}

#[test]
fn ignored_files_are_kept_for_the_session_listed_and_applied_on_demand() {
    let line = "mkdir -p target && echo built > target/out";
    let server = ModelServer::saying(vec![bash(line), bash("cat target/out"), Says::Words("Done.")]);
    let workspace = user(&server).file("project/.gitignore", "/target\n").dir("project/.git");
    let run = metier(&workspace, &["run", "do it"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("built"), "the next call sees it: {}", run.stderr);
    assert!(!workspace.join("project/target").exists());
    let listed = metier(&workspace, &["changes", "--json"]).json();
    assert_eq!(listed["changes"], json!([]), "nothing waits for a decision");
    let session = listed["sessions"][0]["id"].as_str().unwrap();
    assert!(metier(&workspace, &["changes"]).stdout.contains("ignored and cache files of the session"));
    let asked = metier(&workspace, &["changes", "apply", session, "--ignored"]);
    assert_eq!(asked.code, 4, "{}", asked.stderr);
    assert!(asked.stdout.contains("target/out"), "{}", asked.stdout);
    let applied = metier(&workspace, &["changes", "apply", "last", "--ignored", "--yes"]);
    assert_eq!(applied.code, 0, "{}", applied.stderr);
    assert_eq!(fs::read_to_string(workspace.join("project/target/out")).unwrap(), "built\n");
    assert_eq!(metier(&workspace, &["changes", "--json"]).json()["sessions"], json!([]));
    assert_eq!(metier(&workspace, &["changes", "undo"]).code, 0);
    assert!(!workspace.join("project/target").exists());
}

#[test]
fn a_model_is_told_that_what_it_started_in_the_background_is_gone() {
    let started = "sleep 300 >/dev/null 2>&1 & echo started";
    // A process of metier's own moves the folder. It is not what the command left.
    let moved = "mv docs papers && ls papers";
    let server = ModelServer::saying(vec![bash(moved), bash(started), Says::Words("Done.")]);
    let workspace = user(&server).file("project/docs/a.md", "a");
    assert_eq!(
        metier(&workspace, &["run", "do it", "--allow", "write:docs/**", "--allow", "write:papers/**"]).code,
        0
    );
    server.request();
    let told = server.request()["messages"].to_string();
    assert!(told.contains("a.md") && !told.contains("in the background"), "{told}");
    let told = server.request()["messages"].to_string();
    assert!(told.contains("it left 1 process in the background, which was ended with it"), "{told}");
}

#[test]
fn a_user_can_have_ignored_files_applied_or_forgotten() {
    for (word, is_applied) in [("apply", true), ("discard", false)] {
        let line = "mkdir -p target && echo built > target/out";
        let server = ModelServer::saying(vec![bash(line), bash("ls target"), Says::Words("Done.")]);
        let config = format!("{}[changes]\nignored = \"{word}\"\n", server.config());
        let workspace = user(&server)
            .file("home/.config/metier/config.toml", config)
            .file("project/.gitignore", "/target\n")
            .dir("project/.git");
        let run = metier(&workspace, &["run", "do it"]);
        assert_eq!(run.code, 0, "{word}: {}", run.stderr);
        assert_eq!(workspace.join("project/target/out").exists(), is_applied, "{word}: {}", run.stderr);
        let listed = metier(&workspace, &["changes", "--json"]).json();
        assert_eq!(listed["sessions"], json!([]), "{word}");
        assert_eq!(listed["changes"].as_array().unwrap().len(), usize::from(is_applied), "{word}: {listed}");
    }
}
