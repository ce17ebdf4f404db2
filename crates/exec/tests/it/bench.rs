//! A skill, a project and a data folder, and everything it takes to run something.

use std::ffi::OsString;
use std::time::Duration;

use metier_exec::{
    DataOwner, ExecEnv, LANGUAGE, NetworkAccess, NodeVersions, RequestedGrants, RunError, RunOutput, RunPlan,
    SearchPath, SkillArguments, SkillContainment, SkillContext, StartDir,
};
use metier_files::{SkillDir, Survey, SurveyBounds, TreeCopies};
use metier_policy::{Answers, Asking, Gate, Layer, List, Owner, Rules, Scope, Skill, Source, Standing};
use metier_sandbox::{Choice, Helper, Limits, Sandbox, Setup, Tier};
use metier_testkit::Workspace;

/// Everything it takes, with what a test may change.
pub(crate) struct Bench {
    pub(crate) workspace: Workspace,
    pub(crate) limits: Limits,
    pub(crate) skill: Skill,
    pub(crate) rules: Rules,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) grants: RequestedGrants,
    pub(crate) network: NetworkAccess,
    pub(crate) asking: Asking,
    pub(crate) path: OsString,
    /// Programs that the skill requires.
    pub(crate) tools: Vec<&'static str>,
    /// By which means things are contained.
    pub(crate) tier: Tier,
    /// Whether the skill runs from a copy.
    pub(crate) is_copied: bool,
}

impl Bench {
    /// A skill at `skill`, a project at `project`.
    pub(crate) fn new(workspace: Workspace) -> Self {
        Self {
            workspace: workspace.skill("skill", "Demo.").dir("project"),
            limits: Limits { time: Duration::from_secs(30), ..Limits::default() },
            skill: Skill::new("demo", "user"),
            rules: Rules::default(),
            scopes: Vec::new(),
            grants: RequestedGrants::default(),
            network: NetworkAccess::default(),
            asking: Asking::Nobody,
            path: "/usr/local/bin:/usr/bin:/bin".into(),
            tools: Vec::new(),
            tier: Tier::Namespaces,
            is_copied: false,
        }
    }

    /// Allows what these rules name.
    pub(crate) fn allow(self, rules: &[&str]) -> Self {
        self.with_rules(List::Allow, rules)
    }

    /// Denies what this rule names.
    pub(crate) fn deny(self, rule: &str) -> Self {
        self.with_rules(List::Deny, &[rule])
    }

    /// Has one list of rules, and no other.
    pub(crate) fn with_rules(mut self, list: List, rules: &[&str]) -> Self {
        let layer = Layer::new(Source::new(Owner::User, "test")).list(list, rules);
        self.rules = Rules::new(vec![layer], Standing::Trusted);
        self
    }

    pub(crate) fn script(&self, name: &str, arguments: &str) -> Result<RunOutput, RunError> {
        let arguments = SkillArguments::Text(arguments.to_owned());
        self.with(|env, context| {
            RunPlan::script(env, context, name, &arguments)?.run(env, context, None, &mut |_, _| {})
        })
    }

    pub(crate) fn line(&self, line: &str) -> Result<RunOutput, RunError> {
        self.with(|env, context| {
            RunPlan::command_line(context, line)?.run(env, context, None, &mut |_, _| {})
        })
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&ExecEnv<'_>, &SkillContext<'_>) -> T) -> T {
        let path = SearchPath::new(&self.path).home(&self.workspace.join("home"));
        let toolbox = path.usual_toolbox(&self.tools);
        let survey = Survey::of(&self.workspace.join("project"), SurveyBounds::default()).unwrap();
        let owner = DataOwner { origin: &self.skill.origin, name: &self.skill.name, project: None };
        let data = owner.make(&self.workspace.join("data")).unwrap();
        let skill = self.workspace.join("skill");
        let handle = SkillDir::open(&skill).unwrap();
        let copies = TreeCopies::new(self.workspace.join("copies"));
        let copy = self.is_copied.then(|| copies.take(&handle).unwrap());
        let containment = SkillContainment {
            skill: &skill,
            copy: copy.as_ref().map(|copy| copy.folder.as_path()),
            project: Some(&survey),
            data: Some(&data),
            plugin: None,
            toolbox: &toolbox,
            limits: self.limits.clone(),
            session: "session-1",
            language: LANGUAGE,
            grants: &self.grants,
            start: StartDir::Skill,
        };
        let mut setup = Setup::new(std::env::temp_dir());
        setup.helper = Helper::Program(crate::helper());
        // A weaker means does not show the project at all, and the tests would try nothing.
        setup.choice = Choice::Only(self.tier);
        let (sandbox, answers, node) = (Sandbox::new(setup), Answers::default(), NodeVersions::default());
        let gate = Gate { rules: &self.rules, answers: &answers, scopes: &self.scopes, asking: self.asking };
        // Without layers the project is read-only. What is changed by way of them is tried with sessions, which decide about it.
        let layers = None;
        let network = &self.network;
        let env = ExecEnv { sandbox: &sandbox, gate, path: &path, node: &node, network, layers };
        let folder = copy.as_ref().map_or(&handle, |copy| &copy.dir);
        work(&env, &SkillContext { skill: &self.skill, folder, containment: &containment, copies: None })
    }
}
