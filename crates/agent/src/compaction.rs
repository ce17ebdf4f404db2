//! Making a conversation shorter when it nears what its model can hold in mind.
//!
//! ```text
//! messages ─► measure ─► plan ─► enough? ─► exchanged texts ──────────────────────┐
//!             how full?  which texts,  └► no: a summary of what is before the tail ┴► Compacted ─► shorten
//!                        which tail
//! ```
//!
//! What holds after each:
//!
//! - Texts of active skills are what they were, byte for byte; of finished ones a breadcrumb is left.
//! - A call and its result stay together or go together, and what stays keeps its order.
//! - Outputs of tools are cleared before anything else, the oldest first, never those of the last messages, and what stands there
//!   instead says how much it was.
//! - The frame with the catalogue is not a message, and stays.
//! - The event has every byte that is new, so the same events make the same messages again.
//!
//! Before the first one no byte of an earlier message ever changes: what a provider keeps of a conversation holds.

pub(crate) mod summary;

use std::sync::Arc;

use metier_activation::breadcrumb;
use metier_model::{Message, Part};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::history::{History, Measured, SkillState, SkillText, bytes};

/// The context window if none is configured: what most models that people run today have at least. One that has less says
/// so when it refuses a request, and is then given a shorter one.
pub const DEFAULT_WINDOW: u64 = 128_000;

/// From which part of the window on a conversation is made shorter, in percent. The rest is for the answer, and for what an estimate
/// is wrong by.
const SHARE: u8 = 80;

/// What of that part it is made shorter to, in percent: each time costs whatever the provider kept of the messages, so the next
/// time should be far off.
const GOAL: u64 = 60;

/// How many messages at the end stay as they are, if they fit: what the model is working with.
const KEPT: usize = 8;

/// The smallest output that is cleared, in bytes. Its replacement takes as much.
const MIN_OUTPUT: usize = 256;

/// How many messages must have come since the last time: a conversation whose last message is larger than the goal would be made
/// shorter in vain before every turn.
const PAUSE: usize = 3;

/// Bytes of a token where no provider has counted yet, and between which bounds its count is believed.
const DEFAULT_TOKEN_BYTES: u64 = 4;
const MIN_TOKEN_BYTES: u64 = 2;
const MAX_TOKEN_BYTES: u64 = 8;

/// How many finished skills are named after a cut. A conversation that has used more needs a summary, not a list.
const CRUMBS: usize = 64;

/// When a conversation is made shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// The context window in tokens; [`DEFAULT_WINDOW`] if it is unknown.
    pub window: Option<u64>,
    /// From which part of it on, in percent.
    pub share: u8,
}

impl Default for Compaction {
    fn default() -> Self {
        Self { window: None, share: SHARE }
    }
}

impl Compaction {
    /// The window in tokens.
    pub fn window(&self) -> u64 {
        self.window.unwrap_or(DEFAULT_WINDOW)
    }

    /// From how many tokens on it is made shorter.
    pub fn trigger(&self) -> u64 {
        self.window().saturating_mul(u64::from(self.share.clamp(10, 95))) / 100
    }

    /// To how many.
    pub(crate) fn goal(&self) -> u64 {
        self.trigger() * GOAL / 100
    }
}

/// What bytes are in tokens, for one conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    /// Bytes of the prefix.
    frame: u64,
    counted: Option<(u64, u64)>,
}

impl Measure {
    /// By what a provider has counted, where it has.
    pub(crate) fn new(frame: u64, measured: Option<Measured>) -> Self {
        let counted = measured.map(|Measured { bytes, tokens }| {
            let bytes = bytes.saturating_add(frame).max(1);
            (tokens.clamp(bytes / MAX_TOKEN_BYTES, bytes / MIN_TOKEN_BYTES).max(1), bytes)
        });
        Self { frame, counted }
    }

    /// The tokens of a request with so many bytes of messages.
    pub(crate) fn tokens(&self, bytes: u64) -> u64 {
        let (tokens, of) = self.counted.unwrap_or((1, DEFAULT_TOKEN_BYTES));
        bytes.saturating_add(self.frame).saturating_mul(tokens).div_ceil(of)
    }

    /// How many bytes of messages so many tokens have room for. A frame that takes nearly all of it leaves a tenth all the same:
    /// without any messages there is no conversation.
    pub(crate) fn room(&self, tokens: u64) -> usize {
        let (per, of) = self.counted.unwrap_or((1, DEFAULT_TOKEN_BYTES));
        let all = tokens.saturating_mul(of) / per.max(1);
        usize::try_from(all.saturating_sub(self.frame).max(all / 10)).unwrap_or(usize::MAX)
    }
}

/// How short it is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Bytes that the messages may take.
    pub(crate) room: usize,
    /// Bytes of it that a summary may take.
    pub(crate) reserve: usize,
    pub(crate) depth: Depth,
}

/// How far it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// As far as it takes to fit.
    AsNeeded,
    /// To a summary in any case: the user asked for it.
    Summary,
}

/// What is to be done, without the summary.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    exchanged: Vec<Exchanged>,
    /// How many of the first messages go.
    pub(crate) cut: usize,
    /// How many outputs are cleared.
    pub(crate) cleared: usize,
    messages: usize,
}

/// A text that another one takes the place of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Exchanged {
    message: usize,
    piece: usize,
    text: String,
}

/// What is stored of it: everything that is new.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Stored {
    exchanged: Vec<Exchanged>,
    /// The texts of the first message, if something was cut.
    head: Vec<String>,
    /// How many of the last messages stay, where something was cut.
    kept: Option<usize>,
}

/// Whether something was cut away, and not only exchanged.
pub(crate) fn cuts(stored: &Value) -> bool {
    !stored["kept"].is_null()
}

impl Plan {
    /// What is to be done; `None` where there is nothing that could be.
    pub(crate) fn new(history: &History, target: Target) -> Option<Self> {
        let messages = &history.messages;
        let sizes: Vec<usize> = messages.iter().map(|message| bytes(message)).collect();
        let extent = usize::try_from(history.extent().bytes).unwrap_or(usize::MAX);
        let mut plan = Self { messages: messages.len(), ..Self::default() };
        let mut saved = plan.leave_crumbs(history, 0);
        let fresh = tail(messages, &sizes, usize::MAX);
        saved += plan.clear(history, 0..fresh, extent.saturating_sub(target.room).saturating_sub(saved));
        let is_enough = extent.saturating_sub(saved) <= target.room;
        if target.depth == Depth::AsNeeded && is_enough {
            return (!plan.exchanged.is_empty()).then_some(plan);
        }
        let open = extent - sizes.iter().sum::<usize>();
        let active: usize = active(history).map(|skill| skill.text.len()).sum();
        let words = history.words.as_ref().map_or(0, |words| words.len());
        let taken = open + active + words + crumbs(history).map_or(0, |crumbs| crumbs.len()) + target.reserve;
        let start = tail(messages, &sizes, target.room.saturating_sub(taken));
        // A summary of one message would take its place and be no shorter.
        if start < 2 {
            return (!plan.exchanged.is_empty()).then_some(plan);
        }
        let mut plan = Self { messages: messages.len(), cut: start, ..Self::default() };
        let saved = plan.leave_crumbs(history, start);
        let left = taken + sizes.get(start..).into_iter().flatten().sum::<usize>() - saved;
        // The calls of the current turn are the last to have results, and keep them.
        let last = messages.iter().rposition(|message| matches!(**message, Message::Results(_)));
        plan.clear(history, start..last.unwrap_or(start), left.saturating_sub(target.room));
        Some(plan)
    }

    /// Finished skills become breadcrumbs where they stand. Says how many bytes that saves.
    fn leave_crumbs(&mut self, history: &History, from: usize) -> usize {
        let mut saved = 0;
        for skill in history.skills.iter().filter(|skill| skill.state == SkillState::Finished) {
            let Some((message, piece)) = place(history, &skill.text).filter(|(at, _)| *at >= from) else {
                continue;
            };
            let text = breadcrumb(&skill.name);
            saved += skill.text.len().saturating_sub(text.len());
            self.exchanged.push(Exchanged { message, piece, text });
        }
        saved
    }

    /// Clears outputs, the oldest first, until so many bytes are saved.
    fn clear(&mut self, history: &History, among: std::ops::Range<usize>, enough: usize) -> usize {
        let mut saved = 0;
        for at in among {
            let Some(Message::Results(outcomes)) = history.messages.get(at).map(|message| &**message) else {
                continue;
            };
            for (piece, outcome) in outcomes.iter().enumerate() {
                if saved >= enough {
                    return saved;
                }
                let is_skills = history.skills.iter().any(|skill| Arc::ptr_eq(&skill.text, &outcome.text));
                if outcome.text.len() < MIN_OUTPUT || is_skills {
                    continue;
                }
                let text = cleared(&outcome.text);
                saved += outcome.text.len().saturating_sub(text.len());
                self.exchanged.push(Exchanged { message: at, piece, text });
                self.cleared += 1;
            }
        }
        saved
    }

    /// As it is stored, with the summary of what is cut.
    pub(crate) fn stored(self, history: &History, summary: Option<String>) -> Value {
        let stored = match summary {
            Some(summary) if self.cut > 0 => Stored {
                head: head(history, self.cut, summary),
                kept: Some(self.messages - self.cut),
                exchanged: self.exchanged,
            },
            _ => Stored { exchanged: self.exchanged, ..Stored::default() },
        };
        serde_json::to_value(stored).unwrap_or_default()
    }
}

/// Whether it is time.
pub(crate) fn is_due(history: &History, measure: &Measure, compaction: &Compaction) -> bool {
    history.since >= PAUSE && measure.tokens(history.extent().bytes) >= compaction.trigger()
}

/// The text that replaces an output.
fn cleared(text: &str) -> String {
    format!(
        "[output cleared to make room: it had {} characters; call the tool again if it is needed]",
        text.chars().count()
    )
}

/// The breadcrumbs of finished skills, as they stand at the beginning after a cut.
fn crumbs(history: &History) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for skill in history.skills.iter().filter(|skill| skill.state != SkillState::Active) {
        let is_active = active(history).any(|other| other.name == skill.name);
        if !is_active && !names.contains(&skill.name.as_str()) {
            names.push(&skill.name);
        }
    }
    let more = names.len().saturating_sub(CRUMBS);
    let mut crumbs: Vec<String> = names.iter().skip(more).map(|name| breadcrumb(name)).collect();
    if more > 0 {
        crumbs.insert(0, format!("[{more} more skills were activated before these]"));
    }
    (!crumbs.is_empty()).then(|| crumbs.join("\n"))
}

/// The texts of the first message after a cut.
fn head(history: &History, cut: usize, summary: String) -> Vec<String> {
    let mut head = vec![summary];
    head.extend(crumbs(history));
    let is_cut = |text: &Arc<str>| place(history, text).is_some_and(|(at, _)| at < cut);
    let texts = active(history).map(|skill| &skill.text).chain(&history.words);
    head.extend(texts.filter(|text| is_cut(text)).map(ToString::to_string));
    head
}

fn active(history: &History) -> impl Iterator<Item = &SkillText> {
    history.skills.iter().filter(|skill| skill.state == SkillState::Active)
}

/// The position of a text: message and part.
fn place(history: &History, text: &Arc<str>) -> Option<(usize, usize)> {
    let is_it = |part: &Part| matches!(part, Part::Text(own) if Arc::ptr_eq(own, text));
    let piece = |message: &Arc<Message>| match &**message {
        Message::User(parts) => parts.iter().position(is_it),
        Message::Results(outcomes) => outcomes.iter().position(|outcome| Arc::ptr_eq(&outcome.text, text)),
        _ => None,
    };
    history.messages.iter().enumerate().rev().find_map(|(at, message)| Some((at, piece(message)?)))
}

/// Where the tail begins: at least the last message with what belongs to it, at most so many messages and bytes. A result is never
/// without its call.
fn tail(messages: &[Arc<Message>], sizes: &[usize], most: usize) -> usize {
    let mut start = messages.len();
    let mut taken = 0;
    while start > 0 {
        let mut at = start - 1;
        while at > 0 && matches!(messages.get(at).map(|message| &**message), Some(Message::Results(_))) {
            at -= 1;
        }
        let size: usize = sizes.get(at..start).into_iter().flatten().sum();
        let is_first = start == messages.len();
        if !is_first && (messages.len() - at > KEPT || taken + size > most) {
            break;
        }
        taken += size;
        start = at;
    }
    start
}

impl History {
    /// Makes the conversation shorter as it is stored. What makes no sense is left alone: a stranger's file could say anything.
    pub(crate) fn shorten(&mut self, stored: &Value) {
        // Nobody makes a conversation shorter while calls have no results: it would part them.
        if self.unfinished().next().is_some() {
            return;
        }
        let Ok(stored) = serde_json::from_value::<Stored>(stored.clone()) else { return };
        for Exchanged { message, piece, text } in stored.exchanged {
            let Some(message) = self.messages.get_mut(message).map(Arc::make_mut) else { continue };
            match message {
                Message::User(parts) => {
                    if let Some(Part::Text(own)) = parts.get_mut(piece) {
                        *own = text.into();
                    }
                }
                Message::Results(outcomes) => {
                    if let Some(outcome) = outcomes.get_mut(piece) {
                        outcome.text = text.into();
                    }
                }
                _ => {}
            }
        }
        if let Some(kept) = stored.kept {
            let texts: Vec<Part> =
                stored.head.into_iter().map(|text| Part::Text(self.known(&text))).collect();
            self.messages.drain(..self.messages.len().saturating_sub(kept));
            if !texts.is_empty() {
                self.messages.insert(0, Arc::new(Message::User(texts)));
            }
        }
        let mut names: Vec<String> = Vec::new();
        self.skills.retain_mut(|skill| {
            if skill.state == SkillState::Active {
                return true;
            }
            skill.state = SkillState::Gone;
            skill.text = Arc::default();
            let is_new = !names.contains(&skill.name);
            names.push(skill.name.clone());
            is_new
        });
        self.since = 0;
    }

    /// The text itself where it is one that is known by its place.
    fn known(&self, text: &str) -> Arc<str> {
        let texts = active(self).map(|skill| &skill.text).chain(&self.words);
        let mut same = texts.filter(|known| ***known == *text);
        same.next().map_or_else(|| text.into(), Arc::clone)
    }
}

#[cfg(test)]
mod tests;
