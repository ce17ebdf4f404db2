//! `metier enable` and `metier disable`

use crate::binary::{metier, workspace};

#[test]
fn a_skill_is_switched_off_and_on_and_other_names_stay() {
    let workspace = workspace()
        .skill("project/s/a", "d")
        .skill("project/s/b", "d")
        .file("project/s/.disabled.json", "[\"gone\"]");
    let off = metier(&workspace, &["disable", "a", "b", "--root", "s"]);
    assert_eq!(
        (off.code, off.stdout.as_str()),
        (0, "a: disabled (written to s/.disabled.json)\nb: disabled (written to s/.disabled.json)\n")
    );
    let file = || std::fs::read_to_string(workspace.join("project/s/.disabled.json")).unwrap();
    assert_eq!(file(), "[\n  \"a\",\n  \"b\",\n  \"gone\"\n]\n");
    let on = metier(&workspace, &["enable", "a", "--root", "s"]);
    assert_eq!(on.stdout, "a: ready (written to s/.disabled.json)\n");
    assert_eq!(file(), "[\n  \"b\",\n  \"gone\"\n]\n");
    assert!(metier(&workspace, &["enable", "a", "--root", "s"]).stdout.contains("nothing to change"));
}

#[test]
fn an_unknown_name_changes_nothing() {
    let workspace = workspace().skill("project/s/a", "d");
    let run = metier(&workspace, &["disable", "a", "nope", "--root", "s"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("nothing was changed"), "{}", run.stderr);
    assert!(!workspace.join("project/s/.disabled.json").exists());
}

#[test]
fn what_comes_with_metier_is_turned_off_in_the_configuration() {
    let run = metier(&workspace(), &["disable", "count-lines"]);
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.contains("under `[skills.count-lines]` in ~/.config/metier/config.toml"),
        "{}",
        run.stderr
    );
    let off = "[skills.count-lines]\nvisibility = \"off\"\n";
    let workspace = workspace().file("home/.config/metier/config.toml", off);
    let run = metier(&workspace, &["exec", "count-lines", "count.sh"]);
    assert!(run.stderr.contains("`count-lines` is off"), "{}", run.stderr);
}

#[test]
fn a_damaged_list_is_left_as_it_is() {
    let workspace = workspace().skill("project/s/a", "d").file("project/s/.disabled.json", "{");
    let run = metier(&workspace, &["disable", "a", "--root", "s"]);
    assert_eq!(run.code, 1);
    assert_eq!(std::fs::read_to_string(workspace.join("project/s/.disabled.json")).unwrap(), "{");
}
