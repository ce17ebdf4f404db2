//! The head of a server's answer.

use httparse::{EMPTY_HEADER, ParserConfig, Status};

use crate::head::{self, MAX_HEAD};

/// The most headers of an answer that are read; one with more goes through as it is.
const MAX_HEADERS: usize = 256;

/// Waits for the head of an answer and makes it say that the connection ends after it.
///
/// One connection carries one request, so a program that believed in a second one would wait for an answer that never
/// comes. Nothing else of an answer is changed, and one that cannot be read goes through as it is: it comes from a server
/// that the program may talk to.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    held: Vec<u8>,
    is_through: bool,
}

impl Answer {
    /// Whether everything that follows goes through untouched.
    pub(crate) fn is_through(&self) -> bool {
        self.is_through
    }

    /// Whether the server has said anything yet.
    pub(crate) fn is_silent(&self) -> bool {
        !self.is_through && self.held.is_empty()
    }

    /// Takes bytes of the server and gives those that may go on.
    pub(crate) fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.held.extend_from_slice(bytes);
        while !self.is_through {
            let mut headers = [EMPTY_HEADER; MAX_HEADERS];
            let mut response = httparse::Response::new(&mut headers);
            let mut lenient = ParserConfig::default();
            lenient.allow_obsolete_multiline_headers_in_responses(true);
            lenient.allow_spaces_after_header_name_in_responses(true);
            match lenient.parse_response(&mut response, &self.held) {
                Ok(Status::Complete(length)) => {
                    // A note on the way (`100 Continue`) comes before the answer.
                    let is_note = response.code.is_some_and(|code| (100..200).contains(&code) && code != 101);
                    if is_note {
                        out.extend_from_slice(&self.held[..length]);
                    } else {
                        closing(&self.held[..length], response.headers, out);
                        self.is_through = true;
                    }
                    self.held.drain(..length);
                }
                Ok(Status::Partial) if self.held.len() < MAX_HEAD => return,
                Ok(Status::Partial) | Err(_) => self.is_through = true,
            }
        }
        out.append(&mut self.held);
    }

    /// What is left when the server is done.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        self.is_through = true;
        out.append(&mut self.held);
    }
}

fn closing(head: &[u8], headers: &[httparse::Header<'_>], out: &mut Vec<u8>) {
    let line =
        head.split_inclusive(|byte| *byte == b'\n').find(|line| line.trim_ascii() != b"").unwrap_or_default();
    out.extend_from_slice(line.trim_ascii_end());
    out.extend_from_slice(b"\r\n");
    let named = head::named_by_connection(headers);
    for header in headers {
        let is_named = named.iter().any(|name| header.name.eq_ignore_ascii_case(name));
        let is_framing =
            ["content-length", "transfer-encoding"].iter().any(|own| header.name.eq_ignore_ascii_case(own));
        if is_framing || !(is_named || head::is_about_connection(header.name)) {
            // A value over several lines becomes one line, as everybody reads it.
            let value: Vec<u8> =
                header.value.iter().map(|byte| if b"\r\n".contains(byte) { b' ' } else { *byte }).collect();
            head::push(out, &httparse::Header { name: header.name, value: &value });
        }
    }
    out.extend_from_slice(b"Connection: close\r\n\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, expect: &str) {
        for size in 1..=answer.len() {
            let (mut found, mut out) = (Answer::default(), Vec::new());
            for piece in answer.as_bytes().chunks(size) {
                found.take(piece, &mut out);
            }
            found.finish(&mut out);
            assert_eq!(String::from_utf8_lossy(&out), expect, "by {size}");
        }
    }

    #[test]
    fn an_answer_ends_its_connection() {
        check(
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive, X\r\nX: 1\r\nKeep-Alive: 5\r\nA: b\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: b\r\nConnection: close\r\n\r\nhi",
        );
        check("HTTP/1.0 200 OK\nA: b\n\nx", "HTTP/1.0 200 OK\r\nA: b\r\nConnection: close\r\n\r\nx");
    }

    #[test]
    fn a_note_on_the_way_comes_first() {
        check(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
        );
    }

    #[test]
    fn what_cannot_be_read_goes_through() {
        for answer in ["hello\n", "HTTP/9.9 200 OK\r\n\r\n", "HTTP/1.1 20"] {
            check(answer, answer);
        }
    }
}
