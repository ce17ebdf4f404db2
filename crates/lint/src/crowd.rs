//! The skills of a root as a request meets them: by name and description, all at once.

use crate::phrase::quoted;
use crate::skill::Skill;
use metier_search::{Bodies, Heads, SkillText};
use metier_skill::Description;
use std::sync::OnceLock;

/// How many words a message lists. More are not read.
const MAX_LISTED: usize = 4;

/// The skills of a root that a model is offered.
#[derive(Debug)]
pub(crate) struct Crowd<'s, 'a> {
    /// By path, so that the same root gives the same answer in whichever order they come.
    pub(crate) offered: Vec<&'s Skill<'a>>,
    /// What a request is held against, in the same order.
    pub(crate) heads: Heads<'a>,
    /// What their texts speak of, read when the first of them is advised.
    bodies: OnceLock<Bodies>,
}

impl<'s, 'a> Crowd<'s, 'a> {
    pub(crate) fn of(skills: &'s [Skill<'a>]) -> Self {
        let is_offered = |skill: &&Skill<'_>| {
            let manifest = skill.manifest();
            manifest.user_only.is_none() && matches!(manifest.description, Description::Written(_))
        };
        let mut offered: Vec<_> = skills.iter().filter(is_offered).collect();
        offered.sort_by(|one, other| one.path.cmp(&other.path));
        let heads = Heads::new(offered.iter().map(|skill| text(skill)).collect());
        Self { offered, heads, bodies: OnceLock::new() }
    }

    /// Words that would tell a skill from the others, or from one of them, had its description them.
    pub(crate) fn telling(&self, skill: usize, other: Option<usize>, limit: usize) -> Vec<String> {
        let bodies = self.bodies.get_or_init(|| Bodies::new(&self.heads));
        bodies.telling(&self.heads, skill, other, limit)
    }
}

fn text<'a>(skill: &Skill<'a>) -> SkillText<'a> {
    let manifest = skill.manifest();
    SkillText {
        name: manifest.name.as_str(),
        description: manifest.description.text(),
        when_to_use: manifest.when_to_use.as_ref().map_or("", |when| &when.value),
        body: skill.body(),
        ..SkillText::default()
    }
}

/// Words for a message: each in backticks, with commas between.
pub(crate) fn listed<W: AsRef<str>>(words: &[W]) -> String {
    words.iter().take(MAX_LISTED).map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(", ")
}
