//! L6: A script does not read what only a group of the user may read.

use metier_testkit::Workspace;
use serde_json::json;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use crate::binary::workspace;
use crate::mcp_client::McpClient;
use crate::ordinary_user::{as_user, is_root, user_command};

const SHADOW: &str = "/etc/shadow";

fn with_script() -> Workspace {
    // What everyone may read can still be read.
    let script =
        "head -c 4 /etc/passwd; echo; cat /etc/shadow; cat /etc/gshadow; ls /etc | grep -cx shadow; exit 0\n";
    workspace()
        .file("home/.agents/skills/tool/SKILL.md", "---\nname: tool\ndescription: Does things.\n---\nDo.\n")
        .file("home/.agents/skills/tool/scripts/a.sh", script)
}

/// The group that may read the passwords of the machine, if there is one and everyone else may not.
fn group() -> Option<u32> {
    let found = fs::metadata(SHADOW).ok()?;
    if !is_root() || found.gid() == 0 || found.mode() & 0o044 != 0o040 {
        metier_testkit::not_tried(
            "root",
            format_args!("only root starts a user in the group of {SHADOW}, which only that group may read"),
        );
        return None;
    }
    // The control: nothing else keeps that user from reading it.
    let control = as_user(&[found.gid()]).args(["cat", SHADOW]).output().unwrap();
    assert!(control.status.success() && !control.stdout.is_empty());
    Some(found.gid())
}

fn run(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const EXPECTED: &str = "root\n1\n";

#[test]
fn a_script_reads_nothing_that_only_a_group_may() {
    let Some(group) = group() else { return };
    let workspace = with_script();
    let command = user_command(&workspace, &["exec", "tool", "a.sh", "-q"], &[group]);
    let text = run(command);
    // Without the text: it has the passwords of the machine if this fails.
    assert!(text == EXPECTED, "the script read {} bytes too many", text.len() - EXPECTED.len());
}

#[test]
fn nor_do_those_of_a_metier_that_stays() {
    let Some(group) = group() else { return };
    let workspace = with_script();
    let command = user_command(&workspace, &["mcp"], &[group]);
    let mut client = McpClient::of(command, &json!({}));
    for _ in 0..2 {
        let answer = client
            .call("skill_run_script", &json!({ "skill_name": "tool", "script_name": "a.sh" }))
            .to_string();
        assert!(answer.contains("root"), "the script did not run");
        assert!(!answer.contains("root:"), "the script read lines of {SHADOW}");
    }
}
