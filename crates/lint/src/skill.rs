//! One skill as rules see it: the file, what was understood of it, and what lies beside it.

use crate::file::Files;
use crate::hidden::{self, Hidden};
use crate::markdown::Markdown;
use crate::reference::{Reference, paths_in_code};
use crate::rules::BEGINNINGS;
use crate::word::word_starts;
use metier_diagnostic::Span;
use metier_skill::yaml::{Entry, Kind};
use metier_skill::{Description, Document, Manifest, yaml};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// A skill that is being judged.
#[derive(Clone, Debug)]
pub struct Skill<'a> {
    /// The path of its SKILL.md, as it is to be shown.
    pub path: Arc<Path>,
    /// The name of its folder, where it has one.
    pub folder: Option<&'a str>,
    /// The text of its SKILL.md.
    pub source: &'a str,
    /// What was understood.
    pub document: &'a Document,
    /// What lies in its folder.
    pub files: Files<'a>,
    /// Its body, taken apart when the first rule asks for it: rules about all skills of a root never do.
    markdown: OnceLock<Markdown>,
    /// The characters of the whole file that show nothing, likewise.
    hidden: OnceLock<Vec<Hidden>>,
    /// The paths that its code names, likewise.
    paths_in_code: OnceLock<Vec<Reference>>,
    /// Where words begin in the whole file that rules look for, likewise.
    word_starts: OnceLock<Vec<u32>>,
    /// The frontmatter as written; empty where it is not strict.
    entries: Vec<Entry<'a>>,
}

impl<'a> Skill<'a> {
    /// Makes ready what rules ask for.
    pub fn new(
        path: Arc<Path>,
        folder: Option<&'a str>,
        source: &'a str,
        document: &'a Document,
        files: Files<'a>,
    ) -> Self {
        let frontmatter =
            document.frontmatter.and_then(|span| source.get(span.range()).map(|text| (span, text)));
        let tree = frontmatter.and_then(|(span, text)| yaml::parse(text, span.start as usize).ok().flatten());
        let entries = match tree.map(|tree| tree.kind) {
            Some(Kind::Mapping(entries)) => entries,
            _ => Vec::new(),
        };
        let (markdown, hidden) = (OnceLock::new(), OnceLock::new());
        let (paths_in_code, word_starts) = (OnceLock::new(), OnceLock::new());
        Self { path, folder, source, document, files, markdown, hidden, paths_in_code, word_starts, entries }
    }

    /// Its body, taken apart.
    pub fn markdown(&self) -> &Markdown {
        self.markdown.get_or_init(|| Markdown::parse(self.body(), self.body_at()))
    }

    /// The characters of the whole file that show nothing.
    pub fn hidden(&self) -> &[Hidden] {
        self.hidden.get_or_init(|| hidden::find(self.source))
    }

    /// The paths that its code names below the standard's folders.
    pub(crate) fn paths_in_code(&self) -> &[Reference] {
        self.paths_in_code.get_or_init(|| paths_in_code(self))
    }

    /// Where words begin in the whole file that begin like one that a rule looks for.
    pub(crate) fn word_starts(&self) -> &[u32] {
        self.word_starts.get_or_init(|| word_starts(self.source, &BEGINNINGS))
    }

    /// What the frontmatter says.
    pub fn manifest(&self) -> &'a Manifest {
        &self.document.manifest
    }

    /// What follows the frontmatter.
    pub fn body(&self) -> &'a str {
        self.source.get(self.document.body as usize..).unwrap_or_default()
    }

    /// Where the body begins.
    pub fn body_at(&self) -> usize {
        self.document.body as usize
    }

    /// A key as it was written, the first one where it is repeated.
    pub fn entry(&self, key: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The keys as they were written.
    pub fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    /// Where to point when something is wrong with the description: its value, else the beginning.
    pub fn description_at(&self) -> Span {
        match &self.document.manifest.description {
            Description::Written(written) => written.span,
            Description::Derived(_) | Description::Absent => Span::default(),
        }
    }

    /// Where a piece of a written text stands; the whole text where it is escaped or folded.
    pub(crate) fn place_in(&self, written: Span, piece: &str) -> Span {
        written.of(self.source).find(piece).map_or(written, |at| {
            let start = written.start as usize + at;
            Span::new(start, start + piece.len())
        })
    }

    /// Where to point when something is wrong with the name.
    pub fn name_at(&self) -> Span {
        self.document.manifest.name_span.unwrap_or_default()
    }
}
