//! One skill of a snapshot: what a listing knows of it, and how it stands.

use crate::remote::{Approval, Listed};
use crate::version::Version;
use crate::visit::Loaded;
use metier_diagnostic::Diagnostic;
use metier_files::{DocumentName, FileGlobs, Stamp};
use metier_skill::{Description, Manifest, SkillName, UserOnly};
use serde::Serialize;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of an entry in its snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub(crate) u32);

impl EntryId {
    pub(crate) fn new(at: usize) -> Self {
        // The bound on entries of a sweep is itself 32 bits wide.
        Self(u32::try_from(at).unwrap_or(u32::MAX))
    }

    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

metier_diagnostic::words! {
    /// How a skill stands. Where several apply, the first of this list is the one that is shown: it is what has to change
    /// before any other matters.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum State {
        /// Turned off by the configuration.
        Off = "off",
        /// Disabled by `.disabled.json`.
        Disabled = "disabled",
        /// In a project that is not trusted, or a server's and not approved.
        Untrusted = "untrusted",
        /// Inside another skill's folder; listed only when asked for.
        Nested = "nested",
        /// Another skill has its name.
        Shadowed = "shadowed",
        /// For the user, not for the model.
        UserOnly = "user-only",
        /// The model sees its name without the description.
        NameOnly = "name-only",
        /// The model sees it.
        Ready = "ready",
    }
}

impl State {
    /// Whether a skill in this state can have its name, and so keep another from having it. An untrusted or disabled one
    /// never does: what may not be used must not hide what may.
    pub const fn holds_name(self) -> bool {
        matches!(self, Self::Shadowed | Self::UserOnly | Self::NameOnly | Self::Ready)
    }
}

/// What a skill is to the others of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It has the name.
    Holder,
    /// It stands beside the holder in the same root with another version, and is found by a requirement.
    VersionBeside(EntryId),
    /// Another skill has the name.
    ShadowedBy(EntryId),
    /// It is another's equal, byte for byte, and not shown on its own.
    CopyOf(EntryId),
    /// It cannot have the name as it stands: it is off, disabled, untrusted or nested.
    Aside,
}

/// A skill that was found and parsed.
#[derive(Debug)]
pub struct Entry {
    pub(crate) root: u16,
    pub(crate) state: State,
    pub(crate) relation: Relation,
    /// The next entry of the same name.
    pub(crate) next: Option<EntryId>,
    /// What follows is on the card too, or follows from it. It stands here because every entry is asked for it while
    /// names are settled, and the cards lie all over the memory.
    pub(crate) hash: u64,
    /// Whether its name is a slug.
    pub(crate) is_titled: bool,
    /// Whether its name is not by the rules.
    pub(crate) is_odd: bool,
    pub(crate) user_only: Option<UserOnly>,
    /// How its document looked when it was found; the search index knows by it what need not be read again.
    pub(crate) stamp: Option<Stamp>,
    pub(crate) folder: Box<Path>,
    /// Shared with the snapshots before and after this one, as long as the skill stays as it is.
    pub(crate) card: Arc<Card>,
}

/// What a listing knows of a skill. Everything else is read again when somebody asks for it: ten thousand whole manifests
/// would be the largest thing in the process.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Card {
    pub(crate) name: SkillName,
    pub(crate) title: Option<Box<str>>,
    pub(crate) description: String,
    pub(crate) when_to_use: Option<Box<str>>,
    pub(crate) argument_hint: Option<Box<str>>,
    pub(crate) version: Option<Box<str>>,
    pub(crate) user_invocable: bool,
    /// The files that it is for; nearly always none.
    pub(crate) paths: Box<[String]>,
    pub(crate) document_name: DocumentName,
    pub(crate) links: Option<Box<Links>>,
    /// What its server listed, where it is a server's.
    pub(crate) remote: Option<Arc<Listed>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Where the links lead by which a skill was reached.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Links {
    /// The folder's real path.
    pub(crate) folder: Option<PathBuf>,
    /// The document's real path.
    pub(crate) document: Option<PathBuf>,
}

impl Card {
    pub(crate) fn new(manifest: Manifest, document_name: DocumentName, diagnostics: Vec<Diagnostic>) -> Self {
        // Taken out of the box: moving the whole of it would copy a kilobyte for each skill.
        let mut more = manifest.more;
        let description = match manifest.description {
            Description::Written(written) => written.value,
            Description::Derived(text) => text,
            Description::Absent => String::new(),
        };
        Self {
            name: manifest.name,
            title: manifest.title.map(Into::into),
            description,
            when_to_use: manifest.when_to_use.map(|when| when.value.into()),
            argument_hint: more.argument_hint.take().map(|hint| hint.value.into()),
            version: manifest.version.map(|version| version.value.into()),
            user_invocable: manifest.user_invocable,
            paths: std::mem::take(&mut more.paths).into(),
            document_name,
            links: None,
            remote: None,
            diagnostics,
        }
    }

    /// The document's real path, where a link leads to it.
    pub(crate) fn document_target(&self) -> Option<&Path> {
        self.links.as_ref()?.document.as_deref()
    }
}

impl Entry {
    pub(crate) fn new(root: usize, folder: Box<Path>, loaded: Loaded) -> Self {
        Self {
            // A layout has a few dozen roots.
            root: u16::try_from(root).unwrap_or(u16::MAX),
            state: State::Ready,
            relation: Relation::Holder,
            next: None,
            hash: loaded.hash,
            is_titled: loaded.is_titled,
            is_odd: loaded.is_odd,
            user_only: loaded.user_only,
            stamp: loaded.stamp,
            folder,
            card: loaded.card,
        }
    }

    /// The name it is called by.
    pub fn name(&self) -> &SkillName {
        &self.card.name
    }

    /// The written name, where it cannot be called.
    pub fn title(&self) -> Option<&str> {
        self.card.title.as_deref()
    }

    /// What it is for; empty where nothing says so.
    pub fn description(&self) -> &str {
        &self.card.description
    }

    /// When to use it.
    pub fn when_to_use(&self) -> Option<&str> {
        self.card.when_to_use.as_deref()
    }

    /// What arguments it takes.
    pub fn argument_hint(&self) -> Option<&str> {
        self.card.argument_hint.as_deref()
    }

    /// Its version: what the frontmatter says, else what stands behind the `@` of its folder.
    pub fn version(&self) -> Option<Version> {
        self.version_text().map(|text| Version::new(&text))
    }

    /// The version's text.
    pub fn version_text(&self) -> Option<Cow<'_, str>> {
        if let Some(version) = &self.card.version {
            return Some(Cow::Borrowed(version));
        }
        let name = last_part(&self.folder)?;
        let at = name.as_bytes().iter().position(|byte| *byte == b'@')?;
        let version = name.to_str()?.get(at + 1..)?;
        (!version.is_empty()).then_some(Cow::Borrowed(version))
    }

    /// Why the model is not offered the skill by the skill's own word.
    pub fn user_only(&self) -> Option<UserOnly> {
        self.user_only
    }

    /// Whether `/name` exists.
    pub fn is_user_invocable(&self) -> bool {
        self.card.user_invocable
    }

    /// The files that it is for, as patterns; none where it is for any work.
    pub fn paths(&self) -> &[String] {
        &self.card.paths
    }

    /// Whether work on this file, seen from the project's folder, is work for which it wants to be offered.
    pub fn is_for(&self, file: &Path) -> bool {
        self.card.paths.is_empty() || FileGlobs::new(&self.card.paths).matches(file)
    }

    /// Whether a server's skill is not approved as it is listed now. What is in no list of a server needs no approval.
    pub(crate) fn lacks_approval(&self) -> bool {
        self.remote().is_some_and(|skill| skill.approval != Approval::Approved)
    }

    /// How it stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// What it is to the others of its name.
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// What there is to say about it.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.card.diagnostics
    }

    /// Its folder, relative to its root; empty when the root is itself the skill.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether a plain listing shows it; a full one shows everything but copies, which stand under their equals.
    pub fn is_listed(&self) -> bool {
        let shown = matches!(self.state, State::Untrusted | State::UserOnly | State::NameOnly | State::Ready);
        shown && !self.is_copy()
    }

    /// Whether it is another's equal, byte for byte.
    pub fn is_copy(&self) -> bool {
        matches!(self.relation, Relation::CopyOf(_))
    }

    /// Whether the model may use it: it has its name and nothing keeps it from the model.
    pub fn is_offered(&self) -> bool {
        matches!(self.state, State::Ready | State::NameOnly) && self.relation == Relation::Holder
    }
}

/// What a folder calls its skill: its name, without the version behind an `@`.
pub(crate) fn folder_call_name(folder: &Path) -> Option<Cow<'_, str>> {
    let name = last_part(folder)?;
    let name = name.to_str().map_or_else(|| name.to_string_lossy(), Cow::Borrowed);
    match name.find('@') {
        Some(at) if at > 0 => Some(Cow::Owned(name[..at].to_owned())),
        _ => Some(name),
    }
}

/// The same as [`Path::file_name`], which takes several times as long because it goes by parts. Every skill is asked for
/// it more than once.
fn last_part(path: &Path) -> Option<&OsStr> {
    let bytes = path.as_os_str().as_bytes();
    match bytes.rsplit(|byte| *byte == b'/').next() {
        None | Some(b"" | b"." | b"..") => path.file_name(),
        Some(name) => Some(OsStr::from_bytes(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_calls_its_skill_without_the_version() {
        for (folder, expected) in
            [("a", Some("a")), ("g/a@1.2", Some("a")), ("@scope", Some("@scope")), ("", None)]
        {
            assert_eq!(folder_call_name(Path::new(folder)).as_deref(), expected, "{folder}");
        }
    }

    #[test]
    fn the_last_part_is_the_file_name() {
        for path in ["", "a", "a/b", "a/b/", "a/.", "a/..", "..", ".", "/", "/a", "a//b", "a/b@1.2", "ä/ö"]
        {
            assert_eq!(last_part(Path::new(path)), Path::new(path).file_name(), "{path}");
        }
    }
}
