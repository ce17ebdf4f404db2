//! What a program writes while it runs, for whoever looks on.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use metier_sandbox::Stream;

use crate::bridge::lock;
use crate::watch::{Piece, Watch};

/// The longest piece that is shown at once, in bytes: a screen full. Of more only the end is shown, which is what somebody who
/// looks on would see anyway.
const MOST_AT_ONCE: usize = 4 * 1024;

/// How much is shown in one second, in bytes. A program that writes faster writes for nobody's eyes, and the work waits while it
/// is shown.
const MOST_A_SECOND: usize = 64 * 1024;

/// Passes on what a program writes while it runs. Nothing depends on it: the result has everything, as far as results go.
pub(crate) struct Echo {
    watch: Arc<dyn Watch>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The call whose program runs. Programs run one after the other.
    call: String,
    output: Unfinished,
    error: Unfinished,
    allowance: Allowance,
}

/// The beginning of a character that has not come whole.
#[derive(Default)]
struct Unfinished(Vec<u8>);

/// How much may be shown yet.
struct Allowance {
    since: Instant,
    shown: usize,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { since: Instant::now(), shown: 0 }
    }
}

impl Echo {
    pub(crate) fn new(watch: Arc<dyn Watch>) -> Self {
        Self { watch, state: Mutex::default() }
    }

    /// Another call begins.
    pub(crate) fn begin(&self, call: &str) {
        *lock(&self.state) = State { call: call.to_owned(), ..State::default() };
    }

    /// Passes a piece on, as far as there is room for it.
    pub(crate) fn hear(&self, stream: Stream, bytes: &[u8]) {
        let mut state = lock(&self.state);
        let unfinished = match stream {
            Stream::Output => &mut state.output,
            Stream::Error => &mut state.error,
        };
        let text = unfinished.text(bytes);
        let text = last(&text, MOST_AT_ONCE);
        if !text.is_empty() && state.allowance.takes(text.len(), Instant::now()) {
            self.watch.piece(Piece::Output { call: &state.call, text });
        }
    }
}

impl Unfinished {
    /// The whole characters of what was left and what came; the beginning of one that is cut waits for its end.
    fn text(&mut self, bytes: &[u8]) -> String {
        self.0.extend_from_slice(bytes);
        let rest = match std::str::from_utf8(&self.0) {
            // No length means that the text ends within a character.
            Err(error) if error.error_len().is_none() => self.0.split_off(error.valid_up_to()),
            // What can never become a character is replaced. Behind it a cut one may stand, which is replaced, too: it is
            // looked at and thrown away.
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
        self.shown <= MOST_A_SECOND
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

    impl Watch for Heard {
        fn piece(&self, piece: Piece<'_>) {
            if let Piece::Output { call, text } = piece {
                self.0.lock().unwrap().push((call.to_owned(), text.to_owned()));
            }
        }
    }

    #[test]
    fn a_character_that_comes_in_two_pieces_is_shown_whole_and_streams_do_not_mix() {
        let heard = Arc::new(Heard::default());
        let echo = Echo::new(Arc::clone(&heard) as _);
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
        let echo = Echo::new(Arc::clone(&heard) as _);
        echo.begin("1");
        for _ in 0..100 {
            echo.hear(Stream::Output, format!("{}é", "x".repeat(100_000)).as_bytes());
        }
        let pieces = heard.0.lock().unwrap();
        assert!(pieces.iter().all(|(_, text)| text.len() <= MOST_AT_ONCE && text.ends_with('é')));
        // A slow machine may see a new second or two begin.
        assert!(pieces.len() < 100 && pieces.len() >= MOST_A_SECOND / MOST_AT_ONCE, "{}", pieces.len());
    }

    #[test]
    fn a_new_second_has_new_room() {
        let began = Instant::now();
        let mut allowance = Allowance { since: began, shown: 0 };
        for (length, after, expect) in [
            (MOST_A_SECOND, 0, true),
            (1, 10, false),
            (MOST_A_SECOND, 1000, true),
            (1, 1999, false),
            (1, 2000, true),
        ] {
            let now = began + Duration::from_millis(after);
            assert_eq!(allowance.takes(length, now), expect, "{length} after {after} ms");
        }
    }
}
