//! A project, a gate that remembers what it was asked, and everything it takes to run something.

use std::path::PathBuf;
use std::sync::Mutex;

use metier_exec::{
    AgentContext, ExecEnv, LANGUAGE, NetworkAccess, NodeVersions, RequestedGrants, RunError, RunOutput,
    SearchPath,
};
use metier_files::{Survey, SurveyBounds};
use metier_policy::{
    Action, Answer, Answers, Asking, Decision, Gate, Layer, List, Owner, Rules, Scope, Source, Standing,
};
use metier_runtime::{Change, NotDone, ToolResult};
use metier_sandbox::{Choice, Helper, Limits, Sandbox, Setup, Tier};
use metier_testkit::Workspace;
use metier_tools::{
    ActiveSkill, Ask, Executor, GeneralTools, Memory, Offer, RunJob, Running, Setting, ToolContext,
};
use serde_json::Value;

/// A session in `project`, with what a test may change.
pub(crate) struct Room {
    pub(crate) workspace: Workspace,
    pub(crate) tools: GeneralTools,
    pub(crate) executor: SkillSession,
    pub(crate) active: Vec<ActiveSkill>,
}

/// The gate of a session, and what contains its processes.
pub(crate) struct SkillSession {
    pub(crate) rules: Rules,
    pub(crate) scopes: Vec<Scope>,
    /// What a person says to every question; without it nobody can be asked.
    pub(crate) says: Option<Answer>,
    /// What was asked about: the sentence, and the change that was shown with it.
    pub(crate) asked: Mutex<Vec<(String, Option<Change>)>>,
    pub(crate) network: NetworkAccess,
    /// How often something ran.
    pub(crate) runs: Mutex<usize>,
    answers: Mutex<Answers>,
    sandbox: Sandbox,
    path: SearchPath,
    project: PathBuf,
    skills: Vec<PathBuf>,
}

impl Room {
    /// A session in `project` in which nobody can be asked.
    pub(crate) fn new(workspace: Workspace) -> Self {
        Self::with(workspace, |setting| setting)
    }

    /// The same with another setting.
    pub(crate) fn with(workspace: Workspace, change: impl FnOnce(Setting) -> Setting) -> Self {
        let workspace = workspace.dir("project/.git").dir("outputs").dir("home");
        let at = |path: &str| workspace.join(path);
        let setting = Setting {
            project: Some(at("project")),
            home: Some(at("home")),
            outputs: Some(at("outputs")),
            commands: Offer::Yes,
            questions: Offer::Yes,
            memory: Offer::Yes,
            ..Setting::default()
        };
        let tools = GeneralTools::new(change(setting)).unwrap();
        let mut setup = Setup::new(std::env::temp_dir());
        setup.helper = Helper::Program(metier_testkit::example("general_tools"));
        // A weaker means does not show the project at all, and the tests would try nothing.
        setup.choice = Choice::Only(Tier::Namespaces);
        let executor = SkillSession {
            rules: Rules::default(),
            scopes: Vec::new(),
            says: None,
            asked: Mutex::default(),
            network: NetworkAccess::default(),
            runs: Mutex::default(),
            answers: Mutex::default(),
            sandbox: Sandbox::new(setup),
            path: SearchPath::new("/usr/local/bin:/usr/bin:/bin".as_ref()).home(&at("home")),
            project: at("project"),
            skills: Vec::new(),
        };
        Self { workspace, tools, executor, active: Vec::new() }
    }

    /// Rules of the user's.
    pub(crate) fn rules(mut self, allow: &[&str], deny: &[&str]) -> Self {
        let layer =
            Layer::new(Source::new(Owner::User, "test")).list(List::Allow, allow).list(List::Deny, deny);
        self.executor.rules = Rules::new(vec![layer], Standing::Trusted);
        self
    }

    /// The mode in which nothing asks.
    pub(crate) fn yolo(mut self) -> Self {
        let layer = Layer::new(Source::new(Owner::User, "test")).mode("yolo");
        self.executor.rules = Rules::new(vec![layer], Standing::Trusted);
        self
    }

    /// Somebody who says this to every question.
    pub(crate) fn saying(mut self, answer: Answer) -> Self {
        self.executor.says = Some(answer);
        self
    }

    /// A skill that is active.
    pub(crate) fn active(mut self, name: &str, folder: &str) -> Self {
        let folder = self.workspace.join(folder);
        self.executor.skills.push(folder.clone());
        let skill = metier_policy::Skill::new(name, "user");
        self.active.push(ActiveSkill { skill, folder, digest: "sha256:00".to_owned() });
        self
    }

    pub(crate) fn call(&self, name: &str, input: &Value) -> ToolResult {
        self.tools.call(name, input, &ToolContext::new(&self.executor, &self.active))
    }

    pub(crate) fn call_with(
        &self,
        name: &str,
        input: &Value,
        ask: Option<&dyn Ask>,
        memory: Option<&dyn Memory>,
    ) -> ToolResult {
        self.tools.call(
            name,
            input,
            &ToolContext { ask, memory, ..ToolContext::new(&self.executor, &self.active) },
        )
    }

    pub(crate) fn text(&self, name: &str, input: &Value) -> String {
        self.call(name, input).text
    }

    /// What a file of the workspace holds.
    pub(crate) fn holds(&self, path: &str) -> String {
        std::fs::read_to_string(self.workspace.join(path)).unwrap_or_else(|error| format!("! {error}"))
    }
}

impl SkillSession {
    fn gate<T>(&self, work: impl FnOnce(Gate<'_>) -> T) -> T {
        let answers = self.answers.lock().unwrap().clone();
        let asking = if self.says.is_some() { Asking::Terminal } else { Asking::Nobody };
        work(Gate { rules: &self.rules, answers: &answers, scopes: &self.scopes, asking })
    }

    fn ask(&self, action: &Action, decision: &Decision, shown: Option<&Change>) -> bool {
        let (Some(question), Some(says)) = (&decision.question, self.says) else { return false };
        self.asked.lock().unwrap().push((action.sentence(), shown.cloned()));
        if says == Answer::No {
            return false;
        }
        // One call is the whole session here, so "once" has to last until it is made.
        let given = if says == Answer::Once { Answer::SessionExact } else { says };
        self.answers.lock().unwrap().give(question, given);
        true
    }
}

impl Executor for SkillSession {
    fn decide(&self, action: &Action, shown: Option<&Change>) -> Decision {
        let decision = self.judge(action);
        if decision.is_allowed() || !self.ask(action, &decision, shown) {
            return decision;
        }
        self.judge(action)
    }

    fn judge(&self, action: &Action) -> Decision {
        self.gate(|gate| gate.decide(action))
    }

    fn run(&self, running: &Running, job: &mut RunJob<'_>) -> Result<RunOutput, NotDone> {
        *self.runs.lock().unwrap() += 1;
        let survey = Survey::of(&self.project, SurveyBounds::default()).unwrap();
        let toolbox = self.path.toolbox(&[]);
        let grants = RequestedGrants::default();
        let own = AgentContext {
            project: &survey,
            skills: &self.skills,
            data: None,
            toolbox: &toolbox,
            limits: Limits { time: running.time, ..Limits::default() },
            session: "session-1",
            language: LANGUAGE,
            grants: &grants,
        };
        let node = NodeVersions::default();
        let (sandbox, path, network) = (&self.sandbox, &self.path, &self.network);
        loop {
            match self
                .gate(|gate| job(&ExecEnv { sandbox, gate, path, node: &node, network, layers: None }, &own))
            {
                Err(RunError::Gate { action, decision }) if self.ask(&action, &decision, None) => {}
                other => return Ok(other?),
            }
        }
    }
}
