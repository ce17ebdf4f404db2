//! Agents from files, at work: what their model is told, and what they may do.

use std::path::Path;
use std::sync::Arc;

use metier_agent::{Agent, CancelToken, NoObserver, RunHooks, Session, SessionError, UserMessage};
use metier_catalog::LimitsConfig;
use metier_definition::{AgentDefinition, DefinitionFormat};
use metier_model::{Request, Scripted, Turn};
use metier_runtime::Skills;
use metier_store::{EventKind, EventQuery, Store};
use metier_testkit::Workspace;
use metier_tools::Setting;
use tokio::runtime::Builder;

/// Two skills with a file each, and a project.
fn workspace() -> Workspace {
    let skill = |name: &str| format!("---\nname: {name}\ndescription: Does {name}.\n---\nDo {name}.\n");
    Workspace::new()
        .file("skills/alpha/SKILL.md", skill("alpha"))
        .file("skills/alpha/references/a.md", "of alpha")
        .file("skills/beta/SKILL.md", skill("beta"))
        .file("skills/beta/references/b.md", "of beta")
        .file("project/notes.md", "one\n")
}

/// A role of a file's, played with a model that says what the test wants.
struct Stage {
    workspace: Workspace,
    store: Store,
}

impl Stage {
    fn new() -> Self {
        Self { workspace: workspace(), store: Store::in_memory().unwrap() }
    }

    fn begin(&self, file: &str, model: &Arc<Scripted>) -> Result<Session, SessionError> {
        let path: Arc<Path> = self.workspace.join("project/a.md").as_path().into();
        let read =
            AgentDefinition::parse(DefinitionFormat::Agent, &path, file, &self.workspace.join("project"));
        assert!(read.is_valid(), "{:?}", read.diagnostics);
        let skills = Skills::builder()
            .root(self.workspace.join("skills"))
            .project(self.workspace.join("project"))
            .open();
        let snapshot = skills.snapshot();
        let runtime = Arc::new(Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());
        let agent = Agent::new(skills, Arc::clone(model) as _, self.store.clone(), runtime);
        let role = read.definition.entry().unwrap();
        let agent = agent.with_role(&read.definition, role, &snapshot, &LimitsConfig::default());
        let usual = Setting {
            project: Some(self.workspace.join("project")),
            commands: true,
            memory: true,
            ..Setting::default()
        };
        let hooks =
            RunHooks { observer: Arc::new(NoObserver), cancel: CancelToken::new().unwrap(), ask: None };
        let setting = metier_agent::role_setting(usual, role, read.definition.format);
        Session::start(&agent, setting, UserMessage::new("please"), hooks)
    }

    /// What the model was asked first, and what its calls gave.
    fn play(&self, file: &str, turns: impl IntoIterator<Item = Turn>) -> (Request, Vec<String>) {
        let model = Arc::new(Scripted::new(turns));
        let mut talk = self.begin(file, &model).unwrap();
        talk.run().unwrap();
        let events = self.store.events(&EventQuery::of(talk.id())).unwrap();
        let results = events.into_iter().filter_map(|event| match event.kind {
            EventKind::Finished(finished) => Some(finished.text),
            _ => None,
        });
        (model.asked()[0].clone(), results.collect())
    }
}

fn system(request: &Request) -> String {
    request.system.iter().map(|text| &**text).collect::<Vec<_>>().join("\n")
}

fn tools(request: &Request) -> Vec<&str> {
    request.tools.iter().map(|tool| &*tool.name).collect()
}

#[test]
fn e29_an_agent_with_a_list_sees_those_skills_and_nothing_of_the_others() {
    let calls = Turn::calls([
        ("skill_use", r#"{"skill_name": "beta"}"#),
        ("skill_read_file", r#"{"skill_name": "beta", "file_path": "references/b.md"}"#),
        ("skill_use", r#"{"skill_name": "alpha"}"#),
        ("skill_read_file", r#"{"skill_name": "alpha", "file_path": "references/a.md"}"#),
    ]);
    let file = "---\nname: a\nskills: [alpha]\n---\nYou are brief.\n";
    let (request, results) = Stage::new().play(file, [calls, Turn::says("done")]);
    let told = system(&request);
    assert!(
        told.contains("You are brief.") && told.contains("**alpha**") && !told.contains("beta"),
        "{told}"
    );
    assert_eq!(results.len(), 4);
    for refused in &results[..2] {
        assert!(!refused.contains("of beta") && refused.contains("beta"), "{refused}");
    }
    assert!(results[2].starts_with("Skill 'alpha' activated"), "{}", results[2]);
    assert_eq!(results[3], "of alpha");
}

#[test]
fn e29_an_empty_list_leaves_no_tools_for_skills_and_no_word_of_them() {
    let (request, _) = Stage::new().play("---\nname: a\nskills: []\n---\nHi.\n", [Turn::says("done")]);
    assert!(!system(&request).contains("Available Skills"));
    assert!(tools(&request).iter().all(|name| !name.starts_with("skill")), "{:?}", tools(&request));
}

#[test]
fn e29_a_name_that_is_none_keeps_it_from_starting_and_all_are_told() {
    let model = Arc::new(Scripted::new([Turn::says("never")]));
    let error = Stage::new().begin("---\nname: a\nskills: [gamma, alpha, delta]\n---\n", &model).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`gamma`") && text.contains("`delta`") && !text.contains("`alpha`:"), "{text}");
    assert!(model.asked().is_empty());
}

#[test]
fn an_agents_tools_are_the_only_ones_it_is_offered_and_may_call() {
    let calls = Turn::calls([
        ("Write", r#"{"file_path": "notes.md", "content": "two"}"#),
        ("Read", r#"{"file_path": "notes.md"}"#),
        ("Glob", r#"{"pattern": "*"}"#),
    ]);
    let file = "---\nname: careful\ntools: [Read, Grep]\n---\nLook.\n";
    let (request, results) = Stage::new().play(file, [calls, Turn::says("done")]);
    let offered = tools(&request);
    assert!(
        offered.contains(&"Read") && offered.contains(&"Grep") && offered.contains(&"skill_use"),
        "{offered:?}"
    );
    assert!(
        !offered.contains(&"Write") && !offered.contains(&"Bash") && !offered.contains(&"memory_save"),
        "{offered:?}"
    );
    assert!(results[0].contains("the agent `careful` lets only `Read`, `Grep` be called"), "{}", results[0]);
    assert_eq!(results[1], "1\tone\n");
    assert!(results[2].contains("the agent `careful`"), "{}", results[2]);
}

#[test]
fn a_tool_that_is_taken_away_is_neither_offered_nor_carried_out() {
    let calls = Turn::calls([("Grep", r#"{"pattern": "one"}"#), ("Read", r#"{"file_path": "notes.md"}"#)]);
    let file = "---\nname: a\ndisallowed-tools: Bash, Grep\nmemory: off\n---\nLook.\n";
    let (request, results) = Stage::new().play(file, [calls, Turn::says("done")]);
    let offered = tools(&request);
    assert!(
        offered.contains(&"Write") && !offered.contains(&"Bash") && !offered.contains(&"memory_save"),
        "{offered:?}"
    );
    assert!(results[0].contains("`disallowed-tools` of the agent `a` names `Grep`"), "{}", results[0]);
    assert_eq!(results[1], "1\tone\n");
}

#[test]
fn an_agents_limits_end_its_run_and_its_name_is_written_down() {
    let stage = Stage::new();
    let model =
        Arc::new(Scripted::new((0..9).map(|_| Turn::calls([("Read", r#"{"file_path": "notes.md"}"#)]))));
    let mut talk = stage.begin("---\nname: short\nlimits: {turns: 2}\n---\nGo.\n", &model).unwrap();
    let answer = talk.run().unwrap();
    assert_eq!(
        (answer.ended.turns, answer.ended.why.as_deref()),
        (2, Some("the model was asked 2 times, the limit is 2"))
    );
    let events = stage.store.events(&EventQuery::of(talk.id())).unwrap();
    let EventKind::Started(started) = &events[0].kind else { panic!("it began") };
    assert_eq!(started.agent.as_deref(), Some("short"));
}
