//! Other names of files: whoever may write one name of a file writes the file.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files and folders that are looked at for one question. A project has fewer, and `stat` of them all takes under a second.
const MAX_ENTRIES: usize = 200_000;

/// A file with two names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherName {
    /// The name that was searched for.
    pub name: PathBuf,
    /// The name it was known by.
    pub of: PathBuf,
}

/// Finds a file at or below `place` that is one of the files at or below `known` by another name. Links are not followed.
pub fn other_name(place: &Path, known: &[&Path]) -> Option<OtherName> {
    let mut linked: HashMap<(u64, u64), PathBuf> = HashMap::new();
    for path in known {
        each_file(path, |path, metadata| {
            if metadata.nlink() > 1 {
                linked.insert((metadata.dev(), metadata.ino()), path.to_owned());
            }
            None::<()>
        });
    }
    if linked.is_empty() {
        return None;
    }
    each_file(place, |path, metadata| {
        let of = linked.get(&(metadata.dev(), metadata.ino())).filter(|of| *of != path)?;
        Some(OtherName { name: path.to_owned(), of: of.clone() })
    })
}

/// Goes through the files at or below a path until one is found. What cannot be read is passed over: it cannot be written
/// through there either.
pub(crate) fn each_file<T>(top: &Path, mut visit: impl FnMut(&Path, &Metadata) -> Option<T>) -> Option<T> {
    let mut waiting = vec![top.to_owned()];
    let mut seen = 0;
    while let Some(path) = waiting.pop() {
        seen += 1;
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.is_file()
            && let Some(found) = visit(&path, &metadata)
        {
            return Some(found);
        }
        if metadata.is_dir() && seen < MAX_ENTRIES {
            waiting.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn another_name_is_found_and_the_same_one_is_not() {
        let workspace = Workspace::new()
            .file("p/.git/config", "x")
            .file("p/.git/hooks/pre-commit", "x")
            .file("p/docs/deep/a.md", "x");
        let (config, hooks) = (workspace.join("p/.git/config"), workspace.join("p/.git/hooks"));
        let known: [&Path; 2] = [&config, &hooks];
        assert_eq!(other_name(&workspace.join("p"), &known), None);
        let name = workspace.join("p/docs/deep/notes.txt");
        fs::hard_link(hooks.join("pre-commit"), &name).unwrap();
        let found = other_name(&workspace.join("p/docs"), &known).unwrap();
        assert_eq!((&found.name, &found.of), (&name, &hooks.join("pre-commit")));
        assert_eq!(other_name(&name, &known), Some(found));
        assert_eq!(other_name(&workspace.join("p/docs/deep/a.md"), &known), None);
    }
}
