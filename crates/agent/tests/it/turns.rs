//! The turns of the loop, with a model that says what the test wants.

use metier_agent::{Session, UserMessage};
use metier_model::{Endpoint, Protocol, Remote, Request, Turn};
use metier_store::{EventKind, EventQuery, Outcome, ScriptReport};

use crate::house::{GREET, House, scripted, texts};

#[test]
fn a_skill_is_activated_used_and_written_down() {
    let house = House::new();
    let model = scripted([
        Turn::calls([("skill_use", r#"{"skill_name": "greet", "arguments": "Ada"}"#)]),
        Turn::says("Hello, Ada."),
    ]);
    let answer = house.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::Done);
    assert_eq!(answer.ended.text, "Hello, Ada.");
    assert_eq!((answer.ended.turns, answer.ended.calls), (2, 1));
    assert_eq!(*house.seen.text.lock().unwrap(), "Hello, Ada.");

    let second = texts(&model.asked()[1]);
    assert_eq!(second.len(), 4, "{second:#?}");
    assert!(second[0].starts_with("user: please"));
    assert!(second[2].contains("Skill 'greet' activated successfully"), "{}", second[2]);
    assert!(second[3].contains("Say hello to Ada."), "{}", second[3]);

    let names: Vec<String> = house
        .seen
        .events
        .lock()
        .unwrap()
        .iter()
        .map(|kind| serde_json::to_value(kind).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    let expect = [
        "started",
        "framed",
        "offered",
        "asked",
        "answered",
        "called",
        "decided",
        "activated",
        "finished",
        "asked",
        "answered",
        "remembered",
        "used",
        "ended",
    ];
    assert_eq!(names, expect);
    let stored = house.store.events(&EventQuery::all()).unwrap();
    let kinds: Vec<EventKind> = stored.into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds, *house.seen.events.lock().unwrap());
    let used = kinds.iter().find_map(|kind| if let EventKind::Used(used) = kind { Some(used) } else { None });
    assert_eq!(used.unwrap().tags, ["manners"]);
}

#[test]
fn reads_of_one_turn_run_together_and_results_keep_the_order_of_the_calls() {
    let house = House::new();
    let model = scripted([
        Turn::calls([
            ("Read", r#"{"file_path": "notes.md"}"#),
            ("skill_read_file", r#"{"skill_name": "greet", "file_path": "SKILL.md"}"#),
            ("Glob", r#"{"pattern": "*.md"}"#),
            ("Grep", r#"{"pattern": "one"}"#),
        ]),
        Turn::says("read"),
    ]);
    house.run(&model);
    let results = house.results();
    assert_eq!(results.len(), 4);
    assert!(results[0].contains("one") && results[1].contains("name: greet"), "{results:?}");
    assert!(results[2].contains("notes.md") && results[3].contains("notes.md"), "{results:?}");
}

#[test]
fn a_script_runs_contained_and_its_output_is_the_result() {
    let house = House::new();
    let model = scripted([
        Turn::calls([("skill_run_script", r#"{"skill_name": "tick", "script_name": "tick.sh"}"#)]),
        Turn::calls([("Bash", r#"{"command": "cat notes.md"}"#)]),
        Turn::says("done"),
    ]);
    let answer = house.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::Done, "{:?}", house.results());
    let results = house.results();
    assert!(results[0].contains("ticked") && results[1].contains("one"), "{results:?}");
    assert_eq!(*house.seen.output.lock().unwrap(), "ticked\none\n");
}

#[test]
fn what_became_of_a_process_is_in_its_event() {
    let house = House::new();
    std::fs::write(house.workspace.join("project/.env"), "TOKEN=x").unwrap();
    let model = scripted([
        Turn::calls([("skill_run_script", r#"{"skill_name": "tick", "script_name": "tick.sh"}"#)]),
        Turn::calls([("Bash", r#"{"command": "echo four; echo no >&2; exit 3"}"#)]),
        Turn::calls([("Bash", r#"{"command": "sleep 30", "timeout": 1}"#)]),
        Turn::calls([("Bash", r#"{"command": "head -c 100000 /dev/zero | tr '\\0' x"}"#)]),
        Turn::calls([("Read", r#"{"file_path": "notes.md"}"#)]),
        Turn::says("done"),
    ]);
    house.run(&model);
    let events = house.seen.events.lock().unwrap();
    let reports: Vec<Option<ScriptReport>> = events
        .iter()
        .filter_map(|kind| match kind {
            EventKind::Finished(finished) => Some(finished.report.clone()),
            _ => None,
        })
        .collect();
    let [Some(script), Some(failed), Some(slow), Some(long), None] = reports.as_slice() else {
        panic!("{reports:?}")
    };
    assert_eq!((script.exit, script.stdout, script.stderr, script.truncated), (Some(0), 7, 0, false));
    assert_eq!(script.masked, [".env"]);
    assert!(!script.tier.is_empty() && script.memory > 0 && script.ms < 60_000, "{script:?}");
    assert_eq!((failed.exit, failed.stdout, failed.stderr), (Some(3), 5, 3));
    assert_eq!((slow.exit, slow.timed_out, slow.stopped.as_deref()), (None, true, Some("time")));
    assert!(slow.ms >= 1000, "{slow:?}");
    assert_eq!((long.stdout, long.truncated), (100_000, true));
}

#[test]
fn a_tool_that_does_not_exist_and_arguments_that_are_no_json_are_answered_and_the_run_goes_on() {
    let house = House::new();
    let model = scripted([
        Turn::calls([("fly_to_the_moon", "{}"), ("Read", "{\"file_path\": ")]),
        Turn::says("sorry"),
    ]);
    let answer = house.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::Done);
    let results = house.results();
    assert!(
        results[0].starts_with("there is no tool `fly_to_the_moon`; there are `skill_use`"),
        "{results:?}"
    );
    assert!(results[1].contains("not JSON"), "{results:?}");
}

#[test]
fn a_conversation_goes_on_and_begins_with_the_same_messages_also_from_the_store() {
    let house = House::new();
    let model = scripted([
        Turn::calls([("skill_use", r#"{"skill_name": "greet", "arguments": "Ada"}"#)]),
        Turn::says("Hello."),
        Turn::says("RetryDecision."),
        Turn::says("Once more."),
    ]);
    let agent = house.agent(&model);
    let mut talk =
        Session::start(&agent, house.setting(), UserMessage::new("please"), house.company()).unwrap();
    talk.run().unwrap();
    // An edit of the skill changes nothing that was said.
    std::fs::write(house.workspace.join("skills/greet/SKILL.md"), GREET.replace("hello", "goodbye")).unwrap();
    talk.rest();
    talk.send(UserMessage::new("and Bob")).unwrap();
    let id = talk.id();
    drop(talk);
    let mut talk = Session::resume(&agent, house.setting(), id, house.company()).unwrap().session;
    talk.send(UserMessage::new("and Eve")).unwrap();
    let asked = model.asked();
    for pair in asked.windows(2) {
        assert_eq!(pair[0].system, pair[1].system);
        assert_eq!(pair[0].tools, pair[1].tools);
        assert_eq!(pair[0].messages[..], pair[1].messages[..pair[0].messages.len()]);
    }
    assert_eq!(asked.len(), 4);
    let last = texts(asked.last().unwrap());
    assert!(last.iter().any(|text| text.starts_with("user: and Bob")), "{last:#?}");
    assert!(last.last().unwrap().starts_with("user: and Eve"), "{last:#?}");
}

/// The bytes that a provider gets, without the mark that says how far its cache may reach, which moves on with each turn.
fn sent(protocol: Protocol, request: &Request) -> String {
    let endpoint = Endpoint::new("http://127.0.0.1:9/v1").unwrap();
    let remote = Remote::new("local/model".parse().unwrap(), protocol, endpoint).unwrap();
    let body = String::from_utf8(remote.body(request).unwrap()).unwrap();
    body.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "")
}

#[test]
fn the_same_thirty_turns_are_the_same_bytes_twice_also_when_skills_change_meanwhile() {
    let house = House::new();
    let document = house.workspace.join("skills/greet/SKILL.md");
    let conversation = || {
        let turns = (0..30).map(|turn| match turn % 3 {
            0 => Turn::calls([("skill_read_file", r#"{"skill_name": "greet", "file_path": "SKILL.md"}"#)]),
            1 => Turn::calls([("Read", r#"{"file_path": "notes.md"}"#), ("no_such_tool", "{}")]),
            _ => Turn::says("so far"),
        });
        let model = scripted(turns);
        let mut talk = Session::start(
            &house.agent(&model),
            house.setting(),
            UserMessage::new("please"),
            house.company(),
        )
        .unwrap();
        talk.run().unwrap();
        for message in 0..9 {
            if message == 4 {
                std::fs::write(&document, GREET.replace("Greets somebody.", "Greets everybody.")).unwrap();
            }
            talk.send(UserMessage::new(format!("go on {message}"))).unwrap();
        }
        std::fs::write(&document, GREET).unwrap();
        model.asked()
    };
    let (one, other) = (conversation(), conversation());
    assert_eq!((one.len(), other.len()), (30, 30));
    let has_note = texts(&one[29]).iter().any(|text| text.contains("greet") && text.contains("go on 4"));
    assert!(has_note, "the model was not told of the change: {:#?}", texts(&one[29]));
    for protocol in [Protocol::OpenAi, Protocol::Anthropic, Protocol::Gemini] {
        let bodies: Vec<String> = one.iter().map(|request| sent(protocol, request)).collect();
        for (body, request) in bodies.iter().zip(&other) {
            assert_eq!(*body, sent(protocol, request), "{protocol:?}");
        }
        for pair in bodies.windows(2) {
            let short = pair[0].trim_end_matches([']', '}']);
            assert!(pair[1].starts_with(short), "{protocol:?}: {short}\n{}", pair[1]);
        }
    }
}
