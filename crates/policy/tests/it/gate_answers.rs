//! Answers hold for the question they were given to, and for the bytes.

use crate::gate_acts::{action, rules, scope, shown};
use metier_policy::{
    Action, Answer, Answers, ApprovalKey, Asking, Decision, Deed, Digest, Gate, Meaning, Rules, Scope,
};

struct Session {
    rules: Rules,
    answers: Answers,
    scopes: Vec<Scope>,
}

impl Session {
    fn new(given: &str) -> Self {
        Self { rules: rules(given), answers: Answers::default(), scopes: Vec::new() }
    }

    fn decide(&self, action: &Action) -> Decision {
        let Self { rules, answers, scopes } = self;
        Gate { rules, answers, scopes, asking: Asking::Terminal }.decide(action)
    }

    /// Asks about an action, which must be a question, and gives the answer.
    fn answer(&mut self, action: &Action, answer: Answer) -> Option<ApprovalKey> {
        let question = self.decide(action).question.expect("a question");
        self.answers.give(&question, answer)
    }

    fn said(&self, act: &str) -> String {
        shown(&self.decide(&action(act)))
    }
}

/// An action with the digests of the script and of the folder.
fn bound(act: &str, script: &str, tree: &str) -> Action {
    let mut action = action(act);
    if let Deed::Script { digest, .. } = &mut action.deed {
        *digest = (!script.is_empty()).then(|| Digest(script.to_owned()));
    }
    if let metier_policy::Actor::Skill(skill) = &mut action.actor {
        skill.tree = (!tree.is_empty()).then(|| Digest(tree.to_owned()));
    }
    action
}

#[test]
fn once_is_once() {
    let mut session = Session::new("mode strict");
    session.answer(&action("pdf script a.py"), Answer::Once);
    assert_eq!(session.said("pdf script a.py"), "ask by mode strict");
}

#[test]
fn an_exact_yes_is_for_the_same_words() {
    let mut session = Session::new("mode strict");
    session.answer(&action("pdf script a.py --x"), Answer::SessionExact);
    assert_eq!(session.said("pdf script a.py --x"), "allow by answer yes, for this session");
    for other in
        ["pdf script a.py --y", "pdf script b.py --x", "csv script a.py --x", "project:pdf script a.py --x"]
    {
        assert_eq!(session.said(other), "ask by mode strict", "{other}");
    }
    assert_eq!(
        session.said("pdf script a.py --x + host:x.org"),
        "ask by mode strict",
        "a new need is a new question"
    );
}

#[test]
fn a_yes_to_a_tool_is_for_the_tool() {
    let mut session = Session::new("mode strict");
    session.answer(&action("agent command ls"), Answer::SessionTool);
    assert_eq!(session.said("agent command rm x"), "allow by answer yes, to this tool for this session");
    assert_eq!(session.said("pdf command rm x"), "ask by mode strict");
    let mut session = Session::new("");
    session.answer(&action("agent mcp github/list"), Answer::SessionTool);
    assert_eq!(session.said("agent mcp github/list"), "allow by answer yes, to this tool for this session");
    assert_eq!(session.said("agent mcp github/delete"), "ask by mode ask");
}

#[test]
fn a_yes_to_writing_opens_the_project_but_not_what_acts_later_nor_other_hosts() {
    let mut session = Session::new("");
    session.answer(&action("agent Write docs/a"), Answer::SessionTool);
    assert_eq!(session.said("agent Write src/b"), "allow by answer yes, to this tool for this session");
    for other in ["agent Write .mcp.json", "agent Write /etc/hosts", "agent Write ../x", "agent Edit docs/a"]
    {
        assert_eq!(session.said(other), "ask by mode ask", "{other}");
    }
    session.answer(&action("pdf script a.py + host:x.org"), Answer::SessionTool);
    assert_eq!(
        session.said("pdf script a.py z + host:x.org"),
        "allow by answer yes, to this tool for this session"
    );
    assert_eq!(session.said("pdf script a.py + host:y.org"), "ask by mode ask");
    // A guarded place is a yes to that place.
    session.answer(&action("agent Write .mcp.json"), Answer::SessionTool);
    assert_eq!(session.said("agent Write .mcp.json"), "allow by answer yes, to this tool for this session");
    assert_eq!(session.said("agent Write .git/hooks/x"), "ask by mode ask");
}

#[test]
fn a_yes_does_not_outlive_the_bytes() {
    for answer in [Answer::SessionExact, Answer::SessionTool, Answer::Always] {
        let mut session = Session::new("mode strict");
        session.answer(&bound("pdf script a.py", "sha256:1", "sha256:t"), answer);
        assert!(session.decide(&bound("pdf script a.py", "sha256:1", "sha256:t")).is_allowed(), "{answer:?}");
        for (script, tree) in [("sha256:2", "sha256:t"), ("sha256:1", "sha256:u"), ("", "sha256:u"), ("", "")]
        {
            let changed = bound("pdf script a.py", script, tree);
            // A tree digest holds every file, so a yes to the tool is bound by it alone.
            let expect = answer == Answer::SessionTool && tree == "sha256:t";
            assert_eq!(session.decide(&changed).is_allowed(), expect, "{answer:?} {script} {tree}");
        }
    }
}

#[test]
fn a_script_without_a_digest_is_asked_about_every_time() {
    for answer in [Answer::SessionExact, Answer::SessionTool, Answer::Always] {
        let mut session = Session::new("mode strict");
        let kept = session.answer(&bound("pdf script a.py", "", ""), answer);
        assert_eq!(kept, None);
        assert!(!session.decide(&bound("pdf script a.py", "", "")).is_allowed(), "{answer:?}");
    }
}

#[test]
fn always_is_kept_for_the_script_its_needs_and_any_arguments() {
    let mut session = Session::new("");
    let first = bound("pdf script a.py x + host:x.org + secret:T", "sha256:1", "sha256:t");
    let kept = session.answer(&first, Answer::Always).expect("something to keep");
    // What is kept is plain data and holds in the next session.
    let text = serde_json::to_string(&kept).unwrap();
    let again: ApprovalKey = serde_json::from_str(&text).unwrap();
    session.answers = Answers::new([again]);
    let decide = |act: &str| session.decide(&bound(act, "sha256:1", "sha256:t")).is_allowed();
    assert!(decide("pdf script a.py x + host:x.org + secret:T"));
    assert!(decide("pdf script a.py other + host:x.org"));
    assert!(!decide("pdf script a.py x + host:y.org"));
    assert!(!decide("pdf script b.py x + host:x.org"));
}

#[test]
fn a_no_holds_until_it_is_forgotten_and_goes_before_a_yes() {
    let mut session = Session::new("");
    let push = action("agent mcp github/push");
    session.answer(&push, Answer::No);
    assert_eq!(session.said("agent mcp github/push"), "refuse by answer no");
    session.answers.forget_refusals();
    assert_eq!(session.said("agent mcp github/push"), "ask by mode ask");
}

#[test]
fn an_answer_goes_before_strict_and_ask_rules_and_never_before_deny_or_plan() {
    for (given, expect) in [
        ("mode strict", "allow by answer yes, for this session"),
        ("ask command:ls", "allow by answer yes, for this session"),
        ("deny nonsense", "allow by answer yes, for this session"),
        ("mode plan", "refuse by mode plan"),
        ("deny command:ls", "refuse by deny command:ls"),
    ] {
        let mut session = Session::new("mode strict");
        session.answer(&action("agent command ls"), Answer::SessionExact);
        session.rules = rules(given);
        assert_eq!(session.said("agent command ls"), expect, "{given}");
    }
}

#[test]
fn a_yes_outside_a_fence_is_for_that_fence() {
    let mut session = Session::new("");
    session.scopes = vec![scope("pdf", "Read", Meaning::Fence)];
    session.answer(&action("agent command ls"), Answer::SessionExact);
    assert_eq!(session.said("agent command ls"), "allow by answer yes, for this session");
    assert_eq!(session.said("agent command id"), "ask by fence pdf");
    session.scopes.push(scope("csv", "Read", Meaning::Fence));
    assert_eq!(session.said("agent command ls"), "ask by fence pdf");
    session.scopes = vec![scope("pdf", "Grep", Meaning::Fence)];
    assert_eq!(session.said("agent command ls"), "ask by fence pdf", "a changed list is another question");
    // A yes that was given without a fence says nothing about one that came later.
    let mut session = Session::new("mode strict");
    session.answer(&action("agent command ls"), Answer::SessionExact);
    session.scopes = vec![scope("pdf", "Read", Meaning::Fence)];
    assert_eq!(session.said("agent command ls"), "ask by fence pdf");
}
