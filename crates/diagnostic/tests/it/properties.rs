//! The views on diagnostics that nobody would make.

use crate::schema::complaints;
use metier_diagnostic::{
    Code, Diagnostic, Diff, Edit, Fix, Paint, Sarif, SarifTool, Severity, Span, render_github, render_report,
    render_text,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::path::Path;
use std::sync::Arc;

static CODES: [Code; 3] = [
    Code::new("odd", Severity::Info, "Odd."),
    Code::new("wrong", Severity::Error, "Wrong. Very."),
    Code::new("old", Severity::Warning, ""),
];

/// Text in which what is special to some view is common.
fn text() -> impl Strategy<Value = String> {
    let special = select(vec![
        "\n",
        "\r\n",
        "\r",
        "\t",
        "::",
        "%",
        ",",
        "::error::",
        "\u{1b}[2J",
        "\u{202e}",
        "\u{feff}",
        "\u{2028}",
        "\u{0}",
        "](",
        "{0}",
        "é",
        "日本",
        "👩\u{200d}💻",
        "---\n",
        " ",
        "..",
        "/",
        "\\",
        "\"",
    ]);
    vec(
        prop_oneof![special.prop_map(str::to_owned), "[a-z]{1,9}", any::<char>().prop_map(String::from)],
        0..24,
    )
    .prop_map(|parts| parts.concat())
}

/// Spans within a text, beyond it, inside its characters, and backwards.
fn span() -> impl Strategy<Value = Span> {
    let offset = || prop_oneof![8 => 0..120_u32, 1 => any::<u32>(), 1 => Just(u32::MAX)];
    (offset(), offset()).prop_map(|(start, end)| Span { start, end })
}

fn fix() -> impl Strategy<Value = Fix> {
    let edit = (span(), text()).prop_map(|(span, text)| Edit { span, text });
    (text(), vec(edit, 0..3)).prop_map(|(label, edits)| Fix { label, edits })
}

fn diagnostic() -> impl Strategy<Value = Diagnostic> {
    let severity = select(vec![Severity::Info, Severity::Warning, Severity::Error]);
    // A place is made with one source and may be shown with another: files change.
    let place = proptest::option::of((span(), text()));
    let path = proptest::option::of(text());
    let words = (text(), proptest::option::of(text()), vec(text(), 0..3));
    (0..CODES.len(), severity, place, path, words, proptest::option::of(fix())).prop_map(
        |(code, severity, place, path, (message, help, notes), fix)| {
            let mut found = Diagnostic::new(&CODES[code], message).with_severity(severity);
            if let Some((span, source)) = place {
                found = found.at(span, &source);
            }
            found.path = path.map(|path| Arc::from(Path::new(&path)));
            found.help = help;
            found.notes = notes;
            found.fix = fix;
            found
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_of_anything_is_harmless(found in vec(diagnostic(), 0..5), source in proptest::option::of(text())) {
        let report = render_report(&found, |_| source.as_deref(), Paint::Plain);
        prop_assert!(!report.contains(|c: char| c != '\n' && (c.is_control() || c == '\u{202e}')), "{report:?}");
        for diagnostic in &found {
            render_text(diagnostic, source.as_deref(), Paint::Colour);
        }
    }

    #[test]
    fn a_github_command_is_one_line(found in diagnostic(), source in proptest::option::of(text())) {
        let line = render_github(&found, source.as_deref());
        prop_assert!(!line.contains(|c: char| c.is_control() || c == '\u{2028}'), "{line:?}");
        let known = ["::error ", "::warning ", "::notice "].iter().any(|command| line.starts_with(command));
        prop_assert!(known, "{line:?}");
        // The properties end where the title does, whatever the file is called.
        let (properties, _) = line[2..].split_once("::").expect("there is data");
        prop_assert!(properties.ends_with(&format!("title={}", found.code.name())), "{line:?}");
    }

    #[test]
    fn sarif_of_anything_is_valid(
        found in vec(diagnostic(), 0..5),
        source in proptest::option::of(text()),
        root in text(),
    ) {
        let tool = SarifTool { name: "t", version: "1", information_uri: None, help_base: None, codes: &[] };
        let sarif = Sarif::new(tool, &found, Path::new(&root), |_| source.as_deref());
        let document = serde_json::to_value(sarif).expect("it serializes");
        prop_assert_eq!(complaints(&document), Vec::<String>::new());
    }

    #[test]
    fn a_diff_of_anything_is_well_formed(path in text(), before in text(), after in text()) {
        let diff = Diff::new(Path::new(&path), &before, &after);
        let patch = diff.patch();
        prop_assert_eq!(patch.is_empty(), before == after);
        let known = ['-', '+', ' ', '@', '\\'];
        prop_assert!(patch.split_terminator('\n').all(|line| line.starts_with(known)), "{patch:?}");
        let shown = diff.shown(Paint::Plain);
        prop_assert!(!shown.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{shown:?}");
    }
}

proptest! {
    // Each case starts git three times.
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn git_applies_the_patch_of_anything(before in vec(text(), 1..4), after in vec(text(), 1..4)) {
        let (before, after) = (format!("x{}", before.join("\n")), format!("x{}", after.join("\n")));
        // Git takes a patch that changes nothing for none at all.
        prop_assume!(before != after);
        if let Some(text) = crate::patch::applied("SKILL.md", &before, &after) {
            prop_assert_eq!(text, after);
        }
    }
}
