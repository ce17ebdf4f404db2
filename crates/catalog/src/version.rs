//! Versions as authors write them, and what a reference may ask of them.

use std::cmp::Ordering;
use std::fmt;

/// A version: its exact text and, where it is one, the semantic version it means.
///
/// Authors write `1.2`, `v1.10` and `2024.01.05` where a semantic version has three plain numbers. All of them are
/// understood; the text is what is shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    text: Box<str>,
    semantic: Option<semver::Version>,
}

impl Version {
    /// Reads a version. Anything is one; what is not semantic sorts below what is.
    pub fn new(text: &str) -> Self {
        Self { text: text.into(), semantic: lenient(text) }
    }

    /// Which of two versions is the higher one. `None` is below `Some`, which is the rule for texts that are no versions; `1.2`
    /// and `1.2.0`, which are told apart by their texts, are equal here.
    pub fn rank(&self, other: &Self) -> Ordering {
        match (&self.semantic, &other.semantic) {
            (Some(own), Some(other)) => own.cmp_precedence(other),
            (None, None) => self.text.cmp(&other.text),
            (own, other) => own.is_some().cmp(&other.is_some()),
        }
    }
}

/// `1` and `1.2` get the missing zeros, a leading `v` and leading zeros go, `-beta` and `+build` stay.
fn lenient(text: &str) -> Option<semver::Version> {
    let text = text.trim();
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    let mut parts = [0_u64; 3];
    for (at, number) in numbers.split('.').enumerate() {
        // The parser of numbers takes a sign, a version does not.
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *parts.get_mut(at)? = number.parse().ok()?;
    }
    let [major, minor, patch] = parts;
    if rest.is_empty() {
        return Some(semver::Version::new(major, minor, patch));
    }
    semver::Version::parse(&format!("{major}.{minor}.{patch}{rest}")).ok()
}

/// Which of two skills has the higher version; one without a version is below every other.
pub(crate) fn rank(a: Option<&Version>, b: Option<&Version>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.rank(b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}

/// What stands behind the `@` of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    text: Box<str>,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// `*`: any version, none included.
    Any,
    /// `^1.2`, `1.2` (which means the same), `~1.2`, `>=1, <2`, `=1.2.3`.
    Semantic(semver::VersionReq),
    /// No requirement by the rules, so the version's own text is meant: `name@2024-spring`.
    Exact,
}

impl Requirement {
    /// Reads a requirement. Anything but blanks is one.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let bare = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let kind = if text == "*" {
            Kind::Any
        } else {
            semver::VersionReq::parse(bare).map_or(Kind::Exact, Kind::Semantic)
        };
        Some(Self { text: text.into(), kind })
    }

    /// Whether a version, or the absence of one, satisfies it.
    pub fn matches(&self, version: Option<&Version>) -> bool {
        match (&self.kind, version) {
            (Kind::Any, _) => true,
            (_, None) => false,
            (Kind::Exact, Some(version)) => version.text == self.text,
            (Kind::Semantic(requirement), Some(version)) => {
                version.semantic.as_ref().is_some_and(|semantic| requirement.matches(semantic))
                    // `name@1.0.0-rc1+3` and the like: who writes the version itself gets it.
                    || version.text == self.text
            }
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_generously_and_shown_exactly() {
        let table = [
            ("1.2.3", Some("1.2.3")),
            ("1.2", Some("1.2.0")),
            ("1", Some("1.0.0")),
            ("v1.10", Some("1.10.0")),
            ("V2", Some("2.0.0")),
            ("2024.01.05", Some("2024.1.5")),
            ("1.2-beta.1", Some("1.2.0-beta.1")),
            ("1.0.0+build", Some("1.0.0+build")),
            ("1.2.3.4", None),
            ("latest", None),
            ("", None),
            ("+1", None),
            ("1.", None),
            ("1..2", None),
            ("99999999999999999999", None),
        ];
        for (text, expected) in table {
            let version = Version::new(text);
            assert_eq!(version.semantic.as_ref().map(ToString::to_string).as_deref(), expected, "{text:?}");
            assert_eq!(&*version.text, text);
        }
    }

    #[test]
    fn versions_sort_by_number_and_other_texts_below() {
        let mut texts = ["1.10", "latest", "1.9", "v2.0.0-rc.1", "2", "alpha", "1.9.1"];
        texts.sort_by(|a, b| Version::new(a).rank(&Version::new(b)));
        assert_eq!(texts, ["alpha", "latest", "1.9", "1.9.1", "1.10", "v2.0.0-rc.1", "2"]);
        assert_ne!(Version::new("1.2"), Version::new("1.2.0"));
        assert_eq!(Version::new("1.2").rank(&Version::new("v1.2.0+5")), Ordering::Equal);
        assert_eq!(Version::new("1.2").rank(&Version::new("latest")), Ordering::Greater);
    }

    #[test]
    fn requirements_match_as_in_cargo() {
        let table = [
            ("^1.2", "1.2", true),
            ("^1.2", "1.10.0", true),
            ("^1.2", "2.0", false),
            ("^1.2", "1.1.9", false),
            ("1", "1.9", true),
            ("v1", "1.9", true),
            ("=1.2.3", "v1.2.3", true),
            (">=1, <2", "1.99", true),
            ("~1.2", "1.3", false),
            ("^1.2", "1.3.0-beta", false),
            ("^1.2", "latest", false),
            ("latest", "latest", true),
            ("2024-spring", "2024-spring", true),
            ("*", "latest", true),
        ];
        for (requirement, version, expected) in table {
            let requirement = Requirement::parse(requirement).unwrap();
            assert_eq!(
                requirement.matches(Some(&Version::new(version))),
                expected,
                "{version} for {requirement}"
            );
        }
        assert!(Requirement::parse("*").unwrap().matches(None));
        assert!(!Requirement::parse("1").unwrap().matches(None));
        assert_eq!(Requirement::parse(" "), None);
    }
}
