//! From a call to its result: what is meant, whether it may happen, in what containment, and what came of it.

pub(crate) mod bash;
pub(crate) mod injected;
mod layered;
mod node_versions;
pub(crate) mod process_report;
mod ran;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use metier_changes::CallOrigin;
use metier_files::{FileDigest, SkillDir, Survey, TreeCopies};
use metier_policy::{Action, Actor, Decision, Digest, Gate, Need, Reason, Skill};
use metier_sandbox::{
    Attendance, Cancel, Clock, Command, Error as SandboxError, Limits, Profile, ProjectAccess, Sandbox,
    Sieve, Sink,
};
use metier_secret::{Redactor, RedactorError, SecretName};

use self::layered::LayeredCall;
pub use self::node_versions::NodeVersions;
use self::node_versions::ask_node;
use self::process_report::ProcessReport;
pub use self::ran::Ran;
use crate::arguments::{ArgumentError, split_arguments};
use crate::call_changes::ProjectLayers;
use crate::containment::{Containment, Start, give_variables};
use crate::crew_data::CrewData;
use crate::interpreter::{LaunchError, launch};
use crate::long_output::Transcript;
use crate::output::{Rest, Shape, notes as notes_of};
use crate::prepare::Standing;
use crate::redaction::Redaction;
use crate::render::Arguments;
use crate::script::{SCRIPTS, Script, ScriptError};
use crate::search_path::{Program, SearchPath};
use crate::skill_path::seen_from;
use crate::wants::Wants;
use crate::way_out::{Porter, WayOut, with_way_out};

/// The largest script whose bytes are digested for the question that is asked about it. Nobody writes a longer one by
/// hand, and a program that is larger is bound by its skill's tree digest.
const MAX_SCRIPT: u64 = 16 << 20;

/// What runs things.
#[derive(Clone, Copy, Debug)]
pub struct Workbench<'a> {
    /// Runs them contained.
    pub sandbox: &'a Sandbox,
    /// Says whether they may run.
    pub gate: Gate<'a>,
    /// Where programs are found.
    pub path: &'a SearchPath,
    /// What is known of node.
    pub node: &'a NodeVersions,
    /// How they get out.
    pub way_out: &'a WayOut,
    /// Where their changes of the project go; without it the project is read-only.
    pub layers: Option<&'a ProjectLayers>,
}

/// The skill for which something runs.
#[derive(Clone, Copy, Debug)]
pub struct Using<'a> {
    /// Who it is, for the gate.
    pub skill: &'a Skill,
    /// Its folder, opened.
    pub folder: &'a SkillDir,
    /// What its processes see. Its `skill` is the same folder; where it has a copy, `folder` is that.
    pub containment: &'a Containment<'a>,
    /// Where copies are kept, for what an approval is bound to.
    pub copies: Option<&'a TreeCopies>,
}

/// Why nothing ran.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotRun {
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
    #[error("'{script}' changed while it was started; look at it and try again")]
    Changed {
        /// The script.
        script: String,
    },
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

/// What a script is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// A text, which is split the POSIX way.
    Text(String),
    /// Words as they are.
    Split(Vec<String>),
}

/// `skill_run_script`: runs a script of a skill.
pub fn run_script(
    bench: &Workbench<'_>,
    using: &Using<'_>,
    name: &str,
    arguments: &Words,
    cancel: Option<&Cancel>,
    sink: Sink<'_>,
) -> Result<Ran, NotRun> {
    let begun = begin(bench, using, name, arguments)?;
    let action = begun.action.clone();
    let allowed = decide(&bench.gate, action.clone(), &using.party())?;
    let mut start = |using: &Using<'_>, begun: Begun| {
        let Begun { standing, profile, program, words, .. } = begun;
        let command = Command::new(program).arguments(words);
        let job = Job { allowed: allowed.clone(), profile, command, shape: Shape::Script(name.to_owned()) };
        let mut ran = run(bench, &using.party(), job, cancel, sink)?;
        let errors = (!ran.report.succeeded()).then(|| ran.report.stderr.text());
        ran.notes.extend(standing.note(&using.skill.name, errors.as_deref()));
        Ok(ran)
    };
    let copies = using.copies.filter(|_| using.containment.copy.is_none() && allowed.is_answer());
    let mut begun = Some(begun);
    let mut again = |using: &Using<'_>, begun: Option<Begun>| match begun {
        Some(begun) => start(using, begun),
        None => start(using, begin(bench, using, name, arguments)?),
    };
    let Some(copies) = copies else {
        return where_it_can_be_seen(using, |using| again(using, begun.take()));
    };
    // The answer was given for these bytes, so they are what runs.
    let copy = copies.take(using.folder).map_err(NotRun::NotCopied)?;
    let containment = Containment { copy: Some(&copy.folder), ..using.containment.clone() };
    let using = Using { folder: &copy.dir, containment: &containment, ..*using };
    let checked = begin(bench, &using, name, arguments)?;
    if checked.action.deed != action.deed {
        return Err(NotRun::Changed { script: name.to_owned() });
    }
    begun = Some(checked);
    where_it_can_be_seen(&using, |using| again(using, begun.take()))
}

/// What [`run_script`] would ask the gate about, to the word: how the script would be started, its bytes, and what is wanted for
/// it. Nothing runs, but for a node that has to say its version.
pub(crate) fn script_action(
    bench: &Workbench<'_>,
    using: &Using<'_>,
    name: &str,
    arguments: &Words,
) -> Result<Action, NotRun> {
    let mut action = begin(bench, using, name, arguments)?.action;
    action.needs = using.containment.wants.needs();
    Ok(action)
}

/// A script that was found, with how it would be started.
struct Begun {
    standing: Standing,
    /// The default containment, with the programs it takes.
    profile: Profile,
    program: PathBuf,
    words: Vec<String>,
    action: Action,
}

fn begin(bench: &Workbench<'_>, using: &Using<'_>, name: &str, arguments: &Words) -> Result<Begun, NotRun> {
    let script = Script::find(using.folder, &using.skill.name, &script_of(using.containment.skill, name))?;
    let arguments = match arguments {
        Words::Text(text) => split_arguments(text)?,
        Words::Split(words) => {
            Arguments::List(words.clone()).check()?;
            words.clone()
        }
    };
    let mut profile = using.containment.profile();
    let mut ask = |node: &Program| bench.node.of(node, || ask_node(bench.sandbox, &profile, node));
    let standing = Standing::of(&script, using.folder, using.containment.data, bench.path);
    let launch = standing.launch(launch(&script, using.containment.skill, bench.path, &mut ask)?);
    // What was prepared is not what the script keeps.
    for own in profile.data.iter_mut().filter(|data| Some(data.path.as_path()) == using.containment.data) {
        own.spared = standing.bytes();
    }
    for program in &launch.programs {
        show(&mut profile, program);
    }
    let words: Vec<String> = launch.arguments.into_iter().chain(arguments).collect();
    let program = launch.program.to_string_lossy().into_owned();
    let argv: Vec<&str> = [program.as_str()].into_iter().chain(words.iter().map(String::as_str)).collect();
    // What is asked about is these bytes; when they change, a yes to them is no yes any more.
    let digest = using.folder.read(&script.path, MAX_SCRIPT).ok().map(|bytes| FileDigest::of(&bytes));
    let digest = digest.map(|digest| Digest(digest.to_string()));
    let action = Action::script(using.skill.clone(), &script.path.to_string(), &argv, digest);
    Ok(Begun { standing, profile, program: launch.program, words, action })
}

/// A script that is named with the skill's folder before it, as a body that writes `${SKILL_DIR}/scripts/x.sh` has it. Any other
/// name is one in `scripts/`.
fn script_of<'a>(skill: &Path, name: &'a str) -> Cow<'a, str> {
    let asked = name.trim();
    if !asked.starts_with('/') {
        return Cow::Borrowed(asked);
    }
    let seen = seen_from(skill, asked);
    if Path::new(&*seen).starts_with(SCRIPTS) { seen } else { Cow::Borrowed(asked) }
}

/// `run_command_line`: runs a line by bash, contained. The gate judges what the line was read as; bash runs its text, and
/// sees none of the user's settings.
pub fn run_command_line(
    bench: &Workbench<'_>,
    using: &Using<'_>,
    line: &str,
    cancel: Option<&Cancel>,
    sink: Sink<'_>,
) -> Result<Ran, NotRun> {
    where_it_can_be_seen(using, |using| {
        let (party, profile) = (using.party(), using.containment.profile());
        run_line(bench, &party, profile, (line, Shape::CommandLine), cancel, sink)
    })
}

/// Runs something with the copy in the skill's place, or where the copy lies, if it cannot be shown there.
fn where_it_can_be_seen(
    using: &Using<'_>,
    mut work: impl FnMut(&Using<'_>) -> Result<Ran, NotRun>,
) -> Result<Ran, NotRun> {
    match (work(using), using.containment.at_copy()) {
        (Err(NotRun::Sandbox(SandboxError::NoStandIn { .. })), Some(containment)) => {
            work(&Using { containment: &containment, ..*using })
        }
        (ran, _) => ran,
    }
}

/// Runs a line by bash for somebody, in a profile of theirs.
fn run_line(
    bench: &Workbench<'_>,
    party: &Party<'_>,
    mut profile: Profile,
    (line, shape): (&str, Shape),
    cancel: Option<&Cancel>,
    sink: Sink<'_>,
) -> Result<Ran, NotRun> {
    if let Some(at) = line.chars().position(|character| character == '\0') {
        return Err(ArgumentError::Nul { at: at + 1 }.into());
    }
    let allowed = decide(&bench.gate, Action::command(party.actor.clone(), line), party)?;
    let command = shell_line(bench, line, &mut profile)?;
    run(bench, party, Job { allowed, profile, command, shape }, cancel, sink)
}

/// A line for bash, which reads nobody's settings; the profile shows it.
fn shell_line(bench: &Workbench<'_>, line: &str, profile: &mut Profile) -> Result<Command, NotRun> {
    let Some(bash) = bench.path.find("bash") else {
        return Err(LaunchError::NoInterpreter {
            script: line.to_owned(),
            programs: vec!["bash".to_owned()],
        }
        .into());
    };
    show(profile, &bash);
    Ok(Command::new(bash.file).arguments(["--noprofile", "--norc", "-c", line]))
}

/// For whom something runs, and what of its containment matters while it does.
struct Party<'a> {
    actor: Actor,
    project: Option<&'a Survey>,
    wants: &'a Wants,
    /// The folder in the project that the skills of a crew write.
    crew: Option<&'a Path>,
    limits: &'a Limits,
    /// The session it belongs to.
    session: &'a str,
    /// Where it can start where the project cannot be shown.
    home: &'a Path,
}

impl<'a> Using<'a> {
    fn party(&self) -> Party<'a> {
        let containment = self.containment;
        Party {
            actor: Actor::Skill(self.skill.clone()),
            project: containment.project,
            wants: containment.wants,
            crew: containment.crew_data(),
            limits: &containment.limits,
            session: containment.session,
            home: if containment.start == Start::Project { containment.start() } else { containment.skill },
        }
    }
}

/// The gate's permission for a call and for the hosts and secrets it wants. Nothing runs without one.
#[derive(Clone)]
struct Allowed {
    decision: Decision,
    /// Whether it covers the changes of the project that the skill declares.
    with_writes: bool,
}

impl Allowed {
    /// Whether a person's answer, and not a rule, allows it.
    fn is_answer(&self) -> bool {
        matches!(self.decision.by, Reason::Answered(_))
    }
}

/// Something that may run.
struct Job {
    allowed: Allowed,
    /// The default containment, with the programs it takes.
    profile: Profile,
    command: Command,
    /// The shape that its result has.
    shape: Shape,
}

fn decide(gate: &Gate<'_>, mut action: Action, party: &Party<'_>) -> Result<Allowed, NotRun> {
    action.needs = party.wants.needs();
    let decision = gate.decide(&action);
    if decision.is_allowed() {
        return Ok(Allowed { decision, with_writes: true });
    }
    // Changes are decided after the run, so nothing has to be asked for their sake alone.
    let is_write = |need: &Need| matches!(need, Need::WriteBelow(_));
    if action.needs.iter().any(is_write) {
        let mut without = action.clone();
        without.needs.retain(|need| !is_write(need));
        let decision = gate.decide(&without);
        if decision.is_allowed() {
            return Ok(Allowed { decision, with_writes: false });
        }
    }
    Err(NotRun::Gate { action: Box::new(action), decision: Box::new(decision) })
}

/// Runs a command with all that is wanted, once, and says what came of it without what has to stay secret.
#[expect(clippy::too_many_lines, reason = "the one straight line from a decision to a result")]
fn run(
    bench: &Workbench<'_>,
    party: &Party<'_>,
    job: Job,
    cancel: Option<&Cancel>,
    sink: Sink<'_>,
) -> Result<Ran, NotRun> {
    let Job { allowed: Allowed { decision, with_writes }, mut profile, mut command, shape } = job;
    let Party { actor, project, wants, .. } = party;
    let redactor = Redactor::new(wants.secrets())?;
    let mut notes = Vec::new();
    let crew = project.zip(party.crew).and_then(|(survey, data)| {
        let crew = CrewData::make(data, survey.project());
        crew.map_err(|why| notes.push(why)).ok()
    });
    give_variables(&mut profile, wants);
    let mut layered = LayeredCall::begin(
        bench.layers,
        *project,
        origin(actor, &shape, &command, party.session),
        &mut notes,
    );
    match (&layered, &mut profile.project, &crew) {
        (Some(call), Some(project), _) => {
            project.access = ProjectAccess::Layered;
            command = command.layer(call.mount());
        }
        (None, Some(_), Some(crew)) => crew.open(&mut profile),
        _ => {}
    }
    let clock = Clock::new();
    let mut porter = Porter::of_gate(&bench.gate, actor, wants.hosts(), bench.way_out, &clock, &redactor);
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
        bench.sandbox.run_with(profile, command, attendance)
    };
    let mut online = with_way_out(&profile);
    // Each of these errors means that nothing ran, so the call starts with less.
    let report = loop {
        match attend(&online, &command) {
            Err(error @ SandboxError::NoGateway { .. }) if online.network != profile.network => {
                notes.push(format!("it ran without any network: {error}"));
                online = profile.clone();
            }
            // A script only starts there because the user is there; a command is about the project.
            Err(error @ SandboxError::NoProject { .. }) if online.working_directory != party.home => {
                notes.push(format!("it started in its own folder: {error}"));
                for profile in [&mut profile, &mut online] {
                    party.home.clone_into(&mut profile.working_directory);
                }
            }
            Err(SandboxError::NoLayer { reason, .. }) if layered.is_some() => {
                notes.push(format!("the project was read-only for it: {reason}"));
                layered.take().into_iter().for_each(LayeredCall::abandon);
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
    let mut pending = layered.and_then(|call| call.finish(&mut notes));
    match &mut pending {
        Some(pending) => {
            pending.hide(&redactor);
            pending.approve(if with_writes { wants.writes() } else { &[] });
            pending.approve(crew.as_ref().map(CrewData::glob).as_slice());
        }
        // Changes that wait to be applied need the folder.
        None => crew.iter().for_each(CrewData::remove_if_empty),
    }
    notes.extend(notes_of(&report));
    if let Some(bounded) = project.and_then(Survey::bounded) {
        notes.push(format!("secrets may be visible: {bounded}"));
    }
    notes.extend(unset_secrets(actor, wants));
    let (contacts, trouble) = porter.finish();
    notes.extend(trouble.map(|error| format!("there was no network: the proxy could not start ({error})")));
    notes.extend(contacts.notes());
    let notes = notes.iter().map(|note| redactor.text(note).into_owned()).collect();
    let (long, limits) = (transcript.finish(&report), party.limits.clone());
    let text = shape.text(&report, &limits, &long, Rest::Nowhere);
    let folder = project.map(Survey::project);
    let process = ProcessReport::of(&report, &contacts, &long, folder, &redactor);
    let changes = None;
    Ok(Ran {
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
fn unset_secrets(actor: &Actor, wants: &Wants) -> Vec<String> {
    let Actor::Skill(skill) = actor else { return Vec::new() };
    let sentence = |name: &SecretName| {
        let skill = &skill.name;
        format!("`{name}` is wanted and not set: `metier secret set {name} --skill {skill}`")
    };
    wants.missing().map(sentence).collect()
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
