//! Tools by the names that clients give them.

use crate::skill::Skill;
use metier_diagnostic::Span;
use metier_skill::{KeyValue, ManifestKey, Spanned, Tool, ToolPattern};

/// The tools that Claude Code documents, which is the client whose names public skills use.
pub(crate) const KNOWN: &[&str] = metier_skill::CLAUDE_CODE_TOOLS;

/// The name rules say for a tool, whichever client's name it has. Advice is about what a tool does, so kin count too: a
/// script of a skill is run as a command is, and a question to the user goes by the name Claude Code gives it.
pub(crate) fn spoken_name(tool: &str) -> &str {
    match Tool::kin(tool) {
        Some(Tool::SkillRunScript) => Tool::Bash.name(),
        Some(Tool::AskUser) => "AskUserQuestion",
        Some(known) => known.name(),
        None => tool,
    }
}

/// The tool lists of a skill by their keys, in the order in which they are documented.
pub(crate) fn lists<'a>(
    skill: &Skill<'a>,
) -> impl Iterator<Item = (&'static str, &'a Spanned<Vec<ToolPattern>>)> {
    ManifestKey::ALL.iter().filter_map(|key| match key.value(skill.manifest())? {
        KeyValue::Tools(list) => Some((key.name, list)),
        _ => None,
    })
}

/// Where a list has an item, by its tool; the whole list where that cannot be said.
pub(crate) fn place_of(skill: &Skill<'_>, list: Span, pattern: &ToolPattern) -> Span {
    let (text, tool) = (list.of(skill.source), pattern.tool.as_str());
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_item = |at: usize| {
        let after = &text[at + tool.len()..];
        !text[..at].ends_with(is_part)
            && !after.starts_with(is_part)
            && after.starts_with('(') == pattern.argument.is_some()
            && !tool.is_empty()
    };
    text.match_indices(tool).find(|(at, _)| is_item(*at)).map_or(list, |(at, _)| {
        let start = list.start as usize + at;
        Span::new(start, start + tool.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Files;
    use std::path::Path;

    #[test]
    fn the_place_of_an_item_is_not_that_of_one_with_a_longer_name_or_an_argument() {
        let source = "---\nname: a\ndescription: b\nallowed-tools: BashOutput, Bash(git:*), Bash\n---\nx\n";
        let document = metier_skill::parse(source.as_bytes(), Some("a")).document.unwrap();
        let skill = Skill::new(Path::new("a/SKILL.md").into(), Some("a"), source, &document, Files::Unknown);
        let (_, list) = lists(&skill).next().unwrap();
        let places: Vec<usize> =
            list.value.iter().map(|pattern| place_of(&skill, list.span, pattern).start as usize).collect();
        let at = |text: &str| source.find(text).unwrap();
        assert_eq!(places, [at("BashOutput"), at("Bash(git"), at("Bash\n---")]);
    }
}
