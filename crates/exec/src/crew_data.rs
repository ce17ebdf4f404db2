//! The folder in the project that the skills of a crew write without a question: its crew file makes it theirs.

use std::path::{Path, PathBuf};

use metier_files::{Kind, create_new_dir, kind, real_path, remove_empty_dir};
use metier_policy::FileGlob;
use metier_sandbox::Profile;

/// A crew's folder, ready for a call.
#[derive(Debug)]
pub(crate) struct CrewData {
    folder: PathBuf,
    glob: FileGlob,
    /// Whether it was made for the call.
    is_new: bool,
}

impl CrewData {
    /// Finds the folder, or makes it. Nothing but the folder itself: a link in its place could lead to any other part of the
    /// project.
    pub(crate) fn make(folder: &Path, project: &Path) -> Result<Self, String> {
        let closed = |why: &str| format!("{}, which the crew writes, is read-only: {why}", folder.display());
        let inside = folder.strip_prefix(project).ok().and_then(Path::to_str);
        let inside = inside.ok_or_else(|| closed("it is outside the project"))?;
        let glob = FileGlob::exact(inside).ok().and_then(|exact| format!("{exact}/**").parse().ok());
        let glob = glob.ok_or_else(|| closed("no rule can name it"))?;
        let is_new = kind(folder) == Kind::Missing;
        if is_new {
            // A dangling link is in the way and makes this fail, as it should.
            create_new_dir(folder).map_err(|error| closed(&error.to_string()))?;
        }
        if kind(folder) != Kind::Folder || real_path(folder).ok().as_deref() != Some(folder) {
            return Err(closed("it is a link or not a folder"));
        }
        Ok(Self { folder: folder.to_owned(), glob, is_new })
    }

    /// Opens it for a call without a layer. It is bounded like what a skill keeps elsewhere.
    pub(crate) fn open(&self, profile: &mut Profile) {
        if let Some(project) = &mut profile.project {
            project.writable.push(self.folder.clone());
            profile.bounded.push(self.folder.clone());
        }
    }

    /// Changes below it are applied without a question.
    pub(crate) fn glob(&self) -> FileGlob {
        self.glob.clone()
    }

    /// Removes it if it was made for the call and the call left nothing in it.
    pub(crate) fn remove_if_empty(&self) {
        if self.is_new {
            remove_empty_dir(&self.folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn it_is_opened_where_it_is_a_folder_of_the_project() {
        let workspace = Workspace::new().dir("p/docs").symlink("p/link", "docs").file("p/file", "");
        let project = workspace.join("p");
        let crew = CrewData::make(&workspace.join("p/_data"), &project).unwrap();
        assert_eq!(crew.glob().to_string(), "_data/**");
        assert_eq!(kind(&project.join("_data")), Kind::Folder);
        crew.remove_if_empty();
        assert_eq!(kind(&project.join("_data")), Kind::Missing);
        for closed in ["p/link", "p/file", "elsewhere"] {
            let error = CrewData::make(&workspace.join(closed), &project).unwrap_err();
            assert!(error.contains("is read-only"), "{error}");
        }
    }
}
