//! Lines of a text with their places. Everything here that reads by lines reads them through this.

/// One line without its line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Byte offset of its first character.
    pub(crate) start: usize,
    /// The text without the line break and without a carriage return before it.
    pub(crate) text: &'a str,
    /// Byte offset of the next line.
    pub(crate) next: usize,
}

impl<'a> Line<'a> {
    /// Byte offset one past the last character.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// How many blanks it begins with.
    pub(crate) fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches([' ', '\t']).len()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// A Markdown code fence, opening or closing.
    pub(crate) fn is_fence(&self) -> bool {
        let text = self.text.trim_start();
        text.starts_with("```") || text.starts_with("~~~")
    }

    /// The key of a line such as `key: value` or `key:`; only an unindented one is a top-level key.
    pub(crate) fn key(&self) -> Option<&'a str> {
        let text = self.text.trim_start_matches([' ', '\t']);
        let length = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))?;
        let (key, rest) = text.split_at(length);
        let after = rest.trim_start_matches(' ').strip_prefix(':')?;
        (!key.is_empty() && (after.is_empty() || after.starts_with([' ', '\t']))).then_some(key)
    }

    /// An unindented key, one that could be a frontmatter's own.
    pub(crate) fn top_key(&self) -> Option<&'a str> {
        if self.text.starts_with([' ', '\t']) { None } else { self.key() }
    }
}

/// The lines of `text` from byte `from` on.
pub(crate) fn lines(text: &str, from: usize) -> impl Iterator<Item = Line<'_>> {
    let mut at = from.min(text.len());
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let (line, length) = match rest.find('\n') {
            Some(end) => (&rest[..end], end + 1),
            None => (rest, rest.len()),
        };
        let found = Line { start: at, text: line.strip_suffix('\r').unwrap_or(line), next: at + length };
        at += length;
        Some(found)
    })
}
