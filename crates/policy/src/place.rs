//! A file by every name that rules may use for it.

mod guarded;

pub use guarded::{GUARDED, is_guarded};

use std::fmt;

/// A place in the file system, cleaned of `.`, `..` and double slashes, by all of its names.
///
/// A rule may say `docs/**`, `~/notes/**` or `/srv/project/docs/**` and mean the same file, and a deny rule that is
/// passed by because the caller spelled a path the other way is no deny rule. So the caller gives the path once and
/// says from which folders it can be seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The name shown to people: the first name, with bytes that are not UTF-8 as escapes.
    shown: String,
    /// Every name that patterns are held against, the shown one first; bytes that are not UTF-8 are `\u{fffd}` here.
    names: Vec<String>,
    /// The path's own bytes, where they are not UTF-8: two files may have the same name otherwise.
    bytes: Option<Vec<u8>>,
    guarded: bool,
    is_folder: bool,
}

impl Place {
    /// A path, relative to the folder that rules are seen from (the project, or the skill for its own files) or absolute.
    pub fn new(path: &str) -> Self {
        let path = clean(path);
        let guarded = guarded::is_listed(&path);
        Self { names: vec![path.clone()], shown: path, bytes: None, guarded, is_folder: false }
    }

    /// The same for a path as the system has it, which need not be UTF-8.
    pub fn from_bytes(path: &[u8]) -> Self {
        if let Ok(path) = std::str::from_utf8(path) {
            Self::new(path)
        } else {
            let place = Self::new(&String::from_utf8_lossy(path));
            Self { bytes: Some(path.to_vec()), ..place }.with_shown("")
        }
    }

    /// The same place with a second name, where it lies below `folder`: `below("/srv/project", "")` gives the name
    /// relative to the project, `below("/home/ada", "~/")` the name with a tilde. The new name is the shown one.
    #[must_use]
    pub fn below(mut self, folder: &str, prefix: &str) -> Self {
        let folder = clean(folder);
        let rest = self.names.iter().find_map(|name| {
            let rest = name.strip_prefix(folder.as_str())?;
            rest.strip_prefix('/').filter(|rest| !rest.is_empty()).map(str::to_owned)
        });
        if let Some(rest) = rest {
            let name = format!("{prefix}{rest}");
            self.guarded |= guarded::is_listed(&name);
            self.shown.clone_from(&name);
            self.names.insert(0, name);
            return self.with_shown(prefix);
        }
        self
    }

    /// The same with its odd bytes shown as escapes, in as many steps as its first name has behind `prefix`.
    fn with_shown(mut self, prefix: &str) -> Self {
        if let (Some(bytes), Some(name)) = (&self.bytes, self.names.first()) {
            let count = name.strip_prefix(prefix).unwrap_or(name).split('/').count();
            let steps: Vec<&[u8]> = bytes.split(|byte| *byte == b'/').collect();
            let last = steps.get(steps.len().saturating_sub(count)..).unwrap_or_default();
            self.shown = format!("{prefix}{}", escaped(&last.join(&b'/')));
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

    /// Whether every byte of its name can be written in a rule.
    pub(crate) fn is_text(&self) -> bool {
        self.bytes.is_none()
    }

    /// What tells it from every other place, for the key of an approval.
    pub(crate) fn key(&self) -> String {
        match &self.bytes {
            // A path has no NUL, so this is nobody's name.
            Some(bytes) => format!("\0{}", bytes.escape_ascii()),
            None => self.shown.clone(),
        }
    }

    /// Whether it lies below the folder that rules are seen from.
    pub fn is_inside(&self) -> bool {
        !self.shown.starts_with(['/', '~']) && self.shown != ".." && !self.shown.starts_with("../")
    }

    /// Every name, the shown one first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
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

/// Bytes that are not UTF-8 as escapes, the rest as it is.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
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
        assert_eq!(place(0xff).names().next(), Some("docs/a\u{fffd}.md"));
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
