//! Repair 1: delimiters. Finds every way the lines of a file could be read as "this is the frontmatter".

use crate::code;
use crate::line::{Line, lines};
use crate::split::{self, Opening};
use crate::yaml::MAX_BYTES;
use metier_diagnostic::{Code, Diagnostic, Edit, Fix, Span};
use std::ops::Range;

/// How many lines may stand before the opening one. People put a title, a comment or a fence there, not a chapter.
const MAX_PREAMBLE: usize = 20;

/// One way to read a file.
pub(super) struct Frame {
    /// The bytes between the delimiters.
    pub(super) yaml: Range<usize>,
    /// Where the body begins.
    pub(super) body: usize,
    oddities: Vec<Oddity>,
}

/// All ways to read a file, the most exact first.
pub(super) struct Frames {
    pub(super) frames: Vec<Frame>,
    /// Where the frontmatter begins, closed or not; `None` when nothing looks like one.
    pub(super) start: Option<usize>,
    /// Whether the file's first line says that there is frontmatter.
    pub(super) is_certain: bool,
}

#[derive(Clone)]
struct Oddity {
    code: &'static Code,
    span: Span,
    message: String,
    fix: Fix,
}

impl Frame {
    pub(super) fn is_exact(&self) -> bool {
        self.oddities.is_empty()
    }

    pub(super) fn diagnostics(&self, text: &str) -> Vec<Diagnostic> {
        let diagnostic = |oddity: &Oddity| {
            let help = oddity.fix.label.clone();
            Diagnostic::new(oddity.code, &*oddity.message).at(oddity.span, text).help(help).fix(oddity.fix.clone())
        };
        self.oddities.iter().map(diagnostic).collect()
    }
}

pub(super) fn candidates(text: &str) -> Frames {
    let exact_from = match split::opening(text.as_bytes()) {
        Opening::Fence(from) => Some(from),
        Opening::Engine(_) | Opening::None => None,
    };
    let exact = exact_from.and_then(|from| split::close(text.as_bytes(), from));
    let mut frames: Vec<Frame> =
        exact.iter().map(|split| Frame { yaml: split.yaml.clone(), body: split.body, oddities: Vec::new() }).collect();
    let Some(open) = exact_from.map(Open::exact).or_else(|| find_open(text)) else {
        return Frames { frames, start: None, is_certain: false };
    };
    if let Some((yaml, body)) = open.one_line.clone() {
        frames.push(Frame { yaml, body, oddities: open.oddities.clone() });
    }
    for close in closings(text, open.start) {
        let mut oddities = open.oddities.clone();
        oddities.extend(close.oddity);
        let frame = Frame { yaml: open.start..close.at, body: close.body, oddities };
        if !frame.is_exact() {
            frames.push(frame);
        }
    }
    let is_certain = exact_from.is_some() || open.is_key || text.trim_start_matches('\u{feff}').starts_with("---");
    Frames { frames, start: Some(open.start), is_certain }
}

/// Where a frontmatter begins, and what is odd about that.
struct Open {
    start: usize,
    oddities: Vec<Oddity>,
    /// `--- name: a --- body`: all on the first line.
    one_line: Option<(Range<usize>, usize)>,
    /// The opening line is missing and a key begins the file.
    is_key: bool,
}

impl Open {
    fn exact(start: usize) -> Self {
        Self { start, oddities: Vec::new(), one_line: None, is_key: false }
    }
}

/// Finds an opening that is late, missing or not alone on its line.
fn find_open(text: &str) -> Option<Open> {
    let mut in_comment = false;
    for line in lines(text, 0).take(MAX_PREAMBLE + 1) {
        let trimmed = line.text.trim_start_matches('\u{feff}').trim();
        if in_comment {
            in_comment = !trimmed.contains("-->");
            continue;
        }
        if trimmed.starts_with("<!--") {
            in_comment = !trimmed.contains("-->");
            continue;
        }
        if trimmed.starts_with("---") {
            return Some(dashes(text, line));
        }
        let at_margin = line.text.trim_start_matches('\u{feff}');
        if ["name:", "description:"].iter().any(|key| at_margin.starts_with(key)) {
            return Some(missing(text, line));
        }
        let is_preamble = trimmed.is_empty() || trimmed.starts_with(['#', '/']) || line.is_fence();
        if !is_preamble {
            return None;
        }
    }
    None
}

/// An opening line of dashes, with or without something around it.
fn dashes(text: &str, line: Line<'_>) -> Open {
    let at = line.start + line.text.find('-').unwrap_or_default();
    let after = at + text[at..].len() - text[at..].trim_start_matches('-').len();
    let rest = text[after..line.end()].trim();
    let mut oddities = Vec::new();
    if line.start > 0 {
        oddities.push(late(text, line.start));
    }
    let is_language = matches!(rest, "yaml" | "yml");
    let is_plain = text[line.start..line.end()].trim_start_matches('\u{feff}').trim_end() == "---";
    if !is_plain {
        let replacement = if rest.is_empty() || is_language { "---" } else { "---\n" };
        let end = if rest.is_empty() || is_language { line.end() } else { after + leading_blanks(&text[after..]) };
        oddities.push(Oddity {
            code: &code::DELIMITER_OPEN,
            span: Span::new(at, line.end()),
            message: "the opening line is not `---` alone".to_owned(),
            fix: Fix { label: "write `---` alone on the line".to_owned(), edits: vec![Edit::replace(line.start, end, replacement)] },
        });
    }
    if rest.is_empty() || is_language {
        return Open { start: line.next, oddities, one_line: None, is_key: false };
    }
    let one_line = text[after..line.end()].find("---").map(|length| (after..after + length, after + length + 3));
    Open { start: after, oddities, one_line, is_key: false }
}

fn leading_blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

/// Something before the opening line. It moves below the frontmatter unless it says nothing.
fn late(text: &str, opening: usize) -> Oddity {
    let preamble = &text[..opening];
    let says_nothing = lines(preamble, 0).all(|line| line.is_blank() || line.is_fence());
    let (label, edits) = if says_nothing {
        ("remove what stands before the opening `---`", vec![Edit::delete(0, opening)])
    } else {
        ("move what stands before the opening `---` below the frontmatter", Vec::new())
    };
    let at = preamble.len() - preamble.trim_start_matches(['\u{feff}', '\n', '\r', ' ']).len();
    Oddity {
        code: &code::DELIMITER_LATE,
        span: Span::new(at.min(opening), opening),
        message: "something stands before the opening `---`; most loaders see no frontmatter".to_owned(),
        fix: Fix { label: label.to_owned(), edits },
    }
}

/// No opening line at all: the file begins with a key.
fn missing(text: &str, line: Line<'_>) -> Open {
    let start = line.start + if line.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let oddity = Oddity {
        code: &code::DELIMITER_OPEN,
        span: Span::new(start, line.end()),
        message: "the opening `---` is missing".to_owned(),
        fix: Fix { label: "begin the file with a line `---`".to_owned(), edits: vec![Edit::replace(0, start, "---\n")] },
    };
    let has_key = |key| lines(text, start).take(MAX_PREAMBLE).any(|line| line.top_key() == Some(key));
    Open { start, oddities: vec![oddity], one_line: None, is_key: has_key("description") && line.start == 0 }
}

struct Close {
    at: usize,
    body: usize,
    oddity: Option<Oddity>,
}

/// Lines that could be meant as the closing one: near misses in order, then the first exact one.
fn closings(text: &str, start: usize) -> Vec<Close> {
    let mut found = Vec::new();
    for line in lines(text, start).take_while(|line| line.start - start <= MAX_BYTES + 3) {
        if matches!(line.text, "---" | "...") {
            found.push(Close { at: line.start, body: line.next, oddity: None });
            break;
        }
        if let Some((body, replacement)) = near_close(&line) {
            let fix = Fix {
                label: "close the frontmatter with a line `---`".to_owned(),
                edits: vec![Edit::replace(line.start, body.min(line.end()), replacement)],
            };
            let span = Span::new(line.start, line.end());
            let message = "the closing line is not `---` alone".to_owned();
            found.push(Close { at: line.start, body, oddity: Some(Oddity { code: &code::DELIMITER_CLOSE, span, message, fix }) });
        }
    }
    found
}

/// Where the body begins behind a line that was meant to close, and what should stand there instead.
pub(super) fn near_close(line: &Line<'_>) -> Option<(usize, &'static str)> {
    let trimmed = line.text.trim();
    if line.is_fence() {
        return Some((line.next, "---"));
    }
    let is_dash = |c: char| matches!(c, '-' | '\u{2013}' | '\u{2014}' | '\u{2212}');
    if trimmed.chars().count() >= 2 && trimmed.chars().all(is_dash) {
        return Some((line.next, "---"));
    }
    let rest = trimmed.strip_prefix("---")?.trim_start_matches('-');
    // `---# Title`: what follows the dashes is the body's first line.
    let end = line.start + line.text.trim_end().len();
    Some((end - rest.trim_start().len(), "---\n"))
}
