//! Reading one value as the type its key takes. What does not fit becomes a diagnostic, never an error.

use crate::code;
use crate::findings::Findings;
use crate::manifest::Spanned;
use crate::ruler::Ruler;
use crate::tools::{ToolPattern, tokenize};
use crate::yaml::{Kind, Node, Style};
use metier_diagnostic::{Code, Span};
use std::borrow::Cow;

/// Collects diagnostics while values are read.
pub(super) struct Reading<'s> {
    /// The file as far as it was read, for lines and columns.
    pub(super) ruler: Ruler<'s>,
    pub(super) findings: Findings,
    /// Whether the value last read has another type than its key takes.
    pub(super) is_misfit: bool,
    /// Whether a tool list was met that cannot be read.
    pub(super) has_unread_tools: bool,
    dropped_controls: bool,
}

impl<'s> Reading<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self {
            ruler: Ruler::new(source),
            findings: Findings::default(),
            is_misfit: false,
            has_unread_tools: false,
            dropped_controls: false,
        }
    }

    pub(super) fn source(&self) -> &'s str {
        self.ruler.source()
    }

    pub(super) fn report(
        &mut self,
        code: &'static Code,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.findings.add(|| self.ruler.diagnostic(code, span, message).help(help));
    }

    pub(super) fn wrong_type(&mut self, key: &str, node: &Node<'_>, takes: &str) {
        let is = match &node.kind {
            Kind::Scalar { .. } => "something else",
            Kind::Sequence(_) => "a list",
            Kind::Mapping(_) => "a mapping",
        };
        let message = format!("`{key}` takes {takes}, and this is {is}");
        let help = format!("write {takes}; until then the value is kept and not acted on");
        self.report(&code::WRONG_TYPE, node.span, message, help);
        self.is_misfit = true;
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
        // Most texts are clean, and all harmful characters contain one of these bytes. The harmless line feeds do not
        // count, since every block of text has some. No early end, so that the compiler can look at many bytes at once.
        let is_suspicious =
            |byte: &u8| (*byte < b' ' && !matches!(byte, b'\n' | b'\t')) || *byte == 0x7f || *byte == 0xc2;
        let suspicious = text.as_bytes().iter().fold(0, |found, byte| found | u8::from(is_suspicious(byte)));
        if suspicious == 0 || !text.contains(harmful) {
            return Cow::Borrowed(text);
        }
        if !self.dropped_controls {
            self.dropped_controls = true;
            let message = "control characters in this value were dropped";
            self.report(&code::CONTROL_CHARACTERS, span, message, "write the value without them");
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
                let message = format!("`{key}` is neither true nor false");
                self.report(&code::NOT_A_BOOLEAN, node.span, message, "write `true` or `false`");
                self.is_misfit = true;
                None
            }
        }
    }

    /// A list of texts, or one text split at commas.
    pub(super) fn texts(&mut self, key: &str, node: &Node<'_>) -> Vec<String> {
        self.list(key, node, |text| text.split(',').collect())
    }

    /// A list of globs, or one text split at commas; the commas of `*.{js,ts}` do not separate.
    pub(super) fn globs(&mut self, key: &str, node: &Node<'_>) -> Vec<String> {
        self.list(key, node, |text| {
            let mut depth = 0_usize;
            text.split(move |c| {
                match c {
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                c == ',' && depth == 0
            })
            .collect()
        })
    }

    fn list(&mut self, key: &str, node: &Node<'_>, split: impl Fn(&str) -> Vec<&str>) -> Vec<String> {
        match &node.kind {
            _ if node.is_null() => Vec::new(),
            Kind::Scalar { text, .. } => {
                let text = self.without_controls(text, node.span);
                let items = split(&text).into_iter().map(str::trim);
                items.filter(|item| !item.is_empty()).map(str::to_owned).collect()
            }
            Kind::Sequence(items) => {
                let texts = items.iter().filter_map(|item| self.text(key, item)).map(|text| text.value);
                texts.filter(|item| !item.is_empty()).collect()
            }
            Kind::Mapping(_) => {
                self.wrong_type(key, node, "a list or a text");
                Vec::new()
            }
        }
    }

    /// A tool list. An unbalanced one allows nothing: what it meant to allow, or to take away, is unknown.
    pub(super) fn tools(&mut self, key: &str, node: &Node<'_>) -> Option<Spanned<Vec<ToolPattern>>> {
        if node.is_null() {
            return None;
        }
        let items = match &node.kind {
            Kind::Scalar { .. } => std::slice::from_ref(node),
            Kind::Sequence(items) => items,
            Kind::Mapping(_) => {
                self.wrong_type(key, node, "a text or a list");
                // A list that cannot be read must not read as "no restriction".
                return Some(Spanned { value: Vec::new(), span: node.span });
            }
        };
        let mut patterns = Vec::new();
        for item in items {
            if item.is_null() {
                continue;
            }
            let Some(text) = item.text() else {
                self.wrong_type(key, item, "a text or a list of texts");
                continue;
            };
            match tokenize(&self.without_controls(text, item.span)) {
                Ok(mut found) => patterns.append(&mut found),
                Err(unbalanced) => {
                    let span = place_inside(item, unbalanced.at);
                    let message =
                        format!("a parenthesis in `{key}` has no counterpart, so the list allows nothing");
                    self.report(&code::TOOLS_UNBALANCED, span, message, "balance the parentheses");
                    self.has_unread_tools = true;
                    return Some(Spanned { value: Vec::new(), span: node.span });
                }
            }
        }
        if patterns.iter().any(ToolPattern::is_wildcard) {
            let message = format!("`*` in `{key}` neither restricts nor permits anything");
            self.report(&code::TOOLS_WILDCARD, node.span, message, "name the tools, or leave the key out");
        }
        Some(Spanned { value: patterns, span: node.span })
    }

    /// The list that takes tools away. What is left out of a list that allows narrows it; left out of this one it would widen.
    pub(super) fn disallowed_tools(
        &mut self,
        key: &str,
        node: &Node<'_>,
    ) -> Option<Spanned<Vec<ToolPattern>>> {
        let list = self.tools(key, node);
        self.has_unread_tools |= self.is_misfit;
        list
    }
}

/// The place of a byte of a scalar's text in the file, exact where the text stands as written.
fn place_inside(node: &Node<'_>, at: usize) -> Span {
    match &node.kind {
        Kind::Scalar { text, style: Style::Plain } if text.len() == node.span.range().len() => {
            Span::empty(node.span.start as usize + at)
        }
        _ => node.span,
    }
}
