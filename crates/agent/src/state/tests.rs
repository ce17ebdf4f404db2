use metier_store::{
    ApprovalStage, Called, Decided, Effect, Finished, LimitKind, Part, RetryDecision, SessionId,
    SubagentMode, Usage,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::limits::Limits;

fn event(seq: u64, at: u64, kind: EventKind) -> Event {
    let session = SessionId::new().unwrap();
    Event { position: seq, session, seq, at: Timestamp::from_millis(at), kind }
}

fn state(kinds: impl IntoIterator<Item = EventKind>) -> SessionState {
    let events: Vec<Event> = (1..).zip(kinds).map(|(seq, kind)| event(seq, seq * 1_000, kind)).collect();
    SessionState::replay(&events)
}

fn said(text: &str) -> EventKind {
    EventKind::Said { text: text.into(), by: metier_store::By::User }
}

fn asked(turn: u64) -> EventKind {
    EventKind::Asked { turn, model: "m".into(), messages: 1, tools: 1, bytes: u64::MAX }
}

fn calling(id: &str) -> EventKind {
    let call = metier_store::ToolCall { id: id.into(), name: "t".into(), ..Default::default() };
    let usage = Usage { input: 5, ..Usage::default() };
    EventKind::Answered(Answered { parts: vec![Part::Call(call)], usage, ..Answered::default() })
}

fn called(id: &str) -> EventKind {
    EventKind::Called(Called {
        id: id.into(),
        tool: "t".into(),
        skill: None,
        input: Value::Null,
        effect: Effect::Runs,
    })
}

#[test]
fn limits_that_somebody_extended_stay_extended_until_the_user_speaks() {
    let limited = || EventKind::Limited { which: LimitKind::Turns, limit: 1, used: 1 };
    let went_on = [said("x"), asked(1), limited(), asked(2)];
    assert_eq!(state(went_on.clone()).run.extended, [LimitKind::Turns]);
    assert!(
        state(went_on.clone().into_iter().take(3)).run.extended.is_empty(),
        "nobody has said to go on yet"
    );
    let more = state(went_on.into_iter().chain([said("y")]));
    assert!(more.run.extended.is_empty());
    assert_eq!(more.run.spent.turns, 0);
}

#[test]
fn an_extended_limit_is_an_event_of_its_own() {
    let limited = || EventKind::Limited { which: LimitKind::Turns, limit: 1, used: 1 };
    let extended = || EventKind::LimitExtended { which: LimitKind::Turns };
    let went_on = state([said("x"), asked(1), limited(), extended(), asked(2), limited(), extended()]);
    assert_eq!(went_on.run.extended, [LimitKind::Turns, LimitKind::Turns]);
    let usual = Limits { turns: 10, ..Limits::default() };
    assert_eq!(went_on.run.limits(&usual).turns, 30);
}

#[test]
fn time_without_a_process_does_not_count() {
    let resumed = EventKind::Resumed { by: metier_store::By::User, metier: String::new() };
    let events = [
        event(1, 0, said("x")),
        event(2, 10_000, asked(1)),
        // A week later.
        event(3, 600_000_000, resumed),
        event(4, 600_005_000, asked(2)),
    ];
    let clock = SessionState::replay(&events).run.clock;
    assert_eq!(clock.worked_until_latest().as_secs(), 15);
    assert_eq!(clock.worked(Timestamp::from_millis(600_007_000)).as_secs(), 17);
}

#[test]
fn what_would_take_a_yes_is_known_until_something_works_out() {
    let refused =
        || EventKind::Decided(Decided { allow_with: vec!["Write(x)".into()], ..Decided::default() });
    let done = EventKind::Finished(Finished { id: "1".into(), ..Finished::default() });
    let kinds = [said("x"), calling("1"), refused(), called("1")];
    let open = state(kinds.clone());
    assert_eq!((open.run.missing.len(), open.calls.started.len()), (1, 1));
    let settled = state(kinds.into_iter().chain([done]));
    assert_eq!((settled.run.missing.len(), settled.calls.started.len()), (0, 0));
}

#[test]
fn answers_that_cannot_be_read_allow_nothing() {
    for (question, answer) in [(json!(5), "session_exact"), (json!({}), "forever"), (Value::Null, "")] {
        assert!(state([EventKind::Allowed { question, answer: answer.into() }]).allowed.is_empty());
    }
}

fn question() -> Value {
    let action = metier_policy::Action::command(metier_policy::Actor::Agent, "make");
    let rules = metier_policy::Rules::default();
    let gate = metier_policy::Gate {
        rules: &rules,
        answers: &metier_policy::Answers::default(),
        scopes: &[],
        asking: metier_policy::Asking::Terminal,
    };
    let needs = metier_policy::Need::Secret("TOKEN".into());
    let decision = gate.decide(&action.needing(needs));
    serde_json::to_value(decision.question.unwrap()).unwrap()
}

fn requested(call: &str, stage: ApprovalStage) -> EventKind {
    EventKind::ApprovalRequested {
        call: Some(call.into()),
        question: question(),
        action: "make".into(),
        stage,
    }
}

fn answered(call: &str, answer: &str) -> EventKind {
    EventKind::ApprovalAnswered { call: Some(call.into()), question: question(), answer: answer.into() }
}

fn ended() -> EventKind {
    EventKind::Ended(metier_store::Ended {
        outcome: Outcome::NeedsYes,
        text: String::new(),
        why: None,
        usage: Usage::default(),
        cost_micros: 0,
        turns: 1,
        calls: 1,
    })
}

#[test]
fn a_call_that_waits_for_an_approval_has_not_run_and_one_that_was_approved_at_once_may_have() {
    let asked = [said("x"), calling("1"), called("1"), requested("1", ApprovalStage::Before)];
    let has_not_run = |kinds: &[EventKind]| {
        let state = state(asked.iter().chain(kinds).cloned());
        state.calls.started["1"].has_not_run()
    };
    let resumed = EventKind::Resumed { by: metier_store::By::User, metier: String::new() };
    assert!(has_not_run(&[]), "its process died while a person was asked");
    assert!(has_not_run(std::slice::from_ref(&resumed)));
    assert!(!has_not_run(&[answered("1", "once")]), "it began to run at once");
    assert!(has_not_run(&[ended(), answered("1", "once")]), "nothing worked on it when the answer came");
    assert!(!has_not_run(&[ended(), answered("1", "once"), called("1")]), "it was made again");

    let waiting = |kinds: &[EventKind]| state(asked.iter().chain(kinds).cloned()).calls.waiting().len();
    assert_eq!(
        (waiting(&[ended()]), waiting(&[ended(), answered("1", "no")]), waiting(&[resumed])),
        (1, 0, 0)
    );
    let kinds = [ended(), answered("1", "once"), called("1")];
    let answers = state(asked.iter().chain(&kinds).cloned()).calls.answers("1");
    assert_eq!(answers.len(), 1, "a call may need several approvals, one after the other");
}

/// Events in any order and with any numbers, as a stranger's file may have them.
fn anything() -> impl Strategy<Value = EventKind> {
    let number = prop_oneof![Just(0_u64), Just(1), Just(u64::MAX)];
    let id = prop_oneof![Just("1"), Just("2")];
    (0_usize..22, number, id).prop_map(|(which, number, id)| {
        let usage = Usage { input: number, output: number, cached: number, cache_written: number };
        let child = "01kabcdefghjkmnpqrstvwxyz0".parse().unwrap_or_else(|_| SessionId::new().unwrap());
        match which {
            0 => said(id),
            1 => asked(number),
            2 => calling(id),
            3 => called(id),
            4 => EventKind::Finished(Finished { id: id.into(), is_error: number > 0, ..Finished::default() }),
            5 => EventKind::Limited { which: LimitKind::Tokens, limit: number, used: number },
            6 => EventKind::Activated(metier_store::Activated {
                skill: id.into(),
                call: (number > 0).then(|| id.into()),
                message: if number == 1 { "text".into() } else { String::new() },
                ..Default::default()
            }),
            7 => EventKind::Doubted { call: id.into(), tool: "t".into(), action: id.into(), said: RetryDecision::Skip },
            8 => EventKind::ChildBegan { child, call: Some(id.into()), skill: None, agent: None, mode: SubagentMode::Fork },
            9 => EventKind::ChildEnded {
                child,
                outcome: Outcome::Done,
                usage,
                cost_micros: number,
                calls: number,
                missing: vec![MissingApproval::default()],
            },
            10 => EventKind::Compacted {
                through: number,
                messages: json!({"kept": number, "head": [id], "exchanged": [{"message": number, "piece": number, "text": "x"}]}),
                why: String::new(),
                usage,
                cost_micros: number,
            },
            11 => EventKind::Resumed { by: metier_store::By::User, metier: String::new() },
            12 => EventKind::Answered(Answered { usage, cost_micros: Some(number), ..Answered::default() }),
            13 => EventKind::LimitExtended { which: LimitKind::Tokens },
            14 => EventKind::Partial { turn: number, text: id.into(), usage, cost_micros: number },
            15 => EventKind::ChildBegan { child, call: None, skill: Some(id.into()), agent: None, mode: SubagentMode::Background },
            16 => EventKind::Ended(metier_store::Ended {
                outcome: Outcome::NeedsYes,
                text: String::new(),
                why: None,
                usage,
                cost_micros: number,
                turns: number,
                calls: number,
            }),
            17 => EventKind::Doubted { call: id.into(), tool: "t".into(), action: id.into(), said: RetryDecision::Unanswered },
            18 => requested(id, if number == 1 { ApprovalStage::During } else { ApprovalStage::Before }),
            19 => answered(id, if number == 1 { "no" } else { "once" }),
            20 => answered(id, "session_exact"),
            _ => EventKind::Other { name: "newer".into(), data: Value::Null },
        }
    })
}

proptest! {
    #[test]
    fn whatever_a_file_says_it_is_read_and_its_calls_are_known(
        kinds in prop::collection::vec((anything(), prop_oneof![Just(0_u64), Just(253_402_300_799_999)]), 0..60),
    ) {
        let events: Vec<Event> = (1..).zip(kinds).map(|(seq, (kind, at))| event(seq, at, kind)).collect();
        let mut live = SessionState::default();
        for (at, event) in events.iter().enumerate() {
            live.apply(event);
            prop_assert_eq!(&live, &SessionState::replay(&events[..=at]));
        }
        prop_assert_eq!(live.seq, events.len() as u64);
        prop_assert_eq!(live.restorable().len(), live.activated().len());
        let unfinished = live.history.unfinished_calls().len();
        prop_assert_eq!(unfinished, live.history.unfinished().count());
    }
}
