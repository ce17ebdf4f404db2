//! An agent that hands over: a router, and a child for each skill.

use metier_agent::{Agent, CancelToken, Disclosure, UserMessage};
use metier_model::ToolChoice;
use metier_runtime::Surface;
use metier_store::{By, EventKind, Outcome};

use super::stage::{Actor, Play, Scene, Stage, calls, says};

fn play(scene: &Scene) -> Play {
    match (scene.skill.as_str(), scene.turn) {
        ("", 0) => {
            calls([("handoff_to_todo-add", r#"{"request": "add milk"}"#), ("handoff_to_todo-list", "{}")])
        }
        ("", _) => says("Done."),
        ("todo-add", 0) => calls([
            ("run_command_line", r#"{"reason": "add", "commandLine": "echo added milk"}"#),
            ("hand_back", "{}"),
        ]),
        ("todo-list", 0) => {
            calls([("run_command_line", r#"{"reason": "list", "commandLine": "echo 1 milk"}"#)])
        }
        _ => calls([("hand_back", r#"{"result": "one thing: milk"}"#)]),
    }
}

fn stage() -> Stage {
    Stage::new(&[
        ("todo-add", "", "Adds with `echo`."),
        ("todo-list", "context: fork\n", "Lists with `echo`."),
    ])
}

#[test]
fn p24_each_skill_is_a_tool_described_by_the_skill_and_its_child_has_the_body_and_the_rules_and_must_call() {
    let stage = stage();
    let model = Actor::new(play);
    let (surface, disclosure) = (Surface::SkilledCrew, Disclosure::Handoff);
    let agent = Agent { surface, disclosure, ..stage.agent(&model) };
    let answer = stage.talk(&agent, &CancelToken::new().unwrap()).run().unwrap();
    assert_eq!(answer.ended.outcome, Outcome::Done, "{:?}", stage.results());

    let router = &model.asked("")[0];
    let offered: Vec<(&str, &str)> = router
        .request
        .tools
        .iter()
        .filter(|tool| tool.name.starts_with("handoff_to_"))
        .map(|tool| (&*tool.name, &*tool.description))
        .collect();
    assert_eq!(
        offered,
        [
            ("handoff_to_todo-add", "Does todo-add. Use for todo-add."),
            ("handoff_to_todo-list", "Does todo-list. Use for todo-list."),
        ]
    );
    assert!(
        !router.tools.iter().any(|tool| tool == "skill_use" || tool == "run_command_line"),
        "{:?}",
        router.tools
    );
    let system: String = router.request.system.iter().map(|text| &**text).collect();
    assert!(!system.contains("Available Skills"), "{system}");
    assert_eq!(router.request.choice, ToolChoice::Auto);

    let child = &model.asked("todo-add")[0];
    assert_eq!(child.tools, ["run_command_line", "load_skill_resources", "hand_back"]);
    assert_eq!(child.request.choice, ToolChoice::Any);
    assert!(child.request.system[0].starts_with("# Skill: todo-add\nAdds with `echo`."));
    assert!(child.request.system[1].contains("Begin with a call"));
    assert_eq!((child.told.as_str(), model.asked("todo-list")[0].told.as_str()), ("add milk", "please"));
}

#[test]
fn what_a_child_hands_back_is_its_result_or_its_last_call_where_it_says_nothing() {
    let stage = stage();
    let model = Actor::new(play);
    let (surface, disclosure) = (Surface::SkilledCrew, Disclosure::Handoff);
    let agent = Agent { surface, disclosure, ..stage.agent(&model) };
    stage.talk(&agent, &CancelToken::new().unwrap()).run().unwrap();
    let results = &model.asked("")[1].results;
    assert!(results[0].contains("complete (1 turn, 2 calls"), "{results:?}");
    assert!(results[0].contains(r#"{"exitCode":0,"stdout":"added milk""#), "{results:?}");
    assert!(results[1].ends_with("one thing: milk"), "{results:?}");
    let words: Vec<String> = stage
        .events(stage.top())
        .into_iter()
        .filter_map(|event| {
            if let EventKind::ChildBegan { mode, .. } = event.kind { Some(mode.to_string()) } else { None }
        })
        .collect();
    assert_eq!(words, ["handoff", "handoff"]);
}

#[test]
fn outside_of_a_crew_a_child_keeps_the_general_tools() {
    let stage = stage();
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => calls([("handoff_to_todo-add", "{}")]),
        ("", _) => says("Done."),
        _ => calls([("hand_back", r#"{"result": "so"}"#)]),
    });
    let agent = Agent { disclosure: Disclosure::Handoff, ..stage.agent(&model) };
    stage.talk(&agent, &CancelToken::new().unwrap()).run().unwrap();
    let child = &model.asked("todo-add")[0];
    assert!(
        child.tools.contains(&"Bash".to_owned()) && child.tools.contains(&"hand_back".to_owned()),
        "{:?}",
        child.tools
    );
}

#[test]
fn a_skill_that_the_user_names_is_handed_over_to_as_well() {
    let stage = stage();
    let model = Actor::new(play);
    let (surface, disclosure) = (Surface::SkilledCrew, Disclosure::Handoff);
    let agent = Agent { surface, disclosure, ..stage.agent(&model) };
    let mut talk = stage.talk(&agent, &CancelToken::new().unwrap());
    let answer = talk
        .send(UserMessage::Skill { by: By::User, name: "todo-list".into(), arguments: "all of it".into() })
        .unwrap();
    assert_eq!(answer.ended.text, "one thing: milk");
    assert!(model.asked("").is_empty(), "the router is not asked");
}
