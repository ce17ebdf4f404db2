//! Malformed messages: the server survives them.

use serde_json::{Value, json};

use super::wire_client::{Revision, WireClient};
use super::{server, workspace};

/// Values that replace each part of a message.
fn odd() -> [Value; 9] {
    [
        Value::Null,
        json!(true),
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("../\u{0}\u{202e}"),
        json!([[[]]]),
        json!({ "a": {} }),
    ]
}

/// Valid messages of every kind.
fn messages() -> Vec<Value> {
    let request = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": "h", "method": method, "params": params });
    vec![
        request("tools/list", json!({ "cursor": "c" })),
        request("tools/call", json!({ "name": "load_skill", "arguments": { "name": "greet" } })),
        request("resources/read", json!({ "uri": "skill://greet/SKILL.md" })),
        request("resources/directory/read", json!({ "uri": "skill://greet", "cursor": "c" })),
        request("prompts/get", json!({ "name": "greet", "arguments": { "arguments": "a" } })),
        request("skills/list", json!({ "cursor": "c" })),
        request("skills/get", json!({ "uri": "skill://greet/SKILL.md" })),
        request("ping", json!({})),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 77, "result": { "action": "accept", "content": {} } }),
        json!({ "jsonrpc": "2.0", "id": 78, "error": { "code": 1, "message": "m" } }),
    ]
}

/// Every variant of a message with one value replaced.
fn spoiled(message: &Value) -> Vec<Value> {
    let mut pointers = Vec::new();
    places(message, "", &mut pointers);
    let with = |pointer: &String| {
        odd().map(|odd| {
            let mut other = message.clone();
            *other.pointer_mut(pointer).unwrap() = odd;
            other
        })
    };
    pointers.iter().flat_map(with).collect()
}

fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    for (key, inner) in value.as_object().into_iter().flatten() {
        let pointer = format!("{at}/{key}");
        places(inner, &pointer, found);
        found.push(pointer);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_malformed_message_ends_the_server() {
    let workspace = workspace();
    let server = server(&workspace);
    for revision in [Revision::V2025, Revision::V2026] {
        for message in messages() {
            let mut client = WireClient::open(&server, revision).await;
            for spoiled in spoiled(&message) {
                client.line(&spoiled.to_string()).await;
            }
            for line in ["", "x", "[]", "{}", "[1", "null", "\"a\"", &"[".repeat(2_000)] {
                client.line(line).await;
            }
            let listed = client.result("skills/list", json!({})).await;
            assert_eq!(listed["skills"].as_array().unwrap().len(), 3, "{message}");
            client.close().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn notifications_before_the_handshake_are_ignored() {
    let workspace = workspace();
    let server = server(&workspace);
    // This client has only sent `server/discover`.
    let mut client = WireClient::open(&server, Revision::V2026).await;
    client.notify("notifications/cancelled", json!({ "requestId": 1 })).await;
    client.notify("notifications/roots/list_changed", json!({})).await;
    client.line(&json!({ "jsonrpc": "2.0", "id": 9, "result": {} }).to_string()).await;
    assert_eq!(client.result("skills/list", json!({})).await["skills"].as_array().unwrap().len(), 3);
    client.close().await;
}
