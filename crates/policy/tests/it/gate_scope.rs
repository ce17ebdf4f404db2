//! Fences and grants from one list.

use crate::gate_acts::{action, decide, rules, scope, scope_with, shown};
use metier_policy::{Asking, Dialect, Folders, McpTools, Meaning, Offered, Reason, Ruling, Scope, Terms};
use metier_skill::Tool;

/// The list of the active skill `pdf`, an action, whether it is inside the fence.
const FENCES: &[(&str, &str, bool)] = &[
    // The tool, not the spelling.
    ("Read", "agent tool Read a", true),
    ("read_file", "agent tool Read a", true),
    ("Read", "agent tool Grep a", false),
    ("Read", "agent Write a", false),
    ("Write(docs/**)", "agent Write docs/a", true),
    ("Write(docs/**)", "agent Write docs/../a", false),
    ("Read(src/**)", "agent tool Read src/a", true),
    ("Read(src/**)", "agent tool Read b", false),
    ("WebFetch", "agent fetch x.org", true),
    ("WebFetch(domain:x.org)", "agent fetch x.org", true),
    ("WebFetch(domain:x.org)", "agent fetch y.org", false),
    ("web_search", "agent tool Read a", false),
    // Several are OR; words are compared with words.
    ("Bash(node:*) Bash(npx:*)", "agent command node x", true),
    ("Bash(node:*) Bash(npx:*)", "agent command npx y", true),
    ("Bash(node:*) Bash(npx:*)", "agent command node x | npx y", true),
    ("Bash(node:*) Bash(npx:*)", "agent command git z", false),
    ("Bash(node:*) Bash(npx:*)", "agent command node x && git z", false),
    ("Bash(git:*)", "agent command git", true),
    ("Bash(git:*)", "agent command  git status", true),
    ("Bash(git:*)", "agent command gitk", false),
    ("Bash(git:*)", "agent command /usr/bin/git status", false),
    ("Bash(/usr/bin/git:*)", "agent command /usr/bin/git status", true),
    ("Bash(git:*)", "agent command git status > f", false),
    ("Bash(git:*)", "agent command git $(id)", false),
    ("Bash(git:*)", "agent command git status 2>&1", true),
    ("Bash", "agent command git $(id)", true),
    ("run_command_line", "agent command git $(id)", true),
    ("Bash(*)", "agent command git status | head", true),
    ("Bash(*)", "agent command git $(id)", false),
    ("Bash(:*)", "agent command A=1 git", false),
    ("Bash(*)", "pdf script a.py", true),
    ("bash", "agent command anything", true),
    ("BashOutput", "agent command ls", false),
    ("exec", "agent command ls", true),
    // A skill's own script.
    ("skill_run_script", "pdf script a.py", true),
    ("skill_run_script", "agent command ls", false),
    ("Bash", "pdf script a.py", true),
    ("Read", "pdf script a.py", false),
    ("Bash(python3 scripts/a.py:*)", "pdf script a.py --x", true),
    ("Bash(python scripts/a.py:*)", "pdf script a.py --x", true),
    ("Bash(python ./scripts/a.py:*)", "pdf script a.py", true),
    ("Bash(python:*)", "pdf script a.py", true),
    ("Bash(python3 /skills/pdf/scripts/a.py)", "pdf script a.py", true),
    ("Bash(python3 /skills/pdf/scripts/a.py)", "pdf script a.py --x", false),
    ("Bash(python ${SKILL_DIR}/scripts/a.py:*)", "pdf script a.py --x", true),
    ("Bash(python {baseDir}/scripts/a.py:*)", "pdf script a.py --x", true),
    ("Bash(python ${CLAUDE_SKILL_DIR}/scripts/b.py:*)", "pdf script a.py", false),
    ("Bash(sh scripts/b.sh)", "pdf script b.sh", true),
    ("Bash(bash scripts/b.sh)", "pdf script b.sh", true),
    ("Bash(./scripts/b.sh:*)", "pdf script b.sh x", true),
    ("Bash(scripts/b.sh)", "pdf script b.sh x", false),
    ("Bash(node:*)", "pdf script a.py", false),
    ("Bash(python ${UNKNOWN}/a.py)", "pdf script a.py", false),
    ("Bash(python x.py:*)", "pdf script a.py scripts/x.py", false),
    // MCP.
    ("mcp__github__create_issue", "agent mcp github/create_issue", true),
    ("mcp__github__*", "agent mcp github/anything", true),
    ("mcp__github__*", "agent mcp gitlab/anything", false),
    ("Read", "agent mcp github/x", false),
    // Never fenced.
    ("", "pdf read references/a.md", true),
    ("", "pdf activate", true),
    ("", "csv activate", true),
    ("", "agent tool skill_search", true),
    ("", "agent tool ask_user", true),
    ("", "agent tool skill_use", true),
    ("", "csv read a.md", false),
    ("skill_read_file", "csv read a.md", true),
    // An empty list names none; one that cannot be read is empty; `*` is no fence.
    ("", "agent tool Read a", false),
    ("Bash(git:*", "agent command git status", false),
    ("*", "agent Write a", true),
    ("* Read", "agent command ls", true),
    // What is unknown can never match.
    ("Nonsense", "agent tool Read a", false),
    ("Bash(echo $HOME)", "agent command echo $HOME", false),
];

#[test]
fn a_fence_lets_through_what_its_list_names() {
    for (list, act, expect) in FENCES {
        for meaning in [Meaning::Fence, Meaning::Both] {
            let fenced = [scope("pdf", list, meaning)];
            // In yolo nothing else stands in the way, so what is refused is refused by the fence.
            let decision = decide(&rules("mode yolo"), &fenced, Asking::Nobody, &action(act));
            let is_stopped = matches!(decision.by, Reason::Fence { .. });
            assert_eq!(!is_stopped, *expect, "{list:?} and {act:?}: {decision}");
            assert_eq!(is_stopped, decision.ruling == Ruling::Refuse, "{decision}");
        }
        for meaning in [Meaning::Grant, Meaning::Advisory] {
            let open = [scope("pdf", list, meaning)];
            let decision = decide(&rules("mode yolo"), &open, Asking::Nobody, &action(act));
            assert!(decision.is_allowed(), "{meaning:?} is no fence: {list:?} and {act:?}: {decision}");
        }
    }
}

#[test]
fn every_fence_must_be_satisfied_and_the_refusal_names_the_one_that_stops() {
    let both = [scope("pdf", "Read Grep", Meaning::Both), scope("csv", "Read Write", Meaning::Both)];
    let said = |act: &str| decide(&rules(""), &both, Asking::Nobody, &action(act));
    assert!(said("agent tool Read a").is_allowed());
    assert_eq!(shown(&said("agent tool Grep a")), "refuse by fence csv");
    assert_eq!(shown(&said("agent Write a")), "refuse by fence pdf");
    assert_eq!(
        said("agent Write a").to_string(),
        "refused: it needs a yes and nobody can be asked; the active skill `user:pdf` lets only `Read`, `Grep` be \
         called, not `Write` of `a`"
    );
    // After the scope ended the call is as before.
    assert_eq!(
        shown(&decide(&rules(""), &[], Asking::Terminal, &action("agent Write a"))),
        "ask by mode ask"
    );
}

#[test]
fn the_piece_of_a_line_that_stands_outside_is_named() {
    let fence = [scope("pdf", "Bash(git:*)", Meaning::Fence)];
    let said = |act: &str| decide(&rules(""), &fence, Asking::Nobody, &action(act)).to_string();
    assert!(
        said("agent command git log | wc -l").ends_with("not `wc -l`"),
        "{}",
        said("agent command git log | wc -l")
    );
    assert!(said("agent command git log > f").contains("not what cannot be read:"));
    assert!(said("pdf script a.py").ends_with("not the script `scripts/a.py`"));
    assert!(said("agent mcp a/b").ends_with("not `mcp:a/b`"));
}

#[test]
fn at_a_terminal_a_call_outside_asks_and_an_allow_rule_does_not_open_the_fence() {
    let fence = [scope("pdf", "Read", Meaning::Fence)];
    for given in ["", "allow *", "allow command:*; mode allow", "mode strict", "mode ask"] {
        let decision = decide(&rules(given), &fence, Asking::Terminal, &action("agent command ls"));
        assert_eq!(shown(&decision), "ask by fence pdf", "{given}");
        assert!(decision.allow_with.is_empty(), "no rule opens a fence");
    }
    let yolo = decide(&rules("mode yolo"), &fence, Asking::Terminal, &action("agent command ls"));
    assert_eq!(shown(&yolo), "refuse by fence pdf");
    let denied = decide(&rules("deny Read"), &fence, Asking::Terminal, &action("agent tool Read a"));
    assert_eq!(shown(&denied), "refuse by deny Read");
}

/// The list, an action, what decides in `allow` mode.
#[test]
fn a_grant_answers_the_question_and_never_widens_the_containment() {
    for (list, act, expect) in [
        ("Bash(git:*)", "agent command git log", "allow by grant Bash(git:*)"),
        ("Bash(git:*)", "agent command git log; ls", "refuse by mode allow"),
        ("Bash(git:*) Bash(ls)", "agent command git log; ls", "allow by grant Bash(git:*)"),
        ("Bash", "agent command ls $(id)", "allow by grant Bash"),
        ("Bash", "pdf script a.py", "allow by grant Bash"),
        ("Bash", "csv script a.py", "refuse by mode allow"),
        ("skill_run_script", "pdf script a.py", "allow by grant skill_run_script"),
        ("Bash(git:*)", "pdf inject git log", "allow by grant Bash(git:*)"),
        ("Bash(git:*)", "csv inject git log", "refuse by mode allow"),
        ("Bash", "pdf hook ls", "refuse by mode allow"),
        ("Bash", "agent command ls + host:x.org", "refuse by mode allow"),
        ("Bash", "pdf more write:docs/a", "refuse by mode allow"),
        ("Read", "agent tool Read a", "allow by grant Read"),
        ("mcp__s__*", "agent mcp s/t", "allow by grant mcp__s__*"),
        // Bare, and bare in other words.
        ("Write", "agent Write docs/a", "refuse by mode allow"),
        ("Write(**)", "agent Write docs/a", "refuse by mode allow"),
        ("Write(*.md)", "agent Write a.md", "refuse by mode allow"),
        ("Write(/etc/**)", "agent Write /etc/hosts", "refuse by mode allow"),
        ("Write(~/**)", "agent Write ~/x", "refuse by mode allow"),
        ("WebFetch", "agent fetch x.org", "refuse by mode allow"),
        ("WebFetch(domain:*)", "agent fetch x.org", "refuse by mode allow"),
        ("WebFetch(domain:*.org)", "agent fetch x.org", "refuse by mode allow"),
        // Named.
        ("Write(docs/**)", "agent Write docs/a", "allow by grant Write(docs/**)"),
        ("Write(docs/**)", "agent Write src/a", "refuse by mode allow"),
        ("Write(docs/**)", "pdf more write:docs/a", "refuse by mode allow"),
        ("Write(.git/hooks/x)", "agent Write .git/hooks/x", "refuse by mode allow"),
        ("WebFetch(domain:x.org)", "agent fetch x.org", "allow by grant WebFetch(domain:x.org)"),
        ("WebFetch(domain:x.org)", "pdf more host:x.org", "refuse by mode allow"),
        ("Skill(csv)", "csv activate", "allow by grant Skill(csv)"),
        ("Skill(csv)", "csv script a.py", "refuse by mode allow"),
        ("*", "agent tool Read a", "refuse by mode allow"),
        ("Read *", "agent tool Read a", "allow by grant Read"),
    ] {
        let granted = [scope("pdf", list, Meaning::Grant)];
        let decision = decide(&rules("mode allow"), &granted, Asking::Nobody, &action(act));
        assert_eq!(shown(&decision), expect, "{list:?} and {act:?}: {decision}");
        for name in ["pdf?", "pdf!"] {
            let stranger = [scope(name, list, Meaning::Grant)];
            let decision = decide(&rules("mode allow"), &stranger, Asking::Nobody, &action(act));
            assert!(!decision.is_allowed(), "a skill that is not trusted grants nothing: {list:?} {act:?}");
        }
    }
}

#[test]
fn an_mcp_tool_that_a_trusted_list_names_is_not_asked_about() {
    let granted = [scope("pdf", "mcp__github__create_issue", Meaning::Grant)];
    let said = |act: &str| shown(&decide(&rules(""), &granted, Asking::Nobody, &action(act)));
    assert_eq!(said("agent mcp github/create_issue"), "allow by grant mcp__github__create_issue");
    assert_eq!(said("agent mcp github/delete_repo"), "refuse by mode ask");
    let asked = decide(
        &rules("ask mcp:github/*"),
        &granted,
        Asking::Nobody,
        &action("agent mcp github/create_issue"),
    );
    assert_eq!(shown(&asked), "refuse by ask mcp:github/*");
}

#[test]
fn a_bare_name_is_the_tool_of_the_only_server_that_has_it_and_never_takes_a_built_in_ones_place() {
    let mut servers = McpTools::default();
    servers.add("exa", "web_search");
    servers.add("evil", "Bash");
    let open = |list| [scope_with("pdf", list, "", Meaning::Both, Dialect::Usual, &servers)];
    let said = |list, act: &str| shown(&decide(&rules(""), &open(list), Asking::Nobody, &action(act)));
    assert_eq!(said("web_search", "agent mcp exa/web_search"), "allow by grant web_search");
    assert_eq!(said("Bash", "agent mcp evil/Bash"), "refuse by fence pdf");
    assert_eq!(said("Bash", "agent command ls"), "allow by grant Bash");
}

#[test]
fn a_crew_fences_what_runs_one_simple_command_at_a_time() {
    for (list, act, expect) in [
        ("Bash(node:*)", "pdf command node x", true),
        ("Bash(node:*)", "pdf command node x && node y", false),
        ("Bash(node:*)", "pdf command node x | node y", false),
        ("Bash(node:*)", "pdf command git x", false),
        ("Bash", "pdf command ls; ls", false),
        ("Bash(node:*)", "agent mcp a/b", true),
        ("Bash(node:*)", "pdf read references/a.md", true),
        ("Bash(node:*)", "agent tool Read a", true),
        ("Bash(node:*)", "pdf script a.py", false),
        ("Bash(python:*)", "pdf script a.py", true),
    ] {
        let crew = [scope_with("pdf", list, "", Meaning::Both, Dialect::Crew, &McpTools::default())];
        let decision = decide(&rules("mode yolo"), &crew, Asking::Nobody, &action(act));
        assert_eq!(decision.is_allowed(), expect, "{list:?} {act:?}: {decision}");
    }
    let crew = [scope_with("pdf", "Bash(node:*)", "", Meaning::Both, Dialect::Crew, &McpTools::default())];
    let said = decide(&rules(""), &crew, Asking::Nobody, &action("pdf command node x; node y")).to_string();
    assert!(said.ends_with("not more than one command"), "{said}");
}

#[test]
fn what_a_skill_disallows_is_refused_also_at_a_terminal() {
    let open = |list| [scope_with("pdf", "*", list, Meaning::Grant, Dialect::Usual, &McpTools::default())];
    for (list, act, expect) in [
        ("Write", "agent Write a", false),
        ("write_file", "agent Write a", false),
        ("Write", "agent tool Read a", true),
        ("Bash(rm:*)", "agent command rm x", false),
        ("Bash(rm:*)", "agent command ls && rm x", false),
        ("Bash(rm:*)", "agent command ls", true),
        ("Bash(rm:*)", "agent command $(x)", false),
        ("Read", "pdf read a.md", true),
        ("Read", "agent tool Read a", false),
        ("Skill", "csv activate", false),
        ("Skill", "pdf script a.py", true),
        ("AskUserQuestion", "agent tool ask_user", false),
        ("mcp__a__*", "agent mcp a/b", false),
        ("Nonsense", "agent tool Read a", true),
        ("*", "agent tool Read a", false),
        ("*", "agent command ls", false),
        ("*", "pdf script a.py", false),
        ("*", "agent mcp a/b", false),
        ("*", "pdf read a.md", true),
        ("*", "agent tool ask_user", true),
        ("*", "csv activate", true),
    ] {
        let decision = decide(&rules("mode yolo"), &open(list), Asking::Terminal, &action(act));
        assert_eq!(decision.is_allowed(), expect, "{list:?} {act:?}: {decision}");
        if !expect {
            assert!(matches!(decision.by, Reason::Disallowed { .. }), "{decision}");
        }
    }
}

#[test]
fn a_child_is_offered_what_its_list_names_and_what_is_never_fenced() {
    let offered = |scope: &Scope| -> Vec<&str> {
        Tool::all().filter(|tool| scope.offers(Offered::Tool(*tool))).map(Tool::name).collect()
    };
    let free = ["ask_user", "Skill", "skill_search", "skill_read_file"];
    assert_eq!(offered(&scope("pdf", "", Meaning::Both)), free);
    assert_eq!(
        offered(&scope("pdf", "web_fetch", Meaning::Both)),
        ["WebFetch", "ask_user", "Skill", "skill_search", "skill_read_file"]
    );
    let bash = scope("pdf", "Bash(git:*) mcp__a__b", Meaning::Fence);
    assert_eq!(
        offered(&bash),
        ["Bash", "ask_user", "Skill", "skill_search", "skill_read_file", "skill_run_script"]
    );
    assert!(bash.offers(Offered::Mcp { server: "a", tool: "b" }));
    assert!(!bash.offers(Offered::Mcp { server: "a", tool: "c" }));
    let taken = scope_with("pdf", "Read Write", "Write", Meaning::Both, Dialect::Usual, &McpTools::default());
    assert!(taken.offers(Offered::Tool(Tool::Read)) && !taken.offers(Offered::Tool(Tool::Write)));
    let none = scope_with("pdf", "Read", "*", Meaning::Both, Dialect::Usual, &McpTools::default());
    assert_eq!(offered(&none), free);
    assert!(!none.offers(Offered::Mcp { server: "a", tool: "b" }));
}

/// `tools: []` is none, a missing list says nothing.
#[test]
fn a_missing_list_inherits() {
    let terms = Terms {
        skill: metier_policy::Skill::new("pdf", "user"),
        tools: None,
        disallowed: &[],
        meaning: Meaning::Both,
        dialect: Dialect::Usual,
        folders: Folders::default(),
    };
    let open = Scope::open(terms, &McpTools::default());
    assert!(!open.is_fenced() && Tool::all().all(|tool| open.offers(Offered::Tool(tool))));
    assert!(scope("pdf", "", Meaning::Both).is_fenced());
}

#[test]
fn what_can_never_match_is_said() {
    let notes = |list| scope("pdf", list, Meaning::Both).notes().join("\n");
    assert!(notes("Nonsense").contains("metier knows no tool `Nonsense`"), "{}", notes("Nonsense"));
    assert!(notes("TodoWrite").contains("metier has no tool `TodoWrite`"));
    assert!(notes("Bash(echo $HOME)").contains("never matches"));
    assert_eq!(notes("Read Bash(git:*) mcp__a__b"), "");
}
