//! How the tables of command lines are written and held.

use metier_policy::CommandPattern;
use metier_policy::shell::{Line, RefusalKind, parse};

/// One line of a table.
pub(crate) struct Case {
    /// Separated by commas.
    pub(crate) patterns: &'static str,
    pub(crate) line: &'static str,
    pub(crate) expect: Expect,
}

/// What comes of a line.
#[derive(Debug, PartialEq)]
pub(crate) enum Expect {
    /// Every command matches a pattern.
    Passes,
    /// This command, as it is written, is the first that matches none.
    Unmatched(&'static str),
    /// The line is refused for this piece.
    Refused(RefusalKind, &'static str),
}

pub(crate) const fn passes(patterns: &'static str, line: &'static str) -> Case {
    Case { patterns, line, expect: Expect::Passes }
}

pub(crate) const fn unmatched(patterns: &'static str, line: &'static str, command: &'static str) -> Case {
    Case { patterns, line, expect: Expect::Unmatched(command) }
}

/// Refused under the widest pattern there is.
pub(crate) const fn refused(kind: RefusalKind, line: &'static str, piece: &'static str) -> Case {
    Case { patterns: "*", line, expect: Expect::Refused(kind, piece) }
}

/// The first command of a line that no pattern matches, as it is written.
pub(crate) fn first_unmatched<'a>(line: &'a Line, patterns: &[CommandPattern]) -> Option<&'a str> {
    let mut commands = line.commands.iter();
    let found = commands.find(|command| !patterns.iter().any(|pattern| pattern.matches(command)));
    found.map(|command| line.text(command))
}

/// Holds every case of a table, and names all that do not hold.
pub(crate) fn hold(cases: &[Case]) {
    let wrong: Vec<String> = cases.iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{} of {} do not hold:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn wrong(case: &Case) -> Option<String> {
    let patterns: Vec<_> =
        case.patterns.split(',').map(|text| CommandPattern::parse(text).expect("a pattern")).collect();
    let found = match parse(case.line) {
        Err(refusal) => format!("{:?}", (refusal.kind, refusal.piece)),
        Ok(line) => match first_unmatched(&line, &patterns) {
            None => "passes".to_owned(),
            Some(command) => format!("unmatched {command:?}"),
        },
    };
    let expect = match &case.expect {
        Expect::Passes => "passes".to_owned(),
        Expect::Unmatched(command) => format!("unmatched {command:?}"),
        Expect::Refused(kind, piece) => format!("{:?}", (kind, piece)),
    };
    (found != expect).then(|| {
        format!("  {:?} under {}\n    expected {expect}\n    found    {found}", case.line, case.patterns)
    })
}

#[test]
fn the_tables_have_their_five_hundred_lines() {
    let tables = crate::shell_accepted::TABLES.iter().chain(crate::shell_refused::TABLES);
    let count: usize = tables.map(|table| table.len()).sum();
    assert!(count >= 500, "{count}");
}
