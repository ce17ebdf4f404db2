//! Where secrets are kept.

mod file_store;
mod place;
mod private_file;

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::keyring::Keyring;
use crate::{KeyringError, Owner, Secret, SecretName};
use file_store::FileStore;
pub use place::Place;

/// All secrets of one user, by skill and name.
///
/// What is set goes to one place, the keyring where there is one. What lies in the file already is still found.
#[derive(Debug)]
pub struct Vault {
    file: FileStore,
    store: Store,
}

/// The ways of keeping what is set.
#[derive(Debug)]
enum Store {
    /// The file; with the reason where there is a keyring that cannot be used.
    File(Option<KeyringError>),
    Keyring(Keyring),
}

/// A secret of a skill, with what decides between two of the same name.
pub(crate) struct Held {
    pub(crate) name: SecretName,
    pub(crate) set: String,
    pub(crate) secret: Secret,
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
    /// Where it is kept.
    pub kept: Place,
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
    /// The keyring failed while it was used.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
}

impl Vault {
    /// Keeps secrets in a file in `folder`, which is made with the first one.
    pub fn file(folder: &Path) -> Self {
        Self { file: FileStore::new(folder), store: Store::File(None) }
    }

    /// Keeps secrets in the system's keyring where it can be used without asking anybody, else in a file in `folder`.
    ///
    /// `bus_address` is that of the user's session, such as `unix:path=/run/user/1000/bus`. Without one nothing is tried; a
    /// bus that hangs is given up after five seconds. [`Vault::place`] says what was chosen and why.
    pub fn best(folder: &Path, bus_address: Option<&str>) -> Self {
        let store = match bus_address.map(Keyring::open) {
            Some(Ok(keyring)) => Store::Keyring(keyring),
            // That there is none is no news to anybody.
            None | Some(Err(KeyringError::Absent)) => Store::File(None),
            Some(Err(error)) => Store::File(Some(error)),
        };
        Self { file: FileStore::new(folder), store }
    }

    /// Where a secret that is set now is kept.
    pub fn place(&self) -> Place {
        match &self.store {
            Store::File(keyring) => Place::File { path: self.file.path(), keyring: keyring.clone() },
            Store::Keyring(_) => Place::Keyring,
        }
    }

    /// Keeps a secret. `when` is shown by [`Vault::list`], and of two of the same name the later one counts: it is a time
    /// such as `2026-01-31T12:00:00Z`, whose text is in the order of time.
    pub fn set(
        &self,
        owner: &Owner,
        name: &SecretName,
        secret: &Secret,
        when: &str,
    ) -> Result<Was, VaultError> {
        let Store::Keyring(keyring) = &self.store else { return self.file.set(owner, name, secret, when) };
        // A file that cannot be used is said before anything has changed.
        self.file.list()?;
        let was = keyring.set(owner, name, secret, when)?;
        // What the file had under this name is out of date, and anybody who reads the disk could read it.
        match self.file.remove(owner, name)? {
            Removed::Yes => Ok(Was::Replaced),
            Removed::NotThere => Ok(was),
        }
    }

    /// Forgets a secret, wherever it is.
    pub fn remove(&self, owner: &Owner, name: &SecretName) -> Result<Removed, VaultError> {
        let kept = match &self.store {
            Store::File(_) => Removed::NotThere,
            Store::Keyring(keyring) => keyring.remove(owner, name)?,
        };
        match self.file.remove(owner, name)? {
            Removed::Yes => Ok(Removed::Yes),
            Removed::NotThere => Ok(kept),
        }
    }

    /// Everything that is kept, without the values, by skill and name. What lies in two places is there twice.
    pub fn list(&self) -> Result<Vec<KeptSecret>, VaultError> {
        let mut kept = self.file.list()?;
        if let Store::Keyring(keyring) = &self.store {
            kept.extend(keyring.list()?);
        }
        kept.sort();
        Ok(kept)
    }

    /// The secrets of one skill, by name.
    pub fn of(&self, owner: &Owner) -> Result<Vec<(SecretName, Secret)>, VaultError> {
        let mut held = self.file.of(owner)?;
        if let Store::Keyring(keyring) = &self.store {
            held.extend(keyring.of(owner)?);
        }
        // One of each name: the latest, since the other one is from before the keyring was locked or unlocked, and of two
        // with the same time the keyring's. Sorting keeps the order of equal ones, so that one is the last.
        held.sort_by(|a, b| (&a.name, &a.set).cmp(&(&b.name, &b.set)));
        let mut secrets: Vec<(SecretName, Secret)> = Vec::with_capacity(held.len());
        for Held { name, secret, .. } in held {
            match secrets.last_mut() {
                Some((last, value)) if *last == name => *value = secret,
                _ => secrets.push((name, secret)),
            }
        }
        Ok(secrets)
    }
}
