//! The tools that activate, list and find skills.

use metier_activation::{Activation, ActivationOutcome, Invoker};
use metier_catalog::{EntryId, State, one_line};
use metier_diagnostic::{Severity, counted};
use metier_exec::SkillArguments;
use metier_policy::Action;
use metier_skill::MAX_DESCRIPTION;
use serde_json::json;

use super::{NotPlanned, Planned, Purpose, SkillTool, Visible, activation_input};
use crate::skills::{EnteredSkill, Gated, SkillSession};
use crate::tool::{Input, MetaMessage, Plan, ToolContext, ToolResult, error_json};

/// The most that `list_skills` returns: as much as a page of a file. A model that needs more has `skill_search`.
const MAX_LISTING: usize = 64 * 1024;

/// The most skills one search names; more would push out the work itself.
const MAX_HITS: u64 = 20;

/// Characters of a query. What is longer is no query but a text, and its beginning says what it is about.
const MAX_QUERY: usize = 1_000;

impl SkillTool {
    /// `skill_use` and `Skill`: a short confirmation, and the text as a message behind it.
    pub(super) fn plan_use<'a>(&'a self, input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
        let (id, arguments) = self.find_skill(input, context, |text| text)?;
        let action = Action::activate(context.skills.skill(id));
        Ok(Plan::new(action, move |_| match activate(context, id, &arguments) {
            Ok(entered) => confirmed(context, id, entered),
            Err(why) => ToolResult::refused(why),
        }))
    }

    /// `load_skill`: the text is in the result itself.
    pub(super) fn plan_load<'a>(&'a self, input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
        let name = input.text("name")?.to_owned();
        let shown = name.clone();
        let shape =
            move |text: String| error_json(&format!("load frontmatter for skill \"{shown}\": {text}"));
        let (id, arguments) = self.find_skill(input, context, &shape)?;
        let (action, failed) = (Action::activate(context.skills.skill(id)), shape.clone());
        let plan = Plan::new(action, move |_| match activate(context, id, &arguments) {
            Ok(EnteredSkill { activated, frontmatter }) => {
                let (instructions, notes) = match activated {
                    ActivationOutcome::Again(again) => (again.note, Vec::new()),
                    ActivationOutcome::Fresh(activation) => {
                        (activation.content().to_owned(), notes(&activation))
                    }
                };
                let text = json!({
                    "skill_name": name, "instructions": instructions, "frontmatter": frontmatter,
                });
                ToolResult { notes, activated: Some(id), ..ToolResult::done(text.to_string()) }
            }
            Err(why) => ToolResult::refused(failed(why)),
        });
        Ok(plan.refused_as(shape))
    }

    /// The skill that is to be activated, and its arguments; a refusal is given its shape.
    fn find_skill(
        &self,
        input: &Input<'_>,
        context: ToolContext<'_>,
        shape: impl Fn(String) -> String,
    ) -> Result<(EntryId, SkillArguments), NotPlanned> {
        let fields = self.spec.act.activation_fields(self.spec.name);
        let (name, arguments) = activation_input(input, fields.unwrap_or(("skill_name", None)))?;
        Ok((self.find_named(name, Purpose::Activate, context, shape)?, arguments))
    }
}

/// Activates a skill whose activation was approved; the error is the answer in plain words.
fn activate(
    context: ToolContext<'_>,
    id: EntryId,
    arguments: &SkillArguments,
) -> Result<EnteredSkill, String> {
    let entered = context.skills.enter(id, Invoker::Model, arguments, Gated::Already, context.control);
    entered.map_err(|error| error.to_string())
}

fn confirmed(context: ToolContext<'_>, id: EntryId, entered: EnteredSkill) -> ToolResult {
    let activation = match entered.activated {
        ActivationOutcome::Again(again) => {
            return ToolResult { activated: Some(id), ..ToolResult::done(again.note) };
        }
        ActivationOutcome::Fresh(activation) => activation,
    };
    let entry = context.skills.snapshot().entry(id);
    let skill = entry.map(|entry| entry.call_name().to_owned()).unwrap_or_default();
    let text = format!("Skill '{skill}' activated successfully. Instructions will follow.");
    let notes = notes(&activation);
    let message = Some(MetaMessage { skill, text: activation.text });
    ToolResult { message, notes, activated: Some(id), ..ToolResult::done(text) }
}

/// Notes for the reader of the result of an activation.
fn notes(activation: &Activation) -> Vec<String> {
    let grave = activation.diagnostics.iter().filter(|found| found.severity() > Severity::Info);
    let said = grave.map(|found| format!("{}: {}", found.code.name(), found.message));
    said.chain(activation.notes.iter().cloned()).collect()
}

/// `list_skills`: the ADK's list, each tag on a line of its own. Whatever a skill says stays between its tags.
pub(super) fn list(context: ToolContext<'_>) -> Plan<'_> {
    Plan::free(move |_| ToolResult::done(listing(context.skills.toolset().visible())))
}

fn listing(visible: &Visible) -> String {
    let mut xml = String::from("<available_skills>\n");
    let mut left = 0_usize;
    for (_, entry) in visible.offered() {
        let description = if entry.state() == State::NameOnly { "" } else { entry.description() };
        let mut description = one_line(description, MAX_DESCRIPTION);
        if let Some(when) = entry.when_to_use().filter(|_| entry.state() != State::NameOnly) {
            if !description.is_empty() {
                description.push(' ');
            }
            description.push_str(&one_line(when, MAX_DESCRIPTION));
        }
        let (name, description) = (escaped(entry.call_name()), escaped(&description));
        if left > 0 || xml.len() + name.len() + description.len() > MAX_LISTING {
            left += 1;
            continue;
        }
        xml.push_str(&format!(
            "<skill>\n<name>\n{name}\n</name>\n<description>\n{description}\n</description>\n</skill>\n"
        ));
    }
    xml.push_str("</available_skills>");
    if left > 0 {
        xml.push_str(&format!("\n{left} more skills do not fit here; call skill_search to find one"));
    }
    json!({ "skills": xml }).to_string()
}

/// `skill_search`.
pub(super) fn search<'a>(input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
    let query = one_line(input.text("query")?, MAX_QUERY);
    let limit = usize::try_from(input.number("limit")?.min(MAX_HITS)).unwrap_or_default();
    Ok(Plan::free(move |_| found(context.skills, &query, limit)))
}

fn found(skills: &SkillSession, query: &str, limit: usize) -> ToolResult {
    let visible = skills.toolset().visible();
    // An index may know of skills that this model may not.
    let hits = skills.search(query, limit).into_iter().filter(|hit| visible.offers(&hit.name));
    let mut data = Vec::new();
    let lines: Vec<String> = hits
        .take(limit)
        .map(|hit| {
            let description = one_line(&hit.description, MAX_DESCRIPTION);
            let why = one_line(&hit.why, 200);
            let line = format!("- **{}**: {description} ({why})", hit.name);
            data.push(json!({ "name": hit.name, "description": description, "why": why }));
            line
        })
        .collect();
    let count = counted(visible.count(), "skill", "skills");
    let text = match lines.len() {
        0 => format!("none of {count} fits; try other words, or do the work without one"),
        found => format!("{found} of {count}, best first:\n{}", lines.join("\n")),
    };
    let data = json!({ "skills": data, "searched": visible.count() });
    ToolResult { data: Some(Box::new(data)), ..ToolResult::done(text) }
}

/// Text between two tags.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&#34;").replace('\'', "&#39;")
}
