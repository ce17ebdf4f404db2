//! What all sessions of a program share.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use metier_catalog::{
    Class, Entry, Finder, GateConfig, LayerOwner, Layout, Places, Snapshot, Standing as Trusted, State,
    TrustStore, Watcher, changes_of,
};
use metier_files::read_bounded;
use metier_policy::{
    Action, Answer, Decision, Kept, Layer, List, Owner, Rules, Skill, Source, Standing, Trust,
    from_agents_json, from_claude_settings,
};
use metier_sandbox::Sandbox;
use metier_secret::{Secret, SecretName};

use super::ledger::Ledger;
use crate::render::Variable;
use crate::run::NodeVersions;
use crate::search_path::{SearchPath, Toolbox};

/// Who answers questions.
pub(super) type Ask = dyn Fn(&Action, &Decision) -> Answer + Send + Sync;

/// The largest file of another system's rules that is read. Real ones have a few kilobytes.
const MAX_RULES: u64 = 1 << 20;

/// Reads the rules of another system.
type Read = fn(&str, Source) -> Layer;

/// Rules of other systems, below the project. They are heard here as they are by metier's own program: what a project
/// refuses is refused whoever runs the skill.
const FOREIGN: &[(&str, Read)] = &[
    (".agents/config.json", from_agents_json),
    (".claude/settings.json", from_claude_settings),
    (".claude/settings.local.json", from_claude_settings),
];

/// What all sessions of a program share.
pub(super) struct House {
    pub(super) watcher: Watcher,
    /// What the watcher told.
    pub(super) ledger: Mutex<Ledger>,
    pub(super) places: Places,
    /// The folder below which each skill has its own, if anything is kept.
    pub(super) data: Option<PathBuf>,
    /// What contains processes.
    pub(super) sandbox: Sandbox,
    /// Whether it has a helper; nothing runs without one.
    pub(super) can_contain: bool,
    pub(super) path: SearchPath,
    pub(super) toolbox: OnceLock<Toolbox>,
    pub(super) node: NodeVersions,
    pub(super) language: String,
    pub(super) window: Option<usize>,
    /// What the program itself says about rules.
    pub(super) layer: Layer,
    pub(super) ask: Option<Arc<Ask>>,
    pub(super) kept: Mutex<Vec<Kept>>,
    pub(super) variables: Vec<Variable>,
    pub(super) secrets: Vec<(SecretName, Secret)>,
    pub(super) finder: Mutex<Option<Arc<Finder>>>,
}

impl House {
    /// The rules in force: those of the configuration, of the project, and of the program itself.
    pub(super) fn rules(&self, layout: &Layout) -> Rules {
        let mut layers = Vec::new();
        for layer in &layout.settings.gate {
            let owner = match layer.owner {
                LayerOwner::User => Owner::User,
                LayerOwner::TrustedProject | LayerOwner::UntrustedProject => Owner::Project,
            };
            layers.push(configured(&layer.config, Source::new(owner, &layer.file.to_string_lossy())));
        }
        if let Some(project) = &layout.project {
            layers.extend(FOREIGN.iter().filter_map(|(path, read)| foreign(&project.folder, path, *read)));
        }
        layers.push(self.layer.clone());
        let standing = match layout.standing {
            Trusted::Untrusted => Standing::Untrusted,
            Trusted::Trusted | Trusted::Mine => Standing::Trusted,
        };
        Rules::new(layers, standing)
    }

    /// A skill as the gate sees it.
    pub(super) fn who(&self, snapshot: &Snapshot, entry: &Entry) -> Skill {
        let origin = &snapshot.root(entry).origin;
        let trust = match (entry.state(), origin.class) {
            (State::Untrusted, _) => Trust::Untrusted,
            (_, Class::Project) => {
                // A record of trust that cannot be read is none: the layout says so, and the project is not trusted.
                let store = TrustStore::open(&self.places.data).ok();
                match store.and_then(|store| changes_of(snapshot, &store, entry)) {
                    Some(_) => Trust::Changed,
                    None => Trust::Trusted,
                }
            }
            _ => Trust::Trusted,
        };
        Skill { trust, ..Skill::new(entry.name().as_str(), &origin.to_string()) }
    }

    /// The programs that every script may call.
    pub(super) fn toolbox(&self) -> &Toolbox {
        self.toolbox.get_or_init(|| self.path.toolbox(&self.path.tools(&[])))
    }

    /// The search index of a snapshot, made when it is first asked for.
    pub(super) fn finder(&self, snapshot: &Arc<Snapshot>) -> Arc<Finder> {
        let mut finder = lock(&self.finder);
        let next = match finder.take() {
            Some(known) if Arc::ptr_eq(known.snapshot(), snapshot) => known,
            Some(known) => Arc::new(known.follow(Arc::clone(snapshot))),
            None => Arc::new(Finder::open(Arc::clone(snapshot), self.places.cache.as_deref())),
        };
        // What cannot be kept is made again.
        let _ = next.save();
        Arc::clone(finder.insert(next))
    }
}

impl std::fmt::Debug for House {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("House").field("places", &self.places).finish_non_exhaustive()
    }
}

fn configured(config: &GateConfig, source: Source) -> Layer {
    let mut layer = Layer::new(source)
        .list(List::Deny, &config.deny)
        .list(List::Ask, &config.ask)
        .list(List::Allow, &config.allow);
    if let Some(why) = &config.incomplete {
        layer = layer.incomplete(why);
    }
    match &config.mode {
        Some(mode) => layer.mode(mode),
        None => layer,
    }
}

fn foreign(project: &Path, path: &str, read: Read) -> Option<Layer> {
    let source = Source::new(Owner::Project, path);
    match read_bounded(&project.join(path), MAX_RULES) {
        Ok(None) => None,
        Ok(Some(bytes)) => Some(read(&String::from_utf8_lossy(&bytes), source)),
        Err(error) => Some(Layer::new(source).incomplete(&error.to_string())),
    }
}

/// Nothing that holds these locks can leave what they guard half done, so a panic elsewhere does not matter here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
