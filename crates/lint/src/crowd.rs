//! The skills of a root as a request meets them: by name and description, all at once.

use crate::phrase::quoted;
use crate::skill::Skill;
use metier_search::{Heads, SkillText};
use metier_skill::Description;

/// How many words a message lists. More are not read.
const MAX_LISTED: usize = 4;

/// The skills that a model is offered, by path, so that the same root gives the same answer in whichever order they come.
pub(crate) fn offered<'s, 'a>(skills: &'s [Skill<'a>]) -> Vec<&'s Skill<'a>> {
    let is_offered = |skill: &&Skill<'_>| {
        let manifest = skill.manifest();
        manifest.user_only.is_none() && matches!(manifest.description, Description::Written(_))
    };
    let mut offered: Vec<_> = skills.iter().filter(is_offered).collect();
    offered.sort_by(|one, other| one.path.cmp(&other.path));
    offered
}

/// What a request is held against.
pub(crate) fn heads<'a>(skills: &[&Skill<'a>]) -> Heads<'a> {
    let text = |skill: &&Skill<'a>| {
        let manifest = skill.manifest();
        SkillText {
            name: manifest.name.as_str(),
            description: manifest.description.text(),
            when_to_use: manifest.when_to_use.as_ref().map_or("", |when| &when.value),
            body: skill.body(),
            ..SkillText::default()
        }
    };
    Heads::new(skills.iter().map(text).collect())
}

/// Words for a message: each in backticks, with commas between.
pub(crate) fn listed<W: AsRef<str>>(words: &[W]) -> String {
    words.iter().take(MAX_LISTED).map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(", ")
}
