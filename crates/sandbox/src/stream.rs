//! What a process writes: its beginning and its end are kept.

use std::collections::VecDeque;

/// What a process wrote to one stream: all of it, or its beginning and its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The beginning.
    pub head: Vec<u8>,
    /// The end, where something between the two was dropped.
    pub tail: Vec<u8>,
    /// How much was written in all.
    pub total: u64,
}

impl Captured {
    /// How many bytes between beginning and end were dropped.
    pub fn dropped(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// Whether something was dropped.
    pub fn is_truncated(&self) -> bool {
        self.dropped() > 0
    }

    /// The text, with a line in the place of what was dropped. Bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        self.text_with("")
    }

    /// The same with a hint in that line, such as where all of it is.
    pub fn text_with(&self, hint: &str) -> String {
        if !self.is_truncated() {
            return String::from_utf8_lossy(&[&self.head[..], &self.tail].concat()).into_owned();
        }
        format!(
            "{}\n[... {} bytes left out{hint} ...]\n{}",
            String::from_utf8_lossy(&self.head),
            self.dropped(),
            String::from_utf8_lossy(&self.tail)
        )
    }
}

/// Keeps the beginning and the end of a stream while it is read, in bounded memory.
#[derive(Debug)]
pub(crate) struct Keeper {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Keeper {
    /// Keeps at most `limit` bytes, half of them from the end.
    pub(crate) fn new(limit: usize) -> Self {
        Self { half: limit / 2, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.half - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        // Only the last half can be kept, so what would be pushed out again at once is not even copied.
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    pub(crate) fn finish(self) -> Captured {
        Captured { head: self.head, tail: self.tail.into(), total: self.total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(limit: usize, pieces: &[&str], expect: &str) {
        let mut keeper = Keeper::new(limit);
        for piece in pieces {
            keeper.push(piece.as_bytes());
        }
        assert_eq!(keeper.finish().text(), expect);
    }

    #[test]
    fn what_fits_is_whole_and_of_the_rest_beginning_and_end_are_kept() {
        check(8, &[], "");
        check(8, &["ab", "cd"], "abcd");
        check(8, &["abcdefgh"], "abcdefgh");
        check(8, &["abcd", "efgh", "i"], "abcd\n[... 1 bytes left out ...]\nfghi");
        check(8, &["abcdefghijklmnop"], "abcd\n[... 8 bytes left out ...]\nmnop");
        check(8, &["abc", "defghij", "klmnop"], "abcd\n[... 8 bytes left out ...]\nmnop");
    }

    #[test]
    fn bytes_that_are_not_text_are_replaced() {
        let mut keeper = Keeper::new(8);
        keeper.push(b"a\xff");
        assert_eq!(keeper.finish().text(), "a\u{fffd}");
    }
}
