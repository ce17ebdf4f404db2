//! The agent's general tools.
//!
//! - An [`Entry`] is one tool as data: its [`Form`], its [`SideEffect`], and the function that plans a call. One file each.
//! - [`GeneralTools`] is what they work with: the project, the network, someone to ask, a memory. It settles once, when a session
//!   starts, which tools can be of use.
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
mod web;
mod web_fetch;
mod write;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use metier_files::{Error, Ground, Survey, SurveyBounds, UserPaths};
use metier_runtime::{Definition, Form, Input, Plan, SideEffect, ToolContext, ToolResult};
use metier_skill::Tool;
use serde_json::Value;

use crate::lock;

use self::ledger::Ledger;
use self::outputs::Outputs;
use self::refusal::{Planned, Refused};

pub use self::ask_user::{Ask, Reply};
pub use self::memory::Memory;
pub use self::memory_search::envelope;
pub use self::web::{PageResolver, ProxyFor, SystemResolver, Web};

/// What a session's tools are made for.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// The project. Without one there are no tools for files and none for commands.
    pub project: Option<PathBuf>,
    /// The user's current folder, without links on the way. Relative paths are seen from it if it is in the project.
    pub current: Option<PathBuf>,
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
    pub commands: bool,
    /// Whether somebody can be asked.
    pub questions: bool,
    /// Whether there is a memory.
    pub memory: bool,
}

/// One tool as data.
struct Entry {
    tool: Tool,
    form: &'static Form,
    effect: SideEffect,
    plan: for<'a> fn(&'a GeneralTools, &Input<'_>, ToolContext<'a>) -> Planned<'a>,
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

/// The general tools of a session.
pub struct GeneralTools {
    setting: Setting,
    ask: Option<Arc<dyn Ask>>,
    memory: Option<Memory>,
    project: Option<Arc<Project>>,
    /// Where relative paths are seen from: a folder of the project, seen from there. Empty for the project's own.
    start: PathBuf,
    ledger: Mutex<Ledger>,
    outputs: Option<Outputs>,
}

/// The project: the folder, held open, and what in it is secret or protected.
#[derive(Debug)]
struct Project {
    ground: Arc<Ground>,
    survey: Mutex<Survey>,
}

impl Project {
    /// What is secret and what is protected, as of now.
    fn survey(&self) -> Result<MutexGuard<'_, Survey>, Refused> {
        let mut survey = lock(&self.survey);
        let failed = |error: Error| Refused::Text(format!("the project cannot be looked over: {error}"));
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
            Ok(Arc::new(Project { ground: Arc::new(Ground::open(folder)?), survey: Mutex::new(survey) }))
        };
        let project = setting.project.as_ref().map(open).transpose()?;
        let outputs = setting.outputs.clone().map(Outputs::new);
        let start = project.as_ref().zip(setting.current.as_ref());
        let start = start.and_then(|(project, current)| current.strip_prefix(project.ground.path()).ok());
        let start = start.map(PathBuf::from).unwrap_or_default();
        let ledger = Mutex::default();
        Ok(Self { setting, ask: None, memory: None, project, start, ledger, outputs })
    }

    /// The same with someone who answers questions, and a memory. Whether they are offered is the setting's to say.
    #[must_use]
    pub fn with(mut self, ask: Option<Arc<dyn Ask>>, memory: Option<Memory>) -> Self {
        (self.ask, self.memory) = (ask, memory);
        self
    }

    /// The tools of a sub-agent: of the same project, with nothing of what its parent has seen.
    #[must_use]
    pub fn of_child(&self) -> Self {
        Self {
            setting: self.setting.clone(),
            ask: self.ask.clone(),
            memory: self.memory.clone(),
            project: self.project.clone(),
            start: self.start.clone(),
            ledger: Mutex::default(),
            outputs: self.setting.outputs.clone().map(Outputs::new),
        }
    }

    /// The project's folder, as it is written down.
    pub fn project_shown(&self) -> Option<String> {
        self.setting.project.as_ref().map(|project| project.display().to_string())
    }

    /// What a model is told of them.
    pub fn definitions(&self) -> impl Iterator<Item = Definition> {
        let offered = TOOLS.iter().filter(|entry| self.why_not(entry.tool).is_none());
        offered.map(|entry| Definition::new(entry.form, entry.effect, None))
    }

    /// Whether a tool is offered.
    pub fn offers(&self, tool: Tool) -> bool {
        TOOLS.iter().any(|entry| entry.tool == tool) && self.why_not(tool).is_none()
    }

    /// The tools, for a registry.
    pub fn registered(self: Arc<Self>) -> impl Iterator<Item = Box<dyn metier_runtime::Tool>> {
        TOOLS.iter().map(move |entry| {
            let definition = Definition::new(entry.form, entry.effect, None);
            Box::new(GeneralTool { entry, definition, tools: Arc::clone(&self) })
                as Box<dyn metier_runtime::Tool>
        })
    }

    fn memory(&self) -> Result<&Memory, Refused> {
        self.memory.as_ref().ok_or_else(|| Refused::Text("there is no memory here".to_owned()))
    }

    /// Why a tool would be of no use, if so.
    fn why_not(&self, tool: Tool) -> Option<&'static str> {
        let needs_project =
            matches!(tool, Tool::Read | Tool::Glob | Tool::Grep | Tool::Write | Tool::Edit | Tool::Bash);
        match tool {
            _ if needs_project && self.project.is_none() => Some("there is no project"),
            Tool::Bash if !self.setting.commands => Some("no command can run"),
            Tool::WebFetch if self.setting.web.is_none() => Some("the network is off"),
            Tool::AskUser if !self.setting.questions => {
                Some("nobody can be asked; decide by what you know, and say what you assumed")
            }
            Tool::MemorySave | Tool::MemorySearch if !self.setting.memory => Some("there is no memory"),
            _ => None,
        }
    }

    fn project(&self) -> Result<&Project, Refused> {
        self.project.as_deref().ok_or_else(|| Refused::Text("there is no project here".to_owned()))
    }
}

impl std::fmt::Debug for GeneralTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GeneralTools").field("setting", &self.setting).finish_non_exhaustive()
    }
}

/// One of the general tools of a session.
struct GeneralTool {
    entry: &'static Entry,
    definition: Definition,
    tools: Arc<GeneralTools>,
}

impl metier_runtime::Tool for GeneralTool {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn is_offered(&self) -> bool {
        self.tools.why_not(self.entry.tool).is_none()
    }

    /// Every spelling that the one table of tool names knows.
    fn answers_to(&self, name: &str) -> bool {
        Tool::named(name) == Some(self.entry.tool)
    }

    fn plan<'a>(&'a self, input: &'a Value, context: ToolContext<'a>) -> Result<Plan<'a>, Box<ToolResult>> {
        let Entry { tool, form, plan, .. } = *self.entry;
        if let Some(why) = self.tools.why_not(tool) {
            let why = format!("`{}` is not offered here: {why}", form.name);
            return Err(Box::new(ToolResult::refused(why)));
        }
        let planned = Input::read(form, input)
            .map_err(Refused::from)
            .and_then(|input| Ok(plan(&self.tools, &input, context)?.noting(input.notes())));
        planned.map_err(|refused| Box::new(refused.into_result()))
    }
}

#[cfg(test)]
mod tests {
    use metier_runtime::{Surface, Toolset};

    use super::*;

    #[test]
    fn every_tool_goes_by_the_name_of_the_table_and_has_an_example_that_fits_its_schema() {
        for entry in TOOLS {
            assert_eq!(entry.form.name, entry.tool.name());
            let example: Value = serde_json::from_str(entry.form.example).unwrap();
            let schema = Definition::new(entry.form, entry.effect, None).schema;
            let valid = jsonschema::validator_for(&schema).unwrap();
            assert!(valid.is_valid(&example), "{}: {schema}", entry.form.name);
            for field in entry.form.fields.iter().filter(|field| field.is_required) {
                assert!(example.get(field.name).is_some(), "{}: {}", entry.form.name, field.name);
            }
            // Every call is paid for in every turn: few words.
            assert!(entry.form.description.len() < 600, "{}", entry.form.name);
        }
    }

    #[test]
    fn no_name_of_a_surface_is_offered_as_a_general_tool() {
        for surface in Surface::ALL {
            for entry in TOOLS {
                assert!(!Toolset::has(surface, entry.form.name), "{surface:?} has {}", entry.form.name);
            }
        }
    }

    #[test]
    fn reads_may_run_at_once_and_the_others_go_in_order() {
        let tools = Arc::new(GeneralTools::new(Setting::default()).unwrap());
        let tools: Vec<_> = tools.registered().collect();
        for (name, expect) in [
            ("Read", Some(SideEffect::ReadOnly)),
            ("grep", Some(SideEffect::ReadOnly)),
            ("memory_search", Some(SideEffect::ReadOnly)),
            ("file_write", Some(SideEffect::Writes)),
            ("Edit", Some(SideEffect::Writes)),
            ("memory_save", Some(SideEffect::Writes)),
            ("shell", Some(SideEffect::Runs)),
            ("fetch", Some(SideEffect::Network)),
            ("AskUserQuestion", Some(SideEffect::Asks)),
            ("skill_use", None),
        ] {
            let found = tools.iter().find(|tool| tool.answers_to(name));
            assert_eq!(found.map(|tool| tool.definition().effect), expect, "{name}");
        }
    }

    #[test]
    fn nothing_is_offered_that_is_of_no_use() {
        let names = |setting: Setting| {
            let tools = Arc::new(GeneralTools::new(setting).unwrap()).registered();
            let offered = tools.filter(|tool| tool.is_offered());
            offered.map(|tool| tool.definition().name.to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(Setting::default()), "");
        let questions = Setting { questions: true, commands: true, ..Setting::default() };
        assert_eq!(names(questions), "ask_user");
        let memory = Setting { memory: true, ..Setting::default() };
        assert_eq!(names(memory), "memory_save memory_search");
        let workspace = metier_testkit::Workspace::new().dir("p");
        let project = || Setting { project: Some(workspace.join("p")), ..Setting::default() };
        assert_eq!(names(project()), "Read Glob Grep Write Edit");
        assert_eq!(names(Setting { commands: true, ..project() }), "Read Glob Grep Write Edit Bash");
    }
}
