//! Git repositories that are no `.git` folder.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::hard_link::each_file;

/// A folder at or below `place`, outside of any `.git`, that git takes for a repository: it has a `HEAD`, `objects` and `refs`.
/// Git obeys its `config` and runs its hooks, as it does in a `.git`.
pub fn bare_repository(place: &Path) -> Option<PathBuf> {
    each_file(place, |path, _| {
        let folder = path.parent().filter(|_| path.file_name() == Some(OsStr::new("HEAD")))?;
        let is_git = folder.components().any(|part| part.as_os_str() == ".git");
        let has_rest = ["objects", "refs"].iter().all(|name| folder.join(name).is_dir());
        (has_rest && !is_git).then(|| folder.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn it_is_known_by_what_git_looks_for() {
        let workspace = Workspace::new()
            .file("p/docs/HEAD", "x")
            .file("p/.git/HEAD", "ref: refs/heads/main")
            .dir("p/.git/objects")
            .dir("p/.git/refs");
        assert_eq!(bare_repository(&workspace.join("p")), None);
        let workspace = workspace.file("p/a/b.git/HEAD", "x").dir("p/a/b.git/objects").dir("p/a/b.git/refs");
        assert_eq!(bare_repository(&workspace.join("p")), Some(workspace.join("p/a/b.git")));
    }
}
