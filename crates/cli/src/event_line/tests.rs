use super::*;
use metier_store::{
    By, Effect, FailedPart, NoteTopic, Offer, Part, RecordId, ScriptReport, SubagentMode, Used,
};
use serde_json::json;

/// The lines of events that follow each other, each with the first letter of its style before it.
fn told(kinds: &[EventKind]) -> Vec<String> {
    let mut told = Told::default();
    let lines = kinds.iter().flat_map(|kind| lines(kind, &mut told));
    lines.map(|line| format!("{:?} {}", line.style, line.text)).collect()
}

fn called(tool: &str, input: Value) -> EventKind {
    let (id, tool) = ("c1".to_owned(), tool.to_owned());
    EventKind::Called(Called { id, tool, skill: None, input, effect: Effect::Runs })
}

fn finished(text: &str) -> Finished {
    Finished { id: "c1".to_owned(), text: text.to_owned(), ms: 1_250, ..Finished::default() }
}

fn used(outcome: Outcome) -> EventKind {
    EventKind::Used(Used {
        skill: "pdf".to_owned(),
        origin: "user".to_owned(),
        digest: String::new(),
        tags: Vec::new(),
        by: By::Model,
        usage: Usage::default(),
        cost_micros: 0,
        outcome,
    })
}

#[test]
fn a_run_reads_as_a_story() {
    let usage = Usage { input: 1_000, output: 234, cached: 56_789, cache_written: 0 };
    let lines = told(&[
        EventKind::Started(Started {
            request: "read the\nreport".to_owned(),
            model: Some("ollama/a".to_owned()),
            loaded: 12,
            ..Started::default()
        }),
        EventKind::Offered {
            query: String::new(),
            shortlist: vec![Offer { name: "pdf".to_owned(), rank: 1, score: 2.0 }],
            abstained: false,
        },
        EventKind::Asked { turn: 1, model: String::new(), messages: 1, tools: 1, bytes: 1 },
        EventKind::Retrying { attempt: 1, after_ms: 2_000, why: "429".to_owned() },
        EventKind::Activated(Activated {
            skill: "pdf".to_owned(),
            notes: vec!["a token has no value".to_owned()],
            ..Activated::default()
        }),
        called(
            "skill_run_script",
            json!({"skill_name": "pdf", "script_name": "read.py", "script_args": "a b"}),
        ),
        EventKind::Decided(Decided {
            action: "run read.py".to_owned(),
            verdict: Verdict::Allow,
            rule: Some("mode ask".to_owned()),
            ..Decided::default()
        }),
        EventKind::Finished(Finished { changes: vec!["out.md".to_owned()], ..finished("one\ntwo\nthree\n") }),
        EventKind::Answered(Answered {
            parts: vec![Part::Text { text: "It says:\n\n1. Hello.\n".to_owned() }],
            ..Answered::default()
        }),
        used(Outcome::Done),
        EventKind::Ended(Ended {
            outcome: Outcome::Done,
            text: String::new(),
            why: None,
            usage,
            cost_micros: 12_300,
            turns: 2,
            calls: 1,
        }),
    ]);
    let expect = [
        "Request [request] read the",
        "Request report",
        "Detail [skills] loaded 12, failed 0; model ollama/a",
        "Detail [skills] offered: pdf",
        "Caution [retry] 2 in 2.0 s: 429",
        "Step [skill] pdf: starting",
        "Caution [skill] pdf: a token has no value",
        "Step [tool] skill_run_script read.py a b",
        "Detail [gate] allowed: run read.py (mode ask)",
        "Detail [result] skill_run_script: one (2 lines more, 1.2 s)",
        "Step [changed] out.md",
        "Answer It says:",
        "Answer ",
        "Answer 1. Hello.",
        "Step [skill] pdf: complete",
        "Done [end] done (2 turns, 1 call, 1,234 + 56,789 cached tokens, cost 0.0123)",
    ];
    assert_eq!(lines, expect);
}

#[test]
fn what_went_wrong_is_told_with_its_reason() {
    let report = ScriptReport {
        exit: Some(2),
        truncated: true,
        denied: vec!["write docs".to_owned()],
        ..ScriptReport::default()
    };
    let check = |kind: EventKind, expect: &[&str]| assert_eq!(told(&[kind]), expect);
    check(
        EventKind::Finished(Finished { is_error: true, report: Some(report), ..finished("no such file") }),
        &["Failure [result] no such file (exit code 2, cut, 1.2 s)", "Caution [denied] write docs"],
    );
    check(EventKind::Finished(finished(" \n")), &["Detail [result] [no output] (1.2 s)"]);
    check(
        EventKind::Decided(Decided {
            action: "reach a.org".to_owned(),
            verdict: Verdict::Refuse,
            rule: Some("deny skill:x".to_owned()),
            answered_by: Some("user".to_owned()),
            ..Decided::default()
        }),
        &["Caution [gate] refused: reach a.org (deny skill:x), said user"],
    );
    check(
        EventKind::Limited { which: LimitKind::Tokens, limit: 500_000, used: 500_123 },
        &["Caution [limit] tokens: 500,123 of 500,000"],
    );
    check(
        EventKind::Limited { which: LimitKind::Money, limit: 2_000_000, used: 2_100_000 },
        &["Caution [limit] money: 2.10 of 2.00"],
    );
    check(
        EventKind::Failed { at: FailedPart::Model, message: "no key".to_owned() },
        &["Failure [failed] model: no key"],
    );
    check(EventKind::Interrupted { why: "Ctrl-C".to_owned() }, &["Caution [stopped] Ctrl-C"]);
    check(
        EventKind::Partial { turn: 1, text: "half an".to_owned(), usage: Usage::default(), cost_micros: 0 },
        &["Answer half an", "Caution [cut off] the answer ends here"],
    );
    for (outcome, expect) in [
        (Outcome::Partial, "Caution [skill] pdf: partial"),
        (Outcome::Failed, "Failure [skill] pdf: failed"),
        (Outcome::Cancelled, "Caution [skill] pdf: cancelled"),
        (Outcome::NeedsYes, "Caution [skill] pdf: needs a yes"),
    ] {
        check(used(outcome), &[expect]);
    }
    for (severity, expect) in [
        (Some("error"), "Failure [error] a.md:3: odd (some-code)"),
        (Some("warning"), "Caution [warning] a.md:3: odd (some-code)"),
        (None, "Detail [info] a.md:3: odd (some-code)"),
    ] {
        let diagnosed = EventKind::Diagnosed {
            code: "some-code".to_owned(),
            message: "odd".to_owned(),
            severity: severity.map(|word| EventSeverity::from(word.to_owned())),
            place: Some("a.md:3".to_owned()),
        };
        check(diagnosed, &[expect]);
    }
    let ended = Ended {
        outcome: Outcome::Partial,
        text: String::new(),
        why: Some("the limit of turns".to_owned()),
        usage: Usage::default(),
        cost_micros: 0,
        turns: 1,
        calls: 0,
    };
    check(
        EventKind::Ended(ended),
        &["Caution [end] partial: the limit of turns (1 turn, 0 calls, 0 tokens)"],
    );
}

#[test]
fn a_call_shows_what_it_is_about() {
    let check =
        |input: Value, expect: &str| assert_eq!(told(&[called("T", input)]), [format!("Step {expect}")]);
    check(json!({"reason": "look", "commandLine": "git log -3"}), "[tool] T git log -3");
    check(json!({"file_path": "a.md", "offset": 3}), "[tool] T a.md");
    check(json!({"skill_name": "pdf", "arguments": "x y"}), "[tool] T pdf x y");
    check(json!({"weights": [1, 2]}), "[tool] T {\"weights\":[1,2]}");
    check(Value::Null, "[tool] T");
    let long = told(&[called("T", json!({"command": "x".repeat(5_000)}))]);
    assert!(long[0].len() < 260 && long[0].ends_with('…'), "{}", long[0]);
}

#[test]
fn children_are_told_by_their_skill_and_what_is_not_known_by_its_name() {
    let child = SessionId::new().unwrap();
    let short = child.short();
    let lines = told(&[
        EventKind::ChildBegan {
            child,
            call: None,
            skill: Some("pdf".to_owned()),
            agent: None,
            mode: SubagentMode::Fork,
        },
        EventKind::ChildEnded {
            child,
            outcome: Outcome::Done,
            usage: Usage::default(),
            cost_micros: 0,
            calls: 0,
            missing: Vec::new(),
        },
        EventKind::Recalled { records: vec![RecordId::new().unwrap()], message: String::new() },
        EventKind::Other { name: "levitated".to_owned(), data: json!({}) },
    ]);
    let expect = [
        format!("Step [skill] pdf: starting (fork {short})"),
        format!("Step [skill] pdf: complete ({short}, 0 tokens)"),
        "Detail [memory] recalled 1 record".to_owned(),
        "Detail [levitated] (a newer metier wrote this)".to_owned(),
    ];
    assert_eq!(lines, expect);
}

/// A stranger's text is in nearly every field. None of them may move a cursor, recolour a terminal, or make a second line that
/// looks like one of ours.
#[test]
fn no_text_of_a_stranger_acts_on_the_terminal() {
    let evil = || "\u{1b}[2J\u{9b}31m\r\u{202e}x".to_owned();
    let text = |more: &str| format!("{}{more}", evil());
    let report = ScriptReport { denied: vec![evil()], ..ScriptReport::default() };
    let kinds = [
        EventKind::Started(Started { request: evil(), model: Some(evil()), ..Started::default() }),
        EventKind::Resumed { by: By::User, metier: evil() },
        EventKind::Said { text: evil(), by: By::User },
        EventKind::Offered {
            query: evil(),
            shortlist: vec![Offer { name: evil(), rank: 1, score: 1.0 }],
            abstained: true,
        },
        EventKind::Retrying { attempt: 1, after_ms: 1, why: evil() },
        EventKind::Answered(Answered { parts: vec![Part::Text { text: evil() }], ..Answered::default() }),
        EventKind::Partial { turn: 1, text: evil(), usage: Usage::default(), cost_micros: 0 },
        EventKind::Activated(Activated { skill: evil(), notes: vec![evil()], ..Activated::default() }),
        called(&evil(), json!({"command": evil()})),
        called(&evil(), json!({ evil(): evil() })),
        EventKind::Decided(Decided {
            action: evil(),
            verdict: Verdict::Other(evil()),
            rule: Some(evil()),
            answered_by: Some(evil()),
            ..Decided::default()
        }),
        EventKind::Finished(Finished {
            report: Some(report),
            changes: vec![text("\n[end] done")],
            ..finished(&evil())
        }),
        EventKind::Noted { text: evil(), about: NoteTopic::Other(evil()) },
        EventKind::Diagnosed {
            code: evil(),
            message: text("\n[end] done"),
            severity: None,
            place: Some(evil()),
        },
        EventKind::Limited { which: LimitKind::Other(evil()), limit: 1, used: 1 },
        EventKind::Interrupted { why: text("\n[end] done") },
        EventKind::Failed { at: FailedPart::Other(evil()), message: evil() },
        EventKind::ChildBegan {
            child: SessionId::new().unwrap(),
            call: None,
            skill: Some(evil()),
            agent: None,
            mode: SubagentMode::Other(evil()),
        },
        EventKind::Compacted {
            through: 1,
            messages: Value::Null,
            why: evil(),
            usage: Usage::default(),
            cost_micros: 0,
        },
        EventKind::Other { name: evil(), data: Value::Null },
    ];
    for kind in kinds {
        for line in lines(&kind, &mut Told::default()) {
            let acts = |c: char| c.is_control() || c == '\u{202e}';
            assert!(!line.text.contains(acts), "{kind:?}\n{:?}", line.text);
        }
    }
}

#[test]
fn numbers_are_written_with_separators_and_times_in_few_letters() {
    for (number, expect) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
        assert_eq!(grouped(number), expect);
    }
    for (ms, expect) in [(0, "0 ms"), (999, "999 ms"), (1_250, "1.2 s"), (61_000, "1 min 1 s")] {
        assert_eq!(span(ms), expect);
    }
}

#[test]
fn an_approval_is_told_by_what_the_policy_stored() {
    let stored = |answer: metier_policy::Answer| -> String {
        serde_json::from_value(serde_json::to_value(answer).unwrap()).unwrap()
    };
    let check = |answer: String, expect: &str| {
        let event = EventKind::Allowed { question: Value::Null, answer };
        assert_eq!(told(&[event]), [format!("Detail [gate] {expect}")]);
    };
    check(stored(Answer::Always), "always allowed in this project (undo: `metier approvals`)");
    check(stored(Answer::SessionExact), "allowed for this session");
    check(stored(Answer::SessionTool), "this tool is allowed for this session");
    check(stored(Answer::Once), "allowed once");
    check(stored(Answer::No), "not allowed");
    check("by\u{1b}[2J a newer metier".to_owned(), "allowed: by\\u{1b}[2J a newer metier");
}
