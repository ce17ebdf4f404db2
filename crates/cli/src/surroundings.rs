//! Where a command runs: the machine's folders, the roots that count, and the skills in them.

use crate::args::Global;
use crate::environment;
use crate::output::Output;
use crate::servers;
use anyhow::Result;
use metier_catalog::{Include, Layout, MAX_DOCUMENT, Places, RootChoice, Snapshot};
use metier_changes::LayerStore;
use metier_diagnostic::Diagnostic;
use metier_exec::{ResultFolder, ResultFolderContext, ResultOptions, SearchPath};
use metier_files::{Kind, kind, read_bounded};
use metier_mcp_client::Servers;
use metier_store::Store;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What every command that is about skills begins with.
#[derive(Clone)]
pub(crate) struct Surroundings {
    /// What the command line says to every command.
    pub(crate) global: Arc<Global>,
    pub(crate) places: Places,
    pub(crate) layout: Arc<Layout>,
    /// Whether the roots are the usual ones, and not those of `--root`.
    pub(crate) is_usual: bool,
    /// The MCP servers, if there are any; none of them is started before it is needed.
    pub(crate) servers: Option<Servers>,
}

impl Surroundings {
    pub(crate) fn look_around(global: Global) -> Result<Self> {
        let places = environment::places()?;
        let choice =
            if global.root.is_empty() { RootChoice::Usual } else { RootChoice::Given(global.root.clone()) };
        Ok(Self::of(Layout::new(&places, &choice), Arc::new(global)))
    }

    /// The surroundings of a layout, with what its servers listed when they were asked last.
    fn of(mut layout: Layout, global: Arc<Global>) -> Self {
        let is_usual = layout.choice == RootChoice::Usual;
        let servers = if is_usual { servers::of(&mut layout) } else { None };
        let places = layout.places.clone();
        Self { global, places, layout: Arc::new(layout), is_usual, servers }.with_servers_as_listed()
    }

    /// The same after the user trusted the project. The configuration is the one that was read and shown.
    pub(crate) fn with_new_trust(&self) -> Self {
        Self::of(self.layout.with_new_trust(), Arc::clone(&self.global))
    }

    /// The same with what its servers listed when they were asked last.
    pub(crate) fn with_servers_as_listed(&self) -> Self {
        let Some(servers) = &self.servers else { return self.clone() };
        let layout = self.layout.with_remote(Arc::new(servers.remote(&self.places.data)));
        Self { places: layout.places.clone(), layout: Arc::new(layout), ..self.clone() }
    }

    /// The same as it looks from another folder, such as that of a crew. The user's configuration is not read again.
    pub(crate) fn seen_from(&self, folder: &Path) -> Self {
        if folder == self.places.current {
            return self.clone();
        }
        let global = &self.global;
        let named = global.root.iter().filter(|root| !root.as_os_str().is_empty());
        let roots = named.map(|root| self.places.current.join(root));
        let choice =
            if global.root.is_empty() { RootChoice::Usual } else { RootChoice::Given(roots.collect()) };
        Self::of(self.layout.seen_from(folder, &choice), Arc::clone(global))
    }

    /// All skills as they are now.
    pub(crate) fn snapshot(&self, include: Include) -> Snapshot {
        Snapshot::load(Arc::clone(&self.layout), include)
    }

    /// The project's folder, if there is a project.
    pub(crate) fn project(&self) -> Option<&Path> {
        self.layout.project.as_ref().map(|project| project.folder.as_path())
    }

    /// Where programs are found.
    pub(crate) fn search_path(&self) -> SearchPath {
        SearchPath::in_layout(&environment::search_path(), &self.layout)
    }

    /// The folder that results are copied to, if the command line names one.
    pub(crate) fn result_folder(
        &self,
        folder: Option<&Path>,
        options: ResultOptions,
    ) -> Result<Option<ResultFolder>> {
        let bases: Vec<&Path> = self.project().into_iter().chain(self.places.home.as_deref()).collect();
        let user = self.places.user_paths();
        let around = ResultFolderContext { bases: &bases, user: Some(&user) };
        Ok(folder.map(|folder| ResultFolder::at(folder, around, options)).transpose()?)
    }

    /// The project as runs are recorded with it. Without a project, runs of all are meant.
    pub(crate) fn recorded_project(&self, is_all: bool) -> Option<String> {
        self.project().filter(|_| !is_all).map(|folder| folder.display().to_string())
    }

    /// The file of the store: below metier's own data, in a folder for itself, since two more files come and go beside it.
    pub(crate) fn store_file(&self) -> PathBuf {
        self.places.data.join("store").join("metier.db")
    }

    /// The store, if anything was ever kept. Looking must not make one.
    pub(crate) fn store(&self) -> Result<Option<Store>> {
        let file = self.store_file();
        if kind(&file) == Kind::Missing {
            return Ok(None);
        }
        Ok(Some(Store::open(&file)?))
    }

    /// Where the changes of commands are kept.
    pub(crate) fn layers(&self) -> LayerStore {
        LayerStore::new(&self.places.data)
    }

    /// Where a new skill goes when nobody says otherwise: the folder of a project that most clients read, else the
    /// user's own.
    pub(crate) fn folder_for_new_skills(&self) -> PathBuf {
        match &self.layout.project {
            Some(project) => project.folder.join(".agents/skills"),
            None => self.places.user_skills.clone(),
        }
    }

    /// A path as people write it: relative to the current folder, or with `~`.
    pub(crate) fn shown(&self, path: &Path) -> String {
        if let Ok(inside) = path.strip_prefix(&self.places.current) {
            return if inside.as_os_str().is_empty() { ".".to_owned() } else { inside.display().to_string() };
        }
        match self.places.home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(inside) => Path::new("~").join(inside).display().to_string(),
            None => path.display().to_string(),
        }
    }

    /// The path that is shown as `shown`.
    pub(crate) fn opened(&self, shown: &Path) -> PathBuf {
        match (shown.strip_prefix("~"), &self.places.home) {
            (Ok(below), Some(home)) => home.join(below),
            _ => self.places.current.join(shown),
        }
    }

    /// A diagnostic with its path as people write it.
    pub(crate) fn relative(&self, diagnostic: &Diagnostic) -> Diagnostic {
        let mut shown = diagnostic.clone();
        shown.path = diagnostic.path.as_deref().map(|path| Path::new(&self.shown(path)).into());
        shown
    }

    /// Shows a diagnostic with its line.
    pub(crate) fn show(&self, found: &Diagnostic, output: &mut Output) -> Result<()> {
        output.diagnostic(&self.relative(found), Self::source_of(found).as_deref())
    }

    /// The text of a file that a diagnostic points into, to show its line.
    pub(crate) fn source_of(diagnostic: &Diagnostic) -> Option<String> {
        let path = diagnostic.path.as_deref().filter(|_| diagnostic.place.is_some())?;
        let bytes = read_bounded(path, MAX_DOCUMENT).ok().flatten()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}
