//! Somebody else of a crew: a role with skills of its own, which whoever is spoken to hands work over to.

use std::sync::Arc;

use crate::outside::OutsideTools;
use crate::part::Part;

/// What a role is told behind its instructions when work was handed over to it.
pub(crate) const ROLE_RULES: &str = "# How to work\n\
     This work was handed over to you, and you speak to whoever handed it over, not to the user.\n\
     1. Begin with a call: hand over to the skill that fits, with everything it has to know, or call a tool.\n\
     2. Where something is not said, take the most likely value; ask nothing.\n\
     3. As soon as you have the result, call `hand_back` with it. Where none of your skills fits, hand back and say so.";

/// Somebody else of a crew, as whoever is spoken to knows them.
#[derive(Clone)]
pub struct Colleague {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What it is told.
    pub instructions: String,
    /// Its own skills.
    pub part: Part,
    /// The model it wants, where it wants one.
    pub model: Option<String>,
    /// How much that one should think, likewise.
    pub effort: Option<String>,
    /// The tools of its own servers, which are started when it begins.
    pub outside: Option<Arc<dyn OutsideTools>>,
}

impl Colleague {
    /// What the tool that leads to it is for.
    pub(crate) fn purpose(&self) -> String {
        let name = &self.name;
        let what = match metier_catalog::one_line(&self.description, 1_024) {
            what if what.is_empty() => String::new(),
            what => format!(": {what}"),
        };
        let skills: Vec<&str> =
            self.part.references().unwrap_or_default().iter().map(|reference| bare(reference)).collect();
        let skills = if skills.is_empty() { "none".to_owned() } else { skills.join(", ") };
        format!("Hands over to {name}, another agent of this crew{what}\nIts skills: {skills}.")
    }
}

/// A skill's name without where it comes from, which no model needs to know.
fn bare(reference: &str) -> &str {
    reference.rsplit_once(':').map_or(reference, |(_, name)| name)
}

impl std::fmt::Debug for Colleague {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Colleague")
            .field("name", &self.name)
            .field("part", &self.part)
            .finish_non_exhaustive()
    }
}
