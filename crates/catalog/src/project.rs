//! The project: the folder whose skills, configuration and files belong to the work at hand.

use crate::code;
use crate::places::Places;
use metier_diagnostic::Diagnostic;
use metier_files::{Kind, kind, real_path};
use std::path::{Path, PathBuf};

/// What makes a folder a project.
pub(crate) const MARKS: [&str; 2] = [".git", "metier.toml"];

/// The project and the folder the user is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The project's folder, a real path: trust is bound to it.
    pub folder: PathBuf,
    /// The current folder, a real path inside it.
    pub current: PathBuf,
}

impl Project {
    /// Finds the project: the nearest ancestor of the current folder with a `.git` or a `metier.toml`, else the current
    /// folder.
    ///
    /// `/`, the home directory or an ancestor of it, and the temporary folder are never one. They hold what other
    /// programs and other people put there, and scripts are shown the project; the answer is then a diagnostic.
    pub fn find(places: &Places) -> Result<Self, Box<Diagnostic>> {
        find(places, &|path| kind(path) != Kind::Missing)
    }

    /// The current folder, then each folder above it up to the project's.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.current.ancestors().take_while(|folder| folder.starts_with(&self.folder))
    }

    /// The project's configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.folder.join("metier.toml")
    }
}

fn find(places: &Places, exists: &dyn Fn(&Path) -> bool) -> Result<Project, Box<Diagnostic>> {
    // Compared are real paths, or a link to the home directory would make a project of it.
    let real = |path: &Path| real_path(path).unwrap_or_else(|_| path.to_owned());
    let current = real(&places.current);
    let home = places.home.as_deref().map(real);
    let is_marked = |folder: &Path| MARKS.iter().any(|mark| exists(&folder.join(mark)));
    // Inside the home directory the search ends below it: a home under version control is not one project.
    let inside_home = home.as_deref().filter(|home| current.starts_with(home));
    let mut candidates =
        current.ancestors().take_while(|folder| inside_home.is_none_or(|home| *folder != home));
    let folder = candidates.find(|folder| is_marked(folder)).unwrap_or(&current);
    match too_wide(folder, home.as_deref(), &real(&places.temp)) {
        None => Ok(Project { folder: folder.to_owned(), current: current.clone() }),
        Some(what) => {
            let folder = folder.display();
            let message = format!("`{folder}` is {what}, so there is no project and nothing of it is used");
            let help = "change to the folder you work in, or name roots with `--root`";
            Err(Box::new(Diagnostic::new(&code::NO_PROJECT, message).help(help)))
        }
    }
}

fn too_wide(folder: &Path, home: Option<&Path>, temp: &Path) -> Option<&'static str> {
    if folder.parent().is_none() {
        return Some("the root of the file system");
    }
    if home == Some(folder) {
        return Some("the home directory");
    }
    if home.is_some_and(|home| home.starts_with(folder)) {
        return Some("above the home directory");
    }
    (folder == temp).then_some("the temporary folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(current: &str, marks: &[&str], expected: Result<&str, &str>) {
        // None of these paths exist, so that their real paths are themselves.
        let places = Places {
            home: Some("/m-home/ada".into()),
            current: current.into(),
            temp: "/m-tmp".into(),
            config: PathBuf::new(),
            data: PathBuf::new(),
            user_skills: PathBuf::new(),
            system_skills: PathBuf::new(),
            bundled: None,
            cache: None,
            remote: None,
            git_configs: Vec::new(),
        };
        let found = find(&places, &|path| marks.iter().any(|mark| Path::new(mark) == path));
        match (found, expected) {
            (Ok(project), Ok(folder)) => assert_eq!(project.folder, Path::new(folder), "{current} {marks:?}"),
            (Err(diagnostic), Err(word)) => {
                assert!(diagnostic.message.contains(word), "{current}: {}", diagnostic.message);
            }
            (found, expected) => panic!("{current} {marks:?}: {found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn the_nearest_marked_ancestor_is_the_project() {
        check("/m-srv/a/b", &["/m-srv/a/.git"], Ok("/m-srv/a"));
        check("/m-srv/a/b", &["/m-srv/a/.git", "/m-srv/a/b/metier.toml"], Ok("/m-srv/a/b"));
        check("/m-srv/a/b", &["/m-srv/a/metier.toml", "/m-srv/.git"], Ok("/m-srv/a"));
        check("/m-srv/a/b", &[], Ok("/m-srv/a/b"));
        check("/m-home/ada/x/y", &["/m-home/ada/x/.git"], Ok("/m-home/ada/x"));
        check("/m-tmp/x", &[], Ok("/m-tmp/x"));
    }

    #[test]
    fn a_home_under_version_control_is_not_one_project() {
        check("/m-home/ada/x", &["/m-home/ada/.git"], Ok("/m-home/ada/x"));
        check("/m-home/ada/x", &["/m-home/.git", "/.git"], Ok("/m-home/ada/x"));
    }

    #[test]
    fn folders_that_are_too_wide_are_no_project() {
        check("/", &[], Err("root of the file system"));
        check("/m-srv", &["/.git"], Err("root of the file system"));
        check("/m-home/ada", &["/m-home/ada/.git"], Err("is the home directory"));
        check("/m-home", &[], Err("above the home directory"));
        check("/m-tmp", &[], Err("temporary folder"));
        check("/m-tmp/x", &["/m-tmp/.git"], Err("temporary folder"));
    }

    #[test]
    fn folders_go_up_to_the_project() {
        let project = Project { folder: "/a/b".into(), current: "/a/b/c/d".into() };
        let folders: Vec<_> = project.folders().map(|folder| folder.display().to_string()).collect();
        assert_eq!(folders, ["/a/b/c/d", "/a/b/c", "/a/b"]);
    }
}
