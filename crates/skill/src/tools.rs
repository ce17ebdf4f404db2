//! Tool lists: `allowed-tools`, `tools` and `disallowed-tools`, read by one tokenizer.
//!
//! Items are separated by white space or commas outside parentheses, in a text and in each item of a list. What an
//! item permits is not decided here.

use crate::tool::Tool;
use std::fmt;

/// One item of a tool list, such as `Bash(git diff:*)` or `mcp__server__tool`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolPattern {
    /// The tool's name as written.
    pub tool: String,
    /// What stands in its parentheses.
    pub argument: Option<String>,
}

impl ToolPattern {
    /// `*`, which names every tool and so says nothing.
    pub fn is_wildcard(&self) -> bool {
        self.tool == "*" && self.argument.is_none()
    }

    /// What two patterns both allow, where one of them is the narrower one: the same, one beside the tool alone, one command
    /// beside another that begins like it, one tool of a server beside all of them. Two globs that only overlap have nothing
    /// in common that could be written as a pattern, so nothing is left of them.
    pub(crate) fn common<'a>(&'a self, other: &'a Self) -> Option<&'a Self> {
        if other.covers(self) {
            return Some(self);
        }
        self.covers(other).then_some(other)
    }

    /// Whether whatever the other allows is allowed by this one. Tools are compared, not spellings.
    fn covers(&self, narrow: &Self) -> bool {
        if self.is_wildcard() || self == narrow {
            return true;
        }
        let tool = Tool::named(&self.tool);
        let is_same = self.tool == narrow.tool || (tool.is_some() && tool == Tool::named(&narrow.tool));
        match (&self.argument, &narrow.argument) {
            (None, _) if is_same => true,
            (None, None) => is_of_server(&self.tool, &narrow.tool),
            (Some(wide), Some(narrow)) if is_same => {
                wide == narrow || (tool == Some(Tool::Bash) && begins_with(wide, narrow))
            }
            _ => false,
        }
    }
}

/// Whether `mcp__s` or `mcp__s__*` names the server of a tool.
fn is_of_server(wide: &str, narrow: &str) -> bool {
    let server = wide.strip_suffix("__*").unwrap_or(wide);
    let is_whole = wide.starts_with("mcp__") && server.len() > "mcp__".len();
    let is_server = is_whole && (wide != server || !server["mcp__".len()..].contains("__"));
    is_server && narrow.strip_prefix(server).is_some_and(|rest| rest.starts_with("__"))
}

/// Whether a command pattern with any words behind it (`git:*`, `git *`, `*`) takes in another one. Plain words only: what
/// quotes mean is for whoever reads patterns.
fn begins_with(wide: &str, narrow: &str) -> bool {
    let open = |text: &str| {
        let head = text.strip_suffix('*')?;
        if head.is_empty() { Some(String::new()) } else { head.strip_suffix([':', ' ']).map(str::to_owned) }
    };
    let Some(head) = open(wide) else { return false };
    if wide.contains(['\'', '"', '\\']) || narrow.contains(['\'', '"', '\\']) {
        return false;
    }
    let (head, narrow) = (head.trim(), open(narrow).unwrap_or_else(|| narrow.to_owned()));
    let mut words = narrow.split_whitespace();
    head.split_whitespace().all(|word| words.next() == Some(word))
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.argument {
            Some(argument) => write!(f, "{}({argument})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}

/// A tool list that could not be read; it then allows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unbalanced {
    /// The byte of the text where the trouble begins.
    pub at: usize,
}

/// Splits one text into patterns.
pub fn tokenize(text: &str) -> Result<Vec<ToolPattern>, Unbalanced> {
    let mut patterns = Vec::new();
    let mut start = None;
    let mut opened = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' => opened.push(at),
            ')' => drop(opened.pop().ok_or(Unbalanced { at })?),
            _ => {}
        }
        let separates = opened.is_empty() && (c == ',' || c.is_whitespace());
        match (separates, start) {
            (true, Some(from)) => {
                patterns.push(pattern(&text[from..at]));
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    if let Some(at) = opened.first() {
        return Err(Unbalanced { at: *at });
    }
    if let Some(from) = start {
        patterns.push(pattern(&text[from..]));
    }
    Ok(patterns)
}

fn pattern(item: &str) -> ToolPattern {
    match item.split_once('(') {
        Some((tool, rest)) if !tool.is_empty() && rest.ends_with(')') => {
            let argument = &rest[..rest.len() - 1];
            ToolPattern { tool: tool.to_owned(), argument: Some(argument.trim().to_owned()) }
        }
        _ => ToolPattern { tool: item.to_owned(), argument: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let shown: Vec<_> = tokenize(text).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(shown, expect, "{text:?}");
    }

    #[test]
    fn commas_and_blanks_outside_parentheses_separate() {
        check("Read, Write Grep", &["Read", "Write", "Grep"]);
        check("Bash(git:*) Bash(git diff:*),mcp__a__b", &["Bash(git:*)", "Bash(git diff:*)", "mcp__a__b"]);
        check("Bash(a, b) WebFetch(domain:x.org)", &["Bash(a, b)", "WebFetch(domain:x.org)"]);
        check("Bash( echo (x) )", &["Bash(echo (x))"]);
        check("", &[]);
        check(" , ,", &[]);
        check("*", &["*"]);
        check("(odd)", &["(odd)"]);
    }

    #[test]
    fn what_two_patterns_both_allow_is_the_narrower_one() {
        for (one, other, expect) in [
            ("Read", "Read", Some("Read")),
            ("Read", "read_file", Some("Read")),
            ("exec", "Bash(git:*)", Some("Bash(git:*)")),
            ("Bash(git:*)", "shell(git diff:*)", Some("shell(git diff:*)")),
            ("Bash(git *)", "Bash(git status)", Some("Bash(git status)")),
            ("Bash(git status)", "Bash(git status)", Some("Bash(git status)")),
            ("Bash(*)", "Bash(git:*)", Some("Bash(git:*)")),
            ("Bash(git diff:*)", "Bash(git:*)", Some("Bash(git diff:*)")),
            ("Bash(git:*)", "Bash(gitk:*)", None),
            ("Bash(git status)", "Bash(git:*)", Some("Bash(git status)")),
            ("Bash(git status)", "Bash(git status -s)", None),
            ("Bash(git diff:*)", "Bash(git)", None),
            ("Bash('git' x:*)", "Bash('git' x y)", None),
            ("Write", "Write(docs/**)", Some("Write(docs/**)")),
            ("Write(docs/**)", "Write(src/**)", None),
            ("mcp__s__*", "mcp__s__find", Some("mcp__s__find")),
            ("mcp__s", "mcp__s__find", Some("mcp__s__find")),
            ("mcp__s__a", "mcp__s__a__b", None),
            ("mcp__s__*", "mcp__sx__find", None),
            ("*", "Grep", Some("Grep")),
            ("Read", "Write", None),
            ("jq", "yq", None),
        ] {
            let [first, second] = [one, other].map(|text| tokenize(text).unwrap().remove(0));
            for (first, second) in [(&first, &second), (&second, &first)] {
                let common = first.common(second);
                let shown = common.map(ToString::to_string);
                // Of two spellings of the same either will do.
                let is_same = common.is_some() && first.covers(second) && second.covers(first);
                assert!(is_same || shown.as_deref() == expect, "{first} and {second}: {shown:?}");
            }
        }
    }

    #[test]
    fn a_parenthesis_too_many_or_too_few_is_an_error_with_its_place() {
        assert_eq!(tokenize("Read Bash(git:*"), Err(Unbalanced { at: 9 }));
        assert_eq!(tokenize("Bash(git:*))"), Err(Unbalanced { at: 11 }));
    }
}
