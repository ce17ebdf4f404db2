//! A parsed SKILL.md.

use crate::manifest::Manifest;
use metier_diagnostic::{Diagnostic, Span};

/// What a SKILL.md gave: a skill unless it was refused, and everything there is to say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The skill. `None` means refused; the reason is an error among the diagnostics.
    pub document: Option<Document>,
    /// What was odd, mended or refused, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// A skill's file, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What the frontmatter says.
    pub manifest: Manifest,
    /// The bytes between the delimiters; `None` without frontmatter.
    pub frontmatter: Option<Span>,
    /// The byte of the text where the body begins; of the file, too, when it is UTF-8.
    pub body: u32,
}
