//! One served skill: its frontmatter, and every file with its size and digest.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use metier_catalog::{Entry, Snapshot};
use metier_files::{Error, Extent, FileDigest, ListBounds, RelativePath, SkillDir, Stamp, media_type};
use serde_json::{Map, Value, json};

use super::code::UnservableError;
use super::frontmatter::frontmatter;
use super::uri::SkillUri;

/// The most files of a skill that every host accepts.
pub(crate) const MAX_FILES: usize = 512;

/// The most bytes of a skill that every host accepts, all files together.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// How often a folder is scanned that changes during the scan.
const MAX_SCANS: usize = 5;

/// The file name of a skill over MCP.
pub(crate) const DOCUMENT: &str = "SKILL.md";

/// A served skill.
#[derive(Debug, PartialEq)]
pub(crate) struct Manifest {
    /// The skill's name.
    pub(crate) name: String,
    /// The parsed frontmatter.
    pub(crate) frontmatter: Arc<Map<String, Value>>,
    /// All files, sorted by path.
    pub(crate) files: Vec<ServedFile>,
}

/// A file of the skill.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServedFile {
    pub(crate) path: RelativePath,
    pub(crate) uri: String,
    pub(crate) size: u64,
    pub(crate) digest: FileDigest,
    pub(crate) media: &'static str,
    /// The file's stamp before it was read; `None` if a later change might not show in the stamp. Such a file is always read
    /// again.
    stamp: Option<Stamp>,
}

/// The folder of a skill.
pub(crate) struct SkillFolder {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) dir: SkillDir,
}

impl SkillFolder {
    pub(crate) fn open(snapshot: &Snapshot, entry: &Entry) -> Result<Self, UnservableError> {
        let dir = snapshot.open(entry).map_err(|error| unreadable(&error))?;
        Ok(Self { name: entry.name().to_string(), path: snapshot.folder(entry), dir })
    }

    /// Reads a file.
    pub(crate) fn read(&self, path: &RelativePath) -> Result<Vec<u8>, Error> {
        self.dir.read(path, MAX_BYTES)
    }
}

fn unreadable(error: &Error) -> UnservableError {
    UnservableError::Unreadable(error.to_string())
}

impl Manifest {
    /// Scans a skill. Files whose stamp is unchanged since `before` are not read again.
    pub(crate) fn of(folder: &SkillFolder, before: Option<&Self>) -> Result<Self, UnservableError> {
        // An editor may replace a file by renaming a temporary one: a scan may list a name that is gone, or see neither file.
        for _ in 1..MAX_SCANS {
            match Self::scan(folder, before) {
                Err(UnservableError::Gone | UnservableError::Document) => {}
                other => return other,
            }
        }
        Self::scan(folder, before)
    }

    fn scan(folder: &SkillFolder, before: Option<&Self>) -> Result<Self, UnservableError> {
        let listing = folder.dir.list(ListBounds::default()).map_err(|error| unreadable(&error))?;
        if listing.files.len() > MAX_FILES || listing.extent == Extent::Truncated {
            return Err(UnservableError::Files);
        }
        if listing.files.iter().map(|file| file.size).sum::<u64>() > MAX_BYTES {
            return Err(UnservableError::Bytes);
        }
        let mut files = Vec::with_capacity(listing.files.len());
        let mut document = None;
        for listed in listing.files {
            let known = before.and_then(|before| before.file(&listed.path));
            let stamp = settled(&folder.path.join(listed.path.as_path()));
            if let Some(known) = known.filter(|known| stamp.is_some() && known.stamp == stamp) {
                files.push(known.clone());
                continue;
            }
            let bytes = folder.read(&listed.path).map_err(|error| match error {
                Error::NotFound { .. } => UnservableError::Gone,
                error => unreadable(&error),
            })?;
            if listed.path.as_str() == Some(DOCUMENT) {
                document = Some(frontmatter(&bytes, &folder.name)?);
            }
            files.push(ServedFile {
                uri: SkillUri::file(&folder.name, &listed.path).ok_or(UnservableError::Path)?,
                media: media_type(listed.path.as_path(), &bytes),
                size: bytes.len() as u64,
                digest: FileDigest::of(&bytes),
                stamp,
                path: listed.path,
            });
        }
        // A file may have grown since it was listed.
        if files.iter().map(|file| file.size).sum::<u64>() > MAX_BYTES {
            return Err(UnservableError::Bytes);
        }
        let frontmatter = match (document, before) {
            (Some(read), _) => Arc::new(read),
            (None, Some(before)) => Arc::clone(&before.frontmatter),
            (None, None) => return Err(UnservableError::Document),
        };
        let manifest = Self { name: folder.name.clone(), frontmatter, files };
        if manifest.document().is_none() {
            return Err(UnservableError::Document);
        }
        Ok(manifest)
    }

    /// Whether a client of `other` would see no change.
    pub(crate) fn serves_the_same_as(&self, other: &Self) -> bool {
        let seen = |manifest: &Self| -> Vec<(String, FileDigest)> {
            manifest.files.iter().map(|file| (file.uri.clone(), file.digest)).collect()
        };
        self.files.len() == other.files.len() && seen(self) == seen(other)
    }

    /// Finds a file by path.
    pub(crate) fn file(&self, path: &RelativePath) -> Option<&ServedFile> {
        let at = self.files.binary_search_by(|file| file.path.cmp(path)).ok()?;
        self.files.get(at)
    }

    /// The skill's `SKILL.md`.
    pub(crate) fn document(&self) -> Option<&ServedFile> {
        self.files.iter().find(|file| file.path.as_str() == Some(DOCUMENT))
    }

    /// The skill's entry for `skills/list` and `skills/get`.
    pub(crate) fn entry(&self) -> Value {
        let resources = self
            .files
            .iter()
            .map(|file| json!({ "uri": file.uri, "digest": file.digest.to_string(), "size": file.size }));
        json!({
            "uri": SkillUri::below(&self.name, DOCUMENT),
            "frontmatter": *self.frontmatter,
            "resources": resources.collect::<Vec<_>>(),
        })
    }
}

/// The stamp of a file, if every later change is sure to alter it.
fn settled(path: &Path) -> Option<Stamp> {
    let now = SystemTime::now();
    Stamp::of(path).filter(|stamp| stamp.is_settled(now))
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    fn folder(workspace: &Workspace) -> SkillFolder {
        let path = workspace.join("s/greet");
        SkillFolder { name: "greet".to_owned(), dir: SkillDir::open(&path).unwrap(), path }
    }

    #[test]
    fn the_manifest_lists_every_file_once_with_size_and_digest() {
        let workspace = Workspace::new()
            .skill("s/greet", "Greets.")
            .file("s/greet/references/a b.md", "abc")
            .file("s/greet/.git/config", "no")
            .symlink("s/greet/secret", "/etc/passwd")
            .symlink("s/greet/same.md", "references/a b.md");
        let manifest = Manifest::of(&folder(&workspace), None).unwrap();
        let uris: Vec<&str> = manifest.files.iter().map(|file| file.uri.as_str()).collect();
        assert_eq!(
            uris,
            ["skill://greet/SKILL.md", "skill://greet/references/a%20b.md", "skill://greet/same.md"]
        );
        let entry = manifest.entry();
        assert_eq!(entry["uri"], "skill://greet/SKILL.md");
        assert_eq!(entry["frontmatter"]["name"], "greet");
        assert_eq!(
            entry["resources"][1],
            json!({
                "uri": "skill://greet/references/a%20b.md",
                "digest": "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "size": 3,
            })
        );
    }

    #[test]
    fn a_change_is_detected_even_if_the_size_is_the_same() {
        let workspace = Workspace::new().skill("s/greet", "Greets.").file("s/greet/a.md", "one");
        let before = Manifest::of(&folder(&workspace), None).unwrap();
        assert!(Manifest::of(&folder(&workspace), Some(&before)).unwrap().serves_the_same_as(&before));
        let workspace = workspace.file("s/greet/a.md", "two");
        let after = Manifest::of(&folder(&workspace), Some(&before)).unwrap();
        assert!(!after.serves_the_same_as(&before));
        assert_eq!(after.file(&RelativePath::parse("a.md").unwrap()).unwrap().digest, FileDigest::of(b"two"));
    }

    #[test]
    fn skills_beyond_the_limits_of_hosts_are_not_served() {
        let many = (0..MAX_FILES).fold(Workspace::new().skill("s/greet", "Greets."), |workspace, number| {
            workspace.file(format!("s/greet/f/{number}"), "x")
        });
        assert_eq!(Manifest::of(&folder(&many), None).unwrap_err(), UnservableError::Files);
        let half = vec![b'x'; 9 << 20];
        let large =
            Workspace::new().skill("s/greet", "Greets.").file("s/greet/a", &half).file("s/greet/b", &half);
        assert_eq!(Manifest::of(&folder(&large), None).unwrap_err(), UnservableError::Bytes);
        let small = Workspace::new().file("s/greet/skill.md", "---\nname: greet\ndescription: d\n---\n");
        assert_eq!(Manifest::of(&folder(&small), None).unwrap_err(), UnservableError::Document);
    }
}
