//! A machine with one skill and a project, for tests of the loop.

use std::sync::{Arc, Mutex};

use metier_agent::{
    Agent, Answer, CancelToken, EmittedEvent, Limits, Observer, RunHooks, Session, StreamDelta, UserMessage,
};
use metier_model::{Message, Part, Request, Scripted, Turn};
use metier_runtime::Skills;
use metier_sandbox::Helper;
use metier_store::{EventKind, Store};
use metier_testkit::Workspace;
use metier_tools::Setting;
use tokio::runtime::{Builder, Runtime};

pub(crate) const GREET: &str = "---\nname: greet\ndescription: Greets somebody. Use when a greeting is wanted.\ntags: [manners]\n---\nSay hello to $ARGUMENTS.\n";

/// A machine with one skill and a project, and somebody who looks on.
pub(crate) struct House {
    pub(crate) workspace: Workspace,
    pub(crate) store: Store,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) seen: Arc<Seen>,
    pub(crate) limits: Limits,
}

#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) events: Mutex<Vec<EventKind>>,
    pub(crate) text: Mutex<String>,
    /// What programs wrote while they ran.
    pub(crate) output: Mutex<String>,
    /// Stops the agent when its first words come.
    pub(crate) halt: Mutex<Option<CancelToken>>,
    /// Stops the agent when its provider is to be asked again.
    pub(crate) halt_at_retry: Mutex<Option<CancelToken>>,
}

impl Observer for Seen {
    fn event(&self, event: &EmittedEvent) {
        self.events.lock().unwrap().push(event.kind.clone());
        if let (EventKind::Retrying { .. }, Some(halt)) = (&event.kind, &*self.halt_at_retry.lock().unwrap())
        {
            halt.cancel();
        }
    }

    fn delta(&self, piece: StreamDelta<'_>) {
        if let StreamDelta::Text(text) = piece {
            self.text.lock().unwrap().push_str(text);
        }
        if let StreamDelta::Output { text, .. } = piece {
            self.output.lock().unwrap().push_str(text);
        }
        if let Some(halt) = &*self.halt.lock().unwrap() {
            halt.cancel();
        }
    }
}

impl House {
    pub(crate) fn new() -> Self {
        let workspace = Workspace::new()
            .file("skills/greet/SKILL.md", GREET)
            .file(
                "skills/tick/SKILL.md",
                "---\nname: tick\ndescription: Counts. Use when counting.\n---\nx\n",
            )
            .file("skills/tick/scripts/tick.sh", "echo ticked")
            .file("project/.git/HEAD", "")
            .file("project/notes.md", "one\n");
        Self {
            workspace,
            store: Store::in_memory().unwrap(),
            runtime: Arc::new(Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()),
            seen: Arc::default(),
            limits: Limits::default(),
        }
    }

    pub(crate) fn agent(&self, model: &Arc<Scripted>) -> Agent {
        let skills = Skills::builder()
            .root(self.workspace.join("skills"))
            .project(self.workspace.join("project"))
            .search_path("/usr/bin:/bin")
            .helper(Helper::Program(metier_testkit::example("contained")))
            .open();
        let (store, runtime) = (self.store.clone(), Arc::clone(&self.runtime));
        Agent { limits: self.limits, ..Agent::new(skills, Arc::clone(model) as _, store, runtime) }
    }

    pub(crate) fn setting(&self) -> Setting {
        Setting {
            project: Some(self.workspace.join("project")),
            commands: true,
            memory: true,
            ..Setting::default()
        }
    }

    pub(crate) fn company(&self) -> RunHooks {
        RunHooks { observer: Arc::clone(&self.seen) as _, cancel: CancelToken::new().unwrap(), ask: None }
    }

    pub(crate) fn run(&self, model: &Arc<Scripted>) -> Answer {
        let mut talk =
            Session::start(&self.agent(model), self.setting(), UserMessage::new("please"), self.company())
                .unwrap();
        talk.run().unwrap()
    }

    pub(crate) fn results(&self) -> Vec<String> {
        let events = self.seen.events.lock().unwrap();
        events
            .iter()
            .filter_map(|kind| match kind {
                EventKind::Finished(finished) => Some(finished.text.clone()),
                _ => None,
            })
            .collect()
    }
}

pub(crate) fn scripted(turns: impl IntoIterator<Item = Turn>) -> Arc<Scripted> {
    Arc::new(Scripted::new(turns))
}

pub(crate) fn texts(request: &Request) -> Vec<String> {
    let part = |part: &Part| match part {
        Part::Text(text) => text.to_string(),
        other => format!("{other:?}"),
    };
    let message = |message: &Arc<Message>| match &**message {
        Message::User(parts) => format!("user: {}", parts.iter().map(part).collect::<Vec<_>>().join(" + ")),
        Message::Assistant(parts) => {
            format!("model: {}", parts.iter().map(part).collect::<Vec<_>>().join(" + "))
        }
        Message::Results(outcomes) => {
            let texts: Vec<&str> = outcomes.iter().map(|outcome| &*outcome.text).collect();
            format!("results: {}", texts.join(" + "))
        }
        other => format!("{other:?}"),
    };
    request.messages.iter().map(message).collect()
}
