//! What a server may write in the project: folders that the user's own configuration names, decided before it starts.
//!
//! A server lives as long as a conversation, so its changes cannot wait in a layer for its end. What it writes here it writes
//! at once, and no question is asked.

use std::path::{Path, PathBuf};

use metier_files::{Ground, RelativePath, Survey, protected_part};

/// Why a server may not write a folder.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum WriteError {
    /// There is no project.
    #[error("its `write` names `{0}`, and there is no project")]
    NoProject(String),
    /// It is not a path inside.
    #[error(
        "its `write` names `{0}`, which is not a folder inside the project; write it as in `write = [\"notes\"]`"
    )]
    NotInside(String),
    /// It is not there, or not a folder.
    #[error("its `write` names `{0}`, and the project has no such folder; create it first")]
    NoFolder(String),
    /// A link leads elsewhere.
    #[error("its `write` names `{0}`, which is reached by a link; name the folder itself")]
    Link(String),
    /// Programs run or obey what is in it.
    #[error(
        "its `write` names `{folder}`, and `{protected}` is protected ({what}); name a folder without it"
    )]
    Protected {
        /// The folder.
        folder: String,
        /// What is protected.
        protected: String,
        /// Why.
        what: String,
    },
    /// Not all of it is known.
    #[error(
        "its `write` names `{0}`, and the project is too large to find everything that is protected in it"
    )]
    Unknown(String),
}

/// The folders that a server may write, in the order in which they are named.
pub(super) fn writable_folders(
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
    let is_touched = |at: &Path| at.starts_with(&path) || path.starts_with(at);
    match survey.protected().iter().find(|found| is_touched(&found.path)) {
        Some(found) => Err(protected(&found.path, found.what)),
        None => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use metier_files::SurveyBounds;
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn only_plain_folders_of_the_project_are_written() {
        let workspace = Workspace::new()
            .dir("p/notes/deep")
            .file("p/file", "")
            .file("p/tools/AGENTS.md", "")
            .file("p/.git/hooks/pre-commit", "")
            .file("p/.git/HEAD", "")
            .dir("elsewhere")
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
        ] {
            let error = check(name).unwrap_err().to_string();
            assert!(error.contains(expect), "{name}: {error}");
        }
        assert!(matches!(writable_folders(&["notes".to_owned()], None), Err(WriteError::NoProject(_))));
    }
}
