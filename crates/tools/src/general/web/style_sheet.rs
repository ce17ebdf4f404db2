//! The `<style>` blocks of a page: which elements their rules hide.
//!
//! Sheets of other files are not fetched. Selectors are read as far as names, classes, ids and attributes go, one inside of another;
//! one with anything else in it means no element here.

use std::collections::HashMap;

use super::style::Style;
use super::tag::{Tag, Token, tokens};

/// How much of the sheets is read. Real pages have up to some hundred KiB in them.
const MAX_SHEET: usize = 512 * 1024;

/// How many rules are kept: those that say something about what a reader sees.
const MAX_RULES: usize = 4_096;

/// How often a rule is held against an element, over the whole page.
const MAX_MATCHES: usize = 2_000_000;

/// How deep blocks such as `@supports` are inside each other.
const MAX_BLOCKS: usize = 8;

/// The rules of a page, by what the last part of their selector names first.
#[derive(Debug, Default)]
pub(super) struct StyleSheet {
    rules: Vec<Rule>,
    by_key: HashMap<String, Vec<usize>>,
    matches: usize,
}

#[derive(Debug)]
struct Rule {
    /// The last part is the element's own, those before are around it.
    parts: Vec<Part>,
    weight: usize,
    style: Style,
}

/// `p.note#x[hidden]`
#[derive(Debug, Default)]
struct Part {
    name: Option<String>,
    classes: Vec<String>,
    id: Option<String>,
    attributes: Vec<(String, Option<String>)>,
}

/// An element, as selectors see it.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    name: String,
    classes: Vec<String>,
    id: Option<String>,
}

impl Facts {
    pub(super) fn of(tag: &Tag) -> Self {
        let classes = tag.attribute("class").unwrap_or_default();
        let classes = classes.split_ascii_whitespace().take(32).map(str::to_owned).collect();
        Self { name: tag.name.clone(), classes, id: tag.attribute("id") }
    }

    /// Whether it is an element of this name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }
}

impl StyleSheet {
    /// Reads every `<style>` of a page.
    pub(super) fn of(page: &str) -> Self {
        let mut sheet = Self::default();
        let mut left = MAX_SHEET;
        let mut tokens = tokens(page);
        while let Some(token) = tokens.next() {
            let Token::Open(tag) = token else { continue };
            if tag.name != "style" || tag.attribute("media").is_some_and(|media| !is_for_screens(&media)) {
                continue;
            }
            if let Some(Token::Text(text)) = tokens.next() {
                let text = text.get(..text.floor_char_boundary(left)).unwrap_or_default();
                left -= text.len();
                sheet.read(&without_comments(text), MAX_BLOCKS);
            }
        }
        sheet
    }

    fn read(&mut self, text: &str, blocks: usize) {
        let mut rest = text;
        while let Some((head, after)) = rest.split_once('{') {
            let head = head.rsplit([';', '}']).next().unwrap_or_default().trim();
            let (body, next) = block(after);
            rest = next;
            let is_inner =
                |name: &str| head.get(..name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name));
            if is_inner("@media") {
                if blocks > 0 && is_for_screens(head.get("@media".len()..).unwrap_or_default()) {
                    self.read(body, blocks - 1);
                }
            } else if is_inner("@supports") || is_inner("@layer") || is_inner("@container") {
                if blocks > 0 {
                    self.read(body, blocks - 1);
                }
            } else if !head.starts_with('@') {
                let style = Style::read(body);
                if !style.is_empty() {
                    head.split(',').for_each(|selector| self.add(selector, &style));
                }
            }
        }
    }

    fn add(&mut self, selector: &str, style: &Style) {
        let Some(parts) = parts(selector).filter(|_| self.rules.len() < MAX_RULES) else { return };
        let Some(key) = parts.last().map(Part::key) else { return };
        self.by_key.entry(key).or_default().push(self.rules.len());
        let weight = parts.iter().map(Part::weight).sum();
        self.rules.push(Rule { parts, weight, style: style.clone() });
    }

    /// What the rules say about an element; `None` where finding out would take too long.
    pub(super) fn style(&mut self, tag: &Tag, own: &Facts, around: &[Facts]) -> Option<Style> {
        let keys = own.classes.iter().map(|class| format!(".{class}"));
        let id = own.id.iter().map(|id| format!("#{id}"));
        let keys = keys.chain(id).chain([own.name.clone(), "*".to_owned()]);
        let mut found: Vec<usize> = Vec::new();
        for at in keys.filter_map(|key| self.by_key.get(&key)).flatten() {
            self.matches +=
                1 + around.len() * usize::from(self.rules.get(*at).is_some_and(|rule| rule.parts.len() > 1));
            if self.matches > MAX_MATCHES {
                return None;
            }
            if self.rules.get(*at).is_some_and(|rule| rule.means(tag, own, around)) {
                found.push(*at);
            }
        }
        // The heavier selector wins, and of two that weigh the same the later one.
        found.sort_by_key(|at| (self.rules.get(*at).map(|rule| rule.weight), *at));
        let mut style = Style::default();
        found.iter().filter_map(|at| self.rules.get(*at)).for_each(|rule| style.overlay(&rule.style));
        Some(style)
    }
}

impl Rule {
    fn means(&self, tag: &Tag, own: &Facts, around: &[Facts]) -> bool {
        let Some((last, outer)) = self.parts.split_last() else { return false };
        if !last.means(own) || !last.attributes.iter().all(|(name, value)| has(tag, name, value.as_deref())) {
            return false;
        }
        // Each outer part has to be somewhere around, the nearest first. Attributes of those are not known any more.
        let mut around = around.iter().rev();
        outer.iter().rev().all(|part| around.any(|facts| part.means(facts)))
    }
}

fn has(tag: &Tag, name: &str, value: Option<&str>) -> bool {
    tag.attribute(name).is_some_and(|own| value.is_none_or(|value| own == value))
}

impl Part {
    fn means(&self, facts: &Facts) -> bool {
        self.name.as_ref().is_none_or(|name| *name == facts.name)
            && self.id.as_ref().is_none_or(|id| facts.id.as_ref() == Some(id))
            && self.classes.iter().all(|class| facts.classes.contains(class))
    }

    fn key(&self) -> String {
        match (self.classes.first(), &self.id, &self.name) {
            (Some(class), ..) => format!(".{class}"),
            (None, Some(id), _) => format!("#{id}"),
            (None, None, Some(name)) => name.clone(),
            (None, None, None) => "*".to_owned(),
        }
    }

    fn weight(&self) -> usize {
        let ids = usize::from(self.id.is_some()) * 10_000;
        ids + (self.classes.len() + self.attributes.len()) * 100 + usize::from(self.name.is_some())
    }
}

/// The parts of a selector, or nothing where it is more than is read here.
fn parts(selector: &str) -> Option<Vec<Part>> {
    let words = selector.split([' ', '\t', '\n', '\r', '>']).map(str::trim).filter(|word| !word.is_empty());
    let parts: Vec<Part> = words.take(9).map(part).collect::<Option<_>>()?;
    (!parts.is_empty() && parts.len() < 9).then_some(parts)
}

fn part(text: &str) -> Option<Part> {
    let mut part = Part::default();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let mut rest = text;
    while let Some(mark) = rest.chars().next() {
        if mark == '[' {
            let (inner, after) = rest.get(1..)?.split_once(']')?;
            let (name, value) =
                inner.split_once('=').map_or((inner, None), |(name, value)| (name, Some(value)));
            let is_plain = name.chars().all(is_name) && !name.is_empty();
            let value = value.map(|value| value.trim_matches(['"', '\'']).to_owned());
            part.attributes.push(is_plain.then(|| (name.to_owned(), value))?);
            rest = after;
            continue;
        }
        let start = rest.get(usize::from(matches!(mark, '.' | '#' | '*'))..)?;
        let end = start.find(|c| !is_name(c)).unwrap_or(start.len());
        let (name, after) = start.split_at(end);
        match mark {
            '.' if !name.is_empty() => part.classes.push(name.to_owned()),
            '#' if !name.is_empty() => part.id = Some(name.to_owned()),
            '*' if name.is_empty() => {}
            c if is_name(c) && rest.len() == text.len() => part.name = Some(name.to_ascii_lowercase()),
            _ => return None,
        }
        rest = after;
    }
    Some(part)
}

/// What stands in a block, and what follows it. One that is not closed goes to the end.
fn block(text: &str) -> (&str, &str) {
    let mut depth = 1_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
        }
    }
    (text, "")
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        out.push(' ');
        rest = after.split_once("*/").map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}

/// Whether rules for these media hold on an ordinary screen. What depends on its size is taken as not holding: pages hide their
/// menus that way.
fn is_for_screens(media: &str) -> bool {
    let media = media.trim().to_ascii_lowercase();
    media.is_empty() || media.split(',').any(|one| matches!(one.trim(), "all" | "screen" | "only screen"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hides(css: &str, tag: &str) -> bool {
        let page = format!("<style>{css}</style>{tag}");
        let mut sheet = StyleSheet::of(&page);
        let mut around = Vec::new();
        for token in tokens(tag) {
            let Token::Open(tag) = token else { continue };
            let facts = Facts::of(&tag);
            if sheet.style(&tag, &facts, &around).is_some_and(|style| style.hides()) {
                return true;
            }
            around.push(facts);
        }
        false
    }

    #[test]
    fn rules_hide_what_their_selectors_mean() {
        let none = "{display:none}";
        for (selector, tag) in [
            (".x", "<p class='a x'>"),
            ("#x", "<p id=x>"),
            ("p", "<p>"),
            ("p.x", "<p class=x>"),
            (".a.x", "<p class='a x'>"),
            ("div .x", "<div><b><p class=x>"),
            ("div > .x", "<div><p class=x>"),
            (".a, .x", "<p class=x>"),
            ("[data-x]", "<p data-x>"),
            ("p[data-x='1']", "<p data-x=1>"),
            ("*", "<p>"),
            ("@media screen{.x{display:none}} .y", "<p class=x>"),
            ("/* c */ .x", "<p class=x>"),
            ("a{} .x", "<p class=x>"),
        ] {
            assert!(hides(&format!("{selector}{none}"), tag), "{selector}");
        }
        for (selector, tag) in [
            (".x", "<p class=y>"),
            ("p.x", "<b class=x>"),
            ("div .x", "<p class=x>"),
            (".x:hover", "<p class=x>"),
            (".x::before", "<p class=x>"),
            ("@media print{.x{display:none}} .y", "<p class=x>"),
            ("@media (max-width:600px){.x{display:none}} .y", "<p class=x>"),
        ] {
            assert!(!hides(&format!("{selector}{none}"), tag), "{selector}");
        }
        // The heavier selector wins, then the later one.
        assert!(!hides(".x{display:none}.x.open{display:block}", "<p class='x open'>"));
        assert!(!hides(".x.open{display:block}.x{display:none}", "<p class='x open'>"));
        assert!(!hides(".x{display:none}.x{display:block}", "<p class=x>"));
        assert!(!hides("{}{{}} }}", "<p>"));
    }
}
