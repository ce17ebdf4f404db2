//! `metier secret`

use crate::binary::{Run, metier, metier_with_input, workspace};
use crate::typist::Typist;
use metier_testkit::Workspace;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const VALUE: &str = "hunter22-and-more";

fn with_skills() -> Workspace {
    workspace().skill("home/.agents/skills/deploy", "d").skill("home/.agents/skills/other", "d")
}

fn set(workspace: &Workspace, name: &str, skill: &str, value: &str) -> Run {
    metier_with_input(workspace, &["secret", "set", name, "--skill", skill], value)
}

fn file(workspace: &Workspace) -> std::path::PathBuf {
    workspace.join("home/.local/share/metier/secrets/secrets.json")
}

#[test]
fn a_secret_is_set_listed_and_removed_and_never_shown() {
    let workspace = with_skills();
    let kept = set(&workspace, "TOKEN", "deploy", &format!("{VALUE}\n"));
    assert_eq!(kept.code, 0, "{}", kept.stderr);
    assert!(kept.stdout.starts_with("TOKEN: kept for user.agents:deploy\n"), "{}", kept.stdout);
    assert!(kept.stdout.contains("`skill:deploy/secret:TOKEN`"), "{}", kept.stdout);
    let content = fs::read_to_string(file(&workspace)).unwrap();
    assert!(content.contains(&format!("\"{VALUE}\"")), "one line end is not a part of it: {content}");
    assert_eq!(fs::metadata(file(&workspace)).unwrap().permissions().mode() & 0o777, 0o600);

    let again = set(&workspace, "TOKEN", "user:deploy", &format!("{VALUE}2\n"));
    assert!(again.stdout.starts_with("TOKEN: replaced for user.agents:deploy\n"), "{}", again.stdout);
    let listed = metier(&workspace, &["secret", "list"]);
    assert!(
        listed.stdout.starts_with("TOKEN                    user.agents:deploy (set 2"),
        "{}",
        listed.stdout
    );
    let json = metier(&workspace, &["secret", "list", "--json"]);
    assert_eq!(json.json()["secrets"][0]["skill"], "user.agents:deploy");
    assert_eq!(json.json()["kept"]["kind"], "file");
    let removed = metier(&workspace, &["secret", "remove", "TOKEN", "--skill", "deploy"]);
    assert_eq!((removed.code, removed.stdout.as_str()), (0, "TOKEN: removed from user.agents:deploy\n"));
    for run in [&kept, &again, &listed, &json, &removed] {
        assert!(!run.stdout.contains("hunter") && !run.stderr.contains("hunter"));
    }
    let gone = metier(&workspace, &["secret", "remove", "TOKEN", "--skill", "deploy"]);
    assert_eq!(gone.code, 1);
    assert!(gone.stderr.contains("`deploy` has no secret `TOKEN`"), "{}", gone.stderr);
}

#[test]
fn secrets_are_one_skills_own() {
    let workspace = with_skills();
    set(&workspace, "TOKEN", "deploy", VALUE);
    set(&workspace, "TOKEN", "other", VALUE);
    let of = |skill: &str| metier(&workspace, &["secret", "list", "--json", "--skill", skill]).json();
    assert_eq!(of("deploy")["secrets"].as_array().unwrap().len(), 1);
    assert_eq!(of("deploy")["secrets"][0]["skill"], "user.agents:deploy");
    assert_eq!(metier(&workspace, &["secret", "remove", "TOKEN", "--skill", "other"]).code, 0);
    assert_eq!(of("deploy")["secrets"].as_array().unwrap().len(), 1);
}

#[test]
fn a_skill_of_a_folder_has_its_secrets_there_only() {
    let workspace = with_skills().skill("project/a/deploy", "d").skill("project/b/deploy", "d");
    let set = metier_with_input(
        &workspace,
        &["secret", "set", "TOKEN", "--skill", "deploy", "--root", "a", "--json"],
        VALUE,
    );
    assert_eq!(set.json()["folder"], workspace.join("project/a").to_str().unwrap());
    let list = |root: &str| {
        metier(&workspace, &["secret", "list", "--json", "--skill", "cli:deploy", "--root", root])
    };
    assert_eq!(list("a").json()["secrets"].as_array().unwrap().len(), 1);
    assert_eq!(list("b").json()["secrets"].as_array().unwrap().len(), 0);
    let remove =
        |root: &str| metier(&workspace, &["secret", "remove", "TOKEN", "--skill", "deploy", "--root", root]);
    assert_eq!((remove("b").code, remove("a").code), (1, 0));
}

#[test]
fn secrets_of_a_skill_that_is_gone_can_be_removed() {
    let workspace = with_skills();
    set(&workspace, "TOKEN", "deploy", VALUE);
    fs::remove_dir_all(workspace.join("home/.agents/skills/deploy")).unwrap();
    let listed = metier(&workspace, &["secret", "list", "--skill", "deploy"]);
    assert!(listed.stdout.contains("user.agents:deploy"), "{}", listed.stdout);
    assert_eq!(metier(&workspace, &["secret", "remove", "TOKEN", "--skill", "deploy"]).code, 0);
    assert_eq!(set(&workspace, "TOKEN", "deploy", VALUE).code, 1);
}

#[test]
fn what_cannot_be_a_secret_is_refused_with_the_reason() {
    let workspace = with_skills();
    let check = |name: &str, skill: &str, value: &str, code: i32, reason: &str| {
        let run = set(&workspace, name, skill, value);
        assert_eq!(run.code, code, "{}", run.stderr);
        assert!(run.stderr.contains(reason), "{}", run.stderr);
        assert!(value.len() < 3 || !run.stderr.contains(value.trim()), "{}", run.stderr);
    };
    check("LD_PRELOAD", "deploy", "", 2, "changes what the system loads");
    check("MY-TOKEN", "deploy", "", 2, "letters, digits and `_`");
    check("TOKEN", "nobody", "", 1, "`nobody`");
    check("TOKEN", "deploy", "\n", 1, "the value is empty");
    check("TOKEN", "deploy", "xyz\n", 1, "ordinary words");
    check("TOKEN", "deploy", "one\0two", 1, "NUL");
    check("TOKEN", "deploy", &"x".repeat(20_000), 1, "at most 16384");
    assert!(!file(&workspace).exists());
    let short = set(&workspace, "PIN", "deploy", "4711\n");
    assert_eq!(short.code, 0);
    assert!(short.stderr.contains("fewer than 8 bytes"), "{}", short.stderr);
    // A value as an argument is wrong usage.
    assert_eq!(metier(&workspace, &["secret", "set", "TOKEN", "value", "--skill", "deploy"]).code, 2);
}

#[test]
fn an_open_file_is_not_used() {
    let workspace = with_skills();
    set(&workspace, "TOKEN", "deploy", VALUE);
    fs::set_permissions(file(&workspace), fs::Permissions::from_mode(0o644)).unwrap();
    let run = metier(&workspace, &["secret", "list"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("`chmod 600 "), "{}", run.stderr);
}

#[test]
fn what_is_typed_is_not_shown() {
    let workspace = with_skills();
    let mut typist = Typist::at(&workspace, &["secret", "set", "TOKEN", "--skill", "deploy"]);
    typist.wait_for("(not shown): ");
    assert!(!typist.shows());
    typist.types(&format!("{VALUE}\n"));
    typist.wait_for("TOKEN: kept for user.agents:deploy");
    assert!(typist.ends().success());
    assert!(typist.shows(), "the terminal shows again what is typed");
    assert!(!String::from_utf8_lossy(&typist.seen).contains("hunter"));
    assert!(fs::read_to_string(file(&workspace)).unwrap().contains(&format!("\"{VALUE}\"")));
}

#[test]
fn after_ctrl_c_the_terminal_shows_again_and_nothing_is_kept() {
    let workspace = with_skills();
    let mut typist = Typist::at(&workspace, &["secret", "set", "TOKEN", "--skill", "deploy"]);
    typist.wait_for("(not shown): ");
    assert!(!typist.shows());
    typist.types("hunter\u{3}");
    assert!(!typist.ends().success());
    assert!(typist.shows(), "the terminal shows again what is typed");
    assert!(!file(&workspace).exists());
}
