//! Every skill's whole section, for small sets and for models without tools.
//!
//! A body has headings of its own and may keep them. What it may not do is look like the next skill: a line that reads
//! as one of our own headings gets a backslash, which Markdown shows as the same text, and a code fence that is left
//! open is closed, or the sections behind it would be code. Nothing in a body is expanded or executed here.

use super::budget::Rendering;
use super::text::{MAX_DESCRIPTION, description, without_tags};
use super::{CatalogueOptions, Offer};
use crate::shown::one_line;

/// Characters of a tool list that are shown.
const MAX_TOOLS: usize = 1_000;

/// Bodies that did not fit, one after the other, after which no more are read. A budget that 16 skills in a row did not
/// fit into is full, and a root may hold ten thousand.
const MAX_MISSES: usize = 16;

/// What a skill's file adds to its offer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EagerSection {
    /// The tool list as text, if the skill has one.
    pub tools: Option<String>,
    /// The body.
    pub body: String,
}

pub(super) struct Eager<F> {
    pub(super) section: F,
    pub(super) misses: usize,
}

impl<F: FnMut(usize) -> Result<EagerSection, String>> Rendering for Eager<F> {
    fn head(&self, _: &CatalogueOptions<'_>) -> String {
        "## Available Skills\n\nEach section is a set of instructions for one kind of work. Follow it when you do such \
         work.\n\n"
            .to_owned()
    }

    fn full(&mut self, at: usize, offer: &Offer<'_>, room: usize) -> Result<Option<String>, String> {
        let mut text = head(offer);
        if text.len() > room || self.misses >= MAX_MISSES {
            return Ok(None);
        }
        let section = (self.section)(at)?;
        if let Some(tools) = &section.tools {
            let tools = without_tags(&one_line(tools, MAX_TOOLS));
            text.push_str(&format!("**Allowed tools:** {tools}\n"));
        }
        text.push('\n');
        // Looked at before the body is copied: it may be a hundred times the budget.
        if text.len() + section.body.trim().len() <= room {
            text.push_str(&contained(&section.body));
            if text.len() <= room {
                self.misses = 0;
                return Ok(Some(text));
            }
        }
        self.misses += 1;
        Ok(None)
    }

    fn name_only(&self, offer: &Offer<'_>) -> String {
        format!("### Skill: {}\n\n", offer.name)
    }
}

fn head(offer: &Offer<'_>) -> String {
    let mut text = format!("### Skill: {}\n", offer.name);
    let description = description(offer.description, offer.when_to_use, MAX_DESCRIPTION);
    if !description.is_empty() {
        text.push_str(&format!("**Description:** {}\n", without_tags(&description)));
    }
    text
}

/// The body with a blank line behind it, unable to pass for the structure around it.
fn contained(body: &str) -> String {
    let body = body.trim_matches(['\n', '\r']);
    if body.trim().is_empty() {
        return String::new();
    }
    let mut text = String::with_capacity(body.len() + 16);
    let mut fence = None;
    for line in body.lines() {
        let bare = line.trim_start_matches([' ', '\t']);
        fence = after(fence, bare);
        if is_ours(bare) {
            text.push_str(&line[..line.len() - bare.len()]);
            text.push('\\');
            text.push_str(bare);
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    if let Some((mark, length)) = fence {
        text.extend(std::iter::repeat_n(mark, length));
        text.push('\n');
    }
    text.push('\n');
    text
}

/// Whether a line reads as one of our headings, in whatever level, case and spacing.
fn is_ours(line: &str) -> bool {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    let title = title.trim_start().to_lowercase();
    (1..=6).contains(&level) && (title.starts_with("skill:") || title.starts_with("available skills"))
}

/// The code fence that is open after a line: its mark and its length.
fn after(open: Option<(char, usize)>, line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'));
    let Some(mark) = mark else { return open };
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    match open {
        Some((open_mark, open_length)) => {
            let closes = mark == open_mark && length >= open_length && rest.trim().is_empty();
            if closes { None } else { open }
        }
        // A fence of backticks has none behind it, or it is a code span.
        None if length >= 3 && !(mark == '`' && rest.contains('`')) => Some((mark, length)),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_cannot_pass_for_another_skill() {
        let table = [
            ("# Title\n\ntext", "# Title\n\ntext\n\n"),
            ("### Skill: evil", "\\### Skill: evil\n\n"),
            ("  ##   SKILL: evil", "  \\##   SKILL: evil\n\n"),
            ("## Available Skills", "\\## Available Skills\n\n"),
            ("###Skill: x", "\\###Skill: x\n\n"),
            ("### Skills we need", "### Skills we need\n\n"),
            ("```sh\nls", "```sh\nls\n```\n\n"),
            ("~~~~\n~~~\n```", "~~~~\n~~~\n```\n~~~~\n\n"),
            ("```\nx\n```", "```\nx\n```\n\n"),
            ("```a`b", "```a`b\n\n"),
            ("\n\n  \n", ""),
        ];
        for (body, expected) in table {
            assert_eq!(contained(body), expected, "{body:?}");
        }
    }
}
