//! Carrying out what the model wants to be called.
//!
//! Calls go in their order. Neighbours that only look run at once, since nothing they see depends on another, and so do children;
//! whatever writes, runs or asks waits for all before it.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use metier_model::ToolCall;
use metier_policy::Ruling;
use metier_runtime::{GivenAnswer, MetaMessage, ProcessReport, Sight, ToolResult, Toolset};
use metier_sandbox::Stop;
use metier_store as store;
use metier_store::{Activated, By, Called, ContactMade, Decided, EventKind, Finished, ScriptReport};
use serde_json::Value;

use super::children::ChildAsked;
use super::recalling::Wanted;
use super::{SHOWN, Talk, TalkError};
use crate::bridge::{Bridge, lock};
use crate::changed::recorded;
use crate::halt::Halt;
use crate::keeper::Keeper;
use crate::limits::Reached;
use crate::tools::{ActiveSkill, Ask, Desk, Effect, GeneralTools, Memory, Whose, whose};

/// How many looks run at once. More threads than this wait for the same disk.
const AT_ONCE: usize = 8;

/// A call, ready to be carried out.
pub(super) struct Ready {
    pub(super) call: ToolCall,
    whose: Whose,
    pub(super) effect: store::Effect,
    /// The child that it asks for.
    pub(super) child: Option<ChildAsked>,
}

impl Ready {
    /// Whether it may run beside its neighbours.
    fn is_free(&self) -> bool {
        self.child.is_some() || self.effect == store::Effect::ReadOnly
    }
}

/// What came of one, and how long it took.
pub(super) struct Came {
    pub(super) result: ToolResult,
    pub(super) ms: u64,
}

impl Talk {
    /// Carries out the calls of one answer. Every one of them gets a result, whatever happens; says which limit was reached on
    /// the way.
    pub(super) fn call_all(&mut self, calls: Vec<ToolCall>) -> Result<Option<Reached>, TalkError> {
        let ready: Vec<Ready> = calls.into_iter().map(|call| self.ready(call)).collect();
        let mut reached = None;
        let mut rest = ready.as_slice();
        // What comes behind a child that waits for a word waits, too.
        while !rest.is_empty() && self.kin.owed.is_empty() {
            let together = rest.iter().take_while(|ready| ready.is_free()).count().max(1);
            let (batch, behind) = rest.split_at(together);
            rest = behind;
            reached = if batch.iter().any(|ready| ready.child.is_some()) {
                self.side_by_side(batch, reached)?
            } else {
                self.call_together(&batch.iter().collect::<Vec<_>>(), reached)?
            };
        }
        Ok(reached)
    }

    /// Carries out one call, or several that only look.
    pub(super) fn call_together(
        &mut self,
        batch: &[&Ready],
        mut reached: Option<Reached>,
    ) -> Result<Option<Reached>, TalkError> {
        let mut rest = batch;
        while !rest.is_empty() {
            reached = reached.or_else(|| self.before_a_call());
            // As many as may still be made; the others hear then that the limit is reached.
            let left = self.limits().calls.saturating_sub(self.spent().calls);
            let room = usize::try_from(left).unwrap_or(usize::MAX).clamp(1, AT_ONCE);
            let (batch, behind) = rest.split_at(room.min(rest.len()));
            rest = behind;
            if let Some(why) = self.why_no_more(reached.as_ref()) {
                for ready in batch {
                    self.finished(ready, Came { result: ToolResult::refused(why.clone()), ms: 0 })?;
                }
                continue;
            }
            if let [one] = batch
                && let Some(why) = self.still_doubted(&one.call, one.effect)?
            {
                self.finished(one, Came { result: ToolResult::refused(why), ms: 0 })?;
                continue;
            }
            for ready in batch {
                self.called(ready)?;
            }
            let came = match batch {
                [one] => vec![self.carry_out(one)],
                many => self.carry_out_at_once(many),
            };
            for (ready, came) in batch.iter().zip(came) {
                reached = reached.or(self.finish(ready, came)?);
            }
        }
        Ok(reached)
    }

    /// Why no call is made any more, if so.
    pub(super) fn why_no_more(&self, reached: Option<&Reached>) -> Option<String> {
        match reached {
            _ if self.halt.is_said() => Some("it was stopped before this call".to_owned()),
            Some(reached) => Some(format!("this call was not made: {reached}")),
            None => None,
        }
    }

    /// Takes what came of a call, and says when the model has tried the same too often.
    pub(super) fn finish(&mut self, ready: &Ready, came: Came) -> Result<Option<Reached>, TalkError> {
        self.finished(ready, came)?;
        Ok(self.state(|state| state.run.repeats.reached()))
    }

    fn ready(&self, call: ToolCall) -> Ready {
        let surface = self.agent.surface;
        let whose = whose(&call.name, surface);
        let effect = match whose {
            Whose::Skills => match Toolset::sight(surface, &call.name) {
                Some(Sight::Looks) | None => store::Effect::ReadOnly,
                Some(Sight::Acts | Sight::Reaches) => store::Effect::Runs,
            },
            Whose::General => match GeneralTools::effect(&call.name, &Value::Null) {
                Some(Effect::Reads) | None => store::Effect::ReadOnly,
                Some(Effect::Writes) => store::Effect::Writes,
                Some(Effect::Runs) => store::Effect::Runs,
                Some(Effect::Asks) => store::Effect::Asks,
            },
            Whose::Nobody => self.outside.effect(&call.name).unwrap_or(store::Effect::ReadOnly),
        };
        let child = self.child_asked(&call);
        // What a child does depends on its skill, which may run anything.
        let effect = if child.is_some() { store::Effect::Runs } else { effect };
        Ready { call, whose, effect, child }
    }

    pub(super) fn called(&mut self, ready: &Ready) -> Result<(), TalkError> {
        self.kin.family.call();
        let ToolCall { id, name, arguments, .. } = &ready.call;
        let input = arguments.fields().map(|fields| Value::Object(fields.clone())).unwrap_or_default();
        self.write(EventKind::Called(Called {
            id: id.to_string(),
            tool: name.to_string(),
            skill: skill_named(&input),
            input,
            effect: ready.effect,
        }))
    }

    fn carry_out(&self, ready: &Ready) -> Came {
        let began = Instant::now();
        let result = match ready.call.arguments.fields() {
            // The model gets its own text back by the history; what is wrong with it is what it does not know.
            None => ToolResult::refused(malformed(&ready.call)),
            Some(fields) => self.perform_in_time(ready, &Value::Object(fields.clone())),
        };
        Came { result, ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX) }
    }

    fn carry_out_at_once(&self, batch: &[&Ready]) -> Vec<Came> {
        thread::scope(|scope| {
            let general: Vec<_> = batch
                .iter()
                .map(|ready| {
                    (ready.whose == Whose::General).then(|| scope.spawn(move || self.carry_out(ready)))
                })
                .collect();
            let mut came = Vec::with_capacity(batch.len());
            for (ready, thread) in batch.iter().zip(general) {
                came.push(match thread {
                    // A panic would be a fault of ours; the model gets an answer all the same.
                    Some(thread) => thread.join().unwrap_or_else(|_| Came {
                        result: ToolResult::refused(format!("`{}` broke down", ready.call.name)),
                        ms: 0,
                    }),
                    None => self.carry_out(ready),
                });
            }
            came
        })
    }

    /// Ends what runs when the time of the run is up; the result says what came of it until then.
    fn perform_in_time(&self, ready: &Ready, input: &Value) -> ToolResult {
        let left = self.time_left().filter(|_| ready.effect == store::Effect::Runs);
        // Where there is no place for a timer, nothing is held back by its absence but the end.
        let Some((left, halt)) = left.zip(self.halt.child().ok()) else {
            return self.perform(ready, input, &self.halt);
        };
        let (done, is_done) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let timer = halt.clone();
            scope.spawn(move || {
                if is_done.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                    timer.halt();
                }
            });
            lock(&self.session).cancel_with(halt.cancel().clone());
            let result = self.perform(ready, input, &halt);
            lock(&self.session).cancel_with(self.halt.cancel().clone());
            drop(done);
            result
        })
    }

    fn perform(&self, ready: &Ready, input: &Value, halt: &Halt) -> ToolResult {
        let name = &*ready.call.name;
        if let Some(why) = self.why_not(name) {
            return ToolResult::refused(why);
        }
        if ready.effect == store::Effect::Runs {
            self.echo.begin(&ready.call.id);
        }
        match ready.whose {
            _ if self.is_handing_back(name) => ToolResult::done("It is handed back.".to_owned()),
            Whose::Skills => lock(&self.session).call(name, input),
            Whose::General => {
                let active: Vec<ActiveSkill> = lock(&self.session)
                    .active()
                    .into_iter()
                    .map(|active| ActiveSkill {
                        skill: active.skill,
                        folder: active.folder,
                        digest: active.digest,
                    })
                    .collect();
                let bridge = Bridge { session: &self.session, watch: &**self.log.watch() };
                let project = self.general.project_shown();
                let keeper =
                    Keeper { store: self.log.store(), session: self.id(), project: project.as_deref() };
                let desk = Desk {
                    ask: self.ask.as_deref().map(|ask| ask as &dyn Ask),
                    memory: Some(&keeper as &dyn Memory),
                    cancel: Some(halt.cancel()),
                    hear: Some(&|stream, piece| self.echo.hear(stream, piece)),
                    ..Desk::new(&bridge, &active)
                };
                self.general.call(name, input, &desk)
            }
            Whose::Nobody => {
                let bridge = Bridge { session: &self.session, watch: &**self.log.watch() };
                if let Some(result) = self.outside.call(name, input, &bridge, halt.cancel()) {
                    return result;
                }
                let names: Vec<String> =
                    self.frame.names().into_iter().map(|name| format!("`{name}`")).collect();
                let asked = metier_catalog::one_line(name, 100);
                ToolResult::refused(match names.as_slice() {
                    [] => format!("there is no tool `{asked}`, and no other: answer in words"),
                    names => format!("there is no tool `{asked}`; there are {}", names.join(", ")),
                })
            }
        }
    }

    pub(super) fn finished(&mut self, ready: &Ready, came: Came) -> Result<(), TalkError> {
        let Came { result, ms } = came;
        let id = ready.call.id.to_string();
        if let Some(decision) = &result.decision {
            let is_allowed = decision.is_allowed();
            let action = format!("{} {}", ready.call.name, ready.call.arguments.raw());
            let action = metier_catalog::one_line(&action, SHOWN);
            let unanswered = !is_allowed && decision.ruling != Ruling::Ask && decision.question.is_some();
            let allow_with =
                decision.allow_with.iter().filter(|_| unanswered).map(ToString::to_string).collect();
            self.write(EventKind::Decided(Decided {
                call: Some(id.clone()),
                skill: None,
                action,
                verdict: super::verdict(decision.ruling),
                rule: Some(decision.to_string()),
                answered_by: None,
                allow_with,
                unanswered,
            }))?;
        }
        self.write_allowed()?;
        let change_set = result.changes.as_deref().map(recorded);
        if let Some(id) = result.activated {
            self.activated(id, ready, result.message.as_ref(), &result.notes)?;
        }
        self.keep_result(&ready.call.name, &result.text);
        let is_error = result.is_error();
        // What was refused has the change that it would have made.
        let done = result.change.iter().filter(|_| !is_error);
        let mut changes: Vec<String> = done.map(|change| change.path.clone()).collect();
        let report = result.process.map(|mut process| {
            changes.append(&mut process.changes);
            process_record(*process)
        });
        if ready.whose == Whose::General && !is_error {
            let fields = ready.call.arguments.fields();
            let named = ["file_path", "path"].into_iter().filter_map(|field| fields?.get(field)?.as_str());
            self.touch(named.chain(changes.iter().map(String::as_str)));
        }
        self.write(EventKind::Finished(Finished {
            id,
            skill: ready
                .call
                .arguments
                .fields()
                .and_then(|fields| skill_named(&Value::Object(fields.clone()))),
            text: result.text,
            is_error,
            ms,
            report,
            changes,
            change_set,
        }))
    }

    fn activated(
        &mut self,
        entry: metier_catalog::EntryId,
        ready: &Ready,
        message: Option<&MetaMessage>,
        notes: &[String],
    ) -> Result<(), TalkError> {
        let (active, labels) = {
            let session = lock(&self.session);
            let Some(active) = session.about(entry) else { return Ok(()) };
            (active, session.labels(entry))
        };
        let fields = ready.call.arguments.fields();
        let arguments = fields
            .and_then(|fields| fields.get("arguments").or_else(|| fields.get("args")))
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        self.wanted.push(Wanted::OfSkill { name: active.skill.name.clone(), origin: active.skill.owner() });
        let activated = Activated {
            skill: active.skill.name.clone(),
            origin: active.skill.origin.clone(),
            version: labels.version,
            digest: active.digest,
            tree_digest: None,
            by: By::Model,
            call: Some(ready.call.id.to_string()),
            arguments: arguments.unwrap_or_default(),
            // Without one the text is in the conversation already, or is the tool's own result.
            message: message.map(|message| message.text.clone()).unwrap_or_default(),
            tags: labels.tags,
            notes: notes.to_vec(),
        };
        self.write(EventKind::Activated(activated))
    }
}

impl Talk {
    /// Writes down what was allowed for longer than once, so that it holds when the conversation goes on in another process.
    pub(super) fn write_allowed(&mut self) -> Result<(), TalkError> {
        let given = lock(&self.session).take_given();
        for GivenAnswer { question, answer } in given {
            let question = serde_json::to_value(&question).unwrap_or_default();
            let answer = serde_json::to_value(answer).unwrap_or_default();
            let answer = answer.as_str().unwrap_or_default().to_owned();
            self.write(EventKind::Allowed { question, answer })?;
        }
        Ok(())
    }
}

/// What became of a process, as it is kept.
fn process_record(process: ProcessReport) -> ScriptReport {
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let contacts = process.contacts.iter().map(|contact| ContactMade {
        host: contact.host.clone(),
        outcome: contact.outcome.word().to_owned(),
        up: contact.up,
        down: contact.down,
    });
    ScriptReport {
        exit: process.exit(),
        signal: process.signal(),
        stopped: process.stop().map(|stop| stop.word().to_owned()),
        timed_out: process.stop() == Some(Stop::Time),
        ms: ms(process.time),
        paused_ms: ms(process.paused),
        cpu_ms: ms(process.cpu),
        memory: process.memory,
        stdout: process.stdout,
        stderr: process.stderr,
        truncated: process.truncated,
        tier: process.tier.word().to_owned(),
        contacts: contacts.collect(),
        left_out: process.left_out as u64,
        outputs: process.outputs,
        denied: process.denied,
        masked: process.masked,
    }
}

/// The skill that a call names, by whichever field its surface has for it.
fn skill_named(input: &Value) -> Option<String> {
    let named = ["skill_name", "skill"].iter().find_map(|key| input.get(key)?.as_str());
    named.map(str::to_owned)
}

fn malformed(call: &ToolCall) -> String {
    let why = match &call.arguments {
        metier_model::Arguments::Malformed { why, .. } => why.as_str(),
        metier_model::Arguments::Object { .. } => "",
    };
    format!("`{}` was not called: {why}. Call it again with one JSON object", call.name)
}
