//! What holds for all rules as a set.

use metier_lint::rules;
use std::collections::BTreeSet;

#[test]
fn names_are_unique_and_differ_from_what_the_parser_reports() {
    let mut seen: BTreeSet<&str> = metier_skill::code::ALL.iter().map(|code| code.name()).collect();
    for rule in rules::ALL {
        assert!(seen.insert(rule.code.name()), "{} stands twice", rule.code.name());
    }
}

#[test]
fn every_rule_says_what_why_and_how_in_sentences() {
    for rule in rules::ALL {
        for text in [rule.code.summary(), rule.why, rule.remedy] {
            assert!(text.ends_with('.') && text.len() > 20, "{}: {text:?}", rule.code.name());
            assert!(!text.contains("  "), "{}: {text:?}", rule.code.name());
        }
    }
}
