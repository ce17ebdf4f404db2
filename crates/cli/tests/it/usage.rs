//! What holds for every command.

use crate::binary::{metier, workspace};
use std::io::Read;
use std::process::{Command, Stdio};

#[test]
fn wrong_usage_is_2_and_help_is_0() {
    let workspace = workspace();
    assert_eq!(metier(&workspace, &[]).code, 2);
    assert_eq!(metier(&workspace, &["lits"]).code, 2);
    assert_eq!(metier(&workspace, &["trust", "--list", "--revoke"]).code, 2);
    assert_eq!(metier(&workspace, &["--help"]).code, 0);
    assert_eq!(metier(&workspace, &["--version"]).stdout, format!("metier {}\n", env!("CARGO_PKG_VERSION")));
    assert!(metier(&workspace, &["help", "trust"]).stdout.contains("--preview"));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let mut setup = workspace();
    for number in 0..3_000 {
        setup = setup.skill(format!("project/s/skill-{number}"), &"long ".repeat(40));
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_metier"))
        .args(["list", "--json", "--root", "s"])
        .current_dir(setup.join("project"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut beginning = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut beginning).unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn it_works_without_a_home() {
    let workspace = workspace().skill("project/s/x", "d");
    let run = crate::binary::metier_with(&workspace, &["list", "--json", "--root", "s"], &[("HOME", "")]);
    assert_eq!(run.json()["loaded"], 1);
}
