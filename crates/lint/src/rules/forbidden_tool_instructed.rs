use crate::command::{programs_of, shell_blocks};
use crate::phrase::Spoken;
use crate::tool::{KNOWN, lists, spoken_name};
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::{Severity, Span};
use metier_skill::{Spanned, ToolPattern};

/// How far before a block a sentence may tell to run it.
const LEAD: usize = 160;
/// The words with which such a sentence tells it.
const ORDERS: &[&str] = &["run", "running", "execute", "launch", "start it with", "invoke", "call"];
/// The words before `the Write tool` that make it an instruction.
const USES: &[&str] = &["use", "using", "call", "invoke", "via", "with", "through"];

pub(super) static RULE: Rule = Rule::new(
    "forbidden-tool-instructed",
    Severity::Warning,
    include_str!("forbidden_tool_instructed.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    // Most skills have no list, and nothing to look for then.
    if lists(skill).next().is_none() {
        return;
    }
    let mut reported: Vec<&str> = Vec::new();
    for (tool, span, what) in instructed(skill) {
        if reported.contains(&tool) {
            continue;
        }
        let Some(key) = forbidding(skill, tool) else { continue };
        reported.push(tool);
        let (message, help) = if key == "disallowed-tools" {
            let help = "take the tool out of the list, or the instruction out of the body".to_owned();
            (format!("{what}, and `disallowed-tools` takes `{tool}` away"), help)
        } else {
            let help = "as narrowly as it is needed, or take the instruction out";
            let help = format!("add `{tool}` to `{key}`, {help}");
            (format!("{what}, and `{key}` does not name `{tool}`"), help)
        };
        findings.report(skill, span, message, help);
    }
}

/// The key whose list does not let a tool be used.
fn forbidding(skill: &Skill<'_>, tool: &str) -> Option<&'static str> {
    lists(skill)
        .find(|(key, list)| {
            let names = list.value.iter().any(|pattern| covers(pattern, tool));
            if *key == "disallowed-tools" {
                return list.value.iter().any(|pattern| covers(pattern, tool) && pattern.argument.is_none());
            }
            !names && !is_unreadable(skill, list)
        })
        .map(|(key, _)| key)
}

/// Whether an entry lets a tool be used at all. What its parentheses narrow is not judged here.
fn covers(pattern: &ToolPattern, tool: &str) -> bool {
    let name = spoken_name(&pattern.tool);
    let by_name = name.eq_ignore_ascii_case(tool);
    // Whoever may write files may change them, and the other way round; a child has tools of its own.
    let by_kind = matches!((name, tool), ("Edit", "Write") | ("Write", "Edit")) || name == "Task";
    pattern.is_wildcard() || by_name || by_kind
}

/// A list that is empty because it could not be read was reported by the parser.
fn is_unreadable(skill: &Skill<'_>, list: &Spanned<Vec<ToolPattern>>) -> bool {
    list.value.is_empty() && list.span.of(skill.source).contains(char::is_alphanumeric)
}

/// What the body clearly tells to use: the tool, where, and in which words.
fn instructed(skill: &Skill<'_>) -> Vec<(&'static str, Span, String)> {
    let mut found = Vec::new();
    for block in shell_blocks(skill) {
        let begin = skill.body_at().max((block.span.start as usize).saturating_sub(LEAD));
        let begin = (begin..block.span.start as usize).find(|at| skill.source.is_char_boundary(*at));
        let lead =
            begin.and_then(|begin| skill.source.get(begin..block.span.start as usize)).unwrap_or_default();
        // Only the paragraph right above: an order further up belongs to something else.
        let lead = lead.trim_end().rsplit("\n\n").next().unwrap_or_default();
        // A block may hold what is typed to the agent, such as `/review`.
        if Spoken::of(lead).has_any(ORDERS) && !programs_of(block, skill.source).is_empty() {
            found.push(("Bash", block.span, "the body tells to run a command".to_owned()));
        }
    }
    for path in skill.paths_in_code().iter().filter(|path| path.path.starts_with("scripts/")) {
        if is_started(skill.source, path.span) {
            found.push(("Bash", path.span, format!("the body runs `{}`", path.path)));
        }
    }
    found.extend(named_tools(skill));
    found
}

/// Whether an interpreter stands right before a path.
fn is_started(source: &str, path: Span) -> bool {
    const INTERPRETERS: &[&str] = &["bash", "bun", "deno run", "node", "python", "python3", "sh", "uv run"];
    let before = source.get(..path.start as usize).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default().trim_end_matches(['"', '\'']).trim_end();
    INTERPRETERS.iter().any(|name| {
        line.strip_suffix(name).is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '-'))
    })
}

/// `use the Write tool`, `using the `Bash` tool`: only the names of Claude Code, and only right behind such a word.
fn named_tools(skill: &Skill<'_>) -> Vec<(&'static str, Span, String)> {
    let body = skill.body();
    let mut found = Vec::new();
    for (at, _) in body.match_indices(" tool") {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if body[at + " tool".len()..].starts_with(|c: char| is_word(c) && c != 's') {
            continue;
        }
        let line = body[..at].rsplit('\n').next().unwrap_or_default();
        let bare = line.trim_end_matches(['`', '*']);
        let name = bare.rsplit(|c: char| !is_word(c)).next().unwrap_or_default();
        let Some(tool) = KNOWN.iter().find(|known| **known == name) else { continue };
        let before = Spoken::of(&bare[..bare.len() - name.len()]);
        let words: Vec<&str> = before.words().collect();
        let verb = match words.as_slice() {
            [.., verb, "the"] | [.., verb] => *verb,
            [] => continue,
        };
        let is_denied = words.iter().rev().skip(1).take(4).any(|word| {
            matches!(
                *word,
                "not" | "don't" | "never" | "no" | "without" | "cannot" | "avoid" | "instead" | "if"
            )
        });
        if USES.contains(&verb) && !is_denied {
            let start = skill.body_at()
                + (bare.len() - name.len())
                + (line.as_ptr() as usize - body.as_ptr() as usize);
            let span = Span::new(start, start + name.len());
            found.push((*tool, span, format!("the body tells to use the `{tool}` tool")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Files;
    use std::path::Path;

    fn tools_of(frontmatter: &str, body: &str) -> Vec<&'static str> {
        let source = format!("---\nname: a\ndescription: b\n{frontmatter}\n---\n{body}");
        let document = metier_skill::parse(source.as_bytes(), Some("a")).document.unwrap();
        let skill = Skill::new(Path::new("a/SKILL.md").into(), Some("a"), &source, &document, Files::Unknown);
        let mut tools: Vec<_> = instructed(&skill).into_iter().map(|(tool, _, _)| tool).collect();
        tools.retain(|tool| forbidding(&skill, tool).is_some());
        tools
    }

    #[test]
    fn only_clear_orders_for_what_the_list_leaves_out_are_found() {
        let read = "allowed-tools: Read";
        for (list, body, expect) in [
            (read, "Run:\n\n```bash\nls\n```\n", &["Bash"][..]),
            (read, "Run:\n\n```bash\n/review\n```\n", &[]),
            (read, "An example:\n\n```bash\nls\n```\n", &[]),
            (read, "Run it.\n\nThen this is shown:\n\n```bash\nls\n```\n", &[]),
            (read, "`python3 scripts/a.py`", &["Bash"]),
            (read, "See `scripts/a.py`", &[]),
            (read, "Use the Write tool to save.", &["Write"]),
            (read, "Then, using the `Edit` tool, save.", &["Edit"]),
            (read, "Do not use the Write tool.", &[]),
            (read, "The Write tool is not needed.", &[]),
            (read, "Use the Read tool.", &[]),
            ("allowed-tools: Bash(git:*)", "Run:\n\n```bash\nls\n```\n", &[]),
            ("allowed-tools: exec", "Run:\n\n```bash\nls\n```\n", &[]),
            ("tools: []", "Run:\n\n```bash\nls\n```\n", &["Bash"]),
            ("allowed-tools: Bash(git", "Run:\n\n```bash\nls\n```\n", &[]),
            ("disallowed-tools: Write", "Use the Write tool.", &["Write"]),
            ("disallowed-tools: Bash(rm:*)", "Run:\n\n```bash\nls\n```\n", &[]),
            ("license: MIT", "Run:\n\n```bash\nls\n```\n", &[]),
        ] {
            assert_eq!(tools_of(list, body), expect, "{list}: {body}");
        }
    }
}
