//! Where secrets are kept.

mod file_store;
mod private_file;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{Owner, Secret, SecretName};
use file_store::FileStore;

/// All secrets of one user, by skill and name.
#[derive(Debug)]
pub struct Vault {
    store: Store,
}

/// The ways of keeping. A keyring of the system is to become the second.
#[derive(Debug)]
enum Store {
    File(FileStore),
}

/// A secret as it may be shown: everything but its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct KeptSecret {
    /// Whose it is.
    #[serde(flatten)]
    pub owner: Owner,
    /// What it is called.
    pub name: SecretName,
    /// When it was set.
    pub set: String,
}

/// Where a vault keeps its secrets, for people to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "path")]
#[non_exhaustive]
pub enum Place {
    /// A file that only the user can read.
    File(PathBuf),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}, a file that only you can read", path.display()),
        }
    }
}

/// Whether a secret of that name was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Was {
    /// There was none.
    New,
    /// There was one, which is gone.
    Replaced,
}

/// Whether there was something to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// It is gone.
    Yes,
    /// There was none.
    NotThere,
}

/// Why secrets cannot be had or kept. None of them repeats a byte of the file, which may be one of a value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// Somebody else may read or change it.
    #[error(
        "`{}` is open to other users (mode {mode:03o}), so it is not used; if nobody else could have changed it, close it: `chmod {remedy:03o} {}`, and set the secrets anew if somebody could have read them",
        path.display(), path.display()
    )]
    OpenToOthers {
        /// The file or folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// What they should be.
        remedy: u32,
    },
    /// It belongs to another user.
    #[error("`{}` belongs to another user, so it is not used; remove it, or run metier as that user", path.display())]
    AnotherOwner {
        /// The file or folder.
        path: PathBuf,
    },
    /// Something else is in its place.
    #[error("`{}` is a link, so it is not followed; put the {what} itself there", path.display())]
    Link {
        /// The link.
        path: PathBuf,
        /// What should be there.
        what: &'static str,
    },
    /// Something else is in its place.
    #[error("`{}` is no {what}, so it is not used; move it away", path.display())]
    NotA {
        /// What is there.
        path: PathBuf,
        /// What should be.
        what: &'static str,
    },
    /// What is written there is not understood. It stays as it is.
    #[error(
        "`{}` cannot be understood at line {line}, column {column}, and was left as it is; mend it, or move it away and set the secrets anew",
        path.display()
    )]
    Broken {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// Another metier wrote it.
    #[error("`{}` was written by a newer metier (format {version}) and was left as it is; use that one", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: u64,
    },
    /// There is too much in it.
    #[error("`{}` would be larger than {limit} bytes; remove secrets that are not needed: `metier secret list`", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// The most it may be.
        limit: u64,
    },
    /// Another process is writing.
    #[error("another metier is writing `{}`; try again", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("`{}` cannot be {attempt}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        attempt: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl Vault {
    /// Keeps secrets in a file in `folder`, which is made with the first one.
    pub fn file(folder: &Path) -> Self {
        Self { store: Store::File(FileStore::new(folder)) }
    }

    /// Where they are kept.
    pub fn place(&self) -> Place {
        match &self.store {
            Store::File(store) => Place::File(store.path()),
        }
    }

    /// Keeps a secret; `when` is shown by [`Vault::list`].
    pub fn set(
        &self,
        owner: &Owner,
        name: &SecretName,
        secret: &Secret,
        when: &str,
    ) -> Result<Was, VaultError> {
        match &self.store {
            Store::File(store) => store.set(owner, name, secret, when),
        }
    }

    /// Forgets a secret.
    pub fn remove(&self, owner: &Owner, name: &SecretName) -> Result<Removed, VaultError> {
        match &self.store {
            Store::File(store) => store.remove(owner, name),
        }
    }

    /// Everything that is kept, without the values, by skill and name.
    pub fn list(&self) -> Result<Vec<KeptSecret>, VaultError> {
        match &self.store {
            Store::File(store) => store.list(),
        }
    }

    /// The secrets of one skill, by name.
    pub fn of(&self, owner: &Owner) -> Result<Vec<(SecretName, Secret)>, VaultError> {
        match &self.store {
            Store::File(store) => store.of(owner),
        }
    }
}
