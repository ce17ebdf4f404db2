//! Every rule reports its bad example and is content with its good one.

use crate::page::{Example, fine, reported};
use metier_diagnostic::Diagnostic;
use metier_lint::{Files, Rule, Skill, lint, lint_root, rules};
use metier_skill::Document;
use std::path::Path;

fn document(source: &str, folder: &str) -> Document {
    let parsed = metier_skill::parse(source.as_bytes(), Some(folder));
    parsed.document.unwrap_or_else(|| panic!("the example does not load: {:?}", parsed.diagnostics))
}

/// Everything that all rules say about an example, of which the first skill is judged alone, too.
fn found(example: &[Example]) -> Vec<Diagnostic> {
    let documents: Vec<_> = example.iter().map(|skill| document(&skill.source, &skill.folder)).collect();
    let skills: Vec<_> =
        example.iter().zip(&documents).map(|(skill, document)| one(skill, document)).collect();
    let mut found = lint(&skills[0]);
    found.extend(lint_root(&skills));
    found
}

fn one<'a>(skill: &'a Example, document: &'a Document) -> Skill<'a> {
    let path = Path::new(&skill.folder).join("SKILL.md").into();
    Skill::new(path, Some(&skill.folder), &skill.source, document, Files::Known(&skill.files))
}

fn names(found: &[Diagnostic]) -> Vec<&'static str> {
    found.iter().map(|one| one.code.name()).collect()
}

fn each_rule(judge: impl Fn(&'static Rule)) {
    for rule in rules::ALL {
        judge(rule);
    }
}

#[test]
fn each_rule_reports_its_bad_example_with_a_place_and_a_way_out() {
    each_rule(|rule| {
        let found = found(&reported(rule));
        let name = rule.code.name();
        let own: Vec<_> = found.iter().filter(|one| one.code == &rule.code).collect();
        assert!(
            !own.is_empty(),
            "{name} says nothing about its bad example, which gives {:?}",
            names(&found)
        );
        for one in own {
            assert!(one.path.is_some(), "{name} does not say in which file");
            assert!(one.help.is_some(), "{name} does not say what to do");
            assert!(!one.message.ends_with('.'), "{name}: {}", one.message);
        }
    });
}

#[test]
fn no_rule_reports_a_good_example() {
    each_rule(|rule| {
        let found = found(&fine(rule));
        assert!(found.is_empty(), "the good example of {} gives {:?}", rule.code.name(), found);
    });
}

#[test]
fn a_bad_example_is_bad_in_one_way() {
    each_rule(|rule| {
        let found = found(&reported(rule));
        let others: Vec<_> = names(&found).into_iter().filter(|name| *name != rule.code.name()).collect();
        assert!(others.is_empty(), "the bad example of {} also gives {others:?}", rule.code.name());
    });
}
