//! What a file is that is no text, as far as its first bytes tell.

use std::fmt;

/// What a file is that is no text. It is there to help whoever asked, not to be trusted: first bytes can lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BinaryKind {
    /// The name people use.
    name: &'static str,
    /// The name in the words of MIME.
    media: &'static str,
}

impl fmt::Display for BinaryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl BinaryKind {
    /// What a file is by its first bytes; `None` for text.
    pub fn of(head: &[u8]) -> Option<Self> {
        binary_kind(head.get(..super::content::HEAD).unwrap_or(head))
    }

    /// The same in the words of MIME.
    pub(crate) const fn media_type(self) -> &'static str {
        self.media
    }
}

/// Where a format's mark stands, the mark, the format's name, and its name in the words of MIME. The first that fits counts, so a longer mark goes before
/// a shorter one that begins alike.
const MARKS: &[(usize, &[u8], &str, &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "PNG image", "image/png"),
    (0, b"\xff\xd8\xff", "JPEG image", "image/jpeg"),
    (0, b"GIF87a", "GIF image", "image/gif"),
    (0, b"GIF89a", "GIF image", "image/gif"),
    (8, b"WEBP", "WebP image", "image/webp"),
    (8, b"WAVE", "WAV audio", "audio/wav"),
    (0, b"II*\0", "TIFF image", "image/tiff"),
    (0, b"MM\0*", "TIFF image", "image/tiff"),
    (0, b"\0\0\x01\0", "icon", "image/vnd.microsoft.icon"),
    (0, b"BM", "BMP image", "image/bmp"),
    (4, b"ftyp", "MP4 or HEIF media", "video/mp4"),
    (0, b"ID3", "MP3 audio", "audio/mpeg"),
    (0, b"OggS", "Ogg media", "audio/ogg"),
    (0, b"fLaC", "FLAC audio", "audio/flac"),
    (0, b"\x1aE\xdf\xa3", "Matroska or WebM media", "video/matroska"),
    (0, b"%PDF-", "PDF document", "application/pdf"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Office document", "application/x-ole-storage"),
    (0, b"{\\rtf", "RTF document", "application/rtf"),
    (0, b"PK\x03\x04", "ZIP archive (or a document packed as one)", "application/zip"),
    (0, b"PK\x05\x06", "ZIP archive (or a document packed as one)", "application/zip"),
    (0, b"\x1f\x8b", "gzip archive", "application/gzip"),
    (0, b"BZh", "bzip2 archive", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "xz archive", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "zstd archive", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "7-Zip archive", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "RAR archive", "application/vnd.rar"),
    (257, b"ustar", "tar archive", "application/x-tar"),
    (0, b"\x7fELF", "ELF program", "application/x-executable"),
    (0, b"\0asm", "WebAssembly module", "application/wasm"),
    (0, b"MZ", "Windows program", "application/vnd.microsoft.portable-executable"),
    (0, b"\xcf\xfa\xed\xfe", "macOS program", "application/x-mach-binary"),
    (0, b"\xca\xfe\xba\xbe", "Java class or macOS program", "application/octet-stream"),
    (0, b"SQLite format 3\0", "SQLite database", "application/vnd.sqlite3"),
    (0, b"PAR1", "Parquet table", "application/vnd.apache.parquet"),
    (0, b"wOFF", "WOFF font", "font/woff"),
    (0, b"wOF2", "WOFF2 font", "font/woff2"),
    (0, b"OTTO", "OpenType font", "font/otf"),
    (0, b"\0\x01\0\0\0", "TrueType font", "font/ttf"),
    // Text in an encoding other than UTF-8, which would be shown as rubbish.
    (0, b"\xff\xfe\0\0", "UTF-32 text", "text/plain; charset=utf-32"),
    (0, b"\0\0\xfe\xff", "UTF-32 text", "text/plain; charset=utf-32"),
    (0, b"\xff\xfe", "UTF-16 text", "text/plain; charset=utf-16"),
    (0, b"\xfe\xff", "UTF-16 text", "text/plain; charset=utf-16"),
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
    let is_there = |at: usize, mark: &[u8]| head.get(at..).is_some_and(|rest| rest.starts_with(mark));
    let counts = |mark: &&[u8]| !LETTERS.contains(mark) || !is_text(head);
    let known = MARKS.iter().find(|(at, mark, ..)| is_there(*at, mark) && counts(mark));
    if let Some((_, _, name, media)) = known {
        return Some(BinaryKind { name, media });
    }
    (!is_text(head)).then_some(BinaryKind { name: "binary", media: "application/octet-stream" })
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
