//! What one process reads once: its configuration, its trust, and the skills that it does not use.

use crate::binary::{metier, metier_with_input, workspace};
use crate::model_server::{ModelServer, Says};
use crate::opens::Opens;
use metier_files::Stamp;
use metier_testkit::Workspace;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::SystemTime;

const SCRIPT: &str = "#!/bin/sh\necho \"got ${A:-}${B:-}${C:-}\"\n";

/// A user with this configuration and a skill that has a script.
fn with_skills(config: &str) -> Workspace {
    workspace()
        .file("home/.config/metier/config.toml", config)
        .dir("project/.git")
        .skill("home/.claude/skills/greet", "Greets somebody.")
        .executable("home/.claude/skills/greet/scripts/hello.sh", SCRIPT)
        .skill("home/.claude/skills/bystander", "Is never used.")
}

/// The same in a trusted project with a configuration of its own.
fn in_trusted_project(config: &str) -> Workspace {
    let workspace = with_skills(config)
        .file("project/metier.toml", "[gate]\nmode = \"ask\"\n")
        .skill("project/.claude/skills/local", "Belongs to the project.");
    let trusted = metier(&workspace, &["trust"]);
    assert_eq!(trusted.code, 0, "{}", trusted.stderr);
    workspace
}

/// Lets the program unpack its bundled skills, and waits until their times are past. The watcher reads everything again where a file
/// is as new as its first look, which is right and not what is counted here.
fn unpacked(workspace: &Workspace) {
    let listed = metier(workspace, &["list"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    let last = workspace.join("home/last");
    std::fs::write(&last, "").unwrap();
    let stamp = Stamp::of(&last).unwrap();
    while !stamp.is_settled(SystemTime::now()) {
        std::thread::yield_now();
    }
}

/// A model that runs the script and answers.
fn script_and_words() -> Vec<Says> {
    let input = json!({ "skill_name": "greet", "script_name": "hello.sh" });
    vec![Says::Calls("skill_run_script", input), Says::Words("Greeted.")]
}

/// Counts the opens of the files that say what holds.
fn configuration(workspace: &Workspace) -> Opens {
    Opens::of(&[
        ("config.toml", &workspace.join("home/.config/metier/config.toml")),
        ("metier.toml", &workspace.join("project/metier.toml")),
        ("trust.json", &workspace.join("home/.local/share/metier/trust.json")),
    ])
}

#[test]
fn a_command_reads_configuration_and_trust_once() {
    let server = ModelServer::saying(script_and_words());
    let workspace = in_trusted_project(&server.config());
    let once = BTreeMap::from([("config.toml", 1), ("metier.toml", 1), ("trust.json", 1)]);
    unpacked(&workspace);
    let opens = configuration(&workspace);
    let run = metier(&workspace, &["run", "greet somebody"]);
    assert!(run.code == 0 && run.stdout.contains("Greeted."), "{}{}", run.stdout, run.stderr);
    assert_eq!(opens.count(), once, "run");
    for args in [&["list"][..], &["exec", "greet", "hello.sh"], &["use", "greet"], &["trust", "--diff"]] {
        let done = metier(&workspace, args);
        assert_eq!(done.code, 0, "{args:?}: {}", done.stderr);
        assert_eq!(opens.count(), once, "{args:?}");
    }
}

#[test]
fn a_secret_is_looked_up_without_reading_other_skills() {
    let opens_with = |secrets: &[&str]| {
        let server = ModelServer::saying(script_and_words());
        let needs = format!("[skills.greet.needs]\nenv = [\"{}\"]\n", secrets.join("\", \""));
        let workspace = with_skills(&format!("{}{needs}", server.config()));
        let mut args = vec!["run".to_owned(), "greet somebody".to_owned()];
        for name in secrets {
            let set = ["secret", "set", name, "--skill", "greet"];
            let kept = metier_with_input(&workspace, &set, "hunter22-and-more\n");
            assert_eq!(kept.code, 0, "{}", kept.stderr);
            args.extend(["--allow".to_owned(), format!("skill:greet/secret:{name}")]);
        }
        unpacked(&workspace);
        let opens = Opens::of(&[("bystander", &workspace.join("home/.claude/skills/bystander/SKILL.md"))]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let run = metier(&workspace, &args);
        assert!(run.code == 0 && run.stdout.contains("Greeted."), "{}{}", run.stdout, run.stderr);
        server.request();
        let asked = server.request().to_string();
        assert_eq!(asked.matches("[secret ").count(), secrets.len(), "{asked}");
        opens.count()["bystander"]
    };
    assert_eq!(
        opens_with(&["A", "B", "C"]),
        opens_with(&["A"]),
        "each secret takes another look at all skills"
    );
}
