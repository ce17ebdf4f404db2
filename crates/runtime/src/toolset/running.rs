//! The tools that run something of a skill.

use metier_catalog::EntryId;
use metier_exec::{RunError, RunOutput, ScriptArguments, command_error, run_command_line, run_script};
use serde_json::json;

use super::hands::{NotDone, Work, WorkKind};
use super::input::{InputProblem, Told};
use super::result::{ToolResult, error_json};
use super::visible::Purpose;
use super::{Call, NO_SKILL, Surface, Toolset, one_command};

impl Toolset {
    /// `skill_run_script`.
    pub(super) fn run_script(&self, call: &Call<'_>) -> Result<ToolResult, InputProblem> {
        let Call { surface, input, desk } = *call;
        let (name, script) = (input.text("skill_name")?, input.text("script_name")?);
        let words = words(input.words("script_args")?);
        let id = match self.visible.find(name, Purpose::Use, desk.active) {
            Ok(id) => id,
            Err(refusal) => return Ok(ToolResult::refused(refusal.text(surface))),
        };
        Ok(match ran_script(id, script, &words, call) {
            Ok(ran) => told(ran, call),
            Err(error) => refused(&error, error.to_string()),
        })
    }

    /// `run_skill_script`: the same in the shape of the ADK.
    pub(super) fn run_json(&self, call: &Call<'_>) -> Result<ToolResult, InputProblem> {
        let Call { surface, input, desk } = *call;
        let (name, script) = (input.text("skill_name")?, input.text("script_path")?);
        let words = words(input.words("args")?);
        let id = match self.visible.find(name, Purpose::Use, desk.active) {
            Ok(id) => id,
            Err(refusal) => return Ok(ToolResult::refused(error_json(&refusal.text(surface)))),
        };
        Ok(match ran_script(id, script, &words, call) {
            Ok(ran) => {
                let (place, ran) = kept(ran, call);
                let (stdout, stderr) = ran.streams(place.as_deref());
                let status = match (ran.report.succeeded(), stderr.trim().is_empty()) {
                    (false, _) => "error",
                    (true, false) => "warning",
                    (true, true) => "success",
                };
                let text = json!({
                    "skill_name": name, "script_path": script, "stdout": stdout, "stderr": stderr, "status": status,
                });
                ToolResult::ran(ran, text.to_string())
            }
            Err(error) => refused(&error, error_json(&error.to_string())),
        })
    }

    /// `run_command_line`, for the skill that was activated last.
    pub(super) fn command(&self, call: &Call<'_>) -> Result<ToolResult, InputProblem> {
        let Call { surface, input, desk } = *call;
        let line = {
            input.text("reason")?;
            input.text("commandLine")?
        };
        let Some(id) = desk.active.last().copied() else {
            return Ok(ToolResult::refused(command_error(NO_SKILL).to_string()));
        };
        let snapshot = self.visible.snapshot();
        let is_crew = || snapshot.entry(id).is_some_and(|entry| snapshot.crew(entry).is_some());
        if (self.surface == Surface::SkilledCrew || is_crew())
            && let Some(text) = one_command::refusal(line)
        {
            return Ok(ToolResult::refused(command_error(&text).to_string()));
        }
        let work = Work { id, kind: WorkKind::CommandLine, time: surface.time() };
        let cancel = desk.hands.cancel();
        let ran = desk.hands.run(work, &mut |env, context| {
            run_command_line(env, context, line, cancel, &mut |stream, piece| desk.hands.hear(stream, piece))
        });
        Ok(match ran {
            Ok(ran) => told(ran, call),
            Err(error) => refused(&error, command_error(&error.to_string()).to_string()),
        })
    }
}

fn ran_script(
    id: EntryId,
    script: &str,
    words: &ScriptArguments,
    call: &Call<'_>,
) -> Result<RunOutput, NotDone> {
    let work = Work { id, kind: WorkKind::Script, time: call.surface.time() };
    let hands = call.desk.hands;
    let cancel = hands.cancel();
    hands.run(work, &mut |env, context| {
        run_script(env, context, script, words, cancel, &mut |stream, piece| hands.hear(stream, piece))
    })
}

/// A run as the model is told of it, with where the rest is that it does not get at once.
fn told(ran: RunOutput, call: &Call<'_>) -> ToolResult {
    let (place, ran) = kept(ran, call);
    let text = place.map_or_else(|| ran.text.clone(), |place| ran.text_beside(&place));
    ToolResult::ran(ran, text)
}

/// Lets what is too long be kept. That it could not be is a note: what the program did, it has done.
fn kept(mut ran: RunOutput, call: &Call<'_>) -> (Option<String>, RunOutput) {
    let place = call.desk.hands.keep(&ran).unwrap_or_else(|why| {
        ran.notes.push(why);
        None
    });
    if let Some(place) = &place {
        ran.kept_in(place);
    }
    (place, ran)
}

fn words(arguments: Told) -> ScriptArguments {
    match arguments {
        Told::Text(text) => ScriptArguments::Text(text),
        Told::List(words) => ScriptArguments::Split(words),
    }
}

fn refused(error: &NotDone, text: String) -> ToolResult {
    let result = ToolResult::refused(text);
    match error {
        NotDone::NotRun(RunError::Gate { decision, .. }) => result.by((**decision).clone()),
        _ => result,
    }
}
