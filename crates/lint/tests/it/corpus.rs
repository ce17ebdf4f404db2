//! Real files: fixes come to an end on every one of them, and change nothing the second time.

use metier_diagnostic::Diagnostic;
use metier_lint::{Files, Skill, lint, mend};
use std::path::{Path, PathBuf};

/// The texts and folders of the corpus, broken ones included; `None` when it is not here.
fn corpus() -> Option<Vec<(PathBuf, String)>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let mut found = Vec::new();
    collect(&root, &mut found);
    (!found.is_empty()).then_some(found)
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("skill.md")) {
            // What is not UTF-8 is never written, so there is nothing to mend.
            let bytes = std::fs::read(&path).expect("the corpus can be read");
            found.extend(String::from_utf8(bytes).ok().map(|text| (path, text)));
        }
    }
}

fn judge(path: &Path, folder: Option<&str>, text: &str) -> Vec<Diagnostic> {
    let parsed = metier_skill::parse(text.as_bytes(), folder);
    let mut found = parsed.diagnostics;
    if let Some(document) = &parsed.document {
        found.extend(lint(&Skill::new(path.into(), folder, text, document, Files::Unknown)));
    }
    found
}

#[test]
fn fixing_twice_changes_nothing_the_second_time() {
    let Some(corpus) = corpus() else {
        metier_testkit::not_tried("corpus", "the corpus of real files is not beside the project");
        return;
    };
    let (mut fixable, mut mended_files) = (0, 0);
    for (path, text) in &corpus {
        let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let offers = judge(path, folder, text).iter().any(|found| found.fix.is_some());
        fixable += usize::from(offers);
        let Some(mended) = mend(text, folder, |text| judge(path, folder, text)) else {
            assert!(!offers, "{}: fixes are offered and cannot be made", path.display());
            continue;
        };
        mended_files += 1;
        assert_ne!(&mended.text, text);
        let again = mend(&mended.text, folder, |text| judge(path, folder, text));
        assert_eq!(again, None, "{}: the second time changes something", path.display());
    }
    println!("{} files, {fixable} with fixes, {mended_files} mended", corpus.len());
    assert!(corpus.len() > 1_000 && mended_files > 40, "the corpus is smaller than it was");
}
