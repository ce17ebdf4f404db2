//! The official Rust SDK's client drives the program through a whole skill, over both transports and in both revisions.

use super::http::serve;
use super::{Running, workspace};
use metier_testkit::Workspace;
use rmcp::model::{
    CallToolRequestParams, ClientRequest, CustomRequest, GetPromptRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ResourceContents, ServerResult,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use tokio::net::unix::pipe::{Receiver, Sender};

fn lifecycles() -> [ClientLifecycleMode; 2] {
    [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
    ]
}

async fn call(client: &RunningService<RoleClient, ()>, tool: &'static str, arguments: Value) -> Value {
    let arguments = arguments.as_object().unwrap().clone();
    let result = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap();
    assert_ne!(result.is_error, Some(true), "{result:?}");
    result.structured_content.unwrap()
}

async fn custom(client: &RunningService<RoleClient, ()>, method: &str, params: Value) -> Value {
    let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
    match client.send_request(request).await.unwrap() {
        ServerResult::CustomResult(result) => result.0,
        other => serde_json::to_value(other).unwrap(),
    }
}

/// Lists, activates, reads and runs.
async fn drive(client: RunningService<RoleClient, ()>) {
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 4, "{tools:?}");
    let listed = custom(&client, "skills/list", json!({})).await;
    let entry = &listed["skills"][0];
    assert_eq!(entry["uri"], "skill://greet/SKILL.md", "{listed}");
    let used = call(&client, "skill_use", json!({ "skill_name": "greet", "arguments": "Ada" })).await;
    assert!(used["instructions"].as_str().unwrap().contains("Say hello to Ada."), "{used}");
    for file in entry["resources"].as_array().unwrap() {
        let read = client
            .read_resource(ReadResourceRequestParams::new(file["uri"].as_str().unwrap()))
            .await
            .unwrap();
        let ResourceContents::TextResourceContents { text, .. } = &read.contents[0] else {
            panic!("{file} is text")
        };
        assert_eq!(file["digest"], metier_files::FileDigest::of(text.as_bytes()).to_string());
    }
    let ran = call(
        &client,
        "skill_run_script",
        json!({ "skill_name": "greet", "script_name": "hello.sh", "script_args": "Ada" }),
    )
    .await;
    assert_eq!((&ran["stdout"], &ran["exitCode"]), (&json!("hello Ada"), &json!(0)));
    let prompts = client.list_all_prompts().await.unwrap();
    assert_eq!(prompts.iter().map(|prompt| prompt.name.as_str()).collect::<Vec<_>>(), ["greet"]);
    let prompt = client.get_prompt(GetPromptRequestParams::new("greet")).await.unwrap();
    assert_eq!(prompt.messages.len(), 1);
    client.cancel().await.unwrap();
}

fn stdio(workspace: &Workspace) -> (Running, Receiver, Sender) {
    let (running, input, output) = Running::start(workspace, &["mcp"]);
    let output = Receiver::from_owned_fd(output.into()).unwrap();
    (running, output, Sender::from_owned_fd(input.into()).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn over_standard_input_and_output() {
    let workspace = workspace();
    for lifecycle in lifecycles() {
        let (_running, output, input) = stdio(&workspace);
        drive(().serve_with_lifecycle((output, input), lifecycle).await.unwrap()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http() {
    // Nothing is encrypted here, and the client wants to know how it would be.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let workspace = workspace();
    let serving = serve(&workspace, &[]);
    for lifecycle in lifecycles() {
        let config = StreamableHttpClientTransportConfig::with_uri(serving.url.clone())
            .auth_header(serving.token.clone());
        let transport = StreamableHttpClientTransport::from_config(config);
        drive(().serve_with_lifecycle(transport, lifecycle).await.unwrap()).await;
    }
}
