//! The folder that results of a call are copied to.
//!
//! A result must not come to lie where something runs or obeys it later with all of the user's rights. So what would be at
//! a protected place is left out, and what is there already stays unless the user says otherwise.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use metier_files::{
    DocumentName, Kind, NoChanges, ProtectedPlaces, Survey, SurveyBounds, UserPaths, is_link, kind,
    plain_path, protected_part, real_path,
};
use metier_policy::is_guarded;
use metier_sandbox::{Copied, Existing, LeaveOut, OutputKind, Outputs};

/// A folder for results. It is made when the first one comes.
#[derive(Clone, Debug)]
pub struct ResultFolder {
    /// Its real path.
    folder: PathBuf,
    /// The path seen from the project or home it lies in, by which protected places are known.
    inside: PathBuf,
    /// The project that it lies in, or the work tree of a repository.
    project: Option<PathBuf>,
    user: UserPaths,
    /// metier's own folders, real.
    own: Vec<PathBuf>,
    options: ResultOptions,
}

/// What results are held against.
struct Protection {
    /// The protected places of the project, where the folder lies in one.
    places: Option<ProtectedPlaces>,
    /// The results that are folders, seen from the folder for results, which is one itself.
    folders: BTreeSet<PathBuf>,
}

/// The folders by which a folder for results is judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResultFolderContext<'a> {
    /// The project and the home, the inner one first: places are protected as seen from the first of them that the folder
    /// lies in, else from the root.
    pub bases: &'a [&'a Path],
    /// metier's own folders, and what else of the user's matters for what is protected.
    pub user: Option<&'a UserPaths>,
}

/// What the user allows beyond the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResultOptions {
    /// What happens to files that are there.
    pub existing: Existing,
    /// Whether results at the top whose names begin with a dot are copied.
    pub hidden: bool,
}

/// Why a folder takes no results.
#[derive(Debug, thiserror::Error)]
pub enum ResultFolderError {
    /// What lies there would run or be obeyed later.
    #[error("results cannot be copied to {}: `{}` is protected ({what}); name another folder", .folder.display(), .place.display())]
    Protected {
        /// The folder.
        folder: PathBuf,
        /// The protected place it is or lies in.
        place: PathBuf,
        /// Who runs or obeys it.
        what: &'static str,
    },
    /// It has no path.
    #[error("results cannot be copied to {}: {source}", .folder.display())]
    Unusable {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Git takes a folder with such a file, and with `objects` and `refs` beside it, for a repository and obeys its `config`.
const HEAD: &str = "HEAD";

/// Git reads a whole folder of this name, and a file of this name leads it to another one.
const GIT: &str = ".git";

impl ResultFolder {
    /// Checks that results may lie in a folder.
    pub fn at(
        folder: &Path,
        around: ResultFolderContext<'_>,
        options: ResultOptions,
    ) -> Result<Self, ResultFolderError> {
        let unusable = |source| ResultFolderError::Unusable { folder: folder.to_owned(), source };
        // A link on the way may lead to a protected place, so the real path counts.
        let absolute = std::path::absolute(folder).map_err(unusable)?;
        let real = real_of_missing(&plain_path(&absolute));
        if !matches!(kind(&real), Kind::Folder | Kind::Missing) {
            return Err(unusable(io::ErrorKind::NotADirectory.into()));
        }
        let inside = around.bases.iter().find_map(|base| real.strip_prefix(real_path(base).ok()?).ok());
        let inside = inside.map_or_else(|| real.clone(), Path::to_owned);
        let user = around.user.cloned().unwrap_or_default();
        let own = user.metier.iter().map(|own| real_of_missing(own)).collect();
        let bases = around.bases.iter().filter_map(|base| real_path(base).ok());
        let project = bases.take(1).find(|base| real.starts_with(base)).or_else(|| work_tree(&real));
        let results = Self { folder: real, inside, project, user, own, options };
        match results.protected(Path::new(""), &results.protection()) {
            Some((place, what)) => {
                Err(ResultFolderError::Protected { folder: folder.to_owned(), place, what })
            }
            None => Ok(results),
        }
    }

    /// Copies what a call left in its scratch folder.
    pub fn take(&self, outputs: &Outputs) -> io::Result<Copied> {
        let mut protection = self.protection();
        let folders = outputs.entries.iter().filter(|output| output.kind == OutputKind::Folder);
        protection.folders.extend(folders.map(|output| output.path.clone()));
        outputs.copy_to(&self.folder, self.options.existing, &|path| self.leave_out(path, &protection))
    }

    /// Puts one more file there.
    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<Option<LeaveOut>> {
        match self.leave_out(Path::new(name), &self.protection()) {
            Some(reason) => Ok(Some(reason)),
            None => Outputs::put(&self.folder, name, bytes, self.options.existing),
        }
    }

    /// The protected places of the project as it is now: the same that changes are held against.
    fn protection(&self) -> Protection {
        let project = self.project.as_deref();
        let survey = project.and_then(|project| Survey::of(project, SurveyBounds::default()).ok());
        let places = survey.map(|survey| survey.with_user(self.user.clone()).protected_places(&NoChanges));
        Protection { places, folders: BTreeSet::from([PathBuf::new()]) }
    }

    /// The protected place that a result would lie at, and who runs or obeys it. The folder itself is the empty path.
    fn protected(&self, path: &Path, protection: &Protection) -> Option<(PathBuf, &'static str)> {
        // Seen from the folder, and from the project or home: `.git` as a folder for results holds no `.git/hooks`.
        let seen = protected(path).or_else(|| protected(&self.inside.join(path)));
        let seen = seen.or_else(|| self.of_project(path, protection));
        seen.or_else(|| self.of_metier(path)).or_else(|| self.of_skill(path))
    }

    fn of_project(&self, path: &Path, protection: &Protection) -> Option<(PathBuf, &'static str)> {
        let place = self.folder.join(path);
        let inside = place.strip_prefix(self.project.as_deref()?).ok()?;
        let reason = protection.places.as_ref()?.reason(inside, protection.folders.contains(path));
        reason.map(|what| (inside.to_owned(), what))
    }

    fn of_metier(&self, path: &Path) -> Option<(PathBuf, &'static str)> {
        let place = self.folder.join(path);
        let own = self.own.iter().find(|own| place.starts_with(own))?;
        Some((own.clone(), "metier keeps its own files there"))
    }

    /// A skill's folder: what lies in it is its instructions and its scripts. The project or home may be one itself.
    fn of_skill(&self, path: &Path) -> Option<(PathBuf, &'static str)> {
        let depth = self.inside.components().count() + path.components().count();
        let place = self.folder.join(path);
        let folders = place.ancestors().take(depth);
        let is_skill = |folder: &&Path| {
            [DocumentName::CANONICAL, "skill.md"].iter().any(|name| kind(&folder.join(name)) == Kind::File)
        };
        folders.filter(is_skill).map(|folder| (folder.to_owned(), "it is a skill")).next()
    }

    fn leave_out(&self, path: &Path, protection: &Protection) -> Option<LeaveOut> {
        if let Some((_, what)) = self.protected(path, protection) {
            return Some(LeaveOut::Protected(what));
        }
        let first = path.components().next().map(|part| part.as_os_str().as_encoded_bytes());
        let is_hidden = first.is_some_and(|name| name.starts_with(b"."));
        (is_hidden && !self.options.hidden).then_some(LeaveOut::Hidden)
    }
}

fn protected(path: &Path) -> Option<(PathBuf, &'static str)> {
    if let Some((place, what)) = protected_part(path) {
        return Some((place.to_owned(), what));
    }
    if is_guarded(&path.to_string_lossy()) {
        return Some((path.to_owned(), "something runs or obeys it later"));
    }
    if path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(HEAD)) {
        return Some((path.to_owned(), "git takes its folder for a repository"));
    }
    let is_git = |part: &Component<'_>| matches!(part, Component::Normal(name) if name.eq_ignore_ascii_case(OsStr::new(GIT)));
    path.components().any(|part| is_git(&part)).then(|| (GIT.into(), "git runs or obeys it"))
}

/// The work tree that a folder lies in.
fn work_tree(folder: &Path) -> Option<PathBuf> {
    let is_top = |folder: &&Path| kind(&folder.join(GIT)) != Kind::Missing || is_link(&folder.join(GIT));
    folder.ancestors().find(is_top).map(Path::to_owned)
}

/// The real path of a folder that may be missing: links are followed as far as there is something.
fn real_of_missing(path: &Path) -> PathBuf {
    for existing in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (real_path(existing), path.strip_prefix(existing)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    fn around<'a>(bases: &'a [&'a Path]) -> ResultFolderContext<'a> {
        ResultFolderContext { bases, user: None }
    }

    #[test]
    fn metiers_own_folders_and_skills_take_no_results() {
        let workspace = Workspace::new()
            .dir("home/conf/metier/skills")
            .skill("home/p/docs/greet", "Greets.")
            .file("home/p/SKILL.md", "---\nname: p\ndescription: d\n---\n")
            .file("home/p/afile", "x");
        let (home, project) = (workspace.join("home"), workspace.join("home/p"));
        let user = UserPaths { metier: vec![workspace.join("home/conf/metier")], ..UserPaths::default() };
        let bases: [&Path; 2] = [&project, &home];
        let around = ResultFolderContext { bases: &bases, user: Some(&user) };
        let at = |folder: &str| ResultFolder::at(&home.join(folder), around, ResultOptions::default());
        for folder in
            ["conf/metier", "conf/metier/skills/new", "p/docs/greet", "p/docs/greet/scripts", ".ssh"]
        {
            assert!(matches!(at(folder), Err(ResultFolderError::Protected { .. })), "{folder}");
        }
        assert!(matches!(at("p/afile"), Err(ResultFolderError::Unusable { .. })));
        // The project is a skill itself, which somebody writes.
        let docs = at("p/docs").unwrap();
        assert!(matches!(
            docs.leave_out(Path::new("greet/scripts/x.sh"), &docs.protection()),
            Some(LeaveOut::Protected(_))
        ));
        assert_eq!(docs.leave_out(Path::new("other/x.sh"), &docs.protection()), None);
        let conf = at("conf").unwrap();
        assert!(matches!(
            conf.leave_out(Path::new("metier/config.toml"), &conf.protection()),
            Some(LeaveOut::Protected(_))
        ));
    }

    #[test]
    fn protected_places_take_no_results_under_any_name() {
        let workspace = Workspace::new()
            .dir("home/project/.git/hooks")
            .dir("home/project/out")
            .symlink("home/project/link", ".git/hooks")
            .symlink("home/project/dangling", ".vscode/x");
        let (home, project) = (workspace.join("home"), workspace.join("home/project"));
        let make = |folder: &str| {
            ResultFolder::at(&project.join(folder), around(&[&project, &home]), ResultOptions::default())
        };
        for folder in [
            ".git",
            ".git/hooks",
            ".GIT/Hooks/x",
            ".vscode",
            ".vscode/deep/er",
            "link",
            "link/x",
            "out/../.git/hooks",
            "out/.claude",
            "../.bashrc",
            "../.config/fish",
            "../other/.git/hooks",
            "packages/a/.husky",
        ] {
            assert!(matches!(make(folder), Err(ResultFolderError::Protected { .. })), "{folder}");
        }
        let out = make("out").unwrap();
        for path in [
            ".git/config",
            "a/.git",
            "a/.git/x",
            ".mcp.json",
            ".envrc",
            "CLAUDE.md",
            "claude.md",
            "a/AGENTS.md",
            ".vscode/tasks.json",
            ".github/workflows/x.yml",
        ] {
            assert!(
                matches!(out.leave_out(Path::new(path), &out.protection()), Some(LeaveOut::Protected(_))),
                "{path}"
            );
        }
        assert_eq!(out.leave_out(Path::new(".hidden/x"), &out.protection()), Some(LeaveOut::Hidden));
        assert_eq!(out.leave_out(Path::new("a/.hidden"), &out.protection()), None);
        assert_eq!(out.leave_out(Path::new("report/a.md"), &out.protection()), None);
        // Half of a protected path is the folder's, half the result's.
        let agents = make("agents").unwrap();
        assert!(matches!(
            agents.leave_out(Path::new("skills/x"), &agents.protection()),
            Some(LeaveOut::Protected(_))
        ));
    }

    #[test]
    fn what_git_is_configured_to_run_takes_no_results() {
        let config = "[core]\nhooksPath = th\nfsmonitor = tools/fsm\n";
        let workspace = Workspace::new()
            .file("home/project/.git/config", config)
            .file("home/other/.git/config", config)
            .dir("home/other/out")
            .symlink("home/project/th", "real")
            .dir("home/project/real");
        let (home, project) = (workspace.join("home"), workspace.join("home/project"));
        let bases: [&Path; 2] = [&project, &home];
        let make =
            |folder: &str| ResultFolder::at(&home.join(folder), around(&bases), ResultOptions::default());
        for folder in ["project/th", "project/real", "project/real/deep", "other/th"] {
            assert!(matches!(make(folder), Err(ResultFolderError::Protected { .. })), "{folder}");
        }
        for folder in ["project", "other"] {
            let out = make(folder).unwrap();
            for path in ["th/pre-commit", "tools/fsm"] {
                let left_out = out.leave_out(Path::new(path), &out.protection());
                assert!(matches!(left_out, Some(LeaveOut::Protected(_))), "{folder}/{path}");
            }
            assert_eq!(out.leave_out(Path::new("tools/x"), &out.protection()), None);
        }
    }

    /// A project may lie below a folder that would be protected in another one.
    #[test]
    fn only_the_inner_base_counts() {
        let workspace = Workspace::new().dir("home/.claude/sub/project");
        let (home, project) = (workspace.join("home"), workspace.join("home/.claude/sub/project"));
        let options = ResultOptions::default();
        assert!(ResultFolder::at(&project.join("out"), around(&[&project, &home]), options).is_ok());
        assert!(ResultFolder::at(&project.join("out"), around(&[&home]), options).is_err());
    }
}
