//! The loop, with a model that says what the test wants.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use metier_agent::{
    Agent, Answer, CancelToken, EmittedEvent, LimitHit, Limits, Observer, RunHooks, Session, StreamDelta,
    UserMessage,
};
use metier_model::{
    Endpoint, Event, Message, ModelError, Part, Protocol, Remote, Request, Scripted, Step, Stop, Turn,
};
use metier_runtime::Skills;
use metier_sandbox::Helper;
use metier_store::{EventKind, EventQuery, Outcome, ScriptReport, Store};
use metier_testkit::Workspace;
use metier_tools::Setting;
use tokio::runtime::{Builder, Runtime};

const GREET: &str = "---\nname: greet\ndescription: Greets somebody. Use when a greeting is wanted.\ntags: [manners]\n---\nSay hello to $ARGUMENTS.\n";

/// A machine with one skill and a project, and somebody who looks on.
struct House {
    workspace: Workspace,
    store: Store,
    runtime: Arc<Runtime>,
    seen: Arc<Seen>,
    limits: Limits,
}

#[derive(Default)]
struct Seen {
    events: Mutex<Vec<EventKind>>,
    text: Mutex<String>,
    /// What programs wrote while they ran.
    output: Mutex<String>,
    /// Stops the agent when its first words come.
    halt: Mutex<Option<CancelToken>>,
    /// Stops the agent when its provider is to be asked again.
    halt_at_retry: Mutex<Option<CancelToken>>,
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
    fn new() -> Self {
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

    fn agent(&self, model: &Arc<Scripted>) -> Agent {
        let skills = Skills::builder()
            .root(self.workspace.join("skills"))
            .project(self.workspace.join("project"))
            .search_path("/usr/bin:/bin")
            .helper(Helper::Program(metier_testkit::example("contained")))
            .open();
        Agent::new(skills, Arc::clone(model) as _, self.store.clone(), Arc::clone(&self.runtime))
            .limits(self.limits)
    }

    fn setting(&self) -> Setting {
        Setting {
            project: Some(self.workspace.join("project")),
            commands: true,
            memory: true,
            ..Setting::default()
        }
    }

    fn company(&self) -> RunHooks {
        RunHooks { observer: Arc::clone(&self.seen) as _, cancel: CancelToken::new().unwrap(), ask: None }
    }

    fn run(&self, model: &Arc<Scripted>) -> Answer {
        let mut talk =
            Session::start(&self.agent(model), self.setting(), UserMessage::new("please"), self.company())
                .unwrap();
        talk.run().unwrap()
    }

    fn results(&self) -> Vec<String> {
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

fn scripted(turns: impl IntoIterator<Item = Turn>) -> Arc<Scripted> {
    Arc::new(Scripted::new(turns))
}

fn texts(request: &Request) -> Vec<String> {
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
fn a_model_that_repeats_a_failing_call_is_stopped_after_the_third_time() {
    let house = House::new();
    let again = || Turn::calls([("Read", r#"{"file_path": "none.md"}"#)]);
    let model = scripted([again(), again(), again(), again(), Turn::says("never")]);
    let answer = house.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::Partial);
    assert_eq!(answer.ended.why.as_deref(), Some("the same call failed 3 times in a row"));
    assert_eq!(model.left(), 2);
}

#[test]
fn a_limit_ends_the_run_with_what_is_there_and_the_reason() {
    let mut house = House::new();
    house.limits = Limits { turns: 2, ..Limits::default() };
    let read = || Turn::calls([("Glob", r#"{"pattern": "*"}"#)]);
    let model = scripted([read(), read(), read()]);
    let answer = house.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::Partial);
    assert_eq!(answer.ended.why.as_deref(), Some("the model was asked 2 times, the limit is 2"));
    assert_eq!(house.results().len(), 2);
}

#[test]
fn calls_over_the_limit_get_a_result_that_says_so() {
    let mut house = House::new();
    house.limits = Limits { calls: 1, ..Limits::default() };
    let model = scripted([Turn::calls([
        ("Write", r#"{"file_path": "a.md", "content": "x"}"#),
        ("Write", r#"{"file_path": "b.md", "content": "x"}"#),
    ])]);
    let answer = house.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::Partial);
    assert!(house.results()[1].contains("this call was not made: a tool was called, the limit is 1"));
}

#[test]
fn looks_that_run_together_stop_at_the_limit_too() {
    let mut house = House::new();
    house.limits = Limits { calls: 2, ..Limits::default() };
    let look = ("Glob", r#"{"pattern": "*"}"#);
    let answer = house.run(&scripted([Turn::calls([look; 5])]));
    assert_eq!((answer.ended.outcome, answer.ended.calls), (Outcome::Partial, 2));
    let results = house.results();
    assert_eq!(
        results.iter().filter(|text| text.contains("this call was not made")).count(),
        3,
        "{results:?}"
    );
}

#[test]
fn a_command_ends_when_the_time_of_the_run_is_up() {
    let mut house = House::new();
    house.limits = Limits { time: Some(Duration::from_secs(1)), ..Limits::default() };
    let model =
        scripted([Turn::calls([("Bash", r#"{"command": "echo begun; sleep 60"}"#)]), Turn::says("never")]);
    let began = std::time::Instant::now();
    let answer = house.run(&model);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert_eq!(answer.ended.outcome, Outcome::Partial);
    assert!(answer.ended.why.unwrap().ends_with("the limit is 1"));
    assert!(house.results()[0].contains("begun"), "{:?}", house.results());
}

#[test]
fn an_end_that_is_none_is_told_in_words() {
    let check = |text: &str, stop: Stop, outcome: Outcome, why: Option<&str>| {
        let mut turn = Turn::default();
        if !text.is_empty() {
            turn = turn.then(Step::Event(Event::Text(text.to_owned())));
        }
        let answer = House::new().run(&scripted([turn.ends(stop.clone())]));
        assert_eq!((answer.ended.outcome, answer.ended.why.as_deref()), (outcome, why), "{stop:?}");
    };
    check("part", Stop::EndOfTurn, Outcome::Done, None);
    check("part", Stop::Other("eos_token".into()), Outcome::Done, None);
    check("", Stop::EndOfTurn, Outcome::Failed, Some("the model's answer is empty"));
    let declined = "the model declined to answer (content_filter)";
    check("part", Stop::Refused("content_filter".into()), Outcome::Failed, Some(declined));
    let broken = "the model broke its answer off (MALFORMED_FUNCTION_CALL: no)";
    check("part", Stop::Other("MALFORMED_FUNCTION_CALL: no".into()), Outcome::Failed, Some(broken));
    let failed = "the model broke its answer off (failed)";
    check("part", Stop::Failed, Outcome::Failed, Some(failed));
    check("part", Stop::Other("failed".into()), Outcome::Failed, Some(failed));
    // Behind work that was done there may be nothing left to say.
    let house = House::new();
    let quiet = Turn::default().ends(Stop::EndOfTurn);
    let answer = house.run(&scripted([Turn::calls([("Glob", r#"{"pattern": "*"}"#)]), quiet]));
    assert_eq!(answer.ended.outcome, Outcome::Done);
}

#[test]
fn that_the_provider_is_asked_again_is_known_before_the_wait() {
    let house = House::new();
    let again = Event::Retrying { attempt: 2, after: Duration::from_secs(1), why: "429".into() };
    let company = house.company();
    // Whoever hears of it stops it, and the model never says more.
    *house.seen.halt_at_retry.lock().unwrap() = Some(company.cancel.clone());
    let model = scripted([Turn::new([Step::Event(again), Step::Hang])]);
    let mut talk =
        Session::start(&house.agent(&model), house.setting(), UserMessage::new("please"), company).unwrap();
    assert_eq!(talk.run().unwrap().ended.outcome, Outcome::Cancelled);
    let events = house.seen.events.lock().unwrap();
    let attempt = events.iter().find_map(|kind| match kind {
        EventKind::Retrying { attempt, after_ms, .. } => Some((*attempt, *after_ms)),
        _ => None,
    });
    assert_eq!(attempt, Some((1, 1_000)), "the first attempt failed");
}

#[test]
fn stopping_in_the_middle_of_an_answer_gives_what_had_come() {
    let house = House::new();
    let steps = [Step::Event(Event::Text("half an".into())), Step::Hang];
    let model = scripted([Turn::new(steps)]);
    let company = house.company();
    *house.seen.halt.lock().unwrap() = Some(company.cancel.clone());
    let mut talk =
        Session::start(&house.agent(&model), house.setting(), UserMessage::new("please"), company).unwrap();
    let answer = talk.run().unwrap();
    assert_eq!(answer.ended.outcome, Outcome::Cancelled);
    assert_eq!(answer.ended.text, "half an");
}

#[test]
fn stopping_while_a_command_runs_ends_it() {
    let house = House::new();
    let model = scripted([
        Turn::calls([("Bash", r#"{"command": "sleep 60"}"#), ("Bash", r#"{"command": "echo later"}"#)]),
        Turn::says("never"),
    ]);
    let company = house.company();
    let halt = company.cancel.clone();
    let mut talk =
        Session::start(&house.agent(&model), house.setting(), UserMessage::new("please"), company).unwrap();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        halt.cancel();
    });
    let began = std::time::Instant::now();
    let answer = talk.run().unwrap();
    stopper.join().unwrap();
    assert_eq!(answer.ended.outcome, Outcome::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(house.results()[1].contains("stopped before this call"), "{:?}", house.results());
}

#[test]
fn a_model_that_fails_is_said_with_its_own_words() {
    let house = House::new();
    let error = ModelError::OffScript { why: "the provider is down".to_owned() };
    let answer = house.run(&scripted([Turn::fails(error)]));
    assert_eq!(answer.ended.outcome, Outcome::Failed);
    assert!(answer.ended.why.unwrap().contains("the provider is down"));
}

#[test]
fn what_takes_a_yes_that_nobody_can_give_is_told_with_the_rule() {
    let house = House::new();
    let model = scripted([
        Turn::calls([("Write", r#"{"file_path": "notes.md", "content": "x"}"#)]),
        Turn::calls([("Write", r#"{"file_path": "new.md", "content": "x"}"#)]),
        Turn::says("I may not."),
    ]);
    let answer = house.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::NeedsYes, "{:?}", house.results());
    assert_eq!(answer.needs.last().unwrap().rules, ["Write(new.md)"]);
    let events = house.seen.events.lock().unwrap();
    let has_changed =
        |kind: &EventKind| matches!(kind, EventKind::Finished(finished) if !finished.changes.is_empty());
    assert!(!events.iter().any(has_changed), "what was refused has changed nothing");
    assert_eq!(std::fs::read_to_string(house.workspace.join("project/notes.md")).unwrap(), "one\n");
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

#[test]
fn somebody_who_is_there_can_let_it_go_on_over_a_limit() {
    struct Patient;
    impl Observer for Patient {
        fn limit_hit(&self, reached: &LimitHit) -> metier_agent::OnLimit {
            assert_eq!(reached.to_string(), "the model was asked once, the limit is 1");
            metier_agent::OnLimit::Extend
        }
    }
    let mut house = House::new();
    house.limits = Limits { turns: 1, ..Limits::default() };
    let model = scripted([Turn::calls([("Glob", r#"{"pattern": "*"}"#)]), Turn::says("done")]);
    let company = RunHooks { observer: Arc::new(Patient), ..house.company() };
    let mut talk =
        Session::start(&house.agent(&model), house.setting(), UserMessage::new("please"), company).unwrap();
    assert_eq!(talk.run().unwrap().ended.outcome, Outcome::Done);
}
