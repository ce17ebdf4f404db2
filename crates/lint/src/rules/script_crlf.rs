use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::{Edit, Fix, Severity, Span};

/// How many line ends a fix takes out one by one. A script is not longer; what is, is better converted by a tool.
const MAX_EDITS: usize = 20_000;

pub(super) static RULE: Rule =
    Rule::new("script-crlf", Severity::Error, include_str!("script_crlf.md"), Check::Fixing(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    for file in skill.files.all() {
        let Some(text) = file.text.as_deref().filter(|text| text.starts_with("#!")) else { continue };
        let Some(first) = text.find('\n').and_then(|end| end.checked_sub(1)) else { continue };
        if text.as_bytes().get(first) != Some(&b'\r') {
            continue;
        }
        let message =
            "the interpreter line ends with a carriage return, which becomes part of the interpreter's name";
        let place = Some((Span::new(first, first + 1), text));
        let mut found = findings.in_file(skill, &file.path, place, message);
        let edits: Vec<_> = returns(text).take(MAX_EDITS + 1).map(|at| Edit::delete(at, at + 1)).collect();
        if edits.len() <= MAX_EDITS {
            found = found.fix(Fix { label: "use Unix line ends".to_owned(), edits });
        }
        findings.add(found.help("save the file with Unix line ends"));
    }
}

/// The carriage returns that stand before a line feed.
fn returns(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices("\r\n").map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunBit;
    use crate::rules::tests::{file, found_in};
    use metier_diagnostic::apply;

    fn check(text: &str, expect: Option<&str>) {
        let files = [file("scripts/x.sh", Some(text), RunBit::Set)];
        let found = found_in("x\n", &files, &RULE);
        let mended =
            found.iter().filter_map(|one| one.fix.as_ref()).map(|fix| apply(text, &fix.edits)).next();
        assert_eq!(mended.as_deref(), expect);
    }

    #[test]
    fn every_return_before_a_line_feed_is_taken_out() {
        check("#!/bin/sh\r\na\r\nb\rc\n", Some("#!/bin/sh\na\nb\rc\n"));
        check("#!/bin/sh\na\r\n", None);
        check("a\r\nb\r\n", None);
        check("#!/bin/sh\r", None);
        check("#!\n", None);
    }

    #[test]
    fn a_very_long_file_is_left_to_a_tool() {
        check(&format!("#!/bin/sh\r\n{}", "a\r\n".repeat(MAX_EDITS)), None);
    }
}
