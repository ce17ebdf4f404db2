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

    /// What `read` makes of the table. What it leaves is reported.
    pub(super) fn read<'r, T>(
        mut self,
        report: &mut Report<'r>,
        read: impl FnOnce(&mut Self, &mut Report<'r>) -> T,
    ) -> T {
        let made = read(&mut self, report);
        self.finish(report);
        made
    }

    /// A value of any type that can be read; one that does not fit is reported, and the default counts.
    pub(super) fn take<T: DeserializeOwned + Default>(
        &mut self,
        key: &'static str,
        report: &mut Report<'_>,
    ) -> T {
        let Some(value) = self.remove(key) else { return T::default() };
        let span = value.span();
        T::deserialize(ValueDeserializer::from(value)).unwrap_or_else(|error| {
            let span = error.span().unwrap_or(span);
            report.add(&code::CONFIG_INVALID, span, format!("`{key}`: {}", first_line(error.message())));
            T::default()
        })
    }

    /// A text without which the table is nothing; empty where it is missing.
    pub(super) fn needed(
        &mut self,
        key: &'static str,
        report: &mut Report<'_>,
        lacks: impl FnOnce() -> String,
    ) -> String {
        let is_there = self.table.contains_key(key);
        let text: Option<String> = self.take(key, report);
        // One of the wrong type has been reported by now.
        if !is_there || text.as_ref().is_some_and(String::is_empty) {
            report.add(&code::CONFIG_INVALID, self.span.clone(), lacks());
        }
        text.unwrap_or_default()
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

    /// What `read` makes of a table, where it is one.
    pub(super) fn table<'r, T>(
        &mut self,
        key: &'static str,
        report: &mut Report<'r>,
        read: impl FnOnce(&mut Self, &mut Report<'r>) -> T,
    ) -> Option<T> {
        let value = self.remove(key)?;
        Some(self.below(key, value, report)?.read(report, read))
    }

    /// The same with the default where nothing is, or no table.
    pub(super) fn part<'r, T: Default>(
        &mut self,
        key: &'static str,
        report: &mut Report<'r>,
        read: impl FnOnce(&mut Self, &mut Report<'r>) -> T,
    ) -> T {
        self.table(key, report, read).unwrap_or_default()
    }

    /// What `read` makes of each table of a list.
    pub(super) fn tables<'r, T>(
        &mut self,
        key: &'static str,
        report: &mut Report<'r>,
        read: impl Fn(&mut Self, &mut Report<'r>) -> T,
    ) -> Vec<T> {
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
        let tables =
            items.into_iter().filter_map(|item| Some(self.below(key, item, report)?.read(report, &read)));
        tables.collect()
    }

    /// What `read` makes of every entry of a table whose keys are names.
    pub(super) fn named<'r, T>(
        &mut self,
        key: &'static str,
        report: &mut Report<'r>,
        read: impl Fn(&str, &mut Self, &mut Report<'r>) -> Option<T>,
    ) -> BTreeMap<String, T> {
        self.part(key, report, |table, report| {
            let entries = std::mem::take(&mut table.table).into_iter().filter_map(|(key, value)| {
                let name = key.into_inner().into_owned();
                let section = table.below(&name, value, report)?;
                let made = section.read(report, |section, report| read(&name, section, report))?;
                Some((name, made))
            });
            entries.collect()
        })
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
    fn finish(self, report: &mut Report<'_>) {
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
