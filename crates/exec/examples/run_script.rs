//! Runs one script of a skill, contained, and shows its result as a model gets it:
//! `cargo run -p metier-exec --example run_script -- SKILL_FOLDER SCRIPT [ARGUMENTS]`.
//!
//! It is its own helper, and the tests of this crate use it as theirs.

#![allow(clippy::print_stdout, reason = "an example is a program")]

use std::path::PathBuf;

use metier_exec::{
    ExecEnv, LANGUAGE, NetworkAccess, NodeVersions, RequestedGrants, RunPlan, SearchPath, SkillArguments,
    SkillContainment, SkillContext, StartDir,
};
use metier_files::{SkillDir, Survey, SurveyBounds, real_path};
use metier_policy::{Answers, Asking, Gate, Rules, Skill};
use metier_sandbox::{Limits, Sandbox, Setup};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    metier_sandbox::helper(std::env::args_os());
    let mut arguments = std::env::args().skip(1);
    let folder = real_path(&PathBuf::from(arguments.next().ok_or("which skill's folder?")?))?;
    let script = arguments.next().ok_or("which script?")?;
    let rest = arguments.next().unwrap_or_default();

    let mut path = SearchPath::new(&std::env::var_os("PATH").unwrap_or_default());
    if let Some(home) = std::env::home_dir() {
        path = path.home(&home);
    }
    let toolbox = path.usual_toolbox(&[]);
    let project = std::env::current_dir()?;
    let survey = Survey::of(&project, SurveyBounds::default())?;
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
    let skill = Skill::new("example", "cli");
    let context = SkillContext {
        skill: &skill,
        folder: &SkillDir::open(&folder)?,
        containment: &containment,
        copies: None,
    };
    let plan = RunPlan::script(&env, &context, &script, &SkillArguments::Text(rest))?;
    let ran = plan.run(&env, &context, None, &mut |_, _| {})?;
    println!("{}", ran.text);
    for note in ran.notes {
        println!("note: {note}");
    }
    Ok(())
}
