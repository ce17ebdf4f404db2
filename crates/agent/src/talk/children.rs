//! Children of a conversation while they work: which calls ask for one, and what becomes of what they bring back.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use metier_model::ToolCall;
use metier_policy::Skill;
use metier_runtime::{ChildWanted, ToolResult};
use metier_skill::Tool;
use metier_store::{By, EventKind, EventSeverity, NoteTopic, Outcome};
use serde_json::{Value, json};

use super::beginning::{Begun, Wanting};
use super::calling::{Came, Ready};
use super::{Talk, TalkError};
use crate::agent::Patience;
use crate::bridge::lock;
use crate::child::{
    ChildAnswer, ChildMode, Family, LastWord, Lead, Nursery, Over, Place, Route, Slot, Worker, note, result,
    still_running,
};
use crate::limits::{Limits, Reached};
use crate::models::remark;
use crate::state::StartedSubagent;

/// What a conversation has to do with others.
pub(super) struct Kin {
    pub(super) family: Arc<Family>,
    /// The skills that run above it and in it.
    pub(super) line: Vec<Skill>,
    /// How many conversations are above it.
    pub(super) depth: u32,
    /// Who works in it, where it is a child.
    pub(super) worker: Option<Worker>,
    /// How it stands to its parent; `None` where it has none.
    pub(super) mode: Option<ChildMode>,
    /// A child's right to work, lent while it waits for its own children.
    pub(super) slot: Option<Slot>,
    pub(super) nursery: Nursery,
    /// Skills as tools, where the agent hands over.
    pub(super) routes: Vec<Route>,
    /// What the last call gave, which is what a child hands back that says nothing else.
    pub(super) last_result: String,
    /// What the model is told before its next turn.
    pub(super) notes: Vec<String>,
    /// Steps of children that may have happened, about which nobody could be asked.
    pub(super) owed: Vec<String>,
}

impl Kin {
    pub(super) fn alone(limits: Limits) -> Self {
        Self {
            family: Arc::new(Family::new(limits)),
            line: Vec::new(),
            depth: 0,
            worker: None,
            mode: None,
            slot: None,
            nursery: Nursery::default(),
            routes: Vec::new(),
            last_result: String::new(),
            notes: Vec::new(),
            owed: Vec::new(),
        }
    }

    /// Whether it is a child.
    pub(super) fn is_child(&self) -> bool {
        self.mode.is_some()
    }
}

/// A child that is asked for.
pub(super) enum ChildAsked {
    /// One that begins.
    New { wanted: Wanted, mode: ChildMode },
    /// One that was at work when the last process ended.
    Again(StartedSubagent),
}

/// Who is asked for.
pub(super) enum Wanted {
    /// A skill.
    Skill(ChildWanted),
    /// Somebody else of the crew, by their place among them, with what they are told.
    Colleague(usize, String),
}

impl Talk {
    /// The child that a call asks for, if it does.
    pub(super) fn child_asked(&self, call: &ToolCall) -> Option<ChildAsked> {
        let started = self.state(|state| state.calls.started.get(&*call.id)?.subagent.clone());
        if let Some(child) = started {
            return Some(ChildAsked::Again(child));
        }
        let fields = call.arguments.fields()?;
        if let Some(route) = self.kin.routes.iter().find(|route| *route.tool == *call.name) {
            let told = fields.get("request").and_then(Value::as_str).filter(|told| !told.trim().is_empty());
            // A handoff without a request carries the user's own words.
            let told = told.map_or_else(|| self.user_text(), Arc::from);
            let wanted = match &route.lead {
                Lead::Skill(skill) => Wanted::Skill(lock(&self.session).handoff_wanted(skill, &told)?),
                Lead::Colleague(at) => Wanted::Colleague(*at, told.to_string()),
            };
            return Some(ChildAsked::New { wanted, mode: ChildMode::Handoff });
        }
        if self.why_not(&call.name).is_some() {
            return None;
        }
        let wanted = lock(&self.session).child_wanted(&call.name, &Value::Object(fields.clone()))?;
        Some(ChildAsked::New { wanted: Wanted::Skill(wanted), mode: ChildMode::Fork })
    }

    /// Why a child may not call a tool: it is not among its own.
    pub(super) fn why_not(&self, name: &str) -> Option<String> {
        if !self.kin.is_child() {
            return None;
        }
        let same = Tool::named(name);
        let is_offered = self
            .frame
            .tools
            .iter()
            .any(|tool| *tool.name == *name || (same.is_some() && Tool::named(&tool.name) == same));
        if is_offered {
            return None;
        }
        let names: Vec<String> = self.frame.names().into_iter().map(|name| format!("`{name}`")).collect();
        let skill = self.kin.worker.as_ref().map(Worker::name).unwrap_or_default();
        let asked = metier_catalog::one_line(name, 100);
        Some(match names.as_slice() {
            [] => format!("`{asked}` is not among the tools of `{skill}`, which has none: answer in words"),
            names => format!("`{asked}` is not among the tools of `{skill}`; there are {}", names.join(", ")),
        })
    }

    /// Carries out neighbours that may run at once, some of which are children. Children begin first, in their order; looks run
    /// meanwhile; each result is written down when it is there.
    pub(super) fn side_by_side(
        &mut self,
        batch: &[Ready],
        mut reached: Option<Reached>,
    ) -> Result<Option<Reached>, TalkError> {
        let mut awaited = HashMap::new();
        for (at, ready) in batch.iter().enumerate() {
            let Some(asked) = &ready.child else { continue };
            // One that goes on was announced before, and sees the limits itself.
            if matches!(asked, ChildAsked::New { .. }) {
                reached = reached.or_else(|| self.before_a_call());
                let why = self.why_no_more(reached.as_ref());
                let why =
                    why.map_or_else(|| self.still_doubted(&ready.call, ready.effect), |why| Ok(Some(why)))?;
                if let Some(why) = why {
                    self.finished(ready, Came { result: ToolResult::refused(why), ms: 0 })?;
                    continue;
                }
                self.called(ready)?;
            }
            let wanting = Wanting { by: By::Model, call: Some(ready.call.id.to_string()) };
            match self.begin_child(asked, &wanting)? {
                Begun::Awaited(number) => {
                    awaited.insert(number, (at, Instant::now()));
                }
                Begun::Answered(result) => {
                    reached = reached.or(self.finish(ready, Came { result, ms: 0 })?);
                }
            }
        }
        let looks: Vec<&Ready> = batch.iter().filter(|ready| ready.child.is_none()).collect();
        reached = self.call_together(&looks, reached)?;
        if awaited.is_empty() {
            return Ok(reached);
        }
        // Whoever waits for children does not work: its slot is theirs meanwhile, or nobody could ever begin.
        let was_working = self.kin.slot.take().is_some();
        while !awaited.is_empty() {
            let Some(over) = self.kin.nursery.next() else { break };
            let Some((at, since)) = awaited.remove(&over.number) else {
                self.take_note(&over)?;
                continue;
            };
            if over.word == LastWord::Owed {
                self.kin.owed.extend(over.answer.needs.iter().map(|need| need.action.clone()));
                continue;
            }
            let ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            let result = returned(&over.answer, &batch[at].call.name);
            reached = reached.or(self.finish(&batch[at], Came { result, ms })?);
        }
        if was_working {
            let ticket = self.kin.family.queue.join(Place::Returning);
            self.kin.slot = self.agent.runtime.block_on(ticket.wait(&self.halt));
        }
        Ok(reached)
    }

    /// A child in the background is over: its result becomes a part of the conversation.
    pub(super) fn take_note(&mut self, over: &Over) -> Result<(), TalkError> {
        self.write(EventKind::Noted { text: note(&over.answer), about: NoteTopic::Subagent })
    }

    /// Takes what children in the background have brought meanwhile.
    pub(super) fn take_notes(&mut self) -> Result<(), TalkError> {
        while let Some(over) = self.kin.nursery.ready() {
            self.take_note(&over)?;
        }
        for text in std::mem::take(&mut self.kin.notes) {
            self.write(EventKind::Noted { text, about: NoteTopic::Skills })?;
        }
        Ok(())
    }

    /// The work touches files: skills that are for them are told of before the next turn.
    pub(super) fn touch<'p>(&mut self, files: impl IntoIterator<Item = &'p str>) {
        let note = lock(&self.session).touch(files);
        self.kin.notes.extend(note);
    }

    /// The end of a run while children are in the background. They are waited for, as long as the agent has patience; when there is
    /// something new, the model gets it. True where it is to be asked once more.
    pub(super) fn await_children(&mut self, outcome: Outcome) -> Result<bool, TalkError> {
        if self.kin.nursery.len() == 0 {
            return Ok(false);
        }
        let time = match (outcome, self.patience()) {
            (Outcome::Done, Patience::Leave) => {
                let text = still_running(&self.kin.nursery.skills());
                self.write(remark("child-still-running", EventSeverity::Info, text))?;
                return Ok(false);
            }
            (Outcome::Done, Patience::Wait(time)) => time,
            // Whatever stopped the parent stops them.
            _ => Duration::ZERO,
        };
        let was_working = self.kin.slot.take().is_some();
        let until = Instant::now() + time;
        while let Some(over) = self.kin.nursery.next_until(until, &self.halt, &self.agent.runtime) {
            self.take_note(&over)?;
        }
        // Nobody is left behind: who is not done by now brings what is there.
        self.kin.nursery.stop();
        while let Some(over) = self.kin.nursery.next() {
            self.take_note(&over)?;
        }
        if was_working {
            let ticket = self.kin.family.queue.join(Place::Returning);
            self.kin.slot = self.agent.runtime.block_on(ticket.wait(&self.halt));
        }
        Ok(outcome == Outcome::Done && !self.halt.is_said())
    }

    /// A child has no later turn in which to report, so it always waits.
    fn patience(&self) -> Patience {
        match (self.agent.patience, self.kin.is_child()) {
            (Patience::Leave, true) => Patience::default(),
            (patience, _) => patience,
        }
    }
}

/// The result of a call that wanted a child.
pub(super) fn returned(answer: &ChildAnswer, tool: &str) -> ToolResult {
    let text = result(answer);
    let text = match tool {
        "load_skill" => json!({ "skill_name": answer.worker.name(), "result": text }).to_string(),
        _ => text,
    };
    let failed = answer.is_failure();
    let outcome = if failed { metier_runtime::Outcome::Failed } else { metier_runtime::Outcome::Done };
    ToolResult { text, outcome, ..ToolResult::default() }
}
