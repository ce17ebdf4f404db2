//! Who gets how much of the catalogue's budget.
//!
//! Over budget, descriptions are not ground down until none of them helps. As many skills as fit keep their full text,
//! in the order given; the rest stay as names as far as the budget reaches, then as a count. A skill that does not fit
//! does not stop the ones behind it.

use super::text::{NAME_SEPARATOR, comma_list};
use super::{Catalogue, CatalogueOptions, Offer, Report};
use crate::tokens::Tokens;
use metier_diagnostic::counted;

/// The part of the budget that names may hold against descriptions: one in 4. Without a bound ten thousand names would
/// leave no room for a single description; without a reserve the first descriptions would leave no room for names.
const NAMES_SHARE: usize = 4;

/// One of the renderings.
pub(super) trait Rendering {
    /// What stands after the last skill.
    const FOOT: &'static str = "";

    /// What stands before the first skill.
    fn head(&self, options: &CatalogueOptions<'_>) -> String;
    /// One skill in full. `None` when it takes more than `room`, which is in bytes; `Err` when it cannot be read.
    fn full(&mut self, at: usize, offer: &Offer<'_>, room: usize) -> Result<Option<String>, String>;
    /// One skill that is offered by its name alone.
    fn name_only(&self, offer: &Offer<'_>) -> String;
    /// What is said about the skills that did not fit.
    fn rest(&self, rest: &Rest<'_>) -> String {
        rest_in_words(rest)
    }
}

/// The skills that did not fit.
pub(super) struct Rest<'a> {
    /// All skills there are.
    pub(super) total: usize,
    /// Those that are named.
    pub(super) named: &'a [&'a str],
    /// How many are not even named.
    pub(super) unnamed: usize,
    /// The tool that finds them.
    pub(super) search: &'a str,
}

/// What is said about the skills that are not described, in sentences.
fn rest_in_words(rest: &Rest<'_>) -> String {
    let mut text = String::from("\n");
    if !rest.named.is_empty() {
        text.push_str("More skills, by name only: ");
        text.push_str(&comma_list(rest.named.iter().copied()));
        text.push_str(".\n");
    }
    let are = counted(rest.total, "skill", "skills");
    text.push_str(&format!("There {} {are} in all", if rest.total == 1 { "is" } else { "are" }));
    if rest.unnamed > 0 {
        text.push_str(&format!("; {} not named here", counted(rest.unnamed, "is", "are")));
    }
    text.push_str(&format!(". Use the `{}` tool to find a skill by what it does.\n", rest.search));
    text
}

/// Renders as much as fits.
pub(super) fn compose<R: Rendering>(
    mut rendering: R,
    offers: &[Offer<'_>],
    options: &CatalogueOptions<'_>,
) -> Catalogue {
    let room = options.budget.bytes();
    let frame = rendering.head(options).len() + R::FOOT.len();
    let mut shown = vec![Share::Open; offers.len()];
    let mut problems = Vec::new();

    // First as if there were room for all of it; most catalogues end here.
    let mut used = frame;
    let complete = offers.iter().enumerate().all(|(at, offer)| {
        shown[at] = share(&mut rendering, at, offer, room.saturating_sub(used), &mut problems);
        used += shown[at].len();
        matches!(shown[at], Share::Full(_) | Share::Name(_)) && used <= room
    });
    if !complete {
        let longest_rest =
            Rest { total: offers.len(), named: &[], unnamed: offers.len(), search: options.search };
        used = frame + rendering.rest(&longest_rest).len();
        choose(&mut rendering, offers, &mut shown, room, used, &mut problems);
    }
    finish(&rendering, offers, &shown, options, problems)
}

/// What one skill gets.
#[derive(Clone)]
enum Share {
    /// Not decided.
    Open,
    /// Its full text.
    Full(String),
    /// Its name, as the configuration wants it.
    Name(String),
    /// No room for its full text.
    Left,
    /// Its full text cannot be had.
    Unreadable,
}

impl Share {
    fn len(&self) -> usize {
        match self {
            Self::Full(text) | Self::Name(text) => text.len(),
            Self::Open | Self::Left | Self::Unreadable => 0,
        }
    }
}

fn share(
    rendering: &mut impl Rendering,
    at: usize,
    offer: &Offer<'_>,
    room: usize,
    problems: &mut Vec<(String, String)>,
) -> Share {
    if offer.is_name_only {
        return Share::Name(rendering.name_only(offer));
    }
    match rendering.full(at, offer, room) {
        Ok(Some(text)) => Share::Full(text),
        Ok(None) => Share::Left,
        Err(why) => {
            problems.push((offer.name.to_owned(), why));
            Share::Unreadable
        }
    }
}

/// Goes through the skills in order and gives full text to each that leaves room for the names of the others.
fn choose(
    rendering: &mut impl Rendering,
    offers: &[Offer<'_>],
    shown: &mut [Share],
    room: usize,
    mut used: usize,
    problems: &mut Vec<(String, String)>,
) {
    let name_cost = |offer: &Offer<'_>| offer.name.len() + NAME_SEPARATOR.len();
    let mut names: usize = offers.iter().map(name_cost).sum();
    for (at, offer) in offers.iter().enumerate() {
        let others = names - name_cost(offer);
        let free = room.saturating_sub(used + others.min(room / NAMES_SHARE));
        // What the first pass rendered is not rendered, or read, again.
        let share = match std::mem::replace(&mut shown[at], Share::Left) {
            Share::Open if free > 0 => share(rendering, at, offer, free, problems),
            known => known,
        };
        if let Share::Full(_) | Share::Name(_) = share
            && share.len() <= free
        {
            used += share.len();
            names = others;
            shown[at] = share;
        } else if matches!(share, Share::Unreadable) {
            shown[at] = share;
        }
    }
}

fn finish<R: Rendering>(
    rendering: &R,
    offers: &[Offer<'_>],
    shown: &[Share],
    options: &CatalogueOptions<'_>,
    unreadable: Vec<(String, String)>,
) -> Catalogue {
    let mut report = Report { skills: offers.len(), budget: options.budget, unreadable, ..Report::default() };
    let mut text = rendering.head(options);
    let mut left = Vec::new();
    for (offer, share) in offers.iter().zip(shown) {
        match share {
            Share::Full(full) => {
                report.described += 1;
                text.push_str(full);
            }
            Share::Name(name) => {
                report.named += 1;
                text.push_str(name);
            }
            Share::Open | Share::Left => {
                if !offer.is_name_only {
                    report.over_budget.push(offer.name.to_owned());
                }
                left.push(offer.name);
            }
            Share::Unreadable => left.push(offer.name),
        }
    }
    if !left.is_empty() {
        let rest = |named: usize| {
            let (named, unnamed) = (&left[..named], left.len() - named);
            rendering.rest(&Rest { total: offers.len(), named, unnamed, search: options.search })
        };
        let named = fitting(&left, &rest, options.budget.bytes(), text.len() + R::FOOT.len());
        report.named += named;
        report.counted = left.len() - named;
        text.push_str(&rest(named));
    }
    text.push_str(R::FOOT);
    report.tokens = Tokens::of(&text);
    Catalogue { text, report }
}

/// How many names fit: the most of them that leave the whole text within the room.
fn fitting(left: &[&str], rest: &impl Fn(usize) -> String, room: usize, used: usize) -> usize {
    // The text grows with every name but the last, with which the count of unnamed skills goes away.
    let (mut low, mut high) = (0, left.len());
    if used + rest(high).len() <= room {
        return high;
    }
    while low < high {
        let middle = usize::midpoint(low, high + 1).min(high);
        if used + rest(middle).len() <= room {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}
