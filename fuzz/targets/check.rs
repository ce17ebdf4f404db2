//! Any text, judged: every place of every finding is in the text, every client has an opinion, and fixes come to an end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use metier_diagnostic::Diagnostic;
use metier_lint::{File, Files, RunBit, Skill, lint, lint_root, mend};
use metier_skill::profile::{Fate, FileView, Profile, judge};
use metier_skill::{Parsed, parse};
use std::path::Path;

const FOLDER: Option<&str> = Some("pdf");

fn findings(text: &str, parsed: &Parsed, files: &[File]) -> Vec<Diagnostic> {
    let mut found = parsed.diagnostics.clone();
    if let Some(document) = &parsed.document {
        let skill = Skill::new(Path::new("pdf/SKILL.md").into(), FOLDER, text, document, Files::Known(files));
        found.extend(lint(&skill));
        found.extend(lint_root(&[skill]));
    }
    // What is said about a file beside it has places of that file.
    found.retain(|found| found.path.as_deref().is_none_or(|path| path == Path::new("pdf/SKILL.md")));
    found
}

fuzz_target!(|text: &str| {
    let parsed = parse(text.as_bytes(), FOLDER);
    // Whatever stands there may also stand in a script beside it.
    let file = |path: &str, text: Option<&str>| File {
        path: path.to_owned(),
        size: 1,
        run_bit: RunBit::Clear,
        text: text.map(str::to_owned),
    };
    let files = [file("SKILL.md", None), file("references/a.md", None), file("scripts/b.sh", Some(text))];
    for found in findings(text, &parsed, &files) {
        let edits = found.fix.iter().flat_map(|fix| &fix.edits).map(|edit| edit.span);
        for span in found.place.map(|place| place.span).into_iter().chain(edits) {
            assert!(text.get(span.range()).is_some(), "{}: {span:?}", found.code);
        }
    }
    for profile in Profile::ALL {
        let verdict = judge(*profile, &FileView::new(text, &parsed, FOLDER));
        assert!(
            verdict.loads.is_yes() || verdict.remarks.iter().any(|remark| remark.fate == Fate::Refused),
            "{profile} gives no reason"
        );
    }
    let judge = |text: &str| findings(text, &parse(text.as_bytes(), FOLDER), &files);
    if let Some(mended) = mend(text, FOLDER, judge) {
        assert_eq!(mend(&mended.text, FOLDER, judge), None, "a second fix changes something");
    }
});
