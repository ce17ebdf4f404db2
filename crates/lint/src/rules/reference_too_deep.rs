use crate::reference::links;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use std::collections::BTreeSet;

/// How many folders may lie between `references/` and a file of it.
const MAX_FOLDERS: usize = 1;

pub(super) static RULE: Rule = Rule::new(
    "reference-too-deep",
    Severity::Info,
    include_str!("reference_too_deep.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let mut seen = BTreeSet::new();
    for reference in links(skill).iter().chain(skill.paths_in_code()) {
        let Some(path) = reference.inside() else { continue };
        let folders = folders(&path);
        if folders <= MAX_FOLDERS || !seen.insert(path.clone()) {
            continue;
        }
        let message = format!("`{path}` lies {folders} folders below `references/`; one is advised at most");
        findings.report(skill, reference.span, message, "move the file up");
    }
}

/// How many folders lie between `references/` and the file.
fn folders(path: &str) -> usize {
    let below = path.strip_prefix("references/").filter(|below| !below.ends_with('/'));
    below.map_or(0, |below| below.matches('/').count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::{found, messages};

    #[test]
    fn folders_are_counted_below_references_only() {
        for (path, expect) in
            [("references/a.md", 0), ("references/a/b.md", 1), ("references/a/b/c.md", 2), ("x/y/z/a.md", 0)]
        {
            assert_eq!(folders(path), expect, "{path:?}");
        }
    }

    #[test]
    fn a_file_is_reported_once() {
        let body = "[a](references/a/b/c.md) and `references/a/b/c.md` and `references/a/b.md`\n";
        let all = found(body, &["references/a/b/c.md", "references/a/b.md"], &RULE);
        assert_eq!(
            messages(&all),
            ["`references/a/b/c.md` lies 2 folders below `references/`; one is advised at most"]
        );
    }
}
