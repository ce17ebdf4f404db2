//! Approvals that hold for good: in which project, who sees them, and how they are taken back.

use crate::binary::{Run, command, metier, workspace};
use crate::model_server::{ModelServer, Says};
use crate::typist::Typist;
use metier_testkit::Workspace;
use serde_json::json;
use std::fs;

const NEEDS: &str =
    "metadata:\n  metier:\n    needs:\n      hosts: [api.example.org]\n      env: [API_TOKEN]\n";

/// A user with two projects and a skill that wants more than its containment.
fn user() -> Workspace {
    workspace()
        .file("project/metier.toml", "")
        .file("other/metier.toml", "")
        .file(
            "home/.agents/skills/tool/SKILL.md",
            format!("---\nname: tool\ndescription: Does things.\n{NEEDS}---\n\nDo it.\n"),
        )
        .file("home/.agents/skills/tool/scripts/a.sh", "echo ran\n")
}

/// Runs metier in the other project.
fn elsewhere(workspace: &Workspace, args: &[&str]) -> Run {
    let output = command(workspace, args).current_dir(workspace.join("other")).output().unwrap();
    Run {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
}

/// Answers the question about the skill's needs with "always".
fn approve(workspace: &Workspace) {
    let mut typist = Typist::at(workspace, &["exec", "tool", "a.sh"]);
    typist.wait_for("[a]lways in this project for this version  [n]o > ");
    typist.types("a\n");
    typist.wait_for("ran\r\n");
    assert!(typist.ends().success());
}

#[test]
fn always_is_for_one_project_and_is_listed_and_revoked() {
    let workspace = user();
    approve(&workspace);
    let run = |args: &[&str]| metier(&workspace, args);
    assert_eq!(run(&["exec", "tool", "a.sh"]).stdout, "ran\n");
    // Reproduction of review/terminal.md 0.1: it held in every project.
    let refused = elsewhere(&workspace, &["exec", "tool", "a.sh"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (4, ""), "{}", refused.stderr);

    let list = run(&["approvals", "--json"]).json();
    let approval = &list["approvals"][0];
    assert_eq!(approval["who"], "user.agents:tool");
    assert_eq!(approval["what"], "run the script `scripts/a.sh`");
    assert_eq!(approval["grants"], json!(["reach `api.example.org`", "see the secret `API_TOKEN`"]));
    assert_eq!(approval["project"], workspace.join("project").canonicalize().unwrap().to_str().unwrap());
    assert!(approval["skill_digest"].as_str().is_some_and(|digest| digest.len() > 20), "{approval}");
    assert_eq!(list["elsewhere"], 0);
    let id = approval["id"].as_str().unwrap();
    let text = run(&["approvals"]).stdout;
    assert!(
        text.contains(id) && text.contains("user.agents:tool may run the script `scripts/a.sh`"),
        "{text}"
    );
    assert!(text.contains("      - see the secret `API_TOKEN`"), "{text}");

    let none = elsewhere(&workspace, &["approvals"]).stdout;
    assert!(
        none.contains("nothing is approved for good in") && none.contains("1 approval in other projects"),
        "{none}"
    );
    assert!(elsewhere(&workspace, &["approvals", "--all"]).stdout.contains(id));
    assert!(run(&["doctor"]).stdout.contains("  approvals      1 in this project, 0 in others"));
    assert_eq!(
        elsewhere(&workspace, &["doctor", "--json"]).json()["approvals"],
        json!({"here": 0, "elsewhere": 1})
    );

    let wrong = run(&["approvals", "revoke", "zzzz"]);
    assert_eq!(wrong.code, 1);
    assert!(
        wrong.stderr.contains("no approval has the id `zzzz`; `metier approvals --all` lists them"),
        "{}",
        wrong.stderr
    );
    // A variable of a shell that is not set is not the beginning of every id.
    for short in ["", &id[..1], &id[..3]] {
        let refused = elsewhere(&workspace, &["approvals", "revoke", short]);
        assert_eq!(refused.code, 1, "{}", refused.stdout);
        assert!(refused.stderr.contains("is too short for an id: write 4 characters"), "{}", refused.stderr);
    }
    assert_eq!(run(&["approvals", "revoke"]).code, 2);
    let revoked = run(&["approvals", "revoke", &id[..4]]).stdout;
    assert!(revoked.starts_with(&format!("revoked {id}: user.agents:tool may run")), "{revoked}");
    assert_eq!(run(&["exec", "tool", "a.sh"]).code, 4);
    assert_eq!(run(&["approvals", "revoke", "--all"]).code, 0);

    approve(&workspace);
    assert_eq!(
        run(&["approvals", "revoke", "--all", "--json"]).json()["revoked"].as_array().unwrap().len(),
        1
    );
    assert_eq!(run(&["exec", "tool", "a.sh"]).code, 4);
    // Nothing of it is in the project.
    let names: Vec<_> =
        fs::read_dir(workspace.join("project")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["metier.toml"]);
}

#[test]
fn the_agents_own_always_is_for_one_project_and_kept_at_once() {
    let write = || Says::Calls("Write", json!({"file_path": "note.txt", "content": "hello\n"}));
    let server =
        ModelServer::saying(vec![write(), Says::WordsAndWaits("Written."), write(), Says::Words("Refused.")]);
    let workspace = user().file("home/.config/metier/config.toml", server.config());
    let mut typist = Typist::at(&workspace, &["run", "write a note"]);
    typist.wait_for("[a]lways in this project  [n]o > ");
    typist.types("a\n");
    typist.wait_for("[gate] always allowed in this project (undo: `metier approvals`)");
    typist.wait_for("Written.");
    // It does not take the end of the run.
    typist.kills();
    assert_eq!(fs::read_to_string(workspace.join("project/note.txt")).unwrap(), "hello\n");
    let list = metier(&workspace, &["approvals", "--json"]).json();
    assert_eq!(list["approvals"][0]["who"], "the agent");
    assert_eq!(list["approvals"][0]["what"], "call `Write` for `note.txt`");
    let refused = elsewhere(&workspace, &["run", "--no-input", "write a note"]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(!workspace.join("other/note.txt").exists());
}

#[test]
fn approvals_of_the_old_form_are_not_used_and_that_is_said_once() {
    let old = r#"{"answers": [{"subject": "[\"[\\\"agent\\\"]\",\"[\\\"activate\\\"]\"]", "needs": [], "outside": []}]}"#;
    let workspace = user().file("home/.config/metier/answers.json", old);
    let said = "approvals given to an earlier metier held in every project and are not used any more";
    let first = metier(&workspace, &["exec", "tool", "a.sh"]);
    assert_eq!(first.stderr.matches(said).count(), 1, "{}", first.stderr);
    let second = metier(&workspace, &["exec", "tool", "a.sh"]);
    assert!(!second.stderr.contains(said), "{}", second.stderr);
    assert_eq!((first.code, second.code), (4, 4));
    assert_eq!(metier(&workspace, &["approvals", "--json"]).json()["approvals"], json!([]));
}

#[test]
fn a_file_of_approvals_that_cannot_be_read_is_an_error_and_stays() {
    let workspace = user().file("home/.config/metier/approvals.json", "{");
    let run = metier(&workspace, &["exec", "tool", "a.sh"]);
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.contains("approvals.json cannot be read; remove it to be asked again"),
        "{}",
        run.stderr
    );
    assert_eq!(fs::read_to_string(workspace.join("home/.config/metier/approvals.json")).unwrap(), "{");
}
