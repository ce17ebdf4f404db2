//! L12: A broken bubblewrap does not stop other tiers; the user's needs count in `run`.

use crate::binary::{metier_with, workspace};
use crate::mcp_client::McpClient;
use crate::model_server::{ModelServer, Says};
use serde_json::json;

const SKILL: &str = "---\nname: lab\ndescription: Writes to the docs.\n---\nRun it.\n";
const NEEDS: &str = "[skills.lab.needs]\nwrite = [\"docs/**\"]\nenv = [\"LAB_TOKEN\"]\n";
const SCRIPT: &str = "echo ${#LAB_TOKEN} > \"$PROJECT_DIR/docs/new\" && echo written\n";

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
