//! What a look over a project finds.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use metier_files::{Bounded, Error, Presence, Survey, SurveyBounds};
use metier_testkit::Workspace;
use proptest::prelude::*;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::support::{StopOnDrop, as_somebody, never_hangs};

const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----\n";

pub(crate) fn survey(workspace: &Workspace) -> Survey {
    Survey::of(&workspace.join("project"), SurveyBounds::default()).unwrap()
}

pub(crate) fn secrets(survey: &Survey) -> Vec<String> {
    survey.secrets().iter().map(|secret| short(survey, &secret.path)).collect()
}

fn short(survey: &Survey, path: &std::path::Path) -> String {
    path.strip_prefix(survey.project()).unwrap().display().to_string()
}

fn protected(survey: &Survey, presence: Presence) -> Vec<String> {
    let places = survey.protected().iter().filter(|place| place.presence == presence);
    places.map(|place| short(survey, &place.path)).collect()
}

#[test]
fn secrets_are_found_by_name_and_by_content_wherever_they_lie() {
    let workspace = Workspace::new()
        .file("project/.env", "A=1")
        .file("project/.env.example", "A=")
        .file("project/a/b/c/.ENV.Local", "A=1")
        .file("project/certs/server.pem", PRIVATE)
        .file("project/certs/ca.pem", "-----BEGIN CERTIFICATE-----\n")
        .file("project/.ssh/config", "Host x")
        .file("project/.ssh/deep/id_rsa", "x")
        .file("project/src/main.py", "print()")
        .file("project/key.json", r#"{"type": "service_account", "private_key": "x"}"#);
    let survey = survey(&workspace);
    assert_eq!(secrets(&survey), [".env", ".ssh", "a/b/c/.ENV.Local", "certs/server.pem", "key.json"]);
    assert_eq!(survey.secrets()[0].what, "environment variables");
    assert_eq!((survey.bounded(), survey.unreadable().len()), (None, 0));
}

#[test]
fn packages_and_builds_are_looked_at_on_top_only_and_git_for_its_configurations() {
    let token = "[remote \"o\"]\n url = https://me:token@host/x\n";
    let workspace = Workspace::new()
        .file("project/node_modules/.env", "A=1")
        .file("project/node_modules/pkg/.env", "A=1")
        .file("project/target/CACHEDIR.TAG", "x")
        .file("project/target/debug/.env", "A=1")
        .file("project/data/target/deep/.env", "A=1")
        .file("project/.venv/pyvenv.cfg", "home = /usr/bin")
        .file("project/.venv/lib/.env", "A=1")
        .file("project/.git/config", token)
        .file("project/.git/modules/lib/config", token)
        .file("project/.git/modules/lib/objects/ab/.env", "A=1")
        .file("project/.git/objects/ab/.env", "A=1");
    assert_eq!(
        secrets(&survey(&workspace)),
        [".git/config", ".git/modules/lib/config", "data/target/deep/.env", "node_modules/.env"]
    );
}

#[test]
fn sockets_and_pipes_are_found_and_never_hang() {
    let workspace = Workspace::new()
        .socket("project/run/agent.sock")
        .fifo("project/run/pipe")
        .fifo("project/.env")
        .fifo("project/server.pem")
        .socket("project/id_rsa")
        .fifo("project/.git");
    let project = workspace.join("project");
    let survey = never_hangs(move || Survey::of(&project, SurveyBounds::default()).unwrap());
    let channels: Vec<_> = survey.channels().iter().map(|path| short(&survey, path)).collect();
    assert_eq!(channels, [".env", ".git", "id_rsa", "run/agent.sock", "run/pipe", "server.pem"]);
    assert_eq!(secrets(&survey), [""; 0]);
    assert_eq!(survey.masked().len(), 6);
    drop(workspace);
}

#[test]
fn links_are_not_followed_but_what_a_telling_link_leads_to_is_a_secret() {
    let workspace = Workspace::new()
        .file("outside/.env", "A=1")
        .file("outside/deep/id_rsa", "x")
        .file("project/config/production", "A=1")
        .file("project/config/certificate", "-----BEGIN CERTIFICATE-----\n")
        .file("project/keys/mine", PRIVATE)
        .symlink("project/linked", "../outside")
        .symlink("project/loop", ".")
        .symlink("project/web/.env", "../config/production")
        .symlink("project/worker/.env", "../../outside/.env")
        .symlink("project/tls.pem", "config/certificate")
        .symlink("project/old.pem", "keys/mine")
        .symlink("project/.ssh", "keys")
        .symlink("project/.env.broken", "nowhere");
    let workspace = {
        let absolute = workspace.join("project/config/production");
        workspace.symlink("project/.env", absolute)
    };
    assert_eq!(secrets(&survey(&workspace)), ["config/production", "keys", "keys/mine"]);
}

#[test]
fn other_names_of_a_secret_are_secrets() {
    let workspace = Workspace::new()
        .file("project/z/.env", "A=1")
        .file("project/a/other", "x")
        .file("project/server.pem", PRIVATE);
    fs::hard_link(workspace.join("project/z/.env"), workspace.join("project/a/notes.txt")).unwrap();
    fs::hard_link(workspace.join("project/server.pem"), workspace.join("project/z/backup")).unwrap();
    assert_eq!(secrets(&survey(&workspace)), ["a/notes.txt", "server.pem", "z/.env", "z/backup"]);
}

#[test]
fn bounds_end_the_look_near_the_top_and_say_so() {
    let mut workspace = Workspace::new().file("project/.env", "A=1").file("project/a/b/c/d/.env", "A=1");
    for number in 0..50 {
        workspace = workspace.file(format!("project/many/{number}/file"), "");
    }
    let project = workspace.join("project");
    let look = |bounds| Survey::of(&project, bounds).unwrap();
    let usual = SurveyBounds::default();

    let few = look(SurveyBounds { entries: 30, ..usual });
    assert!(matches!(few.bounded(), Some(Bounded::Entries { limit: 30, .. })), "{:?}", few.bounded());
    assert_eq!(secrets(&few), [".env"]);

    let flat = look(SurveyBounds { depth: 2, ..usual });
    assert_eq!(flat.bounded(), Some(Bounded::Depth { limit: 2, folders: 1 }));
    assert_eq!(secrets(&flat), [".env"]);
    assert_eq!(
        flat.bounded().unwrap().to_string(),
        "1 folders are nested deeper than 2 and were not looked at"
    );

    let hasty = look(SurveyBounds { time: Duration::ZERO, ..usual });
    assert!(matches!(hasty.bounded(), Some(Bounded::Time { folders: 1, .. })), "{:?}", hasty.bounded());
    assert_eq!(look(usual).bounded(), None);
}

#[test]
fn an_unreadable_folder_is_reported_and_an_unreadable_key_counts() {
    let workspace = Workspace::new()
        .mode(".", 0o755)
        .file("project/closed/.env", "A=1")
        .file("project/server.pem", "nobody can tell")
        .mode("project/server.pem", 0o000)
        .file("project/.env", "A=1")
        .mode("project/closed", 0o000);
    as_somebody(|| {
        let survey = survey(&workspace);
        assert_eq!(secrets(&survey), [".env", "server.pem"]);
        assert_eq!(survey.unreadable().len(), 1);
        assert_eq!(survey.unreadable()[0].path, workspace.join("project/closed"));
    });
    let _ = workspace.mode("project/closed", 0o755);
}

#[test]
fn places_that_run_later_are_protected_there_or_not() {
    let workspace = Workspace::new()
        .file("project/.git/hooks/pre-commit", "x")
        .file("project/.git/config", "")
        .file("project/CLAUDE.md", "x")
        .file("project/docs/AGENTS.md", "x")
        .file("project/.bashrc", "x")
        .file("project/vendor/lib/.git/HEAD", "x")
        .file("project/tree/.git", "gitdir: ../.git/worktrees/tree")
        .skill("project/skills/greet", "Greets.")
        .symlink("project/.vscode", "editor");
    let survey = survey(&workspace);
    let existing = protected(&survey, Presence::Existing);
    for place in
        [".git/hooks", ".git/config", "CLAUDE.md", "docs/AGENTS.md", ".bashrc", "tree/.git", "skills/greet"]
    {
        assert!(existing.contains(&place.to_owned()), "{place} is not in {existing:?}");
    }
    assert_eq!(protected(&survey, Presence::Link), [".vscode"]);
    let missing = protected(&survey, Presence::Missing);
    for place in [
        ".git/modules",
        ".mcp.json",
        "AGENTS.md",
        ".envrc",
        "vendor/lib/.git/hooks",
        "vendor/lib/.git/config",
        "vendor/lib/CLAUDE.md",
        "tree/.vscode",
    ] {
        assert!(missing.contains(&place.to_owned()), "{place} is not in {missing:?}");
    }
    for place in [".git", "CLAUDE.md", ".git/hooks", ".vscode", "tree/.git/hooks", "docs/CLAUDE.md", ".kshrc"]
    {
        assert!(!missing.contains(&place.to_owned()), "{place} is in {missing:?}");
    }
}

#[test]
fn where_there_is_no_repository_none_may_be_made() {
    let workspace = Workspace::new().file("project/a.txt", "x");
    let survey = survey(&workspace);
    let missing = protected(&survey, Presence::Missing);
    assert!(missing.contains(&".git".to_owned()));
    assert!(!missing.iter().any(|place| place.starts_with(".git/")), "{missing:?}");
}

#[test]
fn a_project_that_is_a_skill_protects_its_document_and_stays_writable() {
    let workspace = Workspace::new().skill("project", "Greets.");
    let survey = survey(&workspace);
    assert_eq!(protected(&survey, Presence::Existing), ["SKILL.md"]);
}

#[test]
fn a_missing_project_and_a_file_in_its_place_are_errors() {
    let workspace = Workspace::new().file("project", "x");
    let of = |path: &str| Survey::of(&workspace.join(path), SurveyBounds::default()).unwrap_err();
    assert!(matches!(of("missing"), Error::NotFound { .. }));
    assert!(matches!(of("project"), Error::NotAFolder { .. }));
}

/// The attack: a folder is exchanged for a link to the outside while the walk is under way.
#[test]
fn a_folder_swapped_for_a_link_during_the_look_never_leads_outside() {
    let workspace = Workspace::new()
        .file("outside/.env", "A=1")
        .file("outside/server.pem", PRIVATE)
        .file("project/victim/file", "x")
        .file("project/.env", "A=1");
    symlink(workspace.join("outside"), workspace.join("swap")).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| {
            let (a, b) = (workspace.join("project/victim"), workspace.join("swap"));
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let mut survey = survey(&workspace);
        for _ in 0..2000 {
            assert_eq!(secrets(&survey), [".env"]);
            survey.refresh().unwrap();
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever is done between two looks, the second look at the same survey finds what a new survey finds.
    #[test]
    fn a_refreshed_survey_equals_a_new_one(steps in prop::collection::vec((0..6_u8, 0..4_u8, 0..6_u8), 1..25)) {
        const FOLDERS: [&str; 4] = ["", "a", "a/b", "c/.git/modules/m"];
        const NAMES: [&str; 6] = [".env", "x.pem", "plain", "config", "CLAUDE.md", "notes"];
        let workspace = Workspace::new().dir("project");
        let mut kept = survey(&workspace);
        for (action, folder, name) in steps {
            let folder = workspace.join("project").join(FOLDERS[usize::from(folder)]);
            let file = folder.join(NAMES[usize::from(name)]);
            let _ = match action {
                0 | 1 => fs::create_dir_all(&folder).and_then(|()| fs::write(&file, PRIVATE)),
                2 => fs::write(&file, "harmless"),
                3 => fs::remove_file(&file),
                4 => fs::rename(&file, folder.join(".env.local")),
                _ => fs::remove_dir_all(&folder).and_then(|()| fs::create_dir_all(workspace.join("project"))),
            };
            kept.refresh().unwrap();
            let fresh = survey(&workspace);
            prop_assert_eq!(kept.secrets(), fresh.secrets());
            prop_assert_eq!(kept.protected(), fresh.protected());
            prop_assert_eq!(kept.masked(), fresh.masked());
        }
    }
}
