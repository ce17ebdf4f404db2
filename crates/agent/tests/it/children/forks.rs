//! What a child gets, and what its parent gets of it.

use metier_store::{By, EventKind, Outcome};

use super::stage::{Actor, Stage, calls, says, uses};

const FORK: &str = "context: fork\n";

#[test]
fn a_fork_has_its_text_as_system_prompt_and_its_arguments_as_message_and_its_parent_gets_the_result_alone() {
    let stage = Stage::new(&[("research", "context: fork\ntags: [market]\n", "Look up $ARGUMENTS.")]);
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("research", "prices")]),
        ("", _) => says("All done."),
        (_, 0) => calls([("Glob", r#"{"pattern": "*.md"}"#)]),
        _ => says("Prices rise."),
    });
    let answer = stage.run(&model);
    assert_eq!((answer.ended.outcome, answer.ended.text.as_str()), (Outcome::Done, "All done."));
    assert_eq!((answer.ended.turns, answer.ended.calls), (2, 2), "its calls count, its turns do not");

    let child = &model.asked("research")[0];
    let system: String = child.request.system.iter().map(|text| &**text).collect();
    assert!(system.starts_with("# Skill: research\nLook up prices."), "{system}");
    assert!(!system.contains("Available Skills") && !system.contains("skill-context"), "{system}");
    assert_eq!(child.told, "prices");
    assert!(!child.tools.contains(&"skill_use".to_owned()), "{:?}", child.tools);

    let second = &model.asked("")[1];
    assert_eq!(second.results, ["[skill research: complete (2 turns, 1 call, 220 tokens)]\nPrices rise."]);
    assert_eq!(second.request.messages.len(), 3, "nothing of the child but its result");

    let children = stage.children(stage.top());
    assert_eq!(children.len(), 1);
    assert_eq!(
        (children[0].outcome, children[0].skills.clone()),
        (Some(Outcome::Done), vec!["research".to_owned()])
    );
    let events = stage.events(children[0].id);
    let EventKind::Started(started) = &events[0].kind else { panic!("{:?}", events[0]) };
    assert_eq!((started.parent, started.by), (Some(stage.top()), By::Parent));
    let used = events
        .iter()
        .find_map(|event| if let EventKind::Used(used) = &event.kind { Some(used) } else { None });
    let used = used.unwrap();
    assert_eq!((used.by, used.tags.clone(), used.usage.input), (By::Model, vec!["market".to_owned()], 200));

    let seen = stage.seen.events.lock().unwrap();
    assert!(
        seen.iter().all(|event| (event.session == children[0].id) == (event.parent == Some(stage.top())))
    );
    let of_parent: Vec<String> = seen
        .iter()
        .filter(|event| event.parent.is_none())
        .map(|event| serde_json::to_value(&event.kind).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    let expect =
        ["called", "decided", "child_began", "child_ended", "finished", "asked", "answered", "ended"];
    assert_eq!(of_parent[of_parent.len() - expect.len()..], expect);
}

/// The tools of the child of a skill with this list, and what it answers to a call of `Write`.
fn tools_of(more: &str) -> (Vec<String>, String) {
    let stage = Stage::new(&[("x", &format!("{FORK}{more}"), "Do.")]);
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("x", "")]),
        ("", _) => says("so"),
        (_, 0) => calls([("file_write", r#"{"path": "new.md", "content": "x"}"#)]),
        _ => says("over"),
    });
    stage.run(&model);
    let last = model.asked("x").pop().unwrap();
    (last.tools.clone(), last.results[0].clone())
}

#[test]
fn t27_what_the_list_does_not_name_is_neither_in_the_schema_of_the_child_nor_carried_out() {
    let (tools, refused) = tools_of("tools: [Read, web_search]\n");
    assert_eq!(tools, ["skill_read_file", "Read"]);
    assert_eq!(refused, "`file_write` is not a tool of `x`; there are `skill_read_file`, `Read`");
}

#[test]
fn t28_an_empty_list_means_none_and_no_list_inherits() {
    let (tools, refused) = tools_of("tools: []\n");
    assert_eq!(tools, ["skill_read_file"], "its own files stay readable");
    assert!(refused.contains("is not a tool of `x`"), "{refused}");
    let (tools, refused) = tools_of("");
    let all =
        ["skill_read_file", "Read", "Glob", "Grep", "Write", "Edit", "Bash", "memory_save", "memory_search"];
    assert_eq!(tools, all);
    assert!(refused.contains("Write(new.md)"), "it is the gate that speaks: {refused}");
}

#[test]
fn the_tools_of_a_child_lie_within_what_holds_for_its_parent() {
    let stage = Stage::new(&[
        ("outer", "tools: [Read, Skill]\n", "Do."),
        ("inner", "context: fork\ntools: [Read, Bash]\n", "Do."),
    ]);
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("outer", "")]),
        ("", 1) => uses(&[("inner", "")]),
        ("", _) => says("so"),
        (_, 0) => calls([("Bash", r#"{"command": "true"}"#)]),
        _ => says("over"),
    });
    stage.run(&model);
    let child = model.asked("inner").pop().unwrap();
    assert_eq!(child.tools, ["skill_read_file", "Read"]);
    assert!(child.results[0].contains("`Bash` is not a tool"), "{:?}", child.results);
}

#[test]
fn a_skill_that_runs_itself_or_a_circle_and_one_that_is_too_deep_are_refused_with_the_reason() {
    let spawn = "context: fork\ntools: [Skill]\n";
    let stage = Stage::new(&[("a", spawn, "A."), ("b", spawn, "B."), ("c", spawn, "C."), ("d", spawn, "D.")]);
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("a", "")]),
        ("a", 0) => uses(&[("a", ""), ("b", "")]),
        ("b", 0) => uses(&[("a", ""), ("c", "")]),
        ("c", 0) => uses(&[("d", "")]),
        (skill, _) => says(&format!("{skill} is done")),
    });
    let answer = stage.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::Done);
    let results = |skill: &str| model.asked(skill).pop().unwrap().results.clone();
    assert!(results("a")[0].contains("`a` runs here already and does not run itself"), "{:?}", results("a"));
    assert!(results("b")[0].contains("`a` → `b` → `a`"), "{:?}", results("b"));
    assert_eq!(results("c"), ["children may be 3 deep, and this one is; do the work here"]);
    assert!(model.asked("d").is_empty());
    assert!(results("")[0].ends_with("a is done"), "{:?}", results(""));
}

#[test]
fn forks_and_reads_of_one_turn_run_together_and_results_keep_the_order_of_the_calls() {
    let stage = Stage::new(&[("x", FORK, "Do.")]);
    let barrier = std::sync::Arc::new(tokio::sync::Barrier::new(2));
    let model = Actor::new(move |scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => calls([
            ("skill_use", r#"{"skill_name": "x", "arguments": "one"}"#),
            ("Read", r#"{"file_path": "notes.md"}"#),
            ("Skill", r#"{"skill": "x", "args": "two"}"#),
            ("load_skill", r#"{"name": "x"}"#),
        ]),
        ("", _) => says("so"),
        // Neither goes on without the other: they are there at once.
        _ if scene.told == "one" || scene.told == "two" => {
            let barrier = std::sync::Arc::clone(&barrier);
            says(&format!("said {}", scene.told)).after(async move {
                barrier.wait().await;
            })
        }
        _ => says("said nothing"),
    });
    stage.run(&model);
    let results = &model.asked("")[1].results;
    assert!(results[0].ends_with("said one") && results[2].ends_with("said two"), "{results:?}");
    assert!(results[1].contains("one") && !results[1].contains("skill"), "{results:?}");
    let loaded: serde_json::Value = serde_json::from_str(&results[3]).unwrap();
    assert_eq!(loaded["skill_name"], "x");
    assert!(loaded["result"].as_str().unwrap().ends_with("said nothing"), "{loaded}");
}

#[test]
fn two_children_with_children_of_their_own_do_not_wait_for_each_other_for_ever() {
    let stage = Stage::new(&[("outer", "context: fork\ntools: [Skill]\n", "Do."), ("inner", FORK, "Do.")]);
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("outer", "1"), ("outer", "2"), ("outer", "3")]),
        ("outer", 0) => uses(&[("inner", "1"), ("inner", "2")]),
        (skill, _) => says(&format!("{skill} is done")),
    });
    let answer = stage.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::Done);
    assert_eq!((model.asked("outer").len(), model.asked("inner").len()), (6, 6));
    assert!(stage.results().iter().all(|text| text.ends_with("outer is done")), "{:?}", stage.results());
}

#[test]
fn a_child_that_may_not_begin_is_refused_in_words_and_nothing_of_it_is_stored() {
    let stage =
        Stage::new(&[("x", FORK, "Do."), ("mine", "context: fork\ndisable-model-invocation: true\n", "Do.")]);
    let model = Actor::new(|scene| match scene.turn {
        0 => uses(&[("nothing", ""), ("mine", ""), ("x", "")]),
        _ => says("so"),
    });
    std::fs::remove_file(stage.workspace.join("skills/x/SKILL.md")).ok();
    stage.run(&model);
    let results = stage.results();
    assert!(results[1].contains("/mine"), "{results:?}");
    assert_eq!(stage.children(stage.top()).len(), 0);
}
