//! Which places of a project a call may be allowed to write.
//!
//! A folder that can be written can be closed by `chmod`, its links replaced, and metier ended before it looks again. So
//! nothing that runs or is obeyed later may lie in one. A grant that reaches such a place is refused before anybody is
//! asked, whoever gave it: the skill, a flag, a rule or an earlier answer.

use std::path::{Path, PathBuf};

use metier_files::{
    Kind, OtherName, Presence, Survey, SurveyBounds, bare_repository, kind, may_hold_protected, other_name,
    plain_path, protected_part, real_path,
};
use metier_policy::{FileGlob, Shape};

use crate::writing::matching_files;

/// How many places a message names.
const MAX_NAMED: usize = 4;

/// Why a call may not be allowed to write something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteGrantError {
    /// It is, holds or could make something that runs or is obeyed later.
    #[error("`{glob}` cannot be opened for writing: it reaches {}; name the folders and files that are written, such as `docs/**`", named(.places))]
    Protected {
        /// What was to be written.
        glob: String,
        /// Protected places, seen from the project.
        places: Vec<PathBuf>,
    },
    /// Something in it is a protected file by another name.
    #[error("`{glob}` cannot be opened for writing: {} is another name of {}, which is protected; remove that hard link", .name.display(), .of.display())]
    OtherName {
        /// What was to be written.
        glob: String,
        /// The name in it.
        name: PathBuf,
        /// The protected file.
        of: PathBuf,
    },
    /// What it holds is not known.
    #[error("`{glob}` cannot be opened for writing: {} cannot be searched for protected places ({why}); name a folder inside it", .folder.display())]
    Unknown {
        /// What was to be written.
        glob: String,
        /// The folder.
        folder: PathBuf,
        /// Why it could not be searched.
        why: String,
    },
}

fn named(places: &[PathBuf]) -> String {
    let names: Vec<String> =
        places.iter().take(MAX_NAMED).map(|place| format!("`{}`", place.display())).collect();
    match places.len().saturating_sub(MAX_NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more protected places", names.join(", ")),
    }
}

/// Checks that nothing protected is reached by what these globs open.
pub(crate) fn check_writes(globs: &[FileGlob], survey: &Survey) -> Result<(), WriteGrantError> {
    globs.iter().try_for_each(|glob| check(glob, survey))
}

fn check(glob: &FileGlob, survey: &Survey) -> Result<(), WriteGrantError> {
    let project = survey.project();
    match glob.shape() {
        // Opened nowhere: whoever opens places says so.
        Shape::Elsewhere => Ok(()),
        Shape::One(path) | Shape::Below(path) => {
            let place = real_place(&project.join(path));
            // A file that is not there yet is made as a file.
            let is_folder = kind(&place) == Kind::Folder || matches!(glob.shape(), Shape::Below(_));
            check_place(glob, &place, is_folder, survey)
        }
        // Each file is opened by itself, so the folders around them stay closed.
        Shape::Some(folder) => {
            let files = matching_files(glob, &project.join(folder), project).files;
            files.iter().try_for_each(|file| check_place(glob, file, false, survey))
        }
    }
}

/// Checks one place by its real path. It is checked again once it is opened, since a link may have led there.
pub(crate) fn check_place(
    glob: &FileGlob,
    place: &Path,
    is_folder: bool,
    survey: &Survey,
) -> Result<(), WriteGrantError> {
    let Ok(inside) = place.strip_prefix(survey.project()) else { return Ok(()) };
    let refused = |places: Vec<PathBuf>| WriteGrantError::Protected { glob: glob.to_string(), places };
    if let Some((part, _)) = protected_part(inside) {
        return Err(refused(vec![part.to_owned()]));
    }
    let mut reached = reached(place, survey);
    if is_folder {
        if let Some(why) = survey.bounded().filter(|_| reached.is_empty()) {
            reached = in_folder(glob, place, &why.to_string())?;
        }
        reached.extend(may_hold_protected(inside).filter(|_| reached.is_empty()).map(PathBuf::from));
        if let Some(closed) = survey.unreadable().iter().find(|closed| closed.path.starts_with(place)) {
            let (folder, why) = (closed.path.clone(), closed.error.to_string());
            return Err(WriteGrantError::Unknown { glob: glob.to_string(), folder, why });
        }
    }
    if !reached.is_empty() {
        return Err(refused(reached));
    }
    if let Some(repository) = bare_repository(place) {
        return Err(refused(vec![repository]));
    }
    let there = survey.protected().iter().filter(|known| known.presence == Presence::Existing);
    let there: Vec<&Path> = there.map(|known| known.path.as_path()).collect();
    match other_name(place, &there) {
        Some(OtherName { name, of }) => Err(WriteGrantError::OtherName { glob: glob.to_string(), name, of }),
        None => Ok(()),
    }
}

/// The protected places that are the place, hold it or lie in it, seen from the project. A link counts with what it leads to:
/// written there, it is obeyed as well.
fn reached(place: &Path, survey: &Survey) -> Vec<PathBuf> {
    let touches = |protected: &Path| protected.starts_with(place) || place.starts_with(protected);
    let leads = |protected: &Path| real_path(protected).is_ok_and(|target| touches(&target));
    let all = survey.protected().iter();
    let mut found: Vec<&metier_files::Protected> = all
        .filter(|known| touches(&known.path) || (known.presence == Presence::Link && leads(&known.path)))
        .collect();
    // What is there says more than what could be made.
    found.sort_by_key(|known| known.presence == Presence::Missing);
    let names = found.iter().map(|known| known.path.strip_prefix(survey.project()).unwrap_or(&known.path));
    names.map(Path::to_owned).collect()
}

/// What a folder holds at protected places, where the look over the whole project ended before it.
fn in_folder(glob: &FileGlob, folder: &Path, why: &str) -> Result<Vec<PathBuf>, WriteGrantError> {
    let unknown =
        |why: String| WriteGrantError::Unknown { glob: glob.to_string(), folder: folder.to_owned(), why };
    if kind(folder) == Kind::Missing {
        return Ok(Vec::new());
    }
    let own = Survey::of(folder, SurveyBounds::default()).map_err(|error| unknown(error.to_string()))?;
    if own.bounded().is_some() {
        return Err(unknown(why.to_owned()));
    }
    let there = own.protected().iter().filter(|known| known.presence != Presence::Missing);
    Ok(there.map(|known| known.path.clone()).collect())
}

/// The real path of a place that may be missing.
fn real_place(place: &Path) -> PathBuf {
    let place = plain_path(place);
    let real = place.ancestors().find_map(|above| {
        let rest = place.strip_prefix(above).ok()?;
        real_path(above).ok().map(|real| real.join(rest))
    });
    // `join` with nothing adds a slash, which components do not have.
    real.map_or(place, |real| real.components().collect())
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn nothing_that_reaches_a_protected_place_can_be_opened() {
        let workspace = Workspace::new()
            .file("p/.git/config", "")
            .file("p/CLAUDE.md", "")
            .file("p/docs/a.md", "")
            .file("p/packages/web/AGENTS.md", "")
            .file("p/vendor/lib/.git/config", "")
            .file("p/vendor/module/.git", "gitdir: ../../.git/modules/module")
            .file("p/skills/x/SKILL.md", "---\nname: x\n---\n")
            .file("p/editor/run.xml", "")
            .symlink("p/.idea", "editor")
            .symlink("p/out", ".git/hooks")
            .symlink("p/here", ".")
            .dir("p/.git/hooks");
        let survey = Survey::of(&workspace.join("p"), SurveyBounds::default()).unwrap();
        let check = |glob: &str| check_writes(&[glob.parse().unwrap()], &survey);
        for glob in [
            "**",
            "*",
            ".",
            "./",
            "*.md",
            "**/*",
            "**/*.md",
            ".git/**",
            ".git/hooks/**",
            ".git/hooks/pre-commit",
            ".git/config",
            ".GIT/hooks/**",
            ".github/**",
            ".github/workflows/ci.yml",
            "CLAUDE.md",
            "claude.md",
            ".vscode/**",
            ".mcp.json",
            "packages/**",
            "packages/web/**",
            "vendor/**",
            "vendor/lib/**",
            "vendor/module/**",
            "skills/**",
            "skills/x/scripts/**",
            "editor/**",
            "editor/run.xml",
            "out/**",
            "out/x",
            "here/**",
            "here/here/**",
            "here/.git/**",
            "agents/**",
            ".config/**",
            ".envrc",
        ] {
            let error = check(glob).expect_err(glob);
            assert!(matches!(error, WriteGrantError::Protected { .. }), "{glob}: {error}");
        }
        for glob in [
            "docs/**",
            "docs/",
            "docs",
            "docs/*.md",
            "docs/a.md",
            "new.txt",
            "new/deep/**",
            "packages/api/**",
            "src/**",
            "here/docs/**",
            "README.md",
            ".cache/**",
        ] {
            assert_eq!(check(glob), Ok(()), "{glob}");
        }
        let error = check("**").unwrap_err().to_string();
        assert!(error.contains("`.git/config`") && error.ends_with("such as `docs/**`"), "{error}");
    }
}
