//! Environment names that a configuration declares, and where the commands of a root start.

use crate::binary::{metier, metier_with, workspace};
use metier_testkit::Workspace;
use serde_json::json;

const BODY: &str = "---\nname: x\ndescription: d\n---\n<${env:REGION}> <${env:TOKEN}> <${env:my-var}>\n";

/// A skill of the user's that names two variables, in a project.
fn machine() -> Workspace {
    workspace()
        .dir("project/.git")
        .file("home/.agents/skills/x/SKILL.md", BODY)
        .file("home/.agents/skills/x/scripts/a.sh", "echo \"$REGION $TOKEN.\"\n")
}

fn config(workspace: Workspace, text: &str) -> Workspace {
    workspace.file("home/.config/metier/config.toml", text)
}

fn said(workspace: &Workspace, variables: &[(&str, &str)]) -> String {
    let run = metier_with(workspace, &["use", "x", "--raw"], variables);
    run.stdout.lines().find(|line| line.starts_with('<')).unwrap_or(&run.stderr).to_owned()
}

#[test]
fn a_declared_name_is_its_value_else_its_default() {
    let workspace = config(machine(), "[env.REGION]\ndefault = \"eu\"\n");
    assert_eq!(said(&workspace, &[]), "<eu> <${env:TOKEN}> <${env:my-var}>");
    assert_eq!(said(&workspace, &[("REGION", "us")]), "<us> <${env:TOKEN}> <${env:my-var}>");
    let run = metier_with(&workspace, &["exec", "x", "a.sh"], &[("REGION", "us"), ("TOKEN", "0123456789")]);
    assert_eq!(run.stdout, "us .\n", "what nobody declared stays outside: {}", run.stderr);
}

#[test]
fn a_required_name_that_is_not_set_stops_the_start_and_all_are_listed() {
    let text =
        "[env.REGION]\nrequired = true\ndescription = \"where it runs\"\n[env.OTHER]\nrequired = true\n";
    let workspace = config(machine(), text);
    let input = json!({ "skill_name": "x" }).to_string();
    for args in [&["use", "x"][..], &["exec", "x", "a.sh"], &["call", "skill_use", &input]] {
        let run = metier(&workspace, args);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{args:?}");
        let expect = "nothing is started: `OTHER`, `REGION` (where it runs) are required by ";
        assert!(run.stderr.contains(expect), "{args:?}: {}", run.stderr);
    }
    assert_eq!(metier(&workspace, &["list"]).code, 0, "looking is no start");
    let run = metier_with(&workspace, &["use", "x"], &[("REGION", "eu"), ("OTHER", "1")]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn a_sensitive_name_is_never_text_and_only_in_processes_of_who_names_it_and_gets_a_yes() {
    let workspace = config(machine(), "[env.TOKEN]\nsensitive = true\n");
    let set = [("TOKEN", "s3cr3t-value-1")];
    assert_eq!(said(&workspace, &set), "<${env:REGION}> <${env:TOKEN}> <${env:my-var}>");
    let run = metier_with(&workspace, &["exec", "x", "a.sh"], &set);
    assert_eq!((run.code, run.stdout.as_str()), (4, ""), "{}", run.stderr);
    let allow = ["exec", "x", "a.sh", "--allow", "skill:x/secret:TOKEN"];
    let run = metier_with(&workspace, &allow, &set);
    assert!(run.code == 0 && run.stdout != " .\n", "{} {}", run.stdout, run.stderr);
    assert!(!run.stdout.contains("s3cr3t") && !run.stderr.contains("s3cr3t"), "{}", run.stdout);
    let other = workspace
        .skill("home/.agents/skills/y", "d")
        .file("home/.agents/skills/y/scripts/a.sh", "echo \"$TOKEN.\"\n");
    let run = metier_with(&other, &["exec", "y", "a.sh"], &set);
    assert_eq!(run.stdout, ".\n", "who does not name it does not have it: {}", run.stderr);
}

#[test]
fn an_untrusted_project_declares_nothing() {
    let workspace = machine()
        .file("project/metier.toml", "[env.REGION]\ndefault = \"evil\"\n")
        .file("project/.agents/env.yaml", "env:\n  - name: TOKEN\n    required: true\n");
    assert_eq!(said(&workspace, &[]), "<${env:REGION}> <${env:TOKEN}> <${env:my-var}>");
    let preview = metier(&workspace, &["trust", "--preview"]).stdout;
    assert!(preview.contains("variable `REGION`"), "{preview}");
    assert_eq!(metier(&workspace, &["trust"]).code, 0);
    let run = metier(&workspace, &["use", "x"]);
    assert!(
        run.stderr.contains("`TOKEN` is required by ") && run.stderr.contains("env.yaml"),
        "{}",
        run.stderr
    );
    assert_eq!(said(&workspace, &[("TOKEN", "t")]), "<evil> <t> <${env:my-var}>");
}

#[test]
fn a_project_cannot_make_text_of_what_its_user_keeps_secret() {
    let workspace = config(machine(), "[env.TOKEN]\nsensitive = true\n")
        .file("project/metier.toml", "[env.TOKEN]\nsensitive = false\n");
    assert_eq!(metier(&workspace, &["trust"]).code, 0);
    let said = said(&workspace, &[("TOKEN", "s3cr3t-value-1")]);
    assert_eq!(said, "<${env:REGION}> <${env:TOKEN}> <${env:my-var}>");
}

#[test]
fn show_and_explain_say_where_a_name_comes_from() {
    let workspace = config(machine(), "[env.REGION]\ndefault = \"eu\"\n");
    for command in ["show", "explain"] {
        let run = metier(&workspace, &[command, "x"]);
        assert!(
            run.stdout.contains("REGION: a text, declared in ~/.config/metier/config.toml"),
            "{}",
            run.stdout
        );
        assert!(run.stdout.contains("TOKEN: not known, declared nowhere that counts"), "{}", run.stdout);
        let variables = metier(&workspace, &[command, "x", "--json"]).json()["around"]["variables"].clone();
        assert_eq!(variables[0]["declared_in"], "~/.config/metier/config.toml", "{variables}");
    }
}

#[test]
fn commands_start_where_the_root_says() {
    let body = "---\nname: c\ndescription: d\n---\n!`pwd`\n";
    let machine = || {
        workspace()
            .dir("project/.git")
            .file("home/.agents/skills/c/SKILL.md", body)
            .file("home/team/d/SKILL.md", body.replace("name: c", "name: d"))
    };
    let folder = |workspace: &Workspace, path: &str| workspace.join(path).display().to_string();
    let check = |workspace: &Workspace, name: &str, expect: &str, words: &str| {
        let run = metier(workspace, &["use", name, "--raw"]);
        let expect = folder(workspace, expect);
        assert!(run.stdout.lines().any(|line| line == expect), "{name}: {} {}", run.stdout, run.stderr);
        let shown = metier(workspace, &["show", name]).stdout;
        assert!(shown.contains(&format!("commands start   {words}")), "{shown}");
    };
    let workspace = machine().file("home/.config/metier/config.toml", "[[roots]]\npath = \"~/team\"\n");
    check(&workspace, "c", "project", "in the project");
    check(&workspace, "d", "project", "in the project");
    let text = "[[roots]]\npath = \"~/team\"\ncommands = \"skill\"\n[[roots]]\npath = \"~/.agents/skills\"\ncommands = \"skill\"\n";
    let workspace = machine().file("home/.config/metier/config.toml", text);
    check(&workspace, "d", "home/team/d", "in the skill's folder");
    // A root that is there anyway takes what is said of its folder.
    check(&workspace, "c", "home/.agents/skills/c", "in the skill's folder");
}

#[test]
fn check_knows_which_names_are_declared_and_says_how_to_declare_the_others() {
    let found = |workspace: &Workspace| -> Vec<(String, u64)> {
        let run = metier(workspace, &["check", "--json", "../home/.agents/skills/x"]);
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let all = report["diagnostics"].as_array().unwrap_or_else(|| panic!("{report}")).clone();
        let named = all.into_iter().filter(|one| one["code"] == "environment-undeclared");
        named
            .map(|one| (one["message"].as_str().unwrap().to_owned(), one["line"].as_u64().unwrap()))
            .collect()
    };
    let sentence = |name: &str| {
        format!("the configuration does not declare `{name}`, so `${{env:{name}}}` stays as it is")
    };
    let no_name = "`${env:my-var}` names no variable and stays as it is".to_owned();
    let all = vec![(sentence("REGION"), 5), (sentence("TOKEN"), 5), (no_name, 5)];
    assert_eq!(found(&machine()), all);
    let text = metier(&machine(), &["check", "../home/.agents/skills/x"]).stdout;
    assert!(text.contains("declare it as `[env.REGION]` in your `config.toml`"), "{text}");
    // Declared by the user, and by a project that nobody trusts: a check judges the text.
    let workspace = config(machine(), "[env.TOKEN]\nsensitive = true\nrequired = true\n")
        .file("project/.agents/env.yaml", "version: 1\nenv:\n  - name: REGION\n    default: eu\n");
    assert_eq!(found(&workspace), all[2..]);
    let allowed = config(machine(), "[lint]\nallow = [\"environment-undeclared\"]\n");
    assert_eq!(found(&allowed), []);
}
