//! H5: What widens and appears after trust does not count, and every command that acts says so.

use crate::binary::{Run, metier, metier_with, workspace};
use crate::model_server::{ModelServer, Says};
use metier_testkit::Workspace;
use serde_json::json;

const SECRET: &str = "the-users-own-key";
const SKILL: &str = "---\nname: pj\ndescription: d\nmetadata:\n  metier:\n    needs:\n      write: [\"docs/**\"]\n      env: [MY_TOKEN]\n---\n";

fn project() -> Workspace {
    workspace()
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .file("project/metier.toml", "")
        .dir("project/docs")
        .file("project/.agents/skills/pj/SKILL.md", format!("{SKILL}Text.\n"))
        .executable(
            "project/.agents/skills/pj/scripts/w.sh",
            "#!/bin/sh\necho ran $MY_TOKEN; echo x > $PROJECT_DIR/docs/x\n",
        )
}

fn run(workspace: &Workspace, args: &[&str]) -> Run {
    metier_with(workspace, args, &[("MY_TOKEN", SECRET), ("AWS_SECRET_ACCESS_KEY", SECRET)])
}

const RULES: [&str; 4] = ["skill:pj", "skill:pj/write:docs/**", "skill:pj/secret:MY_TOKEN", "Bash"];

#[test]
fn allow_rules_that_come_after_trust_allow_nothing() {
    let list = json!(RULES).to_string();
    let settings = json!({"permissions": {"allow": RULES}}).to_string();
    // A key that stands there twice is one key to some readers.
    let twice = format!("{{\"permissions\": {{\"allow\": {list}}}, \"permissions\": {{}}}}");
    for (file, content) in [
        ("metier.toml", format!("[gate]\nallow = {list}\n")),
        (".claude/settings.json", settings.clone()),
        (".claude/settings.local.json", settings.clone()),
        (".agents/config.json", settings),
        (".claude/settings.json", twice),
    ] {
        let workspace = project();
        metier(&workspace, &["trust"]);
        let before = run(&workspace, &["exec", "pj", "w.sh"]);
        assert_eq!(before.code, 4, "{file}, the control: {}", before.stderr);
        let workspace = workspace.file(format!("project/{file}"), content);
        let after = run(&workspace, &["exec", "pj", "w.sh"]);
        assert_eq!(after.code, 4, "{file}: {}{}", after.stdout, after.stderr);
        assert!(!after.stdout.contains(SECRET) && !workspace.join("project/docs/x").exists(), "{file}");
        let named = format!("rule allow `Bash` ({file})");
        assert!(
            after.stderr.contains("4 things in this project changed since you trusted it"),
            "{}",
            after.stderr
        );
        assert!(
            after.stderr.contains(&named) && after.stderr.contains("`metier trust --diff`"),
            "{}",
            after.stderr
        );
        // Trusted again they count.
        metier(&workspace, &["trust"]);
        let trusted = run(&workspace, &["exec", "pj", "w.sh"]);
        assert!(
            trusted.stdout.contains("ran") && !trusted.stderr.contains("changed since"),
            "{}",
            trusted.stderr
        );
    }
}

#[test]
fn a_mode_that_comes_after_trust_does_not_widen_and_a_deny_rule_counts() {
    let workspace =
        project().file("home/.config/metier/config.toml", "bundled = false\n[gate]\nmode = \"strict\"\n");
    metier(&workspace, &["trust"]);
    let workspace =
        workspace.file("project/metier.toml", "[gate]\nmode = \"allow\"\ndeny = [\"command:git:*\"]\n");
    let mode = run(&workspace, &["explain", "--action", "Bash(ls)"]).stdout;
    assert!(mode.contains("strict"), "{mode}");
    let denied = run(&workspace, &["explain", "--action", "Bash(git status)"]).stdout;
    assert!(denied.contains("command:git:*"), "{denied}");
}

#[test]
fn variables_that_are_declared_after_trust_have_no_value() {
    let env = "[env.AWS_SECRET_ACCESS_KEY]\n";
    let manifest = "version: 1\nenv:\n  - name: AWS_SECRET_ACCESS_KEY\n";
    for (file, content) in
        [("metier.toml", env), (".agents/env.yaml", manifest), (".agents/env.json", manifest)]
    {
        let workspace = project();
        metier(&workspace, &["trust"]);
        let workspace = workspace.file(format!("project/{file}"), content).file(
            "project/.agents/skills/pj/SKILL.md",
            format!("{SKILL}Key: ${{env:AWS_SECRET_ACCESS_KEY}}\n"),
        );
        let used = run(&workspace, &["use", "pj"]);
        assert!(!used.stdout.contains(SECRET), "{file}: {}", used.stdout);
        assert!(
            used.stderr.contains(&format!("variable `AWS_SECRET_ACCESS_KEY` ({file})")),
            "{}",
            used.stderr
        );
        metier(&workspace, &["trust"]);
        assert!(run(&workspace, &["use", "pj"]).stdout.contains(SECRET), "{file}, the control");
    }
}

#[test]
fn a_variable_that_stops_being_a_secret_is_a_change() {
    let workspace = project().file("project/metier.toml", "[env.AWS_SECRET_ACCESS_KEY]\nsensitive = true\n");
    metier(&workspace, &["trust"]);
    let workspace = workspace
        .file("project/metier.toml", "[env.AWS_SECRET_ACCESS_KEY]\n")
        .file("project/.agents/skills/pj/SKILL.md", format!("{SKILL}Key: ${{env:AWS_SECRET_ACCESS_KEY}}\n"));
    let used = run(&workspace, &["use", "pj"]);
    assert!(!used.stdout.contains(SECRET), "{}", used.stdout);
}

fn states(workspace: &Workspace) -> Vec<String> {
    let listed = metier(workspace, &["list", "--json"]).json();
    let skills = listed["skills"].as_array().unwrap().iter();
    skills
        .map(|skill| format!("{} {}", skill["name"].as_str().unwrap(), skill["state"].as_str().unwrap()))
        .collect()
}

#[test]
fn roots_that_come_after_trust_hold_no_skills() {
    let workspace = project().skill("elsewhere/outside", "d").skill("project/inside/new", "d");
    metier(&workspace, &["trust"]);
    let workspace = workspace
        .file("project/metier.toml", "[[roots]]\npath = \"../elsewhere\"\n[[roots]]\npath = \"inside\"\n");
    assert_eq!(states(&workspace), ["pj ready"]);
    metier(&workspace, &["trust"]);
    assert_eq!(states(&workspace), ["pj ready", "outside ready", "new ready"]);
    // What a root's lists of tools mean is part of it.
    let workspace = workspace.file(
        "project/metier.toml",
        "[[roots]]\npath = \"../elsewhere\"\nallowed_tools = \"grant\"\n[[roots]]\npath = \"inside\"\n",
    );
    assert_eq!(states(&workspace), ["pj ready", "new ready"]);
}

#[test]
fn a_crew_that_comes_after_trust_brings_no_skills() {
    let workspace = project().skill("elsewhere/outside", "d");
    metier(&workspace, &["trust"]);
    let crew = "version: \"1.0\"\nid: team\nagents:\n  a:\n    skills:\n      - name: outside\n        folderPath: ../elsewhere/outside\n";
    let workspace = workspace.file("project/team.skilled_crew.yaml", crew);
    assert_eq!(states(&workspace), ["pj ready"]);
    let run = metier(&workspace, &["run", "hello", "--no-input"]);
    assert!(run.stderr.contains("agent `team.skilled_crew.yaml`"), "{}", run.stderr);
}

#[test]
fn a_skill_that_comes_after_trust_is_not_used_and_takes_no_name() {
    let workspace = project().skill("home/.claude/skills/deploy", "The user's own.");
    metier(&workspace, &["trust"]);
    let workspace = workspace.skill("project/.claude/skills/deploy", "The project's.");
    let shown = metier(&workspace, &["show", "deploy", "--json"]).json();
    assert_eq!(shown["origin"], "user.claude", "{shown}");
    let diff = metier(&workspace, &["trust", "--diff"]).stdout;
    assert!(diff.contains("takes the name of your skill `user.claude:deploy`"), "{diff}");
    // So does one that takes another name.
    let workspace = workspace
        .file("project/.agents/skills/pj/SKILL.md", "---\nname: deploy\ndescription: d\n---\nMine now.\n");
    let used = metier(&workspace, &["use", "deploy"]);
    assert!(!used.stdout.contains("Mine now."), "{}", used.stdout);
}

#[test]
fn a_model_that_is_named_after_trust_is_not_asked() {
    for content in
        ["model = \"ollama/other\"\n", "model = \"fast\"\n[models.fast]\nmodel = \"ollama/other\"\n"]
    {
        let server = ModelServer::saying(vec![Says::Words("done")]);
        let workspace = project().file("home/.config/metier/config.toml", server.config());
        metier(&workspace, &["trust"]);
        let workspace = workspace.file("project/metier.toml", content);
        let run = metier(&workspace, &["run", "hello", "--no-input"]);
        assert_eq!(server.request()["model"], "test", "{content}: {}", run.stderr);
        assert!(run.stderr.contains("default model (metier.toml)"), "{}", run.stderr);
    }
}

#[test]
fn an_agent_that_changed_since_is_shown_and_not_run() {
    let agent = |tools: &str| format!("---\nname: bot\ndescription: d\n{tools}---\nYou are a bot.\n");
    let workspace = project().file("project/.metier/agents/bot.md", agent("tools: [Read]\n"));
    metier(&workspace, &["trust"]);
    let args = ["run", "--agent", "bot", "hello", "--no-input"];
    assert_ne!(metier(&workspace, &args).code, 4, "the control runs");
    let edited =
        workspace.file("project/.metier/agents/bot.md", agent("tools: [Read]\n").replace("a bot", "kind"));
    assert_ne!(metier(&edited, &args).code, 4, "text is text");
    // A list that is gone restricts nothing any more.
    for tools in ["tools: [Read, Bash]\n", "", "tools: [Read]\nmodel: ollama/other\n"] {
        let workspace = project().file("project/.metier/agents/bot.md", agent("tools: [Read]\n"));
        metier(&workspace, &["trust"]);
        let workspace = workspace.file("project/.metier/agents/bot.md", agent(tools));
        let run = metier(&workspace, &args);
        assert_eq!(run.code, 4, "{tools:?}: {}", run.stderr);
        assert!(run.stderr.contains("agent `.metier/agents/bot.md`"), "{}", run.stderr);
    }
}

#[test]
fn needs_and_visibility_of_a_trusted_project_are_held_as_well() {
    let user = "bundled = false\n[skills.mine]\nvisibility = \"off\"\n";
    let workspace =
        project().file("home/.config/metier/config.toml", user).skill("home/.claude/skills/mine", "d");
    metier(&workspace, &["trust"]);
    let workspace = workspace.file("project/metier.toml", "[skills.mine]\nvisibility = \"on\"\n");
    let mine = metier(&workspace, &["list", "--json", "--all"]).json();
    let mine = mine["skills"].as_array().unwrap().iter().find(|skill| skill["name"] == "mine").unwrap();
    assert_eq!(mine["state"], "off");
}

#[test]
fn a_record_of_an_older_metier_is_read_and_what_it_could_not_record_is_asked_for_again() {
    let workspace = project()
        .file("project/metier.toml", "[gate]\nallow = [\"Bash\"]\n")
        .file("project/.claude/settings.json", json!({"permissions": {"allow": ["Write"]}}).to_string());
    let digest = |text: &str| metier_files::FileDigest::of(text.as_bytes()).to_string();
    let record = json!({"version": 1, "projects": [{
        "path": workspace.join("project"), "trusted": "2026-01-01T00:00:00Z", "mine": false,
        "skills": {}, "files": {"metier.toml": {"rule `Bash`": digest("Bash")}},
    }]});
    let workspace = workspace.file("home/.local/share/metier/trust.json", record.to_string());
    let diff = metier(&workspace, &["trust", "--diff"]);
    assert!(diff.stdout.contains("trusted with an older metier"), "{}{}", diff.stdout, diff.stderr);
    assert!(
        diff.stdout.contains("rule allow `Write`") && diff.stdout.contains("skill `pj`"),
        "{}",
        diff.stdout
    );
    assert!(!diff.stdout.contains("rule allow `Bash`"), "what it recorded stays: {}", diff.stdout);
    assert_eq!(states(&workspace), ["pj untrusted"]);
    metier(&workspace, &["trust"]);
    assert_eq!(states(&workspace), ["pj ready"]);
}
