//! L12: A broken bubblewrap does not stop other tiers; the user's needs count in `run`.

use std::process::Command;

use metier_testkit::Workspace;
use serde_json::json;

use crate::binary::{command, metier_with, workspace};
use crate::mcp_client::McpClient;
use crate::model_server::{ModelServer, Says};

const SKILL: &str = "---\nname: lab\ndescription: Writes to the docs.\n---\nRun it.\n";
const NEEDS: &str = "[skills.lab.needs]\nwrite = [\"docs/**\"]\nenv = [\"LAB_TOKEN\"]\n";
const SCRIPT: &str = "echo ${#LAB_TOKEN} > \"$PROJECT_DIR/docs/new\" && echo written\n";

/// Runs a script where nobody can make namespaces and bubblewrap is installed all the same, or says why not.
fn run(workspace: &Workspace, args: &[&str]) -> Result<(String, String), String> {
    let bubblewrap = ["/usr/bin/bwrap", "/bin/bwrap"].iter().any(|file| std::path::Path::new(file).exists());
    if !bubblewrap {
        return Err("bubblewrap is not installed".to_owned());
    }
    // In a user namespace of its own that allows no further one.
    let line = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let own = command(workspace, args);
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "sh", "-c", line, "sh"])
        .arg(own.get_program())
        .args(own.get_args());
    command.current_dir(workspace.join("project")).env_clear();
    command.envs([("HOME", workspace.join("home")), ("PATH", "/usr/bin:/bin".into())]);
    let output = command.output().unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if stderr.contains("unshare failed") || stderr.contains("max_user_namespaces") {
        return Err(format!("no user namespace can be made here: {stderr}"));
    }
    Ok((stdout, stderr))
}

#[test]
fn bubblewrap_that_makes_no_namespaces_is_passed_over() {
    let document = "---\nname: lab\ndescription: Runs.\n---\nRun it.\n";
    let workspace = workspace()
        .file("home/.agents/skills/lab/SKILL.md", document)
        .file("home/.agents/skills/lab/scripts/a.sh", "echo it runs");
    let (stdout, stderr) = match run(&workspace, &["exec", "lab", "a.sh", "--json"]) {
        Ok(output) => output,
        Err(reason) => {
            metier_testkit::not_tried("ordinary-user", format_args!("{reason}"));
            return;
        }
    };
    let report: serde_json::Value =
        serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stdout}\n{stderr}"));
    assert_eq!(report["exit_code"], 0, "{report}");
    assert_eq!(report["containment"]["tier"], "landlock", "{report}");
}

#[test]
fn needs_of_the_user_count_in_run() {
    let call = json!({ "skill_name": "lab", "script_name": "a.sh" });
    let server = ModelServer::saying(vec![Says::Calls("skill_run_script", call), Says::Words("Done.")]);
    let workspace = workspace()
        .file("home/.config/metier/config.toml", format!("{}{NEEDS}", server.config()))
        .file("home/.agents/skills/lab/SKILL.md", SKILL)
        .file("home/.agents/skills/lab/scripts/a.sh", SCRIPT)
        .dir("project/docs");
    let run = metier_with(&workspace, &["run", "--no-input", "go"], &[("LAB_TOKEN", "0123456789")]);
    let written = std::fs::read_to_string(workspace.join("project/docs/new")).unwrap_or_default();
    assert_eq!(written, "10\n", "{}\n{}", run.stdout, run.stderr);
}

#[test]
fn needs_of_the_user_count_in_mcp() {
    let workspace = workspace()
        .file("home/.config/metier/config.toml", "[skills.lab.needs]\nwrite = [\"docs/**\"]\n")
        .file("home/.agents/skills/lab/SKILL.md", SKILL)
        .file("home/.agents/skills/lab/scripts/a.sh", SCRIPT)
        .dir("project/docs");
    let mut client = McpClient::start(&workspace, &[], &json!({}));
    let answer = client.call("skill_run_script", &json!({ "skill_name": "lab", "script_name": "a.sh" }));
    assert!(answer.to_string().contains("written"), "{answer}");
    assert_eq!(std::fs::read_to_string(workspace.join("project/docs/new")).unwrap(), "0\n");
}
