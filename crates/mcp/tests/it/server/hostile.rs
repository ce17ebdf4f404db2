//! Messages that no client should send: the server is there for the next one.

use serde_json::{Value, json};

use super::wire::{Revision, Wire};
use super::{server, workspace};

/// Whatever a message has at a place, it may be one of these instead.
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

/// Messages as they should be, of every kind that the server knows.
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

/// Every message that differs in one place.
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
async fn no_message_ends_the_server_whatever_stands_in_it() {
    let workspace = workspace();
    let server = server(&workspace);
    for revision in [Revision::V2025, Revision::V2026] {
        for message in messages() {
            let mut wire = Wire::open(&server, revision).await;
            for spoiled in spoiled(&message) {
                wire.line(&spoiled.to_string()).await;
            }
            for line in ["", "x", "[]", "{}", "[1", "null", "\"a\"", &"[".repeat(2_000)] {
                wire.line(line).await;
            }
            let listed = wire.result("skills/list", json!({})).await;
            assert_eq!(listed["skills"].as_array().unwrap().len(), 3, "{message}");
            wire.close().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_notes_before_it_has_begun_is_passed_over() {
    let workspace = workspace();
    let server = server(&workspace);
    // This client has asked what the server can, and nothing else.
    let mut wire = Wire::open(&server, Revision::V2026).await;
    wire.note("notifications/cancelled", json!({ "requestId": 1 })).await;
    wire.note("notifications/roots/list_changed", json!({})).await;
    wire.line(&json!({ "jsonrpc": "2.0", "id": 9, "result": {} }).to_string()).await;
    assert_eq!(wire.result("skills/list", json!({})).await["skills"].as_array().unwrap().len(), 3);
    wire.close().await;
}
