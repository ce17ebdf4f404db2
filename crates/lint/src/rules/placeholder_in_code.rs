use crate::{Check, CodeBlock, Findings, Rule, Skill};
use metier_diagnostic::{Severity, Span};

pub(super) static RULE: Rule = Rule::new(
    "placeholder-in-code",
    Severity::Warning,
    include_str!("placeholder_in_code.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let mut declares = None;
    for block in &skill.markdown().blocks {
        // A block that is run before the body is read gets its arguments as variables of the shell.
        if block.language == "!" {
            continue;
        }
        let text = block.content.of(skill.source);
        let mut tokens = tokens(text).peekable();
        let Some((at, token)) = tokens.peek().copied() else { continue };
        let declares = *declares.get_or_insert_with(|| declares_arguments(skill));
        if declares && !is_program(block, text) {
            continue;
        }
        let start = block.content.start as usize + at;
        let message = match tokens.count() {
            1 => format!("`{token}` in this code is replaced when the skill is started with arguments"),
            count => format!(
                "`{token}` and {} more in this code are replaced when the skill is started with arguments",
                count - 1
            ),
        };
        let help = format!("write `\\{token}` to keep it, or move the code below `scripts/`");
        findings.report(skill, Span::new(start, start + token.len()), message, help);
    }
}

/// Whether the author knows of arguments: then a `$1` is most likely meant.
fn declares_arguments(skill: &Skill<'_>) -> bool {
    ["arguments", "argument-hint", "argument_hint"].iter().any(|key| skill.entry(key).is_some())
        || skill.body().contains("$ARGUMENTS")
}

/// Whether the code itself gives a `$1` its meaning: fields of awk, or the arguments of a shell's function.
fn is_program(block: &CodeBlock, text: &str) -> bool {
    text.contains("awk ") || text.contains("() {") || text.contains("local ") || block.language == "awk"
}

/// The places of `$0` to `$9` as substitution sees them: one digit, no word character behind, no part of a number such
/// as `$1.50`, no backslash before.
fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    text.match_indices('$').filter_map(move |(at, _)| {
        bytes.get(at + 1).filter(|byte| byte.is_ascii_digit())?;
        let next = bytes.get(at + 2).copied().unwrap_or(b' ');
        let after = bytes.get(at + 3).copied().unwrap_or(b' ');
        let goes_on = next.is_ascii_alphanumeric()
            || next == b'_'
            || (matches!(next, b'.' | b',') && after.is_ascii_digit());
        let is_escaped = at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'\\');
        (!goes_on && !is_escaped).then(|| Some((at, text.get(at..at + 2)?))).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_what_substitution_would_replace_is_found() {
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<_> = tokens(text).map(|(_, token)| token).collect();
            assert_eq!(found, expect, "{text:?}");
        };
        check("awk '{print $1, $2}'", &["$1", "$2"]);
        check("local x=$1", &["$1"]);
        check("costs $1.50, $2K, $10, $1,000", &[]);
        check("costs $5.", &["$5"]);
        check("\\$1 ${1} $$ $x $", &[]);
        check("$A$6", &["$6"]);
    }

    proptest! {
        #[test]
        fn tokens_are_parts_of_the_text(text in "[$0-9a.,é\\\\ ]{0,30}") {
            for (at, token) in tokens(&text) {
                prop_assert_eq!(text.get(at..at + token.len()), Some(token));
            }
        }
    }
}
