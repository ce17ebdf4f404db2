//! Secrets in one file of JSON, mode 0600, in a folder of mode 0700.

use std::path::{Path, PathBuf};

use metier_files::{Mode, write_atomic};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

use super::private_file::PrivateFolder;
use super::{Held, KeptSecret, Place, Removed, VaultError, Was};
use crate::{Owner, Secret, SecretName};

const FILE: &str = "secrets.json";
const LOCK: &str = "lock";

/// The format that is written. A file of a higher one is left alone.
const FORMAT: u64 = 1;

/// The largest file that is read or written. A hundred keys of the longest kind have less.
const MAX_FILE: u64 = 4 << 20;

#[derive(Debug)]
pub(super) struct FileStore {
    folder: PathBuf,
}

/// Only the format, read first: what a later one looks like is not known here.
#[derive(Deserialize)]
struct Format {
    version: u64,
}

#[derive(Deserialize, Serialize)]
struct Content {
    version: u64,
    secrets: Vec<Record>,
}

#[derive(Deserialize, Serialize)]
struct Record {
    owner: Owner,
    name: SecretName,
    set: String,
    #[serde(serialize_with = "exposed", deserialize_with = "taken")]
    value: Secret,
}

/// The one place where a value is written.
fn exposed<S: Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose())
}

fn taken<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
    Secret::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

impl FileStore {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    pub(super) fn set(
        &self,
        owner: &Owner,
        name: &SecretName,
        value: &Secret,
        when: &str,
    ) -> Result<Was, VaultError> {
        let folder = PrivateFolder::make(&self.folder)?;
        let _lock = folder.lock(LOCK)?;
        let mut records = self.records(&folder)?;
        let before = records.len();
        records.retain(|record| !record.is(owner, name));
        let was = if records.len() < before { Was::Replaced } else { Was::New };
        records.push(Record {
            owner: owner.clone(),
            name: name.clone(),
            set: when.to_owned(),
            value: value.clone(),
        });
        self.write(records)?;
        Ok(was)
    }

    pub(super) fn remove(&self, owner: &Owner, name: &SecretName) -> Result<Removed, VaultError> {
        let Some(folder) = PrivateFolder::open(&self.folder)? else { return Ok(Removed::NotThere) };
        let _lock = folder.lock(LOCK)?;
        let mut records = self.records(&folder)?;
        let before = records.len();
        records.retain(|record| !record.is(owner, name));
        if records.len() == before {
            return Ok(Removed::NotThere);
        }
        self.write(records)?;
        Ok(Removed::Yes)
    }

    pub(super) fn list(&self) -> Result<Vec<KeptSecret>, VaultError> {
        let kept = Place::File { path: self.path(), keyring: None };
        let records = self.read()?.into_iter();
        Ok(records
            .map(|Record { owner, name, set, .. }| KeptSecret { owner, name, set, kept: kept.clone() })
            .collect())
    }

    pub(super) fn of(&self, owner: &Owner) -> Result<Vec<Held>, VaultError> {
        let records = self.read()?.into_iter().filter(|record| record.owner == *owner);
        Ok(records.map(|Record { name, set, value: secret, .. }| Held { name, set, secret }).collect())
    }

    /// Reading needs no lock: a file is replaced as a whole.
    fn read(&self) -> Result<Vec<Record>, VaultError> {
        match PrivateFolder::open(&self.folder)? {
            Some(folder) => self.records(&folder),
            None => Ok(Vec::new()),
        }
    }

    fn records(&self, folder: &PrivateFolder) -> Result<Vec<Record>, VaultError> {
        let Some(bytes) = folder.read(FILE, MAX_FILE)? else { return Ok(Vec::new()) };
        // The parser's own words would quote what it found, which may be a value.
        let broken = |error: serde_json::Error| VaultError::Broken {
            path: self.path(),
            line: error.line(),
            column: error.column(),
        };
        let Format { version } = serde_json::from_slice(&bytes).map_err(broken)?;
        if version > FORMAT {
            return Err(VaultError::Newer { path: self.path(), version });
        }
        let content: Content = serde_json::from_slice(&bytes).map_err(broken)?;
        Ok(content.secrets)
    }

    fn write(&self, mut records: Vec<Record>) -> Result<(), VaultError> {
        records.sort_by(|a, b| (&a.owner, &a.name).cmp(&(&b.owner, &b.name)));
        // Room for all of it at once, since a buffer that grows leaves copies behind: six characters for a byte at most,
        // and what stands around a value.
        let room = records.iter().map(|record| record.value.expose().len() * 6 + 1024).sum::<usize>() + 1024;
        let mut bytes = Zeroizing::new(Vec::with_capacity(room));
        let failed = |source| VaultError::Io { path: self.path(), attempt: "written", source };
        serde_json::to_writer_pretty(&mut *bytes, &Content { version: FORMAT, secrets: records })
            .map_err(|error| failed(error.into()))?;
        bytes.push(b'\n');
        if bytes.len() as u64 > MAX_FILE {
            return Err(VaultError::Full { path: self.path(), limit: MAX_FILE });
        }
        write_atomic(&self.path(), &bytes, Mode::Private).map_err(failed)
    }
}

impl Record {
    fn is(&self, owner: &Owner, name: &SecretName) -> bool {
        self.owner == *owner && self.name == *name
    }
}
