//! Names with `*` in them, and which skill a rule means.

use std::fmt;
use std::str::FromStr;

/// A name in which `*` stands for any run of characters, none included.
///
/// Names have no steps, so `*` needs no second form, and nothing else in them is special: a name is never a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameGlob(String);

/// Why a text is no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoName {
    /// There is nothing there.
    #[error("the name is missing")]
    Empty,
    /// A character that no name has.
    #[error("a name has no `{}`", .0.escape_debug())]
    Character(char),
}

impl NameGlob {
    /// Whether a name is meant.
    pub fn matches(&self, name: &str) -> bool {
        wild(&self.0, name)
    }

    /// The same without regard to case: whoever denies a name means it however it is spelled.
    pub fn touches(&self, name: &str) -> bool {
        self.matches(name) || wild(&self.0.to_lowercase(), &name.to_lowercase())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it means one name only.
    pub fn is_exact(&self) -> bool {
        !self.0.contains('*')
    }
}

impl FromStr for NameGlob {
    type Err = NoName;

    fn from_str(text: &str) -> Result<Self, NoName> {
        if text.is_empty() {
            return Err(NoName::Empty);
        }
        let is_foreign =
            |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | ':' | '(' | ')' | ',');
        match text.chars().find(|c| is_foreign(*c)) {
            Some(c) => Err(NoName::Character(c)),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for NameGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether `*` in the pattern can be filled so that it is the text. The pieces between stars are found from the left,
/// the first and the last at their ends, so the time is the product of the lengths at worst.
fn wild(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let (middle, last) = rest.rsplit_once('*').map_or(("", rest), |(middle, last)| (middle, last));
    for piece in middle.split('*').filter(|piece| !piece.is_empty()) {
        match text.find(piece) {
            Some(at) => text = text.get(at + piece.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    text.ends_with(last)
}

/// The origins that only the user, the administrator or metier itself can fill. `Settings::needs` in `metier-catalog` has the
/// same ones.
const OWN_CLASSES: &[&str] = &["user", "system", "config", "bundled"];

/// Which skills a rule means: `NAME` or `ORIGIN:NAME`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillPattern {
    /// Where they come from; without one, from anywhere. `project` means `project.claude` too.
    pub origin: Option<NameGlob>,
    /// What they are called.
    pub name: NameGlob,
}

impl SkillPattern {
    /// Whether a skill is meant.
    pub fn matches(&self, name: &str, origin: &str) -> bool {
        self.name.matches(name) && self.is_from(origin)
    }

    /// The same without regard to the case of the name, for rules that narrow.
    pub fn touches(&self, name: &str, origin: &str) -> bool {
        self.name.touches(name) && self.is_from(origin)
    }

    /// Whether a rule of the user's that widens may mean a skill from there. A name alone means the user's own skills: a
    /// project, a server or a plugin can take any name. `*` names nobody in particular and means all.
    pub(crate) fn may_widen(&self, origin: &str) -> bool {
        let class = origin.split_once('.').map_or(origin, |(class, _)| class);
        self.origin.is_some() || self.name.0 == "*" || OWN_CLASSES.contains(&class)
    }

    fn is_from(&self, origin: &str) -> bool {
        let class = origin.split_once('.').map_or(origin, |(class, _)| class);
        self.origin.as_ref().is_none_or(|own| own.matches(origin) || own.matches(class))
    }
}

impl FromStr for SkillPattern {
    type Err = NoName;

    fn from_str(text: &str) -> Result<Self, NoName> {
        Ok(match text.split_once(':') {
            Some((origin, name)) => Self { origin: Some(origin.parse()?), name: name.parse()? },
            None => Self { origin: None, name: text.parse()? },
        })
    }
}

impl fmt::Display for SkillPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Some(origin) => write!(f, "{origin}:{}", self.name),
            None => self.name.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_run() {
        for (pattern, name, expect) in [
            ("deploy", "deploy", true),
            ("deploy", "deploy-x", false),
            ("*", "", true),
            ("*", "anything", true),
            ("git-*", "git-log", true),
            ("git-*", "git-", true),
            ("git-*", "git", false),
            ("*-prod", "deploy-prod", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*a", "a", false),
            ("**", "x", true),
            ("ab*ba", "aba", false),
            ("[a]", "a", false),
            ("ä*", "äb", true),
        ] {
            let glob: NameGlob = pattern.parse().unwrap();
            assert_eq!(glob.matches(name), expect, "{pattern} {name}");
        }
    }

    #[test]
    fn a_skill_is_meant_by_name_from_anywhere_or_from_its_origin() {
        for (pattern, name, origin, expect) in [
            ("deploy", "deploy", "project.claude", true),
            ("project:deploy", "deploy", "project.claude", true),
            ("project.claude:deploy", "deploy", "project.claude", true),
            ("project.agents:deploy", "deploy", "project.claude", false),
            ("user:deploy", "deploy", "project", false),
            ("project:*", "deploy", "project.agents", true),
            ("mcp.*:x", "x", "mcp.github", true),
        ] {
            let skill: SkillPattern = pattern.parse().unwrap();
            assert_eq!(skill.matches(name, origin), expect, "{pattern}");
            assert_eq!(skill.to_string(), pattern);
        }
        let deny: SkillPattern = "secret".parse().unwrap();
        assert!(deny.touches("SECRET", "user") && !deny.matches("SECRET", "user"));
    }

    #[test]
    fn what_no_name_has_is_said() {
        assert_eq!("".parse::<NameGlob>(), Err(NoName::Empty));
        assert_eq!("a b".parse::<NameGlob>(), Err(NoName::Character(' ')));
        assert_eq!("a:b:c".parse::<SkillPattern>(), Err(NoName::Character(':')));
    }
}
