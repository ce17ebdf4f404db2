//! Where a server that is a program starts.

use std::io;
use std::path::{Path, PathBuf};

use metier_files::real_path;

/// The folder in which a server starts. One that a project names lies in the project, links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartFolder {
    path: PathBuf,
    /// The folder that it may not lie outside of, a real path.
    within: Option<PathBuf>,
}

/// Why a server does not start there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartFolderError {
    /// It is not there, or cannot be looked at.
    #[error("its `cwd` `{}` cannot be used: {source}", path.display())]
    Unusable {
        /// The folder as it is written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It leads out of the project.
    #[error("its `cwd` `{}` leads out of the project, to `{}`", path.display(), real.display())]
    Outside {
        /// The folder as it is written.
        path: PathBuf,
        /// Where it leads.
        real: PathBuf,
    },
}

impl StartFolder {
    /// A folder that the user names, wherever it is.
    pub fn anywhere(path: PathBuf) -> Self {
        Self { path, within: None }
    }

    /// A folder that a project names.
    pub fn within(path: PathBuf, project: &Path) -> Self {
        Self { path, within: Some(project.to_owned()) }
    }

    /// The folder as it is written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it really is. Asked again where it is used: a link may have taken its place since it was read.
    pub fn real(&self) -> Result<PathBuf, StartFolderError> {
        let unusable = |source| StartFolderError::Unusable { path: self.path.clone(), source };
        let real = real_path(&self.path).map_err(unusable)?;
        match &self.within {
            Some(project) if !real.starts_with(project) => {
                Err(StartFolderError::Outside { path: self.path.clone(), real })
            }
            _ => Ok(real),
        }
    }

    /// The same folder, or why it is refused as it is now. One that is not there yet may be there when the server starts.
    pub(super) fn checked(self) -> Result<Self, String> {
        match self.real() {
            Err(error @ StartFolderError::Outside { .. }) => Err(error.to_string()),
            Ok(_) | Err(StartFolderError::Unusable { .. }) => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_testkit::Workspace;

    #[test]
    fn a_projects_folder_lies_in_the_project_links_followed() {
        let workspace = Workspace::new()
            .dir("project/tools/deep")
            .dir("private")
            .symlink("project/inside", "tools/deep")
            .symlink("project/outside", "../private");
        let project = workspace.join("project");
        let real = |cwd: &str| StartFolder::within(project.join(cwd), &project).real();
        for cwd in ["tools", "inside", ".", "tools/../tools", "outside/../project/tools"] {
            assert!(real(cwd).is_ok(), "{cwd}");
        }
        for cwd in ["outside", "..", "../private", "/", "outside/."] {
            assert!(matches!(real(cwd), Err(StartFolderError::Outside { .. })), "{cwd}");
        }
        assert!(matches!(real("missing"), Err(StartFolderError::Unusable { .. })));
        assert_eq!(StartFolder::anywhere(project.join("outside")).real().unwrap(), workspace.join("private"));
    }
}
