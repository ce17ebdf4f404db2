//! Where an environment lies in a skill's data folder, and whether it is complete.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use metier_files::{RelativePath, SkillDir, names_in, private_folder, write_private};
use serde::{Deserialize, Serialize};

/// The folder of a skill's data that holds what was prepared.
pub(crate) const ENV: &str = "env";

/// The folder beside data folders that holds what metier itself knows of them.
const RECORDS: &str = ".prepared";

/// The largest lock or mark that is read: some thousand packages.
const MAX_FILE: u64 = 8 << 20;

/// How many names beside an environment are looked at; there are five for each recipe.
const MAX_NAMES: usize = 1000;

/// Which interpreter an environment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Python.
    Python,
    /// Node.
    Node,
}

impl Language {
    /// The word for paths and programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "node",
        }
    }

    /// Where its packages are kept, so that they need not be fetched again.
    const fn stock(self) -> &'static str {
        match self {
            Self::Python => "wheels",
            Self::Node => "npm-cache",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Python => "Python",
            Self::Node => "Node",
        })
    }
}

/// What the mark of an environment says.
#[derive(Serialize, Deserialize)]
struct EnvironmentMark {
    packages: Vec<Package>,
    bytes: u64,
}

/// A package that is installed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// An environment that is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedEnvironment {
    /// For which interpreter.
    pub language: Language,
    /// Where it is.
    pub folder: PathBuf,
    /// What is in it.
    pub packages: Vec<Package>,
    /// How much all that is kept for it takes on disk, in bytes. A script that may fill its data folder up to some limit
    /// has that much less of it, so whoever sets the limit adds this.
    pub bytes: u64,
}

/// The places of one environment. Its data folder can be written by the skill's scripts, so everything in it is a
/// stranger's: it is read confined, and written by processes that see nothing else.
#[derive(Clone, Debug)]
pub(crate) struct EnvironmentDir {
    pub(crate) language: Language,
    pub(crate) data: PathBuf,
    pub(crate) key: String,
}

impl EnvironmentDir {
    pub(crate) fn new(language: Language, data: &Path, key: String) -> Self {
        Self { language, data: data.to_owned(), key }
    }

    /// `python-0123456789abcdef`.
    pub(crate) fn name(&self) -> String {
        format!("{}-{}", self.language.word(), self.key)
    }

    /// The environment itself.
    pub(crate) fn folder(&self) -> PathBuf {
        self.data.join(ENV).join(self.name())
    }

    /// What was fetched for it.
    pub(crate) fn stock(&self) -> PathBuf {
        self.data.join(ENV).join(self.language.stock()).join(&self.key)
    }

    /// The exact versions with their digests.
    pub(crate) fn lock(&self) -> PathBuf {
        self.data.join(ENV).join(format!("{}.lock", self.name()))
    }

    /// What says that it is complete, and how much it takes.
    fn mark_name(&self) -> String {
        format!("{}.json", self.name())
    }

    /// Where earlier versions of metier left the mark.
    fn old_mark(&self) -> PathBuf {
        self.data.join(ENV).join(self.mark_name())
    }

    /// The folder with the marks of this data folder. They are written last, by metier itself, and lie beside the data folder: what a
    /// script could write would give it as much room as it likes. No data folder has a name with a dot first.
    fn records(&self) -> Option<PathBuf> {
        Some(self.data.parent()?.join(RECORDS).join(self.data.file_name()?))
    }

    /// Writes the mark.
    pub(crate) fn write_mark(&self, packages: &[Package], bytes: u64) -> io::Result<()> {
        let records = self.records().ok_or(io::ErrorKind::InvalidInput)?;
        private_folder(&records)?;
        let text = serde_json::to_vec(&EnvironmentMark { packages: packages.to_vec(), bytes })?;
        write_private(&records.join(self.mark_name()), &text)
    }

    /// A file of the data folder, if it is there and can be read without leaving it.
    pub(crate) fn read(&self, path: &Path) -> Option<Vec<u8>> {
        let (data, inside) = self.inside(path)?;
        data.read(&inside, MAX_FILE).ok()
    }

    /// Whether a file of the data folder is there.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.inside(path).is_some_and(|(data, inside)| data.look_at(&inside).is_ok())
    }

    fn inside(&self, path: &Path) -> Option<(SkillDir, RelativePath)> {
        let inside = RelativePath::parse_os(path.strip_prefix(&self.data).ok()?.as_os_str()).ok()?;
        Some((SkillDir::open(&self.data).ok()?, inside))
    }

    /// The environment, if it is complete.
    pub(crate) fn prepared(&self) -> Option<PreparedEnvironment> {
        // What an earlier version wrote into the data folder says what is installed; how much it takes is not taken from a
        // place that scripts write to.
        self.recorded().or_else(|| {
            let mark: EnvironmentMark = serde_json::from_slice(&self.read(&self.old_mark())?).ok()?;
            self.complete(mark.packages, 0)
        })
    }

    /// The same by metier's own mark: nothing is left to do.
    pub(crate) fn recorded(&self) -> Option<PreparedEnvironment> {
        let name = RelativePath::parse_os(self.mark_name().as_ref()).ok()?;
        let mark = SkillDir::open(&self.records()?).ok()?.read(&name, MAX_FILE).ok()?;
        let EnvironmentMark { packages, bytes } = serde_json::from_slice(&mark).ok()?;
        self.complete(packages, bytes)
    }

    fn complete(&self, packages: Vec<Package>, bytes: u64) -> Option<PreparedEnvironment> {
        let proof = match self.language {
            Language::Python => "pyvenv.cfg",
            Language::Node => super::node::LOADER,
        };
        let is_there = self.has(&self.lock()) && self.has(&self.folder().join(proof));
        is_there.then(|| PreparedEnvironment {
            language: self.language,
            folder: self.folder(),
            packages,
            bytes,
        })
    }

    /// Whether another recipe was prepared for the same interpreter.
    pub(crate) fn has_other(&self) -> bool {
        let (begin, own) = (format!("{}-", self.language.word()), self.name());
        let is_other = |name: &OsStr| {
            let mark = name.to_str().and_then(|name| name.strip_suffix(".json"));
            mark.is_some_and(|name| name.starts_with(&begin) && name != own)
        };
        let places = [Some(self.data.join(ENV)), self.records()];
        places.iter().flatten().any(|place| names_in(place, MAX_NAMES).iter().any(|name| is_other(name)))
    }
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    fn dir(workspace: &Workspace) -> EnvironmentDir {
        EnvironmentDir::new(Language::Python, &workspace.join("data"), "k".to_owned())
    }

    #[test]
    fn an_environment_counts_when_all_of_it_is_there() {
        let packages = [Package { name: "six".into(), version: "1.17.0".into() }];
        let part =
            || Workspace::new().file("data/env/python-k.lock", "x").file("data/env/python-k/pyvenv.cfg", "x");
        let workspace = part();
        let dir = dir(&workspace);
        assert_eq!(dir.prepared(), None);
        dir.write_mark(&packages, 42).unwrap();
        let found = dir.prepared().unwrap();
        assert_eq!((found.packages.as_slice(), found.bytes), (packages.as_slice(), 42));
        assert!(!dir.has_other());
        assert!(EnvironmentDir { key: "other".into(), ..dir }.has_other());
        let empty = Workspace::new().dir("data");
        let dir = super::tests::dir(&empty);
        dir.write_mark(&packages, 42).unwrap();
        assert_eq!(dir.prepared(), None, "nothing of it is there");
    }

    #[test]
    fn a_mark_in_the_data_folder_gives_no_room() {
        let packages = [Package { name: "six".into(), version: "1.17.0".into() }];
        let mark = EnvironmentMark { packages: packages.to_vec(), bytes: u64::MAX };
        let workspace = Workspace::new()
            .file("data/env/python-k.lock", "x")
            .file("data/env/python-k/pyvenv.cfg", "x")
            .file("data/env/python-k.json", serde_json::to_vec(&mark).unwrap());
        let dir = dir(&workspace);
        let found = dir.prepared().unwrap();
        assert_eq!((found.packages.as_slice(), found.bytes), (packages.as_slice(), 0));
        assert_eq!(dir.recorded(), None, "preparing it again writes the mark");
        dir.write_mark(&packages, 42).unwrap();
        assert_eq!(dir.prepared().unwrap().bytes, 42);
    }

    #[test]
    fn a_link_that_leads_out_of_the_data_folder_counts_for_nothing() {
        let workspace = Workspace::new()
            .file("elsewhere/python-k.lock", "x")
            .file("elsewhere/python-k.json", "{\"packages\": [], \"bytes\": 1}")
            .file("elsewhere/python-k/pyvenv.cfg", "x")
            .dir("data")
            .symlink("data/env", "../elsewhere");
        assert_eq!(dir(&workspace).prepared(), None);
    }
}
