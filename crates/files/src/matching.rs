//! Files of a project that somebody means by a pattern.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders whose files nobody means by a pattern about a project's own: what tools keep there is theirs.
const OTHERS: &[&str] = &[".git", "node_modules"];

/// Files that a pattern means.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Matching {
    /// Which, in order.
    pub files: Vec<PathBuf>,
    /// Whether there was too much to look at, or too many were meant.
    pub is_partial: bool,
}

/// The regular files below `folder` that are meant, by their path from `top`. At most `most` of them, and at most `looks`
/// names are looked at. Links are neither followed nor meant.
pub fn matching(
    top: &Path,
    folder: &Path,
    looks: usize,
    most: usize,
    is_meant: impl Fn(&str) -> bool,
) -> Matching {
    let mut found = Matching::default();
    let mut folders = VecDeque::from([folder.to_owned()]);
    let mut looked = 0;
    while let Some(folder) = folders.pop_front() {
        let mut entries: Vec<_> = fs::read_dir(&folder).into_iter().flatten().flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            looked += 1;
            if looked > looks || found.files.len() >= most {
                found.is_partial = true;
                return found;
            }
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_dir() {
                if !OTHERS.iter().any(|name| entry.file_name() == *name) {
                    folders.push_back(path);
                }
            } else if kind.is_file()
                && path.strip_prefix(top).ok().and_then(Path::to_str).is_some_and(&is_meant)
            {
                found.files.push(path);
            }
        }
    }
    found.files.sort();
    found
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn files_are_found_by_their_path_and_bounded() {
        let workspace = Workspace::new()
            .file("p/a.md", "")
            .file("p/docs/b.md", "")
            .file("p/docs/c.txt", "")
            .file("p/.git/d.md", "")
            .symlink("p/link.md", "a.md");
        let top = workspace.join("p");
        let find = |looks, most| matching(&top, &top, looks, most, |path| path.contains(".md"));
        let all = find(100, 100);
        assert_eq!((all.files, all.is_partial), (vec![top.join("a.md"), top.join("docs/b.md")], false));
        assert!(find(100, 1).is_partial && find(2, 100).is_partial);
    }
}
