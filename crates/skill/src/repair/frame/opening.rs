//! Openings that are late, missing or not alone on their line.

use super::Oddity;
use super::closing::Closing;
use crate::code;
use crate::line::{Line, lines};
use metier_diagnostic::{Edit, Span};

/// How many lines may stand before the opening one. People put a title, a comment or a fence there, not a chapter.
const MAX_PREAMBLE: usize = 20;

/// The words by which other loaders choose an evaluator. On the first line any word could be one.
const ENGINES: [&str; 7] = ["js", "javascript", "json", "json5", "toml", "coffee", "cson"];

/// Where a frontmatter begins, and what is odd about that.
pub(super) struct Start {
    /// The first byte of the keys.
    pub(super) yaml: usize,
    /// `--- name: a --- body`: all on the first line.
    pub(super) one_line: Option<Closing>,
    /// The opening line is missing, and keys come first.
    pub(super) keys: Option<Keys>,
    /// One past what stands before the opening line.
    preamble: usize,
    /// What is wrong with the opening line itself.
    opening: Option<Oddity>,
    /// `---js`: the word behind the dashes.
    pub(super) engine: Option<Span>,
}

/// What stands where the opening line is missing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    /// The file begins with them, so they are meant as frontmatter.
    NameAndDescription,
    /// A line of a body may begin with such a word, too.
    Perhaps,
}

impl Start {
    pub(super) fn exact(yaml: usize) -> Self {
        Self { yaml, one_line: None, keys: None, preamble: 0, opening: None, engine: None }
    }

    /// Finds an opening that is not exact.
    pub(super) fn find(text: &str) -> Option<Self> {
        let mut in_comment = false;
        let mut has_title = false;
        for line in lines(text, 0).take(MAX_PREAMBLE + 1) {
            let at_margin = line.text.trim_start_matches('\u{feff}');
            let trimmed = at_margin.trim();
            if in_comment || trimmed.starts_with("<!--") {
                in_comment = !trimmed.contains("-->");
                continue;
            }
            if trimmed.starts_with("---") {
                return Some(Self::dashes(text, &line));
            }
            if ["name:", "description:"].iter().any(|key| at_margin.starts_with(key)) {
                // Below a title, a line that begins with one of the two words is more likely the body's first.
                let is_meant =
                    !has_title || ["name", "description"].iter().all(|key| has_key(text, &line, key));
                return is_meant.then(|| Self::keys(text, &line));
            }
            has_title |= trimmed.starts_with('#');
            if !(trimmed.is_empty() || trimmed.starts_with(['#', '/']) || line.is_fence()) {
                return None;
            }
        }
        None
    }

    /// An opening line of dashes, with or without something around it.
    fn dashes(text: &str, line: &Line<'_>) -> Self {
        let at = line.start + line.text.find('-').unwrap_or_default();
        let after = at + text[at..].len() - text[at..].trim_start_matches('-').len();
        let rest = text[after..line.end()].trim();
        let stands_alone = rest.is_empty() || matches!(rest, "yaml" | "yml");
        let is_exact = line.text.trim_start_matches('\u{feff}').trim_ascii_end() == "---";
        let margin = line.start + line.text.len() - line.text.trim_start_matches('\u{feff}').len();
        let blanks = text[after..line.end()].len() - text[after..line.end()].trim_start().len();
        let yaml = if stands_alone { line.next } else { after + blanks };
        let opening = (!is_exact).then(|| Oddity {
            code: &code::DELIMITER_OPEN,
            span: Span::new(at, line.end()),
            message: "the opening line is not `---` alone",
            label: "write `---` alone on the line",
            edits: vec![if stands_alone {
                Edit::replace(margin, line.end(), "---")
            } else {
                Edit::replace(margin, yaml, "---\n")
            }],
        });
        // Further down, a rule with a word behind it is more likely than an evaluator with any name.
        let is_word = rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_engine =
            !stands_alone && after == at + 3 && is_word && (line.start == 0 || ENGINES.contains(&rest));
        let engine = is_engine.then(|| Span::new(after, line.end()));
        let one_line = if stands_alone { None } else { Closing::on_line(text, yaml, line) };
        Self { yaml, one_line, keys: None, preamble: margin, opening, engine }
    }

    /// No opening line at all: the file begins with a key.
    fn keys(text: &str, line: &Line<'_>) -> Self {
        let start = line.start + line.text.len() - line.text.trim_start_matches('\u{feff}').len();
        let has_description = has_key(text, line, "description");
        let opening = Oddity {
            code: &code::DELIMITER_OPEN,
            span: Span::new(start, line.end()),
            message: "the opening `---` is missing",
            label: "begin the file with a line `---`",
            edits: vec![Edit::insert(start, "---\n")],
        };
        let is_first = line.start == 0;
        let keys = Some(if has_description && is_first { Keys::NameAndDescription } else { Keys::Perhaps });
        Self { yaml: start, one_line: None, keys, preamble: start, opening: Some(opening), engine: None }
    }

    /// What is odd, for a frontmatter that ends with `end` and whose body begins at the byte beside it.
    pub(super) fn oddities(&self, text: &str, end: Option<(&Closing, usize)>) -> Vec<Oddity> {
        let is_late = !text[..self.preamble].trim_start_matches('\u{feff}').is_empty();
        let late = is_late.then(|| self.late(text, end));
        late.into_iter().chain(self.opening.clone()).collect()
    }

    /// Something before the opening line. It moves below the frontmatter unless it says nothing.
    fn late(&self, text: &str, end: Option<(&Closing, usize)>) -> Oddity {
        let preamble = &text[..self.preamble];
        let said: Vec<&str> =
            lines(preamble, 0).filter(|line| !line.is_fence()).map(|line| line.text).collect();
        let said = said.join("\n");
        let said = said.trim_matches(['\u{feff}', '\n', ' ', '\t', '\r']);
        let mut edits = vec![Edit::delete(0, self.preamble)];
        if let Some((closing, body)) = end {
            edits.extend(self.closing_fence(text, closing, body));
            if !said.is_empty() {
                // The closing line may be the file's last one, without a line break of its own.
                let line_break = if text[..body].ends_with('\n') { "" } else { "\n" };
                edits.push(Edit::insert(body, format!("{line_break}\n{said}\n")));
            }
        } else if !said.is_empty() {
            // There is no end to move it behind.
            edits.clear();
        }
        let at = preamble.len() - preamble.trim_start_matches(['\u{feff}', '\n', '\r', ' ']).len();
        Oddity {
            code: &code::DELIMITER_LATE,
            span: Span::new(if at < self.preamble { at } else { 0 }, self.preamble),
            message: "something stands before the opening `---`; most loaders see no frontmatter",
            label: if said.is_empty() {
                "remove what stands before the opening `---`"
            } else {
                "move what stands before the opening `---` below the frontmatter"
            },
            edits,
        }
    }

    /// Whether a code fence was opened before the frontmatter: around it, or around the whole file.
    fn opens_fence(&self, text: &str) -> bool {
        lines(&text[..self.preamble], 0).filter(Line::is_fence).count() % 2 == 1
    }

    /// Where the body begins when the closing line ends at `after`: behind a fence that was only around the keys.
    pub(super) fn body_behind(&self, text: &str, after: usize) -> usize {
        let fence = || lines(text, after).find(|line| !line.is_blank()).filter(is_bare_fence);
        if self.opens_fence(text) { fence().map_or(after, |line| line.next) } else { after }
    }

    /// The removal of what closes the fence before the frontmatter: right behind it, or at the end of the file.
    fn closing_fence(&self, text: &str, closing: &Closing, body: usize) -> Option<Edit> {
        if !self.opens_fence(text) || lines(text, closing.at).next().is_some_and(|line| line.is_fence()) {
            return None;
        }
        if body > closing.body {
            return Some(Edit::delete(closing.body, body));
        }
        let fences = lines(text, body).filter(Line::is_fence).count();
        let end = text.trim_end().len();
        let last = lines(&text[..end], text[..end].rfind('\n').map_or(0, |at| at + 1)).next()?;
        (fences % 2 == 1 && last.start >= body && is_bare_fence(&last))
            .then(|| Edit::delete(last.start, text.len()))
    }
}

/// Whether a key stands on a line or one of those below it.
fn has_key(text: &str, line: &Line<'_>, key: &str) -> bool {
    let start = line.start + line.text.len() - line.text.trim_start_matches('\u{feff}').len();
    lines(text, start).take(MAX_PREAMBLE).any(|line| line.top_key() == Some(key))
}

fn is_bare_fence(line: &Line<'_>) -> bool {
    matches!(line.text.trim(), "```" | "~~~" | "````")
}
