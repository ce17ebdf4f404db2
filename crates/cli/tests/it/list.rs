//! `metier list`

use crate::binary::{metier, without_bundled, workspace};
use serde_json::json;

const DEPLOY: &str = "---\nname: deploy\ndescription: Deploys the thing.\nversion: 1.10\n---\nDo it.\n";

#[test]
fn the_text_counts_first_and_says_what_failed_last() {
    let workspace = workspace()
        .file("project/skills/deploy/SKILL.md", DEPLOY)
        .file("project/skills/evil/SKILL.md", "---js\nx\n---\n")
        .file("project/skills/odd/SKILL.md", "---\nname: odd\ndescription: Use when: asked\n---\n");
    let run = metier(&workspace, &["list", "--root", "skills"]);
    assert_eq!(
        run.stdout,
        "loaded 2, failed 1\n\n\
         cli skills\n  \
         deploy                       (1.10) Deploys the thing.\n  \
         odd                          Use when: asked\n\n\
         error[frontmatter-engine]: `---js` asks for another language to be evaluated; metier never does that\n\
         --> skills/evil/SKILL.md:1:4\n \
         = help: write `---` alone\n\n\
         1 with warnings: odd; `metier explain NAME` says which, `metier doctor` all of them\n"
    );
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn the_json_has_the_documented_keys() {
    let workspace = workspace().file("project/skills/deploy/SKILL.md", DEPLOY);
    let answer = metier(&workspace, &["list", "--root", "skills", "--json"]).json();
    let path = workspace.join("project/skills/deploy/SKILL.md");
    assert_eq!(
        answer,
        json!({
            "loaded": 1,
            "failed": 0,
            "skills": [{
                "name": "deploy", "description": "Deploys the thing.", "version": "1.10", "origin": "cli",
                "path": path, "state": "ready", "diagnostics": [],
            }],
            "failures": [],
            "diagnostics": [],
        })
    );
}

#[test]
fn costs_and_digests_are_given_when_asked_for() {
    let workspace = workspace().file("project/skills/deploy/SKILL.md", DEPLOY);
    let answer = metier(&workspace, &["list", "--root", "skills", "--json", "--tokens", "--digest"]).json();
    let skill = &answer["skills"][0];
    assert!(skill["tokens"]["catalogue"].as_u64().is_some_and(|tokens| tokens > 5), "{skill}");
    assert!(skill["tokens"]["activation"].as_u64().is_some_and(|tokens| tokens > 5), "{skill}");
    assert!(
        skill["digest"].as_str().is_some_and(|digest| digest.starts_with("sha256:") && digest.len() == 71),
        "{skill}"
    );
}

#[test]
fn all_shows_what_is_shadowed_disabled_and_nested() {
    let workspace = workspace()
        .skill("project/a/x", "from a")
        .skill("project/b/x", "from b")
        .skill("project/a/off", "disabled")
        .skill("project/a/x/inner", "nested")
        .file("project/a/.disabled.json", "[\"off\"]");
    let states = |args: &[&str]| -> Vec<String> {
        let answer = metier(&workspace, args).json();
        let skills = answer["skills"].as_array().unwrap().iter();
        skills
            .map(|skill| format!("{} {}", skill["name"].as_str().unwrap(), skill["state"].as_str().unwrap()))
            .collect()
    };
    assert_eq!(states(&["list", "--json", "--root", "a", "--root", "b"]), ["x ready"]);
    let all = states(&["list", "--json", "--all", "--root", "a", "--root", "b"]);
    assert_eq!(all, ["off disabled", "x ready", "inner nested", "x shadowed"]);
}

#[test]
fn a_skill_of_the_user_is_found_through_metier_home_too() {
    let workspace = workspace()
        .skill("own/skills/x", "mine")
        .file("own/config.toml", "bundled = false\n")
        .skill("home/.config/metier/skills/y", "not this one");
    let home = workspace.join("own");
    let run = crate::binary::metier_with(
        &workspace,
        &["list", "--json"],
        &[("METIER_HOME", home.to_str().unwrap())],
    );
    let answer = run.json();
    assert_eq!(answer["loaded"], 1, "{answer}");
    assert_eq!(answer["skills"][0]["origin"], "user.metier");
}

#[test]
fn nothing_found_says_where_it_looked_and_what_to_do() {
    let run = metier(&without_bundled(), &["list"]);
    assert!(run.stdout.starts_with("loaded 0, failed 0\n"), "{}", run.stdout);
    assert!(
        run.stdout.contains(".agents/skills") && run.stdout.contains("metier new NAME"),
        "{}",
        run.stdout
    );
}

#[test]
fn colours_are_only_there_when_asked_for() {
    let workspace = workspace().skill("project/skills/x", "d");
    assert!(!metier(&workspace, &["list", "--root", "skills"]).stdout.contains('\u{1b}'));
    assert!(
        metier(&workspace, &["list", "--root", "skills", "--color", "always"]).stdout.contains("\u{1b}[")
    );
}

#[test]
fn a_stranger_s_text_cannot_move_the_cursor() {
    let text = "---\nname: x\ndescription: \"red \\e[31m and \\u009b bell \\a\"\n---\n";
    let workspace = workspace().file("project/skills/x/SKILL.md", text);
    let run = metier(&workspace, &["list", "--root", "skills"]);
    assert!(run.stdout.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", run.stdout);
}
