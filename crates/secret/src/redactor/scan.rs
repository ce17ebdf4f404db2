//! One way through a stream: what was found, and from where on it may still become something.

use super::matcher::{Matcher, StateID};
use super::pattern::BEFORE_BREAK;

/// The most line ends and blanks in a row that may be in the middle of a word: a line end and a deep indentation. It bounds
/// what is held back when a secret's beginning is followed by nothing but blanks.
const MAX_GAP: usize = 64;

/// Bytes in the middle of a word that do not count.
#[derive(Clone, Copy)]
struct Gap {
    at: usize,
    length: usize,
}

impl Gap {
    fn end(self) -> usize {
        self.at + self.length
    }
}

/// Something to be taken out: one word, or several that lie over each other.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    /// Whose word begins first, the longest of those; its length.
    owner: usize,
    first: usize,
    /// Whether what stands in its place was given out while its end was still to come.
    is_shown: bool,
}

/// The state of a stream. Places count from the first byte that is held back.
#[derive(Default)]
pub(super) struct Scan {
    state: Option<StateID>,
    /// Length of the run of line ends and blanks we are in; 0 where a word goes on.
    run: usize,
    gaps: Vec<Gap>,
    spans: Vec<Span>,
}

impl Scan {
    /// Reads what comes at `from`.
    pub(super) fn read(&mut self, matcher: &Matcher, from: usize, chunk: &[u8]) {
        let start = matcher.start();
        let mut state = self.state.unwrap_or(start);
        for (at, &byte) in (from..).zip(chunk) {
            match byte {
                b'\n' | b'\r' => {
                    let goes_on = self.run > 0 || matcher.progress(state).open >= BEFORE_BREAK;
                    if !goes_on || !self.pass_over(at) {
                        state = self.begin_anew(start);
                    }
                    continue;
                }
                b' ' | b'\t' if self.run > 0 => {
                    // An indentation, unless the word has a blank just here.
                    let next = matcher.next(state, byte);
                    if matcher.progress(next).read != matcher.progress(state).read + 1 {
                        if !self.pass_over(at) {
                            state = self.begin_anew(start);
                        }
                        continue;
                    }
                    state = next;
                }
                _ => {
                    self.run = 0;
                    state = matcher.next(state, byte);
                }
            }
            if state == start {
                self.gaps.clear();
            } else if let Some((length, owner)) = matcher.longest(state) {
                self.found(self.back(at + 1, length), at + 1, owner);
            }
        }
        self.state = Some(state);
    }

    /// A byte that does not count; `false` when there are too many of them.
    fn pass_over(&mut self, at: usize) -> bool {
        self.run += 1;
        match self.gaps.last_mut() {
            Some(gap) if gap.end() == at => gap.length += 1,
            _ => self.gaps.push(Gap { at, length: 1 }),
        }
        self.run <= MAX_GAP
    }

    fn begin_anew(&mut self, start: StateID) -> StateID {
        self.run = 0;
        self.gaps.clear();
        start
    }

    /// The place `length` counted bytes before `end`.
    fn back(&self, mut end: usize, mut length: usize) -> usize {
        for gap in self.gaps.iter().rev() {
            let after = end.saturating_sub(gap.end());
            if length <= after {
                break;
            }
            length -= after;
            end = gap.at;
        }
        end.saturating_sub(length)
    }

    /// Words come in the order of their ends.
    fn found(&mut self, start: usize, end: usize, owner: usize) {
        let mut span = Span { start, end, owner, first: end - start, is_shown: false };
        while let Some(last) = self.spans.last().copied().filter(|last| last.end > start) {
            self.spans.pop();
            if last.is_shown || (last.start, usize::MAX - last.first) <= (span.start, usize::MAX - span.first)
            {
                span = Span { end: span.end.max(last.end), ..last };
            }
        }
        self.spans.push(span);
    }

    /// The place before which nothing can change any more, when `end` bytes are there.
    pub(super) fn settled(&self, matcher: &Matcher, end: usize) -> usize {
        let open = self.state.map_or(0, |state| matcher.progress(state).open);
        if open == 0 { end } else { self.back(end, open) }
    }

    /// Whether nothing is to be taken out before a place.
    pub(super) fn is_clean_before(&self, end: usize) -> bool {
        self.spans.first().is_none_or(|span| span.start >= end)
    }

    /// The text before a place, with what stands in place of secrets.
    pub(super) fn show(&mut self, matcher: &Matcher, text: &[u8], end: usize) -> Vec<u8> {
        let mut shown = Vec::with_capacity(end);
        let mut at = 0;
        for span in self.spans.iter_mut().take_while(|span| span.start < end) {
            shown.extend_from_slice(text.get(at..span.start).unwrap_or_default());
            if !span.is_shown {
                shown.extend_from_slice(matcher.marker(span.owner));
                span.is_shown = true;
            }
            at = span.end;
        }
        shown.extend_from_slice(text.get(at..end).unwrap_or_default());
        shown
    }

    /// Everything before a place has been given out.
    pub(super) fn forget(&mut self, end: usize) {
        self.spans.retain(|span| span.end > end);
        for span in &mut self.spans {
            span.start = span.start.saturating_sub(end);
            span.end -= end;
        }
        self.gaps.retain(|gap| gap.end() > end);
        for gap in &mut self.gaps {
            let cut = end.saturating_sub(gap.at);
            gap.at = gap.at.saturating_sub(end);
            gap.length = gap.length.saturating_sub(cut);
        }
    }
}
