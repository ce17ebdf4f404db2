use crate::reference::Reference;
use crate::word::{first_bytes, last_bytes};
use crate::{Check, Files, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use std::collections::BTreeSet;

pub(super) static RULE: Rule =
    Rule::new("script-missing", Severity::Warning, include_str!("script_missing.md"), Check::Skill(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    if skill.files == Files::Unknown {
        return;
    }
    let mut seen = BTreeSet::new();
    for reference in skill.paths_in_code() {
        let Some(path) = reference.inside().filter(|path| path.starts_with("scripts/")) else { continue };
        if !seen.insert(path.clone()) {
            continue;
        }
        // By the standard a bare path is seen from the skill's folder. Projects have a folder of that name, too, but
        // then the text around it says so.
        if !skill.files.has(&path) && (reference.is_surely_own(skill) || is_used(skill, reference)) {
            let message = format!("there is no `{path}` in the skill's folder");
            let help = "add the script, correct its path, or take the step out";
            findings.report(skill, reference.span, message, help);
        }
    }
}

/// How much of a line is read around a path.
const MAX_LINE: usize = 300;

/// Whether a script is to be there already: not one that the line makes, and not an example of a name.
fn is_used(skill: &Skill<'_>, reference: &Reference) -> bool {
    let (start, end) = (reference.span.start as usize, reference.span.end as usize);
    let ahead = last_bytes(skill.source.get(..start).unwrap_or_default(), MAX_LINE);
    let ahead = ahead.get(ahead.rfind('\n').map_or(0, |at| at + 1)..).unwrap_or_default();
    // A sentence goes on in the next line: "run `scripts/x.sh` from\nthe repository".
    let behind = first_bytes(skill.source.get(end..).unwrap_or_default(), MAX_LINE);
    let behind =
        behind.match_indices('\n').nth(1).map_or(behind, |(at, _)| behind.get(..at).unwrap_or_default());
    !ahead.contains("> ") && !makes_or_shows(ahead) && !makes_or_shows(behind)
}

fn makes_or_shows(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "create",
        "creates",
        "creating",
        "write",
        "generate",
        "generates",
        "add",
        "save",
        "touch",
        "tee",
        "example",
        "examples",
        "e.g",
        "like",
        "such",
        "new",
        "named",
        "name",
        "your",
        "project",
        "repo",
        "repository",
        "would",
    ];
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'));
    words
        .map(|word| word.trim_matches('.'))
        .any(|word| WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::{found, messages};

    fn check(body: &str, files: &[&str], expect: &[&str]) {
        assert_eq!(messages(&found(body, files, &RULE)), expect, "{body:?}");
    }

    #[test]
    fn a_script_that_is_not_there_is_reported_once() {
        let body = "```bash\npython scripts/a.py\npython scripts/b.py\nbash ./scripts/b.py\n```\n";
        check(body, &["scripts/a.py"], &["there is no `scripts/b.py` in the skill's folder"]);
        check("Use `$SKILL_DIR/scripts/x.sh`.\n", &[], &["there is no `scripts/x.sh` in the skill's folder"]);
        check(
            "Run `node scripts/build.mjs`.\n",
            &[],
            &["there is no `scripts/build.mjs` in the skill's folder"],
        );
    }

    #[test]
    fn scripts_of_the_project_and_those_that_are_made_are_not_missing() {
        check("Run `node scripts/build.mjs` of your project.\n", &["references/a.md"], &[]);
        check("`scripts/own.sh`\n```markdown\nUse `scripts/x.py`\n```\n", &["scripts/own.sh"], &[]);
        check("Use `scripts/a.py`.\nCreate `scripts/new.py` for it.\n", &["scripts/a.py"], &[]);
        check("Use `scripts/a.py`.\nExample: `scripts/rotate.py`\n", &["scripts/a.py"], &[]);
        check("```bash\nscripts/a.py\ncat > scripts/x.sh <<E\n```\n", &["scripts/a.py"], &[]);
        check(
            "Use `scripts/a.py`.\nRun `npm run x`, see `scripts/build.js` of\nthe repo.\n",
            &["scripts/a.py"],
            &[],
        );
    }
}
