//! What a skill asks for, and how to ask for more.

use crate::skill::Skill;
use metier_skill::{Needs, scalar};

/// How many values the lines to add name. A script that reaches more is better looked at by its author.
const MAX_LINES: usize = 20;

/// The lists of `metadata.metier.needs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Hosts to reach.
    Hosts,
    /// Places to write.
    Write,
    /// Variables to be given.
    Env,
}

impl Need {
    /// What a skill has in this list.
    pub(crate) fn declared<'a>(self, skill: &Skill<'a>) -> &'a [String] {
        let needs: Option<&'a Needs> = skill.manifest().more.needs.as_ref();
        needs.map_or(&[], |needs| match self {
            Self::Hosts => &needs.hosts,
            Self::Write => &needs.write,
            Self::Env => &needs.env,
        })
    }

    fn key(self) -> &'static str {
        match self {
            Self::Hosts => "hosts",
            Self::Write => "write",
            Self::Env => "env",
        }
    }

    /// The lines that declare what is missing, behind a sentence such as `declare it`. They name all that the skill
    /// lacks, so that they are pasted once.
    pub(crate) fn lines(self, skill: &Skill<'_>, missing: &[&str], sentence: &str) -> String {
        let key = self.key();
        let item = |value: &&str| format!("- {}", scalar(value));
        let items: Vec<String> = missing.iter().take(MAX_LINES).map(item).collect();
        if !self.declared(skill).is_empty() {
            return format!("{sentence}, below `metadata.metier.needs.{key}`:\n{}", items.join("\n"));
        }
        let items = items.join("\n        ");
        let (above, lines) = if skill.manifest().more.needs.is_some() {
            (", below `metadata.metier.needs`", format!("{key}:\n  {}", items.replace("\n        ", "\n  ")))
        } else {
            let lines = format!("metadata:\n  metier:\n    needs:\n      {key}:\n        {items}");
            (" in the frontmatter", lines)
        };
        format!("{sentence}{above}:\n{lines}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Files;
    use std::path::Path;

    #[test]
    fn the_lines_to_add_depend_on_what_is_there() {
        let check = |metadata: &str, expect: &str| {
            let source = format!("---\nname: x\ndescription: d\n{metadata}---\n");
            let document = metier_skill::parse(source.as_bytes(), Some("x")).document.unwrap();
            let path = Path::new("x/SKILL.md").into();
            let skill = Skill::new(path, Some("x"), &source, &document, Files::Unknown);
            assert_eq!(Need::Hosts.lines(&skill, &["a.org", "*.b.org"], "declare them"), expect);
        };
        check(
            "",
            "declare them in the frontmatter:\nmetadata:\n  metier:\n    needs:\n      hosts:\n        - a.org\n        - \"*.b.org\"",
        );
        check(
            "metadata:\n  metier:\n    needs:\n      env: [A]\n",
            "declare them, below `metadata.metier.needs`:\nhosts:\n  - a.org\n  - \"*.b.org\"",
        );
        check(
            "metadata:\n  metier:\n    needs:\n      hosts: [c.org]\n",
            "declare them, below `metadata.metier.needs.hosts`:\n- a.org\n- \"*.b.org\"",
        );
    }
}
