//! Reads one value of a definition as the type that its key takes. A value of another type is a diagnostic, never an error.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

use metier_catalog::Amount;
use metier_diagnostic::{Code, Diagnostic, Severity, Span, counted};
use metier_skill::yaml::{Entry, Kind, Node};
use metier_skill::{Spanned, ToolPattern, tokenize};

use crate::budget::LimitSetting;
use crate::code;

/// How many diagnostics one file gets: more than anybody reads.
const MAX_FOUND: usize = 100;

/// Collects diagnostics while the values of one file are read.
pub(crate) struct Reader<'s> {
    file: Arc<Path>,
    source: &'s str,
    found: Vec<Diagnostic>,
    left_out: usize,
}

impl<'s> Reader<'s> {
    pub(crate) fn new(file: &Arc<Path>, source: &'s str) -> Self {
        Self { file: Arc::clone(file), source, found: Vec::new(), left_out: 0 }
    }

    /// Says something about a place of the file.
    pub(crate) fn say(
        &mut self,
        code: &'static Code,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.take(Diagnostic::new(code, message).help(help).at(span, self.source));
    }

    /// Adds a diagnostic that another parser made of this file.
    pub(crate) fn take(&mut self, found: Diagnostic) {
        if self.found.len() < MAX_FOUND {
            self.found.push(found.in_file(&self.file));
        } else {
            self.left_out += 1;
        }
    }

    /// Everything that was found, in the order of the file.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|found| found.place.map(|place| place.span.start));
        if self.left_out > 0 {
            let message =
                format!("and {}, not listed", counted(self.left_out, "more problem", "more problems"));
            let more = Diagnostic::new(&code::AGENT_WRONG_TYPE, message).in_file(&self.file);
            self.found.push(more.help("mend the first ones and look again"));
        }
        self.found
    }

    /// Reports duplicate and unknown keys of a mapping.
    pub(crate) fn keys<'n>(
        &mut self,
        entries: &'n [Entry<'n>],
        is_known: impl Fn(&str) -> bool,
        unknown: Severity,
        where_to: &str,
    ) {
        for (at, entry) in entries.iter().enumerate() {
            if entries[..at].iter().any(|earlier| earlier.key == entry.key) {
                let message = format!("`{}` is written twice; the first one counts", entry.key);
                self.say(&code::AGENT_DUPLICATE_KEY, entry.key_span, message, "leave one of them");
            } else if !is_known(&entry.key) {
                let message = format!("{where_to} has no key `{}`", entry.key);
                let found = Diagnostic::new(&code::AGENT_UNKNOWN_KEY, message)
                    .with_severity(unknown)
                    .help("take it out, or look at its spelling");
                self.take(found.at(entry.key_span, self.source));
            }
        }
    }

    pub(crate) fn wrong_type(&mut self, key: &str, span: Span, takes: &str) {
        let message = format!("`{key}` takes {takes}");
        self.say(&code::AGENT_WRONG_TYPE, span, message, format!("write {takes}"));
    }

    /// The text of any scalar; null is nothing, and so is a blank one.
    pub(crate) fn text(&mut self, key: &str, node: &Node<'_>) -> Option<Spanned<String>> {
        if node.is_null() {
            return None;
        }
        let Some(text) = node.text() else {
            self.wrong_type(key, node.span, "a text");
            return None;
        };
        // A control character in a name would forge lines wherever it is shown.
        let text: String =
            text.trim().chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
        (!text.is_empty()).then_some(Spanned { value: text, span: node.span })
    }

    /// A list of texts; a single text counts as a list of one, or of several where commas part it.
    pub(crate) fn texts(&mut self, key: &str, node: &Node<'_>, commas: Commas) -> Vec<Spanned<String>> {
        match &node.kind {
            _ if node.is_null() => Vec::new(),
            Kind::Scalar { .. } => {
                let Some(text) = self.text(key, node) else { return Vec::new() };
                let parts: Vec<&str> = match commas {
                    Commas::Part => {
                        text.value.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
                    }
                    Commas::Belong => vec![text.value.as_str()],
                };
                parts.into_iter().map(|part| Spanned { value: part.to_owned(), span: node.span }).collect()
            }
            Kind::Sequence(items) => items.iter().filter_map(|item| self.text(key, item)).collect(),
            Kind::Mapping(_) => {
                self.wrong_type(key, node.span, "a list of texts, or one text");
                Vec::new()
            }
        }
    }

    /// A list of tools. One that cannot be read names none: what it meant to allow is unknown.
    pub(crate) fn tools(&mut self, key: &str, node: &Node<'_>) -> Option<Spanned<Vec<ToolPattern>>> {
        if node.is_null() {
            return None;
        }
        let items = match &node.kind {
            Kind::Scalar { .. } => std::slice::from_ref(node),
            Kind::Sequence(items) => items,
            Kind::Mapping(_) => {
                self.wrong_type(key, node.span, "a text or a list of tools");
                &[]
            }
        };
        let mut tools = Vec::new();
        for item in items.iter().filter(|item| !item.is_null()) {
            match item.text().map(tokenize) {
                Some(Ok(mut found)) => tools.append(&mut found),
                Some(Err(_)) => {
                    let message = format!("a parenthesis in `{key}` has no counterpart");
                    self.say(&code::AGENT_TOOLS_UNBALANCED, item.span, message, "balance the parentheses");
                }
                None => self.wrong_type(key, item.span, "a text or a list of tools"),
            }
        }
        Some(Spanned { value: tools, span: node.span })
    }

    /// A whole number of at least 1; null means that none is wanted.
    pub(crate) fn cap(&mut self, key: &str, node: &Node<'_>) -> LimitSetting {
        if node.is_null() {
            return LimitSetting::Unlimited;
        }
        let number = node.text().map(str::trim).and_then(|text| text.parse().ok()).and_then(NonZeroU64::new);
        if let Some(number) = number {
            return LimitSetting::At(number);
        }
        let written = node.text().unwrap_or("what stands here");
        let message = format!("`{key}` takes a whole number of at least 1, not `{written}`");
        self.say(&code::AGENT_LIMIT, node.span, message, "write one such as `50`, or `null` for none");
        LimitSetting::Unset
    }

    /// An amount of money, in millionths; null means that no limit is wanted.
    pub(crate) fn money(&mut self, key: &str, node: &Node<'_>) -> LimitSetting {
        if node.is_null() {
            return LimitSetting::Unlimited;
        }
        let amount = node.text().and_then(|text| Amount::try_from(text.trim().to_owned()).ok());
        if let Some(micros) = amount.as_ref().map(Amount::micros).and_then(NonZeroU64::new) {
            return LimitSetting::At(micros);
        }
        let message = format!("`{key}` takes an amount above 0 with at most six places behind the point");
        self.say(&code::AGENT_LIMIT, node.span, message, "write one such as `0.50`, or `null` for none");
        LimitSetting::Unset
    }

    /// A boolean in any of the spellings people use.
    pub(crate) fn boolean(&mut self, key: &str, node: &Node<'_>) -> Option<bool> {
        let spelled = node.text().map(|text| text.trim().to_ascii_lowercase());
        match spelled.as_deref() {
            _ if node.is_null() => None,
            Some("true" | "yes" | "on" | "1") => Some(true),
            Some("false" | "no" | "off" | "0") => Some(false),
            _ => {
                self.wrong_type(key, node.span, "`true` or `false`");
                None
            }
        }
    }
}

/// What commas in a single text do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commas {
    /// They part it.
    Part,
    /// They belong to it: `deploy@>=1, <2` is one reference.
    Belong,
}
