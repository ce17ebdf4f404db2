//! A machine with skills, and a model that plays each conversation by what it is about.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures_core::Stream;
use metier_agent::{
    Agent, Answer, CancelToken, EmittedEvent, Limits, Observer, RunHooks, Session, UserMessage,
};
use metier_model::{ChatModel, Event, Message, ModelError, ModelId, Part, Request, Seal, Stop, Usage};
use metier_runtime::{Skills, SkillsBuilder};
use metier_sandbox::Helper;
use metier_store::{
    Event as Stored, EventKind, EventQuery, Family, SessionFilter, SessionId, Store, Summary,
};
use metier_testkit::Workspace;
use metier_tools::{Ask, Setting};
use tokio::runtime::{Builder, Runtime};

/// What a model is asked, as far as a play needs it.
pub(crate) struct Scene {
    /// The skill whose child asks; empty for the conversation with the user.
    pub(crate) skill: String,
    /// How often it has spoken before.
    pub(crate) turn: usize,
    /// The first message.
    pub(crate) told: String,
    /// All results so far.
    pub(crate) results: Vec<String>,
    /// The names of its tools.
    pub(crate) tools: Vec<String>,
    pub(crate) request: Request,
}

/// What the model does.
pub(crate) struct Play {
    events: Vec<Result<Event, ModelError>>,
    /// Is over before anything comes.
    wait: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    hangs: bool,
}

/// Tokens of every answer.
pub(crate) const USAGE: Usage = Usage { input: 100, output: 10, cache_read: 7, cache_write: 0, reasoning: 0 };

pub(crate) fn says(text: &str) -> Play {
    ends([Event::Text(text.to_owned())], Stop::EndOfTurn)
}

pub(crate) fn calls<S: AsRef<str>>(calls: impl IntoIterator<Item = (S, S)>) -> Play {
    let mut events = Vec::new();
    for (index, (name, arguments)) in (0..).zip(calls) {
        let name = name.as_ref().to_owned();
        events.push(Event::CallBegan { index, id: format!("call-{index}"), name, seal: Seal::Open });
        events.push(Event::CallArguments { index, fragment: arguments.as_ref().to_owned() });
        events.push(Event::CallEnded { index });
    }
    ends(events, Stop::ToolCalls)
}

/// `skill_use` of each, with arguments.
pub(crate) fn uses(skills: &[(&str, &str)]) -> Play {
    calls(skills.iter().map(|(skill, arguments)| {
        let input = serde_json::json!({ "skill_name": skill, "arguments": arguments });
        ("skill_use".to_owned(), input.to_string())
    }))
}

pub(crate) fn fails(why: &str) -> Play {
    let error = ModelError::OffScript { why: why.to_owned() };
    Play { events: vec![Err(error)], wait: None, hangs: false }
}

/// Some words, and nothing more ever.
pub(crate) fn hangs(text: &str) -> Play {
    Play { events: vec![Ok(Event::Text(text.to_owned()))], wait: None, hangs: true }
}

fn ends(events: impl IntoIterator<Item = Event>, stop: Stop) -> Play {
    let events = events.into_iter().chain([Event::Usage(USAGE), Event::End(stop)]);
    Play { events: events.map(Ok).collect(), wait: None, hangs: false }
}

impl Play {
    /// The same after something else.
    pub(crate) fn after(mut self, wait: impl Future<Output = ()> + Send + 'static) -> Self {
        self.wait = Some(Box::pin(wait));
        self
    }
}

type Script = dyn Fn(&Scene) -> Play + Send + Sync;

/// A model that plays by a script, and keeps what it was asked.
pub(crate) struct Actor {
    id: ModelId,
    script: Arc<Script>,
    asked: Mutex<Vec<Arc<Scene>>>,
}

impl Actor {
    pub(crate) fn new(script: impl Fn(&Scene) -> Play + Send + Sync + 'static) -> Arc<Self> {
        Self::called("stage/actor", script)
    }

    pub(crate) fn called(id: &str, script: impl Fn(&Scene) -> Play + Send + Sync + 'static) -> Arc<Self> {
        let id = id.parse().unwrap();
        Arc::new(Self { id, script: Arc::new(script), asked: Mutex::default() })
    }

    /// What was asked in the children of this skill; without a name in the conversation with the user.
    pub(crate) fn asked(&self, skill: &str) -> Vec<Arc<Scene>> {
        self.asked.lock().unwrap().iter().filter(|scene| scene.skill == skill).cloned().collect()
    }
}

fn scene(request: &Request) -> Scene {
    let mut skills = request.system.iter().filter_map(|text| text.strip_prefix("# Skill: "));
    let skill = skills.find_map(|rest| rest.lines().next()).unwrap_or_default();
    let text = |parts: &[Part]| -> String {
        let texts =
            parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(&**text) } else { None });
        texts.collect::<Vec<_>>().join("\n")
    };
    let mut scene = Scene {
        skill: skill.to_owned(),
        turn: 0,
        told: String::new(),
        results: Vec::new(),
        tools: request.tools.iter().map(|tool| tool.name.to_string()).collect(),
        request: request.clone(),
    };
    for message in &request.messages {
        match &**message {
            Message::User(parts) if scene.told.is_empty() => scene.told = text(parts),
            Message::Assistant(_) => scene.turn += 1,
            Message::Results(outcomes) => {
                scene.results.extend(outcomes.iter().map(|outcome| outcome.text.to_string()));
            }
            _ => {}
        }
    }
    scene
}

struct Playing {
    wait: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    events: VecDeque<Result<Event, ModelError>>,
    hangs: bool,
}

impl Stream for Playing {
    type Item = Result<Event, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(wait) = &mut self.wait {
            std::task::ready!(wait.as_mut().poll(context));
            self.wait = None;
        }
        match self.events.pop_front() {
            None if self.hangs => Poll::Pending,
            event => Poll::Ready(event),
        }
    }
}

impl ChatModel for Actor {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
    ) -> Pin<Box<dyn Stream<Item = Result<Event, ModelError>> + Send + 'a>> {
        let scene = Arc::new(scene(request));
        self.asked.lock().unwrap().push(Arc::clone(&scene));
        let Play { events, wait, hangs } = (self.script)(&scene);
        Box::pin(Playing { wait, events: events.into(), hangs })
    }
}

/// Something that is done at every event.
type Then = dyn Fn(&EmittedEvent) + Send + Sync;

/// What was seen from outside.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) events: Mutex<Vec<EmittedEvent>>,
    on_event: Mutex<Option<Box<Then>>>,
}

impl Observer for Seen {
    fn event(&self, event: &EmittedEvent) {
        self.events.lock().unwrap().push(event.clone());
        if let Some(then) = &*self.on_event.lock().unwrap() {
            then(event);
        }
    }
}

impl Seen {
    /// Does something at every event.
    pub(crate) fn then(&self, then: impl Fn(&EmittedEvent) + Send + Sync + 'static) {
        *self.on_event.lock().unwrap() = Some(Box::new(then));
    }
}

/// A machine with skills and a project.
pub(crate) struct Stage {
    pub(crate) workspace: Workspace,
    pub(crate) store: Store,
    runtime: Arc<Runtime>,
    pub(crate) seen: Arc<Seen>,
    pub(crate) limits: Limits,
    pub(crate) ask: Option<Arc<dyn Ask>>,
}

impl Stage {
    /// Skills by their names: the rest of the frontmatter, and the body.
    pub(crate) fn new(skills: &[(&str, &str, &str)]) -> Self {
        let mut workspace = Workspace::new().file("project/.git/HEAD", "").file("project/notes.md", "one\n");
        for (name, more, body) in skills {
            let text =
                format!("---\nname: {name}\ndescription: Does {name}. Use for {name}.\n{more}---\n{body}\n");
            workspace = workspace.file(format!("skills/{name}/SKILL.md"), &text);
        }
        Self {
            workspace,
            store: Store::in_memory().unwrap(),
            runtime: Arc::new(Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()),
            seen: Arc::default(),
            limits: Limits::default(),
            ask: None,
        }
    }

    pub(crate) fn agent(&self, model: &Arc<Actor>) -> Agent {
        self.agent_with(model, |builder| builder)
    }

    /// The same with something else to be said about its skills.
    pub(crate) fn agent_with(
        &self,
        model: &Arc<Actor>,
        change: impl FnOnce(SkillsBuilder) -> SkillsBuilder,
    ) -> Agent {
        let builder = Skills::builder()
            .root(self.workspace.join("skills"))
            .project(self.workspace.join("project"))
            .search_path("/usr/bin:/bin")
            .helper(Helper::Program(metier_testkit::example("contained")));
        let skills = change(builder).open();
        let (store, runtime) = (self.store.clone(), Arc::clone(&self.runtime));
        Agent { limits: self.limits, ..Agent::new(skills, Arc::clone(model) as _, store, runtime) }
    }

    pub(crate) fn talk(&self, agent: &Agent, halt: &CancelToken) -> Session {
        Session::start(agent, self.setting(), UserMessage::new("please"), self.company(halt)).unwrap()
    }

    /// The same conversation in another process.
    pub(crate) fn resume(&self, agent: &Agent, id: SessionId) -> Session {
        Session::resume(agent, self.setting(), id, self.company(&CancelToken::new().unwrap()))
            .unwrap()
            .session
    }

    fn setting(&self) -> Setting {
        Setting {
            project: Some(self.workspace.join("project")),
            commands: true,
            memory: true,
            ..Setting::default()
        }
    }

    fn company(&self, halt: &CancelToken) -> RunHooks {
        RunHooks { observer: Arc::clone(&self.seen) as _, cancel: halt.clone(), ask: self.ask.clone() }
    }

    /// Runs one request to its end.
    pub(crate) fn run(&self, model: &Arc<Actor>) -> Answer {
        self.talk(&self.agent(model), &CancelToken::new().unwrap()).run().unwrap()
    }

    /// The session with the user.
    pub(crate) fn top(&self) -> SessionId {
        let filter = SessionFilter { family: Family::TopLevel, ..SessionFilter::default() };
        self.store.sessions(&filter).unwrap()[0].id
    }

    /// The children of a session, the first one first.
    pub(crate) fn children(&self, of: SessionId) -> Vec<Summary> {
        let filter = SessionFilter { family: Family::ChildOf(of), ..SessionFilter::default() };
        let mut found = self.store.sessions(&filter).unwrap();
        found.sort_by_key(|summary| summary.id);
        found
    }

    pub(crate) fn events(&self, of: SessionId) -> Vec<Stored> {
        self.store.events(&EventQuery::of(of)).unwrap()
    }

    /// The results of the calls of the session with the user, in the order in which they came.
    pub(crate) fn results(&self) -> Vec<String> {
        let finished = self.events(self.top()).into_iter().filter_map(|event| match event.kind {
            EventKind::Finished(finished) => Some(finished.text),
            _ => None,
        });
        finished.collect()
    }

    /// The warnings and remarks of a session.
    pub(crate) fn remarks(&self, of: SessionId) -> Vec<String> {
        let diagnosed = self.events(of).into_iter().filter_map(|event| match event.kind {
            EventKind::Diagnosed { code, message, .. } => Some(format!("{code}: {message}")),
            _ => None,
        });
        diagnosed.collect()
    }
}
