//! `metier list --watch`

use crate::binary::workspace;
use metier_testkit::Workspace;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Far more than any line takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(30);

/// A run that goes on.
struct Going {
    child: Child,
    lines: Receiver<String>,
    asides: Receiver<String>,
}

impl Going {
    fn start(workspace: &Workspace, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_metier"))
            .args(args)
            .current_dir(workspace.join("project"))
            .env_clear()
            .env("HOME", workspace.join("home"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        let asides = lines_of(child.stderr.take().unwrap());
        Self { child, lines, asides }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(DEADLINE).expect("a line is written and passed on at once")
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    fn end(mut self, signal: &str) -> ExitStatus {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        self.child.wait().unwrap()
    }
}

fn lines_of(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

fn text(description: &str) -> String {
    format!("---\nname: deploy\ndescription: {description}\n---\n")
}

#[test]
fn each_change_is_a_line_and_ctrl_c_ends_it_well() {
    let workspace = workspace().file("project/skills/deploy/SKILL.md", text("Deploys."));
    let run = Going::start(&workspace, &["list", "--watch", "--root", "skills"]);
    assert_eq!(run.line(), "loaded 1, failed 0");
    assert_eq!([run.line(), run.line()], ["", "cli skills"]);
    assert_eq!(run.line(), "  deploy                       Deploys.");
    let how = run.asides.recv_timeout(DEADLINE).unwrap();
    assert!(how.starts_with("watching ") && how.ends_with(" folders; Ctrl-C ends it"), "{how}");

    let document = workspace.join("project/skills/deploy/SKILL.md");
    fs::write(&document, text("Other.")).unwrap();
    assert_eq!(run.line(), "changed  deploy                       skills/deploy/SKILL.md");
    fs::write(&document, "---js\n---\n").unwrap();
    let line = run.line();
    assert!(
        line.starts_with(
            "broken   deploy                       skills/deploy/SKILL.md:1:4: the file does not load"
        ),
        "{line}"
    );
    fs::write(&document, text("Whole.")).unwrap();
    assert_eq!(run.line(), "mended   deploy                       skills/deploy/SKILL.md");
    let workspace = workspace.skill("project/skills/plan", "Plans.");
    assert_eq!(run.line(), "added    plan                         skills/plan/SKILL.md");
    fs::write(workspace.join("project/skills/.disabled.json"), "[\"plan\"]").unwrap();
    assert_eq!(run.line(), "changed  plan                         skills/plan/SKILL.md (disabled)");
    fs::remove_dir_all(workspace.join("project/skills/plan")).unwrap();
    assert_eq!(run.line(), "removed  plan                         skills/plan/SKILL.md");
    assert_eq!(run.end("-INT").code(), Some(0));
}

#[test]
fn programs_get_an_object_a_line() {
    let workspace = workspace().file("project/skills/deploy/SKILL.md", text("Deploys."));
    let run = Going::start(&workspace, &["list", "--watch", "--json", "--root", "skills"]);
    assert_eq!(run.json()["loaded"], 1);
    let how = run.json();
    assert_eq!(how["watching"], "events");
    assert!(how["folders"].as_u64().is_some_and(|folders| folders > 1), "{how}");

    let path = workspace.join("project/skills/deploy/SKILL.md");
    fs::write(&path, "---js\n---\n").unwrap();
    let broken = run.json();
    assert_eq!((&broken["change"], &broken["name"]), (&json!("broken"), &json!("deploy")));
    assert_eq!((&broken["reason"]["code"], &broken["reason"]["line"]), (&json!("kept-last-good"), &json!(1)));
    fs::remove_file(&path).unwrap();
    let removed =
        json!({ "change": "removed", "name": "deploy", "path": path, "state": null, "reason": null });
    assert_eq!(run.json(), removed);
    fs::write(workspace.join("project/metier.toml"), "[skills.deploy]\nvisibility = 3\n").unwrap();
    assert_eq!(run.json()["diagnostic"]["code"], "config-invalid");
    assert_eq!(run.end("-TERM").code(), Some(0));
}
