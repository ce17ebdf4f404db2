//! What a contained process changed, as values.

use metier_files::FileDigest;
use serde::{Deserialize, Serialize};

use crate::content::MAX_HOLES;
use crate::error::ConflictReason;
use crate::path::{LayerPath, MAX_DEPTH};
use crate::stamp::{Stamp, Time};

/// Everything a call changed in the project, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSet {
    /// Files, folders and links, in the order of their paths.
    pub entries: Vec<Change>,
    /// What can never reach the project, with the reason.
    pub refused: Vec<Refusal>,
    /// Marks of deleted entries in new folders. They mean nothing there, and must not be moved along with the folder.
    #[serde(default)]
    pub(crate) strays: Vec<LayerPath>,
}

impl ChangeSet {
    /// Whether the call changed nothing.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.refused.is_empty()
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where.
    pub path: LayerPath,
    /// What happened.
    pub kind: ChangeKind,
    /// What is there afterwards; `None` for what was deleted.
    pub entry: Option<Entry>,
    /// Of a created or modified file or link, the path of a deleted or modified one that had the same content: it was probably
    /// renamed. Both changes stay in the list, so that each can be decided.
    pub renamed_from: Option<LayerPath>,
    /// The project's file has further names, which keep the old content.
    pub breaks_hard_link: bool,
    /// Another program changed it while the call ran.
    pub conflict: Option<ConflictReason>,
    /// It lies on an entry of the session's layer and not of the project, so it can only go to the session's layer.
    #[serde(default)]
    pub in_session: bool,
    /// The state in the project when the layer was scanned; `None` where there was nothing.
    pub(crate) before: Option<Stamp>,
    /// The change time of a file or link of the project when the layer was scanned. Earlier versions did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before_changed: Option<Time>,
    /// What it held then, where it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before_digest: Option<FileDigest>,
    /// The state in the layer; `None` for what was deleted.
    pub(crate) after: Option<Stamp>,
    /// Whether the entry in the layer has marks of the overlay, bits that are never applied, or permissions that the scan
    /// had to change.
    #[serde(default)]
    pub(crate) is_unclean: bool,
}

impl Change {
    /// Why it is left out of what is applied though it was selected ([`Applied::left_out`](crate::Applied::left_out)).
    pub const fn why_left_out(&self) -> &'static str {
        match self.kind {
            _ if self.in_session => "only the ignored files of the session have it",
            ChangeKind::Deleted | ChangeKind::Modified => "something in it stays",
            _ => "a folder above it is not applied",
        }
    }

    /// What the project had there before, without its content; `None` where there was nothing.
    pub fn previous(&self) -> Option<Entry> {
        let before = self.before?;
        let kind = before.kind?;
        let size = if kind == EntryKind::Folder { 0 } else { before.size };
        Some(Entry { kind, mode: before.mode, size, digest: None, target: None })
    }

    /// Whether there is a folder afterwards where there was none.
    pub(crate) fn is_new_folder(&self) -> bool {
        let was_folder = self.before.is_some_and(|before| before.is_folder());
        !was_folder && self.entry.as_ref().is_some_and(|entry| entry.kind == EntryKind::Folder)
    }
}

/// What happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// It has other content, or is another kind of entry.
    Modified,
    /// It is gone, with everything below it.
    Deleted,
    /// It has the same content and other permissions.
    Attributes,
    /// It has the same content and permissions, and another time.
    Times,
}

impl ChangeKind {
    /// The word for people and scripts.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Attributes => "mode changed",
            Self::Times => "touched",
        }
    }

    /// Whether the entry of the project stays and gets other attributes.
    pub(crate) const fn is_in_place(self) -> bool {
        matches!(self, Self::Attributes | Self::Times)
    }
}

/// What a path holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Permission bits, without set-id bits.
    pub mode: u32,
    /// Size in bytes; of a folder, zero.
    pub size: u64,
    /// Digest of a file's content or of a link's target; folders have none.
    pub digest: Option<FileDigest>,
    /// Where a link leads; bytes that are not UTF-8 are replaced, and the digest tells those apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// The kinds of entries that can be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, never followed.
    Link,
}

/// Something that never reaches the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Where.
    pub path: LayerPath,
    /// Why.
    pub reason: RefusalReason,
    /// Which of the cases that [`RefusalReason::Special`] covers. Earlier versions did not note it of devices, pipes and sockets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<RefusalDetail>,
}

impl Refusal {
    pub(crate) const fn new(path: LayerPath, reason: RefusalReason) -> Self {
        Self { path, reason, detail: None }
    }

    pub(crate) const fn kept_out(path: LayerPath, detail: RefusalDetail) -> Self {
        Self { path, reason: RefusalReason::Special, detail: Some(detail) }
    }

    /// Whether the entry itself stays behind, and not only its set-id bits.
    pub(crate) fn is_kept_out(&self) -> bool {
        self.reason == RefusalReason::Special
    }

    /// Why, as exactly as it is known.
    pub fn why(&self) -> String {
        self.detail.map_or_else(|| self.reason.to_string(), |detail| detail.to_string())
    }
}

/// Why something never reaches the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalReason {
    /// The whole entry: a device, pipe or socket, each of which leads to a process or a driver outside, or what a
    /// [`RefusalDetail`] names.
    #[error(
        "devices, pipes, sockets, metier's own folders, very large sparse files and very deep paths are never applied"
    )]
    Special,
    /// The set-id bits; the rest of the file can be applied.
    #[error("the set-user-id and set-group-id bits are never applied")]
    SetId,
    /// The permissions of the project's own folder. It lies in a folder that is not the project's.
    #[error("permissions of the project's own folder are never applied")]
    ProjectFolder,
    /// Extended attributes of a file whose content is the same, or of a folder.
    #[error("extended attributes are not applied by themselves")]
    ExtendedAttributes,
}

/// Why a file or folder stays behind as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalDetail {
    /// It leads to a driver.
    #[error("it is a device")]
    Device,
    /// It leads to a process outside.
    #[error("it is a named pipe")]
    Pipe,
    /// It leads to a process outside.
    #[error("it is a socket")]
    Socket,
    /// A name under which metier keeps layers and stages. Whoever writes there could forge a journal.
    #[error("metier keeps its own records under this name")]
    OwnName,
    /// Too many folders above it, or a path that is too long for other programs.
    #[error("it lies more than {MAX_DEPTH} folders deep, or its path is too long")]
    TooDeep,
    /// Its holes would have to be read.
    #[error("its holes are too large to be read: all sparse files of a set may have {} GiB of them", MAX_HOLES >> 30)]
    TooSparse,
}
