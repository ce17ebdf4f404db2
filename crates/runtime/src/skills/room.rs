//! What one session carries calls out with: its skills, its gate, its conversation.

mod activating;
mod asking;
mod changes;
mod needs;
mod own;
mod restoring;
mod running;
mod searching;

pub(super) use self::activating::{Gated, NotEntered};
pub use self::own::OwnJob;
pub use self::restoring::Restored;
pub(super) use self::running::CallTerms;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use metier_activation::SessionActivations;
use metier_catalog::{Entry, EntryId, SkillFile, Snapshot};
use metier_exec::{
    DeclaredEnvironment, ExecEnv, NetworkAccess, RequestedGrants, SkillContainment, SkillContext,
    SkillFolders, StartDir, Toolbox, bind_copy, policy_skill,
};
use metier_files::{SkillDir, Survey, SurveyBounds, TreeCopy, TreeDigest};
use metier_policy::{Answers, Asking, Digest, Gate, Layer, List, McpTools, Rules, Skill};
use metier_sandbox::{Cancel, Limits, Stream};

use super::house::{Ask, House, lock};
use super::outputs::Outputs;
use super::value_source::SkillSecrets;
use crate::toolset::{NotDone, Surface};

/// Hears what programs write while they run, without what nobody may see.
pub type Listener = Arc<dyn Fn(Stream, &[u8]) + Send + Sync>;

/// What a session carries calls out with.
pub(super) struct Room {
    pub(super) house: Arc<House>,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) rules: Rules,
    /// The names that the configuration declares, with what the program gave for them.
    declared: DeclaredEnvironment,
    /// The secrets of the skills that wanted any, by their folders: each is read once.
    secrets: RefCell<HashMap<PathBuf, SkillSecrets>>,
    /// What the user should know about folders of skills and was not told yet, a sentence each.
    folder_notes: RefCell<Vec<String>>,
    /// The rules of the program itself, with what it gave in this session.
    layer: Layer,
    /// What was answered. A child has the same ones: a yes for the session is for all of it, whoever asked.
    pub(super) answers: Arc<Mutex<Answers>>,
    pub(super) conversation: RefCell<SessionActivations>,
    /// What was answered for longer than once and nobody has written down yet.
    pub(super) given: RefCell<Vec<super::own::GivenAnswer>>,
    /// The project as it was looked over last.
    survey: RefCell<Option<Survey>>,
    pub(super) session: String,
    pub(super) surface: Surface,
    /// Who answers questions here.
    pub(super) ask: Option<Arc<Ask>>,
    /// Held while one of them is open. Whoever answers for all sessions is asked one thing at a time.
    pub(super) one_question: Arc<Mutex<()>>,
    /// The tools of MCP servers, by which bare names in the lists of skills are understood.
    pub(super) servers: McpTools,
    /// Takes back whatever runs.
    pub(super) cancel: Option<Cancel>,
    /// Hears what programs write while they run.
    pub(super) listener: Option<Listener>,
    /// What programs wrote beyond what the model got.
    pub(super) outputs: RefCell<Outputs>,
}

/// A skill's own folders, and the skill as the gate knows it.
pub(super) struct Spot {
    pub(super) skill: Skill,
    pub(super) folders: SkillFolders,
    handle: SkillDir,
    /// What runs in the skill's place, where that is bound to what was checked.
    copy: Option<TreeCopy>,
}

/// What a process of a skill gets beyond its spot.
struct Supply<'a> {
    grants: &'a RequestedGrants,
    toolbox: &'a Toolbox,
    limits: Limits,
    start: StartDir<'a>,
    answers: &'a Answers,
}

impl Room {
    pub(super) fn new(house: Arc<House>, snapshot: Arc<Snapshot>, session: String, surface: Surface) -> Self {
        let layer = house.layer.clone();
        let rules = house.rules(snapshot.layout(), layer.clone());
        let answers = Arc::new(Mutex::new(Answers::new(lock(&house.kept).clone())));
        let declared = house.declared(snapshot.layout());
        Self {
            ask: house.ask.clone(),
            one_question: Arc::clone(&house.one_question),
            house,
            rules,
            layer,
            declared,
            secrets: RefCell::default(),
            folder_notes: RefCell::default(),
            answers,
            snapshot,
            conversation: RefCell::default(),
            given: RefCell::default(),
            survey: RefCell::default(),
            session,
            surface,
            servers: McpTools::default(),
            cancel: None,
            listener: None,
            outputs: RefCell::default(),
        }
    }

    /// Makes this the room of a child: what holds in the parent holds here, and so does what was answered there.
    pub(super) fn continue_from(&mut self, parent: &Self) {
        self.conversation = RefCell::new(parent.conversation.borrow().child());
        self.answers = Arc::clone(&parent.answers);
        self.ask.clone_from(&parent.ask);
        self.one_question = Arc::clone(&parent.one_question);
        self.session.clone_from(&parent.session);
        self.rules.clone_from(&parent.rules);
        self.layer.clone_from(&parent.layer);
        self.servers.clone_from(&parent.servers);
    }

    /// Takes other skills from now on, and the rules that come with them.
    pub(super) fn renew(&mut self, snapshot: Arc<Snapshot>) {
        self.rules = self.house.rules(snapshot.layout(), self.layer.clone());
        self.declared = self.house.declared(snapshot.layout());
        self.snapshot = snapshot;
        self.survey.take();
    }

    /// Allows what these rules name, for as long as the session lasts.
    pub(super) fn allow(&mut self, rules: &[String]) {
        if !rules.is_empty() {
            self.layer = self.layer.clone().list(List::Allow, rules);
            self.rules = self.house.rules(self.snapshot.layout(), self.layer.clone());
        }
    }

    /// Secrets are read again when a process wants one: the user may have set another since.
    pub(super) fn forget_secrets(&self) {
        self.secrets.take();
    }

    /// Asks the gate as it is now.
    fn gate<T>(&self, answers: &Answers, work: impl FnOnce(Gate<'_>) -> T) -> T {
        let asking = if self.ask.is_some() { Asking::Terminal } else { Asking::Nobody };
        let conversation = self.conversation.borrow();
        work(Gate { rules: &self.rules, answers, scopes: conversation.scopes.rules(), asking })
    }

    /// Finds a skill's folders. What it remembers gets its folder here.
    pub(super) fn spot(&self, id: EntryId) -> Result<Spot, String> {
        let snapshot = &self.snapshot;
        let entry = snapshot.entry(id).ok_or("the skill is not there any more")?;
        let name = entry.name();
        let mut folders = SkillFolders::make(snapshot, entry, self.house.data.as_deref())
            .map_err(|error| error.to_string())?;
        // It is said once, when the folder is first made, and that may be before anything can tell it.
        self.folder_notes.borrow_mut().extend(folders.note.take());
        let skill = policy_skill(snapshot, entry);
        let handle = SkillDir::open(&folders.skill).map_err(|error| format!("`{name}` is gone: {error}"))?;
        Ok(Spot { skill, folders, handle, copy: None })
    }

    /// Nothing starts while a required name has no value.
    fn may_start(&self) -> Result<(), String> {
        self.declared.check().map_err(|error| error.to_string())
    }

    /// Nothing runs that cannot be contained.
    fn may_contain(&self) -> Result<(), NotDone> {
        if self.house.can_contain {
            return Ok(());
        }
        let text = "nothing can run here: the program does not begin with `metier_runtime::begin`";
        Err(NotDone::Trouble(text.to_owned()))
    }

    /// Looks over the project, if there is one: again, where something is to run in it.
    fn look_over(&self) -> Result<(), String> {
        let layout = self.snapshot.layout();
        let Some(project) = &layout.project else { return Ok(()) };
        let mut survey = self.survey.borrow_mut();
        let looked = match survey.as_mut() {
            Some(survey) => survey.refresh().map(drop),
            None => Survey::of(&project.folder, SurveyBounds::default())
                .map(|made| *survey = Some(made.with_user(layout.places.user_paths()))),
        };
        looked.map_err(|error| format!("the project cannot be looked over: {error}"))
    }

    /// Does something with all that a skill's processes need.
    fn with<T>(
        &self,
        spot: &Spot,
        supply: Supply<'_>,
        work: impl FnOnce(&ExecEnv<'_>, &SkillContext<'_>) -> T,
    ) -> T {
        let survey = self.survey.borrow();
        let containment = SkillContainment {
            skill: &spot.folders.skill,
            copy: spot.copy.as_ref().map(|copy| copy.folder.as_path()),
            project: survey.as_ref(),
            data: spot.folders.data.as_deref(),
            plugin: spot.folders.plugin(),
            toolbox: supply.toolbox,
            limits: supply.limits,
            session: &self.session,
            language: &self.house.language,
            grants: supply.grants,
            start: supply.start,
        };
        let network = NetworkAccess { approver: self.approver(supply.answers), ..NetworkAccess::default() };
        let layers = self.layers();
        self.gate(supply.answers, |gate| {
            let House { sandbox, path, node, .. } = &*self.house;
            let env = ExecEnv { sandbox, gate, path, node, network: &network, layers: layers.as_ref() };
            let context = SkillContext {
                skill: &spot.skill,
                folder: spot.copy.as_ref().map_or(&spot.handle, |copy| &copy.dir),
                containment: &containment,
                copies: self.house.copies.as_ref(),
            };
            work(&env, &context)
        })
    }

    /// Binds a skill whose run relies on its bytes to a copy of them. Without a folder to keep things in there is none, and the
    /// gate is told the digest of what lies there.
    fn bind(&self, spot: &mut Spot, entry: &Entry, file: &SkillFile, grants: &RequestedGrants) {
        let Some(copies) = &self.house.copies else {
            if !grants.is_empty() {
                let digest = TreeDigest::of(&spot.handle).ok();
                spot.skill.tree = digest.map(|digest| Digest(digest.to_string()));
            }
            return;
        };
        let files = (&spot.handle, file);
        spot.copy = bind_copy(&mut spot.skill, (&self.snapshot, entry), files, grants, copies);
    }

    /// The folder of a skill, by which it is known from one snapshot to the next.
    pub(super) fn folder(&self, id: EntryId) -> Option<PathBuf> {
        self.snapshot.entry(id).map(|entry| self.snapshot.folder(entry))
    }

    /// The skill whose folder this is.
    pub(super) fn id_of(&self, folder: &Path) -> Option<EntryId> {
        let mut entries = self.snapshot.entries();
        entries.find(|(_, entry)| self.snapshot.folder(entry) == folder).map(|(id, _)| id)
    }
}
