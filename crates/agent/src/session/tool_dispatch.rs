//! Runs the calls of an answer.
//!
//! Calls run in order. Adjacent calls that only read run in parallel, since nothing they see depends on another, and so do
//! sub-agents; a call that writes, runs or asks waits for all before it.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Instant;

use metier_exec::ProcessReport;
use metier_model::ToolCall;
use metier_policy::{Answer, Question, Reason, Ruling};
use metier_runtime::{CallControl, MetaMessage, Outcome, SideEffect, ToolContext, ToolResult};
use metier_store as store;
use metier_store::{Activated, By, Called, Decided, EventKind, Finished, ScriptReport, Verdict};
use serde_json::Value;

use super::message::activated;
use super::spawn::{Requester, Started};
use super::subagents::SubagentRequest;
use super::{MAX_SHOWN_CALL, Session, SessionError};
use crate::cancel::CancelToken;
use crate::recorded_changes::recorded;
use crate::state::GivenAnswer;

/// How many reads run in parallel. More threads wait for the same disk.
const MAX_PARALLEL: usize = 8;

/// A call with what is known before it runs.
pub(super) struct PlannedCall {
    pub(super) call: ToolCall,
    pub(super) effect: store::Effect,
    /// The sub-agent that it asks for.
    pub(super) subagent: Option<SubagentRequest>,
    /// What a person has approved for it while it waited.
    approved: Vec<Question>,
}

impl PlannedCall {
    /// Whether it may run beside its neighbours.
    fn is_parallel(&self) -> bool {
        self.subagent.is_some() || self.effect == store::Effect::ReadOnly
    }
}

/// The result of a call, and how long it took.
pub(super) struct CallOutput {
    pub(super) result: ToolResult,
    pub(super) ms: u64,
}

impl CallOutput {
    /// A call that was not run.
    pub(super) fn refused(why: String) -> Self {
        Self { result: ToolResult::refused(why), ms: 0 }
    }
}

impl Session {
    /// Runs calls without a result, those that a process before this one had started included. Each of them gets a result, unless
    /// it waits for a person.
    pub(super) fn run_tools(&mut self, calls: Vec<ToolCall>) -> Result<(), SessionError> {
        let calls = self.settle_started(calls)?;
        let planned: Vec<PlannedCall> = calls.into_iter().map(|call| self.plan(call)).collect();
        let mut rest = planned.as_slice();
        while !rest.is_empty() && self.state(|state| state.calls.waiting().is_empty()) {
            let together = rest.iter().take_while(|planned| planned.is_parallel()).count().max(1);
            let (batch, after) = rest.split_at(together);
            rest = after;
            // Sub-agents start first, in order; reads run meanwhile.
            let awaited = self.start_subagents(batch)?;
            let others: Vec<&PlannedCall> =
                batch.iter().filter(|planned| planned.subagent.is_none()).collect();
            self.run_together(&others)?;
            self.await_calls(batch, awaited)?;
        }
        Ok(())
    }

    /// Starts the sub-agents that calls ask for. Returns those that are waited for, with the places of their calls.
    fn start_subagents(
        &mut self,
        batch: &[PlannedCall],
    ) -> Result<HashMap<u64, (usize, Instant)>, SessionError> {
        let mut awaited = HashMap::new();
        for (at, planned) in batch.iter().enumerate() {
            let Some(request) = &planned.subagent else { continue };
            // One that is resumed was announced before, and sees the limits itself.
            if matches!(request, SubagentRequest::New { .. }) {
                let why = match self.why_not_run() {
                    Some(why) => Some(why),
                    None => self.still_uncertain(&planned.call, planned.effect)?,
                };
                if let Some(why) = why {
                    self.write_result(planned, CallOutput::refused(why))?;
                    continue;
                }
                self.write_called(planned)?;
            }
            let (call, approved) = (Some(planned.call.id.to_string()), planned.approved.clone());
            let requester = Requester { by: By::Model, call, approved };
            match self.start_subagent(request, &requester)? {
                Started::Awaited(number) => {
                    awaited.insert(number, (at, Instant::now()));
                }
                Started::Answered(result) => self.write_result(planned, CallOutput { result, ms: 0 })?,
            }
        }
        Ok(awaited)
    }

    /// Runs one call, or several that only read.
    fn run_together(&mut self, mut rest: &[&PlannedCall]) -> Result<(), SessionError> {
        while !rest.is_empty() {
            let why_not = self.why_not_run();
            // As many as the limit allows; the others are told then that it is reached.
            let left = self.limits().calls.saturating_sub(self.spent().calls);
            let room = usize::try_from(left).unwrap_or(usize::MAX).clamp(1, MAX_PARALLEL);
            let (batch, after) = rest.split_at(room.min(rest.len()));
            rest = after;
            let why_not = match (why_not, batch) {
                (None, [one]) => self.still_uncertain(&one.call, one.effect)?,
                (why_not, _) => why_not,
            };
            if let Some(why) = why_not {
                for planned in batch {
                    self.write_result(planned, CallOutput::refused(why.clone()))?;
                }
                continue;
            }
            for planned in batch {
                self.write_called(planned)?;
            }
            let outputs = match batch {
                [one] => vec![self.execute(one)],
                many => self.execute_parallel(many),
            };
            for (planned, output) in batch.iter().zip(outputs) {
                self.write_result(planned, output)?;
            }
        }
        Ok(())
    }

    /// Why no further call runs, if so.
    pub(super) fn why_not_run(&self) -> Option<String> {
        if self.cancel.is_cancelled() {
            return Some("it was stopped before this call".to_owned());
        }
        let own = self.limits().before_a_call(&self.spent());
        let hit = own
            .or_else(|| self.subagents.budget.before_a_call())
            .or_else(|| self.state(|state| state.run.repeats.reached()));
        hit.map(|hit| format!("this call was not made: {hit}"))
    }

    fn plan(&self, call: ToolCall) -> PlannedCall {
        let tool = self.tools.find(&call.name);
        let subagent = self.subagent_request(&call);
        let effect = match tool.map(|tool| tool.definition().effect) {
            // What a sub-agent does depends on its skill, which may run anything.
            _ if subagent.is_some() => store::Effect::Runs,
            Some(SideEffect::ReadOnly) | None => store::Effect::ReadOnly,
            Some(SideEffect::Writes) => store::Effect::Writes,
            Some(SideEffect::Runs | SideEffect::Network) => store::Effect::Runs,
            Some(SideEffect::Asks) => store::Effect::Asks,
        };
        let mut approved = Vec::new();
        for GivenAnswer { question, answer } in self.state(|state| state.calls.answers(&call.id)) {
            match answer {
                Answer::Once => approved.push(question),
                longer => self.skills.restore_answer(&question, longer),
            }
        }
        PlannedCall { call, effect, subagent, approved }
    }

    fn write_called(&mut self, planned: &PlannedCall) -> Result<(), SessionError> {
        self.subagents.budget.call();
        let ToolCall { id, name, arguments, .. } = &planned.call;
        let input = arguments.fields().map(|fields| Value::Object(fields.clone())).unwrap_or_default();
        self.write(EventKind::Called(Called {
            id: id.to_string(),
            tool: name.to_string(),
            skill: skill_named(&input),
            input,
            effect: planned.effect,
        }))
    }

    fn execute(&self, planned: &PlannedCall) -> CallOutput {
        let began = Instant::now();
        let result = match planned.call.arguments.fields() {
            // The model has its own text in the history; what is wrong with it is what it does not know.
            None => ToolResult::refused(malformed(&planned.call)),
            Some(fields) => {
                let input = Value::Object(fields.clone());
                // A panic is a defect of metier. It ends this call: the model is told, and the session continues.
                catch_unwind(AssertUnwindSafe(|| self.execute_in_time(planned, &input)))
                    .unwrap_or_else(|_| ToolResult::refused(internal_error(&planned.call)))
            }
        };
        CallOutput { result, ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX) }
    }

    fn execute_parallel(&self, batch: &[&PlannedCall]) -> Vec<CallOutput> {
        thread::scope(|scope| {
            let threads: Vec<_> =
                batch.iter().map(|planned| scope.spawn(move || self.execute(planned))).collect();
            let outputs = threads.into_iter().zip(batch);
            let refused = |planned: &PlannedCall| CallOutput::refused(internal_error(&planned.call));
            outputs.map(|(thread, planned)| thread.join().unwrap_or_else(|_| refused(planned))).collect()
        })
    }

    /// Stops a process when the time of the run is up; the result says what came of it until then.
    fn execute_in_time(&self, planned: &PlannedCall, input: &Value) -> ToolResult {
        let left = self.time_left().filter(|_| planned.effect == store::Effect::Runs);
        // If no token can be created, the call runs without a deadline.
        let Some((left, cancel)) = left.zip(self.cancel.child().ok()) else {
            return self.call_tool(planned, input, &self.cancel);
        };
        let timer = cancel.clone();
        let timer = self.agent.runtime.spawn(async move {
            tokio::time::sleep(left).await;
            timer.cancel();
        });
        let result = self.call_tool(planned, input, &cancel);
        timer.abort();
        result
    }

    fn call_tool(&self, planned: &PlannedCall, input: &Value, cancel: &CancelToken) -> ToolResult {
        let name = &*planned.call.name;
        if let Some(why) = self.why_not_offered(name) {
            return ToolResult::refused(why);
        }
        if planned.effect == store::Effect::Runs {
            self.relay.begin(&planned.call.id);
        }
        let Some(tool) = self.tools.find(name) else {
            return ToolResult::refused(unknown_tool(name, None, &self.prefix.names()));
        };
        let listener = |stream, piece: &[u8]| self.relay.hear(stream, piece);
        let control = CallControl {
            id: Some(&planned.call.id),
            cancel: Some(cancel.processes()),
            listener: Some(&listener),
            approved: &planned.approved,
        };
        ToolContext { skills: &self.skills, control }.call(tool, input)
    }

    /// Writes what became of a call: the decision, the activation, the result.
    pub(super) fn write_result(
        &mut self,
        planned: &PlannedCall,
        output: CallOutput,
    ) -> Result<(), SessionError> {
        let CallOutput { result, ms } = output;
        let id = planned.call.id.to_string();
        if let Some(decision) = &result.decision {
            let is_allowed = decision.is_allowed();
            let action = format!("{} {}", planned.call.name, planned.call.arguments.raw());
            let action = metier_catalog::one_line(&action, MAX_SHOWN_CALL);
            // Neither a person nor a rule has said anything: no one could be asked, or the mode asks no one.
            let is_by_mode = matches!(decision.by, Reason::Mode { .. }) && decision.lacks_approval();
            let is_unasked = decision.ruling != Ruling::Ask && (decision.question.is_some() || is_by_mode);
            let unanswered = !is_allowed && is_unasked;
            let allow_with =
                decision.allow_with.iter().filter(|_| unanswered).map(ToString::to_string).collect();
            self.write(EventKind::Decided(Decided {
                call: Some(id.clone()),
                action,
                verdict: verdict(decision.ruling),
                rule: Some(decision.to_string()),
                allow_with,
                unanswered,
                ..Decided::default()
            }))?;
        }
        // It has no result until a person has answered.
        if result.outcome == Outcome::Waiting {
            return Ok(());
        }
        let change_set = result.changes.as_deref().map(recorded);
        if let Some(id) = result.activated {
            self.write_activated(id, planned, result.message.as_ref(), &result.notes)?;
        }
        let is_error = result.is_error();
        // A refused call has the change that it would have made.
        let done = result.change.iter().filter(|_| !is_error);
        let mut changes: Vec<String> = done.map(|change| change.path.clone()).collect();
        let report = result.process.map(|mut process| {
            changes.append(&mut process.changes);
            process_record(&process)
        });
        let fields = planned.call.arguments.fields();
        // Paths that a skill's tool names are its skill's.
        if self.skills.toolset().find(&planned.call.name).is_none() && !is_error {
            let named = ["file_path", "path"].into_iter().filter_map(|field| fields?.get(field)?.as_str());
            self.touch(named.chain(changes.iter().map(String::as_str)));
        }
        self.write(EventKind::Finished(Finished {
            id,
            skill: fields.and_then(|fields| skill_named(&Value::Object(fields.clone()))),
            text: result.text,
            is_error,
            ms,
            report,
            changes,
            change_set,
        }))
    }

    fn write_activated(
        &mut self,
        entry: metier_catalog::EntryId,
        planned: &PlannedCall,
        message: Option<&MetaMessage>,
        notes: &[String],
    ) -> Result<(), SessionError> {
        let Some(active) = self.skills.about(entry) else { return Ok(()) };
        let labels = self.skills.labels(entry);
        let fields = planned.call.arguments.fields();
        let arguments = fields
            .and_then(|fields| fields.get("arguments").or_else(|| fields.get("args")))
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        self.write(EventKind::Activated(Activated {
            digest: active.digest,
            call: Some(planned.call.id.to_string()),
            arguments: arguments.unwrap_or_default(),
            // Without one the text is in the conversation already, or is the tool's own result.
            message: message.map(|message| message.text.clone()).unwrap_or_default(),
            notes: notes.to_vec(),
            ..activated(&active.skill, labels, By::Model)
        }))
    }
}

/// A decision of the policy, as it is stored.
pub(super) fn verdict(ruling: Ruling) -> Verdict {
    match ruling {
        Ruling::Allow => Verdict::Allow,
        Ruling::Ask => Verdict::Ask,
        Ruling::Refuse => Verdict::Refuse,
    }
}

/// What became of a process, as it is stored: the report has the form of records.
fn process_record(process: &ProcessReport) -> ScriptReport {
    serde_json::to_value(process).and_then(serde_json::from_value).unwrap_or_default()
}

/// The skill that a call names, by whichever field its surface has for it.
fn skill_named(input: &Value) -> Option<String> {
    let named = ["skill_name", "skill"].iter().find_map(|key| input.get(key)?.as_str());
    named.map(str::to_owned)
}

/// What the model is told of a tool that it does not have; `skill` is what works in a sub-agent.
pub(super) fn unknown_tool(name: &str, skill: Option<&str>, offered: &[&str]) -> String {
    let name = metier_catalog::one_line(name, 100);
    let text = match skill {
        Some(skill) => format!("`{name}` is not a tool of `{skill}`"),
        None => format!("there is no tool `{name}`"),
    };
    match offered {
        [] => text + ", and no other: answer with text",
        names => format!("{text}; there are `{}`", names.join("`, `")),
    }
}

fn internal_error(call: &ToolCall) -> String {
    format!("`{}` failed: internal error of metier. It may have done a part of its work", call.name)
}

fn malformed(call: &ToolCall) -> String {
    let why = match &call.arguments {
        metier_model::Arguments::Malformed { why, .. } => why.as_str(),
        metier_model::Arguments::Object { .. } => "",
    };
    format!("`{}` was not called: {why}. Call it again with one JSON object", call.name)
}

#[cfg(test)]
mod tests {
    use metier_exec::{ContactReport, ProcessEnd};
    use metier_store::ContactMade;

    use super::*;

    #[test]
    fn every_field_of_a_process_report_is_in_its_record() {
        let (host, outcome, stopped) = (Some("a:1".to_owned()), "passed".to_owned(), "time");
        let contacts = vec![ContactReport { host: host.clone(), outcome: "passed", up: 5, down: 6 }];
        let end = ProcessEnd { exit: Some(1), signal: Some(9), stopped: Some(stopped), timed_out: true };
        let texts = |text: &str| vec![text.to_owned()];
        let process = ProcessReport {
            end,
            ms: 10,
            paused_ms: 11,
            cpu_ms: 12,
            memory: 13,
            stdout: 14,
            stderr: 15,
            truncated: true,
            outputs: texts("o"),
            tier: "landlock",
            contacts,
            denied: texts("d"),
            masked: texts("m"),
            changes: texts("c"),
            left_out: 16,
        };
        let expect = ScriptReport {
            exit: Some(1),
            signal: Some(9),
            stopped: Some(stopped.to_owned()),
            timed_out: true,
            ms: 10,
            paused_ms: 11,
            cpu_ms: 12,
            memory: 13,
            stdout: 14,
            stderr: 15,
            truncated: true,
            outputs: texts("o"),
            tier: "landlock".to_owned(),
            contacts: vec![ContactMade { host, outcome, up: 5, down: 6 }],
            denied: texts("d"),
            masked: texts("m"),
            left_out: 16,
        };
        assert_eq!(process_record(&process), expect);
    }
}
