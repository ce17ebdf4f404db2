//! Tool lists: `allowed-tools`, `tools` and `disallowed-tools`, read by one tokenizer.
//!
//! Items are separated by white space or commas outside parentheses, in a text and in each item of a list. What an
//! item permits is not decided here.

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

    /// What two patterns both allow, as far as that can be said without knowing the tools: the same, or the narrower
    /// one where the other names the tool alone.
    pub(crate) fn common<'a>(&'a self, other: &'a Self) -> Option<&'a Self> {
        let covers = |wide: &Self, narrow: &Self| {
            wide.is_wildcard() || wide == narrow || (wide.argument.is_none() && wide.tool == narrow.tool)
        };
        if covers(other, self) {
            return Some(self);
        }
        covers(self, other).then_some(other)
    }
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
    fn a_parenthesis_too_many_or_too_few_is_an_error_with_its_place() {
        assert_eq!(tokenize("Read Bash(git:*"), Err(Unbalanced { at: 9 }));
        assert_eq!(tokenize("Bash(git:*))"), Err(Unbalanced { at: 11 }));
    }
}
