//! From a call to its result: what is meant, whether it may happen, in what containment, and what came of it.

use std::sync::{Mutex, PoisonError};

use metier_files::{FileDigest, SkillDir};
use metier_policy::{Action, Actor, Decision, Digest, Gate, Skill};
use metier_sandbox::{Attendance, Cancel, Command, Limits, Profile, Report, Sandbox, Sink};
use serde_json::Value;

use crate::arguments::{ArgumentError, split_arguments};
use crate::containment::{Containment, ContainmentError, ProjectView, Remembered};
use crate::interpreter::{LaunchError, NodeVersion, launch};
use crate::output::{command_error, command_json, notes, script_text};
use crate::script::{Script, ScriptError};
use crate::search_path::{Program, SearchPath};

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
}

/// The skill for which something runs.
#[derive(Clone, Copy, Debug)]
pub struct Using<'a> {
    /// Who it is, for the gate.
    pub skill: &'a Skill,
    /// Its folder, opened.
    pub folder: &'a SkillDir,
    /// What its processes see. Its `skill` is the same folder.
    pub containment: &'a Containment<'a>,
}

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    /// The result in the shape of its tool.
    pub text: String,
    /// What whoever reads it should know beside.
    pub notes: Vec<String>,
    /// Why it was allowed.
    pub decision: Decision,
    /// The whole report.
    pub report: Report,
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
    /// There is no containment for it.
    #[error(transparent)]
    Containment(#[from] ContainmentError),
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
    let script = Script::find(using.folder, &using.skill.name, name)?;
    let arguments = match arguments {
        Words::Text(text) => split_arguments(text)?,
        Words::Split(words) => words.clone(),
    };
    let mut profile = using.containment.profile()?;
    let mut ask = |node: &Program| bench.node.of(node, || ask_node(bench.sandbox, &profile, node));
    let launch = launch(&script, using.containment.skill, bench.path, &mut ask)?;
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
    let decision = decide(&bench.gate, &action)?;
    let command = Command::new(launch.program).arguments(words);
    let (report, notes) = run(bench, using, &profile, &command, cancel, sink)?;
    let text = script_text(name, &report, &using.containment.limits);
    Ok(Ran { text, notes, decision, report })
}

/// The input of `run_command_line`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLineInput {
    /// Why the model wants it, for whoever is asked and for the record.
    pub reason: String,
    /// The line.
    pub line: String,
}

/// An input that does not have its shape, in words with which a model can mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; call run_command_line with {{\"reason\": \"why\", \"commandLine\": \"what\"}}")]
pub struct InputError(String);

impl CommandLineInput {
    /// Reads what a model gave.
    pub fn read(input: &Value) -> Result<Self, InputError> {
        let Some(map) = input.as_object() else {
            return Err(InputError("the input is not an object".to_owned()));
        };
        let text = |key: &str| match map.get(key) {
            None | Some(Value::Null) => Err(InputError(format!("`{key}` is missing"))),
            Some(Value::String(text)) if text.trim().is_empty() => {
                Err(InputError(format!("`{key}` is empty")))
            }
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(InputError(format!("`{key}` is not a text"))),
        };
        Ok(Self { reason: text("reason")?, line: text("commandLine")? })
    }
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
    if let Some(at) = line.chars().position(|character| character == '\0') {
        return Err(ArgumentError::Nul { at: at + 1 }.into());
    }
    let action = Action::command(Actor::Skill(using.skill.clone()), line);
    let decision = decide(&bench.gate, &action)?;
    let Some(bash) = bench.path.find("bash") else {
        return Err(LaunchError::NoInterpreter {
            script: line.to_owned(),
            programs: vec!["bash".to_owned()],
        }
        .into());
    };
    let mut profile = using.containment.profile()?;
    show(&mut profile, &bash);
    let command = Command::new(bash.file).arguments(["--noprofile", "--norc", "-c", line]);
    let (report, notes) = run(bench, using, &profile, &command, cancel, sink)?;
    let text = command_json(&report, &using.containment.limits).to_string();
    Ok(Ran { text, notes, decision, report })
}

impl NotRun {
    /// What `run_command_line` answers.
    pub fn command_text(&self) -> String {
        command_error(&self.to_string()).to_string()
    }
}

/// Runs a command, and adds to the report's notes what is other at places that run later.
fn run(
    bench: &Workbench<'_>,
    using: &Using<'_>,
    profile: &Profile,
    command: &Command,
    cancel: Option<&Cancel>,
    sink: Sink<'_>,
) -> Result<(Report, Vec<String>), NotRun> {
    let remembered = using.containment.project.map(ProjectView::remember);
    let attendance = Attendance { cancel, sink: Some(sink), ..Attendance::default() };
    let report = bench.sandbox.run_with(profile, command, attendance)?;
    let mut notes = notes(&report);
    if let Some(bounded) = using.containment.project.and_then(|project| project.survey.bounded()) {
        notes.push(format!("secrets may be visible: {bounded}"));
    }
    notes.extend(remembered.iter().flat_map(Remembered::changes));
    Ok((report, notes))
}

fn decide(gate: &Gate<'_>, action: &Action) -> Result<Decision, NotRun> {
    let decision = gate.decide(action);
    if decision.is_allowed() {
        return Ok(decision);
    }
    Err(NotRun::Gate { action: Box::new(action.clone()), decision: Box::new(decision) })
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_input_without_its_shape_says_how_to_mend_it() {
        let check = |input: Value, expect: &str| {
            let error = CommandLineInput::read(&input).unwrap_err().to_string();
            assert_eq!(
                error,
                format!(
                    "{expect}; call run_command_line with {{\"reason\": \"why\", \"commandLine\": \"what\"}}"
                )
            );
        };
        check(json!({ "commandLine": "ls" }), "`reason` is missing");
        check(json!({ "reason": null, "commandLine": "ls" }), "`reason` is missing");
        check(json!({ "reason": "look", "commandLine": " " }), "`commandLine` is empty");
        check(json!({ "reason": 1, "commandLine": "ls" }), "`reason` is not a text");
        check(json!("ls"), "the input is not an object");
        let read = CommandLineInput::read(&json!({ "reason": "look", "commandLine": "ls" })).unwrap();
        assert_eq!((read.reason.as_str(), read.line.as_str()), ("look", "ls"));
    }
}
