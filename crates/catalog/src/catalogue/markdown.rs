//! `- **name** [argument-hint]: description`, a line per skill.

use super::budget::{Full, Rendering, Rest};
use super::text::{MAX_DESCRIPTION, comma_list, description, hint, without_tags};
use super::{CatalogueOptions, Offer};
use metier_diagnostic::counted;

pub(super) struct Markdown<'a> {
    tool: &'a str,
    search: &'a str,
}

impl<'a> Markdown<'a> {
    pub(super) fn new(options: &CatalogueOptions<'a>) -> Self {
        Self { tool: options.tool, search: options.search }
    }
}

impl Rendering for Markdown<'_> {
    fn head(&self) -> String {
        format!(
            "## Available Skills\n\nEach of these is a set of instructions for one kind of work. Before you do such work, load \
             its instructions with the `{}` tool.\n\n",
            self.tool
        )
    }

    fn full(&self, _: usize, offer: &Offer<'_>, room: usize) -> Full {
        let line = line(offer);
        if line.len() <= room { Full::Text(line) } else { Full::TooLong }
    }

    fn name_only(&self, offer: &Offer<'_>) -> String {
        format!("- **{}**\n", offer.name)
    }

    fn rest(&self, rest: &Rest<'_>) -> String {
        rest_in_words(rest, self.search)
    }

    fn foot(&self) -> &'static str {
        ""
    }
}

/// One skill's line.
pub(super) fn line(offer: &Offer<'_>) -> String {
    line_up_to(offer, MAX_DESCRIPTION)
}

/// One skill's line with so many characters of its description at most.
pub(super) fn line_up_to(offer: &Offer<'_>, most: usize) -> String {
    let mut line = format!("- **{}**", offer.name);
    if let Some(hint) = hint(offer.argument_hint) {
        line.push(' ');
        line.push_str(&without_tags(&hint));
    }
    let description = description(offer.description, offer.when_to_use, most);
    if !description.is_empty() {
        line.push_str(": ");
        line.push_str(&without_tags(&description));
    }
    line.push('\n');
    line
}

/// What is said about the skills that are not described, in sentences.
pub(super) fn rest_in_words(rest: &Rest<'_>, search: &str) -> String {
    let mut text = String::from("\n");
    if !rest.named.is_empty() {
        text.push_str("More skills, by name only: ");
        text.push_str(&comma_list(rest.named.iter().copied()));
        text.push_str(".\n");
    }
    let are = counted(rest.total, "skill", "skills");
    text.push_str(&format!("There {} {are} in all", if rest.total == 1 { "is" } else { "are" }));
    if rest.unnamed > 0 {
        text.push_str(&format!("; {} not named here", counted(rest.unnamed, "is", "are")));
    }
    text.push_str(&format!(". Use the `{search}` tool to find a skill by what it does.\n"));
    text
}
