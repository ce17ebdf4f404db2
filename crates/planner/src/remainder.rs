//! What is left of a request when the words that led to the skill are taken off both ends: in "add buy milk to my list" it
//! is "buy milk".

use crate::lexicon::{is_glue, is_idle, is_lead_in, is_lead_out, is_preposition, is_same};
use crate::token::Token;

/// The words that led to the skill.
pub(crate) struct Matched<'a> {
    /// As a request or a skill writes them.
    pub(crate) words: &'a [String],
    /// Which tokens a slot has taken already.
    pub(crate) taken: &'a [usize],
}

/// What an end of the request is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A word that led to the skill, or one that a slot has.
    Matched,
    /// A word that hangs others together.
    Glue,
    /// Anything else: it stays.
    Own,
}

impl Matched<'_> {
    fn role(&self, at: usize, token: &Token<'_>) -> Role {
        if self.taken.contains(&at) {
            return Role::Matched;
        }
        if token.is_quoted {
            return Role::Own;
        }
        let is_matched = |word: &str| self.words.iter().any(|matched| is_same(matched, word));
        // "to-do" may be written in one word and in two.
        let joined: String = token.text.split('-').collect();
        let mut parts = token.text.split('-');
        if is_matched(token.text)
            || (joined.len() < token.text.len()
                && (is_matched(&joined) || parts.all(|part| is_matched(part) || is_glue(part))))
        {
            Role::Matched
        } else if is_glue(token.text) {
            Role::Glue
        } else {
            Role::Own
        }
    }
}

/// What is left, in the user's own writing. Empty where nothing is.
pub(crate) fn remainder<'a>(request: &'a str, tokens: &[Token<'a>], matched: &Matched<'_>) -> &'a str {
    let roles: Vec<Role> = tokens.iter().enumerate().map(|(at, token)| matched.role(at, token)).collect();
    let (first, has_led) = beginning(tokens, &roles);
    let end = ending(tokens, &roles, first, has_led);
    let left = tokens.get(first..end).unwrap_or_default();
    // A value that another slot has is not said twice. And where no word that led here stands before the rest, one inside of it
    // says that the rest is not what is to be told: "say a friendly hello to somebody" names nobody to greet.
    let is_elsewhere = (first..end).any(|at| matched.taken.contains(&at));
    let is_mixed = !has_led && roles[first.min(end)..end].contains(&Role::Matched);
    if is_elsewhere || is_mixed {
        return "";
    }
    let (Some(first), Some(last)) = (left.first(), left.last()) else { return "" };
    // "what is" of "what is on my list" says nothing that could be told to a program.
    if left.iter().all(|token| !token.is_quoted && is_idle(token.text)) {
        return "";
    }
    let text = request.get(first.place.start..last.place.end).unwrap_or_default();
    if first.place == last.place {
        return first.text;
    }
    // A mark at the very end ends the sentence, not the text; a comma before what was taken off belongs to neither.
    let is_last = tokens.last().is_some_and(|token| token.place == last.place);
    text.trim_end_matches(|c| matches!(c, ',' | ';' | ':') || (is_last && matches!(c, '.' | '!' | '?')))
}

/// Where the rest begins, and whether a word that led to the skill stood before it.
fn beginning(tokens: &[Token<'_>], roles: &[Role]) -> (usize, bool) {
    let mut at = 0;
    while tokens.get(at).is_some_and(|token| roles[at] != Role::Matched && is_lead_in(token.text)) {
        at += 1;
    }
    let mut has_led = false;
    while let Some(token) = tokens.get(at) {
        match roles[at] {
            Role::Own => break,
            Role::Matched => has_led = true,
            // "remind me to add …": behind the first "to" stands what is to be done, whatever its words are.
            Role::Glue if has_led && is_same(token.text, "to") => {
                let goes_on = roles.get(at + 1).is_some_and(|next| *next == Role::Glue);
                if !goes_on {
                    return (at + 1, has_led);
                }
            }
            Role::Glue if has_led && is_same(token.text, "that") => return (at + 1, has_led),
            Role::Glue if !has_led => break,
            Role::Glue => {}
        }
        at += 1;
        if token.has_colon {
            break;
        }
    }
    (at, has_led)
}

/// Where the rest ends. One phrase that says where it goes ("to my list") is taken off, no more: what stands before it may
/// have the same words and mean them.
fn ending(tokens: &[Token<'_>], roles: &[Role], first: usize, has_led: bool) -> usize {
    let mut end = tokens.len();
    while end > first && is_lead_out(tokens[end - 1].text) {
        end -= 1;
    }
    loop {
        let run = (first..end).rev().take_while(|at| roles[*at] != Role::Own).last().unwrap_or(end);
        let phrase = (run..end).rev().find(|at| {
            is_preposition(tokens[*at].text) && (at + 1..end).any(|behind| roles[behind] == Role::Matched)
        });
        match phrase {
            // "to the list of tasks" is one phrase.
            Some(start) if is_same(tokens[start].text, "of") && start > run => end = start,
            Some(start) => return start,
            // "buy milk todo list" has no word that says where the rest ends, and nothing else that led here.
            None if !has_led => return run,
            None => return end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::tokens;

    fn check(matched: &str, request: &str, expect: &str) {
        let words: Vec<String> = matched.split_whitespace().map(str::to_owned).collect();
        let found = remainder(request, &tokens(request), &Matched { words: &words, taken: &[] });
        assert_eq!(found, expect, "{request:?}");
    }

    #[test]
    fn what_led_to_the_skill_is_taken_off_both_ends() {
        check("add todo list", "add buy milk to my todo list", "buy milk");
        check("add todo list", "Please add Buy Milk & eggs, 2 l! to my to-do list.", "Buy Milk & eggs, 2 l!");
        check("put list", "put call Ada on the list, please", "call Ada");
        check("remind", "remind me to call the dentist tomorrow", "call the dentist tomorrow");
        check("add task", "could you add a task to water the plants?", "water the plants");
        check("add list", "add to my list: eggs", "eggs");
        check("todo", "todo: write to Ada", "write to Ada");
        check("task list", "new laptop to the list of tasks", "new laptop");
        check("complete task", "complete task 3", "3");
    }

    #[test]
    fn what_a_text_is_about_is_kept_although_its_words_led_here() {
        check(
            "remind add list task",
            "remind me to add the list of tasks to the wiki",
            "add the list of tasks to the wiki",
        );
        check("add task list todo", "add write a task list to my todo list", "write a task list");
        check("remind", "remind me to not forget the milk", "not forget the milk");
        check("remind", "remind me that the bin goes out", "the bin goes out");
        check("add", "add \"add\" to it", "\"add\" to it");
    }

    #[test]
    fn words_that_only_say_what_it_is_about_are_no_text() {
        check("friendly hello somebody", "say a friendly hello to somebody", "");
        check("picture smaller", "make the picture smaller by half", "");
    }

    #[test]
    fn nothing_left_is_nothing() {
        check("show tasks list", "list tasks", "");
        check("add list", "add to my list", "");
        check("list", "what is on my list", "");
        check("remind", "remind me to do it", "");
        check("", "", "");
    }
}
