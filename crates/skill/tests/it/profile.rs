//! What other clients make of a skill. Each row is a file, the client, and the verdict in one line: whether it loads,
//! whether it means the same, then what is refused, changed or lost, by key; `file` is about the file as a whole.

use metier_diagnostic::Severity;
use metier_skill::parse;
use metier_skill::profile::{Fate, FileView, Profile, Verdict, judge};

fn verdict(profile: Profile, source: &str, folder: &str) -> Verdict {
    let parsed = parse(source.as_bytes(), Some(folder));
    let verdict = judge(profile, &FileView::new(source, &parsed, Some(folder)));
    for found in verdict.diagnostics(source) {
        assert!(found.message.starts_with(profile.title()), "{found:?} does not begin with the client");
        assert!(found.line().is_some(), "{found:?} has no place");
    }
    verdict
}

fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Same => "same",
        Fate::Ignored => "lost",
        Fate::Changed => "changed",
        Fate::Refused => "refused",
    }
}

fn shown(verdict: &Verdict) -> String {
    let mut out = format!("{} {}", verdict.loads.word(), verdict.meaning().word());
    for remark in &verdict.remarks {
        let is_lost = remark.fate == Fate::Ignored && remark.reason.is_some();
        if remark.key.is_none() || remark.fate > Fate::Ignored || is_lost {
            let key = remark.key.as_deref().unwrap_or("file");
            out.push_str(&format!(" {key}:{}", word(remark.fate)));
        }
    }
    out
}

fn check(profile: Profile, source: &str, expect: &str) {
    assert_eq!(shown(&verdict(profile, source, "pdf")), expect, "{profile} {source:?}");
}

/// A file in the folder `pdf` with a name, a description and these lines.
fn with(lines: &str) -> String {
    format!("---\nname: pdf\ndescription: Reads PDFs.\n{lines}---\n# PDF\n\nRead it.\n")
}

/// The place and the words of the first reason.
fn says(profile: Profile, source: &str, place: (u32, u32), words: &str) {
    let found = verdict(profile, source, "pdf").diagnostics(source);
    let first = found.iter().find(|found| found.severity() > Severity::Info).or(found.first());
    let first = first.expect("there is something to say");
    assert_eq!((first.line(), first.column()), (Some(place.0), Some(place.1)), "{}", first.message);
    assert!(first.message.contains(words), "{:?} does not say {words:?}", first.message);
}

#[test]
fn names_of_profiles_read_back() {
    for profile in Profile::ALL {
        assert_eq!(Profile::from_name(profile.name()), Some(*profile));
    }
    assert_eq!(Profile::from_name("Claude Code"), None);
}

#[test]
fn a_skill_with_a_name_and_a_description_is_the_same_everywhere() {
    for profile in Profile::ALL {
        check(*profile, &with(""), "yes yes");
    }
}

#[test]
fn each_systems_own_kind_of_skill_is_the_same_there() {
    let crew = with(
        "license: MIT\ncompatibility: [openai]\nallowed-tools: Bash(npx:*)\nmetadata:\n  team: web\n  version: 2\n",
    );
    check(Profile::SkilledCrew, &crew, "yes yes");
    check(Profile::SkilledCrew, &crew.replace("Bash(npx:*)", "Bash(node:*) Bash(npx:*)"), "yes yes");
    check(Profile::Standard, &crew, "no no file:refused");
    check(Profile::CoreAgent, &crew, "no, nor the others no compatibility:changed allowed-tools:refused");
    check(Profile::ClaudeCode, &crew, "yes no allowed-tools:changed");

    let ultron = with(
        "model: fast\nmaxTurns: 8\ntools:\n  - web_search\n  - save_memory\ntags: [research]\ncontext: fork\n",
    );
    check(Profile::Ultron, &ultron, "yes yes");
    check(Profile::Metier, &ultron, "yes yes");
    check(Profile::ClaudeCode, &ultron, "yes no maxTurns:lost tools:changed tags:lost");
    check(Profile::Codex, &ultron, "yes no model:lost maxTurns:lost tools:changed tags:lost context:lost");
    check(
        Profile::SkilledCrew,
        &ultron,
        "no, nor the others no model:refused maxTurns:refused tools:refused tags:refused context:refused",
    );

    let agentmd = with("argument-hint: \"[file]\"\n") + "Look at $ARGUMENTS in ${SKILL_DIR}: !`git status`\n";
    check(Profile::Agentmd, &agentmd, "yes yes");
    check(Profile::ClaudeCode, &agentmd, "yes no file:changed");
    check(Profile::Codex, &agentmd, "yes no argument-hint:lost file:changed file:changed file:changed");
    check(Profile::Standard, &agentmd, "no no argument-hint:refused");

    check(Profile::Openpollen, &with("context: For reports\n"), "yes partly context:lost");
    // What its documents promise counts; that its code does otherwise is said beside it.
    check(Profile::Openpollen, &with("allowed-tools: Read, Grep\n"), "yes yes");
    check(Profile::CoreAgent, &with("version: 1.2\nallowed_tools: Read\n"), "yes no allowed_tools:changed");
    check(Profile::CoreAgent, &with("version: 1.2\n"), "yes yes");
}

#[test]
fn metier_loads_whatever_parses() {
    check(Profile::Metier, &with("odd: key\nallowed-tools: Read\n"), "yes yes");
    check(Profile::Metier, "---\ndescription: Use when: PDFs\n---\n", "yes yes");
    check(Profile::Metier, "---js\n{}\n---\n", "no no file:refused");
}

#[test]
fn the_standard_takes_six_keys_and_simple_yaml() {
    let check = |lines: &str, expect| check(Profile::Standard, &with(lines), expect);
    check("license: MIT\ncompatibility: Needs git\nmetadata:\n  a: b\n", "yes yes");
    check("compatibility:\n", "yes yes");
    check("version: 1\nmodel: fast\n", "no no version:refused model:refused");
    check("compatibility:\n  - git\n", "no no compatibility:refused");
    check(&format!("compatibility: {}\n", "é".repeat(500)), "yes yes");
    check(&format!("compatibility: {}\n", "é".repeat(501)), "no no compatibility:refused");
    check("allowed-tools: Read\n", "yes no allowed-tools:changed");
    check("allowed-tools:\n  - Read\n", "yes no allowed-tools:changed");
    check("metadata: {a: b}\n", "no no file:refused");
    check("metadata:\n  a: &x b\n", "no no file:refused");
    check("metadata:\n  a: !!str b\n", "no no file:refused");
    check("license: a\nlicense: b\n", "no no file:refused");
    check("metadata:\n  a: b\n  a: c\n", "no no file:refused");
    check("metadata:\n  a:\n    x: 1\n  b:\n      y: 1\n", "no no file:refused");
    check("license: a\tb\n", "no no file:refused");
    check("license: 'a\tb'\n", "yes yes");
    check("license: \"a\nb\"\n", "yes yes");
    check("license: a: b\n", "no no file:refused");
    check("license: \"a\nb\"\nmetadata: {a: b}\n", "no no file:refused");
    check("license: >\n  a\u{85}b\n", "no no file:refused");
    check("license: a\u{85}b\n", "yes yes");
}

#[test]
fn the_standards_names_are_the_folders() {
    let check = |name: &str, folder: &str, expect: &str| {
        let source = format!("---\nname: {name}\ndescription: d\n---\n");
        assert_eq!(shown(&verdict(Profile::Standard, &source, folder)), expect, "{name:?} in {folder:?}");
    };
    check("pdf", "pdf", "yes yes");
    check("pdf", "PDF", "no no name:refused");
    check("PDF", "PDF", "no no name:refused");
    check("123", "123", "yes yes");
    check("true", "true", "yes yes");
    check("отчёт", "отчёт", "yes yes");
    check("cafe\u{301}", "caf\u{e9}", "yes yes");
    check("ｐｄｆ", "pdf", "yes yes");
    check("短视频", "短视频", "yes yes");
    check("हिन्दी", "हिन्दी", "no no name:refused");
    check("a_b", "a_b", "no no name:refused");
    check("-a", "-a", "no no name:refused");
    check("a--b", "a--b", "no no name:refused");
    check("a---b", "a---b", "no no name:refused file:refused");
    check(&"x".repeat(64), &"x".repeat(64), "yes yes");
    check(&"x".repeat(65), &"x".repeat(65), "no no name:refused");
}

#[test]
fn the_standard_says_everything_that_is_wrong() {
    let source = format!("---\nname: A_b\ndescription: {}\nmodel: x\n---\n", "d".repeat(1025));
    check(Profile::Standard, &source, "no no name:refused description:refused model:refused");
    check(Profile::Standard, "---\nlicense: MIT\n---\n", "no no file:refused file:refused");
    check(Profile::Standard, "---\nname: pdf\ndescription: ''\n---\n", "no no description:refused");
    check(Profile::Standard, "---\nname: pdf\ndescription: ~\n---\n", "yes yes");
    check(Profile::Standard, "---\n---\nBody of a skill.\n", "no no file:refused");
    check(Profile::Standard, "# No frontmatter here\n", "no no file:refused");
    says(Profile::Standard, &with("model: fast\n"), (4, 1), "`model` is no key of the standard");
}

#[test]
fn skilled_crew_has_a_strict_schema() {
    let check = |lines: &str, expect: &str| check(Profile::SkilledCrew, &with(lines), expect);
    check("compatibility: openai\n", "no, nor the others no compatibility:refused");
    check("compatibility:\n  - openai\n", "yes yes");
    check("compatibility: [1]\n", "no, nor the others no compatibility:refused");
    check("allowed-tools: [Bash(git:*)]\n", "no, nor the others no allowed-tools:refused");
    check("allowed-tools:\n", "no, nor the others no allowed-tools:refused");
    check("allowed-tools: Bash\n", "no, nor the others no allowed-tools:refused");
    check("allowed-tools: Bash(git)\n", "no, nor the others no allowed-tools:refused");
    check("allowed-tools: Bash(git:*)\n", "yes yes");
    check("allowed-tools: Bash(git:status)\n", "yes no allowed-tools:changed");
    check("allowed-tools: Bash(node:*) Bash(npx:*)\n", "yes yes");
    check("allowed-tools: Read\n", "yes no allowed-tools:changed");
    check("allowed-tools: ''\n", "yes no allowed-tools:changed");
    check("metadata: text\n", "no, nor the others no metadata:refused");
    check("license: 2\n", "no, nor the others no license:refused");
    check("version: 1\n", "no, nor the others no version:refused");
    check("license: a\nlicense: b\n", "no, nor the others no file:refused");
    says(Profile::SkilledCrew, &with("allowed-tools: Bash(a:*), Read\n"), (4, 16), "Unsupported tool: Read");
    says(Profile::SkilledCrew, &with("allowed-tools: mcp__a\n"), (4, 16), "Unsupported tool: mcp");
}

#[test]
fn skilled_crew_reads_names_descriptions_and_fences_its_own_way() {
    let check = |source: &str, expect| check(Profile::SkilledCrew, source, expect);
    check("---\nname: _a--b-\ndescription: d\n---\n", "yes yes");
    check("---\nname: PDF\ndescription: d\n---\n", "no, nor the others no name:refused");
    check("---\nname: 12\ndescription: d\n---\n", "no, nor the others no name:refused");
    check("\u{feff}---\r\nname: a\r\ndescription: d\r\n----\r\n", "yes yes");
    check(&format!("---\nname: a\ndescription: {}\n---\n", "🎯".repeat(512)), "yes yes");
    check(
        &format!("---\nname: a\ndescription: {}\n---\n", "🎯".repeat(513)),
        "no, nor the others no description:refused",
    );
    check("# No frontmatter at all here\n", "no, nor the others no file:refused");
    check("---\n---\nBody of a skill.\n", "no, nor the others no file:refused file:refused");
    says(Profile::SkilledCrew, "---js\n{name: 'a'}\n---\n", (1, 4), "is run as code");
}

#[test]
fn ultron_refuses_nothing_that_is_known() {
    check(Profile::Ultron, &with("allowed-tools: Read\n"), "yes no allowed-tools:changed");
    check(Profile::Ultron, &with("context: inline\nlicense: MIT\nother: x\n"), "yes yes");
    check(Profile::Ultron, &with("context: see the handbook\n"), "yes partly context:lost");
    check(Profile::Ultron, &with("max-turns: 3\n"), "yes partly max-turns:lost");
    check(
        Profile::Ultron,
        &with("disable-model-invocation: true\n"),
        "yes no disable-model-invocation:changed",
    );
}

#[test]
fn agentmd_reads_four_keys_as_yaml_one_point_one() {
    let check = |lines: &str, expect: &str| check(Profile::Agentmd, &with(lines), expect);
    check("argument-hint: [file]\n", "no no argument-hint:refused");
    check("argument-hint: yes\n", "no no argument-hint:refused");
    check("argument-hint: \"[file]\"\n", "yes yes");
    check("user-invocable: no\n", "yes no user-invocable:changed");
    check("user-invocable: true\n", "yes yes");
    check("allowed-tools: Read\n", "yes no allowed-tools:changed");
    check("disable-model-invocation: true\n", "yes no disable-model-invocation:changed");
    check("disable-model-invocation: false\n", "yes yes");
    check("model: fast\n", "yes partly model:lost");
    check("context: fork\n", "yes partly context:lost");
    check("instructions: x\n", "no no instructions:refused");
    check("skill_dir: x\nhas_scripts: y\n", "no no skill_dir:refused has_scripts:refused");
    check("on: push\n", "no no on:refused");
    check("'on': push\n", "yes yes");
    check("name: other\n", "yes no name:changed name:changed");
}

#[test]
fn agentmd_splits_at_the_first_dashes_and_calls_by_the_folder() {
    let check = |source: &str, expect| check(Profile::Agentmd, source, expect);
    check("---\nname: pdf\ndescription: a --- b\n---\nBody.\n", "yes no file:changed");
    check("---\nname: pdf\ndescription: 'a --- b'\n---\nBody.\n", "no no file:refused");
    check("\u{feff}---\nname: pdf\ndescription: d\n---\n", "no no file:refused");
    check("---\r\nname: pdf\r\ndescription: d\r\n---\r\n", "yes yes");
    check("---\nname: Pdf_2\ndescription: d\n---\n", "yes no name:changed");
    check("---\nname: pdf tool\ndescription: d\n---\n", "no no name:refused");
    check("---\nname: 12\ndescription: d\n---\n", "no no name:refused");
    check("---\nname: pdf\ndescription:\n---\nBody.\n", "no no description:refused");
    check("---\nname: pdf\n---\nReads PDF files.\n", "yes partly file:lost");
    check("---\nname: pdf\ndescription: Runs !`id` at once\n---\n", "yes no description:changed");
    check("---\nname: pdf\ndescription: d\n---\n$ARGUMENTS[1]\n", "yes no file:changed");
    check("---\nname: pdf\ndescription: d\n---\n$ARGUMENTS[0]\n", "yes yes");
    check("# No frontmatter at all\n", "no no file:refused");
    says(Profile::Agentmd, "---\nname: a\ndescription: d\n---\n", (2, 7), "not enabled");
}

#[test]
fn openpollen_reads_lines_and_says_what_it_reads() {
    let check = |source: &str, expect| check(Profile::Openpollen, source, expect);
    check("---\r\nname: pdf\r\ndescription: d\r\n---\r\n", "no no file:refused");
    check("\u{feff}---\nname: pdf\ndescription: d\n---\n", "no no file:refused");
    check("# No frontmatter at all\n", "no no file:refused");
    check("---\nname: pdf\n---\nReads PDF files.\n", "no no file:refused");
    check("---\ndescription: d\n---\nReads PDF files.\n", "no no file:refused");
    check("---\nname: pdf\ndescription: a: b\n---\n", "yes yes");
    check("---\nname: pdf\ndescription: >\n  Long text\n---\n", "yes no description:changed");
    check("---\nname: pdf\ndescription:\n  Long text\n---\n", "no no description:refused");
    check("---\nname: pdf\ndescription: false\n---\n", "no no description:refused");
    check("---\nname: \"pdf\"\ndescription: d\n---\n", "yes no name:changed");
    check(&with("metadata:\n  name: other\n"), "yes no name:changed");
    check(&with("disable-model-invocation: true\n"), "yes no disable-model-invocation:changed");
    check(&with("disable-model-invocation: false\nother: x\n"), "yes yes");
    check(&with("context: fork\n"), "yes partly context:lost");
    let open = Profile::Openpollen;
    says(open, &with("metadata:\n  name: other\n"), (5, 3), "the name is `other`");
    says(open, "---\nname: pdf\ndescription: >-\n  Long\n---\n", (3, 1), "the description is `>-`");
    says(open, "---\nname: 'pdf'\ndescription: d\n---\n", (2, 1), "the name is `'pdf'`");
}

#[test]
fn one_bad_skill_leaves_core_agent_without_any() {
    let check = |source: &str, expect| check(Profile::CoreAgent, source, expect);
    check(&with("allowed-tools: Read Grep\n"), "no, nor the others no allowed-tools:refused");
    check(&with("allowed-tools:\n  - Read\n"), "yes no allowed-tools:changed");
    check(&with("allowed-tools:\n"), "yes yes");
    check(&with("compatibility: [a, b]\n"), "yes no compatibility:changed");
    check(&with("compatibility: a\n"), "yes yes");
    check(&with("metadata: text\n"), "yes partly metadata:lost");
    check(&with("model: fast\nlicense: MIT\n"), "yes partly model:lost");
    check("---\nname: other\ndescription: d\n---\n", "no, nor the others no name:refused");
    check("---\nname: PDF\ndescription: d\n---\n", "no, nor the others no name:refused");
    check("---\nname: pdf\ndescription: d\n---", "no, nor the others no file:refused");
    check("--- \nname: pdf\ndescription: d\n---\n", "no, nor the others no file:refused");
    check("---\nname: pdf\ndescription: a --- b\n---\n", "no, nor the others no file:refused");
    check("---\nname: pdf\ndescription: 'a --- b'\n---\n", "yes yes");
    check("---\nname: pdf\ndescription: 'a --- b'\nmodel: x\n---\n", "no, nor the others no model:refused");
    check("---\nname: pdf\ndescription: Use when: x\n---\n", "no, nor the others no file:refused");
    check("# No frontmatter at all\n", "no, nor the others no file:refused");
    let long = |text: &str| format!("---\nname: pdf\ndescription: {text}\n---\n");
    check(&long(&"é".repeat(512)), "yes yes");
    check(&long(&"é".repeat(513)), "no, nor the others no description:refused");
    check("---\nname: pdf\ndescription: ''\n---\n", "no, nor the others no description:refused");
    check("---\nname: pdf\n---\n", "no, nor the others no file:refused");
}

#[test]
fn claude_code_acts_on_most_keys_and_restricts_nothing() {
    let check = |lines: &str, expect| check(Profile::ClaudeCode, &with(lines), expect);
    check("disable-model-invocation: true\nuser-invocable: false\nmodel: opus\n", "yes yes");
    check("context: fork\nagent: Explore\n", "yes yes");
    check("context: inline\n", "yes yes");
    check("context: a note\n", "yes partly context:lost");
    check("allowed-tools: Read\n", "yes no allowed-tools:changed");
    check("allowed-tools: '*'\n", "yes yes");
    check("disallowed-tools: Bash\n", "yes yes");
    check("disableModelInvocation: true\n", "yes no disableModelInvocation:changed");
    check("metadata: text\n", "yes partly metadata:lost");
    check("requires:\n  bins: [git]\n", "yes partly requires:lost");
    check("whenToUse: often\n", "yes partly whenToUse:lost");
    check("when_to_use: often\n", "yes yes");
    check("arguments: [a, b]\n", "yes yes");
    check("arguments:\n  - name: a\n    default: x\n", "yes no arguments:changed");
    check("hooks:\n  Stop: []\n", "yes no hooks:changed");
    check(&format!("when_to_use: {}\n", "w".repeat(1536)), "yes no description:changed");
    let source = "---\nname: other\ndescription: d\n---\n";
    says(Profile::ClaudeCode, source, (2, 7), "called `/pdf`");
}

#[test]
fn codex_acts_on_name_and_description() {
    let check = |source: &str, expect| check(Profile::Codex, source, expect);
    check("---\ndescription: d\n---\n", "yes yes");
    check("---\nname: pdf\n---\nReads PDF files.\n", "no no file:refused");
    check("---\nname: pdf\ndescription: ''\n---\nReads.\n", "no no description:refused");
    check(&format!("---\nname: {}\ndescription: d\n---\n", "x".repeat(65)), "no no name:refused");
    check(&format!("---\nname: a\ndescription: {}\n---\n", "é".repeat(1024)), "yes yes");
    check(&format!("---\nname: a\ndescription: {}\n---\n", "é".repeat(1025)), "yes no description:changed");
    check("---\nname: a\ndescription: b: c\n---\n", "no no file:refused");
    check("# No frontmatter at all\n", "no no file:refused");
    check(&with("allowed-tools: Read\n"), "yes no allowed-tools:changed");
    check(&with("disable-model-invocation: true\n"), "yes no disable-model-invocation:changed");
    check(&with("metadata:\n  short-description: PDFs\n"), "yes yes");
    check(&with("model: x\nargument-hint: y\n"), "yes partly model:lost argument-hint:lost");
}

#[test]
fn where_the_file_lies_counts_too() {
    let source = with("");
    let parsed = parse(source.as_bytes(), Some("pdf"));
    let view = FileView::new(&source, &parsed, Some("pdf"));
    let lower = FileView { document_name: "skill.md", ..view };
    let linked = FileView { is_linked: true, ..view };
    let loads = |profile, view: &FileView<'_>| judge(profile, view).loads.word();
    assert_eq!(loads(Profile::Standard, &lower), "yes");
    for profile in [Profile::Agentmd, Profile::Openpollen, Profile::CoreAgent, Profile::Codex] {
        assert_eq!(loads(profile, &lower), "no", "{profile}");
    }
    assert_eq!(loads(Profile::SkilledCrew, &lower), "no, nor the others");
    assert_eq!(loads(Profile::Openpollen, &linked), "no");
    assert_eq!(loads(Profile::CoreAgent, &linked), "no");
    assert_eq!(loads(Profile::Agentmd, &linked), "yes");
}

#[test]
fn bytes_that_are_not_text_stop_strict_readers() {
    let bytes = b"---\nname: pdf\ndescription: Reads \xff PDFs.\n---\n".to_vec();
    let source = String::from_utf8_lossy(&bytes);
    let parsed = parse(&bytes, Some("pdf"));
    let loads = |profile| judge(profile, &FileView::new(&source, &parsed, Some("pdf"))).loads.word();
    for profile in [Profile::Standard, Profile::Agentmd, Profile::Codex] {
        assert_eq!(loads(profile), "no", "{profile}");
    }
    assert_eq!(loads(Profile::Metier), "yes");
}

#[test]
fn a_frontmatter_of_any_size_is_judged_in_bounded_work() {
    let long = format!("---\nname: pdf\ndescription: {}\n---\n", "d ".repeat(40_000));
    for profile in [Profile::Standard, Profile::Agentmd, Profile::SkilledCrew, Profile::Codex] {
        assert!(!verdict(profile, &long, "pdf").loads.is_yes(), "{profile}");
    }
}

#[test]
fn a_lost_request_for_containment_is_said() {
    let source = with("metadata:\n  metier:\n    needs:\n      hosts:\n        - example.org\n");
    for profile in [Profile::Standard, Profile::SkilledCrew, Profile::Codex, Profile::CoreAgent] {
        check(profile, &source, "yes partly metadata:lost");
    }
    check(Profile::Metier, &source, "yes yes");
}

#[test]
fn diagnostics_say_who_where_and_what_to_do() {
    let source = with("allowed-tools: Read\nmodel: fast\n");
    let found = verdict(Profile::CoreAgent, &source, "pdf").diagnostics(&source);
    let lines: Vec<_> = found.iter().map(|one| format!("{} {}", one.code, one.message)).collect();
    assert_eq!(
        lines,
        [
            "not-loaded-there core-agent: `allowed-tools` must be a list and is a text",
            "ignored-there core-agent: `model` is not acted on: the skill runs with the session's model",
        ]
    );
    assert_eq!(found[0].help.as_deref(), Some("write one tool a line, each behind `- `"));
    assert_eq!(found[0].notes.len(), 1);
    assert!(verdict(Profile::Metier, &source, "pdf").diagnostics(&source).is_empty());
}
