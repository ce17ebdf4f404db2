//! Server-sent events: bytes in, events out, wherever the bytes are split.

/// The longest event. A tool call that writes a file comes in one piece from some servers, and files of a few megabytes
/// are written like that; a stream that never ends its line must not eat the memory.
pub const MAX_EVENT: usize = 16 << 20;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerEvent {
    /// Its kind, if it names one.
    pub event: Option<String>,
    /// Its lines, joined.
    pub data: String,
}

/// Why bytes are no server-sent events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// One event is too long.
    #[error("one event has more than {} bytes", MAX_EVENT)]
    TooLong,
    /// A line is no text.
    #[error("a line is not UTF-8")]
    NotText,
}

/// Reads server-sent events from bytes as they come.
///
/// Lines end with LF, CR or CRLF; a mark of byte order at the very beginning is none; lines that begin with a colon are
/// comments. What is unknown is skipped, as the standard wants. An event that no blank line ends is none, except that
/// [`Sse::finish`] gives it: servers that close the connection right behind their last line are many.
///
/// ```
/// use metier_model::sse::Sse;
///
/// let mut sse = Sse::default();
/// let mut events = Vec::new();
/// sse.push(b"event: ping\ndata: {\"a\"", &mut events)?;
/// assert!(events.is_empty());
/// sse.push(b": 1}\r\n\r\n", &mut events)?;
/// assert_eq!(events[0].event.as_deref(), Some("ping"));
/// assert_eq!(events[0].data, "{\"a\": 1}");
/// # Ok::<(), metier_model::sse::SseError>(())
/// ```
#[derive(Debug, Default)]
pub struct Sse {
    line: Vec<u8>,
    place: Place,
    event: Option<String>,
    data: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Before the first line.
    #[default]
    Start,
    /// Anywhere else.
    Inside,
    /// Behind a CR: an LF that follows belongs to it.
    AfterReturn,
}

impl Sse {
    /// Takes bytes; adds the events that they end.
    pub fn push(&mut self, mut bytes: &[u8], events: &mut Vec<ServerEvent>) -> Result<(), SseError> {
        while !bytes.is_empty() {
            if self.place == Place::AfterReturn {
                self.place = Place::Inside;
                if bytes.first() == Some(&b'\n') {
                    bytes = &bytes[1..];
                    continue;
                }
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
            if held + piece.len() > MAX_EVENT {
                return Err(SseError::TooLong);
            }
            self.line.extend_from_slice(piece);
            let Some(end) = end else { return Ok(()) };
            let is_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line(events)?;
            self.place = if is_return { Place::AfterReturn } else { Place::Inside };
        }
        Ok(())
    }

    /// The stream has ended: whatever event was being read.
    pub fn finish(mut self) -> Result<Option<ServerEvent>, SseError> {
        let mut events = Vec::new();
        if !self.line.is_empty() {
            self.end_line(&mut events)?;
        }
        self.end_event(&mut events);
        Ok(events.pop())
    }

    fn end_line(&mut self, events: &mut Vec<ServerEvent>) -> Result<(), SseError> {
        let line = std::mem::take(&mut self.line);
        let mut text = std::str::from_utf8(&line).map_err(|_| SseError::NotText)?;
        if self.place == Place::Start {
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        if text.is_empty() {
            self.end_event(events);
        } else {
            let (field, value) = text.split_once(':').unwrap_or((text, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "data" => match &mut self.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    None => self.data = Some(value.to_owned()),
                },
                "event" => self.event = Some(value.to_owned()),
                // A comment, an `id`, a `retry`, or something that is not known yet.
                _ => {}
            }
        }
        // The next line is read into the same memory.
        self.line = line;
        self.line.clear();
        Ok(())
    }

    fn end_event(&mut self, events: &mut Vec<ServerEvent>) {
        let event = self.event.take();
        // An event without data is none, says the standard.
        if let Some(data) = self.data.take() {
            events.push(ServerEvent { event, data });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(pieces: &[&[u8]]) -> Result<Vec<ServerEvent>, SseError> {
        let (mut sse, mut events) = (Sse::default(), Vec::new());
        for piece in pieces {
            sse.push(piece, &mut events)?;
        }
        events.extend(sse.finish()?);
        Ok(events)
    }

    #[test]
    fn lines_end_in_three_ways_and_comments_are_none() {
        let check = |text: &str, expect: &[(Option<&str>, &str)]| {
            let events = read(&[text.as_bytes()]).unwrap();
            let found: Vec<_> = events.iter().map(|event| (event.event.as_deref(), &*event.data)).collect();
            assert_eq!(found, expect, "{text:?}");
        };
        check("data: a\n\n", &[(None, "a")]);
        check("data: a\r\n\r\n", &[(None, "a")]);
        check("data: a\r\r", &[(None, "a")]);
        check("\u{feff}data: a\n\n", &[(None, "a")]);
        check("data: a\n\n\u{feff}data: b\n\n", &[(None, "a")]);
        check(": keep-alive\n\ndata: a\n\n", &[(None, "a")]);
        check("data: a\ndata: b\n\n", &[(None, "a\nb")]);
        check("data\n\n", &[(None, "")]);
        check("data:a\ndata:  b\n\n", &[(None, "a\n b")]);
        check("event: x\nid: 1\nretry: 2\nnew: 3\ndata: a\n\ndata: b\n\n", &[(Some("x"), "a"), (None, "b")]);
        check("event: x\n\ndata: b\n\n", &[(None, "b")]);
        check("data: a", &[(None, "a")]);
        check("", &[]);
    }

    #[test]
    fn an_event_that_never_ends_is_refused() {
        let line = vec![b'x'; MAX_EVENT / 2];
        let (mut sse, mut events) = (Sse::default(), Vec::new());
        assert_eq!(sse.push(&line, &mut events), Ok(()));
        assert_eq!(sse.push(&line, &mut events), Ok(()));
        assert_eq!(sse.push(b"x", &mut events), Err(SseError::TooLong));
        let lines = [b"data: ".as_slice(), &line, b"\n"].concat();
        assert_eq!(read(&[&lines, &lines, &lines]), Err(SseError::TooLong));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert_eq!(read(&[b"data: \xff\n\n"]), Err(SseError::NotText));
    }

    proptest! {
        #[test]
        fn splitting_never_matters(
            text in "(data: ?[a-zäß\u{1F600} :]{0,6}|event: [a-z]{0,3}|:[a-z]{0,3}|\u{feff}|)(\n|\r|\r\n){0,3}".prop_map(|part| part),
            more in proptest::collection::vec(
                "(data: ?[a-zäß\u{1F600} :]{0,6}|event: [a-z]{0,3}|:[a-z]{0,3}|\u{feff}|)(\n|\r|\r\n){0,3}", 0..8),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let bytes = [text, more.concat()].concat().into_bytes();
            let whole = read(&[&bytes]);
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let pieces: Vec<&[u8]> = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&pieces), whole.clone());
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(read(&single), whole);
        }
    }
}
