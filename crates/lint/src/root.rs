//! The skills of a root, as rules about all of them together see them.

use crate::crowd::Crowd;
use crate::skill::Skill;
use std::sync::OnceLock;

/// Skills that are offered together. What several rules ask about all of them is found out once, by whichever asks first.
#[derive(Debug)]
pub struct Root<'s, 'a> {
    /// All of them, in any order.
    pub skills: &'s [Skill<'a>],
    crowd: OnceLock<Crowd<'s, 'a>>,
}

impl<'s, 'a> Root<'s, 'a> {
    /// These skills together.
    pub fn new(skills: &'s [Skill<'a>]) -> Self {
        Self { skills, crowd: OnceLock::new() }
    }

    /// Those that a model is offered.
    pub(crate) fn crowd(&self) -> &Crowd<'s, 'a> {
        self.crowd.get_or_init(|| Crowd::of(self.skills))
    }
}
