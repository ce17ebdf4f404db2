//! A whole answer, put together from its events.

use std::sync::Arc;

use crate::{Arguments, Event, Message, Part, Reasoning, Seal, Stop, ToolCall, Usage};

/// What a model answered, as far as it has come.
///
/// Nothing is lost on the way: a call whose arguments are no JSON is a call with [`Arguments::Malformed`].
///
/// ```
/// use metier_model::{Answered, Event, Stop};
///
/// let mut answered = Answered::default();
/// for event in [Event::Text("Hel".into()), Event::Text("lo".into()), Event::End(Stop::EndOfTurn)] {
///     answered.take(event);
/// }
/// assert_eq!(answered.text(), "Hello");
/// assert_eq!(answered.stop, Some(Stop::EndOfTurn));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answered {
    pieces: Vec<Piece>,
    /// What it used, if the provider said so.
    pub usage: Option<Usage>,
    /// Why it ended; `None` while it has not.
    pub stop: Option<Stop>,
}

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Reasoning { text: String, seal: Seal },
    Call { index: u32, id: String, name: String, arguments: String, seal: Seal },
}

impl Answered {
    /// Adds what happened.
    pub fn take(&mut self, event: Event) {
        match event {
            Event::Text(more) => match self.pieces.last_mut() {
                Some(Piece::Text(text)) => text.push_str(&more),
                _ => self.pieces.push(Piece::Text(more)),
            },
            Event::Reasoning { text: more, seal: new } => match self.pieces.last_mut() {
                Some(Piece::Reasoning { text, seal }) if !seal.is_final() => {
                    text.push_str(&more);
                    *seal = new;
                }
                _ => self.pieces.push(Piece::Reasoning { text: more, seal: new }),
            },
            Event::CallBegan { index, id, name, seal } => {
                self.pieces.push(Piece::Call { index, id, name, arguments: String::new(), seal });
            }
            Event::CallArguments { index, fragment } => {
                let call = self.pieces.iter_mut().rev().find_map(|piece| match piece {
                    Piece::Call { index: own, arguments, .. } if *own == index => Some(arguments),
                    _ => None,
                });
                if let Some(arguments) = call {
                    arguments.push_str(&fragment);
                }
            }
            Event::Usage(usage) => self.usage = Some(usage),
            Event::CallEnded { .. } | Event::Retrying { .. } => {}
            Event::End(stop) => self.stop = Some(stop),
        }
    }

    /// All of its text.
    pub fn text(&self) -> String {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The tools that it wants to be called, in order.
    pub fn calls(&self) -> Vec<ToolCall> {
        self.pieces.iter().filter_map(Piece::call).collect()
    }

    /// The answer as a message of the conversation, with all that its provider wants back.
    pub fn message(&self) -> Message {
        Message::Assistant(self.pieces.iter().filter_map(Piece::part).collect())
    }
}

impl Piece {
    fn call(&self) -> Option<ToolCall> {
        let Self::Call { id, name, arguments, seal, .. } = self else { return None };
        Some(ToolCall {
            id: id.as_str().into(),
            name: name.as_str().into(),
            arguments: Arguments::read(arguments),
            seal: seal.clone(),
        })
    }

    fn part(&self) -> Option<Part> {
        match self {
            Self::Text(text) if text.is_empty() => None,
            Self::Text(text) => Some(Part::Text(text.as_str().into())),
            Self::Reasoning { text, seal } => {
                Some(Part::Reasoning(Reasoning { text: Arc::from(text.as_str()), seal: seal.clone() }))
            }
            Self::Call { .. } => self.call().map(Part::Call),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;

    fn signed(signature: &str) -> Seal {
        Seal::Signed { by: Protocol::Anthropic, signature: signature.into() }
    }

    fn thought(text: &str, seal: Seal) -> Event {
        Event::Reasoning { text: text.into(), seal }
    }

    fn began(index: u32, name: &str) -> Event {
        Event::CallBegan { index, id: format!("c{index}"), name: name.into(), seal: Seal::Open }
    }

    fn arguments(index: u32, fragment: &str) -> Event {
        Event::CallArguments { index, fragment: fragment.into() }
    }

    fn folded(events: Vec<Event>) -> Answered {
        let mut answered = Answered::default();
        for event in events {
            answered.take(event);
        }
        answered
    }

    #[test]
    fn pieces_of_calls_that_overlap_find_their_call() {
        let answered = folded(vec![
            began(0, "a"),
            began(1, "b"),
            arguments(1, "{\"y\":"),
            arguments(0, "{\"x\":1}"),
            arguments(1, "2}"),
            Event::CallEnded { index: 0 },
            Event::CallEnded { index: 1 },
        ]);
        let calls = answered.calls();
        assert_eq!(
            calls.iter().map(|call| call.arguments.raw()).collect::<Vec<_>>(),
            ["{\"x\":1}", "{\"y\":2}"]
        );
    }

    #[test]
    fn thoughts_are_apart_where_a_seal_ends_them() {
        let answered = folded(vec![
            thought("one ", Seal::Open),
            thought("two", Seal::Open),
            thought("", signed("s1")),
            thought("three", Seal::Open),
            Event::Text("x".into()),
        ]);
        let reasoning = |text: &str, seal: Seal| Part::Reasoning(Reasoning { text: text.into(), seal });
        assert_eq!(
            answered.message(),
            Message::Assistant(vec![
                reasoning("one two", signed("s1")),
                reasoning("three", Seal::Open),
                Part::Text("x".into())
            ])
        );
    }

    #[test]
    fn malformed_arguments_stay_a_call() {
        let calls = folded(vec![began(0, "a"), arguments(0, "{\"x\": ")]).calls();
        assert!(matches!(&calls[0].arguments, Arguments::Malformed { raw, .. } if &**raw == "{\"x\": "));
    }
}
