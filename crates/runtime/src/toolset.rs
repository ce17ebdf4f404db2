//! The tools a model sees: one implementation, several surfaces.
//!
//! - [`Surface`] is whose tools they are, `spec` has each of them as data: name, fields, an example.
//! - [`Visible`] is the skills of a session, and the answer for a name that the model may not use: see [`Refusal`].
//! - [`Toolset`] settles once, when a session starts, which tools there are and their [`Definition`]s to the byte.
//! - [`Toolset::call`] holds what a model gave against the fields (`input`), finds the skill, asks the gate and does it; a
//!   [`ToolResult`] is what came of it. It writes nothing and keeps nothing but opened folders.
//! - [`Hands`], [`Activate`] and [`Search`] are what it needs from whoever runs the session: a [`Desk`].
//!
//! What this module is not: it decides nothing, asks nobody and knows no conversation; the caller says which skills were
//! activated and puts messages where they belong.

mod definition;
mod finding;
mod folders;
mod form;
mod frontmatter;
mod hands;
mod input;
mod one_command;
mod reading;
mod refusal;
mod result;
mod running;
mod search;
mod spec;
mod surface;
mod visible;

use std::path::Path;

use metier_catalog::EntryId;
use metier_exec::command_error;
use metier_skill::Tool;
use serde_json::Value;

use self::folders::Folders;
use self::input::cut;
use self::result::error_json;
use self::spec::{Act, Spec, spec, specs};

pub use self::definition::{Definition, Sight, ToolFormat};
pub use self::form::{Field, Form, Kind, Need};
pub use self::frontmatter::frontmatter;
pub use self::hands::{Activate, Desk, Hands, Hit, InUse, Job, NotDone, Search, Use, Work, WorkKind};
pub use self::input::{Input, InputProblem, Told};
pub use self::refusal::Refusal;
pub use self::result::{Change, MetaMessage, Outcome, ToolResult};
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

/// The tools of a session.
#[derive(Debug)]
pub struct Toolset {
    surface: Surface,
    definitions: Vec<Definition>,
    visible: Visible,
    folders: Folders,
}

/// For which skill a call runs something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunsFor<'a> {
    /// The one that it names.
    Named(&'a str),
    /// The one that was activated last.
    TheLast,
}

/// One call: whose tool it is, what was given, and what it is carried out with.
#[derive(Clone, Copy)]
struct Call<'a> {
    surface: Surface,
    input: &'a Input<'a>,
    desk: &'a Desk<'a>,
}

impl Toolset {
    /// Settles which tools there are: those that can be of use with these skills, and none without skills.
    pub fn new(surface: Surface, visible: Visible, coverage: Coverage, entrance: Entrance) -> Self {
        let names = visible.name_enum();
        let is_useful = |spec: &Spec| match spec.act {
            Act::Use | Act::Load => visible.offers_any() && entrance == Entrance::Tool,
            Act::List => visible.offers_any(),
            Act::Search => {
                visible.offers_any() && coverage == Coverage::Partial && entrance == Entrance::Tool
            }
            Act::Read | Act::Command | Act::References | Act::Resource => !visible.is_empty(),
            Act::Run | Act::RunJson => visible.have_scripts(),
        };
        let useful = specs(surface).iter().filter(|spec| is_useful(spec));
        let definitions =
            useful.map(|spec| Definition::new(spec, spec.act.sight(), names.as_deref())).collect();
        Self { surface, definitions, visible, folders: Folders::default() }
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
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The definitions for one reader, as they stand in a request.
    pub fn render(&self, format: ToolFormat) -> Value {
        self.definitions.iter().map(|definition| definition.render(format)).collect()
    }

    /// Takes other skills from now on. The definitions stay: what became visible later is accepted all the same.
    pub fn renew(&mut self, visible: Visible) {
        self.visible = visible;
        self.folders = Folders::default();
    }

    /// For which skill a call runs something; `None` where it runs nothing.
    pub(crate) fn runs_for<'a>(&self, name: &str, arguments: &'a Value) -> Option<RunsFor<'a>> {
        let spec = answering(self.surface).find_map(|surface| spec(surface, name))?;
        match spec.act {
            Act::Command => Some(RunsFor::TheLast),
            Act::Run | Act::RunJson => {
                let field = spec.fields.iter().find(|field| field.kind == Kind::Skill)?;
                arguments.get(field.name)?.as_str().map(RunsFor::Named)
            }
            _ => None,
        }
    }

    /// Whether a surface has a tool of this name, offered or not.
    pub fn has(surface: Surface, name: &str) -> bool {
        spec(surface, name).is_some()
    }

    /// What a tool of a surface does to others of the same turn; `None` for a name that it does not answer to.
    pub fn sight(surface: Surface, name: &str) -> Option<Sight> {
        answering(surface).find_map(|surface| spec(surface, name)).map(|spec| spec.act.sight())
    }

    /// The skill that a call activates, and what it is told; `None` for every other call, and for one that is refused.
    pub(crate) fn activates(
        &self,
        name: &str,
        arguments: &Value,
        active: &[EntryId],
    ) -> Option<(EntryId, Told)> {
        let spec = answering(self.surface).find_map(|surface| spec(surface, name))?;
        let input = Input::read(spec, arguments).ok()?;
        let (skill, told) = match spec.act {
            Act::Use if spec.name == "Skill" => (input.text("skill"), input.words("args")),
            Act::Use => (input.text("skill_name"), input.words("arguments")),
            Act::Load => (input.text("name"), Ok(Told::Text(String::new()))),
            _ => return None,
        };
        Some((self.open_to_the_model(skill.ok()?, active)?, told.ok()?))
    }

    /// The skill of this name, where the model may activate it.
    pub(crate) fn open_to_the_model(&self, name: &str, active: &[EntryId]) -> Option<EntryId> {
        self.visible.find(name, Purpose::Activate, active).ok()
    }

    /// Carries out a call. A tool that is not offered, since nothing here needs it, answers as it would if it were; and on
    /// metier's own surface every other system's tools answer, too, for the skills that were written for them name them.
    pub fn call(&self, name: &str, arguments: &Value, desk: &Desk<'_>) -> ToolResult {
        let mut surfaces = answering(self.surface);
        let Some((surface, spec)) = surfaces.find_map(|surface| Some((surface, spec(surface, name)?))) else {
            return ToolResult::refused(self.no_tool(name));
        };
        let called = Input::read(spec, arguments).and_then(|input| {
            let call = Call { surface, input: &input, desk };
            let mut result = self.carry_out(spec, &call)?;
            for field in input.unknown() {
                result.notes.push(format!("{field} is no field of {} and was left out", spec.name));
            }
            Ok(result)
        });
        called.unwrap_or_else(|problem| ToolResult::refused(wrong_input(spec, arguments, &problem)))
    }

    fn carry_out(&self, spec: &Spec, call: &Call<'_>) -> Result<ToolResult, InputProblem> {
        match spec.act {
            Act::Use if spec.name == "Skill" => self.use_skill(call, ("skill", "args")),
            Act::Use => self.use_skill(call, ("skill_name", "arguments")),
            Act::Read => self.read(call),
            Act::Run => self.run_script(call),
            Act::Search => self.search(call),
            Act::Command => self.command(call),
            Act::References => self.references(call),
            Act::List => Ok(self.list()),
            Act::Load => self.load(call),
            Act::Resource => self.resource(call),
            Act::RunJson => self.run_json(call),
        }
    }

    /// What is said of a tool that is not here: the same one by another name, or those that there are.
    fn no_tool(&self, name: &str) -> String {
        let asked = cut(name);
        // A body that was written for another system names its tools; the same tool is here by another name.
        let same = Tool::kin(name)
            .and_then(|tool| specs(self.surface).iter().find(|spec| Tool::named(spec.name) == Some(tool)));
        if let Some(spec) = same {
            return format!("there is no tool `{asked}` here; use {} with {}", spec.name, spec.example);
        }
        let names: Vec<String> = self.definitions.iter().map(|tool| format!("`{}`", tool.name)).collect();
        match names.as_slice() {
            [] => format!("there is no tool `{asked}` here, and none for skills at all"),
            names => format!("there is no tool `{asked}` here; for skills there are {}", names.join(", ")),
        }
    }
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
