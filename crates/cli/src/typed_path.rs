//! Paths and globs of the project as people type them: seen from the current folder.

use anyhow::{Context, Result};
use metier_changes::LayerPath;
use metier_diagnostic::unescaped_name;
use metier_files::{plain_path, real_path};
use metier_policy::FileGlob;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// The path of the project that a typed path means; `None` for the project's own folder. Escapes stand for what cannot be seen, as the
/// lists print them.
pub(crate) fn in_project(typed: &Path, current: &Path, project: &Path) -> Result<Option<LayerPath>> {
    let unescaped = typed.to_str().map(|text| OsString::from_vec(unescaped_name(text)));
    let unescaped = unescaped.unwrap_or_else(|| typed.as_os_str().to_owned());
    let plain = plain_path(&current.join(&unescaped));
    let inside = match plain.strip_prefix(project) {
        Ok(inside) => Some(inside.to_owned()),
        // The way to the project may lead through links.
        Err(_) => real(&plain).strip_prefix(project).ok().map(Path::to_owned),
    };
    let outside = || format!("`{}` is not a path inside {}", typed.display(), project.display());
    let inside = inside.with_context(outside)?;
    if inside.as_os_str().is_empty() {
        return Ok(None);
    }
    LayerPath::new(inside).with_context(outside).map(Some)
}

/// A path with the links above it followed; what is not there stays as it is written.
fn real(path: &Path) -> PathBuf {
    let mut above = path.ancestors().skip(1);
    let found = above.find_map(|folder| Some((real_path(folder).ok()?, path.strip_prefix(folder).ok()?)));
    found.map_or_else(|| path.to_owned(), |(folder, below)| folder.join(below))
}

/// How a path of a project is typed in the current folder.
pub(crate) fn from_current(path: &LayerPath, current: &Path, project: &Path) -> PathBuf {
    let Ok(here) = current.strip_prefix(project) else { return project.join(path.as_path()) };
    let mut here = here.components().peekable();
    let mut there = path.as_path().components().peekable();
    while here.peek().is_some() && here.peek() == there.peek() {
        here.next();
        there.next();
    }
    let typed: PathBuf = here.map(|_| Component::ParentDir).chain(there).collect();
    if typed.as_os_str().is_empty() { PathBuf::from(".") } else { typed }
}

/// The glob of the project that a typed glob means. One that starts at the root or at home says itself where it is.
pub(crate) fn glob_in_project(typed: &str, current: &Path, project: Option<&Path>) -> String {
    let here = project.and_then(|project| current.strip_prefix(project).ok());
    let Some(here) = here.filter(|_| !typed.starts_with(['/', '~'])) else { return typed.to_owned() };
    let (mut folder, mut rest) = (here.to_owned(), typed);
    loop {
        if let Some(below) = rest.strip_prefix("./") {
            rest = below;
        } else if let Some(below) = rest.strip_prefix("../") {
            // Above the project there is nothing to be written; the glob is refused as it was typed.
            if !folder.pop() {
                return typed.to_owned();
            }
            rest = below;
        } else {
            break;
        }
    }
    let Some(folder) = folder.to_str().filter(|folder| !folder.is_empty()) else { return rest.to_owned() };
    // A name of the folder is a name, whatever characters it has.
    match FileGlob::exact(folder) {
        Ok(folder) => format!("{folder}/{rest}"),
        Err(_) => typed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_testkit::Workspace;

    #[test]
    fn a_path_means_what_it_means_in_the_current_folder() {
        let workspace = Workspace::new().dir("p/sub/deep").dir("other").symlink("link", "p");
        let (project, sub) = (workspace.join("p"), workspace.join("p/sub"));
        let absolute = workspace.join("p/new/f").display().to_string();
        let linked = workspace.join("link/new/f").display().to_string();
        for (typed, expect) in [
            ("f", Some("sub/f")),
            ("./f/", Some("sub/f")),
            ("../f", Some("f")),
            ("../sub/f", Some("sub/f")),
            ("deep/../../g/h", Some("g/h")),
            (".", Some("sub")),
            ("..", None),
            (&absolute, Some("new/f")),
            (&linked, Some("new/f")),
        ] {
            let found = in_project(Path::new(typed), &sub, &project).unwrap();
            assert_eq!(found.map(|path| path.to_string()).as_deref(), expect, "{typed}");
        }
        for outside in ["../../other/f", "/f", "../../../../../../../../f"] {
            let error = in_project(Path::new(outside), &sub, &project).unwrap_err().to_string();
            assert!(error.contains("is not a path inside"), "{error}");
        }
    }

    #[test]
    fn a_path_is_shown_as_it_would_be_typed() {
        let project = Path::new("/p");
        for (path, current, expect) in [
            ("a/b", "/p", "a/b"),
            ("a/b", "/p/a", "b"),
            ("a/b", "/p/c/d", "../../a/b"),
            ("a/b", "/p/a/b", "."),
            ("a", "/p/a/b", ".."),
            ("a/b", "/q", "/p/a/b"),
        ] {
            let path = LayerPath::new(path.into()).unwrap();
            let typed = from_current(&path, Path::new(current), project);
            assert_eq!(typed, Path::new(expect), "{path} in {current}");
            assert_eq!(in_project(&typed, Path::new(current), project).unwrap(), Some(path));
        }
    }

    #[test]
    fn a_glob_means_what_it_means_in_the_current_folder() {
        for (typed, current, expect) in [
            ("docs/**", "/p", "docs/**"),
            ("f", "/p/sub", "sub/f"),
            ("./f", "/p/sub", "sub/f"),
            ("docs/", "/p/sub", "sub/docs/"),
            ("**", "/p/sub", "sub/**"),
            ("../docs/**", "/p/sub", "docs/**"),
            ("../../x", "/p/sub", "../../x"),
            ("/p/docs/**", "/p/sub", "/p/docs/**"),
            ("~/x", "/p/sub", "~/x"),
            ("f", "/p/a*[b]", "a[*][[]b[]]/f"),
            ("f", "/elsewhere", "f"),
        ] {
            let found = glob_in_project(typed, Path::new(current), Some(Path::new("/p")));
            assert_eq!(found, expect, "{typed} in {current}");
        }
        assert_eq!(glob_in_project("f", Path::new("/p/sub"), None), "f");
    }
}
