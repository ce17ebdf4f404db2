//! Folders of the project that a server may write. They come from the user's configuration and are checked before the server
//! starts.
//!
//! A server lives as long as a session, so its changes cannot wait in a layer until it ends. It writes to these folders directly,
//! without approval.

use std::path::{Path, PathBuf};

use metier_files::{Ground, NoChanges, RelativePath, Survey, protected_part};

/// The real paths of writable folders, in the order of the configuration.
pub(crate) fn writable_folders(write: &[String], project: Option<&Survey>) -> Result<Vec<PathBuf>, String> {
    write.iter().map(|name| folder(name, project)).collect()
}

fn folder(name: &str, project: Option<&Survey>) -> Result<PathBuf, String> {
    let refused = |why: &str| format!("its `write` names `{name}`, {why}");
    let survey = project.ok_or_else(|| refused("but there is no project"))?;
    let inside = RelativePath::parse(name).map_err(|_| {
        refused("which is not a folder inside the project; write it as in `write = [\"notes\"]`")
    })?;
    let project = survey.project();
    let path = project.join(inside.as_path());
    let opened =
        Ground::open(&path).map_err(|_| refused("but the project has no such folder; create it first"))?;
    if opened.path() != path {
        return Err(refused("which is reached by a link; name the folder itself"));
    }
    if survey.bounded().is_some() {
        return Err(refused("but the project is too large to check it for protected files"));
    }
    let protected = |at: &Path, what: &str| {
        let at = at.strip_prefix(project).unwrap_or(at).display();
        refused(&format!("but `{at}` is protected ({what}); name another folder"))
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
            let error = check(name).unwrap_err();
            assert!(error.contains(expect), "{name}: {error}");
        }
        let error = writable_folders(&["notes".to_owned()], None).unwrap_err();
        assert!(error.contains("there is no project"), "{error}");
    }
}
