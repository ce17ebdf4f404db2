use crate::{Check, File, Findings, Rule, RunBit, Skill};
use metier_diagnostic::{Severity, Span};

pub(super) static RULE: Rule = Rule::new(
    "script-without-interpreter",
    Severity::Warning,
    include_str!("script_without_interpreter.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    for file in skill.files.all().iter().filter(|file| is_started(file) && !is_read_in(skill, file)) {
        let Some(text) = file.text.as_deref().filter(|text| !text.trim().is_empty()) else { continue };
        if file.interpreter_line().is_some() {
            continue;
        }
        let message = "the first line does not say what runs this script";
        let found = findings.in_file(skill, &file.path, Some((Span::empty(0), text)), message);
        let line = match file.extension() {
            Some("py") => "#!/usr/bin/env python3",
            Some("js" | "mjs" | "cjs") => "#!/usr/bin/env node",
            Some("rb") => "#!/usr/bin/env ruby",
            Some("bash") => "#!/usr/bin/env bash",
            _ => "#!/bin/sh",
        };
        findings.add(found.help(format!("begin it with a line such as `{line}`")));
    }
}

/// A file of `scripts/` that is there to be started: a shell script, one without an extension, or one that may be
/// started by its path. A Python file without that permission may be a module.
fn is_started(file: &File) -> bool {
    const DATA: &[&str] = &[
        "license",
        "licence",
        "notice",
        "readme",
        "makefile",
        "dockerfile",
        "justfile",
        "procfile",
        "gemfile",
        "rakefile",
        "version",
        "codeowners",
        "brewfile",
    ];
    let name = file.name().to_ascii_lowercase();
    if !file.path.starts_with("scripts/") || DATA.contains(&name.as_str()) {
        return false;
    }
    match file.extension() {
        None => !name.contains('.'),
        Some("sh" | "bash" | "zsh") => true,
        Some(_) => file.is_script() && file.run_bit == RunBit::Set,
    }
}

/// Whether the text or another script reads the file in: `source scripts/lib.sh`, `. ./lib.sh`.
fn is_read_in(skill: &Skill<'_>, file: &File) -> bool {
    let name = file.name();
    let reads = |text: &str| {
        text.match_indices(name).any(|(at, _)| {
            let line = text[..at].rsplit('\n').next().unwrap_or_default().trim_start();
            line.starts_with("source ") || line.starts_with(". ") || line.contains("`source ")
        })
    };
    let others = skill.files.all().iter().filter(|other| other.path != file.path);
    reads(skill.body()) || others.filter_map(|other| other.text.as_deref()).any(reads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::{file, found_in};

    #[test]
    fn what_is_started_needs_a_first_line_and_what_is_read_in_does_not() {
        let check = |path: &str, text: Option<&str>, expect: usize| {
            let files = [file(path, text, RunBit::Set)];
            assert_eq!(found_in("x\n", &files, &RULE).len(), expect, "{path:?} {text:?}");
        };
        check("scripts/run", Some("echo 1\n"), 1);
        check("scripts/run", Some("#!/bin/sh\necho 1\n"), 0);
        check("scripts/run", None, 0);
        check("scripts/run", Some("\n"), 0);
        check("scripts/run.sh", Some("echo 1\n"), 1);
        check("scripts/run.py", Some("print(1)\n"), 1);
        check("scripts/data.json", Some("{}"), 0);
        check("scripts/Makefile", Some("all:\n"), 0);
        check("scripts/.gitignore", Some("x\n"), 0);
        check("bin/run", Some("echo 1\n"), 0);
        let module = [file("scripts/a.py", Some("x = 1\n"), RunBit::Clear)];
        assert_eq!(found_in("x\n", &module, &RULE).len(), 0);
        let library = [
            file("scripts/lib.sh", Some("x=1\n"), RunBit::Clear),
            file("scripts/run.sh", Some("#!/bin/sh\n. \"$(dirname \"$0\")/lib.sh\"\n"), RunBit::Set),
        ];
        assert_eq!(found_in("x\n", &library, &RULE).len(), 0);
    }
}
