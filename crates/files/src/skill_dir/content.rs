//! A file's content as somebody can read it: a page of text, or what it is instead.

use std::io;

use cap_std::fs::File;
use rustix::buffer::spare_capacity;
use rustix::io::{pread, retry_on_intr};

use super::kind::{BinaryKind, binary_kind};

/// How much text one page holds where nobody asks for another size: more than most references have in all (99 % of
/// public ones are smaller), and about 16,000 tokens, which every model's window can take.
pub const PAGE: u64 = 64 * 1024;

/// How much of a file tells whether it is text. The header of every known format is shorter.
pub(crate) const HEAD: usize = 8 * 1024;

/// The longest UTF-8 character. A smaller page could be unable to move on.
const MAX_CHARACTER_BYTES: u64 = 4;

/// What [`super::SkillDir::read_text`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A page of text.
    Text(TextPage),
    /// The file is no text.
    Binary(Binary),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPage {
    /// Where it begins, in bytes. Later than asked for when that was inside a character.
    pub offset: u64,
    /// What is there.
    pub text: String,
    /// Where it ends, in bytes, which is where the next page begins.
    pub end: u64,
    /// How large the whole file is.
    pub size: u64,
    /// How many sequences of bytes were not UTF-8 and stand as `U+FFFD`.
    pub replaced: usize,
}

impl TextPage {
    /// Where the next page begins, if there is one.
    pub fn next_offset(&self) -> Option<u64> {
        (self.end < self.size && self.end > self.offset).then_some(self.end)
    }
}

/// A file that is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binary {
    /// What its first bytes say it is.
    pub kind: BinaryKind,
    /// How large it is.
    pub size: u64,
}

/// Reads from the one opened file, so that what is judged and what is given cannot be two files.
///
/// The first page is judged by its own beginning: most files are one page, and are read by one call of the system.
pub(super) fn read(file: &File, size: u64, offset: u64, limit: u64) -> io::Result<Content> {
    let limit = limit.max(MAX_CHARACTER_BYTES);
    // One byte more than the page tells whether the file goes on, whatever its size was when it was opened.
    let wanted = limit.saturating_add(1);
    let is_first = offset == 0 && limit >= HEAD as u64;
    let head = if is_first { read_at(file, 0, wanted, size)? } else { read_at(file, 0, HEAD as u64, size)? };
    if let Some(kind) = binary_kind(head.get(..HEAD).unwrap_or(&head)) {
        return Ok(Content::Binary(Binary { kind, size }));
    }
    let bytes = if is_first { head } else { read_at(file, offset, wanted, size)? };
    Ok(Content::Text(page(bytes, size, offset, limit)))
}

/// Up to `limit` bytes from `offset`, of a file that had `size` bytes when it was opened.
fn read_at(file: &File, offset: u64, limit: u64, size: u64) -> io::Result<Vec<u8>> {
    // The system counts in signed numbers and would call this a mistake; nothing is there all the same.
    if i64::try_from(offset).is_err() {
        return Ok(Vec::new());
    }
    let left = size.saturating_sub(offset);
    // With room for one byte more than there is, a read that leaves room has seen the end.
    let room = usize::try_from(limit.min(left.saturating_add(1))).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(room);
    loop {
        let at = offset.saturating_add(bytes.len() as u64);
        if bytes.len() as u64 >= limit {
            break;
        }
        // A file that grew meanwhile is read on, as far as anybody wants it.
        if bytes.len() == bytes.capacity() {
            let more = limit.saturating_sub(bytes.len() as u64).min(HEAD as u64);
            bytes.reserve(usize::try_from(more).unwrap_or(HEAD));
        }
        let count = retry_on_intr(|| pread(file, spare_capacity(&mut bytes), at))?;
        let is_end = count == 0 || (bytes.len() as u64 == left && bytes.len() < bytes.capacity());
        if is_end {
            break;
        }
    }
    bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(bytes)
}

fn page(mut bytes: Vec<u8>, size: u64, offset: u64, limit: u64) -> TextPage {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = bytes.len() > limit;
    // A page that begins inside a character begins after it: half a character is no text.
    let start =
        if offset == 0 { 0 } else { bytes.iter().take(3).take_while(|&&byte| is_inner(byte)).count() };
    if more {
        // Bytes that are no text can put the cut before the beginning; a page always goes on.
        let end = cut(&bytes, limit);
        bytes.truncate(if end > start { end } else { limit });
    }
    let start = start.min(bytes.len());
    let end = offset.saturating_add(bytes.len() as u64);
    let is_empty = bytes.is_empty();
    bytes.drain(..start);
    let (text, replaced) = match String::from_utf8(bytes) {
        Ok(text) => (text, 0),
        Err(error) => replaced(error.as_bytes()),
    };
    // The file may have grown or shrunk since its size was asked for; then what was read is the better answer.
    let size = match (more, is_empty) {
        (true, _) => size.max(end.saturating_add(1)),
        (false, false) => end,
        (false, true) => size,
    };
    TextPage { offset: offset.saturating_add(start as u64), text, end, size, replaced }
}

/// The text of bytes that are not all UTF-8, and how many sequences of them are not.
fn replaced(bytes: &[u8]) -> (String, usize) {
    let mut text = String::with_capacity(bytes.len());
    let mut replaced = 0;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            replaced += 1;
        }
    }
    (text, replaced)
}

/// Where a page of at most `limit` bytes ends: after the last line end, unless that would give away more than half of
/// the page, as in a file that is one long line; else after the last whole character.
fn cut(bytes: &[u8], limit: usize) -> usize {
    let line = bytes[..limit].iter().rposition(|&byte| byte == b'\n').map(|at| at + 1);
    if let Some(line) = line.filter(|&line| line > limit / 2) {
        return line;
    }
    // The byte after the page is known: if it is inside a character, the page ends before that character.
    let inner = (0..3).take_while(|back| bytes.get(limit - back).is_some_and(|&byte| is_inner(byte))).count();
    // More than three inner bytes in a row are no character, and have no better place to be cut.
    if bytes.get(limit - inner).is_some_and(|&byte| is_inner(byte)) || inner >= limit {
        limit
    } else {
        limit - inner
    }
}

/// Whether the byte can only stand inside a UTF-8 character.
const fn is_inner(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads `bytes` in pages of `limit`, as the caller would.
    fn pages(bytes: &[u8], limit: u64) -> Vec<TextPage> {
        let mut pages = Vec::new();
        let mut offset = Some(0);
        while let Some(start) = offset {
            let from = usize::try_from(start).unwrap();
            let to = bytes.len().min(from + usize::try_from(limit).unwrap() + 1);
            let page = page(bytes[from..to].to_vec(), bytes.len() as u64, start, limit);
            offset = page.next_offset();
            pages.push(page);
        }
        pages
    }

    fn check(text: &str, limit: u64, expect: &[&str]) {
        let pages = pages(text.as_bytes(), limit);
        let texts: Vec<&str> = pages.iter().map(|page| page.text.as_str()).collect();
        assert_eq!(texts, expect, "{text:?} by {limit}");
    }

    #[test]
    fn pages_end_at_lines_else_at_characters() {
        check("", 8, &[""]);
        check("short", 8, &["short"]);
        check("exactly8", 8, &["exactly8"]);
        check("one\ntwo\nthree\n", 8, &["one\ntwo\n", "three\n"]);
        check("one\ntwo3\nx", 8, &["one\ntwo3", "\nx"]);
        check("longer\nlines here", 8, &["longer\n", "lines he", "re"]);
        check("a\nbcdefghijkl", 8, &["a\nbcdefg", "hijkl"]);
        check("ééééé", 4, &["éé", "éé", "é"]);
        check("aééé", 4, &["aé", "éé"]);
        check("🙂🙂x", 5, &["🙂", "🙂x"]);
    }

    #[test]
    fn bytes_that_are_no_text_do_not_end_the_pages() {
        let bytes = [0, 128, 128, 128, 128, 128, 0, 128, 128];
        assert_eq!(pages(&bytes, 4).last().unwrap().end, 9);
    }

    #[test]
    fn a_page_asked_for_inside_a_character_begins_after_it() {
        let page = page("é!".as_bytes()[1..].to_vec(), 3, 1, 8);
        assert_eq!((page.offset, page.text.as_str(), page.end, page.next_offset()), (2, "!", 3, None));
    }

    #[test]
    fn a_page_beyond_the_end_is_empty_and_the_last() {
        let page = page(Vec::new(), 3, 99, 8);
        assert_eq!((page.text.as_str(), page.size, page.next_offset()), ("", 3, None));
    }

    proptest! {
        #[test]
        fn all_pages_together_are_the_text(text in "(\\PC|\n){0,60}", limit in 4_u64..20) {
            let pages = pages(text.as_bytes(), limit);
            let all: String = pages.iter().map(|page| page.text.as_str()).collect();
            prop_assert_eq!(all, text);
            prop_assert!(pages.iter().all(|page| page.replaced == 0 && page.text.len() as u64 <= limit));
        }

        #[test]
        fn pages_of_any_bytes_come_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..200), limit in 4_u64..20) {
            let pages = pages(&bytes, limit);
            prop_assert_eq!(pages.last().unwrap().end, bytes.len() as u64);
            prop_assert!(pages.windows(2).all(|pair| pair[0].end > pair[0].offset || pair[0].end < pair[1].end));
        }
    }
}
