//! Values with a shape of their own, and values as a person reads them.

use super::reading::Reading;
use super::{Argument, Context, Needs, Requires, Spanned};
use crate::code;
use crate::yaml::{Kind, Node};
use std::num::NonZeroU32;

/// How much of a value a message quotes.
const MAX_QUOTED: usize = 60;

impl Reading<'_> {
    pub(super) fn requires(&mut self, key: &str, node: &Node<'_>) -> Option<Requires> {
        if node.is_null() {
            return None;
        }
        let Some(entries) = node.entries() else {
            self.wrong_type(key, node, "a mapping");
            return None;
        };
        let mut requires = Requires::default();
        for entry in entries {
            let list = match &*entry.key {
                "bins" => &mut requires.bins,
                "anyBins" => &mut requires.any_bins,
                "env" => &mut requires.env,
                "os" => &mut requires.os,
                "tools" => &mut requires.tools,
                _ => continue,
            };
            *list = self.texts(&format!("{key}.{}", entry.key), &entry.value);
        }
        Some(requires)
    }

    pub(super) fn needs(&mut self, key: &str, node: &Node<'_>) -> Option<Needs> {
        if node.is_null() {
            return None;
        }
        let Some(entries) = node.entries() else {
            self.wrong_type(key, node, "a mapping");
            return None;
        };
        let mut needs = Needs::default();
        for entry in entries {
            let key = format!("{key}.{}", shorten(&entry.key));
            match &*entry.key {
                "hosts" => needs.hosts = self.texts(&key, &entry.value),
                "write" => needs.write = self.globs(&key, &entry.value),
                "env" => needs.env = self.texts(&key, &entry.value),
                "seconds" => needs.seconds = self.seconds(&key, &entry.value),
                _ => {
                    let message = format!("`{key}` is not a need metier knows");
                    let help = "the needs are `hosts`, `write`, `env` and `seconds`";
                    self.report(&code::UNKNOWN_KEY, entry.key_span, message, help);
                }
            }
        }
        Some(needs)
    }

    fn seconds(&mut self, key: &str, node: &Node<'_>) -> Option<NonZeroU32> {
        let seconds = node.text().and_then(|text| text.trim().parse().ok());
        if seconds.is_none() && !node.is_null() {
            self.wrong_type(key, node, "a whole number of at least 1");
        }
        seconds
    }

    pub(super) fn max_turns(&mut self, key: &str, node: &Node<'_>) -> Option<Spanned<NonZeroU32>> {
        if node.is_null() {
            return None;
        }
        let Some(value) = node.text().and_then(|text| text.trim().parse::<NonZeroU32>().ok()) else {
            let message = format!("`{key}` takes a whole number of at least 1; the default counts");
            self.report(&code::MAX_TURNS_INVALID, node.span, message, format!("write a number: `{key}: 20`"));
            self.is_misfit = true;
            return None;
        };
        if node.is_text() {
            let message = format!("`{key}` is a number in quotes");
            self.report(&code::NUMBER_IN_QUOTES, node.span, message, format!("write `{key}: {value}`"));
        }
        Some(Spanned { value, span: node.span })
    }

    pub(super) fn context(&mut self, key: &str, node: &Node<'_>) -> Context {
        if node.is_null() {
            return Context::Inline;
        }
        if !node.is_text() {
            self.wrong_type(key, node, "`inline`, `fork` or a note");
            return Context::Inline;
        }
        match self.text(key, node) {
            Some(text) if text.value == "fork" => Context::Fork,
            Some(text) if !matches!(&*text.value, "" | "inline") => Context::Note(text.value),
            _ => Context::Inline,
        }
    }

    pub(super) fn argument_hint(&mut self, key: &str, node: &Node<'_>) -> Option<Spanned<String>> {
        if node.text().is_some() {
            return self.text(key, node);
        }
        let value = as_written(node, self.source());
        let shown = shorten(&value);
        let message = format!("`{key}` is read as a list by YAML and shown as `{shown}`");
        self.report(&code::ARGUMENT_HINT_LIST, node.span, message, format!("put it in quotes: \"{shown}\""));
        Some(Spanned { value, span: node.span })
    }

    pub(super) fn arguments(&mut self, key: &str, node: &Node<'_>) -> Vec<Argument> {
        let named = |name: &str| Argument { name: name.trim().to_owned(), description: None, default: None };
        match &node.kind {
            _ if node.is_null() => Vec::new(),
            Kind::Scalar { text, .. } => {
                let text = self.without_controls(text, node.span);
                text.split([',', ' ', '\n', '\t']).filter(|name| !name.is_empty()).map(named).collect()
            }
            Kind::Sequence(items) => items
                .iter()
                .filter_map(|item| {
                    if let Some(name) = item.text() {
                        return Some(named(&self.without_controls(name, item.span)));
                    }
                    let Some(name) = item.get("name").and_then(Node::text) else {
                        self.wrong_type(key, item, "names, or mappings with a `name`");
                        return None;
                    };
                    let mut argument = named(&self.without_controls(name, item.span));
                    let mut field = |key: &str| self.text(key, item.get(key)?).map(|text| text.value);
                    argument.description = field("description");
                    argument.default = field("default");
                    Some(argument)
                })
                .collect(),
            Kind::Mapping(_) => {
                self.wrong_type(key, node, "names, or a list of mappings with a `name`");
                Vec::new()
            }
        }
    }
}

/// A list or mapping as a person reads it: what stands between brackets as it is, a block on one line.
pub(super) fn as_written(node: &Node<'_>, source: &str) -> String {
    let written = node.span.of(source);
    if written.starts_with(['[', '{']) {
        written.split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        plain_text(node)
    }
}

/// Text of a scalar, or the nested value on one line.
pub(super) fn plain_text(node: &Node<'_>) -> String {
    match &node.kind {
        Kind::Scalar { text, .. } => text.trim().to_owned(),
        Kind::Sequence(items) => items.iter().map(plain_text).collect::<Vec<_>>().join(" "),
        Kind::Mapping(entries) => {
            let pairs = entries.iter().map(|entry| format!("{}: {}", entry.key, plain_text(&entry.value)));
            pairs.collect::<Vec<_>>().join(" ")
        }
    }
}

/// A text as a message quotes it.
pub(super) fn shorten(text: &str) -> String {
    // Characters are at most as many as bytes, so short texts need no counting.
    if text.len() <= MAX_QUOTED {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(MAX_QUOTED).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
