//! Runs a skill's script or a command line, contained, and gives the result in the shape that models know.
//!
//! The path of a call, each step a plain value:
//!
//! - [`SkillScript`] is which script is meant, [`launch()`] which interpreter runs it, [`split_arguments`] with which arguments.
//! - [`SearchPath`] finds programs, and of the user's folders what has to be shown for them: a [`Toolbox`].
//! - [`DataOwner`] and [`SkillFolders`] say where a skill keeps its data, and what it shares with its plugin or crew.
//! - [`SkillContainment`] makes the default profile of all that; [`RequestedGrants`] is what a skill asks for beyond it.
//! - [`NetworkAccess`] is how a call reaches hosts: through a proxy, at which the policy decides.
//! - [`RunPlan`] is a script or a line that is ready to run, with what the policy is asked about it; it runs in the sandbox and returns a
//!   [`RunOutput`]. [`run_injected`] does the same for a command in a skill's text.
//! - [`PendingChanges`] and [`ChangeReport`] are what a call changed in the project, before and after the decision about it.
//! - [`Requirements`] says what a skill requires and the machine lacks; [`prepare()`] installs the packages that it asks for.
//!
//! This crate makes no decisions (`metier-policy` does), contains no processes by itself (`metier-sandbox` does), asks no
//! person, prints nothing and reads no environment: the caller passes the search path, the home and the session in.
//!
//! ```
//! # let workspace = metier_testkit::Workspace::new()
//! #     .skill("skills/greet", "Greets.")
//! #     .file("skills/greet/scripts/hello.py", "print('hello')")
//! #     .executable("home/ada/.pyenv/shims/python3", "")
//! #     .executable("home/ada/.pyenv/versions/3.12.1/bin/python3", "");
//! # let (folder, home) = (workspace.join("skills/greet"), workspace.join("home/ada"));
//! # let path_of_the_user = home.join(".pyenv/shims").into_os_string();
//! use metier_exec::{SkillScript, SearchPath, launch};
//! use metier_files::SkillDir;
//!
//! let script = SkillScript::find(&SkillDir::open(&folder)?, "greet", "hello.py")?;
//! let path = SearchPath::new(&path_of_the_user).home(&home);
//! let launch = launch(&script, &folder, &path, &mut |_| None)?;
//!
//! // The version manager's shim is resolved to the program, and only its version is shown.
//! assert_eq!(launch.program, home.join(".pyenv/versions/3.12.1/bin/python3"));
//! assert_eq!(launch.programs[0].shown, [home.join(".pyenv/versions/3.12.1")]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arguments;
mod call_changes;
mod containment;
mod crew_data;
mod data_folder;
mod declared_environment;
mod interpreter;
mod long_output;
mod network_access;
mod output;
mod prepare;
mod redaction;
mod requested_grants;
mod requirements;
mod result_folder;
mod rule_files;
mod run;
mod script;
mod search_path;
mod skill_arguments;
mod skill_binding;
mod skill_folders;
mod skill_group;
mod skill_needs;
mod skill_path;

pub use arguments::{ArgumentError, MAX_ARGUMENTS, check_arguments, split_arguments};
pub use call_changes::{
    ChangeReport, ChangeState, EditError, FileEdit, PendingChanges, ProjectLayers, ReportedChange,
    entry_facts, protected_paths, write_file, written_place,
};
pub use containment::{LANGUAGE, SkillContainment, StartDir};
pub use data_folder::DataOwner;
pub use declared_environment::{DeclaredEnvironment, UnsetVariablesError, Variable, VariableValue};
pub use interpreter::{Launch, LaunchError, NodeVersion, launch};
pub use long_output::{LongOutput, MAX_OUTPUT_FILE};
/// What happened to a changed path, and what is there now.
pub use metier_changes::{ChangeKind, EntryKind};
pub use network_access::{HostApprover, NetworkAccess, NetworkContacts};
pub use output::{command_error, why_stopped};
pub use prepare::{
    EnvironmentState, Language, Package, PackageError, PrepareError, PrepareOptions, PrepareOutcome,
    PrepareWork, PreparedEnvironment, RecipeError, Registries, Registry, RegistryAccess, RequirementError,
    ScriptBlockError, missing, prepare,
};
pub use requested_grants::{DeclaredNeeds, RequestedGrants};
pub use requirements::{MissingRequirement, RequirementContext, Requirements, VariableState};
pub use result_folder::{ResultFolder, ResultFolderContext, ResultFolderError, ResultOptions};
pub use rule_files::{policy_skill, rules_in_force, trust_of_copy};
pub use run::bash::{AgentContext, BashPlan};
pub use run::injected::{InjectedLine, InjectionShell, injection_objection, run_injected};
pub use run::process_report::{ContactReport, ProcessEnd, ProcessReport};
pub use run::{ExecEnv, NodeVersions, RunDecision, RunError, RunOutput, RunPlan, SkillContext, decide_run};
pub use script::{SCRIPTS, ScriptError, ScriptForm, SkillScript};
pub use search_path::{Program, SearchPath, TOOLS, Toolbox};
pub use skill_arguments::SkillArguments;
pub use skill_binding::bind_copy;
pub use skill_folders::{SkillFolders, SkillFoldersError};
pub use skill_group::{SkillGroup, SkillGroupKind};
pub use skill_needs::{MAX_ASKED_TIME, SkillNeeds};
pub use skill_path::path_in_skill;
