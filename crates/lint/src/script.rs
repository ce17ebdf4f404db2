//! The scripts of a skill, taken apart as far as rules about what they reach, read and write need it.
//!
//! This is no interpreter. It tells comments, texts and code apart, and in a shell words and redirections; what is put
//! together while a script runs is not known here, and rules stay silent about it.

mod literal;
mod shell;

pub(crate) use literal::{PieceKind, Pieces, last_name};
pub(crate) use shell::{Shell, Simple, Word};

use crate::file::File;
use crate::skill::Skill;

/// A script and what is understood of it.
#[derive(Debug)]
pub(crate) struct Script<'a> {
    /// Its path below the skill's folder.
    pub(crate) path: &'a str,
    /// Its whole text.
    pub(crate) text: &'a str,
    /// Its text, taken apart.
    pub(crate) code: Code<'a>,
}

/// A text in one of the languages that are understood.
#[derive(Debug)]
pub(crate) enum Code<'a> {
    /// Words, commands and redirections.
    Shell(Shell),
    /// Code, texts and comments.
    Python(Pieces<'a>),
    /// The same.
    JavaScript(Pieces<'a>),
}

/// The languages that are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Shell,
    Python,
    JavaScript,
}

/// Folders whose files are material or tests and not what the skill runs: a page that is copied into somebody's project
/// loads its fonts from the web in a browser, not here.
const MATERIAL: &[&str] = &[
    "__tests__",
    "assets",
    "docs",
    "evals",
    "examples",
    "fixtures",
    "node_modules",
    "references",
    "resources",
    "samples",
    "templates",
    "test",
    "tests",
    "vendor",
];

impl<'a> Script<'a> {
    /// The scripts of a skill, in the order of their paths.
    pub(crate) fn all(skill: &Skill<'a>) -> impl Iterator<Item = Self> {
        skill.files.all().iter().filter_map(Self::of)
    }

    /// A file as a script; `None` where it is not one, or in a language that is not understood.
    fn of(file: &'a File) -> Option<Self> {
        let text = file.text.as_deref()?;
        let language = Language::of(file).filter(|_| !is_material(file))?;
        let code = match language {
            Language::Shell => Code::Shell(Shell::read(text)),
            Language::Python => Code::Python(Pieces::of_python(text)),
            Language::JavaScript => Code::JavaScript(Pieces::of_javascript(text)),
        };
        Some(Self { path: &file.path, text, code })
    }
}

impl Language {
    fn of(file: &File) -> Option<Self> {
        match file.extension().map(str::to_ascii_lowercase).as_deref() {
            Some("sh" | "bash" | "zsh") => Some(Self::Shell),
            Some("py") => Some(Self::Python),
            Some("js" | "mjs" | "cjs" | "ts") => Some(Self::JavaScript),
            Some(_) => None,
            None => Self::of_interpreter(file.interpreter_line()?),
        }
    }

    fn of_interpreter(line: &str) -> Option<Self> {
        let mut words = line.trim_start_matches("#!").split_whitespace();
        let name = |word: &'_ str| word.rsplit('/').next().map(str::to_owned);
        let first = name(words.next()?)?;
        let program = if first == "env" { name(words.find(|word| !word.starts_with('-'))?)? } else { first };
        match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "sh" | "bash" | "dash" | "zsh" | "ksh" => Some(Self::Shell),
            "python" => Some(Self::Python),
            "node" | "deno" | "bun" | "tsx" => Some(Self::JavaScript),
            _ => None,
        }
    }
}

/// Whether a file lies there to be copied, read or tested, and not to be run.
fn is_material(file: &File) -> bool {
    let (folders, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    let name = name.to_ascii_lowercase();
    let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
    let is_test = stem.starts_with("test_")
        || stem.ends_with("_test")
        || matches!(stem.rsplit_once('.'), Some((_, "test" | "spec")))
        || stem == "conftest";
    is_test || folders.split('/').any(|folder| MATERIAL.contains(&folder.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunBit;

    #[test]
    fn a_script_is_known_by_its_extension_or_its_first_line() {
        let check = |path: &str, text: &str, expect: Option<Language>| {
            let text = Some(text.to_owned());
            let file = File { path: path.to_owned(), size: 1, run_bit: RunBit::Set, text };
            assert_eq!(Language::of(&file).filter(|_| !is_material(&file)), expect, "{path}");
        };
        check("scripts/a.py", "", Some(Language::Python));
        check("scripts/a.SH", "", Some(Language::Shell));
        check("lib/a.ts", "", Some(Language::JavaScript));
        check("scripts/a", "#!/usr/bin/env -S python3.12 -u\n", Some(Language::Python));
        check("scripts/a", "#! /bin/bash\n", Some(Language::Shell));
        check("scripts/a", "#!/usr/bin/perl\n", None);
        check("scripts/a", "text", None);
        check("scripts/a.rb", "", None);
        check("assets/page.js", "", None);
        check("scripts/templates/a.py", "", None);
        check("scripts/test_a.py", "", None);
        check("scripts/a.test.ts", "", None);
    }
}
