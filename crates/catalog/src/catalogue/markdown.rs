//! `- **name** [argument-hint]: description`, a line per skill.

use super::budget::Rendering;
use super::text::{MAX_DESCRIPTION, description, hint, without_tags};
use super::{CatalogueOptions, Offer};

pub(super) struct Markdown;

impl Rendering for Markdown {
    fn head(&self, options: &CatalogueOptions<'_>) -> String {
        format!(
            "## Available Skills\n\nEach of these is a set of instructions for one kind of work. Before you do such work, load \
             its instructions with the `{}` tool.\n\n",
            options.tool
        )
    }

    fn full(&mut self, _: usize, offer: &Offer<'_>, room: usize) -> Result<Option<String>, String> {
        Ok(Some(line(offer)).filter(|line| line.len() <= room))
    }

    fn name_only(&self, offer: &Offer<'_>) -> String {
        format!("- **{}**\n", offer.name)
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
