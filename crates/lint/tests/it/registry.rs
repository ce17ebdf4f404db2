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
        let name = rule.code.name();
        let why = rule.page.strip_prefix("\n\n**Why.** ").expect("a page begins with the reasons");
        let (why, remedy) = why.split_once("\n\n**What to do.** ").expect("it says what to do");
        let (remedy, examples) = remedy.split_once("\n\nReported:\n\n").expect("it shows what is reported");
        assert!(examples.contains("\n\nFine:\n\n"), "{name} does not show what is fine");
        for text in [rule.code.summary(), why, remedy] {
            assert!(text.ends_with('.') && text.len() > 20, "{name}: {text:?}");
            assert!(!text.contains("  "), "{name}: {text:?}");
        }
        let is_promised = remedy.ends_with(" `metier check --fix` does it where there is only one way.");
        assert_eq!(is_promised, rule.is_fixing(), "{name}");
    }
}
