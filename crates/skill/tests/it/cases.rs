//! The behaviours F01 to F35 of the specification's cases, as far as one file decides them.
//!
//! F31 is about the catalogue's text, F33 and F34 about finding files; they are held where that happens.

use crate::summary::{diagnostic, manifest};
use metier_skill::{Document, Parsed, parse};

fn loaded(file: impl AsRef<[u8]>, folder: &str) -> (Document, Vec<String>) {
    let Parsed { document, diagnostics } = parse(file.as_ref(), Some(folder));
    let lines = diagnostics.iter().map(diagnostic).collect();
    (document.expect("the file loads"), lines)
}

/// Holds the manifest and the diagnostics of a file, one fact a line.
fn check(file: impl AsRef<[u8]>, folder: &str, expect: &[&str]) {
    let (document, mut diagnostics) = loaded(file, folder);
    let mut lines = Vec::new();
    manifest(&document.manifest, &mut lines);
    lines.append(&mut diagnostics);
    assert_eq!(lines, expect);
}

fn refused(file: impl AsRef<[u8]>, expect: &str) {
    let parsed = parse(file.as_ref(), Some("folder"));
    assert!(parsed.document.is_none());
    assert!(parsed.diagnostics.iter().map(diagnostic).any(|line| line == expect), "{:?}", parsed.diagnostics);
}

#[test]
fn f01_a_minimal_skill_loads_without_diagnostics() {
    check(
        "---\nname: pdf\ndescription: Reads PDFs.\n---\n\n# PDF\n",
        "pdf",
        &["name: pdf", "description: Reads PDFs."],
    );
}

#[test]
fn f02_the_six_standard_fields_load_and_a_list_is_one_text() {
    let file = |compatibility: &str| {
        format!(
            "---\nname: pdf\ndescription: Reads PDFs.\nlicense: MIT\ncompatibility: {compatibility}\nmetadata:\n  author: me\nallowed-tools: Read Bash(git:*)\n---\n"
        )
    };
    for compatibility in ["[node18, node20]", "node18, node20"] {
        check(
            file(compatibility),
            "pdf",
            &[
                "name: pdf",
                "description: Reads PDFs.",
                "license: MIT",
                "compatibility: node18, node20",
                "metadata: {\"author\":\"me\"}",
                "allowed-tools: Read | Bash(git:*)",
            ],
        );
    }
}

#[test]
fn f03_a_compatibility_map_and_extras_are_kept() {
    check(
        "---\nname: go\ndescription: Go.\ncompatibility:\n  go: \">=1.20\"\n  x/y: \">=v2\"\nuser-invocable: true\nreferences:\n  - a.md\n---\n",
        "go",
        &[
            "name: go",
            "description: Go.",
            "compatibility: go: >=1.20, x/y: >=v2",
            "extra references: [\"a.md\"]",
            "info: unknown-key 8:1",
        ],
    );
}

#[test]
fn f04_an_unknown_field_is_an_info() {
    check(
        "---\nname: a\ndescription: b\nunknown-field: x\n---\n",
        "a",
        &["name: a", "description: b", "extra unknown-field: \"x\"", "info: unknown-key 4:1"],
    );
}

#[test]
fn f05_without_a_name_the_folder_names_it() {
    check("---\ndescription: b\n---\n", "my-skill", &["name: my-skill", "description: b"]);
}

#[test]
fn f06_upper_case_and_underscore_load_with_a_warning() {
    check(
        "---\nname: Review_PR\ndescription: b\n---\n",
        "Review_PR",
        &["name: Review_PR", "description: b", "warning: name-not-canonical 2:7"],
    );
}

#[test]
fn f08_hyphens_at_the_edges_and_in_pairs() {
    let name = |written: &str| {
        let (document, lines) = loaded(format!("---\nname: {written}\ndescription: b\n---\n"), "folder");
        (document.manifest.name.to_string(), lines[0].clone())
    };
    assert_eq!(name("-pdf"), ("pdf".to_owned(), "warning: name-slugged 2:7".to_owned()));
    assert_eq!(name("pdf-"), ("pdf-".to_owned(), "warning: name-not-canonical 2:7".to_owned()));
    assert_eq!(name("pdf--x"), ("pdf--x".to_owned(), "warning: name-not-canonical 2:7".to_owned()));
}

#[test]
fn f09_sixty_four_characters_are_fine_and_one_more_is_a_warning() {
    let name = "x".repeat(64);
    assert!(loaded(format!("---\nname: {name}\ndescription: b\n---\n"), &name).1.is_empty());
    let name = "x".repeat(65);
    assert_eq!(
        loaded(format!("---\nname: {name}\ndescription: b\n---\n"), &name).1,
        ["warning: name-not-canonical 2:7"]
    );
    refused("---\nname: ''\ndescription: b\n---\n", "error: name-empty 2:7 the name is empty");
}

#[test]
fn f10_names_are_compared_in_one_unicode_form() {
    let warning = "warning: name-not-canonical 2:7";
    check(
        "---\nname: cafe\u{301}\ndescription: b\n---\n",
        "caf\u{e9}",
        &["name: caf\u{e9}", "description: b", warning],
    );
    check("---\nname: отчёт\ndescription: b\n---\n", "отчёт", &["name: отчёт", "description: b", warning]);
    check("---\nname: 短视频\ndescription: b\n---\n", "短视频", &["name: 短视频", "description: b", warning]);
    check(
        "---\nname: Отчёт\ndescription: b\n---\n",
        "отчёт",
        &["name: отчёт", "title: Отчёт", "description: b", "warning: name-slugged 2:7"],
    );
}

#[test]
fn f12_windows_line_ends_load() {
    let (document, lines) = loaded("---\r\nname: a\r\ndescription: b c\r\n---\r\nbody\r\n", "a");
    assert_eq!(document.manifest.description.text(), "b c");
    assert!(lines.is_empty());
}

#[test]
fn f13_a_byte_order_mark_loads() {
    check("\u{feff}---\nname: a\ndescription: b\n---\n", "a", &["name: a", "description: b"]);
}

#[test]
fn f14_quotes_are_removed_and_folded_text_is_joined() {
    check("---\nname: \"a\"\ndescription: 'b c'\n---\n", "a", &["name: a", "description: b c"]);
    check("---\nname: a\ndescription: >\n  one\n  two\n---\n", "a", &["name: a", "description: one two"]);
}

#[test]
fn f18_code_in_the_opening_line_is_refused() {
    let file = "---js\nrequire('fs').writeFileSync('marker', '');\nmodule.exports = {name: 'a', description: 'b'}\n---\n";
    let sentence = "`---js` asks for another language to be evaluated; metier never does that";
    refused(file, &format!("error: frontmatter-engine 1:4 {sentence}"));
}

#[test]
fn f19_without_a_closing_line_name_and_description_are_salvaged() {
    let file = "---\nname: a\ndescription: b\n\n# Title\n\nversion: not a key\n";
    let (document, lines) = loaded(file, "a");
    assert_eq!(document.manifest.version, None);
    assert!(document.manifest.more.extra.is_empty());
    assert_eq!(file[document.body as usize..].trim_start(), "# Title\n\nversion: not a key\n");
    assert_eq!(lines, ["warning: frontmatter-salvaged 2:1"]);
    let sentence = "the frontmatter is not closed, and no name and description can be read from it";
    refused("---\nname: a\n\n# Title\n", &format!("error: frontmatter-broken 1:1 {sentence}"));
}

#[test]
fn f20_the_closing_line_may_end_the_file() {
    let file = "---\nname: a\ndescription: b\n---";
    let (document, lines) = loaded(file, "a");
    assert_eq!(document.body as usize, file.len());
    assert!(lines.is_empty());
}

#[test]
fn f21_a_list_or_a_text_is_refused_and_nothing_counts_as_none() {
    let sentence = "the frontmatter must be a mapping of keys to values";
    refused("---\n- a\n---\nbody", &format!("error: frontmatter-not-a-mapping 2:3 {sentence}"));
    refused("---\na text\n---\nbody", &format!("error: frontmatter-not-a-mapping 2:1 {sentence}"));
    for empty in
        ["---\n---\nA body with a paragraph.\n", "---\n# only a comment\n---\nA body with a paragraph.\n"]
    {
        check(
            empty,
            "folder",
            &[
                "name: folder",
                "description (derived): A body with a paragraph.",
                "user-only: NoFrontmatter",
                "warning: frontmatter-empty 1:1",
            ],
        );
    }
}

#[test]
fn f22_an_unquoted_colon_is_recovered() {
    check(
        "---\nname: a\ndescription: Use when: asked about PDFs\n---\n",
        "a",
        &["name: a", "description: Use when: asked about PDFs", "warning: unquoted-colon 3:14"],
    );
}

#[test]
fn f24_of_two_names_the_first_wins() {
    check(
        "---\nname: a\nname: b\ndescription: c\n---\n",
        "a",
        &["name: a", "description: c", "error: duplicate-key 3:1"],
    );
}

#[test]
fn f25_a_tag_that_builds_objects_is_refused() {
    let file = "---\nname: a\ndescription: b\nx: !!python/object:os.system {}\n---\n";
    refused(file, "error: custom-tag 4:4 a custom tag is not allowed");
}

#[test]
fn f26_keys_that_other_loaders_trip_over_are_extras() {
    let (document, _) =
        loaded("---\nname: a\ndescription: b\nskill_dir: /x\ninstructions: y\nhas_scripts: true\n---\n", "a");
    let keys: Vec<_> = document.manifest.more.extra.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["skill_dir", "instructions", "has_scripts"]);
}

#[test]
fn f27_an_argument_hint_in_brackets_is_shown_as_written() {
    check(
        "---\nname: a\ndescription: b\nargument-hint: [pr-number]\n---\n",
        "a",
        &["name: a", "description: b", "argument-hint: [pr-number]", "warning: argument-hint-list 4:16"],
    );
}

#[test]
fn f29_a_long_description_is_kept_and_blanks_are_none() {
    let description = |text: &str| format!("---\nname: a\ndescription: \"{text}\"\n---\nThe body.\n");
    assert!(loaded(description(&"é".repeat(1_024)), "a").1.is_empty());
    let (document, lines) = loaded(description(&"é".repeat(1_025)), "a");
    assert_eq!(document.manifest.description.text().chars().count(), 1_025);
    assert_eq!(lines, ["warning: description-too-long 3:14"]);
    check(
        description("   "),
        "a",
        &["name: a", "description (derived): The body.", "warning: description-derived 3:1"],
    );
    check(
        "---\nname: a\n---\n# Only a title\n",
        "a",
        &["name: a", "description: (absent)", "user-only: NoDescription", "warning: description-missing 1:1"],
    );
}

#[test]
fn f32_bytes_that_are_not_utf8_are_replaced() {
    check(
        b"---\nname: a\ndescription: b\xff c\n---\n",
        "a",
        &["name: a", "description: b\u{fffd} c", "warning: invalid-utf8 3:15"],
    );
}

#[test]
fn f35_the_running_keys_are_typed() {
    let file = |turns: &str| {
        format!(
            "---\nname: a\ndescription: b\nmodel: fast\nmaxTurns: {turns}\ntools: [Read]\ntags: [x, y]\ncontext: fork\n---\n"
        )
    };
    let expect = |turns: Option<&'static str>, more: &'static [&'static str]| -> Vec<&str> {
        let mut lines = vec!["name: a", "description: b", "tools: Read", "model: fast"];
        lines.extend(turns);
        lines.extend(["tags: x | y", "context: fork"]);
        lines.extend(more);
        lines
    };
    check(file("8"), "a", &expect(Some("maxTurns: 8"), &[]));
    check(file("\"8\""), "a", &expect(Some("maxTurns: 8"), &["warning: number-in-quotes 5:11"]));
    let invalid = "warning: max-turns-invalid 5:11";
    for (turns, kept) in [("0", "0"), ("-1", "-1"), ("1.5", "1.5"), ("\"x\"", "\"x\"")] {
        let mut lines = expect(None, &[]);
        let extra = format!("extra maxTurns: {kept}");
        lines.extend([extra.as_str(), invalid]);
        check(file(turns), "a", &lines);
    }
}
