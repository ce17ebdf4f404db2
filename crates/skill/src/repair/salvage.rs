//! Repair 3: salvage. Reads the frontmatter key by key, keeps what can be read, reports and drops the rest.
//!
//! Only worth it with a name and a description. Keys that still parse on their own are kept, because dropping
//! `disable-model-invocation` or `allowed-tools` would widen what a skill may do.

mod block;

use super::budget::Budget;
use super::frame::{self, Candidates};
use super::{Found, dropped_controls};
use crate::code;
use crate::findings::Findings;
use crate::line::lines;
use crate::manifest::is_known_key;
use crate::yaml::{MAX_BYTES, YamlError};
use block::{Block, Salvaged, label};
use metier_diagnostic::{Diagnostic, Edit, Fix, Span};

pub(super) fn salvage(
    text: &str,
    candidates: &Candidates,
    error: Option<&YamlError>,
    budget: &mut Budget,
) -> Option<Found> {
    let start = candidates.start;
    let header = Header::read(text, start);
    let mut all = Salvaged::default();
    for block in &header.blocks {
        block.read(text, budget, &mut all);
    }
    let readable = |key: &str| {
        let value = all.entries.iter().find(|entry| entry.key == key).and_then(|entry| entry.value.text());
        value.is_some_and(|text| !text.trim().is_empty())
    };
    if !readable("name") || !readable("description") {
        return None;
    }
    let at = error.map_or(start, |error| error.at);
    let message = if header.is_closed {
        "the frontmatter is broken; what could be read of it counts"
    } else {
        "the frontmatter is not closed; what could be read of it counts, and the body begins after its last key"
    };
    let label = if header.is_closed {
        "write each key on a line of its own: `key: value`"
    } else {
        "close the frontmatter with a line `---`"
    };
    let mut salvaged =
        Diagnostic::new(&code::FRONTMATTER_SALVAGED, message).at(Span::empty(at), text).help(label);
    if let Some(error) = error {
        salvaged = salvaged.note(format!("a strict parser says: {}", error.message));
    }
    let edits = header.edits(text);
    if !edits.is_empty() {
        salvaged = salvaged.fix(Fix { label: label.to_owned(), edits });
    }
    let mut findings = Findings::default();
    let opening = candidates.opening.iter().map(|oddity| oddity.diagnostic(text));
    for found in opening.chain([salvaged]).chain(dropped_controls(&all.dropped, text)) {
        findings.add(|| found);
    }
    findings.absorb(all.findings);
    if let Some(stray) = header.stray {
        let message = "lines that belong to no key were left out";
        let found = Diagnostic::new(&code::KEY_DROPPED, message).at(stray, text);
        findings.add(|| found.help("write them as `key: value`, or move them into the body"));
    }
    let yaml = Span::new(start, header.end);
    Some(Found { entries: all.entries, yaml, body: header.body, findings })
}

/// The lines of a broken frontmatter, by keys.
struct Header {
    blocks: Vec<Block>,
    /// One past the last line that belongs to a key.
    end: usize,
    body: usize,
    is_closed: bool,
    /// The first line that belongs to no key.
    stray: Option<Span>,
}

impl Header {
    /// What would make it strict as far as the lines around the values go.
    fn edits(&self, text: &str) -> Vec<Edit> {
        if self.stray.is_some() {
            return Vec::new();
        }
        let mut edits: Vec<Edit> = self.blocks.iter().filter_map(|block| block.plain_key(text)).collect();
        if !self.is_closed {
            let line_break = if text[..self.body].ends_with('\n') { "" } else { "\n" };
            edits.push(Edit::insert(self.body, format!("{line_break}---\n")));
        }
        edits
    }

    /// Reads lines as long as they can belong to the frontmatter. What a body says must not be taken for a key.
    fn read(text: &str, start: usize) -> Self {
        let mut blocks: Vec<Block> = Vec::new();
        let mut after_blank = false;
        let (mut has_name, mut has_description) = (false, false);
        let mut end = start;
        let mut stray = None;
        for line in lines(text, start).take_while(|line| line.start - start <= MAX_BYTES) {
            let closing = if matches!(line.text, "---" | "...") {
                Some(line.next)
            } else {
                frame::near_close(&line).map(|(body, _)| body)
            };
            if let Some(body) = closing.filter(|_| !blocks.is_empty()) {
                return Self { blocks, end: line.start, body, is_closed: true, stray };
            }
            if line.is_blank() {
                after_blank = true;
                continue;
            }
            // In Markdown dress a key counts once; a body says such things again and again.
            let is_new = |key: &str| if key == "name" { !has_name } else { !has_description };
            let label = if line.top_key().is_some() { None } else { label(&line) };
            let label = label.filter(|(key, _)| is_new(key));
            let key = line.top_key().or(label.as_ref().map(|(key, _)| *key));
            let starts_body = line.text.starts_with('#') && label.is_none();
            // After name and description a blank line or a heading ends the header, unless a key we know follows.
            let is_complete = has_name && has_description;
            if is_complete && (starts_body || (after_blank && !key.is_some_and(is_known_key))) {
                break;
            }
            after_blank = false;
            if let Some(key) = key {
                has_name |= key == "name";
                has_description |= key == "description";
                let written = label.map(|(_, value)| value);
                blocks.push(Block { key: key.to_owned(), start: line.start, end: line.next, written });
                end = line.next;
            } else {
                // A key in Markdown dress has its value on its line, and before the first key there is none to go on.
                match blocks.last_mut().filter(|block| block.written.is_none()) {
                    Some(block) => block.end = line.next,
                    None => stray = stray.or(Some(Span::new(line.start, line.end()))),
                }
                end = line.next;
            }
        }
        Self { blocks, end, body: end, is_closed: false, stray }
    }
}
