//! Approvals that were given for good, each with the project it was given in.
//!
//! They are in the user's configuration and never in a project's files: a project could approve itself otherwise.

use crate::screen;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result};
use metier_files::{
    FileDigest, FolderLock, Kind, Mode, kind, private_folder, read_bounded, real_path, write_atomic,
};
use metier_policy::ApprovalKey;
use metier_store::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The largest file that is read. Real ones have a few kilobytes.
const MAX_BYTES: u64 = 4 << 20;

/// Letters of an id: enough to tell a few thousand approvals apart.
const ID_LENGTH: usize = 8;

/// Where approvals of this user are kept, seen from one project.
#[derive(Clone, Debug)]
pub(crate) struct ApprovalStore {
    config: PathBuf,
    project: PathBuf,
}

/// An approval that was given for good.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredApproval {
    /// The project it holds in, a real path. It means nothing anywhere else.
    pub(crate) project: PathBuf,
    /// What it is for.
    pub(crate) key: ApprovalKey,
    /// When it was given.
    pub(crate) given: String,
}

impl StoredApproval {
    /// What it is revoked by. The same approval has the same id.
    pub(crate) fn id(&self) -> String {
        let text = format!("{}\0{}", self.project.display(), self.key.text());
        let digest = FileDigest::of(text.as_bytes()).to_string();
        digest.trim_start_matches("sha256:").chars().take(ID_LENGTH).collect()
    }
}

/// The file.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ApprovalFile {
    approvals: Vec<StoredApproval>,
}

impl ApprovalStore {
    /// The approvals seen from where the user is: the project, else the current folder.
    pub(crate) fn of(surroundings: &Surroundings) -> Self {
        let current = &surroundings.places.current;
        let folder = surroundings.project().unwrap_or(current);
        // Two ways to the same folder are the same project.
        let project = real_path(folder).unwrap_or_else(|_| folder.to_owned());
        Self { config: surroundings.places.config.clone(), project }
    }

    /// The project.
    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    /// The file, for people.
    pub(crate) fn file(&self) -> PathBuf {
        self.config.join("approvals.json")
    }

    /// What holds in this project.
    pub(crate) fn kept(&self) -> Result<Vec<ApprovalKey>> {
        self.tell_of_old_form();
        let own = self.all()?.into_iter().filter(|approval| approval.project == self.project);
        Ok(own.map(|approval| approval.key).collect())
    }

    /// Every approval, of all projects. A file that cannot be read is an error, not nothing: written anew, it would be lost.
    pub(crate) fn all(&self) -> Result<Vec<StoredApproval>> {
        let file = self.file();
        let unreadable = || format!("{} cannot be read; remove it to be asked again", file.display());
        let Some(bytes) = read_bounded(&file, MAX_BYTES).with_context(unreadable)? else {
            return Ok(Vec::new());
        };
        let read: ApprovalFile = serde_json::from_slice(&bytes).with_context(unreadable)?;
        Ok(read.approvals)
    }

    /// Keeps an approval for this project.
    pub(crate) fn keep(&self, key: ApprovalKey) -> Result<()> {
        let _one = self.lock()?;
        let mut approvals = self.all()?;
        if approvals.iter().any(|known| known.project == self.project && known.key == key) {
            return Ok(());
        }
        let given = Timestamp::now().to_string();
        approvals.push(StoredApproval { project: self.project.clone(), key, given });
        self.write(approvals)
    }

    /// Removes the approvals that `is_meant` says; those that were there.
    pub(crate) fn revoke(&self, is_meant: impl Fn(&StoredApproval) -> bool) -> Result<Vec<StoredApproval>> {
        if kind(&self.file()) == Kind::Missing {
            return Ok(Vec::new());
        }
        let _one = self.lock()?;
        let (gone, left): (Vec<_>, Vec<_>) = self.all()?.into_iter().partition(is_meant);
        if !gone.is_empty() {
            self.write(left)?;
        }
        Ok(gone)
    }

    /// Another metier may give or revoke at the same time, and reading and writing are two steps.
    fn lock(&self) -> Result<FolderLock> {
        let cannot = || format!("{} cannot be locked", self.config.display());
        if kind(&self.config) == Kind::Missing {
            private_folder(&self.config).with_context(cannot)?;
        }
        let folder = real_path(&self.config).with_context(cannot)?;
        FolderLock::take(&folder).with_context(cannot)
    }

    fn write(&self, mut approvals: Vec<StoredApproval>) -> Result<()> {
        approvals.sort();
        let bytes = serde_json::to_vec_pretty(&ApprovalFile { approvals })?;
        write_atomic(&self.file(), &bytes, Mode::Private)
            .with_context(|| format!("{} cannot be written", self.file().display()))
    }

    /// Approvals of the old form held in every project, so they are not carried over. That is said once: from then on there is
    /// a file of the new form.
    fn tell_of_old_form(&self) {
        if kind(&self.file()) != Kind::Missing || kind(&self.config.join("answers.json")) == Kind::Missing {
            return;
        }
        screen::err_line(
            "approvals given to an earlier metier held in every project and are not used any more; you will be asked again",
        );
        // Where it cannot be written, it is said again the next time.
        let _ = self.lock().and_then(|_one| self.write(self.all()?));
    }
}
