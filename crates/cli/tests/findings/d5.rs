//! D5: A cancelled call with an open question ends at once.

use metier_testkit::Workspace;
use serde_json::{Value, json};

use crate::mcp_client::McpClient;

/// More calls than the server carries out at once.
const MANY: usize = 40;

fn workspace() -> Workspace {
    let text = "---\nname: tool\ndescription: Does something.\nmetadata:\n  metier:\n    needs:\n      \
                hosts: [api.example.org]\n---\nDo it.\n";
    Workspace::new()
        .file("home/.agents/skills/tool/SKILL.md", text)
        .file("home/.agents/skills/tool/scripts/a.sh", "echo ran\n")
        .dir("project")
}

fn start(workspace: &Workspace) -> McpClient {
    McpClient::start(workspace, &[], &json!({ "elicitation": {} }))
}

/// Calls the script, which has to ask.
fn call(client: &mut McpClient) -> u64 {
    let arguments = json!({ "skill_name": "tool", "script_name": "a.sh" });
    client.send("tools/call", &json!({ "name": "skill_run_script", "arguments": arguments }))
}

fn cancel(client: &mut McpClient, id: u64) {
    let params = json!({ "requestId": id, "reason": "changed my mind" });
    client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
}

/// The next message that has this method.
fn next(client: &mut McpClient, method: &str) -> Value {
    loop {
        let message = client.message();
        if message["method"] == method {
            return message;
        }
    }
}

fn answer(client: &mut McpClient, question: &Value, word: &str) {
    let result = json!({ "action": "accept", "content": { "answer": word } });
    client.write(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
}

#[test]
fn a_call_that_is_taken_back_frees_its_place_and_the_next_question_is_asked() {
    let workspace = workspace();
    let mut client = start(&workspace);
    let mut questions = Vec::new();
    for _ in 0..MANY {
        let id = call(&mut client);
        let question = next(&mut client, "elicitation/create");
        cancel(&mut client, id);
        // The host is told that nobody waits for its dialog any more.
        let gone = next(&mut client, "notifications/cancelled");
        assert_eq!(gone["params"]["requestId"], question["id"]);
        questions.push(question);
    }
    // A late yes to a question that was taken back is a yes to nothing.
    for question in &questions {
        answer(&mut client, question, "session");
    }
    let id = call(&mut client);
    let question = next(&mut client, "elicitation/create");
    answer(&mut client, &question, "once");
    let given = client.answer(id);
    assert!(given.to_string().contains("ran"), "{given}");
}

#[test]
fn one_question_is_open_at_a_time_and_one_that_waits_can_be_taken_back() {
    let workspace = workspace();
    let mut client = start(&workspace);
    let first = call(&mut client);
    let question = next(&mut client, "elicitation/create");
    // More than the server carries out at once, all behind the first: each gives its place back.
    for _ in 0..MANY {
        let waiting = call(&mut client);
        cancel(&mut client, waiting);
    }
    let ping = client.send("ping", &json!({}));
    loop {
        let message = client.message();
        assert_ne!(message["method"], "elicitation/create", "a second question beside the first");
        if message["id"] == json!(ping) {
            break;
        }
    }
    let last = call(&mut client);
    answer(&mut client, &question, "once");
    let mut open = vec![(first, "ran"), (last, "needs a yes")];
    while !open.is_empty() {
        let message = client.message();
        if message["method"] == "elicitation/create" {
            answer(&mut client, &message, "no");
        } else if let Some(at) = open.iter().position(|(id, _)| message["id"] == json!(id)) {
            assert!(message.to_string().contains(open[at].1), "{message}");
            open.remove(at);
        }
    }
}

#[test]
fn a_yes_for_the_connection_answers_what_waits_behind_it() {
    let workspace = workspace();
    let mut client = start(&workspace);
    let (first, second) = (call(&mut client), call(&mut client));
    let question = next(&mut client, "elicitation/create");
    answer(&mut client, &question, "session");
    let mut open = vec![first, second];
    while !open.is_empty() {
        let message = client.message();
        assert_ne!(message["method"], "elicitation/create", "the same question again");
        if let Some(at) = open.iter().position(|id| message["id"] == json!(id)) {
            assert!(message.to_string().contains("ran"), "{message}");
            open.remove(at);
        }
    }
}

#[test]
fn a_client_that_goes_away_during_a_question_ends_the_server() {
    let workspace = workspace();
    let mut client = start(&workspace);
    call(&mut client);
    next(&mut client, "elicitation/create");
    assert!(client.leaves().success());
}
