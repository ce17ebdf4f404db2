use crate::{Check, Example, File, Findings, Mends, Rule, RunBit, Skill};
use metier_diagnostic::{Code, Severity, Span};

pub(super) static RULE: Rule = Rule {
    code: Code::new(
        "script-without-interpreter",
        Severity::Warning,
        "A script has neither an extension nor a first line that says what runs it.",
    ),
    why: "It runs only for somebody who knows its language. Started by its path it falls to whatever shell is there.",
    remedy: "Begin it with a line such as `#!/usr/bin/env python3`, or give it an extension.",
    mends: Mends::Never,
    ok: Example::new(
        "disk",
        "---\nname: disk\ndescription: Says what fills a disk. Use when a disk is full.\n---\nRun `scripts/usage`.\n",
    )
    .with(&[("scripts/usage", "#!/bin/sh\ndu -s *\n", RunBit::Set)]),
    bad: Example::new(
        "disk",
        "---\nname: disk\ndescription: Says what fills a disk. Use when a disk is full.\n---\nRun `scripts/usage`.\n",
    )
    .with(&[("scripts/usage", "du -s *\n", RunBit::Set)]),
    check: Check::Skill(check),
};

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    for file in skill.files.all().iter().filter(|file| is_nameless(file)) {
        let Some(text) = file.text.as_deref().filter(|text| !text.trim().is_empty()) else { continue };
        if file.interpreter_line().is_some() {
            continue;
        }
        let message = "nothing says what runs this script";
        let found = findings.in_file(skill, &file.path, Some((Span::empty(0), text)), message);
        findings.add(
            found.help("begin it with a line such as `#!/usr/bin/env python3`, or give it an extension"),
        );
    }
}

/// A file of `scripts/` without an extension that is not one of those which never have one.
fn is_nameless(file: &File) -> bool {
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
    file.path.starts_with("scripts/") && !name.contains('.') && !DATA.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::{file, found_in};

    #[test]
    fn only_scripts_without_any_sign_are_reported() {
        let check = |path: &str, text: Option<&str>, expect: usize| {
            let files = [file(path, text, RunBit::Set)];
            assert_eq!(found_in("x\n", &files, &RULE).len(), expect, "{path:?} {text:?}");
        };
        check("scripts/run", Some("echo 1\n"), 1);
        check("scripts/run", Some("#!/bin/sh\necho 1\n"), 0);
        check("scripts/run", None, 0);
        check("scripts/run", Some("\n"), 0);
        check("scripts/run.sh", Some("echo 1\n"), 0);
        check("scripts/data.json", Some("{}"), 0);
        check("scripts/Makefile", Some("all:\n"), 0);
        check("scripts/.gitignore", Some("x\n"), 0);
        check("bin/run", Some("echo 1\n"), 0);
    }
}
