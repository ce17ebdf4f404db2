//! An answer in the prescribed shape, read while it comes.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::Seal;
use crate::speech::Speech;

/// What has come of an answer.
#[derive(Debug, Default)]
pub(super) struct Reply {
    held: String,
    state: State,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    /// It may become anything.
    #[default]
    Open,
    /// It is text without a shape.
    Plain,
    /// It is surely the text of an answer, which is passed on.
    Answer,
    /// The text of the answer has ended; what follows closes the object.
    Closed,
    /// It is something else, which is read when it is whole.
    Held,
}

#[derive(Deserialize)]
struct Call {
    tool: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

impl Reply {
    /// One that has no shape.
    pub(super) fn plain() -> Self {
        Self { held: String::new(), state: State::Plain }
    }

    /// Takes a piece.
    pub(super) fn push(&mut self, piece: &str, speech: &mut Speech) {
        match self.state {
            State::Plain => return speech.text(piece),
            State::Closed => return,
            State::Open | State::Answer | State::Held => self.held.push_str(piece),
        }
        if self.state == State::Open {
            match answer_begins(&self.held) {
                Some(Begins::At(place)) => {
                    self.held.drain(..place);
                    self.state = State::Answer;
                }
                Some(Begins::NotYet) => {}
                None => self.state = State::Held,
            }
        }
        if self.state == State::Answer {
            self.stream(speech);
        }
    }

    /// All has come.
    pub(super) fn finish(&mut self, speech: &mut Speech) {
        match self.state {
            State::Plain | State::Closed => {}
            // The answer was cut; what is left is a piece of an escape.
            State::Answer => speech.text(&std::mem::take(&mut self.held)),
            State::Open | State::Held => whole(&std::mem::take(&mut self.held), speech),
        }
    }

    /// Passes on what is whole of a JSON string, and holds an escape that is not.
    fn stream(&mut self, speech: &mut Speech) {
        let (mut end, mut is_closed) = (0, false);
        let bytes = self.held.as_bytes();
        while let Some(byte) = bytes.get(end) {
            match byte {
                b'"' => {
                    is_closed = true;
                    break;
                }
                b'\\' => match escape(&bytes[end..]) {
                    Some(length) => end += length,
                    None => break,
                },
                _ => end += 1,
            }
        }
        let text = self.held.get(..end).unwrap_or_default();
        // What the model wrote is passed on as it is if it is no JSON string, such as one with a bare line end.
        let decoded =
            serde_json::from_str::<String>(&format!("\"{text}\"")).unwrap_or_else(|_| text.to_owned());
        speech.text(&decoded);
        if is_closed {
            self.state = State::Closed;
            self.held.clear();
        } else {
            self.held.drain(..end);
        }
    }
}

enum Begins {
    /// The answer's text begins here.
    At(usize),
    /// More must come before it can be told.
    NotYet,
}

/// Whether this is the beginning of `{"answer": "`. `None` if it is surely not.
fn answer_begins(text: &str) -> Option<Begins> {
    let mut rest = text;
    for token in ["{", "\"answer\"", ":", "\""] {
        rest = rest.trim_start();
        match rest.strip_prefix(token) {
            Some(after) => rest = after,
            None if token.starts_with(rest) => return Some(Begins::NotYet),
            None => return None,
        }
    }
    Some(Begins::At(text.len() - rest.len()))
}

/// How long an escape is; `None` while it is not whole. Halves of a character beyond the basic plane come as two.
fn escape(bytes: &[u8]) -> Option<usize> {
    if *bytes.get(1)? != b'u' {
        return Some(2);
    }
    let digits = std::str::from_utf8(bytes.get(2..6)?).ok();
    let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
    if !matches!(unit, Some(0xd800..=0xdbff)) {
        return Some(6);
    }
    match (bytes.get(6), bytes.get(7)) {
        (None, _) | (Some(b'\\'), None) => None,
        (Some(b'\\'), Some(b'u')) => bytes.get(8..12).map(|_| 12),
        _ => Some(6),
    }
}

/// Reads an answer that is whole.
fn whole(text: &str, speech: &mut Speech) {
    let inner = unfenced(text.trim());
    if let Ok(call) = serde_json::from_str::<Call>(inner) {
        let index = speech.begin_call("", &call.tool, Seal::Open);
        return speech.arguments(index, call.arguments.as_ref().map_or("{}", |arguments| arguments.get()));
    }
    let value = serde_json::from_str::<Value>(inner).ok();
    if let Some(answer) = value.as_ref().and_then(|value| value.get("answer")) {
        return match answer.as_str() {
            Some(answer) => speech.text(answer),
            None => speech.text(&answer.to_string()),
        };
    }
    // A call that is no JSON is a call all the same: who carries it out tells the model what is wrong with it.
    if let Some((name, rest)) = broken_call(inner).filter(|_| value.is_none()) {
        let index = speech.begin_call("", &name, Seal::Open);
        return speech.arguments(index, rest);
    }
    speech.text(text);
}

/// Models put JSON between fences although they were told not to.
fn unfenced(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```") else { return text };
    let inner = inner.split_once('\n').map_or(inner, |(_, inner)| inner);
    inner.trim_end().strip_suffix("```").unwrap_or(inner).trim()
}

/// The name of a call that cannot be read to its end, and what follows it.
fn broken_call(text: &str) -> Option<(String, &str)> {
    let rest =
        text.strip_prefix('{')?.trim_start().strip_prefix("\"tool\"")?.trim_start().strip_prefix(':')?;
    let mut names = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let name = names.next()?.ok()?;
    let rest = rest.get(names.byte_offset()..)?.trim_start().strip_prefix(',').unwrap_or("").trim_start();
    let given =
        rest.strip_prefix("\"arguments\"").map(|rest| rest.trim_start().trim_start_matches(':').trim_start());
    // Without a single argument the rest must still not look like "no arguments".
    let given = given.unwrap_or(rest);
    Some((name, if given.is_empty() { "{" } else { given }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answered, Arguments};
    use proptest::prelude::*;

    fn read(pieces: &[&str]) -> Answered {
        let (mut reply, mut speech, mut answered) = (Reply::default(), Speech::new(0), Answered::default());
        for piece in pieces {
            reply.push(piece, &mut speech);
        }
        reply.finish(&mut speech);
        for event in speech.drain() {
            answered.take(event);
        }
        answered
    }

    #[test]
    fn answers_and_calls_are_told_apart() {
        let check = |text: &str, expect: Result<&str, (&str, &str)>| {
            let answered = read(&[text]);
            match expect {
                Ok(words) => {
                    assert_eq!((answered.text().as_str(), answered.calls().len()), (words, 0), "{text}");
                }
                Err((name, arguments)) => {
                    let calls = answered.calls();
                    assert_eq!((&*calls[0].name, calls[0].arguments.raw()), (name, arguments), "{text}");
                    assert_eq!((answered.text().as_str(), calls.len()), ("", 1), "{text}");
                }
            }
        };
        check(r#"{"answer": "a \"b\" \u00e4 \ud83d\ude00\n"}"#, Ok("a \"b\" ä 😀\n"));
        check(r#" { "answer" : "x" } "#, Ok("x"));
        check(r#"{"tool": "f", "arguments": {"a": 1}}"#, Err(("f", "{\"a\": 1}")));
        check(r#"{"arguments": {"a": 1}, "tool": "f"}"#, Err(("f", "{\"a\": 1}")));
        check(r#"{"tool": "f"}"#, Err(("f", "{}")));
        check("```json\n{\"tool\": \"f\", \"arguments\": {}}\n```", Err(("f", "{}")));
        check(r#"{"answer": {"a": 1}}"#, Ok("{\"a\":1}"));
        check("Sure, I can help.", Ok("Sure, I can help."));
        check(r#"{"other": 1}"#, Ok(r#"{"other": 1}"#));
        check("", Ok(""));
        check(r#"{"tool": "f", "arguments": {"a": "#, Err(("f", "{\"a\":")));
        check(r#"{"tool": "f", "#, Err(("f", "{")));
    }

    #[test]
    fn a_call_that_was_cut_is_malformed_and_not_lost() {
        let calls = read(&[r#"{"tool": "f", "arguments": {"a": "#]).calls();
        assert!(matches!(calls[0].arguments, Arguments::Malformed { .. }));
    }

    #[test]
    fn text_streams_only_when_it_is_surely_the_answer() {
        let (mut reply, mut speech) = (Reply::default(), Speech::new(0));
        reply.push("{\"ans", &mut speech);
        assert!(speech.drain().is_empty());
        reply.push("wer\": \"Hel", &mut speech);
        assert_eq!(speech.drain(), [crate::Event::Text("Hel".into())]);
        reply.push("lo\\", &mut speech);
        assert_eq!(speech.drain(), [crate::Event::Text("lo".into())]);
        reply.push("n\"}", &mut speech);
        assert_eq!(speech.drain(), [crate::Event::Text("\n".into())]);
    }

    proptest! {
        #[test]
        fn splitting_never_matters(text in "[a-z\"\\\\\n ä😀]{0,20}", cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8)) {
            let json = serde_json::json!({ "answer": &text }).to_string();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(json.len() + 1)).collect();
            places.retain(|place| json.is_char_boundary(*place));
            places.extend([0, json.len()]);
            places.sort_unstable();
            let pieces: Vec<&str> = places.windows(2).map(|pair| &json[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&pieces).text(), text);
        }

        #[test]
        fn no_text_is_too_odd(text in "[{}\":a-z\\\\u0-9 ]{0,30}", head in prop::sample::select(vec!["", "{\"answer\": \"", "{\"tool\": \""])) {
            let answered = read(&[head, &text]);
            prop_assert!(answered.calls().len() <= 1);
        }
    }
}
