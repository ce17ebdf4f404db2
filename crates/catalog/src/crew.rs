//! Crews: the skills that one crew file names belong together.

use crate::entry::Entry;
use crate::layout::CREW_SUFFIX;
use crate::snapshot::Snapshot;
use std::path::{Path, PathBuf};

/// The folder beside a crew file in which its skills keep what they work on.
const DATA: &str = "_data";

/// A crew that a skill belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crew {
    /// The crew file, absolute.
    pub file: PathBuf,
}

impl Crew {
    /// What it is called: its file's name. An `id` inside the file need not be its own, and two crews would then share what
    /// each keeps.
    pub fn name(&self) -> String {
        let name = self.file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        name.strip_suffix(CREW_SUFFIX).unwrap_or(&name).to_owned()
    }

    /// The folder that its skills read.
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("/"))
    }

    /// The folder in there that its skills write.
    pub fn data(&self) -> PathBuf {
        self.folder().join(DATA)
    }
}

impl Snapshot {
    /// The crew that a skill belongs to: the one whose file names its folder. A folder that is a skill of another root as
    /// well is the crew's all the same, once the project of the crew file is trusted.
    pub fn crew<'a>(&'a self, entry: &'a Entry) -> Option<&'a Crew> {
        let own = self.root(entry).crew.as_ref();
        own.or_else(|| self.trusted_links(entry).find_map(|root| root.crew.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crew_is_called_like_its_file_and_has_a_folder_for_data_beside_it() {
        let crew = Crew { file: "/p/team/todo.skilled_crew.yaml".into() };
        assert_eq!((crew.name().as_str(), crew.folder()), ("todo", Path::new("/p/team")));
        assert_eq!(crew.data(), Path::new("/p/team/_data"));
    }
}
