//! Trust in projects: which projects the user trusted, when, and exactly what.
//!
//! Trust is a record of the user's, in metier's own data folder and never in the project. It is bound to the project's
//! real path. It is a set of [`TrustEntry`]: what is not in the set takes no effect, whatever else of the project is
//! trusted. The text of a skill is not in it, so that an edit of text keeps trust.

mod agent_items;
mod approval;
mod config_items;
mod diff;
mod entry;
mod item;
mod legacy;
mod preview;
mod project_file;
mod project_trust;
mod server_items;
mod skill;

use crate::capability::Capabilities;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

pub use approval::ApprovalRecord;
pub(crate) use config_items::{split, variable};
pub use diff::{TrustChange, TrustDiff};
pub(crate) use entry::exact;
pub use entry::{EntryDigest, ExactName, TrustEntry, TrustKind, exact_path};
pub use item::{Detail, TrustItem};
pub use preview::{Preview, SkillPreview};
pub use project_file::{
    AGENT_FOLDERS, ProjectFile, RULE_FILES, ReadRules, SERVER_FILES, files_below, is_listed_definition,
    trusts_definition,
};
pub use project_trust::ProjectTrust;
pub(crate) use skill::{is_trusted, link_entry};

/// The largest trust store that is read. A record is a few hundred bytes a skill, so this is some hundred thousand
/// skills; a larger file is not ours.
const MAX_STORE: u64 = 64 * 1024 * 1024;

/// The form the store is written in. A later metier may write another one, which this one must not overwrite. Form 1 is read,
/// and its records stay as they are until their project is trusted again: see [`legacy`].
const VERSION: u32 = 2;

/// How far a project is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// The user has not said anything, or there is no project.
    Untrusted,
    /// Trusted as it was then; changed capabilities ask again.
    Trusted,
    /// The user writes it: changes do not ask.
    Mine,
}

impl Standing {
    /// Whether the project's skills may be used at all.
    pub const fn is_trusted(self) -> bool {
        matches!(self, Self::Trusted | Self::Mine)
    }
}

/// Whose project it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// The user's own.
    Mine,
    /// Somebody else's.
    Theirs,
}

/// What was recorded when a project was trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectRecord {
    /// The project's real path.
    pub path: PathBuf,
    /// When, as the caller writes times.
    pub trusted: String,
    /// Whether the user writes it.
    pub mine: bool,
    /// Everything that the user trusted, in order. A record of form 1 has the two below in place of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<TrustEntry>>,
    /// Form 1: what each skill could do, by the path of its folder; skills that could do nothing were left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skills: BTreeMap<String, Capabilities>,
    /// Form 1: what each of the project's files asked for, as digests: file, then act.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, BTreeMap<String, String>>,
}

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file is there and cannot be read.
    #[error("the trust store `{}` cannot be read: {source}", path.display())]
    Unreadable {
        /// The store.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not a trust store.
    #[error("the trust store `{}` is damaged ({reason}); it is left as it is", path.display())]
    Corrupt {
        /// The store.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A later metier wrote it.
    #[error("the trust store `{}` has form {found}, which this metier does not know; it is left as it is", path.display())]
    Newer {
        /// The store.
        path: PathBuf,
        /// The form it has.
        found: u32,
    },
    /// The file cannot be written.
    #[error("the trust store `{}` cannot be written: {source}", path.display())]
    Unwritable {
        /// The store.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The project's path has no text that could be recorded and found again.
    #[error("`{}` cannot be trusted: its path is not UTF-8", path.display())]
    PathNotText {
        /// The project.
        path: PathBuf,
    },
}

/// The record of trusted projects, as it was when it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustStore {
    path: PathBuf,
    projects: Vec<ProjectRecord>,
    remote: Vec<ApprovalRecord>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    projects: Vec<ProjectRecord>,
    /// The skills of servers that were approved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    remote: Vec<ApprovalRecord>,
}

#[derive(Deserialize)]
struct Form {
    version: u32,
}

impl TrustStore {
    /// Where the store is below the data folder.
    pub fn file(data: &Path) -> PathBuf {
        data.join("trust.json")
    }

    /// Reads the store. A missing one is empty; a damaged one is an error, never an empty store that the next write
    /// would make of it.
    pub fn open(data: &Path) -> Result<Self, TrustError> {
        let path = Self::file(data);
        let bytes = match metier_files::read_bounded(&path, MAX_STORE) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(Self { path, projects: Vec::new(), remote: Vec::new() }),
            Err(source) => return Err(TrustError::Unreadable { path, source }),
        };
        let corrupt =
            |error: serde_json::Error| TrustError::Corrupt { path: path.clone(), reason: error.to_string() };
        // The form is asked for first, or a later form would be called damage.
        let form: Form = serde_json::from_slice(&bytes).map_err(corrupt)?;
        if form.version > VERSION {
            return Err(TrustError::Newer { path, found: form.version });
        }
        let stored: Stored = serde_json::from_slice(&bytes).map_err(corrupt)?;
        Ok(Self { path, projects: stored.projects, remote: stored.remote })
    }

    /// Reads the store, changes it and writes it, with as little time between as can be: what another process has
    /// recorded since this one started is kept.
    pub fn update<T>(
        data: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, TrustError>,
    ) -> Result<T, TrustError> {
        let before = Self::open(data)?;
        let mut store = before.clone();
        let answer = change(&mut store)?;
        if store != before {
            store.write()?;
        }
        Ok(answer)
    }

    /// Records trust in the project of a preview, in place of what was recorded before.
    pub fn trust(&mut self, preview: &Preview, when: &str, ownership: Ownership) -> Result<(), TrustError> {
        let path = preview.project.clone();
        if path.to_str().is_none() {
            return Err(TrustError::PathNotText { path });
        }
        // Parts of the project that are not read from the user's current folder stay as they were.
        let before = self.record(&path).and_then(|record| record.entries.clone()).unwrap_or_default();
        let unseen = before.into_iter().filter(|entry| !preview.could_see(entry));
        let mut entries: Vec<TrustEntry> =
            preview.items().map(|item| item.entry.clone()).chain(unseen).collect();
        entries.sort();
        entries.dedup();
        self.revoke(&path);
        self.projects.push(ProjectRecord {
            path,
            trusted: when.to_owned(),
            mine: ownership == Ownership::Mine,
            entries: Some(entries),
            skills: BTreeMap::new(),
            files: BTreeMap::new(),
        });
        self.projects.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(())
    }

    /// Takes trust back; `false` when there was none.
    pub fn revoke(&mut self, project: &Path) -> bool {
        let before = self.projects.len();
        self.projects.retain(|record| record.path != project);
        before != self.projects.len()
    }

    /// Every trusted project, by path.
    pub fn projects(&self) -> &[ProjectRecord] {
        &self.projects
    }

    /// What is recorded about a project, by its real path.
    pub fn record(&self, project: &Path) -> Option<&ProjectRecord> {
        self.projects.iter().find(|record| record.path == project)
    }

    /// What the user has said about a project.
    pub fn trust_in(&self, project: &Path) -> ProjectTrust {
        ProjectTrust::of(self.record(project))
    }

    fn write(&self) -> Result<(), TrustError> {
        let stored =
            Stored { version: VERSION, projects: self.projects.clone(), remote: self.remote.clone() };
        let failed = |source| TrustError::Unwritable { path: self.path.clone(), source };
        let mut bytes = serde_json::to_vec_pretty(&stored).map_err(|error| failed(error.into()))?;
        bytes.push(b'\n');
        metier_files::write_atomic(&self.path, &bytes, metier_files::Mode::Private).map_err(failed)
    }
}
