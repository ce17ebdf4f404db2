//! A file by every name that rules may use for it.

mod guarded;

pub use guarded::{holds_git_control, is_guarded};

use crate::matchable::{matchable, name_of};
use metier_diagnostic::escaped_name;
use std::fmt;

/// A place in the file system, cleaned of `.`, `..` and double slashes, by all of its names.
///
/// A rule may say `docs/**`, `~/notes/**` or `/srv/project/docs/**` and mean the same file, and a deny rule that is
/// passed by because the caller spelled a path the other way is no deny rule. So the caller gives the path once and
/// says from which folders it can be seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The name shown to people: the first name, with whatever a line cannot show as an escape.
    shown: String,
    /// Every name that patterns are held against, the shown one first, as [`matchable`] writes it.
    names: Vec<String>,
    guarded: bool,
    is_folder: bool,
}

impl Place {
    /// A path, relative to the folder that rules are seen from (the project, or the skill for its own files) or absolute.
    pub fn new(path: &str) -> Self {
        Self::from_bytes(path.as_bytes())
    }

    /// The same for a path as the system has it, which need not be UTF-8.
    pub fn from_bytes(path: &[u8]) -> Self {
        let path = clean(&matchable(path));
        let guarded = guarded::is_listed(&path);
        Self { shown: shown(&path), names: vec![path], guarded, is_folder: false }
    }

    /// The same place with a second name, where it lies below `folder`: `below("/srv/project", "")` gives the name
    /// relative to the project, `below("/home/ada", "~/")` the name with a tilde. The new name is the shown one.
    #[must_use]
    pub fn below(mut self, folder: &str, prefix: &str) -> Self {
        let folder = clean(&matchable(folder.as_bytes()));
        let rest = self.names.iter().find_map(|name| {
            let rest = name.strip_prefix(folder.as_str())?;
            rest.strip_prefix('/').filter(|rest| !rest.is_empty()).map(str::to_owned)
        });
        if let Some(rest) = rest {
            let name = format!("{prefix}{rest}");
            self.guarded |= guarded::is_listed(&name);
            self.shown = shown(&name);
            self.names.insert(0, name);
        }
        self
    }

    /// The same place as a folder: a glob such as `docs/**` means `docs` itself, too, and `.git` is git's own folder. Without it
    /// `.git` is taken for a file, which sends git to another folder and is protected.
    #[must_use]
    pub fn folder(mut self) -> Self {
        self.is_folder = true;
        self
    }

    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.is_folder
    }

    /// The same place, to be written only with a yes to this very question: a skill's folder, metier's configuration.
    /// The usual places of that kind (see [`is_guarded`]) are known without it.
    #[must_use]
    pub fn guarded(mut self) -> Self {
        self.guarded = true;
        self
    }

    /// Whether writing here takes a yes to this very question, whatever mode and rules say.
    pub fn is_guarded(&self) -> bool {
        self.guarded || (!self.is_folder && self.names.iter().any(|name| guarded::is_git_file(name)))
    }

    /// The bytes of its first name.
    pub(crate) fn first_name(&self) -> Vec<u8> {
        name_of(self.names.first().map_or("", String::as_str))
    }

    /// What tells it from every other place, for the key of an approval.
    pub(crate) fn key(&self) -> String {
        let name = self.first_name();
        match String::from_utf8(name) {
            Ok(text) => text,
            // A path has no NUL, so this is nobody's name.
            Err(error) => format!("\0{}", error.as_bytes().escape_ascii()),
        }
    }

    /// Whether it lies below the folder that rules are seen from.
    pub fn is_inside(&self) -> bool {
        !self.shown.starts_with(['/', '~']) && self.shown != ".." && !self.shown.starts_with("../")
    }

    /// Every name that patterns are held against, the shown one first.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The name shown to people.
    pub fn as_str(&self) -> &str {
        &self.shown
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// A name for people, as all lists of paths have it.
fn shown(name: &str) -> String {
    escaped_name(&name_of(name))
}

/// A path without empty steps, `.` and, as far as it can be said without looking, `..`.
pub(crate) fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => match steps.last() {
                Some(last) if *last != ".." => drop(steps.pop()),
                // Above the root is the root; above a relative path is outside and stays visible as such.
                _ if rooted => {}
                _ => steps.push(".."),
            },
            step => steps.push(step),
        }
    }
    let joined = steps.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_cleaned_without_looking() {
        for (path, expect) in [
            ("docs/a.md", "docs/a.md"),
            ("./docs//a.md", "docs/a.md"),
            ("docs/../.env", ".env"),
            ("docs/../../x", "../x"),
            ("/a/../../etc/passwd", "/etc/passwd"),
            ("", "."),
            ("/", "/"),
            ("a/.", "a"),
        ] {
            assert_eq!(clean(path), expect, "{path}");
        }
    }

    #[test]
    fn a_place_has_a_name_from_each_folder_it_is_seen_from() {
        let place =
            Place::new("/home/ada/code/docs/a.md").below("/home/ada", "~/").below("/home/ada/code/", "");
        assert_eq!(place.as_str(), "docs/a.md");
        let names: Vec<_> = place.names().collect();
        assert_eq!(names, ["docs/a.md", "~/code/docs/a.md", "/home/ada/code/docs/a.md"]);
        let beside = Place::new("/home/ada/codeshop/a").below("/home/ada/code", "");
        assert_eq!(beside.as_str(), "/home/ada/codeshop/a");
    }

    #[test]
    fn bytes_that_are_not_text_are_shown_and_told_apart() {
        let place = |byte: u8| {
            Place::from_bytes(&[b"/p/docs/a".as_slice(), &[byte], b".md"].concat()).below("/p", "")
        };
        assert_eq!(place(0xff).as_str(), r"docs/a\xff.md");
        assert_eq!(place(0xff).first_name(), b"docs/a\xff.md");
        assert_ne!(place(0xff).key(), place(0xfe).key());
        assert_ne!(place(0xff).key(), Place::new(place(0xff).as_str()).key());
        assert_eq!(Place::from_bytes(b"docs/a"), Place::new("docs/a"));
    }

    #[test]
    fn git_as_a_file_is_guarded_and_as_a_folder_is_not() {
        assert!(Place::new(".git").is_guarded() && Place::new("/p/sub/.Git").below("/p", "").is_guarded());
        assert!(!Place::new(".git").folder().is_guarded());
        assert!(Place::new(".git/hooks").folder().is_guarded());
    }

    #[test]
    fn places_that_act_later_are_guarded() {
        for path in [
            ".mcp.json",
            "sub/.git/hooks/pre-commit",
            ".GIT/hooks/x",
            "~/.bashrc",
            ".claude/settings.json",
            "skills/pdf/SKILL.md",
            "metier.toml",
            ".git/config",
            ".github/workflows/ci.yml",
            "work.code-workspace",
            "grüße.code-workspace",
            "GEMINI.md",
            "~/.config/fish/config.fish",
            "agents/helper.md",
            "Agents/Helper.MD",
            "workspace/agents/mcp-servers.json",
            "Jenkinsfile.release",
            ".aider.model.settings.yml",
        ] {
            assert!(Place::new(path).is_guarded(), "{path}");
        }
        for path in [
            "docs/a.md",
            ".git/index",
            "hooks/x",
            "src/claude/a.rs",
            "SKILL.md.bak",
            ".github/a",
            "ü",
            "docs/agents/a.md",
        ] {
            assert!(!Place::new(path).is_guarded(), "{path}");
        }
        assert!(Place::new("x").guarded().is_guarded());
        assert!(Place::new("/p/.git/hooks/x").below("/p/.git/hooks", "").is_guarded());
    }
}
