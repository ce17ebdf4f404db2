//! What all sessions of a program share.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use metier_catalog::{Disclosure, Entry, Finder, Layout, Places, Snapshot};
use metier_changes::LayerStore;
use metier_exec::{
    DeclaredEnvironment, NodeVersions, SearchPath, Toolbox, Variable, VariableValue, rules_in_force,
};
use metier_files::TreeCopies;
use metier_policy::{Action, ApprovalKey, Decision, Layer, Rules};
use metier_sandbox::Sandbox;
use metier_secret::{Secret, SecretName};

use super::known::KnownSkills;
use super::ledger::Ledger;
use super::session::ApprovalHandler;
use super::value_source::{SkillSecrets, SourceError, ValueSource};

/// Hears what was refused.
pub(super) type RefusalObserver = dyn Fn(&Action, &Decision) + Send + Sync;

/// How a file is called where a rule of it is told.
pub(super) type ShownPath = dyn Fn(&Path) -> String + Send + Sync;

/// What a program says about itself and its sessions.
pub(super) struct Program {
    pub(super) language: String,
    /// The model's context window, in tokens.
    pub(super) window: Option<usize>,
    /// How skills are listed, where the program says it and not the configuration.
    pub(super) disclosure: Option<Disclosure>,
    /// Its rules.
    pub(super) layer: Layer,
    pub(super) handler: Option<Arc<ApprovalHandler>>,
    pub(super) variables: Vec<Variable>,
    pub(super) secrets: Vec<(SecretName, Secret)>,
    pub(super) values: Option<Arc<dyn ValueSource>>,
    pub(super) on_refusal: Option<Arc<RefusalObserver>>,
    pub(super) shown: Option<Arc<ShownPath>>,
}

/// What all sessions of a program share.
pub(super) struct Engine {
    pub(super) program: Program,
    pub(super) known: KnownSkills,
    /// What became of them.
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
    /// Held while somebody is asked: children work at once, and nobody answers two questions at a time.
    pub(super) open_question: Arc<Mutex<()>>,
    pub(super) kept: Mutex<Vec<ApprovalKey>>,
    /// Where copies of skills are kept that run as they were checked.
    pub(super) copies: Option<TreeCopies>,
    /// Where the layers of calls are kept.
    pub(super) layers: Option<LayerStore>,
    pub(super) finder: Mutex<Option<Arc<Finder>>>,
}

impl Engine {
    /// The rules in force: those of the configuration, of the project, and `own`, those of the program itself.
    pub(super) fn rules(&self, layout: &Layout, own: Layer) -> Rules {
        let shown = |file: &Path| match &self.program.shown {
            Some(shown) => shown(file),
            None => file.to_string_lossy().into_owned(),
        };
        rules_in_force(layout, shown, own)
    }

    /// The names that the configuration declares, with what the program gave for them or its source has.
    pub(super) fn declared(&self, layout: &Layout) -> DeclaredEnvironment {
        self.declared_environment(&layout.settings.environment)
    }

    /// The programs that every script may call.
    pub(super) fn toolbox(&self) -> &Toolbox {
        self.toolbox.get_or_init(|| self.path.usual_toolbox(&[]))
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

impl ValueSource for Engine {
    fn variable(&self, name: &str) -> Option<String> {
        let given = self.program.variables.iter().find(|variable| variable.name == name);
        match given.map(|given| &given.value) {
            Some(VariableValue::Text(text)) => Some(text.clone()),
            // That there is one is all that has to be known here.
            Some(VariableValue::Sensitive) => Some(name.to_owned()),
            Some(VariableValue::Unset | VariableValue::Required) | None => {
                self.program.values.as_ref().and_then(|values| values.variable(name))
            }
        }
    }

    fn keeps(&self, name: &str) -> bool {
        self.program.values.as_ref().is_some_and(|values| values.keeps(name))
    }

    /// The skill's own first, then those that the program gives to all.
    fn secrets(&self, snapshot: &Snapshot, entry: &Entry) -> Result<SkillSecrets, SourceError> {
        let mut own = match &self.program.values {
            Some(values) => values.secrets(snapshot, entry)?,
            None => SkillSecrets::default(),
        };
        own.secrets.extend(self.program.secrets.iter().cloned());
        Ok(own)
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("places", &self.places).finish_non_exhaustive()
    }
}

/// Nothing that holds these locks can leave what they guard half done, so a panic elsewhere does not matter here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
