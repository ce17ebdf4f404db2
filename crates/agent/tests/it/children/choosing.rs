//! Which model works for a skill, how much it thinks, and how long.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use metier_agent::{Agent, CancelToken, Models, SubagentProfile, UserMessage};
use metier_model::{ChatModel, Effort, Money, Prices};
use metier_policy::{Dialect, Folders, McpTools, Meaning, Scope, Skill, Terms};
use metier_store::{EventKind, Export, Outcome, Store};
use metier_tools::{Ask, Reply};

use super::stage::{Actor, Stage, calls, says, uses};

/// The models of a configuration.
struct Configured(BTreeMap<&'static str, Arc<Actor>>);

impl Models for Configured {
    fn resolve(&self, name: &str) -> Option<(Arc<dyn ChatModel>, Option<Prices>)> {
        let price = Money::from_micros(1_000_000);
        let prices = Prices { input: price, output: price, cache_read: None, cache_write: None };
        self.0.get(name).map(|model| (Arc::clone(model) as _, Some(prices)))
    }
}

/// Somebody who says the same to every question, and how often that was.
struct Person(&'static str, Mutex<Vec<String>>);

impl Ask for Person {
    fn ask(&self, question: &str, options: &[String]) -> Reply {
        assert_eq!(options, ["yes", "no"]);
        self.1.lock().unwrap().push(question.to_owned());
        Reply::Said(self.0.to_owned())
    }
}

fn quick(id: &str) -> Arc<Actor> {
    Actor::called(id, |_| says("by the quick one"))
}

fn with(agent: Agent, models: &[(&'static str, &Arc<Actor>)]) -> Agent {
    let models = models.iter().map(|(name, model)| (*name, Arc::clone(model)));
    Agent { models: Some(Arc::new(Configured(models.collect()))), ..agent }
}

/// A conversation that forks a skill which asks for `fast`, twice.
fn main_model() -> Arc<Actor> {
    Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("x", "one")]),
        ("", 1) => uses(&[("x", "two")]),
        ("", _) => says("so"),
        _ => says("by the usual one"),
    })
}

#[test]
fn a_skill_works_with_the_model_and_the_effort_that_it_asks_for_and_at_that_price() {
    let stage = Stage::new(&[("x", "context: fork\nmodel: fast\neffort: high\n", "Do.")]);
    let (model, fast) = (main_model(), quick("stage/quick"));
    let agent = with(stage.agent(&model), &[("fast", &fast)]);
    let answer = stage.talk(&agent, &CancelToken::new().unwrap()).run().unwrap();
    assert!(stage.results().iter().all(|text| text.ends_with("by the quick one")), "{:?}", stage.results());
    let asked = fast.asked("x");
    assert_eq!((asked.len(), asked[0].request.effort), (2, Some(Effort::High)));
    assert!(model.asked("").iter().all(|scene| scene.request.effort.is_none()));
    let child = &stage.children(stage.top())[0];
    assert_eq!(child.model.as_deref(), Some("stage/quick"));
    assert_eq!(answer.ended.cost_micros, 2 * 117, "the parent's model has no price, the child's has");
}

#[test]
fn an_unknown_model_is_warned_of_and_the_parents_works() {
    let stage = Stage::new(&[("x", "context: fork\nmodel: kimi-k2\neffort: enormous\n", "Do.")]);
    let model = main_model();
    stage.run(&model);
    assert!(stage.results()[0].ends_with("by the usual one"), "{:?}", stage.results());
    let remarks = stage.remarks(stage.children(stage.top())[0].id);
    assert!(
        remarks[0].starts_with("model-unknown: the skill `x` asks for the model `kimi-k2`"),
        "{remarks:?}"
    );
    assert!(remarks[1].starts_with("effort-unknown: "), "{remarks:?}");
}

#[test]
fn another_provider_is_asked_about_once_and_without_a_yes_the_parents_model_works() {
    for (person, expect, questions) in [
        (Some("yes"), "by the quick one", 1),
        (Some("no"), "by the usual one", 1),
        (None, "by the usual one", 0),
    ] {
        let mut stage = Stage::new(&[("x", "context: fork\nmodel: fast\n", "Do.")]);
        let person = person.map(|says| Arc::new(Person(says, Mutex::default())));
        stage.ask = person.clone().map(|person| person as _);
        let (model, fast) = (main_model(), quick("elsewhere/quick"));
        let agent = with(stage.agent(&model), &[("fast", &fast)]);
        stage.talk(&agent, &CancelToken::new().unwrap()).run().unwrap();
        assert!(stage.results().iter().all(|text| text.ends_with(expect)), "{:?}", stage.results());
        let asked = person.map(|person| person.1.lock().unwrap().clone()).unwrap_or_default();
        assert_eq!(asked.len(), questions, "{asked:?}");
        assert!(asked.iter().all(|text| text.contains("`elsewhere/quick`") && text.contains("`stage`")));
        let remarks = stage.remarks(stage.children(stage.top())[1].id);
        assert_eq!(
            remarks.iter().any(|text| text.starts_with("model-not-agreed")),
            expect == "by the usual one"
        );
    }
}

#[test]
fn what_was_said_about_another_provider_holds_when_the_session_goes_on_but_not_from_elsewhere() {
    for (says_first, expect) in [("yes", "by the quick one"), ("no", "by the usual one")] {
        let mut stage = Stage::new(&[("x", "context: fork\nmodel: fast\n", "Do.")]);
        let first = Arc::new(Person(says_first, Mutex::default()));
        stage.ask = Some(Arc::clone(&first) as _);
        let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn % 2) {
            ("", 0) => uses(&[("x", &scene.turn.to_string())]),
            ("", _) => says("so"),
            _ => says("by the usual one"),
        });
        let fast = quick("elsewhere/quick");
        let agent = with(stage.agent(&model), &[("fast", &fast)]);
        stage.talk(&agent, &CancelToken::new().unwrap()).run().unwrap();
        let (id, mut exported) = (stage.top(), Vec::new());
        stage.store.export(&Export::Everything, &mut exported).unwrap();
        // In another process somebody else would say the opposite, and is not asked.
        let other = if says_first == "yes" { "no" } else { "yes" };
        let second = Arc::new(Person(other, Mutex::default()));
        stage.ask = Some(Arc::clone(&second) as _);
        stage.resume(&agent, id).send(UserMessage::new("again")).unwrap();
        assert_eq!((first.1.lock().unwrap().len(), second.1.lock().unwrap().len()), (1, 0));
        let results = stage.results();
        assert!(results.len() == 2 && results.iter().all(|text| text.ends_with(expect)), "{results:?}");
        // A stranger's file could say that somebody agreed.
        stage.store = Store::in_memory().unwrap();
        stage.store.import(&mut exported.as_slice()).unwrap();
        let agent = with(stage.agent(&model), &[("fast", &fast)]);
        stage.resume(&agent, id).send(UserMessage::new("again")).unwrap();
        assert_eq!(second.1.lock().unwrap().len(), 1);
    }
}

#[test]
fn an_inline_skill_changes_the_model_until_the_user_speaks_again_and_each_change_is_an_event() {
    let stage = Stage::new(&[("x", "model: fast\neffort: low\n", "Do.")]);
    let model = Actor::new(|scene| match scene.turn {
        0 => uses(&[("x", "")]),
        _ => says("by the usual one"),
    });
    let fast = quick("stage/quick");
    let agent = with(stage.agent(&model), &[("fast", &fast)]);
    let mut talk = stage.talk(&agent, &CancelToken::new().unwrap());
    let first = talk.run().unwrap();
    assert_eq!(first.ended.text, "by the quick one");
    assert_eq!(fast.asked("")[0].request.effort, Some(Effort::Low));
    assert_eq!(talk.send(UserMessage::new("and now?")).unwrap().ended.text, "by the usual one");
    let remarks = stage.remarks(stage.top());
    assert_eq!(
        remarks,
        [
            "model-changed: `stage/quick`, effort Low answers from now on: the skill `x` asks for it",
            "model-changed: `stage/actor` answers from now on: the skill that asked for another one is over",
        ]
    );
    let models: Vec<String> = stage
        .events(stage.top())
        .into_iter()
        .filter_map(|event| if let EventKind::Asked { model, .. } = event.kind { Some(model) } else { None })
        .collect();
    assert_eq!(models, ["stage/actor", "stage/quick", "stage/actor"]);
}

#[test]
fn an_inline_skill_ends_the_run_after_its_own_turns() {
    let stage = Stage::new(&[("x", "maxTurns: 2\n", "Do.")]);
    let model = Actor::new(|scene| match scene.turn {
        0 => calls([("Glob", r#"{"pattern": "*"}"#)]),
        1 => uses(&[("x", "")]),
        _ => calls([("Glob", r#"{"pattern": "*.md"}"#)]),
    });
    let answer = stage.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::Partial);
    assert_eq!(answer.ended.turns, 4);
    assert_eq!(answer.ended.why.as_deref(), Some("the model was asked 2 times, the limit is 2"));
}

/// Whoever is asked for by this name reads alone, and thinks little.
fn reader(name: &str) -> Option<SubagentProfile> {
    let tools = metier_skill::tokenize("Read, Bash(git:*)").unwrap();
    let terms = Terms {
        skill: Skill::new(name, "agent"),
        tools: Some(&tools),
        disallowed: &[],
        meaning: Meaning::Fence,
        dialect: Dialect::Usual,
        folders: Folders::default(),
    };
    (name == "reader").then(|| SubagentProfile {
        instructions: "You read for others.".to_owned(),
        effort: Some("low".to_owned()),
        max_turns: NonZeroU32::new(1),
        scope: Some(Scope::open(terms, &McpTools::default())),
        ..SubagentProfile::default()
    })
}

#[test]
fn the_agent_that_a_skill_names_gives_its_words_its_effort_and_its_turns_and_widens_no_list_of_tools() {
    let more = "context: fork\nagent: reader\ntools: [Read, Write]\n";
    let stage = Stage::new(&[("x", more, "Do."), ("y", "context: fork\nagent: nobody\n", "Do.")]);
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("x", ""), ("y", "")]),
        ("", _) => says("so"),
        ("x", _) => calls([("Bash", r#"{"command": "git status"}"#)]),
        _ => says("done"),
    });
    let agent = Agent { agents: Some(Arc::new(reader)), ..stage.agent(&model) };
    stage.talk(&agent, &CancelToken::new().unwrap()).run().unwrap();
    let child = &model.asked("x")[0];
    assert_eq!(&*child.request.system[0], "You read for others.");
    assert_eq!(
        (child.tools.clone(), child.request.effort),
        (vec!["skill_read_file".to_owned(), "Read".to_owned()], Some(Effort::Low))
    );
    let results = stage.results();
    assert!(
        results.iter().any(|text| text.starts_with("[skill x: partial: the model was asked once")),
        "{results:?}"
    );
    let children = stage.children(stage.top());
    let remarks: Vec<String> = children.iter().flat_map(|child| stage.remarks(child.id)).collect();
    assert_eq!(remarks.len(), 1);
    assert!(remarks[0].starts_with("agent-unknown: the skill `y` wants the agent `nobody`"), "{remarks:?}");
}
