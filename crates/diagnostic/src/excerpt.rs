//! The source line a diagnostic points at, cut to a width a person can read.

use crate::Place;
use crate::visible::push_visible;
use std::ops::Range;

/// Most characters of a source line that are shown: what a usual terminal holds beside the line's number. A description
/// of a kilobyte under a caret helps nobody.
const MAX_LINE: usize = 100;

/// How much of them stands before the place when the line is cut: enough to know the key it belongs to.
const BEFORE: usize = MAX_LINE / 3;

/// Stands where something of a line is missing.
const CUT: char = '…';

/// One harmless line and the bytes of it to underline.
pub(crate) struct Excerpt {
    pub(crate) line: String,
    pub(crate) range: Range<usize>,
}

impl Excerpt {
    /// The line of a place, or nothing when the place is not of this text.
    pub(crate) fn of(place: Place, source: &str) -> Option<Self> {
        let (start, end) = (place.span.start as usize, place.span.end as usize);
        let before = source.get(..start)?;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line_end = source[start..].find('\n').map_or(source.len(), |at| start + at);
        // A byte order mark is invisible in every editor and takes no column, unless it is what the place is about.
        let before = before[line_start..].trim_start_matches('\u{feff}');
        let after = source[start..line_end].trim_end_matches('\r');

        let room_before = BEFORE.max(MAX_LINE.saturating_sub(width(after, MAX_LINE)));
        let shown_before = last_within(before, room_before);
        let mut line = String::with_capacity(MAX_LINE + 16);
        if shown_before.len() < before.len() {
            line.push(CUT);
        }
        shown_before.chars().for_each(|c| push_visible(&mut line, c));

        let mut range = line.len()..line.len();
        let room = MAX_LINE.saturating_sub(width(shown_before, MAX_LINE));
        let shown_after = first_within(after, room);
        for (at, c) in shown_after.char_indices() {
            push_visible(&mut line, c);
            // An empty span is a place between two characters; the one behind it is underlined.
            if start + at < end.max(start + 1) {
                range.end = line.len();
            }
        }
        if shown_after.len() < after.len() {
            line.push(CUT);
        }
        Some(Self { line, range })
    }
}

/// How many characters a text takes when shown, counted no further than is needed to know that it is too long.
fn width(text: &str, enough: usize) -> usize {
    let mut sum = 0;
    for c in text.chars() {
        sum += shown_width(c);
        if sum > enough {
            break;
        }
    }
    sum
}

fn shown_width(c: char) -> usize {
    let mut shown = String::new();
    push_visible(&mut shown, c);
    shown.chars().count()
}

/// The longest beginning that fits.
fn first_within(text: &str, room: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += shown_width(c);
        if used > room {
            return &text[..at];
        }
    }
    text
}

/// The longest ending that fits.
fn last_within(text: &str, room: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += shown_width(c);
        if used > room {
            return &text[at + c.len_utf8()..];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    fn excerpt(source: &str, start: usize, end: usize) -> (String, String) {
        let found =
            Excerpt::of(Place::of(Span::new(start, end), source), source).expect("the place is there");
        let marked = found.line[found.range].to_owned();
        (found.line, marked)
    }

    #[test]
    fn a_line_that_fits_is_whole_wherever_the_place_is() {
        let line = format!("{}end", "a".repeat(MAX_LINE - 3));
        assert_eq!(excerpt(&line, MAX_LINE - 3, MAX_LINE), (line.clone(), "end".to_owned()));
        assert_eq!(excerpt("a\r\nb c\r\n", 5, 6), ("b c".to_owned(), "c".to_owned()));
        assert_eq!(excerpt("\u{feff}---", 3, 6), ("---".to_owned(), "---".to_owned()));
    }

    #[test]
    fn a_long_line_is_cut_around_the_place_and_says_so() {
        let line = format!("{}HERE{}", "é".repeat(500), "z".repeat(500));
        let (shown, marked) = excerpt(&line, 1000, 1004);
        assert_eq!(marked, "HERE");
        assert!(shown.starts_with("…é") && shown.ends_with("z…"), "{shown}");
        assert_eq!(shown.chars().count(), MAX_LINE + 2);
        let (shown, marked) = excerpt(&line, 0, line.len());
        assert_eq!(marked.chars().count(), MAX_LINE);
        assert!(!shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        let (shown, _) = excerpt(&line, line.len() - 1, line.len());
        assert!(shown.starts_with("…z") && !shown.ends_with('…'), "{shown}");
    }

    #[test]
    fn what_acts_is_shown_and_counts_for_what_it_takes() {
        assert_eq!(excerpt("a\u{202e}b\tc", 1, 4), (r"a\u{202e}b c".to_owned(), r"\u{202e}".to_owned()));
        let (shown, _) = excerpt(&"\u{202e}".repeat(500), 300, 303);
        assert!(shown.chars().count() <= MAX_LINE + 2, "{shown}");
    }

    #[test]
    fn a_place_outside_or_inside_a_character_has_no_line() {
        for (start, end) in [(1, 2), (9, 9), (usize::MAX, 0)] {
            assert!(Excerpt::of(Place::of(Span::new(start, end), "é"), "é").is_none());
        }
        assert_eq!(excerpt("ab", 2, 2), ("ab".to_owned(), String::new()));
    }
}
