use crate::reference::links;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use std::collections::BTreeSet;

pub(super) static RULE: Rule =
    Rule::new("link-outside", Severity::Info, include_str!("link_outside.md"), Check::Skill(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let mut seen = BTreeSet::new();
    for link in links(skill) {
        if link.inside().is_some() || is_other_skill(&link.path) || !seen.insert(link.path.clone()) {
            continue;
        }
        let message = format!("`{}` leads out of the skill's folder", link.path);
        let help = "copy the file below `references/`, or name the skill it belongs to";
        findings.report(skill, link.span, message, help);
    }
}

/// A link to the skill next door says which skill to use as well; where it is missing, the name still tells.
fn is_other_skill(path: &str) -> bool {
    path.ends_with("/SKILL.md")
        || path.strip_prefix("../").is_some_and(|rest| !rest.trim_end_matches('/').contains(['/', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_told_from_files_elsewhere() {
        let check = |path: &str, expect: bool| assert_eq!(is_other_skill(path), expect, "{path:?}");
        check("../pdf/SKILL.md", true);
        check("../../office/pdf/SKILL.md", true);
        check("../pdf/", true);
        check("../pdf", true);
        check("../pdf/references/forms.md", false);
        check("../../CONNECTORS.md", false);
        check("../README.md", false);
        check("..", false);
    }
}
