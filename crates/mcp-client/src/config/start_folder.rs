//! The working directory of a server that metier starts.

use std::io;
use std::path::{Path, PathBuf};

use metier_files::real_path;

/// The working directory of a server. One that a project configures must be inside the project after following links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartFolder {
    path: PathBuf,
    /// The folder that must contain it, as a real path.
    within: Option<PathBuf>,
}

/// Why a server cannot start in a folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartFolderError {
    /// It does not exist or cannot be accessed.
    #[error("its `cwd` `{}` cannot be used: {source}", path.display())]
    Unusable {
        /// The folder as configured.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It is outside of the project.
    #[error("its `cwd` `{}` is outside of the project: `{}`", path.display(), real.display())]
    Outside {
        /// The folder as configured.
        path: PathBuf,
        /// Its real path.
        real: PathBuf,
    },
}

impl StartFolder {
    /// A folder that the user configured, anywhere.
    pub fn anywhere(path: PathBuf) -> Self {
        Self { path, within: None }
    }

    /// A folder that a project configured.
    pub fn within(path: PathBuf, project: &Path) -> Self {
        Self { path, within: Some(project.to_owned()) }
    }

    /// The folder as configured.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The real path. Resolved on every use, because a link may have replaced the folder since.
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

    /// Rejects a folder outside of the project. A missing folder may exist when the server starts.
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
    fn a_projects_folder_must_be_inside_after_following_links() {
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
