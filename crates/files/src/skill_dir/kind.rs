//! What a file is that is no text, as far as its first bytes tell.

use std::fmt;

/// What a file is that is no text. It is there to help whoever asked, not to be trusted: first bytes can lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BinaryKind {
    /// A known format, by the name people use.
    Format(&'static str),
    /// Text in an encoding other than UTF-8, which would be shown as rubbish.
    Encoding(&'static str),
    /// None of those.
    Unknown,
}

impl fmt::Display for BinaryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(name) => f.write_str(name),
            Self::Encoding(name) => write!(f, "{name} text"),
            Self::Unknown => f.write_str("binary"),
        }
    }
}

impl BinaryKind {
    /// What a file is by its first bytes; `None` for text.
    pub fn of(head: &[u8]) -> Option<Self> {
        binary_kind(head.get(..super::content::HEAD).unwrap_or(head))
    }
}

/// Where a format's mark stands, the mark, and the format's name. The first that fits counts, so a longer mark goes before
/// a shorter one that begins alike.
const MARKS: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "PNG image"),
    (0, b"\xff\xd8\xff", "JPEG image"),
    (0, b"GIF87a", "GIF image"),
    (0, b"GIF89a", "GIF image"),
    (8, b"WEBP", "WebP image"),
    (8, b"WAVE", "WAV audio"),
    (0, b"II*\0", "TIFF image"),
    (0, b"MM\0*", "TIFF image"),
    (0, b"\0\0\x01\0", "icon"),
    (0, b"BM", "BMP image"),
    (4, b"ftyp", "MP4 or HEIF media"),
    (0, b"ID3", "MP3 audio"),
    (0, b"OggS", "Ogg media"),
    (0, b"fLaC", "FLAC audio"),
    (0, b"\x1aE\xdf\xa3", "Matroska or WebM media"),
    (0, b"%PDF-", "PDF document"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Office document"),
    (0, b"{\\rtf", "RTF document"),
    (0, b"PK\x03\x04", "ZIP archive (or a document packed as one)"),
    (0, b"PK\x05\x06", "ZIP archive (or a document packed as one)"),
    (0, b"\x1f\x8b", "gzip archive"),
    (0, b"BZh", "bzip2 archive"),
    (0, b"\xfd7zXZ\0", "xz archive"),
    (0, b"\x28\xb5\x2f\xfd", "zstd archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (0, b"Rar!\x1a\x07", "RAR archive"),
    (257, b"ustar", "tar archive"),
    (0, b"\x7fELF", "ELF program"),
    (0, b"\0asm", "WebAssembly module"),
    (0, b"MZ", "Windows program"),
    (0, b"\xcf\xfa\xed\xfe", "macOS program"),
    (0, b"\xca\xfe\xba\xbe", "Java class or macOS program"),
    (0, b"SQLite format 3\0", "SQLite database"),
    (0, b"PAR1", "Parquet table"),
    (0, b"wOFF", "WOFF font"),
    (0, b"wOF2", "WOFF2 font"),
    (0, b"OTTO", "OpenType font"),
    (0, b"\0\x01\0\0\0", "TrueType font"),
];

/// Formats whose marks are ordinary letters. A text may begin with them, so they count only where the bytes are no text
/// for another reason as well.
const LETTERS: &[&[u8]] = &[
    b"BM", b"MZ", b"ID3", b"BZh", b"PAR1", b"wOFF", b"wOF2", b"OTTO", b"WEBP", b"WAVE", b"ftyp", b"OggS",
    b"fLaC", b"ustar",
];

/// In this many bytes at most one of `STRANGE` may be no text. A file in Latin-1 has fewer strange bytes in any language
/// that is mostly ASCII; compressed data has more than half.
const STRANGE: usize = 10;

/// What the file is, if its first bytes are no text.
pub(super) fn binary_kind(head: &[u8]) -> Option<BinaryKind> {
    let mark = MARKS.iter().find(|(at, mark, _)| head.get(*at..).is_some_and(|rest| rest.starts_with(mark)));
    if let Some((_, mark, name)) = mark
        && (!LETTERS.contains(mark) || !is_text(head))
    {
        return Some(BinaryKind::Format(name));
    }
    if head.starts_with(b"\xff\xfe\0\0") || head.starts_with(b"\0\0\xfe\xff") {
        return Some(BinaryKind::Encoding("UTF-32"));
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Some(BinaryKind::Encoding("UTF-16"));
    }
    (!is_text(head)).then_some(BinaryKind::Unknown)
}

/// A NUL never stands in text; other control characters and bytes that are not UTF-8 do, but rarely.
fn is_text(head: &[u8]) -> bool {
    if head.contains(&0) {
        return false;
    }
    // Control characters are characters by themselves, wherever they stand. Counting them and checking the rest apart is many
    // times faster than going through the text piece by piece, and nearly every head is one piece.
    let count = |piece: &[u8]| piece.iter().map(|byte| u8::from(is_strange_control(*byte))).sum::<u8>();
    // In pieces of which the count fits into a byte, so that the sum is as narrow as what is summed.
    let mut strange: usize = head.chunks(u8::MAX.into()).map(|piece| usize::from(count(piece))).sum();
    if str::from_utf8(head).is_err() {
        strange += head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum::<usize>();
    }
    strange * STRANGE <= head.len() || strange <= 1
}

/// Tab, line ends, form feed and the escape of coloured logs are at home in text.
#[expect(clippy::needless_bitwise_bool, reason = "without jumps many bytes are looked at at once")]
fn is_strange_control(byte: u8) -> bool {
    let is_usual = (byte == b'\t') | (byte == b'\n') | (byte == b'\r') | (byte == 0x0c) | (byte == 0x1b);
    ((byte < b' ') | (byte == 0x7f)) & !is_usual
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(head: &[u8], expect: &str) {
        let kind = binary_kind(head).map_or_else(|| "text".to_owned(), |kind| kind.to_string());
        assert_eq!(kind, expect, "{:?}", head.escape_ascii().to_string());
    }

    #[test]
    fn first_bytes_tell_text_from_the_rest() {
        check(b"", "text");
        check(b"# Title\n\nText.\n", "text");
        check("näh 件 🙂".as_bytes(), "text");
        check(b"\x1b[31mred\x1b[0m\tx\r\n", "text");
        check(b"\xef\xbb\xbfwith a mark", "text");
        check(b"caf\xe9 in Latin-1, as old notes are", "text");
        check(b"\x89PNG\r\n\x1a\n\0\0", "PNG image");
        check(b"\xff\xd8\xff\xe0", "JPEG image");
        check(b"GIF89a", "GIF image");
        check(b"RIFF\0\0\0\0WEBP", "WebP image");
        check(b"%PDF-1.7\n", "PDF document");
        check(b"PK\x03\x04", "ZIP archive (or a document packed as one)");
        check(b"\x1f\x8b\x08", "gzip archive");
        check(b"\x7fELF\x02", "ELF program");
        check(b"\0asm\x01\0\0\0", "WebAssembly module");
        check(b"SQLite format 3\0", "SQLite database");
        check(b"BM\x36\0\0\0", "BMP image");
        check(b"BMW is a car maker", "text");
        check(b"MZ\x90\0\x03", "Windows program");
        check(b"OTTO WALKES", "text");
        check(b"\xff\xfeh\0i\0", "UTF-16 text");
        check(b"\xff\xfe\0\0h\0\0\0", "UTF-32 text");
        check(b"a\0b", "binary");
        check(b"\x80\x81\x82\x83", "binary");
    }

    #[test]
    fn a_character_cut_at_the_end_of_the_head_does_not_make_a_binary() {
        check("é".repeat(3).as_bytes().split_last().unwrap().1, "text");
        check(&"件".as_bytes()[..2], "binary");
    }
}
