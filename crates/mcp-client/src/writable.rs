//! Folders of the project that a server may write. They come from the user's configuration and are checked before the server
//! starts.
//!
//! A server lives as long as a session, so its changes cannot wait in a layer until it ends. It writes to these folders directly,
//! without approval.

use std::path::{Path, PathBuf};

use metier_files::{Ground, NoChanges, RelativePath, Survey, protected_part};

/// Why a folder is not writable.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WriteError {
    /// There is no project.
    #[error("its `write` names `{0}`, but there is no project")]
    NoProject(String),
    /// It is not a path inside the project.
    #[error(
        "its `write` names `{0}`, which is not a folder inside the project; write it as in `write = [\"notes\"]`"
    )]
    NotInside(String),
    /// It does not exist, or is not a folder.
    #[error("its `write` names `{0}`, but the project has no such folder; create it first")]
    NoFolder(String),
    /// It is reached through a link.
    #[error("its `write` names `{0}`, which is reached by a link; name the folder itself")]
    Link(String),
    /// Programs execute or obey its files.
    #[error("its `write` names `{folder}`, but `{protected}` is protected ({what}); name another folder")]
    Protected {
        /// The folder.
        folder: String,
        /// The protected path.
        protected: String,
        /// The reason.
        what: String,
    },
    /// The project was not scanned completely.
    #[error("its `write` names `{0}`, but the project is too large to check it for protected files")]
    Unknown(String),
}

/// The real paths of writable folders, in the order of the configuration.
pub(crate) fn writable_folders(
    write: &[String],
    project: Option<&Survey>,
) -> Result<Vec<PathBuf>, WriteError> {
    write.iter().map(|name| folder(name, project)).collect()
}

fn folder(name: &str, project: Option<&Survey>) -> Result<PathBuf, WriteError> {
    let Some(survey) = project else { return Err(WriteError::NoProject(name.to_owned())) };
    let Ok(inside) = RelativePath::parse(name) else { return Err(WriteError::NotInside(name.to_owned())) };
    let project = survey.project();
    let path = project.join(inside.as_path());
    let Ok(opened) = Ground::open(&path) else { return Err(WriteError::NoFolder(name.to_owned())) };
    if opened.path() != path {
        return Err(WriteError::Link(name.to_owned()));
    }
    if survey.bounded().is_some() {
        return Err(WriteError::Unknown(name.to_owned()));
    }
    let protected = |at: &Path, what: &str| WriteError::Protected {
        folder: name.to_owned(),
        protected: at.strip_prefix(project).unwrap_or(at).display().to_string(),
        what: what.to_owned(),
    };
    if let Some((at, what)) = protected_part(inside.as_path()) {
        return Err(protected(at, what));
    }
    let places = survey.protected_places(&NoChanges);
    let whole = places.reason(inside.as_path(), true).map(|what| (inside.as_path(), what));
    // A link elsewhere may lead here and be obeyed, such as `.github -> notes`.
    match whole.or_else(|| places.in_folder(inside.as_path())) {
        Some((at, what)) => Err(protected(at, what)),
        None => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use metier_files::SurveyBounds;
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn only_plain_folders_of_the_project_are_writable() {
        let workspace = Workspace::new()
            .dir("p/notes/deep")
            .file("p/file", "")
            .file("p/tools/AGENTS.md", "")
            .file("p/.git/hooks/pre-commit", "")
            .file("p/.git/HEAD", "")
            .dir("elsewhere")
            .dir("p/gh")
            .symlink("p/.github", "gh")
            .symlink("p/link", "../elsewhere");
        let survey = Survey::of(&workspace.join("p"), SurveyBounds::default()).unwrap();
        let check = |name: &str| writable_folders(&[name.to_owned()], Some(&survey));
        assert_eq!(check("notes"), Ok(vec![workspace.join("p/notes")]));
        assert_eq!(check("notes/deep"), Ok(vec![workspace.join("p/notes/deep")]));
        for (name, expect) in [
            ("../elsewhere", "not a folder inside"),
            ("/etc", "not a folder inside"),
            (".", "not a folder inside"),
            ("", "not a folder inside"),
            ("missing", "no such folder"),
            ("file", "no such folder"),
            ("link", "reached by a link"),
            ("tools", "`tools/AGENTS.md` is protected"),
            (".git/hooks", "is protected"),
            ("gh", "is protected"),
        ] {
            let error = check(name).unwrap_err().to_string();
            assert!(error.contains(expect), "{name}: {error}");
        }
        assert!(matches!(writable_folders(&["notes".to_owned()], None), Err(WriteError::NoProject(_))));
    }
}
