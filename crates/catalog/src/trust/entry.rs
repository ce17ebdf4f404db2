//! One thing that a project switches on, by its kind, its exact name and the digest of what it is.
//!
//! Trust is a set of these. Nothing else is compared: a text that is made for people folds white space, hides invisible
//! characters and can be cut, so two different things can be shown alike.

use metier_files::FileDigest;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

metier_diagnostic::words! {
    /// What kind of thing a project switches on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum TrustKind {
        /// A skill: the name it is called by and where its folder really is.
        Skill = "skill",
        /// A file of a skill that can be run or loaded as code.
        Code = "code",
        /// A command in a skill's text that runs before the text is read.
        Command = "injected command",
        /// A skill's hooks.
        Hooks = "hooks",
        /// A list of tools: `allowed-tools`, `tools`, `disallowed-tools`.
        Tools = "tool list",
        /// Something that a skill needs beyond the default containment.
        Need = "need",
        /// A symbolic link.
        Link = "link",
        /// The agent that runs a skill.
        Runner = "agent of a skill",
        /// An MCP server.
        Server = "MCP server",
        /// A rule that allows.
        Allow = "rule allow",
        /// A rule that asks.
        Ask = "rule ask",
        /// The mode of the gate.
        Mode = "mode",
        /// An environment variable.
        Variable = "variable",
        /// A folder in which skills are looked for.
        Root = "root",
        /// A model: the default one, or a name for one.
        Model = "model",
        /// What is set for one skill: visibility, needs.
        SkillSetting = "setting of skill",
        /// Any other setting.
        Setting = "setting",
        /// An agent or a crew.
        Agent = "agent",
        /// A file that could not be read, so what it asks for is unknown.
        Unreadable = "unreadable file",
    }
}

/// Where a thing is written down and what it is called there, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExactName {
    /// The file, or the folder of the skill, as [`exact_path`] writes it.
    #[serde(rename = "in")]
    pub place: String,
    /// What it is called there.
    pub name: String,
}

/// The digest of what a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntryDigest(FileDigest);

impl EntryDigest {
    /// The digest of a text.
    pub fn of(text: &str) -> Self {
        Self(FileDigest::of(text.as_bytes()))
    }

    /// The digest of several texts. Each says how long it is, so that no byte moves from one to the next.
    pub(crate) fn of_parts(parts: &[&[u8]]) -> Self {
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        Self(FileDigest::of(&bytes))
    }
}

impl fmt::Display for EntryDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One thing that a project switches on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TrustEntry {
    /// What kind of thing it is.
    pub kind: TrustKind,
    /// What it is called.
    #[serde(flatten)]
    pub name: ExactName,
    /// What it is.
    pub digest: EntryDigest,
}

impl TrustEntry {
    pub(crate) fn new(kind: TrustKind, place: &str, name: &str, digest: EntryDigest) -> Self {
        Self { kind, name: ExactName { place: place.to_owned(), name: name.to_owned() }, digest }
    }

    /// An MCP server as a file of the project at `place` describes it. Code that starts one looks it up by the
    /// exact value that it starts.
    pub fn server(place: &str, name: &str, settings: &serde_json::Value) -> Self {
        Self::new(TrustKind::Server, place, name, EntryDigest::of(&settings.to_string()))
    }

    /// A rule of a file of the project.
    pub fn rule(kind: TrustKind, place: &str, rule: &str) -> Self {
        Self::new(kind, place, rule, EntryDigest::of(rule))
    }

    /// The mode that a file of the project sets.
    pub fn mode(place: &str, mode: &str) -> Self {
        Self::new(TrustKind::Mode, place, "mode", EntryDigest::of(mode))
    }
}

/// A path as it is recorded: relative to the project where it lies in it. One that is not UTF-8 is written as hexadecimal
/// digits after a NUL, which no path has, so that two paths never become one.
pub fn exact_path(project: &Path, path: &Path) -> String {
    let path = path.strip_prefix(project).unwrap_or(path).as_os_str();
    exact(path)
}

/// The same for a path that is relative already.
pub(crate) fn exact(path: &OsStr) -> String {
    match path.to_str() {
        Some(text) => text.to_owned(),
        None => path.as_bytes().iter().fold("\0".to_owned(), |text, byte| format!("{text}{byte:02x}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_are_no_text_stay_apart() {
        let project = Path::new("/p");
        assert_eq!(exact_path(project, Path::new("/p/a/b")), "a/b");
        assert_eq!(exact_path(project, Path::new("/q/a")), "/q/a");
        let path = |byte: u8| project.join(OsStr::from_bytes(&[b'x', byte]));
        assert_eq!(exact_path(project, &path(0xff)), "\u{0}78ff");
        assert_ne!(exact_path(project, &path(0xff)), exact_path(project, &path(0xfe)));
    }

    #[test]
    fn an_entry_is_written_and_read_back() {
        let entry = TrustEntry::rule(TrustKind::Allow, "metier.toml", "Bash");
        let text = serde_json::to_string(&entry).unwrap();
        assert!(
            text.starts_with(r#"{"kind":"allow","in":"metier.toml","name":"Bash","digest":"sha256:"#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<TrustEntry>(&text).unwrap(), entry);
    }
}
