//! The skills' tools: one implementation, several surfaces.
//!
//! - [`Surface`] is whose tools they are, `spec` has each of them as data: name, fields, an example.
//! - [`Visible`] is the skills of a session, and the answer for a name that the model may not use: see [`Refusal`].
//! - [`Toolset`] settles once, when a session starts, which tools are offered, with their definitions to the byte.
//! - A [`SkillTool`] holds what a model gave against the fields, finds the skill and plans the call, one file per kind: `find`, `read`,
//!   `run`.

mod find;
mod folders;
mod frontmatter;
mod one_command;
mod read;
mod refusal;
mod run;
mod search;
mod spec;
mod surface;
mod visible;

use std::path::Path;
use std::sync::OnceLock;

use metier_catalog::EntryId;
use metier_exec::{SkillArguments, command_error};
use metier_skill::Tool as ToolName;
use serde_json::Value;

use self::folders::Folders;
use self::spec::{Act, Spec, specs};
use crate::tool::{
    Definition, FieldKind, Input, InputProblem, Plan, Tool, ToolContext, ToolFormat, ToolResult, cut,
    error_json,
};

pub use self::frontmatter::frontmatter;
pub use self::refusal::Refusal;
pub(crate) use self::search::{SearchHit, search};
#[cfg(test)]
pub(crate) use self::spec::spec;
pub use self::surface::Surface;
pub(crate) use self::visible::Purpose;
pub use self::visible::Visible;

/// What tools that name no skill answer when none was activated.
const NO_SKILL: &str = "no skill is active: call skill_use first";

/// Whether the catalogue describes every skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// It does.
    Whole,
    /// Some are named only, or counted: the model has to be able to search.
    Partial,
}

/// How a skill comes into the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entrance {
    /// By a tool.
    Tool,
    /// It is there from the start, as in a fork or after a handoff: no tool activates another one.
    Given,
}

/// The skills' tools of a session.
#[derive(Debug)]
pub struct Toolset {
    surface: Surface,
    /// Every tool that answers here, those of the surface itself first.
    tools: Vec<SkillTool>,
    visible: Visible,
    folders: Folders,
}

/// One of the skills' tools.
#[derive(Debug)]
pub struct SkillTool {
    /// Whose tool it is.
    surface: Surface,
    spec: &'static Spec,
    /// Made when it is first asked for, since most calls of a program need none.
    definition: OnceLock<Definition>,
    is_offered: bool,
}

/// For which skill a call runs something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunsFor<'a> {
    /// The one that it names.
    Named(&'a str),
    /// The one that was activated last.
    TheLast,
}

/// What planning a call gives.
type Planned<'a> = Result<Plan<'a>, NotPlanned>;

/// Why a call is not planned.
pub(crate) enum NotPlanned {
    Input(InputProblem),
    Refused(Box<ToolResult>),
}

impl From<InputProblem> for NotPlanned {
    fn from(problem: InputProblem) -> Self {
        Self::Input(problem)
    }
}

impl NotPlanned {
    fn refused(text: String) -> Self {
        Self::Refused(Box::new(ToolResult::refused(text)))
    }
}

impl Toolset {
    /// Settles which tools are offered: those that can be of use with these skills, and none without skills.
    pub fn new(surface: Surface, visible: Visible, coverage: Coverage, entrance: Entrance) -> Self {
        let names = visible.name_enum();
        let is_useful = |act: Act| match act {
            Act::Use | Act::Load => visible.offers_any() && entrance == Entrance::Tool,
            Act::List => visible.offers_any(),
            Act::Search => {
                visible.offers_any() && coverage == Coverage::Partial && entrance == Entrance::Tool
            }
            Act::Read | Act::Command | Act::References | Act::Resource => !visible.is_empty(),
            Act::Run | Act::RunJson => visible.have_scripts(),
        };
        let mut tools: Vec<SkillTool> = Vec::new();
        for answering in answering(surface) {
            for spec in specs(answering) {
                let is_offered = answering == surface && is_useful(spec.act);
                let definition = OnceLock::new();
                if is_offered {
                    definition.get_or_init(|| Definition::new(spec, spec.act.effect(), names.as_deref()));
                }
                tools.push(SkillTool { surface: answering, spec, definition, is_offered });
            }
        }
        Self { surface, tools, visible, folders: Folders::default() }
    }

    /// Whose tools they are.
    pub fn surface(&self) -> Surface {
        self.surface
    }

    /// The skills they are about.
    pub fn visible(&self) -> &Visible {
        &self.visible
    }

    /// The work touches a file: which skills are offered because of it.
    pub(crate) fn touch(&mut self, file: &Path) -> Vec<EntryId> {
        self.visible.touch(file)
    }

    /// What the model is told. It stays the same as long as the session lasts.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.tools.iter().filter(|tool| tool.is_offered).map(SkillTool::definition)
    }

    /// The definitions for one reader, as they stand in a request.
    pub fn render(&self, format: ToolFormat) -> Value {
        self.definitions().map(|definition| definition.render(format)).collect()
    }

    /// Takes other skills from now on. The definitions stay: what became visible later is accepted all the same.
    pub fn renew(&mut self, visible: Visible) {
        self.visible = visible;
        self.folders = Folders::default();
    }

    /// The tool of this name. One that is not offered, since nothing here needs it, answers as it would if it were; and on metier's own
    /// surface every other system's tools answer, too, for the skills that were written for them name them.
    pub fn find(&self, name: &str) -> Option<&SkillTool> {
        self.tools.iter().find(|tool| tool.spec.name == name)
    }

    /// The tools, for a registry: each a copy that plans with the session of the call.
    pub fn registered(&self) -> impl Iterator<Item = Box<dyn Tool>> {
        self.tools.iter().map(|tool| {
            let SkillTool { surface, spec, definition, is_offered } = tool;
            let (definition, is_offered) = (definition.clone(), *is_offered);
            Box::new(SkillTool { surface: *surface, spec, definition, is_offered }) as Box<dyn Tool>
        })
    }

    /// For which skill a call runs something; `None` where it runs nothing.
    pub(crate) fn runs_for<'a>(&self, name: &str, input: &'a Value) -> Option<RunsFor<'a>> {
        let spec = self.find(name)?.spec;
        match spec.act {
            Act::Command => Some(RunsFor::TheLast),
            Act::Run | Act::RunJson => {
                let field = spec.fields.iter().find(|field| field.kind == FieldKind::Skill)?;
                input.get(field.name)?.as_str().map(RunsFor::Named)
            }
            _ => None,
        }
    }

    /// Whether a surface has a tool of this name, offered or not.
    pub fn has(surface: Surface, name: &str) -> bool {
        spec::spec(surface, name).is_some()
    }

    /// The skill that a call activates, and its arguments; `None` for every other call, and for one that is refused.
    pub(crate) fn activates(
        &self,
        name: &str,
        input: &Value,
        active: &[EntryId],
    ) -> Option<(EntryId, SkillArguments)> {
        let (name, arguments) = self.find(name)?.activated(input)?;
        Some((self.open_to_the_model(&name, active)?, arguments))
    }

    /// The skill of this name, where the model may activate it.
    pub(crate) fn open_to_the_model(&self, name: &str, active: &[EntryId]) -> Option<EntryId> {
        self.visible.find(name, Purpose::Activate, active).ok()
    }

    /// What is said of a tool that is not here: the same one by another name, or those that there are.
    pub(crate) fn no_such_tool(&self, name: &str) -> String {
        let asked = cut(name);
        // A body that was written for another system names its tools; the same tool is here by another name.
        let same = ToolName::kin(name).and_then(|tool| {
            specs(self.surface).iter().find(|spec| ToolName::named(spec.name) == Some(tool))
        });
        if let Some(spec) = same {
            return format!("there is no tool `{asked}` here; use {} with {}", spec.name, spec.example);
        }
        let names: Vec<String> = self.definitions().map(|tool| format!("`{}`", tool.name)).collect();
        match names.as_slice() {
            [] => format!("there is no tool `{asked}` here, and none for skills at all"),
            names => format!("there is no tool `{asked}` here; for skills there are {}", names.join(", ")),
        }
    }
}

impl SkillTool {
    fn definition(&self) -> &Definition {
        self.definition.get_or_init(|| Definition::new(self.spec, self.spec.act.effect(), None))
    }

    /// The skill that a call names to be activated, and its arguments.
    fn activated(&self, input: &Value) -> Option<(String, SkillArguments)> {
        let input = Input::read(self.spec, input).ok()?;
        let fields = self.spec.act.activation_fields(self.spec.name)?;
        let (name, arguments) = activation_input(&input, fields).ok()?;
        Some((name.to_owned(), arguments))
    }

    /// The skill that a call names; a refusal is given its shape.
    fn find_named(
        &self,
        name: &str,
        purpose: Purpose,
        context: ToolContext<'_>,
        shape: impl Fn(String) -> String,
    ) -> Result<EntryId, NotPlanned> {
        let session = context.skills;
        let found = session.toolset().visible().find(name, purpose, &session.active_ids());
        found.map_err(|refusal| NotPlanned::refused(shape(refusal.text(self.surface))))
    }

    fn planned<'a>(&'a self, input: &'a Value, context: ToolContext<'a>) -> Planned<'a> {
        let read = Input::read(self.spec, input)?;
        let notes = read.notes();
        let plan = match self.spec.act {
            Act::Use => self.plan_use(&read, context),
            Act::Load => self.plan_load(&read, context),
            Act::List => Ok(find::list(context)),
            Act::Search => find::search(&read, context),
            Act::Read => self.plan_read(&read, context),
            Act::References => Self::plan_references(&read, context),
            Act::Resource => self.plan_resource(&read, context),
            Act::Run => self.plan_script(&read, context),
            Act::RunJson => self.plan_json_script(&read, context),
            Act::Command => self.plan_command(&read, context),
        };
        match plan {
            Ok(plan) => Ok(plan.noting(notes)),
            Err(NotPlanned::Refused(mut result)) => {
                result.notes.extend(notes);
                Err(NotPlanned::Refused(result))
            }
            // The words about an input say which fields are unknown.
            Err(problem) => Err(problem),
        }
    }
}

impl Tool for SkillTool {
    fn definition(&self) -> &Definition {
        self.definition()
    }

    fn is_offered(&self) -> bool {
        self.is_offered
    }

    fn answers_to(&self, name: &str) -> bool {
        self.spec.name == name
    }

    fn plan<'a>(&'a self, input: &'a Value, context: ToolContext<'a>) -> Result<Plan<'a>, Box<ToolResult>> {
        self.planned(input, context).map_err(|error| match error {
            NotPlanned::Refused(result) => result,
            NotPlanned::Input(problem) => {
                Box::new(ToolResult::refused(wrong_input(self.spec, input, &problem)))
            }
        })
    }
}

/// What an input says of an activation: the name of the skill and its arguments, which are in these fields.
fn activation_input<'i>(
    input: &'i Input<'_>,
    (skill, arguments): (&'static str, Option<&'static str>),
) -> Result<(&'i str, SkillArguments), InputProblem> {
    let name = input.text(skill)?;
    Ok((name, arguments.map_or(Ok(SkillArguments::default()), |field| input.words(field))?))
}

/// The surfaces whose tools answer on a surface, its own first.
fn answering(surface: Surface) -> impl Iterator<Item = Surface> {
    let others: &[Surface] = if surface == Surface::Canonical { &Surface::ALL[1..] } else { &[] };
    std::iter::once(surface).chain(others.iter().copied())
}

/// What a tool answers to an input that it cannot take, in its own shape.
fn wrong_input(spec: &Spec, arguments: &Value, problem: &InputProblem) -> String {
    let skill = || arguments.get("skill_name").and_then(Value::as_str).unwrap_or_default();
    match (spec.act, problem.missing) {
        (Act::Command, _) => command_error(&problem.to_string()).to_string(),
        (Act::References, _) => format!("ERROR: {problem}"),
        (Act::Load, Some("name")) => error_json("skill name is required to load a skill"),
        (Act::Resource, Some("skill_name")) => error_json("skill name is required to load a resource"),
        (Act::Resource, Some("resource_path")) => {
            error_json(&format!("resource path is required to load a resource for skill {:?}", cut(skill())))
        }
        (Act::List | Act::Load | Act::Resource | Act::RunJson, _) => error_json(&problem.to_string()),
        (Act::Use | Act::Read | Act::Run | Act::Search, _) => problem.to_string(),
    }
}
