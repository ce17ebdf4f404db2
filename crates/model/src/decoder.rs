//! From the bytes of a stream to events, without a network.

use std::fmt;

use crate::speech::Speech;
use crate::sse::{ServerEvent, Sse};
use crate::wire::{self, Decode};
use crate::{Event, Protocol};

/// The longest answer, with all that stands around its text on the wire. The longest that models can write have some
/// 128,000 tokens, each in an event of 300 bytes: 40 MB. A server that never ends must not eat the memory.
const MAX_ANSWER: usize = 128 << 20;

/// Reads an answer in one of the protocols from its bytes, wherever they are split.
///
/// ```
/// use metier_model::{Decoder, Event, Protocol, Stop};
///
/// let mut decoder = Decoder::new(Protocol::OpenAi, 0);
/// let mut events = Vec::new();
/// decoder.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n", &mut events)?;
/// decoder.push(b"\ndata: [DONE]\n\n", &mut events)?;
/// assert_eq!(events, [Event::Text("Hi".into()), Event::End(Stop::EndOfTurn)]);
/// # Ok::<(), metier_model::DecodeError>(())
/// ```
pub struct Decoder {
    sse: Sse,
    found: Vec<ServerEvent>,
    wire: Box<dyn Decode>,
    speech: Speech,
    bytes: usize,
}

/// Why bytes are no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// They are not what the protocol says.
    #[error("{0}")]
    Garbled(String),
    /// The provider tells of a fault.
    #[error("{message}")]
    Told {
        /// The status that the fault would have had before the answer began.
        status: u16,
        /// What the provider says, as it says it: a key may be in it.
        message: String,
    },
}

impl Decoder {
    /// A reader for the answer to a history in which the model has spoken `turn` times; ids that are made up depend on it.
    pub fn new(protocol: Protocol, turn: usize) -> Self {
        Self {
            sse: Sse::default(),
            found: Vec::new(),
            wire: wire::decoder(protocol),
            speech: Speech::new(turn),
            bytes: 0,
        }
    }

    /// Takes bytes of a stream. What came before a fault is among the events.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), DecodeError> {
        // Nothing follows the end, whatever a server sends behind it.
        if self.is_over() {
            return Ok(());
        }
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > MAX_ANSWER {
            return Err(DecodeError::Garbled(format!("the answer has more than {MAX_ANSWER} bytes")));
        }
        let pushed = self.sse.push(bytes, &mut self.found);
        self.decode(events)?;
        // Also when it came with the end in one piece: where bytes are split changes nothing.
        pushed.or_else(
            |error| {
                if self.is_over() { Ok(()) } else { Err(DecodeError::Garbled(error.to_string())) }
            },
        )
    }

    /// The stream has ended. [`Decoder::is_over`] says whether the answer has.
    pub fn finish(&mut self, events: &mut Vec<Event>) -> Result<(), DecodeError> {
        self.decode(events)?;
        // A line that breaks off is no event, and the answer is not over then: it was cut, which is another thing than a
        // server that does not keep to its protocol.
        self.found.extend(std::mem::take(&mut self.sse).finish().ok().flatten());
        match self.decode(events) {
            Ok(()) | Err(DecodeError::Garbled(_)) => {}
            Err(told) => return Err(told),
        }
        self.wire.close(&mut self.speech);
        events.extend(self.speech.drain());
        Ok(())
    }

    /// Takes an answer that is no stream, from a server that does not stream.
    pub(crate) fn whole(&mut self, data: String, events: &mut Vec<Event>) -> Result<(), DecodeError> {
        self.found.push(ServerEvent { event: None, data });
        self.finish(events)
    }

    /// Whether the answer is whole and said so.
    pub fn is_over(&self) -> bool {
        self.speech.is_over()
    }

    /// Whether it gave its reason to end. Only numbers can follow.
    pub(crate) fn has_stop(&self) -> bool {
        self.speech.has_stop()
    }

    fn decode(&mut self, events: &mut Vec<Event>) -> Result<(), DecodeError> {
        for event in self.found.drain(..) {
            if self.speech.is_over() {
                break;
            }
            let taken = self.wire.take(&event, &mut self.speech);
            events.extend(self.speech.drain());
            taken?;
        }
        Ok(())
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("speech", &self.speech).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_behind_the_end_changes_nothing_wherever_it_is_split() {
        let answer = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        let whole = [answer.as_slice(), b"data: \xff\n\ndata: {oops\n\n"].concat();
        for cut in [whole.len(), answer.len(), answer.len() + 3] {
            let (mut decoder, mut events) = (Decoder::new(Protocol::OpenAi, 0), Vec::new());
            for piece in [&whole[..cut], &whole[cut..]] {
                assert_eq!(decoder.push(piece, &mut events), Ok(()), "{cut}");
            }
            assert_eq!(decoder.finish(&mut events), Ok(()));
            assert!(decoder.is_over() && events.len() == 2, "{events:?}");
        }
    }

    #[test]
    fn an_answer_that_never_ends_is_refused() {
        let piece = format!(":{}\n", "x".repeat((1 << 20) - 2));
        let (mut decoder, mut events) = (Decoder::new(Protocol::Anthropic, 0), Vec::new());
        for _ in 0..MAX_ANSWER >> 20 {
            assert_eq!(decoder.push(piece.as_bytes(), &mut events), Ok(()));
        }
        let error = decoder.push(b"\n", &mut events).unwrap_err();
        assert_eq!(error.to_string(), "the answer has more than 134217728 bytes");
    }
}
