//! One skill as it is served: its frontmatter, and every file with its size and digest.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use metier_catalog::{Entry, Snapshot};
use metier_files::{Error, Extent, FileDigest, ListBounds, RelativePath, SkillDir, Stamp, media_type};
use serde_json::{Map, Value, json};

use super::frontmatter::frontmatter;
use super::unfit::Unfit;
use super::uri::SkillUri;

/// The most files of a skill that every host accepts.
pub(super) const MOST_FILES: usize = 512;

/// The most bytes of a skill that every host accepts, all files together.
pub(super) const MOST_BYTES: u64 = 16 << 20;

/// How often a folder is looked at that changes while it is read.
const LOOKS: usize = 5;

/// What a skill's file is called over MCP.
pub(super) const DOCUMENT: &str = "SKILL.md";

/// A skill as it is served.
#[derive(Debug, PartialEq)]
pub(super) struct Manifest {
    /// The name it is called by.
    pub(super) name: String,
    /// What its frontmatter says.
    pub(super) frontmatter: Arc<Map<String, Value>>,
    /// Every file, by path.
    pub(super) files: Vec<ServedFile>,
}

/// A file of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ServedFile {
    pub(super) path: RelativePath,
    pub(super) uri: String,
    pub(super) size: u64,
    pub(super) digest: FileDigest,
    pub(super) media: &'static str,
    /// How the file looked before it was read; `None` where a change since then might look the same, so that it has to be read
    /// again.
    stamp: Option<Stamp>,
}

/// Where a skill's files are.
pub(super) struct Site {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) dir: SkillDir,
}

impl Site {
    pub(super) fn open(snapshot: &Snapshot, entry: &Entry) -> Result<Self, Unfit> {
        let dir = snapshot.open(entry).map_err(|error| unreadable(&error))?;
        Ok(Self { name: entry.name().to_string(), folder: snapshot.folder(entry), dir })
    }

    /// A file's bytes.
    pub(super) fn read(&self, path: &RelativePath) -> Result<Vec<u8>, Error> {
        self.dir.read(path, MOST_BYTES)
    }
}

fn unreadable(error: &Error) -> Unfit {
    Unfit::Unreadable(error.to_string())
}

impl Manifest {
    /// Looks at a skill. What looks as it did in `before` is not read again.
    pub(super) fn of(site: &Site, before: Option<&Self>) -> Result<Self, Unfit> {
        // An editor puts a file beside another and then into its place: what was listed may have another name by now, and a
        // folder that is read meanwhile may show neither.
        for _ in 1..LOOKS {
            match Self::look(site, before) {
                Err(Unfit::Gone | Unfit::Document) => {}
                other => return other,
            }
        }
        Self::look(site, before)
    }

    fn look(site: &Site, before: Option<&Self>) -> Result<Self, Unfit> {
        let listing = site.dir.list(ListBounds::default()).map_err(|error| unreadable(&error))?;
        if listing.files.len() > MOST_FILES || listing.extent == Extent::Truncated {
            return Err(Unfit::Files);
        }
        if listing.files.iter().map(|file| file.size).sum::<u64>() > MOST_BYTES {
            return Err(Unfit::Bytes);
        }
        let mut files = Vec::with_capacity(listing.files.len());
        let mut document = None;
        for listed in listing.files {
            let known = before.and_then(|before| before.file(&listed.path));
            let stamp = settled(&site.folder.join(listed.path.as_path()));
            if let Some(known) = known.filter(|known| stamp.is_some() && known.stamp == stamp) {
                files.push(known.clone());
                continue;
            }
            let bytes = site.read(&listed.path).map_err(|error| match error {
                Error::NotFound { .. } => Unfit::Gone,
                error => unreadable(&error),
            })?;
            if listed.path.as_str() == Some(DOCUMENT) {
                document = Some(frontmatter(&bytes, &site.name)?);
            }
            files.push(ServedFile {
                uri: SkillUri::file(&site.name, &listed.path).ok_or(Unfit::Path)?,
                media: media_type(listed.path.as_path(), &bytes),
                size: bytes.len() as u64,
                digest: FileDigest::of(&bytes),
                stamp,
                path: listed.path,
            });
        }
        // A file may have grown since it was listed.
        if files.iter().map(|file| file.size).sum::<u64>() > MOST_BYTES {
            return Err(Unfit::Bytes);
        }
        let frontmatter = match (document, before) {
            (Some(read), _) => Arc::new(read),
            (None, Some(before)) => Arc::clone(&before.frontmatter),
            (None, None) => return Err(Unfit::Document),
        };
        let manifest = Self { name: site.name.clone(), frontmatter, files };
        if manifest.document().is_none() {
            return Err(Unfit::Document);
        }
        Ok(manifest)
    }

    /// Whether whoever knew the other one would find it changed.
    pub(super) fn serves_the_same_as(&self, other: &Self) -> bool {
        let seen = |manifest: &Self| -> Vec<(String, FileDigest)> {
            manifest.files.iter().map(|file| (file.uri.clone(), file.digest)).collect()
        };
        self.files.len() == other.files.len() && seen(self) == seen(other)
    }

    /// A file of it.
    pub(super) fn file(&self, path: &RelativePath) -> Option<&ServedFile> {
        let at = self.files.binary_search_by(|file| file.path.cmp(path)).ok()?;
        self.files.get(at)
    }

    /// Its `SKILL.md`.
    pub(super) fn document(&self) -> Option<&ServedFile> {
        self.files.iter().find(|file| file.path.as_str() == Some(DOCUMENT))
    }

    /// The entry of `skills/list` and `skills/get`.
    pub(super) fn entry(&self) -> Value {
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

/// How a file looks, where a change from here on is sure to look otherwise.
fn settled(path: &Path) -> Option<Stamp> {
    let now = SystemTime::now();
    Stamp::of(path).filter(|stamp| stamp.is_settled(now))
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    fn site(workspace: &Workspace) -> Site {
        let folder = workspace.join("s/greet");
        Site { name: "greet".to_owned(), dir: SkillDir::open(&folder).unwrap(), folder }
    }

    #[test]
    fn every_file_is_there_once_with_its_size_and_digest() {
        let workspace = Workspace::new()
            .skill("s/greet", "Greets.")
            .file("s/greet/references/a b.md", "abc")
            .file("s/greet/.git/config", "no")
            .symlink("s/greet/secret", "/etc/passwd")
            .symlink("s/greet/same.md", "references/a b.md");
        let manifest = Manifest::of(&site(&workspace), None).unwrap();
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
    fn a_change_is_found_whether_or_not_the_size_is_the_same() {
        let workspace = Workspace::new().skill("s/greet", "Greets.").file("s/greet/a.md", "one");
        let before = Manifest::of(&site(&workspace), None).unwrap();
        assert!(Manifest::of(&site(&workspace), Some(&before)).unwrap().serves_the_same_as(&before));
        let workspace = workspace.file("s/greet/a.md", "two");
        let after = Manifest::of(&site(&workspace), Some(&before)).unwrap();
        assert!(!after.serves_the_same_as(&before));
        assert_eq!(after.file(&RelativePath::parse("a.md").unwrap()).unwrap().digest, FileDigest::of(b"two"));
    }

    #[test]
    fn what_a_host_would_refuse_is_not_served() {
        let many = (0..MOST_FILES).fold(Workspace::new().skill("s/greet", "Greets."), |workspace, number| {
            workspace.file(format!("s/greet/f/{number}"), "x")
        });
        assert_eq!(Manifest::of(&site(&many), None).unwrap_err(), Unfit::Files);
        let half = vec![b'x'; 9 << 20];
        let large =
            Workspace::new().skill("s/greet", "Greets.").file("s/greet/a", &half).file("s/greet/b", &half);
        assert_eq!(Manifest::of(&site(&large), None).unwrap_err(), Unfit::Bytes);
        let small = Workspace::new().file("s/greet/skill.md", "---\nname: greet\ndescription: d\n---\n");
        assert_eq!(Manifest::of(&site(&small), None).unwrap_err(), Unfit::Document);
    }
}
