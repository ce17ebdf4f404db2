//! What all sessions of a program share.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use metier_catalog::{Disclosure, Finder, Layout, Places, Snapshot, Watcher};
use metier_files::TreeCopies;
use metier_policy::{Action, Answer, Decision, Kept, Layer, Rules, Skill};
use metier_sandbox::Sandbox;
use metier_secret::{Secret, SecretName};

use super::ledger::Ledger;
use crate::declared_environment::DeclaredEnvironment;
use crate::render::{Variable, VariableValue};
use crate::rule_files::rules_in_force;
use crate::run::NodeVersions;
use crate::search_path::{SearchPath, Toolbox};

/// Who answers questions.
pub(super) type Ask = dyn Fn(&Action, &Decision) -> Answer + Send + Sync;

/// Who knows the secrets of each skill.
pub(super) type Vault = dyn Fn(&Skill, &SecretName) -> Option<Secret> + Send + Sync;

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
    /// How skills are listed, where the program says it and not the configuration.
    pub(super) disclosure: Option<Disclosure>,
    /// What the program itself says about rules.
    pub(super) layer: Layer,
    pub(super) ask: Option<Arc<Ask>>,
    /// Held while somebody is asked: children work at once, and nobody answers two questions at a time.
    pub(super) one_question: Arc<Mutex<()>>,
    pub(super) kept: Mutex<Vec<Kept>>,
    /// Where copies of skills are kept that run as they were checked.
    pub(super) copies: Option<TreeCopies>,
    pub(super) variables: Vec<Variable>,
    pub(super) secrets: Vec<(SecretName, Secret)>,
    pub(super) vault: Option<Arc<Vault>>,
    pub(super) finder: Mutex<Option<Arc<Finder>>>,
}

impl House {
    /// The rules in force: those of the configuration, of the project, and of the program itself.
    pub(super) fn rules(&self, layout: &Layout) -> Rules {
        rules_in_force(layout, |file| file.to_string_lossy().into_owned(), self.layer.clone())
    }

    /// The names that the configuration declares, with what the program gave for them.
    pub(super) fn declared(&self, layout: &Layout) -> DeclaredEnvironment {
        DeclaredEnvironment::of(&layout.settings.environment, |name| {
            let given = self.variables.iter().find(|variable| variable.name == name)?;
            match &given.value {
                VariableValue::Text(text) => Some(text.clone()),
                // That there is one is all that has to be known here.
                VariableValue::Sensitive => Some(name.to_owned()),
                VariableValue::Unset | VariableValue::Required => None,
            }
        })
    }

    /// A secret of a skill: its own, else one that the program gives to all.
    pub(super) fn secret(&self, skill: &Skill, name: &SecretName) -> Option<Secret> {
        let own = self.vault.as_ref().and_then(|vault| vault(skill, name));
        own.or_else(|| self.secrets.iter().find(|(known, _)| known == name).map(|(_, secret)| secret.clone()))
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

impl std::fmt::Debug for House {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("House").field("places", &self.places).finish_non_exhaustive()
    }
}

/// Nothing that holds these locks can leave what they guard half done, so a panic elsewhere does not matter here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
