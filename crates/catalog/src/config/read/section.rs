//! One table of a configuration file, taken key by key, and the problems that are met on the way.

use crate::code;
use crate::nearest::nearest;
use metier_diagnostic::{Code, Diagnostic, Span};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// Where the problems of one file are collected.
pub(super) struct Report<'a> {
    pub(super) source: &'a str,
    pub(super) path: &'a Arc<Path>,
    pub(super) found: Vec<Diagnostic>,
}

impl Report<'_> {
    pub(super) fn add(&mut self, code: &'static Code, span: Range<usize>, message: impl Into<String>) {
        let diagnostic = Diagnostic::new(code, message).at(Span::from(span), self.source).in_file(self.path);
        self.found.push(diagnostic);
    }
}

/// One table of the file, emptied key by key; what is left at the end is not known.
pub(super) struct Section<'i> {
    /// How the table is written, for messages; empty for the top.
    pub(super) name: String,
    pub(super) span: Range<usize>,
    pub(super) table: DeTable<'i>,
    pub(super) known: Vec<&'static str>,
}

impl<'i> Section<'i> {
    pub(super) fn new(name: impl Into<String>, table: DeTable<'i>) -> Self {
        Self { name: name.into(), span: 0..0, table, known: Vec::new() }
    }

    pub(super) fn remove(&mut self, key: &'static str) -> Option<Spanned<DeValue<'i>>> {
        self.known.push(key);
        self.table.remove(key)
    }

    /// A value of any type that can be read; one that does not fit is reported.
    pub(super) fn take<T: DeserializeOwned>(
        &mut self,
        key: &'static str,
        report: &mut Report<'_>,
    ) -> Option<T> {
        let value = self.remove(key)?;
        let span = value.span();
        match T::deserialize(ValueDeserializer::from(value)) {
            Ok(value) => Some(value),
            Err(error) => {
                let span = error.span().unwrap_or(span);
                report.add(&code::CONFIG_INVALID, span, format!("`{key}`: {}", first_line(error.message())));
                None
            }
        }
    }

    /// Texts, one or a list of them; what is no text is reported and given as it is written.
    pub(super) fn texts(&mut self, key: &'static str, wanted: &str, report: &mut Report<'_>) -> Vec<String> {
        let Some(value) = self.remove(key) else { return Vec::new() };
        let items = match value.get_ref() {
            DeValue::Array(_) if wanted != "a text" => match value.into_inner() {
                DeValue::Array(items) => items.into_iter().collect(),
                _ => Vec::new(),
            },
            _ => vec![value],
        };
        let mut texts = Vec::new();
        for item in items {
            let span = item.span();
            match item.into_inner() {
                DeValue::String(text) => texts.push(text.into_owned()),
                other => {
                    let message = format!("`{key}` is {wanted}, not {}", other.type_str());
                    texts.push(report.source.get(span.clone()).unwrap_or_default().to_owned());
                    report.add(&code::CONFIG_INVALID, span, message);
                }
            }
        }
        texts
    }

    pub(super) fn table(&mut self, key: &'static str, report: &mut Report<'_>) -> Option<Self> {
        let value = self.remove(key)?;
        self.below(key, value, report)
    }

    pub(super) fn tables(&mut self, key: &'static str, report: &mut Report<'_>) -> Vec<Self> {
        let Some(value) = self.remove(key) else { return Vec::new() };
        let span = value.span();
        let DeValue::Array(items) = value.into_inner() else {
            report.add(
                &code::CONFIG_INVALID,
                span,
                format!("`{key}` is a list of tables: write `[[{key}]]`"),
            );
            return Vec::new();
        };
        items.into_iter().filter_map(|item| self.below(key, item, report)).collect()
    }

    /// What `read` makes of every entry of a table whose keys are names.
    pub(super) fn named<'r, T>(
        &mut self,
        key: &'static str,
        report: &mut Report<'r>,
        mut read: impl FnMut(String, Self, &mut Report<'r>) -> Option<(String, T)>,
    ) -> BTreeMap<String, T> {
        let Some(mut table) = self.table(key, report) else { return BTreeMap::new() };
        let mut named = BTreeMap::new();
        for (key, value) in std::mem::take(&mut table.table) {
            let name = key.into_inner().into_owned();
            if let Some(section) = table.below(&name, value, report) {
                named.extend(read(name, section, report));
            }
        }
        named
    }

    fn below(&self, key: &str, value: Spanned<DeValue<'i>>, report: &mut Report<'_>) -> Option<Self> {
        let span = value.span();
        let name = if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) };
        match value.into_inner() {
            DeValue::Table(table) => Some(Self { span, ..Self::new(name, table) }),
            other => {
                let message = format!("`{name}` is a table, not {}", other.type_str());
                report.add(&code::CONFIG_INVALID, span, message);
                None
            }
        }
    }

    /// Reports what nobody took.
    pub(super) fn finish(self, report: &mut Report<'_>) {
        for (key, _) in &self.table {
            let name = key.get_ref();
            let place = if self.name.is_empty() { "metier".to_owned() } else { format!("`{}`", self.name) };
            let message = format!("{place} has no setting `{name}`; it has no effect");
            report.add(&code::CONFIG_UNKNOWN_KEY, key.span(), message);
            let near = nearest(name, self.known.iter().copied(), 1);
            if let (Some(near), Some(last)) = (near.first(), report.found.last_mut()) {
                last.help = Some(format!("did you mean `{near}`?"));
            }
        }
    }
}

/// The parser's messages can have a second line with a picture of the place, which the diagnostic draws itself.
pub(super) fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default().trim_end_matches('.')
}
