use crate::{Check, CodeBlock, Findings, Rule, Skill};
use metier_diagnostic::{Position, Severity, Span};

pub(super) static RULE: Rule =
    Rule::new("fence-open", Severity::Warning, include_str!("fence_open.md"), Check::Skill(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let is_open = |block: &CodeBlock| {
        let text = block.span.of(skill.source);
        Fence::at_start(text).is_some_and(|fence| !fence.is_closed(text))
    };
    if !skill.markdown().blocks.iter().any(is_open) {
        return;
    }
    // CommonMark also ends a block with the list it stands in, and sees no fence right below an HTML tag. Authors who
    // count their fences find nothing wrong there, and a model reads it as they do: only what both call open is.
    let Some(open) = last_open(skill.body()) else { return };
    let start = skill.body_at() + open.at;
    let rest = skill.source.get(start + open.fence.length..).unwrap_or_default();
    // At the very end it is one fence too many.
    let is_last = rest.trim().is_empty();
    let message = if is_last {
        "this code fence opens a block at the end of the file"
    } else {
        "this code fence is never closed, so all that follows is code"
    };
    let found = findings.at(skill, Span::new(start, start + open.fence.length), message);
    findings.add(match open.nested {
        // What looks like an opening fence is then the closing one of an outer block.
        Some(outer) => {
            let line = Position::of(skill.source, skill.body_at() + outer).line;
            let marks = open.fence.mark.to_string().repeat(open.fence.length + 1);
            found
                .note(format!(
                    "the block of line {line} holds a fence as long as its own, which ends it early"
                ))
                .help(format!("begin and end the block of line {line} with {marks}"))
        }
        None if is_last => found.help("take it out, or look for the block that it was to close"),
        None => found.help(format!("close it with a line of {}", open.fence.marks())),
    });
}

/// A fence that is open at the end of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Open {
    at: usize,
    fence: Fence,
    /// Where the last block began that held a fence like its own.
    nested: Option<usize>,
}

/// The fence that is open at the end, when fences are counted line by line.
fn last_open(body: &str) -> Option<Open> {
    let mut open: Option<(usize, Fence)> = None;
    let mut nested = None;
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let text = line.trim_start_matches([' ', '\t', '>']);
        let start = at + line.len() - text.len();
        at += line.len();
        let Some(fence) = Fence::at_start(text) else { continue };
        let rest = text.get(fence.length..).unwrap_or_default().trim();
        match open {
            Some((_, outer)) if fence.mark == outer.mark && fence.length >= outer.length => {
                if rest.is_empty() {
                    open = None;
                } else {
                    nested = open.map(|(outer, _)| outer);
                }
            }
            Some(_) => {}
            // Backticks behind backticks are code inside of a line.
            None if fence.mark == '`' && rest.contains('`') => {}
            None => open = Some((start, fence)),
        }
    }
    open.map(|(at, fence)| Open { at, fence, nested: nested.filter(|nested| *nested != at) })
}

/// The fence that opens a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// The fence with which a text begins.
    fn at_start(text: &str) -> Option<Self> {
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = text.len() - text.trim_start_matches(mark).len();
        (length >= 3).then_some(Self { mark, length })
    }

    /// Whether a block, from its opening fence on, ends with a closing one.
    fn is_closed(self, block: &str) -> bool {
        let Some((_, lines)) = block.split_once('\n') else { return false };
        let last = lines.trim_end().rsplit('\n').next().unwrap_or_default();
        // In a quotation the line begins with its mark.
        let last = last.trim_start_matches([' ', '\t', '>']).trim_end();
        last.len() >= self.length && last.chars().all(|c| c == self.mark)
    }

    fn marks(self) -> String {
        self.mark.to_string().repeat(self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_closed_by_a_fence_that_is_long_enough() {
        let check = |block: &str, expect: bool| {
            let fence = Fence::at_start(block).unwrap();
            assert_eq!(fence.is_closed(block), expect, "{block:?}");
        };
        check("```\na\n```", true);
        check("```bash\na\n  ````\n", true);
        check("```\n> a\n> ```", true);
        check("~~~\na\n~~~", true);
        check("```\n```", true);
        check("````\na\n```", false);
        check("```\na\n~~~", false);
        check("```\na\n```bash", false);
        check("```\na", false);
        check("```", false);
    }

    #[test]
    fn fences_are_counted_line_by_line() {
        let check = |body: &str, expect: Option<(usize, Option<usize>)>| {
            assert_eq!(last_open(body).map(|open| (open.at, open.nested)), expect, "{body:?}");
        };
        check("```bash\nls\n```\n", None);
        check("- x\n  ```bash\n  ls\n```\n", None);
        check("<python>\n```python\nx\n```\n</python>\n", None);
        check("````md\n```bash\nls\n```\n````\n", None);
        check("```md\n~~~\n```\n", None);
        check("```x``` is code\n", None);
        check("a\n```bash\nls\n", Some((2, None)));
        check("```md\n```sh\nls\n```\nx\n```\nend\n", Some((21, Some(0))));
        check("> ```\n> ls\n", Some((2, None)));
    }
}
