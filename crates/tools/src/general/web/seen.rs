//! Which elements of a page a reader sees.

use super::colour::Colour;
use super::html::{ENDED_BY_NEXT, VOID};
use super::style::{Background, Style, pixels};
use super::style_sheet::{Facts, StyleSheet};
use super::tag::Tag;

/// How many elements inside each other are followed; what is deeper counts as part of the last.
const MAX_DEPTH: usize = 256;

/// What a reader sees at some point of a page.
pub(super) struct Seen {
    sheet: StyleSheet,
    around: Vec<Facts>,
    /// What each element around has and hands on to what is in it.
    inherited: Vec<Inherited>,
    /// Elements that are too deep to be followed.
    deeper: usize,
    /// How many pieces of text a reader does not see.
    pub(super) hidden: usize,
}

#[derive(Clone, Copy)]
struct Inherited {
    is_invisible: bool,
    is_tiny: bool,
    colour: Colour,
    /// `None` where it is a picture.
    background: Option<Colour>,
}

/// What became of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entered {
    Shown,
    /// It is hidden with all it holds, and was not entered.
    Hidden,
}

impl Seen {
    pub(super) fn new(page: &str) -> Self {
        let (around, inherited) = Default::default();
        Self { sheet: StyleSheet::of(page), around, inherited, deeper: 0, hidden: 0 }
    }

    fn now(&self) -> Inherited {
        let page = Inherited {
            is_invisible: false,
            is_tiny: false,
            colour: Colour::BLACK,
            background: Some(Colour::WHITE),
        };
        self.inherited.last().copied().unwrap_or(page)
    }

    pub(super) fn is_visible(&self) -> bool {
        let now = self.now();
        let is_coloured = now.background.is_none_or(|background| now.colour.is_seen_on(background));
        !now.is_invisible && !now.is_tiny && is_coloured
    }

    /// Goes into an element, unless it is hidden whole.
    pub(super) fn enter(&mut self, tag: &Tag) -> Entered {
        let name = tag.name.as_str();
        if ENDED_BY_NEXT.contains(&name) {
            self.end_before(name);
        }
        let facts = Facts::of(tag);
        // Where the rules are too many to be looked at, whatever they could be about counts as hidden.
        let Some(mut style) = self.sheet.style(tag, &facts, &self.around) else { return Entered::Hidden };
        style.overlay(&attributes(tag));
        style.overlay(&Style::read(&tag.attribute("style").unwrap_or_default()));
        // Pages that wait for their scripts hide themselves whole.
        let is_page = matches!(name, "html" | "body");
        let is_hidden = tag.attribute("hidden").is_some()
            || tag.attribute("aria-hidden").as_deref() == Some("true")
            || style.hides()
            || (name == "img" && is_dot(tag));
        if is_hidden && !is_page {
            return Entered::Hidden;
        }
        if VOID.contains(&name) {
            return Entered::Shown;
        }
        if self.around.len() >= MAX_DEPTH {
            self.deeper += 1;
            return Entered::Shown;
        }
        let now = self.now();
        let background = match style.background {
            Some(Background::Picture) => None,
            Some(Background::Plain(colour @ Colour::Solid(_))) => Some(colour),
            Some(Background::Plain(Colour::Transparent)) | None => now.background,
        };
        self.inherited.push(Inherited {
            is_invisible: style.invisible.unwrap_or(now.is_invisible) && !is_page,
            is_tiny: style.tiny.unwrap_or(now.is_tiny) && !is_page,
            colour: style.colour.unwrap_or(now.colour),
            background,
        });
        self.around.push(facts);
        Entered::Shown
    }

    pub(super) fn leave(&mut self, name: &str) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if let Some(at) = self.around.iter().rposition(|facts| facts.is(name)) {
            self.around.truncate(at);
            self.inherited.truncate(at);
        }
    }

    /// Ends an element that the next of its kind ends, in the same list, table or block.
    fn end_before(&mut self, name: &str) {
        let around = self.around.iter().rev().take_while(|facts| !HOLDS.iter().any(|holds| facts.is(holds)));
        let at =
            around.enumerate().find(|(_, facts)| facts.is(name)).map(|(at, _)| self.around.len() - 1 - at);
        if let Some(at) = at {
            self.around.truncate(at);
            self.inherited.truncate(at);
        }
    }
}

/// Elements that hold those which the next of their kind ends.
const HOLDS: &[&str] = &["ul", "ol", "dl", "table", "tbody", "div", "section", "article", "body"];

/// What the older attributes say in place of a style.
fn attributes(tag: &Tag) -> Style {
    let colour = if tag.name == "font" { tag.attribute("color") } else { None };
    let colour = colour.or_else(|| tag.attribute("text").filter(|_| tag.name == "body"));
    let background = tag.attribute("bgcolor");
    let declared = [("color", colour), ("background-color", background)];
    let declared = declared.into_iter().filter_map(|(name, value)| Some(format!("{name}:{}", value?)));
    Style::read(&declared.collect::<Vec<_>>().join(";"))
}

/// Whether a picture has no size, so that its words are all there is of it.
fn is_dot(tag: &Tag) -> bool {
    ["width", "height"].iter().any(|side| {
        let size = tag.attribute(side);
        size.is_some_and(|size| {
            pixels(&size).or_else(|| size.trim().parse().ok()).is_some_and(|size| size <= 1.0)
        })
    })
}
