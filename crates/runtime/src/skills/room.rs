//! What one session carries calls out with: its skills, its gate, its conversation.

mod activating;
mod asking;
mod own;
mod restoring;
mod searching;

pub(super) use self::activating::{Gated, NotEntered};
pub use self::own::OwnJob;
pub use self::restoring::Restored;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use metier_catalog::{Entry, EntryId, SkillFile, Snapshot, Wanted};
use metier_files::{SkillDir, Survey, SurveyBounds, TreeCopy, TreeDigest};
use metier_policy::{Action, Actor, Answers, Asking, Decision, Digest, Gate, McpTools, Rules, Skill, Trust};
use metier_sandbox::{Cancel, Limits, Stream};
use metier_secret::SecretName;

use super::house::{Ask, House, lock};
use super::outputs::Outputs;
use crate::activation::Conversation;
use crate::containment::{Containment, Start};
use crate::declared_environment::DeclaredEnvironment;
use crate::render::{Variable, VariableValue};
use crate::requirements::{Given, Here, Missing, Requirements};
use crate::rule_files::known_to_the_gate;
use crate::run::{Ran, Using, Workbench};
use crate::search_path::Toolbox;
use crate::skill_binding::bind;
use crate::skill_folders::SkillFolders;
use crate::skill_needs::SkillNeeds;
use crate::toolset::{Hands, Job, NotDone, Surface, Work, WorkKind};
use crate::wants::Wants;
use crate::way_out::WayOut;

/// Hears what programs write while they run, without what nobody may see.
pub type Listener = Arc<dyn Fn(Stream, &[u8]) + Send + Sync>;

/// What a session carries calls out with.
pub(super) struct Room {
    pub(super) house: Arc<House>,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) rules: Rules,
    /// The names that the configuration declares, with what the program gave for them.
    declared: DeclaredEnvironment,
    /// What was answered. A child has the same ones: a yes for the session is for all of it, whoever asked.
    pub(super) answers: Arc<Mutex<Answers>>,
    pub(super) conversation: RefCell<Conversation>,
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
    wants: &'a Wants,
    toolbox: &'a Toolbox,
    limits: Limits,
    answers: &'a Answers,
}

impl Room {
    pub(super) fn new(house: Arc<House>, snapshot: Arc<Snapshot>, session: String, surface: Surface) -> Self {
        let rules = house.rules(snapshot.layout());
        let answers = Arc::new(Mutex::new(Answers::new(lock(&house.kept).clone())));
        let declared = house.declared(snapshot.layout());
        Self {
            ask: house.ask.clone(),
            one_question: Arc::clone(&house.one_question),
            house,
            rules,
            declared,
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
        self.servers.clone_from(&parent.servers);
    }

    /// Takes other skills from now on, and the rules that come with them.
    pub(super) fn renew(&mut self, snapshot: Arc<Snapshot>) {
        self.rules = self.house.rules(snapshot.layout());
        self.declared = self.house.declared(snapshot.layout());
        self.snapshot = snapshot;
        self.survey.take();
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
        let folders = SkillFolders::make(snapshot, entry, self.house.data.as_deref())
            .map_err(|error| error.to_string())?;
        let skill = known_to_the_gate(snapshot, entry);
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

    /// The names that a body may use: the program's own first.
    fn variables(&self) -> Vec<Variable> {
        self.house.variables.iter().chain(self.declared.variables()).cloned().collect()
    }

    /// Looks over the project, if there is one: again, where something is to run in it.
    fn look_over(&self) -> Result<(), String> {
        let Some(project) = &self.snapshot.layout().project else { return Ok(()) };
        let mut survey = self.survey.borrow_mut();
        let looked = match survey.as_mut() {
            Some(survey) => survey.refresh().map(drop),
            None => Survey::of(&project.folder, SurveyBounds::default()).map(|made| *survey = Some(made)),
        };
        looked.map_err(|error| format!("the project cannot be looked over: {error}"))
    }

    /// Does something with all that a skill's processes need.
    fn with<T>(
        &self,
        spot: &Spot,
        supply: Supply<'_>,
        work: impl FnOnce(&Workbench<'_>, &Using<'_>) -> T,
    ) -> T {
        let survey = self.survey.borrow();
        let containment = Containment {
            skill: &spot.folders.skill,
            copy: spot.copy.as_ref().map(|copy| copy.folder.as_path()),
            project: survey.as_ref(),
            data: spot.folders.data.as_deref(),
            plugin: spot.folders.plugin(),
            toolbox: supply.toolbox,
            limits: supply.limits,
            session: &self.session,
            language: &self.house.language,
            wants: supply.wants,
            start: Start::Skill,
        };
        let way_out = WayOut { asker: self.asker(supply.answers), ..WayOut::default() };
        self.gate(supply.answers, |gate| {
            let House { sandbox, path, node, .. } = &*self.house;
            let bench = Workbench { sandbox, gate, path, node, way_out: &way_out };
            let using = Using {
                skill: &spot.skill,
                folder: spot.copy.as_ref().map_or(&spot.handle, |copy| &copy.dir),
                containment: &containment,
                copies: self.house.copies.as_ref(),
            };
            work(&bench, &using)
        })
    }

    /// Binds a skill whose run relies on its bytes to a copy of them. Without a folder to keep things in there is none, and the
    /// gate is told the digest of what lies there.
    fn bind(&self, spot: &mut Spot, entry: &Entry, file: &SkillFile, wants: &Wants) {
        let Some(copies) = &self.house.copies else {
            if !wants.is_empty() {
                let digest = TreeDigest::of(&spot.handle).ok();
                spot.skill.tree = digest.map(|digest| Digest(digest.to_string()));
            }
            return;
        };
        let files = (&spot.handle, file);
        spot.copy = bind(&mut spot.skill, (&self.snapshot, entry), files, wants, copies);
    }

    /// What a skill asks for beyond the default containment, and how long its scripts may take.
    fn needs(&self, entry: &Entry, skill: &Skill, file: &SkillFile) -> SkillNeeds {
        let mut needs = SkillNeeds::default();
        let wants = &mut needs.wants;
        let mut secret = |name: &SecretName| self.house.secret(skill, name);
        self.declared.give(wants, &file.source, file.manifest(), &mut secret);
        for Variable { name, value } in &self.house.variables {
            // What a body may name its processes see as well.
            if let (VariableValue::Text(text), Ok(name)) = (value, name.parse()) {
                wants.set(name, text);
            }
        }
        let settings = &self.snapshot.layout().settings;
        let who = (entry.name().as_str(), &self.snapshot.root(entry).origin);
        needs.add(who, file.manifest(), settings, &mut secret);
        needs
    }

    /// What a skill requires and its scripts would not find.
    fn missing(&self, name: &str, file: &SkillFile, wants: &Wants) -> Vec<Missing> {
        let Some(requires) = file.manifest().and_then(|manifest| manifest.more.requires.as_ref()) else {
            return Vec::new();
        };
        let variable = |name: &str| {
            let is = |known: &SecretName| known.as_str() == name;
            if wants.secrets().any(|(known, _)| is(known)) || wants.texts().any(|(known, _)| is(known)) {
                Given::Yes
            } else if self.house.secrets.iter().any(|(known, _)| is(known)) {
                Given::NotAsked
            } else {
                Given::Unset
            }
        };
        let path = &self.house.path;
        let here = Here { path, variable: &variable, system: std::env::consts::OS, tools: None };
        Requirements { skill: name, requires }.check(&here)
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

impl Hands for Room {
    fn skill(&self, id: EntryId) -> Skill {
        match self.snapshot.entry(id) {
            Some(entry) => known_to_the_gate(&self.snapshot, entry),
            // The tools have their ids from this very snapshot; whoever asks for another one gets what nothing trusts.
            None => Skill { trust: Trust::Untrusted, ..Skill::new("", "") },
        }
    }

    fn decide(&self, action: &Action) -> Decision {
        let decision = self.gate(&lock(&self.answers), |gate| gate.decide(action));
        if self.ask.is_none() || decision.is_allowed() {
            return decision;
        }
        let mut answers = lock(&self.answers).clone();
        if !self.ask(action, &decision, &mut answers) {
            return decision;
        }
        self.gate(&answers, |gate| gate.decide(action))
    }

    fn run(&self, work: Work, job: &mut Job<'_>) -> Result<Ran, NotDone> {
        self.may_contain()?;
        self.may_start().map_err(NotDone::Trouble)?;
        let gone = || NotDone::Trouble("the skill is not there any more".to_owned());
        let entry = self.snapshot.entry(work.id).ok_or_else(gone)?;
        // What runs may open whatever lies beside it.
        self.snapshot.bring(entry, Wanted::All).map_err(|error| NotDone::Trouble(error.to_string()))?;
        let mut spot = self.spot(work.id).map_err(NotDone::Trouble)?;
        self.look_over().map_err(NotDone::Trouble)?;
        let file = self.snapshot.read(entry).map_err(|_| {
            NotDone::Trouble(format!("the skill `{}` cannot be read any more", spot.skill.name))
        })?;
        let SkillNeeds { mut wants, seconds, mut problems } = self.needs(entry, &spot.skill, &file);
        self.bind(&mut spot, entry, &file, &wants);
        let answers = lock(&self.answers).clone();
        if work.kind == WorkKind::CommandLine {
            let granted = |need: &metier_policy::Need| {
                let action = Action::more(Actor::Skill(spot.skill.clone()), need.clone());
                self.gate(&answers, |gate| gate.decide(&action).is_allowed())
            };
            wants.retain(granted);
            if let Some(survey) = &*self.survey.borrow() {
                problems.extend(wants.drop_refused_writes(survey));
            }
        }
        // A program that the skill requires by name is shown like those that every script may call.
        let requires = file.manifest().and_then(|manifest| manifest.more.requires.as_ref());
        let path = &self.house.path;
        let own = requires.map(|requires| path.usual_toolbox(&Requirements::programs(requires)));
        let toolbox = own.as_ref().unwrap_or_else(|| self.house.toolbox());
        let limits = Limits { time: seconds.unwrap_or(work.time), ..Limits::default() };
        let mut ran = self.until_settled(answers, |answers| {
            let supply = Supply { wants: &wants, toolbox, limits: limits.clone(), answers };
            self.with(&spot, supply, |bench, using| job(bench, using))
        })?;
        ran.notes.extend(problems);
        ran.notes.extend(spot.folders.note.take());
        Ok(ran)
    }

    fn cancel(&self) -> Option<&Cancel> {
        self.cancel.as_ref()
    }

    fn hear(&self, stream: Stream, piece: &[u8]) {
        if let Some(listener) = &self.listener {
            listener(stream, piece);
        }
    }

    fn keep(&self, ran: &Ran) -> Result<Option<String>, String> {
        self.outputs.borrow_mut().keep(ran, &self.house.places.temp)
    }
}
