//! Approvals over MCP: the user is asked if the host supports it, else the call is refused.

use metier_mcp_server::Server;
use metier_policy::Mode;
use serde_json::{Value, json};

use super::wire_client::{Revision, WireClient, text};
use super::{builder, workspace};

fn hello() -> Value {
    json!({ "skill_name": "greet", "script_name": "hello.sh", "script_args": "Ada" })
}

/// A server on which every run needs an approval.
fn strict(workspace: &metier_testkit::Workspace) -> Server {
    Server::builder(builder(workspace).mode(Mode::Strict).open()).open().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_refused_if_the_host_cannot_ask() {
    let workspace = workspace();
    let server = strict(&workspace);
    for revision in [Revision::V2025, Revision::V2026] {
        let mut client = WireClient::open(&server, revision).await;
        let refused = client.call("skill_run_script", hello()).await;
        assert_eq!(refused["isError"], true);
        assert!(text(&refused).contains("nobody can be asked"), "{refused}");
        client.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_with_a_handshake_is_asked_while_the_call_waits() {
    let workspace = workspace();
    let server = strict(&workspace);
    let once = |_: &Value| json!({ "action": "accept", "content": { "answer": "once" } });
    let mut client = WireClient::with(&server, Revision::V2025, Some(once)).await;
    for asked in 1..=2 {
        let ran = client.call("skill_run_script", hello()).await;
        assert_eq!(ran["structuredContent"]["stdout"], "hello Ada", "{ran}");
        assert_eq!(client.elicitations.len(), asked, "an approval of one call does not apply to the next");
    }
    let question = &client.elicitations[0];
    let message = question["message"].as_str().unwrap();
    assert!(message.contains("the skill `greet`") && message.contains("hello.sh Ada"), "{message}");
    assert!(!question.to_string().contains("always"), "{question}");

    let session = |_: &Value| json!({ "action": "accept", "content": { "answer": "session" } });
    let mut client = WireClient::with(&server, Revision::V2025, Some(session)).await;
    for _ in 0..2 {
        assert_eq!(client.call("skill_run_script", hello()).await["isError"], false);
    }
    assert_eq!(client.elicitations.len(), 1, "an approval for the connection lasts");
    let other = json!({ "skill_name": "greet", "script_name": "hello.sh", "script_args": "Eve" });
    client.call("skill_run_script", other).await;
    assert_eq!(client.elicitations.len(), 2, "an approval applies to the same question only");

    for no in [|_: &Value| json!({ "action": "decline" }), |_: &Value| json!({ "action": "cancel" })] {
        let mut client = WireClient::with(&server, Revision::V2025, Some(no)).await;
        assert_eq!(client.call("skill_run_script", hello()).await["isError"], true);
        assert_eq!(client.elicitations.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_without_a_handshake_is_asked_by_the_result() {
    let workspace = workspace();
    let server = strict(&workspace);
    let never = |_: &Value| panic!("the server sends no elicitation request");
    let mut client = WireClient::with(&server, Revision::V2026, Some(never)).await;
    let call = json!({ "name": "skill_run_script", "arguments": hello() });
    let round = client.result("tools/call", call.clone()).await;
    assert_eq!(round["resultType"], "input_required", "{round}");
    let requests = round["inputRequests"].as_object().unwrap();
    assert_eq!(requests.len(), 1, "{round}");
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create");
    assert!(request["params"]["message"].as_str().unwrap().contains("hello.sh Ada"), "{request}");

    let answered = |key: &str, answer: Value| {
        let mut call = call.clone();
        call["inputResponses"] = json!({ key: answer });
        call
    };
    let no = client.result("tools/call", answered(key, json!({ "action": "decline" }))).await;
    assert_eq!((no["resultType"].as_str(), no["isError"].as_bool()), (Some("complete"), Some(true)), "{no}");
    let once = json!({ "action": "accept", "content": { "answer": "once" } });
    let yes = client.result("tools/call", answered(key, once.clone())).await;
    assert_eq!(yes["structuredContent"]["stdout"], "hello Ada", "{yes}");
    // An answer to another question does not count.
    let other = client.result("tools/call", answered("0123456789abcdef0123456789abcdef", once.clone())).await;
    assert_eq!(other["resultType"], "input_required", "{other}");
    let mut changed = answered(key, once);
    changed["arguments"]["script_args"] = json!("Eve");
    assert_eq!(client.result("tools/call", changed).await["resultType"], "input_required");
    // An approval of one call does not apply to the next.
    assert_eq!(client.result("tools/call", call.clone()).await["resultType"], "input_required");
    // Additional answers are ignored, and a foreign `requestState` is rejected.
    let mut more = answered(key, json!({ "action": "accept", "content": { "answer": "once" } }));
    more["inputResponses"]["unknown"] = json!({ "action": "accept", "content": { "foo": 1 } });
    assert_eq!(client.result("tools/call", more.clone()).await["structuredContent"]["stdout"], "hello Ada");
    more["requestState"] = json!(format!("{key}=once"));
    let (code, why) = client.error("tools/call", more).await;
    assert!(code == -32602 && why.contains("invalid `requestState`"), "{code} {why}");
}
