//! L1: Deny rules see through wrappers.

use crate::binary::workspace;
use crate::mcp_client::McpClient;
use serde_json::json;

/// Lines that start `zap`, each in another way; the gate's own tests hold them against a real bash.
const WRAPPED: &str = include_str!("../../../policy/tests/wrapped.txt");

#[test]
fn a_denied_command_is_stopped_in_every_form() {
    let skill = "---\nname: tool\ndescription: Does things.\n---\nDo.\n";
    let workspace = workspace().file("home/.agents/skills/tool/SKILL.md", skill);
    let args = ["--skill", "tool", "--deny", "command:zap:*", "--mode", "yolo"];
    let mut client = McpClient::start(&workspace, &args, &json!({}));
    let mut run = |line: &str| {
        let answer =
            client.call("run_command_line", &json!({ "reason": "try", "commandLine": line })).to_string();
        (answer.contains("the deny rule `command:zap:*`"), answer)
    };
    // The control: what the rule does not mean runs.
    let (is_refused, answer) = run("echo ran");
    assert!(!is_refused && answer.contains("ran"), "{answer}");
    let lines = WRAPPED.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines = lines.map(|line| line.replace("\\n", "\n").replace("\\t", "\t"));
    // A few are enough to see what is wrong, and each that is not refused starts a sandbox.
    let passed: Vec<(String, String)> = lines
        .filter_map(|line| {
            let (is_refused, answer) = run(&line);
            (!is_refused).then_some((line, answer))
        })
        .take(10)
        .collect();
    assert!(passed.is_empty(), "{passed:#?}");
}
