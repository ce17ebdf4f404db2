//! The operation of a skill: the one command that its body names under a heading `Operation`.
//!
//! Only read here, never run. Whoever wants to run it fills its slots first, asks the gate, and contains it.

mod template;

pub use template::{Phrase, Piece, Presence, Slot, SlotMark, Template, TemplateWord};

use crate::line::{Line, lines};

/// The heading, in any case.
const HEADING: &str = "operation";

/// The first fenced block under a heading `Operation`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The block as it is written, without the fences and their indent.
    pub text: String,
    /// The line of the body on which the text begins, from 1.
    pub line: usize,
    /// The text as a command to fill in. `None` for what is not one simple command: it can only be shown.
    pub template: Option<Template>,
}

/// Finds the operation of a body.
///
/// The heading may be of any level and in any case. What is under it ends with the next heading of its level or above. A
/// block opened with ```` ```! ```` is no operation, since activation puts something else in its place, and neither is an
/// empty one.
///
/// ```
/// use metier_skill::operation;
///
/// let found = operation("# Tasks\n\n## Operation\n\n```\nsh scripts/add.sh \"<title>\"\n```\n").unwrap();
/// assert_eq!((found.text.as_str(), found.line), ("sh scripts/add.sh \"<title>\"", 6));
/// assert_eq!(found.template.unwrap().slots().next().unwrap().name, "title");
/// ```
pub fn operation(body: &str) -> Option<Operation> {
    // The level of the heading we are under.
    let mut under = None::<usize>;
    let mut fence = None::<Fence>;
    // A text may turn out to be a heading by the line below it.
    let mut before = "";
    for (at, line) in lines(body, 0).enumerate() {
        if let Some(open) = &mut fence {
            if !open.is_closed_by(&line) {
                open.content.push(line.text);
                continue;
            }
            if let Some(found) = fence.take().and_then(|fence| fence.operation(under)) {
                return Some(found);
            }
            continue;
        }
        fence = Fence::opened_by(&line, at);
        if fence.is_none()
            && let Some((level, title)) = heading(&line).or_else(|| underlined(&line, before))
        {
            if title.eq_ignore_ascii_case(HEADING) {
                under = Some(level);
            } else if under.is_some_and(|own| level <= own) {
                under = None;
            }
        }
        before = line.text.trim();
    }
    // A block that nobody closed goes to the end of the text, as in every Markdown.
    fence.and_then(|fence| fence.operation(under))
}

/// A block of code while it is read.
struct Fence<'a> {
    mark: char,
    length: usize,
    indent: usize,
    info: &'a str,
    /// The line after the one that opened it, from 1.
    line: usize,
    content: Vec<&'a str>,
}

impl<'a> Fence<'a> {
    /// `at` is the line's number from 0.
    fn opened_by(line: &Line<'a>, at: usize) -> Option<Self> {
        if !line.is_fence() {
            return None;
        }
        let text = line.text.trim_start();
        let mark = text.chars().next()?;
        let info = text.trim_start_matches(mark);
        let length = text.len() - info.len();
        // Back quotes behind the mark make it code inside a line of text.
        let is_block = mark != '`' || !info.contains('`');
        let fence = Self {
            mark,
            length,
            indent: line.indent(),
            info: info.trim(),
            line: at + 2,
            content: Vec::new(),
        };
        is_block.then_some(fence)
    }

    fn is_closed_by(&self, line: &Line<'_>) -> bool {
        let text = line.text.trim();
        text.len() >= self.length && text.chars().all(|c| c == self.mark)
    }

    fn operation(self, under: Option<usize>) -> Option<Operation> {
        under?;
        let is_blank = self.content.iter().all(|line| line.trim().is_empty());
        if is_blank || self.info.starts_with('!') {
            return None;
        }
        let skipped = self.content.iter().take_while(|line| line.trim().is_empty()).count();
        let text: Vec<&str> =
            self.content.iter().skip(skipped).map(|line| outdented(line, self.indent)).collect();
        let text = text.join("\n").trim_end().to_owned();
        Some(Operation { line: self.line + skipped, template: Template::read(&text), text })
    }
}

/// A line without as many blanks as the fence has before it.
fn outdented(line: &str, indent: usize) -> &str {
    let blanks = line.bytes().take(indent).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    line.get(blanks..).unwrap_or(line)
}

/// `## Title ##`: its level and its title.
fn heading<'a>(line: &Line<'a>) -> Option<(usize, &'a str)> {
    let text = line.text.trim();
    let title = text.trim_start_matches('#');
    let level = text.len() - title.len();
    let is_heading = (1..=6).contains(&level) && title.starts_with([' ', '\t']);
    is_heading.then(|| (level, title.trim().trim_end_matches('#').trim_end()))
}

/// A title with `===` or `---` below it.
fn underlined<'a>(line: &Line<'_>, before: &'a str) -> Option<(usize, &'a str)> {
    let text = line.text.trim();
    let is_of = |mark: char| !text.is_empty() && text.chars().all(|c| c == mark);
    let level = if is_of('=') {
        1
    } else if is_of('-') {
        2
    } else {
        return None;
    };
    (!before.is_empty()).then_some((level, before))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expect: Option<(&str, usize)>) {
        let found = operation(body);
        assert_eq!(found.as_ref().map(|found| (found.text.as_str(), found.line)), expect, "{body:?}");
    }

    #[test]
    fn the_first_block_under_the_heading_is_found() {
        check("## Operation\n\n```\nls\n```\n", Some(("ls", 4)));
        check("text\n###### OPERATION ##\n~~~sh\nls -l\n~~~\n\n```\nother\n```\n", Some(("ls -l", 4)));
        check("Operation\n---\ntext\n\n```\nls\n```\n", Some(("ls", 6)));
        check("Operation\n===\n````\n```\n````\n", Some(("```", 4)));
        check("# operation\r\n```\r\nls\r\n```\r\n", Some(("ls", 3)));
        check("# Operation\n\n1. Run:\n   ```\n   ls\n     -l\n   ```\n", Some(("ls\n  -l", 5)));
        check("# Operation\n## More\n```\nls\n```\n", Some(("ls", 4)));
        check("# Operation\nNone.\n# Operation\n```\nls\n```\n", Some(("ls", 5)));
        check("# Operation\n```\n\n\nls\n\n```\n", Some(("ls", 5)));
        check("# Operation\n```\nls", Some(("ls", 3)));
    }

    #[test]
    fn other_blocks_are_no_operation() {
        check("", None);
        check("```\nls\n```\n", None);
        check("# Operations\n```\nls\n```\n", None);
        check("## Operation\ntext\n## Result\n```\nls\n```\n", None);
        check("## Operation\n# Part\n```\nls\n```\n", None);
        check("```\n# Operation\n```\n\n```\nls\n```\n", None);
        check("#Operation\n```\nls\n```\n", None);
        check("# Operation\n```!\nls\n```\n", None);
        check("# Operation\n```\n\n```\n", None);
        check("# Operation\n``` `x` ```\ntext\n", None);
    }
}
