use crate::{Check, Files, Findings, Rule, Skill};
use metier_diagnostic::{Edit, Fix, Severity, Span};

pub(super) static RULE: Rule = Rule::new(
    "windows-separator",
    Severity::Warning,
    include_str!("windows_separator.md"),
    Check::Fixing(check),
);

/// The folders in which the standard puts what belongs to a skill, as they begin such a path.
const FOLDERS: &[&str] = &["scripts\\", "references\\", "assets\\"];

/// Languages of blocks in which backslashes are right, or mean something else.
const WINDOWS: &[&str] = &[
    "powershell",
    "ps1",
    "pwsh",
    "ps",
    "cmd",
    "bat",
    "batch",
    "dos",
    "batchfile",
    "csharp",
    "cs",
    "xml",
    "vb",
    "regex",
    "latex",
    "tex",
];

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    // All of the folders end like this.
    if !skill.body().contains("s\\") {
        return;
    }
    let blocks = skill.markdown().blocks.iter().filter(|block| !WINDOWS.contains(&block.language.as_str()));
    let blocks = blocks.map(|block| (block.content, false));
    let codes = skill.markdown().codes.iter().map(|code| (*code, true));
    let links = skill.markdown().links.iter().map(|link| (link.span, true));
    for (span, is_inline) in blocks.chain(codes).chain(links) {
        for (at, path) in paths(span.of(skill.source)) {
            let straight = path.replace('\\', "/");
            let exists = skill.files.get(straight.strip_prefix("./").unwrap_or(&straight)).is_some();
            // In a block it may be anything; inline, where nobody looked at the files, the text has to do.
            let is_alone = is_inline && skill.files == Files::Unknown;
            if !exists && !is_alone {
                continue;
            }
            findings.add_with(|findings| {
                let start = span.start as usize + at;
                let message = format!("`{path}` is found on Windows only");
                let found = findings.at(skill, Span::new(start, start + path.len()), message);
                let found = found.help(format!("write `{straight}`"));
                if exists && is_inline {
                    let edits = vec![Edit::replace(start, start + path.len(), straight)];
                    found.fix(Fix { label: "write forward slashes".to_owned(), edits })
                } else {
                    found
                }
            });
        }
    }
}

/// The paths of a text that begin with a folder of the standard and have a name with an extension.
fn paths(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_border = |c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '`' | '(' | ')' | '[' | ']' | ',' | ';' | '|' | '<' | '>' | '=')
    };
    text.split(is_border).filter_map(move |word| {
        let word = word.trim_end_matches(['.', ':']);
        let path = word.strip_prefix(".\\").unwrap_or(word);
        let below = FOLDERS.iter().find_map(|folder| path.strip_prefix(folder))?;
        let (stem, extension) = below.rsplit_once('.')?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '\\');
        let is_path = !stem.is_empty()
            && stem.chars().all(is_name)
            && !stem.starts_with('\\')
            && !stem.contains("\\\\")
            && !extension.is_empty()
            && extension.chars().all(|c| c.is_ascii_alphanumeric());
        is_path.then(|| (word.as_ptr() as usize - text.as_ptr() as usize, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::{found, messages};
    use metier_diagnostic::apply;

    #[test]
    fn paths_are_told_from_escapes_and_patterns() {
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<_> = paths(text).map(|(_, path)| path).collect();
            assert_eq!(found, expect, "{text:?}");
        };
        check("python scripts\\run.py --x", &["scripts\\run.py"]);
        check(".\\references\\a\\b.md.", &[".\\references\\a\\b.md"]);
        check("scripts\\*.sql scripts\\n \"scripts\\\"; x", &[]);
        check("scripts\\\\run.py", &[]);
        check("$env:USERPROFILE\\scripts\\run.py", &[]);
    }

    #[test]
    fn inline_paths_of_files_that_exist_are_mended() {
        let body = "Run `python scripts\\a.py` or [b](references\\b.md).\n\n```bash\npython scripts\\a.py\n```\n\n\
                    ```powershell\n.\\scripts\\a.py\n```\n`scripts\\c.py`\n";
        let all = found(body, &["references/b.md", "scripts/a.py"], &RULE);
        assert_eq!(
            messages(&all),
            [
                "`scripts\\a.py` is found on Windows only",
                "`references\\b.md` is found on Windows only",
                "`scripts\\a.py` is found on Windows only",
            ]
        );
        let source = format!("---\nname: x\ndescription: Does x. Use when x is needed.\n---\n{body}");
        let edits: Vec<_> = all.iter().filter_map(|one| one.fix.clone()).flat_map(|fix| fix.edits).collect();
        let mended = apply(&source, &edits);
        assert!(mended.contains("Run `python scripts/a.py` or [b](references/b.md)."), "{mended}");
        assert!(mended.contains("```bash\npython scripts\\a.py"), "{mended}");
    }
}
