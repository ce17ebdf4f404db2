//! What a program says about itself before it opens skills.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use metier_catalog::{Catalog, Disclosure, Include, Places, RootChoice, WatchOptions};
use metier_files::{TreeCopies, real_path};
use metier_policy::{Action, Answer, Decision, Kept, Layer, List, Mode, Owner, Skill, Source};
use metier_sandbox::{Helper, Sandbox, Setup};
use metier_secret::{Secret, SecretName};

use super::Skills;
use super::begin::has_begun;
use super::house::{Ask, House, Vault};
use super::ledger::Ledger;
use crate::containment::LANGUAGE;
use crate::render::{Variable, VariableValue};
use crate::run::NodeVersions;
use crate::search_path::SearchPath;

/// Where programs are found when nobody says: the system's folders. The user's own are for the program to name.
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The system's temporary folder when nobody says.
const TEMPORARY: &str = "/tmp";

/// Stands for the helper of a program that has none. The program itself must not: it would be started a second time, as what
/// it is.
const NO_HELPER: &str = "/nonexistent/metier-helper";

/// How changes of files are noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Following {
    /// When somebody asks.
    #[default]
    OnUse,
    /// By events of the system.
    Events,
}

/// What a program says about itself before it opens skills. Nothing is read from the environment: what is not said here is
/// not there.
#[must_use = "nothing is opened until `open` is called"]
#[derive(Clone)]
pub struct SkillsBuilder {
    roots: Option<Vec<PathBuf>>,
    places: Option<Places>,
    project: Option<PathBuf>,
    home: Option<PathBuf>,
    data: Option<PathBuf>,
    cache: Option<PathBuf>,
    temporary: Option<PathBuf>,
    search_path: OsString,
    language: String,
    window: Option<usize>,
    disclosure: Option<Disclosure>,
    layer: Layer,
    ask: Option<Arc<Ask>>,
    kept: Vec<Kept>,
    variables: Vec<Variable>,
    secrets: Vec<(SecretName, Secret)>,
    setup: Option<Setup>,
    vault: Option<Arc<Vault>>,
    helper: Option<Helper>,
    following: Following,
}

impl Default for SkillsBuilder {
    fn default() -> Self {
        Self {
            roots: None,
            places: None,
            project: None,
            home: None,
            data: None,
            cache: None,
            temporary: None,
            search_path: SEARCH_PATH.into(),
            language: LANGUAGE.to_owned(),
            window: None,
            disclosure: None,
            layer: Layer::new(Source::new(Owner::Flag, "this program")),
            ask: None,
            kept: Vec::new(),
            variables: Vec::new(),
            secrets: Vec::new(),
            setup: None,
            vault: None,
            helper: None,
            following: Following::default(),
        }
    }
}

impl SkillsBuilder {
    /// Adds a folder of skills, the highest first. Whoever names a root trusts what is in it.
    pub fn root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.roots.get_or_insert_default().push(folder.into());
        self
    }

    /// Takes the folders of a machine, as metier's own program does: without a root the usual ones count, with their
    /// configuration and what the user trusts.
    pub fn places(mut self, places: Places) -> Self {
        self.places = Some(places);
        self
    }

    /// The folder that the work is about. Scripts and commands see it, read-only; without one they see the skill alone.
    pub fn project(mut self, folder: impl Into<PathBuf>) -> Self {
        self.project = Some(folder.into());
        self
    }

    /// The user's home. Nothing of it is shown but the installations of programs on the search path.
    pub fn home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.home = Some(folder.into());
        self
    }

    /// Where programs are looked for, as `PATH` has it; the system's folders where nobody says.
    pub fn search_path(mut self, path: impl Into<OsString>) -> Self {
        self.search_path = path.into();
        self
    }

    /// The folder in which skills keep what they remember, each in its own. Without one they remember nothing.
    pub fn data(mut self, folder: impl Into<PathBuf>) -> Self {
        self.data = Some(folder.into());
        self
    }

    /// The folder for what can be made again, such as the search index. Without one it is made anew by each process.
    pub fn cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = Some(folder.into());
        self
    }

    /// The system's temporary folder, where it is not `/tmp`.
    pub fn temporary(mut self, folder: impl Into<PathBuf>) -> Self {
        self.temporary = Some(folder.into());
        self
    }

    /// The language of what runs, such as `de_DE.UTF-8`.
    pub fn language(mut self, language: &str) -> Self {
        language.clone_into(&mut self.language);
        self
    }

    /// The window of the model, in tokens: the catalogue takes its share of it.
    pub fn window(mut self, tokens: usize) -> Self {
        self.window = Some(tokens);
        self
    }

    /// How skills are listed, whatever the configuration says: for an agent that says it of itself.
    pub fn disclosure(mut self, disclosure: Disclosure) -> Self {
        self.disclosure = Some(disclosure);
        self
    }

    /// How much is asked; [`Mode::Ask`] where nobody says.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.layer = self.layer.mode(mode.word());
        self
    }

    /// Allows what a rule names: `skill:deploy/host:api.example.org`.
    pub fn allow(mut self, rule: &str) -> Self {
        self.layer = self.layer.list(List::Allow, [rule]);
        self
    }

    /// Refuses what a rule names, whatever else allows it. A rule that cannot be read is among [`Skills::rule_problems`].
    pub fn deny(mut self, rule: &str) -> Self {
        self.layer = self.layer.list(List::Deny, [rule]);
        self
    }

    /// Asks about what a rule names, whatever would allow it.
    pub fn ask_about(mut self, rule: &str) -> Self {
        self.layer = self.layer.list(List::Ask, [rule]);
        self
    }

    /// Who answers questions; without anybody what would ask is refused. It is called while the call waits, also from
    /// another thread, where a connection waits.
    pub fn ask(mut self, ask: impl Fn(&Action, &Decision) -> Answer + Send + Sync + 'static) -> Self {
        self.ask = Some(Arc::new(ask));
        self
    }

    /// Answers that were given for good before: see [`Skills::kept`].
    pub fn kept(mut self, answers: impl IntoIterator<Item = Kept>) -> Self {
        self.kept.extend(answers);
        self
    }

    /// Declares a variable that bodies may name as `${env:NAME}`, with its text.
    pub fn variable(mut self, name: &str, text: &str) -> Self {
        self.variables.push(Variable { name: name.to_owned(), value: VariableValue::Text(text.to_owned()) });
        self
    }

    /// Gives a secret to the scripts of every skill that asks for it by name and gets a yes. It is never put into text, and
    /// taken out of whatever they write.
    pub fn secret(mut self, name: SecretName, secret: Secret) -> Self {
        self.variables.push(Variable { name: name.to_string(), value: VariableValue::Sensitive });
        self.secrets.push((name, secret));
        self
    }

    /// Who knows the secrets of each skill: asked by the skill and the name, when a process of it wants one.
    pub fn vault(
        mut self,
        vault: impl Fn(&Skill, &SecretName) -> Option<Secret> + Send + Sync + 'static,
    ) -> Self {
        self.vault = Some(Arc::new(vault));
        self
    }

    /// How what runs is contained, where the usual will not do.
    pub fn setup(mut self, setup: Setup) -> Self {
        self.setup = Some(setup);
        self
    }

    /// Which program helps to contain what runs, for a program that does not begin with [`begin`](crate::begin).
    pub fn helper(mut self, helper: Helper) -> Self {
        self.helper = Some(helper);
        self
    }

    /// Follows changes of the files by a thread of its own, so that nobody has to look. Without this they are looked for when
    /// a session begins, when its user speaks, and by `refresh`.
    pub fn watch(mut self) -> Self {
        self.following = Following::Events;
        self
    }

    /// Finds the skills. What could not be read is among [`Skills::problems`].
    pub fn open(self) -> Skills {
        let temporary = self.temporary.clone().unwrap_or_else(|| TEMPORARY.into());
        let places = self.machine(&temporary);
        let choice = match &self.roots {
            // A relative root is what it would be if the program opened it itself.
            Some(roots) => RootChoice::Given(
                roots.iter().map(|root| std::path::absolute(root).unwrap_or_else(|_| root.clone())).collect(),
            ),
            None if self.places.is_some() => RootChoice::Usual,
            None => RootChoice::Given(Vec::new()),
        };
        let max_folders = match self.following {
            Following::Events => WatchOptions::default().max_folders,
            // With no folder to be watched there is no thread, and changes are looked for on use.
            Following::OnUse => 0,
        };
        let options = WatchOptions { max_folders, ..WatchOptions::default() };
        let (catalog, watcher) = Catalog::follow(places.clone(), choice, Include::Usual, options);
        let path = SearchPath::in_layout(&self.search_path, catalog.snapshot().layout());
        let (setup, can_contain) = if let Some(setup) = self.setup {
            (setup, true)
        } else {
            let helper = self.helper.or_else(|| has_begun().then_some(Helper::Itself));
            let can_contain = helper.is_some();
            let mut setup = Setup::new(real_path(&temporary).unwrap_or(temporary));
            setup.helper = helper.unwrap_or_else(|| Helper::Program(NO_HELPER.into()));
            (setup, can_contain)
        };
        let keeps_data = self.data.is_some() || self.places.is_some();
        Skills::new(House {
            ledger: Mutex::new(Ledger::new(watcher.subscribe())),
            watcher,
            data: keeps_data.then(|| places.data.join("skills")),
            copies: keeps_data.then(|| TreeCopies::new(places.data.join("copies"))),
            places,
            sandbox: Sandbox::new(setup),
            can_contain,
            path,
            toolbox: OnceLock::new(),
            node: NodeVersions::default(),
            language: self.language,
            window: self.window,
            disclosure: self.disclosure,
            layer: self.layer,
            ask: self.ask,
            one_question: Arc::default(),
            kept: Mutex::new(self.kept),
            variables: self.variables,
            secrets: self.secrets,
            vault: self.vault,
            finder: Mutex::default(),
        })
    }

    /// Where things are, as far as somebody said.
    fn machine(&self, temporary: &std::path::Path) -> Places {
        // The top of the file system is never a project.
        let mut places = self
            .places
            .clone()
            .unwrap_or_else(|| Places { temp: temporary.to_owned(), ..Places::bare("/".into()) });
        if let Some(project) = &self.project {
            places.current = std::path::absolute(project).unwrap_or_else(|_| project.clone());
        }
        places.home = self.home.clone().or(places.home);
        places.data = self.data.clone().unwrap_or(places.data);
        places.cache = self.cache.clone().or(places.cache);
        places
    }
}

impl fmt::Debug for SkillsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillsBuilder").field("roots", &self.roots).finish_non_exhaustive()
    }
}
