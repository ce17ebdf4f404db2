//! Where the body of a request ends, and what of it goes on.

use crate::fault::Fault;

/// The longest line before a chunk. Extensions of chunks are used by nobody and were used to smuggle.
const MAX_LINE: usize = 1024;

/// The most bytes of headers after the last chunk.
const MAX_TRAILER: usize = 16 * 1024;

/// How a body says where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// After so many bytes.
    Length(u64),
    /// After a chunk of no length.
    Chunked,
}

/// Counts the bytes of one body. What follows it is another request, which nobody has judged.
#[derive(Clone, Debug)]
pub struct Body(At);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// In bytes whose number is known.
    Counted(u64),
    /// In the length of a chunk.
    Size { value: u64, digits: u8 },
    /// In what follows the length.
    Extension { length: usize, value: u64 },
    /// Before the LF that ends the line of a length.
    SizeEnd(u64),
    /// In the bytes of a chunk.
    Data(u64),
    /// Before the CR after them.
    DataCr,
    /// Before the LF after that.
    DataLf,
    /// At the start of a line after the last chunk.
    Trailer { length: usize },
    /// In such a line.
    TrailerLine { length: usize },
    /// Before the LF that ends it.
    TrailerEnd { length: usize },
    /// Before the LF that ends everything.
    LastLf,
    /// Behind the end.
    End,
}

impl Body {
    /// A body of which nothing has been seen.
    pub fn new(framing: Framing) -> Self {
        Self(match framing {
            Framing::Length(0) => At::End,
            Framing::Length(length) => At::Counted(length),
            Framing::Chunked => At::Size { value: 0, digits: 0 },
        })
    }

    /// Whether all of it has been seen.
    pub fn is_at_end(&self) -> bool {
        self.0 == At::End
    }

    /// How many of the next bytes belong to it; what the server gets of them is added to `out`.
    ///
    /// Headers after the last chunk are left out: some servers take them for headers of the request, and then a second `Host` or
    /// `Authorization` stands there that nobody has judged. So are the extensions of chunks, which servers read differently.
    pub fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<usize, Fault> {
        let mut used = 0;
        while let Some(byte) = bytes.get(used) {
            match self.0 {
                At::End => break,
                At::Counted(left) => {
                    let (step, rest) = step(left, bytes.len() - used);
                    out.extend_from_slice(&bytes[used..used + step]);
                    used += step;
                    self.0 = if rest == 0 { At::End } else { At::Counted(rest) };
                }
                At::Data(left) => {
                    let (step, rest) = step(left, bytes.len() - used);
                    out.extend_from_slice(&bytes[used..used + step]);
                    used += step;
                    self.0 = if rest == 0 { At::DataCr } else { At::Data(rest) };
                }
                at => {
                    self.0 = after(at, *byte).ok_or(Fault::Chunk)?;
                    if !is_left_out(self.0) {
                        out.push(*byte);
                    }
                    used += 1;
                }
            }
        }
        Ok(used)
    }
}

/// Whether the byte that led to a state is part of an extension or of a header after the last chunk. The state after the end of such
/// a header is the one after the last length, too, so the length is told apart by its line end.
fn is_left_out(at: At) -> bool {
    match at {
        At::Extension { .. } | At::TrailerLine { .. } | At::TrailerEnd { .. } => true,
        At::Trailer { length } => length > 0,
        _ => false,
    }
}

fn step(left: u64, there: usize) -> (usize, u64) {
    let step = usize::try_from(left).map_or(there, |left| left.min(there));
    (step, left - step as u64)
}

/// The state after one byte that is no data; `None` where a chunked body cannot have that byte.
fn after(at: At, byte: u8) -> Option<At> {
    // Printable, or of another script, or a tab: no character that ends a line for anybody.
    let is_text = byte == b'\t' || (byte >= b' ' && byte != 0x7f);
    Some(match (at, byte) {
        (At::Size { value, digits }, byte) if byte.is_ascii_hexdigit() && digits < 15 => {
            let digit = char::from(byte).to_digit(16)?;
            At::Size { value: value * 16 + u64::from(digit), digits: digits + 1 }
        }
        (At::Size { value, digits: 1.. } | At::Extension { value, .. }, b'\r') => At::SizeEnd(value),
        (At::Size { value, digits: 1.. }, b';') => At::Extension { length: 0, value },
        (At::Extension { length, value }, _) if is_text && length < MAX_LINE => {
            At::Extension { length: length + 1, value }
        }
        (At::SizeEnd(0), b'\n') => At::Trailer { length: 0 },
        (At::SizeEnd(value), b'\n') => At::Data(value),
        (At::DataCr, b'\r') => At::DataLf,
        (At::DataLf, b'\n') => At::Size { value: 0, digits: 0 },
        (At::Trailer { .. }, b'\r') => At::LastLf,
        // A line that goes on with the one before is a line to some readers only.
        (At::Trailer { length }, byte) if is_text && byte > b' ' => At::TrailerLine { length: length + 1 },
        (At::TrailerLine { length }, b'\r') => At::TrailerEnd { length },
        (At::TrailerLine { length }, _) if is_text && length < MAX_TRAILER => {
            At::TrailerLine { length: length + 1 }
        }
        (At::TrailerEnd { length }, b'\n') => At::Trailer { length },
        (At::LastLf, b'\n') => At::End,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes the bytes in pieces of each size; whatever the pieces, the end is the same.
    fn check(framing: Framing, bytes: &str, expect: Option<(usize, bool)>) {
        for size in 1..=bytes.len() {
            let mut body = Body::new(framing);
            let mut out = Vec::new();
            let taken = bytes
                .as_bytes()
                .chunks(size)
                .try_fold(0, |sum, piece| body.take(piece, &mut out).map(|used| sum + used));
            assert_eq!(taken.ok().map(|used| (used, body.is_at_end())), expect, "{bytes:?} by {size}");
        }
    }

    #[test]
    fn a_counted_body_ends_after_its_count() {
        check(Framing::Length(3), "abcGET", Some((3, true)));
        check(Framing::Length(3), "ab", Some((2, false)));
        check(Framing::Length(0), "GET", Some((0, true)));
    }

    #[test]
    fn a_chunked_body_ends_after_its_last_line() {
        for (bytes, length) in [
            ("0\r\n\r\nGET", 5),
            ("3\r\nabc\r\n0\r\n\r\n", 13),
            ("A;x=\"y\"\r\n0123456789\r\n00\r\n\r\n0", 28 - 1),
            ("1\r\n\n\r\n0\r\nX: y\r\nZ: w\r\n\r\n", 24 - 1),
        ] {
            check(Framing::Chunked, bytes, Some((length, true)));
        }
        check(Framing::Chunked, "5\r\nab", Some((5, false)));
    }

    #[test]
    fn headers_after_the_last_chunk_and_extensions_do_not_go_on() {
        for (bytes, expect) in [
            ("3\r\nabc\r\n0\r\nHost: evil\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n"),
            ("0\r\nA: b\r\nC: d\r\n\r\n", "0\r\n\r\n"),
            ("0\r\n\r\n", "0\r\n\r\n"),
            ("3;a=\"b\"\r\nabc\r\n0;x\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n"),
        ] {
            for size in 1..=bytes.len() {
                let (mut body, mut out) = (Body::new(Framing::Chunked), Vec::new());
                let pieces = bytes.as_bytes().chunks(size);
                pieces.for_each(|piece| assert_eq!(body.take(piece, &mut out).ok(), Some(piece.len())));
                assert!(body.is_at_end());
                assert_eq!(String::from_utf8_lossy(&out), expect, "by {size}");
            }
        }
    }

    #[test]
    fn a_chunk_that_is_not_written_as_one_is_refused() {
        for bytes in [
            "\r\n\r\n",
            "g\r\n",
            "-1\r\n",
            "0x1\r\na\r\n",
            " 1\r\na\r\n",
            "1 \r\na\r\n",
            "1\na\r\n",
            "1\r\nab\r\n",
            "1\r\na\n0\r\n",
            "1;a\nb\r\n",
            "1;a\0\r\n",
            "0\r\nX: y\n\r\n",
            "0\r\n folded: y\r\n\r\n",
            "fffffffffffffffff\r\n",
        ] {
            check(Framing::Chunked, bytes, None);
        }
        check(Framing::Chunked, &format!("1;{}\r\n", "a".repeat(MAX_LINE + 1)), None);
    }
}
