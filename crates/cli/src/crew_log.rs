//! A session as the first of the systems that metier replaces keeps it: one JSON object a line, `user_message`, `step` and
//! `final_result`, each with its time. What children did stands where it happened.

use metier_store::{Event, EventKind, SessionId, Started};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Who works where no agent was named.
const NOBODY: &str = "metier";

/// What stands for an answer that has no words.
const NO_RESPONSE: &str = "[no response]";

/// The lines of a session and its children, in the order in which things happened.
pub(crate) fn lines(session: SessionId, mut events: Vec<Event>) -> Vec<Value> {
    // Positions are given once and in order, whoever wrote at the same time.
    events.sort_by_key(|event| event.position);
    let mut log =
        Log { session, names: HashMap::new(), tools: HashMap::new(), model: None, lines: Vec::new() };
    for event in &events {
        log.take(event);
    }
    log.lines
}

/// A name as a part of a path: whatever could lead elsewhere is an underscore.
pub(crate) fn segment(name: &str) -> String {
    let mut segment = String::new();
    for c in name.trim().chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '-' || c == '_' => segment.push(c),
            _ if segment.ends_with('_') => {}
            _ => segment.push('_'),
        }
    }
    let segment = segment.trim_matches('_');
    if segment.is_empty() { "session".to_owned() } else { segment.to_owned() }
}

struct Log {
    /// The session that was asked for; all others are its children.
    session: SessionId,
    /// What each session is called.
    names: HashMap<SessionId, String>,
    /// The tool of each call that has begun.
    tools: HashMap<(SessionId, String), String>,
    model: Option<String>,
    lines: Vec<Value>,
}

impl Log {
    fn take(&mut self, event: &Event) {
        let name = self.names.get(&event.session).cloned().unwrap_or_else(|| NOBODY.to_owned());
        let is_own = event.session == self.session;
        match &event.kind {
            // A child begins for its reader where its parent says that it did, by the name that it has there.
            EventKind::Started(started) if is_own => self.started(event, started),
            EventKind::Said { text, .. } if is_own => {
                self.push(event, "user_message", "userInput", &json!(text));
            }
            EventKind::Answered(answered) if !answered.text().trim().is_empty() && is_own => {
                self.step(event, &json!({ "type": "text", "text": answered.text().trim() }));
            }
            EventKind::Called(called) => {
                self.tools.insert((event.session, called.id.clone()), called.tool.clone());
                let input = called.input.to_string();
                self.step(
                    event,
                    &json!({ "type": "agent_tool_start", "agentName": name, "toolName": called.tool, "toolArgumentsStr": input }),
                );
            }
            EventKind::Finished(finished) => {
                let tool = self.tools.remove(&(event.session, finished.id.clone())).unwrap_or_default();
                self.step(
                    event,
                    &json!({ "type": "agent_tool_end", "agentName": name, "toolName": tool, "result": finished.text }),
                );
            }
            EventKind::ChildBegan { child, skill, agent, .. } => {
                let to = skill.clone().or_else(|| agent.clone()).unwrap_or_else(|| NOBODY.to_owned());
                self.names.insert(*child, to.clone());
                self.step(event, &json!({ "type": "handoff", "agentName": name, "toAgentName": to }));
                self.step(event, &json!({ "type": "agent_start", "agentName": to }));
            }
            EventKind::Ended(ended) => {
                self.step(event, &json!({ "type": "agent_end", "agentName": name }));
                if is_own {
                    let text = if ended.text.trim().is_empty() { NO_RESPONSE } else { ended.text.trim() };
                    self.push(event, "final_result", "finalResult", &json!({ "text": text }));
                    if let (Some(model), Some(line)) = (&self.model, self.lines.last_mut()) {
                        line["model"] = json!(model);
                    }
                }
            }
            _ => {}
        }
    }

    fn started(&mut self, event: &Event, started: &Started) {
        self.model.clone_from(&started.model);
        self.push(event, "user_message", "userInput", &json!(started.request));
        let name = self.names.entry(event.session);
        let name = name.or_insert_with(|| started.agent.clone().unwrap_or_else(|| NOBODY.to_owned())).clone();
        self.step(event, &json!({ "type": "agent_start", "agentName": name }));
    }

    fn step(&mut self, event: &Event, step: &Value) {
        self.push(event, "step", "stepResult", step);
    }

    fn push(&mut self, event: &Event, kind: &str, key: &str, value: &Value) {
        self.lines.push(json!({ "kind": kind, key: value, "timestamp": event.at.to_string() }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_store::{
        Answered, Called, Effect, Ended, Finished, Outcome, Part, SubagentMode, Timestamp, Usage,
    };

    #[test]
    fn e14_a_session_name_cannot_lead_out_of_its_folder() {
        for (name, expect) in [
            ("../../x", "x"),
            ("session_2026-05-27", "session_2026-05-27"),
            (" a b//c ", "a_b_c"),
            ("..", "session"),
            ("", "session"),
            ("ü/é", "session"),
            ("a\0b", "a_b"),
        ] {
            assert_eq!(segment(name), expect, "{name:?}");
        }
    }

    fn event(position: u64, session: SessionId, kind: EventKind) -> Event {
        Event { position, session, seq: position, at: Timestamp::now(), kind }
    }

    fn ended(text: &str) -> EventKind {
        EventKind::Ended(Ended {
            outcome: Outcome::Done,
            text: text.to_owned(),
            why: None,
            usage: Usage::default(),
            cost_micros: 0,
            turns: 1,
            calls: 1,
        })
    }

    #[test]
    fn e14_a_turn_is_a_message_its_steps_in_order_and_one_result_whoever_wrote_at_the_same_time() {
        let (parent, child) = (SessionId::new().unwrap(), SessionId::new().unwrap());
        let started = |request: &str, agent: Option<&str>| {
            EventKind::Started(Started {
                request: request.to_owned(),
                agent: agent.map(str::to_owned),
                model: Some("openai/x".to_owned()),
                ..Started::default()
            })
        };
        let called = EventKind::Called(Called {
            id: "1".to_owned(),
            tool: "run_command_line".to_owned(),
            skill: None,
            input: json!({ "commandLine": "ls" }),
            effect: Effect::Runs,
        });
        let finished = EventKind::Finished(Finished {
            id: "1".to_owned(),
            text: "1. milk".to_owned(),
            ..Finished::default()
        });
        let began = EventKind::ChildBegan {
            child,
            call: None,
            skill: Some("list-tasks".to_owned()),
            agent: None,
            mode: SubagentMode::Handoff,
        };
        let answered = EventKind::Answered(Answered {
            parts: vec![Part::Text { text: "One task.".to_owned() }],
            ..Answered::default()
        });
        // Handed in as two writers leave them: one session after the other.
        let events = vec![
            event(1, parent, started("what is on my list?", Some("todo_list_agent"))),
            event(2, parent, began),
            event(7, parent, answered),
            event(8, parent, ended(" One task. ")),
            event(3, child, started("what is on my list?", None)),
            event(4, child, called),
            event(5, child, finished),
            event(6, child, ended("")),
        ];
        let told: Vec<String> = lines(parent, events)
            .iter()
            .map(|line| {
                let step = &line["stepResult"];
                let text = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
                assert!(line["timestamp"].is_string());
                match line["kind"].as_str().unwrap() {
                    "step" => {
                        format!("{} {}{}{}", text("type"), text("agentName"), text("toolName"), text("text"))
                    }
                    "user_message" => format!("user {}", line["userInput"]),
                    "final_result" => format!("final {} {}", line["finalResult"]["text"], line["model"]),
                    other => other.to_owned(),
                }
            })
            .collect();
        assert_eq!(
            told,
            [
                "user \"what is on my list?\"",
                "agent_start todo_list_agent",
                "handoff todo_list_agent",
                "agent_start list-tasks",
                "agent_tool_start list-tasksrun_command_line",
                "agent_tool_end list-tasksrun_command_line",
                "agent_end list-tasks",
                "text One task.",
                "agent_end todo_list_agent",
                "final \"One task.\" \"openai/x\"",
            ]
        );
    }

    #[test]
    fn an_answer_without_words_says_so() {
        let session = SessionId::new().unwrap();
        let lines = lines(session, vec![event(1, session, ended("  "))]);
        assert_eq!(lines[1]["finalResult"]["text"], "[no response]");
    }
}
