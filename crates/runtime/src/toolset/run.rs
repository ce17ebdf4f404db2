//! The tools that run something of a skill.

use metier_exec::{RunOutput, RunPlan, SkillArguments, command_error};
use serde_json::json;

use super::{NO_SKILL, NotPlanned, Planned, Purpose, SkillTool, Surface, one_command};
use crate::skills::{Approval, ProcessKind, SkillProcess, UseError};
use crate::tool::{Input, Plan, ToolContext, ToolResult, error_json};

/// A run of a skill's that is ready, and the shape of its errors.
struct PlannedRun<'a> {
    context: ToolContext<'a>,
    process: SkillProcess<'a>,
    plan: RunPlan,
    shape: fn(&str) -> String,
}

impl<'a> PlannedRun<'a> {
    /// Asks for permission to run it; `result` makes the result of what ran.
    fn into_plan(
        self,
        result: impl FnOnce(ToolContext<'a>, RunOutput) -> ToolResult + Send + 'a,
    ) -> Plan<'a> {
        let (action, shape) = (self.plan.action().clone(), self.shape);
        let plan = Plan::new(action, move |approval| match self.run(approval) {
            Ok((context, ran)) => result(context, ran),
            Err(refused) => *refused,
        });
        plan.refused_as(move |text| shape(&text))
    }

    fn run(self, approval: &Approval) -> Result<(ToolContext<'a>, RunOutput), Box<ToolResult>> {
        let Self { context, process, plan, shape } = self;
        let ran = context.skills.run(process, plan, approval, context.control);
        Ok((context, ran.map_err(|error| Box::new(refused(&error, shape)))?))
    }
}

impl SkillTool {
    /// `skill_run_script`.
    pub(super) fn plan_script<'a>(&'a self, input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
        let (name, script) = (input.text("skill_name")?, input.text("script_name")?);
        let arguments = input.words("script_args")?;
        let run = self.script(name, script, &arguments, context, str::to_owned)?;
        Ok(run.into_plan(told))
    }

    /// `run_skill_script`: the same in the shape of the ADK.
    pub(super) fn plan_json_script<'a>(&'a self, input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
        let (name, script) = (input.text("skill_name")?.to_owned(), input.text("script_path")?.to_owned());
        let arguments = input.words("args")?;
        let run = self.script(&name, &script, &arguments, context, error_json)?;
        Ok(run.into_plan(move |context, ran| {
            let (place, ran) = kept(context, ran);
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
        }))
    }

    /// `run_command_line`, for the skill that was activated last.
    pub(super) fn plan_command<'a>(&'a self, input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
        input.text("reason")?;
        let line = input.text("commandLine")?;
        let shape: fn(&str) -> String = |text| command_error(text).to_string();
        let session = context.skills;
        let Some(id) = session.last_active() else { return Err(NotPlanned::refused(shape(NO_SKILL))) };
        let snapshot = session.snapshot();
        let is_crew = || snapshot.entry(id).is_some_and(|entry| snapshot.crew(entry).is_some());
        if (session.surface() == Surface::SkilledCrew || is_crew())
            && let Some(text) = one_command::refusal(line)
        {
            return Err(NotPlanned::refused(shape(&text)));
        }
        let refused = |error: UseError| NotPlanned::Refused(Box::new(refused(&error, shape)));
        let process = session.process_of_tool(id, ProcessKind::CommandLine, self.surface).map_err(refused)?;
        let plan = session.command_plan(&process, line).map_err(refused)?;
        Ok(PlannedRun { context, process, plan, shape }.into_plan(told))
    }

    fn script<'a>(
        &'a self,
        name: &str,
        script: &str,
        arguments: &SkillArguments,
        context: ToolContext<'a>,
        shape: fn(&str) -> String,
    ) -> Result<PlannedRun<'a>, NotPlanned> {
        let session = context.skills;
        let id = self.find_named(name, Purpose::Use, context, |text| shape(&text))?;
        let refused = |error: UseError| NotPlanned::Refused(Box::new(refused(&error, shape)));
        let process = session.process_of_tool(id, ProcessKind::Script, self.surface).map_err(refused)?;
        let plan = session.script_plan(&process, script, arguments).map_err(refused)?;
        Ok(PlannedRun { context, process, plan, shape })
    }
}

/// A run as the model is told of it, with where the rest is that it does not get at once.
fn told(context: ToolContext<'_>, ran: RunOutput) -> ToolResult {
    let (place, ran) = kept(context, ran);
    let text = place.map_or_else(|| ran.text.clone(), |place| ran.text_beside(&place));
    ToolResult::ran(ran, text)
}

/// Keeps what is too long. That it could not be is a note: what the program did, it has done.
fn kept(context: ToolContext<'_>, mut ran: RunOutput) -> (Option<String>, RunOutput) {
    let place = context.skills.keep_output(&ran).unwrap_or_else(|why| {
        ran.notes.push(why);
        None
    });
    if let Some(place) = &place {
        ran.kept_in(place);
    }
    (place, ran)
}

fn refused(error: &UseError, shape: fn(&str) -> String) -> ToolResult {
    let result = ToolResult::refused(shape(&error.to_string()));
    match error.refused() {
        Some((_, decision)) => result.by(decision.clone()),
        None => result,
    }
}
