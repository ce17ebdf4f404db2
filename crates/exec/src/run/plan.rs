//! A script or a command line that is ready to run, with what the policy is asked about it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use metier_files::FileDigest;
use metier_policy::{Action, Digest, Reason};
use metier_sandbox::{Cancel, Command, Profile, Sink};

use super::permission::permit;
use super::{
    ExecEnv, Job, RunDecision, RunError, RunOutput, SkillContext, line_action, run, run_line, show,
    with_visible_copy,
};
use crate::arguments::{check_arguments, split_arguments};
use crate::containment::SkillContainment;
use crate::interpreter::launch;
use crate::output::Shape;
use crate::prepare::EnvironmentState;
use crate::script::{SCRIPTS, SkillScript};
use crate::search_path::Program;
use crate::skill_arguments::SkillArguments;
use crate::skill_path::path_in_skill;

/// The largest script whose bytes are digested for the question that is asked about it. A longer one is not written by
/// hand, and a program that is larger is bound by its skill's tree digest.
const MAX_SCRIPT: u64 = 16 << 20;

/// A script or a command line that is ready to run: how it is started, and what the gate is asked about it. Nothing has run, but for a
/// node that has to say its version.
#[derive(Debug)]
pub struct RunPlan {
    action: Action,
    work: Work,
}

#[derive(Debug)]
enum Work {
    Script(Box<LocatedScript>),
    CommandLine(String),
}

impl RunPlan {
    /// `skill_run_script`: a script of a skill.
    pub fn script(
        env: &ExecEnv<'_>,
        context: &SkillContext<'_>,
        name: &str,
        arguments: &SkillArguments,
    ) -> Result<Self, RunError> {
        let located = Box::new(locate(env, context, name, arguments)?);
        let action = located.action.clone().needing_all(context.containment.grants.needs());
        Ok(Self { action, work: Work::Script(located) })
    }

    /// `run_command_line`: a line for bash, in a skill's containment. The gate judges what the line was read as; bash runs its text,
    /// and sees none of the user's settings.
    pub fn command_line(context: &SkillContext<'_>, line: &str) -> Result<Self, RunError> {
        let action = line_action(&context.principal(), line)?;
        Ok(Self { action, work: Work::CommandLine(line.to_owned()) })
    }

    /// What the gate is asked, to the word.
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// Runs it for a skill, if the gate allows it.
    pub fn run(
        self,
        env: &ExecEnv<'_>,
        context: &SkillContext<'_>,
        cancel: Option<&Cancel>,
        sink: Sink<'_>,
    ) -> Result<RunOutput, RunError> {
        let allowed = permit(&env.gate, &self.action)?;
        match self.work {
            Work::CommandLine(line) => with_visible_copy(context, |context| {
                let profile = context.containment.profile();
                let shape = Shape::CommandLine;
                run_line(env, &context.principal(), profile, &allowed, (&line, shape), cancel, sink)
            }),
            Work::Script(located) => located.run(env, context, &allowed, cancel, sink),
        }
    }
}

/// A script that was found, and how it is started.
#[derive(Debug)]
struct LocatedScript {
    /// What it was called, and with what.
    name: String,
    arguments: SkillArguments,
    environment: EnvironmentState,
    /// The default containment, with the programs it takes.
    profile: Profile,
    program: PathBuf,
    words: Vec<String>,
    action: Action,
}

impl LocatedScript {
    /// Runs it: from a copy where a person has approved these very bytes.
    fn run(
        self,
        env: &ExecEnv<'_>,
        context: &SkillContext<'_>,
        allowed: &RunDecision,
        cancel: Option<&Cancel>,
        sink: Sink<'_>,
    ) -> Result<RunOutput, RunError> {
        let is_answer = matches!(allowed.decision.by, Reason::Answered(_));
        if !is_answer || context.containment.copy.is_some() {
            return self.run_visible(env, context, allowed, cancel, sink);
        }
        let Some(copies) = context.copies else {
            // Without a copy the time in which its bytes can change is as short as possible.
            return self.again(env, context)?.run_visible(env, context, allowed, cancel, sink);
        };
        let copy = copies.take(context.folder).map_err(RunError::NotCopied)?;
        let containment = SkillContainment { copy: Some(&copy.folder), ..context.containment.clone() };
        let context = SkillContext { folder: &copy.dir, containment: &containment, ..*context };
        self.again(env, &context)?.run_visible(env, &context, allowed, cancel, sink)
    }

    /// Finds the script again, which has to be the one that was approved.
    fn again(&self, env: &ExecEnv<'_>, context: &SkillContext<'_>) -> Result<Self, RunError> {
        let found = locate(env, context, &self.name, &self.arguments)?;
        if found.action.deed != self.action.deed {
            return Err(RunError::Changed(self.name.clone()));
        }
        Ok(found)
    }

    fn run_visible(
        self,
        env: &ExecEnv<'_>,
        context: &SkillContext<'_>,
        allowed: &RunDecision,
        cancel: Option<&Cancel>,
        sink: Sink<'_>,
    ) -> Result<RunOutput, RunError> {
        let (name, arguments) = (self.name.clone(), self.arguments.clone());
        let mut located = Some(self);
        with_visible_copy(context, |context| {
            let located = match located.take() {
                Some(located) => located,
                None => locate(env, context, &name, &arguments)?,
            };
            let Self { environment, profile, program, words, .. } = located;
            let command = Command::new(program).arguments(words);
            let job = Job { allowed: allowed.clone(), profile, command, shape: Shape::Script(name.clone()) };
            let mut ran = run(env, &context.principal(), job, cancel, sink)?;
            let errors = (!ran.report.succeeded()).then(|| ran.report.stderr.text());
            ran.notes.extend(environment.note(&context.skill.name, errors.as_deref()));
            Ok(ran)
        })
    }
}

fn locate(
    env: &ExecEnv<'_>,
    context: &SkillContext<'_>,
    name: &str,
    arguments: &SkillArguments,
) -> Result<LocatedScript, RunError> {
    let script =
        SkillScript::find(context.folder, &context.skill.name, &script_of(context.containment.skill, name))?;
    let given = match arguments {
        SkillArguments::Text(text) => split_arguments(text)?,
        SkillArguments::List(words) | SkillArguments::Words(words) => {
            check_arguments(words)?;
            words.clone()
        }
    };
    let mut profile = context.containment.profile();
    let mut ask = |node: &Program| env.node.of(env.sandbox, &profile, node);
    let environment = EnvironmentState::of(&script, context.folder, context.containment.data, env.path);
    let launch = environment.launch(launch(&script, context.containment.skill, env.path, &mut ask)?);
    // What was prepared is not what the script keeps.
    for own in profile.data.iter_mut().filter(|data| Some(data.path.as_path()) == context.containment.data) {
        own.spared = environment.bytes();
    }
    for program in &launch.programs {
        show(&mut profile, program);
    }
    let words: Vec<String> = launch.arguments.into_iter().chain(given).collect();
    let program = launch.program.to_string_lossy().into_owned();
    let argv: Vec<&str> = [program.as_str()].into_iter().chain(words.iter().map(String::as_str)).collect();
    // What is asked about is these bytes; when they change, a yes to them is no yes any more.
    let digest = context.folder.read(&script.path, MAX_SCRIPT).ok().map(|bytes| FileDigest::of(&bytes));
    let digest = digest.map(|digest| Digest(digest.to_string()));
    let action = Action::script(context.skill.clone(), &script.path.to_string(), &argv, digest);
    let (name, arguments, program) = (name.to_owned(), arguments.clone(), launch.program);
    Ok(LocatedScript { name, arguments, environment, profile, program, words, action })
}

/// A script that is named with the skill's folder before it, as a body that writes `${SKILL_DIR}/scripts/x.sh` has it. Any other
/// name is one in `scripts/`.
fn script_of<'a>(skill: &Path, name: &'a str) -> Cow<'a, str> {
    let asked = name.trim();
    if !asked.starts_with('/') {
        return Cow::Borrowed(asked);
    }
    let seen = path_in_skill(skill, asked);
    if Path::new(&*seen).starts_with(SCRIPTS) { seen } else { Cow::Borrowed(asked) }
}
