//! Shows a skill's text as a session gets it, with its commands run contained:
//! `cargo run -p metier-activation --example activate_skill -- SKILL_FOLDER [ARGUMENTS]`.
//!
//! It is its own helper, and the tests of this crate use it as theirs.

#![allow(clippy::print_stdout, reason = "an example is a program")]

use std::path::PathBuf;
use std::sync::Arc;

use metier_activation::{ActivationContext, ActivationDraft, ActivationRequest, Invoker, SkillArguments};
use metier_catalog::{Include, Layout, Places, RootChoice, Snapshot};
use metier_exec::{
    ExecEnv, LANGUAGE, NetworkAccess, NodeVersions, RequestedGrants, SearchPath, SkillContainment,
    SkillContext, StartDir, policy_skill,
};
use metier_files::{SkillDir, Survey, SurveyBounds, real_path};
use metier_policy::{Answers, Asking, Dialect, Gate, McpTools, Rules};
use metier_sandbox::{Limits, Sandbox, Setup};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    metier_sandbox::helper(std::env::args_os());
    let mut words = std::env::args().skip(1);
    let folder = real_path(&PathBuf::from(words.next().ok_or("which skill's folder?")?))?;
    let arguments = SkillArguments::of_command_line(words.collect());

    let project = std::env::current_dir()?;
    let layout = Layout::new(&Places::bare(project.clone()), &RootChoice::Given(vec![folder.clone()]));
    let snapshot = Snapshot::load(Arc::new(layout), Include::Usual);
    let (id, entry) = snapshot.entries().next().ok_or("no skill in that folder")?;

    let path = SearchPath::new(&std::env::var_os("PATH").unwrap_or_default());
    let (toolbox, survey) = (path.usual_toolbox(&[]), Survey::of(&project, SurveyBounds::default())?);
    let containment = SkillContainment {
        skill: &folder,
        copy: None,
        project: Some(&survey),
        data: None,
        plugin: None,
        toolbox: &toolbox,
        limits: Limits::default(),
        session: "example",
        language: LANGUAGE,
        grants: &RequestedGrants::default(),
        start: StartDir::Skill,
    };
    let sandbox = Sandbox::new(Setup::new(std::env::temp_dir()));
    let (rules, answers, node) = (Rules::default(), Answers::default(), NodeVersions::default());
    let gate = Gate { rules: &rules, answers: &answers, scopes: &[], asking: Asking::Nobody };
    let network = NetworkAccess::default();
    let env = ExecEnv { sandbox: &sandbox, gate, path: &path, node: &node, network: &network, layers: None };
    let context = ActivationContext {
        snapshot: &snapshot,
        id,
        context: &SkillContext {
            skill: &policy_skill(&snapshot, entry),
            folder: &SkillDir::open(&folder)?,
            containment: &containment,
            copies: None,
        },
        start: StartDir::Project,
        missing: &[],
        environment: &[],
        servers: &McpTools::default(),
        dialect: Dialect::Usual,
    };
    let request = ActivationRequest { by: Invoker::Viewer, arguments: &arguments };
    let activation = ActivationDraft::open(&context, request)?.finish(&env, None)?;
    println!("{}", activation.text);
    for diagnostic in &activation.diagnostics {
        println!("{}: {}", diagnostic.code.name(), diagnostic.message);
    }
    Ok(())
}
