use crate::{Check, File, Findings, Rule, Skill};
use metier_diagnostic::{Severity, Span};
use std::collections::HashSet;

/// How many files a message names.
const SHOWN: usize = 5;

pub(super) static RULE: Rule =
    Rule::new("file-unreferenced", Severity::Info, include_str!("file_unreferenced.md"), Check::Skill(check));

/// The folders that are judged. What lies in `assets/` is often used by a script that makes up its name.
const FOLDERS: &[&str] = &["references/", "scripts/"];

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let is_judged =
        |file: &&File| FOLDERS.iter().any(|folder| file.path.starts_with(folder)) && !needs_no_name(file);
    let mut judged = skill.files.all().iter().filter(is_judged).peekable();
    if judged.peek().is_none() {
        return;
    }
    let mut mentions = Mentions::default();
    mentions.read(skill.source, None);
    for file in skill.files.all() {
        if let Some(text) = &file.text {
            mentions.read(text, Some(file.name()));
        }
    }
    let unnamed: Vec<_> = judged.filter(|file| !mentions.names(file)).collect();
    for folder in FOLDERS {
        let below: Vec<_> = unnamed.iter().filter(|file| file.path.starts_with(folder)).collect();
        let Some(first) = below.first() else { continue };
        let message = match below.len() {
            1 => format!("nothing in the skill names `{}`", first.path),
            count => format!("nothing in the skill names {count} files below `{folder}`"),
        };
        let mut found = findings.at(skill, Span::default(), message);
        if below.len() > 1 {
            let names: Vec<_> = below.iter().take(SHOWN).map(|file| format!("`{}`", file.path)).collect();
            let more = below.len().saturating_sub(SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            found = found.note(format!("{}{more}", names.join(", ")));
        }
        findings.add(found.help("say in the body when to use it, or take it out"));
    }
}

/// What the texts of a skill name: words that could be paths or names, and folders as a whole.
#[derive(Debug, Default)]
struct Mentions<'a> {
    words: HashSet<&'a str>,
    folders: HashSet<&'a str>,
}

impl<'a> Mentions<'a> {
    /// Reads a text. The own name of a file in it says nothing.
    fn read(&mut self, text: &'a str, own: Option<&str>) {
        for word in path_words(text).filter(|word| own.is_none_or(|own| !word.ends_with(own))) {
            let word = word.trim_end_matches('.').trim_start_matches("./");
            // `references/` alone stands for all of it, and so does `references/*.md` or `references/<topic>.md`, of which
            // the word ends at the mark.
            if let Some(folder) = word.strip_suffix('/') {
                self.folders.insert(folder);
                self.folders.extend(folder.rsplit('/').next());
            }
            self.words.insert(word);
            self.words.extend(word.rsplit('/').next());
            // Programs import each other without the extension, and by dots instead of slashes.
            self.words.extend(word.rsplit('.').next());
        }
    }

    fn names(&self, file: &File) -> bool {
        let stem = file.name().rsplit_once('.').map_or(file.name(), |(stem, _)| stem);
        let mut folder = file.path.as_str();
        let in_named_folder = std::iter::from_fn(|| {
            folder = folder.rsplit_once('/')?.0;
            Some(folder)
        })
        .any(|folder| {
            let name = folder.rsplit('/').next().unwrap_or_default();
            let is_below = folder.contains('/');
            self.folders.contains(folder)
                || (is_below && (self.folders.contains(name) || self.words.contains(name)))
        });
        in_named_folder
            || self.words.contains(file.path.as_str())
            || self.words.contains(file.name())
            || self.words.contains(stem)
    }
}

/// The words of a text that could be paths.
fn path_words(text: &str) -> impl Iterator<Item = &str> {
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    text.split(move |c| !is_path(c)).filter(|word| !word.is_empty())
}

/// Files that are found by rules of their own: indexes, licences, packages and their settings, tests, and what tools
/// leave behind.
fn needs_no_name(file: &File) -> bool {
    const NAMES: &[&str] = &[
        "readme",
        "license",
        "licence",
        "notice",
        "changelog",
        "index",
        "__init__",
        "__main__",
        "package",
        "package-lock",
        "pnpm-lock",
        "yarn",
        "requirements",
        "pyproject",
        "uv",
        "poetry",
        "tsconfig",
        "makefile",
        "dockerfile",
        "conftest",
        "setup",
        "cargo",
        "go",
        "toc",
        "sources",
        "_index",
    ];
    let name = file.name().to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or(&name);
    let is_test = stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("-test")
        || name.contains(".test.")
        || name.contains(".spec.");
    let folder = |part: &str| {
        part.starts_with('.')
            || matches!(
                part,
                "tests"
                    | "test"
                    | "__tests__"
                    | "fixtures"
                    | "testdata"
                    | "node_modules"
                    | "__pycache__"
                    | "vendor"
            )
    };
    name.starts_with('.')
        || is_test
        || NAMES.contains(&stem)
        || file.path.rsplit('/').skip(1).any(folder)
        || matches!(file.extension(), Some("pyc" | "lock" | "map"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunBit;
    use crate::rules::tests::{file, found, found_in, messages};

    fn check(body: &str, paths: &[&str], expect: &[&str]) {
        assert_eq!(messages(&found(body, paths, &RULE)), expect, "{body:?}");
    }

    #[test]
    fn files_are_named_by_path_name_stem_or_folder() {
        check("Read `references/a.md`.\n", &["references/a.md"], &[]);
        check("See a.md.\n", &["references/deep/a.md"], &[]);
        check("The `a` guide\n", &["references/a.md"], &[]);
        check("Everything in references/ matters.\n", &["references/a.md", "references/b/c.md"], &[]);
        check("See `references/<topic>.md`.\n", &["references/a.md"], &[]);
        check("See references/*.md\n", &["references/a.md"], &[]);
        check("Pick one of `advisors/`.\n", &["references/advisors/a.md"], &[]);
    }

    #[test]
    fn what_nothing_names_is_reported_once_per_folder() {
        check("x\n", &["references/a.md"], &["nothing in the skill names `references/a.md`"]);
        check(
            "See `references/a.md`.\n",
            &["references/a.md", "references/b.md"],
            &["nothing in the skill names `references/b.md`"],
        );
        check(
            "x\n",
            &["references/b.md", "references/c.md", "scripts/d.py"],
            &[
                "nothing in the skill names 2 files below `references/`",
                "nothing in the skill names `scripts/d.py`",
            ],
        );
    }

    #[test]
    fn files_with_a_place_of_their_own_need_no_name() {
        check(
            "x\n",
            &["scripts/__init__.py", "scripts/package.json", "scripts/tests/a.py", "references/README.md"],
            &[],
        );
        check(
            "x\n",
            &["scripts/test_a.py", "scripts/a.test.ts", "assets/a.png", "LICENSE", "scripts/.env"],
            &[],
        );
    }

    #[test]
    fn scripts_name_each_other() {
        let python = |path: &str, text: &str| file(path, Some(text), RunBit::Clear);
        let files = [
            python("scripts/a.py", "from lib.tools import x\n# a.py\n"),
            python("scripts/lib/tools.py", ""),
            python("scripts/lone.py", "# lone.py, by me\n"),
        ];
        assert_eq!(
            messages(&found_in("Run `scripts/a.py`.\n", &files, &RULE)),
            ["nothing in the skill names `scripts/lone.py`"]
        );
    }
}
