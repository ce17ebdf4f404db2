//! The agent's general tools.
//!
//! - An [`Entry`] is one tool as data: its [`Form`], its [`Effect`], and the function that carries it out. One file each.
//! - [`GeneralTools`] settles once, when a session starts, which of them can be of use, and answers to every spelling that the
//!   one table of tool names knows.
//! - [`ToolContext`] is what a call is carried out with: the gate, somebody to be asked, a memory, the active skills.
//! - `ResolvedPath` is where a path leads, `Ledger` what the model has seen of a file, `Outputs` where the rest of long results lies.

mod ask_user;
mod bash;
mod difference;
mod edit;
mod glob;
mod grep;
mod ledger;
mod memory;
mod memory_save;
mod memory_search;
mod named_paths;
mod outputs;
mod pages;
mod read;
mod refusal;
mod resolved_path;
mod search;
mod tool_context;
mod web;
mod web_fetch;
mod write;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use metier_files::{Error, Ground, Survey, SurveyBounds, UserPaths};
use metier_runtime::{Definition, Form, Input, Sight, Surface, ToolFormat, ToolResult, Toolset};
use metier_skill::Tool;
use serde_json::Value;

use crate::lock;

use self::ledger::Ledger;
use self::outputs::Outputs;
use self::refusal::Refused;

pub use self::ask_user::{Ask, Reply};
pub use self::memory::{Author, Memory, NewRecord, Record, Wanted};
pub use self::memory_search::envelope;
pub use self::tool_context::{ActiveSkill, Executor, Hear, RunJob, Running, ToolContext};
pub use self::web::{NoAuthority, Web};

/// What a call does, as far as others of the same turn are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It only looks. All of a turn's reads may run at once.
    Reads,
    /// It changes a file or a record. In order.
    Writes,
    /// It starts a process or reaches somebody. In order.
    Runs,
    /// It waits for a person. In order.
    Asks,
}

/// Whether something is offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offer {
    /// It is.
    Yes,
    /// It is not, since it would be of no use.
    #[default]
    No,
}

/// What a session's tools are made for.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// The project. Without one there are no tools for files and none for commands.
    pub project: Option<PathBuf>,
    /// The user's home, by which places are named in rules: `~/notes/**`.
    pub home: Option<PathBuf>,
    /// The user's files that matter for what is protected in the project.
    pub user: UserPaths,
    /// A folder of this session's own, in which the rest of long results is kept so that `Read` can open it.
    pub outputs: Option<PathBuf>,
    /// Places of the project beyond the known ones that are written only with a yes to the very question.
    pub guarded: Vec<PathBuf>,
    /// The network, where it may be used.
    pub web: Option<Web>,
    /// Whether commands can run.
    pub commands: Offer,
    /// Whether somebody can be asked.
    pub questions: Offer,
    /// Whether there is a memory.
    pub memory: Offer,
}

/// One tool as data.
struct Entry {
    tool: Tool,
    form: &'static Form,
    sight: Sight,
    effect: Effect,
    call: fn(&GeneralTools, &Input<'_>, &ToolContext<'_>) -> Result<ToolResult, Refused>,
}

/// Every tool, in the order in which they are offered.
static TOOLS: &[Entry] = &[
    read::ENTRY,
    glob::ENTRY,
    grep::ENTRY,
    write::ENTRY,
    edit::ENTRY,
    bash::ENTRY,
    web_fetch::ENTRY,
    ask_user::ENTRY,
    memory_save::ENTRY,
    memory_search::ENTRY,
];

/// Whose tool a name means, where a session has both the skills' tools and the general ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolProvider {
    /// The skills' [`Toolset`] answers.
    Skills,
    /// [`GeneralTools`] answers.
    General,
    /// Neither knows it; an MCP server may.
    Nobody,
}

/// The one place that settles whose tool a name means.
///
/// What a surface has by exactly this name is the skills': `run_command_line` of a crew runs in the skill's folder and answers
/// in JSON, and a body that names it counts on both, though fences take it for the same tool as `Bash`. On metier's own
/// surface every other surface's tools answer, too. All other spellings of a general tool mean the general tool.
pub fn whose(name: &str, surface: Surface) -> ToolProvider {
    let is_own = Toolset::has(surface, name);
    let is_others =
        surface == Surface::Canonical && Surface::ALL.iter().any(|other| Toolset::has(*other, name));
    if is_own || is_others {
        ToolProvider::Skills
    } else if entry(name).is_some() {
        ToolProvider::General
    } else {
        ToolProvider::Nobody
    }
}

fn entry(name: &str) -> Option<&'static Entry> {
    let tool = Tool::named(name)?;
    TOOLS.iter().find(|entry| entry.tool == tool)
}

/// The general tools of a session.
#[derive(Debug)]
pub struct GeneralTools {
    setting: Setting,
    definitions: Vec<Definition>,
    project: Option<Arc<Project>>,
    ledger: Mutex<Ledger>,
    outputs: Option<Outputs>,
}

/// The project: the folder, held open, and what in it is secret or protected.
#[derive(Debug)]
struct Project {
    ground: Ground,
    survey: Mutex<Survey>,
}

impl Project {
    /// What is secret and what is protected, as of now.
    fn survey(&self) -> Result<MutexGuard<'_, Survey>, Refused> {
        let mut survey = lock(&self.survey);
        let failed = |error: Error| Refused::text(format!("the project cannot be looked over: {error}"));
        survey.refresh().map_err(failed)?;
        Ok(survey)
    }

    /// The same as of the last look: for what was looked over in the same call.
    fn known(&self) -> MutexGuard<'_, Survey> {
        lock(&self.survey)
    }
}

impl GeneralTools {
    /// Opens the project, and settles which tools there are.
    pub fn new(setting: Setting) -> Result<Self, Error> {
        let open = |folder: &PathBuf| -> Result<Arc<Project>, Error> {
            let survey = Survey::of(folder, SurveyBounds::default())?.with_user(setting.user.clone());
            Ok(Arc::new(Project { ground: Ground::open(folder)?, survey: Mutex::new(survey) }))
        };
        let project = setting.project.as_ref().map(open).transpose()?;
        let outputs = setting.outputs.clone().map(Outputs::new);
        let mut tools = Self { setting, definitions: Vec::new(), project, ledger: Mutex::default(), outputs };
        let useful = TOOLS.iter().filter(|entry| tools.why_not(entry.tool).is_none());
        tools.definitions = useful.map(|entry| Definition::new(entry.form, entry.sight, None)).collect();
        Ok(tools)
    }

    /// The tools of a sub-agent: of the same project, with nothing of what its parent has seen.
    #[must_use]
    pub fn of_child(&self) -> Self {
        Self {
            setting: self.setting.clone(),
            definitions: self.definitions.clone(),
            project: self.project.clone(),
            ledger: Mutex::default(),
            outputs: self.setting.outputs.clone().map(Outputs::new),
        }
    }

    /// The project's folder, as it is written down.
    pub fn project_shown(&self) -> Option<String> {
        self.setting.project.as_ref().map(|project| project.display().to_string())
    }

    /// What the model is told. It stays the same as long as the session lasts.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The definitions for one reader, as they stand in a request.
    pub fn render(&self, format: ToolFormat) -> Value {
        self.definitions.iter().map(|definition| definition.render(format)).collect()
    }

    /// What a call would do to others of the same turn; `None` for a name that means none of these tools. The input is taken
    /// for tools whose effect depends on it one day; today none does.
    pub fn effect(name: &str, _input: &Value) -> Option<Effect> {
        entry(name).map(|entry| entry.effect)
    }

    /// Carries out a call, by whatever name the tool is known.
    pub fn call(&self, name: &str, arguments: &Value, context: &ToolContext<'_>) -> ToolResult {
        let Some(entry) = entry(name) else {
            let names: Vec<String> = self.definitions.iter().map(|tool| format!("`{}`", tool.name)).collect();
            let asked = metier_catalog::one_line(name, 100);
            return ToolResult::refused(format!(
                "there is no tool `{asked}` here; there are {}",
                names.join(", ")
            ));
        };
        if let Some(why) = self.why_not(entry.tool) {
            return ToolResult::refused(format!("`{}` is not offered here: {why}", entry.form.name));
        }
        let called = Input::read(entry.form, arguments).map_err(Refused::from).and_then(|input| {
            let mut result = (entry.call)(self, &input, context)?;
            for field in input.unknown() {
                result.notes.push(format!("{field} is no field of {} and was left out", entry.form.name));
            }
            Ok(result)
        });
        called.unwrap_or_else(Refused::into_result)
    }

    /// Why a tool would be of no use, if so.
    fn why_not(&self, tool: Tool) -> Option<&'static str> {
        let needs_project =
            matches!(tool, Tool::Read | Tool::Glob | Tool::Grep | Tool::Write | Tool::Edit | Tool::Bash);
        match tool {
            _ if needs_project && self.project.is_none() => Some("there is no project"),
            Tool::Bash if self.setting.commands == Offer::No => Some("no command can run"),
            Tool::WebFetch if self.setting.web.is_none() => Some("the network is off"),
            Tool::AskUser if self.setting.questions == Offer::No => {
                Some("nobody can be asked; decide by what you know, and say what you assumed")
            }
            Tool::MemorySave | Tool::MemorySearch if self.setting.memory == Offer::No => {
                Some("there is no memory")
            }
            _ => None,
        }
    }

    fn project(&self) -> Result<&Project, Refused> {
        self.project.as_deref().ok_or_else(|| Refused::text("there is no project here".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use metier_runtime::{FieldNeed, Surface};

    use super::*;

    #[test]
    fn every_tool_goes_by_the_name_of_the_table_and_has_an_example_that_fits_its_schema() {
        for entry in TOOLS {
            assert_eq!(entry.form.name, entry.tool.name());
            let example: Value = serde_json::from_str(entry.form.example).unwrap();
            let schema = Definition::new(entry.form, entry.sight, None).schema;
            let valid = jsonschema::validator_for(&schema).unwrap();
            assert!(valid.is_valid(&example), "{}: {schema}", entry.form.name);
            for field in entry.form.fields.iter().filter(|field| field.need == FieldNeed::Required) {
                assert!(example.get(field.name).is_some(), "{}: {}", entry.form.name, field.name);
            }
            // Every call is paid for in every turn: few words.
            assert!(entry.form.description.len() < 600, "{}", entry.form.name);
        }
    }

    #[test]
    fn no_name_of_a_surface_is_offered_as_a_general_tool_and_each_name_is_somebodys() {
        for surface in Surface::ALL {
            for entry in TOOLS {
                assert!(!Toolset::has(surface, entry.form.name), "{surface:?} has {}", entry.form.name);
                assert_eq!(whose(entry.form.name, surface), ToolProvider::General);
            }
        }
        for (name, surface, expect) in [
            ("exec", Surface::Canonical, ToolProvider::General),
            ("read_file", Surface::ClaudeCode, ToolProvider::General),
            ("run_command_line", Surface::Canonical, ToolProvider::Skills),
            ("run_command_line", Surface::SkilledCrew, ToolProvider::Skills),
            ("run_command_line", Surface::ClaudeCode, ToolProvider::General),
            ("skill_read_file", Surface::Canonical, ToolProvider::Skills),
            ("Skill", Surface::ClaudeCode, ToolProvider::Skills),
            ("web_search", Surface::Canonical, ToolProvider::Nobody),
            ("READ", Surface::Canonical, ToolProvider::Nobody),
        ] {
            assert_eq!(whose(name, surface), expect, "{name} on {surface:?}");
        }
    }

    #[test]
    fn reads_may_run_at_once_and_the_others_go_in_order() {
        let effect = |name: &str| GeneralTools::effect(name, &Value::Null);
        for (name, expect) in [
            ("Read", Some(Effect::Reads)),
            ("grep", Some(Effect::Reads)),
            ("memory_search", Some(Effect::Reads)),
            ("file_write", Some(Effect::Writes)),
            ("Edit", Some(Effect::Writes)),
            ("memory_save", Some(Effect::Writes)),
            ("shell", Some(Effect::Runs)),
            ("fetch", Some(Effect::Runs)),
            ("AskUserQuestion", Some(Effect::Asks)),
            ("skill_use", None),
        ] {
            assert_eq!(effect(name), expect, "{name}");
        }
    }

    #[test]
    fn nothing_is_offered_that_is_of_no_use() {
        let names = |setting: Setting| {
            let tools = GeneralTools::new(setting).unwrap();
            tools.definitions().iter().map(|tool| tool.name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(Setting::default()), "");
        let questions = Setting { questions: Offer::Yes, commands: Offer::Yes, ..Setting::default() };
        assert_eq!(names(questions), "ask_user");
        let memory = Setting { memory: Offer::Yes, ..Setting::default() };
        assert_eq!(names(memory), "memory_save memory_search");
        let workspace = metier_testkit::Workspace::new().dir("p");
        let project = || Setting { project: Some(workspace.join("p")), ..Setting::default() };
        assert_eq!(names(project()), "Read Glob Grep Write Edit");
        assert_eq!(names(Setting { commands: Offer::Yes, ..project() }), "Read Glob Grep Write Edit Bash");
    }
}
