//! Which word counts before which: a table of rules, action and decision.

use crate::gate_acts::{action, decide, rules, shown};
use metier_policy::{Asking, Ruling};

/// Rules, action, decision at a terminal.
const TABLE: &[(&str, &str, &str)] = &[
    // The default: what is inside the containment passes.
    ("", "pdf activate", "allow by mode ask"),
    ("", "pdf read references/a.md", "allow by mode ask"),
    ("", "pdf script a.py", "allow by mode ask"),
    ("", "pdf command git status", "allow by mode ask"),
    ("", "pdf inject git status", "allow by mode ask"),
    ("", "pdf hook date", "allow by mode ask"),
    ("", "agent command echo $(date)", "allow by mode ask"),
    ("", "agent tool Read src/a.rs", "allow by mode ask"),
    ("", "agent tool ask_user", "allow by mode ask"),
    // Anything wider asks.
    ("", "pdf script a.py + host:api.example.com", "ask by mode ask"),
    ("", "pdf script a.py + secret:TOKEN", "ask by mode ask"),
    ("", "pdf script a.py + write:docs/a.md", "ask by mode ask"),
    ("", "pdf more host:api.example.com", "ask by mode ask"),
    ("", "agent Write docs/a.md", "ask by mode ask"),
    ("", "agent fetch example.com", "ask by mode ask"),
    ("", "agent mcp github/create_issue", "ask by mode ask"),
    ("", "agent tool Write docs/a.md", "ask by mode ask"),
    ("", "agent tool Bash", "ask by mode ask"),
    ("", "agent tool WebSearch", "ask by mode ask"),
    // Deny beats everything.
    ("deny skill:secret; allow skill:*", "secret activate", "refuse by deny skill:secret"),
    ("deny skill:secret; allow skill:*", "pdf activate", "allow by allow skill:*"),
    ("deny skill:secret; mode yolo", "secret read a.md", "refuse by deny skill:secret"),
    ("deny skill:pdf", "pdf more secret:TOKEN", "refuse by deny skill:pdf"),
    ("deny skill:pdf", "pdf mcp a/b", "refuse by deny skill:pdf"),
    ("deny skill:pdf", "pdf? activate", "refuse by deny skill:pdf"),
    ("deny *; allow *; mode yolo", "agent tool Read a", "refuse by deny *"),
    ("deny command:rm:*; allow command:*", "agent command ls && rm x", "refuse by deny command:rm:*"),
    ("deny command:rm:*; mode yolo", "pdf inject rm x", "refuse by deny command:rm:*"),
    ("deny command:rm:*", "pdf hook sh -c 'rm x'", "refuse by deny command:rm:*"),
    ("deny command:python3:*", "pdf script a.py", "refuse by deny command:python3:*"),
    // An untrusted skill is refused before anything else but deny.
    ("allow skill:*; mode yolo", "pdf? activate", "refuse by untrusted"),
    ("mode plan", "pdf? read a.md", "refuse by untrusted"),
    ("allow skill:*", "pdf! script a.py", "refuse by changed"),
    ("allow skill:*", "pdf! inject ls", "refuse by changed"),
    ("allow skill:*", "pdf! activate", "allow by allow skill:*"),
    // Plan: nothing runs, reads do.
    ("mode plan; allow *", "pdf script a.py", "refuse by mode plan"),
    ("mode plan; allow *", "agent Write a", "refuse by mode plan"),
    ("mode plan; allow mcp:*/*", "agent mcp a/b", "refuse by mode plan"),
    ("mode plan", "pdf activate", "allow by mode plan"),
    ("mode plan", "pdf read a.md", "allow by mode plan"),
    ("mode plan", "agent tool Grep src", "allow by mode plan"),
    ("mode plan; ask skill:pdf", "pdf activate", "ask by ask skill:pdf"),
    // Strict: every run asks, also what a rule allows; reads do not.
    ("mode strict; allow skill:*", "pdf script a.py", "ask by mode strict"),
    ("mode strict; allow command:*", "agent command ls", "ask by mode strict"),
    ("mode strict", "pdf read a.md", "allow by mode strict"),
    ("mode strict; deny skill:pdf", "pdf script a.py", "refuse by deny skill:pdf"),
    // Ask rules go before allow, and are passed over in yolo.
    ("ask skill:pdf; allow skill:pdf", "pdf script a.py", "ask by ask skill:pdf"),
    ("ask skill:pdf; mode yolo", "pdf script a.py", "allow by mode yolo"),
    (
        "ask command:git push:*; allow command:git:*",
        "agent command git push",
        "ask by ask command:git push:*",
    ),
    ("ask command:git push:*; allow command:git:*", "agent command git log", "allow by allow command:git:*"),
    ("ask command:git push:*", "agent command echo $(git push)", "ask by ask command:git push:*"),
    ("ask skill:pdf", "pdf more host:x.org", "ask by ask skill:pdf"),
    // Allow: rules only, and nothing asks.
    ("mode allow", "pdf activate", "refuse by mode allow"),
    ("mode allow; allow skill:pdf", "pdf activate", "allow by allow skill:pdf"),
    ("mode allow; allow skill:pdf", "pdf read references/a.md", "allow by allow skill:pdf"),
    ("mode allow; allow skill:pdf", "pdf script a.py", "allow by allow skill:pdf"),
    ("mode allow; allow skill:pdf", "pdf inject ls", "allow by allow skill:pdf"),
    ("mode allow; allow skill:pdf", "pdf command x | y", "allow by allow skill:pdf"),
    ("mode allow; allow skill:pdf", "pdf hook ls", "refuse by mode allow"),
    ("mode allow; allow skill:pdf/hook", "pdf hook ls", "allow by allow skill:pdf/hook"),
    ("mode allow; allow skill:pdf", "pdf script a.py + host:x.org", "refuse by mode allow"),
    (
        "mode allow; allow skill:pdf | skill:pdf/host:x.org",
        "pdf script a.py + host:x.org",
        "allow by allow skill:pdf",
    ),
    ("mode allow; allow command:git:*", "agent command git log", "allow by allow command:git:*"),
    ("mode allow; allow command:git:*", "agent command git log; ls", "refuse by mode allow"),
    (
        "mode allow; allow command:git:* | command:ls",
        "agent command git log; ls",
        "allow by allow command:git:*",
    ),
    ("mode allow; allow command:git:*", "agent command git $(id)", "refuse by mode allow"),
    ("mode allow; allow command:*", "agent command git log; ls", "allow by allow command:*"),
    // What cannot be read is never allowed by a pattern; `Bash` is none.
    ("mode allow; allow command:*", "agent command git $(id)", "refuse by mode allow"),
    ("mode allow; allow Bash(*)", "agent command git $(id)", "refuse by mode allow"),
    ("mode allow; allow Bash(:*)", "agent command git > f", "refuse by mode allow"),
    ("mode allow; allow skill:pdf/command:*", "pdf command git $(id)", "refuse by mode allow"),
    ("mode allow; allow Bash", "agent command git $(id)", "allow by allow Bash"),
    ("mode allow; allow Bash", "pdf command git $(id)", "allow by allow Bash"),
    ("mode allow; allow skill:pdf", "pdf command git $(id)", "allow by allow skill:pdf"),
    ("mode allow; allow Bash", "pdf script a.py", "refuse by mode allow"),
    ("deny Bash", "pdf script a.py", "refuse by deny Bash"),
    ("deny Bash", "agent command git $(id)", "refuse by deny Bash"),
    ("deny command:*", "agent command git $(id)", "refuse by deny command:*"),
    ("ask Bash", "agent command ls", "ask by ask Bash"),
    ("mode allow; allow command:ls", "pdf inject ls", "refuse by mode allow"),
    ("mode allow", "agent tool ask_user", "allow by mode allow"),
    ("mode allow; ask Read; allow Read", "agent tool Read a", "ask by ask Read"),
    ("mode allow; ask Read", "agent tool Read a", "ask by ask Read"),
    ("mode allow; deny nonsense", "agent tool Read a", "refuse by doubt nonsense"),
    ("mode allow; deny nonsense; allow Read", "agent tool Read a", "ask by doubt nonsense"),
    // Yolo: nothing asks.
    ("mode yolo", "pdf script a.py + host:x.org", "allow by mode yolo"),
    ("mode yolo", "agent mcp a/b", "allow by mode yolo"),
    ("mode yolo", "agent Write docs/a.md", "allow by mode yolo"),
    // A place that acts later takes a yes to this very question, or a rule that names it.
    ("mode yolo", "agent Write .mcp.json", "refuse by mode yolo"),
    ("allow Write(**)", "agent Write .git/hooks/pre-commit", "ask by mode ask"),
    ("allow Write", "agent Write docs/a.md", "allow by allow Write"),
    ("allow Write", "agent Write /etc/hosts", "ask by mode ask"),
    ("allow Write", "agent Write .mcp.json", "ask by mode ask"),
    ("allow Write(.mcp.json)", "agent Write .mcp.json", "allow by allow Write(.mcp.json)"),
    // A deny rule that cannot be read, or not be held against a line, never lets pass what it may mean.
    ("deny skill:pdf/scrpt:x", "pdf read a", "ask by doubt skill:pdf/scrpt:x"),
    ("deny skill:pdf/scrpt:x", "csv read a", "allow by mode ask"),
    ("deny skill:pdf/scrpt:x; mode yolo", "pdf read a", "refuse by doubt skill:pdf/scrpt:x"),
    ("deny Bash(rm $x)", "agent command ls", "ask by doubt Bash(rm $x)"),
    ("deny Bash(rm $x)", "agent tool Read a", "allow by mode ask"),
    ("deny nonsense", "agent tool Read a", "ask by doubt nonsense"),
    ("deny nonsense", "agent tool ask_user", "allow by mode ask"),
    ("deny command:rm:*", "agent command echo $(rm x)", "ask by doubt command:rm:*"),
    ("deny command:rm:*; mode yolo", "agent command echo $(rm x)", "refuse by doubt command:rm:*"),
    ("deny command:rm:*", "agent command ls", "allow by mode ask"),
];

#[test]
fn the_order_holds() {
    for (given, act, expect) in TABLE {
        let decision = decide(&rules(given), &[], Asking::Terminal, &action(act));
        assert_eq!(shown(&decision), *expect, "{given:?} and {act:?}: {decision}");
    }
}

#[test]
fn without_anybody_to_ask_a_question_is_a_refusal_with_the_same_reason() {
    for (given, act, _) in TABLE {
        let (rules, action) = (rules(given), action(act));
        let at_terminal = decide(&rules, &[], Asking::Terminal, &action);
        let alone = decide(&rules, &[], Asking::Nobody, &action);
        let expect = if at_terminal.ruling == Ruling::Ask { Ruling::Refuse } else { at_terminal.ruling };
        assert_eq!((alone.ruling, &alone.by), (expect, &at_terminal.by), "{given:?} {act:?}");
    }
}

/// The rules that a decision offers do what they promise.
#[test]
fn the_rules_that_are_offered_allow_the_action() {
    for (act, expect) in [
        ("pdf script a.py + host:api.example.com", "skill:user:pdf/host:api.example.com:443"),
        (
            "pdf script a.py + write:docs/a.md + secret:TOKEN",
            "skill:user:pdf/write:docs/a.md, skill:user:pdf/secret:TOKEN",
        ),
        ("pdf more below:docs/**", "skill:user:pdf/write:docs/**"),
        ("agent more host:x.org", "host:x.org:443"),
        ("agent Write docs/a.md", "Write(docs/a.md)"),
        ("agent Edit .mcp.json", "Edit(.mcp.json)"),
        ("agent fetch example.com", "WebFetch(domain:example.com:443)"),
        ("agent mcp github/create_issue", "mcp:github/create_issue"),
        ("project.claude:pdf more host:127.0.0.1", "skill:project.claude:pdf/host:127.0.0.1:443"),
    ] {
        let action = action(act);
        let decision = decide(&rules(""), &[], Asking::Nobody, &action);
        let offered: Vec<_> = decision.allow_with.iter().map(ToString::to_string).collect();
        assert_eq!(offered.join(", "), expect, "{act}");
        let allowed = rules(&format!("allow {}", offered.join(" | ")));
        assert!(decide(&allowed, &[], Asking::Nobody, &action).is_allowed(), "{act}");
    }
    for (act, expect) in [
        ("pdf activate", "skill:user:pdf"),
        ("pdf read references/a b.md", "skill:user:pdf/read:references/a b.md"),
        ("pdf script a.py --fast", "skill:user:pdf/script:a.py"),
        ("pdf inject ls", "skill:user:pdf/inject"),
        ("pdf hook ls", "skill:user:pdf/hook"),
        ("agent command git commit -m 'a b' && ls docs", "command:git commit -m 'a b', command:ls docs"),
        ("agent command ls docs/*.md", ""),
        ("pdf command git status", "skill:user:pdf/command:git status"),
        ("agent tool Read src/a[1].rs", "Read(src/a[[]1[]].rs)"),
        ("agent command echo $(id)", ""),
    ] {
        let action = action(act);
        let offered: Vec<_> = action.rules().iter().map(ToString::to_string).collect();
        assert_eq!(offered.join(", "), expect, "{act}");
        if !offered.is_empty() {
            let allowed = rules(&format!("mode allow; allow {}", offered.join(" | ")));
            let decision = decide(&allowed, &[], Asking::Nobody, &action);
            assert!(decision.is_allowed(), "{act}: {decision}");
        }
    }
}

#[test]
fn a_refusal_says_what_happened_and_what_to_do() {
    let said = |given: &str, act: &str, asking| decide(&rules(given), &[], asking, &action(act)).to_string();
    assert_eq!(
        said("", "pdf script a.py + host:x.org", Asking::Nobody),
        "refused: it needs a yes and nobody can be asked; in the mode `ask` it takes a yes to reach `x.org:443`; \
         to allow it, add `skill:user:pdf/host:x.org:443` to `allow`"
    );
    assert_eq!(
        said("deny skill:pdf", "pdf activate", Asking::Terminal),
        "refused: the deny rule `skill:pdf` in `config.toml` says so"
    );
    assert_eq!(
        said("", "pdf? activate", Asking::Terminal),
        "refused: the skill `user:pdf` is not trusted; look at it and then run `metier trust`"
    );
    assert_eq!(
        said("mode allow; allow skill:pdf", "pdf activate", Asking::Nobody),
        "allowed: the rule `skill:pdf` in `config.toml` allows it"
    );
}

/// A deny on a skill holds however long the rest of the action is, and all of it is shown.
#[test]
fn neither_what_is_shown_nor_what_is_matched_is_cut() {
    let long = format!("secret read {}/x.md", "a".repeat(300));
    let decision = decide(&rules("deny skill:secret; allow skill:*"), &[], Asking::Terminal, &action(&long));
    assert_eq!(shown(&decision), "refuse by deny skill:secret");
    let sentence = action(&long).sentence();
    assert!(sentence.ends_with("aaa/x.md`"), "{sentence}");
    let path = "deny skill:pdf/read:**/x.md; allow skill:*";
    let deep = format!("pdf read {}/x.md", "a".repeat(300));
    assert_eq!(
        shown(&decide(&rules(path), &[], Asking::Terminal, &action(&deep))),
        "refuse by deny skill:pdf/read:**/x.md"
    );
}

#[test]
fn a_sentence_names_who_and_what_before_the_words_a_stranger_chose() {
    for (act, expect) in [
        ("pdf activate", "the skill `pdf` (user) is activated"),
        ("pdf script a.py --x", "the skill `pdf` (user) runs its script: `scripts/a.py --x`"),
        (
            "pdf script a.py + host:x.org + write:docs/a",
            "the skill `pdf` (user) runs its script (and wants to reach `x.org:443`, write `docs/a`): `scripts/a.py`",
        ),
        ("agent command ls -l", "the agent runs a command: `ls -l`"),
        ("agent command a\u{1b}[2Jb", "the agent runs a command: `a\\u{1b}[2Jb`"),
        ("agent Write docs/a", "the agent calls `Write` (and wants to write `docs/a`)"),
        ("agent mcp a/b", "the agent calls the MCP tool `a/b`"),
        ("pdf more secret:T", "the skill `pdf` (user) wants to see the secret `T`"),
    ] {
        assert_eq!(action(act).sentence(), expect, "{act}");
    }
}
