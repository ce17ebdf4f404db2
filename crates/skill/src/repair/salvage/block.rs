//! One key's lines, read on their own.

use crate::code;
use crate::edit::scalar;
use crate::findings::Findings;
use crate::line::{Line, lines};
use crate::repair::budget::Budget;
use crate::repair::value;
use crate::yaml::{Entry, Kind, Node, Style};
use metier_diagnostic::{Diagnostic, Edit, Span};
use std::borrow::Cow;

/// How people (and machine translations of their files) write the two essential keys outside YAML.
const LABELS: [(&str, &str); 4] =
    [("name", "name"), ("description", "description"), ("名称", "name"), ("描述", "description")];

/// A key and the lines that belong to it.
pub(super) struct Block {
    pub(super) key: String,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The value, where the key is not written as YAML.
    pub(super) written: Option<String>,
}

/// What reading blocks gave so far.
#[derive(Default)]
pub(super) struct Salvaged {
    pub(super) entries: Vec<Entry<'static>>,
    pub(super) findings: Findings,
    /// Control characters that were dropped.
    pub(super) dropped: Vec<Span>,
}

impl Block {
    pub(super) fn read(&self, text: &str, budget: &mut Budget, into: &mut Salvaged) {
        if let Some(value) = &self.written {
            into.entries.push(self.text_entry(value.clone(), text));
            return;
        }
        if let Ok(Some(mut mended)) = value::mend_values(text, self.start..self.end, budget) {
            into.entries.append(&mut mended.entries);
            into.dropped.append(&mut mended.dropped);
            into.findings.absorb(mended.findings);
            return;
        }
        match &*self.key {
            // A person reads these off the line whatever YAML makes of it.
            "name" | "description" => into.entries.push(self.text_entry(self.raw(text), text)),
            // A list that cannot be read must not read as "no restriction".
            "tools" | "allowed-tools" | "allowed_tools" => {
                into.entries.push(self.entry(Kind::Sequence(Vec::new()), text));
                into.findings.add(|| self.dropped("could not be read, so it allows nothing", text));
            }
            // What it takes away is unknown, so nothing is allowed: that is what a list of the wrong type means.
            "disallowed-tools" => {
                into.entries.push(self.entry(Kind::Mapping(Vec::new()), text));
                into.findings.add(|| self.dropped("could not be read, so no tool is allowed", text));
            }
            _ => into.findings.add(|| self.dropped("could not be read and was left out", text)),
        }
    }

    /// The edit that takes the Markdown dress off a key.
    pub(super) fn plain_key(&self, text: &str) -> Option<Edit> {
        let line = lines(text, self.start).next()?;
        let written = format!("{}: {}", self.key, scalar(self.written.as_deref()?));
        Some(Edit::replace(self.start, line.end(), written))
    }

    /// What a person reads: the value on the key's line and the lines below it, up to a blank one.
    fn raw(&self, text: &str) -> String {
        let mut pieces = Vec::new();
        for line in lines(text, self.start).take_while(|line| line.start < self.end && !line.is_blank()) {
            let is_first = line.start == self.start;
            let piece =
                if is_first { line.text.split_once(':').map_or("", |(_, value)| value) } else { line.text };
            pieces.push(piece.trim());
        }
        let joined = pieces.join(" ");
        let value = joined.trim().trim_matches(['"', '\'']).trim_start_matches(['>', '|', '-']).trim();
        value.to_owned()
    }

    fn dropped(&self, why: &str, text: &str) -> Diagnostic {
        let message = format!("`{}` {why}", self.key);
        Diagnostic::new(&code::KEY_DROPPED, message).at(self.key_span(text), text).help("mend its value")
    }

    fn text_entry(&self, value: String, text: &str) -> Entry<'static> {
        self.entry(Kind::Scalar { text: Cow::Owned(value), style: Style::DoubleQuoted }, text)
    }

    fn entry(&self, kind: Kind<'static>, text: &str) -> Entry<'static> {
        let key_span = self.key_span(text);
        let written = &text[key_span.end as usize..self.end];
        let value = written.trim_start_matches([':', '：', '*', ' ', '\t']);
        let start = self.end - value.len();
        let span = Span::new(start, start + value.trim_end().len());
        Entry { key: Cow::Owned(self.key.clone()), key_span, value: Node { span, kind } }
    }

    /// Where the key stands; in Markdown dress, what comes before its colon.
    fn key_span(&self, text: &str) -> Span {
        let block = &text[self.start..self.end];
        let length =
            if self.written.is_some() { block.find([':', '：']).unwrap_or(0) } else { self.key.len() };
        Span::new(self.start, self.start + length)
    }
}

/// An essential key in Markdown dress: `**name:** x`, `## name: x`, `**名称：x**`.
pub(super) fn label(line: &Line<'_>) -> Option<(&'static str, String)> {
    let text = line.text.trim().trim_start_matches(['#', '*', '_', ' ']);
    LABELS.iter().find_map(|(label, key)| {
        let rest = text.strip_prefix(label)?;
        let value = rest.trim_start_matches(['*', ' ']).strip_prefix([':', '：'])?;
        let value = value.trim_matches(['*', ' ', '"', '“', '”']);
        Some((*key, value.to_owned()))
    })
}
