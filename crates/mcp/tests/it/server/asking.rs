//! The gate over MCP: asked where the host can ask its user, refused where it cannot.

use metier_mcp::server::Server;
use metier_policy::Mode;
use serde_json::{Value, json};

use super::wire::{Revision, Wire, text};
use super::{builder, workspace};

fn hello() -> Value {
    json!({ "skill_name": "greet", "script_name": "hello.sh", "script_args": "Ada" })
}

/// A server whose every run asks.
fn strict(workspace: &metier_testkit::Workspace) -> Server {
    Server::builder(builder(workspace).mode(Mode::Strict).open()).open().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_anybody_to_ask_it_is_refused_and_said() {
    let workspace = workspace();
    let server = strict(&workspace);
    for revision in [Revision::V2025, Revision::V2026] {
        let mut wire = Wire::open(&server, revision).await;
        let refused = wire.call("skill_run_script", hello()).await;
        assert_eq!(refused["isError"], true);
        assert!(text(&refused).contains("nobody can be asked"), "{refused}");
        wire.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_with_a_handshake_is_asked_while_the_call_waits() {
    let workspace = workspace();
    let server = strict(&workspace);
    let once = |_: &Value| json!({ "action": "accept", "content": { "answer": "once" } });
    let mut wire = Wire::with(&server, Revision::V2025, Some(once)).await;
    for asked in 1..=2 {
        let ran = wire.call("skill_run_script", hello()).await;
        assert_eq!(ran["structuredContent"]["stdout"], "hello Ada", "{ran}");
        assert_eq!(wire.asked.len(), asked, "a yes to one call is none to the next");
    }
    let question = &wire.asked[0];
    let message = question["message"].as_str().unwrap();
    assert!(message.contains("the skill `greet`") && message.contains("hello.sh Ada"), "{message}");
    assert!(!question.to_string().contains("always"), "{question}");

    let session = |_: &Value| json!({ "action": "accept", "content": { "answer": "session" } });
    let mut wire = Wire::with(&server, Revision::V2025, Some(session)).await;
    for _ in 0..2 {
        assert_eq!(wire.call("skill_run_script", hello()).await["isError"], false);
    }
    assert_eq!(wire.asked.len(), 1, "a yes for the connection lasts");
    let other = json!({ "skill_name": "greet", "script_name": "hello.sh", "script_args": "Eve" });
    wire.call("skill_run_script", other).await;
    assert_eq!(wire.asked.len(), 2, "and is a yes to this very question");

    for no in [|_: &Value| json!({ "action": "decline" }), |_: &Value| json!({ "action": "cancel" })] {
        let mut wire = Wire::with(&server, Revision::V2025, Some(no)).await;
        assert_eq!(wire.call("skill_run_script", hello()).await["isError"], true);
        assert_eq!(wire.asked.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_without_a_handshake_is_asked_by_the_result() {
    let workspace = workspace();
    let server = strict(&workspace);
    let never = |_: &Value| panic!("nothing is asked beside the results");
    let mut wire = Wire::with(&server, Revision::V2026, Some(never)).await;
    let call = json!({ "name": "skill_run_script", "arguments": hello() });
    let round = wire.result("tools/call", call.clone()).await;
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
    let no = wire.result("tools/call", answered(key, json!({ "action": "decline" }))).await;
    assert_eq!((no["resultType"].as_str(), no["isError"].as_bool()), (Some("complete"), Some(true)), "{no}");
    let once = json!({ "action": "accept", "content": { "answer": "once" } });
    let yes = wire.result("tools/call", answered(key, once.clone())).await;
    assert_eq!(yes["structuredContent"]["stdout"], "hello Ada", "{yes}");
    // An answer to another question is none to this one.
    let other = wire.result("tools/call", answered("0123456789abcdef0123456789abcdef", once.clone())).await;
    assert_eq!(other["resultType"], "input_required", "{other}");
    let mut changed = answered(key, once);
    changed["arguments"]["script_args"] = json!("Eve");
    assert_eq!(wire.result("tools/call", changed).await["resultType"], "input_required");
    // And a yes to one call was none to the next.
    assert_eq!(wire.result("tools/call", call.clone()).await["resultType"], "input_required");
    // Further answers are passed over, and state that this server did not give is refused.
    let mut more = answered(key, json!({ "action": "accept", "content": { "answer": "once" } }));
    more["inputResponses"]["unknown"] = json!({ "action": "accept", "content": { "foo": 1 } });
    assert_eq!(wire.result("tools/call", more.clone()).await["structuredContent"]["stdout"], "hello Ada");
    more["requestState"] = json!(format!("{key}=once"));
    let (code, why) = wire.error("tools/call", more).await;
    assert!(code == -32602 && why.contains("`requestState` is not what this server gave"), "{code} {why}");
}
