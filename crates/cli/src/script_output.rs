//! What a script writes, shown while it writes.

use crate::screen;
use metier_sandbox::Stream;

/// Shows the two streams of a script.
pub(crate) struct ScriptOutput {
    is_shown: bool,
    out: Stranger,
    err: Stranger,
}

impl ScriptOutput {
    pub(crate) fn new(is_shown: bool) -> Self {
        Self {
            is_shown,
            out: Stranger::new(screen::out_is_terminal()),
            err: Stranger::new(screen::err_is_terminal()),
        }
    }

    /// Writes a piece. While a question is open this waits, and with it the script, as soon as its pipe is full. Whoever closed
    /// our output does not want more of it; the script runs to its end.
    pub(crate) fn show(&mut self, stream: Stream, bytes: &[u8]) {
        if !self.is_shown {
            return;
        }
        let _ = match stream {
            Stream::Output => screen::lock().out(&self.out.shown(bytes)),
            Stream::Error => std::io::Write::write_all(&mut screen::lock(), &self.err.shown(bytes)),
        };
    }
}

/// One stream of a script. A terminal gets it without what would move its cursor, rename its window, hide text or look like a
/// question; a file or a pipe gets the bytes.
struct Stranger {
    is_terminal: bool,
    /// The beginning of a character whose end has not come yet.
    rest: Vec<u8>,
}

impl Stranger {
    fn new(is_terminal: bool) -> Self {
        Self { is_terminal, rest: Vec::new() }
    }

    fn shown(&mut self, bytes: &[u8]) -> Vec<u8> {
        if !self.is_terminal {
            return bytes.to_vec();
        }
        let mut whole = std::mem::take(&mut self.rest);
        whole.extend_from_slice(bytes);
        let mut shown = String::with_capacity(whole.len());
        let mut chunks = whole.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            push_harmless(&mut shown, chunk.valid());
            let invalid = chunk.invalid();
            // Up to three bytes at the end may begin a character that comes in two pieces.
            if chunks.peek().is_none() && is_beginning(invalid) {
                self.rest = invalid.to_vec();
            } else {
                for byte in invalid {
                    shown.push_str(&format!("\\x{byte:02x}"));
                }
            }
        }
        shown.into_bytes()
    }
}

/// Whether more bytes could make a character of these.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Line breaks and tabs stay, everything else that acts is shown as an escape. A carriage return alone ends a line: programs that
/// count up use it, and going back over a line would rewrite it.
fn push_harmless(shown: &mut String, text: &str) {
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            shown.push('\n');
        }
        let line = if text.len() > line.len() { line.strip_suffix('\r').unwrap_or(line) } else { line };
        for (number, part) in line.split('\r').enumerate() {
            if number > 0 {
                shown.push('\n');
            }
            for (number, cell) in part.split('\t').enumerate() {
                if number > 0 {
                    shown.push('\t');
                }
                shown.push_str(&screen::harmless(cell));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[&[u8]]) -> String {
        let mut stranger = Stranger::new(true);
        let all = pieces.iter().flat_map(|piece| stranger.shown(piece)).collect();
        String::from_utf8(all).unwrap()
    }

    #[test]
    fn a_terminal_gets_nothing_that_acts() {
        assert_eq!(shown(&[b"a\x1b]52;c;x\x07\n\tb\xc3\xa9"]), "a\\u{1b}]52;c;x\\u{7}\n\tbé");
        assert_eq!(shown(&[b"\xc2\x9b31m"]), "\\u{9b}31m");
        assert_eq!(shown(&[b"\xc2", b"\x9b", b"\xff"]), "\\u{9b}\\xff");
        assert_eq!(shown(&["\u{202e}◆ \u{a0}\u{11b}".as_bytes()]), "\\u{202e}\\u{25c6} \u{a0}\u{11b}");
        assert_eq!(shown(&[b"10 %\r20 %\r\n30"]), "10 %\n20 %\n30");
    }

    #[test]
    fn a_file_gets_the_bytes() {
        assert_eq!(Stranger::new(false).shown(b"\x1b[2J\r\xff"), b"\x1b[2J\r\xff");
    }
}
