//! Reading one value of a definition as the type its key takes. What does not fit becomes a diagnostic, never an error.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

use metier_catalog::Amount;
use metier_diagnostic::{Code, Diagnostic, Severity, Span, counted};
use metier_skill::yaml::{Entry, Kind, Node};
use metier_skill::{Spanned, ToolPattern, tokenize};

use super::budget::Cap;
use super::code;

/// How many diagnostics one file gets: more than anybody reads.
const MAX_FOUND: usize = 100;

/// Collects diagnostics while the values of one file are read.
pub(super) struct Reader<'s> {
    file: Arc<Path>,
    source: &'s str,
    found: Vec<Diagnostic>,
    left_out: usize,
}

impl<'s> Reader<'s> {
    pub(super) fn new(file: &Arc<Path>, source: &'s str) -> Self {
        Self { file: Arc::clone(file), source, found: Vec::new(), left_out: 0 }
    }

    /// Says something about a place of the file.
    pub(super) fn say(
        &mut self,
        code: &'static Code,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.take(Diagnostic::new(code, message).help(help).at(span, self.source));
    }

    /// Takes a diagnostic that somebody else made of this file.
    pub(super) fn take(&mut self, found: Diagnostic) {
        if self.found.len() < MAX_FOUND {
            self.found.push(found.in_file(&self.file));
        } else {
            self.left_out += 1;
        }
    }

    /// Everything that was found, in the order of the file.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|found| found.place.map(|place| place.span.start));
        if self.left_out > 0 {
            let message =
                format!("and {}, not listed", counted(self.left_out, "more problem", "more problems"));
            let more = Diagnostic::new(&code::AGENT_WRONG_TYPE, message).in_file(&self.file);
            self.found.push(more.help("mend the first ones and look again"));
        }
        self.found
    }

    /// Says which keys of a mapping are written twice, and which nobody knows.
    pub(super) fn keys<'n>(
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

    pub(super) fn wrong_type(&mut self, key: &str, span: Span, takes: &str) {
        let message = format!("`{key}` takes {takes}");
        self.say(&code::AGENT_WRONG_TYPE, span, message, format!("write {takes}"));
    }

    /// The text of any scalar; null is nothing, and so is a blank one.
    pub(super) fn text(&mut self, key: &str, node: &Node<'_>) -> Option<Spanned<String>> {
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
    pub(super) fn texts(&mut self, key: &str, node: &Node<'_>, commas: Commas) -> Vec<Spanned<String>> {
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
    pub(super) fn tools(&mut self, key: &str, node: &Node<'_>) -> Option<Spanned<Vec<ToolPattern>>> {
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
    pub(super) fn cap(&mut self, key: &str, node: &Node<'_>) -> Cap {
        if node.is_null() {
            return Cap::None;
        }
        let number = node.text().map(str::trim).and_then(|text| text.parse().ok()).and_then(NonZeroU64::new);
        if let Some(number) = number {
            return Cap::At(number);
        }
        let written = node.text().unwrap_or("what stands here");
        let message = format!("`{key}` takes a whole number of at least 1, not `{written}`");
        self.say(&code::AGENT_LIMIT, node.span, message, "write one such as `50`, or `null` for none");
        Cap::Unsaid
    }

    /// An amount of money, in millionths; null means that no limit is wanted.
    pub(super) fn money(&mut self, key: &str, node: &Node<'_>) -> Cap {
        if node.is_null() {
            return Cap::None;
        }
        let amount = node.text().and_then(|text| Amount::try_from(text.trim().to_owned()).ok());
        if let Some(micros) = amount.as_ref().map(Amount::micros).and_then(NonZeroU64::new) {
            return Cap::At(micros);
        }
        let message = format!("`{key}` takes an amount above 0 with at most six places behind the point");
        self.say(&code::AGENT_LIMIT, node.span, message, "write one such as `0.50`, or `null` for none");
        Cap::Unsaid
    }

    /// A boolean in any of the spellings people use.
    pub(super) fn boolean(&mut self, key: &str, node: &Node<'_>) -> Option<bool> {
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
pub(super) enum Commas {
    /// They part it.
    Part,
    /// They belong to it: `deploy@>=1, <2` is one reference.
    Belong,
}
