use crate::reference::OWN_FOLDER;
use crate::{Check, File, Findings, Rule, RunBit, Skill};
use metier_diagnostic::{Severity, Span};

pub(super) static RULE: Rule = Rule::new(
    "script-not-executable",
    Severity::Warning,
    include_str!("script_not_executable.md"),
    Check::Skill(check),
);

/// The languages of blocks whose lines are commands.
const SHELLS: &[&str] = &["bash", "sh", "shell", "zsh", "console", "terminal", "shellsession"];

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let cannot_start = |file: &&File| file.run_bit == RunBit::Clear && file.interpreter_line().is_some();
    for file in skill.files.all().iter().filter(cannot_start) {
        let Some(span) = start_of(skill, &file.path) else { continue };
        let message = format!("`{}` may not be started: it has no permission to run", file.path);
        findings.report(skill, span, message, format!("run `chmod +x {}`", file.path));
    }
}

/// Where the text starts a script by its path.
fn start_of(skill: &Skill<'_>, path: &str) -> Option<Span> {
    let shells = skill.markdown().blocks.iter().filter(|block| SHELLS.contains(&block.language.as_str()));
    let blocks = shells.map(|block| (block.content, false));
    let codes = skill.markdown().codes.iter().map(|code| (*code, true));
    blocks.chain(codes).find_map(|(span, is_inline)| {
        let text = span.of(skill.source);
        let at = text.match_indices(path).find_map(|(at, _)| {
            let begin = at - own_prefix(text.get(..at)?);
            let ends = text.get(at + path.len()..)?.chars().next();
            let is_whole =
                ends.is_none_or(|c| c.is_whitespace() || matches!(c, '`' | '"' | ';' | ')' | '|' | '&'));
            // Inline, a path alone is a mention; with arguments, with `./` or behind an order it is a command.
            let is_command = !is_inline
                || ends == Some(' ')
                || text.get(begin..at) == Some("./")
                || is_ordered(skill.source.get(..span.start as usize)?);
            (is_whole && is_command && begins_command(text.get(..begin)?)).then_some(begin)
        })?;
        let start = span.start as usize + at;
        Some(Span::new(start, start + path.len()))
    })
}

/// Whether the text before a piece of code orders to run it: "Run `scripts/x.sh`".
fn is_ordered(before: &str) -> bool {
    const ORDERS: &[&str] = &["run", "execute", "start", "call", "invoke", "launch"];
    let word = before.trim_end().rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    ORDERS.iter().any(|order| word.eq_ignore_ascii_case(order))
}

/// How long the name of the skill's own folder is that stands before a path.
fn own_prefix(before: &str) -> usize {
    OWN_FOLDER.iter().find(|own| before.ends_with(*own)).map_or(0, |own| own.len())
}

/// Whether a command begins behind this text: at the start of a line, behind a prompt, an operator or a setting.
fn begins_command(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let line = line.trim_end_matches('"').trim();
    let last = line.rsplit(char::is_whitespace).next().unwrap_or_default();
    let is_setting = last.split_once('=').is_some_and(|(name, value)| {
        !value.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit())
    });
    line.trim_matches('`').is_empty()
        || matches!(last, "$" | "%" | "|" | "||" | "&&" | ";" | "sudo" | "time" | "exec" | "then" | "do")
        || last.ends_with("$(")
        || last.ends_with(';')
        || is_setting
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::{file, found_in};

    fn check(body: &str, expect: usize) {
        let files = [file("scripts/x.sh", Some("#!/bin/sh\nls\n"), RunBit::Clear)];
        assert_eq!(found_in(body, &files, &RULE).len(), expect, "{body:?}");
    }

    #[test]
    fn scripts_that_are_started_by_their_path_need_the_permission() {
        check("```bash\nscripts/x.sh --all\n```\n", 1);
        check("```sh\n$ ./scripts/x.sh\n```\n", 1);
        check("```bash\nA=1 ./scripts/x.sh | head\n```\n", 1);
        check("```bash\nx=$(scripts/x.sh)\n```\n", 1);
        check("```bash\n\"${CLAUDE_SKILL_DIR}/scripts/x.sh\" a\n```\n", 1);
        check("Run `./scripts/x.sh`.\n", 1);
        check("Run `scripts/x.sh --all`.\n", 1);
        check("Then run `scripts/x.sh`.\n", 1);
    }

    #[test]
    fn an_interpreter_or_a_mention_does_not() {
        check("```bash\nbash scripts/x.sh\nchmod +x scripts/x.sh\n```\n", 0);
        check("```bash\ncat ./scripts/x.sh\n```\n", 0);
        check("```\nscripts/x.sh  does it\n```\n", 0);
        check("See `scripts/x.sh`.\n", 0);
        check("```bash\nmy/scripts/x.sh\nscripts/x.sh.bak\n```\n", 0);
    }

    #[test]
    fn what_may_run_or_has_no_interpreter_line_is_left_alone() {
        let body = "```bash\n./scripts/x.sh\n```\n";
        for (text, run_bit) in [("#!/bin/sh\n", RunBit::Set), ("ls\n", RunBit::Clear)] {
            assert!(found_in(body, &[file("scripts/x.sh", Some(text), run_bit)], &RULE).is_empty());
        }
    }
}
