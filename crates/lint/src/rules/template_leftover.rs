use crate::word::is_quoted;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::{Severity, Span};

pub(super) static RULE: Rule = Rule::new(
    "template-leftover",
    Severity::Warning,
    include_str!("template_leftover.md"),
    Check::Skill(check),
);

/// What templates of skills leave behind, in brackets anywhere in a line.
const BRACKETED: &[&str] = &["[TODO:", "[TODO]"];

/// The same at the start of a line.
const LINES: &[&str] =
    &["TODO: ", "Lorem ipsum", "Insert instructions below", "Replace with description of the skill"];

/// Beginnings of all of these. Nearly all bodies have none of them, and short needles are looked for fastest.
const BEGINNINGS: &[&str] = &["TODO", "Lorem ip", "Insert i", "Replace "];

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    if !BEGINNINGS.iter().any(|beginning| skill.body().contains(beginning)) {
        return;
    }
    let mut at = skill.body_at();
    for line in skill.body().split_inclusive('\n') {
        let found = leftover(line).map(|(start, length)| (at + start, at + start + length));
        at += line.len();
        let Some((start, end)) = found else { continue };
        if !is_quoted(skill, start, end) {
            let (message, help) =
                ("this is left over from a template", "write what belongs here, or take the line out");
            findings.report(skill, Span::new(start, end), message, help);
        }
    }
}

/// Where a line has something left over, and how long it is.
fn leftover(line: &str) -> Option<(usize, usize)> {
    let bracketed = line.match_indices('[').find_map(|(at, _)| {
        let rest = line.get(at..)?;
        let marker = BRACKETED.iter().find(|marker| rest.starts_with(**marker))?;
        // `[TODO](link)` leads somewhere, and a task list has its boxes in front.
        let end = rest.find(']').map_or(marker.len(), |end| end + 1);
        (!rest.get(end..)?.starts_with('(')).then_some((at, end))
    });
    bracketed.or_else(|| {
        let text = line.trim_start_matches([' ', '\t', '#', '-', '*', '>', '_']);
        let marker = LINES.iter().find(|marker| text.starts_with(**marker))?;
        let length = text.trim_end().len().max(marker.trim_end().len());
        Some((line.len() - text.len(), length))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(line: &str, expect: Option<&str>) {
        assert_eq!(leftover(line).map(|(at, length)| &line[at..at + length]), expect, "{line:?}");
    }

    #[test]
    fn what_templates_leave_is_found() {
        check("Then [TODO: describe it] and go on\n", Some("[TODO: describe it]"));
        check("[TODO: no end\n", Some("[TODO:"));
        check("- TODO: describe the steps\n", Some("TODO: describe the steps"));
        check("# Insert instructions below\n", Some("Insert instructions below"));
        check("Lorem ipsum dolor\n", Some("Lorem ipsum dolor"));
    }

    #[test]
    fn talk_about_todos_is_not() {
        check("Leave it as a TODO: row rather than guessing\n", None);
        check("TODOs are listed\n", None);
        check("- [ ] todo items\n", None);
        check("See [TODO](todo.md)\n", None);
        check("Write todos as [x]\n", None);
    }

    proptest! {
        #[test]
        fn a_leftover_is_a_part_of_its_line(line in "[a-zé \\[\\]:#-]{0,9}(\\[TODO: |TODO: |Lorem ipsum)?[é\\] a\n]{0,9}") {
            if let Some((at, length)) = leftover(&line) {
                prop_assert!(line.get(at..at + length).is_some());
            }
        }
    }
}
