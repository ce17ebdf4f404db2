//! Where the files of a server's skills are kept once they were used: private, in no root, and held against the list each time.

use std::path::{Path, PathBuf};

use metier_catalog::{RemoteFile, RemoteServer, RemoteSkill, TrustStore, Wanted};
use metier_files::{
    FileDigest, ListBounds, Mode, RelativePath, SkillDir, private_folder, read_bounded, write_atomic,
};
use serde_json::{Map, Value};

use super::config::ServerConfig;
use super::frontmatter::difference;
use super::listing::Listing;

/// The largest list that is read back.
const MAX_LISTING: u64 = 128 * 1024 * 1024;

/// The folder of one server.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    folder: PathBuf,
}

/// Why a file is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unverified {
    /// It has another size.
    #[error("`{path}` has {found} bytes and its server listed {listed}; nothing of it is used")]
    Size {
        /// The file.
        path: String,
        /// What came.
        found: usize,
        /// What was listed.
        listed: u64,
    },
    /// It has another digest.
    #[error("`{0}` is not what its server listed: its digest is another one; nothing of it is used")]
    Digest(String),
    /// Its frontmatter is another one.
    #[error("{0}; nothing of it is used")]
    Frontmatter(#[from] super::frontmatter::Difference),
    /// Something lies beside it that was not listed.
    #[error("`{path}` lies among its files and was not listed; remove `{folder}`")]
    Unlisted {
        /// The file.
        path: String,
        /// Where.
        folder: String,
    },
    /// It could not be kept.
    #[error("`{path}` cannot be kept: {why}")]
    Unkept {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
}

impl Shelf {
    /// The shelf of a server below the cache. Label and endpoint are both in its name: two servers share nothing, and one that
    /// took another's label takes none of its files.
    pub(super) fn of(cache: &Path, config: &ServerConfig) -> Self {
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

    /// Keeps a list, so that it can be shown without asking again.
    pub(super) fn keep(&self, listing: &Listing) -> std::io::Result<()> {
        private_folder(&self.folder)?;
        write_atomic(&self.listing_file(), listing.kept().to_string().as_bytes(), Mode::Private)
    }

    /// The list that was kept last; `None` where there is none that could be read.
    pub(super) fn kept(&self) -> Option<Listing> {
        let bytes = read_bounded(&self.listing_file(), MAX_LISTING).ok().flatten()?;
        let kept: Value = serde_json::from_slice(&bytes).ok()?;
        Some(Listing::from_kept(&kept))
    }

    /// A list as the catalogue knows it, with what the user approved of it.
    pub(super) fn server(
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
            let place = format!("{}-{}", short(FileDigest::of(entry.uri.as_bytes())), short(set));
            let files = entry.files.iter().map(|file| RemoteFile {
                path: file.path.clone(),
                uri: file.uri.clone(),
                size: file.size,
                digest: file.digest,
            });
            let mut skill = RemoteSkill {
                server: config.label.clone(),
                uri: entry.uri.clone(),
                folder: Path::new(&place).join(&entry.name),
                text: entry.text(),
                files: files.collect(),
                set,
                approval: metier_catalog::Approval::NotYet,
            };
            // A record that cannot be read approves nothing.
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

/// The files of a skill that are wanted, its `SKILL.md` first.
pub(super) fn wanted<'a>(skill: &'a RemoteSkill, wanted: Wanted<'_>) -> Vec<&'a RemoteFile> {
    let mut files: Vec<&RemoteFile> = match wanted {
        Wanted::Document => skill.files.iter().filter(|file| file.uri == skill.uri).collect(),
        Wanted::File(path) => skill.file(path).into_iter().collect(),
        Wanted::All => skill.files.iter().collect(),
    };
    files.sort_by_key(|file| file.uri != skill.uri);
    files
}

/// Whether a file that is kept is still what was listed.
pub(super) fn is_kept(folder: &Path, file: &RemoteFile) -> Option<Vec<u8>> {
    let bytes = SkillDir::open(folder).ok()?.read(&file.path, file.size).ok()?;
    verify(file, &bytes).is_ok().then_some(bytes)
}

/// Holds bytes against the list.
pub(super) fn verify(file: &RemoteFile, bytes: &[u8]) -> Result<(), Unverified> {
    let path = file.path.to_string();
    if bytes.len() as u64 != file.size {
        return Err(Unverified::Size { path, found: bytes.len(), listed: file.size });
    }
    if FileDigest::of(bytes) != file.digest {
        return Err(Unverified::Digest(path));
    }
    Ok(())
}

/// Holds the frontmatter of a `SKILL.md` against the list, field by field.
pub(super) fn verify_document(skill: &RemoteSkill, bytes: &[u8]) -> Result<(), Unverified> {
    let listed = skill.text.strip_prefix("---\n").and_then(|text| text.strip_suffix("\n---\n"));
    let listed: Map<String, Value> =
        listed.and_then(|listed| serde_json::from_str(listed).ok()).unwrap_or_default();
    difference(bytes, &listed).map_or(Ok(()), |found| Err(found.into()))
}

/// Keeps a file that was verified. It appears whole or not at all.
pub(super) fn keep(folder: &Path, file: &RemoteFile, bytes: &[u8]) -> Result<(), Unverified> {
    let place = folder.join(file.path.as_path());
    let made = place.parent().map_or(Ok(()), private_folder);
    made.and_then(|()| write_atomic(&place, bytes, Mode::Private))
        .map_err(|error| Unverified::Unkept { path: file.path.to_string(), why: error.to_string() })
}

/// Nothing lies among the files of a skill that was not listed: what runs would open it, too.
pub(super) fn nothing_else(folder: &Path, skill: &RemoteSkill) -> Result<(), Unverified> {
    let unlisted = |path: String| Unverified::Unlisted { path, folder: folder.display().to_string() };
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
