//! An agent that hands over: its skills and crew members as tools, and `hand_back`.

use std::sync::Arc;

use metier_model::{Message, Part, ToolCall, ToolChoice};
use metier_runtime::{Tool, ToolRegistry};
use metier_store::{EventKind, EventSeverity};

use super::Session;
use crate::agent::Disclosure;
use crate::models::remark;
use crate::prompt_prefix::{PromptPrefix, tool};
use crate::subagent::{HAND_BACK, HandBackTool, handoff_tools};

impl Session {
    /// Finds the handoffs of a session whose prefix has their tools already.
    pub(super) fn find_handoffs(&mut self) {
        if self.agent.disclosure == Disclosure::Handoff {
            self.subagents.handoffs = handoff_tools(&self.skills, &self.agent.colleagues).0;
        }
        self.settle_tools();
    }

    /// Makes a router of a session that starts: instead of a catalogue and a tool that activates, a tool for each skill.
    pub(super) fn offer_handoffs(&mut self) -> Option<EventKind> {
        if self.agent.disclosure != Disclosure::Handoff {
            return None;
        }
        let skills = &self.skills;
        let (handoffs, left_out) = handoff_tools(skills, &self.agent.colleagues);
        let is_skills = |name: &str| skills.toolset().definitions().any(|definition| definition.name == name);
        let mut prefix = PromptPrefix::clone(&self.prefix).keeping(|name| !is_skills(name));
        prefix.system.retain(|text| &**text != skills.catalog());
        self.prefix = prefix.with(handoffs.iter().map(|handoff| tool(&handoff.definition))).into();
        self.subagents.handoffs = handoffs;
        (left_out > 0).then(|| {
            let text = format!("{left_out} skills are left out: an agent has at most 64 handoff tools");
            remark("routes-left-out", EventSeverity::Warning, text)
        })
    }

    /// The tools of the session, once its prefix is settled.
    pub(super) fn settle_tools(&mut self) {
        let mut tools = ToolRegistry::default();
        tools.add(self.skills.toolset().registered());
        tools.add(Arc::clone(&self.general).registered());
        tools.add(Arc::clone(&self.external).registered());
        tools.add(self.subagents.handoffs.iter().map(|handoff| Box::new(handoff.clone()) as Box<dyn Tool>));
        if self.prefix.has_hand_back() {
            tools.add([Box::new(HandBackTool::default()) as Box<dyn Tool>]);
        }
        self.tools = Arc::new(tools);
    }
}

/// The text that the last answer handed back, once its calls have their results: its own, else the result of the last other call.
pub(super) fn handed_back(messages: &[Arc<Message>]) -> Option<String> {
    let at = messages.iter().rposition(|message| matches!(&**message, Message::Assistant(_)))?;
    let Message::Assistant(parts) = &**messages.get(at)? else { return None };
    let call = parts.iter().find_map(hand_back_call)?;
    // Without results its calls have yet to run.
    matches!(&**messages.get(at + 1)?, Message::Results(_)).then_some(())?;
    let text = call.arguments.fields().and_then(|fields| fields.get("result")?.as_str());
    if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
        return Some(text.to_owned());
    }
    let mut results = messages.iter().rev().filter_map(|message| match &**message {
        Message::Results(results) => Some(results.iter().rev()),
        _ => None,
    });
    let last = results.find_map(|mut results| results.find(|result| &*result.name != HAND_BACK));
    Some(last.map(|result| result.text.to_string()).unwrap_or_default())
}

fn hand_back_call(part: &Part) -> Option<&ToolCall> {
    match part {
        Part::Call(call) if &*call.name == HAND_BACK => Some(call),
        _ => None,
    }
}

/// What precedes the messages of a sub-agent that work is handed to: how to work, and that it must call a tool.
pub(super) fn with_hand_back(mut prefix: PromptPrefix, rules: &str) -> PromptPrefix {
    prefix.system.push(rules.into());
    prefix.choice = ToolChoice::Any;
    prefix.with([tool(HandBackTool::default().definition())])
}
