//! A conversation can be made again from its events, byte for byte. How it is made is the agent's business; that nothing is
//! missing is ours.

use metier_store::{
    Activated, Answered, Called, Effect, EventKind, EventQuery, Finished, Framed, LARGE, NoteTopic, Part,
    Store, ToolCall, Usage,
};
use serde_json::{Value, json};

use crate::{request, said};

/// What a provider would be sent, made from events and nothing else.
fn conversation(kinds: &[EventKind]) -> String {
    let mut frame = Value::Null;
    let mut messages: Vec<Value> = Vec::new();
    let mut calls: Vec<String> = Vec::new();
    let mut results: Vec<(String, Value)> = Vec::new();
    let mut activations: Vec<(Option<String>, Value)> = Vec::new();
    let user = |text: &str| json!({"role": "user", "text": text});
    for kind in kinds {
        match kind {
            EventKind::Started(started) => messages.push(user(&started.request)),
            EventKind::Framed(framed) => {
                frame = json!({"system": framed.system, "tools": framed.tools, "settings": framed.settings});
            }
            EventKind::Said { text, .. } | EventKind::Noted { text, .. } => messages.push(user(text)),
            EventKind::Recalled { message, .. } => messages.push(user(message)),
            EventKind::Answered(answered) => {
                calls = answered.calls().map(|call| call.id.clone()).collect();
                let parts: Vec<Value> = answered
                    .parts
                    .iter()
                    .map(|part| match part {
                        Part::Text { text } => json!({"text": text}),
                        Part::Reasoning { opaque, .. } => json!({"reasoning": opaque}),
                        Part::Call(call) => {
                            json!({"call": call.id, "name": call.name, "input": call.input, "raw": call.raw})
                        }
                    })
                    .collect();
                messages.push(json!({"role": "assistant", "parts": parts}));
            }
            EventKind::Finished(finished) => {
                let result =
                    json!({"result": finished.id, "text": finished.text, "error": finished.is_error});
                results.push((finished.id.clone(), result));
            }
            EventKind::Activated(activated) => {
                activations.push((activated.call.clone(), user(&activated.message)));
            }
            EventKind::Compacted { messages: instead, .. } => {
                messages = instead.as_array().cloned().unwrap_or_default();
            }
            _ => {}
        }
        if !calls.is_empty() && results.len() == calls.len() {
            // Calls run at once and finish in any order; the model gets the results, then the skills, in the order of calls.
            for id in calls.drain(..) {
                messages.extend(results.iter().filter(|(of, _)| *of == id).map(|(_, value)| value.clone()));
            }
            results.clear();
            messages.extend(activations.drain(..).map(|(_, message)| message));
        }
    }
    json!({"frame": frame, "messages": messages}).to_string()
}

fn call(id: &str, input: Value, raw: Option<&str>) -> Part {
    Part::Call(ToolCall {
        id: id.to_owned(),
        name: "skill_use".to_owned(),
        input,
        raw: raw.map(str::to_owned),
        ..ToolCall::default()
    })
}

fn finished(id: &str, text: &str) -> EventKind {
    EventKind::Finished(Finished { id: id.to_owned(), text: text.to_owned(), ..Finished::default() })
}

fn called(id: &str) -> EventKind {
    let (id, tool, input) = (id.to_owned(), "skill_use".to_owned(), json!({}));
    EventKind::Called(Called { id, tool, skill: None, input, effect: Effect::ReadOnly })
}

fn history() -> Vec<EventKind> {
    // Keys in an order that is not the alphabet's, numbers that are not round, texts above and below the limit.
    let tools = json!([{"name": "skill_use", "input": {"z": 1, "a": [0.1, 1e-7, 5e-324, 1.797_693_134_862_315_7e308]}}]);
    let opaque = json!({"signature": "Zm9v", "thinking": "é\u{0}\u{7f}\u{2028}🦀", "n": 18_446_744_073_709_551_615_u64});
    vec![
        EventKind::Framed(Framed {
            system: "You help.\r\n".repeat(LARGE),
            tools,
            settings: json!({"effort": null}),
        }),
        EventKind::Recalled { records: Vec::new(), message: "<memory>\n</memory>".to_owned() },
        EventKind::Answered(Answered {
            turn: 1,
            parts: vec![
                Part::Reasoning { text: "hm".to_owned(), opaque },
                Part::Text { text: "First ".to_owned() },
                call("b", json!({"q": "x", "n": 0.300_000_000_000_000_04, "deep": [[[[[{}]]]]]}), None),
                Part::Text { text: String::new() },
                call("a", Value::Null, Some("{\"broken\": ")),
            ],
            ..Answered::default()
        }),
        called("b"),
        called("a"),
        EventKind::Activated(Activated {
            skill: "pdf".to_owned(),
            call: Some("b".to_owned()),
            message: format!("<skill-context>{}</skill-context>", "body ".repeat(LARGE)),
            ..Activated::default()
        }),
        finished("a", "that is no JSON"),
        finished("b", "activated"),
        EventKind::Noted { text: "skills have changed".to_owned(), about: NoteTopic::Skills },
        said("thanks\t "),
    ]
}

#[test]
fn a_conversation_is_the_same_bytes_after_it_was_kept() {
    let store = Store::in_memory().unwrap();
    let session = store.begin(request("  fill the form\n\n")).unwrap();
    let mut before = vec![EventKind::Started(request("  fill the form\n\n"))];
    before.extend(history());
    for kind in &before[1..] {
        store.append(session, kind.clone()).unwrap();
    }
    let kept = |store: &Store| -> Vec<EventKind> {
        store.events(&EventQuery::of(session)).unwrap().into_iter().map(|event| event.kind).collect()
    };
    assert_eq!(conversation(&kept(&store)), conversation(&before));
    assert!(conversation(&before).contains("0.30000000000000004"));
    assert_eq!(kept(&store), before, "and nothing else of the events is lost");

    let instead = json!([{"role": "user", "text": "what happened so far"}]);
    let compacted = EventKind::Compacted {
        through: 9,
        messages: instead,
        why: "the window is full".to_owned(),
        usage: Usage::default(),
        cost_micros: 0,
    };
    for kind in [compacted, said("go on")] {
        store.append(session, kind.clone()).unwrap();
        before.push(kind);
    }
    let mut lines = Vec::new();
    store.export(&metier_store::Export::Everything, &mut lines).unwrap();
    let elsewhere = Store::in_memory().unwrap();
    elsewhere.import(&mut &lines[..]).unwrap();
    assert_eq!(conversation(&kept(&elsewhere)), conversation(&before), "also in another store");
}
