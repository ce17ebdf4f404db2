//! Commands that a body asks to have run before it is read: `` !`command` `` and blocks opened with ```` ```! ````.
//!
//! Only found here, never run. Trust lists them, and activation decides.

use crate::line::lines;
use metier_diagnostic::Span;

/// A command inside a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectedCommand {
    /// Where it stands, marks included.
    pub span: Span,
    /// The command's text.
    pub command: String,
}

/// The injected commands of a body, in order. One counts only at a line's start or after white space, so that
/// ``wow!`x` `` in running text is text; an empty one is text, too.
pub fn injected_commands(body: &str) -> Vec<InjectedCommand> {
    let mut found = Vec::new();
    // Hardly any body has one, and two looks at the whole cost less than one at every line.
    if !body.contains("!`") && !body.contains("```!") {
        return found;
    }
    let mut block: Option<(usize, usize)> = None;
    let mut skip_to = 0;
    for line in lines(body, 0) {
        if let Some((start, content)) = block {
            if line.text.trim() == "```" {
                let command = body[content..line.start].trim_end().to_owned();
                if !command.is_empty() {
                    found.push(InjectedCommand { span: Span::new(start, line.end()), command });
                }
                block = None;
            }
            continue;
        }
        if line.text.trim() == "```!" {
            block = Some((line.start + line.indent(), line.next));
            continue;
        }
        let mut at = line.start.max(skip_to);
        while let Some(offset) = body.get(at..line.end()).and_then(|rest| rest.find("!`")) {
            let start = at + offset;
            at = start + 2;
            let begins_word = body[..start].chars().next_back().is_none_or(char::is_whitespace);
            let Some(length) = body[at..].find('`').filter(|_| begins_word) else { continue };
            let command = &body[at..at + length];
            at += length + 1;
            skip_to = at;
            if !command.trim().is_empty() {
                found.push(InjectedCommand { span: Span::new(start, at), command: command.to_owned() });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expect: &[&str]) {
        let found: Vec<_> = injected_commands(body).into_iter().map(|found| found.command).collect();
        assert_eq!(found, expect, "{body:?}");
    }

    #[test]
    fn commands_are_found_at_a_line_start_and_after_white_space() {
        check("!`git diff`\nSee !`date` and !`id`.", &["git diff", "date", "id"]);
        check("```!\nls -l\npwd\n```\nx", &["ls -l\npwd"]);
    }

    #[test]
    fn text_that_only_looks_like_a_command_is_text() {
        check("wow!`x` !`` and !` `", &[]);
        check("no end !`x", &[]);
        check("```!\nno end", &[]);
        check("```!\n\n```\n", &[]);
        check("```!important\nls\n```\n", &[]);
        check("```!\n```\n```!x\n \n```\n", &[]);
    }
}
