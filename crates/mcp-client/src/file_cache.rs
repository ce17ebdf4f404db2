//! The cache of a server's listing and of skill files that were used: private, outside of all roots, and verified against the
//! listing on every use.

use std::path::{Path, PathBuf};

use metier_catalog::{RemoteFile, RemoteServer, RemoteSkill, TrustStore, Wanted};
use metier_files::{
    FileDigest, ListBounds, Mode, RelativePath, SkillDir, private_folder, read_bounded, write_atomic,
};
use serde_json::{Map, Value};

use super::config::ServerConfig;
use super::frontmatter::frontmatter_difference;
use super::listing::Listing;

/// The largest listing that is read back.
const MAX_LISTING: u64 = 128 * 1024 * 1024;

/// The cache folder of one server.
#[derive(Clone, Debug)]
pub(crate) struct FileCache {
    folder: PathBuf,
}

/// Why a file is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VerifyError {
    /// Its size differs.
    #[error("`{path}` has {found} bytes, but its server listed {listed}; the file is not used")]
    Size {
        /// The file.
        path: String,
        /// The received size.
        found: usize,
        /// The listed size.
        listed: u64,
    },
    /// Its digest differs.
    #[error("the digest of `{0}` differs from the one that its server listed; the file is not used")]
    Digest(String),
    /// Its frontmatter differs.
    #[error("{0}; the file is not used")]
    Frontmatter(#[from] super::frontmatter::FrontmatterDifference),
    /// The folder contains an unlisted file.
    #[error("`{path}` is in its folder but not listed; remove `{folder}`")]
    Unlisted {
        /// The file.
        path: String,
        /// The folder.
        folder: String,
    },
    /// It could not be written.
    #[error("`{path}` cannot be stored: {why}")]
    Storage {
        /// The file.
        path: String,
        /// The reason.
        why: String,
    },
}

impl FileCache {
    /// The cache of a server. Its name contains the label and the endpoint, so that a server with the same label gets none of
    /// another's files.
    pub(crate) fn of(cache: &Path, config: &ServerConfig) -> Self {
        let endpoint = config.endpoint();
        let short: String = endpoint.trim_start_matches("sha256:").chars().take(16).collect();
        Self { folder: cache.join("mcp").join(format!("{}-{short}", config.label)) }
    }

    fn listing_file(&self) -> PathBuf {
        self.folder.join("listing.json")
    }

    fn files(&self) -> PathBuf {
        self.folder.join("files")
    }

    /// Stores a listing, so that it can be shown without a request.
    pub(crate) fn store(&self, listing: &Listing) -> std::io::Result<()> {
        private_folder(&self.folder)?;
        write_atomic(&self.listing_file(), listing.to_json().to_string().as_bytes(), Mode::Private)
    }

    /// The stored listing; `None` if there is none that can be read.
    pub(crate) fn load(&self) -> Option<Listing> {
        let bytes = read_bounded(&self.listing_file(), MAX_LISTING).ok().flatten()?;
        let stored: Value = serde_json::from_slice(&bytes).ok()?;
        Some(Listing::from_json(&stored))
    }

    /// A listing for the catalogue, with the user's approvals.
    pub(crate) fn server(
        &self,
        config: &ServerConfig,
        listing: &Listing,
        store: Option<&TrustStore>,
    ) -> RemoteServer {
        let endpoint = config.endpoint();
        let skills = listing.skills.iter().map(|entry| {
            let set = entry.set();
            let short = |digest: FileDigest| -> String {
                digest.to_string().trim_start_matches("sha256:").chars().take(16).collect()
            };
            let folder = format!("{}-{}", short(FileDigest::of(entry.uri.as_bytes())), short(set));
            let mut skill = RemoteSkill {
                server: config.label.clone(),
                uri: entry.uri.clone(),
                folder: Path::new(&folder).join(&entry.name),
                text: entry.text(),
                files: entry.files.clone(),
                set,
                approval: metier_catalog::Approval::NotYet,
            };
            // An unreadable trust store approves nothing.
            skill.approval = store.map_or_else(Default::default, |store| store.approval(&skill, &endpoint));
            skill
        });
        RemoteServer {
            label: config.label.clone(),
            shelf: self.files(),
            skills: skills.collect(),
            refused: listing.refused.clone(),
        }
    }
}

/// The wanted files of a skill, `SKILL.md` first.
pub(crate) fn wanted<'a>(skill: &'a RemoteSkill, wanted: Wanted<'_>) -> Vec<&'a RemoteFile> {
    let mut files: Vec<&RemoteFile> = match wanted {
        Wanted::Document => skill.files.iter().filter(|file| file.uri == skill.uri).collect(),
        Wanted::File(path) => skill.file(path).into_iter().collect(),
        Wanted::All => skill.files.iter().collect(),
    };
    files.sort_by_key(|file| file.uri != skill.uri);
    files
}

/// The cached bytes of a file, if they match the listing.
pub(crate) fn verified_copy(folder: &Path, file: &RemoteFile) -> Option<Vec<u8>> {
    let bytes = SkillDir::open(folder).ok()?.read(&file.path, file.size).ok()?;
    verify(file, &bytes).is_ok().then_some(bytes)
}

/// Verifies bytes against the listing.
pub(crate) fn verify(file: &RemoteFile, bytes: &[u8]) -> Result<(), VerifyError> {
    let path = file.path.to_string();
    if bytes.len() as u64 != file.size {
        return Err(VerifyError::Size { path, found: bytes.len(), listed: file.size });
    }
    if FileDigest::of(bytes) != file.digest {
        return Err(VerifyError::Digest(path));
    }
    Ok(())
}

/// Verifies the frontmatter of a `SKILL.md` against the listing, field by field.
pub(crate) fn verify_document(skill: &RemoteSkill, bytes: &[u8]) -> Result<(), VerifyError> {
    let listed = skill.text.strip_prefix("---\n").and_then(|text| text.strip_suffix("\n---\n"));
    let listed: Map<String, Value> =
        listed.and_then(|listed| serde_json::from_str(listed).ok()).unwrap_or_default();
    frontmatter_difference(bytes, &listed).map_or(Ok(()), |found| Err(found.into()))
}

/// Stores a verified file atomically.
pub(crate) fn store(folder: &Path, file: &RemoteFile, bytes: &[u8]) -> Result<(), VerifyError> {
    let path = folder.join(file.path.as_path());
    let made = path.parent().map_or(Ok(()), private_folder);
    made.and_then(|()| write_atomic(&path, bytes, Mode::Private))
        .map_err(|error| VerifyError::Storage { path: file.path.to_string(), why: error.to_string() })
}

/// Rejects unlisted files in a skill's folder: scripts could open them.
pub(crate) fn reject_unlisted(folder: &Path, skill: &RemoteSkill) -> Result<(), VerifyError> {
    let unlisted = |path: String| VerifyError::Unlisted { path, folder: folder.display().to_string() };
    let listing = SkillDir::open(folder).and_then(|opened| opened.list(ListBounds::default()));
    let listing = listing.map_err(|error| unlisted(error.to_string()))?;
    if let Some(odd) = listing.left_out.first() {
        return Err(unlisted(format!("{odd:?}")));
    }
    let is_unlisted = |path: &RelativePath| skill.file(path).is_none();
    match listing.files.iter().find(|file| is_unlisted(&file.path)) {
        Some(file) => Err(unlisted(file.path.to_string())),
        None => Ok(()),
    }
}
