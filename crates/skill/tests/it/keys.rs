//! Every key of the specification in every spelling, with right and wrong values.

use crate::summary::{diagnostic, manifest};
use metier_diagnostic::Span;
use metier_skill::{Description, Document, ManifestKey, Spanned, parse};

fn file(keys: &str) -> String {
    format!("---\nname: x\ndescription: Does x.\n{keys}\n---\n# X\n")
}

fn document(text: &str) -> Document {
    parse(text.as_bytes(), Some("x")).document.expect("the file loads")
}

/// Holds what some keys give beside the name and the description, and what is said about them. Line 4 is the first.
fn check(keys: &str, expect: &[&str]) {
    let text = file(keys);
    let parsed = parse(text.as_bytes(), Some("x"));
    let document = parsed.document.as_ref().expect("the file loads");
    let mut lines = Vec::new();
    manifest(&document.manifest, &mut lines);
    lines.retain(|line| !line.starts_with("name: x") && line != "description: Does x.");
    lines.extend(parsed.diagnostics.iter().map(diagnostic));
    assert_eq!(lines, expect, "{keys}");
}

#[test]
fn texts_are_read_as_written_and_never_retyped() {
    check("license: MIT", &["license: MIT"]);
    check("license: \"Apache-2.0\"", &["license: Apache-2.0"]);
    check("license: 2", &["license: 2"]);
    check("license: true", &["license: true"]);
    check("license: >-\n  See\n  LICENSE", &["license: See LICENSE"]);
    check("license: ~", &[]);
    check("license:", &[]);
    check("version: 1.10", &["version: 1.10"]);
    check("version: 1.0", &["version: 1.0"]);
    check("version: '2'", &["version: 2"]);
    check("version: 2026-01-02", &["version: 2026-01-02"]);
    check("version: 0x1F", &["version: 0x1F"]);
    check("model: fast", &["model: fast"]);
    check("model: provider/model-1", &["model: provider/model-1"]);
    check("effort: high", &["effort: high"]);
    check("agent: Explore", &["agent: Explore"]);
    check("shell: bash", &["shell: bash"]);
    check("argument-hint: \"[file] [options]\"", &["argument-hint: [file] [options]"]);
}

#[test]
fn a_value_of_another_type_is_kept_and_not_acted_on() {
    check(
        "license: [MIT, Apache-2.0]",
        &["extra license: [\"MIT\",\"Apache-2.0\"]", "warning: wrong-type 4:10"],
    );
    check("model: {a: b}", &["extra model: {\"a\":\"b\"}", "warning: wrong-type 4:8"]);
    check("version: [1]", &["extra version: [1]", "warning: wrong-type 4:10"]);
    check("effort: {}", &["extra effort: {}", "warning: wrong-type 4:9"]);
    check("agent:\n  a: b", &["extra agent: {\"a\":\"b\"}", "warning: wrong-type 5:3"]);
    check("shell: [bash]", &["extra shell: [\"bash\"]", "warning: wrong-type 4:8"]);
    check("when_to_use: [a]", &["extra when_to_use: [\"a\"]", "warning: wrong-type 4:14"]);
    check("tags: {a: b}", &["extra tags: {\"a\":\"b\"}", "warning: wrong-type 4:7"]);
    check("paths: {a: b}", &["extra paths: {\"a\":\"b\"}", "warning: wrong-type 4:8"]);
    check("requires: [git]", &["extra requires: [\"git\"]", "warning: wrong-type 4:11"]);
    check("arguments: {a: b}", &["extra arguments: {\"a\":\"b\"}", "warning: wrong-type 4:12"]);
    check("context: 5", &["extra context: 5", "warning: wrong-type 4:10"]);
    check("context: [a]", &["extra context: [\"a\"]", "warning: wrong-type 4:10"]);
    check("hooks: text", &["hooks: \"text\"", "warning: wrong-type 4:8"]);
    check("metadata: text", &["metadata: \"text\"", "warning: wrong-type 4:11"]);
    check("metadata: [a]", &["metadata: [\"a\"]", "warning: wrong-type 4:11"]);
}

#[test]
fn a_description_that_is_no_text_is_shown_as_written() {
    let described =
        |value: &str| document(&format!("---\nname: x\ndescription: {value}\n---\n")).manifest.description;
    assert_eq!(described("42").text(), "42");
    assert_eq!(described("[a, b]").text(), "[a, b]");
    assert_eq!(described("\n  - one\n  - two").text(), "one two");
    assert_eq!(described("\n  Use when: asked").text(), "Use when: asked");
    assert_eq!(described("   "), Description::Absent);
    assert_eq!(described("\"   \""), Description::Absent);
    assert_eq!(described("|\n  Two\n  lines\n").text(), "Two\nlines");
}

#[test]
fn when_to_use_has_three_spellings_and_follows_the_description() {
    for key in ["when_to_use", "whenToUse", "when-to-use"] {
        check(&format!("{key}: PDFs come up"), &["when_to_use: PDFs come up"]);
    }
    assert_eq!(document(&file("when_to_use: Use for y.")).manifest.offer(), "Does x. Use for y.");
    assert_eq!(document(&file("license: MIT")).manifest.offer(), "Does x.");
}

#[test]
fn compatibility_is_one_text_and_the_raw_value() {
    check("compatibility: Needs git", &["compatibility: Needs git"]);
    check("compatibility: [node18, node20]", &["compatibility: node18, node20"]);
    check("compatibility:\n  - a\n  - b", &["compatibility: a, b"]);
    check("compatibility: {go: \">=1.20\", x/y: \">=v2\"}", &["compatibility: go: >=1.20, x/y: >=v2"]);
    check("compatibility: ~", &[]);
    let long = "é".repeat(501);
    check(
        &format!("compatibility: {long}"),
        &[&format!("compatibility: {long}"), "warning: compatibility-too-long 4:16"],
    );
    check(&format!("compatibility: {}", &long[2..]), &[&format!("compatibility: {}", &long[2..])]);
    let raw = document(&file("compatibility: [a, 1]")).manifest.more.compatibility_raw;
    assert_eq!(serde_json::to_string(&raw).unwrap(), "[\"a\",1]");
}

#[test]
fn metadata_keeps_its_values_and_gives_the_version() {
    check(
        "metadata:\n  author: me\n  n: 1\n  x: 1.10\n  on: true\n  deep: {a: [~, b]}",
        &["metadata: {\"author\":\"me\",\"n\":1,\"x\":\"1.10\",\"on\":true,\"deep\":{\"a\":[null,\"b\"]}}"],
    );
    check("metadata:\n  version: 1.10", &["version: 1.10", "metadata: {\"version\":\"1.10\"}"]);
    check("metadata: {version: 2.0}\nversion: 1.0", &["version: 1.0", "metadata: {\"version\":\"2.0\"}"]);
    check("metadata: ~", &[]);
}

#[test]
fn tool_lists_are_texts_or_lists_in_two_spellings() {
    for key in ["allowed-tools", "allowed_tools"] {
        check(&format!("{key}: Read, Write"), &["allowed-tools: Read | Write"]);
    }
    check("tools: Read Write", &["tools: Read | Write"]);
    check("tools: [Read, \"Bash(git:*)\"]", &["tools: Read | Bash(git:*)"]);
    check("tools:\n  - Read\n  - Bash(git diff:*), Grep", &["tools: Read | Bash(git diff:*) | Grep"]);
    check("disallowed-tools: WebFetch", &["disallowed-tools: WebFetch"]);
    check("tools: []", &["tools: (none)"]);
    check("allowed-tools: \"\"", &["allowed-tools: (none)"]);
    check("tools: ~", &[]);
    check("allowed-tools:", &[]);
    check("tools: \"*\"", &["tools: *", "warning: tools-wildcard 4:8"]);
    check("allowed-tools: Bash(git:*", &["allowed-tools: (none)", "error: tools-unbalanced 4:20"]);
    check("allowed-tools: Read)", &["allowed-tools: (none)", "error: tools-unbalanced 4:20"]);
    check("tools:\n  - Read\n  - Bash(x", &["tools: (none)", "error: tools-unbalanced 6:9"]);
    check(
        "tools: {Read: true}",
        &["tools: (none)", "extra tools: {\"Read\":true}", "warning: wrong-type 4:8"],
    );
    check(
        "tools:\n  - Read\n  - {Bash: git}",
        &["tools: Read", "extra tools: [\"Read\",{\"Bash\":\"git\"}]", "warning: wrong-type 6:5"],
    );
}

#[test]
fn both_tool_lists_allow_what_both_allow() {
    let both = |keys: &str| {
        let list = document(&file(keys)).manifest.tool_list();
        list.map(|list| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
    };
    check(
        "tools: [Read, Write]\nallowed-tools: Read",
        &["allowed-tools: Read", "tools: Read | Write", "warning: tools-twice 4:8"],
    );
    assert_eq!(both("tools: [Read, Write]\nallowed-tools: Read, Grep").as_deref(), Some("Read"));
    assert_eq!(both("tools: Bash Read\nallowed-tools: Bash(git:*)").as_deref(), Some("Bash(git:*)"));
    assert_eq!(both("tools: Bash(git:*)\nallowed-tools: Bash(npm:*)").as_deref(), Some(""));
    assert_eq!(both("tools: \"*\"\nallowed-tools: Read").as_deref(), Some("Read"));
    assert_eq!(both("tools: []\nallowed-tools: Read").as_deref(), Some(""));
    assert_eq!(both("tools: Read").as_deref(), Some("Read"));
    assert_eq!(both("license: MIT"), None);
}

#[test]
fn max_turns_is_a_whole_number_in_three_spellings() {
    for key in ["maxTurns", "max-turns", "max_turns"] {
        check(&format!("{key}: 8"), &["maxTurns: 8"]);
    }
    check("maxTurns: \"8\"", &["maxTurns: 8", "warning: number-in-quotes 4:11"]);
    for wrong in ["0", "-1", "1.5", "8.0", "x", "99999999999"] {
        let extra = document(&file(&format!("maxTurns: {wrong}"))).manifest.more.extra;
        assert_eq!(extra[0].0, "maxTurns");
        let kept = serde_json::to_string(&extra[0].1).unwrap();
        check(
            &format!("maxTurns: {wrong}"),
            &[&format!("extra maxTurns: {kept}"), "warning: max-turns-invalid 4:11"],
        );
    }
    check("maxTurns: [8]", &["extra maxTurns: [8]", "warning: max-turns-invalid 4:11"]);
    check("maxTurns: ~", &[]);
}

#[test]
fn booleans_have_many_spellings() {
    for (written, value) in [
        ("true", true),
        ("True", true),
        ("TRUE", true),
        ("yes", true),
        ("Yes", true),
        ("on", true),
        ("ON", true),
        ("1", true),
        ("false", false),
        ("False", false),
        ("no", false),
        ("NO", false),
        ("off", false),
        ("Off", false),
        ("0", false),
    ] {
        for written in
            [written.to_owned(), format!("\"{written}\""), format!("'{written}'"), format!("'{written} '")]
        {
            let keys = format!(
                "background: {written}\nuser-invocable: {written}\ndisable-model-invocation: {written}"
            );
            let manifest = document(&file(&keys)).manifest;
            assert_eq!(manifest.more.background, Some(value), "{written}");
            assert_eq!(manifest.user_invocable, value, "{written}");
            assert_eq!(manifest.user_only.is_some(), value, "{written}");
        }
    }
    check("background: maybe", &["extra background: \"maybe\"", "warning: not-a-boolean 4:13"]);
    check("background: 2", &["extra background: 2", "warning: not-a-boolean 4:13"]);
    check("user-invocable: [true]", &["extra user-invocable: [true]", "warning: not-a-boolean 4:17"]);
    check("background: ~\nuser-invocable:\ndisable-model-invocation: ~", &[]);
}

#[test]
fn who_may_start_a_skill_has_several_spellings() {
    for key in ["user-invocable", "user_invocable"] {
        check(&format!("{key}: false"), &["user-invocable: false"]);
    }
    for key in ["disable-model-invocation", "disableModelInvocation", "disable_model_invocation"] {
        check(&format!("{key}: true"), &["user-only: Declared"]);
    }
    check(
        "disable-model-invocation: true\nuser-invocable: false",
        &["user-only: Declared", "user-invocable: false", "warning: unreachable 4:27"],
    );
}

#[test]
fn lists_are_lists_or_texts_with_commas() {
    check("tags: [a, \"b c\", 3]", &["tags: a | b c | 3"]);
    check("tags: a, b c,, d", &["tags: a | b c | d"]);
    check("tags:\n  - a\n  - ~\n  - ''", &["tags: a"]);
    check("tags: []", &[]);
    check("tags: [a, [b]]", &["tags: a", "extra tags: [\"a\",[\"b\"]]", "warning: wrong-type 4:11"]);
    check("paths: \"src/**/*.{ts,tsx}, docs/*.md\"", &["paths: src/**/*.{ts,tsx} | docs/*.md"]);
    check("paths:\n  - src/**\n  - \"*.{a,b}\"", &["paths: src/** | *.{a,b}"]);
}

#[test]
fn context_is_inline_fork_or_a_note() {
    check("context: inline", &[]);
    check("context: fork", &["context: fork"]);
    check("context: \"fork\"", &["context: fork"]);
    check("context: Knows the billing system.", &["context: note Knows the billing system."]);
    check("context: \"\"", &[]);
    check("context:", &[]);
}

#[test]
fn an_argument_hint_in_brackets_is_shown_as_written() {
    check("argument-hint: [pr-number]", &["argument-hint: [pr-number]", "warning: argument-hint-list 4:16"]);
    check("argument-hint: [a,   b]", &["argument-hint: [a, b]", "warning: argument-hint-list 4:16"]);
    check("argument-hint: {a}", &["argument-hint: {a}", "warning: argument-hint-list 4:16"]);
    check("argument-hint:\n  - a\n  - b", &["argument-hint: a b", "warning: argument-hint-list 5:5"]);
    check("argument-hint: <file>", &["argument-hint: <file>"]);
}

#[test]
fn arguments_are_names_or_records() {
    let named = |name: &str| format!("Argument {{ name: \"{name}\", description: None, default: None }}");
    let two = format!("arguments: {} | {}", named("a"), named("b"));
    check("arguments: [a, b]", &[&two]);
    check("arguments: a b", &[&two]);
    check("arguments: a, b", &[&two]);
    check("arguments:\n  - a\n  - b", &[&two]);
    check(
        "arguments:\n  - name: a\n    description: The a.\n    default: 1.0\n  - name: b",
        &[&format!(
            "arguments: Argument {{ name: \"a\", description: Some(\"The a.\"), default: Some(\"1.0\") }} | {}",
            named("b")
        )],
    );
    check(
        "arguments:\n  - a\n  - {x: y}",
        &[
            &format!("arguments: {}", named("a")),
            "extra arguments: [\"a\",{\"x\":\"y\"}]",
            "warning: wrong-type 6:5",
        ],
    );
}

#[test]
fn requirements_and_needs_are_read_from_their_places() {
    let bins = "Requires { bins: [\"git\", \"jq\"], any_bins: [\"a\"], env: [\"KEY\"], os: [\"linux\"], tools: [\"Read\"] }";
    let keys = "bins: [git, jq]\n  anyBins: a\n  env: KEY\n  os: [linux]\n  tools: Read";
    check(&format!("requires:\n  {keys}"), &[&format!("requires: {bins}")]);
    let nested = format!("metadata:\n  openclaw:\n    requires:\n      {}", keys.replace("\n  ", "\n      "));
    let more = document(&file(&nested)).manifest.more;
    assert_eq!(format!("{:?}", more.requires.unwrap()), bins);
    // The key itself wins, wherever it stands.
    for keys in [
        "requires: {bins: a}\nmetadata: {openclaw: {requires: {bins: b}}}",
        "metadata: {openclaw: {requires: {bins: b}}}\nrequires: {bins: a}",
    ] {
        assert_eq!(document(&file(keys)).manifest.more.requires.unwrap().bins, ["a"], "{keys}");
    }
    let needs = "metadata:\n  metier:\n    needs:\n      hosts: [a.org]\n      write: \"docs/**\"\n      env: KEY\n      seconds: 30";
    let needs = document(&file(needs)).manifest.more.needs.unwrap();
    assert_eq!(
        (needs.hosts, needs.write, needs.env),
        (vec!["a.org".into()], vec!["docs/**".into()], vec!["KEY".into()])
    );
    assert_eq!(needs.seconds.map(std::num::NonZeroU32::get), Some(30));
    let wrong = file("metadata: {metier: {needs: {seconds: soon, disk: all}}}");
    let codes: Vec<_> = parse(wrong.as_bytes(), Some("x")).diagnostics.iter().map(diagnostic).collect();
    assert_eq!(codes, ["warning: wrong-type 4:38", "info: unknown-key 4:44"]);
}

#[test]
fn hooks_are_kept_as_written() {
    check("hooks:\n  PostToolUse:\n    - command: ls", &["hooks: {\"PostToolUse\":[{\"command\":\"ls\"}]}"]);
    check("hooks:", &[]);
}

#[test]
fn unknown_keys_are_kept_as_written() {
    check(
        "x-text: a b\nx-number: 1.10\nx-list: [1, two, ~]\nx-map:\n  a: {b: c}\nx-none:\nx-quoted: \"1\"",
        &[
            "extra x-text: \"a b\"",
            "extra x-number: \"1.10\"",
            "extra x-list: [1,\"two\",null]",
            "extra x-map: {\"a\":{\"b\":\"c\"}}",
            "extra x-none: null",
            "extra x-quoted: \"1\"",
            "info: unknown-key 4:1",
            "info: unknown-key 5:1",
            "info: unknown-key 6:1",
            "info: unknown-key 7:1",
            "info: unknown-key 9:1",
            "info: unknown-key 10:1",
        ],
    );
    let parsed = parse(file("License: MIT").as_bytes(), Some("x"));
    assert_eq!(parsed.diagnostics[0].help.as_deref(), Some("did you mean `license`? Keys are lower case"));
}

#[test]
fn more_problems_than_anybody_reads_are_counted() {
    let many: Vec<String> = (0..450).map(|number| format!("x-{number}: {number}")).collect();
    let text = file(&many.join("\n"));
    let parsed = parse(text.as_bytes(), Some("x"));
    assert_eq!(parsed.document.map(|document| document.manifest.more.extra.len()), Some(450));
    assert_eq!(parsed.diagnostics.len(), 101);
    let last = &parsed.diagnostics[100];
    assert_eq!(
        (last.code.name(), &*last.message),
        ("more-problems", "and 350 more problems, which are not listed")
    );
    // The reason of a refusal is never among those left out.
    let refused = format!("---\n{}\nname: '..'\n---\n", many.join("\n"));
    let parsed = parse(refused.as_bytes(), Some("x"));
    assert!(parsed.document.is_none());
    assert!(parsed.diagnostics.iter().any(|found| found.code.name() == "name-path-step"));
}

#[test]
fn of_a_repeated_key_the_first_counts() {
    check("license: MIT\nlicense: GPL", &["license: MIT", "error: duplicate-key 5:1"]);
    check("name: y", &["error: duplicate-key 4:1"]);
    check("zz: 1\nzz: 2", &["extra zz: 1", "info: unknown-key 4:1", "error: duplicate-key 5:1"]);
    check("allowed-tools: Read\nallowed_tools: Write", &["allowed-tools: Read", "warning: alias-twice 5:1"]);
    check(
        "max_turns: 3\nmaxTurns: 4\nmaxTurns: 5",
        &["maxTurns: 3", "warning: alias-twice 5:1", "warning: alias-twice 6:1"],
    );
}

#[test]
fn names_follow_the_rules() {
    let named = |name: &str, folder: &str| {
        let text = format!("---\nname: {name}\ndescription: d\n---\n");
        let parsed = parse(text.as_bytes(), Some(folder));
        let manifest = parsed.document.expect("it loads").manifest;
        let codes: Vec<_> = parsed.diagnostics.iter().map(|found| found.code.name()).collect();
        let title = manifest.title.map(|title| format!(" <{title}>")).unwrap_or_default();
        format!("{}{title} {}", manifest.name, codes.join(" "))
    };
    assert_eq!(named("pdf", "pdf"), "pdf ");
    assert_eq!(named("~", "pdf"), "pdf ");
    assert_eq!(named("", "pdf"), "pdf ");
    assert_eq!(named("42", "42"), "42 ");
    assert_eq!(named("pdf", "other"), "pdf name-differs-from-folder");
    assert_eq!(named("Review_PR", "Review_PR"), "Review_PR name-not-canonical");
    assert_eq!(named("PDF Tools", "pdf-tools"), "pdf-tools <PDF Tools> name-slugged");
    assert_eq!(named("null", "folder"), "folder ");
    assert_eq!(named("'null'", "null"), "null ");
    assert_eq!(named("cafe\u{301}", "caf\u{e9}"), "café name-not-canonical");
}

#[test]
fn spans_are_what_is_written() {
    let text = "\u{feff}---\r\nname: ünder\r\ndescription: \"Does: x\"\r\nversion: 1.10\r\nwhen_to_use: >\r\n  one\r\n  two\r\ntools:\r\n  - Read\r\n  - Write\r\nlicense: 'MIT'\r\nx-y: {a: [1, 2]}\r\nmaxTurns: 7\r\nmodel: a\r\n  b\r\n---\r\nbody";
    let document = document(text);
    let manifest = &document.manifest;
    let of = |span: Span| span.of(text);
    let text_of = |value: &Option<Spanned<String>>| value.as_ref().map(|value| value.span.of(text));
    assert_eq!(manifest.name_span.map(of), Some("ünder"));
    let Description::Written(description) = &manifest.description else { panic!("it is written") };
    assert_eq!(of(description.span), "\"Does: x\"");
    assert_eq!(text_of(&manifest.version), Some("1.10"));
    assert_eq!(text_of(&manifest.when_to_use), Some("one\r\n  two"));
    assert_eq!(text_of(&manifest.more.license), Some("'MIT'"));
    assert_eq!(text_of(&manifest.more.model), Some("a\r\n  b"));
    assert_eq!(manifest.more.tools.as_ref().map(|tools| of(tools.span)), Some("Read\r\n  - Write"));
    assert_eq!(manifest.more.max_turns.as_ref().map(|turns| of(turns.span)), Some("7"));
    let (key, value) = &manifest.more.extra[0];
    assert_eq!((key.as_str(), of(value.span)), ("x-y", "{a: [1, 2]}"));
    assert_eq!(of(value.get("a").unwrap().items().unwrap()[1].span), "2");
    assert_eq!(&text[document.body as usize..], "body");
    assert!(
        of(document.frontmatter.unwrap()).starts_with("name: ")
            && of(document.frontmatter.unwrap()).ends_with("b\r\n")
    );
}

#[test]
fn spans_of_a_repaired_file_are_of_the_file() {
    let text = "\n---\r\nname: a\u{7f}-b\r\n";
    assert!(parse(text.as_bytes(), None).document.is_none());
    let text = "---\r\nname: ab\r\nx: it's: so\r\ndescription: Use\u{7} when: asked\r\nlicense: MIT\r\nversion: 1.10\r\n---\r\n";
    let document = document(text);
    let manifest = &document.manifest;
    assert_eq!(manifest.name_span.map(|span| span.of(text)), Some("ab"));
    assert_eq!(manifest.description.text(), "Use when: asked");
    let Description::Written(description) = &manifest.description else { panic!("it is written") };
    assert_eq!(description.span.of(text), "Use\u{7} when: asked");
    assert_eq!(manifest.more.license.as_ref().map(|license| license.span.of(text)), Some("MIT"));
    assert_eq!(manifest.version.as_ref().map(|version| version.span.of(text)), Some("1.10"));
    assert_eq!(manifest.more.extra[0].1.span.of(text), "it's: so");
}

/// A row of the table that is read into the field of another key, or not at all, is found here.
#[test]
fn every_key_is_read_from_each_of_its_spellings_into_its_own_value() {
    let said = |keys: &str| -> Vec<(&str, String)> {
        let parsed = parse(format!("---\n{keys}\n---\n# X\n").as_bytes(), Some("x"));
        let manifest = parsed.document.expect("the file loads").manifest;
        let value =
            |key: &ManifestKey| Some((key.name, serde_json::to_string(&key.value(&manifest)?).unwrap()));
        ManifestKey::ALL.iter().filter_map(value).collect()
    };
    let silent = said("unknown: x");
    for key in ManifestKey::ALL {
        for spelling in key.spellings() {
            let mut said = said(&format!("{spelling}: {}", key.example));
            said.retain(|value| !silent.contains(value));
            let keys: Vec<&str> = said.iter().map(|(name, _)| *name).collect();
            assert_eq!(keys, [key.name], "{spelling}");
            assert_eq!(ManifestKey::of(spelling).map(|found| found.name), Some(key.name));
        }
    }
}

#[test]
fn the_page_about_the_format_has_every_key() {
    let page = include_str!("../../../../docs/format.md");
    for key in ManifestKey::ALL {
        assert!(page.contains(&format!("`{}`", key.name)), "{}", key.name);
    }
}
