//! Every rule reports its bad example and is content with its good one.

use metier_diagnostic::Diagnostic;
use metier_lint::{Example, File, Files, Rule, Skill, lint, lint_root, rules};
use metier_skill::Document;
use std::path::Path;

fn files(example: &Example) -> Vec<File> {
    let mut files: Vec<File> = example
        .files
        .iter()
        .map(|(path, text, run_bit)| File {
            path: (*path).to_owned(),
            size: text.len() as u64,
            run_bit: *run_bit,
            text: Some((*text).to_owned()),
        })
        .collect();
    files.extend(example.large.map(|(path, size)| File {
        path: path.to_owned(),
        size,
        run_bit: metier_lint::RunBit::Clear,
        text: None,
    }));
    let document = File { path: "SKILL.md".into(), size: 1, run_bit: metier_lint::RunBit::Clear, text: None };
    files.push(document);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn document(source: &str, folder: &str) -> Document {
    let parsed = metier_skill::parse(source.as_bytes(), Some(folder));
    parsed.document.unwrap_or_else(|| panic!("the example does not load: {:?}", parsed.diagnostics))
}

/// Everything that all rules say about an example.
fn found(example: &Example) -> Vec<Diagnostic> {
    let (source, files) = (example.source(), files(example));
    let parsed = document(&source, example.folder());
    let path = |folder: &str| Path::new(folder).join("SKILL.md").into();
    let skill =
        Skill::new(path(example.folder()), Some(example.folder()), &source, &parsed, Files::Known(&files));
    let mut found = lint(&skill);
    if let Some((folder, text)) = example.beside {
        let other = document(text, folder);
        let other = Skill::new(path(folder), Some(folder), text, &other, Files::Known(&[]));
        found.extend(lint_root(&[skill, other]));
    } else {
        found.extend(lint_root(&[skill]));
    }
    found
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
        let found = found(&rule.bad);
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
        let found = found(&rule.ok);
        assert!(found.is_empty(), "the good example of {} gives {:?}", rule.code.name(), found);
    });
}

#[test]
fn a_bad_example_is_bad_in_one_way() {
    each_rule(|rule| {
        let found = found(&rule.bad);
        let others: Vec<_> = names(&found).into_iter().filter(|name| *name != rule.code.name()).collect();
        assert!(others.is_empty(), "the bad example of {} also gives {others:?}", rule.code.name());
    });
}
