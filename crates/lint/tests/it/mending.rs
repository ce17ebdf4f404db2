//! What a rule offers as a fix mends what it reports, and nothing is offered where none is promised.

use crate::page::{Example, reported};
use metier_diagnostic::{Diagnostic, apply};
use metier_lint::{Check, Files, Rule, Skill, lint, rules};
use std::path::Path;

/// What one rule says about a SKILL.md.
fn found(rule: &Rule, folder: &str, source: &str) -> Vec<Diagnostic> {
    let parsed = metier_skill::parse(source.as_bytes(), Some(folder));
    let document = parsed.document.unwrap_or_else(|| panic!("it does not load: {:?}", parsed.diagnostics));
    let path = Path::new(folder).join("SKILL.md").into();
    let skill = Skill::new(path, Some(folder), source, &document, Files::Unknown);
    lint(&skill).into_iter().filter(|one| one.code == &rule.code).collect()
}

#[test]
fn a_fix_leaves_nothing_to_mend_and_no_other_rule_offers_one() {
    for rule in rules::ALL.iter().filter(|rule| !matches!(rule.check, Check::Root(_))) {
        let examples = reported(rule);
        let Example { folder, source, .. } = &examples[0];
        let before = found(rule, folder, source);
        let edits: Vec<_> =
            before.iter().filter_map(|one| one.fix.clone()).flat_map(|fix| fix.edits).collect();
        if !rule.is_fixing() {
            assert!(edits.is_empty(), "{} promises no fix and offers one", rule.code.name());
            continue;
        }
        let mended = apply(source, &edits);
        let after = found(rule, folder, &mended);
        let is_mended = after.iter().all(|one| one.fix.is_none());
        assert!(is_mended, "{} can mend what it has mended: {mended}", rule.code.name());
    }
}
