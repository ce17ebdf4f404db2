//! Prompts: skills that a user starts.

use serde_json::json;

use super::wire_client::{Revision, WireClient, text};
use super::{server, skill, workspace};

#[tokio::test(flavor = "multi_thread")]
async fn a_user_can_start_a_skill_that_a_model_cannot() {
    let workspace = workspace()
        .file("skills/hidden/SKILL.md", skill("hidden", "user-invocable: false\n", "For the model."))
        .file(
            "skills/compare/SKILL.md",
            skill(
                "compare",
                "arguments:\n  - name: from\n    description: The old one\n    default: main\n  - name: to\n",
                "From $from to $to.",
            ),
        );
    let mut client = WireClient::open(&server(&workspace), Revision::V2026).await;
    let listed = client.result("prompts/list", json!({})).await;
    let prompts = listed["prompts"].as_array().unwrap();
    let names: Vec<&str> = prompts.iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["compare", "deploy", "fenced", "greet", "other"]);
    assert_eq!(
        prompts[0]["arguments"],
        json!([
            { "name": "from", "description": "The old one (default: main)", "required": false },
            { "name": "to", "required": false },
        ])
    );
    assert_eq!(prompts[1]["arguments"][0]["name"], "arguments");

    // Before the user starts the skill, the model cannot use it.
    let notes = json!({ "skill_name": "deploy", "file_path": "notes.md" });
    let refused = client.call("skill_read_file", notes.clone()).await;
    assert_eq!(refused["isError"], true, "{refused}");
    let refused = client.call("skill_use", json!({ "skill_name": "deploy" })).await;
    assert!(text(&refused).contains("started by the user alone"), "{refused}");

    let got =
        client.result("prompts/get", json!({ "name": "deploy", "arguments": { "arguments": "v2" } })).await;
    let message = &got["messages"][0];
    assert_eq!(message["role"], "user");
    assert!(message["content"]["text"].as_str().unwrap().contains("Deploy v2."), "{got}");
    let read = client.call("skill_read_file", notes).await;
    assert_eq!(text(&read), "Ask first.");
    let refused = client.call("skill_use", json!({ "skill_name": "deploy" })).await;
    assert_eq!(refused["isError"], true, "{refused}");

    let got =
        client.result("prompts/get", json!({ "name": "compare", "arguments": { "to": "my branch" } })).await;
    assert!(got.to_string().contains("From main to my branch."), "{got}");
    for (name, arguments) in [("none", json!({})), ("hidden", json!({})), ("compare", json!({ "x": "1" }))] {
        let (code, _) = client.error("prompts/get", json!({ "name": name, "arguments": arguments })).await;
        assert_eq!(code, -32602, "{name}");
    }
}
