//! From a skill to its text in this conversation.

use metier_activation::{
    Activation, ActivationContext, ActivationDraft, ActivationError, ActivationMode, ActivationOutcome,
    ActivationRequest, Invoker, ScopeEnd, SkillArguments, SkillScope, injection_start,
};
use metier_catalog::EntryId;
use metier_exec::{DeclaredNeeds, ExecEnv, MissingRequirement, SkillContext, Variable};
use metier_policy::McpTools;
use serde_json::{Map, Value};

use super::policy::{Approval, ApprovalRequest, Asked};
use super::process::SkillProcess;
use super::{SkillSession, UseError};
use crate::tool::CallControl;
use crate::toolset::frontmatter;

/// Whether the gate has been asked about an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gated {
    Already,
    NotYet,
}

/// A skill whose text is in the conversation now, with the frontmatter for surfaces that show it.
pub(crate) struct EnteredSkill {
    pub(crate) activated: ActivationOutcome,
    pub(crate) frontmatter: Map<String, Value>,
}

/// What an activation would be, without any of it.
pub(super) struct ActivationPreview {
    pub(super) scope: SkillScope,
    pub(super) runs_commands: bool,
}

/// A skill that is to be activated, with everything that takes.
struct Candidate<'a> {
    id: EntryId,
    process: SkillProcess<'a>,
    missing: Vec<MissingRequirement>,
    variables: Vec<Variable>,
}

/// Whether an activation is for a conversation of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conversation {
    This,
    Own,
}

impl SkillSession {
    /// Activates a skill and takes it into the conversation.
    pub(crate) fn enter(
        &self,
        id: EntryId,
        by: Invoker,
        arguments: &SkillArguments,
        gated: Gated,
        control: CallControl<'_>,
    ) -> Result<EnteredSkill, UseError> {
        let request = ActivationRequest { by, arguments };
        let mut entered = self.activation(id, request, gated, Conversation::This, control)?;
        if let ActivationOutcome::Fresh(activation) = &mut entered.activated
            && let ActivationMode::Fork { .. } = activation.way
        {
            // There is no child whose end could be its end.
            activation.scope.end = ScopeEnd::NextUserMessage;
            let note = "the skill asks for a child of its own and is in this conversation";
            activation.notes.push(note.to_owned());
        }
        let mut active = self.active_skills();
        active.conversation.enter(&entered.activated);
        self.mark_active(&mut active, id);
        drop(active);
        Ok(entered)
    }

    /// Activates a skill for a conversation of its own.
    pub(super) fn activation_apart(
        &self,
        id: EntryId,
        request: ActivationRequest<'_>,
        gated: Gated,
    ) -> Result<Box<Activation>, UseError> {
        match self.activation(id, request, gated, Conversation::Own, self.control())?.activated {
            ActivationOutcome::Fresh(activation) => Ok(activation),
            // A conversation that has nothing in it has nothing again.
            ActivationOutcome::Again(again) => Err(UseError::AlreadyActive(again.note)),
        }
    }

    /// Reads a skill's file and makes its text. Questions are asked between two readings, so that the text is of the last one.
    fn activation(
        &self,
        id: EntryId,
        request: ActivationRequest<'_>,
        gated: Gated,
        conversation: Conversation,
        control: CallControl<'_>,
    ) -> Result<EnteredSkill, UseError> {
        self.check_variables()?;
        let candidate = self.candidate(id)?;
        let mut gate = self.call_gate(&Approval::default());
        let mut asks_about_commands = self.approval_handler().is_some();
        loop {
            let env = self.env_of(gate.clone(), control);
            let (exec, containment) = (env.exec(), env.containment(&candidate.process));
            let context = env.context(&candidate.process, &containment);
            let setting = self.setting(&candidate, &context);
            let draft = ActivationDraft::open(&setting, request)?;
            if gated == Gated::NotYet
                && let Err(error) = draft.may_start(&exec)
            {
                let ActivationError::Gate { action, decision } = &error else { return Err(error.into()) };
                let asked = ApprovalRequest::new(action, decision, control);
                if self.ask(&asked, &mut gate.answers) == Asked::Approved {
                    continue;
                }
                self.report_refusal(action, decision);
                return Err(error.into());
            }
            let frontmatter = frontmatter(draft.manifest());
            if conversation == Conversation::This
                && let Some(again) = draft.again(&self.active_skills().conversation)
            {
                return Ok(EnteredSkill {
                    activated: ActivationOutcome::Again(Box::new(again)),
                    frontmatter,
                });
            }
            if std::mem::take(&mut asks_about_commands) {
                let questions = draft.questions(&exec).map_err(ActivationError::from)?;
                for (action, decision) in &questions {
                    // A no leaves the command as text, which is then said.
                    self.ask(&ApprovalRequest::new(action, decision, control), &mut gate.answers);
                }
                if !questions.is_empty() {
                    continue;
                }
            }
            let activation = draft.finish(&exec, control.cancel)?;
            return Ok(EnteredSkill {
                activated: ActivationOutcome::Fresh(Box::new(activation)),
                frontmatter,
            });
        }
    }

    /// Looks at what an activation would be made of. Nothing runs and no one is asked.
    pub fn with_draft<T>(
        &self,
        by: Invoker,
        name: &str,
        arguments: impl Into<SkillArguments>,
        look: impl FnOnce(&ActivationDraft<'_>, &ExecEnv<'_>) -> Result<T, ActivationError>,
    ) -> Result<T, UseError> {
        let (id, arguments) = (self.usable(name)?, arguments.into());
        self.check_variables()?;
        let candidate = self.candidate(id)?;
        let env = self.call_env(&Approval::default());
        let containment = env.containment(&candidate.process);
        let context = env.context(&candidate.process, &containment);
        let setting = self.setting(&candidate, &context);
        let request = ActivationRequest { by, arguments: &arguments };
        Ok(look(&ActivationDraft::open(&setting, request)?, &env.exec())?)
    }

    /// What an activation would be. `None` where the skill cannot be read.
    pub(super) fn preview(&self, id: EntryId, arguments: &SkillArguments) -> Option<ActivationPreview> {
        let mut process = self.bare_process(id).ok()?;
        process.start = injection_start(self.snapshot().root(self.snapshot().entry(id)?));
        let variables = self.variables(&process.grants);
        let candidate = Candidate { id, process, missing: Vec::new(), variables };
        let env = self.call_env(&Approval::default());
        let containment = env.containment(&candidate.process);
        let context = env.context(&candidate.process, &containment);
        // What servers offer does not matter for what it is.
        let setting =
            ActivationContext { servers: &McpTools::default(), ..self.setting(&candidate, &context) };
        let draft =
            ActivationDraft::open(&setting, ActivationRequest { by: Invoker::Caller, arguments }).ok()?;
        let runs_commands = draft.plan().is_ok_and(|plan| !plan.commands().is_empty());
        Some(ActivationPreview { scope: draft.scope(), runs_commands })
    }

    /// Finds everything that an activation takes before the text is read. What its commands would get without a grant is
    /// removed when they run: nothing is asked for a command.
    fn candidate(&self, id: EntryId) -> Result<Candidate<'_>, UseError> {
        let mut process = self.bare_process(id)?;
        self.look_over_once()?;
        let entry = self.snapshot().entry(id);
        let read = entry.and_then(|entry| Some((entry, self.snapshot().read(entry).ok()?)));
        // A file that cannot be read is the activation's to refuse.
        let Some((entry, file)) = read else {
            return Ok(Candidate { id, process, missing: Vec::new(), variables: Vec::new() });
        };
        process.grants = self.needs(entry, &file, &DeclaredNeeds::default())?.grants;
        self.bind(&mut process, entry, &file);
        process.toolbox = self.toolbox(&file);
        process.start = injection_start(self.snapshot().root(entry));
        let missing = self.missing_with(entry, &file, &process.grants);
        let variables = self.variables(&process.grants);
        Ok(Candidate { id, process, missing, variables })
    }

    fn setting<'s>(
        &'s self,
        candidate: &'s Candidate<'_>,
        context: &'s SkillContext<'s>,
    ) -> ActivationContext<'s> {
        ActivationContext {
            snapshot: self.snapshot(),
            id: candidate.id,
            context,
            start: candidate.process.start,
            missing: &candidate.missing,
            environment: &candidate.variables,
            servers: &self.servers,
            dialect: self.surface().dialect(),
        }
    }
}
