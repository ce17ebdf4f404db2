//! Fills slots from a request. A value is a piece of the request, never made up. A missing or ambiguous value stays empty.

use metier_skill::Presence;

use crate::lexicon::{SlotKind, is_denial, is_idle, is_preposition, is_same, looks_like_path};
use crate::remainder::{Matched, remainder};
use crate::token::{Token, tokens};

/// A request, and what is known about the skill for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FillInput<'a> {
    /// The name of the skill.
    pub(crate) name: &'a str,
    /// The request.
    pub(crate) request: &'a str,
    /// The words of it that led to the skill.
    pub(crate) matched: &'a [String],
    /// The skill's body, which may say what a slot takes.
    pub(crate) body: &'a str,
}

/// A slot to be filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenSlot {
    /// Its name; with `|` in it, its choices.
    pub(crate) name: String,
    /// Whether it must be filled.
    pub(crate) presence: Presence,
}

/// The values of slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotValues {
    /// A value for each slot.
    pub(crate) values: Vec<Option<String>>,
    /// Content words that neither filled a slot nor led to the skill.
    pub(crate) unused: Vec<String>,
    /// Whether an optional slot is empty: unused words may be meant for it.
    pub(crate) has_room: bool,
    /// A word that negates the request.
    pub(crate) denial: Option<String>,
}

/// Fills slots in the order in which their kinds leave the least to guess: choices, numbers, addresses, paths, texts.
pub(crate) fn fill(slots: &[OpenSlot], input: &FillInput<'_>) -> SlotValues {
    let mut filler =
        SlotFiller { tokens: tokens(input.request), taken: Vec::new(), values: vec![None; slots.len()] };
    let choices: Vec<Vec<String>> = slots.iter().map(|slot| choices(&slot.name, input.body)).collect();
    let mut open: Vec<usize> = Vec::new();
    for (at, choices) in choices.iter().enumerate() {
        if choices.is_empty() { open.push(at) } else { filler.choose(at, choices) }
    }
    let of_kind = |wanted: &[SlotKind]| -> Vec<usize> {
        open.iter().copied().filter(|at| wanted.contains(&SlotKind::of(&slots[*at].name))).collect()
    };
    filler.assign(&of_kind(&[SlotKind::Number]), |token| number(token.text));
    filler.assign(&of_kind(&[SlotKind::Id]), |token| id(token.text));
    filler.assign(&of_kind(&[SlotKind::Url]), |token| token.text.contains("://").then_some(token.text));
    filler.assign(&of_kind(&[SlotKind::Path]), |token| looks_like_path(token.text).then_some(token.text));
    let is_required = |at: &usize| slots[*at].presence == Presence::Required;
    let texts = of_kind(&[SlotKind::Text, SlotKind::Composed]);
    let (required, _): (Vec<usize>, Vec<usize>) = texts.iter().copied().partition(is_required);
    filler.quote(&texts, &required);
    let mut denial = filler.denial(input.matched, Reach::Whole);
    // The rest is one text. With two slots to fill, it is unknown where one ends and the next begins.
    if let [only] = required.as_slice()
        && filler.values[*only].is_none()
        && SlotKind::of(&slots[*only].name) == SlotKind::Text
        && !filler.quoted().any(|_| true)
    {
        let matched = Matched { words: input.matched, taken: &filler.taken };
        let rest = remainder(input.request, &filler.tokens, &matched).trim();
        denial = filler.denial(input.matched, Reach::Beginning);
        filler.values[*only] = (!rest.is_empty()).then(|| rest.to_owned());
        filler.taken = (0..filler.tokens.len()).collect();
    }
    let is_open = |at: &usize| filler.values[*at].is_none();
    let has_room = (0..slots.len()).any(|at| is_open(&at) && !is_required(&at));
    let mut unused = filler.unused(input.matched);
    if texts.iter().any(|at| is_open(at) && !is_required(at)) {
        unused.extend(filler.said_behind(input));
    }
    SlotValues { values: filler.values, unused, has_room, denial }
}

struct SlotFiller<'a> {
    tokens: Vec<Token<'a>>,
    /// Tokens that are a value.
    taken: Vec<usize>,
    values: Vec<Option<String>>,
}

/// How much of a request is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// All of it.
    Whole,
    /// What stands before the first word that led to the skill: behind it a "not" belongs to the text.
    Beginning,
}

impl<'a> SlotFiller<'a> {
    /// A word that turns the request into its opposite. "Never delete task 2" has all that deleting it takes.
    fn denial(&self, matched: &[String], reach: Reach) -> Option<String> {
        let has_led = |token: &Token<'_>| matched.iter().any(|matched| is_same(matched, token.text));
        let mut looked_at = self.free().take_while(|(_, token)| reach == Reach::Whole || !has_led(token));
        let (_, token) = looked_at.find(|(_, token)| !token.is_quoted && is_denial(token.text))?;
        Some(token.text.to_owned())
    }

    fn free(&self) -> impl Iterator<Item = (usize, &Token<'a>)> {
        self.tokens.iter().enumerate().filter(|(at, _)| !self.taken.contains(at))
    }

    fn quoted(&self) -> impl Iterator<Item = (usize, &Token<'a>)> {
        self.free().filter(|(_, token)| token.is_quoted)
    }

    /// The one choice that the request names.
    fn choose(&mut self, slot: usize, choices: &[String]) {
        let named = |token: &Token<'_>| choices.iter().find(|choice| choice.eq_ignore_ascii_case(token.text));
        let found: Vec<(usize, &String)> =
            self.free().filter_map(|(at, token)| Some((at, named(token)?))).collect();
        if let Some((_, first)) = found.first()
            && found.iter().all(|(_, choice)| choice == first)
        {
            self.values[slot] = Some((*first).clone());
            let places: Vec<usize> = found.into_iter().map(|(at, _)| at).collect();
            self.taken.extend(places);
        }
    }

    /// Assigns the tokens that fit to the slots of a kind, in order. More tokens than slots fill none: doing the first of two
    /// things that were asked for would look as if both were done.
    fn assign(&mut self, slots: &[usize], fits: impl Fn(&Token<'a>) -> Option<&'a str>) {
        if slots.is_empty() {
            return;
        }
        let found: Vec<(usize, &str)> =
            self.free().filter_map(|(at, token)| Some((at, fits(token)?))).collect();
        let mut distinct: Vec<&str> = Vec::new();
        for (_, value) in &found {
            if !distinct.contains(value) {
                distinct.push(value);
            }
        }
        if distinct.len() > slots.len() {
            return;
        }
        self.taken.extend(found.iter().map(|(at, _)| *at));
        for (slot, value) in slots.iter().zip(distinct) {
            self.values[*slot] = Some(value.to_owned());
        }
    }

    /// Gives the quoted texts to the slots, where there are as many of them.
    fn quote(&mut self, texts: &[usize], required: &[usize]) {
        let quoted: Vec<(usize, String)> =
            self.quoted().map(|(at, token)| (at, token.text.to_owned())).collect();
        let slots =
            [texts, required].into_iter().find(|slots| !slots.is_empty() && slots.len() == quoted.len());
        for (slot, (at, text)) in slots.into_iter().flatten().zip(quoted) {
            self.values[*slot] = Some(text);
            self.taken.push(at);
        }
    }

    /// Words behind the last value that could be one themselves, although the skill speaks of them: "french" in `translate "good
    /// morning" into french` for a skill that names French among its languages. A word of the skill's name and one with an article
    /// before it, as in "to my list", say where things go.
    fn said_behind(&self, input: &FillInput<'_>) -> Vec<String> {
        let Some(last) = self.taken.iter().copied().max() else { return Vec::new() };
        let is_named = |word: &str| input.name.split('-').any(|part| is_same(part, word));
        let behind = self.free().filter(|(at, token)| {
            let before = at.checked_sub(1).and_then(|before| self.tokens.get(before));
            *at > last
                && before.is_some_and(|before| is_preposition(before.text))
                && input.matched.iter().any(|matched| is_same(matched, token.text))
                && !is_idle(token.text)
                && !is_named(token.text)
        });
        behind.map(|(_, token)| token.text.to_owned()).collect()
    }

    fn unused(&self, matched: &[String]) -> Vec<String> {
        let says_something = |token: &Token<'_>| {
            !is_idle(token.text) && !matched.iter().any(|matched| is_same(matched, token.text))
        };
        self.free()
            .filter(|(_, token)| says_something(token))
            .map(|(_, token)| token.text.to_owned())
            .collect()
    }
}

/// A number, with or without a `#`. Numbers in words are left alone: "one" is more often no number.
pub(crate) fn number(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    (is_digits(whole) && is_digits(fraction)).then_some(digits)
}

/// A number, or a name with a number in it.
pub(crate) fn id(text: &str) -> Option<&str> {
    let is_named = text.bytes().any(|byte| byte.is_ascii_digit())
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    number(text).or(is_named.then_some(text))
}

/// What a slot may take: the names in `<a|b>`, or what the body lists behind the slot's name, as in "`<format>` is `csv` or
/// `json`".
pub(crate) fn choices(name: &str, body: &str) -> Vec<String> {
    if name.contains('|') {
        return name.split('|').map(|choice| choice.trim().to_owned()).collect();
    }
    let mark = format!("`<{name}>`");
    let lists = body.match_indices(&mark).map(|(at, _)| listed(&body[at + mark.len()..]));
    lists.into_iter().find(|listed| listed.len() > 1).unwrap_or_default()
}

/// The words in back quotes with which a text begins, between nothing but words that make a list of them.
fn listed(text: &str) -> Vec<String> {
    /// What may stand before, between and behind choices.
    const BETWEEN: [&str; 12] =
        ["is", "are", "one", "of", "either", "or", "and", "can", "be", "must", "may", "takes"];
    let mut listed = Vec::new();
    for word in text.split_whitespace() {
        let ends = word.ends_with(['.', ';']);
        let word = word.trim_matches([',', '.', ';', ':', '=', '|', '/', '(', ')']);
        let inner = word.strip_prefix('`').and_then(|word| word.strip_suffix('`'));
        match inner {
            Some(choice) if choice.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_')) => {
                listed.push(choice.to_owned());
            }
            None if word.is_empty() || BETWEEN.contains(&word) => {}
            _ => break,
        }
        if ends {
            break;
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "`<format>` is `csv` or `json`; more with `--x`.\n`<title>` is what it says, see `list`.\n\
                        `<level>`: one of `low`, `high`.";

    /// Slots with a `?` are optional. Nothing is written as `-`; what is unused follows a `+`.
    fn check(slots: &str, matched: &str, request: &str, expect: &str) {
        let slots: Vec<OpenSlot> = slots
            .split(' ')
            .map(|slot| OpenSlot {
                name: slot.trim_end_matches('?').to_owned(),
                presence: if slot.ends_with('?') { Presence::Optional } else { Presence::Required },
            })
            .collect();
        let matched: Vec<String> = matched.split_whitespace().map(str::to_owned).collect();
        let filled = fill(&slots, &FillInput { name: "", request, matched: &matched, body: BODY });
        let values: Vec<&str> = filled.values.iter().map(|value| value.as_deref().unwrap_or("-")).collect();
        let mut shown = values.join(" · ");
        if !filled.unused.is_empty() {
            shown.push_str(" + ");
            shown.push_str(&filled.unused.join(" "));
        }
        assert_eq!(shown, expect, "{request:?}");
    }

    #[test]
    fn numbers_fill_slots_that_are_called_like_numbers() {
        check("number", "complete task", "complete task 3", "3");
        check("number", "complete task", "complete task #12, please", "12");
        check("amount", "pay", "pay 3.50 now", "3.50 + now");
        check("task-id", "close", "close PAY-12", "PAY-12");
        check("port count", "open", "open 80 and 3", "80 · 3");
        check("number", "complete task", "complete task three", "- + three");
        check("number", "complete task", "complete the last task", "- + last");
    }

    #[test]
    fn more_values_than_slots_fill_none() {
        check("number", "delete task", "delete tasks 2 and 3", "- + 2 3");
        check("number", "delete task", "delete task 2, yes, 2", "2 + yes");
        check("file", "count", "count a.rs and b.rs", "- + a.rs b.rs");
        check("title", "add", "add \"one\" and \"two\"", "- + one two");
    }

    #[test]
    fn paths_fill_slots_that_are_called_like_files() {
        check("folder?", "count lines", "count the lines in src/", "src/");
        check("folder?", "count lines", "how many lines are in .", ".");
        check("folder?", "count lines", "how many lines does src have?", "- + src");
        check("table format", "convert", "convert data/people.tsv to JSON", "data/people.tsv · json");
        check("input output", "convert", "convert a.pdf to b.txt", "a.pdf · b.txt");
        check("file", "open", "open \"my notes.md\"", "my notes.md");
        check("url", "fetch", "fetch https://example.org/a.html", "https://example.org/a.html");
    }

    #[test]
    fn choices_come_from_the_slot_or_from_the_body() {
        check("format", "export", "export it as CSV", "csv");
        check("format", "export", "export it as xml", "- + xml");
        check("format", "export", "as csv and as json", "- + csv json");
        check("open|done|all?", "show tasks", "show all tasks", "all");
        check("open|done|all?", "show tasks", "show my tasks", "-");
        check("level", "", "set it HIGH", "high + set");
    }

    #[test]
    fn texts_are_quoted_or_what_is_left() {
        check("title", "add todo list", "add buy milk to my todo list", "buy milk");
        check("title", "add list", "add \"Buy 2 l, now!\" to my list", "Buy 2 l, now!");
        check("title", "remind", "remind me to pay 3 bills by 5", "pay 3 bills by 5");
        check("title", "add list", "add something like \"this\" to my list", "this + something");
        check("number title", "rename task", "rename task 3 to call mum", "3 · call mum");
        check("from to", "copy", "copy this there", "- · -");
        check("from to", "copy", "copy 'a b' to 'c'", "a b · c");
        check("title note?", "add", "add buy milk", "buy milk · -");
        check("title", "add list", "add to my list", "-");
    }

    #[test]
    fn a_word_behind_the_value_may_be_meant_for_a_slot_that_is_open() {
        check(
            "text language?",
            "translate french",
            "translate \"good morning\" into french",
            "good morning · - + french",
        );
        check("text language?", "translate french", "translate \"good morning\"", "good morning · -");
        check("title note?", "add list", "add \"milk\" to my list", "milk · -");
        check("minutes label?", "set timer minutes", "set a timer for 10 minutes", "10 · -");
    }

    #[test]
    fn one_piece_of_the_request_is_not_two_values() {
        check("file caption", "caption", "caption photo.png with a sunny day", "photo.png · sunny day");
        check(
            "file caption",
            "put picture",
            "put a sunny day under photo.png in the picture",
            "photo.png · -",
        );
        check("file width", "resize image", "resize image photo.png to width 300", "photo.png · 300 + width");
    }

    #[test]
    fn a_request_not_to_do_something_is_noticed() {
        let check = |slot: &str, request: &str, expect: Option<&str>| {
            let slots = [OpenSlot { name: slot.to_owned(), presence: Presence::Required }];
            let matched = ["delete", "task", "remind", "add"].map(str::to_owned);
            let filled = fill(&slots, &FillInput { name: "", request, matched: &matched, body: "" });
            assert_eq!(filled.denial.as_deref(), expect, "{request:?}");
        };
        check("number", "never delete task 2", Some("never"));
        check("number", "delete task 2? No, wait", Some("No"));
        check("title", "please don't add milk", Some("don't"));
        check("title", "do not add \"milk\"", Some("not"));
        check("title", "remind me not to forget the milk", None);
        check("title", "add \"no milk\"", None);
        check("number", "delete task 2", None);
    }

    #[test]
    fn what_somebody_has_to_write_first_is_never_guessed() {
        check("draft", "write cold email", "write a cold email to Ada", "- + Ada");
        check("draft", "score", "score \"Hi Ada,\nbuy now\"", "Hi Ada,\nbuy now");
    }

    proptest::proptest! {
        #[test]
        fn every_value_is_a_piece_of_the_request(
            request in "(add|to|my|list|of|[0-9#.]{1,3}|[a-z/.]{1,6}|[\"'`“”:,!?-]|\\PC| |\n){0,12}",
            names in proptest::collection::vec("(title|number|file|draft|url|id)[?]?", 0..4),
        ) {
            let slots: Vec<OpenSlot> = names
                .iter()
                .map(|name| OpenSlot {
                    name: name.trim_end_matches('?').to_owned(),
                    presence: if name.ends_with('?') { Presence::Optional } else { Presence::Required },
                })
                .collect();
            let matched = ["add".to_owned(), "list".to_owned()];
            let filled = fill(&slots, &FillInput { name: "", request: &request, matched: &matched, body: BODY });
            for value in filled.values.into_iter().flatten() {
                assert!(!value.trim().is_empty() && request.contains(&value), "{value:?}");
            }
        }
    }
}
