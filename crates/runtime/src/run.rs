//! From a call to its result: what is meant, whether it may happen, in what containment, and what came of it.

pub(crate) mod bash;
pub(crate) mod injected;
pub(crate) mod process_report;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use metier_files::{FileDigest, SkillDir, Survey, TreeCopies};
use metier_policy::{Action, Actor, Decision, Digest, FileGlob, Gate, Reason, Skill, is_guarded};
use metier_sandbox::{
    Attendance, Cancel, ChangeKind, Clock, Command, Error as SandboxError, Limits, Profile, Report, Sandbox,
    Sieve, Sink,
};
use metier_secret::{Redactor, RedactorError};
use serde_json::Value;

use self::process_report::ProcessReport;
use crate::arguments::{ArgumentError, split_arguments};
use crate::containment::{Containment, Remembered, widen};
use crate::interpreter::{LaunchError, NodeVersion, launch};
use crate::long_output::{LongOutput, Transcript};
use crate::output::{Rest, Shape, notes as notes_of};
use crate::prepare::Standing;
use crate::redaction::Redaction;
use crate::render::Arguments;
use crate::script::{SCRIPTS, Script, ScriptError};
use crate::search_path::{Program, SearchPath};
use crate::skill_path::seen_from;
use crate::wants::Wants;
use crate::way_out::{Contacts, Porter, WayOut, with_way_out};
use crate::write_grant::{WriteGrantError, check_writes};
use crate::writing::{Writing, opening, unwritten};

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

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    /// The result in the shape of its tool, where nobody keeps what is left out of it.
    pub text: String,
    /// The streams that are longer than what a model gets, for whoever keeps them; [`Ran::text_beside`] then says where.
    pub long: Vec<LongOutput>,
    /// What whoever reads it should know beside.
    pub notes: Vec<String>,
    /// Why it was allowed.
    pub decision: Decision,
    /// Whom it reached, and whom not.
    pub contacts: Contacts,
    /// What of the project it could not write and would have to be opened, as far as its words tell.
    pub unwritten: Vec<FileGlob>,
    /// The whole report.
    pub report: Report,
    /// What of it is kept for good, without what nobody may see.
    pub process: ProcessReport,
    shape: Shape,
    limits: Limits,
    redactor: Redactor,
}

impl Ran {
    /// A text that derives from the run, such as the name of a file it changed, without the secrets it had. The names in
    /// [`Ran::report`] are as they are on the disk, so that files can be opened by them; whatever is shown of them goes through here.
    pub fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redactor.text(text)
    }

    /// The same for every text of a JSON value.
    pub fn redact_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(shown) = self.redactor.text(text) {
                    *text = shown;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_json(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.redact_json(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The result in the shape of its tool, where what is left out of it lies in files below a place: the names of
    /// [`Ran::long`] with `place` before them, as whoever reads the result can open them.
    pub fn text_beside(&self, place: &str) -> String {
        self.shape.text(&self.report, &self.limits, &self.long, Rest::In(place))
    }

    /// Says where [`Ran::long`] lies now, for the records: as in [`Ran::text_beside`].
    pub fn kept_in(&mut self, place: &str) {
        self.process.outputs = self.long.iter().map(|long| format!("{place}{}", long.name)).collect();
    }

    /// The result as data, whatever the shape of its tool: how it ended, and both streams as a model gets them.
    pub(crate) fn data(&self) -> Value {
        let mut data = crate::output::command_json(&self.report, &self.limits);
        // What a program says beside its result is of use after a success, too.
        data["stderr"] = self.streams(None).1.trim().into();
        data
    }

    /// Both streams as a model gets them, for results of another shape; `place` is where the rest lies, if it is kept.
    pub(crate) fn streams(&self, place: Option<&str>) -> (String, String) {
        self.shape.streams(&self.report, &self.long, place.map_or(Rest::Nowhere, Rest::In))
    }
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
    /// It wants to write what no call may write.
    #[error(transparent)]
    Write(#[from] WriteGrantError),
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

/// Which versions the node programs of this machine are. Asking costs a process, so each is asked once.
#[derive(Debug, Default)]
pub struct NodeVersions(Mutex<Vec<(Program, Option<NodeVersion>)>>);

impl NodeVersions {
    /// The version, asked for by `ask` if it is not known.
    fn of(&self, program: &Program, ask: impl FnOnce() -> Option<NodeVersion>) -> Option<NodeVersion> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, version)) = known.iter().find(|(known, _)| known == program) {
            return *version;
        }
        let version = ask();
        known.push((program.clone(), version));
        version
    }
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
pub fn script_action(
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
    /// Where it starts.
    start: &'a Path,
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
            start: containment.start(),
        }
    }
}

/// A yes of the gate to a call and to all that is wanted for it. Nothing runs without one.
#[derive(Clone)]
struct Allowed(Decision);

impl Allowed {
    /// Whether a person's answer, and not a rule, allows it.
    fn is_answer(&self) -> bool {
        matches!(self.0.by, Reason::Answered(_))
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
    if let Some(survey) = party.project {
        // Before anybody is asked: a yes to it would not hold.
        check_writes(party.wants.writes(), survey)?;
    }
    action.needs = party.wants.needs();
    let decision = gate.decide(&action);
    if decision.is_allowed() {
        return Ok(Allowed(decision));
    }
    Err(NotRun::Gate { action: Box::new(action), decision: Box::new(decision) })
}

/// Runs a command with all that is wanted, and says what came of it without what nobody may see.
fn run(
    bench: &Workbench<'_>,
    party: &Party<'_>,
    job: Job,
    cancel: Option<&Cancel>,
    sink: Sink<'_>,
) -> Result<Ran, NotRun> {
    let Job { allowed: Allowed(decision), mut profile, command, shape } = job;
    let Party { actor, project, wants, .. } = party;
    let redactor = Redactor::new(wants.secrets())?;
    let mut writing = match project {
        Some(survey) => Writing::open(wants.writes(), survey)?,
        None => Writing::default(),
    };
    if let (Some(survey), Some(data)) = (project, party.crew) {
        // It is opened without a question, so it is bounded like what a skill keeps elsewhere.
        profile.bounded.extend(writing.open_crew(data, survey.project()));
    }
    widen(&mut profile, *project, wants, &writing);
    let remembered = project.filter(|_| !writing.places.is_empty()).map(Remembered::of);
    let clock = Clock::new();
    let mut porter = Porter::of_gate(&bench.gate, actor, wants.hosts(), bench.way_out, &clock, &redactor);
    let mut redaction = Redaction::new(&redactor);
    let mut transcript = Transcript::default();
    let mut attend = |profile: &Profile| {
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
        bench.sandbox.run_with(profile, &command, attendance)
    };
    let mut ran = attend(&with_way_out(&profile));
    let mut without = None;
    if let Err(error @ SandboxError::NoGateway { .. }) = &ran {
        without = Some(format!("it ran without any network: {error}"));
        ran = attend(&profile);
    }
    let (mut notes, open) = (writing.notes.clone(), writing.places.clone());
    let made = writing.made();
    writing.settle();
    let mut report = ran?;
    // It was made so that it could be opened; to whoever reads the report it is new.
    for change in &mut report.changes.entries {
        if change.kind == ChangeKind::Changed && made.contains(&change.path) {
            change.kind = ChangeKind::New;
        }
    }
    // What the skills of a crew write is theirs, like what a skill remembers: neither is told as a change.
    if let Some(data) = party.crew {
        report.changes.entries.retain(|change| !change.path.starts_with(data));
    }
    notes.extend(notes_of(&report));
    notes.extend(without);
    if let Some(bounded) = project.and_then(Survey::bounded) {
        notes.push(format!("secrets may be visible: {bounded}"));
    }
    notes.extend(remembered.iter().flat_map(Remembered::changes));
    notes.extend(remembered.iter().flat_map(|before| before.deeper(&report.changes)));
    if let Actor::Skill(skill) = actor {
        for name in wants.missing() {
            let skill = &skill.name;
            notes.push(format!("`{name}` is wanted and not set: `metier secret set {name} --skill {skill}`"));
        }
    }
    let (contacts, trouble) = porter.finish();
    notes.extend(trouble.map(|error| format!("there was no network: the proxy could not start ({error})")));
    notes.extend(contacts.notes());
    let unwritten = refused_writes(party, &report, &open);
    for glob in &unwritten {
        let how = match actor {
            Actor::Skill(skill) => format!("`--write '{glob}'` or the rule `skill:{skill}/write:{glob}`"),
            Actor::Agent => format!("the rule `write:{glob}`"),
        };
        notes.push(format!("the project is read-only for it; open what it wants to write with {how}"));
    }
    let notes = notes.iter().map(|note| redactor.text(note).into_owned()).collect();
    let (long, limits) = (transcript.finish(&report), party.limits.clone());
    let text = shape.text(&report, &limits, &long, Rest::Nowhere);
    let folder = project.map(Survey::project);
    let process = ProcessReport::of(&report, &contacts, &long, folder, &redactor);
    Ok(Ran { text, long, notes, decision, contacts, unwritten, report, process, shape, limits, redactor })
}

/// The globs that would open what a program says it could not write. What stays closed though it lies in something that is
/// open is protected, and no glob opens it.
fn refused_writes(party: &Party<'_>, report: &Report, open: &[PathBuf]) -> Vec<FileGlob> {
    let Some(survey) = party.project else { return Vec::new() };
    let project = survey.project();
    let said = String::from_utf8_lossy(&report.stderr.head).into_owned()
        + &String::from_utf8_lossy(&report.stderr.tail);
    let mut globs: Vec<FileGlob> = Vec::new();
    for path in unwritten(&said, party.start, project) {
        let name = path.strip_prefix(project).ok().and_then(Path::to_str).unwrap_or_default();
        if !is_guarded(name) && !open.iter().any(|place| path.starts_with(place)) {
            // The folder, or the file alone where something protected lies beside it.
            let file = FileGlob::exact(name).ok();
            let mut openings = opening(&path, project).into_iter().chain(file);
            let opening = openings.find(|glob| check_writes(std::slice::from_ref(glob), survey).is_ok());
            globs.extend(opening.filter(|glob| !globs.contains(glob)));
        }
    }
    globs
}

fn show(profile: &mut Profile, program: &Program) {
    for place in &program.shown {
        let known = profile.programs.iter().any(|shown| place.starts_with(shown));
        if !known {
            profile.programs.push(place.clone());
        }
    }
}

/// Asks node for its version, in the containment in which it will run.
fn ask_node(sandbox: &Sandbox, profile: &Profile, node: &Program) -> Option<NodeVersion> {
    let mut profile = profile.clone();
    show(&mut profile, node);
    // A program that does not know its version by then is none that could be used.
    profile.limits = Limits { time: std::time::Duration::from_secs(10), ..Limits::default() };
    let report = sandbox.run(&profile, &Command::new(node.file.clone()).argument("--version")).ok()?;
    report.succeeded().then(|| report.stdout.text()).and_then(|text| NodeVersion::parse(&text))
}
