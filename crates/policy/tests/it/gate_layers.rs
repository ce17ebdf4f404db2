//! Whose rules count, and files of other clients.

use crate::gate_acts::{action, decide, layer, shown};
use metier_policy::{
    Asking, Layer, Mode, Owner, Rules, Source, Standing, from_agents_json, from_claude_settings,
};

fn project() -> Source {
    Source::new(Owner::Project, ".agents/config.json")
}

fn said(rules: &Rules, act: &str) -> String {
    shown(&decide(rules, &[], Asking::Terminal, &action(act)))
}

#[test]
fn a_project_narrows_at_once_and_widens_when_it_is_trusted() {
    let layers = || {
        vec![
            layer(Owner::Project, "allow mcp:a/* ; deny skill:pdf; ask skill:csv"),
            layer(Owner::User, "allow skill:*"),
        ]
    };
    for (standing, expect) in
        [(Standing::Untrusted, "ask by mode ask"), (Standing::Trusted, "allow by allow mcp:a/*")]
    {
        let rules = Rules::new(layers(), standing);
        assert_eq!(said(&rules, "agent mcp a/b"), expect);
        assert_eq!(said(&rules, "pdf activate"), "refuse by deny skill:pdf");
        assert_eq!(said(&rules, "csv activate"), "ask by ask skill:csv");
    }
    let problems = Rules::new(layers(), Standing::Untrusted).problems()[0].to_string();
    assert_eq!(
        problems,
        "`config.toml`, allow: 1 rule not taken, since the project is not trusted; `metier trust` changes that"
    );
}

/// The user's mode, the project's, the flag's, the standing, what holds.
#[test]
fn modes_are_heard_in_order_and_a_project_widens_only_with_a_yes() {
    use Standing::{Trusted, TrustedWithYolo, Untrusted};
    for (user, project, flag, standing, expect) in [
        ("", "", "", Untrusted, Mode::Ask),
        ("strict", "", "", Untrusted, Mode::Strict),
        ("strict", "", "yolo", Untrusted, Mode::Yolo),
        ("", "plan", "", Untrusted, Mode::Plan),
        ("", "strict", "", Untrusted, Mode::Strict),
        ("strict", "ask", "", Untrusted, Mode::Strict),
        ("strict", "ask", "", Trusted, Mode::Ask),
        ("strict", "allow", "", Untrusted, Mode::Strict),
        ("allow", "plan", "", Untrusted, Mode::Allow),
        ("", "yolo", "", Untrusted, Mode::Ask),
        ("", "yolo", "", Trusted, Mode::Ask),
        ("", "yolo", "", TrustedWithYolo, Mode::Yolo),
        ("yolo", "ask", "", Untrusted, Mode::Ask),
        ("", "yolo", "plan", TrustedWithYolo, Mode::Plan),
    ] {
        let one = |owner, mode: &str| {
            let layer = layer(owner, "");
            if mode.is_empty() { layer } else { layer.mode(mode) }
        };
        let layers = vec![one(Owner::Flag, flag), one(Owner::Project, project), one(Owner::User, user)];
        let rules = Rules::new(layers, standing);
        assert_eq!(rules.mode(), expect, "{user} {project} {flag} {standing:?}");
        let is_refused =
            rules.problems().iter().any(|problem| problem.message.starts_with("`yolo` is not taken"));
        assert_eq!(is_refused, project == "yolo" && standing != TrustedWithYolo);
    }
}

#[test]
fn a_mode_that_is_none_counts_as_strict() {
    let rules = Rules::new(vec![layer(Owner::User, "mode stirct")], Standing::Untrusted);
    assert_eq!(rules.mode(), Mode::Strict);
    assert!(rules.problems()[0].message.contains("`stirct` is no mode; write `ask`, `strict`"));
}

#[test]
fn the_rules_of_core_agent_are_taken_as_they_are() {
    let text = r#"{"permissions": {"allow": ["skill:jira-triage", "bash:git *"], "deny": ["skill:secret"], "mode": "allow"}, "other": 1}"#;
    let rules = Rules::new(vec![from_agents_json(text, project())], Standing::Trusted);
    assert_eq!(rules.problems(), []);
    assert_eq!(said(&rules, "jira-triage activate"), "allow by allow skill:jira-triage");
    assert_eq!(said(&rules, "jira-triage read references/a.md"), "allow by allow skill:jira-triage");
    assert_eq!(said(&rules, "secret activate"), "refuse by deny skill:secret");
    assert_eq!(said(&rules, "agent command git log"), "allow by allow bash:git *");
    assert_eq!(said(&rules, "other activate"), "refuse by mode allow");
    let asking = Rules::new(
        vec![from_agents_json(&text.replace("\"allow\"}", "\"ask\"}"), project())],
        Standing::Trusted,
    );
    assert_eq!(said(&asking, "jira-triage read references/a.md"), "allow by allow skill:jira-triage");
    let yolo = Rules::new(
        vec![from_agents_json(r#"{"permissions":{"mode":"yolo"}}"#, project())],
        Standing::Trusted,
    );
    assert_eq!(yolo.mode(), Mode::Ask);
    assert_eq!(yolo.problems()[0].message, "`yolo` is not taken from a project without a yes");
}

#[test]
fn the_rules_of_claude_code_are_taken_as_they_are() {
    let text = r#"{"permissions": {
        "allow": ["Skill(deploy)", "Bash(npm run test:*)", "Edit(/docs/**)", "mcp__github__list", "TodoWrite"],
        "ask": ["Bash(git push:*)"],
        "deny": ["Skill(secret *)", "Read(.env)", "Read(//etc/**)", "WebFetch(domain:evil.com)"],
        "defaultMode": "plan"}, "model": "x"}"#;
    let layer = from_claude_settings(text, Source::new(Owner::User, ".claude/settings.json"));
    assert_eq!(layer.problems().len(), 1);
    assert_eq!(
        layer.problems()[0].to_string(),
        "`.claude/settings.json`, permissions.allow[4]: metier has no tool `TodoWrite`, so the rule never matches"
    );
    let rules = Rules::new(vec![layer.clone()], Standing::Untrusted);
    assert_eq!(rules.mode(), Mode::Plan);
    let rules = Rules::new(vec![layer.mode("ask")], Standing::Untrusted);
    for (act, expect) in [
        ("deploy activate", "allow by allow Skill(deploy)"),
        ("secret activate", "refuse by deny Skill(secret *)"),
        ("agent command npm run test unit", "allow by allow Bash(npm run test:*)"),
        ("agent Edit docs/a.md", "allow by allow Edit(docs/**)"),
        ("agent mcp github/list", "allow by allow mcp__github__list"),
        ("agent command git push", "ask by ask Bash(git push:*)"),
        ("agent tool Read sub/.env", "refuse by deny Read(.env)"),
        ("agent tool Read /etc/passwd", "refuse by deny Read(//etc/**)"),
        ("pdf more host:evil.com", "refuse by deny WebFetch(domain:evil.com)"),
    ] {
        assert_eq!(said(&rules, act), expect, "{act}");
    }
}

#[test]
fn modes_of_other_clients_let_no_more_pass() {
    for (mode, expect) in [
        ("default", Mode::Ask),
        ("acceptEdits", Mode::Ask),
        ("plan", Mode::Plan),
        ("dontAsk", Mode::Allow),
        ("bypassPermissions", Mode::Yolo),
        ("whatever", Mode::Strict),
    ] {
        let text = format!(r#"{{"permissions": {{"defaultMode": "{mode}"}}}}"#);
        let layer = from_claude_settings(&text, Source::new(Owner::User, "settings.json"));
        assert_eq!(Rules::new(vec![layer], Standing::Untrusted).mode(), expect, "{mode}");
    }
}

/// The file, the action, the decision, and what is said about the file.
#[test]
fn what_cannot_be_read_is_reported_and_never_lets_pass_what_it_may_deny() {
    for (text, act, expect, problem) in [
        ("not json", "agent tool Read a", "ask by doubt file", "file: this is not JSON"),
        ("[]", "pdf activate", "ask by doubt file", "file: this is not a JSON object"),
        (r#"{"permissions": 1}"#, "pdf activate", "ask by doubt permissions", "`permissions` is a number"),
        (
            r#"{"permissions": {"deny": [1]}}"#,
            "pdf activate",
            "ask by doubt permissions.deny[0]",
            "the entry is a number",
        ),
        (
            r#"{"permissions": {"deny": {}}}"#,
            "pdf activate",
            "ask by doubt permissions.deny[0]",
            "the entry is an object",
        ),
        (
            r#"{"permissions": {"deny": ["skill:pdf/x"]}}"#,
            "pdf activate",
            "ask by doubt skill:pdf/x",
            "`x` is no part",
        ),
        (
            r#"{"permissions": {"deny": ["skill:pdf/x"]}}"#,
            "csv activate",
            "allow by mode ask",
            "`x` is no part",
        ),
        (r#"{"permissions": {"ask": [null]}}"#, "pdf activate", "ask by ask ", "the rule is empty"),
        (
            r#"{"permissions": {"allow": ["mcp:", 5]}}"#,
            "agent mcp a/b",
            "ask by mode ask",
            "it allows nothing",
        ),
        (
            r#"{"permissions": {"denny": ["skill:pdf"]}}"#,
            "pdf activate",
            "allow by mode ask",
            "metier knows no `denny` here",
        ),
        (r#"{"permissions": {"mode": 1}}"#, "pdf script a.py", "ask by mode strict", "should be a text"),
        (r#"{"permissions": {"deny": "skill:pdf"}}"#, "pdf activate", "refuse by deny skill:pdf", ""),
        // A key that is there twice counts twice.
        (
            r#"{"permissions": {"deny": ["skill:pdf"], "deny": []}}"#,
            "pdf activate",
            "refuse by deny skill:pdf",
            "",
        ),
        (
            r#"{"permissions": {"deny": ["skill:pdf"]}, "permissions": {}}"#,
            "pdf activate",
            "refuse by deny skill:pdf",
            "",
        ),
        ("\u{feff}{}", "pdf activate", "allow by mode ask", ""),
        (r#"{"permissions": null}"#, "pdf activate", "allow by mode ask", ""),
    ] {
        for standing in [Standing::Untrusted, Standing::Trusted] {
            let rules = Rules::new(vec![from_agents_json(text, project())], standing);
            assert_eq!(said(&rules, act), expect, "{text}");
            let problems: Vec<_> = rules.problems().iter().map(ToString::to_string).collect();
            if problem.is_empty() {
                assert_eq!(problems, Vec::<String>::new(), "{text}");
            } else {
                assert!(problems.join("\n").contains(problem), "{text}: {problems:?}");
            }
        }
    }
}

#[test]
fn a_file_that_was_read_in_part_makes_everything_ask() {
    let layer = Layer::new(Source::new(Owner::User, "config.toml")).incomplete("line 3 is not TOML");
    let rules = Rules::new(vec![layer], Standing::Untrusted);
    assert_eq!(said(&rules, "agent command ls"), "ask by doubt file");
    assert!(rules.problems()[0].message.contains("line 3 is not TOML"));
}
