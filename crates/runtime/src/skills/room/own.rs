//! What an agent does by itself in a session, beside its skills: it stands under the same rules, answers and scopes.

use std::path::PathBuf;
use std::time::Duration;

use metier_exec::{AgentContext, ExecEnv, NetworkAccess, RequestedGrants, RunError, RunOutput};
use metier_policy::{Action, Actor, Decision};

use super::Room;
use crate::skills::house::{House, lock};
use crate::toolset::NotDone;

/// A job of the agent's own. It is called again after a question was answered.
pub type OwnJob<'a> = dyn FnMut(&ExecEnv<'_>, &AgentContext<'_>) -> Result<RunOutput, RunError> + 'a;

impl Room {
    /// May this happen? Nobody is asked.
    pub(in crate::skills) fn judge(&self, action: &Action) -> Decision {
        self.gate(&lock(&self.answers), |gate| gate.decide(action))
    }

    /// Does a job in the project with all that the agent's processes need, and again after each yes that it takes. `skills` are
    /// the folders that it sees beside the project, `data` what the last of them remembers.
    pub(in crate::skills) fn run_own(
        &self,
        time: Duration,
        skills: &[PathBuf],
        job: &mut OwnJob<'_>,
    ) -> Result<RunOutput, NotDone> {
        self.may_contain()?;
        self.look_over().map_err(NotDone::Trouble)?;
        let survey = self.survey.borrow();
        let Some(project) = survey.as_ref() else {
            return Err(NotDone::Trouble("there is no project to run it in".to_owned()));
        };
        let grants = RequestedGrants::default();
        let own = AgentContext {
            project,
            skills,
            data: None,
            toolbox: self.house.toolbox(),
            limits: self.limits(time),
            session: &self.session,
            language: &self.house.language,
            grants: &grants,
        };
        // A copy, and the lock given back: a question takes it again to keep its answer.
        let answers = lock(&self.answers).clone();
        let layers = self.layers();
        let mut ran = self.until_settled(answers, |answers| {
            let network = NetworkAccess { approver: self.approver(answers), ..NetworkAccess::default() };
            self.gate(answers, |gate| {
                let House { sandbox, path, node, .. } = &*self.house;
                job(&ExecEnv { sandbox, gate, path, node, network: &network, layers: layers.as_ref() }, &own)
            })
        })?;
        self.settle_changes(&mut ran, &Actor::Agent);
        Ok(ran)
    }
}
