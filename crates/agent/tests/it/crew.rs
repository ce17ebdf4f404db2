//! A crew at work, on files as the first seed's documents show them: who is spoken to hands over to its own skills and to the other
//! agents, who have their own.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use metier_agent::{Agent, Answer, CancelToken, NoObserver, RunHooks, Session, UserMessage};
use metier_catalog::LimitsConfig;
use metier_model::{Request, Scripted, ToolChoice, Turn};
use metier_runtime::Skills;
use metier_sandbox::Cancel;
use metier_store::{By, EventKind, EventQuery, SessionId, Store};
use metier_tools::{ExternalTool, ServerAnswer, ServerReport, ServerStatus, Setting, ToolServer};
use serde_json::{Map, Value, json};
use tokio::runtime::Builder;

use crate::machine::{Machine, crew_project};

/// A server of one role, with one tool; it remembers whether it was looked at.
struct Clock {
    label: &'static str,
    looked: Mutex<usize>,
    called: Mutex<Vec<String>>,
}

impl Clock {
    fn new(label: &'static str) -> Arc<Self> {
        Arc::new(Self { label, looked: Mutex::default(), called: Mutex::default() })
    }
}

impl ToolServer for Clock {
    fn tools(&self) -> Vec<ExternalTool> {
        *self.looked.lock().unwrap() += 1;
        vec![ExternalTool {
            server: self.label.to_owned(),
            tool: "now".to_owned(),
            description: "Says the time.".to_owned(),
            schema: json!({ "type": "object" }),
            is_read_only: true,
        }]
    }

    fn standings(&self) -> Vec<ServerReport> {
        vec![ServerReport { server: self.label.to_owned(), footing: ServerStatus::Up }]
    }

    fn call(&self, server: &str, tool: &str, _: &Map<String, Value>, _: Option<&Cancel>) -> ServerAnswer {
        self.called.lock().unwrap().push(format!("{server}/{tool}"));
        ServerAnswer::Done("noon".to_owned())
    }
}

/// Whether an event is the last one that was written.
type Until<'a> = &'a dyn Fn(&EventKind) -> bool;

/// A crew, its model and where it is written down.
struct Stage {
    machine: Machine,
    store: Store,
    keepers: Arc<Clock>,
    researchers: Arc<Clock>,
}

impl Stage {
    fn new() -> Self {
        let mut machine = crew_project();
        machine.places.current = machine.project("team");
        let machine = machine.trusted();
        let store = Store::in_memory().unwrap();
        Self { machine, store, keepers: Clock::new("clock"), researchers: Clock::new("library") }
    }

    /// Whoever is spoken to, and what it works with.
    fn entry(&self, model: &Arc<Scripted>) -> (Agent, Setting) {
        let read = self.machine.checked("team/todo.skilled_crew.yaml");
        assert!(read.is_valid(), "{:?}", read.diagnostics);
        let skills = Skills::builder().places(self.machine.places.clone()).allow("mcp:*/*").open();
        let snapshot = skills.snapshot();
        let runtime = Arc::new(Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());
        let agent = Agent::new(skills, Arc::clone(model) as _, self.store.clone(), runtime);
        let role = read.definition.entry().unwrap();
        let outside = |role: &metier_definition::Role| {
            let own = if role.name.value == "keeper" { &self.keepers } else { &self.researchers };
            Some(Arc::clone(own) as Arc<dyn ToolServer>)
        };
        let agent = agent.with_crew(&read.definition, role, &snapshot, &LimitsConfig::default(), &outside);
        let project: Option<PathBuf> = Some(self.machine.project(""));
        let usual = Setting { project, commands: true, ..Setting::default() };
        (agent, metier_agent::role_setting(usual, role, read.definition.format))
    }

    fn play(&self, model: &Arc<Scripted>, work: impl FnOnce(&mut Session) -> Answer) -> (Answer, SessionId) {
        let (agent, setting) = self.entry(model);
        let mut talk =
            Session::start(&agent, setting, UserMessage::new("what is on my list?"), nobody()).unwrap();
        let answer = work(&mut talk);
        (answer, talk.id())
    }

    /// The same sessions in another store, each as far as it had come when the process was killed.
    fn killed(&mut self, sessions: &[(SessionId, Until<'_>)]) {
        let store = Store::in_memory().unwrap();
        for (id, is_last) in sessions {
            let mut events = self.store.events(&EventQuery::of(*id)).unwrap().into_iter();
            let Some(EventKind::Started(started)) = events.next().map(|event| event.kind) else {
                panic!("`started` comes first")
            };
            store.begin_as(*id, started).unwrap();
            for event in events {
                let is_last = is_last(&event.kind);
                store.append(*id, event.kind).unwrap();
                if is_last {
                    break;
                }
            }
        }
        self.store = store;
    }

    /// Who began beneath a session: the skill, the agent, the mode.
    fn began(&self, session: SessionId) -> Vec<(SessionId, Option<String>, Option<String>, String)> {
        let events = self.store.events(&EventQuery::of(session)).unwrap();
        let began = events.into_iter().filter_map(|event| match event.kind {
            EventKind::ChildBegan { child, skill, agent, mode, .. } => {
                Some((child, skill, agent, mode.to_string()))
            }
            _ => None,
        });
        began.collect()
    }
}

fn nobody() -> RunHooks {
    RunHooks { observer: Arc::new(NoObserver), cancel: CancelToken::new().unwrap(), ask: None }
}

fn system(request: &Request) -> String {
    request.system.iter().map(|text| &**text).collect::<Vec<_>>().join("\n")
}

fn tools(request: &Request) -> Vec<&str> {
    request.tools.iter().map(|tool| &*tool.name).collect()
}

#[test]
fn p24_the_orchestrator_of_the_first_seed_hands_over_to_its_skills_and_they_hand_back() {
    let stage = Stage::new();
    let model = Arc::new(Scripted::new([
        Turn::calls([("handoff_to_list-tasks", r#"{"request": "what is on my list?"}"#)]),
        Turn::calls([(
            "load_skill_resources",
            r#"{"resources": [{"path": "references/none.md", "reason": "look"}]}"#,
        )]),
        Turn::calls([("hand_back", r#"{"result": "1. buy milk"}"#)]),
        Turn::says("There is one task: buy milk."),
    ]));
    let (answer, top) = stage.play(&model, |talk| talk.run().unwrap());
    assert_eq!(answer.ended.text, "There is one task: buy milk.");

    let asked = model.asked();
    assert_eq!(asked.len(), 4);
    // The router has a tool for each of its own skills and for each other agent, and its servers' tools; what each is for is what
    // its tool is for.
    assert_eq!(
        tools(&asked[0]),
        ["mcp__clock__now", "handoff_to_create-task", "handoff_to_list-tasks", "handoff_to_researcher"]
    );
    assert_eq!(&*asked[0].tools[1].description, "Does create-task.");
    assert_eq!(
        &*asked[0].tools[3].description,
        "Hands over to researcher, another agent of this crew\nIts skills: search."
    );
    assert_eq!(asked[0].choice, ToolChoice::Auto);
    let told = system(&asked[0]);
    assert!(told.contains("# AGENTS.md:\n\nKeep the list.") && !told.contains("Available Skills"), "{told}");
    // The skill has its body, the rules, those two tools with the way back, and the tools of its agent's servers (E33).
    assert_eq!(
        tools(&asked[1]),
        ["run_command_line", "load_skill_resources", "mcp__clock__now", "hand_back"]
    );
    assert_eq!(asked[1].choice, ToolChoice::Any);
    let told = system(&asked[1]);
    assert!(told.starts_with("# Skill: list-tasks\nDo.") && told.contains("Begin with a call"), "{told}");
    let [(_, skill, agent, mode)] = &stage.began(top)[..] else { panic!("{:?}", stage.began(top)) };
    assert_eq!((skill.as_deref(), agent.as_deref(), mode.as_str()), (Some("list-tasks"), None, "handoff"));
    // Nobody asked the other agent, so nobody started its server.
    assert_eq!(*stage.researchers.looked.lock().unwrap(), 0);
}

#[test]
fn another_agent_of_a_crew_is_a_child_with_its_own_skills_servers_and_way_back() {
    let stage = Stage::new();
    let model = Arc::new(Scripted::new([
        Turn::calls([("handoff_to_researcher", r#"{"request": "find out about milk"}"#)]),
        Turn::calls([("mcp__library__now", "{}"), ("handoff_to_search", "{}")]),
        Turn::calls([("hand_back", r#"{"result": "milk is white"}"#)]),
        Turn::calls([("hand_back", r#"{"result": "it is white"}"#)]),
        Turn::says("Milk is white."),
    ]));
    let (answer, top) = stage.play(&model, |talk| talk.run().unwrap());
    assert_eq!((answer.ended.text.as_str(), answer.ended.turns), ("Milk is white.", 2));

    let asked = model.asked();
    assert_eq!(asked.len(), 5);
    let (role, skill) = (&asked[1], &asked[2]);
    assert_eq!(tools(role), ["mcp__library__now", "handoff_to_search", "hand_back"]);
    assert_eq!(role.choice, ToolChoice::Any, "an agent that is not spoken to must call something");
    assert!(!system(role).contains("Keep the list."), "{}", system(role));
    assert_eq!(tools(skill), ["run_command_line", "load_skill_resources", "mcp__library__now", "hand_back"]);
    assert_eq!(*stage.researchers.called.lock().unwrap(), ["library/now"]);
    assert!(stage.keepers.called.lock().unwrap().is_empty());

    let [(child, None, Some(agent), mode)] = &stage.began(top)[..] else { panic!("{:?}", stage.began(top)) };
    assert_eq!((agent.as_str(), mode.as_str()), ("researcher", "handoff"));
    let [(_, Some(skill), None, _)] = &stage.began(*child)[..] else { panic!("{:?}", stage.began(*child)) };
    assert_eq!(skill, "search");
    let events = stage.store.events(&EventQuery::of(*child)).unwrap();
    let EventKind::Started(started) = &events[0].kind else { panic!("it began") };
    assert_eq!((started.agent.as_deref(), started.parent), (Some("researcher"), Some(top)));
    assert_eq!(started.request, "find out about milk");
    let results =
        stage.store.events(&EventQuery::of(top)).unwrap().into_iter().filter_map(|event| match event.kind {
            EventKind::Finished(finished) => Some(finished.text),
            _ => None,
        });
    let results: Vec<String> = results.collect();
    let [result] = &results[..] else { panic!("{results:?}") };
    assert!(result.starts_with("[agent researcher: complete (2 turns, 4 calls"), "{result}");
    assert!(result.ends_with("]\nit is white"), "{result}");
}

#[test]
fn another_agent_of_a_crew_that_was_at_work_goes_on_where_it_was() {
    let mut stage = Stage::new();
    let model = Arc::new(Scripted::new([
        Turn::calls([("handoff_to_researcher", r#"{"request": "find out about milk"}"#)]),
        Turn::calls([("handoff_to_search", "{}")]),
        Turn::calls([("hand_back", r#"{"result": "milk is white"}"#)]),
        Turn::calls([("hand_back", r#"{"result": "it is white"}"#)]),
        Turn::says("Milk is white."),
    ]));
    let (_, top) = stage.play(&model, |talk| talk.run().unwrap());
    let [(role, ..)] = stage.began(top)[..] else { panic!("{:?}", stage.began(top)) };
    let began = |kind: &EventKind| matches!(kind, EventKind::ChildBegan { .. });
    let finished = |kind: &EventKind| matches!(kind, EventKind::Finished(_));
    stage.killed(&[(top, &began), (role, &finished)]);

    let model = Arc::new(Scripted::new([
        Turn::calls([("hand_back", r#"{"result": "it is white"}"#)]),
        Turn::says("Milk is white."),
    ]));
    let (agent, setting) = stage.entry(&model);
    let mut resumed = Session::resume(&agent, setting, top, nobody()).unwrap();
    assert!(resumed.uncertain.is_empty(), "{:?}", resumed.uncertain);
    let answer = resumed.session.run().unwrap();
    assert_eq!(answer.ended.text, "Milk is white.");
    let asked = model.asked();
    assert_eq!(tools(&asked[0]), ["mcp__library__now", "handoff_to_search", "hand_back"]);
    let [(again, ..)] = stage.began(top)[..] else { panic!("{:?}", stage.began(top)) };
    assert_eq!(again, role, "it is the same child");
}

#[test]
fn a_user_reaches_the_skill_of_another_agent_by_its_name() {
    let stage = Stage::new();
    let model = Arc::new(Scripted::new([Turn::calls([("hand_back", r#"{"result": "milk is white"}"#)])]));
    let (answer, _) = stage.play(&model, |talk| {
        talk.send(UserMessage::Skill { by: By::User, name: "search".into(), arguments: "milk".into() })
            .unwrap()
    });
    assert_eq!(answer.ended.text, "milk is white");
    let asked = model.asked();
    assert_eq!(
        tools(&asked[0]),
        ["run_command_line", "load_skill_resources", "mcp__library__now", "hand_back"]
    );
}

#[test]
fn an_agent_of_a_crew_that_may_be_no_child_is_refused_with_the_reason() {
    let stage = Stage::new();
    let model = Arc::new(Scripted::new([
        Turn::calls([("handoff_to_researcher", "{}")]),
        Turn::calls([("handoff_to_keeper", "{}")]),
        Turn::calls([("hand_back", r#"{"result": "nobody there"}"#)]),
        Turn::says("So."),
    ]));
    let (_, top) = stage.play(&model, |talk| talk.run().unwrap());
    let [(child, ..)] = &stage.began(top)[..] else { panic!("{:?}", stage.began(top)) };
    // Whoever was handed work over to hands back, and not on: there is no circle.
    assert!(stage.began(*child).is_empty());
    let asked = model.asked();
    let last = format!("{:?}", asked[2].messages.last().unwrap());
    assert!(last.contains("`handoff_to_keeper` is not a tool of `researcher`"), "{last}");
}
