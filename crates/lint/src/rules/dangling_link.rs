use crate::reference::{Reference, links};
use crate::{Check, Files, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use std::collections::BTreeSet;

pub(super) static RULE: Rule =
    Rule::new("dangling-link", Severity::Warning, include_str!("dangling_link.md"), Check::Skill(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    if skill.files == Files::Unknown {
        return;
    }
    let mut seen = BTreeSet::new();
    for link in links(skill).into_iter().filter(Reference::is_complete) {
        let Some(path) = link.inside().filter(|path| !skill.files.has(path)) else { continue };
        // One missing file is one thing to mend, however often it is linked to.
        if !seen.insert(path.clone()) {
            continue;
        }
        let message = format!("there is no `{path}` in the skill's folder");
        let help = match elsewhere(skill, &path) {
            Some(other) => format!("write `{other}`, if that is meant"),
            None => "add the file, correct the path, or take the link out".to_owned(),
        };
        findings.report(skill, link.span, message, help);
    }
}

/// The one file of the same name in another folder or in other case.
fn elsewhere<'a>(skill: &Skill<'a>, path: &str) -> Option<&'a str> {
    let name = path.rsplit('/').next()?;
    let mut found = skill.files.all().iter().filter(|file| file.name().eq_ignore_ascii_case(name));
    let first = found.next()?;
    found.next().is_none().then_some(first.path.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::found;

    #[test]
    fn a_file_that_lies_elsewhere_is_named() {
        let all =
            found("See [a](A.md), [b](b.md), [b again](b.md) and [c](URL).\n", &["references/a.md"], &RULE);
        let help: Vec<_> = all.iter().filter_map(|one| one.help.as_deref()).collect();
        assert_eq!(
            help,
            [
                "write `references/a.md`, if that is meant",
                "add the file, correct the path, or take the link out"
            ]
        );
    }
}
