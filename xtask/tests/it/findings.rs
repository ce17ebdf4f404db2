//! The page about the security assessment names every finding and every test of it, and nothing else.

use std::collections::BTreeSet;

use crate::none;
use crate::workspace::{SOURCES, file};

const PAGE: &str = "docs/security-findings.md";
const TESTS: &str = "crates/cli/tests/findings";

/// `c1::name` for every test of a module.
fn tests_in(module: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines
        .iter()
        .enumerate()
        .filter(|(_, line)| **line == "#[test]")
        .filter_map(|(at, _)| {
            let rest = lines[at..].iter().find_map(|line| line.strip_prefix("fn "))?;
            Some(format!("{module}::{}", rest.split('(').next()?))
        })
        .collect()
}

/// The cells of a row: finding, test, result before, result now.
fn row(line: &str) -> Option<[&str; 4]> {
    let cells: Vec<&str> = line.strip_prefix("| ")?.split('|').map(str::trim).collect();
    let [id, _, _, test, before, now, ..] = cells.as_slice() else { return None };
    let test = test.strip_prefix('`')?.strip_suffix('`')?;
    Some([id, test, before, now])
}

fn problems(page: &str, modules: &[(String, String)]) -> Vec<String> {
    let rows: Vec<[&str; 4]> = page.lines().filter_map(row).collect();
    let listed: BTreeSet<&str> = rows.iter().map(|[_, test, ..]| *test).collect();
    let mut problems = Vec::new();
    let mut present = BTreeSet::new();
    for (module, text) in modules {
        let Some((id, _)) = text.strip_prefix("//! ").and_then(|rest| rest.split_once(": ")) else {
            continue;
        };
        if !id.eq_ignore_ascii_case(module) {
            continue;
        }
        let tests = tests_in(module, text);
        for test in &tests {
            if !listed.contains(test.as_str()) {
                problems.push(format!("{PAGE} does not list `{test}`"));
            }
        }
        present.extend(tests);
        if !rows.iter().any(|[of, _, before, now]| *of == id && *before == "fails" && *now == "passes") {
            problems.push(format!("{PAGE} shows no test of {id} that failed before and passes now"));
        }
    }
    for [_, test, _, now] in &rows {
        if !present.contains(*test) {
            problems.push(format!("{PAGE} lists `{test}`, which is not in {TESTS}"));
        }
        if *now != "passes" {
            problems.push(format!("{PAGE} says that `{test}` {now}"));
        }
    }
    if !problems.is_empty() {
        problems.push("refresh it with `cargo xtask findings --binary OLD --write`".to_owned());
    }
    problems
}

#[test]
fn the_page_lists_every_test_of_every_finding() {
    let modules: Vec<(String, String)> = SOURCES
        .iter()
        .filter_map(|source| {
            let module = source.path.strip_prefix(TESTS)?.strip_prefix('/')?.strip_suffix(".rs")?;
            Some((module.to_owned(), source.text.clone()))
        })
        .collect();
    assert!(modules.len() > 30, "the modules of the findings are in {TESTS}");
    none(&problems(&file(PAGE).unwrap_or_default(), &modules));
}

#[test]
fn a_page_that_misses_a_test_or_a_proof_is_a_problem() {
    let module = ("c1".to_owned(), "//! C1: Holds.\n#[test]\nfn a() {}\n".to_owned());
    let line = |before: &str, now: &str| format!("| C1 | critical | Holds. | `c1::a` | {before} | {now} |\n");
    none(&problems(&line("fails", "passes"), std::slice::from_ref(&module)));
    assert!(problems("", std::slice::from_ref(&module))[0].contains("does not list `c1::a`"));
    assert!(problems(&line("passes", "passes"), std::slice::from_ref(&module))[0].contains("no test of C1"));
    assert!(problems(&line("fails", "fails"), &[module]).iter().any(|problem| problem.contains("fails")));
    assert!(problems(&line("fails", "passes"), &[])[0].contains("which is not in"));
}
