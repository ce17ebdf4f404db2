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

/// Verifies bytes against the listing; else why the file is not used.
pub(crate) fn verify(file: &RemoteFile, bytes: &[u8]) -> Result<(), String> {
    let (path, found, listed) = (&file.path, bytes.len(), file.size);
    if found as u64 != listed {
        return Err(format!(
            "`{path}` has {found} bytes, but its server listed {listed}; the file is not used"
        ));
    }
    if FileDigest::of(bytes) != file.digest {
        return Err(format!(
            "the digest of `{path}` differs from the one that its server listed; the file is not used"
        ));
    }
    Ok(())
}

/// Verifies the frontmatter of a `SKILL.md` against the listing, field by field.
pub(crate) fn verify_document(skill: &RemoteSkill, bytes: &[u8]) -> Result<(), String> {
    let listed = skill.text.strip_prefix("---\n").and_then(|text| text.strip_suffix("\n---\n"));
    let listed: Map<String, Value> =
        listed.and_then(|listed| serde_json::from_str(listed).ok()).unwrap_or_default();
    frontmatter_difference(bytes, &listed)
        .map_or(Ok(()), |found| Err(format!("{found}; the file is not used")))
}

/// Stores a verified file atomically.
pub(crate) fn store(folder: &Path, file: &RemoteFile, bytes: &[u8]) -> Result<(), String> {
    let path = folder.join(file.path.as_path());
    let made = path.parent().map_or(Ok(()), private_folder);
    made.and_then(|()| write_atomic(&path, bytes, Mode::Private))
        .map_err(|error| format!("`{}` cannot be stored: {error}", file.path))
}

/// Rejects unlisted files in a skill's folder: scripts could open them.
pub(crate) fn reject_unlisted(folder: &Path, skill: &RemoteSkill) -> Result<(), String> {
    let unlisted =
        |path: String| format!("`{path}` is in its folder but not listed; remove `{}`", folder.display());
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
