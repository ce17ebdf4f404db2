//! The regression tests of the security assessment, tried with this build and with an older one.
//!
//! A finding is closed when a test of it passes here and fails there. The result is the page
//! `docs/security-findings.md`; a test of this crate holds the page against the sources.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cargo::Cargo;
use crate::repository::Repository;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A build from before the fixes, on which every finding must still be open
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Write the result to docs/security-findings.md; takes --binary
    #[arg(long, requires = "binary")]
    write: bool,
}

const PAGE: &str = "docs/security-findings.md";
const TESTS: &str = "crates/cli/tests/findings";

/// Order of the page: the first letter of a finding is its severity.
const SEVERITIES: &[(char, &str)] =
    &[('C', "critical"), ('H', "high"), ('M', "medium"), ('L', "low"), ('D', "code review")];

/// What one test came to, by the name that the test runner prints (`c1::name`).
type Results = BTreeMap<String, bool>;

pub(crate) fn run(repository: &Repository, arguments: &Arguments) -> Result<()> {
    let findings = findings(&repository.root().join(TESTS))?;
    println!("this build:");
    let now = results(repository, None)?;
    let before = match &arguments.binary {
        Some(binary) => {
            let binary = std::path::absolute(binary)?;
            if !binary.is_file() {
                bail!("{} is not a file; --binary takes a build of an older commit", binary.display());
            }
            println!("\n{}: failing is the aim", binary.display());
            Some(results(repository, Some(&binary))?)
        }
        None => None,
    };
    let rows = rows(&findings, &now, before.as_ref());
    println!("\n{rows}");
    if arguments.write {
        fs::write(repository.root().join(PAGE), page(&rows))
            .with_context(|| format!("{PAGE} cannot be written"))?;
        println!("written  {PAGE}");
    }
    let open = open(&findings, &now, before.as_ref());
    if !open.is_empty() {
        bail!("not shown to be closed: {}", open.join(", "));
    }
    Ok(())
}

/// The findings with their titles, read from the first line of each module.
fn findings(folder: &Path) -> Result<BTreeMap<(usize, u32), (String, String)>> {
    let mut findings = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))? {
        let text = fs::read_to_string(entry?.path())?;
        if let Some((id, title)) = heading(&text)
            && let Some(order) = order(id)
        {
            findings.insert(order, (id.to_owned(), title.to_owned()));
        }
    }
    Ok(findings)
}

/// `//! C1: A title.`
fn heading(text: &str) -> Option<(&str, &str)> {
    text.lines().next()?.strip_prefix("//! ")?.split_once(": ")
}

/// Where a finding belongs: by severity, then by number.
fn order(id: &str) -> Option<(usize, u32)> {
    let severity = SEVERITIES.iter().position(|(letter, _)| id.starts_with(*letter))?;
    Some((severity, id.get(1..)?.parse().ok()?))
}

/// Runs the tests, with another binary if one is given, and reads the runner's own lines.
fn results(repository: &Repository, binary: Option<&Path>) -> Result<Results> {
    let mut cargo = Cargo::new(
        repository,
        ["test", "--package", "metier", "--test", "findings", "--no-fail-fast", "--", "--test-threads", "2"],
    );
    if let Some(binary) = binary {
        cargo = cargo.environment("METIER_BIN", binary);
    }
    let results = parse(&cargo.text_of_tests()?);
    if results.is_empty() {
        bail!("no test ran; `cargo test --package metier --test findings` says why");
    }
    Ok(results)
}

/// `test c1::name ... ok`; other endings count as failures.
fn parse(text: &str) -> Results {
    text.lines()
        .filter_map(|line| {
            let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
            Some((name.to_owned(), result.trim() == "ok"))
        })
        .collect()
}

/// The tests of one finding, with what they came to.
fn of<'a>(id: &str, results: &'a Results) -> impl Iterator<Item = (&'a str, bool)> {
    let module = format!("{}::", id.to_lowercase());
    results
        .iter()
        .filter(move |(name, _)| name.starts_with(&module))
        .map(|(name, passed)| (name.as_str(), *passed))
}

/// The findings without proof, and the tests that fail.
fn open(
    findings: &BTreeMap<(usize, u32), (String, String)>,
    now: &Results,
    before: Option<&Results>,
) -> Vec<String> {
    let mut open = Vec::new();
    for (id, _) in findings.values() {
        let failing: Vec<&str> = of(id, now).filter(|(_, passed)| !passed).map(|(name, _)| name).collect();
        if !failing.is_empty() {
            open.push(format!("{id} ({} fails)", failing.join(", ")));
        } else if of(id, now).next().is_none() {
            open.push(format!("{id} (no test)"));
        } else if before.is_some_and(|before| of(id, before).all(|(_, passed)| passed)) {
            open.push(format!("{id} (no test fails with the older build)"));
        }
    }
    open
}

/// The table.
fn rows(
    findings: &BTreeMap<(usize, u32), (String, String)>,
    now: &Results,
    before: Option<&Results>,
) -> String {
    let word = |passed: Option<bool>| match passed {
        Some(true) => "passes",
        Some(false) => "fails",
        None => "-",
    };
    let mut text = String::from(
        "| finding | severity | what holds | test | 11b225f | now |\n|---|---|---|---|---|---|\n",
    );
    for ((severity, _), (id, title)) in findings {
        for (test, passed) in of(id, now) {
            let old = word(before.and_then(|before| before.get(test).copied()));
            let severity = SEVERITIES[*severity].1;
            let _ =
                writeln!(text, "| {id} | {severity} | {title} | `{test}` | {old} | {} |", word(Some(passed)));
        }
    }
    text
}

fn page(rows: &str) -> String {
    format!(
        "# Findings of the security assessment\n\n\
         Each finding has tests of the real program in `{TESTS}`, one module per finding. `cargo xtask findings --binary OLD --write`\n\
         runs them with this build and with a build of commit 11b225f, where the findings are open, and writes this page. A test that\n\
         passes with both is a control, or a variant that was closed already. Attacks on containment are also in the escape suite\n\
         (`cargo test -p metier-sandbox --test escape`), each with a control.\n\n{rows}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() -> BTreeMap<(usize, u32), (String, String)> {
        [((0, 1), ("C1".to_owned(), "Holds.".to_owned()))].into()
    }

    fn result(name: &str, passed: bool) -> Results {
        [(name.to_owned(), passed)].into()
    }

    #[test]
    fn the_lines_of_the_test_runner_are_read() {
        let text =
            "running 2 tests\ntest c1::a ... ok\ntest c1::b ... FAILED\ntest result: FAILED. 1 passed\n";
        let expect: Results = [("c1::a".to_owned(), true), ("c1::b".to_owned(), false)].into();
        assert_eq!(parse(text), expect);
    }

    #[test]
    fn a_finding_is_closed_by_a_test_that_passes_now_and_failed_before() {
        let (good, bad) = (result("c1::a", true), result("c1::a", false));
        assert!(open(&one(), &good, Some(&bad)).is_empty());
        assert!(open(&one(), &good, None).is_empty());
        assert_eq!(open(&one(), &good, Some(&good)).len(), 1);
        assert_eq!(open(&one(), &bad, Some(&bad)).len(), 1);
        assert_eq!(open(&one(), &result("c11::a", true), None), ["C1 (no test)"]);
    }

    #[test]
    fn findings_are_ordered_by_severity_and_number() {
        let mut ids = ["L10", "D5", "L2", "C1", "H3"];
        ids.sort_by_key(|id| order(id));
        assert_eq!(ids, ["C1", "H3", "L2", "L10", "D5"]);
        assert_eq!(order("main"), None);
        assert_eq!(heading("//! C1: Title.\n"), Some(("C1", "Title.")));
    }
}
