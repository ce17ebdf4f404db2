//! Runs something for a skill: the one place where everything that its process gets is put together.

use std::borrow::Cow;
use std::time::Duration;

use metier_catalog::{CommandsStart, Entry, EntryId, Wanted};
use metier_exec::{
    DeclaredNeeds, ExecEnv, PrepareError, PrepareOptions, PrepareOutcome, RequestedGrants, RunOutput,
    ScriptArguments, SkillContext, SkillNeeds, StartDir, Toolbox, policy_skill, prepare, script_action,
};
use metier_files::TreeDigest;
use metier_policy::{Action, Actor, Answers, Decision, Digest, Need, Skill, Trust};
use metier_sandbox::{Cancel, Limits, Stream};

use super::{Room, Spot, Supply};
use crate::skills::house::lock;
use crate::toolset::{Hands, Job, NotDone, Surface, Work, WorkKind};

/// What the program says about one call, beyond what is known of the skill.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::skills) struct CallTerms<'a> {
    /// Needs that it adds.
    pub(in crate::skills) given: DeclaredNeeds<'a>,
    /// How long it may take, whatever the skill and the configuration say.
    pub(in crate::skills) time: Option<Duration>,
    /// Where it starts, whatever the configuration says.
    pub(in crate::skills) start: Option<CommandsStart>,
}

/// A skill with everything that its process gets.
struct Supplied<'a> {
    spot: Spot,
    grants: RequestedGrants,
    toolbox: Cow<'a, Toolbox>,
    limits: Limits,
    start: StartDir<'a>,
    /// What the user should know about all that, a sentence each.
    notes: Vec<String>,
}

impl Room {
    /// Runs a job for a skill, with what the program says about this call.
    pub(in crate::skills) fn perform(
        &self,
        work: Work,
        terms: &CallTerms<'_>,
        job: &mut Job<'_>,
    ) -> Result<RunOutput, NotDone> {
        self.may_contain()?;
        self.may_start().map_err(NotDone::Trouble)?;
        let supplied = self.supplied(work, terms, Wanted::All)?;
        let answers = lock(&self.answers).clone();
        let mut ran = self.until_settled(answers, |answers| {
            self.with_supplied(&supplied, answers, |env, context| job(env, context))
        })?;
        let mut skill = supplied.spot.skill;
        if ran.pending.is_some() && skill.tree.is_none() {
            // An approval of its changes for good ends when its files change.
            skill.tree = TreeDigest::of(&supplied.spot.handle).ok().map(|digest| Digest(digest.to_string()));
        }
        self.settle_changes(&mut ran, &Actor::Skill(skill));
        ran.notes.extend(supplied.notes);
        Ok(ran)
    }

    /// Installs the packages that a skill's scripts want.
    pub(in crate::skills) fn prepare(
        &self,
        id: EntryId,
        order: &PrepareOptions<'_>,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<PrepareOutcome>, PrepareError> {
        let work = Work { id, kind: WorkKind::Script, time: self.surface.time() };
        let trouble = |error: NotDone| PrepareError::Trouble(error.to_string());
        self.may_contain().map_err(trouble)?;
        let supplied = self.supplied(work, &CallTerms::default(), Wanted::All).map_err(trouble)?;
        let answers = lock(&self.answers).clone();
        self.with_answers(answers, |answers| {
            self.with_supplied(&supplied, answers, |env, context| prepare(env, context, order, progress))
        })
    }

    /// What the gate would be asked about a script, to the word. Nothing runs, but for a node that has to say its version.
    pub(in crate::skills) fn script_action(&self, id: EntryId, script: &str) -> Result<Action, NotDone> {
        let work = Work { id, kind: WorkKind::Script, time: self.surface.time() };
        let supplied = self.supplied(work, &CallTerms::default(), Wanted::Document)?;
        let answers = lock(&self.answers).clone();
        let words = ScriptArguments::Split(Vec::new());
        let action = self
            .with_supplied(&supplied, &answers, |env, context| script_action(env, context, script, &words));
        Ok(action?)
    }

    /// Finds everything that a process of a skill gets.
    fn supplied(
        &self,
        work: Work,
        terms: &CallTerms<'_>,
        files: Wanted<'_>,
    ) -> Result<Supplied<'_>, NotDone> {
        let gone = || NotDone::Trouble("the skill is not there any more".to_owned());
        let entry = self.snapshot.entry(work.id).ok_or_else(gone)?;
        // What runs may open whatever lies beside it.
        self.snapshot.bring(entry, files).map_err(|error| NotDone::Trouble(error.to_string()))?;
        let mut spot = self.spot(work.id).map_err(NotDone::Trouble)?;
        self.look_over().map_err(NotDone::Trouble)?;
        let file = self.snapshot.read(entry).map_err(|_| {
            NotDone::Trouble(format!("the skill `{}` cannot be read any more", spot.skill.name))
        })?;
        let needs = self.needs(entry, &file, &terms.given).map_err(NotDone::Trouble)?;
        let SkillNeeds { mut grants, seconds, problems: mut notes } = needs;
        self.bind(&mut spot, entry, &file, &grants);
        if work.kind == WorkKind::CommandLine {
            let answers = lock(&self.answers).clone();
            grants.retain(|need| self.is_granted(&spot.skill, need, &answers));
        }
        notes.extend(self.folder_notes.take());
        let time = terms.time.or(seconds).unwrap_or(work.time);
        Ok(Supplied {
            toolbox: self.toolbox(&file),
            start: self.start(entry, work.kind, terms.start),
            limits: self.limits(time),
            spot,
            grants,
            notes,
        })
    }

    fn with_supplied<T>(
        &self,
        supplied: &Supplied<'_>,
        answers: &Answers,
        work: impl FnOnce(&ExecEnv<'_>, &SkillContext<'_>) -> T,
    ) -> T {
        let Supplied { spot, grants, toolbox, limits, start, .. } = supplied;
        let supply = Supply { grants, toolbox, limits: limits.clone(), start: *start, answers };
        self.with(spot, supply, work)
    }

    /// Whether a need is granted already: by a rule, the configuration or an earlier answer.
    fn is_granted(&self, skill: &Skill, need: &Need, answers: &Answers) -> bool {
        let action = Action::more(Actor::Skill(skill.clone()), need.clone());
        self.gate(answers, |gate| gate.decide(&action).is_allowed())
    }

    /// Where a process starts: as the call says, else the configuration. Otherwise a script starts in the user's current folder, so
    /// that paths mean what the user typed. Command lines stay in the skill's folder, since the text of a skill names its own files
    /// in them, and so do scripts on the two surfaces whose systems document it, and those of crews.
    fn start(&self, entry: &Entry, kind: WorkKind, asked: Option<CommandsStart>) -> StartDir<'_> {
        let layout = self.snapshot.layout();
        let origin = &self.snapshot.root(entry).origin;
        let said = asked.or_else(|| layout.settings.start(entry.name().as_str(), origin));
        let is_in_skill = || {
            kind == WorkKind::CommandLine
                || matches!(self.surface, Surface::Agentmd | Surface::SkilledCrew)
                || self.snapshot.crew(entry).is_some()
        };
        match (said, &layout.project) {
            (Some(CommandsStart::Project), _) => StartDir::Project,
            (None, Some(project)) if !is_in_skill() => StartDir::At(&project.current),
            (Some(CommandsStart::Skill) | None, _) => StartDir::Skill,
        }
    }
}

impl Hands for Room {
    fn skill(&self, id: EntryId) -> Skill {
        match self.snapshot.entry(id) {
            Some(entry) => policy_skill(&self.snapshot, entry),
            // The tools have their ids from this very snapshot; whoever asks for another one gets what nothing trusts.
            None => Skill { trust: Trust::Untrusted, ..Skill::new("", "") },
        }
    }

    fn decide(&self, action: &Action) -> Decision {
        let mut decision = self.judge(action);
        let mut answers = lock(&self.answers).clone();
        if !decision.is_allowed() && self.ask(action, &decision, &mut answers) {
            decision = self.gate(&answers, |gate| gate.decide(action));
        }
        if !decision.is_allowed() {
            self.tell_refused(action, &decision);
        }
        decision
    }

    fn run(&self, work: Work, job: &mut Job<'_>) -> Result<RunOutput, NotDone> {
        self.perform(work, &CallTerms::default(), job)
    }

    fn cancel(&self) -> Option<&Cancel> {
        self.cancel.as_ref()
    }

    fn hear(&self, stream: Stream, piece: &[u8]) {
        if let Some(listener) = &self.listener {
            listener(stream, piece);
        }
    }

    fn keep(&self, ran: &RunOutput) -> Result<Option<String>, String> {
        self.outputs.borrow_mut().keep(ran, &self.house.places.temp)
    }
}
