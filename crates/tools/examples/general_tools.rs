//! Calls one general tool in the current folder and shows the result as a model gets it:
//! `cargo run -p metier-tools --example general_tools -- Grep '{"pattern": "fn main"}'`.
//!
//! It is its own helper, and the tests of this crate use it as theirs.

#![allow(clippy::print_stdout, reason = "an example is a program")]

use metier_exec::{
    AgentContext, ExecEnv, LANGUAGE, NetworkAccess, NodeVersions, RequestedGrants, RunOutput, SearchPath,
};
use metier_files::{Survey, SurveyBounds};
use metier_policy::{Action, Answers, Asking, Decision, Gate, Rules};
use metier_runtime::{Change, NotDone};
use metier_sandbox::{Limits, Sandbox, Setup};
use metier_tools::{Executor, GeneralTools, Offer, RunJob, Running, Setting, ToolContext};

struct Session {
    rules: Rules,
    answers: Answers,
    sandbox: Sandbox,
    path: SearchPath,
    project: std::path::PathBuf,
}

impl Session {
    fn gate(&self) -> Gate<'_> {
        Gate { rules: &self.rules, answers: &self.answers, scopes: &[], asking: Asking::Nobody }
    }
}

impl Executor for Session {
    fn decide(&self, action: &Action, _shown: Option<&Change>) -> Decision {
        self.judge(action)
    }

    fn judge(&self, action: &Action) -> Decision {
        self.gate().decide(action)
    }

    fn run(&self, running: &Running, job: &mut RunJob<'_>) -> Result<RunOutput, NotDone> {
        let survey = Survey::of(&self.project, SurveyBounds::default());
        let survey = survey.map_err(|error| NotDone::Trouble(error.to_string()))?;
        let toolbox = self.path.usual_toolbox(&[]);
        let (grants, node, network) =
            (RequestedGrants::default(), NodeVersions::default(), NetworkAccess::default());
        let own = AgentContext {
            project: &survey,
            skills: &[],
            data: None,
            toolbox: &toolbox,
            limits: Limits { time: running.time, ..Limits::default() },
            session: "example",
            language: LANGUAGE,
            grants: &grants,
        };
        let (sandbox, path) = (&self.sandbox, &self.path);
        let bench =
            ExecEnv { sandbox, gate: self.gate(), path, node: &node, network: &network, layers: None };
        Ok(job(&bench, &own)?)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    metier_sandbox::helper(std::env::args_os());
    let mut arguments = std::env::args().skip(1);
    let (tool, input) = (arguments.next().ok_or("which tool?")?, arguments.next().ok_or("with what input?")?);
    let project = std::env::current_dir()?;
    let setting = Setting { project: Some(project.clone()), commands: Offer::Yes, ..Setting::default() };
    let tools = GeneralTools::new(setting)?;
    let session = Session {
        rules: Rules::default(),
        answers: Answers::default(),
        sandbox: Sandbox::new(Setup::new(std::env::temp_dir())),
        path: SearchPath::new(&std::env::var_os("PATH").unwrap_or_default()),
        project,
    };
    let result = tools.call(&tool, &serde_json::from_str(&input)?, &ToolContext::new(&session, &[]));
    for note in &result.notes {
        println!("note: {note}");
    }
    println!("{}", result.text);
    Ok(())
}
