//! What holds for every set of rules and every action.

use crate::gate_acts::{action, decide, layer, scope};
use metier_policy::{
    Action, Asking, Layer, List, Meaning, Mode, Owner, Place, Reason, Rule, Rules, Ruling, Scope, Source,
    Standing, from_agents_json, from_claude_settings,
};
use proptest::prelude::*;

const RULES: &[&str] = &[
    "*",
    "skill:pdf",
    "skill:*",
    "skill:p*",
    "skill:user:pdf",
    "skill:pdf/read:**",
    "skill:pdf/script:a.py",
    "skill:pdf/command:git:*",
    "skill:*/inject",
    "skill:pdf/hook",
    "skill:pdf/write:docs/**",
    "skill:pdf/host:*",
    "skill:pdf/secret:T*",
    "command:*",
    "command:git:*",
    "command:rm:*",
    "write:**",
    "host:x.org",
    "secret:T",
    "mcp:a/*",
    "mcp:*/b",
    "Read",
    "Read(src/**)",
    "Write",
    "Write(docs/**)",
    "Edit",
    "WebFetch",
    "WebFetch(domain:x.org)",
    "skill_run_script",
    "nonsense",
    "skill:pdf/what",
    "Bash(rm $x)",
    "mcp:",
    "",
];

const ACTIONS: &[&str] = &[
    "pdf activate",
    "pdf? activate",
    "pdf! script a.py",
    "csv read a.md",
    "pdf read a.md",
    "pdf script a.py",
    "pdf script a.py + host:x.org",
    "pdf script b.sh + write:docs/a + secret:T",
    "pdf command git log",
    "agent command git log && rm x",
    "agent command echo $(rm x)",
    "agent command env rm x",
    "pdf inject git log",
    "pdf hook ls",
    "pdf more host:10.0.0.1",
    "pdf more below:docs/**",
    "agent tool Read src/a",
    "agent tool Grep src",
    "agent tool ask_user",
    "agent tool Write",
    "agent Write docs/a",
    "agent Write .git/hooks/x",
    "agent Edit docs/a",
    "agent fetch x.org",
    "agent mcp a/b",
    "agent mcp c/d",
];

const LISTS: &[&str] =
    &["", "*", "Read", "Bash(git:*)", "Write(docs/**) Bash", "mcp__a__b WebFetch", "nonsense"];

fn some_rules() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(RULES), 0..4)
}

fn some_layer(owner: Owner) -> impl Strategy<Value = Layer> {
    let mode = prop::option::of(prop::sample::select(&Mode::ALL));
    (some_rules(), some_rules(), some_rules(), mode).prop_map(move |(deny, ask, allow, mode)| {
        let layer = Layer::new(Source::new(owner, "x")).list(List::Deny, deny).list(List::Ask, ask);
        let layer = layer.list(List::Allow, allow);
        mode.map_or(layer.clone(), |mode| layer.mode(mode.word()))
    })
}

fn some_scopes() -> impl Strategy<Value = Vec<Scope>> {
    let meanings =
        prop::sample::select(&[Meaning::Fence, Meaning::Grant, Meaning::Both, Meaning::Advisory][..]);
    let one = (prop::sample::select(LISTS), meanings).prop_map(|(list, meaning)| scope("pdf", list, meaning));
    prop::collection::vec(one, 0..3)
}

fn some_action() -> impl Strategy<Value = Action> {
    prop::sample::select(ACTIONS).prop_map(action)
}

fn some_asking() -> impl Strategy<Value = Asking> {
    prop::sample::select(&[Asking::Terminal, Asking::Nobody][..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 40_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A project that is not trusted never lets anything pass that did not pass without it, and unless it changed the
    /// mode it does not even turn a refusal into a question.
    #[test]
    fn an_untrusted_project_never_widens(
        user in some_layer(Owner::User),
        project in some_layer(Owner::Project),
        flag in some_layer(Owner::Flag),
        scopes in some_scopes(),
        action in some_action(),
        asking in some_asking(),
    ) {
        let without = Rules::new(vec![user.clone(), flag.clone()], Standing::Untrusted);
        let with = Rules::new(vec![user, project, flag], Standing::Untrusted);
        let (before, after) = (decide(&without, &scopes, asking, &action), decide(&with, &scopes, asking, &action));
        prop_assert!(before.is_allowed() || !after.is_allowed(), "{before}\n{after}");
        prop_assert!(with.mode().narrows(without.mode()));
        if with.mode() == without.mode() {
            prop_assert!(after.ruling <= before.ruling, "{before}\n{after}");
        }
    }

    /// Whatever else is said, a deny rule that is about an action refuses it.
    #[test]
    fn deny_always_wins(
        rule in prop::sample::select(RULES),
        more in some_layer(Owner::User),
        flag in some_layer(Owner::Flag),
        scopes in some_scopes(),
        action in some_action(),
    ) {
        let alone = Rules::new(vec![layer(Owner::User, "mode yolo").list(List::Deny, [rule])], Standing::Trusted);
        prop_assume!(matches!(decide(&alone, &[], Asking::Terminal, &action).by, Reason::Denied(_)));
        let all = Rules::new(vec![more, flag.list(List::Deny, [rule])], Standing::TrustedWithYolo);
        let decision = decide(&all, &scopes, Asking::Terminal, &action);
        prop_assert_eq!(decision.ruling, Ruling::Refuse, "{}", decision);
    }

    /// Nobody to ask only ever turns a question into a refusal, and nothing runs in `plan`.
    #[test]
    fn nobody_to_ask_never_widens(
        user in some_layer(Owner::User),
        scopes in some_scopes(),
        action in some_action(),
    ) {
        let rules = Rules::new(vec![user], Standing::Untrusted);
        let (asked, alone) =
            (decide(&rules, &scopes, Asking::Terminal, &action), decide(&rules, &scopes, Asking::Nobody, &action));
        prop_assert_eq!(alone.is_allowed(), asked.is_allowed());
        prop_assert!(alone.ruling != Ruling::Ask);
        prop_assert!(!alone.to_string().is_empty());
    }

    /// An untrusted skill does nothing, whatever is allowed.
    #[test]
    fn an_untrusted_skill_does_nothing(
        user in some_layer(Owner::User),
        flag in some_layer(Owner::Flag),
        scopes in some_scopes(),
        act in prop::sample::select(&["activate", "read a.md", "script a.py", "command ls", "inject ls", "hook ls"][..]),
    ) {
        let rules = Rules::new(vec![user, flag], Standing::TrustedWithYolo);
        let decision = decide(&rules, &scopes, Asking::Terminal, &action(&format!("pdf? {act}")));
        prop_assert_eq!(decision.ruling, Ruling::Refuse);
    }

    /// A rule is read as it is written.
    #[test]
    fn rules_are_read_as_they_are_written(text in rule_like()) {
        if let Ok(rule) = text.parse::<Rule>() {
            let written = rule.to_string();
            prop_assert_eq!(written.parse::<Rule>(), Ok(rule), "{} became {}", text, written);
        }
    }

    /// No text makes anything panic, and an error always says something.
    #[test]
    fn any_text_is_a_rule_or_an_error(text in ".{0,40}") {
        if let Err(error) = text.parse::<Rule>() {
            prop_assert!(error.to_string().len() > 10);
            prop_assert!(error.column <= text.chars().count() + 1);
        }
        let rules = Rules::new(vec![Layer::new(Source::new(Owner::User, "x")).list(List::Deny, [&text])], Standing::Untrusted);
        for act in ACTIONS {
            let decision = decide(&rules, &[], Asking::Nobody, &action(act));
            prop_assert!(!decision.to_string().is_empty());
        }
    }

    /// Neither does any file.
    #[test]
    fn any_text_is_a_layer(text in "[\\[\\]{}\",:a-z0-9 ]{0,60}") {
        let source = Source::new(Owner::Project, "x");
        let wrapped = format!(r#"{{"permissions": {text}}}"#);
        for text in [&text, &wrapped] {
            let agents = from_agents_json(text, source.clone());
            let claude = from_claude_settings(text, source.clone());
            // What is not JSON is never taken for a file without rules.
            if serde_json::from_str::<serde_json::Value>(text).is_err() {
                prop_assert!(!agents.problems().is_empty() && !claude.problems().is_empty());
            }
        }
    }

    /// What is offered for any line and path does what it promises.
    #[test]
    fn offered_rules_allow_what_they_are_offered_for(line in "[a-z*?'\" |&;:./=-]{1,30}", path in "[a-z*?\\[\\]{}()./ -]{1,20}") {
        for act in [
            Action::command(metier_policy::Actor::Agent, &line),
            Action::write(metier_policy::Actor::Agent, metier_skill::Tool::Write, Place::new(&path)),
            Action::read(crate::gate_acts::skill("pdf"), &path),
        ] {
            let offered = act.rules();
            let texts: Vec<String> = offered.iter().map(ToString::to_string).collect();
            let rules = Rules::new(vec![layer(Owner::User, "mode allow").list(List::Allow, &texts)], Standing::Untrusted);
            let decision = decide(&rules, &[], Asking::Nobody, &act);
            prop_assert_eq!(decision.is_allowed(), !offered.is_empty(), "{:?}: {}", texts, decision);
        }
    }
}

/// Texts that look like rules, with what stands between the words at random.
fn rule_like() -> impl Strategy<Value = String> {
    let heads = [
        "skill:",
        "skill:a:",
        "command:",
        "mcp:",
        "mcp__",
        "tool:",
        "Bash(",
        "Read(",
        "Write(",
        "WebFetch(domain:",
        "Skill(",
        "write:",
        "host:",
        "secret:",
        "",
    ];
    let parts = [
        "/read:",
        "/script:",
        "/command:",
        "/inject",
        "/hook",
        "/write:",
        "/host:",
        "/secret:",
        "/",
        ":",
        ")",
        " *)",
        ":*)",
        "__",
        "",
    ];
    let texts = "[a-zA-Z0-9*?_.:/'\\[\\]{}() -]{0,12}";
    (prop::sample::select(heads.to_vec()), texts, prop::sample::select(parts.to_vec()), texts)
        .prop_map(|(head, a, part, b)| format!("{head}{a}{part}{b}"))
}
