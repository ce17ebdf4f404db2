//! Takes a skill's secrets out of everything that its processes say.

use std::borrow::Cow;

use metier_sandbox::{Sieve, Stream};
use metier_secret::{RedactedStream, Redactor};

/// Both streams of a call, each redacted in the pieces in which it comes.
pub(crate) struct Redaction {
    output: RedactedStream,
    error: RedactedStream,
}

impl Redaction {
    /// With nothing to hide there is nothing to do, and nothing is held back.
    pub(crate) fn new(redactor: &Redactor) -> Option<Self> {
        (!redactor.is_empty()).then(|| Self { output: redactor.stream(), error: redactor.stream() })
    }

    fn of(&mut self, stream: Stream) -> &mut RedactedStream {
        match stream {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.error,
        }
    }
}

impl Sieve for Redaction {
    fn pass<'a>(&mut self, stream: Stream, piece: &'a [u8]) -> Cow<'a, [u8]> {
        self.of(stream).push(piece)
    }

    fn rest(&mut self, stream: Stream) -> Vec<u8> {
        self.of(stream).finish()
    }
}
