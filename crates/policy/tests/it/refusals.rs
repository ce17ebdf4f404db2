//! The rules that a refusal prints are taken as they are printed and allow exactly what was refused.

use crate::gate_acts::{action, skill};
use metier_policy::{
    Action, Actor, Answers, Asking, Decision, Gate, Layer, List, Need, Owner, Place, Rules, Source, Standing,
};
use metier_skill::Tool;

/// Decides with these rules in `allow`, where nobody can be asked.
fn decide(owner: Owner, mode: &str, allow: &[String], action: &Action) -> Decision {
    let layer = Layer::new(Source::new(owner, "x")).list(List::Allow, allow).mode(mode);
    assert_eq!(layer.problems(), [], "{allow:?}");
    let rules = Rules::new(vec![layer], Standing::Untrusted);
    Gate { rules: &rules, answers: &Answers::default(), scopes: &[], asking: Asking::Nobody }.decide(action)
}

/// The rules that a refusal prints.
fn printed(mode: &str, action: &Action) -> Vec<String> {
    let refused = decide(Owner::User, mode, &[], action);
    assert!(!refused.is_allowed(), "{action:?}");
    let rules: Vec<String> = refused.allow_with.iter().map(ToString::to_string).collect();
    let text = refused.to_string();
    assert!(rules.iter().all(|rule| text.contains(&format!("`{rule}`"))), "{text}");
    rules
}

/// All of them together allow it, as a flag and in the configuration; one less does not; nothing beside it is allowed.
fn check(mode: &str, act: &Action, expect: &[&str], beside: &[Action]) {
    let rules = printed(mode, act);
    assert_eq!(rules, expect, "{act:?}");
    for owner in [Owner::User, Owner::Flag] {
        assert!(decide(owner, mode, &rules, act).is_allowed(), "{owner:?} {rules:?}");
        for other in beside {
            assert!(!decide(owner, mode, &rules, other).is_allowed(), "{owner:?} {rules:?} allow {other:?}");
        }
    }
    for at in 0..rules.len() {
        let fewer: Vec<String> =
            rules.iter().enumerate().filter(|(own, _)| *own != at).map(|(_, rule)| rule.clone()).collect();
        assert!(!decide(Owner::User, mode, &fewer, act).is_allowed(), "{} is not needed", rules[at]);
    }
}

#[test]
fn every_kind_of_refusal_prints_the_rules_that_allow_it() {
    for (mode, act, expect, beside) in [
        (
            "allow",
            "pdf activate",
            &["skill:user:pdf"][..],
            &["csv activate", "project:pdf activate", "pdf hook ls"][..],
        ),
        ("allow", "project.claude:pdf activate", &["skill:project.claude:pdf"], &["pdf activate"]),
        (
            "allow",
            "pdf read docs/a b.md",
            &["skill:user:pdf/read:docs/a b.md"],
            &["pdf read docs/c", "csv read docs/a b.md"],
        ),
        (
            "allow",
            "pdf script a.py x",
            &["skill:user:pdf/script:a.py"],
            &["pdf script b.py", "pdf command ls"],
        ),
        (
            "allow",
            "pdf command git log",
            &["skill:user:pdf/command:git log"],
            &["pdf command git push", "agent command git log"],
        ),
        (
            "allow",
            "agent command git log && rm 'a b'",
            &["command:git log", "command:rm 'a b'"],
            &["agent command git log && rm a b"],
        ),
        (
            "allow",
            "pdf inject git log",
            &["skill:user:pdf/inject"],
            &["csv inject git log", "pdf hook git log"],
        ),
        ("allow", "pdf hook git log", &["skill:user:pdf/hook"], &["pdf inject git log"]),
        ("allow", "agent tool Read docs/a", &["Read(docs/a)"], &["agent tool Read docs/b"]),
        (
            "ask",
            "pdf more host:x.org",
            &["skill:user:pdf/host:x.org:443"],
            &["pdf more host:y.org", "agent more host:x.org"],
        ),
        ("ask", "pdf more host:10.0.0.1", &["skill:user:pdf/host:10.0.0.1:443"], &["pdf more host:10.0.0.2"]),
        ("ask", "agent more host:x.org", &["host:x.org:443"], &["agent more host:z.org"]),
        (
            "ask",
            "pdf more secret:TOKEN",
            &["skill:user:pdf/secret:TOKEN"],
            &["pdf more secret:TOKEN_2", "csv more secret:TOKEN"],
        ),
        (
            "ask",
            "pdf more below:docs/**",
            &["skill:user:pdf/write:docs/**"],
            &["pdf more below:**", "pdf more write:x"],
        ),
        (
            "ask",
            "pdf more write:docs/a",
            &["skill:user:pdf/write:docs/a"],
            &["pdf more write:docs/b", "csv more write:docs/a"],
        ),
        (
            "ask",
            "pdf more write:.git/hooks/x",
            &["skill:user:pdf/write:.git/hooks/x"],
            &["pdf more write:.git/hooks/y"],
        ),
        (
            "yolo",
            "pdf more write:.git/hooks/x",
            &["skill:user:pdf/write:.git/hooks/x"],
            &["pdf more write:.git/hooks/y"],
        ),
        (
            "ask",
            "pdf script a.py + host:x.org + write:docs/a + write:docs/b + secret:T",
            &[
                "skill:user:pdf/host:x.org:443",
                "skill:user:pdf/write:docs/a",
                "skill:user:pdf/write:docs/b",
                "skill:user:pdf/secret:T",
            ],
            &["pdf script a.py + host:y.org"],
        ),
        (
            "ask",
            "agent mcp github/push",
            &["mcp:github/push"],
            &["agent mcp github/pull", "agent mcp gitlab/push"],
        ),
        ("allow", "agent mcp a__b/c__d", &["mcp:a__b/c__d"], &["agent mcp a/b__c__d"]),
        (
            "ask",
            "agent Write docs/a b (1).md",
            &["Write(docs/a b (1).md)"],
            &["agent Write docs/b", "agent Edit docs/a b (1).md"],
        ),
        ("ask", "agent Edit docs/a", &["Edit(docs/a)"], &["agent Edit docs/b"]),
        ("ask", "agent Write .mcp.json", &["Write(.mcp.json)"], &["agent Write .envrc"]),
        ("ask", "agent Write /etc/hosts", &["Write(/etc/hosts)"], &["agent Write /etc/passwd"]),
        ("ask", "agent fetch x.org", &["WebFetch(domain:x.org:443)"], &["agent fetch y.org"]),
    ] {
        let beside: Vec<Action> = beside.iter().map(|text| action(text)).collect();
        check(mode, &action(act), expect, &beside);
    }
}

#[test]
fn names_of_files_are_printed_so_that_they_are_read_back() {
    let names = [
        "a b",
        " a",
        "it's",
        "say \"hi\"",
        "a`b",
        "*",
        "**",
        "?",
        "[ab]",
        "{a,b}",
        "a,b",
        "!a",
        r"back\slash",
        r"\*",
        "(a",
        "a)",
        "a:b",
        "a#b",
        "~a",
        "-a",
        "$HOME",
        "ünï",
        "日本語",
        "a b/c d/e f",
    ];
    for name in names {
        for (act, head, tail) in [
            (
                Action::more(Actor::Skill(skill("pdf")), Need::Write(Place::new(name))),
                "skill:user:pdf/write:",
                "",
            ),
            (Action::more(Actor::Agent, Need::Write(Place::new(name))), "write:", ""),
            (Action::write(Actor::Agent, Tool::Write, Place::new(name)), "Write", ""),
        ] {
            let rules = printed("ask", &act);
            assert_eq!(rules.len(), 1, "{name:?}");
            assert!(rules[0].starts_with(head) && rules[0].ends_with(tail), "{name:?}: {rules:?}");
            for owner in [Owner::User, Owner::Flag] {
                assert!(decide(owner, "ask", &rules, &act).is_allowed(), "{name:?}: {rules:?}");
                for other in names.iter().filter(|other| **other != name) {
                    let mut beside = act.clone();
                    beside.deed = metier_policy::Deed::More(Need::Write(Place::new(other)));
                    beside.needs.clear();
                    assert!(!decide(owner, "ask", &rules, &beside).is_allowed(), "{rules:?} allow {other:?}");
                }
            }
        }
    }
    // What cannot be written as it is gets escapes, at protected places too.
    for (place, expect) in [
        (Place::from_bytes(b"docs/a\xffb"), r"skill:user:pdf/write:docs/a\xffb"),
        (Place::new("docs/a\nb"), r"skill:user:pdf/write:docs/a\u{a}b"),
        (Place::new("docs/a "), r"skill:user:pdf/write:docs/a\u{20}"),
        (Place::new("docs/◆x\u{200b}"), r"skill:user:pdf/write:docs/◆x\u{200b}"),
        (Place::from_bytes(b".git/hooks/\xff"), r"skill:user:pdf/write:.git/hooks/\xff"),
        (Place::new(".git/hooks/a\nb"), r"skill:user:pdf/write:.git/hooks/a\u{a}b"),
    ] {
        let act = Action::more(Actor::Skill(skill("pdf")), Need::Write(place));
        let beside = [
            b"docs/a\xfeb".as_slice(),
            "docs/a\u{fffd}b".as_bytes(),
            b"docs/axb",
            b"docs/a",
            b".git/hooks/\xfe",
        ];
        let beside =
            beside.map(|name| Action::more(Actor::Skill(skill("pdf")), Need::Write(Place::from_bytes(name))));
        check("ask", &act, &[expect], &beside);
    }
}

/// A server may call its tool `*`, and a skill may ask for a secret of that name.
#[test]
fn a_name_that_would_be_a_pattern_is_not_printed_as_a_rule() {
    for act in [
        Action::mcp(Actor::Agent, "github", "*"),
        Action::mcp(Actor::Agent, "*", "push"),
        Action::more(Actor::Skill(skill("pdf")), Need::Secret("T*".to_owned())),
        Action::activate(skill("*")),
        Action::activate(skill("us*r:pdf")),
    ] {
        assert_eq!(printed("allow", &act), Vec::<String>::new(), "{act:?}");
    }
}

/// Where a rule would not help, none is printed.
#[test]
fn no_rule_is_printed_that_would_do_nothing() {
    for (mode, act) in
        [("strict", "pdf script a.py"), ("plan", "pdf script a.py"), ("allow", "agent command echo $(id)")]
    {
        assert_eq!(printed(mode, &action(act)), Vec::<String>::new(), "{mode} {act}");
    }
    // A rule that ends before the glob would allow `rm -rf` anything. What a terminal shows as an escape cannot be copied.
    for act in [
        "command rm ./*.md",
        "command git log && rm ./*.md",
        "command echo 'a\nb'",
        "command echo 'a\u{202e}b'",
    ] {
        for who in ["agent", "pdf"] {
            let act = action(&format!("{who} {act}"));
            assert_eq!(printed("allow", &act), Vec::<String>::new(), "{act:?}");
            let refused = decide(Owner::User, "allow", &[], &act).to_string();
            assert!(refused.contains("no rule can name this line"), "{refused}");
        }
    }
    assert_eq!(printed("ask", &action("pdf? more host:x.org")), Vec::<String>::new());
}
