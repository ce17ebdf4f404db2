//! Names: what a skill is called, and what becomes of a name that cannot be called.

use std::fmt;
use std::sync::Arc;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The longest canonical name, in characters.
pub const MAX_NAME: usize = 64;

/// A name by which a skill is called. Never used as a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillName(Arc<str>);

impl SkillName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name with a number behind it, for the later of two skills whose slugs are the same.
    #[must_use]
    pub fn numbered(&self, number: usize) -> Self {
        Self(format!("{}-{number}", self.0).into())
    }

    /// The form in which names that differ only in case or Unicode form are equal.
    pub fn folded(&self) -> String {
        self.0.nfkc().flat_map(char::to_lowercase).collect()
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What became of a written name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Naming {
    /// By every client's rules.
    Canonical(SkillName),
    /// Callable as it is, though not by the rules; with what is odd about it.
    Accepted(SkillName, Vec<&'static str>),
    /// Not callable: the written name is a title, the name is its slug.
    Slugged {
        /// The name it is called by.
        name: SkillName,
        /// What was written.
        title: String,
    },
    /// No name at all.
    Refused(NameRefusal),
}

/// Why a written name gives no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRefusal {
    /// Nothing but blanks.
    Empty,
    /// A control character inside.
    ControlCharacter,
    /// `.` or `..`.
    PathStep,
    /// Nothing left of it.
    Unusable,
}

/// Judges a written name.
pub fn judge(written: &str) -> Naming {
    let written = trimmed(written);
    if is_canonical(written) {
        return Naming::Canonical(SkillName(written.into()));
    }
    if written.is_empty() {
        return Naming::Refused(NameRefusal::Empty);
    }
    if written.chars().any(char::is_control) {
        return Naming::Refused(NameRefusal::ControlCharacter);
    }
    if matches!(written, "." | "..") {
        return Naming::Refused(NameRefusal::PathStep);
    }
    let normal: String = written.nfkc().collect();
    if normal.starts_with('-') || !normal.chars().all(is_callable) {
        let slug = slug(&normal);
        if slug.is_empty() {
            return Naming::Refused(NameRefusal::Unusable);
        }
        return Naming::Slugged { name: SkillName(slug.into()), title: written.to_owned() };
    }
    let oddities = oddities(&normal);
    let name = SkillName(normal.into());
    if oddities.is_empty() { Naming::Canonical(name) } else { Naming::Accepted(name, oddities) }
}

/// Lower-case letters, digits, single inner hyphens, at most 64.
pub fn is_canonical(name: &str) -> bool {
    // A hyphen stands behind something else and before something else. Every name is asked, so one look has to do.
    let mut is_after_hyphen = true;
    let is_allowed = |byte: u8| {
        let is_hyphen = byte == b'-';
        let is_second = std::mem::replace(&mut is_after_hyphen, is_hyphen) && is_hyphen;
        !is_second && matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')
    };
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_allowed) && !is_after_hyphen
}

/// The call name made from any text: lower case, every run of other characters one hyphen, edges trimmed, 64 at most.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    let mut length = 0;
    let mut gap = false;
    for c in text.nfkc().flat_map(char::to_lowercase) {
        if !(c.is_alphanumeric() || is_combining_mark(c)) {
            gap = true;
            continue;
        }
        let needed = if gap && !slug.is_empty() { 2 } else { 1 };
        if length + needed > MAX_NAME {
            break;
        }
        if needed == 2 {
            slug.push('-');
        }
        slug.push(c);
        length += needed;
        gap = false;
    }
    slug
}

/// A name in the form in which it is compared with a folder's name.
pub(crate) fn normal_form(text: &str) -> String {
    text.nfkc().collect()
}

/// A written name without the blanks and line breaks around it, which come from how it was written. Other control
/// characters are no blanks, whatever Unicode says.
pub(crate) fn trimmed(written: &str) -> &str {
    written.trim_matches(|c: char| matches!(c, '\n' | '\r' | '\t') || (c.is_whitespace() && !c.is_control()))
}

/// Whether a character may stand in a name that is called as it is written.
fn is_callable(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    }
    (c.is_alphanumeric() || is_combining_mark(c)) && c.to_lowercase().eq([c])
}

fn oddities(name: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut note = |is: bool, what| {
        if is {
            found.push(what);
        }
    };
    note(name.chars().any(|c| c.is_ascii_uppercase()), "upper-case letters");
    note(name.contains('_'), "an underscore");
    note(name.ends_with('-'), "a trailing hyphen");
    note(name.contains("--"), "a double hyphen");
    note(!name.is_ascii(), "letters outside a-z");
    note(name.chars().count() > MAX_NAME, "more than 64 characters");
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, expect: &str) {
        let shown = match judge(written) {
            Naming::Canonical(name) => name.to_string(),
            Naming::Accepted(name, oddities) => format!("{name} [{}]", oddities.join(", ")),
            Naming::Slugged { name, title } => format!("{name} <{title}>"),
            Naming::Refused(why) => format!("{why:?}"),
        };
        assert_eq!(shown, expect, "{written:?}");
    }

    #[test]
    fn names_by_the_rules_stay_as_they_are() {
        check("pdf", "pdf");
        check(" pdf-tools ", "pdf-tools");
        check("a", "a");
        check(&"x".repeat(64), &"x".repeat(64));
    }

    #[test]
    fn callable_names_are_accepted_with_what_is_odd() {
        check("Review_PR", "Review_PR [upper-case letters, an underscore]");
        check("pdf-", "pdf- [a trailing hyphen]");
        check("pdf--x", "pdf--x [a double hyphen]");
        check("短视频", "短视频 [letters outside a-z]");
        check("отчёт", "отчёт [letters outside a-z]");
        check("cafe\u{301}", "café [letters outside a-z]");
        check("हिन्दी", "हिन्दी [letters outside a-z]");
        check("ｐｄｆ", "pdf");
        check(&"x".repeat(65), &format!("{} [more than 64 characters]", "x".repeat(65)));
    }

    #[test]
    fn other_names_become_titles_and_are_called_by_their_slug() {
        check("PDF Processing!", "pdf-processing <PDF Processing!>");
        check("-pdf", "pdf <-pdf>");
        check("stitch::react-components", "stitch-react-components <stitch::react-components>");
        check("../../evil", "evil <../../evil>");
        check("Отчёт", "отчёт <Отчёт>");
        check("a.b/c", "a-b-c <a.b/c>");
        check("novafon\\_api", "novafon-api <novafon\\_api>");
        check("$(id)", "id <$(id)>");
        let long = format!("{} tail", "word ".repeat(20));
        check(&long, &format!("{} <{}>", "word-".repeat(20)[..64].trim_end_matches('-'), long));
    }

    #[test]
    fn what_gives_no_name_says_why() {
        check("", "Empty");
        check("  ", "Empty");
        check("..", "PathStep");
        check(".", "PathStep");
        check("a\u{7}b", "ControlCharacter");
        check("a\nb", "ControlCharacter");
        check("\u{85}a", "ControlCharacter");
        check("a\u{b}", "ControlCharacter");
        check("!!!", "Unusable");
        check("🎯", "Unusable");
    }
}
