//! How far a session has come since its last request, read from the messages each time.

use metier_model::{Message, Part, Request, ToolCall, ToolOutcome};

/// The last request, and its last tool call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Progress<'a> {
    /// What the user wants.
    pub(crate) request: &'a str,
    /// The last call for it, with its result.
    pub(crate) last: Option<(&'a ToolCall, Option<&'a ToolOutcome>)>,
}

/// Reads the progress; `None` without a request.
///
/// A message with the role of the user is a request when it is the first one of all or follows an answer without calls. One
/// that follows results is a skill's text. The request is the first text of its message; what else is in it was put there
/// beside it.
pub(crate) fn progress(request: &Request) -> Option<Progress<'_>> {
    let mut found = None::<Progress<'_>>;
    let mut may_ask = true;
    for message in &request.messages {
        match &**message {
            Message::User(parts) => {
                let text = parts.iter().find_map(|part| match part {
                    Part::Text(text) => Some(&**text),
                    _ => None,
                });
                if let Some(text) = text.filter(|_| may_ask) {
                    found = Some(Progress { request: text, last: None });
                    may_ask = false;
                }
            }
            Message::Assistant(parts) => {
                let mut calls = parts.iter().filter_map(|part| match part {
                    Part::Call(call) => Some(call),
                    _ => None,
                });
                match (calls.next_back(), &mut found) {
                    (Some(call), Some(found)) => found.last = Some((call, None)),
                    (None, _) => may_ask = true,
                    (Some(_), None) => {}
                }
            }
            Message::Results(outcomes) => {
                if let Some((call, outcome)) = found.as_mut().and_then(|found| found.last.as_mut()) {
                    *outcome = outcomes.iter().find(|outcome| outcome.call_id == call.id).or(*outcome);
                }
            }
            // A kind of message that this planner does not know asks for nothing.
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_model::{Arguments, OutcomeStatus, Seal};

    fn call(id: &str) -> Message {
        let call =
            ToolCall { id: id.into(), name: "t".into(), arguments: Arguments::read("{}"), seal: Seal::Open };
        Message::Assistant(vec![Part::Call(call)])
    }

    fn result(id: &str) -> Message {
        let outcome = ToolOutcome {
            call_id: id.into(),
            name: "t".into(),
            text: "x".into(),
            status: OutcomeStatus::Done,
        };
        Message::Results(vec![outcome])
    }

    /// The request, the id of the last call, and whether it has a result.
    fn check(messages: Vec<Message>, expect: Option<(&str, &str, bool)>) {
        let request =
            Request { messages: messages.into_iter().map(Into::into).collect(), ..Request::default() };
        let found = progress(&request).map(|found| {
            let last = found.last.map(|(call, outcome)| (&*call.id, outcome.is_some()));
            (found.request, last.map_or("", |last| last.0), last.is_some_and(|last| last.1))
        });
        assert_eq!(found, expect);
    }

    #[test]
    fn the_last_request_is_the_one_that_nobody_answered_yet() {
        check(vec![], None);
        check(vec![Message::user("a")], Some(("a", "", false)));
        check(vec![Message::user("a"), call("1")], Some(("a", "1", false)));
        check(vec![Message::user("a"), call("1"), result("1")], Some(("a", "1", true)));
        check(
            vec![Message::user("a"), call("1"), result("1"), Message::user("skill")],
            Some(("a", "1", true)),
        );
        check(
            vec![Message::user("a"), call("1"), result("1"), Message::user("s"), call("2"), result("2")],
            Some(("a", "2", true)),
        );
        check(
            vec![Message::user("a"), call("1"), result("1"), Message::assistant("done"), Message::user("b")],
            Some(("b", "", false)),
        );
        check(vec![Message::user("a"), Message::user("note")], Some(("a", "", false)));
    }

    #[test]
    fn a_result_of_another_call_is_not_taken_for_it() {
        check(vec![Message::user("a"), call("1"), result("other")], Some(("a", "1", false)));
    }
}
