//! `Bash`: a command line of the agent's own, in the project.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use metier_files::Survey;
use metier_policy::{Action, Actor};
use metier_sandbox::{Cancel, DataFolder, Limits, Profile, Sink};

use super::permission::permit;
use super::{ExecEnv, Principal, RunError, RunOutput, line_action, run_line};
use crate::containment::{environment, read_only};
use crate::output::Shape;
use crate::requested_grants::RequestedGrants;
use crate::search_path::Toolbox;

/// What the agent's own command lines see and may use up.
///
/// The same as a script's, but for what belongs to a skill: the project and the folders of the active skills are read-only,
/// a scratch folder is writable, of the rest of the user's files only what the toolbox names is shown, and the only way out
/// is a proxy.
#[derive(Clone, Debug)]
pub struct AgentContext<'a> {
    /// The project and what it holds.
    pub project: &'a Survey,
    /// Where a line starts, such as the user's current folder; in the project's folder if it is not in the project.
    pub start: Option<&'a Path>,
    /// The folders of the active skills, without links on the way: their texts name files there.
    pub skills: &'a [PathBuf],
    /// The data folder of the skill that was activated last, which has to be there: what that skill keeps.
    pub data: Option<&'a Path>,
    /// Programs outside of the system's folders, and the search path inside.
    pub toolbox: &'a Toolbox,
    /// What may be used up.
    pub limits: Limits,
    /// Which session it is.
    pub session: &'a str,
    /// The language, such as `C.UTF-8`.
    pub language: &'a str,
    /// What is wanted beyond all that. Nothing of it is given before the gate has said yes.
    pub grants: &'a RequestedGrants,
}

impl AgentContext<'_> {
    fn profile(&self) -> Profile {
        let folder = self.project.project();
        // Inside the project they are shown already, and there without what looks like a secret.
        let outside = self.skills.iter().filter(|skill| !skill.starts_with(folder));
        Profile {
            readable: outside.cloned().collect(),
            project: Some(read_only(self.project)),
            data: self.data.map(|data| DataFolder::new(data.to_owned())).into_iter().collect(),
            programs: self.toolbox.shown.clone(),
            environment: self.environment(),
            limits: self.limits.clone(),
            ..Profile::new(self.start.filter(|start| start.starts_with(folder)).unwrap_or(folder).to_owned())
        }
    }

    /// Texts of skills name a skill's folders, whoever runs what they say.
    fn environment(&self) -> Vec<(OsString, OsString)> {
        let skill = self.skills.last().map(PathBuf::as_path);
        environment(skill, self.data, Some(self.project), self.session, self.toolbox, self.language)
    }

    fn principal(&self) -> Principal<'_> {
        Principal {
            actor: Actor::Agent,
            project: Some(self.project),
            grants: self.grants,
            crew: None,
            limits: &self.limits,
            session: self.session,
            home: self.project.project(),
        }
    }
}

/// `Bash`: a line for bash in the project that is ready to run. The gate judges what the line was read as; bash runs its text, and sees
/// none of the user's settings.
#[derive(Debug)]
pub struct BashPlan {
    action: Action,
    line: String,
}

impl BashPlan {
    /// Reads the line.
    pub fn new(own: &AgentContext<'_>, line: &str) -> Result<Self, RunError> {
        Ok(Self { action: line_action(&own.principal(), line)?, line: line.to_owned() })
    }

    /// What the gate is asked, to the word.
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// Runs it, if the gate allows it.
    pub fn run(
        self,
        env: &ExecEnv<'_>,
        own: &AgentContext<'_>,
        cancel: Option<&Cancel>,
        sink: Sink<'_>,
    ) -> Result<RunOutput, RunError> {
        let allowed = permit(&env.gate, &self.action)?;
        run_line(env, &own.principal(), own.profile(), &allowed, (&self.line, Shape::Bash), cancel, sink)
    }
}
