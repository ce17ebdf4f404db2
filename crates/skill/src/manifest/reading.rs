//! Reading one value as the type its key takes. What does not fit becomes a diagnostic, never an error.

use crate::code;
use crate::manifest::Spanned;
use crate::tools::{ToolPattern, tokenize};
use crate::yaml::{Kind, Node, Style};
use metier_diagnostic::{Code, Diagnostic, Span};
use std::borrow::Cow;

/// Collects diagnostics while values are read.
pub(super) struct Reading<'s> {
    /// The file as far as it was read, for lines and columns.
    pub(super) source: &'s str,
    pub(super) diagnostics: Vec<Diagnostic>,
    dropped_controls: bool,
}

impl<'s> Reading<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self { source, diagnostics: Vec::new(), dropped_controls: false }
    }

    pub(super) fn report(&mut self, code: &'static Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        let index = self.diagnostics.len();
        self.diagnostics.push(Diagnostic::new(code, message).at(span, self.source));
        &mut self.diagnostics[index]
    }

    pub(super) fn wrong_type(&mut self, key: &str, node: &Node<'_>, takes: &str) {
        let is = match &node.kind {
            Kind::Scalar { .. } => "something else",
            Kind::Sequence(_) => "a list",
            Kind::Mapping(_) => "a mapping",
        };
        self.report(&code::WRONG_TYPE, node.span, format!("`{key}` takes {takes}, and this is {is}")).help =
            Some(format!("write {takes}; until then the value is kept and not acted on"));
    }

    /// Text of any scalar. Numbers and booleans are the text they were written as. Null is nothing.
    pub(super) fn text(&mut self, key: &str, node: &Node<'_>) -> Option<Spanned<String>> {
        if node.is_null() {
            return None;
        }
        let Some(text) = node.text() else {
            self.wrong_type(key, node, "a text");
            return None;
        };
        let text = self.without_controls(text, node.span);
        Some(Spanned { value: text.trim().to_owned(), span: node.span })
    }

    /// Text without control characters: they could move a terminal's cursor or forge lines.
    pub(super) fn without_controls<'t>(&mut self, text: &'t str, span: Span) -> Cow<'t, str> {
        let harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        // Most texts are clean, and all harmful characters contain one of these bytes.
        if !text.bytes().any(|byte| byte < b' ' || byte == 0x7f || byte == 0xc2) || !text.contains(harmful) {
            return Cow::Borrowed(text);
        }
        if !self.dropped_controls {
            self.dropped_controls = true;
            self.report(&code::CONTROL_CHARACTERS, span, "control characters in this value were dropped");
        }
        Cow::Owned(text.replace(harmful, ""))
    }

    /// A boolean in any of the spellings people use.
    pub(super) fn boolean(&mut self, key: &str, node: &Node<'_>) -> Option<bool> {
        if node.is_null() {
            return None;
        }
        let spelled = node.text().map(|text| text.trim().to_ascii_lowercase());
        match spelled.as_deref() {
            Some("true" | "yes" | "on" | "1") => Some(true),
            Some("false" | "no" | "off" | "0") => Some(false),
            _ => {
                self.report(&code::NOT_A_BOOLEAN, node.span, format!("`{key}` is neither true nor false")).help =
                    Some("write `true` or `false`".to_owned());
                None
            }
        }
    }

    /// A list of texts, or one text split at commas.
    pub(super) fn texts(&mut self, key: &str, node: &Node<'_>) -> Vec<String> {
        match &node.kind {
            _ if node.is_null() => Vec::new(),
            Kind::Scalar { text, .. } => {
                let text = self.without_controls(text, node.span);
                text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
            }
            Kind::Sequence(items) => items.iter().filter_map(|item| self.text(key, item)).map(|text| text.value).collect(),
            Kind::Mapping(_) => {
                self.wrong_type(key, node, "a list or a text");
                Vec::new()
            }
        }
    }

    /// A tool list. An unbalanced one allows nothing: what it meant to allow is unknown.
    pub(super) fn tools(&mut self, key: &str, node: &Node<'_>) -> Option<Spanned<Vec<ToolPattern>>> {
        if node.is_null() {
            return None;
        }
        let items: Vec<&Node<'_>> = match &node.kind {
            Kind::Scalar { .. } => vec![node],
            Kind::Sequence(items) => items.iter().collect(),
            Kind::Mapping(_) => {
                self.wrong_type(key, node, "a text or a list");
                // A list that cannot be read must not read as "no restriction".
                return Some(Spanned { value: Vec::new(), span: node.span });
            }
        };
        let mut patterns = Vec::new();
        for item in items {
            let Some(text) = self.text(key, item) else { continue };
            match tokenize(&text.value) {
                Ok(found) => patterns.extend(found),
                Err(unbalanced) => {
                    let span = place_inside(item, unbalanced.at);
                    let message = format!("a parenthesis in `{key}` has no counterpart, so the list allows nothing");
                    self.report(&code::TOOLS_UNBALANCED, span, message).help = Some("balance the parentheses".to_owned());
                    return Some(Spanned { value: Vec::new(), span: node.span });
                }
            }
        }
        if patterns.iter().any(|pattern| pattern.tool == "*" && pattern.argument.is_none()) {
            let message = format!("`*` in `{key}` neither restricts nor permits anything");
            self.report(&code::TOOLS_WILDCARD, node.span, message).help =
                Some("name the tools, or leave the key out".to_owned());
        }
        Some(Spanned { value: patterns, span: node.span })
    }
}

/// The place of a byte of a scalar's text in the file, exact where the text stands as written.
fn place_inside(node: &Node<'_>, at: usize) -> Span {
    match &node.kind {
        Kind::Scalar { style: Style::Plain, .. } => Span::empty(node.span.start as usize + at),
        _ => node.span,
    }
}
