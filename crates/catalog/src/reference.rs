//! How people and agent files name a skill: `deploy`, `deploy@^1.2`, `project.claude:deploy`.

use crate::origin::Origin;
use crate::version::Requirement;
use std::fmt;
use std::str::FromStr;

/// A skill that somebody asks for.
///
/// ```
/// use metier_catalog::Reference;
///
/// let reference: Reference = "project.claude:deploy@^1.2".parse()?;
/// assert_eq!(reference.name, "deploy");
/// assert_eq!(reference.origin.unwrap().to_string(), "project.claude");
/// # Ok::<(), metier_catalog::ReferenceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Where it must come from.
    pub origin: Option<Origin>,
    /// What it is called; also its folder's name or its title.
    pub name: String,
    /// What its version must satisfy.
    pub requirement: Option<Requirement>,
}

/// Why a text names no skill.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// There is no name.
    #[error("`{0}` has no name in it")]
    NoName(String),
    /// It looks like a path. Skills are named, never reached by a path, or an agent file could reach any folder.
    #[error("`{0}` is a path; a skill is referred to by its name")]
    Path(String),
    /// There is an `@` and nothing behind it.
    #[error("`{0}` has an `@` with no version behind it")]
    NoRequirement(String),
}

impl Reference {
    /// A bare name.
    pub fn name(name: impl Into<String>) -> Self {
        Self { origin: None, name: name.into(), requirement: None }
    }
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(written: &str) -> Result<Self, ReferenceError> {
        let text = written.trim();
        // What stands before a colon is an origin only if there is such an origin: `stitch::react` is a title.
        let (origin, rest) = match text.split_once(':') {
            Some((before, after)) => match Origin::parse(before) {
                Some(origin) => (Some(origin), after),
                None => (None, text),
            },
            None => (None, text),
        };
        let (name, requirement) = match rest.split_once('@') {
            Some((name, requirement)) => {
                let requirement = Requirement::parse(requirement);
                (name, Some(requirement.ok_or_else(|| ReferenceError::NoRequirement(written.to_owned()))?))
            }
            None => (rest, None),
        };
        let name = name.trim();
        if name.is_empty() {
            return Err(ReferenceError::NoName(written.to_owned()));
        }
        if name.starts_with(['/', '~', '\\'])
            || name.split(['/', '\\']).any(|step| matches!(step, "." | ".."))
        {
            return Err(ReferenceError::Path(written.to_owned()));
        }
        Ok(Self { origin, name: name.to_owned(), requirement })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(f, "{origin}:")?;
        }
        f.write_str(&self.name)?;
        match &self.requirement {
            Some(requirement) => write!(f, "@{requirement}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_in_all_their_parts() {
        let table = [
            ("deploy", None, "deploy", None),
            (" deploy ", None, "deploy", None),
            ("deploy@^1.2", None, "deploy", Some("^1.2")),
            ("project:deploy", Some("project"), "deploy", None),
            ("project.claude:deploy@1", Some("project.claude"), "deploy", Some("1")),
            ("mcp.github:issues", Some("mcp.github"), "issues", None),
            ("stitch::react-components", None, "stitch::react-components", None),
            ("PDF Processing!", None, "PDF Processing!", None),
        ];
        for (text, origin, name, requirement) in table {
            let reference: Reference = text.parse().unwrap();
            assert_eq!(reference.origin.map(|origin| origin.to_string()).as_deref(), origin, "{text}");
            assert_eq!(reference.name, name);
            assert_eq!(reference.requirement.map(|found| found.to_string()).as_deref(), requirement);
        }
        for text in ["deploy", "user:deploy@>=1, <2"] {
            assert_eq!(text.parse::<Reference>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn paths_and_missing_parts_are_refused() {
        let check = |text: &str| text.parse::<Reference>().unwrap_err();
        for text in ["../outside", "a/../b", "/etc/passwd", "~/x", ".", "user:../x", "..\\x"] {
            assert_eq!(check(text), ReferenceError::Path(text.to_owned()));
        }
        for text in ["", "  ", "@1", "project:", "user:@1"] {
            assert_eq!(check(text), ReferenceError::NoName(text.to_owned()));
        }
        assert_eq!(check("deploy@"), ReferenceError::NoRequirement("deploy@".to_owned()));
    }
}
