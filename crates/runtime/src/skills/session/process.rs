//! Runs something for a skill or for the agent: the one place where everything that a process gets is put together.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use metier_catalog::{CommandsStart, Entry, EntryId, SkillFile, Wanted};
use metier_exec::{
    AgentContext, BashPlan, DeclaredNeeds, ExecEnv, NetworkAccess, PrepareError, PrepareOptions,
    PrepareOutcome, ProjectLayers, RequestedGrants, RunOutput, RunPlan, SkillArguments, SkillContainment,
    SkillContext, SkillFolders, SkillNeeds, StartDir, Toolbox, bind_copy, policy_skill, prepare,
};
use metier_files::{SkillDir, Survey, SurveyBounds, TreeCopy, TreeDigest};
use metier_policy::{Action, Actor, Digest, Need, Skill};
use metier_sandbox::Limits;

use super::policy::{Approval, CallGate, NoApproval};
use super::{SkillSession, UseError};
use crate::skills::engine::{Engine, lock};
use crate::tool::CallControl;
use crate::toolset::Surface;

/// What runs for a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessKind {
    /// A script of its own, with all that the skill needs: one question for all of it.
    Script,
    /// A line that the model wrote. Most need nothing, so what the skill's scripts need is not asked for; what they were given before,
    /// it gets as well.
    CommandLine,
}

/// What the program says about one call, beyond what is known of the skill.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallTerms<'a> {
    /// Needs that it adds.
    pub(crate) given: DeclaredNeeds<'a>,
    /// How long it may take, whatever the skill and the configuration say.
    pub(crate) time: Option<Duration>,
    /// How long it may take if they say nothing; as long as the session's surface gives where this says nothing either.
    pub(crate) usual_time: Option<Duration>,
    /// Where it starts, whatever the configuration says.
    pub(crate) start: Option<CommandsStart>,
}

/// A process of a skill before it is started, with everything that it gets.
pub(crate) struct SkillProcess<'a> {
    pub(super) skill: Skill,
    pub(super) folders: SkillFolders,
    handle: SkillDir,
    /// What runs in the skill's place, where that is bound to what was checked.
    copy: Option<TreeCopy>,
    pub(super) grants: RequestedGrants,
    pub(super) toolbox: Cow<'a, Toolbox>,
    pub(super) limits: Limits,
    pub(super) start: StartDir<'a>,
    /// What the user should know about all that, a sentence each.
    notes: Vec<String>,
}

/// What a call of the session runs in.
pub(super) struct CallEnv<'a> {
    session: &'a SkillSession,
    survey: Option<Arc<Survey>>,
    gate: CallGate,
    network: NetworkAccess,
    layers: Option<ProjectLayers>,
}

impl CallEnv<'_> {
    pub(super) fn exec(&self) -> ExecEnv<'_> {
        let Engine { sandbox, path, node, .. } = &*self.session.engine;
        let (gate, layers) = (self.session.gate(&self.gate), self.layers.as_ref());
        ExecEnv { sandbox, gate, path, node, network: &self.network, layers }
    }

    pub(super) fn containment<'s>(&'s self, process: &'s SkillProcess<'_>) -> SkillContainment<'s> {
        SkillContainment {
            skill: &process.folders.skill,
            copy: process.copy.as_ref().map(|copy| copy.folder.as_path()),
            project: self.survey.as_deref(),
            data: process.folders.data.as_deref(),
            plugin: process.folders.plugin.as_ref(),
            toolbox: &process.toolbox,
            limits: process.limits.clone(),
            session: &self.session.id,
            language: &self.session.engine.program.language,
            grants: &process.grants,
            start: process.start,
        }
    }

    pub(super) fn context<'s>(
        &'s self,
        process: &'s SkillProcess<'_>,
        containment: &'s SkillContainment<'s>,
    ) -> SkillContext<'s> {
        SkillContext {
            skill: &process.skill,
            folder: process.copy.as_ref().map_or(&process.handle, |copy| &copy.dir),
            containment,
            copies: self.session.engine.copies.as_ref(),
        }
    }
}

impl SkillSession {
    /// Makes a process of a skill ready, with what the program says about this call.
    pub(super) fn process(
        &self,
        id: EntryId,
        kind: ProcessKind,
        terms: &CallTerms<'_>,
    ) -> Result<SkillProcess<'_>, UseError> {
        self.check_helper()?;
        self.check_variables()?;
        self.supplied(id, kind, terms, Wanted::All)
    }

    /// The same for a call of a tool of this surface.
    pub(crate) fn process_of_tool(
        &self,
        id: EntryId,
        kind: ProcessKind,
        surface: Surface,
    ) -> Result<SkillProcess<'_>, UseError> {
        self.process(id, kind, &CallTerms { usual_time: Some(surface.time()), ..CallTerms::default() })
    }

    /// Reads what is to run for a skill.
    pub(crate) fn script_plan(
        &self,
        process: &SkillProcess<'_>,
        script: &str,
        arguments: &SkillArguments,
    ) -> Result<RunPlan, UseError> {
        let env = self.call_env(&Approval::default());
        let containment = env.containment(process);
        Ok(RunPlan::script(&env.exec(), &env.context(process, &containment), script, arguments)?)
    }

    /// The same for a command line.
    pub(crate) fn command_plan(&self, process: &SkillProcess<'_>, line: &str) -> Result<RunPlan, UseError> {
        let env = self.call_env(&Approval::default());
        let containment = env.containment(process);
        Ok(RunPlan::command_line(&env.context(process, &containment), line)?)
    }

    /// Runs what was approved, and decides about what it changed in the project.
    pub(crate) fn run(
        &self,
        process: SkillProcess<'_>,
        plan: RunPlan,
        approval: &Approval,
        control: CallControl<'_>,
    ) -> Result<RunOutput, UseError> {
        let mut hear = |stream, piece: &[u8]| control.hear(stream, piece);
        let mut ran = {
            let env = self.env_of(self.call_gate(approval), control);
            let containment = env.containment(&process);
            plan.run(&env.exec(), &env.context(&process, &containment), control.cancel, &mut hear)?
        };
        let SkillProcess { mut skill, handle, notes, .. } = process;
        if ran.pending.is_some() && skill.tree.is_none() {
            // An approval of its changes for good ends when its files change.
            skill.tree = TreeDigest::of(&handle).ok().map(|digest| Digest(digest.to_string()));
        }
        self.settle_changes(&mut ran, &Actor::Skill(skill), control);
        ran.notes.extend(notes);
        Ok(ran)
    }

    /// Asks about a run, and runs it.
    pub(super) fn approve_and_run(
        &self,
        process: SkillProcess<'_>,
        plan: RunPlan,
    ) -> Result<RunOutput, UseError> {
        let approval = self
            .approve(plan.action(), None, self.control())
            .map_err(|refusal| refused(plan.action(), refusal))?;
        self.run(process, plan, &approval, self.control())
    }

    /// Reads a line of the agent's own `Bash`.
    pub fn bash_plan(&self, line: &str, time: Duration) -> Result<BashPlan, UseError> {
        self.check_helper()?;
        self.look_over()?;
        let (folders, grants) = (Vec::new(), RequestedGrants::default());
        let survey = lock(&self.survey).clone();
        let project = survey.as_deref().ok_or(UseError::NoProject)?;
        Ok(BashPlan::new(&self.agent_context(project, &folders, &grants, time), line)?)
    }

    /// Runs it in the project. It sees the folders of the active skills, since their texts name files of theirs.
    pub fn run_bash(
        &self,
        plan: BashPlan,
        time: Duration,
        approval: &Approval,
        control: CallControl<'_>,
    ) -> Result<RunOutput, UseError> {
        let mut hear = |stream, piece: &[u8]| control.hear(stream, piece);
        let mut ran = {
            let env = self.env_of(self.call_gate(approval), control);
            let (folders, grants) = (self.active_skills().folders.clone(), RequestedGrants::default());
            let project = env.survey.as_deref().ok_or(UseError::NoProject)?;
            plan.run(
                &env.exec(),
                &self.agent_context(project, &folders, &grants, time),
                control.cancel,
                &mut hear,
            )?
        };
        self.settle_changes(&mut ran, &Actor::Agent, control);
        Ok(ran)
    }

    fn agent_context<'a>(
        &'a self,
        project: &'a Survey,
        skills: &'a [std::path::PathBuf],
        grants: &'a RequestedGrants,
        time: Duration,
    ) -> AgentContext<'a> {
        AgentContext {
            project,
            start: self.snapshot().layout().project.as_ref().map(|project| project.current.as_path()),
            skills,
            data: None,
            toolbox: self.engine.toolbox(),
            limits: self.limits(time),
            session: &self.id,
            language: &self.engine.program.language,
            grants,
        }
    }

    /// Installs the packages that a skill's scripts want, for this skill alone.
    pub fn prepare(
        &self,
        name: &str,
        order: &PrepareOptions<'_>,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<PrepareOutcome>, UseError> {
        let id = self.usable(name)?;
        self.check_helper()?;
        let process = self.supplied(id, ProcessKind::Script, &CallTerms::default(), Wanted::All)?;
        let mut approval = Approval::default();
        loop {
            let env = self.call_env(&approval);
            let containment = env.containment(&process);
            let context = env.context(&process, &containment);
            match prepare(&env.exec(), &context, order, progress) {
                // Nothing was fetched: once approved, it begins again.
                Err(PrepareError::Gate { action, decision }) if approval.decision.is_none() => {
                    approval = self
                        .approve(&action, None, self.control())
                        .map_err(|_| PrepareError::Gate { action, decision })?;
                }
                prepared => return Ok(prepared?),
            }
        }
    }

    /// What the gate would be asked about a script of a skill, to the word: how it would be started, its bytes, and what it needs.
    /// Nothing runs, but for a node that has to say its version.
    pub fn script_action(&self, name: &str, script: &str) -> Result<Action, UseError> {
        let id = self.usable(name)?;
        let process = self.supplied(id, ProcessKind::Script, &CallTerms::default(), Wanted::Document)?;
        let plan = self.script_plan(&process, script, &SkillArguments::List(Vec::new()))?;
        Ok(plan.action().clone())
    }

    /// Finds everything that a process of a skill gets.
    fn supplied(
        &self,
        id: EntryId,
        kind: ProcessKind,
        terms: &CallTerms<'_>,
        files: Wanted<'_>,
    ) -> Result<SkillProcess<'_>, UseError> {
        let entry = self.snapshot().entry(id).ok_or(UseError::Gone)?;
        // What runs may open whatever lies beside it.
        self.snapshot().bring(entry, files)?;
        let mut process = self.bare_process(id)?;
        self.look_over()?;
        let name = &process.skill.name;
        let file = self.snapshot().read(entry).map_err(|_| UseError::Unreadable(name.clone()))?;
        let SkillNeeds { grants, seconds, problems } = self.needs(entry, &file, &terms.given)?;
        (process.grants, process.notes) = (grants, problems);
        self.bind(&mut process, entry, &file);
        if kind == ProcessKind::CommandLine {
            let skill = process.skill.clone();
            let is_granted = |need: &Need| {
                self.judge(&Action::more(Actor::Skill(skill.clone()), need.clone())).is_allowed()
            };
            process.grants.retain(is_granted);
        }
        process.notes.append(&mut lock(&self.folder_notes));
        let time = terms.time.or(seconds).or(terms.usual_time).unwrap_or_else(|| self.surface().time());
        process.toolbox = self.toolbox(&file);
        process.start = self.start(entry, kind, terms.start);
        process.limits = self.limits(time);
        Ok(process)
    }

    /// Finds a skill's folders. The one for what it keeps is made here.
    pub(super) fn bare_process(&self, id: EntryId) -> Result<SkillProcess<'_>, UseError> {
        let snapshot = self.snapshot();
        let entry = snapshot.entry(id).ok_or(UseError::Gone)?;
        let mut folders = SkillFolders::make(snapshot, entry, self.engine.data.as_deref())?;
        // It is said once, when the folder is first made, and that may be before anything can tell it.
        lock(&self.folder_notes).extend(folders.note.take());
        let gone = |source| UseError::FolderGone { name: entry.name().to_string(), source };
        let handle = SkillDir::open(&folders.skill).map_err(gone)?;
        Ok(SkillProcess {
            skill: policy_skill(snapshot, entry),
            folders,
            handle,
            copy: None,
            grants: RequestedGrants::default(),
            toolbox: Cow::Borrowed(self.engine.toolbox()),
            limits: Limits::default(),
            start: StartDir::Skill,
            notes: Vec::new(),
        })
    }

    /// Binds a skill whose run relies on its bytes to a copy of them. Without a folder to keep things in there is none, and the
    /// gate is told the digest of what lies there.
    pub(super) fn bind(&self, process: &mut SkillProcess<'_>, entry: &Entry, file: &SkillFile) {
        let SkillProcess { skill, handle, grants, .. } = process;
        let Some(copies) = &self.engine.copies else {
            if !grants.is_empty() {
                let digest = TreeDigest::of(handle).ok();
                skill.tree = digest.map(|digest| Digest(digest.to_string()));
            }
            return;
        };
        process.copy = bind_copy(skill, (self.snapshot(), entry), (handle, file), grants, copies);
    }

    /// What a call runs in, as things are now.
    pub(super) fn call_env(&self, approval: &Approval) -> CallEnv<'_> {
        self.env_of(self.call_gate(approval), CallControl::default())
    }

    /// The same with this gate.
    pub(super) fn env_of(&self, gate: CallGate, control: CallControl<'_>) -> CallEnv<'_> {
        let approver = self.host_approver(&gate.answers, control);
        CallEnv {
            session: self,
            survey: lock(&self.survey).clone(),
            network: NetworkAccess { approver, ..NetworkAccess::default() },
            layers: self.layers(),
            gate,
        }
    }

    /// Looks over the project, if there is one: again, where something is to run in it.
    pub(super) fn look_over(&self) -> Result<(), UseError> {
        let layout = self.snapshot().layout();
        let Some(project) = &layout.project else { return Ok(()) };
        let mut survey = lock(&self.survey);
        let looked = match survey.as_mut().and_then(Arc::get_mut) {
            Some(survey) => survey.refresh().map(drop),
            // There is none yet, or a call that runs looks at the one from before.
            None => Survey::of(&project.folder, SurveyBounds::default())
                .map(|made| *survey = Some(Arc::new(made.with_user(layout.places.user_paths())))),
        };
        looked.map_err(UseError::Project)
    }

    /// The same, where a look from before will do.
    pub(super) fn look_over_once(&self) -> Result<(), UseError> {
        let is_known = lock(&self.survey).is_some();
        if is_known { Ok(()) } else { self.look_over() }
    }

    fn start(&self, entry: &Entry, kind: ProcessKind, asked: Option<CommandsStart>) -> StartDir<'_> {
        let layout = self.snapshot().layout();
        let origin = &self.snapshot().root(entry).origin;
        let said = asked.or_else(|| layout.settings.start(entry.name().as_str(), origin));
        let is_in_skill = || {
            kind == ProcessKind::CommandLine
                || matches!(self.surface(), Surface::Agentmd | Surface::SkilledCrew)
                || self.snapshot().crew(entry).is_some()
        };
        match (said, &layout.project) {
            (Some(CommandsStart::Project), _) => StartDir::Project,
            (None, Some(project)) if !is_in_skill() => StartDir::At(&project.current),
            (Some(CommandsStart::Skill) | None, _) => StartDir::Skill,
        }
    }

    /// Nothing starts while a required name has no value.
    pub(super) fn check_variables(&self) -> Result<(), UseError> {
        Ok(self.declared.check()?)
    }

    /// Nothing runs that cannot be contained.
    fn check_helper(&self) -> Result<(), UseError> {
        if self.engine.can_contain { Ok(()) } else { Err(UseError::NoHelper) }
    }
}

/// A run that was not approved.
pub(crate) fn refused(action: &Action, refusal: NoApproval) -> UseError {
    let (NoApproval::Refused(decision) | NoApproval::Later(decision)) = refusal;
    metier_exec::RunError::Gate { action: Box::new(action.clone()), decision }.into()
}
