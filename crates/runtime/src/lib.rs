//! Uses a skill: reads its files, runs its scripts and command lines contained, and says what came of it.
//!
//! # In a program that has a model
//!
//! [`Skills`] is what a program opens once, [`Session`] is one conversation. What the model is told and what it may call are
//! texts and JSON; whose model it is, and how it is asked, is the program's own matter.
//!
//! ```standalone_crate
//! # let workspace = metier_testkit::Workspace::new()
//! #     .file("skills/greet/SKILL.md", "---\nname: greet\ndescription: Greets people by name.\n---\nSay hello to $ARGUMENTS.\n")
//! #     .file("skills/greet/scripts/hello.sh", "echo hello $1");
//! # let folder = workspace.join("skills");
//! use metier_runtime::{Skills, ToolFormat, begin};
//! use serde_json::json;
//!
//! begin(std::env::args_os()); // First thing in `main`: what runs is contained by this very program.
//! let skills = Skills::open([folder]);
//! let mut session = skills.session();
//!
//! let system_prompt = format!("You are a helpful assistant.\n\n{}", session.catalog());
//! let tools = session.tools(ToolFormat::OpenAi);
//! // … ask the model with both; it answers with calls of tools:
//! let used = session.call("skill_use", &json!({ "skill_name": "greet", "arguments": "Ada" }));
//! assert_eq!(used.text, "Skill 'greet' activated successfully. Instructions will follow.");
//! assert!(used.message.unwrap().text.contains("Say hello to Ada."));
//!
//! let ran = session.call("skill_run_script", &json!({ "skill_name": "greet", "script_name": "hello.sh", "script_args": "Ada" }));
//! assert_eq!(ran.text, "hello Ada");
//! # assert!(system_prompt.contains("- **greet**: Greets people by name."));
//! # assert_eq!(tools[0]["function"]["name"], "skill_use");
//! ```
//!
//! `examples/agent_loop.rs` is a whole loop around it, docs/library.md says more.
//!
//! # The parts
//!
//! The way of a call, each step a plain value:
//!
//! - [`Script`] is which script is meant, [`launch()`] who runs it, [`split_arguments`] with what.
//! - [`SearchPath`] finds programs, and of the user's folders what has to be shown for them: a [`Toolbox`].
//! - [`DataOwner`] says where a skill keeps what it remembers.
//! - [`Containment`] makes the default profile of all that; [`Wants`] is what a skill gets beyond it with a yes.
//! - [`WayOut`] is how a call reaches hosts: by a proxy, at which the gate decides.
//! - [`run_script`] and [`run_command_line`] ask the gate, run in the sandbox and give the result in the shape that models
//!   know; [`read_file()`] does the same for a skill's files.
//! - [`Toolset`] is all of that as tools of a model, in the shapes of several systems ([`Surface`]).
//! - [`Requirements`] says what a skill requires and is not here.
//! - [`Plan`] and [`Rendered`] are a body with its tokens replaced; [`activate`] puts a skill's text into a [`Conversation`],
//!   which holds the [`Scopes`] that are open.
//!
//! What this crate is not: it decides nothing (that is `metier-policy`), contains nothing by itself (that is
//! `metier-sandbox`), asks nobody, prints nothing and reads no environment: the search path, the home and the session are
//! given by whoever calls.
//!
//! ```
//! # let workspace = metier_testkit::Workspace::new()
//! #     .skill("skills/greet", "Greets.")
//! #     .file("skills/greet/scripts/hello.py", "print('hello')")
//! #     .executable("home/ada/.pyenv/shims/python3", "")
//! #     .executable("home/ada/.pyenv/versions/3.12.1/bin/python3", "");
//! # let (folder, home) = (workspace.join("skills/greet"), workspace.join("home/ada"));
//! # let path_of_the_user = home.join(".pyenv/shims").into_os_string();
//! use metier_files::SkillDir;
//! use metier_runtime::{Script, SearchPath, launch};
//!
//! let script = Script::find(&SkillDir::open(&folder)?, "greet", "hello.py")?;
//! let path = SearchPath::new(&path_of_the_user).home(&home);
//! let launch = launch(&script, &folder, &path, &mut |_| None)?;
//!
//! // The stand-in of the version manager became the program, and only its version is shown.
//! assert_eq!(launch.program, home.join(".pyenv/versions/3.12.1/bin/python3"));
//! assert_eq!(launch.programs[0].shown, [home.join(".pyenv/versions/3.12.1")]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod activation;
mod arguments;
mod call_changes;
pub mod code;
mod containment;
mod crew_data;
mod data_folder;
mod declared_environment;
mod injection;
mod interpreter;
mod long_output;
mod output;
mod prepare;
mod read_file;
mod redaction;
mod render;
mod requirements;
mod result_folder;
mod rule_files;
mod run;
mod scope;
mod script;
mod search_path;
mod skill_binding;
mod skill_folders;
mod skill_needs;
mod skill_path;
mod skills;
mod terms;
mod toolset;
mod wants;
mod way_out;

pub use activation::{
    Activated, Activation, Again, By, Closed, Conversation, Draft, NotActivated, Reopen, Request, Setting,
    TRAILER, Way, activate, attribute, breadcrumb, neutral,
};
pub use arguments::{ArgumentError, MAX_ARGUMENTS, split_arguments};
pub use call_changes::{
    ChangeReport, ChangeState, EditError, FileEdit, PendingChanges, ProjectLayers, ReportedChange,
    protected_paths,
};
pub use containment::{Containment, ENVIRONMENT, LANGUAGE, PLUGIN_ENVIRONMENT, Start};
pub use data_folder::DataOwner;
pub use declared_environment::{DeclaredEnvironment, NotSet};
pub use injection::{COMMAND_OUTPUT, COMMAND_TIME, MAX_COMMANDS, ShellLine, Unsafe};
pub use interpreter::{INTERPRETERS, Interpreter, Launch, LaunchError, NodeVersion, Types, launch};
pub use long_output::{LONGEST_FILE, LongOutput};
/// What happened to a changed path, and what is there now.
pub use metier_changes::{ChangeKind, EntryKind};
pub use output::{
    MODEL_HEAD, MODEL_TAIL, Rest, command_error, command_json, for_model, notes, script_text, why_stopped,
};
pub use prepare::{
    How, Language, Made, NodePackages, NodeRecipe, Order, Package, PackageError, PrepareError, Prepared,
    PythonRecipe, Reaching, Recipe, RecipeError, Registries, Registry, Requirement, RequirementError,
    ScriptBlock, ScriptBlockError, Standing, missing, prepare,
};
pub use read_file::{ReadError, read_file};
pub use render::{
    Arguments, Folder, Piece, Plan, Planned, PlannedCommand, Plugin, PluginKind, Rendered, Source, Token,
    Values, Variable, VariableValue,
};
pub use requirements::{Given, Here, Missing, Requirements};
pub use result_folder::{ResultFolder, ResultFolderError, ResultOptions, Surrounding};
pub use rule_files::{known_to_the_gate, rules_in_force};
pub use run::bash::{Own, run_bash};
pub use run::process_report::{ContactOutcome, ContactReport, ProcessReport};
pub use run::{NodeVersions, NotRun, Ran, Using, Words, Workbench, run_command_line, run_script};
pub use scope::{End, ScopeId, Scopes, SkillScope};
pub use script::{SCRIPTS, Script, ScriptError, ScriptForm};
pub use search_path::{Program, SearchPath, TOOLS, Toolbox};
pub use skill_folders::{NoFolders, SkillFolders};
pub use skills::{
    Active, ChildWanted, Fork, ForkAgain, GivenAnswer, Labels, Listener, NotUsed, Note, OwnJob, Respondent,
    Restored, ScriptCall, Session, SkillSecrets, Skills, SkillsBuilder, Used, ValueSource, begin,
};
pub use toolset::{
    Activate, Change, Coverage, Definition, Desk, Entrance, Field, Form, Hands, Hit, InUse, Input,
    InputProblem, Job, Kind as FieldKind, MetaMessage, Need as FieldNeed, NotDone, Outcome, Refusal, Search,
    Sight, Surface, Told, ToolFormat, ToolResult, Toolset, Use, Visible, Work, WorkKind, frontmatter,
};
pub use wants::{Declared, Wants};
pub use way_out::{Asker, Contacts, WayOut};
