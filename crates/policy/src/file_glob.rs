//! Globs of files, as rules write them.

mod token;

use self::token::{Token, tokens};
use crate::matchable::matchable;
use crate::place::{Place, clean, is_guarded};
use globset::{GlobBuilder, GlobMatcher};
use metier_diagnostic::acts;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// `docs/**`, `*.md`, `/etc/hosts`, `~/notes/**`: `*` stays inside a step, `**` goes through them, `[ab]`, `{a,b}` and `?`
/// are as in a shell, a backslash takes the meaning from the next character. `\u{25c6}` is that character and `\xff` that byte,
/// for names that cannot be written otherwise. A folder with a slash behind it means everything below.
#[derive(Clone, Debug)]
pub struct FileGlob {
    text: String,
    matcher: GlobMatcher,
}

/// Why a text is no glob.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoGlob {
    /// There is nothing there.
    #[error("the glob is missing; write one such as `docs/**`")]
    Empty,
    /// A step up: what it means would depend on where one stands.
    #[error("a glob has no `..`; name the folder itself")]
    Up,
    /// A character that would act on a terminal or end a line.
    #[error("a glob has no control characters")]
    Control,
    /// The library does not take it.
    #[error("{0}")]
    Shape(String),
}

impl FileGlob {
    /// The glob that means one file and nothing else.
    pub fn exact(path: &str) -> Result<Self, NoGlob> {
        Self::exact_name(path.as_bytes())
    }

    /// The glob that means one place and nothing else, by the name that people see.
    pub fn of_place(place: &Place) -> Result<Self, NoGlob> {
        Self::exact_name(&place.first_name())
    }

    /// The same for a name that need not be UTF-8. What a line cannot show, and what is lost at the end of a rule, is an escape.
    fn exact_name(name: &[u8]) -> Result<Self, NoGlob> {
        // Written as a folder it would mean everything below.
        let end = name.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        let name = &name[..end];
        let mut text = String::with_capacity(name.len());
        for chunk in name.utf8_chunks() {
            for c in chunk.valid().chars() {
                if acts(c) {
                    text.extend(c.escape_unicode());
                } else {
                    text.push_str(&escape(c.encode_utf8(&mut [0; 4])));
                }
            }
            text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
        }
        let seen = text.trim_end().len();
        let hidden: String = text.split_off(seen).chars().flat_map(char::escape_unicode).collect();
        (text + &hidden).parse()
    }

    /// Whether a path is meant.
    pub fn matches(&self, path: &str) -> bool {
        self.matcher.is_match(&*matchable(path.as_bytes()))
    }

    /// Whether a place is meant by one of its names. A glob that does not start at the root or at home means names
    /// below the folder it is seen from: `**` is the project, not the machine.
    pub fn means(&self, place: &Place) -> bool {
        let is_seen =
            |name: &str| self.starts_elsewhere() || !(name.starts_with(['/', '~']) || is_outside(name));
        place.names().any(|name| is_seen(name) && self.matches_as(place, name))
    }

    /// Whether a name of a place is meant. What means everything below a folder means the folder, too: it cannot be written
    /// without it.
    fn matches_as(&self, place: &Place, name: &str) -> bool {
        self.matcher.is_match(name) || (place.is_folder() && self.matcher.is_match(format!("{name}/")))
    }

    /// Whether writing to a place is meant. One that takes a yes to the very question is meant only by itself: `**` was
    /// written with the project's files in mind, not with `.git/hooks`.
    pub fn covers(&self, place: &Place) -> bool {
        self.means(place) && (self.is_exact() || !place.is_guarded())
    }

    fn starts_elsewhere(&self) -> bool {
        self.text.starts_with(['/', '~'])
    }

    /// Whether a rule that narrows has anything to do with a place: it is meant, it lies below what is meant, or the
    /// glob is a bare file name, which in the clients that such rules come from means the file in any folder.
    pub fn touches(&self, place: &Place) -> bool {
        place.names().any(|name| {
            let is_bare = !self.text.contains('/');
            let last = name.rsplit('/').next().unwrap_or(name);
            self.matches_as(place, name)
                || (is_bare && self.matcher.is_match(last))
                || ancestors(name).any(|above| self.matcher.is_match(above))
        })
    }

    /// Whether everything that another glob means is meant here too, as far as that can be said from the texts. Not to
    /// know is to say no.
    pub fn covers_glob(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        // As a place, not as a text: `**` matches the text `/etc/hosts` and does not mean that file.
        if other.is_exact() {
            return self.covers(&Place::from_bytes(&other.literal()));
        }
        // What takes a yes to the very question is meant by its own name only, one file of it or many.
        if is_guarded(&other.fixed_steps().join("/")) {
            return false;
        }
        let Some(folder) = self.text.strip_suffix("**") else { return false };
        if folder.contains(SPECIAL) || !(folder.is_empty() || folder.ends_with('/')) {
            return false;
        }
        // `**` alone is everything below the folder that globs are seen from, and nothing outside.
        let is_relative = !other.starts_elsewhere();
        // A brace could hide a step of its own, so what it stands for is not compared.
        other.text.starts_with(folder)
            && (is_relative || !folder.is_empty())
            && !other.text.contains(['{', '\\'])
    }

    /// Whether two globs may mean the same file. Not to know is to say yes.
    pub fn meets(&self, other: &Self) -> bool {
        let (own, theirs) = (self.fixed_steps(), other.fixed_steps());
        let is_bare = !self.text.contains('/');
        is_bare || own.iter().zip(&theirs).all(|(a, b)| a == b)
    }

    /// The steps before the first one with anything special in it.
    fn fixed_steps(&self) -> Vec<&str> {
        let steps: Vec<&str> = self.text.split('/').collect();
        let fixed = steps.iter().take_while(|step| !step.contains(SPECIAL)).count();
        steps.into_iter().take(fixed).collect()
    }

    /// Whether it means one file only.
    pub fn is_exact(&self) -> bool {
        tokens(&self.text).all(|token| matches!(token, Token::Literal(_)))
    }

    /// The one file it means, where it is exact.
    fn literal(&self) -> Vec<u8> {
        let literal = |token| if let Token::Literal(bytes) = token { bytes } else { Vec::new() };
        tokens(&self.text).flat_map(literal).collect()
    }

    /// Whether it names a place inside the project: its first step is literal, and it does not start elsewhere. `**` and
    /// `*.md` name no place, and a skill that could grant itself those could grant itself the project.
    pub fn names_a_place(&self) -> bool {
        let first = self.text.split('/').next().unwrap_or_default();
        !first.is_empty() && first != "~" && !first.starts_with('~') && !first.contains(SPECIAL)
    }
}

/// Characters that make a glob more than a path.
const SPECIAL: &[char] = &['*', '?', '[', ']', '{', '}', '\\'];

/// A text in which no character is special.
fn escape(text: &str) -> String {
    // The library leaves a backslash alone, which would take the meaning from the next character.
    globset::escape(text).replace('\\', "\\\\")
}

/// A glob as the library reads it: without our own escapes, and with names as [`matchable`] writes them.
fn pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    // Bytes that follow each other may be one character.
    let mut literal = Vec::new();
    let flush = |literal: &mut Vec<u8>, pattern: &mut String| {
        // A comma would part what is in braces.
        pattern.push_str(&escape(&matchable(literal)).replace(',', "[,]"));
        literal.clear();
    };
    for token in tokens(text) {
        match token {
            Token::Literal(bytes) => literal.extend(bytes),
            Token::Special(special) => {
                flush(&mut literal, &mut pattern);
                pattern.push_str(special);
            }
        }
    }
    flush(&mut literal, &mut pattern);
    pattern
}

fn is_outside(name: &str) -> bool {
    name == ".." || name.starts_with("../")
}

fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter(|(at, _)| *at > 0).filter_map(|(at, _)| path.get(..at))
}

impl FromStr for FileGlob {
    type Err = NoGlob;

    fn from_str(text: &str) -> Result<Self, NoGlob> {
        if text.is_empty() {
            return Err(NoGlob::Empty);
        }
        if text.chars().any(char::is_control) {
            return Err(NoGlob::Control);
        }
        if text.split('/').any(|step| step == "..") {
            return Err(NoGlob::Up);
        }
        // The root is a folder however it is written: `/.` shown as `/` would mean more when it is read back.
        let below = if text.ends_with('/') || clean(text) == "/" { "/**" } else { "" };
        let text = clean(&format!("{text}{below}"));
        let glob = GlobBuilder::new(&pattern(&text)).literal_separator(true).backslash_escape(true).build();
        let glob = glob.map_err(|error| NoGlob::Shape(error.kind().to_string()))?;
        Ok(Self { matcher: glob.compile_matcher(), text })
    }
}

impl fmt::Display for FileGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for FileGlob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for FileGlob {}

impl Hash for FileGlob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(text: &str) -> FileGlob {
        text.parse().unwrap()
    }

    #[test]
    fn a_star_stays_in_its_step_and_two_go_through() {
        for (text, path, expect) in [
            ("docs/*", "docs/a.md", true),
            ("docs/*", "docs/a/b.md", false),
            ("docs/**", "docs/a/b.md", true),
            ("docs/", "docs/a/b.md", true),
            ("./docs/**", "docs/a.md", true),
            ("**/*.md", "a.md", true),
            ("**", "a/b", true),
            ("docs/**", "docsx/a", false),
            ("a[1].md", "a1.md", true),
        ] {
            assert_eq!(glob(text).matches(path), expect, "{text} {path}");
        }
    }

    #[test]
    fn a_guarded_place_is_covered_by_its_own_name_only() {
        let hook = Place::new(".git/hooks/pre-commit");
        assert!(!glob("**").covers(&hook) && !glob(".git/**").covers(&hook));
        assert!(glob(".git/hooks/pre-commit").covers(&hook));
        assert!(glob("**").touches(&hook));
    }

    #[test]
    fn a_glob_without_a_root_stays_below_the_folder_it_is_seen_from() {
        for (text, path, expect) in [
            ("**", "docs/a", true),
            ("**", "/etc/passwd", false),
            ("**", "~/x", false),
            ("**", "../x", false),
            ("/etc/*", "/etc/passwd", true),
            ("~/**", "~/x", true),
        ] {
            assert_eq!(glob(text).means(&Place::new(path)), expect, "{text} {path}");
        }
    }

    #[test]
    fn a_rule_that_narrows_reaches_below_a_folder_and_a_bare_name_anywhere() {
        for (text, path, expect) in [
            ("secrets", "secrets/a/b", true),
            (".env", "deep/down/.env", true),
            ("*.pem", "deep/x.pem", true),
            ("a/.env", "b/.env", false),
            ("docs/**", "src/a", false),
        ] {
            assert_eq!(glob(text).touches(&Place::new(path)), expect, "{text} {path}");
        }
    }

    #[test]
    fn one_glob_covers_another_only_where_that_is_certain() {
        for (wide, narrow, expect) in [
            ("docs/**", "docs/**", true),
            ("docs/**", "docs/a/*.md", true),
            ("docs/**", "docs/a.md", true),
            ("**", "src/*", true),
            ("**", "/etc/*", false),
            ("**", "/etc/hosts", false),
            ("**", ".git/hooks/x", false),
            ("**", ".git/hooks/*", false),
            (".git/hooks/*", ".git/hooks/*", true),
            ("**", "~/x", false),
            ("*", "~", false),
            ("docs/**", "docsx/*", false),
            ("docs/*", "docs/**", false),
            ("docs/**", "**", false),
            ("docs/**", "docs/{a,..}/*", false),
        ] {
            assert_eq!(glob(wide).covers_glob(&glob(narrow)), expect, "{wide} covers {narrow}");
        }
        for (a, b, expect) in [
            ("secrets/**", "**", true),
            ("secrets/**", "docs/**", false),
            ("secrets/**", "secrets/a", true),
            ("*.pem", "docs/**", true),
        ] {
            assert_eq!(glob(a).meets(&glob(b)), expect, "{a} meets {b}");
        }
    }

    #[test]
    fn the_glob_of_one_file_means_that_file() {
        for path in
            ["docs/a.md", "a[1].md", "what?.md", "{x}.md", "a*b", "[", "a,b", r"a\b", r"\*", " a'b\"c"]
        {
            let exact = FileGlob::exact(path).unwrap();
            assert!(exact.is_exact() && exact.matches(path), "{path}: {exact}");
            assert_eq!(exact.literal(), path.as_bytes());
            assert_eq!(FileGlob::exact(&format!("{path}/")), Ok(exact));
        }
        for text in ["a*", "[ab]", "{a,b}", "x?"] {
            assert!(!glob(text).is_exact(), "{text}");
        }
    }

    #[test]
    fn a_name_that_cannot_be_written_gets_escapes() {
        for (place, expect) in [
            (Place::new("docs/a b.md"), "docs/a b.md"),
            (Place::new("a*[1].md"), "a[*][[]1[]].md"),
            (Place::new("docs/a\nb\u{202e}.md"), r"docs/a\u{a}b\u{202e}.md"),
            (Place::new("docs/a  "), r"docs/a\u{20}\u{20}"),
            (Place::new("a\u{3000}"), r"a\u{3000}"),
            (Place::new(r"a\x80"), r"a\\x80"),
            (Place::from_bytes(b"docs/\xff.md"), r"docs/\xff.md"),
            (Place::from_bytes(b".git/hooks/\xff"), r".git/hooks/\xff"),
        ] {
            let glob = FileGlob::of_place(&place).unwrap();
            assert_eq!(glob.to_string(), expect);
            assert!(glob.covers(&place) && glob.is_exact(), "{expect}");
        }
        assert!(!glob(r"\xff").covers(&Place::from_bytes(b"\xfe")));
        assert!(!glob(r"\xff").covers(&Place::new("\u{fffd}")));
        assert!(glob(r"\xc3\xa4\u{2a}").means(&Place::new("ä*")) && !glob(r"a\u{2a}").matches("ab"));
        assert!(glob(r"*\xff").means(&Place::from_bytes(b"ab\xff")) && !glob(r"*\xff").is_exact());
        // As before: a backslash takes the meaning from what follows.
        assert!(glob(r"\u\x1").matches("ux1") && glob(r"\*").matches("*"));
    }

    #[test]
    fn everything_below_a_folder_is_the_folder_too() {
        assert!(glob("docs/**").covers(&Place::new("docs").folder()));
        assert!(glob("docs/**").touches(&Place::new("docs").folder()));
        assert!(!glob("docs/**").covers(&Place::new("docs")));
        assert!(!glob("docs/*.md").covers(&Place::new("docs").folder()));
        assert!(!glob("docs/a/**").covers(&Place::new("docs").folder()));
    }

    #[test]
    fn a_glob_names_a_place_when_its_first_step_is_literal() {
        for (text, expect) in [
            ("docs/**", true),
            ("a.md", true),
            ("**", false),
            ("*", false),
            ("*.md", false),
            ("/etc/**", false),
            ("~/x", false),
            ("{docs,src}/**", false),
        ] {
            assert_eq!(glob(text).names_a_place(), expect, "{text}");
        }
    }

    #[test]
    fn what_is_no_glob_is_said() {
        assert_eq!("".parse::<FileGlob>(), Err(NoGlob::Empty));
        assert_eq!("a/../b".parse::<FileGlob>(), Err(NoGlob::Up));
        assert_eq!("a\nb".parse::<FileGlob>(), Err(NoGlob::Control));
        assert!(matches!("a[".parse::<FileGlob>(), Err(NoGlob::Shape(_))));
    }
}
