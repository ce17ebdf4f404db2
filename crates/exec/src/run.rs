//! From a call to its result: which program is meant, whether the policy allows it, in which containment it runs.

pub(crate) mod bash;
pub(crate) mod injected;
mod node_versions;
mod permission;
mod plan;
pub(crate) mod process_report;
mod run_output;

use metier_changes::CallOrigin;
use metier_files::{SkillDir, Survey, TreeCopies};
use metier_policy::{Action, Actor, Decision, Gate, Skill};
use metier_sandbox::{
    Attendance, Cancel, Clock, Command, Error as SandboxError, Profile, ProjectAccess, Sandbox, Sieve, Sink,
};
use metier_secret::{Redactor, RedactorError, SecretName};

use self::injected::InjectionShell;
pub use self::node_versions::NodeVersions;
use self::permission::Principal;
pub use self::permission::{RunDecision, decide_run};
pub use self::plan::RunPlan;
use self::process_report::ProcessReport;
pub use self::run_output::RunOutput;
use crate::arguments::{ArgumentError, check_nul};
use crate::call_changes::{CallLayer, PendingChanges, ProjectLayers};
use crate::containment::{SkillContainment, give_variables};
use crate::crew_data::CrewData;
use crate::interpreter::LaunchError;
use crate::long_output::Transcript;
use crate::network_access::{CallProxy, NetworkAccess, with_gateway};
use crate::output::{Shape, notes as notes_of};
use crate::redaction::Redaction;
use crate::requested_grants::RequestedGrants;
use crate::script::ScriptError;
use crate::search_path::{Program, SearchPath};

/// The environment that scripts and commands run in: the sandbox, the policy, and where programs and changes are.
#[derive(Clone, Copy, Debug)]
pub struct ExecEnv<'a> {
    /// Runs them, contained.
    pub sandbox: &'a Sandbox,
    /// Decides whether they may run.
    pub gate: Gate<'a>,
    /// Where programs are found.
    pub path: &'a SearchPath,
    /// What is known of node.
    pub node: &'a NodeVersions,
    /// How they reach the network.
    pub network: &'a NetworkAccess,
    /// Where their changes of the project go; `None` makes the project read-only.
    pub layers: Option<&'a ProjectLayers>,
}

/// The skill for which something runs.
#[derive(Clone, Copy, Debug)]
pub struct SkillContext<'a> {
    /// Who it is, for the gate.
    pub skill: &'a Skill,
    /// Its folder, opened.
    pub folder: &'a SkillDir,
    /// What its processes see. Its `skill` is the same folder; where it has a copy, `folder` is that.
    pub containment: &'a SkillContainment<'a>,
    /// Where copies are kept, for what an approval is bound to.
    pub copies: Option<&'a TreeCopies>,
}

/// Why a script or a command did not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// There is no such script.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The script cannot be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// Its arguments cannot be read.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// Its secrets could not be kept out of what it says.
    #[error(transparent)]
    Secrets(#[from] RedactorError),
    /// What was approved cannot be kept from changing while it starts.
    #[error("its files cannot be copied, so that nothing else than what was approved runs: {0}")]
    NotCopied(metier_files::Error),
    /// It changed between the decision and the start.
    #[error("'{0}' changed while it was started; look at it and try again")]
    Changed(String),
    /// It may not happen, or not without a yes: then the decision has the question.
    #[error("{decision}")]
    Gate {
        /// What was to happen.
        action: Box<Action>,
        /// What was decided about it.
        decision: Box<Decision>,
    },
    /// The sandbox did not run it.
    #[error(transparent)]
    Sandbox(#[from] metier_sandbox::Error),
}

/// Runs something with the copy in the skill's place, or where the copy lies, if it cannot be shown there.
fn with_visible_copy(
    context: &SkillContext<'_>,
    mut work: impl FnMut(&SkillContext<'_>) -> Result<RunOutput, RunError>,
) -> Result<RunOutput, RunError> {
    match (work(context), context.containment.at_copy()) {
        (Err(RunError::Sandbox(SandboxError::NoStandIn { .. })), Some(containment)) => {
            work(&SkillContext { containment: &containment, ..*context })
        }
        (ran, _) => ran,
    }
}

/// What the gate is asked about a line for bash.
fn line_action(principal: &Principal<'_>, line: &str) -> Result<Action, RunError> {
    check_nul(line.chars())?;
    Ok(Action::command(principal.actor.clone(), line).needing_all(principal.grants.needs()))
}

/// Runs a line by bash in a profile.
fn run_line(
    env: &ExecEnv<'_>,
    principal: &Principal<'_>,
    mut profile: Profile,
    allowed: &RunDecision,
    (line, shape): (&str, Shape),
    cancel: Option<&Cancel>,
    sink: Sink<'_>,
) -> Result<RunOutput, RunError> {
    let command = InjectionShell::BASH.command(env, &mut profile, line, line)?;
    run(env, principal, Job { allowed: allowed.clone(), profile, command, shape }, cancel, sink)
}

/// Something that may run.
struct Job {
    allowed: RunDecision,
    /// The default containment, with the programs it takes.
    profile: Profile,
    command: Command,
    /// The shape that its result has.
    shape: Shape,
}

/// Runs a command with all that is wanted, once, and says what came of it without what has to stay secret.
#[expect(clippy::too_many_lines, reason = "the one straight line from a decision to a result")]
fn run(
    env: &ExecEnv<'_>,
    principal: &Principal<'_>,
    job: Job,
    cancel: Option<&Cancel>,
    sink: Sink<'_>,
) -> Result<RunOutput, RunError> {
    let Job { allowed: RunDecision { decision, with_writes }, mut profile, mut command, shape } = job;
    let Principal { actor, project, grants, .. } = principal;
    let redactor = Redactor::new(grants.secrets())?;
    let mut notes = Vec::new();
    let crew = project.zip(principal.crew).and_then(|(survey, data)| {
        let crew = CrewData::make(data, survey.project());
        crew.map_err(|why| notes.push(why)).ok()
    });
    give_variables(&mut profile, grants);
    // Where there can be no layer, the project stays read-only.
    let mut layered = env.layers.zip(*project).and_then(|(layers, survey)| {
        let begun = layers.begin(survey.project(), origin(actor, &shape, &command, principal.session));
        begun.map_err(|error| notes.push(format!("the project was read-only for it: {error}"))).ok()
    });
    match (&layered, &mut profile.project, &crew) {
        (Some(call), Some(project), _) => {
            project.access = ProjectAccess::Layered;
            command = command.layer(call.mount());
        }
        (None, Some(_), Some(crew)) => crew.open(&mut profile),
        _ => {}
    }
    let clock = Clock::new();
    let mut porter = CallProxy::of_gate(&env.gate, actor, grants.hosts(), env.network, &clock, &redactor);
    let mut redaction = Redaction::new(&redactor);
    let mut transcript = Transcript::default();
    let mut attend = |profile: &Profile, command: &Command| {
        let mut serve = |listener| porter.serve(listener);
        let attendance = Attendance {
            cancel,
            clock: Some(&clock),
            porter: Some(&mut serve),
            sieve: redaction.as_mut().map(|redaction| redaction as &mut dyn Sieve),
            // What comes here has gone through the redaction, and so has what is kept of it.
            sink: Some(&mut |stream, piece| {
                transcript.push(stream, piece);
                sink(stream, piece);
            }),
        };
        env.sandbox.run_with(profile, command, attendance)
    };
    let mut online = with_gateway(&profile);
    // Each of these errors means that nothing ran, so the call starts with less.
    let report = loop {
        match attend(&online, &command) {
            Err(error @ SandboxError::NoGateway { .. }) if online.network != profile.network => {
                notes.push(format!("it ran without any network: {error}"));
                online = profile.clone();
            }
            // A script only starts there because the user is there; a command is about the project.
            Err(error @ SandboxError::NoProject { .. }) if online.working_directory != principal.home => {
                notes.push(format!("it started in its own folder: {error}"));
                for profile in [&mut profile, &mut online] {
                    principal.home.clone_into(&mut profile.working_directory);
                }
            }
            Err(SandboxError::NoLayer { reason, .. }) if layered.is_some() => {
                notes.push(format!("the project was read-only for it: {reason}"));
                layered.take().into_iter().for_each(CallLayer::abandon);
                command.layers.clear();
                for profile in [&mut profile, &mut online] {
                    profile.project.iter_mut().for_each(|project| project.access = ProjectAccess::ReadOnly);
                    if let Some(crew) = &crew {
                        crew.open(profile);
                    }
                }
            }
            other => break other?,
        }
    };
    let mut pending = layered.zip(*project).and_then(|(layer, survey)| {
        let id = layer.layer.id();
        PendingChanges::of(layer, survey, principal.limits).unwrap_or_else(|error| {
            let kept = format!("it is kept as `{id}` in `metier changes`");
            notes.push(format!("what it changed could not be read: {error}; {kept}"));
            None
        })
    });
    match &mut pending {
        Some(pending) => {
            pending.hide(&redactor);
            pending.approve(if with_writes { grants.writes() } else { &[] });
            pending.approve(crew.as_ref().map(CrewData::glob).as_slice());
        }
        // Changes that wait to be applied need the folder.
        None => crew.iter().for_each(CrewData::remove_if_empty),
    }
    notes.extend(notes_of(&report));
    if let Some(bounded) = project.and_then(Survey::bounded) {
        notes.push(format!("secrets may be visible: {bounded}"));
    }
    notes.extend(unset_secrets(actor, grants));
    let (contacts, trouble) = porter.finish();
    notes.extend(trouble.map(|error| format!("there was no network: the proxy could not start ({error})")));
    notes.extend(contacts.notes());
    let notes = notes.iter().map(|note| redactor.text(note).into_owned()).collect();
    let (long, limits) = (transcript.finish(&report), principal.limits.clone());
    let text = shape.text(&report, &limits, &long, None);
    let folder = project.map(Survey::project);
    let process = ProcessReport::of(&report, &contacts, &long, folder, &redactor);
    let changes = None;
    Ok(RunOutput {
        text,
        long,
        notes,
        decision,
        contacts,
        pending,
        changes,
        report,
        process,
        shape,
        limits,
        redactor,
    })
}

/// Names of variables that a skill wants and that have no value, a sentence each.
fn unset_secrets(actor: &Actor, grants: &RequestedGrants) -> Vec<String> {
    let Actor::Skill(skill) = actor else { return Vec::new() };
    let sentence = |name: &SecretName| {
        let skill = &skill.name;
        format!("`{name}` is wanted and not set: `metier secret set {name} --skill {skill}`")
    };
    grants.missing().map(sentence).collect()
}

/// What a layer is kept under: what ran, for whom.
fn origin(actor: &Actor, shape: &Shape, command: &Command, session: &str) -> CallOrigin {
    let words = || command.arguments.iter().map(|word| word.to_string_lossy().into_owned());
    let what = match shape {
        Shape::Script(name) => name.clone(),
        Shape::Injected(command) => command.clone(),
        // The line is what bash is told last.
        Shape::CommandLine | Shape::Bash => words().next_back().unwrap_or_default(),
    };
    let actor = match actor {
        Actor::Agent => "agent".to_owned(),
        Actor::Skill(skill) => format!("skill:{skill}"),
    };
    CallOrigin::new(what, actor, session)
}

fn show(profile: &mut Profile, program: &Program) {
    for place in &program.shown {
        let known = profile.programs.iter().any(|shown| place.starts_with(shown));
        if !known {
            profile.programs.push(place.clone());
        }
    }
}
