//! `call`: one tool call, as a model would make it.

use crate::args::{Call, Global};
use crate::exit::Exit;
use crate::gatekeeper::Gatekeeper;
use crate::needs::Flags;
use crate::output::Output;
use crate::surroundings::Surroundings;
use crate::workplace::{Active, Purpose, Workplace};
use anyhow::{Context, Result, bail};
use metier_policy::Action;
use metier_runtime::{
    CommandLineInput, NotRun, Ran, Words, command_error, read_file, run_command_line, run_script,
};
use metier_sandbox::Limits;
use serde_json::Value;
use std::time::Duration;

/// How long a command or a script of these tools may take, as in the systems they come from.
const SECONDS: u64 = 30;

pub(crate) fn run(
    args: &Call,
    global: &Global,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    let input: Value = serde_json::from_str(&args.input)
        .with_context(|| "the input is not JSON; quote it for the shell: '{\"key\": \"value\"}'")?;
    let keeper = Gatekeeper::new(global, &[], surroundings)?;
    keeper.report_problems();
    let mut caller = Caller { keeper, surroundings, skill: args.scope.skill.as_deref() };
    let result = match args.tool.as_str() {
        "run_command_line" => caller.command_line(&input)?,
        "skill_run_script" => caller.script(&input)?,
        "skill_read_file" => caller.file(&input)?,
        other => bail!(
            "there is no tool `{other}` here; there are run_command_line, skill_run_script and skill_read_file"
        ),
    };
    for note in &result.notes {
        output.aside(note)?;
    }
    output.line(&result.text)?;
    Ok(result.exit)
}

struct Caller<'a> {
    keeper: Gatekeeper,
    surroundings: &'a Surroundings,
    /// The skill that counts as active.
    skill: Option<&'a str>,
}

/// What the model gets, and what the person who called sees beside it.
struct Answer {
    text: String,
    notes: Vec<String>,
    exit: Exit,
}

impl Answer {
    fn fine(text: String) -> Self {
        Self { text, notes: Vec::new(), exit: Exit::Fine }
    }

    fn failed(text: String) -> Self {
        Self { text, notes: Vec::new(), exit: Exit::Failed }
    }
}

impl From<Ran> for Answer {
    fn from(ran: Ran) -> Self {
        Self { text: ran.text, notes: ran.notes, exit: Exit::Fine }
    }
}

impl Caller<'_> {
    fn command_line(&mut self, input: &Value) -> Result<Answer> {
        let input = match CommandLineInput::read(input) {
            Ok(input) => input,
            Err(error) => return Ok(Answer::failed(command_error(&error.to_string()).to_string())),
        };
        let Some(skill) = self.skill else {
            return Ok(Answer::failed(command_error("no skill is active: call skill_use first").to_string()));
        };
        let mut place =
            Workplace::of(skill, Active::Yes, Purpose::Running, &Flags::default(), self.surroundings)?;
        place.keep_granted(&self.keeper);
        self.try_until_answered(|keeper| {
            place.with(keeper, limits(), |bench, using| {
                run_command_line(bench, using, &input.line, None, &mut |_, _| {})
            })
        })
        .map(|result| result.unwrap_or_else(|error| Answer::failed(error.command_text())))
    }

    fn script(&mut self, input: &Value) -> Result<Answer> {
        let (skill, script) = (text(input, "skill_name")?, text(input, "script_name")?);
        let arguments = input.get("script_args").and_then(Value::as_str).unwrap_or_default().to_owned();
        let place =
            Workplace::of(skill, self.active(skill), Purpose::Running, &Flags::default(), self.surroundings)?;
        let words = Words::Text(arguments);
        self.try_until_answered(|keeper| {
            place.with(keeper, limits(), |bench, using| {
                run_script(bench, using, script, &words, None, &mut |_, _| {})
            })
        })
        .map(|result| result.unwrap_or_else(|error| Answer::failed(format!("Error: {error}"))))
    }

    fn file(&mut self, input: &Value) -> Result<Answer> {
        let (skill, path) = (text(input, "skill_name")?, text(input, "file_path")?);
        let offset = input.get("offset").and_then(Value::as_u64).unwrap_or_default();
        let place =
            Workplace::of(skill, self.active(skill), Purpose::Looking, &Flags::default(), self.surroundings)?;
        loop {
            let action = Action::read(place.skill.clone(), path);
            let decision = self.keeper.gate(&place.scopes).decide(&action);
            if decision.is_allowed() {
                let text = place
                    .with(&self.keeper, limits(), |_, using| read_file(using.folder, skill, path, offset));
                return Ok(Answer::fine(text));
            }
            if !self.keeper.ask(&action, &decision)? {
                self.keeper.remember(&action.sentence(), &decision);
                return Ok(Answer::failed(format!("Error: {decision}")));
            }
        }
    }

    /// Without `--skill` no fence applies; with it, the fence of that skill and no other.
    fn active(&self, skill: &str) -> Active {
        if self.skill == Some(skill) { Active::Yes } else { Active::No }
    }

    fn try_until_answered(
        &mut self,
        mut run: impl FnMut(&Gatekeeper) -> Result<Ran, NotRun>,
    ) -> Result<Result<Answer, NotRun>> {
        loop {
            match run(&self.keeper) {
                Ok(ran) => return Ok(Ok(ran.into())),
                Err(NotRun::Gate { action, decision }) => {
                    if !self.keeper.ask(&action, &decision)? {
                        self.keeper.remember(&action.sentence(), &decision);
                        return Ok(Err(NotRun::Gate { action, decision }));
                    }
                }
                Err(error) => return Ok(Err(error)),
            }
        }
    }
}

fn limits() -> Limits {
    Limits { time: Duration::from_secs(SECONDS), ..Limits::default() }
}

fn text<'a>(input: &'a Value, key: &str) -> Result<&'a str> {
    input
        .get(key)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
        .with_context(|| format!("the input has no text `{key}`"))
}
