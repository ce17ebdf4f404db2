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
        let (line, length) = match line_break(rest.as_bytes()) {
            Some(end) => (&rest[..end], end + 1),
            None => (rest, rest.len()),
        };
        let found = Line { start: at, text: line.strip_suffix('\r').unwrap_or(line), next: at + length };
        at += length;
        Some(found)
    })
}

/// The first line feed. Lines are short and there are many of them, so eight bytes are looked at in one step.
pub(crate) fn line_break(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const FEEDS: u64 = u64::from_le_bytes([b'\n'; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (number, chunk) in chunks.iter().enumerate() {
        // A byte of `word` is zero where the chunk has a line feed, and the subtraction borrows from it first there.
        let word = u64::from_le_bytes(*chunk) ^ FEEDS;
        let found = word.wrapping_sub(ONES) & !word & HIGH;
        if found != 0 {
            return Some(number * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let before = bytes.len() - rest.len();
    rest.iter().position(|byte| *byte == b'\n').map(|at| before + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_break_is_found_wherever_it_stands() {
        for length in 0..40 {
            assert_eq!(line_break(&vec![b'x'; length]), None);
            for at in 0..length {
                let mut bytes: Vec<u8> = (0..length).map(|n| [0x0b, 0x09, 0x8a, 0xff, 0x00][n % 5]).collect();
                bytes[at] = b'\n';
                bytes[length - 1] = b'\n';
                assert_eq!(line_break(&bytes), Some(at), "{bytes:?}");
            }
        }
    }

    #[test]
    fn a_key_is_what_stands_before_a_colon() {
        let check = |text: &str, key: Option<&str>, top: Option<&str>| {
            let line = lines(text, 0).next().unwrap();
            assert_eq!((line.key(), line.top_key()), (key, top), "{text:?}");
        };
        check("name: x", Some("name"), Some("name"));
        check("  name:", Some("name"), None);
        check("allowed-tools : x", Some("allowed-tools"), Some("allowed-tools"));
        check("https://x", None, None);
        check("two words: x", None, None);
        check(": x", None, None);
    }
}
