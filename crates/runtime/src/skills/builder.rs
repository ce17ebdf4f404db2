//! What a program says about itself before it opens skills.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use metier_catalog::{Catalog, Disclosure, Include, Layout, Places, RootChoice, Snapshot, WatchOptions};
use metier_changes::LayerStore;
use metier_exec::{LANGUAGE, NodeVersions, SearchPath, Variable, VariableValue};
use metier_files::{TreeCopies, real_path};
use metier_policy::{Action, ApprovalKey, Decision, Layer, List, Mode, Owner, Source};
use metier_sandbox::{Helper, Sandbox, Setup};
use metier_secret::{Secret, SecretName};

use super::Skills;
use super::begin::has_begun;
use super::engine::{Engine, Program};
use super::known::KnownSkills;
use super::ledger::Ledger;
use super::session::{ApprovalReply, ApprovalRequest};
use super::value_source::ValueSource;

/// Where programs are found when nobody says: the system's folders. The user's own are for the program to name.
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The system's temporary folder when nobody says.
const TEMPORARY: &str = "/tmp";

/// Stands for the helper of a program that has none. The program itself must not: it would be started a second time, as what
/// it is.
const NO_HELPER: &str = "/nonexistent/metier-helper";

/// What contains what runs.
enum Containment {
    /// The program itself, if it began with [`begin`](crate::begin).
    Usual,
    Helper(Helper),
    Setup(Setup),
    Sandbox(Box<Sandbox>),
}

impl Containment {
    /// The sandbox, and whether it has a helper: nothing runs without one.
    fn sandbox(self, temporary: &Path) -> (Sandbox, bool) {
        let helper = match self {
            Self::Sandbox(sandbox) => return (*sandbox, true),
            Self::Setup(setup) => return (Sandbox::new(setup), true),
            Self::Helper(helper) => Some(helper),
            Self::Usual => has_begun().then_some(Helper::Itself),
        };
        let can_contain = helper.is_some();
        let mut setup = Setup::new(real_path(temporary).unwrap_or_else(|_| temporary.to_owned()));
        setup.helper = helper.unwrap_or_else(|| Helper::Program(NO_HELPER.into()));
        (Sandbox::new(setup), can_contain)
    }
}

/// What a program says about itself before it opens skills. Nothing is read from the environment: what is not said here is
/// not there.
#[must_use = "nothing is opened until `open` is called"]
pub struct SkillsBuilder {
    roots: Option<Vec<PathBuf>>,
    places: Option<Places>,
    layout: Option<Arc<Layout>>,
    snapshot: Option<Arc<Snapshot>>,
    project: Option<PathBuf>,
    home: Option<PathBuf>,
    data: Option<PathBuf>,
    cache: Option<PathBuf>,
    temporary: Option<PathBuf>,
    search_path: OsString,
    program: Program,
    kept: Vec<ApprovalKey>,
    containment: Containment,
    /// Whether the system tells of changes of files; else they are looked for when somebody asks.
    is_watching: bool,
    is_read_only: bool,
}

impl Default for SkillsBuilder {
    fn default() -> Self {
        Self {
            roots: None,
            places: None,
            layout: None,
            snapshot: None,
            project: None,
            home: None,
            data: None,
            cache: None,
            temporary: None,
            search_path: SEARCH_PATH.into(),
            program: Program {
                language: LANGUAGE.to_owned(),
                window: None,
                disclosure: None,
                layer: Layer::new(Source::new(Owner::Flag, "this program")),
                handler: None,
                variables: Vec::new(),
                secrets: Vec::new(),
                values: None,
                on_refusal: None,
                shown: None,
            },
            kept: Vec::new(),
            containment: Containment::Usual,
            is_watching: false,
            is_read_only: false,
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

    /// Takes the roots and the configuration that the program has read already: nothing is read a second time. It stands for
    /// roots, places and project.
    pub fn layout(mut self, layout: Arc<Layout>) -> Self {
        self.layout = Some(layout);
        self
    }

    /// Takes skills that the program has read already, as they are: changes of their files are not looked for. For a program that
    /// makes one call.
    pub fn snapshot(mut self, snapshot: Arc<Snapshot>) -> Self {
        self.snapshot = Some(snapshot);
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
        language.clone_into(&mut self.program.language);
        self
    }

    /// The window of the model, in tokens: the catalogue takes its share of it.
    pub fn window(mut self, tokens: usize) -> Self {
        self.program.window = Some(tokens);
        self
    }

    /// How skills are listed, whatever the configuration says: for an agent that says it of itself.
    pub fn disclosure(mut self, disclosure: Disclosure) -> Self {
        self.program.disclosure = Some(disclosure);
        self
    }

    /// How much is asked; [`Mode::Ask`] where nobody says.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.program.layer = self.program.layer.mode(mode.word());
        self
    }

    /// Allows what a rule names: `skill:deploy/host:api.example.org`.
    pub fn allow(mut self, rule: &str) -> Self {
        self.program.layer = self.program.layer.list(List::Allow, [rule]);
        self
    }

    /// Refuses what a rule names, whatever else allows it. A rule that cannot be read is among [`Skills::rule_problems`].
    pub fn deny(mut self, rule: &str) -> Self {
        self.program.layer = self.program.layer.list(List::Deny, [rule]);
        self
    }

    /// Asks about what a rule names, whatever would allow it.
    pub fn ask_about(mut self, rule: &str) -> Self {
        self.program.layer = self.program.layer.list(List::Ask, [rule]);
        self
    }

    /// The rules of the program itself, with the name of who gave them, instead of those given so far.
    pub fn rules(mut self, layer: Layer) -> Self {
        self.program.layer = layer;
        self
    }

    /// How a file of rules is called where a decision names it; its whole path where nobody says.
    pub fn show_paths(mut self, shown: impl Fn(&Path) -> String + Send + Sync + 'static) -> Self {
        self.program.shown = Some(Arc::new(shown));
        self
    }

    /// Tells of everything that was refused, after the questions about it.
    pub fn on_refusal(mut self, observer: impl Fn(&Action, &Decision) + Send + Sync + 'static) -> Self {
        self.program.on_refusal = Some(Arc::new(observer));
        self
    }

    /// Answers requests for approval; without a handler, what would ask is refused. It is called while the call waits, also from
    /// another thread while a connection waits.
    pub fn ask<R: Into<ApprovalReply>>(
        mut self,
        handler: impl Fn(&ApprovalRequest<'_>) -> R + Send + Sync + 'static,
    ) -> Self {
        self.program.handler = Some(Arc::new(move |request: &ApprovalRequest<'_>| handler(request).into()));
        self
    }

    /// Answers that were given for good before: see [`Skills::kept`].
    pub fn kept(mut self, answers: impl IntoIterator<Item = ApprovalKey>) -> Self {
        self.kept.extend(answers);
        self
    }

    /// Declares a variable that bodies may name as `${env:NAME}`, with its text.
    pub fn variable(mut self, name: &str, text: &str) -> Self {
        self.program
            .variables
            .push(Variable { name: name.to_owned(), value: VariableValue::Text(text.to_owned()) });
        self
    }

    /// Gives a secret to the scripts of every skill that asks for it by name and gets a yes. It is never put into text, and
    /// taken out of whatever they write.
    pub fn secret(mut self, name: SecretName, secret: Secret) -> Self {
        self.program.variables.push(Variable { name: name.to_string(), value: VariableValue::Sensitive });
        self.program.secrets.push((name, secret));
        self
    }

    /// Where values of declared names and the secrets of skills come from, beside those given here.
    pub fn values(mut self, source: Arc<dyn ValueSource>) -> Self {
        self.program.values = Some(source);
        self
    }

    /// How what runs is contained, where the usual will not do.
    pub fn setup(mut self, setup: Setup) -> Self {
        self.containment = Containment::Setup(setup);
        self
    }

    /// What contains what runs, where the program has begun with it already.
    pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.containment = Containment::Sandbox(Box::new(sandbox));
        self
    }

    /// Which program helps to contain what runs, for a program that does not begin with [`begin`](crate::begin).
    pub fn helper(mut self, helper: Helper) -> Self {
        self.containment = Containment::Helper(helper);
        self
    }

    /// Follows changes of the files by a thread of its own, so that nobody has to look. Without this they are looked for when
    /// a session begins, when its user speaks, and by `refresh`.
    pub fn watch(mut self) -> Self {
        self.is_watching = true;
        self
    }

    /// Calls see the project read-only: they have no layer to write to.
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Finds the skills. What could not be read is among [`Skills::problems`].
    pub fn open(mut self) -> Skills {
        // Only a program of its own, which names nothing of a machine, keeps nothing.
        let is_machine = self.places.is_some() || self.layout.is_some() || self.snapshot.is_some();
        let known = match self.snapshot.take() {
            Some(snapshot) => KnownSkills::Fixed(snapshot),
            None => self.follow(),
        };
        let first = known.snapshot();
        let layout = first.layout();
        let places = layout.places.clone();
        let path = SearchPath::in_layout(&self.search_path, layout);
        let (sandbox, can_contain) = self.containment.sandbox(&places.temp);
        let keeps_data = is_machine || self.data.is_some();
        Skills::new(Engine {
            program: self.program,
            ledger: Mutex::new(Ledger::new(known.subscribe())),
            known,
            data: keeps_data.then(|| places.data.join("skills")),
            copies: keeps_data.then(|| TreeCopies::new(places.data.join("copies"))),
            layers: (!self.is_read_only).then(|| {
                if keeps_data { LayerStore::new(&places.data) } else { LayerStore::temporary(&places.temp) }
            }),
            places,
            sandbox,
            can_contain,
            path,
            toolbox: OnceLock::new(),
            node: NodeVersions::default(),
            open_question: Arc::default(),
            kept: Mutex::new(self.kept),
            finder: Mutex::default(),
        })
    }

    /// Reads the skills and follows their files.
    fn follow(&mut self) -> KnownSkills {
        let layout = self.layout.take().unwrap_or_else(|| {
            let choice = match &self.roots {
                // A relative root is what it would be if the program opened it itself.
                Some(roots) => RootChoice::Given(
                    roots
                        .iter()
                        .map(|root| std::path::absolute(root).unwrap_or_else(|_| root.clone()))
                        .collect(),
                ),
                None if self.places.is_some() => RootChoice::Usual,
                None => RootChoice::Given(Vec::new()),
            };
            Arc::new(Layout::new(&self.machine(), &choice))
        });
        let mut options = WatchOptions::default();
        if !self.is_watching {
            // With no folder to be watched there is no thread, and changes are looked for on use.
            options.max_folders = 0;
        }
        KnownSkills::Followed(Catalog::follow(layout, Include::Usual, options).1)
    }

    /// Where things are, as far as somebody said.
    fn machine(&self) -> Places {
        // The top of the file system is never a project.
        let nowhere = || Places { temp: TEMPORARY.into(), ..Places::bare("/".into()) };
        let mut places = self.places.clone().unwrap_or_else(nowhere);
        places.temp = self.temporary.clone().unwrap_or(places.temp);
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
