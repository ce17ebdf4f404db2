//! Repair 3: salvage. Reads the frontmatter key by key, keeps what can be read, reports and drops the rest.
//!
//! Only worth it with a name and a description. Keys that still parse on their own are kept, because dropping
//! `disable-model-invocation` or `allowed-tools` would widen what a skill may do.

use super::{Found, frame, value};
use crate::code;
use crate::line::{Line, lines};
use crate::manifest::is_known_key;
use crate::yaml::{self, Entry, Kind, MAX_BYTES, Node, Style, YamlError};
use metier_diagnostic::{Diagnostic, Edit, Fix, Span};
use std::borrow::Cow;

/// How people (and machine translations of their files) write the two essential keys outside YAML.
const LABELS: [(&str, &str); 4] =
    [("name", "name"), ("description", "description"), ("名称", "name"), ("描述", "description")];

pub(super) fn salvage(text: &str, start: usize, error: Option<&YamlError>) -> Option<Found> {
    let header = Header::read(text, start);
    let mut entries: Vec<Entry<'static>> = Vec::new();
    let mut diagnostics = Vec::new();
    for block in &header.blocks {
        match block.read(text) {
            Some(mut read) => entries.append(&mut read),
            None => {
                let message = format!("`{}` could not be read and was left out", block.key);
                let span = Span::new(block.start, block.start + block.key.len());
                diagnostics.push(Diagnostic::new(&code::KEY_DROPPED, message).at(span, text).help("mend its value"));
            }
        }
    }
    let readable = |key: &str| {
        let value = entries.iter().find(|entry| entry.key == key).and_then(|entry| entry.value.text());
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
    let mut salvaged = Diagnostic::new(&code::FRONTMATTER_SALVAGED, message).at(Span::empty(at), text);
    if let Some(error) = error {
        salvaged = salvaged.note(format!("a strict parser says: {}", error.message));
    }
    if !header.is_closed {
        let edits = vec![Edit::insert(header.body, "---\n")];
        let label = "close the frontmatter with a line `---`";
        salvaged = salvaged.help(label).fix(Fix { label: label.to_owned(), edits });
    }
    diagnostics.insert(0, salvaged);
    Some(Found { entries, yaml: Span::new(start, header.end), body: header.body, diagnostics })
}

/// The lines of a broken frontmatter, by keys.
struct Header {
    blocks: Vec<Block>,
    /// One past the last line that belongs to a key.
    end: usize,
    body: usize,
    is_closed: bool,
}

/// A key's lines.
struct Block {
    key: String,
    start: usize,
    end: usize,
    /// The value, where the key is not written as YAML.
    label_value: Option<String>,
}

impl Header {
    /// Reads lines as long as they can belong to the frontmatter. What a body says must not be taken for a key.
    fn read(text: &str, start: usize) -> Self {
        let mut blocks: Vec<Block> = Vec::new();
        let mut after_blank = false;
        let mut end = start;
        for line in lines(text, start).take_while(|line| line.start - start <= MAX_BYTES) {
            let closing = if matches!(line.text, "---" | "...") { Some(line.next) } else { frame::near_close(&line).map(|(body, _)| body) };
            if let Some(body) = closing.filter(|_| !blocks.is_empty()) {
                return Self { blocks, end: line.start, body, is_closed: true };
            }
            if line.is_blank() {
                after_blank = true;
                continue;
            }
            let complete = ["name", "description"].iter().all(|key| blocks.iter().any(|block| block.key == *key));
            let label = label(&line);
            let key = line.top_key().map(str::to_owned).or_else(|| label.as_ref().map(|(key, _)| (*key).to_owned()));
            let starts_body = line.text.starts_with('#') && label.is_none();
            // After name and description a blank line or a heading ends the header, unless a key we know follows.
            if complete && (starts_body || (after_blank && !key.as_deref().is_some_and(is_known_key))) {
                break;
            }
            after_blank = false;
            match key {
                Some(key) if line.top_key().is_some() || label.is_some() => {
                    let label_value = label.filter(|_| line.top_key().is_none()).map(|(_, value)| value);
                    blocks.push(Block { key, start: line.start, end: line.next, label_value });
                    end = line.next;
                }
                _ => {
                    if let Some(block) = blocks.last_mut() {
                        block.end = line.next;
                        end = line.next;
                    }
                }
            }
        }
        Self { blocks, end, body: end, is_closed: false }
    }
}

impl Block {
    fn read(&self, text: &str) -> Option<Vec<Entry<'static>>> {
        if let Some(value) = &self.label_value {
            return Some(vec![self.entry(value.clone(), self.end)]);
        }
        if let Ok(Some(tree)) = yaml::parse_fully(&text[self.start..self.end], self.start)
            && let Kind::Mapping(entries) = tree.into_owned().kind
        {
            return Some(entries);
        }
        if let Ok(Some(mended)) = value::mend_values(text, self.start..self.end) {
            return Some(mended.entries);
        }
        matches!(&*self.key, "name" | "description").then(|| self.read_raw(text))
    }

    /// What a person reads: the value on the key's line and the lines below it, up to a blank one.
    fn read_raw(&self, text: &str) -> Vec<Entry<'static>> {
        let mut pieces = Vec::new();
        for line in lines(text, self.start).take_while(|line| line.start < self.end && !line.is_blank()) {
            let piece = if line.start == self.start { line.text.split_once(':').map_or("", |(_, value)| value) } else { line.text };
            pieces.push(piece.trim());
        }
        let joined = pieces.join(" ");
        let value = joined.trim().trim_matches(['"', '\'']).trim_start_matches(['>', '|', '-']).trim();
        vec![self.entry(value.to_owned(), self.end)]
    }

    fn entry(&self, value: String, end: usize) -> Entry<'static> {
        let key_span = Span::new(self.start, self.start + self.key.len());
        let value = Node { span: Span::new(self.start, end), kind: Kind::Scalar { text: Cow::Owned(value), style: Style::DoubleQuoted } };
        Entry { key: Cow::Owned(self.key.clone()), key_span, value }
    }
}

/// An essential key in Markdown dress: `**name:** x`, `## name: x`, `**名称：x**`.
fn label(line: &Line<'_>) -> Option<(&'static str, String)> {
    let text = line.text.trim().trim_start_matches(['#', '*', '_', ' ']);
    LABELS.iter().find_map(|(label, key)| {
        let rest = text.strip_prefix(label)?;
        let value = rest.trim_start_matches(['*', ' ']).strip_prefix([':', '：'])?;
        let value = value.trim_matches(['*', ' ', '"', '“', '”']);
        Some((*key, value.to_owned()))
    })
}
