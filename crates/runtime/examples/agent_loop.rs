//! metier in somebody else's agent: `cargo run -p metier-runtime --example agent_loop [-- SKILLS_FOLDER…]`.
//!
//! The loop, the messages and the model are the other program's. The model here is a script of answers, so that this runs
//! without a network; put yours where `Model::answer` is. The places where metier comes in are numbered.

#![allow(clippy::print_stdout, reason = "an example is a program")]

use std::path::PathBuf;

use metier_policy::Answer;
use metier_runtime::{ApprovalRequest, Skills, ToolFormat, begin};
use serde_json::{Value, json};

fn main() {
    // 1. First thing: the processes of skills are contained by a helper that is this program.
    begin(std::env::args_os());

    // 2. Once: where skills lie, and what they may. Nothing is read from the environment unless the program does.
    let mut roots: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if roots.is_empty() {
        roots.push(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/skills").into());
    }
    let builder = roots.into_iter().fold(Skills::builder(), metier_runtime::SkillsBuilder::root);
    let skills = builder.deny("skill:*/secret:*").ask(ask).watch().open();
    for problem in skills.problems() {
        println!("[problem] {}", problem.message);
    }

    // 3. For each conversation: a session. Its texts go into the request and never change.
    let mut session = skills.session();
    let mut model = Model::default();
    let system = format!("You help with texts. Be brief.\n\n{}", session.catalog());
    let tools = session.tools(ToolFormat::OpenAi);
    let mut messages = vec![json!({ "role": "system", "content": system })];

    for request in ["How many words does `to be or not to be` have?", "Thank you!"] {
        // 4. When the user speaks: scopes of skills end, and what changed meanwhile becomes a note.
        if let Some(text) = session.user_message().and_then(|note| note.text()) {
            messages.push(json!({ "role": "user", "content": text }));
        }
        println!("[user] {request}");
        messages.push(json!({ "role": "user", "content": request }));

        // A model that calls tools for ever is stopped by whoever asks it.
        for _turn in 0..10 {
            let answer = model.answer(&messages, &tools);
            messages.push(answer.clone());
            if let Some(text) = answer["content"].as_str() {
                println!("[model] {text}");
            }
            let calls = answer["tool_calls"].as_array().cloned().unwrap_or_default();
            if calls.is_empty() {
                break;
            }
            let mut instructions = Vec::new();
            for call in &calls {
                let function = &call["function"];
                let name = function["name"].as_str().unwrap_or_default();
                println!("[call] {name} {}", function["arguments"]);
                // 5. Each call of the model: one line. Other tools of the program are handled beside it.
                let result = session.call(name, &function["arguments"]);
                for note in &result.notes {
                    println!("[note] {note}");
                }
                println!("[result] {}", result.text.trim_end());
                messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": result.text }));
                instructions.extend(result.message);
            }
            // 6. A skill's instructions follow all results of the turn.
            for message in instructions {
                println!("[skill] {} lines of {}", message.text.lines().count(), message.skill);
                messages.push(json!({ "role": "user", "content": message.text }));
            }
        }
    }
}

/// What takes a yes comes here, with what exactly would happen. A program with a window shows it; this one says no.
fn ask(request: &ApprovalRequest<'_>) -> Answer {
    println!("[question] {} No.", request.action.sentence());
    Answer::No
}

/// The other program's model: it looks at the last message, as a real one would at all of them.
#[derive(Default)]
struct Model {
    calls: usize,
}

impl Model {
    fn answer(&mut self, messages: &[Value], tools: &Value) -> Value {
        let last = messages.last().and_then(|message| message["content"].as_str()).unwrap_or_default();
        let has = |name: &str| {
            let mut tools = tools.as_array().into_iter().flatten();
            tools.any(|tool| tool["function"]["name"] == name)
        };
        if last.starts_with("How many") && has("skill_use") {
            return self.call(
                "skill_use",
                &json!({ "skill_name": "count-words", "arguments": "to be or not to be" }),
            );
        }
        if last.starts_with("<skill-context") && has("skill_run_script") {
            let words = json!({ "skill_name": "count-words", "script_name": "count.sh", "script_args": "to be or not to be" });
            return self.call("skill_run_script", &words);
        }
        match last.trim().parse::<usize>() {
            Ok(count) => json!({ "role": "assistant", "content": format!("It has {count} words.") }),
            Err(_) => json!({ "role": "assistant", "content": "You are welcome." }),
        }
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.calls += 1;
        let function = json!({ "name": name, "arguments": arguments });
        let call = json!({ "id": format!("call-{}", self.calls), "type": "function", "function": function });
        json!({ "role": "assistant", "content": null, "tool_calls": [call] })
    }
}
