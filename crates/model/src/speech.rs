//! What every adapter says in the same way: events in one order, whatever order a provider has.

use crate::message::made_up_id;
use crate::{Event, Seal, Stop, Usage};

/// Events of one answer as an adapter finds them. It numbers calls, makes up missing ids, ends every call, and puts usage
/// and end last, so that the same answer is the same events in every protocol.
#[derive(Debug)]
pub(crate) struct Speech {
    turn: usize,
    calls: u32,
    events: Vec<Event>,
    usage: Option<Usage>,
    stop: Option<Stop>,
    is_over: bool,
}

impl Speech {
    /// The answer to a history in which the model has spoken so often.
    pub(crate) fn new(turn: usize) -> Self {
        Self { turn, calls: 0, events: Vec::new(), usage: None, stop: None, is_over: false }
    }

    pub(crate) fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.events.push(Event::Text(text.to_owned()));
        }
    }

    pub(crate) fn reasoning(&mut self, text: &str, seal: Seal) {
        if !text.is_empty() || seal.is_final() {
            self.events.push(Event::Reasoning { text: text.to_owned(), seal });
        }
    }

    /// Begins a call and says its number.
    pub(crate) fn begin_call(&mut self, id: &str, name: &str, seal: Seal) -> u32 {
        let index = self.calls;
        self.calls += 1;
        let id = if id.is_empty() { made_up_id(self.turn, index) } else { id.to_owned() };
        self.events.push(Event::CallBegan { index, id, name: name.to_owned(), seal });
        index
    }

    pub(crate) fn arguments(&mut self, index: u32, fragment: &str) {
        if !fragment.is_empty() {
            self.events.push(Event::CallArguments { index, fragment: fragment.to_owned() });
        }
    }

    /// What is used so far; the last word counts.
    pub(crate) fn usage(&mut self, usage: Usage) {
        self.usage = Some(usage);
    }

    /// Why it ends. The end itself comes with [`Speech::end`], since usage may follow.
    pub(crate) fn stop(&mut self, stop: Stop) {
        self.stop = Some(stop);
    }

    pub(crate) fn has_stop(&self) -> bool {
        self.stop.is_some()
    }

    /// The answer is whole.
    pub(crate) fn end(&mut self) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        self.events.extend((0..self.calls).map(|index| Event::CallEnded { index }));
        self.events.extend(self.usage.map(Event::Usage));
        // A provider that says "stop" behind calls means that it waits for what comes of them.
        let stop = match self.stop.take() {
            None | Some(Stop::EndOfTurn) if self.calls > 0 => Stop::ToolCalls,
            Some(stop) => stop,
            None => Stop::EndOfTurn,
        };
        self.events.push(Event::End(stop));
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The events since the last time.
    pub(crate) fn drain(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_made_up_by_place() {
        let mut speech = Speech::new(3);
        speech.begin_call("", "a", Seal::Open);
        speech.begin_call("given", "b", Seal::Open);
        let ids: Vec<String> = speech
            .drain()
            .into_iter()
            .filter_map(|event| match event {
                Event::CallBegan { id, .. } => Some(id),
                _ => None,
            })
            .collect();
        assert_eq!(ids, ["metier-call-3-0", "given"]);
    }

    #[test]
    fn stop_behind_calls_means_calls() {
        let check = |calls: u32, stop: Option<Stop>, expect: Stop| {
            let mut speech = Speech::new(0);
            for index in 0..calls {
                assert_eq!(speech.begin_call("x", "a", Seal::Open), index);
            }
            if let Some(stop) = stop {
                speech.stop(stop);
            }
            speech.end();
            speech.end();
            let events = speech.drain();
            assert_eq!(events.last(), Some(&Event::End(expect)));
            assert_eq!(events.iter().filter(|event| matches!(event, Event::End(_))).count(), 1);
        };
        check(0, None, Stop::EndOfTurn);
        check(1, None, Stop::ToolCalls);
        check(1, Some(Stop::EndOfTurn), Stop::ToolCalls);
        check(1, Some(Stop::Length), Stop::Length);
        check(0, Some(Stop::ToolCalls), Stop::ToolCalls);
    }
}
