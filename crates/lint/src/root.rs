//! The skills of a root, as rules about all of them together see them.

use crate::skill::Skill;
use metier_search::{Bodies, Heads, SkillText};
use metier_skill::Description;
use std::sync::OnceLock;

/// Skills that are offered together. What several rules ask about all of them is found out once, by whichever asks first.
#[derive(Debug)]
pub struct Root<'s, 'a> {
    /// All of them, in any order.
    pub skills: &'s [Skill<'a>],
    /// Those that a model is offered, by path, so that the same root gives the same answer in whichever order they come.
    pub(crate) offered: Vec<&'s Skill<'a>>,
    heads: OnceLock<Heads<'a>>,
    /// What their texts speak of, read when the first of them is advised.
    bodies: OnceLock<Bodies>,
}

impl<'s, 'a> Root<'s, 'a> {
    /// These skills together.
    pub fn new(skills: &'s [Skill<'a>]) -> Self {
        let is_offered = |skill: &&Skill<'_>| {
            let manifest = skill.manifest();
            manifest.user_only.is_none() && matches!(manifest.description, Description::Written(_))
        };
        let mut offered: Vec<_> = skills.iter().filter(is_offered).collect();
        offered.sort_by(|one, other| one.path.cmp(&other.path));
        Self { skills, offered, heads: OnceLock::new(), bodies: OnceLock::new() }
    }

    /// What a request is held against: names and descriptions of the skills that are offered, in the same order.
    pub(crate) fn heads(&self) -> &Heads<'a> {
        self.heads.get_or_init(|| Heads::new(self.offered.iter().map(|skill| text(skill)).collect()))
    }

    /// Words that would tell a skill from the others, or from one of them, had its description them.
    pub(crate) fn telling(&self, skill: usize, other: Option<usize>, limit: usize) -> Vec<String> {
        let heads = self.heads();
        self.bodies.get_or_init(|| Bodies::new(heads)).telling(heads, skill, other, limit)
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
