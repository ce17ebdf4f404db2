//! A survey is kept current.

use std::fs;
use std::thread;
use std::time::Duration;

use metier_files::{Changed, Survey, SurveyBounds};
use metier_testkit::Workspace;

use crate::survey::{secrets, survey};

/// Longer than a tick of the kernel's clock: what is older is told by its time alone.
fn settle() {
    thread::sleep(Duration::from_millis(40));
}

#[test]
fn a_file_renamed_to_a_secret_is_found_at_the_next_look() {
    let workspace = Workspace::new().file("project/a/b/plain", "A=1").file("project/other", "");
    settle();
    let mut survey = survey(&workspace);
    assert_eq!(survey.refresh().unwrap(), Changed::Same);
    fs::rename(workspace.join("project/a/b/plain"), workspace.join("project/a/b/.env")).unwrap();
    assert_eq!(survey.refresh().unwrap(), Changed::Other);
    assert_eq!(secrets(&survey), ["a/b/.env"]);
    fs::rename(workspace.join("project/a/b/.env"), workspace.join("project/a/b/plain")).unwrap();
    assert_eq!(survey.refresh().unwrap(), Changed::Other);
    assert_eq!(secrets(&survey), [""; 0]);
}

#[test]
fn a_key_written_into_a_known_file_is_found() {
    let workspace = Workspace::new().file("project/server.pem", "-----BEGIN CERTIFICATE-----\n");
    settle();
    let mut survey = survey(&workspace);
    assert_eq!(secrets(&survey), [""; 0]);
    settle();
    fs::write(workspace.join("project/server.pem"), "-----BEGIN PRIVATE KEY-----\n").unwrap();
    assert_eq!(survey.refresh().unwrap(), Changed::Other);
    assert_eq!(secrets(&survey), ["server.pem"]);
}

#[test]
fn a_new_name_of_a_known_secret_is_found() {
    let workspace = Workspace::new().file("project/.env", "A=1").file("project/a/x", "");
    settle();
    let mut survey = survey(&workspace);
    settle();
    fs::hard_link(workspace.join("project/.env"), workspace.join("project/a/notes")).unwrap();
    assert_eq!(survey.refresh().unwrap(), Changed::Other);
    assert_eq!(secrets(&survey), [".env", "a/notes"]);
    fs::remove_file(workspace.join("project/a/notes")).unwrap();
    survey.refresh().unwrap();
    assert_eq!(secrets(&survey), [".env"]);
}

#[test]
fn folders_that_come_go_and_move_are_followed() {
    let workspace = Workspace::new().file("project/a/b/.env", "A=1").dir("project/c");
    settle();
    let mut survey = survey(&workspace);
    fs::rename(workspace.join("project/a"), workspace.join("project/c/a")).unwrap();
    survey.refresh().unwrap();
    assert_eq!(secrets(&survey), ["c/a/b/.env"]);
    // A link in the old place leads to the same folders, which are then known by their real place only.
    std::os::unix::fs::symlink("c/a", workspace.join("project/a")).unwrap();
    survey.refresh().unwrap();
    assert_eq!(secrets(&survey), ["c/a/b/.env"]);
    fs::remove_dir_all(workspace.join("project/c")).unwrap();
    survey.refresh().unwrap();
    assert_eq!(secrets(&survey), [""; 0]);
}

#[test]
fn another_folder_in_the_projects_place_is_looked_over_anew() {
    let workspace = Workspace::new().file("project/.env", "A=1").file("next/.npmrc", "x");
    let mut survey = survey(&workspace);
    fs::rename(workspace.join("project"), workspace.join("old")).unwrap();
    assert!(survey.refresh().is_err(), "a project that is gone has no secrets to speak of");
    fs::rename(workspace.join("next"), workspace.join("project")).unwrap();
    assert_eq!(survey.refresh().unwrap(), Changed::Other);
    assert_eq!(secrets(&survey), [".npmrc"]);
}

#[test]
fn where_the_time_was_over_the_next_look_goes_on() {
    let mut workspace = Workspace::new();
    for number in 0..40 {
        workspace = workspace.file(format!("project/{number:02}/.env"), "A=1");
    }
    let bounds = SurveyBounds { time: Duration::from_micros(200), ..SurveyBounds::default() };
    let mut survey = Survey::of(&workspace.join("project"), bounds).unwrap();
    for _ in 0..1000 {
        if survey.bounded().is_none() {
            break;
        }
        survey.refresh().unwrap();
    }
    assert_eq!((secrets(&survey).len(), survey.bounded()), (40, None));
}
