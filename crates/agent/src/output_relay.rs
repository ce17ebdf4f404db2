//! Shows observers what a program writes while it runs.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use metier_sandbox::Stream;

use crate::lock;
use crate::observer::{Observer, StreamDelta};

/// The longest piece that is shown at once, in bytes: a screen full. Of more only the end is shown, which is what
/// would be visible anyway.
const MAX_PIECE: usize = 4 * 1024;

/// How much is shown in one second, in bytes. A person cannot read more, and the work waits while it is shown.
const MAX_PER_SECOND: usize = 64 * 1024;

/// Relays what a program writes while it runs. Nothing depends on it: the call's result has the output.
pub(crate) struct OutputRelay {
    observer: Arc<dyn Observer>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The call whose program runs. Programs run one after another.
    call: String,
    output: Unfinished,
    error: Unfinished,
    allowance: Allowance,
}

/// The first bytes of a character that is not complete.
#[derive(Default)]
struct Unfinished(Vec<u8>);

/// How much may still be shown.
struct Allowance {
    since: Instant,
    shown: usize,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { since: Instant::now(), shown: 0 }
    }
}

impl OutputRelay {
    pub(crate) fn new(observer: Arc<dyn Observer>) -> Self {
        Self { observer, state: Mutex::default() }
    }

    /// Another call starts.
    pub(crate) fn begin(&self, call: &str) {
        *lock(&self.state) = State { call: call.to_owned(), ..State::default() };
    }

    /// Relays a piece, as far as the allowance goes.
    pub(crate) fn hear(&self, stream: Stream, bytes: &[u8]) {
        let mut state = lock(&self.state);
        let unfinished = match stream {
            Stream::Output => &mut state.output,
            Stream::Error => &mut state.error,
        };
        let text = unfinished.text(bytes);
        let text = last(&text, MAX_PIECE);
        if !text.is_empty() && state.allowance.takes(text.len(), Instant::now()) {
            self.observer.delta(StreamDelta::Output { call: &state.call, text });
        }
    }
}

impl Unfinished {
    /// The complete characters so far; the first bytes of one that is cut wait for the rest.
    fn text(&mut self, bytes: &[u8]) -> String {
        self.0.extend_from_slice(bytes);
        let rest = match std::str::from_utf8(&self.0) {
            // No length means that the text ends within a character.
            Err(error) if error.error_len().is_none() => self.0.split_off(error.valid_up_to()),
            // Invalid bytes are replaced, and so is a cut character after them: this is only for display.
            _ => Vec::new(),
        };
        let whole = std::mem::replace(&mut self.0, rest);
        String::from_utf8_lossy(&whole).into_owned()
    }
}

impl Allowance {
    fn takes(&mut self, length: usize, now: Instant) -> bool {
        if now.saturating_duration_since(self.since) >= Duration::from_secs(1) {
            *self = Self { since: now, shown: 0 };
        }
        self.shown += length;
        self.shown <= MAX_PER_SECOND
    }
}

/// The end of a text, of at most so many bytes.
fn last(text: &str, most: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(most))..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<Vec<(String, String)>>);

    impl Observer for Heard {
        fn delta(&self, piece: StreamDelta<'_>) {
            if let StreamDelta::Output { call, text } = piece {
                self.0.lock().unwrap().push((call.to_owned(), text.to_owned()));
            }
        }
    }

    #[test]
    fn a_character_that_comes_in_two_pieces_is_shown_whole_and_streams_do_not_mix() {
        let heard = Arc::new(Heard::default());
        let echo = OutputRelay::new(Arc::clone(&heard) as _);
        echo.begin("1");
        let bytes = "ü".as_bytes();
        echo.hear(Stream::Output, &[b'a', bytes[0]]);
        echo.hear(Stream::Error, b"e\xff");
        echo.hear(Stream::Output, &bytes[1..]);
        echo.begin("2");
        echo.hear(Stream::Output, b"b");
        let expect = [("1", "a"), ("1", "e\u{fffd}"), ("1", "ü"), ("2", "b")];
        let heard = heard.0.lock().unwrap();
        assert_eq!(heard.iter().map(|(call, text)| (&**call, &**text)).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn a_flood_is_shown_by_its_ends_and_then_not_at_all() {
        let heard = Arc::new(Heard::default());
        let echo = OutputRelay::new(Arc::clone(&heard) as _);
        echo.begin("1");
        for _ in 0..100 {
            echo.hear(Stream::Output, format!("{}é", "x".repeat(100_000)).as_bytes());
        }
        let pieces = heard.0.lock().unwrap();
        assert!(pieces.iter().all(|(_, text)| text.len() <= MAX_PIECE && text.ends_with('é')));
        // A slow machine may see a new second or two begin.
        assert!(pieces.len() < 100 && pieces.len() >= MAX_PER_SECOND / MAX_PIECE, "{}", pieces.len());
    }

    #[test]
    fn a_new_second_has_new_room() {
        let began = Instant::now();
        let mut allowance = Allowance { since: began, shown: 0 };
        for (length, after, expect) in [
            (MAX_PER_SECOND, 0, true),
            (1, 10, false),
            (MAX_PER_SECOND, 1000, true),
            (1, 1999, false),
            (1, 2000, true),
        ] {
            let now = began + Duration::from_millis(after);
            assert_eq!(allowance.takes(length, now), expect, "{length} after {after} ms");
        }
    }
}
