//! L11: A script does not see metier's command line; the proxy drops trailers.

use serde_json::json;

use crate::binary::{metier_with, workspace};
use crate::mcp_client::McpClient;

#[test]
fn cmdline_of_metier_is_not_shown_to_a_script() {
    let document = "---\nname: lab\ndescription: Looks.\n---\nRun it.\n";
    let script =
        "for n in /proc/[0-9]*; do tr '\\0' ' ' < $n/cmdline; tr '\\0' ' ' < $n/environ; done 2>/dev/null";
    let workspace = workspace()
        .file("home/.agents/skills/lab/SKILL.md", document)
        .file("home/.agents/skills/lab/scripts/a.sh", script);
    let args = ["exec", "lab", "a.sh", "--deny", "command:private-rule:*"];
    let run = metier_with(&workspace, &args, &[("PRIVATE_VARIABLE", "private-value")]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for word in ["private-rule", "--deny", "exec lab", "private-value"] {
        assert!(!run.stdout.contains(word), "{word}: {}", run.stdout);
    }
    assert!(run.stdout.contains("metier-sandbox-helper"), "{}", run.stdout);
    // In a metier that stays, too.
    let mut client = McpClient::start(&workspace, &["--skill", "lab"], &json!({}));
    let answer = client.call("skill_run_script", &json!({ "skill_name": "lab", "script_name": "a.sh" }));
    let text = answer.to_string();
    assert!(text.contains("metier-sandbox-helper") && !text.contains("--skill"), "{text}");
}
