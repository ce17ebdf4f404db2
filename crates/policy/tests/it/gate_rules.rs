//! The rule language: what is read, how it is written again, and what it means.

use crate::gate_acts::{action, decide, rules};
use metier_policy::{Asking, Rule};

#[test]
fn every_form_is_read_and_has_one_spelling() {
    for (text, expect) in [
        ("skill:pdf", "skill:pdf"),
        ("  skill:*  ", "skill:*"),
        ("skill:git-*", "skill:git-*"),
        ("skill:project.claude:deploy", "skill:project.claude:deploy"),
        ("skill:pdf/read:references/**", "skill:pdf/read:references/**"),
        ("skill:pdf/script:a.py", "skill:pdf/script:a.py"),
        ("skill:pdf/script:scripts/a.py", "skill:pdf/script:a.py"),
        ("skill:pdf/command:git  diff:*", "skill:pdf/command:git diff:*"),
        ("skill:pdf/inject", "skill:pdf/inject"),
        ("skill:pdf/hook", "skill:pdf/hook"),
        ("skill:pdf/write:./docs/", "skill:pdf/write:docs/**"),
        ("skill:pdf/host:API.example.com", "skill:pdf/host:api.example.com"),
        ("skill:*/host:*.example.com:443", "skill:*/host:*.example.com:443"),
        ("skill:pdf/secret:GITHUB_*", "skill:pdf/secret:GITHUB_*"),
        ("command:*", "command:*"),
        ("command:git status", "command:git status"),
        ("command:git *", "command:git:*"),
        ("write:docs/**", "write:docs/**"),
        ("host:example.com", "host:example.com"),
        ("secret:TOKEN", "secret:TOKEN"),
        ("mcp:github/create_issue", "mcp:github/create_issue"),
        ("mcp:github/*", "mcp:github/*"),
        ("mcp:github", "mcp:github/*"),
        ("*", "*"),
        // Tools, in any dialect.
        ("Read", "Read"),
        ("tool:read_file", "Read"),
        ("Write(docs/**)", "Write(docs/**)"),
        ("tool:Write(docs/**)", "Write(docs/**)"),
        ("edit:src/**", "Edit(src/**)"),
        ("WebFetch(domain:example.com)", "WebFetch(domain:example.com)"),
        ("WebFetch(*)", "WebFetch"),
        ("ask_user", "ask_user"),
        ("skill_run_script", "skill_run_script"),
        // Other clients' spellings.
        ("Skill(deploy)", "skill:deploy"),
        ("Skill(deploy *)", "skill:deploy"),
        ("Skill(deploy:*)", "skill:deploy"),
        ("Skill(tools:deploy)", "skill:plugin.tools:deploy"),
        ("Skill(project:deploy)", "skill:project:deploy"),
        ("Skill", "skill:*"),
        ("Bash", "Bash"),
        ("exec", "Bash"),
        ("tool:run_command_line", "Bash"),
        ("Bash(*)", "command:*"),
        ("Bash(:*)", "command:*"),
        ("Bash(git diff:*)", "command:git diff:*"),
        ("bash:git status", "command:git status"),
        ("exec(npm test)", "command:npm test"),
        ("mcp__github__create_issue", "mcp:github/create_issue"),
        ("mcp__github__*", "mcp:github/*"),
        ("mcp__github", "mcp:github/*"),
        ("NotebookEdit", "NotebookEdit"),
        ("Task(explore)", "Task(explore)"),
    ] {
        let rule: Rule = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(rule.to_string(), expect, "{text}");
        assert_eq!(expect.parse::<Rule>().as_ref(), Ok(&rule), "{expect}");
    }
}

/// Text, what is said (a part of it), where, and what it may have been about.
#[test]
fn what_is_no_rule_is_said_with_its_place_and_a_remedy() {
    for (text, said, column, meant) in [
        ("", "the rule is empty", 1, "*"),
        ("   ", "the rule is empty", 4, "*"),
        ("nonsense", "metier knows no tool `nonsense`", 1, "*"),
        ("skil:pdf", "metier knows no tool `skil:pdf`", 1, "*"),
        ("skill:", "the name is missing", 7, "*"),
        ("skill:a b", "a name has no ` `", 7, "*"),
        ("skill:pdf/", "`` is no part of a skill", 11, "skill:pdf"),
        ("skill:pdf/scrpt:x", "`scrpt` is no part of a skill; write `read:GLOB`", 11, "skill:pdf"),
        ("skill:pdf/inject:x", "`inject` takes nothing behind it", 11, "skill:pdf"),
        ("skill:pdf/read:", "the glob is missing", 16, "skill:pdf"),
        ("skill:pdf/write:../x", "a glob has no `..`", 17, "skill:pdf"),
        ("skill:pdf/host:a b", "`a b` is no host name", 16, "skill:pdf"),
        ("skill:pdf/command:", "the pattern names no command", 19, "skill:pdf"),
        ("command:echo $HOME", "", 9, "command:*"),
        ("mcp:", "an MCP rule is `mcp:SERVER/TOOL`", 5, "mcp:*/*"),
        ("mcp:a/", "an MCP rule is `mcp:SERVER/TOOL`", 5, "mcp:*/*"),
        ("mcp__", "an MCP rule is `mcp:SERVER/TOOL`", 1, "mcp:*/*"),
        ("Bash(git:*", "a parenthesis has no counterpart", 5, "command:*"),
        ("Read(a[)", "", 6, "Read"),
        ("Write(../x)", "a glob has no `..`", 7, "Write"),
        ("WebFetch(https://x)", "`WebFetch` takes `domain:NAME`", 10, "WebFetch"),
        ("ask_user(x)", "`ask_user` takes nothing in parentheses", 10, "ask_user"),
        ("Read, Write", "this is more than one rule", 1, "*"),
        ("Skill(a/b)", "a name has no `/`", 7, "skill:*"),
    ] {
        let error = text.parse::<Rule>().expect_err(text);
        assert!(error.to_string().contains(said), "{text}: {error}");
        assert_eq!((error.column, error.meant.to_string().as_str()), (column, meant), "{text}: {error}");
    }
    let long = format!("skill:{}", "a".repeat(5000));
    assert!(long.parse::<Rule>().unwrap_err().to_string().len() < 400);
}

/// What a rule covers where it allows, and what it is about where it denies.
#[test]
fn a_rule_means_more_where_it_narrows() {
    for (rule, act, allows, denies) in [
        ("skill:pdf", "pdf activate", true, true),
        ("skill:pdf", "PDF activate", false, true),
        ("skill:pdf", "csv activate", false, false),
        ("skill:pdf", "agent command ls", false, false),
        ("skill:user:pdf", "project.claude:pdf activate", false, false),
        ("skill:project:pdf", "project.claude:pdf activate", true, true),
        ("skill:pdf", "pdf more host:x.org", false, true),
        ("skill:pdf", "pdf hook ls", false, true),
        ("skill:pdf/read:references/**", "pdf read references/a.md", true, true),
        ("skill:pdf/read:references/**", "pdf read ./references/../references/a.md", true, true),
        ("skill:pdf/read:references/**", "pdf read references/../SKILL.md", false, false),
        ("skill:pdf/read:**", "pdf read SKILL.md", true, true),
        ("skill:pdf/script:a.py", "pdf script a.py --x", true, true),
        ("skill:pdf/script:a.py", "pdf script b.py", false, false),
        ("skill:pdf/command:git:*", "pdf command git log", true, true),
        ("skill:pdf/command:git:*", "agent command git log", false, false),
        ("skill:pdf/command:git:*", "pdf command gitk", false, false),
        ("command:git:*", "pdf command git", true, true),
        ("command:git:*", "agent command /usr/bin/git log", false, true),
        ("command:git:*", "agent command env git log", false, true),
        ("command:git:*", "pdf inject git log", false, true),
        ("skill:pdf/inject", "pdf inject ls", true, true),
        ("skill:pdf/write:docs/**", "pdf more write:docs/a.md", true, true),
        ("skill:pdf/write:docs/**", "pdf more below:docs/api/**", true, true),
        ("skill:pdf/write:docs/**", "pdf more below:**", false, true),
        ("skill:pdf/write:docs/**", "pdf more write:docs/../a.md", false, false),
        ("skill:pdf/write:**", "pdf more write:/etc/hosts", false, true),
        ("skill:pdf/write:**", "pdf more write:.git/hooks/x", false, true),
        ("write:docs/**", "agent more write:docs/a", true, true),
        ("write:docs/**", "pdf more write:docs/a", true, true),
        ("skill:pdf/host:*.example.com", "pdf more host:a.example.com", true, true),
        ("skill:pdf/host:*", "pdf more host:169.254.169.254", false, true),
        ("host:x.org", "agent fetch x.org", false, true),
        ("skill:pdf/secret:GH_*", "pdf more secret:GH_TOKEN", true, true),
        ("secret:TOKEN", "pdf more secret:OTHER", false, false),
        ("mcp:github/*", "agent mcp github/x", true, true),
        ("mcp:github/*", "agent mcp githubx/x", false, false),
        ("mcp__a__b__c", "agent mcp a__b/c", false, true),
        ("mcp__a__b__c", "agent mcp a/b__c", true, true),
        ("Read", "agent tool Read a", true, true),
        ("Read(.env)", "agent tool Read deep/.env", false, true),
        ("Read(.env)", "agent tool Grep .env", false, true),
        ("Read(src/**)", "agent tool Read src/a", true, true),
        ("Read(src/**)", "agent tool Read docs/a", false, false),
        ("Edit(docs/**)", "agent Edit docs/a", true, true),
        ("Edit(docs/**)", "agent Write docs/a", false, true),
        ("Write(secrets/**)", "pdf more write:secrets/a", false, true),
        ("Write", "agent Write docs/a", true, true),
        ("WebFetch", "agent fetch x.org", true, true),
        ("WebFetch", "agent fetch 10.0.0.1", false, true),
        ("WebFetch(domain:x.org)", "agent fetch x.org", true, true),
        ("WebFetch(domain:x.org)", "agent fetch y.org", false, false),
        ("WebFetch(domain:x.org)", "pdf more host:x.org", false, true),
        ("skill_run_script", "pdf script a.py", true, true),
        ("*", "agent mcp a/b", true, true),
        ("*", "agent Write docs/a", false, true),
    ] {
        let action = action(act);
        let read: Rule = rule.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((read.allows(&action), read.concerns(&action)), (allows, denies), "{rule} and {act}");
        let as_allow = decide(&rules(&format!("mode allow; allow {rule}")), &[], Asking::Nobody, &action);
        assert_eq!(as_allow.is_allowed(), allows, "allow {rule} and {act}: {as_allow}");
        let as_deny = decide(&rules(&format!("mode yolo; deny {rule}")), &[], Asking::Nobody, &action);
        let is_denied = matches!(as_deny.by, metier_policy::Reason::Denied(_));
        assert_eq!(is_denied, denies, "deny {rule} and {act}: {as_deny}");
    }
}

#[test]
fn a_rule_names_a_skill_by_its_own_name_or_by_its_folders() {
    let skill = metier_policy::Skill {
        folder: Some("deploy".to_owned()),
        ..metier_policy::Skill::new("ship", "user")
    };
    let action = metier_policy::Action::activate(skill);
    for (rule, expect) in [
        ("skill:ship", true),
        ("skill:deploy", true),
        ("skill:dep*", true),
        ("skill:user:deploy", true),
        ("skill:project:deploy", false),
        ("skill:other", false),
    ] {
        let rule: metier_policy::Rule = rule.parse().unwrap();
        assert_eq!((rule.allows(&action), rule.concerns(&action)), (expect, expect), "{rule}");
    }
}
