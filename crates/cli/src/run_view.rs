//! A run as it happens: the model's words on standard output, what is done for them on standard error; or one event a line.

use crate::event_json::happening;
use crate::event_line::{Style, Told, lines};
use crate::json_text;
use crate::output::{Output, Tone, tinted};
use crate::passing_line;
use crate::question;
use crate::screen;
use metier_agent::{EmittedEvent, LimitHit, Observer, OnLimit, RetryDecision, StreamDelta, UncertainCall};
use metier_diagnostic::Paint;
use metier_skill::Tool;
use metier_store::{EventKind, EventQuery, EventSeverity, FailedPart, SessionId, Store, StoreError, Verdict};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shows a run.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about whoever looks on")]
pub(crate) struct RunView {
    is_json: bool,
    /// Whether the answer alone is said, and not what is done for it.
    is_quiet: bool,
    /// Whether somebody can be asked.
    can_ask: bool,
    /// What is done about calls that may have run already, where the user has said so beforehand.
    decided: Option<RetryDecision>,
    paint: Paint,
    /// Whether what programs write is shown while they run: to somebody at a terminal.
    is_live: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The conversations that are under way: the user's, and those of its children.
    talks: HashMap<SessionId, Talking>,
    /// Whether the answer's last line has no end yet: something else must not stand behind it.
    is_open: bool,
    /// Whether the answer's last piece ended with a carriage return: with the line feed that may follow it ends a line.
    is_returning: bool,
    /// The last line of what a program writes, as far as it has come.
    written: String,
}

/// What is known of one conversation.
#[derive(Default)]
struct Talking {
    /// How many others are above it.
    depth: usize,
    told: Told,
    /// Calls that activate a skill or begin a child, which say so themselves.
    activations: Vec<String>,
}

/// How much of a line without an end is kept: more than any terminal shows.
const MAX_LINE: usize = 4 * 1024;

impl State {
    fn talking(&mut self, session: SessionId, parent: Option<SessionId>) -> &mut Talking {
        let above = parent.and_then(|parent| self.talks.get(&parent)).map(|talking| talking.depth);
        // A child whose parent was not seen is a child all the same.
        let depth = parent.map_or(0, |_| above.unwrap_or(0) + 1);
        self.talks.entry(session).or_insert_with(|| Talking { depth, ..Talking::default() })
    }

    /// A piece of the answer as it is shown. A table with lines that end as other systems end theirs can be kept in a file as it is.
    fn shown(&mut self, piece: &str) -> String {
        let whole =
            if std::mem::take(&mut self.is_returning) { format!("\r{piece}") } else { piece.to_owned() };
        let text = whole.strip_suffix('\r');
        self.is_returning = text.is_some();
        screen::harmless_lines(text.unwrap_or(&whole))
    }

    /// Takes what a program wrote; the line that it is at now, or the last one that it ended. A carriage return begins a line
    /// anew, as programs that count use it.
    fn takes(&mut self, text: &str) -> &str {
        if self.written.len() > MAX_LINE || self.written.ends_with(['\n', '\r']) {
            self.written.clear();
        }
        self.written.push_str(text);
        let whole = self.written.trim_end();
        whole.rfind(['\n', '\r']).map_or(whole, |at| &whole[at + 1..])
    }
}

impl Talking {
    /// Whether somebody who looks on wants to know. The answer was shown while it came, the request is the user's own, the end is
    /// the command's to say, and what went as it should needs no word of the gate: `metier log` has it all. Of a child it is enough
    /// to know what it calls and what goes wrong: its parent says when it begins and ends.
    fn is_news(&mut self, kind: &EventKind) -> bool {
        let is_child = self.depth > 0;
        match kind {
            EventKind::Answered(_)
            | EventKind::Started(_)
            | EventKind::Ended(_)
            | EventKind::Offered { .. }
            // Whoever goes on with a conversation has said so.
            | EventKind::Resumed { .. }
            // Whoever was asked has just said so.
            | EventKind::Agreed { .. }
            | EventKind::Remembered { .. }
            | EventKind::Recalled { .. }
            | EventKind::Noted { .. } => false,
            // It ends the run, and the end says why.
            EventKind::Failed { at: FailedPart::Model, .. } if !is_child => false,
            EventKind::Used(_) | EventKind::Partial { .. } | EventKind::Interrupted { .. } if is_child => {
                false
            }
            // Its own skill is what its parent named when it began.
            EventKind::Activated(activated) if is_child => !activated.message.is_empty(),
            EventKind::Diagnosed { severity, .. } if is_child => *severity != Some(EventSeverity::Info),
            // What was refused to a call is what came of the call.
            EventKind::Decided(decided) => decided.verdict != Verdict::Allow && decided.call.is_none(),
            EventKind::Called(called) if says_so_itself(&called.tool) => {
                self.activations.push(called.id.clone());
                false
            }
            EventKind::Finished(finished) => {
                let known = self.activations.iter().position(|id| *id == finished.id);
                let is_call = known.map(|at| self.activations.remove(at)).is_none();
                finished.is_error || (is_call && !is_child)
            }
            _ => true,
        }
    }
}

/// Whether what a tool does is told by other events.
fn says_so_itself(tool: &str) -> bool {
    Tool::named(tool) == Some(Tool::Skill) || tool == "hand_back" || tool.starts_with("handoff_to_")
}

impl RunView {
    pub(crate) fn new(output: &Output, can_ask: bool, decided: Option<RetryDecision>) -> Self {
        let (is_json, is_quiet, paint) = (output.is_json(), output.is_quiet(), output.paint());
        Self {
            is_json,
            is_quiet,
            can_ask,
            decided,
            paint,
            is_live: passing_line::is_possible(),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns who works in the children of a conversation that goes on: another process showed how they began.
    pub(crate) fn recall(&self, store: &Store, session: SessionId) -> Result<(), StoreError> {
        let mut open = vec![(session, None)];
        let mut seen = HashSet::from([session]);
        while let Some((session, parent)) = open.pop() {
            let events = store.events(&EventQuery::of(session).kind("child_began"))?;
            let mut state = self.state();
            let talking = state.talking(session, parent);
            for event in &events {
                let EventKind::ChildBegan { child, .. } = &event.kind else { continue };
                lines(&event.kind, &mut talking.told);
                // A stranger's file could say that two sessions are each other's children.
                if seen.insert(*child) {
                    open.push((*child, Some(session)));
                }
            }
        }
        Ok(())
    }

    /// Ends the answer's line, if it has none.
    pub(crate) fn close(&self) {
        close(&mut self.state());
    }
}

fn close(state: &mut State) {
    passing_line::clear();
    if std::mem::take(&mut state.is_open) {
        let _ = screen::lock().out(b"\n");
    }
}

impl Observer for RunView {
    fn event(&self, event: &EmittedEvent) {
        if self.is_json {
            // Nobody reads what cannot be written; the run goes on, since its journal is elsewhere.
            screen::out_line(json_text::line(&happening(event)));
            return;
        }
        let mut state = self.state();
        passing_line::clear();
        state.written.clear();
        let talking = state.talking(event.session, event.parent);
        let mut shown = lines(&event.kind, &mut talking.told);
        let (mut is_news, mut indent) = (talking.is_news(&event.kind), "  ".repeat(talking.depth));
        if let (EventKind::Resumed { .. }, Some(parent)) = (&event.kind, event.parent) {
            // Its parent says when it begins and ends, and nobody says that it goes on.
            let known = state.talks.get(&parent).and_then(|above| above.told.going_on(event.session));
            is_news = known.is_some();
            shown = known.into_iter().collect();
            indent.truncate(indent.len().saturating_sub(2));
        }
        if matches!(event.kind, EventKind::Ended(_)) && event.parent.is_some() {
            state.talks.remove(&event.session);
        }
        if self.is_quiet || !is_news {
            return;
        }
        for line in shown.iter().filter(|line| !matches!(line.style, Style::Answer | Style::Request)) {
            close(&mut state);
            let tone = if line.style == Style::Step { Some(Tone::Dim) } else { line.style.tone() };
            let text = tone.map_or_else(|| line.text.clone(), |tone| tinted(self.paint, tone, &line.text));
            screen::err_line(format_args!("{indent}{text}"));
        }
    }

    fn delta(&self, piece: StreamDelta<'_>) {
        if self.is_json {
            if let StreamDelta::Text(text) = piece {
                screen::out_line(json_text::line(&json!({ "type": "piece", "text": text })));
            }
            return;
        }
        match piece {
            StreamDelta::Text(text) if !text.is_empty() => {
                let mut state = self.state();
                let shown = state.shown(text);
                passing_line::clear();
                state.is_open = !shown.ends_with('\n');
                let _ = screen::lock().out(shown.as_bytes());
            }
            StreamDelta::Output { text, .. } if !self.is_quiet && self.is_live => {
                let mut state = self.state();
                // A line of the answer that has no end yet would be taken for ours.
                if state.is_open {
                    close(&mut state);
                }
                passing_line::show(state.takes(text), self.paint);
            }
            _ => {}
        }
    }

    fn limit_hit(&self, hit: &LimitHit) -> OnLimit {
        if !self.can_ask {
            return OnLimit::Stop;
        }
        close(&mut self.state());
        let asked = question::is_yes(vec![format!("{hit}; continue with as much again?")]);
        if asked.unwrap_or(false) { OnLimit::Extend } else { OnLimit::Stop }
    }

    fn uncertain_call(&self, call: &UncertainCall) -> RetryDecision {
        match self.decided {
            Some(decided) => return decided,
            None if !self.can_ask => return RetryDecision::Unanswered,
            None => self.close(),
        }
        let lines = vec![call.action.clone(), "may already have run; run it again?".to_owned()];
        match question::is_yes(lines) {
            Ok(true) => RetryDecision::Retry,
            Ok(false) => RetryDecision::Skip,
            Err(_) => RetryDecision::Unanswered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_lines_stay_and_nothing_else_moves_the_cursor() {
        let mut state = State::default();
        assert_eq!(state.shown("a,b\r\n1,2\r"), "a,b\r\n1,2");
        assert_eq!(state.shown("\n3\n\n"), "\r\n3\n\n");
        assert_eq!(state.shown("over\rwritten\u{1b}[2J"), "over\\rwritten\\u{1b}[2J");
    }

    #[test]
    fn the_line_that_a_program_is_at_is_shown_whole() {
        let mut state = State::default();
        for (piece, expect) in [
            ("one\ntw", "tw"),
            ("o", "two"),
            ("\n", "two"),
            ("three\nfour\n", "four"),
            ("10 %\r", "10 %"),
            ("20 %\r30", "30"),
            (" %", "30 %"),
        ] {
            assert_eq!(state.takes(piece), expect, "{piece:?}");
        }
        state.takes(&"x".repeat(2 * MAX_LINE));
        assert_eq!(state.takes("y"), "y", "a line without an end is not kept for good");
    }
}
