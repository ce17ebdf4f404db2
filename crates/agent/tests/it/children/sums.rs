//! What a family uses up is what its members use up.

use metier_agent::Agent;
use metier_model::{Money, Prices};
use metier_store::{EventKind, SessionId, Usage};
use proptest::prelude::*;

use super::stage::{Actor, Stage, calls, says, uses};

/// What a session used by itself: tokens, money, calls.
fn own(stage: &Stage, id: SessionId) -> (Usage, u64, u64) {
    let (mut usage, mut cost, mut called) = (Usage::default(), 0, 0);
    for event in stage.events(id) {
        match event.kind {
            EventKind::Answered(answered) => {
                usage += answered.usage;
                cost += answered.cost_micros.unwrap_or_default();
            }
            EventKind::Called(_) => called += 1,
            _ => {}
        }
    }
    (usage, cost, called)
}

/// Holds what a session says it used against its own answers and what its children say, all the way down.
fn check(stage: &Stage, id: SessionId) {
    let (mut usage, mut cost, mut called) = own(stage, id);
    let children = stage.children(id);
    for event in stage.events(id) {
        if let EventKind::ChildEnded { child, usage: theirs, cost_micros, .. } = event.kind {
            assert!(children.iter().any(|summary| summary.id == child));
            usage += theirs;
            cost += cost_micros;
        }
    }
    let ended = |id: SessionId| {
        let ended = stage.events(id).into_iter().rev().find_map(|event| match event.kind {
            EventKind::Ended(ended) => Some(ended),
            _ => None,
        });
        ended.unwrap()
    };
    for child in &children {
        called += ended(child.id).calls;
        check(stage, child.id);
    }
    let said = ended(id);
    assert_eq!((said.usage, said.cost_micros, said.calls), (usage, cost, called), "session {id}");
}

fn priced(mut agent: Agent) -> Agent {
    let price = |whole: u64| Money::from_micros(whole * 1_000_000);
    agent.selection.prices =
        Some(Prices { input: price(3), output: price(15), cache_read: None, cache_write: None });
    agent
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Any family: how many children, how many of them have children, how much each works.
    #[test]
    fn the_sums_of_the_children_are_the_parents(family in prop::collection::vec((0_usize..3, 0_usize..3), 1..5)) {
        let stage = Stage::new(&[("outer", "context: fork\n", "Do.\n"), ("inner", "context: fork\nbackground: true\n", "Do.")]);
        let spawning = "---\nname: outer\ndescription: Does it.\ncontext: fork\ntools: [Skill, Glob]\n---\nDo.\n";
        std::fs::write(stage.workspace.join("skills/outer/SKILL.md"), spawning).unwrap();
        let cast = family.clone();
        let model = Actor::new(move |scene| match (scene.skill.as_str(), scene.turn) {
            ("", 0) => {
                let told: Vec<String> = (0..cast.len()).map(|number| number.to_string()).collect();
                uses(&told.iter().map(|told| ("outer", told.as_str())).collect::<Vec<_>>())
            }
            ("outer", turn) => {
                let (looks, inner) = cast[scene.told.parse::<usize>().unwrap()];
                match turn {
                    0 if inner > 0 => uses(&vec![("inner", "x"); inner]),
                    turn if turn <= looks => calls([("Glob", r#"{"pattern": "*"}"#)]),
                    _ => says("done"),
                }
            }
            _ => says("done"),
        });
        let halt = metier_agent::CancelToken::new().unwrap();
        let answer = stage.talk(&priced(stage.agent(&model)), &halt).run().unwrap();
        prop_assert_eq!(answer.ended.turns, 2);
        check(&stage, stage.top());
    }
}
