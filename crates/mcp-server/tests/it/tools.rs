//! Tools: calls and their results.

use std::fs;
use std::time::{Duration, Instant};

use metier_mcp_server::Server;
use serde_json::json;

use super::wire_client::{Revision, WireClient, text};
use super::{builder, server, workspace};

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_tell_reads_from_runs() {
    let workspace = workspace();
    let mut client = WireClient::open(&server(&workspace), Revision::V2025).await;
    let listed = client.result("tools/list", json!({})).await;
    let tools = listed["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["skill_use", "skill_read_file", "skill_run_script", "skill_search"]);
    let reads: Vec<bool> =
        tools.iter().map(|tool| tool["annotations"]["readOnlyHint"].as_bool().unwrap()).collect();
    assert_eq!(reads, [false, true, false, true]);
    assert!(tools.iter().all(|tool| tool["outputSchema"]["type"] == "object" && tool["title"].is_string()));
    assert_eq!(
        tools[0]["inputSchema"]["properties"]["skill_name"]["enum"],
        json!(["fenced", "greet", "other"])
    );
    let (code, why) =
        client.error("tools/call", json!({ "name": "run_command_line", "arguments": {} })).await;
    assert_eq!((code, why.as_str()), (-32602, "unknown tool `run_command_line`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_skill_is_used_in_either_revision() {
    let workspace = workspace();
    let server = server(&workspace);
    for revision in [Revision::V2025, Revision::V2026] {
        let mut client = WireClient::open(&server, revision).await;
        let found = client.call("skill_search", json!({ "query": "greet" })).await;
        assert_eq!(found["structuredContent"]["skills"][0]["name"], "greet", "{found}");
        // The text is sent each time: the server does not know what the host has cut since.
        for _ in 0..2 {
            let used = client.call("skill_use", json!({ "skill_name": "greet", "arguments": "Ada" })).await;
            assert!(text(&used).contains("Say hello to Ada."), "{used}");
            assert_eq!(used["structuredContent"]["skill"], "greet");
        }
        let read = client
            .call("skill_read_file", json!({ "skill_name": "greet", "file_path": "references/tone.md" }))
            .await;
        assert_eq!(
            (text(&read).as_str(), &read["structuredContent"]),
            ("Be kind.", &json!({ "text": "Be kind." }))
        );
        let ran = client
            .call(
                "skill_run_script",
                json!({ "skill_name": "greet", "script_name": "hello.sh", "script_args": "Ada" }),
            )
            .await;
        assert_eq!(
            ran["structuredContent"],
            json!({ "exitCode": 0, "stdout": "hello Ada", "stderr": "aside", "timedOut": false }),
            "{ran}"
        );
        let outside = client
            .call("skill_read_file", json!({ "skill_name": "greet", "file_path": "../deploy/notes.md" }))
            .await;
        assert_eq!(outside["isError"], true);
        assert!(text(&outside).starts_with("Access denied"), "{outside}");
        client.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fence_of_the_named_skill_applies_to_a_call() {
    let workspace = workspace();
    let mut client = WireClient::open(&server(&workspace), Revision::V2026).await;
    let script = |skill: &str| json!({ "skill_name": skill, "script_name": "run.sh" });
    let fenced = client.call("skill_run_script", script("fenced")).await;
    assert_eq!(fenced["isError"], true, "{fenced}");
    assert!(text(&fenced).contains("fence") || text(&fenced).contains("`Read`"), "{fenced}");
    // The fence of one skill does not apply to another.
    let hello = json!({ "skill_name": "greet", "script_name": "hello.sh" });
    assert_eq!(client.call("skill_run_script", hello).await["isError"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_one_skill_offers_tools_without_a_skill_parameter() {
    let workspace = workspace();
    let server = Server::builder(builder(&workspace).open()).only("greet").open().unwrap();
    let mut client = WireClient::open(&server, Revision::V2026).await;
    let listed = client.result("tools/list", json!({})).await;
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["skill_use", "skill_read_file", "skill_run_script", "run_command_line", "load_skill_resources"]
    );
    let ran = client
        .call("run_command_line", json!({ "reason": "look", "commandLine": "cat references/tone.md" }))
        .await;
    assert_eq!(ran["structuredContent"]["stdout"], "Be kind.", "{ran}");
    let read = client
        .call(
            "load_skill_resources",
            json!({ "resources": [{ "path": "references/tone.md", "reason": "look" }] }),
        )
        .await;
    assert_eq!(read["structuredContent"], json!({ "references/tone.md": "Be kind." }), "{read}");
    let other = client.call("skill_use", json!({ "skill_name": "other" })).await;
    assert_eq!(other["isError"], true, "{other}");
    let skills = client.result("skills/list", json!({})).await;
    assert_eq!(skills["skills"].as_array().unwrap().len(), 1);
    let prompts = client.result("prompts/list", json!({})).await;
    assert_eq!(prompts["prompts"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_script_reports_progress_and_can_be_cancelled() {
    let workspace = workspace();
    let server = server(&workspace);
    for revision in [Revision::V2025, Revision::V2026] {
        let mut client = WireClient::open(&server, revision).await;
        let began = Instant::now();
        let id = client
            .start(
                "tools/call",
                json!({
                    "name": "skill_run_script",
                    "arguments": { "skill_name": "greet", "script_name": "slow.sh" },
                    "_meta": { "progressToken": "p1" },
                }),
            )
            .await;
        client.wait_for_notification("notifications/progress").await;
        let progress = client
            .notifications
            .iter()
            .find(|notification| notification["method"] == "notifications/progress")
            .unwrap();
        assert_eq!(progress["params"]["progressToken"], "p1");
        client.notify("notifications/cancelled", json!({ "requestId": id, "reason": "enough" })).await;
        // The next request is answered at once, the cancelled one never.
        client
            .call("skill_read_file", json!({ "skill_name": "greet", "file_path": "references/tone.md" }))
            .await;
        assert!(began.elapsed() < Duration::from_secs(50), "{:?}", began.elapsed());
        client.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_script_ends_when_its_client_disconnects() {
    let workspace = workspace().file(
        "skills/greet/scripts/linger.sh",
        "touch $SKILL_DATA/began; while :; do date +%s%N > $SKILL_DATA/beat; sleep 0.05; done",
    );
    let mut client = WireClient::open(&server(&workspace), Revision::V2025).await;
    let arguments = json!({ "skill_name": "greet", "script_name": "linger.sh" });
    client.start("tools/call", json!({ "name": "skill_run_script", "arguments": arguments })).await;
    let beat = || {
        let mut files = walk(&workspace.join("data"));
        files.retain(|file| file.ends_with("beat"));
        files.first().and_then(|file| fs::read_to_string(file).ok()).filter(|text| !text.is_empty())
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    while beat().is_none() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(beat().is_some(), "the script started");
    client.close().await;
    // The script stops writing soon.
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let before = beat();
        tokio::time::sleep(Duration::from_millis(400)).await;
        if beat() == before {
            break;
        }
        assert!(Instant::now() < deadline, "the script survived its client");
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found
}

/// Invalid parameters get an error, and the connection stays open.
#[tokio::test(flavor = "multi_thread")]
async fn invalid_parameters_are_rejected() {
    let workspace = workspace();
    let server = Server::builder(builder(&workspace).open()).open().unwrap();
    for revision in [Revision::V2025, Revision::V2026] {
        let mut client = WireClient::open(&server, revision).await;
        for (method, params) in [
            ("tools/call", json!({ "name": "skill_use", "arguments": "x" })),
            ("tools/call", json!({ "arguments": {} })),
            ("prompts/get", json!({ "name": 5 })),
            ("resources/read", json!({ "uri": ["skill://greet/SKILL.md"] })),
        ] {
            assert_eq!(client.error(method, params).await.0, -32602, "{method}");
        }
        assert_eq!(client.error("skills/forget", json!({})).await.0, -32601);
        let (_, why) = client.error("skills/get", json!({ "uri": "x".repeat(1 << 20) })).await;
        assert!(why.len() < 5_000, "a long URI is shortened");
        client.result("tools/list", json!({})).await;
        client.close().await;
    }
}
