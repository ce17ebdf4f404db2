use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::{Edit, Fix, Severity, Span};

pub(super) static RULE: Rule = Rule::new(
    "interpreter-path",
    Severity::Warning,
    include_str!("interpreter_path.md"),
    Check::Fixing(check),
);

/// Where systems keep what they come with.
const SYSTEM: &[&str] = &["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/system/bin/"];

/// Where package managers put interpreters of the ordinary kind, so that the name alone means the same.
const MANAGED: &[&str] =
    &["/usr/local/bin/", "/opt/homebrew/bin/", "/opt/local/bin/", "/home/linuxbrew/.linuxbrew/bin/"];

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    for file in skill.files.all() {
        let Some((text, line)) = file.text.as_deref().zip(file.interpreter_line()) else { continue };
        let Some(interpreter) = Interpreter::of(line) else { continue };
        let span = Span::new(interpreter.at, interpreter.at + interpreter.path.len());
        let message = format!("most machines have no `{}`", interpreter.path);
        let mut found = findings.in_file(skill, &file.path, Some((span, text)), message);
        let portable = format!("/usr/bin/env {}", interpreter.name());
        if interpreter.is_replaceable() {
            let edits = vec![Edit::replace(span.range().start, span.range().end, portable.as_str())];
            found = found.fix(Fix { label: format!("begin with `#!{portable}`"), edits });
        }
        findings.add(found.help(format!("begin it with `#!{portable}`")));
    }
}

/// An interpreter that a script asks for by a path of its author's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interpreter<'a> {
    at: usize,
    path: &'a str,
    arguments: &'a str,
}

impl<'a> Interpreter<'a> {
    /// Reads an interpreter line; `None` when what it names is there on most systems.
    fn of(line: &'a str) -> Option<Self> {
        let rest = line.strip_prefix("#!")?.trim_end();
        let path = rest.trim_start();
        let at = line.find(path).filter(|_| !path.is_empty())?;
        let (path, arguments) = path.split_once([' ', '\t']).unwrap_or((path, ""));
        let is_path =
            path.starts_with(['/', '~']) || path.get(1..3) == Some(":\\") || path.get(1..3) == Some(":/");
        let is_common =
            SYSTEM.iter().any(|folder| path.strip_prefix(folder).is_some_and(|name| !name.contains('/')));
        (is_path && !is_common).then_some(Self { at, path, arguments })
    }

    fn name(self) -> &'a str {
        let name = self.path.rsplit(['/', '\\']).next().unwrap_or(self.path);
        name.strip_suffix(".exe").unwrap_or(name)
    }

    /// Whether the name alone surely means the same program. `env` takes no arguments for it, and an environment of a
    /// project has packages that another interpreter lacks.
    fn is_replaceable(self) -> bool {
        self.arguments.is_empty()
            && !self.name().is_empty()
            && MANAGED
                .iter()
                .any(|folder| self.path.strip_prefix(folder).is_some_and(|name| !name.contains('/')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_of_one_machine_are_found() {
        let check = |line: &str, expect: Option<(&str, bool)>| {
            let found = Interpreter::of(line).map(|found| (found.name(), found.is_replaceable()));
            assert_eq!(found, expect, "{line:?}");
        };
        check("#!/usr/bin/env python3", None);
        check("#!/bin/bash -e", None);
        check("#! /usr/bin/perl", None);
        check("#!", None);
        check("#!python3", None);
        check("#!/usr/local/bin/python3", Some(("python3", true)));
        check("#!/usr/local/bin/python3 -u", Some(("python3", false)));
        check("#!/home/me/venv/bin/python", Some(("python", false)));
        check("#!C:\\Python\\python.exe", Some(("python", false)));
        check("#! /opt/homebrew/bin/bash\r", Some(("bash", true)));
    }
}
