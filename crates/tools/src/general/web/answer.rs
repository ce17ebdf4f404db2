//! What a server answered.

use std::io::{self, Read};

/// The longest head of an answer. Servers send a few kilobytes, cookies included.
const MOST_HEAD: usize = 64 * 1024;

/// How many headers an answer may have.
const MOST_HEADERS: usize = 200;

/// An answer: its status, its headers, and its body as far as it is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::general) struct Answer {
    pub(in crate::general) status: u16,
    headers: Vec<(String, String)>,
    pub(in crate::general) body: Vec<u8>,
    /// Why the body is not whole, if so.
    pub(in crate::general) cut: Option<String>,
}

/// Why an answer cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    #[error("the server did not answer in time")]
    Slow,
    #[error("the connection broke: {0}")]
    StreamEnd(io::Error),
    #[error("the head of the answer has more than {} KiB", MOST_HEAD / 1024)]
    Head,
    #[error("the answer is no HTTP/1.1")]
    NotHttp,
    #[error("the length of the answer can be read in two ways")]
    Length,
}

impl From<io::Error> for NoAnswer {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::TimedOut { Self::Slow } else { Self::StreamEnd(error) }
    }
}

impl Answer {
    /// A header, by its name in lower case.
    pub(in crate::general) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Reads an answer, and at most `most` bytes of its body.
    pub(super) fn read(from: &mut impl Read, most: usize) -> Result<Self, NoAnswer> {
        let mut source = Source { from, buffer: Vec::new(), at: 0 };
        let (status, headers) = loop {
            let (status, headers) = parse_head(&source.head()?)?;
            // "Continue" and its like come before the answer.
            if !(100..200).contains(&status) || status == 101 {
                break (status, headers);
            }
        };
        let mut answer = Self { status, headers, body: Vec::new(), cut: None };
        let lengths: Vec<&str> = answer.all("content-length");
        let codings = answer.all("transfer-encoding").join(",").to_ascii_lowercase();
        let read = match (codings.as_str(), lengths.as_slice()) {
            _ if matches!(status, 204 | 304) => Ok(Vec::new()),
            ("chunked", []) => source.chunked(most),
            ("", []) => source.until_end(most),
            ("", [first, rest @ ..]) if rest.iter().all(|other| other == first) => {
                let is_plain = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
                let length: u64 = first.parse().ok().filter(|_| is_plain).ok_or(NoAnswer::Length)?;
                source.exactly(length, most)
            }
            // A length that two readers could read differently is nobody's.
            _ => return Err(NoAnswer::Length),
        };
        match read {
            Ok(body) => answer.body = body,
            Err(Partial { body, why }) => (answer.body, answer.cut) = (body, Some(why)),
        }
        Ok(answer)
    }

    fn all(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect()
    }
}

/// A body that is not whole, and why.
struct Partial {
    body: Vec<u8>,
    why: String,
}

struct Source<'a, R> {
    from: &'a mut R,
    buffer: Vec<u8>,
    at: usize,
}

impl<R: Read> Source<'_, R> {
    /// Reads more into the buffer; false at the end.
    fn more(&mut self) -> io::Result<bool> {
        if self.at == self.buffer.len() {
            self.buffer.clear();
            self.at = 0;
        }
        let mut piece = [0_u8; 16 * 1024];
        loop {
            match self.from.read(&mut piece) {
                Ok(count) => {
                    self.buffer.extend_from_slice(piece.get(..count).unwrap_or_default());
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.at..).unwrap_or_default()
    }

    fn head(&mut self) -> Result<Vec<u8>, NoAnswer> {
        loop {
            if let Some(end) = self.rest().windows(4).position(|four| four == b"\r\n\r\n") {
                let head = self.rest().get(..end).unwrap_or_default().to_vec();
                self.at += end + 4;
                return Ok(head);
            }
            if self.rest().len() > MOST_HEAD {
                return Err(NoAnswer::Head);
            }
            if !self.more()? {
                return Err(NoAnswer::StreamEnd(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }

    /// Takes bytes until there are enough of them, or more than anybody wants.
    fn take(&mut self, body: &mut Vec<u8>, mut length: u64, most: usize) -> Result<(), String> {
        while length > 0 {
            if self.rest().is_empty() && !self.more().map_err(|error| broken(&error))? {
                return Err("the connection ended before the answer did".to_owned());
            }
            let room = most.saturating_sub(body.len());
            let count = usize::try_from(length).unwrap_or(usize::MAX).min(self.rest().len());
            body.extend_from_slice(self.rest().get(..count.min(room)).unwrap_or_default());
            if count > room {
                return Err(too_long(most));
            }
            self.at += count;
            length -= count as u64;
        }
        Ok(())
    }

    fn exactly(&mut self, length: u64, most: usize) -> Result<Vec<u8>, Partial> {
        let mut body = Vec::new();
        match self.take(&mut body, length, most) {
            Ok(()) => Ok(body),
            Err(why) => Err(Partial { body, why }),
        }
    }

    fn until_end(&mut self, most: usize) -> Result<Vec<u8>, Partial> {
        let mut body = self.rest().to_vec();
        loop {
            if body.len() > most {
                body.truncate(most);
                return Err(Partial { body, why: too_long(most) });
            }
            self.at = self.buffer.len();
            match self.more() {
                Ok(true) => body.extend_from_slice(self.rest()),
                Ok(false) => return Ok(body),
                // Many servers end without the goodbye of TLS; what came is shown, and that it may not be all is said.
                Err(error) => return Err(Partial { body, why: broken(&error) }),
            }
        }
    }

    fn chunked(&mut self, most: usize) -> Result<Vec<u8>, Partial> {
        let mut body = Vec::new();
        loop {
            let chunk = self.line().and_then(|line| {
                let size = line.split(';').next().unwrap_or_default().trim();
                let is_plain =
                    !size.is_empty() && size.len() <= 16 && size.bytes().all(|b| b.is_ascii_hexdigit());
                let length = u64::from_str_radix(size, 16).ok().filter(|_| is_plain);
                let length = length.ok_or("a chunk of the answer is not written as one")?;
                self.take(&mut body, length, most)?;
                if length > 0 && !self.line()?.is_empty() {
                    return Err("a chunk of the answer is not written as one".to_owned());
                }
                Ok(length)
            });
            match chunk {
                Ok(0) => return Ok(body),
                Ok(_) => {}
                Err(why) => return Err(Partial { body, why }),
            }
        }
    }

    /// One short line, without its end.
    fn line(&mut self) -> Result<String, String> {
        loop {
            if let Some(end) = self.rest().windows(2).position(|two| two == b"\r\n") {
                let line = String::from_utf8_lossy(self.rest().get(..end).unwrap_or_default()).into_owned();
                self.at += end + 2;
                return Ok(line);
            }
            if self.rest().len() > 4096 {
                return Err("a chunk of the answer is not written as one".to_owned());
            }
            if !self.more().map_err(|error| broken(&error))? {
                return Err("the connection ended before the answer did".to_owned());
            }
        }
    }
}

fn broken(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::TimedOut => "the rest did not come in time".to_owned(),
        _ => format!("the connection broke: {error}"),
    }
}

fn too_long(most: usize) -> String {
    format!("only the first {} KiB are taken", most / 1024)
}

fn parse_head(head: &[u8]) -> Result<(u16, Vec<(String, String)>), NoAnswer> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.split("\r\n");
    let status = lines.next().unwrap_or_default();
    let code = status.strip_prefix("HTTP/1.1 ").or_else(|| status.strip_prefix("HTTP/1.0 "));
    let code = code.and_then(|rest| rest.get(..3)).and_then(|code| code.parse::<u16>().ok());
    let code = code.filter(|code| (100..600).contains(code)).ok_or(NoAnswer::NotHttp)?;
    let mut headers = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(NoAnswer::NotHttp)?;
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) || headers.len() >= MOST_HEADERS {
            return Err(NoAnswer::NotHttp);
        }
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok((code, headers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expect: &str) {
        // In pieces of every size, since a network cuts where it likes.
        for size in [1, 2, 3, 7, 1000] {
            let mut pieces = Pieces { bytes, size };
            let got = match Answer::read(&mut pieces, 10) {
                Ok(answer) => {
                    let cut = answer.cut.map_or_else(String::new, |why| format!(" ({why})"));
                    format!("{} {}{cut}", answer.status, String::from_utf8_lossy(&answer.body))
                }
                Err(error) => format!("! {error}"),
            };
            assert_eq!(got, expect, "{:?} in pieces of {size}", String::from_utf8_lossy(bytes));
        }
    }

    struct Pieces<'a> {
        bytes: &'a [u8],
        size: usize,
    }

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.size.min(self.bytes.len()).min(buffer.len());
            let (now, later) = self.bytes.split_at(count);
            buffer[..count].copy_from_slice(now);
            self.bytes = later;
            Ok(count)
        }
    }

    #[test]
    fn bodies_end_where_their_head_says() {
        check(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", "200 abc");
        check(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "200 abc");
        check(b"HTTP/1.0 200 OK\r\n\r\nabc", "200 abc");
        check(
            b"HTTP/1.1 200\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n",
            "200 abc",
        );
        check(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 None\r\n\r\n", "204 ");
    }

    #[test]
    fn a_body_that_is_too_long_or_too_short_is_cut_and_said() {
        check(b"HTTP/1.1 200 OK\r\n\r\n0123456789ab", "200 0123456789 (only the first 0 KiB are taken)");
        check(
            b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n0123456789ab",
            "200 0123456789 (only the first 0 KiB are taken)",
        );
        check(
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
            "200 abc (the connection ended before the answer did)",
        );
        check(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nabc",
            "200  (a chunk of the answer is not written as one)",
        );
        check(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
            "200 a (a chunk of the answer is not written as one)",
        );
    }

    #[test]
    fn what_has_two_readings_is_no_answer() {
        check(
            b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
            "! the length of the answer can be read in two ways",
        );
        check(
            b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabcd",
            "! the length of the answer can be read in two ways",
        );
        check(
            b"HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc",
            "! the length of the answer can be read in two ways",
        );
        check(b"SSH-2.0-x\r\n\r\n", "! the answer is no HTTP/1.1");
        check(b"HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", "! the answer is no HTTP/1.1");
    }
}
