//! Positional arguments: the text after `/name`, one word for each slot. A user who names a skill means its arguments, so the
//! words are taken as they are.

use metier_exec::split_arguments;
use metier_skill::Presence;

use crate::fill::{OpenSlot, SlotValues, choices, id, number};
use crate::lexicon::SlotKind;

/// Assigns words to slots in order. With fewer words than slots, required slots come first; with more, the rest belongs to the
/// last slot if that takes any text. A word that a slot cannot take fills none.
pub(crate) fn fill_in_order(slots: &[OpenSlot], text: &str, body: &str) -> SlotValues {
    let text = text.trim();
    let words =
        split_arguments(text).unwrap_or_else(|_| text.split_whitespace().map(str::to_owned).collect());
    let mut filled = SlotValues { values: vec![None; slots.len()], ..SlotValues::default() };
    let places = places(slots, words.len());
    for (rank, at) in places.iter().copied().enumerate() {
        let slot = &slots[at];
        let choices = choices(&slot.name, body);
        let is_last = rank + 1 == places.len() && words.len() > places.len();
        let word = match words.get(rank) {
            // One slot for several words: they are its text, quotes and all.
            Some(_) if is_last && rank == 0 => text.to_owned(),
            Some(_) if is_last => words[rank..].join(" "),
            Some(word) => word.clone(),
            None => break,
        };
        match taken(&slot.name, &choices, &word) {
            Some(value) => filled.values[at] = Some(value),
            None => filled.unused.push(word),
        }
    }
    if places.is_empty() {
        filled.unused = words;
    }
    filled.has_room = !filled.unused.is_empty();
    filled
}

/// The slots that so many words go to, in their order.
fn places(slots: &[OpenSlot], words: usize) -> Vec<usize> {
    let required = slots.iter().filter(|slot| slot.presence == Presence::Required).count();
    let mut spare = words.saturating_sub(required);
    let mut is_wanted = |slot: &OpenSlot| match slot.presence {
        Presence::Required => true,
        Presence::Optional if spare == 0 => false,
        Presence::Optional => {
            spare -= 1;
            true
        }
    };
    slots.iter().enumerate().filter(|(_, slot)| is_wanted(slot)).map(|(at, _)| at).collect()
}

/// What a slot makes of a word; `None` where it cannot be meant for it.
fn taken(name: &str, choices: &[String], word: &str) -> Option<String> {
    if !choices.is_empty() {
        return choices.iter().find(|choice| choice.eq_ignore_ascii_case(word)).cloned();
    }
    let fits = match SlotKind::of(name) {
        SlotKind::Number => number(word)?,
        SlotKind::Id => id(word)?,
        SlotKind::Url => Some(word).filter(|word| word.contains("://"))?,
        SlotKind::Path | SlotKind::Composed | SlotKind::Text => {
            Some(word).filter(|word| !word.trim().is_empty())?
        }
    };
    Some(fits.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots with a `?` are optional. Nothing is written as `-`; what is unused follows a `+`.
    fn check(slots: &str, text: &str, expect: &str) {
        let slot = |slot: &str| OpenSlot {
            name: slot.trim_end_matches('?').to_owned(),
            presence: if slot.ends_with('?') { Presence::Optional } else { Presence::Required },
        };
        let slots: Vec<OpenSlot> = slots.split_whitespace().map(slot).collect();
        let filled = fill_in_order(&slots, text, "`<format>` is `csv` or `json`.");
        let values: Vec<&str> = filled.values.iter().map(|value| value.as_deref().unwrap_or("-")).collect();
        let mut shown = values.join(" · ");
        if !filled.unused.is_empty() {
            shown.push_str(&format!(" + {}", filled.unused.join(" ")));
        }
        assert_eq!(shown, expect, "{text:?}");
    }

    #[test]
    fn each_slot_has_its_word() {
        check("file width", "photo.png 300", "photo.png · 300");
        check("text language?", "'good night' french", "good night · french");
        check("text language?", "'good night'", "good night · -");
        check("label? number", "5", "- · 5");
        check("label? number", "tea 5", "tea · 5");
        check("table format", "a.tsv CSV", "a.tsv · csv");
    }

    #[test]
    fn the_last_slot_has_what_is_left() {
        check("title", "water \"the plants\"", "water \"the plants\"");
        check("title", "'water the plants'", "water the plants");
        check("number title", "3 call mum, now", "3 · call mum, now");
        check("title", "it's late", "it's late");
    }

    #[test]
    fn a_word_that_is_not_meant_fills_nothing() {
        check("number", "three", "- + three");
        check("table format", "a.tsv xml", "a.tsv · - + xml");
        check("number", "2 3", "- + 2 3");
        check("", "3", " + 3");
        check("file width", "photo.png", "photo.png · -");
        check("title", "", "-");
    }
}
