//! The protected places of one project: every path that a change must not touch without being named.
//!
//! Three kinds of places come together here: the rows of the table, what git's configuration names, and metier's own files.
//! Each is followed link by link. Whoever changes a link on the way, or what is at its end, changes what is obeyed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::git_config::{Named, named_by_config};
use super::tree::{Found, Tree};
use super::{may_hold_protected, protected_part};
use crate::Survey;

/// How deep links are looked for in protected folders. Hooks, workflows and skills lie a few folders down.
const MAX_LINK_DEPTH: usize = 6;

/// How many names of one protected folder are looked at, and of all of them.
const MAX_NAMES: usize = 1000;
const MAX_ALL_NAMES: usize = 20_000;

/// Folders in protected ones that are large and have no links that anything obeys.
const NOT_SEARCHED: [&str; 4] = ["objects", "refs", "logs", "node_modules"];

/// Files of the user that matter for what is protected in a project. They may lie inside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserPaths {
    /// The home, for values such as `~/hooks`.
    pub home: Option<PathBuf>,
    /// metier's own files and folders: configuration, approvals, data, skills.
    pub metier: Vec<PathBuf>,
    /// git's configuration of the user and of the machine.
    pub git_configs: Vec<PathBuf>,
}

/// What changes would do to one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Planned {
    /// Nothing.
    Same,
    /// Nothing would be there.
    Gone,
    /// What would be there lies at this path now.
    At(PathBuf),
}

/// Changes of a project that are not applied yet. Paths are seen from the project.
pub trait PlannedChanges {
    /// What they would do to a path.
    fn at(&self, path: &Path) -> Planned;
    /// The names of changed entries that lie in a folder directly.
    fn names_in(&self, folder: &Path) -> Vec<OsString>;
    /// The changed paths at which there would be a link.
    fn links(&self) -> Vec<PathBuf>;
}

/// No changes: the project as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoChanges;

impl PlannedChanges for NoChanges {
    fn at(&self, _: &Path) -> Planned {
        Planned::Same
    }

    fn names_in(&self, _: &Path) -> Vec<OsString> {
        Vec::new()
    }

    fn links(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// How much of a place is protected, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    /// The place itself, unless it is a folder.
    File,
    /// The place itself.
    Itself,
    /// The place and everything below.
    Whole,
}

#[derive(Debug)]
struct Place {
    path: PathBuf,
    extent: Extent,
    what: &'static str,
}

/// Whether links inside a place are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    Links,
    Nothing,
}

/// The protected places of one project, before changes and after any part of them.
///
/// ```
/// # use metier_testkit::Workspace;
/// use metier_files::{NoChanges, Survey, SurveyBounds};
/// use std::path::Path;
///
/// # let workspace = Workspace::new()
/// #     .file("p/.git/config", "[core]\nhooksPath = hooks\n").symlink("p/hooks", "tools").dir("p/tools");
/// let survey = Survey::of(&workspace.join("p"), SurveyBounds::default())?;
/// let places = survey.protected_places(&NoChanges);
/// assert_eq!(places.reason(Path::new("tools/pre-commit"), false), Some("git runs the hooks in it (core.hooksPath)"));
/// assert!(places.reason(Path::new("hooks"), false).is_some());
/// assert!(places.reason(Path::new("src/main.c"), false).is_none());
/// # Ok::<(), metier_files::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct ProtectedPlaces {
    /// By path, seen from the project, in lower case: some file systems do not tell names apart by it.
    places: BTreeMap<PathBuf, Place>,
    /// Links with the name of a folder that holds protected places, and where each leads.
    aliases: Vec<(PathBuf, PathBuf)>,
}

impl ProtectedPlaces {
    pub(crate) fn new(survey: &Survey, changes: &dyn PlannedChanges) -> Self {
        let tree = Tree::new(survey.project(), changes);
        let mut finder = Finder { tree: &tree, found: Self::default(), names: 0 };
        for protected in survey.protected() {
            let extent = if is_git(&protected.path) { Extent::File } else { Extent::Whole };
            finder.add(&protected.path, extent, protected.what, Search::Links);
        }
        for link in changes.links() {
            let path = survey.project().join(&link);
            if may_hold_protected(&link) {
                finder.alias(&path);
            }
            if let Some((_, what)) = protected_part(&link) {
                finder.add_way(&path, Extent::Whole, what, Some(MAX_LINK_DEPTH));
            }
        }
        for link in survey.holder_links() {
            finder.alias(link);
        }
        for own in &survey.user().metier {
            finder.add(own, Extent::Whole, "metier keeps its own files there", Search::Nothing);
        }
        for base in survey.repositories() {
            for Named { path, what, is_file } in named_by_config(&tree, survey.user(), base) {
                finder.add(&path, if is_file { Extent::File } else { Extent::Whole }, what, Search::Links);
            }
        }
        finder.found
    }

    /// Why a path, seen from the project, is changed only by an approval that names it; `None` where it is not protected.
    /// `is_folder` says whether there would be a folder, or was one where nothing would be.
    pub fn reason(&self, path: &Path, is_folder: bool) -> Option<&'static str> {
        let by_table = |path: &Path| protected_part(path).map(|(_, what)| what);
        by_table(path)
            .or_else(|| self.by_place(path, is_folder))
            .or_else(|| self.other_names(path).find_map(|name| by_table(&name)))
            // A link called `.github` brings workflows with it.
            .or_else(|| {
                (!is_folder && may_hold_protected(path))
                    .then_some("a link or file there replaces what is protected")
            })
    }

    fn by_place(&self, path: &Path, is_folder: bool) -> Option<&'static str> {
        let lower = lower(path);
        lower.ancestors().find_map(|part| {
            let Place { extent, what, .. } = self.places.get(part)?;
            let is_meant = match extent {
                Extent::Whole => true,
                Extent::Itself => part == lower,
                Extent::File => part == lower && !is_folder,
            };
            is_meant.then_some(*what)
        })
    }

    /// Further names of a path, by links at places that hold protected ones: with `.github -> gh` the path `gh/workflows` is
    /// `.github/workflows`, too.
    pub fn other_names<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
        let named = |(link, end): &'a (PathBuf, PathBuf)| Some(link.join(path.strip_prefix(end).ok()?));
        self.aliases.iter().filter_map(named)
    }

    /// A protected place that a folder is or holds, seen from the project, and why it is one.
    pub fn in_folder(&self, folder: &Path) -> Option<(&Path, &'static str)> {
        let folder = lower(folder);
        let (lower, place) = self.places.range(folder.clone()..).next()?;
        lower.starts_with(&folder).then_some((place.path.as_path(), place.what))
    }

    fn insert(&mut self, path: &Path, extent: Extent, what: &'static str) {
        let known = self.places.entry(lower(path));
        let known = known.or_insert_with(|| Place { path: path.to_owned(), extent, what });
        known.extent = known.extent.max(extent);
    }
}

/// Finds places.
struct Finder<'a> {
    tree: &'a Tree<'a>,
    found: ProtectedPlaces,
    /// How many names in protected folders were looked at.
    names: usize,
}

impl Finder<'_> {
    /// Adds an absolute path, the links on the way, and what is at its end.
    fn add(&mut self, path: &Path, extent: Extent, what: &'static str, search: Search) {
        if let Some(inside) = self.tree.inside(&crate::plain_path(path)) {
            self.found.insert(inside, extent, what);
        }
        self.add_way(path, extent, what, (search == Search::Links).then_some(MAX_LINK_DEPTH));
    }

    fn add_way(&mut self, path: &Path, extent: Extent, what: &'static str, depth: Option<usize>) {
        let way = self.tree.follow(path);
        for link in &way.links {
            if let Some(inside) = self.tree.inside(link) {
                self.found.insert(inside, Extent::Itself, what);
            }
        }
        for end in &way.ends {
            if let Some(inside) = self.tree.inside(end) {
                self.found.insert(inside, extent, what);
            }
            // What links inside lead to is obeyed as well: a hook may be a link to a file of the project. A folder that holds the
            // project is more than hooks.
            if let Some(depth) = depth.filter(|_| extent == Extent::Whole && !self.tree.is_around(end)) {
                self.search(end, what, depth);
            }
        }
    }

    fn search(&mut self, folder: &Path, what: &'static str, depth: usize) {
        if !self.tree.look(folder).contains(&Found::Folder) {
            return;
        }
        for name in self.tree.names(folder, MAX_NAMES) {
            self.names += 1;
            if self.names > MAX_ALL_NAMES {
                return;
            }
            let path = folder.join(&name);
            let found = self.tree.look(&path);
            if found.iter().any(|found| matches!(found, Found::Link(_))) {
                let below = depth.checked_sub(1);
                self.add_way(&path, Extent::Whole, what, below);
            }
            if depth > 0
                && found.contains(&Found::Folder)
                && !NOT_SEARCHED.iter().any(|skipped| name == *skipped)
            {
                self.search(&path, what, depth - 1);
            }
        }
    }

    /// Adds a link with the name of a folder that holds protected places.
    fn alias(&mut self, link: &Path) {
        let what = "what it leads to is obeyed or run";
        let way = self.tree.follow(link);
        for path in &way.links {
            if let Some(inside) = self.tree.inside(path) {
                self.found.insert(inside, Extent::Itself, what);
            }
        }
        let Some(link) = self.tree.inside(link) else { return };
        for end in way.ends.iter().filter_map(|end| self.tree.inside(end)).filter(|end| *end != link) {
            self.found.insert(end, Extent::File, what);
            self.found.aliases.push((link.to_owned(), end.to_owned()));
        }
    }
}

fn is_git(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"))
}

fn lower(path: &Path) -> PathBuf {
    path.as_os_str().to_ascii_lowercase().into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use metier_testkit::Workspace;

    use super::*;
    use crate::SurveyBounds;

    /// Changes that lie in a folder of the workspace; `None` is a deletion.
    struct Upper(BTreeMap<PathBuf, Option<PathBuf>>);

    impl Upper {
        fn of(workspace: &Workspace, entries: &[(&str, Option<&str>)]) -> Self {
            let at = |to: &str| workspace.join(to);
            Self(entries.iter().map(|(path, to)| (PathBuf::from(path), to.map(at))).collect())
        }
    }

    impl PlannedChanges for Upper {
        fn at(&self, path: &Path) -> Planned {
            match self.0.get(path) {
                None => Planned::Same,
                Some(None) => Planned::Gone,
                Some(Some(at)) => Planned::At(at.clone()),
            }
        }

        fn names_in(&self, folder: &Path) -> Vec<OsString> {
            let children = self.0.keys().filter(|path| path.parent() == Some(folder));
            children.filter_map(|path| Some(path.file_name()?.to_owned())).collect()
        }

        fn links(&self) -> Vec<PathBuf> {
            let is_link = |at: &Option<PathBuf>| at.as_deref().is_some_and(crate::is_link);
            self.0.iter().filter(|(_, at)| is_link(at)).map(|(path, _)| path.clone()).collect()
        }
    }

    fn check(survey: &Survey, changes: &dyn PlannedChanges, protected: &[&str], free: &[&str]) {
        let places = survey.protected_places(changes);
        for path in protected {
            assert!(places.reason(Path::new(path), false).is_some(), "{path}: {places:?}");
        }
        for path in free {
            assert_eq!(places.reason(Path::new(path), false), None, "{path}: {places:?}");
        }
    }

    fn survey(workspace: &Workspace) -> Survey {
        Survey::of(&workspace.join("p"), SurveyBounds::default()).unwrap()
    }

    #[test]
    fn every_link_on_the_way_and_its_end_are_protected() {
        let workspace = Workspace::new()
            .file("p/real/m", "")
            .symlink("p/dd", "real")
            .symlink("p/AGENTS.md", "dd/m")
            .dir("p/gh")
            .symlink("p/g2", "gh")
            .symlink("p/.github", "./g2")
            .symlink("p/loop", "loop")
            .symlink("p/.vscode", "loop/x")
            .symlink("p/.idea", "../outside");
        let free = ["real", "real/x", "gh/x", "gh/workflow", "outside"];
        check(
            &survey(&workspace),
            &NoChanges,
            &["dd", "real/m", "REAL/M", "g2", "gh/workflows/x", "gh/actions", "loop"],
            &free,
        );
    }

    #[test]
    fn a_link_that_changes_is_followed_both_ways() {
        let workspace = Workspace::new()
            .file("p/real/m", "")
            .symlink("p/a", "real")
            .symlink("p/AGENTS.md", "a/m")
            .symlink("up/a", "b")
            .symlink("up/b", "c");
        let survey = survey(&workspace);
        check(&survey, &NoChanges, &["a", "real/m"], &["b", "b/m", "c/m"]);
        let changes = Upper::of(&workspace, &[("a", Some("up/a")), ("b", Some("up/b"))]);
        // Also with `b` as it is now, in case only `a` is applied.
        check(&survey, &changes, &["a", "real/m", "b", "b/m", "c/m"], &["c", "c/x"]);
    }

    #[test]
    fn what_changes_bring_with_them_is_protected_too() {
        let workspace = Workspace::new()
            .dir("p/.git/hooks")
            .file("up/config", "[core]\nhooksPath = x/hooks\n")
            .symlink("up/x", "y")
            .symlink("up/hook", "../../t/h")
            .symlink("up/settings", "../docs/s");
        let changes = Upper::of(
            &workspace,
            &[
                (".git/config", Some("up/config")),
                ("x", Some("up/x")),
                (".git/hooks/pre-push", Some("up/hook")),
                (".vscode/settings.json", Some("up/settings")),
            ],
        );
        let protected = ["x", "x/hooks/a", "y/hooks/a", "t/h", "docs/s"];
        check(&survey(&workspace), &changes, &protected, &["y", "y/a", "t", "docs/a"]);
        check(&survey(&workspace), &NoChanges, &[], &protected);
    }

    #[test]
    fn metiers_own_files_are_protected_where_they_lie_in_the_project() {
        let workspace = Workspace::new().dir("p/real").symlink("p/.mh", "real");
        let metier = vec![workspace.join("p/.mh"), workspace.join("p"), workspace.join("p/config.toml")];
        let survey = survey(&workspace).with_user(UserPaths { metier, ..UserPaths::default() });
        let protected = [".mh", "real", "real/approvals.json", ".mh/x", "config.toml"];
        check(&survey, &NoChanges, &protected, &["x", "data"]);
        assert!(survey.protected_places(&NoChanges).in_folder(Path::new("real")).is_some());
    }

    #[test]
    fn hooks_in_the_project_itself_or_outside_are_protected_one_by_one() {
        let workspace = Workspace::new()
            .file("p/.git/config", "[core]\nhooksPath = .\n")
            .file("home/.gitconfig", "[core]\nhooksPath = ~/hooks\n")
            .symlink("p/link", "elsewhere")
            .symlink("home/hooks/pre-push", "../../p/tools/push");
        let home = workspace.join("home");
        let user =
            UserPaths { git_configs: vec![home.join(".gitconfig")], home: Some(home), metier: Vec::new() };
        let survey = survey(&workspace).with_user(user);
        check(
            &survey,
            &NoChanges,
            &["pre-commit", "tools/push"],
            &["a", "tools/a", "elsewhere", "sub/pre-commit"],
        );
    }

    #[test]
    fn a_project_in_a_repository_obeys_its_configuration() {
        let workspace =
            Workspace::new().file(".git/config", "[core]\nhooksPath = p/hooks\neditor = p/ed\n").dir("p");
        check(&survey(&workspace), &NoChanges, &["hooks/pre-commit", "ed"], &["x"]);
        let places = survey(&workspace).protected_places(&NoChanges);
        assert_eq!(places.reason(Path::new("ed"), true), None);
    }
}
