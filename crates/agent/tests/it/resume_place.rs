//! A machine with skills, a project and a store, whose processes end and begin as a test wants; and a model that does what a function
//! says.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures_core::Stream;
use metier_agent::{
    Agent, CancelToken, Compaction, EmittedEvent, Limits, Observer, Resumed, RetryDecision, RunHooks,
    Session, UncertainCall, UserMessage,
};
use metier_model::{Answer, ChatModel, Event, Message, ModelError, ModelId, Part, Request, Seal, Stop};
use metier_runtime::{Skills, SkillsBuilder};
use metier_sandbox::Helper;
use metier_store::{Answered, Called, Effect, EventKind, EventQuery, Finished, SessionId, Store, ToolCall};
use metier_testkit::Workspace;
use metier_tools::Setting;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// A model that does what a function says.
pub(crate) struct Acting {
    id: ModelId,
    act: Box<dyn Fn(&Request) -> Act + Send + Sync>,
    asked: Mutex<Vec<Request>>,
}

/// What it does.
pub(crate) enum Act {
    Says(String),
    Calls(Vec<(String, Value)>),
    Fails(ModelError),
}

impl Act {
    pub(crate) fn says(text: &str) -> Self {
        Self::Says(text.to_owned())
    }

    pub(crate) fn call(tool: &str, input: Value) -> Self {
        Self::Calls(vec![(tool.to_owned(), input)])
    }
}

impl Acting {
    pub(crate) fn new(act: impl Fn(&Request) -> Act + Send + Sync + 'static) -> Arc<Self> {
        let id = "acting/model".parse().unwrap();
        Arc::new(Self { id, act: Box::new(act), asked: Mutex::default() })
    }

    /// One that gives these in turn, and then says that it is done.
    pub(crate) fn script(acts: impl IntoIterator<Item = Act>) -> Arc<Self> {
        let acts: Mutex<VecDeque<Act>> = Mutex::new(acts.into_iter().collect());
        Self::new(move |_| acts.lock().unwrap().pop_front().unwrap_or_else(|| Act::says("done")))
    }

    pub(crate) fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }
}

impl ChatModel for Acting {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn ask<'a>(&'a self, request: &'a Request) -> Answer<'a> {
        let turn = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(request.clone());
            asked.len()
        };
        let events = match (self.act)(request) {
            Act::Says(text) => vec![Ok(Event::Text(text)), Ok(Event::End(Stop::EndOfTurn))],
            Act::Fails(error) => vec![Err(error)],
            Act::Calls(calls) => {
                let mut events = Vec::new();
                for (index, (name, input)) in (0..).zip(calls) {
                    let id = format!("call-{turn}-{index}");
                    events.push(Ok(Event::CallBegan { index, id, name, seal: Seal::Open }));
                    events.push(Ok(Event::CallArguments { index, fragment: input.to_string() }));
                    events.push(Ok(Event::CallEnded { index }));
                }
                events.push(Ok(Event::End(Stop::ToolCalls)));
                events
            }
        };
        Box::pin(Played(events.into()))
    }
}

struct Played(VecDeque<Result<Event, ModelError>>);

impl Stream for Played {
    type Item = Result<Event, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.pop_front())
    }
}

/// Somebody who looks on, and says the same about every call that may have happened.
pub(crate) struct Onlooker {
    pub(crate) says: RetryDecision,
    pub(crate) events: Mutex<Vec<EventKind>>,
    pub(crate) begun: Mutex<Vec<UncertainCall>>,
}

impl Observer for Onlooker {
    fn event(&self, event: &EmittedEvent) {
        self.events.lock().unwrap().push(event.kind.clone());
    }

    fn uncertain_call(&self, begun: &UncertainCall) -> RetryDecision {
        self.begun.lock().unwrap().push(begun.clone());
        self.says
    }
}

/// The machine.
pub(crate) struct Place {
    pub(crate) workspace: Workspace,
    pub(crate) store: Store,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) limits: Limits,
    pub(crate) compaction: Compaction,
    pub(crate) memory: bool,
}

impl Place {
    pub(crate) fn new(workspace: Workspace) -> Self {
        Self {
            workspace: workspace
                .file("project/.git/HEAD", "")
                .file("project/notes.md", "one\n")
                .dir("skills"),
            store: Store::in_memory().unwrap(),
            runtime: Arc::new(Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()),
            limits: Limits::default(),
            compaction: Compaction::default(),
            memory: false,
        }
    }

    pub(crate) fn agent(&self, model: &Arc<Acting>) -> Agent {
        self.agent_with(model, |skills| skills)
    }

    pub(crate) fn agent_with(
        &self,
        model: &Arc<Acting>,
        change: impl FnOnce(SkillsBuilder) -> SkillsBuilder,
    ) -> Agent {
        let skills = Skills::builder()
            .root(self.workspace.join("skills"))
            .project(self.workspace.join("project"))
            .search_path("/usr/bin:/bin")
            .helper(Helper::Program(metier_testkit::example("contained")));
        let (skills, runtime) = (change(skills).open(), Arc::clone(&self.runtime));
        let agent = Agent::new(skills, Arc::clone(model) as _, self.store.clone(), runtime);
        Agent { limits: self.limits, compaction: self.compaction, ..agent }
    }

    pub(crate) fn setting(&self) -> Setting {
        Setting {
            project: Some(self.workspace.join("project")),
            commands: true,
            memory: self.memory,
            ..Setting::default()
        }
    }

    pub(crate) fn begin(&self, agent: &Agent, request: &str) -> Session {
        let company = company(&onlooker(RetryDecision::Unanswered));
        Session::start(agent, self.setting(), UserMessage::new(request), company).unwrap()
    }

    pub(crate) fn resume(&self, agent: &Agent, id: SessionId, onlooker: &Arc<Onlooker>) -> Resumed {
        Session::resume(agent, self.setting(), id, company(onlooker)).unwrap()
    }

    /// A session whose process ended after this: what a kill leaves in the store.
    pub(crate) fn killed_after(
        &self,
        agent: &Agent,
        request: &str,
        kinds: impl IntoIterator<Item = EventKind>,
    ) -> SessionId {
        let id = self.begin(agent, request).id();
        for kind in kinds {
            self.store.append(id, kind).unwrap();
        }
        id
    }

    pub(crate) fn kinds(&self, id: SessionId) -> Vec<EventKind> {
        self.store.events(&EventQuery::of(id)).unwrap().into_iter().map(|event| event.kind).collect()
    }

    pub(crate) fn holds(&self, path: &str) -> String {
        std::fs::read_to_string(self.workspace.join(path)).unwrap_or_default()
    }
}

pub(crate) fn onlooker(says: RetryDecision) -> Arc<Onlooker> {
    Arc::new(Onlooker { says, events: Mutex::default(), begun: Mutex::default() })
}

pub(crate) fn company(onlooker: &Arc<Onlooker>) -> RunHooks {
    RunHooks { observer: Arc::clone(onlooker) as _, cancel: CancelToken::new().unwrap(), ask: None }
}

pub(crate) fn asked(turn: u64) -> EventKind {
    EventKind::Asked { turn, model: "m".into(), messages: 1, tools: 0, bytes: 10 }
}

/// An answer that calls tools, under the ids `1`, `2`, …
pub(crate) fn calling(calls: &[(&str, Value)]) -> EventKind {
    let parts = (1..).zip(calls).map(|(number, (name, input))| {
        metier_store::Part::Call(ToolCall {
            id: number.to_string(),
            name: (*name).to_owned(),
            input: input.clone(),
            ..ToolCall::default()
        })
    });
    EventKind::Answered(Answered { turn: 1, parts: parts.collect(), ..Answered::default() })
}

pub(crate) fn called(id: &str, tool: &str, effect: Effect) -> EventKind {
    EventKind::Called(Called { id: id.into(), tool: tool.into(), skill: None, input: json!({}), effect })
}

pub(crate) fn finished(id: &str, text: &str) -> EventKind {
    EventKind::Finished(Finished { id: id.into(), text: text.into(), ..Finished::default() })
}

/// The calls of a session that were begun and not finished, each with the child that it began.
pub(crate) fn begun(store: &Store, id: SessionId) -> Vec<(Called, Option<SessionId>)> {
    let mut begun: Vec<(Called, Option<SessionId>)> = Vec::new();
    for event in store.events(&EventQuery::of(id)).unwrap() {
        match event.kind {
            // Every call of an answer has its result before the next answer.
            EventKind::Answered(_) => begun.clear(),
            EventKind::Called(called) => {
                begun.retain(|(one, _)| one.id != called.id);
                begun.push((called, None));
            }
            EventKind::Finished(finished) => begun.retain(|(one, _)| one.id != finished.id),
            EventKind::ChildBegan { child, call: Some(call), .. } => {
                if let Some((_, begun)) = begun.iter_mut().find(|(one, _)| one.id == call) {
                    *begun = Some(child);
                }
            }
            _ => {}
        }
    }
    begun
}

/// Every text of a request, with who said it before it.
pub(crate) fn texts(messages: &[Arc<Message>]) -> Vec<String> {
    let mut texts = Vec::new();
    for message in messages {
        match &**message {
            Message::User(parts) | Message::Assistant(parts) => {
                let who = if matches!(**message, Message::User(_)) { "user" } else { "model" };
                texts.extend(parts.iter().map(|part| match part {
                    Part::Text(text) => format!("{who}: {text}"),
                    Part::Call(call) => format!("call {}: {}", call.name, call.arguments.raw()),
                    other => format!("{other:?}"),
                }));
            }
            Message::Results(outcomes) => {
                texts.extend(outcomes.iter().map(|outcome| format!("result: {}", outcome.text)));
            }
            other => texts.push(format!("{other:?}")),
        }
    }
    texts
}

/// Every call has its result, right behind it.
pub(crate) fn assert_pairs(messages: &[Arc<Message>]) {
    let mut waiting: Vec<Arc<str>> = Vec::new();
    for message in messages {
        match &**message {
            Message::Results(outcomes) => {
                let ids: Vec<Arc<str>> =
                    outcomes.iter().map(|outcome| Arc::clone(&outcome.call_id)).collect();
                assert_eq!(ids, waiting, "results without their calls");
                waiting.clear();
            }
            other => {
                assert!(waiting.is_empty(), "calls without results: {waiting:?}");
                if let Message::Assistant(parts) = other {
                    waiting = parts
                        .iter()
                        .filter_map(|part| match part {
                            Part::Call(call) => Some(Arc::clone(&call.id)),
                            _ => None,
                        })
                        .collect();
                }
            }
        }
    }
    assert!(waiting.is_empty(), "calls without results at the end: {waiting:?}");
}
