//! Lines that could be meant as the closing one.

use super::Oddity;
use crate::code;
use crate::line::{Line, lines};
use crate::yaml::MAX_BYTES;
use metier_diagnostic::{Edit, Span};

/// How many near misses are tried. Each is parsed, and a body may be full of rules and fences; a frontmatter's own
/// end is among the first of them.
const MAX_NEAR_MISSES: usize = 8;

/// One way to end the frontmatter.
#[derive(Clone)]
pub(super) struct Closing {
    /// One past the last byte of the keys.
    pub(super) at: usize,
    /// Where the body begins.
    pub(super) body: usize,
    pub(super) oddity: Option<Oddity>,
}

impl Closing {
    /// Dashes further along on the opening line: `--- name: a --- body`.
    pub(super) fn on_line(text: &str, from: usize, line: &Line<'_>) -> Option<Self> {
        let at = from + text[from..line.end()].find("---")?;
        let after = at + text[at..].len() - text[at..].trim_start_matches('-').len();
        let body = line.end() - text[after..line.end()].trim_start().len();
        let keys_end = text[..at].trim_end().len().max(from);
        let replacement = if body == line.end() { "\n---" } else { "\n---\n" };
        Some(Self { at, body, oddity: Some(oddity(at, line.end(), keys_end, body, replacement)) })
    }
}

fn oddity(at: usize, end: usize, edit_from: usize, edit_to: usize, replacement: &str) -> Oddity {
    Oddity {
        code: &code::DELIMITER_CLOSE,
        span: Span::new(at, end),
        message: "the closing line is not `---` alone",
        label: "close the frontmatter with a line `---`",
        edits: vec![Edit::replace(edit_from, edit_to, replacement)],
    }
}

/// Lines that could close what begins at `start`: the first exact one, then the near misses before it in their order.
pub(super) fn closings(text: &str, start: usize) -> Vec<Closing> {
    let mut found = Vec::new();
    for line in lines(text, start) {
        if matches!(line.text, "---" | "...") {
            found.insert(0, Closing { at: line.start, body: line.next, oddity: None });
            break;
        }
        // An exact end counts however late it comes: it shows a frontmatter that is too large.
        if found.len() < MAX_NEAR_MISSES
            && line.start - start <= MAX_BYTES
            && let Some((body, replacement)) = near_close(&line)
        {
            let edit_to = body.min(line.end());
            let oddity = oddity(line.start, line.end(), line.start, edit_to, replacement);
            found.push(Closing { at: line.start, body, oddity: Some(oddity) });
        }
    }
    found
}

/// Where the body begins behind a line that was meant to close, and what should stand there instead.
pub(in crate::repair) fn near_close(line: &Line<'_>) -> Option<(usize, &'static str)> {
    let trimmed = line.text.trim();
    if line.is_fence() {
        return Some((line.next, "---"));
    }
    let is_dash = |c: char| matches!(c, '-' | '\u{2013}' | '\u{2014}' | '\u{2212}');
    if trimmed.chars().nth(1).is_some() && trimmed.chars().all(is_dash) {
        return Some((line.next, "---"));
    }
    let rest = trimmed.strip_prefix("---")?.trim_start_matches('-');
    // `---# Title`: what follows the dashes is the body's first line.
    let end = line.start + line.text.trim_end().len();
    Some((end - rest.trim_start().len(), "---\n"))
}
