//! M1: What the user gives to a skill by its name is for the user's own skill.

use crate::binary::{command, metier, metier_with, workspace};
use crate::typist::Typist;
use metier_testkit::Workspace;

fn skill(text: &str) -> String {
    format!("---\nname: deploy\ndescription: {text}\n---\nRun it.\n")
}

const SHOW: &str = "echo \"token=$DEPLOY_TOKEN\"; echo x > \"$PROJECT_DIR/docs/x\" && echo wrote\n";

/// The user's own `deploy`, to which the configuration gives things, and a project's skill of that name.
fn machine(config: &str) -> Workspace {
    workspace()
        .file("home/.config/metier/config.toml", config)
        .file("home/.agents/skills/deploy/SKILL.md", skill("The user's own."))
        .file("home/.agents/skills/deploy/scripts/run.sh", SHOW)
        .file("project/.agents/skills/deploy/SKILL.md", skill("A stranger's."))
        .file("project/.agents/skills/deploy/scripts/run.sh", SHOW)
        .dir("project/.git")
        .dir("project/docs")
}

const TOKEN: &[(&str, &str)] = &[("DEPLOY_TOKEN", "0123456789abcdef")];

/// Whether a script of this skill had the token or wrote. Its output is redacted, so that the token was there shows by that.
fn gets(workspace: &Workspace, name: &str) -> (bool, bool) {
    let file = workspace.join("project/docs/x");
    let _ = std::fs::remove_file(&file);
    let run = metier_with(workspace, &["exec", name, "run.sh"], TOKEN);
    (run.stdout.contains("token=") && !run.stdout.contains("token=\n"), file.exists())
}

const NEEDS: &str = "[skills.deploy.needs]\nenv = [\"DEPLOY_TOKEN\"]\nwrite = [\"docs/**\"]\n";

#[test]
fn m1_needs_by_a_bare_name_are_not_for_a_projects_skill() {
    let workspace = machine(NEEDS);
    assert_eq!(metier(&workspace, &["trust"]).code, 0);
    assert_eq!(gets(&workspace, "deploy"), (false, false), "the project's skill has the name");
    assert_eq!(gets(&workspace, "project:deploy"), (false, false));
    // The controls: the user's own has them, and so has a project's that is named as such.
    assert_eq!(gets(&workspace, "user:deploy"), (true, true));
    let workspace = machine(&NEEDS.replace("skills.deploy", "skills.\"project:deploy\""));
    assert_eq!(metier(&workspace, &["trust"]).code, 0);
    assert_eq!(gets(&workspace, "deploy"), (true, true));
}

#[test]
fn m1_a_skill_that_appears_after_trust_gets_nothing_by_a_command_line() {
    let workspace = machine(NEEDS);
    std::fs::remove_dir_all(workspace.join("project/.agents")).unwrap();
    assert_eq!(metier(&workspace, &["trust"]).code, 0);
    let workspace = workspace.file("project/.agents/skills/deploy/SKILL.md", skill("Appeared."));
    let input = r#"{"reason": "x", "commandLine": "echo token=${#DEPLOY_TOKEN}"}"#;
    let run =
        metier_with(&workspace, &["call", "run_command_line", input, "--skill", "project:deploy"], TOKEN);
    // It is not used at all, or it runs without the token.
    assert!(!run.stdout.contains("token=") || run.stdout.contains("token=0"), "{}{}", run.stdout, run.stderr);
}

#[test]
fn m1_rules_by_a_bare_name_are_not_for_a_projects_skill() {
    // The skill declares the needs itself, and the user's rules would settle them.
    let declares = "metadata:\n  metier:\n    needs:\n      env: [DEPLOY_TOKEN]\n      write: [\"docs/**\"]\n---\nRun it.\n";
    let with = |rules: &str| {
        let text = skill("Declares.").replace("---\nRun it.\n", declares);
        let workspace = machine(&format!("[gate]\nallow = [{rules}]\n"))
            .file("project/.agents/skills/deploy/SKILL.md", &text)
            .file("home/.agents/skills/deploy/SKILL.md", &text);
        assert_eq!(metier(&workspace, &["trust"]).code, 0);
        workspace
    };
    for rules in [
        "\"skill:deploy/secret:*\", \"skill:deploy/write:**\"",
        "\"skill:dep*/secret:*\", \"skill:dep*/write:**\"",
    ] {
        let workspace = with(rules);
        assert_eq!(gets(&workspace, "deploy"), (false, false), "{rules}");
        assert_eq!(gets(&workspace, "user:deploy"), (true, true), "{rules}");
    }
    let workspace = with("\"skill:project:deploy/secret:*\", \"skill:project:deploy/write:**\"");
    assert_eq!(gets(&workspace, "deploy"), (true, true));
}

/// "Always" to a skill of one project is no answer about another project's.
#[test]
fn m1_an_approval_for_one_project_does_not_hold_in_another() {
    let workspace = machine("[gate]\nmode = \"strict\"\n")
        .file("other/.agents/skills/deploy/SKILL.md", skill("A stranger's."))
        .file("other/.agents/skills/deploy/scripts/run.sh", "echo token=\n")
        .file("project/.agents/skills/deploy/scripts/run.sh", "echo token=\n")
        .dir("other/.git");
    assert_eq!(metier(&workspace, &["trust"]).code, 0);
    let elsewhere =
        |args: &[&str]| command(&workspace, args).current_dir(workspace.join("other")).output().unwrap();
    assert!(elsewhere(&["trust"]).status.success());
    let mut typist = Typist::at(&workspace, &["exec", "deploy", "run.sh"]);
    typist.wait_for("[n]o > ");
    typist.types("a\n");
    assert!(typist.ends().success());
    let here = metier(&workspace, &["exec", "deploy", "run.sh"]);
    assert!(here.stdout.contains("token="), "{}{}", here.stdout, here.stderr);
    let there = elsewhere(&["exec", "deploy", "run.sh"]);
    assert_eq!(there.status.code(), Some(4), "{}", String::from_utf8_lossy(&there.stdout));
}
