//! What the model sees first: the skills it may use, in one of three renderings of the same data.
//!
//! The bytes are a function of the offers and the options alone, so a prompt cache holds for as long as both do.
//! Nothing in an offer can look like a part of the list itself: see [`text`] for lines, tags and invisible
//! characters and [`eager`] for whole bodies.

mod budget;
mod eager;
mod markdown;
mod text;
mod xml;

use crate::tokens::Tokens;
use metier_diagnostic::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;

pub use eager::EagerSection;

/// The most tokens the catalogue takes when nobody has said otherwise and the model's window is not known.
pub const DEFAULT_BUDGET: Tokens = Tokens(4_000);

/// The part of a model's window the catalogue takes when nobody has said otherwise: one in 50, which is 2 %.
pub const WINDOW_SHARE: usize = 50;

metier_diagnostic::words! {
    /// How skills are listed.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Disclosure {
        /// A heading, a sentence and a line per skill.
        #[default]
        Markdown = "markdown",
        /// `<available_skills>`, with where each skill is.
        Xml = "xml",
        /// Every skill's whole text, for small sets and for models without tools.
        Eager = "eager",
    }
}

/// How to render.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogueOptions<'a> {
    /// Which rendering.
    pub disclosure: Disclosure,
    /// The most it may take.
    pub budget: Tokens,
    /// The tool that activates a skill.
    pub tool: &'a str,
    /// The tool that searches, named when not every skill is described.
    pub search: &'a str,
}

impl Default for CatalogueOptions<'_> {
    fn default() -> Self {
        let disclosure = Disclosure::default();
        Self { disclosure, budget: DEFAULT_BUDGET, tool: "skill_use", search: "skill_search" }
    }
}

/// The budget in force: what was set, else 2 % of the window, else the default.
pub fn budget(set: Option<usize>, window: Option<usize>) -> Tokens {
    match (set, window) {
        (Some(tokens), _) => Tokens(tokens),
        (None, Some(window)) => Tokens(window / WINDOW_SHARE),
        (None, None) => DEFAULT_BUDGET,
    }
}

/// One skill as it is offered to the model.
#[derive(Clone, Debug)]
pub struct Offer<'a> {
    /// The name it is called by.
    pub name: &'a str,
    /// What arguments it takes.
    pub argument_hint: Option<&'a str>,
    /// What it is for.
    pub description: &'a str,
    /// When to use it; shown behind the description.
    pub when_to_use: Option<&'a str>,
    /// Its `SKILL.md`.
    pub location: Cow<'a, Path>,
    /// Whether the name alone is offered, by the user's configuration.
    pub is_name_only: bool,
}

/// The catalogue and what became of the skills in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogue {
    /// What goes to the model; empty when there are no skills.
    pub text: String,
    /// What the user is told.
    pub report: Report,
}

/// How a catalogue came out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Skills the model may use.
    pub skills: usize,
    /// Skills with their full text.
    pub described: usize,
    /// Skills with their name alone.
    pub named: usize,
    /// Skills that are in the count alone.
    pub counted: usize,
    /// What the catalogue takes.
    pub tokens: Tokens,
    /// What it may take.
    pub budget: Tokens,
    /// Names of the skills that were to be described and did not fit; `explain` looks here.
    pub over_budget: Vec<String>,
    /// Skills whose text could not be read for `eager`, each with the reason.
    pub unreadable: Vec<(String, String)>,
}

impl Report {
    /// Whether every skill is shown as it was meant to be.
    pub fn is_complete(&self) -> bool {
        self.over_budget.is_empty() && self.unreadable.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} described", counted(self.skills, "skill", "skills"), self.described)?;
        if self.named > 0 {
            write!(f, ", {} by name", self.named)?;
        }
        if self.counted > 0 {
            write!(f, ", {} only counted", self.counted)?;
        }
        write!(f, "; {} of {} tokens", self.tokens.0, self.budget.0)
    }
}

/// Renders the offers in the order given. `section` reads a skill's body, for [`Disclosure::Eager`] only.
pub fn render(
    offers: &[Offer<'_>],
    options: &CatalogueOptions<'_>,
    section: impl FnMut(usize) -> Result<EagerSection, String>,
) -> Catalogue {
    if offers.is_empty() {
        return Catalogue {
            text: String::new(),
            report: Report { budget: options.budget, ..Report::default() },
        };
    }
    match options.disclosure {
        Disclosure::Markdown => budget::compose(markdown::Markdown, offers, options),
        Disclosure::Xml => budget::compose(xml::Xml, offers, options),
        Disclosure::Eager => budget::compose(eager::Eager { section, misses: 0 }, offers, options),
    }
}

/// One skill's line in the Markdown rendering, its description whole.
pub(crate) fn whole_line(offer: &Offer<'_>) -> String {
    markdown::line_up_to(offer, usize::MAX)
}

/// What a skill's line costs in the Markdown rendering, budget aside.
pub(crate) fn cost(offer: &Offer<'_>) -> Tokens {
    Tokens::of(&markdown::line(offer))
}

#[cfg(test)]
mod tests;
